/// \file
/// Replaces the CUDA header of the same name: CUDA C++ and the runtime API on the CPU device.

#pragma once

// Standard headers that CUDA's header includes, so that programs may rely on them.
#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <new>

#include "cuda_on_cpu/atomics.hpp"
#include "cuda_on_cpu/batch_copies.hpp"
#include "cuda_on_cpu/core.hpp"
#include "cuda_on_cpu/dpx.hpp"
#include "cuda_on_cpu/entry_points.hpp"
#include "cuda_on_cpu/graph_nodes.hpp"
#include "cuda_on_cpu/graphs.hpp"
#include "cuda_on_cpu/ipc.hpp"
#include "cuda_on_cpu/known_kernels.hpp"
#include "cuda_on_cpu/math.hpp"
#include "cuda_on_cpu/memory_pools.hpp"
#include "cuda_on_cpu/ordered_atomics.hpp"
#include "cuda_on_cpu/ptx.hpp"
#include "cuda_on_cpu/runtime_api.hpp"
#include "cuda_on_cpu/runtime_hints.hpp"
#include "cuda_on_cpu/shifts.hpp"
#include "cuda_on_cpu/simd.hpp"
#include "cuda_on_cpu/textures.hpp"
#include "cuda_on_cpu/threads.hpp"
#include "cuda_on_cpu/toolkit.hpp"
#include "cuda_on_cpu/vectors.hpp"

// Headers of other projects test these macros to detect which CUDA headers have been included.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define CUDART_VERSION 13000
#ifdef __CUDACC__
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#endif
