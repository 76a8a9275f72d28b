/// \file
/// Baseline: the cuBLAS product of matrices in the host's memory, on all available GPUs.
///
/// cuBLAS stores matrices in column-major order, so it interprets A, B and C as their transposes
/// and computes Cᵀ = Bᵀ Aᵀ.

#include "../matmul.hpp"

#include <algorithm>
#include <staircase/cublas_xt.hpp>
#include <staircase/stream.hpp>

namespace matmul {

using staircase::check;
using staircase::Pinned;

constexpr std::int64_t block = 8192;  // rows and columns of the tiles that cuBLAS sends

// [multiply]
inline void multiply(cublasXtHandle_t handle, std::size_t l, std::size_t m, std::size_t n,
                     const double* a, const double* b, double* c) {
  const double one = 1, zero = 0;
  check(cublasXtDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, l, m, &one, b, n, a, m, &zero, c, n));
}

inline void multiply(cublasXtHandle_t handle, std::size_t l, std::size_t m, std::size_t n,
                     const float* a, const float* b, float* c) {
  const float one = 1, zero = 0;
  check(cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, l, m, &one, b, n, a, m, &zero, c, n));
}
// [multiply]

// [solve]
template <typename T>
Product<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Product<T> c(problem.l, problem.n);
  const Pinned pinned_a(problem.a<T>()), pinned_b(problem.b<T>()), pinned_c(c);
  const staircase::CublasXtHandle handle;
  const std::int64_t largest = std::max({problem.l, problem.m, problem.n});
  check(cublasXtSetBlockDim(handle, std::min(block, largest)));
  // The first product allocates buffers on the GPU, which the second one reuses.
  const auto part = [](std::int64_t size) { return std::size_t(std::min(block, size)); };
  multiply(handle, part(problem.l), part(problem.m), part(problem.n), problem.a<T>().data(),
           problem.b<T>().data(), c.data());

  timeline.begin("multiply");
  multiply(handle, problem.l, problem.m, problem.n, problem.a<T>().data(), problem.b<T>().data(),
           c.data());
  return c;
}
// [solve]

}  // namespace matmul

int main(int argc, char** argv) {
  return matmul::run_stage(argc, argv,
                           {
                               .title = "cublasXtGemm",
                               .idea = "Multiply with cublasXt from host memory",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
