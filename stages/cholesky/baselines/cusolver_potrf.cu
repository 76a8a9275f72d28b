/// \file
/// Baseline: cuSOLVER's factorisation of a matrix in GPU memory, in its fastest form.
///
/// cuSOLVER uses column-major order and is fastest for the lower triangle of this order. Our lower
/// triangle is the upper triangle in this order, so the program transposes the matrix before the
/// factorisation and L after it, each in a phase of its own. A caller whose matrix contains both
/// triangles has to transpose only L.

#include "../cholesky.hpp"

#include <limits>
#include <staircase/cusolver.hpp>
#include <type_traits>

namespace cholesky {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [transpose]
constexpr unsigned tile = 32;
constexpr unsigned tile_rows = 8;  // rows of a tile that the threads of a block copy together

/// Transposes a square matrix in place. A thread block exchanges two tiles that are mirror images,
/// through shared memory.
template <typename T>
__global__ void transpose(View<T, 2> a) {
  __shared__ T above[tile][tile + 1], below[tile][tile + 1];
  if (blockIdx.y > blockIdx.x) return;
  const unsigned n = a.extent(0), i0 = blockIdx.y * tile, j0 = blockIdx.x * tile;
  const unsigned x = threadIdx.x;
  for (unsigned y = threadIdx.y; y < tile; y += tile_rows) {
    if (i0 + y < n && j0 + x < n) above[y][x] = a(i0 + y, j0 + x);
    if (j0 + y < n && i0 + x < n) below[y][x] = a(j0 + y, i0 + x);
  }
  __syncthreads();
  for (unsigned y = threadIdx.y; y < tile; y += tile_rows) {
    if (i0 + y < n && j0 + x < n) a(i0 + y, j0 + x) = below[x][y];
    if (i0 != j0 && j0 + y < n && i0 + x < n) a(j0 + y, i0 + x) = above[x][y];
  }
}

template <typename T>
void transpose_on_device(const DeviceArray<T, 2>& a) {
  const unsigned tiles = staircase::ceil_div(a.extent(0), tile);
  transpose<T><<<dim3(tiles, tiles), dim3(tile, tile_rows)>>>(a);
  check_launch();
  check(cudaDeviceSynchronize());
}
// [transpose]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  constexpr cudaDataType type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
  constexpr cublasFillMode_t part = CUBLAS_FILL_MODE_LOWER;
  timeline.begin("allocate");
  const std::int64_t n = problem.n;
  const staircase::CusolverHandle handle;
  const staircase::CusolverParameters parameters;
  DeviceArray<T, 2> a(n, n);
  std::size_t device_bytes = 0, host_bytes = 0;
  check(cusolverDnXpotrf_bufferSize(handle, parameters, part, n, type, a.data(), n, type,
                                    &device_bytes, &host_bytes));
  DeviceArray<unsigned char, 1> device_room(device_bytes);
  staircase::Elements<unsigned char> host_room(host_bytes);
  DeviceArray<int, 1> device_bad(1);
  Solution<T> l(n, n);

  timeline.begin("copy in");
  a.copy_from(problem.a<T>().data());

  timeline.begin("transpose A");
  transpose_on_device(a);

  timeline.begin("kernels");
  check(cusolverDnXpotrf(handle, parameters, part, n, type, a.data(), n, type, device_room.data(),
                         device_bytes, host_room.data(), host_bytes, device_bad.data()));
  check(cudaDeviceSynchronize());

  timeline.begin("transpose L");
  transpose_on_device(a);

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
                                 .title = "cusolverDnXpotrf",
                                 .idea = "Call Xpotrf of cuSOLVER, lower triangle",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
