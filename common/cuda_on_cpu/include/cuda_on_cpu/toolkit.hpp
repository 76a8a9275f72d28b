/// \file
/// If the toolkit is installed, configures its headers (libcu++, Thrust and CUB) for a plain C++
/// compiler.

#pragma once

#if __has_include(<cuda/std/version>)
#pragma push_macro("__CUDACC__")
#pragma push_macro("__NVCC__")
#pragma push_macro("__CUDA_ARCH__")
#undef __CUDACC__
#undef __NVCC__
#undef __CUDA_ARCH__
#define CCCL_DISABLE_FP16_SUPPORT
#ifndef __CUDA_ARCH_LIST__
#define __CUDA_ARCH_LIST__ 900  // part of the names of all entities in these headers
#endif
#include <cuda/std/version>
#include <nv/target>
#pragma pop_macro("__CUDA_ARCH__")
#pragma pop_macro("__NVCC__")
#pragma pop_macro("__CUDACC__")
#endif
