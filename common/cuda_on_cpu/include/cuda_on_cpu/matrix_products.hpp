/// \file
/// Matrix products with an epilogue and with any element types, for the functions of cuBLAS that
/// take types as arguments. Matrices are converted to a wider type, and the host's BLAS multiplies
/// them.

#pragma once

#include "hidden_names.hpp"

#include <cblas.h>

#include "shown_names.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "../library_types.h"
#include "half.hpp"
#include "library_call.hpp"

namespace cuda_on_cpu {

/// The size of an element in bytes, or 0 for types that are not supported.
inline std::size_t bytes_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_64F:
      return 8;
    case CUDA_R_32F:
    case CUDA_R_32I:
      return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_8I:
    case CUDA_R_8U:
      return 1;
    default:
      return 0;
  }
}

/// An element of an array in device memory, converted to another type.
template <typename Value>
CUDA_ON_CPU_NOT_ANALYSED Value element(const void* array, cudaDataType type, std::size_t i) {
  switch (type) {
    case CUDA_R_64F:
      return static_cast<Value>(static_cast<const double*>(array)[i]);
    case CUDA_R_32F:
      return static_cast<Value>(static_cast<const float*>(array)[i]);
    case CUDA_R_32I:
      return static_cast<Value>(static_cast<const std::int32_t*>(array)[i]);
    case CUDA_R_16F:
      return static_cast<Value>(Binary16::number(static_cast<const std::uint16_t*>(array)[i]));
    case CUDA_R_16BF:
      return static_cast<Value>(BFloat16::number(static_cast<const std::uint16_t*>(array)[i]));
    case CUDA_R_8I:
      return static_cast<Value>(static_cast<const std::int8_t*>(array)[i]);
    default:
      return static_cast<Value>(static_cast<const std::uint8_t*>(array)[i]);
  }
}

/// Rounds a value to an integer and clamps it to the range of the type `Integer`.
template <typename Integer, typename Value>
Integer saturated(Value number) {
  const double rounded = std::nearbyint(static_cast<double>(number));
  const double least = (std::numeric_limits<Integer>::min)(),
               most = (std::numeric_limits<Integer>::max)();
  return static_cast<Integer>(rounded < least ? least : rounded > most ? most : rounded);
}

template <typename Value>
CUDA_ON_CPU_NOT_ANALYSED void put_element(void* array, cudaDataType type, std::size_t i,
                                          Value number) {
  switch (type) {
    case CUDA_R_64F:
      static_cast<double*>(array)[i] = static_cast<double>(number);
      break;
    case CUDA_R_32F:
      static_cast<float*>(array)[i] = static_cast<float>(number);
      break;
    case CUDA_R_32I:
      static_cast<std::int32_t*>(array)[i] = saturated<std::int32_t>(number);
      break;
    case CUDA_R_16F:
      static_cast<std::uint16_t*>(array)[i] =
          Binary16::bits(rounded_to_odd(static_cast<double>(number)));
      break;
    case CUDA_R_16BF:
      static_cast<std::uint16_t*>(array)[i] =
          BFloat16::bits(rounded_to_odd(static_cast<double>(number)));
      break;
    case CUDA_R_8I:
      static_cast<std::int8_t*>(array)[i] = saturated<std::int8_t>(number);
      break;
    default:
      static_cast<std::uint8_t*>(array)[i] = saturated<std::uint8_t>(number);
  }
}

/// A column-major or row-major matrix in memory. The columns (or rows) of the matrix are `stride`
/// elements apart.
struct Matrix {
  void* first;
  cudaDataType type;
  std::size_t rows, columns, stride;
  bool by_rows = false;

  std::size_t index(std::size_t i, std::size_t j) const {
    return by_rows ? i * stride + j : j * stride + i;
  }
  Touched touched(bool written) const {
    const std::size_t inner = by_rows ? columns : rows, outer = by_rows ? rows : columns;
    return {first, inner * bytes_of(type), written, !written, outer, stride * bytes_of(type)};
  }
  bool has_room() const { return stride >= (by_rows ? columns : rows); }
  Matrix of_batch(std::size_t number, std::size_t distance) const {
    Matrix other = *this;
    other.first = static_cast<char*>(first) + number * distance * bytes_of(type);
    return other;
  }
};

/// The epilogue of a product. The epilogue adds the bias of the row to each element and applies an
/// activation function before the element is stored.
struct Epilogue {
  enum class Function { none, relu, gelu };
  const void* bias = nullptr;
  cudaDataType bias_type = CUDA_R_32F;
  Function function = Function::none;
};

template <typename Value>
Value finished(const Epilogue& epilogue, Value x, std::size_t row) {
  if (epilogue.bias != nullptr) x += element<Value>(epilogue.bias, epilogue.bias_type, row);
  if (epilogue.function == Epilogue::Function::relu) return x > 0 ? x : Value(0);
  if (epilogue.function == Epilogue::Function::none) return x;
  const double y = static_cast<double>(x), root = std::sqrt(2 / pi<double>);
  return static_cast<Value>(0.5 * y * (1 + std::tanh(root * (y + 0.044715 * y * y * y))));
}

/// D = alpha op(A) op(B) + beta C, followed by the epilogue.
struct Product {
  Matrix a, b, c, d;
  bool transposed_a, transposed_b;
  double alpha, beta;
  Epilogue epilogue = {};

  std::size_t depth() const { return transposed_a ? a.rows : a.columns; }
  bool fits() const {
    const std::size_t rows = transposed_a ? a.columns : a.rows;
    const std::size_t columns = transposed_b ? b.rows : b.columns;
    return depth() == (transposed_b ? b.columns : b.rows) && d.rows == rows && c.rows == rows &&
           d.columns == columns && c.columns == columns && a.has_room() && b.has_room() &&
           c.has_room() && d.has_room();
  }
  bool has_known_types() const {
    return bytes_of(a.type) != 0 && bytes_of(b.type) != 0 && bytes_of(c.type) != 0 &&
           bytes_of(d.type) != 0;
  }
};

inline void multiply(int m, int n, int k, float alpha, const float* a, const float* b, float beta,
                     float* c) {
  cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, alpha, a, m, b, k, beta, c, m);
}
inline void multiply(int m, int n, int k, double alpha, const double* a, const double* b,
                     double beta, double* c) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, alpha, a, m, b, k, beta, c, m);
}

/// Returns a contiguous column-major copy of a matrix.
template <typename Value>
List<Value> packed(const Matrix& matrix, bool transposed) {
  List<Value> values(matrix.rows * matrix.columns);
  for (std::size_t j = 0; j < matrix.columns; ++j)
    for (std::size_t i = 0; i < matrix.rows; ++i)
      values[transposed ? i * matrix.columns + j : j * matrix.rows + i] =
          element<Value>(matrix.first, matrix.type, matrix.index(i, j));
  return values;
}

/// Computes a product in the type `Value`. If `Value` is double, integer products are exact unless
/// their sums overflow in CUDA.
template <typename Value>
void compute(const Product& p) {
  const std::size_t m = p.d.rows, n = p.d.columns;
  if (m == 0 || n == 0) return;
  List<Value> sums = p.beta == 0 ? List<Value>(m * n) : packed<Value>(p.c, false);
  if (p.depth() == 0 || p.alpha == 0)
    for (Value& sum : sums) sum *= static_cast<Value>(p.beta);
  else
    multiply(static_cast<int>(m), static_cast<int>(n), static_cast<int>(p.depth()),
             static_cast<Value>(p.alpha), packed<Value>(p.a, p.transposed_a).data(),
             packed<Value>(p.b, p.transposed_b).data(), static_cast<Value>(p.beta), sums.data());
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < m; ++i)
      put_element(p.d.first, p.d.type, p.d.index(i, j), finished(p.epilogue, sums[j * m + i], i));
}

/// Appends a product to a stream.
CUDA_ON_CPU_AT_CALLER cudaError_t enqueue_product(cudaStream_t stream, const Product& p,
                                                  bool in_double) {
  const std::size_t bias =
      p.epilogue.bias == nullptr ? 0 : p.d.rows * bytes_of(p.epilogue.bias_type);
  const bool multiplies = p.alpha != 0;
  const Touched nothing = {nullptr, 0, false};
  return library_call(stream,
                      {multiplies ? p.a.touched(false) : nothing,
                       multiplies ? p.b.touched(false) : nothing,
                       p.beta == 0 ? nothing : p.c.touched(false),
                       {p.epilogue.bias, bias, false},
                       p.d.touched(true)},
                      [=] { in_double ? compute<double>(p) : compute<float>(p); });
}

}  // namespace cuda_on_cpu
