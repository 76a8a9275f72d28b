/// \file
/// Changed: a filter is a matrix with a band of taps. Tensor cores compute the sums along x and y
///          as products of matrices, in fragments of 16 × 8 elements. A sweep does twenty steps.
/// Legal:   the same products are added in another order, with zeros outside the band.
/// Expect:  5.2 multiply-adds per cell and step instead of 4.2 in stage 16, at twice the rate.
/// Run:     ./climb advection --stages 16,17
/// Next:    18_spectral computes any number of steps by one product of spectra.

#include "../bands.hpp"

#include <cuda_pipeline.h>

#include <algorithm>
#include <staircase/factor.hpp>
#include <utility>

namespace advection {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::multiply_add;
using staircase::View;

// [filter]
constexpr unsigned most_steps = 20;  // steps of a sweep; must be a multiple of 4
// [filter]

// [bands]
constexpr unsigned along_x = blocks_along_x<most_steps>, along_y = blocks_along_y<most_steps>;
// [bands]

// [rows]
constexpr unsigned warps = 8;                        // per thread block
constexpr unsigned tiles = 2;                        // tiles per warp, 16 columns each
constexpr unsigned width = warps * tiles * 16;       // columns of a block
constexpr unsigned loaded = width + 2 * most_steps;  // columns with both margins
constexpr unsigned at_once = 8;                      // rows per iteration

/// Number of buffers, each for `at_once` rows; must divide along_y. The number is three, or two if
/// three buffers exceed the limit of statically allocated shared memory.
template <typename T>
constexpr unsigned buffers =
    sizeof(T[3][at_once][pitch<T, loaded>]) <= staircase::most_static_shared ? 3 : 2;

/// Starts to copy `at_once` rows to shared memory; `columns` contains the index of each column.
template <typename T>
__device__ void copy_rows(View<const T, 2> u, int top, const unsigned (&columns)[loaded],
                          T (&rows)[at_once][pitch<T, loaded>]) {
  for (unsigned r = threadIdx.y; r < at_once; r += warps) {
    const T* const row = &u(wrapped_around(top + int(r), u.extent(0)), 0);
#pragma unroll
    for (unsigned c = threadIdx.x; c < loaded; c += 32)
      __pipeline_memcpy_async(&rows[r][c], row + columns[c], sizeof(T));
  }
}
// [rows]

// [convolve]
/// Filters eight rows along x: 16 columns of sums per tile, as operands of the products along y.
template <typename T>
__device__ void along_rows(const Bands<T, most_steps>& bands,
                           const T (&rows)[at_once][pitch<T, loaded>],
                           Factor<T> (&sums)[tiles][4]) {
  constexpr unsigned inputs = 2 * (tiles - 1) + along_x;
  const unsigned lane = threadIdx.x, left = threadIdx.y * tiles * 16;
  T c[tiles][4] = {};
#pragma unroll
  for (unsigned f = 0; f < inputs; ++f) {
    Factor<T> cells[2];
#pragma unroll
    for (unsigned r = 0; r < 2; ++r) {
      const auto [in, row] = staircase::position_in_b(lane, r);
      cells[r] = factor(rows[row][left + 8 * f + in]);
    }
#pragma unroll
    for (unsigned tile = 0; tile < tiles; ++tile)
      if (f >= 2 * tile && f < 2 * tile + along_x)
        multiply_add(c[tile], bands.x[f - 2 * tile], cells);
  }
#pragma unroll
  for (unsigned tile = 0; tile < tiles; ++tile) rename(c[tile], sums[tile]);
}

/// Does several steps as one filter. A block walks down its columns, several rows at a time. A row
/// is summed along x, and the sums are added to all output rows that need them.
template <typename T>
__global__ void __launch_bounds__(32 * warps)
    convolve(Filter<T, most_steps> filter, unsigned height, View<const T, 2> u, View<T, 2> next) {
  __shared__ T rows[buffers<T>][at_once][pitch<T, loaded>];
  __shared__ unsigned columns[loaded];
  const auto bands = bands_of(filter, threadIdx.x);
  const int left = blockIdx.x * width - most_steps, top = blockIdx.y * height - most_steps;
  const int bottom = min((blockIdx.y + 1) * height, unsigned(u.extent(0)));
  const int first = left + int(most_steps + threadIdx.y * tiles * 16);
  for (unsigned c = 32 * threadIdx.y + threadIdx.x; c < loaded; c += 32 * warps)
    columns[c] = wrapped_around(left + c, u.extent(1));
  __syncthreads();
  constexpr unsigned ahead = buffers<T> - 1;
  for (unsigned b = 0; b < ahead; ++b) {
    copy_rows(u, top + int(b * at_once), columns, rows[b]);
    __pipeline_commit();
  }
  T c[along_y][tiles][4] = {};
  for (int i0 = top; i0 < bottom + int(most_steps);)
#pragma unroll
    for (unsigned batch = 0; batch < along_y; ++batch, i0 += at_once) {
      __pipeline_wait_prior(ahead - 1);
      __syncthreads();
      if (i0 + int(ahead * at_once) < bottom + int(most_steps))
        copy_rows(u, i0 + int(ahead * at_once), columns, rows[(batch + ahead) % buffers<T>]);
      __pipeline_commit();
      Factor<T> sums[tiles][4];
      along_rows(bands, rows[batch % buffers<T>], sums);
#pragma unroll
      for (unsigned tile = 0; tile < tiles; ++tile) {
#pragma unroll
        for (unsigned f = 0; f < along_y; ++f)
          multiply_add(c[(batch + f) % along_y][tile], sums[tile], bands.y[f]);
        store(c[batch][tile], i0 - int(most_steps), first + int(16 * tile), top + int(most_steps),
              bottom, next);
#pragma unroll
        for (T& sum : c[batch][tile]) sum = 0;
      }
    }
}
// [convolve]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  staircase::require_capability(9, 0, "FP64 tensor cores for products of 16 × 8 × 8");
  timeline.begin("allocate");
  Field<T> field(problem.rows, problem.cols);
  DeviceArray<T, 2> u(problem.rows, problem.cols), next(problem.rows, problem.cols);
  timeline.begin("copy in");
  u.copy_from(rounded<T>(problem).data());
  timeline.begin("kernels");
  const auto w = weights_of<double>(problem);
  const unsigned strips = ceil_div(problem.cols, width);
  const unsigned of_strip = std::max(staircase::processors() / strips, 1u);
  const unsigned height = 8 * ceil_div(problem.rows, 8 * of_strip);
  const dim3 grid(strips, ceil_div(problem.rows, height));
  View<T, 2> from = u, to = next;
  for (std::int64_t left = problem.steps; left > 0; left -= most_steps) {
    const auto filter = filter_of<T, most_steps>(w, left);
    convolve<T><<<grid, dim3(32, warps)>>>(filter, height, from, to);
    check_launch();
    std::swap(from, to);
  }
  check(cudaDeviceSynchronize());
  timeline.begin("copy out");
  (from.data() == u.data() ? u : next).copy_to(field.data());
  return field;
}
// [solve]

}  // namespace advection

int main(int argc, char** argv) {
  return advection::run_stage(argc, argv,
                              {
                                  .title = "Tensor-core filter",
                                  .idea = "Filter by band matrices on tensor cores",
                                  .needs = "FP64 tensor cores of compute capability 9.0",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
