/// \file
/// Replaces the header of cuBLAS: levels 1 to 3 of BLAS for all four element types, batched
/// products and factorisations, and products whose element types are arguments. Each call becomes
/// an operation in its stream.
///
/// Matrices are column-major, as in cuBLAS. Programs that include this header must be linked with a
/// CBLAS library. The functions are templates, so that a program compiles only the functions that
/// it calls.

#pragma once

#include <cstdio>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_on_cpu/blas.hpp"
#include "cuda_on_cpu/cublas_exported_names.hpp"
#include "cuda_on_cpu/typed_blas.hpp"
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
using cublasLogCallback = void (*)(const char* message);
namespace cuda_on_cpu::blas {
/// The function that a program registers for log messages. The CPU device logs nothing.
inline cublasLogCallback log_callback = nullptr;
}  // namespace cuda_on_cpu::blas
inline cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback) {
  cuda_on_cpu::blas::log_callback = callback;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* callback) {
  if (callback == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *callback = cuda_on_cpu::blas::log_callback;
  return CUBLAS_STATUS_SUCCESS;
}
/// Prints which argument of a routine is invalid. The count of arguments starts at 1.
inline void cublasXerbla(const char* routine, int argument) {
  std::fprintf(stderr, "%s: argument %d is invalid.\n", routine, argument);
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
// Emulated arithmetic would replace the arithmetic of a type only if the result stays as accurate.
// The CPU device always computes with the type itself.
CUDA_ON_CPU_CUBLAS_PROPERTY(EmulationStrategy, cublasEmulationStrategy_t, strategy)
CUDA_ON_CPU_CUBLAS_PROPERTY(EmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport,
                            special_values)
CUDA_ON_CPU_CUBLAS_PROPERTY(FixedPointEmulationMantissaControl, cudaEmulationMantissaControl,
                            mantissa)
CUDA_ON_CPU_CUBLAS_PROPERTY(FixedPointEmulationMaxMantissaBitCount, int, most_mantissa_bits)
CUDA_ON_CPU_CUBLAS_PROPERTY(FixedPointEmulationMantissaBitOffset, int, mantissa_offset)
#undef CUDA_ON_CPU_CUBLAS_PROPERTY

// Overloads for the enumeration of strategies that all libraries share.
inline cublasStatus_t cublasSetEmulationStrategy(cublasHandle_t handle,
                                                 cudaEmulationStrategy strategy) {
  return cublasSetEmulationStrategy(handle, static_cast<cublasEmulationStrategy_t>(strategy));
}
inline cublasStatus_t cublasGetEmulationStrategy(cublasHandle_t handle,
                                                 cudaEmulationStrategy* strategy) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *strategy = static_cast<cudaEmulationStrategy>(handle->strategy);
  return CUBLAS_STATUS_SUCCESS;
}
/// Determines the compute type for a data type and the math mode of the handle.
inline cublasStatus_t cublasMigrateComputeType(cublasHandle_t handle, cudaDataType type,
                                               cublasComputeType_t* compute) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool is_pedantic = (handle->math & 15) == CUBLAS_PEDANTIC_MATH;
  switch (type) {
    case CUDA_R_32F:
    case CUDA_C_32F:
      *compute = is_pedantic ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F;
      return CUBLAS_STATUS_SUCCESS;
    case CUDA_R_64F:
    case CUDA_C_64F:
      *compute = is_pedantic ? CUBLAS_COMPUTE_64F_PEDANTIC : CUBLAS_COMPUTE_64F;
      return CUBLAS_STATUS_SUCCESS;
    case CUDA_R_16F:
      *compute = is_pedantic ? CUBLAS_COMPUTE_16F_PEDANTIC : CUBLAS_COMPUTE_16F;
      return CUBLAS_STATUS_SUCCESS;
    case CUDA_R_32I:
      *compute = is_pedantic ? CUBLAS_COMPUTE_32I_PEDANTIC : CUBLAS_COMPUTE_32I;
      return CUBLAS_STATUS_SUCCESS;
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

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

#define CUDA_ON_CPU_CUBLAS_COPIES(Int, suffix)                                                  \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasSetVectorAsync##suffix(                            \
      Int n, Int bytes, const void* from, Int stride_from, void* to, Int stride_to,             \
      cudaStream_t stream) {                                                                    \
    return cuda_on_cpu::blas::copy_columns(n, bytes, from, stride_from, to, stride_to, stream); \
  }                                                                                             \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasGetVectorAsync##suffix(                            \
      Int n, Int bytes, const void* from, Int stride_from, void* to, Int stride_to,             \
      cudaStream_t stream) {                                                                    \
    return cuda_on_cpu::blas::copy_columns(n, bytes, from, stride_from, to, stride_to, stream); \
  }                                                                                             \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasSetMatrixAsync##suffix(                            \
      Int rows, Int columns, Int bytes, const void* a, Int lda, void* b, Int ldb,               \
      cudaStream_t stream) {                                                                    \
    return cuda_on_cpu::blas::copy_matrix(rows, columns, bytes, a, lda, b, ldb, stream);        \
  }                                                                                             \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasGetMatrixAsync##suffix(                            \
      Int rows, Int columns, Int bytes, const void* a, Int lda, void* b, Int ldb,               \
      cudaStream_t stream) {                                                                    \
    return cuda_on_cpu::blas::copy_matrix(rows, columns, bytes, a, lda, b, ldb, stream);        \
  }                                                                                             \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasSetVector##suffix(                                 \
      Int n, Int bytes, const void* from, Int stride_from, void* to, Int stride_to) {           \
    return cuda_on_cpu::blas::waited_for(                                                       \
        cublasSetVectorAsync##suffix(n, bytes, from, stride_from, to, stride_to, nullptr));     \
  }                                                                                             \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasGetVector##suffix(                                 \
      Int n, Int bytes, const void* from, Int stride_from, void* to, Int stride_to) {           \
    return cuda_on_cpu::blas::waited_for(                                                       \
        cublasGetVectorAsync##suffix(n, bytes, from, stride_from, to, stride_to, nullptr));     \
  }                                                                                             \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasSetMatrix##suffix(                                 \
      Int rows, Int columns, Int bytes, const void* a, Int lda, void* b, Int ldb) {             \
    return cuda_on_cpu::blas::waited_for(                                                       \
        cublasSetMatrixAsync##suffix(rows, columns, bytes, a, lda, b, ldb, nullptr));           \
  }                                                                                             \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasGetMatrix##suffix(                                 \
      Int rows, Int columns, Int bytes, const void* a, Int lda, void* b, Int ldb) {             \
    return cuda_on_cpu::blas::waited_for(                                                       \
        cublasGetMatrixAsync##suffix(rows, columns, bytes, a, lda, b, ldb, nullptr));           \
  }
CUDA_ON_CPU_CUBLAS_COPIES(int, )
CUDA_ON_CPU_CUBLAS_COPIES(std::int64_t, _64)
#undef CUDA_ON_CPU_CUBLAS_COPIES

// --- Levels 1 to 3. P and p are the upper-case and lower-case letters of the type. R is the letter
// of the corresponding real type, and RP consists of both letters

#define CUDA_ON_CPU_CUBLAS(P, Value, Real, Int, suffix)                                            \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##axpy##suffix(                                    \
      cublasHandle_t handle, Int n, const Value* alpha, const Value* x, Int stride_x, Value* y,    \
      Int stride_y) {                                                                              \
    using namespace cuda_on_cpu::blas;                                                             \
    return axpy(handle, n, alpha, x, stride_x, y, stride_y);                                       \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##copy##suffix(                                    \
      cublasHandle_t handle, Int n, const Value* x, Int stride_x, Value* y, Int stride_y) {        \
    using namespace cuda_on_cpu::blas;                                                             \
    return copy(handle, n, x, stride_x, y, stride_y);                                              \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##swap##suffix(                                    \
      cublasHandle_t handle, Int n, Value* x, Int stride_x, Value* y, Int stride_y) {              \
    using namespace cuda_on_cpu::blas;                                                             \
    return swap(handle, n, x, stride_x, y, stride_y);                                              \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##scal##suffix(                                    \
      cublasHandle_t handle, Int n, const Value* alpha, Value* x, Int stride) {                    \
    using namespace cuda_on_cpu::blas;                                                             \
    return scal(handle, n, alpha, x, stride);                                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##rot##suffix(                                     \
      cublasHandle_t handle, Int n, Value* x, Int stride_x, Value* y, Int stride_y, const Real* c, \
      const Value* s) {                                                                            \
    using namespace cuda_on_cpu::blas;                                                             \
    return rot(handle, n, x, stride_x, y, stride_y, c, s);                                         \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##gemv##suffix(                                    \
      cublasHandle_t handle, cublasOperation_t op, Int m, Int n, const Value* alpha,               \
      const Value* a, Int lda, const Value* x, Int stride_x, const Value* beta, Value* y,          \
      Int stride_y) {                                                                              \
    using namespace cuda_on_cpu::blas;                                                             \
    return handle == nullptr                                                                       \
               ? CUBLAS_STATUS_NOT_INITIALIZED                                                     \
               : gemv(handle, Gemv<Value>{op, m, n, factor(handle, alpha), a, lda, x, stride_x,    \
                                          factor(handle, beta), y, stride_y});                     \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##gemvBatched##suffix(                             \
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
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##gemvStridedBatched##suffix(                      \
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
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##gbmv##suffix(                                    \
      cublasHandle_t handle, cublasOperation_t op, Int m, Int n, Int lower, Int upper,             \
      const Value* alpha, const Value* a, Int lda, const Value* x, Int stride_x,                   \
      const Value* beta, Value* y, Int stride_y) {                                                 \
    using namespace cuda_on_cpu::blas;                                                             \
    if (is_any_negative({lower, upper}) || lda < lower + upper + 1)                                \
      return CUBLAS_STATUS_INVALID_VALUE;                                                          \
    const bool plain = op == CUBLAS_OP_N;                                                          \
    return matrix_vector(handle, Dense<Value>{a, lda, true, lower, upper},                         \
                         matrix(a, lda, lower + upper + 1, n), op, plain ? m : n, plain ? n : m,   \
                         alpha, x, stride_x, beta, y, stride_y);                                   \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##trmv##suffix(                                    \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op,                          \
      cublasDiagType_t diagonal, Int n, const Value* a, Int lda, Value* x, Int stride) {           \
    using namespace cuda_on_cpu::blas;                                                             \
    return triangular_vector(                                                                      \
        handle,                                                                                    \
        Triangle<const Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER, Kind::triangular,         \
                              Storage::full, 0, diagonal == CUBLAS_DIAG_UNIT},                     \
        op, x, stride, false);                                                                     \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##trsv##suffix(                                    \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op,                          \
      cublasDiagType_t diagonal, Int n, const Value* a, Int lda, Value* x, Int stride) {           \
    using namespace cuda_on_cpu::blas;                                                             \
    return triangular_vector(                                                                      \
        handle,                                                                                    \
        Triangle<const Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER, Kind::triangular,         \
                              Storage::full, 0, diagonal == CUBLAS_DIAG_UNIT},                     \
        op, x, stride, true);                                                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##tbmv##suffix(                                    \
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
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##tbsv##suffix(                                    \
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
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##tpmv##suffix(                                    \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op,                          \
      cublasDiagType_t diagonal, Int n, const Value* a, Value* x, Int stride) {                    \
    using namespace cuda_on_cpu::blas;                                                             \
    return triangular_vector(                                                                      \
        handle,                                                                                    \
        Triangle<const Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER, Kind::triangular,           \
                              Storage::packed, 0, diagonal == CUBLAS_DIAG_UNIT},                   \
        op, x, stride, false);                                                                     \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##tpsv##suffix(                                    \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op,                          \
      cublasDiagType_t diagonal, Int n, const Value* a, Value* x, Int stride) {                    \
    using namespace cuda_on_cpu::blas;                                                             \
    return triangular_vector(                                                                      \
        handle,                                                                                    \
        Triangle<const Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER, Kind::triangular,           \
                              Storage::packed, 0, diagonal == CUBLAS_DIAG_UNIT},                   \
        op, x, stride, true);                                                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##gemm##suffix(                                    \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const Value* alpha, const Value* a, Int lda, const Value* b, Int ldb, const Value* beta,     \
      Value* c, Int ldc) {                                                                         \
    using namespace cuda_on_cpu::blas;                                                             \
    return gemm(handle, Gemm<Value>{op_a, op_b, m, n, k, factor(handle, alpha), a, lda, b, ldb,    \
                                    factor(handle, beta), c, ldc});                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##gemmBatched##suffix(                             \
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
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##gemmStridedBatched##suffix(                      \
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
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##trsm##suffix(                                    \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,   \
      cublasDiagType_t diagonal, Int m, Int n, const Value* alpha, const Value* a, Int lda,        \
      Value* b, Int ldb) {                                                                         \
    using namespace cuda_on_cpu::blas;                                                             \
    return trsm(handle, Trsm<Value>{side, uplo, op, diagonal, m, n, factor(handle, alpha), a, lda, \
                                    b, ldb});                                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##trsmBatched##suffix(                             \
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
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##trmm##suffix(                                    \
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
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##geam##suffix(                                    \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n,         \
      const Value* alpha, const Value* a, Int lda, const Value* beta, const Value* b, Int ldb,     \
      Value* c, Int ldc) {                                                                         \
    using namespace cuda_on_cpu::blas;                                                             \
    return geam(handle, op_a, op_b, m, n, alpha, a, lda, beta, b, ldb, c, ldc);                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##dgmm##suffix(                                    \
      cublasHandle_t handle, cublasSideMode_t side, Int m, Int n, const Value* a, Int lda,         \
      const Value* x, Int stride, Value* c, Int ldc) {                                             \
    using namespace cuda_on_cpu::blas;                                                             \
    return dgmm(handle, side, m, n, a, lda, x, stride, c, ldc);                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##symv##suffix(                                    \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Value* alpha, const Value* a,     \
      Int lda, const Value* x, Int stride_x, const Value* beta, Value* y, Int stride_y) {          \
    using namespace cuda_on_cpu::blas;                                                             \
    return symmetric_vector(handle,                                                                \
                            Triangle<const Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,       \
                                                  Kind::symmetric, Storage::full, 0},              \
                            alpha, x, stride_x, beta, y, stride_y);                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##syr##suffix(                                     \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Value* alpha, const Value* x,     \
      Int stride, Value* a, Int lda) {                                                             \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_update<Value>(handle,                                                              \
                              Triangle<Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,           \
                                              Kind::symmetric, Storage::full, 0},                  \
                              alpha, x, stride, nullptr, 1);                                       \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##syr2##suffix(                                    \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Value* alpha, const Value* x,     \
      Int stride_x, const Value* y, Int stride_y, Value* a, Int lda) {                             \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_update<Value>(handle,                                                              \
                              Triangle<Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,           \
                                              Kind::symmetric, Storage::full, 0},                  \
                              alpha, x, stride_x, y, stride_y);                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##symm##suffix(                                    \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, Int m, Int n,           \
      const Value* alpha, const Value* a, Int lda, const Value* b, Int ldb, const Value* beta,     \
      Value* c, Int ldc) {                                                                         \
    using namespace cuda_on_cpu::blas;                                                             \
    return symm(handle, side,                                                                      \
                Triangle<const Value>{a, side == CUBLAS_SIDE_LEFT ? m : n, lda,                    \
                                      uplo == CUBLAS_FILL_MODE_LOWER, Kind::symmetric},            \
                m, n, alpha, b, ldb, beta, c, ldc);                                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##syrk##suffix(                                    \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, Int n, Int k,            \
      const Value* alpha, const Value* a, Int lda, const Value* beta, Value* c, Int ldc) {         \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_k_update(                                                                          \
        handle, Triangle<Value>{c, n, ldc, uplo == CUBLAS_FILL_MODE_LOWER, Kind::symmetric}, op,   \
        k, alpha, a, lda, a, lda, beta, false);                                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##syr2k##suffix(                                   \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, Int n, Int k,            \
      const Value* alpha, const Value* a, Int lda, const Value* b, Int ldb, const Value* beta,     \
      Value* c, Int ldc) {                                                                         \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_k_update(                                                                          \
        handle, Triangle<Value>{c, n, ldc, uplo == CUBLAS_FILL_MODE_LOWER, Kind::symmetric}, op,   \
        k, alpha, a, lda, b, ldb, beta, true);                                                     \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##syrkx##suffix(                                   \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, Int n, Int k,            \
      const Value* alpha, const Value* a, Int lda, const Value* b, Int ldb, const Value* beta,     \
      Value* c, Int ldc) {                                                                         \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_k_update(                                                                          \
        handle, Triangle<Value>{c, n, ldc, uplo == CUBLAS_FILL_MODE_LOWER, Kind::symmetric}, op,   \
        k, alpha, a, lda, b, ldb, beta, false);                                                    \
  }
#define CUDA_ON_CPU_CUBLAS_REAL(P, Value, Real, Int, suffix)                                    \
  template <typename = void>                                                                    \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##sbmv##suffix(                                 \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, Int band, const Value* alpha,        \
      const Value* a, Int lda, const Value* x, Int stride_x, const Value* beta, Value* y,       \
      Int stride_y) {                                                                           \
    using namespace cuda_on_cpu::blas;                                                          \
    return symmetric_vector(handle,                                                             \
                            Triangle<const Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,    \
                                                  Kind::symmetric, Storage::band, band},        \
                            alpha, x, stride_x, beta, y, stride_y);                             \
  }                                                                                             \
  template <typename = void>                                                                    \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##spmv##suffix(                                 \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Value* alpha, const Value* a,  \
      const Value* x, Int stride_x, const Value* beta, Value* y, Int stride_y) {                \
    using namespace cuda_on_cpu::blas;                                                          \
    return symmetric_vector(handle,                                                             \
                            Triangle<const Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER,      \
                                                  Kind::symmetric, Storage::packed, 0},         \
                            alpha, x, stride_x, beta, y, stride_y);                             \
  }                                                                                             \
  template <typename = void>                                                                    \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##spr##suffix(                                  \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Value* alpha, const Value* x,  \
      Int stride, Value* a) {                                                                   \
    using namespace cuda_on_cpu::blas;                                                          \
    return rank_update<Value>(handle,                                                           \
                              Triangle<Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER,          \
                                              Kind::symmetric, Storage::packed, 0},             \
                              alpha, x, stride, nullptr, 1);                                    \
  }                                                                                             \
  template <typename = void>                                                                    \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##spr2##suffix(                                 \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Value* alpha, const Value* x,  \
      Int stride_x, const Value* y, Int stride_y, Value* a) {                                   \
    using namespace cuda_on_cpu::blas;                                                          \
    return rank_update<Value>(handle,                                                           \
                              Triangle<Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER,          \
                                              Kind::symmetric, Storage::packed, 0},             \
                              alpha, x, stride_x, y, stride_y);                                 \
  }                                                                                             \
  template <typename = void>                                                                    \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##dot##suffix(                                  \
      cublasHandle_t handle, Int n, const Value* x, Int stride_x, const Value* y, Int stride_y, \
      Value* result) {                                                                          \
    using namespace cuda_on_cpu::blas;                                                          \
    return dot(handle, n, x, stride_x, y, stride_y, result, false);                             \
  }                                                                                             \
  template <typename = void>                                                                    \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##ger##suffix(                                  \
      cublasHandle_t handle, Int m, Int n, const Value* alpha, const Value* x, Int stride_x,    \
      const Value* y, Int stride_y, Value* a, Int lda) {                                        \
    using namespace cuda_on_cpu::blas;                                                          \
    return ger(handle, m, n, alpha, x, stride_x, y, stride_y, a, lda, false);                   \
  }                                                                                             \
  template <typename = void>                                                                    \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##rotm##suffix(                                 \
      cublasHandle_t handle, Int n, Value* x, Int stride_x, Value* y, Int stride_y,             \
      const Value* parameters) {                                                                \
    using namespace cuda_on_cpu::blas;                                                          \
    return rotm(handle, n, x, stride_x, y, stride_y, parameters);                               \
  }
#define CUDA_ON_CPU_CUBLAS_COMPLEX(P, R, Value, Real, Int, suffix)                                 \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##hemv##suffix(                                    \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Value* alpha, const Value* a,     \
      Int lda, const Value* x, Int stride_x, const Value* beta, Value* y, Int stride_y) {          \
    using namespace cuda_on_cpu::blas;                                                             \
    return symmetric_vector(handle,                                                                \
                            Triangle<const Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,       \
                                                  Kind::hermitian, Storage::full, 0},              \
                            alpha, x, stride_x, beta, y, stride_y);                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##hbmv##suffix(                                    \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, Int band, const Value* alpha,           \
      const Value* a, Int lda, const Value* x, Int stride_x, const Value* beta, Value* y,          \
      Int stride_y) {                                                                              \
    using namespace cuda_on_cpu::blas;                                                             \
    return symmetric_vector(handle,                                                                \
                            Triangle<const Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,       \
                                                  Kind::hermitian, Storage::band, band},           \
                            alpha, x, stride_x, beta, y, stride_y);                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##hpmv##suffix(                                    \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Value* alpha, const Value* a,     \
      const Value* x, Int stride_x, const Value* beta, Value* y, Int stride_y) {                   \
    using namespace cuda_on_cpu::blas;                                                             \
    return symmetric_vector(handle,                                                                \
                            Triangle<const Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER,         \
                                                  Kind::hermitian, Storage::packed, 0},            \
                            alpha, x, stride_x, beta, y, stride_y);                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##her##suffix(                                     \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Real* alpha, const Value* x,      \
      Int stride, Value* a, Int lda) {                                                             \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_update<Value>(handle,                                                              \
                              Triangle<Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,           \
                                              Kind::hermitian, Storage::full, 0},                  \
                              alpha, x, stride, nullptr, 1);                                       \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##hpr##suffix(                                     \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Real* alpha, const Value* x,      \
      Int stride, Value* a) {                                                                      \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_update<Value>(handle,                                                              \
                              Triangle<Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER,             \
                                              Kind::hermitian, Storage::packed, 0},                \
                              alpha, x, stride, nullptr, 1);                                       \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##her2##suffix(                                    \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Value* alpha, const Value* x,     \
      Int stride_x, const Value* y, Int stride_y, Value* a, Int lda) {                             \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_update<Value>(handle,                                                              \
                              Triangle<Value>{a, n, lda, uplo == CUBLAS_FILL_MODE_LOWER,           \
                                              Kind::hermitian, Storage::full, 0},                  \
                              alpha, x, stride_x, y, stride_y);                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##hpr2##suffix(                                    \
      cublasHandle_t handle, cublasFillMode_t uplo, Int n, const Value* alpha, const Value* x,     \
      Int stride_x, const Value* y, Int stride_y, Value* a) {                                      \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_update<Value>(handle,                                                              \
                              Triangle<Value>{a, n, 0, uplo == CUBLAS_FILL_MODE_LOWER,             \
                                              Kind::hermitian, Storage::packed, 0},                \
                              alpha, x, stride_x, y, stride_y);                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##hemm##suffix(                                    \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, Int m, Int n,           \
      const Value* alpha, const Value* a, Int lda, const Value* b, Int ldb, const Value* beta,     \
      Value* c, Int ldc) {                                                                         \
    using namespace cuda_on_cpu::blas;                                                             \
    return symm(handle, side,                                                                      \
                Triangle<const Value>{a, side == CUBLAS_SIDE_LEFT ? m : n, lda,                    \
                                      uplo == CUBLAS_FILL_MODE_LOWER, Kind::hermitian},            \
                m, n, alpha, b, ldb, beta, c, ldc);                                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##herk##suffix(                                    \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, Int n, Int k,            \
      const Real* alpha, const Value* a, Int lda, const Real* beta, Value* c, Int ldc) {           \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_k_update(                                                                          \
        handle, Triangle<Value>{c, n, ldc, uplo == CUBLAS_FILL_MODE_LOWER, Kind::hermitian}, op,   \
        k, alpha, a, lda, a, lda, beta, false);                                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##her2k##suffix(                                   \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, Int n, Int k,            \
      const Value* alpha, const Value* a, Int lda, const Value* b, Int ldb, const Real* beta,      \
      Value* c, Int ldc) {                                                                         \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_k_update(                                                                          \
        handle, Triangle<Value>{c, n, ldc, uplo == CUBLAS_FILL_MODE_LOWER, Kind::hermitian}, op,   \
        k, alpha, a, lda, b, ldb, beta, true);                                                     \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##herkx##suffix(                                   \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, Int n, Int k,            \
      const Value* alpha, const Value* a, Int lda, const Value* b, Int ldb, const Real* beta,      \
      Value* c, Int ldc) {                                                                         \
    using namespace cuda_on_cpu::blas;                                                             \
    return rank_k_update(                                                                          \
        handle, Triangle<Value>{c, n, ldc, uplo == CUBLAS_FILL_MODE_LOWER, Kind::hermitian}, op,   \
        k, alpha, a, lda, b, ldb, beta, false);                                                    \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##dotu##suffix(                                    \
      cublasHandle_t handle, Int n, const Value* x, Int stride_x, const Value* y, Int stride_y,    \
      Value* result) {                                                                             \
    using namespace cuda_on_cpu::blas;                                                             \
    return dot(handle, n, x, stride_x, y, stride_y, result, false);                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##dotc##suffix(                                    \
      cublasHandle_t handle, Int n, const Value* x, Int stride_x, const Value* y, Int stride_y,    \
      Value* result) {                                                                             \
    using namespace cuda_on_cpu::blas;                                                             \
    return dot(handle, n, x, stride_x, y, stride_y, result, true);                                 \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##geru##suffix(                                    \
      cublasHandle_t handle, Int m, Int n, const Value* alpha, const Value* x, Int stride_x,       \
      const Value* y, Int stride_y, Value* a, Int lda) {                                           \
    using namespace cuda_on_cpu::blas;                                                             \
    return ger(handle, m, n, alpha, x, stride_x, y, stride_y, a, lda, false);                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##gerc##suffix(                                    \
      cublasHandle_t handle, Int m, Int n, const Value* alpha, const Value* x, Int stride_x,       \
      const Value* y, Int stride_y, Value* a, Int lda) {                                           \
    using namespace cuda_on_cpu::blas;                                                             \
    return ger(handle, m, n, alpha, x, stride_x, y, stride_y, a, lda, true);                       \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##gemm3m##suffix(                                  \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const Value* alpha, const Value* a, Int lda, const Value* b, Int ldb, const Value* beta,     \
      Value* c, Int ldc) {                                                                         \
    using namespace cuda_on_cpu::blas;                                                             \
    return gemm(handle, Gemm<Value>{op_a, op_b, m, n, k, factor(handle, alpha), a, lda, b, ldb,    \
                                    factor(handle, beta), c, ldc});                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##R##scal##suffix(                                 \
      cublasHandle_t handle, Int n, const Real* alpha, Value* x, Int stride) {                     \
    using namespace cuda_on_cpu::blas;                                                             \
    return scal(handle, n, alpha, x, stride);                                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##R##rot##suffix(                                  \
      cublasHandle_t handle, Int n, Value* x, Int stride_x, Value* y, Int stride_y, const Real* c, \
      const Real* s) {                                                                             \
    using namespace cuda_on_cpu::blas;                                                             \
    return rot(handle, n, x, stride_x, y, stride_y, c, s);                                         \
  }
#define CUDA_ON_CPU_CUBLAS_REDUCTIONS(p, RP, Value, Real, Int, suffix)          \
  template <typename = void>                                                    \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasI##p##amax##suffix(                \
      cublasHandle_t handle, Int n, const Value* x, Int stride, Int* result) {  \
    using namespace cuda_on_cpu::blas;                                          \
    return extreme(handle, n, x, stride, result, true);                         \
  }                                                                             \
  template <typename = void>                                                    \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasI##p##amin##suffix(                \
      cublasHandle_t handle, Int n, const Value* x, Int stride, Int* result) {  \
    using namespace cuda_on_cpu::blas;                                          \
    return extreme(handle, n, x, stride, result, false);                        \
  }                                                                             \
  template <typename = void>                                                    \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##RP##asum##suffix(                \
      cublasHandle_t handle, Int n, const Value* x, Int stride, Real* result) { \
    using namespace cuda_on_cpu::blas;                                          \
    return asum(handle, n, x, stride, result);                                  \
  }                                                                             \
  template <typename = void>                                                    \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##RP##nrm2##suffix(                \
      cublasHandle_t handle, Int n, const Value* x, Int stride, Real* result) { \
    using namespace cuda_on_cpu::blas;                                          \
    return nrm2(handle, n, x, stride, result);                                  \
  }
// These functions exist only for the type cuComplex.
#define CUDA_ON_CPU_CUBLAS_3M(Int, suffix)                                                         \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasCgemm3mBatched##suffix(                               \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const cuComplex* alpha, const cuComplex* const a[], Int lda, const cuComplex* const b[],     \
      Int ldb, const cuComplex* beta, cuComplex* const c[], Int ldc, Int batches) {                \
    return cublasCgemmBatched##suffix(handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, \
                                      ldc, batches);                                               \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasCgemm3mStridedBatched##suffix(                        \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const cuComplex* alpha, const cuComplex* a, Int lda, long long stride_a, const cuComplex* b, \
      Int ldb, long long stride_b, const cuComplex* beta, cuComplex* c, Int ldc,                   \
      long long stride_c, Int batches) {                                                           \
    return cublasCgemmStridedBatched##suffix(handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, \
                                             b, ldb, stride_b, beta, c, ldc, stride_c, batches);   \
  }
#define CUDA_ON_CPU_CUBLAS_SMALL(P, Value, Real)                                                   \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##rotg(cublasHandle_t handle, Value* a, Value* b,  \
                                                       Real* c, Value* s) {                        \
    using namespace cuda_on_cpu::blas;                                                             \
    return rotg(handle, a, b, c, s);                                                               \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##getrfBatched(                                    \
      cublasHandle_t handle, int n, Value* const a[], int lda, int* pivots, int* info,             \
      int batches) {                                                                               \
    using namespace cuda_on_cpu::blas;                                                             \
    return getrf_batched(handle, n, a, lda, pivots, info, batches);                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##getrsBatched(                                    \
      cublasHandle_t handle, cublasOperation_t op, int n, int columns, const Value* const a[],     \
      int lda, const int* pivots, Value* const b[], int ldb, int* info, int batches) {             \
    using namespace cuda_on_cpu::blas;                                                             \
    return getrs_batched(handle, op, n, columns, a, lda, pivots, b, ldb, info, batches);           \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##getriBatched(                                    \
      cublasHandle_t handle, int n, const Value* const a[], int lda, const int* pivots,            \
      Value* const c[], int ldc, int* info, int batches) {                                         \
    using namespace cuda_on_cpu::blas;                                                             \
    return getri_batched(handle, n, a, lda, pivots, c, ldc, info, batches);                        \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##matinvBatched(                                   \
      cublasHandle_t handle, int n, const Value* const a[], int lda, Value* const inverse[],       \
      int stride, int* info, int batches) {                                                        \
    using namespace cuda_on_cpu::blas;                                                             \
    return matinv_batched(handle, n, a, lda, inverse, stride, info, batches);                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##geqrfBatched(                                    \
      cublasHandle_t handle, int m, int n, Value* const a[], int lda, Value* const tau[],          \
      int* info, int batches) {                                                                    \
    using namespace cuda_on_cpu::blas;                                                             \
    return geqrf_batched(handle, m, n, a, lda, tau, info, batches);                                \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##gelsBatched(                                     \
      cublasHandle_t handle, cublasOperation_t op, int m, int n, int columns, Value* const a[],    \
      int lda, Value* const c[], int ldc, int* info, int* on_device, int batches) {                \
    using namespace cuda_on_cpu::blas;                                                             \
    return gels_batched(handle, op, m, n, columns, a, lda, c, ldc, info, on_device, batches);      \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##tpttr(cublasHandle_t handle,                     \
                                                        cublasFillMode_t uplo, int n,              \
                                                        const Value* packed, Value* a, int lda) {  \
    using namespace cuda_on_cpu::blas;                                                             \
    const bool lower = uplo == CUBLAS_FILL_MODE_LOWER;                                             \
    return copy_triangle(                                                                          \
        handle, Triangle<const Value>{packed, n, 0, lower, Kind::triangular, Storage::packed},     \
        Triangle<Value>{a, n, lda, lower, Kind::triangular});                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##trttp(cublasHandle_t handle,                     \
                                                        cublasFillMode_t uplo, int n,              \
                                                        const Value* a, int lda, Value* packed) {  \
    using namespace cuda_on_cpu::blas;                                                             \
    const bool lower = uplo == CUBLAS_FILL_MODE_LOWER;                                             \
    return copy_triangle(handle, Triangle<const Value>{a, n, lda, lower, Kind::triangular},        \
                         Triangle<Value>{packed, n, 0, lower, Kind::triangular, Storage::packed}); \
  }
#define CUDA_ON_CPU_CUBLAS_SMALL_REAL(P, Value)                                                \
  template <typename = void>                                                                   \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##rotmg(cublasHandle_t handle, Value* d1,      \
                                                        Value* d2, Value* x1, const Value* y1, \
                                                        Value* parameters) {                   \
    using namespace cuda_on_cpu::blas;                                                         \
    return rotmg(handle, d1, d2, x1, y1, parameters);                                          \
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
CUDA_ON_CPU_CUBLAS_3M(int, )
CUDA_ON_CPU_CUBLAS_3M(std::int64_t, _64)
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
#undef CUDA_ON_CPU_CUBLAS_3M
#undef CUDA_ON_CPU_CUBLAS_SMALL
#undef CUDA_ON_CPU_CUBLAS_SMALL_REAL
#undef CUDA_ON_CPU_CUBLAS_ALL

// --- Products of matrices whose element types are arguments

#define CUDA_ON_CPU_CUBLAS_TYPED_PRODUCTS(Int, suffix)                                             \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasGemmStridedBatchedEx##suffix(                         \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const void* alpha, const void* a, cudaDataType type_a, Int lda, long long stride_a,          \
      const void* b, cudaDataType type_b, Int ldb, long long stride_b, const void* beta, void* c,  \
      cudaDataType type_c, Int ldc, long long stride_c, Int batches, cublasComputeType_t compute,  \
      cublasGemmAlgo_t) {                                                                          \
    using namespace cuda_on_cpu::blas;                                                             \
    return gemm_ex(handle,                                                                         \
                   TypedGemm{op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,  \
                             type_c, ldc, compute},                                                \
                   stride_a, stride_b, stride_c, batches);                                         \
  }                                                                                                \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasGemmEx##suffix(                                       \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const void* alpha, const void* a, cudaDataType type_a, Int lda, const void* b,               \
      cudaDataType type_b, Int ldb, const void* beta, void* c, cudaDataType type_c, Int ldc,       \
      cublasComputeType_t compute, cublasGemmAlgo_t) {                                             \
    using namespace cuda_on_cpu::blas;                                                             \
    return gemm_ex(handle, TypedGemm{op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb,   \
                                     beta, c, type_c, ldc, compute});                              \
  }                                                                                                \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasGemmBatchedEx##suffix(                                \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const void* alpha, const void* const a[], cudaDataType type_a, Int lda,                      \
      const void* const b[], cudaDataType type_b, Int ldb, const void* beta, void* const c[],      \
      cudaDataType type_c, Int ldc, Int batches, cublasComputeType_t compute, cublasGemmAlgo_t) {  \
    using namespace cuda_on_cpu::blas;                                                             \
    return gemm_ex_batched(handle,                                                                 \
                           TypedGemm{op_a, op_b, m, n, k, alpha, nullptr, type_a, lda, nullptr,    \
                                     type_b, ldb, beta, nullptr, type_c, ldc, compute},            \
                           a, b, c, batches);                                                      \
  }                                                                                                \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasHgemm##suffix(                                        \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const __half* alpha, const __half* a, Int lda, const __half* b, Int ldb, const __half* beta, \
      __half* c, Int ldc) {                                                                        \
    return cublasGemmEx##suffix(handle, op_a, op_b, m, n, k, alpha, a, CUDA_R_16F, lda, b,         \
                                CUDA_R_16F, ldb, beta, c, CUDA_R_16F, ldc, CUBLAS_COMPUTE_16F,     \
                                CUBLAS_GEMM_DEFAULT);                                              \
  }                                                                                                \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasHgemmStridedBatched##suffix(                          \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const __half* alpha, const __half* a, Int lda, long long stride_a, const __half* b, Int ldb, \
      long long stride_b, const __half* beta, __half* c, Int ldc, long long stride_c,              \
      Int batches) {                                                                               \
    return cublasGemmStridedBatchedEx##suffix(handle, op_a, op_b, m, n, k, alpha, a, CUDA_R_16F,   \
                                              lda, stride_a, b, CUDA_R_16F, ldb, stride_b, beta,   \
                                              c, CUDA_R_16F, ldc, stride_c, batches,               \
                                              CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);            \
  }                                                                                                \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasHgemmBatched##suffix(                                 \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const __half* alpha, const __half* const a[], Int lda, const __half* const b[], Int ldb,     \
      const __half* beta, __half* const c[], Int ldc, Int batches) {                               \
    return cublasGemmBatchedEx##suffix(handle, op_a, op_b, m, n, k, alpha,                         \
                                       reinterpret_cast<const void* const*>(a), CUDA_R_16F, lda,   \
                                       reinterpret_cast<const void* const*>(b), CUDA_R_16F, ldb,   \
                                       beta, reinterpret_cast<void* const*>(c), CUDA_R_16F, ldc,   \
                                       batches, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT);          \
  }                                                                                                \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasSgemmEx##suffix(                                      \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const float* alpha, const void* a, cudaDataType type_a, Int lda, const void* b,              \
      cudaDataType type_b, Int ldb, const float* beta, void* c, cudaDataType type_c, Int ldc) {    \
    return cublasGemmEx##suffix(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b,     \
                                ldb, beta, c, type_c, ldc, CUBLAS_COMPUTE_32F,                     \
                                CUBLAS_GEMM_DEFAULT);                                              \
  }                                                                                                \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasCgemmEx##suffix(                                      \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const cuComplex* alpha, const void* a, cudaDataType type_a, Int lda, const void* b,          \
      cudaDataType type_b, Int ldb, const cuComplex* beta, void* c, cudaDataType type_c,           \
      Int ldc) {                                                                                   \
    using namespace cuda_on_cpu::blas;                                                             \
    return cgemm_ex(handle, TypedGemm{op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb,  \
                                      beta, c, type_c, ldc, CUBLAS_COMPUTE_32F});                  \
  }                                                                                                \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasCgemm3mEx##suffix(                                    \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, Int m, Int n, Int k,  \
      const cuComplex* alpha, const void* a, cudaDataType type_a, Int lda, const void* b,          \
      cudaDataType type_b, Int ldb, const cuComplex* beta, void* c, cudaDataType type_c,           \
      Int ldc) {                                                                                   \
    return cublasCgemmEx##suffix(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b,    \
                                 ldb, beta, c, type_c, ldc);                                       \
  }                                                                                                \
  CUDA_ON_CPU_CUBLAS_RANK_K(Csyrk, cuComplex, symmetric, Int, suffix)                              \
  CUDA_ON_CPU_CUBLAS_RANK_K(Csyrk3m, cuComplex, symmetric, Int, suffix)                            \
  CUDA_ON_CPU_CUBLAS_RANK_K(Cherk, float, hermitian, Int, suffix)                                  \
  CUDA_ON_CPU_CUBLAS_RANK_K(Cherk3m, float, hermitian, Int, suffix)                                \
  CUDA_ON_CPU_CUBLAS_GROUPED(S, float, Int, suffix)                                                \
  CUDA_ON_CPU_CUBLAS_GROUPED(D, double, Int, suffix)                                               \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasGemmGroupedBatchedEx##suffix(                         \
      cublasHandle_t handle, const cublasOperation_t op_a[], const cublasOperation_t op_b[],       \
      const Int m[], const Int n[], const Int k[], const void* alpha, const void* const a[],       \
      cudaDataType type_a, const Int lda[], const void* const b[], cudaDataType type_b,            \
      const Int ldb[], const void* beta, void* const c[], cudaDataType type_c, const Int ldc[],    \
      Int count, const Int sizes[], cublasComputeType_t compute) {                                 \
    using namespace cuda_on_cpu::blas;                                                             \
    return gemm_grouped_ex(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb,     \
                           beta, c, type_c, ldc, count, sizes, compute);                           \
  }                                                                                                \
  CUDA_ON_CPU_CUBLAS_GEMV(HSH, __half, CUDA_R_16F, __half, CUDA_R_16F, Int, suffix)                \
  CUDA_ON_CPU_CUBLAS_GEMV(HSS, __half, CUDA_R_16F, float, CUDA_R_32F, Int, suffix)                 \
  CUDA_ON_CPU_CUBLAS_GEMV(TST, __nv_bfloat16, CUDA_R_16BF, __nv_bfloat16, CUDA_R_16BF, Int,        \
                          suffix)                                                                  \
  CUDA_ON_CPU_CUBLAS_GEMV(TSS, __nv_bfloat16, CUDA_R_16BF, float, CUDA_R_32F, Int, suffix)
#define CUDA_ON_CPU_CUBLAS_RANK_K(name, By, kind, Int, suffix)                                   \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##name##Ex##suffix(                                 \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, Int n, Int k,          \
      const By* alpha, const void* a, cudaDataType type_a, Int lda, const By* beta, void* c,     \
      cudaDataType type_c, Int ldc) {                                                            \
    using namespace cuda_on_cpu::blas;                                                           \
    return rank_k_ex(handle, uplo, Kind::kind, op, n, k, alpha, a, type_a, lda, beta, c, type_c, \
                     ldc);                                                                       \
  }
#define CUDA_ON_CPU_CUBLAS_GROUPED(P, Value, Int, suffix)                                       \
  template <typename = void>                                                                    \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##P##gemmGroupedBatched##suffix(                   \
      cublasHandle_t handle, const cublasOperation_t op_a[], const cublasOperation_t op_b[],    \
      const Int m[], const Int n[], const Int k[], const Value alpha[], const Value* const a[], \
      const Int lda[], const Value* const b[], const Int ldb[], const Value beta[],             \
      Value* const c[], const Int ldc[], Int count, const Int sizes[]) {                        \
    using namespace cuda_on_cpu::blas;                                                          \
    return gemm_grouped(handle, Groups<Value, Int>{op_a, op_b, m, n, k, alpha, a, lda, b, ldb,  \
                                                   beta, c, ldc, count, sizes});                \
  }
#define CUDA_ON_CPU_CUBLAS_GEMV(types, From, from, To, to, Int, suffix)                           \
  template <typename = void>                                                                      \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##types##gemvBatched##suffix(                        \
      cublasHandle_t handle, cublasOperation_t op, Int m, Int n, const float* alpha,              \
      const From* const a[], Int lda, const From* const x[], Int stride_x, const float* beta,     \
      To* const y[], Int stride_y, Int batches) {                                                 \
    using namespace cuda_on_cpu::blas;                                                            \
    return typed_gemv_batched(                                                                    \
        handle,                                                                                   \
        TypedGemv{op, m, n, factor(handle, alpha), nullptr, from, lda, nullptr, stride_x,         \
                  factor(handle, beta), nullptr, to, stride_y},                                   \
        a, x, y, batches);                                                                        \
  }                                                                                               \
  template <typename = void>                                                                      \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublas##types##gemvStridedBatched##suffix(                 \
      cublasHandle_t handle, cublasOperation_t op, Int m, Int n, const float* alpha,              \
      const From* a, Int lda, long long stride_a, const From* x, Int stride_x, long long batch_x, \
      const float* beta, To* y, Int stride_y, long long batch_y, Int batches) {                   \
    using namespace cuda_on_cpu::blas;                                                            \
    return typed_gemv_strided(                                                                    \
        handle,                                                                                   \
        TypedGemv{op, m, n, factor(handle, alpha), nullptr, from, lda, nullptr, stride_x,         \
                  factor(handle, beta), nullptr, to, stride_y},                                   \
        a, stride_a, x, batch_x, y, batch_y, batches);                                            \
  }
CUDA_ON_CPU_CUBLAS_TYPED_PRODUCTS(int, )
CUDA_ON_CPU_CUBLAS_TYPED_PRODUCTS(std::int64_t, _64)
#undef CUDA_ON_CPU_CUBLAS_TYPED_PRODUCTS
#undef CUDA_ON_CPU_CUBLAS_RANK_K
#undef CUDA_ON_CPU_CUBLAS_GROUPED
#undef CUDA_ON_CPU_CUBLAS_GEMV

// Overloads with the signature of toolkits before version 11.
CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType type_a, int lda, long long stride_a,
    const void* b, cudaDataType type_b, int ldb, long long stride_b, const void* beta, void* c,
    cudaDataType type_c, int ldc, long long stride_c, int batches, cudaDataType compute,
    cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, stride_a, b,
                                    type_b, ldb, stride_b, beta, c, type_c, ldc, stride_c, batches,
                                    cuda_on_cpu::compute_type_of(compute), algorithm);
}
CUDA_ON_CPU_AT_CALLER cublasStatus_t
cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
             int k, const void* alpha, const void* a, cudaDataType type_a, int lda, const void* b,
             cudaDataType type_b, int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
             cudaDataType compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c,
                      type_c, ldc, cuda_on_cpu::compute_type_of(compute), algorithm);
}

// --- Level 1 with element types as arguments. Real types are computed in double precision

#define CUDA_ON_CPU_CUBLAS_TYPED_VECTORS(Int, suffix)                                             \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasDotEx##suffix(                                       \
      cublasHandle_t handle, Int n, const void* x, cudaDataType type_x, Int stride_x,             \
      const void* y, cudaDataType type_y, Int stride_y, void* result, cudaDataType type,          \
      cudaDataType) {                                                                             \
    using namespace cuda_on_cpu::blas;                                                            \
    return dot_ex(handle, n, x, type_x, stride_x, y, type_y, stride_y, result, type, false);      \
  }                                                                                               \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasDotcEx##suffix(                                      \
      cublasHandle_t handle, Int n, const void* x, cudaDataType type_x, Int stride_x,             \
      const void* y, cudaDataType type_y, Int stride_y, void* result, cudaDataType type,          \
      cudaDataType) {                                                                             \
    using namespace cuda_on_cpu::blas;                                                            \
    return dot_ex(handle, n, x, type_x, stride_x, y, type_y, stride_y, result, type, true);       \
  }                                                                                               \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasNrm2Ex##suffix(                                      \
      cublasHandle_t handle, Int n, const void* x, cudaDataType type_x, Int stride, void* result, \
      cudaDataType type, cudaDataType) {                                                          \
    using namespace cuda_on_cpu::blas;                                                            \
    return nrm2_ex(handle, n, x, type_x, stride, result, type);                                   \
  }                                                                                               \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasAsumEx##suffix(                                      \
      cublasHandle_t handle, Int n, const void* x, cudaDataType type_x, Int stride, void* result, \
      cudaDataType type, cudaDataType) {                                                          \
    using namespace cuda_on_cpu::blas;                                                            \
    return asum_ex(handle, n, x, type_x, stride, result, type);                                   \
  }                                                                                               \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasIamaxEx##suffix(                                     \
      cublasHandle_t handle, Int n, const void* x, cudaDataType type, Int stride, Int* result) {  \
    using namespace cuda_on_cpu::blas;                                                            \
    return extreme_ex(handle, n, x, type, stride, result, true);                                  \
  }                                                                                               \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasIaminEx##suffix(                                     \
      cublasHandle_t handle, Int n, const void* x, cudaDataType type, Int stride, Int* result) {  \
    using namespace cuda_on_cpu::blas;                                                            \
    return extreme_ex(handle, n, x, type, stride, result, false);                                 \
  }                                                                                               \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasAxpyEx##suffix(                                      \
      cublasHandle_t handle, Int n, const void* alpha, cudaDataType type_alpha, const void* x,    \
      cudaDataType type_x, Int stride_x, void* y, cudaDataType type_y, Int stride_y,              \
      cudaDataType) {                                                                             \
    using namespace cuda_on_cpu::blas;                                                            \
    return axpy_ex(handle, n, alpha, type_alpha, x, type_x, stride_x, y, type_y, stride_y);       \
  }                                                                                               \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasScalEx##suffix(                                      \
      cublasHandle_t handle, Int n, const void* alpha, cudaDataType type_alpha, void* x,          \
      cudaDataType type_x, Int stride, cudaDataType) {                                            \
    using namespace cuda_on_cpu::blas;                                                            \
    return scal_ex(handle, n, alpha, type_alpha, x, type_x, stride);                              \
  }                                                                                               \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasCopyEx##suffix(                                      \
      cublasHandle_t handle, Int n, const void* x, cudaDataType type_x, Int stride_x, void* y,    \
      cudaDataType type_y, Int stride_y) {                                                        \
    using namespace cuda_on_cpu::blas;                                                            \
    return copy_ex(handle, n, x, type_x, stride_x, y, type_y, stride_y);                          \
  }                                                                                               \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasSwapEx##suffix(                                      \
      cublasHandle_t handle, Int n, void* x, cudaDataType type_x, Int stride_x, void* y,          \
      cudaDataType type_y, Int stride_y) {                                                        \
    using namespace cuda_on_cpu::blas;                                                            \
    return swap_ex(handle, n, x, type_x, stride_x, y, type_y, stride_y);                          \
  }                                                                                               \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasRotEx##suffix(                                       \
      cublasHandle_t handle, Int n, void* x, cudaDataType type_x, Int stride_x, void* y,          \
      cudaDataType type_y, Int stride_y, const void* c, const void* s, cudaDataType type_cs,      \
      cudaDataType) {                                                                             \
    using namespace cuda_on_cpu::blas;                                                            \
    return rot_ex(handle, n, x, type_x, stride_x, y, type_y, stride_y, c, s, type_cs);            \
  }                                                                                               \
  CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasRotmEx##suffix(                                      \
      cublasHandle_t handle, Int n, void* x, cudaDataType type_x, Int stride_x, void* y,          \
      cudaDataType type_y, Int stride_y, const void* parameters, cudaDataType type,               \
      cudaDataType) {                                                                             \
    using namespace cuda_on_cpu::blas;                                                            \
    return rotm_ex(handle, n, x, type_x, stride_x, y, type_y, stride_y, parameters, type);        \
  }
CUDA_ON_CPU_CUBLAS_TYPED_VECTORS(int, )
CUDA_ON_CPU_CUBLAS_TYPED_VECTORS(std::int64_t, _64)
#undef CUDA_ON_CPU_CUBLAS_TYPED_VECTORS

CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasRotgEx(cublasHandle_t handle, void* a, void* b,
                                                  cudaDataType type, void* c, void* s,
                                                  cudaDataType type_cs, cudaDataType) {
  return cuda_on_cpu::blas::rotg_ex(handle, a, b, type, c, s, type_cs);
}
CUDA_ON_CPU_AT_CALLER cublasStatus_t cublasRotmgEx(cublasHandle_t handle, void* d1,
                                                   cudaDataType type_d1, void* d2,
                                                   cudaDataType type_d2, void* x1,
                                                   cudaDataType type_x1, const void* y1,
                                                   cudaDataType type_y1, void* parameters,
                                                   cudaDataType type, cudaDataType) {
  return cuda_on_cpu::blas::rotmg_ex(handle, d1, type_d1, d2, type_d2, x1, type_x1, y1, type_y1,
                                     parameters, type);
}
