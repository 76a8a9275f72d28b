/// \file
/// Found in place of cuBLAS: the operations that stages use, on the host's BLAS, in their stream.
///
/// Matrices are stored by columns, as in cuBLAS. Programs that include this link with a CBLAS.

#pragma once

#include "cuda_on_cpu/hidden_names.hpp"

#include <cblas.h>

#include "cuda_on_cpu/shown_names.hpp"

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_on_cpu/library_call.hpp"
#include "cuda_on_cpu/matrix_products.hpp"
#include "cuda_runtime.h"
#include "library_types.h"

// By these, other projects' headers see which of CUDA's came before.
#define CUBLAS_V2_H_
#define CUBLAS_API_H_

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3
};

enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
enum cublasGemmAlgo_t {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
};

using cublasDataType_t = cudaDataType;

struct cublasContext {
  cudaStream_t stream = nullptr;
};
using cublasHandle_t = cublasContext*;

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = std::make_unique<cublasContext>().release();  // cublasDestroy takes it back
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  const std::unique_ptr<cublasContext> taken(handle);
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t mode) {
  return mode == CUBLAS_POINTER_MODE_HOST ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
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

namespace cuda_on_cpu {

inline CBLAS_TRANSPOSE cblas_of(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
}
inline CBLAS_UPLO cblas_of(cublasFillMode_t mode) {
  return mode == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper;
}
inline CBLAS_DIAG cblas_of(cublasDiagType_t type) {
  return type == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit;
}
inline CBLAS_SIDE cblas_of(cublasSideMode_t side) {
  return side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight;
}

/// A matrix of so many columns, `stride` elements apart.
template <typename Value>
Touched matrix(Value* first, int stride, int rows, int columns) {
  const std::size_t elements = columns == 0 ? 0 : std::size_t(stride) * (columns - 1) + rows;
  return {first, elements * sizeof(Value), !std::is_const_v<Value>};
}

/// A matrix to which something is added, after it was multiplied by `beta`: by zero, it is not
/// read.
template <typename Value>
Touched sum(Value* first, int stride, int rows, int columns, Value beta) {
  Touched touched = matrix(first, stride, rows, columns);
  touched.read = beta != 0;
  return touched;
}

inline cublasStatus_t in_stream(cublasHandle_t handle, std::initializer_list<Touched> touched,
                                std::function<void()> work) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  return library_call(handle->stream, touched, std::move(work)) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// A matrix, its columns `stride` elements apart, as it is or transposed, times a factor. What zero
/// multiplies is not read.
template <typename Value>
struct Term {
  Value factor;
  const Value* first;
  int stride;
  bool plain;

  bool is_in_place(const Value* sum, int stride_of_sum) const {
    return first == sum && plain && stride == stride_of_sum;
  }
  Touched touched(int rows, int columns) const {
    const int across = plain ? columns : rows;
    return matrix(first, stride, plain ? rows : columns, factor == 0 ? 0 : across);
  }
};

/// The sum of two matrices, by a library that nobody watches.
template <typename Value>
CUDA_ON_CPU_NOT_ANALYSED void add_up(Term<Value> a, Term<Value> b, int rows, int columns,
                                     Value* sum, int stride) {
  for (std::size_t j = 0; j < std::size_t(columns); ++j)
    for (std::size_t i = 0; i < std::size_t(rows); ++i) {
      Value element = 0;
      if (a.factor != 0)
        element += a.factor * a.first[a.plain ? i + j * a.stride : j + i * a.stride];
      if (b.factor != 0)
        element += b.factor * b.first[b.plain ? i + j * b.stride : j + i * b.stride];
      sum[i + j * stride] = element;
    }
}

template <typename Value>
cublasStatus_t geam(cublasHandle_t handle, int m, int n, Term<Value> a, Term<Value> b, Value* c,
                    int ldc) {
  for (const Term<Value>& term : {a, b})
    if (term.stride < (term.plain ? m : n) || (term.first == c && !term.is_in_place(c, ldc)))
      return CUBLAS_STATUS_INVALID_VALUE;
  if (m < 0 || n < 0 || ldc < m) return CUBLAS_STATUS_INVALID_VALUE;
  return in_stream(handle, {a.touched(m, n), b.touched(m, n), matrix(c, ldc, m, n)},
                   [=] { add_up(a, b, m, n, c, ldc); });
}

/// What zero multiplies is not read, be it NaN; libraries of the host differ in that.
template <typename Value>
CUDA_ON_CPU_NOT_ANALYSED void fill_with_zeros(Value* y, int stride, int count) {
  for (std::size_t i = 0; i < std::size_t(count); ++i) y[i * stride] = 0;
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_BLAS(letter, Letter, Value)                                                    \
  inline cublasStatus_t cublas##Letter##gemm(                                                      \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,  \
      const Value* alpha, const Value* a, int lda, const Value* b, int ldb, const Value* beta,     \
      Value* c, int ldc) {                                                                         \
    using namespace cuda_on_cpu;                                                                   \
    const bool plain_a = op_a == CUBLAS_OP_N, plain_b = op_b == CUBLAS_OP_N;                       \
    if (m < 0 || n < 0 || k < 0 || lda < (plain_a ? m : k) || ldb < (plain_b ? k : n) || ldc < m)  \
      return CUBLAS_STATUS_INVALID_VALUE;                                                          \
    return in_stream(handle,                                                                       \
                     {matrix(a, lda, plain_a ? m : k, plain_a ? k : m),                            \
                      matrix(b, ldb, plain_b ? k : n, plain_b ? n : k), sum(c, ldc, m, n, *beta)}, \
                     [=, alpha = *alpha, beta = *beta] {                                           \
                       cblas_##letter##gemm(CblasColMajor, cblas_of(op_a), cblas_of(op_b), m, n,   \
                                            k, alpha, a, lda, b, ldb, beta, c, ldc);               \
                     });                                                                           \
  }                                                                                                \
  inline cublasStatus_t cublas##Letter##gemmStridedBatched(                                        \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,  \
      const Value* alpha, const Value* a, int lda, long long stride_a, const Value* b, int ldb,    \
      long long stride_b, const Value* beta, Value* c, int ldc, long long stride_c, int batches) { \
    for (int i = 0; i < batches; ++i)                                                              \
      if (const auto status =                                                                      \
              cublas##Letter##gemm(handle, op_a, op_b, m, n, k, alpha, a + i * stride_a, lda,      \
                                   b + i * stride_b, ldb, beta, c + i * stride_c, ldc);            \
          status != CUBLAS_STATUS_SUCCESS)                                                         \
        return status;                                                                             \
    return CUBLAS_STATUS_SUCCESS;                                                                  \
  }                                                                                                \
  inline cublasStatus_t cublas##Letter##geam(                                                      \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,         \
      const Value* alpha, const Value* a, int lda, const Value* beta, const Value* b, int ldb,     \
      Value* c, int ldc) {                                                                         \
    const cuda_on_cpu::Term<Value> first{*alpha, a, lda, op_a == CUBLAS_OP_N};                     \
    const cuda_on_cpu::Term<Value> second{*beta, b, ldb, op_b == CUBLAS_OP_N};                     \
    return cuda_on_cpu::geam(handle, m, n, first, second, c, ldc);                                 \
  }                                                                                                \
  inline cublasStatus_t cublas##Letter##syrk(                                                      \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op, int n, int k,            \
      const Value* alpha, const Value* a, int lda, const Value* beta, Value* c, int ldc) {         \
    using namespace cuda_on_cpu;                                                                   \
    const bool plain = op == CUBLAS_OP_N;                                                          \
    if (n < 0 || k < 0 || lda < (plain ? n : k) || ldc < n) return CUBLAS_STATUS_INVALID_VALUE;    \
    return in_stream(handle,                                                                       \
                     {matrix(a, lda, plain ? n : k, plain ? k : n), sum(c, ldc, n, n, *beta)},     \
                     [=, alpha = *alpha, beta = *beta] {                                           \
                       cblas_##letter##syrk(CblasColMajor, cblas_of(uplo), cblas_of(op), n, k,     \
                                            alpha, a, lda, beta, c, ldc);                          \
                     });                                                                           \
  }                                                                                                \
  inline cublasStatus_t cublas##Letter##trsm(                                                      \
      cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,   \
      cublasDiagType_t diagonal, int m, int n, const Value* alpha, const Value* a, int lda,        \
      Value* b, int ldb) {                                                                         \
    using namespace cuda_on_cpu;                                                                   \
    const int order = side == CUBLAS_SIDE_LEFT ? m : n;                                            \
    if (m < 0 || n < 0 || lda < order || ldb < m) return CUBLAS_STATUS_INVALID_VALUE;              \
    return in_stream(                                                                              \
        handle, {matrix(a, lda, order, order), matrix(b, ldb, m, n)}, [=, alpha = *alpha] {        \
          cblas_##letter##trsm(CblasColMajor, cblas_of(side), cblas_of(uplo), cblas_of(op),        \
                               cblas_of(diagonal), m, n, alpha, a, lda, b, ldb);                   \
        });                                                                                        \
  }                                                                                                \
  inline cublasStatus_t cublas##Letter##trsv(                                                      \
      cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t op,                          \
      cublasDiagType_t diagonal, int n, const Value* a, int lda, Value* x, int stride) {           \
    using namespace cuda_on_cpu;                                                                   \
    if (n < 0 || lda < n || stride == 0) return CUBLAS_STATUS_INVALID_VALUE;                       \
    return in_stream(handle, {matrix(a, lda, n, n), matrix(x, std::abs(stride), 1, n)}, [=] {      \
      cblas_##letter##trsv(CblasColMajor, cblas_of(uplo), cblas_of(op), cblas_of(diagonal), n, a,  \
                           lda, x, stride);                                                        \
    });                                                                                            \
  }                                                                                                \
  inline cublasStatus_t cublas##Letter##gemv(cublasHandle_t handle, cublasOperation_t op, int m,   \
                                             int n, const Value* alpha, const Value* a, int lda,   \
                                             const Value* x, int stride_x, const Value* beta,      \
                                             Value* y, int stride_y) {                             \
    using namespace cuda_on_cpu;                                                                   \
    if (m < 0 || n < 0 || lda < 1 || lda < m || stride_x == 0 || stride_y == 0)                    \
      return CUBLAS_STATUS_INVALID_VALUE;                                                          \
    if (handle != nullptr && (m == 0 || n == 0)) return CUBLAS_STATUS_SUCCESS;                     \
    const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;               \
    const bool reads = *alpha != 0;                                                                \
    Touched result = matrix(y, std::abs(stride_y), 1, rows);                                       \
    result.read = *beta != 0;                                                                      \
    return in_stream(handle,                                                                       \
                     {matrix(a, lda, m, reads ? n : 0),                                            \
                      matrix(x, std::abs(stride_x), 1, reads ? columns : 0), result},              \
                     [=, alpha = *alpha, beta = *beta] {                                           \
                       if (beta == 0) fill_with_zeros(y, std::abs(stride_y), rows);                \
                       cblas_##letter##gemv(CblasColMajor, cblas_of(op), m, n, alpha, a, lda, x,   \
                                            stride_x, beta, y, stride_y);                          \
                     });                                                                           \
  }
CUDA_ON_CPU_BLAS(s, S, float)
CUDA_ON_CPU_BLAS(d, D, double)
#undef CUDA_ON_CPU_BLAS

// --- Products of matrices whose types are arguments

namespace cuda_on_cpu {

/// The type of alpha and beta, where only what is computed in is said.
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

/// Whether products are computed as doubles: those of integers are, which a float would round.
inline bool is_in_double(cublasComputeType_t compute) {
  const cudaDataType type = scale_type_of(compute);
  return type == CUDA_R_64F || type == CUDA_R_32I;
}

/// What toolkits before version 11 said in the place of it.
inline cublasComputeType_t compute_type_of(cudaDataType type) {
  return type == CUDA_R_16F   ? CUBLAS_COMPUTE_16F
         : type == CUDA_R_64F ? CUBLAS_COMPUTE_64F
         : type == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                              : CUBLAS_COMPUTE_32F;
}

/// A matrix that an operation turns into one of so many rows and columns.
inline Matrix operand(const void* first, cudaDataType type, cublasOperation_t op, int rows,
                      int columns, int stride) {
  const bool plain = op == CUBLAS_OP_N;
  return {const_cast<void*>(first), type, static_cast<std::size_t>(plain ? rows : columns),
          static_cast<std::size_t>(plain ? columns : rows), static_cast<std::size_t>(stride)};
}

/// Whether columns begin at words of four bytes, as they have to where elements are bytes.
inline bool begins_at_words(const void* first, cudaDataType type, int stride) {
  return type != CUDA_R_8I || (reinterpret_cast<std::uintptr_t>(first) % 4 == 0 && stride % 4 == 0);
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
                        element<double>(alpha, scale, 0),
                        element<double>(beta, scale, 0)};
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

// As toolkits before version 11 had them.
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
