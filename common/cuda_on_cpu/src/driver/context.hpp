/// \file
/// Contexts of the driver: a device, as a thread of the host uses it.

#pragma once

#include "cuda_on_cpu/driver_types.hpp"

namespace cuda_on_cpu {

/// The context that a thread of the host has on top of its stack, or the primary one of its device
/// where the runtime is used; null if there is none.
CUcontext current_context();

}  // namespace cuda_on_cpu
