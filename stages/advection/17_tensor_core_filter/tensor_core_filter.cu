/// \file
/// Changed: a filter becomes a band matrix of taps. Tensor cores compute the sums along x and y as
///          products of matrices, in fragments of 16 × 8 elements. A sweep does twenty steps.
/// Legal:   the same products are added in another order, with zeros outside the band.
/// Expect:  a cell needs 5.2 multiply-adds per step, not 4.2 as in stage 16, but at twice the rate.
/// Run:     ./climb advection --stages 16,17
/// Next:    18_spectral computes any number of steps by multiplying a spectrum once.

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

/// Starts the copies of `at_once` rows to shared memory. Each copy transfers `cells` cells;
/// `columns` contains the index of the first cell of each copy.
template <unsigned cells, typename T>
__device__ void copy_rows(View<const T, 2> u, int top, const unsigned (&columns)[loaded / cells],
                          T (&rows)[at_once][pitch<T, loaded>]) {
  for (unsigned r = threadIdx.y; r < at_once; r += warps) {
    int i = top + int(r);
    if (unsigned(i) >= u.extent(0)) i = wrapped_around(i, u.extent(0));  // rare, so tested first
    const T* const row = &u(i, 0);
#pragma unroll
    for (unsigned c = threadIdx.x; c < loaded / cells; c += 32)
      __pipeline_memcpy_async(&rows[r][cells * c], row + columns[c], cells * sizeof(T));
  }
}
// [rows]

// [shared bands]
/// Whether the fragments along x are in shared memory instead of registers. In f32, a thread then
/// needs so few registers that two thread blocks fit on an SM.
template <typename T>
constexpr bool shares_bands = sizeof(T) == 4;
template <typename T>
constexpr unsigned blocks_of_sm = shares_bands<T> ? 2 : 1;

/// The fragments along x of all lanes, indexed by (fragment, high or low part, lane).
using SharedBands = uint4[along_x][2][32];

__device__ void put(SharedBands& shared, unsigned f, const Factor<float> (&a)[4]) {
  const uint4 high{a[0].high, a[1].high, a[2].high, a[3].high};
  const uint4 low{a[0].low, a[1].low, a[2].low, a[3].low};
  shared[f][0][threadIdx.x] = high;
  shared[f][1][threadIdx.x] = low;
}

__device__ void get(const SharedBands& shared, unsigned f, Factor<float> (&a)[4]) {
  const uint4 high = shared[f][0][threadIdx.x], low = shared[f][1][threadIdx.x];
  a[0] = {high.x, low.x};
  a[1] = {high.y, low.y};
  a[2] = {high.z, low.z};
  a[3] = {high.w, low.w};
}
// [shared bands]

// [convolve]
/// Filters eight rows along x into operands of the products along y, 16 columns per tile.
template <typename T>
__device__ void along_rows(const Bands<T, most_steps>& bands, const SharedBands& shared_bands,
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
      cells[r] = split(rows[row][left + 8 * f + in]);
    }
#pragma unroll
    for (unsigned tile = 0; tile < tiles; ++tile)
      if (f >= 2 * tile && f < 2 * tile + along_x) {
        if constexpr (shares_bands<T>) {
          Factor<T> band[4];
          get(shared_bands, f - 2 * tile, band);
          multiply_add(c[tile], band, cells);
        } else {
          multiply_add(c[tile], bands.x[f - 2 * tile], cells);
        }
      }
  }
#pragma unroll
  for (unsigned tile = 0; tile < tiles; ++tile) rename(c[tile], sums[tile]);
}

/// Does several steps as one filter. A block walks down its columns, several rows at a time. A row
/// is summed along x, and the sums are added to all output rows that need them.
template <typename T, unsigned cells>
__global__ void __launch_bounds__(32 * warps, blocks_of_sm<T>)
    convolve(Filter<T, most_steps> filter, unsigned height, View<const T, 2> u, View<T, 2> next) {
  __shared__ alignas(16) T rows[buffers<T>][at_once][pitch<T, loaded>];
  __shared__ unsigned columns[loaded / cells];
  __shared__ SharedBands shared_bands;
  const auto bands = bands_of(filter, threadIdx.x);
  if constexpr (shares_bands<T>) {
#pragma unroll
    for (unsigned f = 0; f < along_x; ++f)
      if (threadIdx.y == f) put(shared_bands, f, bands.x[f]);
  }
  const int left = blockIdx.x * width - most_steps, top = blockIdx.y * height - most_steps;
  const int bottom = min((blockIdx.y + 1) * height, unsigned(u.extent(0)));
  const int first = left + int(most_steps + threadIdx.y * tiles * 16);
  for (unsigned c = 32 * threadIdx.y + threadIdx.x; c < loaded / cells; c += 32 * warps)
    columns[c] = wrapped_around(left + int(cells * c), u.extent(1));
  __syncthreads();
  constexpr unsigned ahead = buffers<T> - 1;
  for (unsigned b = 0; b < ahead; ++b) {
    copy_rows<cells>(u, top + int(b * at_once), columns, rows[b]);
    __pipeline_commit();
  }
  T c[along_y][tiles][4] = {};
  for (int i0 = top; i0 < bottom + int(most_steps);)
#pragma unroll
    for (unsigned batch = 0; batch < along_y; ++batch, i0 += at_once) {
      if (shares_bands<T> && i0 >= bottom + int(most_steps)) break;  // f64 would spill registers
      __pipeline_wait_prior(ahead - 1);
      __syncthreads();
      if (i0 + int(ahead * at_once) < bottom + int(most_steps))
        copy_rows<cells>(u, i0 + int(ahead * at_once), columns, rows[(batch + ahead) % buffers<T>]);
      __pipeline_commit();
      Factor<T> sums[tiles][4];
      along_rows(bands, shared_bands, rows[batch % buffers<T>], sums);
#pragma unroll
      for (unsigned tile = 0; tile < tiles; ++tile) {
#pragma unroll
        for (unsigned f = 0; f < along_y; ++f)
          multiply_add(c[(batch + f) % along_y][tile], sums[tile], bands.y[f]);
        if (i0 >= top + int(2 * most_steps))
          store(c[batch][tile], i0 - int(most_steps), first + int(16 * tile), bottom, next);
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
  const unsigned of_strip = std::max(blocks_of_sm<T> * staircase::processors() / strips, 1u);
  const unsigned height = 8 * ceil_div(problem.rows, 8 * of_strip);
  const dim3 grid(strips, ceil_div(problem.rows, height));
  constexpr unsigned most_cells = 16 / sizeof(T);  // maximum per asynchronous copy
  View<T, 2> from = u, to = next;
  for (std::int64_t left = problem.steps; left > 0; left -= most_steps) {
    const auto filter = filter_of<T, most_steps>(w, left);
    if (problem.cols % most_cells == 0)
      convolve<T, most_cells><<<grid, dim3(32, warps)>>>(filter, height, from, to);
    else
      convolve<T, 1><<<grid, dim3(32, warps)>>>(filter, height, from, to);
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
