/// \file
/// Baseline: cuSOLVER's factorisation of a matrix in GPU memory.
///
/// cuSOLVER uses column-major order, in which our lower triangle is the upper triangle of the
/// transposed matrix.

#include "../cholesky.hpp"

#include <limits>
#include <staircase/cusolver.hpp>

namespace cholesky {

using staircase::check;
using staircase::DeviceArray;

constexpr cublasFillMode_t part = CUBLAS_FILL_MODE_UPPER;

// [factorise]
inline int room_for(cusolverDnHandle_t handle, int n, double* a) {
  int elements = 0;
  check(cusolverDnDpotrf_bufferSize(handle, part, n, a, n, &elements));
  return elements;
}

inline int room_for(cusolverDnHandle_t handle, int n, float* a) {
  int elements = 0;
  check(cusolverDnSpotrf_bufferSize(handle, part, n, a, n, &elements));
  return elements;
}

inline void factorise(cusolverDnHandle_t handle, int n, double* a,
                      const DeviceArray<double, 1>& room, int* bad) {
  check(cusolverDnDpotrf(handle, part, n, a, n, room.data(), room.extent(0), bad));
}

inline void factorise(cusolverDnHandle_t handle, int n, float* a, const DeviceArray<float, 1>& room,
                      int* bad) {
  check(cusolverDnSpotrf(handle, part, n, a, n, room.data(), room.extent(0), bad));
}
// [factorise]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const int n = problem.n;
  const staircase::CusolverHandle handle;
  DeviceArray<T, 2> a(n, n);
  DeviceArray<T, 1> room(room_for(handle, n, a.data()));
  DeviceArray<int, 1> device_bad(1);
  Solution<T> l(n, n);

  timeline.begin("copy in");
  a.copy_from(problem.a<T>().data());

  timeline.begin("kernels");
  factorise(handle, n, a.data(), room, device_bad.data());
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  a.copy_to(l.data());
  int bad = 0;  // index of the first pivot that is not positive, counted from 1
  device_bad.copy_to(&bad);
  if (bad > 0) l(bad - 1, bad - 1) = std::numeric_limits<T>::quiet_NaN();
  return l;
}
// [solve]

}  // namespace cholesky

int main(int argc, char** argv) {
  return cholesky::run_stage(argc, argv,
                             {
                                 .title = "cusolverDnPotrf",
                                 .idea = "Call potrf of cuSOLVER",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
