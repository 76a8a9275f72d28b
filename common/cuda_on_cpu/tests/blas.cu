/// \file
/// Sums of matrices in place of cuBLAS's, each of them transposed or not; what is refused.

#include <cublas_v2.h>

#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::random_value;

template <typename T>
cublasStatus_t add(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                   int n, T alpha, const T* a, int lda, T beta, const T* b, int ldb, T* c,
                   int ldc) {
  if constexpr (sizeof(T) == 8)
    return cublasDgeam(handle, op_a, op_b, m, n, &alpha, a, lda, &beta, b, ldb, c, ldc);
  else
    return cublasSgeam(handle, op_a, op_b, m, n, &alpha, a, lda, &beta, b, ldb, c, ldc);
}

struct Handle {
  Handle() { expect(cublasCreate(&it) == CUBLAS_STATUS_SUCCESS, "a handle is made"); }
  ~Handle() { cublasDestroy(it); }
  cublasHandle_t it;
};

/// Columns that are further apart than they are long.
template <typename T>
std::vector<T> random_columns(int columns, int stride) {
  std::vector<T> values(columns * stride);
  for (T& value : values) value = random_value(T{-1}, T{1});
  return values;
}

constexpr cublasOperation_t plain = CUBLAS_OP_N, transposed = CUBLAS_OP_T;

/// Element (i, j) of what an operation makes of a matrix.
template <typename T>
T of(const std::vector<T>& matrix, cublasOperation_t operation, int stride, int i, int j) {
  return operation == plain ? matrix[i + j * stride] : matrix[j + i * stride];
}

template <typename T>
void expect_sum(cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, T alpha, T beta) {
  const Handle handle;
  const int lda = (op_a == plain ? m : n) + 2, ldb = (op_b == plain ? m : n) + 1, ldc = m + 3;
  const auto a = random_columns<T>(op_a == plain ? n : m, lda);
  const auto b = random_columns<T>(op_b == plain ? n : m, ldb);
  const auto before = random_columns<T>(n, ldc);
  const Device<T> on_a(a), on_b(b), on_c(before);
  expect(add(handle.it, op_a, op_b, m, n, alpha, on_a.get(), lda, beta, on_b.get(), ldb, on_c.get(),
             ldc) == CUBLAS_STATUS_SUCCESS,
         "it runs");
  const std::vector<T> c = on_c.to_host();
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < ldc; ++i)
      expect_equal(c[i + j * ldc],
                   i < m ? alpha * of(a, op_a, lda, i, j) + beta * of(b, op_b, ldb, i, j)
                         : before[i + j * ldc]);
}

TEST(sums_of_matrices_are_as_they_are_by_hand) {
  for (const cublasOperation_t op_a : {plain, transposed})
    for (const cublasOperation_t op_b : {plain, transposed}) {
      expect_sum<double>(op_a, op_b, 1, 1, 1, 1);
      expect_sum<double>(op_a, op_b, 7, 5, 2, -0.5);
      expect_sum<float>(op_a, op_b, 33, 2, 0.25F, 4);
    }
}

TEST(what_zero_multiplies_is_not_read) {
  const Handle handle;
  const std::vector<float> values = random_columns<float>(3, 4);
  const Device<float> a(values), c(12);
  expect(add(handle.it, transposed, plain, 3, 4, 1.F, a.get(), 4, 0.F, c.get(), 3, c.get(), 3) == 0,
         "it runs");
  const std::vector<float> sum = c.to_host();
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 3; ++i) expect_equal(sum[i + 3 * j], values[j + 4 * i]);
}

TEST(a_sum_may_take_the_place_of_a_term) {
  const Handle handle;
  const std::vector<double> values = random_columns<double>(3, 3),
                            terms = random_columns<double>(3, 3);
  const Device<double> a(values), b(terms);
  expect(add(handle.it, plain, transposed, 3, 3, 1., a.get(), 3, 1., b.get(), 3, a.get(), 3) == 0,
         "it runs");
  const std::vector<double> sum = a.to_host();
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) expect_equal(sum[i + 3 * j], values[i + 3 * j] + terms[j + 3 * i]);
}

TEST(what_is_no_sum_is_refused) {
  const Handle handle;
  const Device<double> a(std::vector<double>(20, 1)), c(20);
  const auto status = [&](cublasHandle_t with, cublasOperation_t op, int m, int lda, int ldc,
                          const double* from) {
    return add(with, op, plain, m, 5, 1., from, lda, 0., c.get(), ldc, c.get(), ldc);
  };
  expect(status(nullptr, plain, 4, 4, 4, a.get()) == CUBLAS_STATUS_NOT_INITIALIZED, "no handle");
  for (const auto refused :
       {status(handle.it, plain, -1, 4, 4, a.get()), status(handle.it, plain, 4, 3, 4, a.get()),
        status(handle.it, transposed, 4, 4, 4, a.get()), status(handle.it, plain, 4, 4, 3, a.get()),
        status(handle.it, transposed, 4, 5, 4, c.get()),
        status(handle.it, plain, 3, 4, 3, c.get())})
    expect(refused == CUBLAS_STATUS_INVALID_VALUE, "no sum");
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
