/// \file
/// Yardstick: cuBLAS's triangular solve of a matrix that the GPU holds.
///
/// cuBLAS stores matrices by columns: our lower triangle is the upper one of the transposed matrix.

#include "../triangular_solve.hpp"

#include <staircase/cublas.hpp>

namespace triangular_solve {

using staircase::check;
using staircase::DeviceArray;

// [substitute]
inline void substitute(cublasHandle_t handle, int n, const double* l, double* x) {
  check(cublasDtrsv(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, n, l, n, x,
                    1));
}

inline void substitute(cublasHandle_t handle, int n, const float* l, float* x) {
  check(cublasStrsv(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, n, l, n, x,
                    1));
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const int n = problem.n;
  const staircase::CublasHandle handle;
  DeviceArray<T, 2> l(n, n);
  DeviceArray<T, 1> device_x(n);
  Solution<T> x(n);

  timeline.begin("copy in");
  l.copy_from(problem.l<T>().data());
  device_x.copy_from(problem.b<T>().data());

  timeline.begin("kernels");
  substitute(handle, n, l.data(), device_x.data());
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_x.copy_to(x.data());
  return x;
}
// [solve]

}  // namespace triangular_solve

int main(int argc, char** argv) {
  return triangular_solve::run_stage(argc, argv,
                                     {
                                         .title = "cublasTrsv",
                                         .idea = "cuBLAS's triangular solve, on the GPU",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
