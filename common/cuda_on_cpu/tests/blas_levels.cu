/// \file
/// Tests cuBLAS: levels 1 to 3 for all four types, batched calls, and copies. The results are
/// checked against sums in double precision.

#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "device.hpp"
#include "wide_matrices.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;

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

/// A vector as a matrix with one column. The index of element i is i times the stride, counted from
/// the other end if the stride is negative.
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

/// The banded form of a matrix with `lower` and `upper` diagonals: each row stores one diagonal.
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

/// The product H(0) H(1) ... of the reflections that a factorisation stores below the diagonal.
template <typename T>
Matrix product_of_reflections(const Matrix& a, const std::vector<T>& tau) {
  Matrix q(a.rows, a.rows);
  for (int i = 0; i < a.rows; ++i) q(i, i) = 1;
  for (int k = 0; k < std::min(a.rows, a.columns); ++k) {
    Matrix v(a.rows, 1), h(a.rows, a.rows);
    for (int i = k; i < a.rows; ++i) v(i, 0) = i == k ? Complex(1) : a(i, k);
    for (int i = 0; i < a.rows; ++i)
      for (int j = 0; j < a.rows; ++j)
        h(i, j) = (i == j ? 1. : 0.) - wide(tau[k]) * v(i, 0) * std::conj(v(j, 0));
    q = q * h;
  }
  return q;
}
template <typename T>
void expect_orthogonal_batches(int m, int n) {
  const Handle handle;
  const int lda = m + 2, least = std::min(m, n);
  constexpr int batches = 3;
  const auto a = random_numbers<T>(lda * n * batches);
  const Device<T> on_a(a), on_tau(least * batches);
  std::vector<T*> as, taus;
  for (int i = 0; i < batches; ++i) {
    as.push_back(on_a.get() + i * lda * n);
    taus.push_back(on_tau.get() + i * least);
  }
  const Device<T*> all_a(as), all_tau(taus);
  int status = 1;
  geqrfBatched(T{}, handle.it, m, n, all_a.get(), lda, all_tau.get(), &status, batches);
  expect_equal(status, 0);
  const auto found = on_a.to_host(), tau = on_tau.to_host();
  for (int i = 0; i < batches; ++i) {
    const std::vector<T> one(found.begin() + i * lda * n, found.begin() + (i + 1) * lda * n),
        before(a.begin() + i * lda * n, a.begin() + (i + 1) * lda * n);
    const Matrix factors = matrix_of(one, m, n, lda);
    const Matrix q = product_of_reflections(
        factors, std::vector<T>(tau.begin() + i * least, tau.begin() + (i + 1) * least));
    Matrix r = factors;
    for (int column = 0; column < n; ++column)
      for (int row = column + 1; row < m; ++row) r(row, column) = 0;
    expect_matrix(before, lda, q * r, "Q R");
    for (int column = 0; column < n; ++column)
      for (int row = m; row < lda; ++row)
        expect_equal(wide(one[row + column * lda]), wide(before[row + column * lda]));
  }
}
template <typename T>
void expect_orthogonal_factors() {
  expect_orthogonal_batches<T>(1, 1);
  expect_orthogonal_batches<T>(7, 4);
  expect_orthogonal_batches<T>(3, 6);
}
TEST(orthogonal_factors_in_batches) { FOR_EACH_TYPE(expect_orthogonal_factors); }

template <typename T>
void expect_least_squares() {
  const Handle handle;
  constexpr int m = 9, n = 4, columns = 2, lda = 10, ldc = 11, batches = 3;
  auto a = random_numbers<T>(lda * n * batches);
  // The last matrix does not have full rank.
  for (int i = 0; i < lda; ++i) a[i + lda * (n * 2 + 2)] = T{};
  const auto c = random_numbers<T>(ldc * columns * batches);
  const Device<T> on_a(a), on_c(c);
  std::vector<T*> as, cs;
  for (int i = 0; i < batches; ++i) {
    as.push_back(on_a.get() + i * lda * n);
    cs.push_back(on_c.get() + i * ldc * columns);
  }
  const Device<T*> all_a(as), all_c(cs);
  const Device<int> infos(batches);
  int status = 1;
  gelsBatched(T{}, handle.it, CUBLAS_OP_N, m, n, columns, all_a.get(), lda, all_c.get(), ldc,
              &status, infos.get(), batches);
  expect_equal(status, 0);
  expect_equal(infos.to_host(), std::vector<int>{0, 0, 3});
  const auto found = on_c.to_host();
  for (int i = 0; i < batches - 1; ++i) {
    const auto part = [&](const std::vector<T>& of, int width) {
      return std::vector<T>(of.begin() + i * width, of.begin() + (i + 1) * width);
    };
    // The residual is orthogonal to the columns of A.
    const Matrix of = matrix_of(part(a, lda * n), m, n, lda);
    Matrix rest = of * matrix_of(part(found, ldc * columns), n, columns, ldc);
    const Matrix sides = matrix_of(part(c, ldc * columns), m, columns, ldc);
    for (std::size_t e = 0; e < rest.elements.size(); ++e) rest.elements[e] -= sides.elements[e];
    for (const Complex element : (of.after(CUBLAS_OP_C) * rest).elements)
      expect_close(narrow<T>(element), 0, "the normal equation");
  }
}
TEST(least_squares_in_batches) { FOR_EACH_TYPE(expect_least_squares); }

TEST(orthogonal_batches_that_cannot_be_are_refused) {
  const Handle handle;
  const Device<double*> addresses(std::vector<double*>(1, nullptr));
  int info = 0;
  const auto factors = [&](int m, int n, int lda, int batches) {
    return cublasDgeqrfBatched(handle, m, n, addresses.get(), lda, addresses.get(), &info, batches);
  };
  expect(factors(-1, 4, 4, 1) == CUBLAS_STATUS_INVALID_VALUE, "no rows");
  expect_equal(info, -1);
  expect(factors(4, -1, 4, 1) == CUBLAS_STATUS_INVALID_VALUE, "no columns");
  expect_equal(info, -2);
  expect(factors(4, 4, 3, 1) == CUBLAS_STATUS_INVALID_VALUE, "columns overlap");
  expect_equal(info, -4);
  expect(factors(4, 4, 4, 0) == CUBLAS_STATUS_SUCCESS, "no matrices");
  expect_equal(info, 0);
  const auto solved = [&](cublasOperation_t op, int m, int n, int ldc) {
    return cublasDgelsBatched(handle, op, m, n, 1, addresses.get(), 9, addresses.get(), ldc, &info,
                              nullptr, 1);
  };
  expect(solved(CUBLAS_OP_N, 4, 4, 3) == CUBLAS_STATUS_INVALID_VALUE, "columns overlap");
  expect_equal(info, -8);
  expect(solved(CUBLAS_OP_T, 4, 4, 4) == CUBLAS_STATUS_NOT_SUPPORTED, "no transposed systems");
  expect(solved(CUBLAS_OP_N, 3, 4, 4) == CUBLAS_STATUS_NOT_SUPPORTED, "more unknowns than rows");
}

/// The products of two groups of different shapes, with 32-bit and 64-bit sizes.
template <typename T, typename Int, typename Call>
void expect_groups(Call call) {
  const Handle handle;
  const cublasOperation_t op_a[] = {CUBLAS_OP_N, CUBLAS_OP_T}, op_b[] = {CUBLAS_OP_T, CUBLAS_OP_N};
  const Int m[] = {3, 5}, n[] = {4, 2}, k[] = {2, 6}, sizes[] = {2, 1}, stride[] = {7, 8};
  const T alpha[] = {2, -1}, beta[] = {0, 1};
  const auto a = random_numbers<T>(8 * 8 * 3), b = random_numbers<T>(8 * 8 * 3),
             c = random_numbers<T>(8 * 8 * 3);
  const Device<T> on_a(a), on_b(b), on_c(c);
  std::vector<const T*> as, bs;
  std::vector<T*> cs;
  for (int i = 0; i < 3; ++i) {
    as.push_back(on_a.get() + 64 * i);
    bs.push_back(on_b.get() + 64 * i);
    cs.push_back(on_c.get() + 64 * i);
  }
  const Device<const T*> all_a(as), all_b(bs);
  const Device<T*> all_c(cs);
  expect(call(handle.it, op_a, op_b, m, n, k, alpha, all_a.get(), stride, all_b.get(), stride, beta,
              all_c.get(), stride, Int{2}, sizes) == CUBLAS_STATUS_SUCCESS,
         "groups are multiplied");
  const auto found = on_c.to_host();
  for (int i = 0; i < 3; ++i) {
    const int g = i / 2, ld = static_cast<int>(stride[g]);
    const auto part = [&](const std::vector<T>& of) {
      return std::vector<T>(of.begin() + 64 * i, of.begin() + 64 * (i + 1));
    };
    const auto shape = [&](const std::vector<T>& of, cublasOperation_t op, Int rows, Int columns) {
      const bool plain = op == CUBLAS_OP_N;
      return matrix_of(part(of), static_cast<int>(plain ? rows : columns),
                       static_cast<int>(plain ? columns : rows), ld)
          .after(op);
    };
    Matrix expected = shape(a, op_a[g], m[g], k[g]) * shape(b, op_b[g], k[g], n[g]);
    for (int row = 0; row < expected.rows; ++row)
      for (int column = 0; column < expected.columns; ++column)
        expected(row, column) = Complex(alpha[g]) * expected(row, column) +
                                Complex(beta[g]) * wide(part(c)[row + column * ld]);
    expect_matrix(part(found), ld, expected, "a product of a group");
  }
  const Int overlapping[] = {7, 4};
  expect(call(handle.it, op_a, op_b, m, n, k, alpha, all_a.get(), stride, all_b.get(), stride, beta,
              all_c.get(), overlapping, Int{2}, sizes) == CUBLAS_STATUS_INVALID_VALUE,
         "columns overlap");
  expect_equal(on_c.to_host(), found);
}
TEST(products_in_groups) {
  expect_groups<float, int>([](auto... all) { return cublasSgemmGroupedBatched(all...); });
  expect_groups<double, int>([](auto... all) { return cublasDgemmGroupedBatched(all...); });
  expect_groups<double, std::int64_t>(
      [](auto... all) { return cublasDgemmGroupedBatched_64(all...); });
  expect_groups<float, int>([](cublasHandle_t handle, auto op_a, auto op_b, auto m, auto n, auto k,
                               auto alpha, auto a, auto lda, auto b, auto ldb, auto beta, auto c,
                               auto ldc, auto count, auto sizes) {
    return cublasGemmGroupedBatchedEx(
        handle, op_a, op_b, m, n, k, alpha, reinterpret_cast<const void* const*>(a), CUDA_R_32F,
        lda, reinterpret_cast<const void* const*>(b), CUDA_R_32F, ldb, beta,
        reinterpret_cast<void* const*>(c), CUDA_R_32F, ldc, count, sizes, CUBLAS_COMPUTE_32F);
  });
}

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

/// Expects that the routines whose types are arguments return the same results as the routines of
/// the type.
template <typename T>
void expect_typed_vectors(cudaDataType type, cudaDataType part) {
  using Real = RealOf<T>;
  const Handle handle;
  constexpr int n = 23, stride = 2, size = n * stride;
  const auto x = random_numbers<T>(size), y = random_numbers<T>(size);
  const Device<T> typed_x(x), typed_y(y), plain_x(x), plain_y(y);
  const auto is_done = [](cublasStatus_t status, tap::Location place = tap::Location::current()) {
    expect(status == CUBLAS_STATUS_SUCCESS, "the call is accepted", place);
  };
  const auto expect_same = [&](tap::Location place = tap::Location::current()) {
    const auto same = [&](const Device<T>& typed, const Device<T>& plain) {
      const auto found = typed.to_host(), expected = plain.to_host();
      for (int i = 0; i < size; ++i) expect_close(found[i], wide(expected[i]), "an element", place);
    };
    same(typed_x, plain_x);
    same(typed_y, plain_y);
  };
  T found{}, expected{};
  is_done(cublasDotEx(handle, n, typed_x.get(), type, stride, typed_y.get(), type, 1, &found, type,
                      type));
  dotu(T{}, handle.it, n, plain_x.get(), stride, plain_y.get(), 1, &expected);
  expect_close(found, wide(expected), "DotEx");
  is_done(cublasDotcEx_64(handle, n, typed_x.get(), type, stride, typed_y.get(), type, 1, &found,
                          type, type));
  dotc(T{}, handle.it, n, plain_x.get(), stride, plain_y.get(), 1, &expected);
  expect_close(found, wide(expected), "DotcEx");
  Real size_found = 0, size_expected = 0;
  is_done(cublasNrm2Ex_64(handle, n, typed_x.get(), type, stride, &size_found, part, part));
  nrm2(T{}, handle.it, n, plain_x.get(), stride, &size_expected);
  expect_close(size_found, size_expected, "Nrm2Ex");
  is_done(cublasAsumEx(handle, n, typed_x.get(), type, stride, &size_found, part, part));
  asum(T{}, handle.it, n, plain_x.get(), stride, &size_expected);
  expect_close(size_found, size_expected, "AsumEx");
  int index = 0, index_expected = 0;
  std::int64_t long_index = 0;
  is_done(cublasIamaxEx(handle, n, typed_x.get(), type, stride, &index));
  amax(T{}, handle.it, n, plain_x.get(), stride, &index_expected);
  expect_equal(index, index_expected);
  is_done(cublasIaminEx_64(handle, n, typed_x.get(), type, stride, &long_index));
  amin(T{}, handle.it, n, plain_x.get(), stride, &index_expected);
  expect_equal(long_index, index_expected);

  const T alpha = random_number<T>();
  const Real c = Real(0.6), s = Real(0.8);
  is_done(cublasAxpyEx_64(handle, n, &alpha, type, typed_x.get(), type, stride, typed_y.get(), type,
                          -stride, type));
  axpy(T{}, handle.it, n, &alpha, plain_x.get(), stride, plain_y.get(), -stride);
  expect_same();
  is_done(cublasScalEx(handle, n, &alpha, type, typed_x.get(), type, stride, type));
  scal(T{}, handle.it, n, &alpha, plain_x.get(), stride);
  expect_same();
  is_done(cublasRotEx(handle, n, typed_x.get(), type, stride, typed_y.get(), type, 1, &c, &s, part,
                      type));
  const T sine = narrow<T>(Complex(s));
  rot(T{}, handle.it, n, plain_x.get(), stride, plain_y.get(), 1, &c, &sine);
  expect_same();
  is_done(cublasSwapEx(handle, n, typed_x.get(), type, -stride, typed_y.get(), type, 1));
  swap(T{}, handle.it, n, plain_x.get(), -stride, plain_y.get(), 1);
  expect_same();
  is_done(cublasCopyEx_64(handle, n, typed_x.get(), type, 1, typed_y.get(), type, stride));
  copy(T{}, handle.it, n, plain_x.get(), 1, plain_y.get(), stride);
  expect_same();
  expect(cublasCopyEx(handle, n, typed_x.get(), type, 1, typed_y.get(), CUDA_R_8I, 1) ==
             CUBLAS_STATUS_NOT_SUPPORTED,
         "a copy does not convert");
}
TEST(typed_vectors_equal_vectors_of_the_type) {
  expect_typed_vectors<float>(CUDA_R_32F, CUDA_R_32F);
  expect_typed_vectors<double>(CUDA_R_64F, CUDA_R_64F);
  expect_typed_vectors<cuComplex>(CUDA_C_32F, CUDA_R_32F);
  expect_typed_vectors<cuDoubleComplex>(CUDA_C_64F, CUDA_R_64F);
}

template <typename T>
void expect_typed_rotations(cudaDataType type) {
  const Handle handle;
  T a = 3, b = 4, c = 0, s = 0;
  expect(cublasRotgEx(handle, &a, &b, type, &c, &s, type, type) == CUBLAS_STATUS_SUCCESS,
         "a rotation is found");
  expect_close(a, 5, "r");
  expect_close(c, 0.6, "the cosine");
  expect_close(s, 0.8, "the sine");
  // The modified rotation makes the second element zero.
  T d1 = 2, d2 = 3, x1 = 1, parameters[5] = {};
  const T y1 = 4;
  expect(cublasRotmgEx(handle, &d1, type, &d2, type, &x1, type, &y1, type, parameters, type,
                       type) == CUBLAS_STATUS_SUCCESS,
         "a modified rotation is found");
  const Device<T> x(std::vector<T>{1}), y(std::vector<T>{4});
  expect(cublasRotmEx(handle, 1, x.get(), type, 1, y.get(), type, 1, parameters, type, type) ==
             CUBLAS_STATUS_SUCCESS,
         "the modified rotation is applied");
  expect_close(x.to_host()[0], x1, "the first element");
  expect_close(y.to_host()[0], 0, "the second element");
}
TEST(typed_rotations) {
  expect_typed_rotations<float>(CUDA_R_32F);
  expect_typed_rotations<double>(CUDA_R_64F);
}

TEST(settings_are_kept) {
  const Handle handle;
  cublasEmulationStrategy_t strategy = CUBLAS_EMULATION_STRATEGY_DEFAULT;
  expect(
      cublasSetEmulationStrategy(handle, CUBLAS_EMULATION_STRATEGY_EAGER) == CUBLAS_STATUS_SUCCESS,
      "a strategy is set");
  expect(cublasGetEmulationStrategy(handle, &strategy) == CUBLAS_STATUS_SUCCESS, "it is returned");
  expect_equal(static_cast<int>(strategy), static_cast<int>(CUBLAS_EMULATION_STRATEGY_EAGER));
  cublasComputeType_t compute{};
  cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH);
  expect(cublasMigrateComputeType(handle, CUDA_C_64F, &compute) == CUBLAS_STATUS_SUCCESS,
         "a compute type is found");
  expect_equal(static_cast<int>(compute), static_cast<int>(CUBLAS_COMPUTE_64F_PEDANTIC));
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
