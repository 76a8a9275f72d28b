/// \file
/// Found in place of Thrust's header: its device is the CPU device.

#pragma once

#include <thrust/detail/config.h>

#include "cuda_runtime.h"

#define THRUST_RUNTIME_FUNCTION __host__ __device__
#define THRUST_DEVICE_FUNCTION __device__ __forceinline__
#define THRUST_HOST_FUNCTION __host__ __forceinline__
#define THRUST_FUNCTION __host__ __device__ __forceinline__
