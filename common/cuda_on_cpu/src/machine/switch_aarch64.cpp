/// \file
/// Switches between stacks on AArch64 (AAPCS64). A switch saves twelve registers, the lower halves
/// of eight vector registers, and the stack pointer. All stacks share the flags of the
/// floating-point unit, so these are not saved.

#include <ucontext.h>

#include <algorithm>

#include "switch.hpp"

__asm__(R"(
.text
.globl cuda_on_cpu_switch
.type cuda_on_cpu_switch, %function
cuda_on_cpu_switch:
  stp x19, x20, [sp, #-160]!
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x19, x20, [sp], #160
  ret
.size cuda_on_cpu_switch, .-cuda_on_cpu_switch

.globl cuda_on_cpu_enter
.type cuda_on_cpu_enter, %function
cuda_on_cpu_enter:
  .cfi_startproc
  .cfi_undefined x30
  blr x19
  brk #0
  .cfi_endproc
.size cuda_on_cpu_enter, .-cuda_on_cpu_enter
)");

extern "C" void cuda_on_cpu_enter();

namespace cuda_on_cpu {

void* fresh_stack(char* top, void (*entry)()) {
  // The new stack contains the registers that a switch loads, in the layout of cuda_on_cpu_switch.
  // The stack pointer stays aligned to 16 bytes.
  constexpr int words = 20, x19 = 0, x30 = 11;
  auto** stack = reinterpret_cast<void**>(top) - words;
  std::fill_n(stack, words, nullptr);
  stack[x19] = reinterpret_cast<void*>(entry);
  stack[x30] = reinterpret_cast<void*>(cuda_on_cpu_enter);
  return stack;
}

const void* instruction_at(void* context) {
  return reinterpret_cast<const void*>(static_cast<ucontext_t*>(context)->uc_mcontext.pc + 1);
}

const void* caller_at(void* context) {
  return reinterpret_cast<const void*>(static_cast<ucontext_t*>(context)->uc_mcontext.regs[30]);
}

}  // namespace cuda_on_cpu
