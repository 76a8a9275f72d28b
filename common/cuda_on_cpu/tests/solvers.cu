/// \file
/// Factorisations, eigenvalues and singular values with cuSOLVER's interface for all four types.
/// Products in double precision check the results.

#include <cusolverDn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "device.hpp"
#include "wide_matrices.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;

// --- A call chosen by the type of its first argument: getrf(T{}, handle, ...)

#define FOR_TYPE(name, Type, function)                  \
  template <typename... Arguments>                      \
  cusolverStatus_t name(Type, Arguments... arguments) { \
    return function(arguments...);                      \
  }
#define FOR_NAMES(name, real, complex)            \
  FOR_TYPE(name, float, cusolverDnS##real)        \
  FOR_TYPE(name, double, cusolverDnD##real)       \
  FOR_TYPE(name, cuComplex, cusolverDnC##complex) \
  FOR_TYPE(name, cuDoubleComplex, cusolverDnZ##complex)
#define WITH_ROOM(name, real, complex) \
  FOR_NAMES(name, real, complex)       \
  FOR_NAMES(name##_bufferSize, real##_bufferSize, complex##_bufferSize)
WITH_ROOM(potrf, potrf, potrf)
WITH_ROOM(potri, potri, potri)
WITH_ROOM(lauum, lauum, lauum)
WITH_ROOM(getrf, getrf, getrf)
WITH_ROOM(geqrf, geqrf, geqrf)
WITH_ROOM(ormqr, ormqr, unmqr)
WITH_ROOM(orgqr, orgqr, ungqr)
WITH_ROOM(sytrf, sytrf, sytrf)
WITH_ROOM(sytri, sytri, sytri)
WITH_ROOM(gebrd, gebrd, gebrd)
WITH_ROOM(orgbr, orgbr, ungbr)
WITH_ROOM(sytrd, sytrd, hetrd)
WITH_ROOM(orgtr, orgtr, ungtr)
WITH_ROOM(ormtr, ormtr, unmtr)
WITH_ROOM(syevd, syevd, heevd)
WITH_ROOM(syevdx, syevdx, heevdx)
WITH_ROOM(sygvd, sygvd, hegvd)
WITH_ROOM(sygvdx, sygvdx, hegvdx)
WITH_ROOM(syevj, syevj, heevj)
WITH_ROOM(syevjBatched, syevjBatched, heevjBatched)
WITH_ROOM(sygvj, sygvj, hegvj)
WITH_ROOM(gesvd, gesvd, gesvd)
WITH_ROOM(gesvdj, gesvdj, gesvdj)
WITH_ROOM(gesvdjBatched, gesvdjBatched, gesvdjBatched)
WITH_ROOM(gesvdaStridedBatched, gesvdaStridedBatched, gesvdaStridedBatched)
FOR_NAMES(potrs, potrs, potrs)
FOR_NAMES(potrfBatched, potrfBatched, potrfBatched)
FOR_NAMES(potrsBatched, potrsBatched, potrsBatched)
FOR_NAMES(getrs, getrs, getrs)
FOR_NAMES(laswp, laswp, laswp)

template <typename T>
constexpr cudaDataType type_of = std::is_same_v<T, float>       ? CUDA_R_32F
                                 : std::is_same_v<T, double>    ? CUDA_R_64F
                                 : std::is_same_v<T, cuComplex> ? CUDA_C_32F
                                                                : CUDA_C_64F;

void succeed(cusolverStatus_t status, tap::Location place = tap::Location::current()) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    tap::complain("the status is " + tap::shown(static_cast<int>(status)), place);
}

struct Handle {
  Handle() { succeed(cusolverDnCreate(&it)); }
  ~Handle() { cusolverDnDestroy(it); }
  operator cusolverDnHandle_t() const { return it; }
  cusolverDnHandle_t it = nullptr;
};
struct Parameters {
  Parameters() { succeed(cusolverDnCreateParams(&it)); }
  ~Parameters() { cusolverDnDestroyParams(it); }
  operator cusolverDnParams_t() const { return it; }
  cusolverDnParams_t it = nullptr;
};
struct EigenInfo {
  EigenInfo() { succeed(cusolverDnCreateSyevjInfo(&it)); }
  ~EigenInfo() { cusolverDnDestroySyevjInfo(it); }
  operator syevjInfo_t() const { return it; }
  syevjInfo_t it = nullptr;
};
struct SingularInfo {
  SingularInfo() { succeed(cusolverDnCreateGesvdjInfo(&it)); }
  ~SingularInfo() { cusolverDnDestroyGesvdjInfo(it); }
  operator gesvdjInfo_t() const { return it; }
  gesvdjInfo_t it = nullptr;
};
/// The result of a routine in device memory, at first an impossible value.
struct Info {
  explicit Info(int count = 1) : values(std::vector<int>(count, -77)) {}
  int* get() const { return values.get(); }
  void expect_all(int expected, tap::Location place = tap::Location::current()) const {
    for (const int value : values.to_host(place)) expect_equal(value, expected, place);
  }
  Device<int> values;
};
/// The workspaces of a function with 64-bit sizes.
struct Rooms {
  std::size_t device_bytes = 0, host_bytes = 0;
  Device<char> room{64};
};

// --- Matrices

template <typename T>
double tolerance(int n) {
  return (std::is_same_v<RealOf<T>, float> ? 2e-5 : 2e-13) * (n + 4);
}
/// Expects that two matrices are equal up to rounding. NaN equals nothing.
template <typename T>
void expect_equal_matrices(const Matrix& found, const Matrix& expected, const std::string& what,
                           tap::Location place = tap::Location::current()) {
  if (found.rows != expected.rows || found.columns != expected.columns)
    return tap::complain(what + " has another shape", place);
  double scale = 1;
  for (const Complex element : expected.elements) scale = std::max(scale, std::abs(element));
  const double limit = tolerance<T>(std::max(found.rows, found.columns)) * scale;
  for (std::size_t e = 0; e < found.elements.size(); ++e)
    if (!(std::abs(found.elements[e] - expected.elements[e]) <= limit))
      return tap::complain(what + ": element " + std::to_string(e) + " is " +
                               tap::shown(found.elements[e]) + " instead of " +
                               tap::shown(expected.elements[e]),
                           place);
}
Matrix identity(int n) {
  Matrix result(n, n);
  for (int i = 0; i < n; ++i) result(i, i) = 1;
  return result;
}
template <typename T>
void expect_orthogonal(const Matrix& q, tap::Location place = tap::Location::current()) {
  expect_equal_matrices<T>(q.after(CUBLAS_OP_C) * q, identity(q.columns), "Q' Q", place);
}
Matrix part_of(const Matrix& a, int row, int column, int rows, int columns) {
  Matrix result(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) result(i, j) = a(row + i, column + j);
  return result;
}
/// The elements on the diagonal and in one triangle.
Matrix triangle_of(const Matrix& a, bool lower, bool unit = false) {
  Matrix result(a.rows, a.columns);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j)
      if (i == j ? true : lower == (i > j)) result(i, j) = unit && i == j ? 1 : a(i, j);
  return result;
}
template <typename Real>
Matrix diagonal_of(const std::vector<Real>& values, int rows, int columns) {
  Matrix result(rows, columns);
  for (int i = 0; i < std::min(rows, columns); ++i) result(i, i) = values[i];
  return result;
}
/// A matrix whose columns are `lda` elements apart. The elements between the columns are 1000.
template <typename T>
std::vector<T> random_columns(int m, int n, int lda) {
  std::vector<T> a(static_cast<std::size_t>(lda) * n, narrow<T>(1000));
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) a[i + j * lda] = random_number<T>();
  return a;
}
template <typename T>
std::vector<T> columns_of(const Matrix& a, int lda) {
  std::vector<T> values(static_cast<std::size_t>(lda) * a.columns, narrow<T>(1000));
  for (int j = 0; j < a.columns; ++j)
    for (int i = 0; i < a.rows; ++i) values[i + j * lda] = narrow<T>(a(i, j));
  return values;
}
/// Expects that the elements between the columns have not changed.
template <typename T>
void expect_gaps(const std::vector<T>& a, int m, int lda,
                 tap::Location place = tap::Location::current()) {
  for (std::size_t e = 0; e < a.size(); ++e)
    if (static_cast<int>(e % lda) >= m) expect_equal(wide(a[e]), Complex(1000), place);
}
/// A Hermitian matrix, or a symmetric one for real types.
template <typename T>
Matrix random_hermitian(int n) {
  return completed(matrix_of(random_columns<T>(n, n, n), n, n, n), CUBLAS_FILL_MODE_LOWER,
                   Kind::hermitian);
}
template <typename T>
Matrix random_positive(int n) {
  Matrix a = random_hermitian<T>(n);
  for (int i = 0; i < n; ++i) a(i, i) += 2 * n;
  return a;
}
/// The triangle of a matrix in columns; all other elements are NaN and must not be read.
template <typename T>
std::vector<T> half_of(const Matrix& a, cublasFillMode_t part, int lda) {
  auto values = columns_of<T>(a, lda);
  for (int j = 0; j < a.columns; ++j)
    for (int i = 0; i < a.rows; ++i)
      if (part == CUBLAS_FILL_MODE_LOWER ? i < j : i > j)
        values[i + j * lda] = narrow<T>({NAN, NAN});
  return values;
}
template <typename T>
Matrix found_in(const Device<T>& a, int m, int n, int lda,
                tap::Location place = tap::Location::current()) {
  const auto values = a.to_host(place);
  expect_gaps(values, m, lda, place);
  return matrix_of(values, m, n, lda);
}
template <typename T>
Matrix random_matrix(int m, int n) {
  return matrix_of(random_columns<T>(m, n, m), m, n, m);
}

// --- Systems of linear equations

/// Expects P A = L U.
template <typename T, typename Pivot>
void expect_lu(const Matrix& a, const Matrix& factors, const std::vector<Pivot>& pivots,
               tap::Location place = tap::Location::current()) {
  Matrix permuted = a;
  const int least = std::min(a.rows, a.columns);
  for (std::size_t i = 0; i < pivots.size(); ++i) {
    const auto pivot = static_cast<int>(pivots[i]) - 1;
    if (pivot < static_cast<int>(i) || pivot >= a.rows)
      return tap::complain("pivot " + std::to_string(pivot + 1) + " is no row", place);
    for (int j = 0; j < a.columns; ++j)
      std::swap(permuted(static_cast<int>(i), j), permuted(pivot, j));
  }
  const Matrix l = triangle_of(part_of(factors, 0, 0, a.rows, least), true, true),
               u = triangle_of(part_of(factors, 0, 0, least, a.columns), false);
  expect_equal_matrices<T>(l * u, permuted, "L U", place);
}
template <typename T>
void expect_lu_factors() {
  const Handle handle;
  const Parameters parameters;
  for (const auto& [m, n] : {std::pair{1, 1}, {5, 5}, {7, 4}, {4, 9}, {33, 33}})
    for (const bool pivoted : {true, false}) {
      const int lda = m + 2, least = std::min(m, n);
      Matrix before = random_matrix<T>(m, n);
      for (int i = 0; i < least && !pivoted; ++i) before(i, i) += 40;
      const Device<T> a(columns_of<T>(before, lda)), same(columns_of<T>(before, lda));
      int elements = 0;
      succeed(getrf_bufferSize(T{}, handle.it, m, n, static_cast<T*>(nullptr), lda, &elements));
      const Device<T> room(elements);
      const Device<int> pivots(least);
      const Device<std::int64_t> wide_pivots(least);
      const Info info, other;
      succeed(getrf(T{}, handle.it, m, n, a.get(), lda, room.get(),
                    pivoted ? pivots.get() : nullptr, info.get()));
      info.expect_all(0);
      expect_lu<T>(before, found_in(a, m, n, lda), pivoted ? pivots.to_host() : std::vector<int>());
      Rooms rooms;
      succeed(cusolverDnXgetrf_bufferSize(handle, parameters, m, n, type_of<T>, same.get(), lda,
                                          type_of<T>, &rooms.device_bytes, &rooms.host_bytes));
      succeed(cusolverDnXgetrf(handle, parameters, m, n, type_of<T>, same.get(), lda,
                               pivoted ? wide_pivots.get() : nullptr, type_of<T>, rooms.room.get(),
                               rooms.device_bytes, nullptr, 0, other.get()));
      other.expect_all(0);
      expect_lu<T>(before, found_in(same, m, n, lda),
                   pivoted ? wide_pivots.to_host() : std::vector<std::int64_t>());
      if (m != n) continue;
      for (const auto op : operations) {
        const Matrix x = random_matrix<T>(n, 3);
        const Matrix sides = before.after(op) * x;
        const int ldb = n + 1;
        const Device<T> b(columns_of<T>(sides, ldb)), c(columns_of<T>(sides, ldb));
        const Info solved, also_solved;
        succeed(getrs(T{}, handle.it, op, n, 3, a.get(), lda, pivoted ? pivots.get() : nullptr,
                      b.get(), ldb, solved.get()));
        solved.expect_all(0);
        succeed(cusolverDnXgetrs(handle, parameters, op, n, 3, type_of<T>, a.get(), lda,
                                 pivoted ? wide_pivots.get() : nullptr, type_of<T>, c.get(), ldb,
                                 also_solved.get()));
        also_solved.expect_all(0);
        // The solution of a random system may be inaccurate; its residual is not.
        expect_equal_matrices<T>(before.after(op) * found_in(b, n, 3, ldb), sides, "A X");
        expect_equal_matrices<T>(before.after(op) * found_in(c, n, 3, ldb), sides, "A X");
      }
    }
}
TEST(factors_of_gauss_solve) { FOR_EACH_TYPE(expect_lu_factors); }

TEST(a_pivot_of_zero_is_reported) {
  const Handle handle;
  // Column 2 is twice column 0, so the third pivot is zero.
  const std::vector<double> values{1, 2, 3, 0, 1, 4, 2, 4, 6};
  const Device<double> a(values), b(values), room(1);
  const Device<int> pivots(3);
  const Info pivoted, plain;
  succeed(cusolverDnDgetrf(handle, 3, 3, a.get(), 3, room.get(), pivots.get(), pivoted.get()));
  pivoted.expect_all(3);
  succeed(cusolverDnDgetrf(handle, 3, 3, b.get(), 3, room.get(), nullptr, plain.get()));
  plain.expect_all(3);
  const Device<double> zero(std::vector<double>{0, 1, 1, 0});
  const Info first;
  succeed(cusolverDnDgetrf(handle, 2, 2, zero.get(), 2, room.get(), nullptr, first.get()));
  first.expect_all(1);
}

template <typename T>
void expect_interchanges() {
  const Handle handle;
  constexpr int rows = 6, n = 3, lda = 8;
  const Matrix before = random_matrix<T>(rows, n);
  const Device<T> a(columns_of<T>(before, lda));
  const Device<int> pivots(std::vector<int>{9, 4, 3, 6});
  succeed(laswp(T{}, handle.it, n, a.get(), lda, 2, 4, pivots.get(), 1));
  Matrix expected = before;
  for (const auto& [i, j] : {std::pair{1, 3}, {2, 2}, {3, 5}})
    for (int k = 0; k < n; ++k) std::swap(expected(i, k), expected(j, k));
  expect_equal_matrices<T>(found_in(a, rows, n, lda), expected, "the interchanged matrix");
  succeed(laswp(T{}, handle.it, n, a.get(), lda, 2, 4, pivots.get(), -1));
  expect_equal_matrices<T>(found_in(a, rows, n, lda), before, "the original matrix");
}
TEST(rows_are_interchanged) { FOR_EACH_TYPE(expect_interchanges); }

template <typename T>
void expect_cholesky() {
  const Handle handle;
  const Parameters parameters;
  for (const auto part : triangles)
    for (const int n : {1, 6, 33}) {
      const bool lower = part == CUBLAS_FILL_MODE_LOWER;
      const int lda = n + 1, ldb = n + 2;
      const Matrix before = random_positive<T>(n), x = random_matrix<T>(n, 3);
      const Matrix sides = before * x;
      const Device<T> a(half_of<T>(before, part, lda)), b(columns_of<T>(sides, ldb)), room(1);
      const Info info, solved, inverted;
      succeed(potrf(T{}, handle.it, part, n, a.get(), lda, room.get(), 1, info.get()));
      info.expect_all(0);
      const Matrix factor = triangle_of(found_in(a, n, n, lda), lower);
      expect_equal_matrices<T>(
          lower ? factor * factor.after(CUBLAS_OP_C) : factor.after(CUBLAS_OP_C) * factor, before,
          "L L'");
      succeed(potrs(T{}, handle.it, part, n, 3, a.get(), lda, b.get(), ldb, solved.get()));
      solved.expect_all(0);
      expect_equal_matrices<T>(found_in(b, n, 3, ldb), x, "the solution");

      const Device<T> product(a.to_host()), of_x(a.to_host()), c(columns_of<T>(sides, ldb));
      const Info multiplied, also_solved, of_triangle;
      succeed(cusolverDnXpotrs(handle, parameters, part, n, 3, type_of<T>, a.get(), lda, type_of<T>,
                               c.get(), ldb, also_solved.get()));
      also_solved.expect_all(0);
      expect_equal_matrices<T>(found_in(c, n, 3, ldb), x, "the solution with 64-bit sizes");
      succeed(lauum(T{}, handle.it, part, n, product.get(), lda, room.get(), 1, multiplied.get()));
      multiplied.expect_all(0);
      expect_equal_matrices<T>(triangle_of(found_in(product, n, n, lda), lower),
                               triangle_of(lower ? factor.after(CUBLAS_OP_C) * factor
                                                 : factor * factor.after(CUBLAS_OP_C),
                                           lower),
                               "L' L");
      Rooms rooms;
      succeed(cusolverDnXtrtri_bufferSize(handle, part, CUBLAS_DIAG_NON_UNIT, n, type_of<T>,
                                          of_x.get(), lda, &rooms.device_bytes, &rooms.host_bytes));
      succeed(cusolverDnXtrtri(handle, part, CUBLAS_DIAG_NON_UNIT, n, type_of<T>, of_x.get(), lda,
                               rooms.room.get(), rooms.device_bytes, nullptr, 0,
                               of_triangle.get()));
      of_triangle.expect_all(0);
      expect_equal_matrices<T>(triangle_of(found_in(of_x, n, n, lda), lower) * factor, identity(n),
                               "the inverse of L");
      succeed(potri(T{}, handle.it, part, n, a.get(), lda, room.get(), 1, inverted.get()));
      inverted.expect_all(0);
      expect_equal_matrices<T>(completed(found_in(a, n, n, lda), part, Kind::hermitian) * before,
                               identity(n), "the inverse of A");
    }
}
TEST(factors_of_cholesky_solve_and_invert) { FOR_EACH_TYPE(expect_cholesky); }

template <typename T>
void expect_cholesky_batches() {
  const Handle handle;
  constexpr int n = 7, lda = 9, batches = 4;
  for (const auto part : triangles) {
    std::vector<T> all, sides;
    std::vector<Matrix> before, solutions;
    for (int i = 0; i < batches; ++i) {
      before.push_back(random_positive<T>(n));
      solutions.push_back(random_matrix<T>(n, 1));
      for (const T value : half_of<T>(before[i], part, lda)) all.push_back(value);
      for (const T value : columns_of<T>(before[i] * solutions[i], lda)) sides.push_back(value);
    }
    const Device<T> a(all), b(sides);
    std::vector<T*> as, bs;
    for (int i = 0; i < batches; ++i) {
      as.push_back(a.get() + i * lda * n);
      bs.push_back(b.get() + i * lda);
    }
    const Device<T*> of_a(as), of_b(bs);
    const Info infos(batches), info;
    succeed(potrfBatched(T{}, handle.it, part, n, of_a.get(), lda, infos.get(), batches));
    infos.expect_all(0);
    succeed(potrsBatched(T{}, handle.it, part, n, 1, of_a.get(), lda, of_b.get(), lda, info.get(),
                         batches));
    info.expect_all(0);
    const auto found = b.to_host();
    for (int i = 0; i < batches; ++i)
      expect_equal_matrices<T>(
          matrix_of(std::vector<T>(found.begin() + i * lda, found.begin() + (i + 1) * lda), n, 1,
                    lda),
          solutions[i], "a solution of the batch");
  }
}
TEST(batches_are_factorised_and_solved) { FOR_EACH_TYPE(expect_cholesky_batches); }

/// Symmetric matrices, also for complex types.
template <typename T>
void expect_symmetric_factors() {
  const Handle handle;
  for (const auto part : triangles)
    for (const int n : {1, 5, 18})
      for (const bool pivoted : {true, false}) {
        const bool lower = part == CUBLAS_FILL_MODE_LOWER;
        const int lda = n + 2, ldb = n + 1;
        Matrix before = completed(random_matrix<T>(n, n), CUBLAS_FILL_MODE_LOWER, Kind::symmetric);
        for (int i = 0; i < n; ++i) before(i, i) += pivoted ? 0 : 40;
        const Matrix sides = before * random_matrix<T>(n, 2);
        const Device<T> a(half_of<T>(before, part, lda)), b(columns_of<T>(sides, ldb)), room(1);
        const Device<int> pivots(n);
        const Info info, solved, inverted;
        succeed(sytrf(T{}, handle.it, part, n, a.get(), lda, pivoted ? pivots.get() : nullptr,
                      room.get(), 1, info.get()));
        info.expect_all(0);
        const Matrix factors = found_in(a, n, n, lda);
        if (!pivoted) {
          Matrix d(n, n);
          for (int i = 0; i < n; ++i) d(i, i) = factors(i, i);
          const Matrix l = triangle_of(factors, lower, true);
          expect_equal_matrices<T>(l * d * l.after(CUBLAS_OP_T), before, "L D L'");
        }
        const auto narrow_pivots = pivots.to_host();
        const Device<std::int64_t> wide_pivots(
            std::vector<std::int64_t>(narrow_pivots.begin(), narrow_pivots.end()));
        Rooms rooms;
        succeed(cusolverDnXsytrs_bufferSize(handle, part, n, 2, type_of<T>, a.get(), lda,
                                            wide_pivots.get(), type_of<T>, b.get(), ldb,
                                            &rooms.device_bytes, &rooms.host_bytes));
        succeed(cusolverDnXsytrs(handle, part, n, 2, type_of<T>, a.get(), lda,
                                 pivoted ? wide_pivots.get() : nullptr, type_of<T>, b.get(), ldb,
                                 rooms.room.get(), rooms.device_bytes, nullptr, 0, solved.get()));
        solved.expect_all(0);
        expect_equal_matrices<T>(before * found_in(b, n, 2, ldb), sides, "A X");
        succeed(sytri(T{}, handle.it, part, n, a.get(), lda, pivoted ? pivots.get() : nullptr,
                      room.get(), 1, inverted.get()));
        inverted.expect_all(0);
        const Matrix inverse = completed(found_in(a, n, n, lda), part, Kind::symmetric);
        // The columns of the inverse solve systems whose right-hand sides are unit vectors.
        double size = 1;
        for (const Complex element : inverse.elements) size = std::max(size, std::abs(element));
        Matrix product = before * inverse;
        for (int i = 0; i < n; ++i) product(i, i) -= 1;
        for (Complex& element : product.elements) element /= size * n;
        expect_equal_matrices<T>(product, Matrix(n, n), "the inverse of A");
      }
}
TEST(symmetric_factors_solve_and_invert) { FOR_EACH_TYPE(expect_symmetric_factors); }

/// Solutions by functions that may compute in a lower precision; the result is as precise as the
/// operands.
template <typename T, typename Solve, typename Fit, typename Room>
void expect_mixed_solutions(Solve solve, Fit fit, Room room_for) {
  const Handle handle;
  constexpr int n = 9, m = 14, lda = 15, ldb = 16, ldx = 10, columns = 2;
  const Matrix before = random_positive<T>(n), x = random_matrix<T>(n, columns);
  const Matrix sides = before * x;
  {
    const Device<T> a(columns_of<T>(before, lda)), b(columns_of<T>(sides, ldb)),
        found(columns_of<T>(Matrix(n, columns), ldx));
    const Device<int> pivots(n);
    const Info info;
    int iterations = 0;
    std::size_t bytes = 0;
    succeed(room_for(handle.it, n, columns, a.get(), lda, pivots.get(), b.get(), ldb, found.get(),
                     ldx, nullptr, &bytes));
    const Device<char> room(bytes);
    succeed(solve(handle.it, n, columns, a.get(), lda, pivots.get(), b.get(), ldb, found.get(), ldx,
                  room.get(), bytes, &iterations, info.get()));
    info.expect_all(0);
    expect(iterations != 0, "the number of iterations is set");
    expect_equal_matrices<T>(found_in(found, n, columns, ldx), x, "the solution");
    expect_equal_matrices<T>(found_in(b, n, columns, ldb), sides, "the right-hand sides");
  }
  const Matrix tall = random_matrix<T>(m, n), of_tall = random_matrix<T>(m, columns);
  const Device<T> a(columns_of<T>(tall, lda)), b(columns_of<T>(of_tall, ldb)),
      found(columns_of<T>(Matrix(n, columns), ldx));
  const Device<char> room(64);
  const Info info;
  int iterations = 0;
  succeed(fit(handle.it, m, n, columns, a.get(), lda, b.get(), ldb, found.get(), ldx, room.get(),
              std::size_t{64}, &iterations, info.get()));
  info.expect_all(0);
  // The residual is orthogonal to the columns of A.
  Matrix rest = tall * found_in(found, n, columns, ldx);
  for (std::size_t e = 0; e < rest.elements.size(); ++e) rest.elements[e] -= of_tall.elements[e];
  expect_equal_matrices<T>(tall.after(CUBLAS_OP_C) * rest, Matrix(n, columns), "A' (A X - B)");
}
#define EXPECT_MIXED(PP, T)                                                           \
  expect_mixed_solutions<T>([](auto... all) { return cusolverDn##PP##gesv(all...); }, \
                            [](auto... all) { return cusolverDn##PP##gels(all...); }, \
                            [](auto... all) { return cusolverDn##PP##gesv_bufferSize(all...); })
TEST(solutions_with_a_lower_precision_inside) {
  EXPECT_MIXED(SS, float);
  EXPECT_MIXED(DD, double);
  EXPECT_MIXED(DS, double);
  EXPECT_MIXED(CC, cuComplex);
  EXPECT_MIXED(ZC, cuDoubleComplex);
  EXPECT_MIXED(ZZ, cuDoubleComplex);
}

TEST(a_singular_system_is_reported) {
  const Handle handle;
  const Device<double> a(std::vector<double>{1, 2, 2, 4}), b(2), x(2), room(2);
  const Device<int> pivots(2);
  const Info info;
  int iterations = 0;
  succeed(cusolverDnDSgesv(handle, 2, 1, a.get(), 2, pivots.get(), b.get(), 2, x.get(), 2,
                           room.get(), 16, &iterations, info.get()));
  info.expect_all(2);
}

// --- Orthogonal factorisations

template <typename T>
void expect_qr() {
  const Handle handle;
  const Parameters parameters;
  for (const auto& [m, n] : {std::pair{1, 1}, {6, 6}, {9, 4}, {3, 7}, {33, 20}}) {
    const int lda = m + 3, least = std::min(m, n);
    const Matrix before = random_matrix<T>(m, n);
    const Device<T> a(columns_of<T>(before, lda)), same(columns_of<T>(before, lda)), tau(least),
        other_tau(least);
    int elements = 0;
    succeed(geqrf_bufferSize(T{}, handle.it, m, n, a.get(), lda, &elements));
    const Device<T> room(elements);
    const Info info, other, made, multiplied;
    succeed(geqrf(T{}, handle.it, m, n, a.get(), lda, tau.get(), room.get(), elements, info.get()));
    info.expect_all(0);
    Rooms rooms;
    succeed(cusolverDnXgeqrf_bufferSize(handle, parameters, m, n, type_of<T>, same.get(), lda,
                                        type_of<T>, other_tau.get(), type_of<T>,
                                        &rooms.device_bytes, &rooms.host_bytes));
    succeed(cusolverDnXgeqrf(handle, parameters, m, n, type_of<T>, same.get(), lda, type_of<T>,
                             other_tau.get(), type_of<T>, rooms.room.get(), rooms.device_bytes,
                             nullptr, 0, other.get()));
    other.expect_all(0);
    const Matrix factors = found_in(a, m, n, lda);
    expect_equal_matrices<T>(found_in(same, m, n, lda), factors, "the factors with 64-bit sizes");
    const Matrix r = triangle_of(part_of(factors, 0, 0, least, n), false);
    // Q from its reflections, with m columns and with as few as possible.
    const Device<T> q(columns_of<T>(identity(m), lda));
    succeed(ormqr(T{}, handle.it, CUBLAS_SIDE_LEFT, CUBLAS_OP_N, m, m, least, a.get(), lda,
                  tau.get(), q.get(), lda, room.get(), elements, multiplied.get()));
    multiplied.expect_all(0);
    const Matrix full = found_in(q, m, m, lda);
    expect_orthogonal<T>(full);
    const Matrix few = part_of(full, 0, 0, m, least);
    expect_equal_matrices<T>(few * r, before, "Q R");
    for (const auto side : sides)
      for (const auto op : operations) {
        const bool left = side == CUBLAS_SIDE_LEFT, is_valid = !is_complex<T> || op != CUBLAS_OP_T;
        const Matrix c = left ? random_matrix<T>(m, 2) : random_matrix<T>(2, m);
        const int ldc = c.rows + 1;
        const Device<T> on_c(columns_of<T>(c, ldc));
        const auto status =
            ormqr(T{}, handle.it, side, op, c.rows, c.columns, least, a.get(), lda, tau.get(),
                  on_c.get(), ldc, room.get(), elements, multiplied.get());
        expect((status == CUSOLVER_STATUS_SUCCESS) == is_valid, "op(Q) exists or is refused");
        if (is_valid)
          expect_equal_matrices<T>(found_in(on_c, c.rows, c.columns, ldc),
                                   left ? full.after(op) * c : c * full.after(op), "Q C");
      }
    succeed(orgqr(T{}, handle.it, m, least, least, a.get(), lda, tau.get(), room.get(), elements,
                  made.get()));
    made.expect_all(0);
    expect_equal_matrices<T>(part_of(matrix_of(a.to_host(), m, n, lda), 0, 0, m, least), few, "Q");
  }
}
TEST(orthogonal_factors) { FOR_EACH_TYPE(expect_qr); }

template <typename T>
void expect_bidiagonal() {
  using Real = RealOf<T>;
  const Handle handle;
  for (const auto& [m, n] : {std::pair{1, 1}, {6, 6}, {9, 5}, {20, 17}}) {
    const int lda = m + 1;
    const Matrix before = random_matrix<T>(m, n);
    const Device<T> a(columns_of<T>(before, lda)), tau_q(n), tau_p(n), room(1);
    const Device<Real> d(n), e(std::max(n - 1, 1));
    const Info info, of_q, of_p;
    succeed(gebrd(T{}, handle.it, m, n, a.get(), lda, d.get(), e.get(), tau_q.get(), tau_p.get(),
                  room.get(), 1, info.get()));
    info.expect_all(0);
    Matrix b = diagonal_of(d.to_host(), n, n);
    for (int i = 0; i + 1 < n; ++i) b(i, i + 1) = e.to_host()[i];
    const Device<T> p(a.to_host());
    succeed(orgbr(T{}, handle.it, CUBLAS_SIDE_LEFT, m, n, n, a.get(), lda, tau_q.get(), room.get(),
                  1, of_q.get()));
    of_q.expect_all(0);
    succeed(orgbr(T{}, handle.it, CUBLAS_SIDE_RIGHT, n, n, m, p.get(), lda, tau_p.get(), room.get(),
                  1, of_p.get()));
    of_p.expect_all(0);
    const Matrix q = found_in(a, m, n, lda), right = matrix_of(p.to_host(), n, n, lda);
    expect_orthogonal<T>(q);
    expect_orthogonal<T>(right);
    expect_equal_matrices<T>(q * b * right, before, "Q B P'");
  }
}
TEST(bidiagonal_matrices) { FOR_EACH_TYPE(expect_bidiagonal); }

template <typename T>
void expect_tridiagonal() {
  using Real = RealOf<T>;
  const Handle handle;
  for (const auto part : triangles)
    for (const int n : {1, 2, 7, 19}) {
      const int lda = n + 2, less = std::max(n - 1, 1);
      const Matrix before = random_hermitian<T>(n);
      const Device<T> a(half_of<T>(before, part, lda)), tau(less), room(1);
      const Device<Real> d(n), e(less);
      const Info info, made, multiplied;
      succeed(sytrd(T{}, handle.it, part, n, a.get(), lda, d.get(), e.get(), tau.get(), room.get(),
                    1, info.get()));
      info.expect_all(0);
      Matrix t = diagonal_of(d.to_host(), n, n);
      for (int i = 0; i + 1 < n; ++i) t(i, i + 1) = t(i + 1, i) = e.to_host()[i];
      const Matrix c = random_matrix<T>(2, n);
      const Device<T> on_c(columns_of<T>(c, 3));
      succeed(ormtr(T{}, handle.it, CUBLAS_SIDE_RIGHT, part, CUBLAS_OP_C, 2, n, a.get(), lda,
                    tau.get(), on_c.get(), 3, room.get(), 1, multiplied.get()));
      multiplied.expect_all(0);
      succeed(orgtr(T{}, handle.it, part, n, a.get(), lda, tau.get(), room.get(), 1, made.get()));
      made.expect_all(0);
      const Matrix q = found_in(a, n, n, lda);
      expect_orthogonal<T>(q);
      expect_equal_matrices<T>(q * t * q.after(CUBLAS_OP_C), before, "Q T Q'");
      expect_equal_matrices<T>(found_in(on_c, 2, n, 3), c * q.after(CUBLAS_OP_C), "C Q'");
    }
}
TEST(tridiagonal_matrices) { FOR_EACH_TYPE(expect_tridiagonal); }

// --- Eigenvalues

template <typename Real>
void expect_ascending(const std::vector<Real>& values,
                      tap::Location place = tap::Location::current()) {
  for (std::size_t i = 1; i < values.size(); ++i)
    expect(values[i - 1] <= values[i], "the values ascend", place);
}
/// Expects A V = V W for some columns V.
template <typename T>
void expect_eigenvectors(const Matrix& a, const Matrix& vectors, const std::vector<RealOf<T>>& w,
                         tap::Location place = tap::Location::current()) {
  expect_ascending(w, place);
  expect_orthogonal<T>(vectors, place);
  expect_equal_matrices<T>(a * vectors, vectors * diagonal_of(w, vectors.columns, vectors.columns),
                           "A V", place);
}
template <typename T>
void expect_same_values(const std::vector<T>& found, const std::vector<T>& expected,
                        tap::Location place = tap::Location::current()) {
  const int n = static_cast<int>(expected.size());
  expect_equal_matrices<T>(diagonal_of(found, n, n), diagonal_of(expected, n, n), "the values",
                           place);
}
constexpr auto with_vectors = CUSOLVER_EIG_MODE_VECTOR, without = CUSOLVER_EIG_MODE_NOVECTOR;

template <typename T>
void expect_eigenvalues() {
  using Real = RealOf<T>;
  constexpr cudaDataType real = type_of<Real>;
  const Handle handle;
  const Parameters parameters;
  const EigenInfo jacobi;
  for (const auto part : triangles)
    for (const int n : {1, 2, 9, 30}) {
      const int lda = n + 2;
      const Matrix before = random_hermitian<T>(n);
      const auto half = half_of<T>(before, part, lda);
      const Device<T> a(half), room(1);
      const Device<Real> w(n);
      const Info info;
      succeed(syevd(T{}, handle.it, with_vectors, part, n, a.get(), lda, w.get(), room.get(), 1,
                    info.get()));
      info.expect_all(0);
      const auto values = w.to_host();
      expect_eigenvectors<T>(before, found_in(a, n, n, lda), values);
      {
        const Device<T> b(half);
        const Device<Real> v(n);
        const Info other;
        succeed(syevd(T{}, handle.it, without, part, n, b.get(), lda, v.get(), room.get(), 1,
                      other.get()));
        other.expect_all(0);
        expect_same_values(v.to_host(), values);
      }
      {
        const Device<T> b(half);
        const Device<Real> v(n);
        const Info other;
        Rooms rooms;
        succeed(cusolverDnXsyevd_bufferSize(handle, parameters, with_vectors, part, n, type_of<T>,
                                            b.get(), lda, real, v.get(), type_of<T>,
                                            &rooms.device_bytes, &rooms.host_bytes));
        succeed(cusolverDnXsyevd(handle, parameters, with_vectors, part, n, type_of<T>, b.get(),
                                 lda, real, v.get(), type_of<T>, rooms.room.get(),
                                 rooms.device_bytes, nullptr, 0, other.get()));
        other.expect_all(0);
        expect_eigenvectors<T>(before, found_in(b, n, n, lda), v.to_host());
      }
      for (const auto mode : {with_vectors, without}) {
        const Device<T> b(half);
        const Device<Real> v(n);
        const Info other;
        succeed(syevj(T{}, handle.it, mode, part, n, b.get(), lda, v.get(), room.get(), 1,
                      other.get(), jacobi.it));
        other.expect_all(0);
        expect_same_values(v.to_host(), values);
        if (mode == with_vectors)
          expect_eigenvectors<T>(before, found_in(b, n, n, lda), v.to_host());
        double residual = -1;
        int sweeps = -1;
        succeed(cusolverDnXsyevjGetResidual(handle, jacobi, &residual));
        succeed(cusolverDnXsyevjGetSweeps(handle, jacobi, &sweeps));
        expect(residual >= 0 && residual < n * n * tolerance<T>(n), "the residual is small");
        expect(sweeps > 0, "there are sweeps");
      }
    }
}
TEST(eigenvalues_and_vectors) { FOR_EACH_TYPE(expect_eigenvalues); }

template <typename T>
void expect_selected_eigenvalues() {
  using Real = RealOf<T>;
  const Handle handle;
  const Parameters parameters;
  constexpr int n = 9, lda = 11;
  constexpr auto part = CUBLAS_FILL_MODE_UPPER;
  // Eigenvalues 1 to 9, so that it is known how many are in an interval.
  const Matrix start = random_hermitian<T>(n);
  const Device<T> q(columns_of<T>(start, lda)), room(1);
  const Device<Real> w(n);
  const Info info;
  succeed(syevd(T{}, handle.it, with_vectors, part, n, q.get(), lda, w.get(), room.get(), 1,
                info.get()));
  const Matrix vectors = found_in(q, n, n, lda);
  std::vector<Real> values(n);
  std::iota(values.begin(), values.end(), Real(1));
  const Matrix before = vectors * diagonal_of(values, n, n) * vectors.after(CUBLAS_OP_C);
  const auto half = half_of<T>(before, part, lda);
  struct Case {
    cusolverEigRange_t range;
    double low, high;
    int first, last, begin, end;
  };
  for (const Case& c :
       {Case{CUSOLVER_EIG_RANGE_ALL, 0, 0, 0, 0, 1, 9},
        Case{CUSOLVER_EIG_RANGE_I, 0, 0, 3, 5, 3, 5}, Case{CUSOLVER_EIG_RANGE_I, 0, 0, 9, 9, 9, 9},
        Case{CUSOLVER_EIG_RANGE_V, 1.5, 4.5, 0, 0, 2, 4},
        Case{CUSOLVER_EIG_RANGE_V, 20, 30, 0, 0, 1, 0}})
    for (const bool with_64_bits : {false, true})
      for (const auto mode : {with_vectors, without}) {
        const Device<T> a(half);
        const Device<Real> v(n);
        const Info other;
        const int count = c.end - c.begin + 1;
        Real low = static_cast<Real>(c.low), high = static_cast<Real>(c.high);
        int found = -1;
        std::int64_t wide_found = -1;
        if (with_64_bits)
          succeed(cusolverDnXsyevdx(handle, parameters, mode, c.range, part, n, type_of<T>, a.get(),
                                    lda, &low, &high, c.first, c.last, &wide_found, type_of<Real>,
                                    v.get(), type_of<T>, room.get(), sizeof(T), nullptr, 0,
                                    other.get()));
        else
          succeed(syevdx(T{}, handle.it, mode, c.range, part, n, a.get(), lda, low, high, c.first,
                         c.last, &found, v.get(), room.get(), 1, other.get()));
        // The number of eigenvalues is known without any further synchronisation.
        expect_equal(with_64_bits ? static_cast<int>(wide_found) : found, count);
        other.expect_all(0);
        auto selected = v.to_host();
        selected.resize(count);
        std::vector<Real> expected(values.begin() + c.begin - 1, values.begin() + c.end);
        expect_same_values(selected, expected);
        if (mode == with_vectors)
          expect_eigenvectors<T>(before, part_of(matrix_of(a.to_host(), n, n, lda), 0, 0, n, count),
                                 selected);
      }
}
TEST(some_eigenvalues) { FOR_EACH_TYPE(expect_selected_eigenvalues); }

template <typename T>
void expect_eigenvalue_batches() {
  using Real = RealOf<T>;
  const Handle handle;
  const Parameters parameters;
  const EigenInfo jacobi;
  constexpr int n = 5, lda = 6, batches = 3;
  constexpr auto part = CUBLAS_FILL_MODE_LOWER;
  std::vector<Matrix> before;
  std::vector<T> all;
  for (int i = 0; i < batches; ++i) {
    before.push_back(random_hermitian<T>(n));
    for (const T value : half_of<T>(before[i], part, lda)) all.push_back(value);
  }
  for (const bool with_64_bits : {false, true}) {
    const Device<T> a(all), room(1);
    const Device<Real> w(n * batches);
    const Info infos(batches);
    succeed(with_64_bits
                ? cusolverDnXsyevBatched(handle, parameters, with_vectors, part, n, type_of<T>,
                                         a.get(), lda, type_of<Real>, w.get(), type_of<T>,
                                         room.get(), sizeof(T), nullptr, 0, infos.get(), batches)
                : syevjBatched(T{}, handle.it, with_vectors, part, n, a.get(), lda, w.get(),
                               room.get(), 1, infos.get(), jacobi.it, batches));
    infos.expect_all(0);
    const auto vectors = a.to_host();
    const auto values = w.to_host();
    expect_gaps(vectors, n, lda);
    for (int i = 0; i < batches; ++i)
      expect_eigenvectors<T>(
          before[i],
          matrix_of(
              std::vector<T>(vectors.begin() + i * lda * n, vectors.begin() + (i + 1) * lda * n), n,
              n, lda),
          std::vector<Real>(values.begin() + i * n, values.begin() + (i + 1) * n));
  }
  double residual = 0;
  expect(cusolverDnXsyevjGetResidual(handle, jacobi, &residual) == CUSOLVER_STATUS_NOT_SUPPORTED,
         "a batch has no residual");
}
TEST(eigenvalues_in_batches) { FOR_EACH_TYPE(expect_eigenvalue_batches); }

template <typename T>
void expect_generalised_eigenvalues() {
  using Real = RealOf<T>;
  const Handle handle;
  const EigenInfo jacobi;
  constexpr int n = 8, lda = 10, ldb = 9;
  for (const auto part : triangles)
    for (const auto type : {CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_TYPE_2, CUSOLVER_EIG_TYPE_3})
      for (const int way : {0, 1, 2}) {
        const Matrix a = random_hermitian<T>(n), b = random_positive<T>(n);
        const Device<T> on_a(half_of<T>(a, part, lda)), on_b(half_of<T>(b, part, ldb)), room(1);
        const Device<Real> w(n);
        const Info info;
        int found = n;
        if (way == 0)
          succeed(sygvd(T{}, handle.it, type, with_vectors, part, n, on_a.get(), lda, on_b.get(),
                        ldb, w.get(), room.get(), 1, info.get()));
        else if (way == 1)
          succeed(sygvj(T{}, handle.it, type, with_vectors, part, n, on_a.get(), lda, on_b.get(),
                        ldb, w.get(), room.get(), 1, info.get(), jacobi.it));
        else
          succeed(sygvdx(T{}, handle.it, type, with_vectors, CUSOLVER_EIG_RANGE_I, part, n,
                         on_a.get(), lda, on_b.get(), ldb, Real{}, Real{}, 2, 4, &found, w.get(),
                         room.get(), 1, info.get()));
        info.expect_all(0);
        expect_equal(found, way == 2 ? 3 : n);
        auto values = w.to_host();
        values.resize(found);
        expect_ascending(values);
        const Matrix x = part_of(matrix_of(on_a.to_host(), n, n, lda), 0, 0, n, found),
                     scaled = x * diagonal_of(values, found, found);
        if (type == CUSOLVER_EIG_TYPE_1)
          expect_equal_matrices<T>(a * x, b * scaled, "A X = B X W");
        else if (type == CUSOLVER_EIG_TYPE_2)
          expect_equal_matrices<T>(a * b * x, scaled, "A B X = X W");
        else
          expect_equal_matrices<T>(b * a * x, scaled, "B A X = X W");
        expect_gaps(on_b.to_host(), n, ldb);
      }
}
TEST(generalised_eigenvalues) { FOR_EACH_TYPE(expect_generalised_eigenvalues); }

TEST(a_matrix_that_is_not_positive_is_reported) {
  const Handle handle;
  const std::vector<double> a{1, 0, 0, 1}, b{1, 0, 0, -1};
  const Device<double> on_a(a), on_b(b), w(2), room(1);
  const Info info;
  succeed(cusolverDnDsygvd(handle, CUSOLVER_EIG_TYPE_1, with_vectors, CUBLAS_FILL_MODE_LOWER, 2,
                           on_a.get(), 2, on_b.get(), 2, w.get(), room.get(), 1, info.get()));
  info.expect_all(2 + 2);
}

template <typename T>
void expect_general_eigenvalues() {
  using Real = RealOf<T>;
  const Handle handle;
  const Parameters parameters;
  constexpr cudaDataType real = type_of<Real>,
                         complex = real == CUDA_R_32F ? CUDA_C_32F : CUDA_C_64F;
  for (const int n : {1, 2, 13})
    for (const bool in_pairs : {true, false}) {
      if (is_complex<T> && !in_pairs) continue;
      const int lda = n + 1, ldv = n + 2;
      const Matrix before = random_matrix<T>(n, n);
      const Device<T> a(columns_of<T>(before, lda)), v(columns_of<T>(Matrix(n, n), ldv));
      const Device<Real> w(2 * n);
      const Info info;
      Rooms rooms;
      const auto type_w = in_pairs ? complex : real;
      succeed(cusolverDnXgeev_bufferSize(handle, parameters, without, with_vectors, n, type_of<T>,
                                         a.get(), lda, type_w, w.get(), type_of<T>, nullptr, 1,
                                         type_of<T>, v.get(), ldv, type_of<T>, &rooms.device_bytes,
                                         &rooms.host_bytes));
      succeed(cusolverDnXgeev(handle, parameters, without, with_vectors, n, type_of<T>, a.get(),
                              lda, type_w, w.get(), type_of<T>, nullptr, 1, type_of<T>, v.get(),
                              ldv, type_of<T>, rooms.room.get(), rooms.device_bytes, nullptr, 0,
                              info.get()));
      info.expect_all(0);
      const auto parts = w.to_host();
      Matrix values(n, n), vectors = found_in(v, n, n, ldv);
      for (int i = 0; i < n; ++i)
        values(i, i) =
            in_pairs ? Complex(parts[2 * i], parts[2 * i + 1]) : Complex(parts[i], parts[n + i]);
      // For a real matrix, two columns contain the parts of the vectors of two conjugate values.
      for (int i = 0; i + 1 < n && !is_complex<T>; ++i) {
        if (values(i, i).imag() == 0) continue;
        expect_equal(values(i + 1, i + 1), std::conj(values(i, i)));
        for (int row = 0; row < n; ++row) {
          const Complex element(vectors(row, i).real(), vectors(row, i + 1).real());
          vectors(row, i) = element;
          vectors(row, i + 1) = std::conj(element);
        }
        ++i;
      }
      for (int i = 0; i < n; ++i) {
        const Matrix column = part_of(vectors, 0, i, n, 1);
        expect_orthogonal<T>(column);
      }
      expect_equal_matrices<T>(before * vectors, vectors * values, "A V");
    }
}
TEST(eigenvalues_of_general_matrices) { FOR_EACH_TYPE(expect_general_eigenvalues); }

// --- Singular values

template <typename Real>
void expect_descending(const std::vector<Real>& values,
                       tap::Location place = tap::Location::current()) {
  for (std::size_t i = 0; i < values.size(); ++i)
    expect(values[i] >= (i + 1 < values.size() ? values[i + 1] : 0), "the values descend to zero",
           place);
}
/// Expects A = U diag(S) V'.
template <typename T>
void expect_decomposition(const Matrix& a, const Matrix& u, const std::vector<RealOf<T>>& s,
                          const Matrix& v_transposed,
                          tap::Location place = tap::Location::current()) {
  expect_descending(s, place);
  expect_orthogonal<T>(u, place);
  expect_orthogonal<T>(v_transposed.after(CUBLAS_OP_C), place);
  expect_equal_matrices<T>(u * diagonal_of(s, u.columns, v_transposed.rows) * v_transposed, a,
                           "U S V'", place);
}

/// Expects that singular values descend, and that their norm is the norm of the matrix.
template <typename T>
void expect_values_only(const Matrix& a, const std::vector<RealOf<T>>& s,
                        tap::Location place = tap::Location::current()) {
  double norm = 0, expected = 0;
  for (const auto value : s) norm = std::hypot(norm, double(value));
  for (const Complex element : a.elements) expected = std::hypot(expected, std::abs(element));
  tap::expect_near(norm, expected, expected * tolerance<T>(a.rows), place);
  expect_descending(s, place);
}

template <typename T>
void expect_singular_values() {
  using Real = RealOf<T>;
  const Handle handle;
  const Parameters parameters;
  for (const auto& [m, n] : {std::pair{1, 1}, {6, 6}, {9, 4}, {24, 17}}) {
    const int lda = m + 1, ldu = m + 2, ldv = n + 3;
    const Matrix before = random_matrix<T>(m, n);
    const auto columns = columns_of<T>(before, lda);
    for (const char job : {'A', 'S', 'O', 'N'})
      for (const bool with_64_bits : {false, true}) {
        const Device<T> a(columns), u(columns_of<T>(Matrix(m, m), ldu)),
            v(columns_of<T>(Matrix(n, n), ldv)), room(1);
        const Device<Real> s(n);
        const Info info;
        // The columns of U may overwrite A, but then the rows of V' are stored separately.
        const char of_v = job == 'O' ? 'S' : job;
        if (with_64_bits)
          succeed(cusolverDnXgesvd(handle, parameters, job, of_v, m, n, type_of<T>, a.get(), lda,
                                   type_of<Real>, s.get(), type_of<T>, u.get(), ldu, type_of<T>,
                                   v.get(), ldv, type_of<T>, room.get(), sizeof(T), nullptr, 0,
                                   info.get()));
        else
          succeed(gesvd(T{}, handle.it, static_cast<signed char>(job),
                        static_cast<signed char>(of_v), m, n, a.get(), lda, s.get(), u.get(), ldu,
                        v.get(), ldv, room.get(), 1, static_cast<Real*>(nullptr), info.get()));
        info.expect_all(0);
        const Matrix found_u = job == 'O' ? found_in(a, m, n, lda) : found_in(u, m, m, ldu);
        const Matrix found_v = found_in(v, n, n, ldv);
        if (job == 'N') {
          expect_values_only<T>(before, s.to_host());
        } else {
          expect_decomposition<T>(before, job == 'A' ? found_u : part_of(found_u, 0, 0, m, n),
                                  s.to_host(), found_v);
        }
      }
  }
}
TEST(singular_values) { FOR_EACH_TYPE(expect_singular_values); }

template <typename T>
void expect_jacobi_singular_values() {
  using Real = RealOf<T>;
  const Handle handle;
  const Parameters parameters;
  const SingularInfo jacobi;
  for (const auto& [m, n] : {std::pair{1, 1}, {6, 6}, {9, 4}, {3, 7}})
    for (const bool economic : {false, true})
      for (const int way : {0, 1, 2}) {
        const int lda = m + 1, ldu = m + 2, ldv = n + 3, least = std::min(m, n);
        const int columns_u = economic ? least : m, columns_v = economic ? least : n;
        const Matrix before = random_matrix<T>(m, n);
        const Device<T> a(columns_of<T>(before, lda)), u(columns_of<T>(Matrix(m, columns_u), ldu)),
            v(columns_of<T>(Matrix(n, columns_v), ldv)), room(1);
        const Device<Real> s(least);
        const Info info;
        double perturbation = -1;
        if (way == 0)
          succeed(gesvdj(T{}, handle.it, with_vectors, int(economic), m, n, a.get(), lda, s.get(),
                         u.get(), ldu, v.get(), ldv, room.get(), 1, info.get(), jacobi.it));
        else if (way == 1)
          succeed(cusolverDnXgesvdp(handle, parameters, with_vectors, economic, m, n, type_of<T>,
                                    a.get(), lda, type_of<Real>, s.get(), type_of<T>, u.get(), ldu,
                                    type_of<T>, v.get(), ldv, type_of<T>, room.get(), sizeof(T),
                                    nullptr, 0, info.get(), &perturbation));
        else
          succeed(gesvdj(T{}, handle.it, without, int(economic), m, n, a.get(), lda, s.get(),
                         static_cast<T*>(nullptr), ldu, static_cast<T*>(nullptr), ldv, room.get(),
                         1, info.get(), jacobi.it));
        info.expect_all(0);
        if (way == 2) {
          expect_values_only<T>(before, s.to_host());
        } else {
          // The result is V and not its transpose.
          expect_decomposition<T>(before, found_in(u, m, columns_u, ldu), s.to_host(),
                                  found_in(v, n, columns_v, ldv).after(CUBLAS_OP_C));
          expect_equal(perturbation, way == 1 ? 0. : -1.);
        }
        double residual = -1;
        succeed(cusolverDnXgesvdjGetResidual(handle, jacobi, &residual));
        expect(residual >= 0 && residual < 100 * tolerance<T>(m + n), "the residual is small");
      }
}
TEST(singular_values_of_jacobi) { FOR_EACH_TYPE(expect_jacobi_singular_values); }

template <typename T>
void expect_singular_batches() {
  using Real = RealOf<T>;
  const Handle handle;
  const SingularInfo jacobi;
  constexpr int batches = 3, rank = 2;
  for (const auto& [m, n] : {std::pair{5, 5}, {8, 3}, {4, 6}}) {
    const int lda = m + 1, ldu = m + 2, ldv = n + 3, least = std::min(m, n);
    std::vector<Matrix> before;
    std::vector<T> all;
    for (int i = 0; i < batches; ++i) {
      before.push_back(random_matrix<T>(m, n));
      for (const T value : columns_of<T>(before[i], lda)) all.push_back(value);
    }
    const auto part = [](const auto& of, int width, int i) {
      return std::vector(of.begin() + i * width, of.begin() + (i + 1) * width);
    };
    const Device<T> a(all), u(ldu * m * batches), v(ldv * n * batches), room(1);
    const Device<Real> s(least * batches);
    const Info infos(batches);
    if (m >= n) {
      // The largest singular values; the matrices are kept.
      std::vector<double> residuals(batches, -1);
      succeed(gesvdaStridedBatched(
          T{}, handle.it, with_vectors, rank, m, n, static_cast<const T*>(a.get()), lda,
          static_cast<long long>(lda * n), s.get(), 3LL, u.get(), ldu,
          static_cast<long long>(ldu * rank), v.get(), ldv, static_cast<long long>(ldv * rank),
          room.get(), 1, infos.get(), residuals.data(), batches));
      infos.expect_all(0);
      expect_equal_matrices<T>(matrix_of(a.to_host(), lda, n * batches, lda),
                               matrix_of(all, lda, n * batches, lda), "A");
      for (int i = 0; i < batches; ++i) {
        const auto values = part(s.to_host(), 3, i);
        const Matrix of_u = matrix_of(part(u.to_host(), ldu * rank, i), m, rank, ldu),
                     of_v = matrix_of(part(v.to_host(), ldv * rank, i), n, rank, ldv);
        expect_orthogonal<T>(of_u);
        expect_orthogonal<T>(of_v);
        const Matrix found = of_u * diagonal_of(values, rank, rank);
        expect_equal_matrices<T>(before[i] * of_v, found, "A V = U S");
        double rest = 0;
        const Matrix product = found * of_v.after(CUBLAS_OP_C);
        for (std::size_t e = 0; e < product.elements.size(); ++e)
          rest = std::hypot(rest, std::abs(product.elements[e] - before[i].elements[e]));
        tap::expect_near(residuals[i], rest, 10 * tolerance<T>(m));
      }
    }
    succeed(gesvdjBatched(T{}, handle.it, with_vectors, m, n, a.get(), lda, s.get(), u.get(), ldu,
                          v.get(), ldv, room.get(), 1, infos.get(), jacobi.it, batches));
    infos.expect_all(0);
    for (int i = 0; i < batches; ++i)
      expect_decomposition<T>(
          before[i], matrix_of(part(u.to_host(), ldu * m, i), m, m, ldu),
          part(s.to_host(), least, i),
          matrix_of(part(v.to_host(), ldv * n, i), n, n, ldv).after(CUBLAS_OP_C));
  }
}
TEST(singular_values_in_batches) { FOR_EACH_TYPE(expect_singular_batches); }

// --- Streams, and calls that are refused

__global__ void scale(double* values, double by) { values[threadIdx.x] *= by; }

TEST(routines_keep_the_order_of_their_stream) {
  const Handle handle;
  const tap::Stream stream;
  cudaStream_t found = nullptr;
  succeed(cusolverDnSetStream(handle, stream.get()));
  succeed(cusolverDnGetStream(handle, &found));
  expect(found == stream.get(), "the stream is returned");
  const Device<double> a(std::vector<double>{1, 0, 0, 2}), w(2), room(1);
  const Info info;
  scale<<<1, 4, 0, stream.get()>>>(a.get(), 3);
  succeed(cusolverDnDsyevd(handle, without, CUBLAS_FILL_MODE_LOWER, 2, a.get(), 2, w.get(),
                           room.get(), 1, info.get()));
  scale<<<1, 2, 0, stream.get()>>>(w.get(), 10);
  check(cudaStreamSynchronize(stream.get()));
  expect_same_values(w.to_host(), std::vector<double>{30, 60});
}

TEST(arguments_that_cannot_be_are_refused) {
  const Handle handle;
  const Parameters parameters;
  const SingularInfo jacobi;
  const Device<double> a(std::vector<double>(64, 1)), b(64), room(1);
  const Device<int> pivots(8);
  const Info info;
  int elements = 0;
  const auto refuse = [](cusolverStatus_t status, tap::Location place = tap::Location::current()) {
    expect_equal(static_cast<int>(status), static_cast<int>(CUSOLVER_STATUS_INVALID_VALUE), place);
  };
  refuse(cusolverDnDgetrf(handle, -1, 4, a.get(), 4, room.get(), pivots.get(), info.get()));
  refuse(cusolverDnDgetrf(handle, 4, -1, a.get(), 4, room.get(), pivots.get(), info.get()));
  refuse(cusolverDnDgetrf(handle, 4, 4, a.get(), 3, room.get(), pivots.get(), info.get()));
  refuse(cusolverDnDgetrf_bufferSize(handle, 4, 4, a.get(), 3, &elements));
  refuse(cusolverDnDgetrs(handle, CUBLAS_OP_N, 4, -1, a.get(), 4, pivots.get(), b.get(), 4,
                          info.get()));
  refuse(cusolverDnDgeqrf(handle, 4, 4, a.get(), 3, b.get(), room.get(), 1, info.get()));
  refuse(cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_N, 4, 4, 5, a.get(), 5, b.get(),
                          b.get(), 4, room.get(), 1, info.get()));
  refuse(cusolverDnDorgqr(handle, 3, 4, 3, a.get(), 4, b.get(), room.get(), 1, info.get()));
  refuse(cusolverDnDgebrd(handle, 3, 4, a.get(), 4, b.get(), b.get(), b.get(), b.get(), room.get(),
                          1, info.get()));
  refuse(cusolverDnDsyevd(handle, with_vectors, CUBLAS_FILL_MODE_FULL, 4, a.get(), 4, b.get(),
                          room.get(), 1, info.get()));
  int found = 0;
  refuse(cusolverDnDsyevdx(handle, with_vectors, CUSOLVER_EIG_RANGE_I, CUBLAS_FILL_MODE_LOWER, 4,
                           a.get(), 4, 0, 0, 2, 5, &found, b.get(), room.get(), 1, info.get()));
  // gesvd requires at least as many rows as columns, and A cannot become both U and V.
  refuse(cusolverDnDgesvd_bufferSize(handle, 3, 4, &elements));
  refuse(cusolverDnDgesvd(handle, 'N', 'N', 3, 4, a.get(), 4, b.get(), nullptr, 1, nullptr, 1,
                          room.get(), 1, nullptr, info.get()));
  refuse(cusolverDnDgesvd(handle, 'O', 'O', 4, 4, a.get(), 4, b.get(), nullptr, 1, nullptr, 1,
                          room.get(), 1, nullptr, info.get()));
  refuse(cusolverDnDgesvdjBatched(handle, without, 33, 2, a.get(), 33, b.get(), nullptr, 33,
                                  nullptr, 2, room.get(), 1, info.get(), jacobi, 1));
  refuse(cusolverDnXgetrf(handle, parameters, 4, 4, CUDA_R_64F, a.get(), 4, nullptr, CUDA_R_32F,
                          room.get(), 8, nullptr, 0, info.get()));
  refuse(cusolverDnSetAdvOptions(nullptr, CUSOLVERDN_GETRF, CUSOLVER_ALG_0));
  succeed(cusolverDnSetAdvOptions(parameters, CUSOLVERDN_GETRF, CUSOLVER_ALG_1));
  expect(cusolverDnXgetrf(handle, parameters, 4, 4, CUDA_R_16F, a.get(), 4, nullptr, CUDA_R_16F,
                          room.get(), 8, nullptr, 0, info.get()) == CUSOLVER_STATUS_NOT_SUPPORTED,
         "no factors of halves");
  expect(cusolverDnDgetrf(nullptr, 4, 4, a.get(), 4, room.get(), pivots.get(), info.get()) ==
             CUSOLVER_STATUS_NOT_INITIALIZED,
         "no handle");
  info.expect_all(-77);
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
