/// \file
/// Changed: twelve steps are combined into one filter of 25 taps along x and one along y. A block
///          walks down its columns, eight rows at a time.
/// Legal:   the weights are constant, so a step is a convolution, and convolutions are associative;
///          reordering a sum of products changes only its rounding.
/// Expect:  a step moves half as many bytes as in stage 14 and needs a third less arithmetic.
/// Run:     ./climb advection --stages 14,15
/// Next:    16_asynchronous_copies copies the next rows while a block adds up the current ones.

#include "../advection.hpp"

#include <algorithm>
#include <utility>

namespace advection {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [filter]
constexpr unsigned most_steps = 12;            // steps of a sweep; must be even
constexpr unsigned taps = 2 * most_steps + 1;  // taps of the filter of a sweep
// [filter]

// [rows]
constexpr unsigned warps = 4;                        // warps per block, two columns per lane
constexpr unsigned width = warps * 2 * 32;           // columns of a block
constexpr unsigned loaded = width + 2 * most_steps;  // columns with both margins
constexpr unsigned at_once = 8;                      // rows per iteration

/// Copies `at_once` rows into shared memory; `columns` contains the index of each copied column.
template <typename T>
__device__ void copy_rows(View<const T, 2> u, int top, const unsigned (&columns)[loaded],
                          T (&rows)[at_once][loaded]) {
  for (unsigned r = threadIdx.y; r < at_once; r += warps) {
    const T* const row = &u(wrapped_around(top + int(r), u.extent(0)), 0);
#pragma unroll
    for (unsigned c = threadIdx.x; c < loaded; c += 32) rows[r][c] = row[columns[c]];
  }
}
// [rows]

// [convolve]
/// Does several steps as one filter. A block walks down its columns, several rows at a time. A row
/// is summed along x, and the sums are added to all output rows that need them.
template <typename T>
__global__ void __launch_bounds__(32 * warps)
    convolve(Filter<T, most_steps> filter, unsigned height, View<const T, 2> u, View<T, 2> next) {
  __shared__ alignas(sizeof(Pair<T>)) T rows[at_once][loaded];
  __shared__ unsigned columns[loaded];
  const int left = blockIdx.x * width - most_steps, top = blockIdx.y * height - most_steps;
  const int bottom = min((blockIdx.y + 1) * height, unsigned(u.extent(0)));
  const int cols = u.extent(1), first = 2 * (32 * threadIdx.y + threadIdx.x);
  for (unsigned c = 32 * threadIdx.y + threadIdx.x; c < loaded; c += 32 * warps)
    columns[c] = wrapped_around(left + c, cols);
  const int j = left + int(most_steps) + first, second = j + 1 < cols ? 1 : 1 - cols;
  Pair<T> c[at_once + 2 * most_steps] = {};
  for (int i0 = top; i0 < bottom + int(most_steps); i0 += at_once) {
    __syncthreads();
    copy_rows(u, i0, columns, rows);
    __syncthreads();
#pragma unroll
    for (unsigned r = 0; r < at_once; ++r) {
      const auto [a, b] = along_row(filter, &rows[r][first]);
#pragma unroll
      for (unsigned k = 0; k < taps; ++k) {
        c[r + k].a += filter.y[taps - 1 - k] * a;
        c[r + k].b += filter.y[taps - 1 - k] * b;
      }
    }
#pragma unroll
    for (unsigned r = 0; r < at_once; ++r) {
      const int i = i0 + int(r) - int(most_steps);
      if (i >= top + int(most_steps) && i < bottom && j < cols) store(&next(i, j), second, c[r]);
    }
#pragma unroll
    for (unsigned k = 0; k < at_once + 2 * most_steps; ++k)
      c[k] = k + at_once < at_once + 2 * most_steps ? c[k + at_once] : Pair<T>{0, 0};
  }
}
// [convolve]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Field<T> field(problem.rows, problem.cols);
  DeviceArray<T, 2> u(problem.rows, problem.cols), next(problem.rows, problem.cols);
  timeline.begin("copy in");
  u.copy_from(rounded<T>(problem).data());
  timeline.begin("kernels");
  const auto w = weights_of<double>(problem);
  const unsigned strips = ceil_div(problem.cols, width);
  const unsigned of_strip = std::max(3 * staircase::processors() / strips, 1u);
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
                                  .title = "Convolved",
                                  .idea = "Apply twelve steps as one filter per direction",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
