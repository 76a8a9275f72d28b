/// \file
/// How calls of the driver API fail.

#pragma once

#include <string>

#include "cuda_on_cpu/driver_types.hpp"

namespace cuda_on_cpu {

/// Returns an error.
/// \param sentence what the report says of it, should nobody look at it
CUresult fail_driver(CUresult error, std::string sentence = {});

/// What the runtime answered, as the driver does; the thread's last error is again what it was.
CUresult result_of(cudaError_t error, cudaError_t before);

}  // namespace cuda_on_cpu
