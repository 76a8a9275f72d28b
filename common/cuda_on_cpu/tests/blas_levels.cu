/// \file
/// Tests cuBLAS: levels 1 to 3 for all four types, batched calls, and copies. The results are
/// checked against sums in double precision.

#include <cublas_v2.h>

#include <cmath>
#include <complex>
#include <string>
#include <type_traits>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;

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

// --- A call chosen by the type of its first argument: axpy(T{}, handle, ...)

#define FOR_TYPE(name, Type, function)                         \
  template <typename... Arguments>                             \
  void name(Type, Arguments... arguments) {                    \
    expect_equal(static_cast<int>(function(arguments...)), 0); \
  }
#define FOR_ALL(name)                      \
  FOR_TYPE(name, float, cublasS##name)     \
  FOR_TYPE(name, double, cublasD##name)    \
  FOR_TYPE(name, cuComplex, cublasC##name) \
  FOR_TYPE(name, cuDoubleComplex, cublasZ##name)
#define FOR_REAL(name, by_s, by_d) FOR_TYPE(name, float, by_s) FOR_TYPE(name, double, by_d)
#define FOR_COMPLEX(name, by_c, by_z) \
  FOR_TYPE(name, cuComplex, by_c) FOR_TYPE(name, cuDoubleComplex, by_z)
FOR_ALL(axpy)
FOR_ALL(copy)
FOR_ALL(swap)
FOR_ALL(scal)
FOR_ALL(rot)
FOR_ALL(rotg)
FOR_ALL(gemv)
FOR_ALL(gbmv)
FOR_ALL(trmv)
FOR_ALL(trsv)
FOR_ALL(tbmv)
FOR_ALL(tbsv)
FOR_ALL(tpmv)
FOR_ALL(tpsv)
FOR_ALL(gemm)
FOR_ALL(gemmBatched)
FOR_ALL(gemmStridedBatched)
FOR_ALL(gemvBatched)
FOR_ALL(gemvStridedBatched)
FOR_ALL(symm)
FOR_ALL(syrk)
FOR_ALL(syr2k)
FOR_ALL(syrkx)
FOR_ALL(symv)
FOR_ALL(syr)
FOR_ALL(syr2)
FOR_ALL(trmm)
FOR_ALL(trsm)
FOR_ALL(trsmBatched)
FOR_ALL(geam)
FOR_ALL(dgmm)
FOR_ALL(getrfBatched)
FOR_ALL(getrsBatched)
FOR_ALL(getriBatched)
FOR_ALL(matinvBatched)
FOR_ALL(geqrfBatched)
FOR_ALL(gelsBatched)
FOR_ALL(tpttr)
FOR_ALL(trttp)
FOR_REAL(amax, cublasIsamax, cublasIdamax)
FOR_COMPLEX(amax, cublasIcamax, cublasIzamax)
FOR_REAL(amin, cublasIsamin, cublasIdamin)
FOR_COMPLEX(amin, cublasIcamin, cublasIzamin)
FOR_REAL(asum, cublasSasum, cublasDasum)
FOR_COMPLEX(asum, cublasScasum, cublasDzasum)
FOR_REAL(nrm2, cublasSnrm2, cublasDnrm2)
FOR_COMPLEX(nrm2, cublasScnrm2, cublasDznrm2)
FOR_REAL(dotu, cublasSdot, cublasDdot)
FOR_COMPLEX(dotu, cublasCdotu, cublasZdotu)
FOR_REAL(dotc, cublasSdot, cublasDdot)
FOR_COMPLEX(dotc, cublasCdotc, cublasZdotc)
FOR_REAL(geru, cublasSger, cublasDger)
FOR_COMPLEX(geru, cublasCgeru, cublasZgeru)
FOR_REAL(gerc, cublasSger, cublasDger)
FOR_COMPLEX(gerc, cublasCgerc, cublasZgerc)
// Symmetric matrices for real types, Hermitian matrices for complex types.
FOR_REAL(hemv, cublasSsymv, cublasDsymv)
FOR_COMPLEX(hemv, cublasChemv, cublasZhemv)
FOR_REAL(hbmv, cublasSsbmv, cublasDsbmv)
FOR_COMPLEX(hbmv, cublasChbmv, cublasZhbmv)
FOR_REAL(hpmv, cublasSspmv, cublasDspmv)
FOR_COMPLEX(hpmv, cublasChpmv, cublasZhpmv)
FOR_REAL(her, cublasSsyr, cublasDsyr)
FOR_COMPLEX(her, cublasCher, cublasZher)
FOR_REAL(hpr, cublasSspr, cublasDspr)
FOR_COMPLEX(hpr, cublasChpr, cublasZhpr)
FOR_REAL(her2, cublasSsyr2, cublasDsyr2)
FOR_COMPLEX(her2, cublasCher2, cublasZher2)
FOR_REAL(hpr2, cublasSspr2, cublasDspr2)
FOR_COMPLEX(hpr2, cublasChpr2, cublasZhpr2)
FOR_REAL(hemm, cublasSsymm, cublasDsymm)
FOR_COMPLEX(hemm, cublasChemm, cublasZhemm)
FOR_REAL(herk, cublasSsyrk, cublasDsyrk)
FOR_COMPLEX(herk, cublasCherk, cublasZherk)
FOR_REAL(her2k, cublasSsyr2k, cublasDsyr2k)
FOR_COMPLEX(her2k, cublasCher2k, cublasZher2k)

struct Handle {
  Handle() { expect(cublasCreate(&it) == CUBLAS_STATUS_SUCCESS, "a handle is made"); }
  ~Handle() { cublasDestroy(it); }
  operator cublasHandle_t() const { return it; }
  cublasHandle_t it = nullptr;
};

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

/// A matrix in double precision, with operations.
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
/// A vector as a matrix with one column. Element i is at i times the stride, counted from the other
/// end if the stride is negative.
template <typename T>
Matrix vector_of(const std::vector<T>& values, int size, int stride) {
  Matrix result(size, 1);
  for (int i = 0; i < size; ++i)
    result(i, 0) = wide(values[(stride > 0 ? i : i - size + 1) * stride]);
  return result;
}
template <typename T>
std::vector<T> room_for_vector(int size, int stride) {
  return random_numbers<T>(static_cast<std::size_t>(size) * std::abs(stride));
}
template <typename T>
void expect_vector(const std::vector<T>& found, int stride, const Matrix& expected,
                   const std::string& what, tap::Location place = tap::Location::current()) {
  const Matrix values = vector_of(found, expected.rows, stride);
  for (int i = 0; i < expected.rows; ++i)
    expect_close(narrow<T>(values(i, 0)), expected(i, 0), what + "[" + std::to_string(i) + "]",
                 place);
}
template <typename T>
void expect_matrix(const std::vector<T>& found, int stride, const Matrix& expected,
                   const std::string& what, tap::Location place = tap::Location::current()) {
  for (int j = 0; j < expected.columns; ++j)
    for (int i = 0; i < expected.rows; ++i)
      expect_close(found[i + j * stride], expected(i, j), what, place);
}

// --- Level 1

template <typename T>
void expect_level_1() {
  const Handle handle;
  constexpr int n = 37;
  for (const int stride_x : {1, 2, -3})
    for (const int stride_y : {1, -2}) {
      const auto x = room_for_vector<T>(n, stride_x), y = room_for_vector<T>(n, stride_y);
      const Matrix u = vector_of(x, n, stride_x), v = vector_of(y, n, stride_y);
      const Device<T> on_x(x), on_y(y);
      T sum;
      dotu(T{}, handle.it, n, on_x.get(), stride_x, on_y.get(), stride_y, &sum);
      expect_close(sum, (u.after(CUBLAS_OP_T) * v)(0, 0), "dot");
      dotc(T{}, handle.it, n, on_x.get(), stride_x, on_y.get(), stride_y, &sum);
      expect_close(sum, (u.after(CUBLAS_OP_C) * v)(0, 0), "dotc");
      const T alpha = random_number<T>(), sine = random_number<T>();
      const RealOf<T> cosine = static_cast<RealOf<T>>(0.75);
      axpy(T{}, handle.it, n, &alpha, on_x.get(), stride_x, on_y.get(), stride_y);
      Matrix added = v;
      for (int i = 0; i < n; ++i) added(i, 0) += wide(alpha) * u(i, 0);
      expect_vector(on_y.to_host(), stride_y, added, "axpy");
      rot(T{}, handle.it, n, on_x.get(), stride_x, on_y.get(), stride_y, &cosine, &sine);
      Matrix first = u, second = added;
      for (int i = 0; i < n; ++i) {
        first(i, 0) = 0.75 * u(i, 0) + wide(sine) * added(i, 0);
        second(i, 0) = 0.75 * added(i, 0) - std::conj(wide(sine)) * u(i, 0);
      }
      expect_vector(on_x.to_host(), stride_x, first, "rot of x");
      expect_vector(on_y.to_host(), stride_y, second, "rot of y");
      swap(T{}, handle.it, n, on_x.get(), stride_x, on_y.get(), stride_y);
      expect_vector(on_x.to_host(), stride_x, second, "swap");
      copy(T{}, handle.it, n, on_x.get(), stride_x, on_y.get(), stride_y);
      expect_vector(on_y.to_host(), stride_y, second, "copy");
      if (stride_x < 0) continue;
      scal(T{}, handle.it, n, &alpha, on_x.get(), stride_x);
      for (int i = 0; i < n; ++i) second(i, 0) *= wide(alpha);
      expect_vector(on_x.to_host(), stride_x, second, "scal");
    }
}
TEST(vectors_in_all_types) { FOR_EACH_TYPE(expect_level_1); }

template <typename T>
void expect_reductions() {
  const Handle handle;
  constexpr int n = 50, stride = 2;
  const auto x = room_for_vector<T>(n, stride);
  const Matrix u = vector_of(x, n, stride);
  const Device<T> on_x(x);
  const auto size = [&](int i) { return std::abs(u(i, 0).real()) + std::abs(u(i, 0).imag()); };
  int largest = 0, smallest = 0;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    if (size(i) > size(largest)) largest = i;
    if (size(i) < size(smallest)) smallest = i;
    sum += size(i);
    squares += std::norm(u(i, 0));
  }
  int found = 0;
  amax(T{}, handle.it, n, on_x.get(), stride, &found);
  expect_equal(found, largest + 1);
  amin(T{}, handle.it, n, on_x.get(), stride, &found);
  expect_equal(found, smallest + 1);
  RealOf<T> number;
  asum(T{}, handle.it, n, on_x.get(), stride, &number);
  expect_close(number, sum, "asum");
  // With CUBLAS_POINTER_MODE_DEVICE, the result is in device memory.
  const Device<RealOf<T>> norm(1);
  expect(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) == CUBLAS_STATUS_SUCCESS, "set");
  nrm2(T{}, handle.it, n, on_x.get(), stride, norm.get());
  expect_close(norm.to_host()[0], std::sqrt(squares), "nrm2");
  const Device<T> factor(std::vector<T>{narrow<T>(2)});
  scal(T{}, handle.it, n, factor.get(), on_x.get(), stride);
  Matrix doubled = u;
  for (Complex& element : doubled.elements) element *= 2;
  expect_vector(on_x.to_host(), stride, doubled, "scal by a factor of the device");
}
TEST(numbers_of_vectors_on_host_and_device) { FOR_EACH_TYPE(expect_reductions); }

template <typename T>
void expect_rotation() {
  const Handle handle;
  T a = random_number<T>(), b = random_number<T>(), s;
  const Complex first = wide(a), second = wide(b);
  RealOf<T> c;
  rotg(T{}, handle.it, &a, &b, &c, &s);
  expect_close(a, static_cast<double>(c) * first + wide(s) * second, "rotg's r");
  expect_close(narrow<T>(static_cast<double>(c) * second - std::conj(wide(s)) * first), 0,
               "rotg's zero");
}
TEST(rotations_are_found) { FOR_EACH_TYPE(expect_rotation); }

// --- Level 2

/// The stored form of a band matrix with `lower` and `upper` diagonals, one per row.
template <typename T>
std::vector<T> banded(const Matrix& a, int lower, int upper, int stride) {
  auto values = random_numbers<T>(static_cast<std::size_t>(stride) * a.columns);
  for (int j = 0; j < a.columns; ++j)
    for (int i = 0; i < a.rows; ++i)
      if (i - j <= lower && j - i <= upper) values[upper + i - j + j * stride] = narrow<T>(a(i, j));
  return values;
}
/// A triangle, stored by columns without gaps.
template <typename T>
std::vector<T> packed(const Matrix& a, cublasFillMode_t uplo) {
  std::vector<T> values;
  for (int j = 0; j < a.columns; ++j)
    for (int i = 0; i < a.rows; ++i)
      if (uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j) values.push_back(narrow<T>(a(i, j)));
  return values;
}
Matrix within_band(Matrix a, int lower, int upper) {
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j)
      if (i - j > lower || j - i > upper) a(i, j) = 0;
  return a;
}
Matrix combined(Complex alpha, const Matrix& a, Complex beta, const Matrix& b) {
  Matrix result = a;
  for (std::size_t i = 0; i < a.elements.size(); ++i)
    result.elements[i] = alpha * a.elements[i] + beta * b.elements[i];
  return result;
}

template <typename T>
void expect_products_with_vectors() {
  const Handle handle;
  constexpr int m = 9, n = 7, lda = 11, lower = 2, upper = 3;
  const auto a = random_numbers<T>(lda * n);
  const Matrix full = matrix_of(a, m, n, lda), band = within_band(full, lower, upper);
  const auto stored = banded<T>(full, lower, upper, lda);
  const Device<T> on_a(a), on_band(stored);
  for (const auto op : operations)
    for (const int stride : {1, -2}) {
      const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;
      const auto x = room_for_vector<T>(columns, stride), y = room_for_vector<T>(rows, 2);
      const Matrix u = vector_of(x, columns, stride), v = vector_of(y, rows, 2);
      const T alpha = random_number<T>(), beta = random_number<T>();
      const Device<T> on_x(x), on_y(y), on_z(y);
      gemv(T{}, handle.it, op, m, n, &alpha, on_a.get(), lda, on_x.get(), stride, &beta, on_y.get(),
           2);
      expect_vector(on_y.to_host(), 2, combined(wide(alpha), full.after(op) * u, wide(beta), v),
                    "gemv");
      gbmv(T{}, handle.it, op, m, n, lower, upper, &alpha, on_band.get(), lda, on_x.get(), stride,
           &beta, on_z.get(), 2);
      expect_vector(on_z.to_host(), 2, combined(wide(alpha), band.after(op) * u, wide(beta), v),
                    "gbmv");
    }
  const auto x = room_for_vector<T>(m, 1), y = room_for_vector<T>(n, -1);
  const Matrix u = vector_of(x, m, 1), v = vector_of(y, n, -1);
  const T alpha = random_number<T>();
  const Device<T> on_x(x), on_y(y), on_b(a), on_c(a);
  geru(T{}, handle.it, m, n, &alpha, on_x.get(), 1, on_y.get(), -1, on_b.get(), lda);
  expect_matrix(on_b.to_host(), lda, combined(wide(alpha), u * v.after(CUBLAS_OP_T), 1, full),
                "ger");
  gerc(T{}, handle.it, m, n, &alpha, on_x.get(), 1, on_y.get(), -1, on_c.get(), lda);
  expect_matrix(on_c.to_host(), lda, combined(wide(alpha), u * v.after(CUBLAS_OP_C), 1, full),
                "gerc");
}
TEST(matrices_times_vectors) { FOR_EACH_TYPE(expect_products_with_vectors); }

template <typename T>
void expect_symmetric_products() {
  const Handle handle;
  constexpr int n = 8, lda = 10, k = 2;
  for (const auto uplo : triangles) {
    const bool is_lower = uplo == CUBLAS_FILL_MODE_LOWER;
    const auto a = random_numbers<T>(lda * n);
    const Matrix stored = matrix_of(a, n, n, lda);
    const Kind hermitian = is_complex<T> ? Kind::hermitian : Kind::symmetric;
    const Matrix full = completed(stored, uplo, hermitian);
    const auto x = room_for_vector<T>(n, 2), y = room_for_vector<T>(n, 1);
    const Matrix u = vector_of(x, n, 2), v = vector_of(y, n, 1);
    const T alpha = random_number<T>(), beta = random_number<T>();
    const Device<T> on_a(a), on_x(x), on_y(y), on_z(y), on_w(y), on_s(y),
        on_band(banded<T>(stored, is_lower ? k : 0, is_lower ? 0 : k, lda)),
        on_packed(packed<T>(stored, uplo));
    hemv(T{}, handle.it, uplo, n, &alpha, on_a.get(), lda, on_x.get(), 2, &beta, on_y.get(), 1);
    expect_vector(on_y.to_host(), 1, combined(wide(alpha), full * u, wide(beta), v), "hemv");
    symv(T{}, handle.it, uplo, n, &alpha, on_a.get(), lda, on_x.get(), 2, &beta, on_s.get(), 1);
    expect_vector(
        on_s.to_host(), 1,
        combined(wide(alpha), completed(stored, uplo, Kind::symmetric) * u, wide(beta), v), "symv");
    hbmv(T{}, handle.it, uplo, n, k, &alpha, on_band.get(), lda, on_x.get(), 2, &beta, on_z.get(),
         1);
    expect_vector(on_z.to_host(), 1,
                  combined(wide(alpha), within_band(full, k, k) * u, wide(beta), v), "hbmv");
    hpmv(T{}, handle.it, uplo, n, &alpha, on_packed.get(), on_x.get(), 2, &beta, on_w.get(), 1);
    expect_vector(on_w.to_host(), 1, combined(wide(alpha), full * u, wide(beta), v), "hpmv");

    // Updates affect only the triangle. The packed form contains nothing else.
    const RealOf<T> real = static_cast<RealOf<T>>(0.5);
    const auto other = is_complex<T> ? CUBLAS_OP_C : CUBLAS_OP_T;
    const Matrix one = combined(0.5, u * u.after(other), 1, full);
    const Matrix both = combined(wide(alpha), u * v.after(other), 1,
                                 combined(is_complex<T> ? std::conj(wide(alpha)) : wide(alpha),
                                          v * u.after(other), 1, full));
    const Device<T> first(a), second(a), third(packed<T>(stored, uplo)),
        fourth(packed<T>(stored, uplo)), fresh(y);
    her(T{}, handle.it, uplo, n, &real, on_x.get(), 2, first.get(), lda);
    her2(T{}, handle.it, uplo, n, &alpha, on_x.get(), 2, fresh.get(), 1, second.get(), lda);
    hpr(T{}, handle.it, uplo, n, &real, on_x.get(), 2, third.get());
    hpr2(T{}, handle.it, uplo, n, &alpha, on_x.get(), 2, fresh.get(), 1, fourth.get());
    const auto triangle = [&](const Device<T>& of) {
      return packed<T>(matrix_of(of.to_host(), n, n, lda), uplo);
    };
    const auto expect_packed = [&](const std::vector<T>& found, const Matrix& expected,
                                   const std::string& what) {
      const auto values = packed<cuDoubleComplex>(expected, uplo);
      for (std::size_t i = 0; i < found.size(); ++i) expect_close(found[i], wide(values[i]), what);
    };
    expect_packed(triangle(first), one, "her");
    expect_packed(triangle(second), both, "her2");
    expect_packed(third.to_host(), one, "hpr");
    expect_packed(fourth.to_host(), both, "hpr2");
  }
}
TEST(symmetric_and_Hermitian_matrices) { FOR_EACH_TYPE(expect_symmetric_products); }

template <typename T>
void expect_triangular() {
  const Handle handle;
  constexpr int n = 7, lda = 9, k = 2;
  for (const auto uplo : triangles)
    for (const auto op : operations)
      for (const auto diagonal : diagonals) {
        const bool is_lower = uplo == CUBLAS_FILL_MODE_LOWER, unit = diagonal == CUBLAS_DIAG_UNIT;
        auto a = random_numbers<T>(lda * n);
        for (int i = 0; i < n; ++i) a[i + i * lda] = narrow<T>(3.0 + wide(a[i + i * lda]));
        const Matrix stored = matrix_of(a, n, n, lda);
        const Matrix full = completed(stored, uplo, Kind::triangular, unit).after(op);
        const Matrix band =
            completed(within_band(stored, k, k), uplo, Kind::triangular, unit).after(op);
        const auto x = room_for_vector<T>(n, -2);
        const Matrix u = vector_of(x, n, -2);
        const Device<T> on_a(a),
            on_band(banded<T>(stored, is_lower ? k : 0, is_lower ? 0 : k, lda)),
            on_packed(packed<T>(stored, uplo)), y(x), z(x), w(x);
        trmv(T{}, handle.it, uplo, op, diagonal, n, on_a.get(), lda, y.get(), -2);
        expect_vector(y.to_host(), -2, full * u, "trmv");
        trsv(T{}, handle.it, uplo, op, diagonal, n, on_a.get(), lda, y.get(), -2);
        expect_vector(y.to_host(), -2, u, "trsv");
        tbmv(T{}, handle.it, uplo, op, diagonal, n, k, on_band.get(), lda, z.get(), -2);
        expect_vector(z.to_host(), -2, band * u, "tbmv");
        tbsv(T{}, handle.it, uplo, op, diagonal, n, k, on_band.get(), lda, z.get(), -2);
        expect_vector(z.to_host(), -2, u, "tbsv");
        tpmv(T{}, handle.it, uplo, op, diagonal, n, on_packed.get(), w.get(), -2);
        expect_vector(w.to_host(), -2, full * u, "tpmv");
        tpsv(T{}, handle.it, uplo, op, diagonal, n, on_packed.get(), w.get(), -2);
        expect_vector(w.to_host(), -2, u, "tpsv");
      }
}
TEST(triangular_matrices_and_vectors) { FOR_EACH_TYPE(expect_triangular); }

// --- Level 3

template <typename T>
void expect_gemm() {
  const Handle handle;
  constexpr int m = 5, n = 6, k = 4, stride = 8, batches = 3;
  for (const auto op_a : operations)
    for (const auto op_b : operations) {
      const std::size_t size = stride * 8;
      const auto a = random_numbers<T>(size * batches), b = random_numbers<T>(size * batches),
                 c = random_numbers<T>(size * batches);
      const T alpha = random_number<T>(), beta = random_number<T>();
      const Device<T> on_a(a), on_b(b), on_c(c), on_d(c), on_e(c);
      gemm(T{}, handle.it, op_a, op_b, m, n, k, &alpha, on_a.get(), stride, on_b.get(), stride,
           &beta, on_c.get(), stride);
      gemmStridedBatched(T{}, handle.it, op_a, op_b, m, n, k, &alpha, on_a.get(), stride,
                         static_cast<long long>(size), on_b.get(), stride,
                         static_cast<long long>(size), &beta, on_d.get(), stride,
                         static_cast<long long>(size), batches);
      std::vector<const T*> as, bs;
      std::vector<T*> cs;
      for (int i = 0; i < batches; ++i) {
        as.push_back(on_a.get() + i * size);
        bs.push_back(on_b.get() + i * size);
        cs.push_back(on_e.get() + i * size);
      }
      const Device<const T*> all_a(as), all_b(bs);
      const Device<T*> all_c(cs);
      gemmBatched(T{}, handle.it, op_a, op_b, m, n, k, &alpha, all_a.get(), stride, all_b.get(),
                  stride, &beta, all_c.get(), stride, batches);
      for (int i = 0; i < batches; ++i) {
        const auto part = [&](const std::vector<T>& of) {
          return std::vector<T>(of.begin() + static_cast<long>(i * size), of.end());
        };
        const auto shape = [&](const std::vector<T>& of, cublasOperation_t op, int rows,
                               int columns) {
          const bool plain = op == CUBLAS_OP_N;
          return matrix_of(part(of), plain ? rows : columns, plain ? columns : rows, stride)
              .after(op);
        };
        const Matrix expected = combined(wide(alpha), shape(a, op_a, m, k) * shape(b, op_b, k, n),
                                         wide(beta), matrix_of(part(c), m, n, stride));
        if (i == 0) expect_matrix(on_c.to_host(), stride, expected, "gemm");
        expect_matrix(part(on_d.to_host()), stride, expected, "gemmStridedBatched");
        expect_matrix(part(on_e.to_host()), stride, expected, "gemmBatched");
      }
    }
}
TEST(products_of_matrices_alone_and_in_batches) { FOR_EACH_TYPE(expect_gemm); }

template <typename T>
void expect_gemv_batches() {
  const Handle handle;
  constexpr int m = 5, n = 6, lda = 7, batches = 3, size = 7 * 6, of_x = 6, of_y = 5;
  const auto a = random_numbers<T>(size * batches), x = random_numbers<T>(of_x * batches);
  const T one = narrow<T>(1), zero = narrow<T>(0);
  // Values multiplied by zero are not read, even if they are NaN.
  const std::vector<T> nan(of_y * batches, narrow<T>({NAN, NAN}));
  const Device<T> on_a(a), on_x(x), on_y(nan), on_z(nan);
  std::vector<const T*> as, xs;
  std::vector<T*> ys;
  for (int i = 0; i < batches; ++i) {
    as.push_back(on_a.get() + i * size);
    xs.push_back(on_x.get() + i * of_x);
    ys.push_back(on_y.get() + i * of_y);
  }
  const Device<const T*> all_a(as), all_x(xs);
  const Device<T*> all_y(ys);
  gemvBatched(T{}, handle.it, CUBLAS_OP_N, m, n, &one, all_a.get(), lda, all_x.get(), 1, &zero,
              all_y.get(), 1, batches);
  gemvStridedBatched(T{}, handle.it, CUBLAS_OP_N, m, n, &one, on_a.get(), lda,
                     static_cast<long long>(size), on_x.get(), 1, static_cast<long long>(of_x),
                     &zero, on_z.get(), 1, static_cast<long long>(of_y), batches);
  for (int i = 0; i < batches; ++i) {
    const auto part = [&](const std::vector<T>& of, int width) {
      return std::vector<T>(of.begin() + i * width, of.begin() + (i + 1) * width);
    };
    const Matrix expected = matrix_of(part(a, size), m, n, lda) * vector_of(part(x, of_x), n, 1);
    expect_vector(part(on_y.to_host(), of_y), 1, expected, "gemvBatched");
    expect_vector(part(on_z.to_host(), of_y), 1, expected, "gemvStridedBatched");
  }
}
TEST(products_with_vectors_in_batches) { FOR_EACH_TYPE(expect_gemv_batches); }

template <typename T>
void expect_symmetric_matrices() {
  const Handle handle;
  constexpr int m = 5, n = 4, stride = 7, k = 3;
  const Kind hermitian = is_complex<T> ? Kind::hermitian : Kind::symmetric;
  for (const auto uplo : triangles) {
    for (const auto side : sides) {
      const bool left = side == CUBLAS_SIDE_LEFT;
      const int order = left ? m : n;
      const auto a = random_numbers<T>(stride * order), b = random_numbers<T>(stride * n),
                 c = random_numbers<T>(stride * n);
      const Matrix stored = matrix_of(a, order, order, stride), factor = matrix_of(b, m, n, stride),
                   before = matrix_of(c, m, n, stride);
      const T alpha = random_number<T>(), beta = random_number<T>();
      const Device<T> on_a(a), on_b(b), on_c(c), on_d(c);
      symm(T{}, handle.it, side, uplo, m, n, &alpha, on_a.get(), stride, on_b.get(), stride, &beta,
           on_c.get(), stride);
      hemm(T{}, handle.it, side, uplo, m, n, &alpha, on_a.get(), stride, on_b.get(), stride, &beta,
           on_d.get(), stride);
      const auto expected = [&](Kind kind) {
        const Matrix full = completed(stored, uplo, kind);
        return combined(wide(alpha), left ? full * factor : factor * full, wide(beta), before);
      };
      expect_matrix(on_c.to_host(), stride, expected(Kind::symmetric), "symm");
      expect_matrix(on_d.to_host(), stride, expected(hermitian), "hemm");
    }
    for (const bool plain : {true, false}) {
      const auto a = random_numbers<T>(stride * stride), b = random_numbers<T>(stride * stride),
                 c = random_numbers<T>(stride * n);
      const auto shape = [&](const std::vector<T>& of, cublasOperation_t op) {
        return matrix_of(of, plain ? n : k, plain ? k : n, stride).after(plain ? CUBLAS_OP_N : op);
      };
      const T alpha = random_number<T>(), beta = random_number<T>();
      const RealOf<T> real_alpha = static_cast<RealOf<T>>(0.5),
                      real_beta = static_cast<RealOf<T>>(-1.5);
      const Device<T> on_a(a), on_b(b), first(c), second(c), third(c), fourth(c), fifth(c);
      const auto transposed = plain ? CUBLAS_OP_N : CUBLAS_OP_T;
      const auto of_hermitian = is_complex<T> ? CUBLAS_OP_C : CUBLAS_OP_T;
      const auto adjoint = plain ? CUBLAS_OP_N : of_hermitian;
      syrk(T{}, handle.it, uplo, transposed, n, k, &alpha, on_a.get(), stride, &beta, first.get(),
           stride);
      syr2k(T{}, handle.it, uplo, transposed, n, k, &alpha, on_a.get(), stride, on_b.get(), stride,
            &beta, second.get(), stride);
      syrkx(T{}, handle.it, uplo, transposed, n, k, &alpha, on_a.get(), stride, on_b.get(), stride,
            &beta, fifth.get(), stride);
      herk(T{}, handle.it, uplo, adjoint, n, k, &real_alpha, on_a.get(), stride, &real_beta,
           third.get(), stride);
      her2k(T{}, handle.it, uplo, adjoint, n, k, &alpha, on_a.get(), stride, on_b.get(), stride,
            &real_beta, fourth.get(), stride);
      const auto expect_triangle = [&](const Device<T>& found, Kind kind, const Matrix& product,
                                       Complex by, const std::string& what) {
        const Matrix before = completed(matrix_of(c, n, n, stride), uplo, kind);
        const auto values = packed<T>(matrix_of(found.to_host(), n, n, stride), uplo);
        const auto wanted = packed<cuDoubleComplex>(combined(1, product, by, before), uplo);
        for (std::size_t i = 0; i < values.size(); ++i)
          expect_close(values[i], wide(wanted[i]), what);
      };
      const Matrix x = shape(a, CUBLAS_OP_T), y = shape(b, CUBLAS_OP_T), p = shape(a, of_hermitian),
                   q = shape(b, of_hermitian);
      const Matrix zero(n, n);
      expect_triangle(first, Kind::symmetric,
                      combined(wide(alpha), x * x.after(CUBLAS_OP_T), 0, zero), wide(beta), "syrk");
      expect_triangle(
          second, Kind::symmetric,
          combined(wide(alpha), x * y.after(CUBLAS_OP_T), wide(alpha), y * x.after(CUBLAS_OP_T)),
          wide(beta), "syr2k");
      expect_triangle(fifth, Kind::symmetric,
                      combined(wide(alpha), x * y.after(CUBLAS_OP_T), 0, zero), wide(beta),
                      "syrkx");
      expect_triangle(third, hermitian, combined(0.5, p * p.after(of_hermitian), 0, zero), -1.5,
                      "herk");
      expect_triangle(
          fourth, hermitian,
          combined(wide(alpha), p * q.after(of_hermitian),
                   is_complex<T> ? std::conj(wide(alpha)) : wide(alpha), q * p.after(of_hermitian)),
          -1.5, "her2k");
    }
  }
}
TEST(products_and_updates_of_symmetric_matrices) { FOR_EACH_TYPE(expect_symmetric_matrices); }

template <typename T>
void expect_triangular_matrices() {
  const Handle handle;
  constexpr int m = 5, n = 4, stride = 6;
  for (const auto uplo : triangles)
    for (const auto side : sides)
      for (const auto op : operations)
        for (const auto diagonal : diagonals) {
          const bool left = side == CUBLAS_SIDE_LEFT;
          const int order = left ? m : n;
          auto a = random_numbers<T>(stride * order);
          for (int i = 0; i < order; ++i)
            a[i + i * stride] = narrow<T>(3.0 + wide(a[i + i * stride]));
          const auto b = random_numbers<T>(stride * n);
          const Matrix full = completed(matrix_of(a, order, order, stride), uplo, Kind::triangular,
                                        diagonal == CUBLAS_DIAG_UNIT)
                                  .after(op);
          const Matrix before = matrix_of(b, m, n, stride);
          const T alpha = narrow<T>(2), half = narrow<T>(0.5);
          const Device<T> on_a(a), on_b(b), on_c(stride * n);
          trmm(T{}, handle.it, side, uplo, op, diagonal, m, n, &alpha, on_a.get(), stride,
               on_b.get(), stride, on_c.get(), stride);
          const Matrix product = left ? full * before : before * full;
          expect_matrix(on_c.to_host(), stride, combined(2, product, 0, product), "trmm");
          trsm(T{}, handle.it, side, uplo, op, diagonal, m, n, &half, on_a.get(), stride,
               on_c.get(), stride);
          expect_matrix(on_c.to_host(), stride, before, "trsm");
          const Device<const T*> all_a(std::vector<const T*>{on_a.get()});
          const Device<T*> all_b(std::vector<T*>{on_b.get()});
          trsmBatched(T{}, handle.it, side, uplo, op, diagonal, m, n, &alpha, all_a.get(), stride,
                      all_b.get(), stride, 1);
          const Matrix solved = matrix_of(on_b.to_host(), m, n, stride);
          expect_matrix(on_c.to_host(), stride,
                        combined(0.5, left ? full * solved : solved * full, 0, before),
                        "trsmBatched");
        }
}
TEST(triangular_matrices) { FOR_EACH_TYPE(expect_triangular_matrices); }

// --- Extensions of cuBLAS to BLAS

template <typename T>
void expect_factors() {
  const Handle handle;
  constexpr int n = 6, lda = 7, columns = 2, batches = 3, size = lda * n;
  const auto a = random_numbers<T>(size * batches), b = random_numbers<T>(lda * columns * batches);
  const Device<T> on_a(a), on_b(b), on_inverse(size * batches), plain(a), direct(size * batches);
  std::vector<T*> as, bs, inverses, plains, directs;
  for (int i = 0; i < batches; ++i) {
    as.push_back(on_a.get() + i * size);
    bs.push_back(on_b.get() + i * lda * columns);
    inverses.push_back(on_inverse.get() + i * size);
    plains.push_back(plain.get() + i * size);
    directs.push_back(direct.get() + i * size);
  }
  const Device<T*> all_a(as), all_b(bs), all_inverses(inverses), all_plain(plains),
      all_direct(directs);
  const Device<int> pivots(n * batches), info(batches);
  getrfBatched(T{}, handle.it, n, all_a.get(), lda, pivots.get(), info.get(), batches);
  expect_equal(info.to_host(), std::vector<int>(batches, 0));
  int status = 1;
  for (const auto op : operations) {
    check(cudaMemcpy(on_b.get(), b.data(), on_b.bytes(), cudaMemcpyHostToDevice));
    getrsBatched(T{}, handle.it, op, n, columns, all_a.get(), lda, pivots.get(), all_b.get(), lda,
                 &status, batches);
    expect_equal(status, 0);
    const auto solved = on_b.to_host();
    for (int i = 0; i < batches; ++i) {
      const auto part = [&](const std::vector<T>& of, int width) {
        return std::vector<T>(of.begin() + i * width, of.begin() + (i + 1) * width);
      };
      const Matrix left = matrix_of(part(a, size), n, n, lda).after(op) *
                          matrix_of(part(solved, lda * columns), n, columns, lda);
      const Matrix right = matrix_of(part(b, lda * columns), n, columns, lda);
      for (std::size_t e = 0; e < left.elements.size(); ++e)
        expect(std::abs(left.elements[e] - right.elements[e]) < 2e-3, "getrs solves");
    }
  }
  getriBatched(T{}, handle.it, n, all_a.get(), lda, pivots.get(), all_inverses.get(), lda,
               info.get(), batches);
  matinvBatched(T{}, handle.it, n, all_plain.get(), lda, all_direct.get(), lda, info.get(),
                batches);
  for (const auto* found : {&on_inverse, &direct})
    for (int i = 0; i < batches; ++i) {
      const auto values = found->to_host();
      const std::vector<T> one(values.begin() + i * size, values.begin() + (i + 1) * size),
          of(a.begin() + i * size, a.begin() + (i + 1) * size);
      const Matrix identity = matrix_of(of, n, n, lda) * matrix_of(one, n, n, lda);
      for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; ++column)
          expect(std::abs(identity(row, column) - (row == column ? 1.0 : 0.0)) < 2e-3,
                 "a matrix times its inverse is one");
    }
}
TEST(factors_and_inverses_in_batches) { FOR_EACH_TYPE(expect_factors); }

/// The residual of a least-squares solution must be orthogonal to the columns of A. The factor R
/// must satisfy R^H R = A^H A.
template <typename T>
void expect_least_squares() {
  const Handle handle;
  constexpr int m = 7, n = 4, lda = 8, columns = 2, batches = 2, size = lda * n;
  const auto a = random_numbers<T>(size * batches), b = random_numbers<T>(lda * columns * batches);
  const Device<T> on_a(a), on_b(b), only_a(a), tau(n * batches);
  std::vector<T*> as, bs, alone, taus;
  for (int i = 0; i < batches; ++i) {
    as.push_back(on_a.get() + i * size);
    alone.push_back(only_a.get() + i * size);
    bs.push_back(on_b.get() + i * lda * columns);
    taus.push_back(tau.get() + i * n);
  }
  const Device<T*> all_a(as), all_b(bs), all_alone(alone), all_taus(taus);
  const Device<int> singular(batches);
  int status = 1;
  gelsBatched(T{}, handle.it, CUBLAS_OP_N, m, n, columns, all_a.get(), lda, all_b.get(), lda,
              &status, singular.get(), batches);
  expect_equal(status, 0);
  expect_equal(singular.to_host(), std::vector<int>(batches, 0));
  geqrfBatched(T{}, handle.it, m, n, all_alone.get(), lda, all_taus.get(), &status, batches);
  expect_equal(status, 0);
  const auto solved = on_b.to_host(), factors = only_a.to_host();
  for (int i = 0; i < batches; ++i) {
    const auto part = [&](const std::vector<T>& of, int width) {
      return std::vector<T>(of.begin() + i * width, of.begin() + (i + 1) * width);
    };
    const Matrix left = matrix_of(part(a, size), m, n, lda);
    Matrix residual = matrix_of(part(b, lda * columns), m, columns, lda);
    const Matrix product = left * matrix_of(part(solved, lda * columns), n, columns, lda);
    for (std::size_t e = 0; e < product.elements.size(); ++e)
      residual.elements[e] -= product.elements[e];
    const Matrix normal = left.after(CUBLAS_OP_C) * residual;
    for (const auto element : normal.elements)
      expect(std::abs(element) < 2e-3, "the residual is orthogonal to the columns of A");
    Matrix upper = matrix_of(part(factors, size), n, n, lda);
    for (int row = 0; row < n; ++row)
      for (int column = 0; column < row; ++column) upper(row, column) = 0;
    const Matrix found = upper.after(CUBLAS_OP_C) * upper, gram = left.after(CUBLAS_OP_C) * left;
    for (std::size_t e = 0; e < gram.elements.size(); ++e)
      expect(std::abs(found.elements[e] - gram.elements[e]) < 2e-3, "R^H R equals A^H A");
  }
}
TEST(least_squares_in_batches) { FOR_EACH_TYPE(expect_least_squares); }

template <typename T>
void expect_other_calls() {
  const Handle handle;
  constexpr int m = 4, n = 5, stride = 6;
  const auto a = random_numbers<T>(stride * n), b = random_numbers<T>(stride * m);
  const auto x = random_numbers<T>(2 * n);
  const T alpha = random_number<T>(), beta = random_number<T>();
  const Device<T> on_a(a), on_b(b), on_x(x), on_c(stride * n), on_d(stride * n);
  geam(T{}, handle.it, CUBLAS_OP_N, CUBLAS_OP_C, m, n, &alpha, on_a.get(), stride, &beta,
       on_b.get(), stride, on_c.get(), stride);
  expect_matrix(on_c.to_host(), stride,
                combined(wide(alpha), matrix_of(a, m, n, stride), wide(beta),
                         matrix_of(b, n, m, stride).after(CUBLAS_OP_C)),
                "geam");
  for (const auto side : sides) {
    dgmm(T{}, handle.it, side, m, n, on_a.get(), stride, on_x.get(), 2, on_d.get(), stride);
    Matrix scaled = matrix_of(a, m, n, stride);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) scaled(i, j) *= wide(x[2 * (side == CUBLAS_SIDE_LEFT ? i : j)]);
    expect_matrix(on_d.to_host(), stride, scaled, "dgmm");
  }
  for (const auto uplo : triangles) {
    const Matrix stored = matrix_of(a, m, m, stride);
    const Device<T> on_packed(m * (m + 1) / 2), back(stride * m);
    trttp(T{}, handle.it, uplo, m, on_a.get(), stride, on_packed.get());
    const auto expected = packed<T>(stored, uplo);
    const auto found = on_packed.to_host();
    for (std::size_t i = 0; i < found.size(); ++i)
      expect_close(found[i], wide(expected[i]), "trttp");
    tpttr(T{}, handle.it, uplo, m, on_packed.get(), back.get(), stride);
    const auto again = packed<T>(matrix_of(back.to_host(), m, m, stride), uplo);
    for (std::size_t i = 0; i < again.size(); ++i)
      expect_close(again[i], wide(expected[i]), "tpttr");
  }
}
TEST(sums_diagonals_and_triangles) { FOR_EACH_TYPE(expect_other_calls); }

TEST(vectors_and_matrices_are_copied) {
  const auto x = tap::random_values<float>(12, -1, 1);
  const Device<float> on_x(24);
  expect(cublasSetVector(6, sizeof(float), x.data(), 2, on_x.get(), 4) == CUBLAS_STATUS_SUCCESS,
         "a vector is set");
  const auto found = on_x.to_host();
  for (int i = 0; i < 6; ++i) expect_equal(found[4 * i], x[2 * i]);
  std::vector<float> back(6);
  expect(cublasGetVector(6, sizeof(float), on_x.get(), 4, back.data(), 1) == CUBLAS_STATUS_SUCCESS,
         "a vector comes back");
  for (int i = 0; i < 6; ++i) expect_equal(back[i], x[2 * i]);
  expect(cublasSetMatrix(3, 4, sizeof(float), x.data(), 3, on_x.get(), 5) == CUBLAS_STATUS_SUCCESS,
         "a matrix is set");
  std::vector<float> matrix(12);
  expect(cublasGetMatrix(3, 4, sizeof(float), on_x.get(), 5, matrix.data(), 3) ==
             CUBLAS_STATUS_SUCCESS,
         "a matrix comes back");
  expect_equal(matrix, x);
  expect(cublasSetVector(6, 0, x.data(), 1, on_x.get(), 1) == CUBLAS_STATUS_INVALID_VALUE,
         "elements without bytes are refused");
}

TEST(level_1_with_types_as_arguments) {
  const Handle handle;
  constexpr int n = 40;
  std::vector<__half> x(n), y(n);
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    x[i] = __float2half(tap::random_value(-1.0f, 1.0f));
    y[i] = __float2half(tap::random_value(-1.0f, 1.0f));
    sum += static_cast<double>(__half2float(x[i])) * __half2float(y[i]);
    squares += static_cast<double>(__half2float(x[i])) * __half2float(x[i]);
  }
  const Device<__half> on_x(x), on_y(y);
  __half found;
  expect(cublasDotEx(handle, n, on_x.get(), CUDA_R_16F, 1, on_y.get(), CUDA_R_16F, 1, &found,
                     CUDA_R_16F, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS,
         "a dot product of halves");
  tap::expect_near(static_cast<double>(__half2float(found)), sum, 0.01);
  expect(cublasNrm2Ex(handle, n, on_x.get(), CUDA_R_16F, 1, &found, CUDA_R_16F, CUDA_R_32F) ==
             CUBLAS_STATUS_SUCCESS,
         "a norm of halves");
  tap::expect_near(static_cast<double>(__half2float(found)), std::sqrt(squares), 0.01);
  const float two = 2;
  expect(cublasAxpyEx(handle, n, &two, CUDA_R_32F, on_x.get(), CUDA_R_16F, 1, on_y.get(),
                      CUDA_R_16F, 1, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS,
         "halves are added");
  const auto added = on_y.to_host();
  for (int i = 0; i < n; ++i)
    tap::expect_near(__half2float(added[i]), 2 * __half2float(x[i]) + __half2float(y[i]), 0.002f);
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
