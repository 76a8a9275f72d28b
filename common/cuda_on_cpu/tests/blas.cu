/// \file
/// Sums of matrices and matrix-vector products with the cuBLAS interface, each with transposed and
/// plain operands, and calls with invalid arguments.

#include <cublas_v2.h>

#include <array>
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

/// A handle, created and destroyed under the names that the library exports.
struct Handle {
  Handle() { expect(cublasCreate_v2(&it) == CUBLAS_STATUS_SUCCESS, "a handle is made"); }
  ~Handle() { cublasDestroy_v2(it); }
  cublasHandle_t it;
};

/// Columns with unused elements between them.
template <typename T>
std::vector<T> random_columns(int columns, int stride) {
  std::vector<T> values(columns * stride);
  for (T& value : values) value = random_value(T{-1}, T{1});
  return values;
}

constexpr cublasOperation_t plain = CUBLAS_OP_N, transposed = CUBLAS_OP_T;

/// Element (i, j) of a matrix after an operation (transposition or none).
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

/// Uninitialised memory.
struct Fresh {
  explicit Fresh(int numbers) { check(cudaMalloc(&it, numbers * sizeof(float))); }
  ~Fresh() { cudaFree(it); }
  float* it = nullptr;
};

/// Calls `make` to compute a product in uninitialised memory, and returns the values.
template <typename Make>
std::vector<float> into_fresh(int numbers, Make make) {
  const Fresh memory(numbers);
  expect(make(memory.it) == CUBLAS_STATUS_SUCCESS, "it runs");
  std::vector<float> values(numbers);
  check(cudaMemcpy(values.data(), memory.it, numbers * sizeof(float), cudaMemcpyDeviceToHost));
  return values;
}

TEST(a_result_that_is_multiplied_by_zero_is_not_read) {
  const Handle handle;
  const std::vector<float> values = random_columns<float>(4, 4);
  const Device<float> a(values);
  const float one = 1, zero = 0;
  const auto product = into_fresh(16, [&](float* c) {
    return cublasSgemm(handle.it, plain, plain, 4, 4, 4, &one, a.get(), 4, a.get(), 4, &zero, c, 4);
  });
  const auto batched = into_fresh(32, [&](float* c) {
    return cublasSgemmStridedBatched(handle.it, plain, plain, 4, 4, 4, &one, a.get(), 4, 0, a.get(),
                                     4, 0, &zero, c, 4, 16, 2);
  });
  const auto vector = into_fresh(4, [&](float* y) {
    return cublasSgemv(handle.it, plain, 4, 4, &one, a.get(), 4, a.get(), 1, &zero, y, 1);
  });
  for (int i = 0; i < 16; ++i) tap::expect_near(batched[16 + i], product[i], 1e-5F);
  for (int i = 0; i < 4; ++i) tap::expect_near(vector[i], product[i], 1e-5F);
}

template <typename T>
cublasStatus_t multiply(cublasHandle_t handle, cublasOperation_t op, int m, int n, T alpha,
                        const T* a, int lda, const T* x, int stride_x, T beta, T* y, int stride_y) {
  if constexpr (sizeof(T) == 8)
    return cublasDgemv(handle, op, m, n, &alpha, a, lda, x, stride_x, &beta, y, stride_y);
  else
    return cublasSgemv(handle, op, m, n, &alpha, a, lda, x, stride_x, &beta, y, stride_y);
}

/// Small integers, whose products and sums are exact in every order.
template <typename T>
std::vector<T> random_integers(int count) {
  return tap::table<T>(count, [](int) { return random_value(-9, 9); });
}

template <typename T>
void expect_product(cublasOperation_t op, int m, int n, T alpha, T beta, int stride_x,
                    int stride_y) {
  const Handle handle;
  const int rows = op == plain ? m : n, columns = op == plain ? n : m, lda = m + 2;
  const auto a = random_integers<T>(n * lda), x = random_integers<T>(columns * stride_x);
  // With beta = 0, y may contain any values.
  const auto before =
      beta == 0 ? std::vector<T>(rows * stride_y, NAN) : random_integers<T>(rows * stride_y);
  const Device<T> on_a(a), on_x(x), on_y(before);
  expect(multiply(handle.it, op, m, n, alpha, on_a.get(), lda, on_x.get(), stride_x, beta,
                  on_y.get(), stride_y) == CUBLAS_STATUS_SUCCESS,
         "it runs");
  const std::vector<T> y = on_y.to_host();
  for (int i = 0; i < rows; ++i) {
    T sum = 0;
    for (int j = 0; j < columns; ++j) sum += of(a, op, lda, i, j) * x[j * stride_x];
    expect_equal(y[i * stride_y], alpha * sum + (beta == 0 ? 0 : beta * before[i * stride_y]));
  }
}

TEST(products_with_a_vector_are_as_they_are_by_hand) {
  for (const cublasOperation_t op : {plain, transposed}) {
    expect_product<double>(op, 1, 1, 1, 0, 1, 1);
    expect_product<double>(op, 37, 21, 1, 0, 1, 1);
    expect_product<double>(op, 21, 37, -2, 3, 2, 3);
    expect_product<float>(op, 40, 8, 0.5F, 0, 3, 2);
    expect_product<float>(op, 8, 40, 0, 2, 1, 2);
  }
}

TEST(a_product_that_zero_multiplies_reads_nothing) {
  const Handle handle;
  double *a = nullptr, *y = nullptr;  // uninitialised
  check(cudaMalloc(&a, 6 * sizeof(double)));
  check(cudaMalloc(&y, 2 * sizeof(double)));
  expect(multiply(handle.it, plain, 2, 3, 0., a, 2, a, 1, 0., y, 1) == 0, "it runs");
  double out[2] = {1, 1};
  check(cudaMemcpy(out, y, sizeof out, cudaMemcpyDeviceToHost));
  expect_equal(out[0] + out[1], 0.);
  check(cudaFree(a));
  check(cudaFree(y));
}

TEST(what_is_no_product_is_refused) {
  const Handle handle;
  const Device<double> a(std::vector<double>(20, 1)), y(20);
  const auto status = [&](cublasHandle_t with, int m, int n, int lda, int stride_x, int stride_y) {
    return multiply(with, plain, m, n, 1., a.get(), lda, a.get(), stride_x, 0., y.get(), stride_y);
  };
  expect(status(nullptr, 4, 5, 4, 1, 1) == CUBLAS_STATUS_NOT_INITIALIZED, "no handle");
  expect(status(handle.it, 0, 5, 4, 1, 1) == CUBLAS_STATUS_SUCCESS, "nothing to do");
  expect(status(handle.it, 4, 5, 3, 1, 1) == CUBLAS_STATUS_INVALID_VALUE, "columns overlap");
#ifdef STAIRCASE_CUDA_ON_CPU  // cuBLAS 13 reports success for these calls
  for (const auto refused : {status(handle.it, -1, 5, 4, 1, 1), status(handle.it, 4, -5, 4, 1, 1),
                             status(handle.it, 4, 5, 4, 0, 1), status(handle.it, 4, 5, 4, 1, 0)})
    expect(refused == CUBLAS_STATUS_INVALID_VALUE, "no product");
#endif
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
