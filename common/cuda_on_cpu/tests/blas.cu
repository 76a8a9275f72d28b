/// \file
/// Sums of matrices in place of cuBLAS's, each of them transposed or not, and products with
/// vectors; what is refused.

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

/// Memory that nobody has written.
struct Fresh {
  explicit Fresh(int numbers) { check(cudaMalloc(&it, numbers * sizeof(float))); }
  ~Fresh() { cudaFree(it); }
  float* it = nullptr;
};

/// The values of a product that takes the place of nothing: `make` computes them into fresh memory.
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
  for (int i = 0; i < 16; ++i) expect_equal(batched[16 + i], product[i]);
  for (int i = 0; i < 4; ++i) tap::expect_near(vector[i], product[i], 1e-5F);
}

template <typename T>
void expect_product_with_vector(cublasOperation_t operation, T beta, int stride_x, int stride_y) {
  const Handle handle;
  constexpr int m = 5, n = 3, lda = 6;
  const int of_x = operation == plain ? n : m, of_y = operation == plain ? m : n;
  const T alpha = 2;
  const auto a = random_columns<T>(n, lda), x = random_columns<T>(of_x, stride_x),
             before = random_columns<T>(of_y, stride_y);
  const Device<T> on_a(a), on_x(x), on_y(before);
  cublasStatus_t status;
  if constexpr (sizeof(T) == 8)
    status = cublasDgemv(handle.it, operation, m, n, &alpha, on_a.get(), lda, on_x.get(), stride_x,
                         &beta, on_y.get(), stride_y);
  else
    status = cublasSgemv(handle.it, operation, m, n, &alpha, on_a.get(), lda, on_x.get(), stride_x,
                         &beta, on_y.get(), stride_y);
  expect(status == CUBLAS_STATUS_SUCCESS, "it runs");
  const std::vector<T> y = on_y.to_host();
  for (int i = 0; i < of_y * stride_y; ++i) {
    T sum = beta * before[i];
    for (int l = 0; l < of_x; ++l)
      sum += alpha * of(a, operation, lda, i / stride_y, l) * x[l * stride_x];
    tap::expect_near(y[i], i % stride_y == 0 ? sum : before[i], T(1e-5));
  }
}

TEST(products_with_vectors_are_as_they_are_by_hand) {
  for (const cublasOperation_t operation : {plain, transposed}) {
    expect_product_with_vector<double>(operation, 0, 1, 1);
    expect_product_with_vector<float>(operation, -0.5F, 2, 3);
  }
}

TEST(vectors_whose_elements_lie_nowhere_are_refused) {
  const Handle handle;
  const Device<float> a(std::vector<float>(20, 1)), y(5);
  const float one = 1;
  for (const auto [lda, stride_x, stride_y] : {std::array{4, 1, 1}, {5, 0, 1}, {5, 1, 0}})
    expect(cublasSgemv(handle.it, plain, 5, 2, &one, a.get(), lda, a.get(), stride_x, &one, y.get(),
                       stride_y) == CUBLAS_STATUS_INVALID_VALUE,
           "no product");
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
