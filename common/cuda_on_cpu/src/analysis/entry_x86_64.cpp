/// \file
/// Functions that a kernel calls, and that the compiler did not take into it, on x86-64.
///
/// What such a function returns is stored where nobody sees it, and so are structures read that it
/// is given. The compiler has each function call __fentry__ first (by -pg -mfentry): a kernel on
/// trial goes no farther than that.

#include <cstddef>

#include "trial.hpp"

namespace cuda_on_cpu::analysis {

const bool sees_calls = true;

}  // namespace cuda_on_cpu::analysis

// Registers hold the arguments of the function that begins: none may change where it goes on.
static_assert(offsetof(cuda_on_cpu::Block, current) == 0, "as __fentry__ takes it");
__asm__(R"(
.text
.globl __fentry__
.type __fentry__, @function
__fentry__:
  pushq %rax
  movq %fs:cuda_on_cpu_tried@tpoff, %rax
  testq %rax, %rax
  je 1f
  cmpq $0, (%rax)
  je 1f
  andq $-16, %rsp
  call cuda_on_cpu_leave_kernel
1:
  popq %rax
  ret
.size __fentry__, .-__fentry__
)");

/// A thread of a kernel on trial calls a function. (A thread is none where the device is at work.)
extern "C" [[noreturn]] void cuda_on_cpu_leave_kernel() {
  cuda_on_cpu::end_trial();
  __builtin_unreachable();
}
