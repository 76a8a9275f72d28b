/// \file
/// What the toolkit's own headers, libcu++, Thrust and CUB, are told of the compiler, where they
/// are there: it is the host's, so that they come as plain C++.

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
#define __CUDA_ARCH_LIST__ 900  // a part of the names of all that is in it
#endif
#include <cuda/std/version>
#include <nv/target>
#pragma pop_macro("__CUDA_ARCH__")
#pragma pop_macro("__NVCC__")
#pragma pop_macro("__CUDACC__")
#endif
