/// \file
/// Replaces the cuSOLVER header: the Cholesky factorisation and the corresponding solves. The
/// host's LAPACK performs the computations when the stream executes the call.
///
/// Matrices are column-major, as in cuSOLVER. Programs that include this header must be linked with
/// LAPACK.

#pragma once

#include "cuda_on_cpu/hidden_names.hpp"

#include <lapack.h>

#include "cuda_on_cpu/shown_names.hpp"

#include "cublas_v2.h"

#define CUSOLVER_COMMON_H_  // headers of other projects test this macro

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

struct cusolverDnParams {};
using cusolverDnParams_t = cusolverDnParams*;

inline cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  *handle = new cusolverDnContext();
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}

inline cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* parameters) {
  *parameters = new cusolverDnParams();
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t parameters) {
  if (parameters == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  delete parameters;
  return CUSOLVER_STATUS_SUCCESS;
}

namespace cuda_on_cpu {

/// Checks the arguments of a factorisation; returns CUSOLVER_STATUS_SUCCESS if they are valid.
inline cusolverStatus_t refusal(cusolverDnHandle_t handle, std::int64_t n, const void* a,
                                std::int64_t lda) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  return n < 0 || lda < n || lda < 1 || (n > 0 && a == nullptr) ? CUSOLVER_STATUS_INVALID_VALUE
                                                                : CUSOLVER_STATUS_SUCCESS;
}

constexpr int lapack_room = 1;  // elements of workspace; LAPACK needs none

inline char lapack_of(cublasFillMode_t part) { return part == CUBLAS_FILL_MODE_LOWER ? 'L' : 'U'; }

/// The address of matrix i of a batch. The analysis does not observe this read.
template <typename Value>
CUDA_ON_CPU_NOT_ANALYSED Value* of_batch(Value* const* matrices, int i) {
  return matrices[i];
}

inline cusolverStatus_t status_of(cudaError_t error) {
  return error == cudaSuccess ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}

}  // namespace cuda_on_cpu

// The addresses of the matrices of a batch are known only when the stream executes the call. The
// analysis therefore observes only the accesses to the arrays of addresses and of results.
#define CUDA_ON_CPU_LAPACK(letter, Letter, Value)                                                  \
  inline cusolverStatus_t cusolverDn##Letter##potrf_bufferSize(                                    \
      cusolverDnHandle_t handle, cublasFillMode_t, int n, Value* a, int lda, int* elements) {      \
    *elements = cuda_on_cpu::lapack_room;                                                          \
    return cuda_on_cpu::refusal(handle, n, a, lda);                                                \
  }                                                                                                \
  inline cusolverStatus_t cusolverDn##Letter##potrf(                                               \
      cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, Value* a, int lda, Value* room,     \
      int elements, int* info) {                                                                   \
    using namespace cuda_on_cpu;                                                                   \
    if (const auto status = refusal(handle, n, a, lda); status != CUSOLVER_STATUS_SUCCESS)         \
      return status;                                                                               \
    if (room == nullptr || elements < lapack_room || info == nullptr)                              \
      return CUSOLVER_STATUS_INVALID_VALUE;                                                        \
    return status_of(library_call(handle->stream,                                                  \
                                  {blas::matrix(a, lda, n, n), blas::matrix(info, 1, 1, 1)}, [=] { \
                                    const char part = lapack_of(uplo);                             \
                                    LAPACK_##letter##potrf(&part, &n, a, &lda, info);              \
                                  }));                                                             \
  }                                                                                                \
  inline cusolverStatus_t cusolverDn##Letter##potrs(                                               \
      cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int sides, const Value* a, int lda, \
      Value* b, int ldb, int* info) {                                                              \
    using namespace cuda_on_cpu;                                                                   \
    if (const auto status = refusal(handle, n, a, lda); status != CUSOLVER_STATUS_SUCCESS)         \
      return status;                                                                               \
    if (sides < 0 || ldb < n || ldb < 1 || b == nullptr || info == nullptr)                        \
      return CUSOLVER_STATUS_INVALID_VALUE;                                                        \
    return status_of(library_call(                                                                 \
        handle->stream,                                                                            \
        {blas::matrix(a, lda, n, n), blas::matrix(b, ldb, n, sides), blas::matrix(info, 1, 1, 1)}, \
        [=] {                                                                                      \
          const char part = lapack_of(uplo);                                                       \
          LAPACK_##letter##potrs(&part, &n, &sides, a, &lda, b, &ldb, info);                       \
        }));                                                                                       \
  }                                                                                                \
  inline cusolverStatus_t cusolverDn##Letter##potrfBatched(                                        \
      cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, Value* as[], int lda, int* infos,   \
      int count) {                                                                                 \
    using namespace cuda_on_cpu;                                                                   \
    if (const auto status = refusal(handle, n, as, lda); status != CUSOLVER_STATUS_SUCCESS)        \
      return status;                                                                               \
    if (count < 0 || infos == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;                       \
    return status_of(library_call(                                                                 \
        handle->stream,                                                                            \
        {blas::matrix<Value* const>(as, 1, 1, count), blas::matrix(infos, 1, 1, count)}, [=] {     \
          const char part = lapack_of(uplo);                                                       \
          for (int i = 0; i < count; ++i)                                                          \
            LAPACK_##letter##potrf(&part, &n, of_batch(as, i), &lda, infos + i);                   \
        }));                                                                                       \
  }                                                                                                \
  inline cusolverStatus_t cusolverDn##Letter##potrsBatched(                                        \
      cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, int sides, Value* as[], int lda,    \
      Value* bs[], int ldb, int* info, int count) {                                                \
    using namespace cuda_on_cpu;                                                                   \
    if (const auto status = refusal(handle, n, as, lda); status != CUSOLVER_STATUS_SUCCESS)        \
      return status;                                                                               \
    if (sides != 1 || ldb < n || bs == nullptr || info == nullptr || count < 0)                    \
      return CUSOLVER_STATUS_INVALID_VALUE;                                                        \
    return status_of(                                                                              \
        library_call(handle->stream,                                                               \
                     {blas::matrix<Value* const>(as, 1, 1, count),                                 \
                      blas::matrix<Value* const>(bs, 1, 1, count), blas::matrix(info, 1, 1, 1)},   \
                     [=] {                                                                         \
                       const char part = lapack_of(uplo);                                          \
                       for (int i = 0; i < count; ++i)                                             \
                         LAPACK_##letter##potrs(&part, &n, &sides, of_batch(as, i), &lda,          \
                                                of_batch(bs, i), &ldb, info);                      \
                     }));                                                                          \
  }
CUDA_ON_CPU_LAPACK(s, S, float)
CUDA_ON_CPU_LAPACK(d, D, double)
#undef CUDA_ON_CPU_LAPACK

// The 64-bit functions, whose element types are arguments.

inline cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t,
                                                    cublasFillMode_t, std::int64_t n, cudaDataType,
                                                    const void* a, std::int64_t lda, cudaDataType,
                                                    std::size_t* device_bytes,
                                                    std::size_t* host_bytes) {
  *device_bytes = cuda_on_cpu::lapack_room * sizeof(double);
  *host_bytes = 0;
  return cuda_on_cpu::refusal(handle, n, a, lda);
}

inline cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t parameters,
                                         cublasFillMode_t uplo, std::int64_t n, cudaDataType type,
                                         void* a, std::int64_t lda, cudaDataType type_of_work,
                                         void* room, std::size_t room_bytes, void*, std::size_t,
                                         int* info) {
  if (parameters == nullptr || type != type_of_work) return CUSOLVER_STATUS_INVALID_VALUE;
  const auto call = [&]<typename Value>(auto function, Value* values) {
    return function(handle, uplo, int(n), values, int(lda), static_cast<Value*>(room),
                    int(room_bytes / sizeof(Value)), info);
  };
  if (type == CUDA_R_64F) return call(cusolverDnDpotrf, static_cast<double*>(a));
  if (type == CUDA_R_32F) return call(cusolverDnSpotrf, static_cast<float*>(a));
  return CUSOLVER_STATUS_NOT_SUPPORTED;
}

inline cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t parameters,
                                         cublasFillMode_t uplo, std::int64_t n, std::int64_t sides,
                                         cudaDataType type, const void* a, std::int64_t lda,
                                         cudaDataType type_of_b, void* b, std::int64_t ldb,
                                         int* info) {
  if (parameters == nullptr || type != type_of_b) return CUSOLVER_STATUS_INVALID_VALUE;
  const auto call = [&]<typename Value>(auto function, Value* values) {
    return function(handle, uplo, int(n), int(sides), static_cast<const Value*>(a), int(lda),
                    values, int(ldb), info);
  };
  if (type == CUDA_R_64F) return call(cusolverDnDpotrs, static_cast<double*>(b));
  if (type == CUDA_R_32F) return call(cusolverDnSpotrs, static_cast<float*>(b));
  return CUSOLVER_STATUS_NOT_SUPPORTED;
}
