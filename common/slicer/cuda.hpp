/// \file
/// Included before each CUDA source: the headers of the CPU device, adapted to the CUDA mode of
/// libclang. The standard library consists of host functions. All functions declared later are host
/// and device functions, so that kernels may call them. Functions whose names the C library or
/// libclang already uses are renamed.

#pragma once

// Kernels call functions of these headers. The headers are included here, before the standard
// library includes them, so that the functions are both host and device functions.
#pragma clang force_cuda_host_device begin
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#pragma clang force_cuda_host_device end

#if __has_include(<cblas.h>)
#include <cblas.h>
#endif

#include <algorithm>
#include <any>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <complex>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#define __expf cuda_expf
#define __exp10f cuda_exp10f
#define __logf cuda_logf
#define __log2f cuda_log2f
#define __log10f cuda_log10f
#define __powf cuda_powf
#define __sinf cuda_sinf
#define __cosf cuda_cosf
#define __tanf cuda_tanf
#define __tanhf cuda_tanhf
#define __sincosf cuda_sincosf
#define __syncthreads cuda_syncthreads

#pragma clang force_cuda_host_device begin
#include <cuda_runtime.h>

#undef __global__
#define __global__ __attribute__((global))
#define __shared__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
// In libclang's syntax tree, a launch calls the first of these functions or, since version 19, the
// second one.
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t = 0, void* = nullptr);
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, std::size_t shared = 0,
                              cudaStream_t stream = nullptr);
