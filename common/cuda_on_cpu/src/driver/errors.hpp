/// \file
/// Error results of driver API calls.

#pragma once

#include <string>

#include "cuda_on_cpu/driver_types.hpp"

namespace cuda_on_cpu {

/// Stores the reason for an error and returns the error.
/// \param sentence the reason, which the report prints if the program ignores the error
CUresult fail_driver(CUresult error, std::string sentence = {});

/// Translates the result of a runtime call into a driver error and restores the thread's last
/// runtime error.
/// \param before the last runtime error of the thread before the call
CUresult result_of(cudaError_t error, cudaError_t before);

}  // namespace cuda_on_cpu
