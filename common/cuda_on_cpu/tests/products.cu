/// \file
/// Matrix products of cuBLAS and cublasLt whose element types are arguments, compared with loops.

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::expect_near;
using tap::table;

struct Handle {
  Handle() { expect(cublasCreate(&it) == CUBLAS_STATUS_SUCCESS, "a handle is made"); }
  ~Handle() { cublasDestroy(it); }
  cublasHandle_t it;
};

constexpr int m = 5, n = 7, k = 3;

/// Small integers, which all types represent exactly.
template <typename T>
std::vector<T> whole(int count, int period) {
  return table<T>(count, [&](int i) { return T(static_cast<float>(i * 5 % period - period / 2)); });
}

/// Element (i, j) of a matrix in column order, which may be transposed.
template <typename T>
double at(const std::vector<T>& a, bool transposed, int stride, int i, int j) {
  return static_cast<double>(transposed ? a[i * stride + j] : a[j * stride + i]);
}

struct Sizes {
  int m, n, k, lda_more, ldb_more, ldc_more;
};

template <typename T, typename Result>
void expect_product(const Sizes& sizes, cudaDataType type, cudaDataType result,
                    cublasComputeType_t compute, bool transposed_a, bool transposed_b) {
  const Handle handle;
  const auto [m, n, k, lda_more, ldb_more, ldc_more] = sizes;
  const int lda = (transposed_a ? k : m) + lda_more, ldb = (transposed_b ? n : k) + ldb_more,
            ldc = m + ldc_more;
  const auto a = whole<T>(lda * (transposed_a ? m : k), 7),
             b = whole<T>(ldb * (transposed_b ? k : n), 5);
  const auto c = whole<Result>(ldc * n, 9);
  const Device<T> on_a(a), on_b(b);
  const Device<Result> on_c(c);
  const float single[] = {2, -1};
  const double precise[] = {2, -1};
  const std::int32_t integers[] = {2, -1};
  const void* scales = compute == CUBLAS_COMPUTE_64F   ? static_cast<const void*>(precise)
                       : compute == CUBLAS_COMPUTE_32I ? static_cast<const void*>(integers)
                                                       : single;
  const void* beta = static_cast<const char*>(scales) + (compute == CUBLAS_COMPUTE_64F ? 8 : 4);
  expect(cublasGemmEx(handle.it, transposed_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                      transposed_b ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, scales, on_a.get(), type,
                      lda, on_b.get(), type, ldb, beta, on_c.get(), result, ldc, compute,
                      CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS,
         "it is accepted");
  const auto got = on_c.to_host();
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < ldc; ++i) {
      double sum = -static_cast<double>(c[j * ldc + i]);
      for (int l = 0; l < k && i < m; ++l)
        sum += 2 * at(a, transposed_a, lda, i, l) * at(b, transposed_b, ldb, l, j);
      expect_equal(static_cast<double>(got[j * ldc + i]),
                   i < m ? sum : static_cast<double>(c[j * ldc + i]));
    }
}

TEST(types_are_arguments) {
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      const Sizes any{m, n, k, 1, 2, 3}, fours{8, 12, 4, 4, 8, 12};
      expect_product<float, float>(any, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, a, b);
      expect_product<double, double>(any, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, a, b);
      expect_product<__half, __half>(any, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, a, b);
      expect_product<__half, float>(any, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, a, b);
      expect_product<__nv_bfloat16, __nv_bfloat16>(any, CUDA_R_16BF, CUDA_R_16BF,
                                                   CUBLAS_COMPUTE_32F_FAST_TF32, a, b);
      expect_product<std::int8_t, std::int32_t>(fours, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, a,
                                                b);
    }
}

TEST(bytes_begin_at_words) {
  const Handle handle;
  const Device<std::int8_t> a(std::vector<std::int8_t>(256, 1));
  const Device<std::int32_t> c(256);
  const std::int32_t one = 1, zero = 0;
  const auto status = [&](int begin, int lda, int ldb) {
    return cublasGemmEx(handle.it, CUBLAS_OP_T, CUBLAS_OP_N, 8, 8, 8, &one, a.get() + begin,
                        CUDA_R_8I, lda, a.get(), CUDA_R_8I, ldb, &zero, c.get(), CUDA_R_32I, 8,
                        CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT);
  };
  expect(status(0, 12, 16) == CUBLAS_STATUS_SUCCESS, "it is accepted");
  for (const auto refused : {status(2, 12, 16), status(0, 13, 16), status(0, 12, 14)})
    expect(refused == CUBLAS_STATUS_NOT_SUPPORTED, "no columns of words");
}

TEST(batches_are_strides_apart) {
  const Handle handle;
  const auto a = whole<float>(4 * 3, 7), b = whole<float>(4 * 3, 5);
  const Device<float> on_a(a), on_b(b), c(4 * 3);
  const float alpha = 1, beta = 0;  // with beta = 0, the initial result has no effect
  expect(cublasGemmStridedBatchedEx(handle.it, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &alpha,
                                    on_a.get(), CUDA_R_32F, 2, 4, on_b.get(), CUDA_R_32F, 2, 4,
                                    &beta, c.get(), CUDA_R_32F, 2, 4, 3, CUDA_R_32F,
                                    CUBLAS_GEMM_DEFAULT_TENSOR_OP) == CUBLAS_STATUS_SUCCESS,
         "it is accepted");
  expect_equal(c.to_host(), table<float>(12, [&](int e) {
                 const int base = e / 4 * 4, i = e % 2, j = e / 2 % 2;
                 return a[base + i] * b[base + 2 * j] + a[base + 2 + i] * b[base + 2 * j + 1];
               }));
}

TEST(halves_have_a_function_of_their_own) {
  const Handle handle;
  const Device<__half> a(whole<__half>(6, 7)), b(whole<__half>(6, 5)), c(4);
  const __half alpha = 1.0f, beta = 0.0f;
  expect(cublasHgemm(handle.it, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &alpha, a.get(), 2, b.get(), 3,
                     &beta, c.get(), 2) == CUBLAS_STATUS_SUCCESS,
         "it is accepted");
  const auto left = whole<float>(6, 7), right = whole<float>(6, 5);
  expect_equal(static_cast<float>(c.to_host()[3]),
               left[1] * right[3] + left[3] * right[4] + left[5] * right[5]);
}

/// Products with vectors of 16-bit elements, in a batch whose matrices are given by a stride or by
/// their addresses.
template <typename From, typename To, typename Strided, typename Batched>
void expect_products_with_vectors(Strided strided, Batched batched) {
  const Handle handle;
  constexpr int lda = 6, batches = 3, of_a = lda * n, of_x = 2 * n, of_y = 2 * n;
  const auto a = whole<From>(of_a * batches, 7), x = whole<From>(of_x * batches, 5);
  const auto y = whole<To>(of_y * batches, 9);
  const Device<From> on_a(a), on_x(x);
  const float alpha = 2, beta = -1;
  for (const bool transposed : {false, true})
    for (const bool by_addresses : {false, true}) {
      const Device<To> on_y(y);
      const int rows = transposed ? n : m, columns = transposed ? m : n;
      const auto op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
      std::vector<const From*> as, xs;
      std::vector<To*> ys;
      for (int i = 0; i < batches; ++i) {
        as.push_back(on_a.get() + i * of_a);
        xs.push_back(on_x.get() + i * of_x);
        ys.push_back(on_y.get() + i * of_y);
      }
      const Device<const From*> all_a(as), all_x(xs);
      const Device<To*> all_y(ys);
      expect((by_addresses
                  ? batched(handle.it, op, m, n, &alpha, all_a.get(), lda, all_x.get(), 2, &beta,
                            all_y.get(), -2, batches)
                  : strided(handle.it, op, m, n, &alpha, on_a.get(), lda, of_a, on_x.get(), 2, of_x,
                            &beta, on_y.get(), -2, of_y, batches)) == CUBLAS_STATUS_SUCCESS,
             "it is accepted");
      const auto got = on_y.to_host();
      for (int b = 0; b < batches; ++b)
        for (int i = 0; i < rows; ++i) {
          const int place = b * of_y + 2 * (rows - 1 - i);
          double sum = -static_cast<double>(y[place]);
          for (int j = 0; j < columns; ++j)
            sum += 2 * static_cast<double>(a[b * of_a + (transposed ? j + i * lda : i + j * lda)]) *
                   static_cast<double>(x[b * of_x + 2 * j]);
          expect_equal(static_cast<double>(got[place]), sum);
        }
    }
}
TEST(products_with_vectors_of_16_bits) {
  expect_products_with_vectors<__half, __half>(
      [](auto... all) { return cublasHSHgemvStridedBatched(all...); },
      [](auto... all) { return cublasHSHgemvBatched(all...); });
  expect_products_with_vectors<__half, float>(
      [](auto... all) { return cublasHSSgemvStridedBatched(all...); },
      [](auto... all) { return cublasHSSgemvBatched_64(all...); });
  expect_products_with_vectors<__nv_bfloat16, __nv_bfloat16>(
      [](auto... all) { return cublasTSTgemvStridedBatched(all...); },
      [](auto... all) { return cublasTSTgemvBatched(all...); });
  expect_products_with_vectors<__nv_bfloat16, float>(
      [](auto... all) { return cublasTSSgemvStridedBatched_64(all...); },
      [](auto... all) { return cublasTSSgemvBatched(all...); });
}

/// All variants of a complex product return the same result.
TEST(complex_products_have_several_forms) {
  const Handle handle;
  constexpr int size = 8 * 8;
  std::vector<cuComplex> a(size), b(size), c(size);
  for (int i = 0; i < size; ++i) {
    a[i] = {tap::random_value(-1.f, 1.f), tap::random_value(-1.f, 1.f)};
    b[i] = {tap::random_value(-1.f, 1.f), tap::random_value(-1.f, 1.f)};
    c[i] = {tap::random_value(-1.f, 1.f), tap::random_value(-1.f, 1.f)};
  }
  const Device<cuComplex> on_a(a), on_b(b);
  const Device<const cuComplex*> all_a(std::vector<const cuComplex*>{on_a.get()}),
      all_b(std::vector<const cuComplex*>{on_b.get()});
  const cuComplex alpha = {0.5f, -2}, beta = {-1, 0.25f};
  const float by = 0.5f, before = -1;
  const auto op = CUBLAS_OP_C, plain = CUBLAS_OP_N;
  const auto lower = CUBLAS_FILL_MODE_LOWER;
  const cudaDataType type = CUDA_C_32F;
  const auto results = [&](const auto& call) {
    const Device<cuComplex> on_c(c);
    expect(call(on_c.get()) == CUBLAS_STATUS_SUCCESS, "it is accepted");
    std::vector<float> parts;
    for (const cuComplex element : on_c.to_host()) {
      parts.push_back(element.x);
      parts.push_back(element.y);
    }
    return parts;
  };
  const auto expected = results([&](cuComplex* to) {
    return cublasCgemm(handle.it, op, plain, 5, 7, 3, &alpha, on_a.get(), 8, on_b.get(), 8, &beta,
                       to, 8);
  });
  expect_equal(results([&](cuComplex* to) {
                 return cublasCgemmEx(handle.it, op, plain, 5, 7, 3, &alpha, on_a.get(), type, 8,
                                      on_b.get(), type, 8, &beta, to, type, 8);
               }),
               expected);
  expect_equal(results([&](cuComplex* to) {
                 return cublasCgemm3mEx_64(handle.it, op, plain, 5, 7, 3, &alpha, on_a.get(), type,
                                           8, on_b.get(), type, 8, &beta, to, type, 8);
               }),
               expected);
  expect_equal(results([&](cuComplex* to) {
                 return cublasCgemm3mStridedBatched(handle.it, op, plain, 5, 7, 3, &alpha,
                                                    on_a.get(), 8, 0, on_b.get(), 8, 0, &beta, to,
                                                    8, 0, 1);
               }),
               expected);
  expect_equal(results([&](cuComplex* to) {
                 const Device<cuComplex*> all_c(std::vector<cuComplex*>{to});
                 const auto status =
                     cublasCgemm3mBatched(handle.it, op, plain, 5, 7, 3, &alpha, all_a.get(), 8,
                                          all_b.get(), 8, &beta, all_c.get(), 8, 1);
                 check(cudaDeviceSynchronize());
                 return status;
               }),
               expected);
  const auto symmetric = results([&](cuComplex* to) {
    return cublasCsyrk(handle.it, lower, plain, 5, 3, &alpha, on_a.get(), 8, &beta, to, 8);
  });
  expect_equal(results([&](cuComplex* to) {
                 return cublasCsyrkEx(handle.it, lower, plain, 5, 3, &alpha, on_a.get(), type, 8,
                                      &beta, to, type, 8);
               }),
               symmetric);
  expect_equal(results([&](cuComplex* to) {
                 return cublasCsyrk3mEx_64(handle.it, lower, plain, 5, 3, &alpha, on_a.get(), type,
                                           8, &beta, to, type, 8);
               }),
               symmetric);
  const auto hermitian = results([&](cuComplex* to) {
    return cublasCherk(handle.it, lower, plain, 5, 3, &by, on_a.get(), 8, &before, to, 8);
  });
  expect_equal(results([&](cuComplex* to) {
                 return cublasCherkEx_64(handle.it, lower, plain, 5, 3, &by, on_a.get(), type, 8,
                                         &before, to, type, 8);
               }),
               hermitian);
  expect_equal(results([&](cuComplex* to) {
                 return cublasCherk3mEx(handle.it, lower, plain, 5, 3, &by, on_a.get(), type, 8,
                                        &before, to, type, 8);
               }),
               hermitian);
  expect(cublasCgemmEx(handle.it, op, plain, 5, 7, 3, &alpha, on_a.get(), CUDA_C_8I, 8, on_b.get(),
                       CUDA_C_8I, 8, &beta, on_a.get(), type, 8) == CUBLAS_STATUS_NOT_SUPPORTED,
         "no complex numbers of 8 bits");
}

TEST(sizes_have_64_bits) {
  const Handle handle;
  const auto a = whole<float>(m * k, 7), b = whole<float>(k * n, 5);
  const Device<float> on_a(a), on_b(b), narrow(m * n), large(m * n);
  const float alpha = 1, beta = 0;
  expect(cublasSgemmEx(handle.it, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, on_a.get(), CUDA_R_32F,
                       m, on_b.get(), CUDA_R_32F, k, &beta, narrow.get(), CUDA_R_32F,
                       m) == CUBLAS_STATUS_SUCCESS,
         "it is accepted");
  expect(cublasSgemmEx_64(handle.it, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, on_a.get(),
                          CUDA_R_32F, m, on_b.get(), CUDA_R_32F, k, &beta, large.get(), CUDA_R_32F,
                          m) == CUBLAS_STATUS_SUCCESS,
         "it is accepted with 64-bit sizes");
  expect_equal(large.to_host(), narrow.to_host());
  expect(cublasGemmEx_64(handle.it, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, on_a.get(),
                         CUDA_R_32F, std::int64_t{1} << 32, on_b.get(), CUDA_R_32F, k, &beta,
                         large.get(), CUDA_R_32F, m, CUBLAS_COMPUTE_32F,
                         CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED,
         "a stride that does not fit into 32 bits");
}

TEST(products_that_cannot_be_are_refused) {
  const Handle handle;
  const float alpha = 1, beta = 0;
  const auto status = [&](cudaDataType type, int lda) {
    return cublasGemmEx(handle.it, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &alpha, nullptr, type, lda,
                        nullptr, type, 4, &beta, nullptr, type, 4, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT);
  };
#ifdef STAIRCASE_CUDA_ON_CPU  // a GPU supports such products in other layouts
  expect(status(CUDA_R_8F_E4M3, 4) == CUBLAS_STATUS_NOT_SUPPORTED, "numbers of 8 bits");
#endif
  expect(status(CUDA_R_32F, 3) == CUBLAS_STATUS_INVALID_VALUE, "columns overlap");
}

// --- Products described by cublasLt. A GPU requires sizes that are multiples of four.

namespace described {

constexpr int m = 8, n = 12, k = 4;

/// Computes D = AᵀB, followed by an optional bias and an optional ReLU function.
class Described {
 public:
  Described(cublasLtEpilogue_t epilogue, const float* bias, int order = CUBLASLT_ORDER_COL) {
    const cublasOperation_t transposed = CUBLAS_OP_T;
    cublasLtCreate(&handle);
    cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                   sizeof transposed);
    cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                   sizeof epilogue);
    if (bias != nullptr)
      cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
                                     sizeof bias);
    cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, k, m, k);
    cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, k, n, k);
    cublasLtMatrixLayoutCreate(&d, CUDA_R_32F, m, n, order == CUBLASLT_ORDER_COL ? m : n);
    cublasLtMatrixLayoutSetAttribute(d, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order);
    cublasLtMatmulPreferenceCreate(&preference);
  }
  ~Described() {
    cublasLtMatmulPreferenceDestroy(preference);
    for (const auto layout : {a, b, d}) cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(description);
    cublasLtDestroy(handle);
  }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;

  cublasStatus_t heuristic(cublasLtMatmulHeuristicResult_t& result) const {
    int found = 0;
    const auto status = cublasLtMatmulAlgoGetHeuristic(handle, description, a, b, d, d, preference,
                                                       1, &result, &found);
    expect_equal(found, status == CUBLAS_STATUS_SUCCESS);
    return status;
  }
  cublasStatus_t status(const float* on_a, const float* on_b, float* on_d) const {
    cublasLtMatmulHeuristicResult_t result;
    expect(heuristic(result) == CUBLAS_STATUS_SUCCESS, "there is an algorithm");
    const float alpha = 1, beta = 0;
    return cublasLtMatmul(handle, description, &alpha, on_a, a, on_b, b, &beta, on_d, d, on_d, d,
                          &result.algo, nullptr, 0, nullptr);
  }
  void multiply(const float* on_a, const float* on_b, float* on_d) const {
    expect(status(on_a, on_b, on_d) == CUBLAS_STATUS_SUCCESS, "it is accepted");
  }

 private:
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t description;
  cublasLtMatrixLayout_t a, b, d;
  cublasLtMatmulPreference_t preference;
};

// cublasLt 13 has no row-order results of column-order operands.
#ifdef STAIRCASE_CUDA_ON_CPU
constexpr int orders[] = {CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW};
#else
constexpr int orders[] = {CUBLASLT_ORDER_COL};
#endif

TEST(a_bias_and_an_activation_follow) {
  const auto a = whole<float>(k * m, 7), b = whole<float>(k * n, 5), bias = whole<float>(m, 3);
  const Device<float> on_a(a), on_b(b), on_bias(bias);
  for (const auto epilogue : {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU,
                              CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS})
    for (const int order : orders) {
      const Device<float> d(m * n);
      const bool has_bias = (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
      Described(epilogue, has_bias ? on_bias.get() : nullptr, order)
          .multiply(on_a.get(), on_b.get(), d.get());
      expect_equal(d.to_host(), table<float>(m * n, [&](int e) {
                     const int i = order == CUBLASLT_ORDER_COL ? e % m : e / n;
                     const int j = order == CUBLASLT_ORDER_COL ? e / m : e % n;
                     float sum = has_bias ? bias[i] : 0;
                     for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[j * k + l];
                     return (epilogue & CUBLASLT_EPILOGUE_RELU) != 0 && sum < 0 ? 0 : sum;
                   }));
    }
}

TEST(descriptions_in_memory_of_the_program_describe_a_product) {
  const auto a = whole<float>(m * k, 7), b = whole<float>(k * n, 5);
  const Device<float> on_a(a), on_b(b), d(m * n);
  cublasLtMatmulDescOpaque_t description = {};
  cublasLtMatrixLayoutOpaque_t of_a = {}, of_b = {}, of_d = {};
  cublasLtMatmulPreferenceOpaque_t preference = {};
  expect_equal(cublasLtMatmulDescInit(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F),
               CUBLAS_STATUS_SUCCESS);
  expect_equal(cublasLtMatrixLayoutInit(&of_a, CUDA_R_32F, m, k, m), CUBLAS_STATUS_SUCCESS);
  expect_equal(cublasLtMatrixLayoutInit(&of_b, CUDA_R_32F, k, n, k), CUBLAS_STATUS_SUCCESS);
  expect_equal(cublasLtMatrixLayoutInit(&of_d, CUDA_R_32F, m, n, m), CUBLAS_STATUS_SUCCESS);
  expect_equal(cublasLtMatmulPreferenceInit(&preference), CUBLAS_STATUS_SUCCESS);
  cublasLtHandle_t handle;
  cublasLtCreate(&handle);
  cublasLtMatmulHeuristicResult_t result;
  int found = 0;
  cublasLtMatmulAlgoGetHeuristic(handle, &description, &of_a, &of_b, &of_d, &of_d, &preference, 1,
                                 &result, &found);
  expect_equal(found, 1);
  const float alpha = 1, beta = 0;
  expect_equal(
      cublasLtMatmul(handle, &description, &alpha, on_a.get(), &of_a, on_b.get(), &of_b, &beta,
                     d.get(), &of_d, d.get(), &of_d, &result.algo, nullptr, 0, nullptr),
      CUBLAS_STATUS_SUCCESS);
  cublasLtDestroy(handle);
  expect_equal(d.to_host(), table<float>(m * n, [&](int e) {
                 float sum = 0;
                 for (int l = 0; l < k; ++l) sum += a[e % m + l * m] * b[e / m * k + l];
                 return sum;
               }));
}

TEST(a_bias_that_is_not_asked_for_is_refused) {
  const Device<float> x(m * n);
  const Described product(CUBLASLT_EPILOGUE_RELU, x.get());
  expect(product.status(x.get(), x.get(), x.get()) == CUBLAS_STATUS_INVALID_VALUE, "no bias");
}

TEST(gelu_is_the_one_of_a_hyperbolic_tangent) {
  const auto a = whole<float>(k * m, 7),
             b = table<float>(k * n, [](int i) { return i % 3 * 0.1f; });
  const Device<float> on_a(a), on_b(b), plain(m * n), bent(m * n);
  Described(CUBLASLT_EPILOGUE_DEFAULT, nullptr).multiply(on_a.get(), on_b.get(), plain.get());
  Described(CUBLASLT_EPILOGUE_GELU, nullptr).multiply(on_a.get(), on_b.get(), bent.get());
  const auto x = plain.to_host(), y = bent.to_host();
  for (int i = 0; i < m * n; ++i)
    expect_near(static_cast<double>(y[i]),
                x[i] / (1 + std::exp(-2 * 0.7978845608 * (x[i] + 0.044715 * x[i] * x[i] * x[i]))),
                1e-5);
}

#ifdef STAIRCASE_CUDA_ON_CPU
TEST(gradients_are_refused) {
  cublasLtMatmulHeuristicResult_t result;
  const Described product(CUBLASLT_EPILOGUE_DGELU, nullptr);
  expect(product.heuristic(result) == CUBLAS_STATUS_NOT_SUPPORTED, "no gradient of an activation");
}
#endif

}  // namespace described

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
