/// \file
/// Baseline: the triangular solve of cuBLAS with a matrix in GPU memory. The program calls trsv for
/// one right-hand side and trsm for several.
///
/// cuBLAS stores matrices in column-major order. To cuBLAS, our lower triangle is therefore the
/// upper triangle of the transpose, and our contiguous right-hand sides are columns of a matrix.

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

inline void substitute(cublasHandle_t handle, int n, int rhs, const double* l, double* x) {
  const double one = 1;
  check(cublasDtrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T,
                    CUBLAS_DIAG_NON_UNIT, n, rhs, &one, l, n, x, n));
}

inline void substitute(cublasHandle_t handle, int n, int rhs, const float* l, float* x) {
  const float one = 1;
  check(cublasStrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T,
                    CUBLAS_DIAG_NON_UNIT, n, rhs, &one, l, n, x, n));
}
// [substitute]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const int n = problem.n, rhs = problem.rhs;
  const staircase::CublasHandle handle;
  DeviceArray<T, 2> l(n, n);
  DeviceArray<T, 2> device_x(rhs, n);
  Solution<T> x(rhs, n);

  timeline.begin("copy in");
  l.copy_from(problem.l<T>().data());
  device_x.copy_from(problem.b<T>().data());

  timeline.begin("kernels");
  if (rhs == 1)
    substitute(handle, n, l.data(), device_x.data());
  else
    substitute(handle, n, rhs, l.data(), device_x.data());
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
                                         .title = "cublasTrsv, cublasTrsm",
                                         .idea = "Call trsv or trsm of cuBLAS on the GPU",
                                         .solve_f64 = triangular_solve::solve<double>,
                                         .solve_f32 = triangular_solve::solve<float>,
                                     });
}
