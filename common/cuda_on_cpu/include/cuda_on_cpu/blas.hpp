/// \file
/// The routines of cuBLAS for the four element types, as operations in a stream. The host's BLAS
/// computes matrix products and triangular systems with several right-hand sides. All other
/// routines process the elements one by one.

#pragma once

#include "hidden_names.hpp"

#include <cblas.h>

#include "shown_names.hpp"

#include <cmath>

#include "../cuComplex.h"
#include "cublas_handle.hpp"
#include "library_call.hpp"

namespace cuda_on_cpu {
namespace blas {

using Index = long long;

// --- Arithmetic of the four types

template <typename Value>
struct RealOf {
  using Type = Value;
};
template <>
struct RealOf<cuComplex> {
  using Type = float;
};
template <>
struct RealOf<cuDoubleComplex> {
  using Type = double;
};
template <typename Value>
using Real = typename RealOf<Value>::Type;
template <typename Value>
inline constexpr bool is_complex = !std::is_same_v<Real<Value>, Value>;

template <typename Value>
Value number(Real<Value> real) {
  if constexpr (is_complex<Value>)
    return {real, 0};
  else
    return real;
}
template <typename Value>
Value conjugate(Value x) {
  if constexpr (is_complex<Value>)
    return {x.x, -x.y};
  else
    return x;
}
template <typename Value>
Value add(Value x, Value y) {
  if constexpr (is_complex<Value>)
    return {x.x + y.x, x.y + y.y};
  else
    return x + y;
}
template <typename Value>
Value subtract(Value x, Value y) {
  if constexpr (is_complex<Value>)
    return {x.x - y.x, x.y - y.y};
  else
    return x - y;
}
template <typename Value>
Value multiply(Value x, Value y) {
  if constexpr (is_complex<Value>)
    return {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};
  else
    return x * y;
}
template <typename Value>
Value divide(Value x, Value y) {
  if constexpr (std::is_same_v<Value, cuComplex>)
    return cuCdivf(x, y);
  else if constexpr (is_complex<Value>)
    return cuCdiv(x, y);
  else
    return x / y;
}
template <typename Value>
bool is_zero(Value x) {
  if constexpr (is_complex<Value>)
    return x.x == 0 && x.y == 0;
  else
    return x == 0;
}
/// The absolute value that asum and amax use: |re| + |im|.
template <typename Value>
Real<Value> taxicab(Value x) {
  if constexpr (is_complex<Value>)
    return std::fabs(x.x) + std::fabs(x.y);
  else
    return std::fabs(x);
}
template <typename Value>
Real<Value> modulus(Value x) {
  if constexpr (is_complex<Value>)
    return std::hypot(x.x, x.y);
  else
    return std::fabs(x);
}
/// Returns the real part of a diagonal element of a Hermitian matrix.
template <typename Value>
Value real_part(Value x) {
  if constexpr (is_complex<Value>)
    return {x.x, 0};
  else
    return x;
}
template <typename Value>
Real<Value> real_of(Value x) {
  if constexpr (is_complex<Value>)
    return x.x;
  else
    return x;
}

// --- Accesses to device memory by the host. These accesses are not instrumented, because each
// library call registers all its operands. Without these attributes, g++ would inline an access
// into its instrumented caller.
#ifdef __clang__
#define CUDA_ON_CPU_NOT_INLINED [[gnu::noinline]]
#else
#define CUDA_ON_CPU_NOT_INLINED [[gnu::noipa]]
#endif

template <typename Value>
CUDA_ON_CPU_NOT_INLINED CUDA_ON_CPU_NOT_ANALYSED Value get(const Value* from) {
  return *from;
}
template <typename Value>
CUDA_ON_CPU_NOT_INLINED CUDA_ON_CPU_NOT_ANALYSED void set(Value* to, Value value) {
  *to = value;
}

template <typename Value>
std::size_t bytes_of_elements(Index count) {
  return static_cast<std::size_t>(count) * sizeof(Value);
}
/// The memory of a matrix whose columns are `stride` elements apart.
template <typename Value>
Touched matrix(Value* first, Index stride, Index rows, Index columns) {
  const bool written = !std::is_const_v<Value>;
  if (columns <= 0 || rows <= 0) return {first, 0, written};
  if (stride == rows) return {first, bytes_of_elements<Value>(rows * columns), written};
  return {first, bytes_of_elements<Value>(rows),    written,
          true,  static_cast<std::size_t>(columns), bytes_of_elements<Value>(stride)};
}
/// The memory of one triangle of a matrix.
/// \param strict whether the diagonal does not belong to the triangle
template <typename Value>
Touched triangle(Value* first, Index stride, Index n, bool lower, bool strict = false) {
  const Index columns = strict ? n - 1 : n;
  if (columns <= 0) return {first, 0, !std::is_const_v<Value>};
  const auto size = static_cast<std::ptrdiff_t>(sizeof(Value));
  return {first + (!strict ? 0
                   : lower ? 1
                           : stride),
          bytes_of_elements<Value>(lower ? columns : 1),
          !std::is_const_v<Value>,
          true,
          static_cast<std::size_t>(columns),
          bytes_of_elements<Value>(lower ? stride + 1 : stride),
          lower ? -size : size};
}
/// Returns `touched` with the member `read` set to `is_read`.
inline Touched unread(Touched touched, bool is_read = false) {
  touched.read = is_read;
  return touched;
}
inline Touched nothing() { return {nullptr, 0, false}; }

/// A vector whose elements are `stride` apart. If the stride is negative, element 0 is the last
/// element in memory.
template <typename Value>
struct Vector {
  Value* first;
  Index size, stride;

  Value* at(Index i) const { return first + (stride > 0 ? i : i - size + 1) * stride; }
  std::remove_const_t<Value> operator[](Index i) const {
    return get(const_cast<const Value*>(at(i)));
  }
  Touched touched() const { return matrix(first, stride < 0 ? -stride : stride, 1, size); }
};
template <typename Value>
Vector<Value> vector(Value* first, Index size, Index stride) {
  return {first, size, stride};
}

/// A scalar factor. A factor in host memory is copied by the library call. A factor in device
/// memory is read when the operation runs.
template <typename Value>
struct Factor {
  Value held;
  const Value* on_device;

  Value value() const { return on_device != nullptr ? get(on_device) : held; }
  bool is_zero() const { return on_device == nullptr && blas::is_zero(held); }
  Touched touched() const { return matrix(on_device, 1, on_device != nullptr ? 1 : 0, 1); }
};
template <typename Value>
Factor<Value> factor(cublasHandle_t handle, const Value* pointer) {
  if (handle == nullptr || handle->mode == CUBLAS_POINTER_MODE_HOST) return {*pointer, nullptr};
  return {Value{}, pointer};
}

inline bool is_any_negative(std::initializer_list<Index> sizes) {
  for (const Index size : sizes)
    if (size < 0) return true;
  return false;
}
/// Whether the sizes fit into 32 bits, as the host's BLAS requires.
inline bool fits(std::initializer_list<Index> sizes) {
  for (const Index size : sizes)
    if (size > 0x7fffffff || size < -0x7fffffff) return false;
  return true;
}

template <typename Work>
CUDA_ON_CPU_AT_CALLER cublasStatus_t in_stream(cublasHandle_t handle, const List<Touched>& touched,
                                               Work work) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  return library_call(handle->stream, touched, std::move(work)) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// Runs a routine that returns a scalar. The host waits for the result, unless it is stored in
/// device memory.
template <typename Result, typename Work>
CUDA_ON_CPU_AT_CALLER cublasStatus_t give(cublasHandle_t handle, Result* result, Touched first,
                                          Touched second, Work work) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool on_host = handle->mode == CUBLAS_POINTER_MODE_HOST;
  const cublasStatus_t status =
      in_stream(handle, {first, second, on_host ? nothing() : unread(matrix(result, 1, 1, 1))},
                [=] { set(result, static_cast<Result>(work())); });
  if (!on_host || status != CUBLAS_STATUS_SUCCESS) return status;
  return cudaStreamSynchronize(handle->stream) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                              : CUBLAS_STATUS_EXECUTION_FAILED;
}

// --- Level 1

/// \param largest true for the index of the largest element, false for the index of the smallest
/// element; indices start at 1
template <typename Value, typename Result>
CUDA_ON_CPU_AT_CALLER cublasStatus_t extreme(cublasHandle_t handle, Index n, const Value* x,
                                             Index stride, Result* result, bool largest) {
  const auto v = vector(x, n, stride);
  return give(handle, result, v.touched(), nothing(), [=]() -> Index {
    if (n < 1 || stride < 1) return 0;
    Index found = 0;
    for (Index i = 1; i < n; ++i) {
      const auto size = taxicab(v[i]), best = taxicab(v[found]);
      if (largest ? size > best : size < best) found = i;
    }
    return found + 1;
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t asum(cublasHandle_t handle, Index n, const Value* x,
                                          Index stride, Real<Value>* result) {
  const auto v = vector(x, n, stride);
  return give(handle, result, v.touched(), nothing(), [=] {
    Real<Value> sum = 0;
    for (Index i = 0; i < n && stride > 0; ++i) sum += taxicab(v[i]);
    return sum;
  });
}
/// The Euclidean norm. The elements are scaled, so that their squares neither overflow nor
/// underflow.
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t nrm2(cublasHandle_t handle, Index n, const Value* x,
                                          Index stride, Real<Value>* result) {
  const auto v = vector(x, n, stride);
  return give(handle, result, v.touched(), nothing(), [=] {
    Real<Value> scale = 0, sum = 1;
    const auto take = [&](Real<Value> part) {
      const Real<Value> size = std::fabs(part);
      if (size == 0) return;
      if (scale < size) {
        sum = 1 + sum * (scale / size) * (scale / size);
        scale = size;
      } else {
        sum += (size / scale) * (size / scale);
      }
    };
    for (Index i = 0; i < n && stride > 0; ++i) {
      const Value element = v[i];
      if constexpr (is_complex<Value>) {
        take(element.x);
        take(element.y);
      } else {
        take(element);
      }
    }
    return scale * std::sqrt(sum);
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t dot(cublasHandle_t handle, Index n, const Value* x,
                                         Index stride_x, const Value* y, Index stride_y,
                                         Value* result, bool conjugates) {
  const auto v = vector(x, n, stride_x), w = vector(y, n, stride_y);
  return give(handle, result, v.touched(), w.touched(), [=] {
    Value sum{};
    for (Index i = 0; i < n; ++i)
      sum = add(sum, multiply(conjugates ? conjugate(v[i]) : v[i], w[i]));
    return sum;
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t axpy(cublasHandle_t handle, Index n, const Value* alpha,
                                          const Value* x, Index stride_x, Value* y,
                                          Index stride_y) {
  const auto v = vector(x, n, stride_x);
  const auto w = vector(y, n, stride_y);
  const auto a = factor(handle, alpha);
  return in_stream(handle, {a.touched(), v.touched(), w.touched()}, [=] {
    const Value by = a.value();
    for (Index i = 0; i < n; ++i) set(w.at(i), add(multiply(by, v[i]), w[i]));
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t copy(cublasHandle_t handle, Index n, const Value* x,
                                          Index stride_x, Value* y, Index stride_y) {
  const auto v = vector(x, n, stride_x);
  const auto w = vector(y, n, stride_y);
  return in_stream(handle, {v.touched(), unread(w.touched())}, [=] {
    for (Index i = 0; i < n; ++i) set(w.at(i), v[i]);
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t swap(cublasHandle_t handle, Index n, Value* x, Index stride_x,
                                          Value* y, Index stride_y) {
  const auto v = vector(x, n, stride_x), w = vector(y, n, stride_y);
  return in_stream(handle, {v.touched(), w.touched()}, [=] {
    for (Index i = 0; i < n; ++i) {
      const Value kept = v[i];
      set(v.at(i), w[i]);
      set(w.at(i), kept);
    }
  });
}
/// \param alpha a factor of the vector's type, or of the corresponding real type
template <typename Value, typename By>
CUDA_ON_CPU_AT_CALLER cublasStatus_t scal(cublasHandle_t handle, Index n, const By* alpha, Value* x,
                                          Index stride) {
  const auto v = vector(x, n, stride);
  const auto a = factor(handle, alpha);
  return in_stream(handle, {a.touched(), v.touched()}, [=] {
    const By by = a.value();
    for (Index i = 0; i < n && stride > 0; ++i) {
      if constexpr (std::is_same_v<By, Value>)
        set(v.at(i), multiply(by, v[i]));
      else
        set(v.at(i), multiply(number<Value>(by), v[i]));
    }
  });
}
/// Applies a Givens rotation: x' = c x + s y, y' = c y - conj(s) x.
template <typename Value, typename Sine>
CUDA_ON_CPU_AT_CALLER cublasStatus_t rot(cublasHandle_t handle, Index n, Value* x, Index stride_x,
                                         Value* y, Index stride_y, const Real<Value>* cosine,
                                         const Sine* sine) {
  const auto v = vector(x, n, stride_x), w = vector(y, n, stride_y);
  const auto c = factor(handle, cosine);
  const auto s = factor(handle, sine);
  return in_stream(handle, {c.touched(), s.touched(), v.touched(), w.touched()}, [=] {
    const Value by_c = number<Value>(c.value());
    Value by_s{};
    if constexpr (std::is_same_v<Sine, Value>)
      by_s = s.value();
    else
      by_s = number<Value>(s.value());
    for (Index i = 0; i < n; ++i) {
      const Value before_x = v[i], before_y = w[i];
      set(v.at(i), add(multiply(by_c, before_x), multiply(by_s, before_y)));
      set(w.at(i), subtract(multiply(by_c, before_y), multiply(conjugate(by_s), before_x)));
    }
  });
}

/// Runs a routine that changes a few scalars, in host or device memory according to the pointer
/// mode of the handle.
template <typename Work>
CUDA_ON_CPU_AT_CALLER cublasStatus_t on_numbers(cublasHandle_t handle,
                                                std::initializer_list<Touched> numbers, Work work) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (handle->mode == CUBLAS_POINTER_MODE_DEVICE) return in_stream(handle, numbers, work);
  work();
  return CUBLAS_STATUS_SUCCESS;
}
inline void host_rotg(float* a, float* b, float* c, float* s) { cblas_srotg(a, b, c, s); }
inline void host_rotg(double* a, double* b, double* c, double* s) { cblas_drotg(a, b, c, s); }
/// Computes the rotation of complex values that transforms (a, b) into (r, 0).
template <typename Value>
void host_rotg(Value* a, Value* b, Real<Value>* c, Value* s) {
  const Value first = get(a), second = get(b);
  const Real<Value> size = modulus(first);
  if (size == 0) {
    set(c, Real<Value>(0));
    set(s, number<Value>(1));
    set(a, second);
    return;
  }
  const Real<Value> norm = std::hypot(size, modulus(second));
  const Value phase = {first.x / size, first.y / size};
  set(c, size / norm);
  const Value sine = multiply(phase, conjugate(second));
  set(s, Value{sine.x / norm, sine.y / norm});
  set(a, Value{phase.x * norm, phase.y * norm});
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t rotg(cublasHandle_t handle, Value* a, Value* b, Real<Value>* c,
                                          Value* s) {
  return on_numbers(handle,
                    {matrix(a, 1, 1, 1), matrix(b, 1, 1, 1), unread(matrix(c, 1, 1, 1)),
                     unread(matrix(s, 1, 1, 1))},
                    [=] { host_rotg(a, b, c, s); });
}
inline void host_rotmg(float* d1, float* d2, float* x1, float y1, float* parameters) {
  cblas_srotmg(d1, d2, x1, y1, parameters);
}
inline void host_rotmg(double* d1, double* d2, double* x1, double y1, double* parameters) {
  cblas_drotmg(d1, d2, x1, y1, parameters);
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t rotmg(cublasHandle_t handle, Value* d1, Value* d2, Value* x1,
                                           const Value* y1, Value* parameters) {
  return on_numbers(handle,
                    {matrix(d1, 1, 1, 1), matrix(d2, 1, 1, 1), matrix(x1, 1, 1, 1),
                     matrix(y1, 1, 1, 1), unread(matrix(parameters, 1, 5, 1))},
                    [=] { host_rotmg(d1, d2, x1, get(y1), parameters); });
}
/// Applies the modified Givens rotation H. `parameters[0]` is the flag that determines which
/// elements of H are given.
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t rotm(cublasHandle_t handle, Index n, Value* x, Index stride_x,
                                          Value* y, Index stride_y, const Value* parameters) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto v = vector(x, n, stride_x), w = vector(y, n, stride_y);
  const bool on_device = handle->mode == CUBLAS_POINTER_MODE_DEVICE;
  Value held[5] = {};
  if (!on_device)
    for (int i = 0; i < 5; ++i) held[i] = parameters[i];
  const List<Value> copy{held[0], held[1], held[2], held[3], held[4]};
  return in_stream(
      handle, {v.touched(), w.touched(), matrix(parameters, 1, on_device ? 5 : 0, 1)}, [=] {
        const auto p = [&](std::size_t i) { return on_device ? get(parameters + i) : copy[i]; };
        const Value flag = p(0);
        if (flag == -2) return;
        const Value h11 = flag == 0 ? Value(1) : p(1), h21 = flag == 1 ? Value(-1) : p(2),
                    h12 = flag == 1 ? Value(1) : p(3), h22 = flag == 0 ? Value(1) : p(4);
        for (Index i = 0; i < n; ++i) {
          const Value before_x = v[i], before_y = w[i];
          set(v.at(i), h11 * before_x + h12 * before_y);
          set(w.at(i), h21 * before_x + h22 * before_y);
        }
      });
}

// --- Triangular and band storage of matrices

enum class Storage { full, band, packed };
enum class Kind { symmetric, hermitian, triangular };

/// A square matrix of which only one triangle is stored.
template <typename Value>
struct Triangle {
  Value* first;
  Index n, stride;
  bool lower;
  Kind kind;
  Storage storage = Storage::full;
  Index band = 0;  ///< number of diagonals on one side of the main diagonal
  bool unit = false;

  using Element = std::remove_const_t<Value>;

  /// The address of a stored element.
  Value* place(Index i, Index j) const {
    switch (storage) {
      case Storage::band:
        return first + (lower ? i - j : band + i - j) + j * stride;
      case Storage::packed:
        return first + (lower ? i - j + j * n - j * (j - 1) / 2 : i + j * (j + 1) / 2);
      default:
        return first + i + j * stride;
    }
  }
  bool is_stored(Index i, Index j) const {
    if (lower ? i < j : i > j) return false;
    return storage != Storage::band || (lower ? i - j : j - i) <= band;
  }
  Element operator()(Index i, Index j) const {
    const bool mirrored = lower ? i < j : i > j;
    if (kind == Kind::triangular && mirrored) return Element{};
    if (unit && i == j) return number<Element>(1);
    const Index row = mirrored ? j : i, column = mirrored ? i : j;
    if (!is_stored(row, column)) return Element{};
    const Element element = get(const_cast<const Element*>(place(row, column)));
    if (kind != Kind::hermitian) return element;
    return i == j ? real_part(element) : mirrored ? conjugate(element) : element;
  }
  Touched touched() const {
    if (storage == Storage::packed) return matrix(first, 1, n * (n + 1) / 2, 1);
    if (storage == Storage::full) return triangle(first, stride, n, lower, unit);
    return matrix(first, stride, band + 1, n);
  }
  bool is_valid() const {
    return n >= 0 && band >= 0 &&
           (storage == Storage::packed || stride >= (storage == Storage::band ? band + 1 : n)) &&
           (storage == Storage::packed || stride >= 1);
  }
};

/// A general matrix, or a band matrix with `lower` diagonals below and `upper` diagonals above the
/// main diagonal.
template <typename Value>
struct Dense {
  const Value* first;
  Index stride;
  bool is_band = false;
  Index lower = 0, upper = 0;

  Value operator()(Index i, Index j) const {
    if (!is_band) return get(first + i + j * stride);
    if (i - j > lower || j - i > upper) return Value{};
    return get(first + (upper + i - j) + j * stride);
  }
};

/// Element (i, j) of op(A).
template <typename Matrix>
auto transformed(const Matrix& a, cublasOperation_t op, Index i, Index j) {
  if (op == CUBLAS_OP_N) return a(i, j);
  return op == CUBLAS_OP_T ? a(j, i) : conjugate(a(j, i));
}

/// Returns beta y. If beta is zero, y is not read.
template <typename Value>
Value kept(Value beta, const Value* y) {
  return is_zero(beta) ? Value{} : multiply(beta, get(y));
}

// --- Level 2

/// Computes y = alpha op(A) x + beta y, for a matrix that provides its elements one by one.
template <typename Value, typename Matrix>
CUDA_ON_CPU_AT_CALLER cublasStatus_t matrix_vector(cublasHandle_t handle, const Matrix& a,
                                                   Touched touched, cublasOperation_t op,
                                                   Index rows, Index columns, const Value* alpha,
                                                   const Value* x, Index stride_x,
                                                   const Value* beta, Value* y, Index stride_y) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (is_any_negative({rows, columns}) || stride_x == 0 || stride_y == 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  const auto v = vector(x, columns, stride_x);
  const auto w = vector(y, rows, stride_y);
  const auto by_a = factor(handle, alpha), by_b = factor(handle, beta);
  const bool reads = !by_a.is_zero();
  return in_stream(handle,
                   {by_a.touched(), by_b.touched(), reads ? touched : nothing(),
                    reads ? v.touched() : nothing(), unread(w.touched(), !by_b.is_zero())},
                   [=] {
                     const Value by = by_a.value(), before = by_b.value();
                     for (Index i = 0; i < rows; ++i) {
                       Value sum{};
                       for (Index j = 0; j < columns && !is_zero(by); ++j)
                         sum = add(sum, multiply(transformed(a, op, i, j), v[j]));
                       set(w.at(i), add(multiply(by, sum), kept(before, w.at(i))));
                     }
                   });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t symmetric_vector(cublasHandle_t handle,
                                                      const Triangle<const Value>& a,
                                                      const Value* alpha, const Value* x,
                                                      Index stride_x, const Value* beta, Value* y,
                                                      Index stride_y) {
  if (!a.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  return matrix_vector(handle, a, a.touched(), CUBLAS_OP_N, a.n, a.n, alpha, x, stride_x, beta, y,
                       stride_y);
}
/// Computes x = op(A) x or, if `solves`, replaces x by the solution y of op(A) y = x.
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t triangular_vector(cublasHandle_t handle,
                                                       const Triangle<const Value>& a,
                                                       cublasOperation_t op, Value* x, Index stride,
                                                       bool solves) {
  if (!a.is_valid() || stride == 0) return CUBLAS_STATUS_INVALID_VALUE;
  const auto v = vector(x, a.n, stride);
  const bool is_lower = a.lower == (op == CUBLAS_OP_N);
  return in_stream(handle, {a.touched(), v.touched()}, [=] {
    // In a solve, each element depends on elements that are already computed. In a product, each
    // element depends on elements that must not be overwritten yet.
    const bool ascends = is_lower == solves;
    for (Index step = 0; step < a.n; ++step) {
      const Index i = ascends ? step : a.n - 1 - step;
      const Index begin = is_lower ? 0 : i + 1, end = is_lower ? i : a.n;
      Value sum{};
      for (Index j = begin; j < end; ++j) sum = add(sum, multiply(transformed(a, op, i, j), v[j]));
      const Value diagonal = transformed(a, op, i, i);
      set(v.at(i),
          solves ? divide(subtract(v[i], sum), diagonal) : add(multiply(diagonal, v[i]), sum));
    }
  });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t ger(cublasHandle_t handle, Index m, Index n,
                                         const Value* alpha, const Value* x, Index stride_x,
                                         const Value* y, Index stride_y, Value* a, Index lda,
                                         bool conjugates) {
  if (is_any_negative({m, n}) || stride_x == 0 || stride_y == 0 || lda < 1 || lda < m)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto v = vector(x, m, stride_x), w = vector(y, n, stride_y);
  const auto by = factor(handle, alpha);
  return in_stream(handle, {by.touched(), v.touched(), w.touched(), matrix(a, lda, m, n)}, [=] {
    const Value factor_of_all = by.value();
    for (Index j = 0; j < n; ++j) {
      const Value right = multiply(factor_of_all, conjugates ? conjugate(w[j]) : w[j]);
      for (Index i = 0; i < m; ++i)
        set(a + i + j * lda, add(get(a + i + j * lda), multiply(v[i], right)));
    }
  });
}
/// Computes A += alpha x x' or, if `y` is given, A += alpha x y' + alpha' y x'. The prime denotes
/// the transpose, or for Hermitian matrices the conjugate transpose; their diagonal stays real.
template <typename Value, typename By>
CUDA_ON_CPU_AT_CALLER cublasStatus_t rank_update(cublasHandle_t handle, const Triangle<Value>& a,
                                                 const By* alpha, const Value* x, Index stride_x,
                                                 const Value* y, Index stride_y) {
  if (!a.is_valid() || stride_x == 0 || stride_y == 0) return CUBLAS_STATUS_INVALID_VALUE;
  const bool has_y = y != nullptr;
  const auto v = vector(x, a.n, stride_x), w = vector(y, has_y ? a.n : 0, stride_y);
  const auto by = factor(handle, alpha);
  return in_stream(handle, {by.touched(), v.touched(), w.touched(), a.touched()}, [=] {
    Value scale{};
    if constexpr (std::is_same_v<By, Value>)
      scale = by.value();
    else
      scale = number<Value>(by.value());
    const bool is_hermitian = a.kind == Kind::hermitian;
    const auto other = [&](Value element) { return is_hermitian ? conjugate(element) : element; };
    for (Index j = 0; j < a.n; ++j)
      for (Index i = 0; i < a.n; ++i) {
        if (!a.is_stored(i, j)) continue;
        Value added = has_y ? multiply(scale, multiply(v[i], other(w[j])))
                            : multiply(scale, multiply(v[i], other(v[j])));
        if (has_y) added = add(added, multiply(other(scale), multiply(w[i], other(v[j]))));
        const Value sum = add(get(const_cast<const Value*>(a.place(i, j))), added);
        set(a.place(i, j), is_hermitian && i == j ? real_part(sum) : sum);
      }
  });
}

// --- Level 3

inline CBLAS_TRANSPOSE of(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? CblasNoTrans : op == CUBLAS_OP_T ? CblasTrans : CblasConjTrans;
}
#define CUDA_ON_CPU_HOST_BLAS(letter, Value, address)                                              \
  inline void host_gemm(cublasOperation_t op_a, cublasOperation_t op_b, Index m, Index n, Index k, \
                        Value alpha, const Value* a, Index lda, const Value* b, Index ldb,         \
                        Value beta, Value* c, Index ldc) {                                         \
    cblas_##letter##gemm(CblasColMajor, of(op_a), of(op_b), int(m), int(n), int(k), address alpha, \
                         a, int(lda), b, int(ldb), address beta, c, int(ldc));                     \
  }                                                                                                \
  inline void host_gemv(cublasOperation_t op, Index m, Index n, Value alpha, const Value* a,       \
                        Index lda, const Value* x, Index stride_x, Value beta, Value* y,           \
                        Index stride_y) {                                                          \
    cblas_##letter##gemv(CblasColMajor, of(op), int(m), int(n), address alpha, a, int(lda), x,     \
                         int(stride_x), address beta, y, int(stride_y));                           \
  }                                                                                                \
  inline void host_trsm(cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op,        \
                        cublasDiagType_t diagonal, Index m, Index n, Value alpha, const Value* a,  \
                        Index lda, Value* b, Index ldb) {                                          \
    cblas_##letter##trsm(CblasColMajor, side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight,         \
                         uplo == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper, of(op),         \
                         diagonal == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit, int(m), int(n),  \
                         address alpha, a, int(lda), b, int(ldb));                                 \
  }
CUDA_ON_CPU_HOST_BLAS(s, float, )
CUDA_ON_CPU_HOST_BLAS(d, double, )
CUDA_ON_CPU_HOST_BLAS(c, cuComplex, &)
CUDA_ON_CPU_HOST_BLAS(z, cuDoubleComplex, &)
#undef CUDA_ON_CPU_HOST_BLAS

/// Sets C to zero. cuBLAS does not read C if beta is zero, but some BLAS libraries multiply C by
/// beta, so that NaN would remain.
template <typename Value>
void clear(Value* c, Index ldc, Index m, Index n) {
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < m; ++i) set(c + i + j * ldc, Value{});
}

/// The operands of a matrix product, C = alpha op(A) op(B) + beta C.
template <typename Value>
struct Gemm {
  cublasOperation_t op_a, op_b;
  Index m, n, k;
  Factor<Value> alpha;
  const Value* a;
  Index lda;
  const Value* b;
  Index ldb;
  Factor<Value> beta;
  Value* c;
  Index ldc;

  bool is_valid() const {
    const bool plain_a = op_a == CUBLAS_OP_N, plain_b = op_b == CUBLAS_OP_N;
    return !is_any_negative({m, n, k}) && lda >= (plain_a ? m : k) && ldb >= (plain_b ? k : n) &&
           ldc >= m && lda >= 1 && ldb >= 1 && ldc >= 1;
  }
  bool fits() const { return blas::fits({m, n, k, lda, ldb, ldc}); }
  Touched touched_a() const {
    const bool plain = op_a == CUBLAS_OP_N;
    return alpha.is_zero() ? nothing() : matrix(a, lda, plain ? m : k, plain ? k : m);
  }
  Touched touched_b() const {
    const bool plain = op_b == CUBLAS_OP_N;
    return alpha.is_zero() ? nothing() : matrix(b, ldb, plain ? k : n, plain ? n : k);
  }
  Touched touched_c() const { return unread(matrix(c, ldc, m, n), !beta.is_zero()); }
  void run() const {
    if (m == 0 || n == 0) return;
    const Value before = beta.value();
    if (is_zero(before)) clear(c, ldc, m, n);
    host_gemm(op_a, op_b, m, n, k, alpha.value(), a, lda, b, ldb, before, c, ldc);
  }
};

template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t gemm(cublasHandle_t handle, const Gemm<Value>& g) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!g.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  if (!g.fits()) return CUBLAS_STATUS_NOT_SUPPORTED;
  return in_stream(
      handle, {g.alpha.touched(), g.beta.touched(), g.touched_a(), g.touched_b(), g.touched_c()},
      [=] { g.run(); });
}

/// Runs a routine for a batch of matrices whose addresses are in device memory. When the stream
/// executes the call, `touch(i)` returns the memory ranges of problem i.
template <typename Each, typename Touch>
CUDA_ON_CPU_AT_CALLER cublasStatus_t batched(cublasHandle_t handle, Index batches,
                                             const List<Touched>& arrays, Touch touch, Each each) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (batches < 0) return CUBLAS_STATUS_INVALID_VALUE;
  const auto all = [=] {
    List<Touched> memory(static_cast<std::size_t>(batches) * touch(0).size());
    std::size_t count = 0;
    for (Index i = 0; i < batches; ++i)
      for (const Touched& one : touch(i)) memory[count++] = one;
    return memory;
  };
  const auto work = [=] {
    for (Index i = 0; i < batches; ++i) each(i);
  };
  if (batches == 0) return CUBLAS_STATUS_SUCCESS;
  return library_call(handle->stream, arrays, all, work) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}
/// The memory range of the array that contains the addresses of a batch of matrices.
template <typename Value>
Touched array(Value* const* addresses, Index batches) {
  return matrix(const_cast<Value* const*>(addresses), 1, batches, 1);
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t gemm_batched(cublasHandle_t handle, const Gemm<Value>& shape,
                                                  const Value* const* a, const Value* const* b,
                                                  Value* const* c, Index batches) {
  if (!shape.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  if (!shape.fits()) return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto one = [=](Index i) {
    Gemm<Value> g = shape;
    g.a = get(a + i);
    g.b = get(b + i);
    g.c = get(c + i);
    return g;
  };
  return batched(
      handle, batches,
      {shape.alpha.touched(), shape.beta.touched(), array(a, batches), array(b, batches),
       array(c, batches)},
      [=](Index i) {
        const Gemm<Value> g = one(i);
        return List<Touched>{g.touched_a(), g.touched_b(), g.touched_c()};
      },
      [=](Index i) { one(i).run(); });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t gemm_strided(cublasHandle_t handle, const Gemm<Value>& first,
                                                  Index stride_a, Index stride_b, Index stride_c,
                                                  Index batches) {
  if (batches < 0) return CUBLAS_STATUS_INVALID_VALUE;
  for (Index i = 0; i < batches; ++i) {
    Gemm<Value> g = first;
    g.a += i * stride_a;
    g.b += i * stride_b;
    g.c += i * stride_c;
    if (const auto status = gemm(handle, g); status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// The operands of a matrix-vector product, y = alpha op(A) x + beta y.
template <typename Value>
struct Gemv {
  cublasOperation_t op;
  Index m, n;
  Factor<Value> alpha;
  const Value* a;
  Index lda;
  const Value* x;
  Index stride_x;
  Factor<Value> beta;
  Value* y;
  Index stride_y;

  bool is_valid() const {
    return !is_any_negative({m, n}) && lda >= 1 && lda >= m && stride_x != 0 && stride_y != 0;
  }
  bool is_empty() const { return m == 0 || n == 0; }
  Index rows() const { return op == CUBLAS_OP_N ? m : n; }
  List<Touched> touched() const {
    const bool reads = !alpha.is_zero() && !is_empty();
    return {reads ? matrix(a, lda, m, n) : nothing(),
            reads ? vector(x, op == CUBLAS_OP_N ? n : m, stride_x).touched() : nothing(),
            is_empty() ? nothing() : unread(vector(y, rows(), stride_y).touched(), !beta.is_zero()),
            alpha.touched(), beta.touched()};
  }
  void run() const {
    if (is_empty()) return;
    const Value before = beta.value();
    if (is_zero(before)) clear(y, stride_y < 0 ? -stride_y : stride_y, 1, rows());
    host_gemv(op, m, n, alpha.value(), a, lda, x, stride_x, before, y, stride_y);
  }
};
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t gemv(cublasHandle_t handle, const Gemv<Value>& g) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!g.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  if (!fits({g.m, g.n, g.lda, g.stride_x, g.stride_y})) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (g.is_empty()) return CUBLAS_STATUS_SUCCESS;
  return in_stream(handle, g.touched(), [=] { g.run(); });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t gemv_batched(cublasHandle_t handle, const Gemv<Value>& shape,
                                                  const Value* const* a, const Value* const* x,
                                                  Value* const* y, Index batches) {
  if (!shape.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  const auto one = [=](Index i) {
    Gemv<Value> g = shape;
    g.a = get(a + i);
    g.x = get(x + i);
    g.y = get(y + i);
    return g;
  };
  return batched(
      handle, batches, {array(a, batches), array(x, batches), array(y, batches)},
      [=](Index i) { return one(i).touched(); }, [=](Index i) { one(i).run(); });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t gemv_strided(cublasHandle_t handle, const Gemv<Value>& first,
                                                  Index stride_a, Index stride_x, Index stride_y,
                                                  Index batches) {
  if (batches < 0) return CUBLAS_STATUS_INVALID_VALUE;
  for (Index i = 0; i < batches; ++i) {
    Gemv<Value> g = first;
    g.a += i * stride_a;
    g.x += i * stride_x;
    g.y += i * stride_y;
    if (const auto status = gemv(handle, g); status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// All elements of a matrix of which only one triangle is stored.
template <typename Value>
List<std::remove_const_t<Value>> filled(const Triangle<Value>& a) {
  List<std::remove_const_t<Value>> full(static_cast<std::size_t>(a.n * a.n));
  for (Index j = 0; j < a.n; ++j)
    for (Index i = 0; i < a.n; ++i) full[static_cast<std::size_t>(i + j * a.n)] = a(i, j);
  return full;
}

/// Computes C = alpha A B + beta C, or C = alpha B A + beta C, for a symmetric or Hermitian A.
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t symm(cublasHandle_t handle, cublasSideMode_t side,
                                          const Triangle<const Value>& a, Index m, Index n,
                                          const Value* alpha, const Value* b, Index ldb,
                                          const Value* beta, Value* c, Index ldc) {
  if (is_any_negative({m, n}) || !a.is_valid() || ldb < m || ldc < m || ldb < 1 || ldc < 1)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto by_a = factor(handle, alpha), by_c = factor(handle, beta);
  const bool reads = !by_a.is_zero();
  return in_stream(
      handle,
      {by_a.touched(), by_c.touched(), reads ? a.touched() : nothing(),
       reads ? matrix(b, ldb, m, n) : nothing(), unread(matrix(c, ldc, m, n), !by_c.is_zero())},
      [=] {
        const bool left = side == CUBLAS_SIDE_LEFT;
        const List<Value> full = filled(a);
        const Factor<Value> first{by_a.value(), nullptr}, second{by_c.value(), nullptr};
        const Gemm<Value> g{CUBLAS_OP_N,
                            CUBLAS_OP_N,
                            m,
                            n,
                            left ? m : n,
                            first,
                            left ? full.data() : b,
                            left ? a.n : ldb,
                            left ? b : full.data(),
                            left ? ldb : a.n,
                            second,
                            c,
                            ldc};
        g.run();
      });
}
/// Computes one triangle of C = alpha op(A) op(B)' + beta C. If `both`, the routine also adds
/// alpha' op(B) op(A)'. The prime denotes the transpose, or for Hermitian matrices the conjugate
/// transpose.
template <typename Value, typename ByA, typename ByC>
CUDA_ON_CPU_AT_CALLER cublasStatus_t rank_k_update(cublasHandle_t handle, const Triangle<Value>& c,
                                                   cublasOperation_t op, Index k, const ByA* alpha,
                                                   const Value* a, Index lda, const Value* b,
                                                   Index ldb, const ByC* beta, bool both) {
  const bool plain = op == CUBLAS_OP_N;
  const Index rows = plain ? c.n : k, width = plain ? k : c.n;
  if (k < 0 || !c.is_valid() || lda < 1 || ldb < 1 || lda < rows || ldb < rows)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto by_a = factor(handle, alpha);
  const auto by_c = factor(handle, beta);
  const bool reads = !by_a.is_zero();
  return in_stream(
      handle,
      {by_a.touched(), by_c.touched(), reads ? matrix(a, lda, rows, width) : nothing(),
       reads && b != a ? matrix(b, ldb, rows, width) : nothing(),
       unread(c.touched(), !by_c.is_zero())},
      [=] {
        const bool is_hermitian = c.kind == Kind::hermitian;
        Value scale{}, before{};
        if constexpr (std::is_same_v<ByA, Value>)
          scale = by_a.value();
        else
          scale = number<Value>(by_a.value());
        if constexpr (std::is_same_v<ByC, Value>)
          before = by_c.value();
        else
          before = number<Value>(by_c.value());
        const cublasOperation_t other = is_hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
        const cublasOperation_t left = plain ? CUBLAS_OP_N : other,
                                right = plain ? other : CUBLAS_OP_N;
        List<Value> sums(static_cast<std::size_t>(c.n * c.n));
        if (c.n > 0 && k > 0 && !is_zero(scale)) {
          host_gemm(left, right, c.n, c.n, k, scale, a, lda, b, ldb, Value{}, sums.data(), c.n);
          if (both)
            host_gemm(left, right, c.n, c.n, k, is_hermitian ? conjugate(scale) : scale, b, ldb, a,
                      lda, number<Value>(1), sums.data(), c.n);
        }
        for (Index j = 0; j < c.n; ++j)
          for (Index i = 0; i < c.n; ++i) {
            if (!c.is_stored(i, j)) continue;
            Value* const place = c.place(i, j);
            const Value sum = add(sums[static_cast<std::size_t>(i + j * c.n)],
                                  kept(before, const_cast<const Value*>(place)));
            set(place, is_hermitian && i == j ? real_part(sum) : sum);
          }
      });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t trmm(cublasHandle_t handle, cublasSideMode_t side,
                                          const Triangle<const Value>& a, cublasOperation_t op,
                                          Index m, Index n, const Value* alpha, const Value* b,
                                          Index ldb, Value* c, Index ldc) {
  if (is_any_negative({m, n}) || !a.is_valid() || ldb < m || ldc < m || ldb < 1 || ldc < 1)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto by = factor(handle, alpha);
  return in_stream(
      handle,
      {by.touched(), a.touched(), matrix(b, ldb, m, n), unread(matrix(c, ldc, m, n), b == c)}, [=] {
        if (m == 0 || n == 0) return;
        const bool left = side == CUBLAS_SIDE_LEFT;
        const List<Value> full = filled(a);
        List<Value> sums(static_cast<std::size_t>(m * n));
        const Value scale = by.value();
        if (left)
          host_gemm(op, CUBLAS_OP_N, m, n, m, scale, full.data(), a.n, b, ldb, Value{}, sums.data(),
                    m);
        else
          host_gemm(CUBLAS_OP_N, op, m, n, n, scale, b, ldb, full.data(), a.n, Value{}, sums.data(),
                    m);
        for (Index j = 0; j < n; ++j)
          for (Index i = 0; i < m; ++i)
            set(c + i + j * ldc, sums[static_cast<std::size_t>(i + j * m)]);
      });
}

template <typename Value>
struct Trsm {
  cublasSideMode_t side;
  cublasFillMode_t uplo;
  cublasOperation_t op;
  cublasDiagType_t diagonal;
  Index m, n;
  Factor<Value> alpha;
  const Value* a;
  Index lda;
  Value* b;
  Index ldb;

  Index order() const { return side == CUBLAS_SIDE_LEFT ? m : n; }
  bool is_valid() const {
    return !is_any_negative({m, n}) && lda >= order() && ldb >= m && lda >= 1 && ldb >= 1;
  }
  List<Touched> touched() const {
    const bool lower = uplo == CUBLAS_FILL_MODE_LOWER, unit = diagonal == CUBLAS_DIAG_UNIT;
    return {alpha.touched(), triangle(a, lda, order(), lower, unit), matrix(b, ldb, m, n)};
  }
  void run() const {
    if (m > 0 && n > 0) host_trsm(side, uplo, op, diagonal, m, n, alpha.value(), a, lda, b, ldb);
  }
};
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t trsm(cublasHandle_t handle, const Trsm<Value>& t) {
  if (!t.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  if (!fits({t.m, t.n, t.lda, t.ldb})) return CUBLAS_STATUS_NOT_SUPPORTED;
  return in_stream(handle, t.touched(), [=] { t.run(); });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t trsm_batched(cublasHandle_t handle, const Trsm<Value>& shape,
                                                  const Value* const* a, Value* const* b,
                                                  Index batches) {
  if (!shape.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  const auto one = [=](Index i) {
    Trsm<Value> t = shape;
    t.a = get(a + i);
    t.b = get(b + i);
    return t;
  };
  return batched(
      handle, batches, {array(a, batches), array(b, batches)},
      [=](Index i) { return one(i).touched(); }, [=](Index i) { one(i).run(); });
}

// --- Extensions of cuBLAS that are not part of BLAS

/// Computes C = alpha op(A) + beta op(B). A matrix whose factor is zero is not read.
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t geam(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, Index m, Index n,
                                          const Value* alpha, const Value* a, Index lda,
                                          const Value* beta, const Value* b, Index ldb, Value* c,
                                          Index ldc) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto is_valid = [&](const Value* first, cublasOperation_t op, Index stride) {
    return stride >= (op == CUBLAS_OP_N ? m : n) &&
           (first != c || (op == CUBLAS_OP_N && stride == ldc));
  };
  if (is_any_negative({m, n}) || ldc < m || !is_valid(a, op_a, lda) || !is_valid(b, op_b, ldb))
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto by_a = factor(handle, alpha), by_b = factor(handle, beta);
  const auto touched = [&](const Factor<Value>& by, const Value* first, cublasOperation_t op,
                           Index stride) {
    const bool plain = op == CUBLAS_OP_N;
    return by.is_zero() ? nothing() : matrix(first, stride, plain ? m : n, plain ? n : m);
  };
  return in_stream(handle,
                   {by_a.touched(), by_b.touched(), touched(by_a, a, op_a, lda),
                    touched(by_b, b, op_b, ldb), matrix(c, ldc, m, n)},
                   [=] {
                     const Value first = by_a.value(), second = by_b.value();
                     const Dense<Value> left{a, lda}, right{b, ldb};
                     for (Index j = 0; j < n; ++j)
                       for (Index i = 0; i < m; ++i) {
                         Value sum{};
                         if (!is_zero(first))
                           sum = add(sum, multiply(first, transformed(left, op_a, i, j)));
                         if (!is_zero(second))
                           sum = add(sum, multiply(second, transformed(right, op_b, i, j)));
                         set(c + i + j * ldc, sum);
                       }
                   });
}
/// Computes C = A diag(x), or C = diag(x) A.
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t dgmm(cublasHandle_t handle, cublasSideMode_t side, Index m,
                                          Index n, const Value* a, Index lda, const Value* x,
                                          Index stride, Value* c, Index ldc) {
  if (is_any_negative({m, n}) || lda < m || ldc < m) return CUBLAS_STATUS_INVALID_VALUE;
  const bool left = side == CUBLAS_SIDE_LEFT;
  const auto v = vector(x, left ? m : n, stride == 0 ? 1 : stride);
  return in_stream(handle,
                   {matrix(a, lda, m, n), stride == 0 ? matrix(x, 1, 1, 1) : v.touched(),
                    unread(matrix(c, ldc, m, n), a == c)},
                   [=] {
                     for (Index j = 0; j < n; ++j)
                       for (Index i = 0; i < m; ++i) {
                         const Value by = stride == 0 ? get(x) : v[left ? i : j];
                         set(c + i + j * ldc, multiply(by, get(a + i + j * lda)));
                       }
                   });
}
/// Copies a triangle into another storage format.
template <typename From, typename To>
CUDA_ON_CPU_AT_CALLER cublasStatus_t copy_triangle(cublasHandle_t handle,
                                                   const Triangle<From>& from,
                                                   const Triangle<To>& to) {
  if (!from.is_valid() || !to.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  return in_stream(handle, {from.touched(), unread(to.touched())}, [=] {
    for (Index j = 0; j < to.n; ++j)
      for (Index i = 0; i < to.n; ++i)
        if (to.is_stored(i, j)) set(to.place(i, j), get(from.place(i, j)));
  });
}

/// Computes the factorisation LU = P A in place. Rows are interchanged only if `pivots` is given;
/// pivot indices start at 1.
/// \returns 0, or i if U(i, i) is zero
template <typename Value>
int factorise(Value* a, Index lda, Index n, int* pivots) {
  int info = 0;
  for (Index k = 0; k < n; ++k) {
    Index pivot = k;
    for (Index i = k + 1; i < n && pivots != nullptr; ++i)
      if (taxicab(get(a + i + k * lda)) > taxicab(get(a + pivot + k * lda))) pivot = i;
    if (pivots != nullptr) set(pivots + k, static_cast<int>(pivot + 1));
    for (Index j = 0; j < n && pivot != k; ++j) {
      const Value kept_element = get(a + k + j * lda);
      set(a + k + j * lda, get(a + pivot + j * lda));
      set(a + pivot + j * lda, kept_element);
    }
    const Value diagonal = get(a + k + k * lda);
    if (is_zero(diagonal)) {
      if (info == 0) info = static_cast<int>(k + 1);
      continue;
    }
    for (Index i = k + 1; i < n; ++i) set(a + i + k * lda, divide(get(a + i + k * lda), diagonal));
    for (Index j = k + 1; j < n; ++j) {
      const Value by = get(a + k + j * lda);
      for (Index i = k + 1; i < n; ++i)
        set(a + i + j * lda, subtract(get(a + i + j * lda), multiply(get(a + i + k * lda), by)));
    }
  }
  return info;
}
/// Computes the solution X of op(A) X = B in place, from the LU factors in A.
template <typename Value, typename Pivot>
void solve_factorised(const Value* a, Index lda, Index n, const Pivot* pivots, cublasOperation_t op,
                      Value* b, Index ldb, Index columns) {
  const auto interchange = [&](bool ascends) {
    for (Index step = 0; step < n && pivots != nullptr; ++step) {
      const Index k = ascends ? step : n - 1 - step;
      const Index pivot = static_cast<Index>(get(pivots + k)) - 1;
      for (Index j = 0; j < columns && pivot != k; ++j) {
        const Value kept_element = get(b + k + j * ldb);
        set(b + k + j * ldb, get(b + pivot + j * ldb));
        set(b + pivot + j * ldb, kept_element);
      }
    }
  };
  const auto solve = [&](cublasFillMode_t uplo, cublasDiagType_t diagonal) {
    if (n > 0 && columns > 0)
      host_trsm(CUBLAS_SIDE_LEFT, uplo, op, diagonal, n, columns, number<Value>(1), a, lda, b, ldb);
  };
  if (op == CUBLAS_OP_N) {
    interchange(true);
    solve(CUBLAS_FILL_MODE_LOWER, CUBLAS_DIAG_UNIT);
    solve(CUBLAS_FILL_MODE_UPPER, CUBLAS_DIAG_NON_UNIT);
  } else {
    solve(CUBLAS_FILL_MODE_UPPER, CUBLAS_DIAG_NON_UNIT);
    solve(CUBLAS_FILL_MODE_LOWER, CUBLAS_DIAG_UNIT);
    interchange(false);
  }
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t getrf_batched(cublasHandle_t handle, Index n, Value* const* a,
                                                   Index lda, int* pivots, int* info,
                                                   Index batches) {
  if (n < 0 || lda < 1 || lda < n) return CUBLAS_STATUS_INVALID_VALUE;
  return batched(
      handle, batches,
      {array(a, batches), unread(matrix(pivots, 1, pivots != nullptr ? n * batches : 0, 1)),
       unread(matrix(info, 1, batches, 1))},
      [=](Index i) { return List<Touched>{matrix(get(a + i), lda, n, n)}; },
      [=](Index i) {
        int* const own = pivots == nullptr ? nullptr : pivots + i * n;
        set(info + i, factorise(get(a + i), lda, n, own));
      });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t getrs_batched(cublasHandle_t handle, cublasOperation_t op,
                                                   Index n, Index columns, const Value* const* a,
                                                   Index lda, const int* pivots, Value* const* b,
                                                   Index ldb, int* info, Index batches) {
  // The status is returned to the host: 0, or -i if argument i is invalid.
  *info = n < 0 ? -2 : columns < 0 ? -3 : lda < n || lda < 1 ? -5 : ldb < n || ldb < 1 ? -8 : 0;
  if (*info != 0) return CUBLAS_STATUS_INVALID_VALUE;
  return batched(
      handle, batches,
      {array(a, batches), array(b, batches),
       matrix(pivots, 1, pivots != nullptr ? n * batches : 0, 1)},
      [=](Index i) {
        return List<Touched>{matrix(get(a + i), lda, n, n), matrix(get(b + i), ldb, n, columns)};
      },
      [=](Index i) {
        const int* const own = pivots == nullptr ? nullptr : pivots + i * n;
        solve_factorised(get(a + i), lda, n, own, op, get(b + i), ldb, columns);
      });
}
/// Computes the inverse of a matrix from its LU factors. The inverse must not overlap the factors
/// in memory.
template <typename Value>
void invert(const Value* factors, Index lda, Index n, const int* pivots, Value* inverse,
            Index stride) {
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) set(inverse + i + j * stride, number<Value>(i == j ? 1 : 0));
  solve_factorised(factors, lda, n, pivots, CUBLAS_OP_N, inverse, stride, n);
}
template <typename Value>
int first_zero(const Value* a, Index lda, Index n) {
  for (Index i = 0; i < n; ++i)
    if (is_zero(get(a + i + i * lda))) return static_cast<int>(i + 1);
  return 0;
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t getri_batched(cublasHandle_t handle, Index n,
                                                   const Value* const* a, Index lda,
                                                   const int* pivots, Value* const* c, Index ldc,
                                                   int* info, Index batches) {
  if (n < 0 || lda < 1 || ldc < 1 || lda < n || ldc < n) return CUBLAS_STATUS_INVALID_VALUE;
  return batched(
      handle, batches,
      {array(a, batches), array(c, batches),
       matrix(pivots, 1, pivots != nullptr ? n * batches : 0, 1),
       unread(matrix(info, 1, batches, 1))},
      [=](Index i) {
        return List<Touched>{matrix(get(a + i), lda, n, n), unread(matrix(get(c + i), ldc, n, n))};
      },
      [=](Index i) {
        const int zero = first_zero(get(a + i), lda, n);
        set(info + i, zero);
        if (zero == 0)
          invert(get(a + i), lda, n, pivots == nullptr ? nullptr : pivots + i * n, get(c + i), ldc);
      });
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t matinv_batched(cublasHandle_t handle, Index n,
                                                    const Value* const* a, Index lda,
                                                    Value* const* inverse, Index stride, int* info,
                                                    Index batches) {
  if (n < 0 || n > 32 || lda < 1 || stride < 1 || lda < n || stride < n)
    return CUBLAS_STATUS_INVALID_VALUE;
  return batched(
      handle, batches,
      {array(a, batches), array(inverse, batches), unread(matrix(info, 1, batches, 1))},
      [=](Index i) {
        return List<Touched>{matrix(get(a + i), lda, n, n),
                             unread(matrix(get(inverse + i), stride, n, n))};
      },
      [=](Index i) {
        List<Value> factors(static_cast<std::size_t>(n * n));
        List<int> pivots(static_cast<std::size_t>(n));
        const Value* const from = get(a + i);
        for (Index j = 0; j < n; ++j)
          for (Index row = 0; row < n; ++row)
            factors[static_cast<std::size_t>(row + j * n)] = get(from + row + j * lda);
        const int zero = factorise(factors.data(), n, n, pivots.data());
        set(info + i, zero);
        if (zero == 0) invert<Value>(factors.data(), n, n, pivots.data(), get(inverse + i), stride);
      });
}

/// Computes the Householder reflection of x. The first element of x becomes the first element of
/// the reflected vector, whose other elements are zero. The other elements of x become the elements
/// of the Householder vector v, whose first element is 1 and is not stored.
/// \returns the factor tau of the reflection I - tau v v'
template <typename Value>
Value reflect(Value* x, Index size) {
  const Value first = get(const_cast<const Value*>(x));
  Real<Value> rest = 0;
  for (Index i = 1; i < size; ++i) rest = std::hypot(rest, modulus(get(x + i)));
  const Real<Value> real = real_of(first);
  if (rest == 0 && is_zero(subtract(first, number<Value>(real)))) return Value{};
  const Real<Value> norm = std::hypot(modulus(first), rest), reflected = real > 0 ? -norm : norm;
  const Value by = subtract(first, number<Value>(reflected));
  for (Index i = 1; i < size; ++i) set(x + i, divide(get(x + i), by));
  set(x, number<Value>(reflected));
  return divide(subtract(number<Value>(reflected), first), number<Value>(reflected));
}
/// Applies the reflection I - tau v v' to the columns of C.
template <typename Value>
void apply_reflection(const Value* v, Index size, Value tau, Value* c, Index ldc, Index columns) {
  const auto element = [&](Index i) { return i == 0 ? number<Value>(1) : get(v + i); };
  for (Index j = 0; j < columns; ++j) {
    Value* const column = c + j * ldc;
    Value sum{};
    for (Index i = 0; i < size; ++i)
      sum = add(sum, multiply(conjugate(element(i)), get(column + i)));
    sum = multiply(tau, sum);
    for (Index i = 0; i < size; ++i)
      set(column + i, subtract(get(column + i), multiply(element(i), sum)));
  }
}
/// Computes the factorisation A = Q R in place, with Q as a product of reflections.
template <typename Value>
void factorise_qr(Value* a, Index lda, Index m, Index n, Value* tau) {
  for (Index k = 0; k < m && k < n; ++k) {
    Value* const column = a + k + k * lda;
    const Value by = reflect(column, m - k);
    set(tau + k, by);
    apply_reflection<Value>(column, m - k, conjugate(by), column + lda, lda, n - k - 1);
  }
}
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t geqrf_batched(cublasHandle_t handle, Index m, Index n,
                                                   Value* const* a, Index lda, Value* const* tau,
                                                   int* info, Index batches) {
  // The status is returned to the host: 0, or -i if argument i is invalid.
  *info = m < 0 ? -1 : n < 0 ? -2 : lda < m || lda < 1 ? -4 : batches < 0 ? -7 : 0;
  if (*info != 0) return CUBLAS_STATUS_INVALID_VALUE;
  return batched(
      handle, batches, {array(a, batches), array(tau, batches)},
      [=](Index i) {
        return List<Touched>{matrix(get(a + i), lda, m, n),
                             unread(matrix(get(tau + i), 1, m < n ? m : n, 1))};
      },
      [=](Index i) { factorise_qr(get(a + i), lda, m, n, get(tau + i)); });
}
/// Computes the least-squares solution of each problem A X = C in place, for at least as many rows
/// as columns.
/// \param on_device receives 0, or i if R(i, i) is zero; may be null
template <typename Value>
CUDA_ON_CPU_AT_CALLER cublasStatus_t gels_batched(cublasHandle_t handle, cublasOperation_t op,
                                                  Index m, Index n, Index columns, Value* const* a,
                                                  Index lda, Value* const* c, Index ldc, int* info,
                                                  int* on_device, Index batches) {
  *info = m < 0                ? -2
          : n < 0              ? -3
          : columns < 0        ? -4
          : lda < m || lda < 1 ? -6
          : ldc < m || ldc < 1 ? -8
          : batches < 0        ? -11
                               : 0;
  if (*info != 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (op != CUBLAS_OP_N || m < n) return CUBLAS_STATUS_NOT_SUPPORTED;
  return batched(
      handle, batches,
      {array(a, batches), array(c, batches),
       unread(matrix(on_device, 1, on_device != nullptr ? batches : 0, 1))},
      [=](Index i) {
        return List<Touched>{matrix(get(a + i), lda, m, n), matrix(get(c + i), ldc, m, columns)};
      },
      [=](Index i) {
        Value *const own = get(a + i), *const sides = get(c + i);
        List<Value> tau(static_cast<std::size_t>(n));
        factorise_qr(own, lda, m, n, tau.data());
        const int zero = first_zero<Value>(own, lda, n);
        if (on_device != nullptr) set(on_device + i, zero);
        if (zero != 0) return;
        for (Index k = 0; k < n; ++k)
          apply_reflection<Value>(own + k + k * lda, m - k,
                                  conjugate(tau[static_cast<std::size_t>(k)]), sides + k, ldc,
                                  columns);
        if (n > 0 && columns > 0)
          host_trsm(CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n,
                    columns, number<Value>(1), own, lda, sides, ldc);
      });
}

// --- Copies between host and device

/// Copies a matrix column by column; `bytes` is the size of an element in bytes.
CUDA_ON_CPU_AT_CALLER cublasStatus_t copy_matrix(Index rows, Index columns, Index bytes,
                                                 const void* a, Index lda, void* b, Index ldb,
                                                 cudaStream_t stream) {
  if (rows < 0 || columns < 0 || bytes <= 0 || lda <= 0 || ldb <= 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto size = [&](Index elements) { return static_cast<std::size_t>(elements * bytes); };
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  return cudaMemcpy2DAsync(b, size(ldb), a, size(lda), size(rows),
                           static_cast<std::size_t>(columns), cudaMemcpyDefault,
                           stream) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_MAPPING_ERROR;
}
/// Copies a vector, treated as a matrix with one row.
CUDA_ON_CPU_AT_CALLER cublasStatus_t copy_columns(Index n, Index bytes, const void* from,
                                                  Index stride_from, void* to, Index stride_to,
                                                  cudaStream_t stream) {
  return copy_matrix(1, n, bytes, from, stride_from, to, stride_to, stream);
}
CUDA_ON_CPU_AT_CALLER cublasStatus_t waited_for(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return cudaStreamSynchronize(nullptr) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                       : CUBLAS_STATUS_MAPPING_ERROR;
}

}  // namespace blas
}  // namespace cuda_on_cpu
