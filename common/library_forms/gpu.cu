/// \file
/// Measures the times of alternative calls to cuBLAS, cuBLASLt, cuSOLVER and cuSPARSE that solve
/// the problems of the workloads on one GPU.
///
/// Usage: library_forms_gpu [--tiny] [WORKLOAD]...

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <cusparse.h>

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "device.hpp"
#include "forms.hpp"

namespace {

using forms::by_columns;
using forms::check;
using forms::Device;
using forms::difference;
using forms::fill_matrix;
using forms::finish;
using forms::Form;
using forms::Group;
using forms::group_name;
using forms::Kind;
using forms::Matrix;
using forms::of;
using forms::tolerance;
using forms::type;

// --- Handles

struct Handles {
  cublasHandle_t blas{};
  cublasLtHandle_t lt{};
  cusolverDnHandle_t solver{};
  cusolverDnParams_t parameters{};
  cusparseHandle_t sparse{};
  Handles() {
    check(cublasCreate(&blas));
    check(cublasLtCreate(&lt));
    check(cusolverDnCreate(&solver));
    check(cusolverDnCreateParams(&parameters));
    check(cusparseCreate(&sparse));
  }
};

/// A new cuBLAS handle, to measure the cost of the first call with a handle.
class NewHandle {
 public:
  ~NewHandle() { cublasDestroy(handle_); }
  void renew() {
    if (handle_ != nullptr) check(cublasDestroy(handle_));
    check(cublasCreate(&handle_));
    check(cudaDeviceSynchronize());
  }
  cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_{};
};

// --- Cholesky

template <typename T>
void cholesky(const Handles& h, std::int64_t n, int repeats) {
  const Device<T> a(n * n), work((n + 32) * n), reference(n * n), other(n * n);
  fill_matrix(by_columns(a, n, n, n), Kind::definite);
  const Device<int> info(1);
  const auto lower = by_columns(reference, n, n, n);
  bool first = true;
  Group group{group_name<T>("cholesky", std::to_string(n)), tolerance<T>, {}};

  const auto restore = [=](std::int64_t lda) {
    return [=] {
      check(cudaMemcpy2D(work.get(), lda * sizeof(T), a.get(), n * sizeof(T), n * sizeof(T), n,
                         cudaMemcpyDeviceToDevice));
    };
  };
  const auto error = [&, lower](cublasFillMode_t part, std::int64_t lda) {
    return [&, lower, part, lda] {
      auto factor = by_columns(work, n, n, lda);
      if (part == CUBLAS_FILL_MODE_UPPER) factor = factor.transposed();
      if (std::exchange(first, false)) {
        check(cudaMemcpy(reference.get(), work.get(), n * n * sizeof(T), cudaMemcpyDeviceToDevice));
        return 0.0;
      }
      return difference(factor, lower, true);
    };
  };
  int elements = 0;
  std::size_t bytes = 0, host_bytes = 0;
  check(of<T>(cusolverDnDpotrf_bufferSize, cusolverDnSpotrf_bufferSize)(
      h.solver, CUBLAS_FILL_MODE_LOWER, n, work.get(), n + 32, &elements));
  int upper_elements = 0;
  check(of<T>(cusolverDnDpotrf_bufferSize, cusolverDnSpotrf_bufferSize)(
      h.solver, CUBLAS_FILL_MODE_UPPER, n, work.get(), n + 32, &upper_elements));
  std::size_t most_bytes = 0;
  for (const auto part : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    check(cusolverDnXpotrf_bufferSize(h.solver, h.parameters, part, n, type<T>, work.get(), n + 32,
                                      type<T>, &bytes, &host_bytes));
    most_bytes = std::max(most_bytes, bytes);
  }
  const Device<T> room(std::max(elements, upper_elements));
  const Device<char> x_room(most_bytes);
  std::vector<char> host_room(host_bytes + 1);
  for (const auto part : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER})
    for (const std::int64_t lda : {n, n + 32}) {
      const std::string name = std::string(part == CUBLAS_FILL_MODE_LOWER ? "lower" : "upper") +
                               (lda == n ? "" : "_padded");
      group.forms.push_back(
          {"potrf_" + name, restore(lda),
           [&, part, lda] {
             finish(of<T>(cusolverDnDpotrf, cusolverDnSpotrf)(h.solver, part, n, work.get(), lda,
                                                              room.get(), room.size(), info.get()));
           },
           error(part, lda)});
      group.forms.push_back({"Xpotrf_" + name, restore(lda),
                             [&, part, lda] {
                               finish(cusolverDnXpotrf(h.solver, h.parameters, part, n, type<T>,
                                                       work.get(), lda, type<T>, x_room.get(),
                                                       x_room.size(), host_room.data(), host_bytes,
                                                       info.get()));
                             },
                             error(part, lda)});
    }
  const T one = 1, zero = 0;
  group.forms.push_back(
      {"transposition_geam", [] {},
       [&] {
         finish(of<T>(cublasDgeam, cublasSgeam)(h.blas, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one,
                                                reference.get(), n, &zero, other.get(), n,
                                                other.get(), n));
       },
       [&] { return difference(by_columns(other, n, n, n).transposed(), lower, true); }});
  forms::run(group, repeats);
}

// --- Products

/// A product by cuBLASLt with one of the algorithms that the library's heuristic returns.
template <typename T>
class LtProduct {
 public:
  LtProduct(cublasLtHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, std::int64_t m,
            std::int64_t n, std::int64_t k, std::int64_t lda, std::int64_t ldb)
      : handle_(handle), room_(std::size_t{64} << 20) {
    const auto compute = std::is_same_v<T, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
    check(cublasLtMatmulDescCreate(&description_, compute, type<T>));
    check(cublasLtMatmulDescSetAttribute(description_, CUBLASLT_MATMUL_DESC_TRANSA, &op_a,
                                         sizeof op_a));
    check(cublasLtMatmulDescSetAttribute(description_, CUBLASLT_MATMUL_DESC_TRANSB, &op_b,
                                         sizeof op_b));
    const bool plain_a = op_a == CUBLAS_OP_N, plain_b = op_b == CUBLAS_OP_N;
    check(cublasLtMatrixLayoutCreate(&a_, type<T>, plain_a ? m : k, plain_a ? k : m, lda));
    check(cublasLtMatrixLayoutCreate(&b_, type<T>, plain_b ? k : n, plain_b ? n : k, ldb));
    check(cublasLtMatrixLayoutCreate(&c_, type<T>, m, n, m));
    cublasLtMatmulPreference_t preference;
    check(cublasLtMatmulPreferenceCreate(&preference));
    const std::size_t bytes = room_.size();
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &bytes, sizeof bytes));
    check(cublasLtMatmulAlgoGetHeuristic(handle_, description_, a_, b_, c_, c_, preference,
                                         found_.size(), found_.data(), &algorithms_));
    cublasLtMatmulPreferenceDestroy(preference);
  }

  int algorithms() const { return algorithms_; }

  void run(int algorithm, const T* a, const T* b, T* c) const {
    const T one = 1, zero = 0;
    finish(cublasLtMatmul(handle_, description_, &one, a, a_, b, b_, &zero, c, c_, c, c_,
                          &found_.at(algorithm).algo, room_.get(), room_.size(), nullptr));
  }

 private:
  cublasLtHandle_t handle_;
  Device<char> room_;
  cublasLtMatmulDesc_t description_{};
  cublasLtMatrixLayout_t a_{}, b_{}, c_{};
  std::array<cublasLtMatmulHeuristicResult_t, 8> found_{};
  int algorithms_ = 0;
};

/// Computes AᵀA, with A stored by rows and with A stored by columns.
void ata(const Handles& h, std::int64_t rows, std::int64_t cols, int repeats) {
  using T = double;
  const Device<T> a(rows * cols), turned(rows * cols), c(cols * cols), reference(cols * cols);
  // For cuBLAS, `a` is a column-major matrix of cols × rows elements, and `turned` is its
  // transpose.
  fill_matrix(by_columns(a, cols, rows, cols), Kind::general);
  const T one = 1, zero = 0;
  check(cublasDgeam(h.blas, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, a.get(), cols, &zero,
                    turned.get(), rows, turned.get(), rows));
  bool first = true;
  const auto error = [&](bool upper) {
    return [&, upper] {
      auto product = by_columns(c, cols, cols, cols);
      if (upper) product = product.transposed();
      if (std::exchange(first, false)) {
        reference.copy_from(c);
        return 0.0;
      }
      return difference(product, by_columns(reference, cols, cols, cols), true);
    };
  };
  const auto prepare = [&] { c.poison(); };
  Group group{group_name<T>("ata", std::to_string(rows) + "x" + std::to_string(cols)), 1e-12, {}};
  for (const bool by_rows : {true, false})
    for (const auto part : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
      const std::string name =
          std::string(part == CUBLAS_FILL_MODE_LOWER ? "lower" : "upper") + (by_rows ? "_N" : "_T");
      const auto op = by_rows ? CUBLAS_OP_N : CUBLAS_OP_T;
      const T* operand = by_rows ? a.get() : turned.get();
      const std::int64_t lda = by_rows ? cols : rows;
      const bool upper = part == CUBLAS_FILL_MODE_UPPER;
      group.forms.push_back({"dsyrk_" + name, prepare,
                             [&, part, op, operand, lda] {
                               finish(cublasDsyrk(h.blas, part, op, cols, rows, &one, operand, lda,
                                                  &zero, c.get(), cols));
                             },
                             error(upper)});
      if (by_rows && !upper) {
        group.forms.push_back({"dsyrk_64_" + name, prepare,
                               [&, part, op, operand, lda] {
                                 finish(cublasDsyrk_64(h.blas, part, op, cols, rows, &one, operand,
                                                       lda, &zero, c.get(), cols));
                               },
                               error(upper)});
        group.forms.push_back({"dsyrkx_" + name, prepare,
                               [&, part, op, operand, lda] {
                                 finish(cublasDsyrkx(h.blas, part, op, cols, rows, &one, operand,
                                                     lda, operand, lda, &zero, c.get(), cols));
                               },
                               error(upper)});
      }
    }
  for (const bool by_rows : {true, false}) {
    const T* operand = by_rows ? a.get() : turned.get();
    const std::int64_t lda = by_rows ? cols : rows;
    group.forms.push_back({std::string("dgemm_") + (by_rows ? "NT" : "TN"), prepare,
                           [&, by_rows, operand, lda] {
                             finish(cublasDgemm(h.blas, by_rows ? CUBLAS_OP_N : CUBLAS_OP_T,
                                                by_rows ? CUBLAS_OP_T : CUBLAS_OP_N, cols, cols,
                                                rows, &one, operand, lda, operand, lda, &zero,
                                                c.get(), cols));
                           },
                           error(false)});
  }
  NewHandle new_handle;
  const auto emulated = [&](auto call) {
    return [&, call] {
      check(cublasSetMathMode(h.blas, CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH));
      call();
      check(cublasSetMathMode(h.blas, CUBLAS_DEFAULT_MATH));
    };
  };
  group.forms.push_back({"dgemm_NT_emulated", prepare, emulated([&] {
                           finish(cublasDgemm(h.blas, CUBLAS_OP_N, CUBLAS_OP_T, cols, cols, rows,
                                              &one, a.get(), cols, a.get(), cols, &zero, c.get(),
                                              cols));
                         }),
                         error(false)});
  group.forms.push_back({"dsyrk_lower_N_emulated", prepare, emulated([&] {
                           finish(cublasDsyrk(h.blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, cols,
                                              rows, &one, a.get(), cols, &zero, c.get(), cols));
                         }),
                         error(false)});
  group.forms.push_back({"dsyrk_lower_N_new_handle",
                         [&] {
                           c.poison();
                           new_handle.renew();
                         },
                         [&] {
                           finish(cublasDsyrk(new_handle.get(), CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                                              cols, rows, &one, a.get(), cols, &zero, c.get(),
                                              cols));
                         },
                         error(false)});
  const LtProduct<T> product(h.lt, CUBLAS_OP_N, CUBLAS_OP_T, cols, cols, rows, cols, cols);
  for (int i = 0; i < product.algorithms(); ++i)
    group.forms.push_back({"lt_NT_" + std::to_string(i), prepare,
                           [&, i] { product.run(i, a.get(), a.get(), c.get()); }, error(false)});
  forms::run(group, repeats);
}

/// Computes C = A B for row-major matrices of l × m and m × n elements. In column-major order, this
/// is Cᵀ = Bᵀ Aᵀ.
template <typename T>
void matmul(const Handles& h, const std::string& size, std::int64_t l, std::int64_t m,
            std::int64_t n, int repeats) {
  const Device<T> a(l * m), b(m * n), turned_a(l * m), turned_b(m * n), c(l * n), reference(l * n);
  fill_matrix(by_columns(a, m, l, m), Kind::general);
  fill_matrix(by_columns(b, n, m, n), Kind::general);
  const T one = 1, zero = 0;
  const auto geam = of<T>(cublasDgeam, cublasSgeam);
  check(geam(h.blas, CUBLAS_OP_T, CUBLAS_OP_N, l, m, &one, a.get(), m, &zero, turned_a.get(), l,
             turned_a.get(), l));
  check(geam(h.blas, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, b.get(), n, &zero, turned_b.get(), m,
             turned_b.get(), m));
  bool first = true;
  const auto prepare = [&] { c.poison(); };
  const auto error = [&] {
    if (std::exchange(first, false)) {
      reference.copy_from(c);
      return 0.0;
    }
    return difference(by_columns(c, n, l, n), by_columns(reference, n, l, n), false);
  };
  Group group{group_name<T>("matmul", size), tolerance<T>, {}};
  std::vector<std::unique_ptr<LtProduct<T>>> products;
  for (const bool plain_b : {true, false})
    for (const bool plain_a : {true, false}) {
      const auto op_b = plain_b ? CUBLAS_OP_N : CUBLAS_OP_T;
      const auto op_a = plain_a ? CUBLAS_OP_N : CUBLAS_OP_T;
      const T* second = plain_a ? a.get() : turned_a.get();
      const T* operand = plain_b ? b.get() : turned_b.get();
      const std::int64_t ldb = plain_b ? n : m, lda = plain_a ? m : l;
      const std::string name = std::string(plain_b ? "N" : "T") + (plain_a ? "N" : "T");
      group.forms.push_back({"gemm_" + name, prepare,
                             [=, &h, &c, &one, &zero] {
                               finish(of<T>(cublasDgemm, cublasSgemm)(h.blas, op_b, op_a, n, l, m,
                                                                      &one, operand, ldb, second,
                                                                      lda, &zero, c.get(), n));
                             },
                             error});
      if (!plain_b) continue;
      products.push_back(std::make_unique<LtProduct<T>>(h.lt, op_b, op_a, n, l, m, ldb, lda));
      const LtProduct<T>& product = *products.back();
      for (int i = 0; i < product.algorithms(); ++i)
        group.forms.push_back({"lt_" + name + "_" + std::to_string(i), prepare,
                               [=, &product, &c] { product.run(i, operand, second, c.get()); },
                               error});
    }
  forms::run(group, repeats);
}

// --- Triangular solves

/// Solves L x = b, with L stored by rows (an upper triangle in column-major order) and with L
/// stored by columns.
template <typename T>
void triangular_solve(const Handles& h, std::int64_t n, std::int64_t rhs, int repeats) {
  const Device<T> upper((n + 32) * n), lower(n * n), b(n * rhs), x(n * rhs), turned_b(n * rhs);
  const Device<T> reference(n * rhs), padded((n + 32) * n);
  fill_matrix(by_columns(lower, n, n, n), Kind::definite);
  // The matrix is symmetric, so its two triangles are the two storage orders of one triangular
  // matrix.
  fill_matrix(by_columns(upper, n, n, n), Kind::definite);
  fill_matrix(by_columns(padded, n, n, n + 32), Kind::definite);
  fill_matrix(by_columns(b, n, rhs, n), Kind::general);
  const T one = 1, zero = 0;
  check(of<T>(cublasDgeam, cublasSgeam)(h.blas, CUBLAS_OP_T, CUBLAS_OP_N, rhs, n, &one, b.get(), n,
                                        &zero, turned_b.get(), rhs, turned_b.get(), rhs));
  bool first = true;
  const auto error = [&](bool turned) {
    return [&, turned] {
      auto solution = turned ? by_columns(x, rhs, n, rhs).transposed() : by_columns(x, n, rhs, n);
      if (std::exchange(first, false)) {
        reference.copy_from(x);
        return 0.0;
      }
      return difference(solution, by_columns(reference, n, rhs, n), false);
    };
  };
  const auto prepare = [&] { x.copy_from(b); };
  const auto prepare_turned = [&] { x.copy_from(turned_b); };
  std::string size = std::to_string(n);
  if (rhs > 1) size += "x" + std::to_string(rhs);
  Group group{group_name<T>("triangular_solve", size), tolerance<T>, {}};
  constexpr auto diagonal = CUBLAS_DIAG_NON_UNIT;
  const auto trsv = of<T>(cublasDtrsv, cublasStrsv);
  const auto trsm = of<T>(cublasDtrsm, cublasStrsm);
  if (rhs == 1) {
    group.forms.push_back({"trsv_upper_T", prepare,
                           [&] {
                             finish(trsv(h.blas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, diagonal, n,
                                         upper.get(), n, x.get(), 1));
                           },
                           error(false)});
    group.forms.push_back({"trsv_upper_T_padded", prepare,
                           [&] {
                             finish(trsv(h.blas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, diagonal, n,
                                         padded.get(), n + 32, x.get(), 1));
                           },
                           error(false)});
    group.forms.push_back(
        {"trsv_64_upper_T", prepare,
         [&] {
           finish(of<T>(cublasDtrsv_64, cublasStrsv_64)(h.blas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T,
                                                        diagonal, n, upper.get(), n, x.get(), 1));
         },
         error(false)});
    group.forms.push_back({"trsv_lower_N", prepare,
                           [&] {
                             finish(trsv(h.blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, diagonal, n,
                                         lower.get(), n, x.get(), 1));
                           },
                           error(false)});
  }
  for (const bool by_rows : {true, false}) {
    const auto part = by_rows ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    const T* matrix = by_rows ? upper.get() : lower.get();
    const auto op = by_rows ? CUBLAS_OP_T : CUBLAS_OP_N;
    const auto op_right = by_rows ? CUBLAS_OP_N : CUBLAS_OP_T;
    group.forms.push_back({std::string("trsm_left_") + (by_rows ? "upper_T" : "lower_N"), prepare,
                           [&, part, matrix, op] {
                             finish(trsm(h.blas, CUBLAS_SIDE_LEFT, part, op, diagonal, n, rhs, &one,
                                         matrix, n, x.get(), n));
                           },
                           error(false)});
    group.forms.push_back({std::string("trsm_right_") + (by_rows ? "upper_N" : "lower_T"),
                           prepare_turned,
                           [&, part, matrix, op_right] {
                             finish(trsm(h.blas, CUBLAS_SIDE_RIGHT, part, op_right, diagonal, rhs,
                                         n, &one, matrix, n, x.get(), rhs));
                           },
                           error(true)});
  }
  forms::run(group, repeats);
}

// --- Tridiagonal systems

/// Solves diagonally dominant tridiagonal systems, which are stored interleaved or one after the
/// other.
template <typename T>
void tridiagonal(const Handles& h, int m, int systems, int repeats) {
  const std::size_t count = std::size_t(m) * systems;
  std::vector<Device<T>> given, work;
  for (int i = 0; i < 4; ++i) {
    given.emplace_back(count);
    work.emplace_back(count);
    fill_matrix(Matrix<T>{given[i].get(), m, systems, systems, 1}, Kind::general);
  }
  std::vector<T> host(count);
  check(cudaMemcpy(host.data(), given[1].get(), count * sizeof(T), cudaMemcpyDeviceToHost));
  for (T& value : host) value = 4 + value;
  check(cudaMemcpy(given[1].get(), host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  for (const int i :
       {0, 2}) {  // the first lower and the last upper element of each system are zero
    const std::size_t row = i == 0 ? 0 : m - 1;
    check(cudaMemset(given[i].get() + row * systems, 0, systems * sizeof(T)));
  }
  // Copies of the systems, stored one after the other.
  std::vector<Device<T>> strided;
  const T one = 1, zero = 0;
  for (int i = 0; i < 4; ++i) {
    strided.emplace_back(count);
    check(of<T>(cublasDgeam, cublasSgeam)(h.blas, CUBLAS_OP_T, CUBLAS_OP_N, m, systems, &one,
                                          given[i].get(), systems, &zero, strided[i].get(), m,
                                          strided[i].get(), m));
  }
  const Device<T> reference(count);
  bool first = true;
  const auto prepare = [&] {
    for (int i = 0; i < 4; ++i) work[i].copy_from(given[i]);
  };
  const auto prepare_strided = [&] {
    for (int i = 0; i < 4; ++i) work[i].copy_from(strided[i]);
  };
  const Matrix<T> solution{work[3].get(), m, systems, systems, 1};
  const Matrix<T> expected{reference.get(), m, systems, systems, 1};
  const auto error = [&] {
    if (std::exchange(first, false)) {
      reference.copy_from(work[3]);
      return 0.0;
    }
    return difference(solution, expected, false);
  };
  Group group{group_name<T>("tridiagonal", std::to_string(m) + "x" + std::to_string(systems)),
              tolerance<T>,
              {}};
  std::vector<Device<char>> rooms;
  const char* names[] = {"Thomas", "LU", "QR"};
  for (const int algorithm : {0, 1, 2}) {
    std::size_t bytes = 0;
    check(of<T>(cusparseDgtsvInterleavedBatch_bufferSizeExt,
                cusparseSgtsvInterleavedBatch_bufferSizeExt)(h.sparse, algorithm, m, work[0].get(),
                                                             work[1].get(), work[2].get(),
                                                             work[3].get(), systems, &bytes));
    rooms.emplace_back(bytes);
    group.forms.push_back(
        {std::string("gtsvInterleavedBatch_") + names[algorithm], prepare,
         [&, algorithm] {
           finish(of<T>(cusparseDgtsvInterleavedBatch, cusparseSgtsvInterleavedBatch)(
               h.sparse, algorithm, m, work[0].get(), work[1].get(), work[2].get(), work[3].get(),
               systems, rooms[algorithm].get()));
         },
         error});
  }
  std::size_t bytes = 0;
  check(of<T>(cusparseDgtsv2StridedBatch_bufferSizeExt, cusparseSgtsv2StridedBatch_bufferSizeExt)(
      h.sparse, m, work[0].get(), work[1].get(), work[2].get(), work[3].get(), systems, m, &bytes));
  rooms.emplace_back(bytes);
  group.forms.push_back(
      {"gtsv2StridedBatch", prepare_strided,
       [&] {
         finish(of<T>(cusparseDgtsv2StridedBatch, cusparseSgtsv2StridedBatch)(
             h.sparse, m, work[0].get(), work[1].get(), work[2].get(), work[3].get(), systems, m,
             rooms[3].get()));
       },
       [&] {
         return difference(Matrix<T>{work[3].get(), m, systems, 1, m}, expected, false);
       }});
  forms::run(group, repeats);
}

// --- Systems with a Toeplitz matrix, as dense systems

void yule_walker(const Handles& h, std::int64_t n, int repeats) {
  using T = double;
  const Device<T> a(n * n), work(n * n), b(n), x(n), solution(n), reference(n);
  fill_matrix(by_columns(a, n, n, n), Kind::toeplitz);
  fill_matrix(by_columns(b, n, 1, n), Kind::general);
  const Device<int> info(1);
  const Device<int> pivots(n);
  const Device<std::int64_t> long_pivots(n);
  bool first = true;
  const auto prepare = [&] {
    work.copy_from(a);
    x.copy_from(b);
  };
  const auto error_of = [&](const Device<T>& found) {
    return [&] {
      if (std::exchange(first, false)) {
        reference.copy_from(found);
        return 0.0;
      }
      return difference(by_columns(found, n, 1, n), by_columns(reference, n, 1, n), false);
    };
  };
  Group group{group_name<T>("durbin_levinson", std::to_string(n)), 1e-10, {}};
  std::size_t bytes = 0, host_bytes = 0, most_bytes = 0;
  for (const auto part : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    check(cusolverDnXpotrf_bufferSize(h.solver, h.parameters, part, n, type<T>, work.get(), n,
                                      type<T>, &bytes, &host_bytes));
    most_bytes = std::max(most_bytes, bytes);
  }
  std::size_t lu_bytes = 0, lu_host_bytes = 0;
  check(cusolverDnXgetrf_bufferSize(h.solver, h.parameters, n, n, type<T>, work.get(), n, type<T>,
                                    &lu_bytes, &lu_host_bytes));
  std::size_t mixed_bytes = 0;
  check(cusolverDnDSgesv_bufferSize(h.solver, n, 1, work.get(), n, pivots.get(), x.get(), n,
                                    solution.get(), n, nullptr, &mixed_bytes));
  const Device<char> room(std::max({most_bytes, lu_bytes, mixed_bytes}));
  std::vector<char> host_room(std::max(host_bytes, lu_host_bytes) + 1);
  for (const auto part : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER})
    group.forms.push_back(
        {std::string("Xpotrf_Xpotrs_") + (part == CUBLAS_FILL_MODE_LOWER ? "lower" : "upper"),
         prepare,
         [&, part] {
           check(cusolverDnXpotrf(h.solver, h.parameters, part, n, type<T>, work.get(), n, type<T>,
                                  room.get(), most_bytes, host_room.data(), host_bytes,
                                  info.get()));
           finish(cusolverDnXpotrs(h.solver, h.parameters, part, n, 1, type<T>, work.get(), n,
                                   type<T>, x.get(), n, info.get()));
         },
         error_of(x)});
  group.forms.push_back(
      {"Xgetrf_Xgetrs", prepare,
       [&] {
         check(cusolverDnXgetrf(h.solver, h.parameters, n, n, type<T>, work.get(), n,
                                long_pivots.get(), type<T>, room.get(), lu_bytes, host_room.data(),
                                lu_host_bytes, info.get()));
         finish(cusolverDnXgetrs(h.solver, h.parameters, CUBLAS_OP_N, n, 1, type<T>, work.get(), n,
                                 long_pivots.get(), type<T>, x.get(), n, info.get()));
       },
       error_of(x)});
  const auto refined = [&](auto function) {
    return [&, function] {
      int iterations = 0;
      finish(function(h.solver, n, 1, work.get(), n, pivots.get(), x.get(), n, solution.get(), n,
                      room.get(), mixed_bytes, &iterations, info.get()));
    };
  };
  group.forms.push_back({"DSgesv", prepare, refined(cusolverDnDSgesv), error_of(solution)});
  group.forms.push_back({"DXgesv", prepare, refined(cusolverDnDXgesv), error_of(solution)});
  forms::run(group, repeats);
}

template <typename T>
__global__ void set_pointers(T* first, std::size_t stride, int count, T** pointers) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    pointers[i] = first + i * stride;
}

template <typename T>
Device<T*> pointers_to(const Device<T>& values, std::size_t stride, int count) {
  const Device<T*> pointers(count);
  set_pointers<T><<<256, 256>>>(values.get(), stride, count, pointers.get());
  check(cudaDeviceSynchronize());
  return pointers;
}

template <typename T>
void yule_walker_batch(const Handles& h, int systems, int n, int repeats) {
  const std::size_t size = std::size_t(n) * n;
  const Device<T> a(size * systems), work(size * systems), b(std::size_t(n) * systems),
      x(std::size_t(n) * systems), reference(std::size_t(n) * systems);
  // The columns of all matrices are consecutive. Element (i, j) of each matrix depends only on |i -
  // j|.
  const Device<T> one_matrix(size);
  fill_matrix(by_columns(one_matrix, n, n, n), Kind::toeplitz);
  for (int s = 0; s < systems; s += 1)
    check(cudaMemcpyAsync(a.get() + s * size, one_matrix.get(), size * sizeof(T),
                          cudaMemcpyDeviceToDevice));
  fill_matrix(by_columns(b, n, systems, n), Kind::general);
  const Device<T*> matrices = pointers_to(work, size, systems);
  const Device<T*> sides = pointers_to(x, n, systems);
  const Device<int> infos(systems), pivots(std::size_t(n) * systems);
  bool first = true;
  const auto prepare = [&] {
    work.copy_from(a);
    x.copy_from(b);
  };
  const auto error = [&] {
    if (std::exchange(first, false)) {
      reference.copy_from(x);
      return 0.0;
    }
    return difference(by_columns(x, n, systems, n), by_columns(reference, n, systems, n), false);
  };
  Group group{
      group_name<T>("durbin_levinson_batched", std::to_string(systems) + "x" + std::to_string(n)),
      tolerance<T>,
      {}};
  for (const auto part : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER})
    group.forms.push_back(
        {std::string("potrfBatched_potrsBatched_") +
             (part == CUBLAS_FILL_MODE_LOWER ? "lower" : "upper"),
         prepare,
         [&, part] {
           check(of<T>(cusolverDnDpotrfBatched, cusolverDnSpotrfBatched)(
               h.solver, part, n, matrices.get(), n, infos.get(), systems));
           finish(of<T>(cusolverDnDpotrsBatched, cusolverDnSpotrsBatched)(
               h.solver, part, n, 1, matrices.get(), n, sides.get(), n, infos.get(), systems));
         },
         error});
  for (const bool pivoted : {true, false})
    group.forms.push_back(
        {std::string("getrfBatched_getrsBatched") + (pivoted ? "" : "_no_pivots"), prepare,
         [&, pivoted] {
           int* const order = pivoted ? pivots.get() : nullptr;
           int info = 0;
           check(of<T>(cublasDgetrfBatched, cublasSgetrfBatched)(h.blas, n, matrices.get(), n,
                                                                 order, infos.get(), systems));
           finish(of<T>(cublasDgetrsBatched, cublasSgetrsBatched)(h.blas, CUBLAS_OP_N, n, 1,
                                                                  matrices.get(), n, order,
                                                                  sides.get(), n, &info, systems));
         },
         error});
  forms::run(group, repeats);
}

template <typename T>
void run_precision(const Handles& h, const forms::Arguments& arguments) {
  const auto size = [&](int full) { return arguments.size(full); };
  if (arguments.wants("cholesky")) {
    for (const std::int64_t n : {size(1000), size(4096)}) cholesky<T>(h, n, 9);
    for (const std::int64_t n : {size(16384), size(32768)}) cholesky<T>(h, n, 3);
  }
  if (arguments.wants("matmul")) {
    matmul<T>(h, "example", size(1024), size(2000), size(777), 9);
    matmul<T>(h, "published", size(5000), size(5000), size(5000), 5);
    if (std::is_same_v<T, float>) matmul<T>(h, "large", size(24576), size(24576), size(24576), 2);
  }
  if (arguments.wants("triangular_solve")) {
    for (const std::int64_t n : {size(1000), size(4096), size(16384)})
      triangular_solve<T>(h, n, 1, 31);
    for (const std::int64_t rhs : {64, 256, 1024, 4096})
      triangular_solve<T>(h, size(16384), size(rhs), 5);
  }
  if (arguments.wants("local_volatility")) tridiagonal<T>(h, size(256), size(65536), 9);
  if (arguments.wants("durbin_levinson_batched")) {
    yule_walker_batch<T>(h, size(4096), 16, 9);
    yule_walker_batch<T>(h, size(262144), 64, 5);
    yule_walker_batch<T>(h, size(16384), 256, 5);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const forms::Arguments arguments(argc, argv);
  const Handles handles;
  run_precision<double>(handles, arguments);
  run_precision<float>(handles, arguments);
  if (arguments.wants("ata"))
    for (const auto& [rows, cols] :
         {std::pair{512, 512}, std::pair{2000, 2000}, std::pair{8000, 8000},
          std::pair{18000, 18000}, std::pair{200000, 1000}, std::pair{1000, 20000}})
      ata(handles, arguments.size(rows), arguments.size(cols), rows < 2001 && cols < 2001 ? 9 : 3);
  if (arguments.wants("durbin_levinson"))
    for (const std::int64_t n : {arguments.size(1000), arguments.size(15000)})
      yule_walker(handles, n, 5);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "library_forms_gpu: %s\n", error.what());
  return 1;
}
