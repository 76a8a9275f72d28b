/// \file
/// The current context of the driver API.

#pragma once

#include "cuda_on_cpu/driver_types.hpp"

namespace cuda_on_cpu {

/// The current context of the calling host thread: the top of its context stack, if this context
/// belongs to the current device. If the context belongs to another device, the result is the
/// primary context of the current device. The result is null if the stack is empty and the program
/// does not use the runtime.
CUcontext current_context();

}  // namespace cuda_on_cpu
