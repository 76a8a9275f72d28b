/// \file
/// Baseline: the cuBLAS product of matrices that are completely in the memory of the GPU.
///
/// Copies in and out are separate phases, so the phase `multiply` contains only the product. cuBLAS
/// stores matrices in column-major order, so it interprets A, B and C as their transposes and
/// computes Cᵀ = Bᵀ Aᵀ.

#include "../matmul.hpp"

#include <staircase/cublas.hpp>

namespace matmul {

using staircase::check;
using staircase::DeviceArray;

// [multiply]
inline void multiply(cublasHandle_t handle, int l, int m, int n, const double* a, const double* b,
                     double* c) {
  const double one = 1, zero = 0;
  check(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, l, m, &one, b, n, a, m, &zero, c, n));
}

inline void multiply(cublasHandle_t handle, int l, int m, int n, const float* a, const float* b,
                     float* c) {
  const float one = 1, zero = 0;
  check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, l, m, &one, b, n, a, m, &zero, c, n));
}
// [multiply]

// [solve]
template <typename T>
Product<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const int l = problem.l, m = problem.m, n = problem.n;
  const staircase::CublasHandle handle;
  DeviceArray<T, 2> a(l, m), b(m, n), c(l, n);
  Product<T> product(l, n);

  timeline.begin("copy in");
  a.copy_from(problem.a<T>().data());
  b.copy_from(problem.b<T>().data());

  timeline.begin("multiply");
  multiply(handle, l, m, n, a.data(), b.data(), c.data());
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  c.copy_to(product.data());
  return product;
}
// [solve]

}  // namespace matmul

int main(int argc, char** argv) {
  return matmul::run_stage(argc, argv,
                           {
                               .title = "cublasGemm",
                               .idea = "Multiply with cuBLAS, kernels only",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
