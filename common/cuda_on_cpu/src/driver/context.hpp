/// \file
/// The current context of the driver API.

#pragma once

#include "cuda_on_cpu/driver_types.hpp"

namespace cuda_on_cpu {

/// The current context of the calling host thread: the top of its context stack, if this context
/// belongs to the current device. If the context belongs to another device, or if the stack is
/// empty and the program uses the runtime, the result is the primary context of the current device.
/// If the stack is empty and the program does not use the runtime, the result is null.
CUcontext current_context();

}  // namespace cuda_on_cpu
