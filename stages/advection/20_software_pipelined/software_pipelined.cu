/// \file
/// From:    13_register_rolling
/// Changed: a block loads all of its rows before it uses the first, with 128 threads instead of
///          256. Its stores have the cache hint that the elements are not read again soon.
/// Legal:   no block loads a cell that it stores. A cache hint does not affect the result.
/// Expect:  more bytes are in flight, and caches keep the rows that neighbouring blocks load. Both
///          recover a part of the 7 % by which stage 13 is slower than a copy.
/// Run:     ./climb advection --stages 13,20
/// Next:    14_skewed_time_tiling computes several steps in one walk down the columns.

#include "../advection.hpp"

#include <type_traits>
#include <utility>

namespace advection {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::DeviceArray;
using staircase::View;

// [update]
constexpr unsigned block_size = 128;  // threads of a block, each with two columns
constexpr unsigned height = 8;        // rows of a block
constexpr unsigned ahead = height;    // rows that are loaded before the first is used

/// Returns the row sums of two adjacent cells; `left`, `second`, `right` are offsets from `cell`.
template <typename T>
__device__ Pair<T> row_sums(const Weights<T>& w, const T* cell, int left, int second, int right) {
  const auto [a, b] = load(cell, second);
  return {w.x[0] * cell[left] + w.x[1] * a + w.x[2] * b,
          w.x[0] * a + w.x[1] * b + w.x[2] * cell[right]};
}

/// Stores two neighbouring cells, with one access if `together`. The cache hint lets the cache
/// evict the stored elements first.
template <typename T>
__device__ void stream(T* cell, bool together, bool inside, Pair<T> pair) {
  using Both = std::conditional_t<sizeof(T) == sizeof(double), double2, float2>;
  if (together) {
    __stcs(reinterpret_cast<Both*>(cell), Both{pair.a, pair.b});
  } else {
    __stcs(cell, pair.a);
    if (inside) __stcs(cell + 1, pair.b);
  }
}

/// Does one step: each cell of `next` is the weighted sum of the 3 × 3 cells of `u` around it. A
/// thread walks down two columns and computes row sums of `ahead` rows before it uses the first.
template <typename T>
__global__ void update(Weights<T> w, View<const T, 2> u, View<T, 2> next) {
  const int rows = u.extent(0), cols = u.extent(1), j = 2 * column();
  if (j >= cols) return;
  const int left = j > 0 ? -1 : cols - 1, second = j + 1 < cols ? 1 : 1 - cols;
  const int right = j + 2 < cols ? 2 : (j + 2) % cols - j;
  const bool inside = second == 1;
  const int top = blockIdx.y * height, bottom = min(top + int(height), rows);
  Pair<T> above = row_sums(w, &u(top > 0 ? top - 1 : rows - 1, j), left, second, right);
  Pair<T> here = row_sums(w, &u(top, j), left, second, right);
  for (int i0 = top; i0 < bottom; i0 += ahead) {
    Pair<T> below[ahead];
#pragma unroll
    for (unsigned r = 0; r < ahead; ++r) {
      const int i = i0 + int(r) + 1;
      below[r] = row_sums(w, &u(i < rows ? i : 0, j), left, second, right);
    }
#pragma unroll
    for (unsigned r = 0; r < ahead; ++r) {
      if (i0 + int(r) < bottom) {
        const T a = w.y[0] * above.a + w.y[1] * here.a + w.y[2] * below[r].a;
        const T b = w.y[0] * above.b + w.y[1] * here.b + w.y[2] * below[r].b;
        stream(&next(i0 + int(r), j), inside && cols % 2 == 0, inside, {a, b});
      }
      above = here;
      here = below[r];
    }
  }
}
// [update]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Field<T> field(problem.rows, problem.cols);
  DeviceArray<T, 2> u(problem.rows, problem.cols), next(problem.rows, problem.cols);
  timeline.begin("copy in");
  u.copy_from(rounded<T>(problem).data());
  check(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 128));
  timeline.begin("kernels");
  const auto w = weights_of<T>(problem);
  const dim3 grid(ceil_div(problem.cols, 2 * block_size), ceil_div(problem.rows, height));
  View<T, 2> from = u, to = next;
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    update<T><<<grid, block_size>>>(w, from, to);
    check_launch();
    std::swap(from, to);
  }
  check(cudaDeviceSynchronize());
  timeline.begin("copy out");
  (problem.steps % 2 == 0 ? u : next).copy_to(field.data());
  return field;
}
// [solve]

}  // namespace advection

int main(int argc, char** argv) {
  return advection::run_stage(argc, argv,
                              {
                                  .title = "Software pipelined",
                                  .idea = "Load all rows first, store with cache hints",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
