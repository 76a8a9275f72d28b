/// \file
/// Replaces the header of cuBLAS: levels 1 to 3 of BLAS for all four element types, batched
/// products and factorisations, and products whose element types are arguments. Each call becomes
/// an operation in its stream.
///
/// Matrices are column-major, as in cuBLAS. Programs that include this header must be linked with a
/// CBLAS library. The functions are templates, so that a program compiles only the functions that
/// it calls.

#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_on_cpu/blas.hpp"
#include "cuda_on_cpu/cublas_exported_names.hpp"
#include "cuda_on_cpu/matrix_products.hpp"
#include "cuda_runtime.h"
#include "library_types.h"

// Headers of other projects test these macros to detect which CUDA headers have been included.
#define CUBLAS_V2_H_
#define CUBLAS_API_H_
#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VERSION 130000

// --- Handles

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasContext();
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *value = type == MAJOR_VERSION ? CUBLAS_VER_MAJOR : 0;
  return CUBLAS_STATUS_SUCCESS;
}
inline std::size_t cublasGetCudartVersion() { return CUDART_VERSION; }
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, std::size_t) {
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) {
  return CUBLAS_STATUS_SUCCESS;
}
#define CUDA_ON_CPU_CUBLAS_PROPERTY(name, Value, member)                       \
  inline cublasStatus_t cublasSet##name(cublasHandle_t handle, Value value) {  \
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;               \
    handle->member = value;                                                    \
    return CUBLAS_STATUS_SUCCESS;                                              \
  }                                                                            \
  inline cublasStatus_t cublasGet##name(cublasHandle_t handle, Value* value) { \
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;               \
    *value = handle->member;                                                   \
    return CUBLAS_STATUS_SUCCESS;                                              \
  }
CUDA_ON_CPU_CUBLAS_PROPERTY(Stream, cudaStream_t, stream)
CUDA_ON_CPU_CUBLAS_PROPERTY(PointerMode, cublasPointerMode_t, mode)
CUDA_ON_CPU_CUBLAS_PROPERTY(MathMode, cublasMath_t, math)
CUDA_ON_CPU_CUBLAS_PROPERTY(AtomicsMode, cublasAtomicsMode_t, atomics)
CUDA_ON_CPU_CUBLAS_PROPERTY(SmCountTarget, int, processors)
#undef CUDA_ON_CPU_CUBLAS_PROPERTY

inline const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
#define CUDA_ON_CPU_STATUS(name) \
  case name:                     \
    return #name;
    CUDA_ON_CPU_STATUS(CUBLAS_STATUS_SUCCESS)
    CUDA_ON_CPU_STATUS(CUBLAS_STATUS_NOT_INITIALIZED)
    CUDA_ON_CPU_STATUS(CUBLAS_STATUS_ALLOC_FAILED)
    CUDA_ON_CPU_STATUS(CUBLAS_STATUS_INVALID_VALUE)
    CUDA_ON_CPU_STATUS(CUBLAS_STATUS_ARCH_MISMATCH)
    CUDA_ON_CPU_STATUS(CUBLAS_STATUS_MAPPING_ERROR)
    CUDA_ON_CPU_STATUS(CUBLAS_STATUS_EXECUTION_FAILED)
    CUDA_ON_CPU_STATUS(CUBLAS_STATUS_INTERNAL_ERROR)
    CUDA_ON_CPU_STATUS(CUBLAS_STATUS_NOT_SUPPORTED)
    CUDA_ON_CPU_STATUS(CUBLAS_STATUS_LICENSE_ERROR)
#undef CUDA_ON_CPU_STATUS
  }
  return "unknown status";
}
inline const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an unsupported value or parameter was passed";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "the function failed to launch on the GPU";
    default:
      return "the functionality requested is not supported";
  }
}

// --- Copies of vectors and matrices between host and device

#define CUDA_ON_CPU_CUBLAS_COPIES(Int, suffix)                                                   \
  inline cublasStatus_t cublasSetVectorAsync##suffix(Int n, Int bytes, const void* from,         \
                                                     Int stride_from, void* to, Int stride_to,   \
                                                     cudaStream_t stream) {                      \
    return cuda_on_cpu::blas::copy_columns(n, bytes, from, stride_from, to, stride_to, stream);  \
  }                                                                                              \
  inline cublasStatus_t cublasGetVectorAsync##suffix(Int n, Int bytes, const void* from,         \
                                                     Int stride_from, void* to, Int stride_to,   \
                                                     cudaStream_t stream) {                      \
    return cuda_on_cpu::blas::copy_columns(n, bytes, from, stride_from, to, stride_to, stream);  \
  }                                                                                              \
  inline cublasStatus_t cublasSetMatrixAsync##suffix(Int rows, Int columns, Int bytes,           \
                                                     const void* a, Int lda, void* b, Int ldb,   \
                                                     cudaStream_t stream) {                      \
    return cuda_on_cpu::blas::copy_matrix(rows, columns, bytes, a, lda, b, ldb, stream);         \
  }                                                                                              \
  inline cublasStatus_t cublasGetMatrixAsync##suffix(Int rows, Int columns, Int bytes,           \
                                                     const void* a, Int lda, void* b, Int ldb,   \
                                                     cudaStream_t stream) {                      \
    return cuda_on_cpu::blas::copy_matrix(rows, columns, bytes, a, lda, b, ldb, stream);         \
  }                                                                                              \
  inline cublasStatus_t cublasSetVector##suffix(Int n, Int bytes, const void* from,              \
                                                Int stride_from, void* to, Int stride_to) {      \
    return cuda_on_cpu::blas::waited_for(                                                        \
        cublasSetVectorAsync##suffix(n, bytes, from, stride_from, to, stride_to, nullptr));      \
  }                                                                                              \
  inline cublasStatus_t cublasGetVector##suffix(Int n, Int bytes, const void* from,              \
                                                Int stride_from, void* to, Int stride_to) {      \
    return cuda_on_cpu::blas::waited_for(                                                        \
        cublasGetVectorAsync##suffix(n, bytes, from, stride_from, to, stride_to, nullptr));      \
  }                                                                                              \
  inline cublasStatus_t cublasSetMatrix##suffix(Int rows, Int columns, Int bytes, const void* a, \
                                                Int lda, void* b, Int ldb) {                     \
    return cuda_on_cpu::blas::waited_for(                                                        \
        cublasSetMatrixAsync##suffix(rows, columns, bytes, a, lda, b, ldb, nullptr));            \
  }                                                                                              \
  inline cublasStatus_t cublasGetMatrix##suffix(Int rows, Int columns, Int bytes, const void* a, \
                                                Int lda, void* b, Int ldb) {                     \
    return cuda_on_cpu::blas::waited_for(                                                        \
        cublasGetMatrixAsync##suffix(rows, columns, bytes, a, lda, b, ldb, nullptr));            \
  }
CUDA_ON_CPU_CUBLAS_COPIES(int, )
CUDA_ON_CPU_CUBLAS_COPIES(std::int64_t, _64)
#undef CUDA_ON_CPU_CUBLAS_COPIES

// --- Levels 1 to 3. P and p are the upper-case and lower-case letters of the type. R is the letter
// of the corresponding real type, and RP consists of both letters

#define CUDA_ON_CPU_CUBLAS(P, Value, Real, Int, suffix)                                            \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##axpy##suffix(cublasHandle_t handle, Int n, const Value* alpha,         \
                                         const Value* x, Int stride_x, Value* y, Int stride_y) {   \
    using namespace cuda_on_cpu::blas;                                                             \
    return axpy(handle, n, alpha, x, stride_x, y, stride_y);                                       \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##copy##suffix(cublasHandle_t handle, Int n, const Value* x,             \
                                         Int stride_x, Value* y, Int stride_y) {                   \
    using namespace cuda_on_cpu::blas;                                                             \
    return copy(handle, n, x, stride_x, y, stride_y);                                              \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##swap##suffix(cublasHandle_t handle, Int n, Value* x, Int stride_x,     \
                                         Value* y, Int stride_y) {                                 \
    using namespace cuda_on_cpu::blas;                                                             \
    return swap(handle, n, x, stride_x, y, stride_y);                                              \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##scal##suffix(cublasHandle_t handle, Int n, const Value* alpha,         \
                                         Value* x, Int stride) {                                   \
    using namespace cuda_on_cpu::blas;                                                             \
    return scal(handle, n, alpha, x, stride);                                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##rot##suffix(cublasHandle_t handle, Int n, Value* x, Int stride_x,      \
                                        Value* y, Int stride_y, const Real* c, const Value* s) {   \
    using namespace cuda_on_cpu::blas;                                                             \
    return rot(handle, n, x, stride_x, y, stride_y, c, s);                                         \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##gemv##suffix(cublasHandle_t handle, cublasOperation_t op, Int m,       \
                                         Int n, const Value* alpha, const Value* a, Int lda,       \
                                         const Value* x, Int stride_x, const Value* beta,          \
                                         Value* y, Int stride_y) {                                 \
    using namespace cuda_on_cpu::blas;                                                             \
    return handle == nullptr                                                                       \
               ? CUBLAS_STATUS_NOT_INITIALIZED                                                     \
               : gemv(handle, Gemv<Value>{op, m, n, factor(handle, alpha), a, lda, x, stride_x,    \
                                          factor(handle, beta), y, stride_y});                     \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##gemvBatched##suffix(                                                   \
      cublasHandle_t handle, cublasOperation_t op, Int m, Int n, const Value* alpha,               \
      const Value* const a[], Int lda, const Value* const x[], Int stride_x, const Value* beta,    \
      Value* const y[], Int stride_y, Int batches) {                                               \
    using namespace cuda_on_cpu::blas;                                                             \
    return gemv_batched(handle,                                                                    \
                        Gemv<Value>{op, m, n, factor(handle, alpha), nullptr, lda, nullptr,        \
                                    stride_x, factor(handle, beta), nullptr, stride_y},            \
                        a, x, y, batches);                                                         \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##gemvStridedBatched##suffix(                                            \
      cublasHandle_t handle, cublasOperation_t op, Int m, Int n, const Value* alpha,               \
      const Value* a, Int lda, long long stride_a, const Value* x, Int stride_x,                   \
      long long batch_x, const Value* beta, Value* y, Int stride_y, long long batch_y,             \
      Int batches) {                                                                               \
    using namespace cuda_on_cpu::blas;                                                             \
    return gemv_strided(handle,                                                                    \
                        Gemv<Value>{op, m, n, factor(handle, alpha), a, lda, x, stride_x,          \
                                    factor(handle, beta), y, stride_y},                            \
                        stride_a, batch_x, batch_y, batches);                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##gbmv##suffix(cublasHandle_t handle, cublasOperation_t op, Int m,       \
                                         Int n, Int lower, Int upper, const Value* alpha,          \
                                         const Value* a, Int lda, const Value* x, Int stride_x,    \
                                         const Value* beta, Value* y, Int stride_y) {              \
    using namespace cuda_on_cpu::blas;                                                             \
    if (is_any_negative({lower, upper}) || lda < lower + upper + 1)                                \
      return CUBLAS_STATUS_INVALID_VALUE;                                                          \
    const bool plain = op == CUBLAS_OP_N;                                                          \
    return matrix_vector(handle, Dense<Value>{a, lda, true, lower, upper},                         \
                         matrix(a, lda, lower + upper + 1, n), op, plain ? m : n, plain ? n : m,   \
                         alpha, x, stride_x, beta, y, stride_y);                                   \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##trmv##suffix(cublasHandle_t handle, cublasFillMode_t uplo,             \
                                         cublasOperation_t op, cublasDiagType_t diagonal, Int n,   \
                                         const Value* a, Int lda, Value* x, Int stride) {          \
    using namespace cuda_on_cpu::blas;                                                             \
    return triangular_vector(                                                                      \
        handle,                                                                                    \
        Triangle<const Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER, Kind::triangular,         \
                              Storage::full, 0, diagonal == CUBLAS_DIAG_UNIT},                     \
        op, x, stride, false);                                                                     \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##trsv##suffix(cublasHandle_t handle, cublasFillMode_t uplo,             \
                                         cublasOperation_t op, cublasDiagType_t diagonal, Int n,   \
                                         const Value* a, Int lda, Value* x, Int stride) {          \
    using namespace cuda_on_cpu::blas;                                                             \
    return triangular_vector(                                                                      \
        handle,                                                                                    \
        Triangle<const Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER, Kind::triangular,         \
                              Storage::full, 0, diagonal == CUBLAS_DIAG_UNIT},                     \
        op, x, stride, true);                                                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##tbmv##suffix(                                                          \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op,                          \
      cublasDiagType_t diagonal, Int n, Int band, const Value* a, Int lda, Value* x, Int stride) { \
    using namespace cuda_on_cpu::blas;                                                             \
    return triangular_vector(                                                                      \
        handle,                                                                                    \
        Triangle<const Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER, Kind::triangular,         \
                              Storage::band, band, diagonal == CUBLAS_DIAG_UNIT},                  \
        op, x, stride, false);                                                                     \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##tbsv##suffix(                                                          \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op,                          \
      cublasDiagType_t diagonal, Int n, Int band, const Value* a, Int lda, Value* x, Int stride) { \
    using namespace cuda_on_cpu::blas;                                                             \
    return triangular_vector(                                                                      \
        handle,                                                                                    \
        Triangle<const Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER, Kind::triangular,         \
                              Storage::band, band, diagonal == CUBLAS_DIAG_UNIT},                  \
        op, x, stride, true);                                                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##tpmv##suffix(cublasHandle_t handle, cublasFillMode_t uplo,             \
                                         cublasOperation_t op, cublasDiagType_t diagonal, Int n,   \
                                         const Value* a, Value* x, Int stride) {                   \
    using namespace cuda_on_cpu::blas;                                                             \
    return triangular_vector(                                                                      \
        handle,                                                                                    \
        Triangle<const Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER, Kind::triangular,           \
                              Storage::packed, 0, diagonal == CUBLAS_DIAG_UNIT},                   \
        op, x, stride, false);                                                                     \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##tpsv##suffix(cublasHandle_t handle, cublasFillMode_t uplo,             \
                                         cublasOperation_t op, cublasDiagType_t diagonal, Int n,   \
                                         const Value* a, Value* x, Int stride) {                   \
    using namespace cuda_on_cpu::blas;                                                             \
    return triangular_vector(                                                                      \
        handle,                                                                                    \
        Triangle<const Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER, Kind::triangular,           \
                              Storage::packed, 0, diagonal == CUBLAS_DIAG_UNIT},                   \
        op, x, stride, true);                                                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##gemm##suffix(                                                          \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const Value* alpha, const Value* a, Int lda, const Value* b, Int ldb, const Value* beta,     \
      Value* c, Int ldc) {                                                                         \
    using namespace cuda_on_cpu::blas;                                                             \
    return gemm(handle, Gemm<Value>{op_a, op_b, m, n, k, factor(handle, alpha), a, lda, b, ldb,    \
                                    factor(handle, beta), c, ldc});                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##gemmBatched##suffix(                                                   \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const Value* alpha, const Value* const a[], Int lda, const Value* const b[], Int ldb,        \
      const Value* beta, Value* const c[], Int ldc, Int batches) {                                 \
    using namespace cuda_on_cpu::blas;                                                             \
    return gemm_batched(handle,                                                                    \
                        Gemm<Value>{op_a, op_b, m, n, k, factor(handle, alpha), nullptr, lda,      \
                                    nullptr, ldb, factor(handle, beta), nullptr, ldc},             \
                        a, b, c, batches);                                                         \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##gemmStridedBatched##suffix(                                            \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const Value* alpha, const Value* a, Int lda, long long stride_a, const Value* b, Int ldb,    \
      long long stride_b, const Value* beta, Value* c, Int ldc, long long stride_c, Int batches) { \
    using namespace cuda_on_cpu::blas;                                                             \
    return gemm_strided(handle,                                                                    \
                        Gemm<Value>{op_a, op_b, m, n, k, factor(handle, alpha), a, lda, b, ldb,    \
                                    factor(handle, beta), c, ldc},                                 \
                        stride_a, stride_b, stride_c, batches);                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##trsm##suffix(                                                          \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,   \
      cublasDiagType_t diagonal, Int m, Int n, const Value* alpha, const Value* a, Int lda,        \
      Value* b, Int ldb) {                                                                         \
    using namespace cuda_on_cpu::blas;                                                             \
    return trsm(handle, Trsm<Value>{side, uplo, op, diagonal, m, n, factor(handle, alpha), a, lda, \
                                    b, ldb});                                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##trsmBatched##suffix(                                                   \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,   \
      cublasDiagType_t diagonal, Int m, Int n, const Value* alpha, const Value* const a[],         \
      Int lda, Value* const b[], Int ldb, Int batches) {                                           \
    using namespace cuda_on_cpu::blas;                                                             \
    return trsm_batched(handle,                                                                    \
                        Trsm<Value>{side, uplo, op, diagonal, m, n, factor(handle, alpha),         \
                                    nullptr, lda, nullptr, ldb},                                   \
                        a, b, batches);                                                            \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##trmm##suffix(                                                          \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,   \
      cublasDiagType_t diagonal, Int m, Int n, const Value* alpha, const Value* a, Int lda,        \
      const Value* b, Int ldb, Value* c, Int ldc) {                                                \
    using namespace cuda_on_cpu::blas;                                                             \
    return trmm(handle, side,                                                                      \
                Triangle<const Value>{a, side == CUBLAS_SIDE_LEFT ? m : n, lda,                    \
                                      uplo == CUBLAS_FILL_MODE_LOWER, Kind::triangular,            \
                                      Storage::full, 0, diagonal == CUBLAS_DIAG_UNIT},             \
                op, m, n, alpha, b, ldb, c, ldc);                                                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##geam##suffix(cublasHandle_t handle, cublasOperation_t op_a,            \
                                         cublasOperation_t op_b, Int m, Int n, const Value* alpha, \
                                         const Value* a, Int lda, const Value* beta,               \
                                         const Value* b, Int ldb, Value* c, Int ldc) {             \
    using namespace cuda_on_cpu::blas;                                                             \
    return geam(handle, op_a, op_b, m, n, alpha, a, lda, beta, b, ldb, c, ldc);                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##dgmm##suffix(cublasHandle_t handle, cublasSideMode_t side, Int m,      \
                                         Int n, const Value* a, Int lda, const Value* x,           \
                                         Int stride, Value* c, Int ldc) {                          \
    using namespace cuda_on_cpu::blas;                                                             \
    return dgmm(handle, side, m, n, a, lda, x, stride, c, ldc);                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##symv##suffix(                                                          \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Value* alpha, const Value* a,     \
      Int lda, const Value* x, Int stride_x, const Value* beta, Value* y, Int stride_y) {          \
    using namespace cuda_on_cpu::blas;                                                             \
    return symmetric_vector(handle,                                                                \
                            Triangle<const Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,       \
                                                  Kind::symmetric, Storage::full, 0},              \
                            alpha, x, stride_x, beta, y, stride_y);                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##syr##suffix(cublasHandle_t handle, cublasFillMode_t uplo, Int n,       \
                                        const Value* alpha, const Value* x, Int stride, Value* a,  \
                                        Int lda) {                                                 \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_update<Value>(handle,                                                              \
                              Triangle<Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,           \
                                              Kind::symmetric, Storage::full, 0},                  \
                              alpha, x, stride, nullptr, 1);                                       \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##syr2##suffix(cublasHandle_t handle, cublasFillMode_t uplo, Int n,      \
                                         const Value* alpha, const Value* x, Int stride_x,         \
                                         const Value* y, Int stride_y, Value* a, Int lda) {        \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_update<Value>(handle,                                                              \
                              Triangle<Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,           \
                                              Kind::symmetric, Storage::full, 0},                  \
                              alpha, x, stride_x, y, stride_y);                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##symm##suffix(cublasHandle_t handle, cublasSideMode_t side,             \
                                         cublasFillMode_t uplo, Int m, Int n, const Value* alpha,  \
                                         const Value* a, Int lda, const Value* b, Int ldb,         \
                                         const Value* beta, Value* c, Int ldc) {                   \
    using namespace cuda_on_cpu::blas;                                                             \
    return symm(handle, side,                                                                      \
                Triangle<const Value>{a, side == CUBLAS_SIDE_LEFT ? m : n, lda,                    \
                                      uplo == CUBLAS_FILL_MODE_LOWER, Kind::symmetric},            \
                m, n, alpha, b, ldb, beta, c, ldc);                                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##syrk##suffix(                                                          \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, Int n, Int k,            \
      const Value* alpha, const Value* a, Int lda, const Value* beta, Value* c, Int ldc) {         \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_k_update(                                                                          \
        handle, Triangle<Value>{c, n, ldc, uplo == CUBLAS_FILL_MODE_LOWER, Kind::symmetric}, op,   \
        k, alpha, a, lda, a, lda, beta, false);                                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##syr2k##suffix(cublasHandle_t handle, cublasFillMode_t uplo,            \
                                          cublasOperation_t op, Int n, Int k, const Value* alpha,  \
                                          const Value* a, Int lda, const Value* b, Int ldb,        \
                                          const Value* beta, Value* c, Int ldc) {                  \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_k_update(                                                                          \
        handle, Triangle<Value>{c, n, ldc, uplo == CUBLAS_FILL_MODE_LOWER, Kind::symmetric}, op,   \
        k, alpha, a, lda, b, ldb, beta, true);                                                     \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##syrkx##suffix(cublasHandle_t handle, cublasFillMode_t uplo,            \
                                          cublasOperation_t op, Int n, Int k, const Value* alpha,  \
                                          const Value* a, Int lda, const Value* b, Int ldb,        \
                                          const Value* beta, Value* c, Int ldc) {                  \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_k_update(                                                                          \
        handle, Triangle<Value>{c, n, ldc, uplo == CUBLAS_FILL_MODE_LOWER, Kind::symmetric}, op,   \
        k, alpha, a, lda, b, ldb, beta, false);                                                    \
  }
#define CUDA_ON_CPU_CUBLAS_REAL(P, Value, Real, Int, suffix)                                     \
  template <typename = void>                                                                     \
  cublasStatus_t cublas##P##sbmv##suffix(cublasHandle_t handle, cublasFillMode_t uplo, Int n,    \
                                         Int band, const Value* alpha, const Value* a, Int lda,  \
                                         const Value* x, Int stride_x, const Value* beta,        \
                                         Value* y, Int stride_y) {                               \
    using namespace cuda_on_cpu::blas;                                                           \
    return symmetric_vector(handle,                                                              \
                            Triangle<const Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,     \
                                                  Kind::symmetric, Storage::band, band},         \
                            alpha, x, stride_x, beta, y, stride_y);                              \
  }                                                                                              \
  template <typename = void>                                                                     \
  cublasStatus_t cublas##P##spmv##suffix(                                                        \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Value* alpha, const Value* a,   \
      const Value* x, Int stride_x, const Value* beta, Value* y, Int stride_y) {                 \
    using namespace cuda_on_cpu::blas;                                                           \
    return symmetric_vector(handle,                                                              \
                            Triangle<const Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER,       \
                                                  Kind::symmetric, Storage::packed, 0},          \
                            alpha, x, stride_x, beta, y, stride_y);                              \
  }                                                                                              \
  template <typename = void>                                                                     \
  cublasStatus_t cublas##P##spr##suffix(cublasHandle_t handle, cublasFillMode_t uplo, Int n,     \
                                        const Value* alpha, const Value* x, Int stride,          \
                                        Value* a) {                                              \
    using namespace cuda_on_cpu::blas;                                                           \
    return rank_update<Value>(handle,                                                            \
                              Triangle<Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER,           \
                                              Kind::symmetric, Storage::packed, 0},              \
                              alpha, x, stride, nullptr, 1);                                     \
  }                                                                                              \
  template <typename = void>                                                                     \
  cublasStatus_t cublas##P##spr2##suffix(cublasHandle_t handle, cublasFillMode_t uplo, Int n,    \
                                         const Value* alpha, const Value* x, Int stride_x,       \
                                         const Value* y, Int stride_y, Value* a) {               \
    using namespace cuda_on_cpu::blas;                                                           \
    return rank_update<Value>(handle,                                                            \
                              Triangle<Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER,           \
                                              Kind::symmetric, Storage::packed, 0},              \
                              alpha, x, stride_x, y, stride_y);                                  \
  }                                                                                              \
  template <typename = void>                                                                     \
  cublasStatus_t cublas##P##dot##suffix(cublasHandle_t handle, Int n, const Value* x,            \
                                        Int stride_x, const Value* y, Int stride_y,              \
                                        Value* result) {                                         \
    using namespace cuda_on_cpu::blas;                                                           \
    return dot(handle, n, x, stride_x, y, stride_y, result, false);                              \
  }                                                                                              \
  template <typename = void>                                                                     \
  cublasStatus_t cublas##P##ger##suffix(cublasHandle_t handle, Int m, Int n, const Value* alpha, \
                                        const Value* x, Int stride_x, const Value* y,            \
                                        Int stride_y, Value* a, Int lda) {                       \
    using namespace cuda_on_cpu::blas;                                                           \
    return ger(handle, m, n, alpha, x, stride_x, y, stride_y, a, lda, false);                    \
  }                                                                                              \
  template <typename = void>                                                                     \
  cublasStatus_t cublas##P##rotm##suffix(cublasHandle_t handle, Int n, Value* x, Int stride_x,   \
                                         Value* y, Int stride_y, const Value* parameters) {      \
    using namespace cuda_on_cpu::blas;                                                           \
    return rotm(handle, n, x, stride_x, y, stride_y, parameters);                                \
  }
#define CUDA_ON_CPU_CUBLAS_COMPLEX(P, R, Value, Real, Int, suffix)                                 \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##hemv##suffix(                                                          \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Value* alpha, const Value* a,     \
      Int lda, const Value* x, Int stride_x, const Value* beta, Value* y, Int stride_y) {          \
    using namespace cuda_on_cpu::blas;                                                             \
    return symmetric_vector(handle,                                                                \
                            Triangle<const Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,       \
                                                  Kind::hermitian, Storage::full, 0},              \
                            alpha, x, stride_x, beta, y, stride_y);                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##hbmv##suffix(cublasHandle_t handle, cublasFillMode_t uplo, Int n,      \
                                         Int band, const Value* alpha, const Value* a, Int lda,    \
                                         const Value* x, Int stride_x, const Value* beta,          \
                                         Value* y, Int stride_y) {                                 \
    using namespace cuda_on_cpu::blas;                                                             \
    return symmetric_vector(handle,                                                                \
                            Triangle<const Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,       \
                                                  Kind::hermitian, Storage::band, band},           \
                            alpha, x, stride_x, beta, y, stride_y);                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##hpmv##suffix(                                                          \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Value* alpha, const Value* a,     \
      const Value* x, Int stride_x, const Value* beta, Value* y, Int stride_y) {                   \
    using namespace cuda_on_cpu::blas;                                                             \
    return symmetric_vector(handle,                                                                \
                            Triangle<const Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER,         \
                                                  Kind::hermitian, Storage::packed, 0},            \
                            alpha, x, stride_x, beta, y, stride_y);                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##her##suffix(cublasHandle_t handle, cublasFillMode_t uplo, Int n,       \
                                        const Real* alpha, const Value* x, Int stride, Value* a,   \
                                        Int lda) {                                                 \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_update<Value>(handle,                                                              \
                              Triangle<Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,           \
                                              Kind::hermitian, Storage::full, 0},                  \
                              alpha, x, stride, nullptr, 1);                                       \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##hpr##suffix(cublasHandle_t handle, cublasFillMode_t uplo, Int n,       \
                                        const Real* alpha, const Value* x, Int stride, Value* a) { \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_update<Value>(handle,                                                              \
                              Triangle<Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER,             \
                                              Kind::hermitian, Storage::packed, 0},                \
                              alpha, x, stride, nullptr, 1);                                       \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##her2##suffix(cublasHandle_t handle, cublasFillMode_t uplo, Int n,      \
                                         const Value* alpha, const Value* x, Int stride_x,         \
                                         const Value* y, Int stride_y, Value* a, Int lda) {        \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_update<Value>(handle,                                                              \
                              Triangle<Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,           \
                                              Kind::hermitian, Storage::full, 0},                  \
                              alpha, x, stride_x, y, stride_y);                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##hpr2##suffix(cublasHandle_t handle, cublasFillMode_t uplo, Int n,      \
                                         const Value* alpha, const Value* x, Int stride_x,         \
                                         const Value* y, Int stride_y, Value* a) {                 \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_update<Value>(handle,                                                              \
                              Triangle<Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER,             \
                                              Kind::hermitian, Storage::packed, 0},                \
                              alpha, x, stride_x, y, stride_y);                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##hemm##suffix(cublasHandle_t handle, cublasSideMode_t side,             \
                                         cublasFillMode_t uplo, Int m, Int n, const Value* alpha,  \
                                         const Value* a, Int lda, const Value* b, Int ldb,         \
                                         const Value* beta, Value* c, Int ldc) {                   \
    using namespace cuda_on_cpu::blas;                                                             \
    return symm(handle, side,                                                                      \
                Triangle<const Value>{a, side == CUBLAS_SIDE_LEFT ? m : n, lda,                    \
                                      uplo == CUBLAS_FILL_MODE_LOWER, Kind::hermitian},            \
                m, n, alpha, b, ldb, beta, c, ldc);                                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##herk##suffix(                                                          \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, Int n, Int k,            \
      const Real* alpha, const Value* a, Int lda, const Real* beta, Value* c, Int ldc) {           \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_k_update(                                                                          \
        handle, Triangle<Value>{c, n, ldc, uplo == CUBLAS_FILL_MODE_LOWER, Kind::hermitian}, op,   \
        k, alpha, a, lda, a, lda, beta, false);                                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##her2k##suffix(cublasHandle_t handle, cublasFillMode_t uplo,            \
                                          cublasOperation_t op, Int n, Int k, const Value* alpha,  \
                                          const Value* a, Int lda, const Value* b, Int ldb,        \
                                          const Real* beta, Value* c, Int ldc) {                   \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_k_update(                                                                          \
        handle, Triangle<Value>{c, n, ldc, uplo == CUBLAS_FILL_MODE_LOWER, Kind::hermitian}, op,   \
        k, alpha, a, lda, b, ldb, beta, true);                                                     \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##herkx##suffix(cublasHandle_t handle, cublasFillMode_t uplo,            \
                                          cublasOperation_t op, Int n, Int k, const Value* alpha,  \
                                          const Value* a, Int lda, const Value* b, Int ldb,        \
                                          const Real* beta, Value* c, Int ldc) {                   \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_k_update(                                                                          \
        handle, Triangle<Value>{c, n, ldc, uplo == CUBLAS_FILL_MODE_LOWER, Kind::hermitian}, op,   \
        k, alpha, a, lda, b, ldb, beta, false);                                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##dotu##suffix(cublasHandle_t handle, Int n, const Value* x,             \
                                         Int stride_x, const Value* y, Int stride_y,               \
                                         Value* result) {                                          \
    using namespace cuda_on_cpu::blas;                                                             \
    return dot(handle, n, x, stride_x, y, stride_y, result, false);                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##dotc##suffix(cublasHandle_t handle, Int n, const Value* x,             \
                                         Int stride_x, const Value* y, Int stride_y,               \
                                         Value* result) {                                          \
    using namespace cuda_on_cpu::blas;                                                             \
    return dot(handle, n, x, stride_x, y, stride_y, result, true);                                 \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##geru##suffix(cublasHandle_t handle, Int m, Int n, const Value* alpha,  \
                                         const Value* x, Int stride_x, const Value* y,             \
                                         Int stride_y, Value* a, Int lda) {                        \
    using namespace cuda_on_cpu::blas;                                                             \
    return ger(handle, m, n, alpha, x, stride_x, y, stride_y, a, lda, false);                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##gerc##suffix(cublasHandle_t handle, Int m, Int n, const Value* alpha,  \
                                         const Value* x, Int stride_x, const Value* y,             \
                                         Int stride_y, Value* a, Int lda) {                        \
    using namespace cuda_on_cpu::blas;                                                             \
    return ger(handle, m, n, alpha, x, stride_x, y, stride_y, a, lda, true);                       \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##gemm3m##suffix(                                                        \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const Value* alpha, const Value* a, Int lda, const Value* b, Int ldb, const Value* beta,     \
      Value* c, Int ldc) {                                                                         \
    using namespace cuda_on_cpu::blas;                                                             \
    return gemm(handle, Gemm<Value>{op_a, op_b, m, n, k, factor(handle, alpha), a, lda, b, ldb,    \
                                    factor(handle, beta), c, ldc});                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##R##scal##suffix(cublasHandle_t handle, Int n, const Real* alpha,       \
                                            Value* x, Int stride) {                                \
    using namespace cuda_on_cpu::blas;                                                             \
    return scal(handle, n, alpha, x, stride);                                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##R##rot##suffix(cublasHandle_t handle, Int n, Value* x, Int stride_x,   \
                                           Value* y, Int stride_y, const Real* c, const Real* s) { \
    using namespace cuda_on_cpu::blas;                                                             \
    return rot(handle, n, x, stride_x, y, stride_y, c, s);                                         \
  }
#define CUDA_ON_CPU_CUBLAS_REDUCTIONS(p, RP, Value, Real, Int, suffix)                  \
  template <typename = void>                                                            \
  cublasStatus_t cublasI##p##amax##suffix(cublasHandle_t handle, Int n, const Value* x, \
                                          Int stride, Int* result) {                    \
    using namespace cuda_on_cpu::blas;                                                  \
    return extreme(handle, n, x, stride, result, true);                                 \
  }                                                                                     \
  template <typename = void>                                                            \
  cublasStatus_t cublasI##p##amin##suffix(cublasHandle_t handle, Int n, const Value* x, \
                                          Int stride, Int* result) {                    \
    using namespace cuda_on_cpu::blas;                                                  \
    return extreme(handle, n, x, stride, result, false);                                \
  }                                                                                     \
  template <typename = void>                                                            \
  cublasStatus_t cublas##RP##asum##suffix(cublasHandle_t handle, Int n, const Value* x, \
                                          Int stride, Real* result) {                   \
    using namespace cuda_on_cpu::blas;                                                  \
    return asum(handle, n, x, stride, result);                                          \
  }                                                                                     \
  template <typename = void>                                                            \
  cublasStatus_t cublas##RP##nrm2##suffix(cublasHandle_t handle, Int n, const Value* x, \
                                          Int stride, Real* result) {                   \
    using namespace cuda_on_cpu::blas;                                                  \
    return nrm2(handle, n, x, stride, result);                                          \
  }
#define CUDA_ON_CPU_CUBLAS_SMALL(P, Value, Real)                                                   \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##rotg(cublasHandle_t handle, Value* a, Value* b, Real* c, Value* s) {   \
    using namespace cuda_on_cpu::blas;                                                             \
    return rotg(handle, a, b, c, s);                                                               \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##getrfBatched(cublasHandle_t handle, int n, Value* const a[], int lda,  \
                                         int* pivots, int* info, int batches) {                    \
    using namespace cuda_on_cpu::blas;                                                             \
    return getrf_batched(handle, n, a, lda, pivots, info, batches);                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##getrsBatched(                                                          \
      cublasHandle_t handle, cublasOperation_t op, int n, int columns, const Value* const a[],     \
      int lda, const int* pivots, Value* const b[], int ldb, int* info, int batches) {             \
    using namespace cuda_on_cpu::blas;                                                             \
    return getrs_batched(handle, op, n, columns, a, lda, pivots, b, ldb, info, batches);           \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##getriBatched(cublasHandle_t handle, int n, const Value* const a[],     \
                                         int lda, const int* pivots, Value* const c[], int ldc,    \
                                         int* info, int batches) {                                 \
    using namespace cuda_on_cpu::blas;                                                             \
    return getri_batched(handle, n, a, lda, pivots, c, ldc, info, batches);                        \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##matinvBatched(cublasHandle_t handle, int n, const Value* const a[],    \
                                          int lda, Value* const inverse[], int stride, int* info,  \
                                          int batches) {                                           \
    using namespace cuda_on_cpu::blas;                                                             \
    return matinv_batched(handle, n, a, lda, inverse, stride, info, batches);                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##geqrfBatched(cublasHandle_t handle, int m, int n, Value* const a[],    \
                                         int lda, Value* const tau[], int* info, int batches) {    \
    using namespace cuda_on_cpu::blas;                                                             \
    return geqrf_batched(handle, m, n, a, lda, tau, info, batches);                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##gelsBatched(                                                           \
      cublasHandle_t handle, cublasOperation_t op, int m, int n, int columns, Value* const a[],    \
      int lda, Value* const b[], int ldb, int* info, int* singular, int batches) {                 \
    using namespace cuda_on_cpu::blas;                                                             \
    return gels_batched(handle, op, m, n, columns, a, lda, b, ldb, info, singular, batches);       \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##tpttr(cublasHandle_t handle, cublasFillMode_t uplo, int n,             \
                                  const Value* packed, Value* a, int lda) {                        \
    using namespace cuda_on_cpu::blas;                                                             \
    const bool lower = uplo == CUBLAS_FILL_MODE_LOWER;                                             \
    return copy_triangle(                                                                          \
        handle, Triangle<const Value>{packed, n, 0, lower, Kind::triangular, Storage::packed},     \
        Triangle<Value>{a, n, lda, lower, Kind::triangular});                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  cublasStatus_t cublas##P##trttp(cublasHandle_t handle, cublasFillMode_t uplo, int n,             \
                                  const Value* a, int lda, Value* packed) {                        \
    using namespace cuda_on_cpu::blas;                                                             \
    const bool lower = uplo == CUBLAS_FILL_MODE_LOWER;                                             \
    return copy_triangle(handle, Triangle<const Value>{a, n, lda, lower, Kind::triangular},        \
                         Triangle<Value>{packed, n, 0, lower, Kind::triangular, Storage::packed}); \
  }
#define CUDA_ON_CPU_CUBLAS_SMALL_REAL(P, Value)                                           \
  template <typename = void>                                                              \
  cublasStatus_t cublas##P##rotmg(cublasHandle_t handle, Value* d1, Value* d2, Value* x1, \
                                  const Value* y1, Value* parameters) {                   \
    using namespace cuda_on_cpu::blas;                                                    \
    return rotmg(handle, d1, d2, x1, y1, parameters);                                     \
  }
#define CUDA_ON_CPU_CUBLAS_ALL(Int, suffix)                              \
  CUDA_ON_CPU_CUBLAS(S, float, float, Int, suffix)                       \
  CUDA_ON_CPU_CUBLAS(D, double, double, Int, suffix)                     \
  CUDA_ON_CPU_CUBLAS(C, cuComplex, float, Int, suffix)                   \
  CUDA_ON_CPU_CUBLAS(Z, cuDoubleComplex, double, Int, suffix)            \
  CUDA_ON_CPU_CUBLAS_REAL(S, float, float, Int, suffix)                  \
  CUDA_ON_CPU_CUBLAS_REAL(D, double, double, Int, suffix)                \
  CUDA_ON_CPU_CUBLAS_COMPLEX(C, s, cuComplex, float, Int, suffix)        \
  CUDA_ON_CPU_CUBLAS_COMPLEX(Z, d, cuDoubleComplex, double, Int, suffix) \
  CUDA_ON_CPU_CUBLAS_REDUCTIONS(s, S, float, float, Int, suffix)         \
  CUDA_ON_CPU_CUBLAS_REDUCTIONS(d, D, double, double, Int, suffix)       \
  CUDA_ON_CPU_CUBLAS_REDUCTIONS(c, Sc, cuComplex, float, Int, suffix)    \
  CUDA_ON_CPU_CUBLAS_REDUCTIONS(z, Dz, cuDoubleComplex, double, Int, suffix)
CUDA_ON_CPU_CUBLAS_ALL(int, )
CUDA_ON_CPU_CUBLAS_ALL(std::int64_t, _64)
CUDA_ON_CPU_CUBLAS_SMALL(S, float, float)
CUDA_ON_CPU_CUBLAS_SMALL(D, double, double)
CUDA_ON_CPU_CUBLAS_SMALL(C, cuComplex, float)
CUDA_ON_CPU_CUBLAS_SMALL(Z, cuDoubleComplex, double)
CUDA_ON_CPU_CUBLAS_SMALL_REAL(S, float)
CUDA_ON_CPU_CUBLAS_SMALL_REAL(D, double)
#undef CUDA_ON_CPU_CUBLAS
#undef CUDA_ON_CPU_CUBLAS_REAL
#undef CUDA_ON_CPU_CUBLAS_COMPLEX
#undef CUDA_ON_CPU_CUBLAS_REDUCTIONS
#undef CUDA_ON_CPU_CUBLAS_SMALL
#undef CUDA_ON_CPU_CUBLAS_SMALL_REAL
#undef CUDA_ON_CPU_CUBLAS_ALL

// --- Products of matrices whose element types are arguments

namespace cuda_on_cpu {

/// The type of alpha and beta for a compute type.
inline cudaDataType scale_type_of(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return CUDA_R_16F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return CUDA_R_32I;
    default:
      return CUDA_R_32F;
  }
}

/// Whether products are computed in double precision. Integer products are computed in double as
/// well, because float would round their sums.
inline bool is_in_double(cublasComputeType_t compute) {
  const cudaDataType type = scale_type_of(compute);
  return type == CUDA_R_64F || type == CUDA_R_32I;
}

/// The compute type for a data type. Toolkits before version 11 used data types instead of compute
/// types.
inline cublasComputeType_t compute_type_of(cudaDataType type) {
  return type == CUDA_R_16F   ? CUBLAS_COMPUTE_16F
         : type == CUDA_R_64F ? CUBLAS_COMPUTE_64F
         : type == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                              : CUBLAS_COMPUTE_32F;
}

/// A matrix A such that op(A) has `rows` rows and `columns` columns.
inline Matrix operand(const void* first, cudaDataType type, cublasOperation_t op, int rows,
                      int columns, int stride) {
  const bool plain = op == CUBLAS_OP_N;
  return {const_cast<void*>(first), type, static_cast<std::size_t>(plain ? rows : columns),
          static_cast<std::size_t>(plain ? columns : rows), static_cast<std::size_t>(stride)};
}

/// Whether the alignment of the columns is valid. For 8-bit elements, cuBLAS requires that each
/// column begins at a multiple of 4 bytes.
inline bool begins_at_words(const void* first, cudaDataType type, int stride) {
  return type != CUDA_R_8I || (reinterpret_cast<std::uintptr_t>(first) % 4 == 0 && stride % 4 == 0);
}

/// The value of a scalar whose type is an argument. If the scalar is in device memory, the function
/// first waits for all earlier operations of the stream.
inline double scale_of(cublasHandle_t handle, const void* factor, cudaDataType type) {
  if (handle->mode == CUBLAS_POINTER_MODE_DEVICE) cudaStreamSynchronize(handle->stream);
  return element<double>(factor, type, 0);
}

}  // namespace cuda_on_cpu

inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType type_a, int lda, long long stride_a,
    const void* b, cudaDataType type_b, int ldb, long long stride_b, const void* beta, void* c,
    cudaDataType type_c, int ldc, long long stride_c, int batches, cublasComputeType_t compute,
    cublasGemmAlgo_t) {
  using namespace cuda_on_cpu;
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto are_all = [&](cudaDataType type) {
    return type_a == type && type_b == type && type_c == type;
  };
  if (are_all(CUDA_C_32F))
    return cublasCgemmStridedBatched(
        handle, op_a, op_b, m, n, k, static_cast<const cuComplex*>(alpha),
        static_cast<const cuComplex*>(a), lda, stride_a, static_cast<const cuComplex*>(b), ldb,
        stride_b, static_cast<const cuComplex*>(beta), static_cast<cuComplex*>(c), ldc, stride_c,
        batches);
  if (are_all(CUDA_C_64F))
    return cublasZgemmStridedBatched(handle, op_a, op_b, m, n, k,
                                     static_cast<const cuDoubleComplex*>(alpha),
                                     static_cast<const cuDoubleComplex*>(a), lda, stride_a,
                                     static_cast<const cuDoubleComplex*>(b), ldb, stride_b,
                                     static_cast<const cuDoubleComplex*>(beta),
                                     static_cast<cuDoubleComplex*>(c), ldc, stride_c, batches);
  if (m < 0 || n < 0 || k < 0 || lda < 1 || ldb < 1 || ldc < 1 || batches < 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  const cudaDataType scale = scale_type_of(compute);
  const Matrix result = operand(c, type_c, CUBLAS_OP_N, m, n, ldc);
  const Product product{operand(a, type_a, op_a, m, k, lda),
                        operand(b, type_b, op_b, k, n, ldb),
                        result,
                        result,
                        op_a != CUBLAS_OP_N,
                        op_b != CUBLAS_OP_N,
                        scale_of(handle, alpha, scale),
                        scale_of(handle, beta, scale)};
  if (!product.has_known_types() || !begins_at_words(a, type_a, lda) ||
      !begins_at_words(b, type_b, ldb))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!product.fits()) return CUBLAS_STATUS_INVALID_VALUE;
  for (int i = 0; i < batches; ++i) {
    Product one = product;
    const auto number = static_cast<std::size_t>(i);
    one.a = product.a.of_batch(number, static_cast<std::size_t>(stride_a));
    one.b = product.b.of_batch(number, static_cast<std::size_t>(stride_b));
    one.c = one.d = result.of_batch(number, static_cast<std::size_t>(stride_c));
    if (enqueue_product(handle->stream, one, is_in_double(compute)) != cudaSuccess)
      return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                   cublasOperation_t op_b, int m, int n, int k, const void* alpha,
                                   const void* a, cudaDataType type_a, int lda, const void* b,
                                   cudaDataType type_b, int ldb, const void* beta, void* c,
                                   cudaDataType type_c, int ldc, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b,
                                    type_b, ldb, 0, beta, c, type_c, ldc, 0, 1, compute, algorithm);
}

// Overloads with the signature of toolkits before version 11.
inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType type_a, int lda, long long stride_a,
    const void* b, cudaDataType type_b, int ldb, long long stride_b, const void* beta, void* c,
    cudaDataType type_c, int ldc, long long stride_c, int batches, cudaDataType compute,
    cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, stride_a, b,
                                    type_b, ldb, stride_b, beta, c, type_c, ldc, stride_c, batches,
                                    cuda_on_cpu::compute_type_of(compute), algorithm);
}
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                   cublasOperation_t op_b, int m, int n, int k, const void* alpha,
                                   const void* a, cudaDataType type_a, int lda, const void* b,
                                   cudaDataType type_b, int ldb, const void* beta, void* c,
                                   cudaDataType type_c, int ldc, cudaDataType compute,
                                   cublasGemmAlgo_t algorithm) {
  return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,
                      type_c, ldc, cuda_on_cpu::compute_type_of(compute), algorithm);
}

inline cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t op_a,
                                  cublasOperation_t op_b, int m, int n, int k, const __half* alpha,
                                  const __half* a, int lda, const __half* b, int ldb,
                                  const __half* beta, __half* c, int ldc) {
  return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, CUDA_R_16F, lda, b, CUDA_R_16F, ldb,
                      beta, c, CUDA_R_16F, ldc, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}
inline cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                                cublasOperation_t op_b, int m, int n, int k,
                                                const __half* alpha, const __half* a, int lda,
                                                long long stride_a, const __half* b, int ldb,
                                                long long stride_b, const __half* beta, __half* c,
                                                int ldc, long long stride_c, int batches) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, CUDA_R_16F, lda,
                                    stride_a, b, CUDA_R_16F, ldb, stride_b, beta, c, CUDA_R_16F,
                                    ldc, stride_c, batches, CUBLAS_COMPUTE_16F,
                                    CUBLAS_GEMM_DEFAULT);
}
inline cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                    cublasOperation_t op_b, int m, int n, int k, const float* alpha,
                                    const void* a, cudaDataType type_a, int lda, const void* b,
                                    cudaDataType type_b, int ldb, const float* beta, void* c,
                                    cudaDataType type_c, int ldc) {
  return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,
                      type_c, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

/// Computes a batch of products. The addresses of the matrices are in device memory; all earlier
/// operations that write these addresses must be complete.
inline cublasStatus_t cublasGemmBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* const a[], cudaDataType type_a, int lda, const void* const b[],
    cudaDataType type_b, int ldb, const void* beta, void* const c[], cudaDataType type_c, int ldc,
    int batches, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  using cuda_on_cpu::blas::get;
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (batches < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (cudaStreamSynchronize(handle->stream) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  for (int i = 0; i < batches; ++i)
    if (const auto status =
            cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, get(a + i), type_a, lda, get(b + i),
                         type_b, ldb, beta, get(c + i), type_c, ldc, compute, algorithm);
        status != CUBLAS_STATUS_SUCCESS)
      return status;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const __half* alpha, const __half* const a[], int lda,
                                         const __half* const b[], int ldb, const __half* beta,
                                         __half* const c[], int ldc, int batches) {
  return cublasGemmBatchedEx(handle, op_a, op_b, m, n, k, alpha,
                             reinterpret_cast<const void* const*>(a), CUDA_R_16F, lda,
                             reinterpret_cast<const void* const*>(b), CUDA_R_16F, ldb, beta,
                             reinterpret_cast<void* const*>(c), CUDA_R_16F, ldc, batches,
                             CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);
}

// --- Level 1 with element types as arguments: real types, computed in double precision

namespace cuda_on_cpu {

/// A vector whose element type is an argument.
struct TypedVector {
  void* first;
  cudaDataType type;
  blas::Index size, stride;

  std::size_t index(blas::Index i) const {
    return static_cast<std::size_t>((stride > 0 ? i : i - size + 1) * stride);
  }
  double get(blas::Index i) const { return element<double>(first, type, index(i)); }
  void set(blas::Index i, double value) const { put_element(first, type, index(i), value); }
  Touched touched(bool written) const {
    const blas::Index places = size <= 0 ? 0 : (size - 1) * (stride < 0 ? -stride : stride) + 1;
    return {first, static_cast<std::size_t>(places) * bytes_of(type), written};
  }
};
inline TypedVector typed(const void* first, cudaDataType type, int size, int stride) {
  return {const_cast<void*>(first), type, size, stride};
}
inline bool are_known(std::initializer_list<cudaDataType> types) {
  for (const cudaDataType type : types)
    if (bytes_of(type) == 0) return false;
  return true;
}
/// Computes a scalar whose type is an argument, and stores the scalar in host or device memory
/// according to the pointer mode of the handle.
template <typename Work>
cublasStatus_t give_typed(cublasHandle_t handle, void* result, cudaDataType type, Touched first,
                          Touched second, Work work) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool on_host = handle->mode == CUBLAS_POINTER_MODE_HOST;
  const Touched given = on_host ? blas::nothing() : Touched{result, bytes_of(type), true, false};
  const cublasStatus_t status = blas::in_stream(handle, {first, second, given},
                                                [=] { put_element(result, type, 0, work()); });
  return on_host && status == CUBLAS_STATUS_SUCCESS &&
                 cudaStreamSynchronize(handle->stream) != cudaSuccess
             ? CUBLAS_STATUS_EXECUTION_FAILED
             : status;
}

}  // namespace cuda_on_cpu

inline cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void* x, cudaDataType type_x,
                                  int stride_x, const void* y, cudaDataType type_y, int stride_y,
                                  void* result, cudaDataType type, cudaDataType) {
  using namespace cuda_on_cpu;
  if (!are_known({type_x, type_y, type})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const TypedVector v = typed(x, type_x, n, stride_x), w = typed(y, type_y, n, stride_y);
  return give_typed(handle, result, type, v.touched(false), w.touched(false), [=] {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += v.get(i) * w.get(i);
    return sum;
  });
}
inline cublasStatus_t cublasDotcEx(cublasHandle_t handle, int n, const void* x, cudaDataType type_x,
                                   int stride_x, const void* y, cudaDataType type_y, int stride_y,
                                   void* result, cudaDataType type, cudaDataType execution) {
  return cublasDotEx(handle, n, x, type_x, stride_x, y, type_y, stride_y, result, type, execution);
}
inline cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void* x, cudaDataType type_x,
                                   int stride, void* result, cudaDataType type, cudaDataType) {
  using namespace cuda_on_cpu;
  if (!are_known({type_x, type})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const TypedVector v = typed(x, type_x, n, stride);
  return give_typed(handle, result, type, v.touched(false), blas::nothing(), [=] {
    double norm = 0;
    for (int i = 0; i < n; ++i) norm = std::hypot(norm, v.get(i));
    return norm;
  });
}
inline cublasStatus_t cublasAsumEx(cublasHandle_t handle, int n, const void* x, cudaDataType type_x,
                                   int stride, void* result, cudaDataType type, cudaDataType) {
  using namespace cuda_on_cpu;
  if (!are_known({type_x, type})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const TypedVector v = typed(x, type_x, n, stride);
  return give_typed(handle, result, type, v.touched(false), blas::nothing(), [=] {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::fabs(v.get(i));
    return sum;
  });
}
inline cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void* alpha,
                                   cudaDataType type_alpha, const void* x, cudaDataType type_x,
                                   int stride_x, void* y, cudaDataType type_y, int stride_y,
                                   cudaDataType) {
  using namespace cuda_on_cpu;
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!are_known({type_alpha, type_x, type_y})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const TypedVector v = typed(x, type_x, n, stride_x), w = typed(y, type_y, n, stride_y);
  const double by = scale_of(handle, alpha, type_alpha);
  return blas::in_stream(handle, {v.touched(false), w.touched(true)}, [=] {
    for (int i = 0; i < n; ++i) w.set(i, by * v.get(i) + w.get(i));
  });
}
inline cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void* alpha,
                                   cudaDataType type_alpha, void* x, cudaDataType type_x,
                                   int stride, cudaDataType) {
  using namespace cuda_on_cpu;
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!are_known({type_alpha, type_x})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const TypedVector v = typed(x, type_x, n, stride);
  const double by = scale_of(handle, alpha, type_alpha);
  return blas::in_stream(handle, {v.touched(true)}, [=] {
    for (int i = 0; i < n; ++i) v.set(i, by * v.get(i));
  });
}
inline cublasStatus_t cublasRotEx(cublasHandle_t handle, int n, void* x, cudaDataType type_x,
                                  int stride_x, void* y, cudaDataType type_y, int stride_y,
                                  const void* c, const void* s, cudaDataType type_cs,
                                  cudaDataType) {
  using namespace cuda_on_cpu;
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!are_known({type_cs, type_x, type_y})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const TypedVector v = typed(x, type_x, n, stride_x), w = typed(y, type_y, n, stride_y);
  const double by_c = scale_of(handle, c, type_cs), by_s = scale_of(handle, s, type_cs);
  return blas::in_stream(handle, {v.touched(true), w.touched(true)}, [=] {
    for (int i = 0; i < n; ++i) {
      const double before_x = v.get(i), before_y = w.get(i);
      v.set(i, by_c * before_x + by_s * before_y);
      w.set(i, by_c * before_y - by_s * before_x);
    }
  });
}
