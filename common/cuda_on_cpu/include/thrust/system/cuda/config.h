/// \file
/// Replaces the Thrust header of the same name: selects the CPU device as the device of Thrust.

#pragma once

#include <thrust/detail/config.h>

#include "cuda_runtime.h"

#define THRUST_RUNTIME_FUNCTION __host__ __device__
#define THRUST_DEVICE_FUNCTION __device__ __forceinline__
#define THRUST_HOST_FUNCTION __host__ __forceinline__
#define THRUST_FUNCTION __host__ __device__ __forceinline__
