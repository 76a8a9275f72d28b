/// \file
/// Found in place of CUDA's own header: CUDA C++ and its runtime on the CPU device.

#pragma once

#include "cuda_on_cpu/atomics.hpp"
#include "cuda_on_cpu/core.hpp"
#include "cuda_on_cpu/math.hpp"
#include "cuda_on_cpu/runtime_api.hpp"
#include "cuda_on_cpu/threads.hpp"
#include "cuda_on_cpu/vectors.hpp"
