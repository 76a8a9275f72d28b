/// \file
/// Switches from one stack to another. The implementation depends on the processor.

#pragma once

#include <cstddef>

namespace cuda_on_cpu {

/// Saves the callee-saved registers on the current stack and the stack pointer in `*from`, and
/// continues at the saved state `to`.
extern "C" void cuda_on_cpu_switch(void** from, void* to);

/// A saved state that calls `entry` on a fresh stack. `top` is the upper end of the stack; `entry`
/// must not return.
void* fresh_stack(char* top, void (*entry)());

/// The address of the instruction that a signal interrupted, plus one byte, so that the result
/// resembles a return address. `context` is the third argument of the signal handler. The result is
/// null if the address is unknown.
const void* instruction_at(void* context);

/// The return address of the function that a signal interrupted. This function must not have saved
/// any registers yet. `context` is the third argument of the signal handler. The result is null if
/// the address is unknown.
const void* caller_at(void* context);

}  // namespace cuda_on_cpu
