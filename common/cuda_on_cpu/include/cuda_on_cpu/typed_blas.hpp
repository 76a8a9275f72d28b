/// \file
/// The routines of cuBLAS whose element types are arguments. Complex types call the routines of
/// `blas.hpp`.

#pragma once

#include "blas.hpp"
#include "matrix_products.hpp"

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

namespace blas {

/// Whether the alignment of the columns is valid. For 8-bit elements, cuBLAS requires that each
/// column begins at a multiple of 4 bytes.
inline bool begins_at_words(const void* first, cudaDataType type, Index stride) {
  return type != CUDA_R_8I || (reinterpret_cast<std::uintptr_t>(first) % 4 == 0 && stride % 4 == 0);
}

/// The value of a scalar whose type is an argument. If the scalar is in device memory, the function
/// first waits for all earlier operations of the stream.
inline double scale_of(cublasHandle_t handle, const void* factor, cudaDataType type) {
  if (handle->mode == CUBLAS_POINTER_MODE_DEVICE) cudaStreamSynchronize(handle->stream);
  return element<double>(factor, type, 0);
}

inline bool are_known(std::initializer_list<cudaDataType> types) {
  for (const cudaDataType type : types)
    if (bytes_of(type) == 0) return false;
  return true;
}
inline bool are_all(cudaDataType expected, std::initializer_list<cudaDataType> types) {
  for (const cudaDataType type : types)
    if (type != expected) return false;
  return true;
}

/// Calls `call` with a value of the complex type, if the first type is complex.
/// \param status receives the status of the call
/// \returns whether the first type is complex
template <typename Call>
bool is_done_in_complex(cudaDataType type, cublasStatus_t& status, Call call) {
  if (type == CUDA_C_32F)
    status = call(cuComplex{});
  else if (type == CUDA_C_64F)
    status = call(cuDoubleComplex{});
  return type == CUDA_C_32F || type == CUDA_C_64F;
}
template <typename Value>
inline constexpr cudaDataType type_of_complex =
    std::is_same_v<Value, cuComplex> ? CUDA_C_32F : CUDA_C_64F;
template <typename Value>
inline constexpr cudaDataType type_of_part =
    std::is_same_v<Value, cuComplex> ? CUDA_R_32F : CUDA_R_64F;

// --- Products of matrices

/// The operands of a product, C = alpha op(A) op(B) + beta C.
struct TypedGemm {
  cublasOperation_t op_a, op_b;
  Index m, n, k;
  const void* alpha;
  const void* a;
  cudaDataType type_a;
  Index lda;
  const void* b;
  cudaDataType type_b;
  Index ldb;
  const void* beta;
  void* c;
  cudaDataType type_c;
  Index ldc;
  cublasComputeType_t compute;
};

/// A matrix A such that op(A) has `rows` rows and `columns` columns.
inline Matrix operand(const void* first, cudaDataType type, cublasOperation_t op, Index rows,
                      Index columns, Index stride) {
  const bool plain = op == CUBLAS_OP_N;
  return {const_cast<void*>(first), type, static_cast<std::size_t>(plain ? rows : columns),
          static_cast<std::size_t>(plain ? columns : rows), static_cast<std::size_t>(stride)};
}

CUDA_ON_CPU_AT_CALLER cublasStatus_t gemm_ex(cublasHandle_t handle, const TypedGemm& g,
                                             Index stride_a = 0, Index stride_b = 0,
                                             Index stride_c = 0, Index batches = 1) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  cublasStatus_t status{};
  if (are_all(g.type_a, {g.type_b, g.type_c}) &&
      is_done_in_complex(g.type_a, status, [&](auto zero) {
        using Value = decltype(zero);
        const auto given = [](const void* pointer) { return static_cast<const Value*>(pointer); };
        return gemm_strided(
            handle,
            Gemm<Value>{g.op_a, g.op_b, g.m, g.n, g.k, factor(handle, given(g.alpha)), given(g.a),
                        g.lda, given(g.b), g.ldb, factor(handle, given(g.beta)),
                        static_cast<Value*>(g.c), g.ldc},
            stride_a, stride_b, stride_c, batches);
      }))
    return status;
  if (is_any_negative({g.m, g.n, g.k, batches}) || g.lda < 1 || g.ldb < 1 || g.ldc < 1)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!fits({g.m, g.n, g.k, g.lda, g.ldb, g.ldc})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const cudaDataType scale = scale_type_of(g.compute);
  const Matrix result = operand(g.c, g.type_c, CUBLAS_OP_N, g.m, g.n, g.ldc);
  const Product product{operand(g.a, g.type_a, g.op_a, g.m, g.k, g.lda),
                        operand(g.b, g.type_b, g.op_b, g.k, g.n, g.ldb),
                        result,
                        result,
                        g.op_a != CUBLAS_OP_N,
                        g.op_b != CUBLAS_OP_N,
                        scale_of(handle, g.alpha, scale),
                        scale_of(handle, g.beta, scale)};
  if (!product.has_known_types() || !begins_at_words(g.a, g.type_a, g.lda) ||
      !begins_at_words(g.b, g.type_b, g.ldb))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!product.fits()) return CUBLAS_STATUS_INVALID_VALUE;
  for (Index i = 0; i < batches; ++i) {
    Product one = product;
    const auto number = static_cast<std::size_t>(i);
    one.a = product.a.of_batch(number, static_cast<std::size_t>(stride_a));
    one.b = product.b.of_batch(number, static_cast<std::size_t>(stride_b));
    one.c = one.d = result.of_batch(number, static_cast<std::size_t>(stride_c));
    if (enqueue_product(handle->stream, one, is_in_double(g.compute)) != cudaSuccess)
      return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// Computes a batch of products. The addresses of the matrices are in device memory; all earlier
/// operations that write these addresses must be complete.
CUDA_ON_CPU_AT_CALLER cublasStatus_t gemm_ex_batched(cublasHandle_t handle, const TypedGemm& shape,
                                                     const void* const* a, const void* const* b,
                                                     void* const* c, Index batches) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (batches < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (cudaStreamSynchronize(handle->stream) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  for (Index i = 0; i < batches; ++i) {
    TypedGemm g = shape;
    g.a = get(a + i);
    g.b = get(b + i);
    g.c = get(c + i);
    if (const auto status = gemm_ex(handle, g); status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// Computes a product of complex matrices. Their type must be CUDA_C_32F.
CUDA_ON_CPU_AT_CALLER cublasStatus_t cgemm_ex(cublasHandle_t handle, const TypedGemm& g) {
  return are_all(CUDA_C_32F, {g.type_a, g.type_b, g.type_c}) ? gemm_ex(handle, g)
                                                             : CUBLAS_STATUS_NOT_SUPPORTED;
}
/// Computes one triangle of C = alpha op(A) op(A)' + beta C. The type of the complex matrices must
/// be CUDA_C_32F.
template <typename By>
CUDA_ON_CPU_AT_CALLER cublasStatus_t rank_k_ex(cublasHandle_t handle, cublasFillMode_t uplo,
                                               Kind kind, cublasOperation_t op, Index n, Index k,
                                               const By* alpha, const void* a, cudaDataType type_a,
                                               Index lda, const By* beta, void* c,
                                               cudaDataType type_c, Index ldc) {
  if (!are_all(CUDA_C_32F, {type_a, type_c})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto* const from = static_cast<const cuComplex*>(a);
  return rank_k_update(
      handle,
      Triangle<cuComplex>{static_cast<cuComplex*>(c), n, ldc, uplo == CUBLAS_FILL_MODE_LOWER, kind},
      op, k, alpha, from, lda, from, lda, beta, false);
}

/// The products of a group of a grouped batch.
template <typename Value, typename Int>
struct Groups {
  const cublasOperation_t *op_a, *op_b;
  const Int *m, *n, *k;
  const Value* alpha;
  const Value* const* a;
  const Int* lda;
  const Value* const* b;
  const Int* ldb;
  const Value* beta;
  Value* const* c;
  const Int* ldc;
  Int count;
  const Int* sizes;

  Gemm<Value> shape(Int i) const {
    return {op_a[i],
            op_b[i],
            m[i],
            n[i],
            k[i],
            {alpha[i], nullptr},
            nullptr,
            lda[i],
            nullptr,
            ldb[i],
            {beta[i], nullptr},
            nullptr,
            ldc[i]};
  }
};
/// Computes a batch of products for each group. All arrays with one element per group are in host
/// memory, and the addresses of the matrices are in device memory.
template <typename Value, typename Int>
CUDA_ON_CPU_AT_CALLER cublasStatus_t gemm_grouped(cublasHandle_t handle,
                                                  const Groups<Value, Int>& groups) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (handle->mode != CUBLAS_POINTER_MODE_HOST) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (groups.count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  for (Int i = 0; i < groups.count; ++i) {
    if (groups.sizes[i] < 0 || !groups.shape(i).is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
    if (!groups.shape(i).fits()) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  Index first = 0;
  for (Int i = 0; i < groups.count; first += groups.sizes[i++])
    if (const auto status = gemm_batched(handle, groups.shape(i), groups.a + first,
                                         groups.b + first, groups.c + first, groups.sizes[i]);
        status != CUBLAS_STATUS_SUCCESS)
      return status;
  return CUBLAS_STATUS_SUCCESS;
}
/// Computes a grouped batch of products of real matrices whose types are arguments.
template <typename Int>
CUDA_ON_CPU_AT_CALLER cublasStatus_t
gemm_grouped_ex(cublasHandle_t handle, const cublasOperation_t* op_a, const cublasOperation_t* op_b,
                const Int* m, const Int* n, const Int* k, const void* alpha, const void* const* a,
                cudaDataType type_a, const Int* lda, const void* const* b, cudaDataType type_b,
                const Int* ldb, const void* beta, void* const* c, cudaDataType type_c,
                const Int* ldc, Int count, const Int* sizes, cublasComputeType_t compute) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  const cudaDataType scale = scale_type_of(compute);
  if (handle->mode != CUBLAS_POINTER_MODE_HOST || !are_known({type_a, type_b, type_c}) ||
      !are_all(type_a, {type_b, type_c}))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto shape = [&](Int i) {
    const auto factor_of = [&](const void* factors) {
      return static_cast<const char*>(factors) + static_cast<std::size_t>(i) * bytes_of(scale);
    };
    return TypedGemm{op_a[i],         op_b[i], m[i],   n[i],    k[i],   factor_of(alpha),
                     nullptr,         type_a,  lda[i], nullptr, type_b, ldb[i],
                     factor_of(beta), nullptr, type_c, ldc[i],  compute};
  };
  for (Int i = 0; i < count; ++i) {
    const Gemm<float> g{op_a[i], op_b[i], m[i],   n[i], k[i],    {},    nullptr,
                        lda[i],  nullptr, ldb[i], {},   nullptr, ldc[i]};
    if (sizes[i] < 0 || !g.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  }
  Index first = 0;
  for (Int i = 0; i < count; first += sizes[i++])
    if (const auto status =
            gemm_ex_batched(handle, shape(i), a + first, b + first, c + first, sizes[i]);
        status != CUBLAS_STATUS_SUCCESS)
      return status;
  return CUBLAS_STATUS_SUCCESS;
}

// --- Vectors

/// A vector whose element type is an argument.
struct TypedVector {
  void* first;
  cudaDataType type;
  Index size, stride;

  std::size_t index(Index i) const {
    return static_cast<std::size_t>((stride > 0 ? i : i - size + 1) * stride);
  }
  double get(Index i) const { return element<double>(first, type, index(i)); }
  void set(Index i, double value) const { put_element(first, type, index(i), value); }
  Touched touched(bool written) const {
    const auto step = static_cast<std::size_t>(stride < 0 ? -stride : stride);
    const auto elements = static_cast<std::size_t>(size < 0 ? 0 : size);
    if (step == 1) return {first, elements * bytes_of(type), written};
    return {first, bytes_of(type), written, true, elements, step * bytes_of(type)};
  }
};
inline TypedVector typed(const void* first, cudaDataType type, Index size, Index stride) {
  return {const_cast<void*>(first), type, size, stride};
}

/// A matrix-vector product, y = alpha op(A) x + beta y. The matrix and the vectors are of 16-bit
/// types, or the result is of type float.
struct TypedGemv {
  cublasOperation_t op;
  Index m, n;
  Factor<float> alpha;
  const void* a;
  cudaDataType type;
  Index lda;
  const void* x;
  Index stride_x;
  Factor<float> beta;
  void* y;
  cudaDataType type_y;
  Index stride_y;

  bool is_valid() const {
    return !is_any_negative({m, n}) && lda >= 1 && lda >= m && stride_x != 0 && stride_y != 0;
  }
  Index rows() const { return op == CUBLAS_OP_N ? m : n; }
  Index columns() const { return op == CUBLAS_OP_N ? n : m; }
  Matrix matrix() const { return operand(a, type, CUBLAS_OP_N, m, n, lda); }
  TypedVector from() const { return typed(x, type, columns(), stride_x); }
  TypedVector to() const { return typed(y, type_y, rows(), stride_y); }
  List<Touched> touched() const {
    if (m == 0 || n == 0) return List<Touched>(3);
    const bool reads = !alpha.is_zero();
    return {reads ? matrix().touched(false) : nothing(), reads ? from().touched(false) : nothing(),
            unread(to().touched(true), !beta.is_zero())};
  }
  void run() const {
    if (m == 0 || n == 0) return;
    const float by = alpha.value(), before = beta.value();
    const Matrix all = matrix();
    for (Index i = 0; i < rows(); ++i) {
      float sum = 0;
      for (Index j = 0; j < columns() && by != 0; ++j) {
        const auto row = static_cast<std::size_t>(op == CUBLAS_OP_N ? i : j),
                   column = static_cast<std::size_t>(op == CUBLAS_OP_N ? j : i);
        sum += element<float>(a, type, all.index(row, column)) * static_cast<float>(from().get(j));
      }
      const float old = before == 0 ? 0 : before * static_cast<float>(to().get(i));
      to().set(i, static_cast<double>(by * sum + old));
    }
  }
  TypedGemv of(const void* own_a, const void* own_x, void* own_y) const {
    TypedGemv one = *this;
    one.a = own_a;
    one.x = own_x;
    one.y = own_y;
    return one;
  }
};
template <typename From, typename To>
CUDA_ON_CPU_AT_CALLER cublasStatus_t typed_gemv_batched(cublasHandle_t handle,
                                                        const TypedGemv& shape,
                                                        const From* const* a, const From* const* x,
                                                        To* const* y, Index batches) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!shape.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  const auto one = [=](Index i) { return shape.of(get(a + i), get(x + i), get(y + i)); };
  return batched(
      handle, batches,
      {shape.alpha.touched(), shape.beta.touched(), array(a, batches), array(x, batches),
       array(y, batches)},
      [=](Index i) { return one(i).touched(); }, [=](Index i) { one(i).run(); });
}
template <typename From, typename To>
CUDA_ON_CPU_AT_CALLER cublasStatus_t typed_gemv_strided(cublasHandle_t handle,
                                                        const TypedGemv& shape, const From* a,
                                                        Index stride_a, const From* x,
                                                        Index stride_x, To* y, Index stride_y,
                                                        Index batches) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!shape.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  const auto one = [=](Index i) {
    return shape.of(a + i * stride_a, x + i * stride_x, y + i * stride_y);
  };
  return batched(
      handle, batches, {shape.alpha.touched(), shape.beta.touched()},
      [=](Index i) { return one(i).touched(); }, [=](Index i) { one(i).run(); });
}

/// Computes a scalar whose type is an argument, and stores the scalar in host or device memory
/// according to the pointer mode of the handle.
template <typename Work>
CUDA_ON_CPU_AT_CALLER cublasStatus_t give_typed(cublasHandle_t handle, void* result,
                                                cudaDataType type, Touched first, Touched second,
                                                Work work) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool on_host = handle->mode == CUBLAS_POINTER_MODE_HOST;
  const Touched given = on_host ? nothing() : Touched{result, bytes_of(type), true, false};
  const cublasStatus_t status =
      in_stream(handle, {first, second, given}, [=] { put_element(result, type, 0, work()); });
  return on_host && status == CUBLAS_STATUS_SUCCESS &&
                 cudaStreamSynchronize(handle->stream) != cudaSuccess
             ? CUBLAS_STATUS_EXECUTION_FAILED
             : status;
}

CUDA_ON_CPU_AT_CALLER cublasStatus_t dot_ex(cublasHandle_t handle, Index n, const void* x,
                                            cudaDataType type_x, Index stride_x, const void* y,
                                            cudaDataType type_y, Index stride_y, void* result,
                                            cudaDataType type, bool conjugates) {
  cublasStatus_t status{};
  if (are_all(type_x, {type_y, type}) && is_done_in_complex(type_x, status, [&](auto zero) {
        using Value = decltype(zero);
        return dot(handle, n, static_cast<const Value*>(x), stride_x, static_cast<const Value*>(y),
                   stride_y, static_cast<Value*>(result), conjugates);
      }))
    return status;
  if (!are_known({type_x, type_y, type})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const TypedVector v = typed(x, type_x, n, stride_x), w = typed(y, type_y, n, stride_y);
  return give_typed(handle, result, type, v.touched(false), w.touched(false), [=] {
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += v.get(i) * w.get(i);
    return sum;
  });
}
CUDA_ON_CPU_AT_CALLER cublasStatus_t nrm2_ex(cublasHandle_t handle, Index n, const void* x,
                                             cudaDataType type_x, Index stride, void* result,
                                             cudaDataType type) {
  cublasStatus_t status{};
  if (is_done_in_complex(type_x, status, [&](auto zero) {
        using Value = decltype(zero);
        if (type != type_of_part<Value>) return CUBLAS_STATUS_NOT_SUPPORTED;
        return nrm2(handle, n, static_cast<const Value*>(x), stride,
                    static_cast<Real<Value>*>(result));
      }))
    return status;
  if (!are_known({type_x, type})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const TypedVector v = typed(x, type_x, n, stride);
  return give_typed(handle, result, type, v.touched(false), nothing(), [=] {
    double norm = 0;
    for (Index i = 0; i < n; ++i) norm = std::hypot(norm, v.get(i));
    return norm;
  });
}
CUDA_ON_CPU_AT_CALLER cublasStatus_t asum_ex(cublasHandle_t handle, Index n, const void* x,
                                             cudaDataType type_x, Index stride, void* result,
                                             cudaDataType type) {
  cublasStatus_t status{};
  if (is_done_in_complex(type_x, status, [&](auto zero) {
        using Value = decltype(zero);
        if (type != type_of_part<Value>) return CUBLAS_STATUS_NOT_SUPPORTED;
        return asum(handle, n, static_cast<const Value*>(x), stride,
                    static_cast<Real<Value>*>(result));
      }))
    return status;
  if (!are_known({type_x, type})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const TypedVector v = typed(x, type_x, n, stride);
  return give_typed(handle, result, type, v.touched(false), nothing(), [=] {
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += std::fabs(v.get(i));
    return sum;
  });
}
/// \param largest true for the index of the largest element, false for the index of the smallest
/// element; indices start at 1
template <typename Result>
CUDA_ON_CPU_AT_CALLER cublasStatus_t extreme_ex(cublasHandle_t handle, Index n, const void* x,
                                                cudaDataType type, Index stride, Result* result,
                                                bool largest) {
  cublasStatus_t status{};
  if (is_done_in_complex(type, status, [&](auto zero) {
        using Value = decltype(zero);
        return extreme(handle, n, static_cast<const Value*>(x), stride, result, largest);
      }))
    return status;
  if (!are_known({type})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const TypedVector v = typed(x, type, n, stride);
  return give(handle, result, v.touched(false), nothing(), [=]() -> Index {
    if (n < 1 || stride < 1) return 0;
    Index found = 0;
    for (Index i = 1; i < n; ++i) {
      const double size = std::fabs(v.get(i)), best = std::fabs(v.get(found));
      if (largest ? size > best : size < best) found = i;
    }
    return found + 1;
  });
}
CUDA_ON_CPU_AT_CALLER cublasStatus_t axpy_ex(cublasHandle_t handle, Index n, const void* alpha,
                                             cudaDataType type_alpha, const void* x,
                                             cudaDataType type_x, Index stride_x, void* y,
                                             cudaDataType type_y, Index stride_y) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  cublasStatus_t status{};
  if (are_all(type_alpha, {type_x, type_y}) && is_done_in_complex(type_x, status, [&](auto zero) {
        using Value = decltype(zero);
        return axpy(handle, n, static_cast<const Value*>(alpha), static_cast<const Value*>(x),
                    stride_x, static_cast<Value*>(y), stride_y);
      }))
    return status;
  if (!are_known({type_alpha, type_x, type_y})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const TypedVector v = typed(x, type_x, n, stride_x), w = typed(y, type_y, n, stride_y);
  const double by = scale_of(handle, alpha, type_alpha);
  return in_stream(handle, {v.touched(false), w.touched(true)}, [=] {
    for (Index i = 0; i < n; ++i) w.set(i, by * v.get(i) + w.get(i));
  });
}
CUDA_ON_CPU_AT_CALLER cublasStatus_t scal_ex(cublasHandle_t handle, Index n, const void* alpha,
                                             cudaDataType type_alpha, void* x, cudaDataType type_x,
                                             Index stride) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  cublasStatus_t status{};
  if (type_alpha == type_x && is_done_in_complex(type_x, status, [&](auto zero) {
        using Value = decltype(zero);
        return scal(handle, n, static_cast<const Value*>(alpha), static_cast<Value*>(x), stride);
      }))
    return status;
  if (!are_known({type_alpha, type_x})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const TypedVector v = typed(x, type_x, n, stride);
  const double by = scale_of(handle, alpha, type_alpha);
  return in_stream(handle, {v.touched(true)}, [=] {
    for (Index i = 0; i < n; ++i) v.set(i, by * v.get(i));
  });
}
/// Applies a Givens rotation. The cosine and the sine are real.
CUDA_ON_CPU_AT_CALLER cublasStatus_t rot_ex(cublasHandle_t handle, Index n, void* x,
                                            cudaDataType type_x, Index stride_x, void* y,
                                            cudaDataType type_y, Index stride_y, const void* c,
                                            const void* s, cudaDataType type_cs) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  cublasStatus_t status{};
  if (type_x == type_y && is_done_in_complex(type_x, status, [&](auto zero) {
        using Value = decltype(zero);
        if (type_cs != type_of_part<Value>) return CUBLAS_STATUS_NOT_SUPPORTED;
        return rot(handle, n, static_cast<Value*>(x), stride_x, static_cast<Value*>(y), stride_y,
                   static_cast<const Real<Value>*>(c), static_cast<const Real<Value>*>(s));
      }))
    return status;
  if (!are_known({type_cs, type_x, type_y})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const TypedVector v = typed(x, type_x, n, stride_x), w = typed(y, type_y, n, stride_y);
  const double by_c = scale_of(handle, c, type_cs), by_s = scale_of(handle, s, type_cs);
  return in_stream(handle, {v.touched(true), w.touched(true)}, [=] {
    for (Index i = 0; i < n; ++i) {
      const double before_x = v.get(i), before_y = w.get(i);
      v.set(i, by_c * before_x + by_s * before_y);
      w.set(i, by_c * before_y - by_s * before_x);
    }
  });
}

/// Calls `call` with a value that is as large as an element of the type.
template <typename Call>
CUDA_ON_CPU_AT_CALLER cublasStatus_t with_element(cudaDataType type, Call call) {
  switch (type) {
    case CUDA_C_64F:
      return call(cuDoubleComplex{});
    case CUDA_C_32F:
      return call(std::uint64_t{});
    case CUDA_C_16F:
    case CUDA_C_16BF:
      return call(std::uint32_t{});
    default:
      break;
  }
  switch (bytes_of(type)) {
    case 8:
      return call(std::uint64_t{});
    case 4:
      return call(std::uint32_t{});
    case 2:
      return call(std::uint16_t{});
    case 1:
      return call(std::uint8_t{});
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}
CUDA_ON_CPU_AT_CALLER cublasStatus_t copy_ex(cublasHandle_t handle, Index n, const void* x,
                                             cudaDataType type_x, Index stride_x, void* y,
                                             cudaDataType type_y, Index stride_y) {
  if (type_x != type_y) return CUBLAS_STATUS_NOT_SUPPORTED;
  return with_element(type_x, [&](auto zero) {
    using Value = decltype(zero);
    return copy(handle, n, static_cast<const Value*>(x), stride_x, static_cast<Value*>(y),
                stride_y);
  });
}
CUDA_ON_CPU_AT_CALLER cublasStatus_t swap_ex(cublasHandle_t handle, Index n, void* x,
                                             cudaDataType type_x, Index stride_x, void* y,
                                             cudaDataType type_y, Index stride_y) {
  if (type_x != type_y) return CUBLAS_STATUS_NOT_SUPPORTED;
  return with_element(type_x, [&](auto zero) {
    using Value = decltype(zero);
    return swap(handle, n, static_cast<Value*>(x), stride_x, static_cast<Value*>(y), stride_y);
  });
}

/// Applies the modified Givens rotation H to vectors of real types.
CUDA_ON_CPU_AT_CALLER cublasStatus_t rotm_ex(cublasHandle_t handle, Index n, void* x,
                                             cudaDataType type_x, Index stride_x, void* y,
                                             cudaDataType type_y, Index stride_y,
                                             const void* parameters, cudaDataType type) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!are_known({type_x, type_y, type})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const TypedVector v = typed(x, type_x, n, stride_x), w = typed(y, type_y, n, stride_y);
  const double flag = scale_of(handle, parameters, type);
  const auto p = [&](std::size_t i) { return element<double>(parameters, type, i); };
  if (flag == -2) return CUBLAS_STATUS_SUCCESS;
  const double h11 = flag == 0 ? 1 : p(1), h21 = flag == 1 ? -1 : p(2), h12 = flag == 1 ? 1 : p(3),
               h22 = flag == 0 ? 1 : p(4);
  return in_stream(handle, {v.touched(true), w.touched(true)}, [=] {
    for (Index i = 0; i < n; ++i) {
      const double before_x = v.get(i), before_y = w.get(i);
      v.set(i, h11 * before_x + h12 * before_y);
      w.set(i, h21 * before_x + h22 * before_y);
    }
  });
}
/// Computes the Givens rotation of two real values.
CUDA_ON_CPU_AT_CALLER cublasStatus_t rotg_ex(cublasHandle_t handle, void* a, void* b,
                                             cudaDataType type, void* c, void* s,
                                             cudaDataType type_cs) {
  if (!are_known({type, type_cs})) return CUBLAS_STATUS_NOT_SUPPORTED;
  const std::size_t bytes = bytes_of(type), bytes_cs = bytes_of(type_cs);
  return on_numbers(
      handle,
      {{a, bytes, true}, {b, bytes, true}, {c, bytes_cs, true, false}, {s, bytes_cs, true, false}},
      [=] {
        const auto work = [=](auto first, auto second) {
          decltype(first) cosine = 0, sine = 0;
          host_rotg(&first, &second, &cosine, &sine);
          put_element(a, type, 0, first);
          put_element(b, type, 0, second);
          put_element(c, type_cs, 0, cosine);
          put_element(s, type_cs, 0, sine);
        };
        if (type == CUDA_R_64F)
          work(element<double>(a, type, 0), element<double>(b, type, 0));
        else
          work(element<float>(a, type, 0), element<float>(b, type, 0));
      });
}
/// Computes the modified Givens rotation of real values.
CUDA_ON_CPU_AT_CALLER cublasStatus_t rotmg_ex(cublasHandle_t handle, void* d1, cudaDataType type_d1,
                                              void* d2, cudaDataType type_d2, void* x1,
                                              cudaDataType type_x1, const void* y1,
                                              cudaDataType type_y1, void* parameters,
                                              cudaDataType type) {
  if (!are_known({type_d1, type_d2, type_x1, type_y1, type})) return CUBLAS_STATUS_NOT_SUPPORTED;
  return on_numbers(handle,
                    {{d1, bytes_of(type_d1), true},
                     {d2, bytes_of(type_d2), true},
                     {x1, bytes_of(type_x1), true},
                     {y1, bytes_of(type_y1), false},
                     {parameters, 5 * bytes_of(type), true, false}},
                    [=] {
                      const auto work = [=](auto first, auto second, auto x, auto y) {
                        decltype(first) found[5] = {};
                        host_rotmg(&first, &second, &x, y, found);
                        put_element(d1, type_d1, 0, first);
                        put_element(d2, type_d2, 0, second);
                        put_element(x1, type_x1, 0, x);
                        // The flag determines which elements of the rotation are given.
                        const auto flag = found[0];
                        put_element(parameters, type, 0, flag);
                        for (const std::size_t i : {1, 2, 3, 4})
                          if (flag == -1 || flag == (i == 1 || i == 4 ? 1 : 0))
                            put_element(parameters, type, i, found[i]);
                      };
                      if (type_d1 == CUDA_R_64F)
                        work(element<double>(d1, type_d1, 0), element<double>(d2, type_d2, 0),
                             element<double>(x1, type_x1, 0), element<double>(y1, type_y1, 0));
                      else
                        work(element<float>(d1, type_d1, 0), element<float>(d2, type_d2, 0),
                             element<float>(x1, type_x1, 0), element<float>(y1, type_y1, 0));
                    });
}

}  // namespace blas
}  // namespace cuda_on_cpu
