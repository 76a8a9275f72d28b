/// \file
/// Found in place of CUDA's own header: the driver API.

#pragma once

#include "cuda_on_cpu/driver_api.hpp"
#include "cuda_runtime.h"

// Helpers of other projects ask by this whether it is there.
#define __cuda_cuda_h__
#define CUDA_VERSION 13000
