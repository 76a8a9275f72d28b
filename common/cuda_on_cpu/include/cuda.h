/// \file
/// Replaces the CUDA header of the same name: the driver API.

#pragma once

#include "cuda_on_cpu/driver_api.hpp"
#include "cuda_runtime.h"

// Headers of other projects test this macro to detect that cuda.h has been included.
#define __cuda_cuda_h__
#define CUDA_VERSION 13000
