/// \file
/// Found in place of cuSOLVER: the factorisation of Cholesky, on the host's LAPACK, in its stream.
///
/// Matrices are stored by columns, as in cuSOLVER. Programs that include this link with LAPACK.

#pragma once

#include "cuda_on_cpu/hidden_names.hpp"

#include <lapack.h>

#include "cuda_on_cpu/shown_names.hpp"

#include "cublas_v2.h"

#define CUSOLVER_COMMON_H_  // other projects' headers look for it

enum cusolverStatus_t {
  CUSOLVER_STATUS_SUCCESS = 0,
  CUSOLVER_STATUS_NOT_INITIALIZED = 1,
  CUSOLVER_STATUS_ALLOC_FAILED = 2,
  CUSOLVER_STATUS_INVALID_VALUE = 3,
  CUSOLVER_STATUS_ARCH_MISMATCH = 4,
  CUSOLVER_STATUS_MAPPING_ERROR = 5,
  CUSOLVER_STATUS_EXECUTION_FAILED = 6,
  CUSOLVER_STATUS_INTERNAL_ERROR = 7,
  CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
  CUSOLVER_STATUS_NOT_SUPPORTED = 9,
  CUSOLVER_STATUS_ZERO_PIVOT = 10,
  CUSOLVER_STATUS_INVALID_LICENSE = 11
};

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
};
using cusolverDnHandle_t = cusolverDnContext*;

inline cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  *handle = std::make_unique<cusolverDnContext>().release();  // cusolverDnDestroy takes it back
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  const std::unique_ptr<cusolverDnContext> taken(handle);
  return handle == nullptr ? CUSOLVER_STATUS_NOT_INITIALIZED : CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}

namespace cuda_on_cpu {

/// What is wrong with a matrix to factorise.
inline cusolverStatus_t refusal(cusolverDnHandle_t handle, int n, const void* a, int lda) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  return n < 0 || lda < n || lda < 1 || (n > 0 && a == nullptr) ? CUSOLVER_STATUS_INVALID_VALUE
                                                                : CUSOLVER_STATUS_SUCCESS;
}

constexpr int lapack_room = 1;  // elements of workspace, which LAPACK does not need

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_LAPACK(letter, Letter, Value)                                              \
  inline cusolverStatus_t cusolverDn##Letter##potrf_bufferSize(                                \
      cusolverDnHandle_t handle, cublasFillMode_t, int n, Value* a, int lda, int* elements) {  \
    *elements = cuda_on_cpu::lapack_room;                                                      \
    return cuda_on_cpu::refusal(handle, n, a, lda);                                            \
  }                                                                                            \
  inline cusolverStatus_t cusolverDn##Letter##potrf(                                           \
      cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, Value* a, int lda, Value* room, \
      int elements, int* info) {                                                               \
    using namespace cuda_on_cpu;                                                               \
    if (const auto status = refusal(handle, n, a, lda); status != CUSOLVER_STATUS_SUCCESS)     \
      return status;                                                                           \
    if (room == nullptr || elements < lapack_room || info == nullptr)                          \
      return CUSOLVER_STATUS_INVALID_VALUE;                                                    \
    const auto error =                                                                         \
        library_call(handle->stream, {matrix(a, lda, n, n), matrix(info, 1, 1, 1)}, [=] {      \
          const char part = uplo == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U';                        \
          LAPACK_##letter##potrf(&part, &n, a, &lda, info);                                    \
        });                                                                                    \
    return error == cudaSuccess ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;  \
  }
CUDA_ON_CPU_LAPACK(s, S, float)
CUDA_ON_CPU_LAPACK(d, D, double)
#undef CUDA_ON_CPU_LAPACK
