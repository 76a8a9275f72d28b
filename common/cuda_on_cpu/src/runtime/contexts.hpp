/// \file
/// Contexts of the runtime. The objects that are created in a context end with it. Each device has
/// its primary context, number 0, which the runtime uses. Only the driver API creates other
/// contexts.

#pragma once

#include <cstdint>

namespace cuda_on_cpu {

/// The current context of this host thread. It is the context set by `work_in_context`, provided
/// that this context belongs to the current device. Otherwise, it is the primary context of the
/// device.
std::uint32_t current_context_number();
void work_in_context(int device, std::uint32_t number);

/// Synchronises all devices and ends the objects of a context: streams, events and modules. Frees
/// the memory of the context.
/// \param place the call site in the program
void end_context(int device, std::uint32_t number, const void* place);

/// Ends the objects of a device's primary context, and resets its errors and its peer access.
void reset_device(int device, const void* place);

/// A function to be called at the end of a context. `at_end_of_context` sets it.
using EndsWithContext = void (*)(int device, std::uint32_t number);
void at_end_of_context(EndsWithContext end);

}  // namespace cuda_on_cpu
