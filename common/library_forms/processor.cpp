/// \file
/// Measures the times of alternative calls to OpenBLAS that solve the problems of the workloads.
/// OPENBLAS_NUM_THREADS and OPENBLAS_CORETYPE select the number of threads and the kernels.
///
/// Usage: library_forms_processor [--tiny] [WORKLOAD]...

#include <cblas.h>
#include <lapack.h>

#include <cstdint>
#include <random>
#include <utility>

#include "forms.hpp"

namespace {

using forms::Form;
using forms::Group;
using forms::group_name;
using forms::of;
using forms::tolerance;

template <typename T>
std::vector<T> random_values(std::size_t count) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<T> values(-1, 1);
  std::vector<T> filled(count);
  for (T& value : filled) value = values(engine);
  return filled;
}

/// Creates a symmetric matrix of n × n elements whose eigenvalues are at least 0.3.
template <typename T>
std::vector<T> definite(std::size_t n) {
  std::vector<T> a = random_values<T>(n * n);
  const T scale = static_cast<T>(0.6 / std::sqrt(static_cast<double>(n)));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      a[i * n + j] = a[j * n + i] = i == j ? T(1.5) : scale * a[i * n + j];
  return a;
}

/// The relative difference of two matrices with n rows in the Frobenius norm. The difference covers
/// all elements, or only the lower triangle if `triangle` is true. Matrices are row-major; `a` is
/// read transposed if `transposed` is true.
template <typename T>
double difference(const std::vector<T>& a, const std::vector<T>& b, std::size_t n, bool triangle,
                  bool transposed) {
  const std::size_t cols = b.size() / n;
  double squares = 0, size = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < (triangle ? i + 1 : cols); ++j) {
      const double x = transposed ? a[j * n + i] : a[i * cols + j], y = b[i * cols + j];
      squares += (x - y) * (x - y);
      size += y * y;
    }
  return std::sqrt(squares / size);
}

/// Stores the result of the first form, and compares the results of all other forms with it.
template <typename T>
class First {
 public:
  double error(const std::vector<T>& found, std::size_t n, bool triangle, bool transposed) {
    if (kept_.empty()) {
      kept_ = found;
      return 0;
    }
    return difference(found, kept_, n, triangle, transposed);
  }

 private:
  std::vector<T> kept_;
};

template <typename T>
void cholesky(lapack_int n, int repeats) {
  const std::vector<T> a = definite<T>(n);
  std::vector<T> work;
  First<T> first;
  Group group{group_name<T>("cholesky", std::to_string(n)), tolerance<T>, {}};
  // A triangle of a column-major matrix is the opposite triangle of the row-major matrix.
  for (const char part : {'U', 'L'})
    group.forms.push_back(
        {std::string("potrf_") + (part == 'U' ? "upper" : "lower"), [&] { work = a; },
         [&, part] {
           lapack_int info = 0;
           of<T>(
               [&] { LAPACK_dpotrf(&part, &n, reinterpret_cast<double*>(work.data()), &n, &info); },
               [&] {
                 LAPACK_spotrf(&part, &n, reinterpret_cast<float*>(work.data()), &n, &info);
               })();
         },
         [&, part] { return first.error(work, n, true, part == 'L'); }});
  forms::run(group, repeats);
}

void ata(std::size_t rows, std::size_t cols, int repeats) {
  const std::vector<double> a = random_values<double>(rows * cols);
  std::vector<double> turned(rows * cols), c(cols * cols);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) turned[j * rows + i] = a[i * cols + j];
  First<double> first;
  Group group{
      group_name<double>("ata", std::to_string(rows) + "x" + std::to_string(cols)), 1e-12, {}};
  const auto prepare = [&] { std::fill(c.begin(), c.end(), 0); };
  for (const bool by_rows : {true, false})
    for (const CBLAS_UPLO part : {CblasLower, CblasUpper})
      group.forms.push_back({std::string("dsyrk_") + (part == CblasUpper ? "upper_" : "lower_") +
                                 (by_rows ? "T" : "N"),
                             prepare,
                             [&, by_rows, part] {
                               cblas_dsyrk(CblasRowMajor, part, by_rows ? CblasTrans : CblasNoTrans,
                                           cols, rows, 1, by_rows ? a.data() : turned.data(),
                                           by_rows ? cols : rows, 0, c.data(), cols);
                             },
                             [&, part] { return first.error(c, cols, true, part == CblasUpper); }});
  for (const bool by_rows : {true, false})
    group.forms.push_back({std::string("dgemm_") + (by_rows ? "TN" : "NT"), prepare,
                           [&, by_rows] {
                             const double* operand = by_rows ? a.data() : turned.data();
                             const std::size_t stride = by_rows ? cols : rows;
                             cblas_dgemm(CblasRowMajor, by_rows ? CblasTrans : CblasNoTrans,
                                         by_rows ? CblasNoTrans : CblasTrans, cols, cols, rows, 1,
                                         operand, stride, operand, stride, 0, c.data(), cols);
                           },
                           [&] { return first.error(c, cols, true, false); }});
  forms::run(group, repeats);
}

template <typename T>
void matmul(const std::string& size, std::size_t l, std::size_t m, std::size_t n, int repeats) {
  const std::vector<T> a = random_values<T>(l * m), b = random_values<T>(m * n);
  std::vector<T> turned_a(l * m), turned_b(m * n), c(l * n);
  for (std::size_t i = 0; i < l; ++i)
    for (std::size_t k = 0; k < m; ++k) turned_a[k * l + i] = a[i * m + k];
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t j = 0; j < n; ++j) turned_b[j * m + k] = b[k * n + j];
  First<T> first;
  Group group{group_name<T>("matmul", size), tolerance<T>, {}};
  for (const bool plain_a : {true, false})
    for (const bool plain_b : {true, false})
      group.forms.push_back({std::string("gemm_") + (plain_a ? "N" : "T") + (plain_b ? "N" : "T"),
                             [&] { std::fill(c.begin(), c.end(), T{0}); },
                             [&, plain_a, plain_b] {
                               of<T>(cblas_dgemm, cblas_sgemm)(
                                   CblasRowMajor, plain_a ? CblasNoTrans : CblasTrans,
                                   plain_b ? CblasNoTrans : CblasTrans, l, n, m, 1,
                                   plain_a ? a.data() : turned_a.data(), plain_a ? m : l,
                                   plain_b ? b.data() : turned_b.data(), plain_b ? n : m, 0,
                                   c.data(), n);
                             },
                             [&] { return first.error(c, l, false, false); }});
  forms::run(group, repeats);
}

template <typename T>
void triangular_solve(std::size_t n, int repeats) {
  const std::vector<T> matrix = definite<T>(n), b = random_values<T>(n);
  std::vector<T> x;
  First<T> first;
  Group group{group_name<T>("triangular_solve", std::to_string(n)), tolerance<T>, {}};
  const auto prepare = [&] { x = b; };
  // The matrix is symmetric, so its lower triangle in row-major order is its upper triangle in
  // column-major order.
  for (const bool by_rows : {true, false}) {
    const auto order = by_rows ? CblasRowMajor : CblasColMajor;
    const std::string name = by_rows ? "by_rows" : "by_columns";
    group.forms.push_back({"trsv_" + name, prepare,
                           [&, order] {
                             of<T>(cblas_dtrsv, cblas_strsv)(order, CblasLower, CblasNoTrans,
                                                             CblasNonUnit, n, matrix.data(), n,
                                                             x.data(), 1);
                           },
                           [&] { return first.error(x, n, false, false); }});
    group.forms.push_back({"trsm_" + name, prepare,
                           [&, order, by_rows] {
                             of<T>(cblas_dtrsm, cblas_strsm)(
                                 order, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, 1, 1,
                                 matrix.data(), n, x.data(), by_rows ? 1 : n);
                           },
                           [&] { return first.error(x, n, false, false); }});
  }
  forms::run(group, repeats);
}

void yule_walker(lapack_int n, int repeats) {
  std::vector<double> a(std::size_t(n) * n), work, x;
  const std::vector<double> b = random_values<double>(n);
  for (lapack_int i = 0; i < n; ++i)
    for (lapack_int j = 0; j < n; ++j) a[std::size_t(i) * n + j] = std::exp2(-std::abs(i - j));
  First<double> first;
  Group group{group_name<double>("durbin_levinson", std::to_string(n)), 1e-10, {}};
  const auto prepare = [&] {
    work = a;
    x = b;
  };
  const lapack_int one = 1;
  for (const char part : {'U', 'L'})
    group.forms.push_back({std::string("dposv_") + (part == 'U' ? "upper" : "lower"), prepare,
                           [&, part] {
                             lapack_int info = 0;
                             LAPACK_dposv(&part, &n, &one, work.data(), &n, x.data(), &n, &info);
                           },
                           [&] { return first.error(x, n, false, false); }});
  group.forms.push_back({"dgesv", prepare,
                         [&] {
                           std::vector<lapack_int> pivots(n);
                           lapack_int info = 0;
                           LAPACK_dgesv(&n, &one, work.data(), &n, pivots.data(), x.data(), &n,
                                        &info);
                         },
                         [&] { return first.error(x, n, false, false); }});
  forms::run(group, repeats);
}

template <typename T>
void run_precision(const forms::Arguments& arguments) {
  const auto size = [&](int full) { return arguments.size(full); };
  if (arguments.wants("cholesky"))
    for (const lapack_int n : {size(1000), size(4096)}) cholesky<T>(n, 5);
  if (arguments.wants("matmul")) matmul<T>("example", size(1024), size(2000), size(777), 5);
  if (arguments.wants("triangular_solve"))
    for (const int n : {size(1000), size(4096)}) triangular_solve<T>(n, 9);
}

}  // namespace

int main(int argc, char** argv) try {
  const forms::Arguments arguments(argc, argv);
  std::printf("# OpenBLAS: kernels for %s, %d threads\n", openblas_get_corename(),
              openblas_get_num_threads());
  run_precision<double>(arguments);
  run_precision<float>(arguments);
  if (arguments.wants("ata"))
    for (const int n : {arguments.size(512), arguments.size(2000)}) ata(n, n, 5);
  if (arguments.wants("durbin_levinson"))
    for (const lapack_int n : {arguments.size(1000), arguments.size(4000)}) yule_walker(n, 3);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "library_forms_processor: %s\n", error.what());
  return 1;
}
