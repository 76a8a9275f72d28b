/// \file
/// Detects, on x86-64, that a kernel calls a function that the compiler has not inlined.
///
/// The store of such a function's result, and the reads of structures that the function receives,
/// are not instrumented. With -pg -mfentry, each function first calls __fentry__. A trial ends at
/// this call.

#include <cstddef>

#include "trial.hpp"

namespace cuda_on_cpu::analysis {

const bool sees_calls = true;

}  // namespace cuda_on_cpu::analysis

// Registers contain the arguments of the function that begins, so they must not change unless the
// trial ends.
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

/// Ends the trial. `__fentry__` calls this function if a thread of a kernel has called a function.
/// (`Block::current` is null while code of the CPU device runs.)
extern "C" [[noreturn]] void cuda_on_cpu_leave_kernel() {
  cuda_on_cpu::end_trial();
  __builtin_unreachable();
}
