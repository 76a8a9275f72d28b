/// \file
/// Changed: twenty steps are one filter of 41 taps along x and one along y, products of matrices
///          with a band; a block goes down its columns eight rows at a time.
/// Legal:   the weights are constant, so that a step is a convolution, and convolutions of one
///          direction are associative; sums of products may be reordered but for rounding.
/// Expect:  a twentieth of the traffic with memory; 5.2 multiply-adds per cell and step, at the
///          rate of the tensor cores, where 6 at half of it were.
/// Run:     ./climb advection --stages 14,15
/// Next:    16_spectral takes any number of steps at once.

#include "../advection.hpp"

#include <cuda_pipeline.h>

#include <algorithm>
#include <cstdint>
#include <staircase/mma.hpp>
#include <utility>

namespace advection {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::pieces;
using staircase::View;

// [wrapped]
/// Where an index lies that may be before the first or behind the last.
__device__ inline unsigned wrapped(int index, int count) {
  while (index < 0) index += count;
  while (index >= count) index -= count;
  return index;
}
// [wrapped]

// [filter]
constexpr unsigned most_steps = 20;            // of a sweep, a multiple of 4
constexpr unsigned taps = 2 * most_steps + 1;  // of a filter that does as much

/// The weights of several steps in one, from the neighbour `most_steps` before a cell on.
struct Filter {
  double x[taps], y[taps];
};

/// The weights of a step, convolved with themselves so many times; zeros fill a shorter filter up.
inline void set_filter(const double (&w)[3], unsigned steps, double (&filter)[taps]) {
  for (double& tap : filter) tap = 0;
  filter[most_steps] = 1;
  for (unsigned step = 0; step < steps; ++step) {
    double before = 0;
    for (unsigned k = 0; k < taps; ++k) {
      const double here = filter[k], behind = k + 1 < taps ? filter[k + 1] : 0;
      filter[k] = w[2] * before + w[1] * here + w[0] * behind;
      before = here;
    }
  }
}

inline Filter filter_of(const Weights<double>& w, unsigned steps) {
  Filter filter;
  set_filter(w.x, steps, filter.x);
  set_filter(w.y, steps, filter.y);
  return filter;
}
// [filter]

// [factor]
/// A number as a factor on the tensor cores, which know f64, but of f32 the first 11 bits alone:
/// the rest makes a second factor.
template <typename T>
struct Factor;
template <>
struct Factor<double> {
  double value;
};
template <>
struct Factor<float> {
  std::uint32_t high, low;
};

__device__ inline Factor<double> factor(double value) { return {value}; }
__device__ inline Factor<float> factor(float value) {
  const std::uint32_t high = staircase::to_tf32(value);
  return {high, staircase::to_tf32(value - __uint_as_float(high))};
}

/// C += A·B, of 16 × 8 by 8 × 8 numbers, a fragment of each to a lane.
__device__ inline void multiply_add(double (&c)[4], const Factor<double> (&a)[4],
                                    const Factor<double> (&b)[2]) {
  const double of_a[4] = {a[0].value, a[1].value, a[2].value, a[3].value};
  const double of_b[2] = {b[0].value, b[1].value};
  staircase::mma_f64_m16n8k8(c, of_a, of_b);
}
__device__ inline void multiply_add(float (&c)[4], const Factor<float> (&a)[4],
                                    const Factor<float> (&b)[2]) {
  const std::uint32_t high_a[4] = {a[0].high, a[1].high, a[2].high, a[3].high};
  const std::uint32_t low_a[4] = {a[0].low, a[1].low, a[2].low, a[3].low};
  const std::uint32_t high_b[2] = {b[0].high, b[1].high}, low_b[2] = {b[0].low, b[1].low};
  staircase::mma_tf32_m16n8k8(c, high_a, low_b);
  staircase::mma_tf32_m16n8k8(c, low_a, high_b);
  staircase::mma_tf32_m16n8k8(c, high_a, high_b);
}
// [factor]

// [bands]
constexpr unsigned along_x = (16 + 2 * most_steps) / 8;  // blocks of 8 columns that 16 come from
constexpr unsigned along_y = (8 + 2 * most_steps) / 8;   // blocks of 8 rows that 8 come from

/// A filter as a matrix: each output is a row or a column, each input one of the other, and the
/// taps are a band along the diagonal. A lane has fragments of both.
template <typename T>
struct Bands {
  Factor<T> x[along_x][4], y[along_y][2];
};

__device__ inline double tap(const double (&filter)[taps], int k) {
  return k >= 0 && k < int(taps) ? filter[k] : 0;
}

/// The sums along x come out as the factors of those along y, a lane's two rows being 2 m and
/// 2 m + 1: that is where rows m and m + 4 of these factors are.
template <typename T>
__device__ Bands<T> bands_of(const Filter& filter, int lane) {
  Bands<T> bands;
  for (int f = 0; f < int(along_x); ++f)
    for (int r = 0; r < 4; ++r) {
      const auto [out, in] = staircase::place_in_a(lane, r);
      bands.x[f][r] = factor(T(tap(filter.x, 8 * f + in - out)));
    }
  for (int f = 0; f < int(along_y); ++f)
    for (int r = 0; r < 2; ++r) {
      const auto [slot, out] = staircase::place_in_b(lane, r);
      const int in = slot < 4 ? 2 * slot : 2 * slot - 7;
      bands.y[f][r] = factor(T(tap(filter.y, 8 * f + in - out)));
    }
  return bands;
}
// [bands]

// [rows]
constexpr unsigned warps = 8;                        // of a block, one for each row
constexpr unsigned tiles = 2;                        // of a warp, of 16 columns each
constexpr unsigned width = warps * tiles * 16;       // columns of a block
constexpr unsigned loaded = width + 2 * most_steps;  // with those around them
constexpr unsigned buffers = 4;                      // for 8 rows each

/// So many numbers from row to row that eight rows of four are in different banks.
template <typename T>
constexpr unsigned pitch = (loaded + 128 / sizeof(T) - 5) / (128 / sizeof(T)) * (128 / sizeof(T)) +
                           4;

/// Has eight rows copied into shared memory, one by each warp; `columns` says from where.
template <typename T>
__device__ void copy_rows(View<const T, 2> u, int top, const unsigned (&columns)[loaded],
                          T (&rows)[8][pitch<T>]) {
  const T* const row = &u(wrapped(top + int(threadIdx.y), u.extent(0)), 0);
#pragma unroll
  for (unsigned c = threadIdx.x; c < loaded; c += 32)
    __pipeline_memcpy_async(&rows[threadIdx.y][c], row + columns[c], sizeof(T));
}
// [rows]

// [convolve]
/// Eight rows along x: 16 columns of sums for each tile, the first factors of what follows.
template <typename T>
__device__ void along_rows(const Bands<T>& bands, const T (&rows)[8][pitch<T>],
                           Factor<T> (&sums)[tiles][4]) {
  constexpr unsigned inputs = 2 * (tiles - 1) + along_x;
  const unsigned lane = threadIdx.x, left = threadIdx.y * tiles * 16;
  T c[tiles][4] = {};
#pragma unroll
  for (unsigned f = 0; f < inputs; ++f) {
    Factor<T> cells[2];
#pragma unroll
    for (unsigned r = 0; r < 2; ++r) {
      const auto [in, row] = staircase::place_in_b(lane, r);
      cells[r] = factor(rows[row][left + 8 * f + in]);
    }
#pragma unroll
    for (unsigned tile = 0; tile < tiles; ++tile)
      if (f >= 2 * tile && f < 2 * tile + along_x)
        multiply_add(c[tile], bands.x[f - 2 * tile], cells);
  }
#pragma unroll
  for (unsigned tile = 0; tile < tiles; ++tile) {
    sums[tile][0] = factor(c[tile][0]);
    sums[tile][1] = factor(c[tile][2]);
    sums[tile][2] = factor(c[tile][1]);
    sums[tile][3] = factor(c[tile][3]);
  }
}

/// Writes 16 columns of eight rows, as far as they belong to the field.
template <typename T>
__device__ void store(const T (&c)[4], int top, int bottom, int left, View<T, 2> next) {
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) {
    const auto [column, row] = staircase::place_in_c(threadIdx.x, r);
    if (top + row < bottom && left + column < int(next.extent(1)))
      next(top + row, left + column) = c[r];
  }
}

/// Several steps as one filter: a block goes down its columns, eight rows at a time; each is summed
/// up along x and then adds to the rows of all outputs that it is in reach of.
template <typename T>
__global__ void __launch_bounds__(32 * warps)
    convolve(Filter filter, unsigned height, View<const T, 2> u, View<T, 2> next) {
  __shared__ T rows[buffers][8][pitch<T>];
  __shared__ unsigned columns[loaded];
  const Bands<T> bands = bands_of<T>(filter, threadIdx.x);
  const int left = blockIdx.x * width - most_steps, top = blockIdx.y * height - most_steps;
  const int bottom = min((blockIdx.y + 1) * height, unsigned(u.extent(0)));
  const int blocks = (bottom - int(blockIdx.y * height) + 7) / 8 + along_y - 1;
  for (unsigned c = 32 * threadIdx.y + threadIdx.x; c < loaded; c += 32 * warps)
    columns[c] = wrapped(left + c, u.extent(1));
  __syncthreads();
  for (unsigned b = 0; b + 1 < buffers; ++b) {
    copy_rows(u, top + 8 * int(b), columns, rows[b]);
    __pipeline_commit();
  }
  T c[along_y][tiles][4] = {};
  for (int b0 = 0; b0 < blocks; b0 += along_y)
#pragma unroll
    for (unsigned turn = 0; turn < along_y; ++turn) {
      const int b = b0 + turn;
      __pipeline_wait_prior(buffers - 2);
      __syncthreads();
      if (b + int(buffers) - 1 < blocks)
        copy_rows(u, top + 8 * (b + int(buffers) - 1), columns, rows[(b + buffers - 1) % buffers]);
      __pipeline_commit();
      Factor<T> sums[tiles][4];
      along_rows(bands, rows[b % buffers], sums);
      constexpr unsigned last = along_y - 1;
      const unsigned done = (turn + 1) % along_y;  // the outputs that this is the last to add to
#pragma unroll
      for (unsigned tile = 0; tile < tiles; ++tile) {
#pragma unroll
        for (unsigned f = 0; f < along_y; ++f)
          multiply_add(c[(turn + along_y - f) % along_y][tile], sums[tile], bands.y[f]);
        if (b >= int(last) && b < blocks)
          store(c[done][tile], int(blockIdx.y * height) + 8 * (b - int(last)), bottom,
                left + int(most_steps + (threadIdx.y * tiles + tile) * 16), next);
#pragma unroll
        for (T& sum : c[done][tile]) sum = 0;
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
  const unsigned strips = pieces(problem.cols, width);
  const unsigned of_strip = std::max(staircase::processors() / strips, 1u);
  const unsigned height = 8 * pieces(problem.rows, 8 * of_strip);
  const dim3 grid(strips, pieces(problem.rows, height));
  View<T, 2> from = u, to = next;
  for (std::int64_t left = problem.steps; left > 0; left -= most_steps) {
    const Filter filter = filter_of(w, std::min<std::int64_t>(most_steps, left));
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
                                  .title = "Convolved",
                                  .idea = "Twenty steps as one filter, on tensor cores",
                                  .needs = "FP64 tensor cores of compute capability 9.0",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
