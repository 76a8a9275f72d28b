/// \file
/// The switch from one stack to another: the only code that depends on the processor.

#pragma once

#include <cstddef>

namespace cuda_on_cpu {

/// Saves the registers that a call must keep and the stack pointer in `*from`, and goes on where
/// `to` was saved.
extern "C" void cuda_on_cpu_switch(void** from, void* to);

/// A saved place that enters `entry` on a fresh stack, whose first byte behind the end is `top`;
/// `entry` must not return.
void* fresh_stack(char* top, void (*entry)());

/// The instruction that a signal handler interrupts, by its third argument, as a place: one byte
/// behind where it begins; null where that is not known.
const void* instruction_at(void* context);

/// The return address of a function that has not saved any registers yet, from the same argument.
/// Null if the address is unknown.
const void* caller_at(void* context);

}  // namespace cuda_on_cpu
