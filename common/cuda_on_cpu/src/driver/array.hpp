/// \file
/// Copies of boxes in the driver API.

#pragma once

#include "cuda_on_cpu/driver_types.hpp"
#include "cuda_on_cpu/textures.hpp"

namespace cuda_on_cpu {

/// Translates a copy of a box to the runtime's parameters.
cudaMemcpy3DParms box_of(const CUDA_MEMCPY3D& copy);

}  // namespace cuda_on_cpu
