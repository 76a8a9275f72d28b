/// \file
/// Replaces the cublasXt header: products of matrices in host memory. The host's BLAS computes each
/// product before the call returns.

#pragma once

#include "cublas_v2.h"

struct cublasXtContext {
  int block = 0;
  bool has_devices = false;
};
using cublasXtHandle_t = cublasXtContext*;

inline cublasStatus_t cublasXtCreate(cublasXtHandle_t* handle) {
  *handle = new cublasXtContext();
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int* devices) {
  int there = 0;
  cudaGetDeviceCount(&there);
  if (count < 1) return CUBLAS_STATUS_INVALID_VALUE;
  for (int d = 0; d < count; ++d)
    if (devices[d] < 0 || devices[d] >= there) return CUBLAS_STATUS_INVALID_VALUE;
  handle->has_devices = true;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int block) {
  if (block < 1) return CUBLAS_STATUS_INVALID_VALUE;
  handle->block = block;
  return CUBLAS_STATUS_SUCCESS;
}

#define CUDA_ON_CPU_BLAS(letter, Letter, Value)                                                   \
  inline cublasStatus_t cublasXt##Letter##gemm(                                                   \
      cublasXtHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, std::size_t m,     \
      std::size_t n, std::size_t k, const Value* alpha, const Value* a, std::size_t lda,          \
      const Value* b, std::size_t ldb, const Value* beta, Value* c, std::size_t ldc) {            \
    const bool plain_a = op_a == CUBLAS_OP_N, plain_b = op_b == CUBLAS_OP_N;                      \
    if (handle == nullptr || !handle->has_devices) return CUBLAS_STATUS_NOT_INITIALIZED;          \
    if (lda < (plain_a ? m : k) || ldb < (plain_b ? k : n) || ldc < m)                            \
      return CUBLAS_STATUS_INVALID_VALUE;                                                         \
    cblas_##letter##gemm(CblasColMajor, cuda_on_cpu::blas::of(op_a), cuda_on_cpu::blas::of(op_b), \
                         m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);                         \
    return CUBLAS_STATUS_SUCCESS;                                                                 \
  }
CUDA_ON_CPU_BLAS(s, S, float)
CUDA_ON_CPU_BLAS(d, D, double)
#undef CUDA_ON_CPU_BLAS
