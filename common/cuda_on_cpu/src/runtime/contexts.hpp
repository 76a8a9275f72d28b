/// \file
/// Contexts, as far as the runtime knows them: what was made in one ends with it. Each device has
/// one of its own, number 0, in which the runtime works; others are made by the driver's API.

#pragma once

#include <cstdint>

namespace cuda_on_cpu {

/// The context in which this thread of the host works: one that it was told, as long as it is of
/// the device that the thread has chosen, or else that device's own.
std::uint32_t current_context_number();
void work_in_context(int device, std::uint32_t number);

/// Waits for all devices and ends what was made in a context: streams and events, modules, and
/// memory, which is given back.
/// \param place where the program asked for it
void end_context(int device, std::uint32_t number, const void* place);

/// The same for a device's own context; its errors and its peers are forgotten, too.
void reset_device(int device, const void* place);

/// Who has to know that a context ends.
using EndsWithContext = void (*)(int device, std::uint32_t number);
void at_end_of_context(EndsWithContext end);

}  // namespace cuda_on_cpu
