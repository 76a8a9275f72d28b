/// \file
/// Values of the four element types of cuBLAS and cuSOLVER, and matrices in double precision with
/// which tests compare results.

#pragma once

#include <cublas_v2.h>

#include <cmath>
#include <complex>
#include <string>
#include <type_traits>
#include <vector>

#include "tap.hpp"

using Complex = std::complex<double>;

// --- Values of each type as complex values of double precision

template <typename T>
constexpr bool is_complex = std::is_same_v<T, cuComplex> || std::is_same_v<T, cuDoubleComplex>;
template <typename T>
using RealOf =
    std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, cuComplex>, float, double>;

template <typename T>
Complex wide(T x) {
  if constexpr (is_complex<T>)
    return {x.x, x.y};
  else
    return x;
}
template <typename T>
T narrow(Complex x) {
  using Real = RealOf<T>;
  if constexpr (is_complex<T>)
    return {static_cast<Real>(x.real()), static_cast<Real>(x.imag())};
  else
    return static_cast<T>(x.real());
}
template <typename T>
T random_number() {
  const auto part = [] { return tap::random_value(-1.0, 1.0); };
  return narrow<T>({part(), is_complex<T> ? part() : 0});
}
template <typename T>
std::vector<T> random_numbers(std::size_t count) {
  std::vector<T> values(count);
  for (T& value : values) value = random_number<T>();
  return values;
}
template <typename T>
void expect_close(T found, Complex expected, const std::string& what,
                  tap::Location place = tap::Location::current()) {
  const double tolerance = std::is_same_v<RealOf<T>, float> ? 1e-4 : 1e-12;
  if (!(std::abs(wide(found) - expected) <= tolerance * (1 + std::abs(expected))))
    tap::complain(what + " is " + tap::shown(wide(found)) + " instead of " + tap::shown(expected),
                  place);
}

/// Calls a function template for each type.
#define FOR_EACH_TYPE(function) \
  function<float>();            \
  function<double>();           \
  function<cuComplex>();        \
  function<cuDoubleComplex>()

constexpr cublasOperation_t operations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
constexpr cublasFillMode_t triangles[] = {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER};
constexpr cublasSideMode_t sides[] = {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT};
constexpr cublasDiagType_t diagonals[] = {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT};

/// A complex matrix in double precision, with the operations that the expected results require.
struct Matrix {
  int rows, columns;
  std::vector<Complex> elements;

  Matrix(int rows, int columns)
      : rows(rows), columns(columns), elements(static_cast<std::size_t>(rows) * columns) {}
  Complex& operator()(int i, int j) { return elements[i + static_cast<std::size_t>(j) * rows]; }
  Complex operator()(int i, int j) const {
    return elements[i + static_cast<std::size_t>(j) * rows];
  }
  Matrix after(cublasOperation_t op) const {
    if (op == CUBLAS_OP_N) return *this;
    Matrix result(columns, rows);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        result(j, i) = op == CUBLAS_OP_T ? (*this)(i, j) : std::conj((*this)(i, j));
    return result;
  }
  friend Matrix operator*(const Matrix& a, const Matrix& b) {
    Matrix result(a.rows, b.columns);
    for (int i = 0; i < a.rows; ++i)
      for (int j = 0; j < b.columns; ++j)
        for (int k = 0; k < a.columns; ++k) result(i, j) += a(i, k) * b(k, j);
    return result;
  }
};
/// A matrix from columns that are `stride` elements apart.
template <typename T>
Matrix matrix_of(const std::vector<T>& values, int rows, int columns, int stride) {
  Matrix result(rows, columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) result(i, j) = wide(values[i + j * stride]);
  return result;
}
enum class Kind { symmetric, hermitian, triangular };
/// The full matrix represented by one triangle.
Matrix completed(const Matrix& a, cublasFillMode_t uplo, Kind kind, bool unit = false) {
  Matrix result(a.rows, a.rows);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.rows; ++j) {
      const bool is_stored = uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
      if (is_stored)
        result(i, j) = unit && i == j                      ? 1
                       : kind == Kind::hermitian && i == j ? Complex(a(i, i).real())
                                                           : a(i, j);
      else if (kind != Kind::triangular)
        result(i, j) = kind == Kind::hermitian ? std::conj(a(j, i)) : a(j, i);
    }
  return result;
}
template <typename T>
void expect_matrix(const std::vector<T>& found, int stride, const Matrix& expected,
                   const std::string& what, tap::Location place = tap::Location::current()) {
  for (int j = 0; j < expected.columns; ++j)
    for (int i = 0; i < expected.rows; ++i)
      expect_close(found[i + j * stride], expected(i, j), what, place);
}
