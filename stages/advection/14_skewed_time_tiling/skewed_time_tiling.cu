/// \file
/// Changed: a warp walks down 64 columns and computes six steps per row: the result of one step is
///          the input of the next step, one row above. Shuffles fetch neighbours within a row.
/// Legal:   a cell after s steps depends on cells at most s away. Columns at a warp's edges are
///          wrong after six steps; neighbouring warps write these columns.
/// Expect:  the memory traffic of stage 13 falls to a sixth, with a quarter more arithmetic.
/// Run:     ./climb advection --stages 13,14
/// Next:    15_convolved combines many steps into one wider filter.

#include "../advection.hpp"

#include <algorithm>
#include <utility>

namespace advection {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [carry]
constexpr unsigned warps = 4;       // per thread block
constexpr unsigned resident = 20;   // warps per SM, if the field has enough rows
constexpr unsigned least = 8;       // minimum number of rows of a warp
constexpr unsigned ahead = 4;       // rows that are loaded before the first is used
constexpr unsigned most_steps = 6;  // steps of a sweep
constexpr unsigned width = 2 * 32;  // columns that a warp loads, two per lane
constexpr unsigned everyone = ~0u;

/// Number of incorrect columns at each edge of a warp after `steps` steps, rounded up to even.
constexpr int margin_of(unsigned steps) { return (steps + 1) / 2 * 2; }

/// The partial sums that need the next row: `two` over the last two rows, `one` over the last row.
template <typename T>
struct Waiting {
  T two = 0, one = 0;
};

/// Adds the sum of a new row to the partial sums and returns the cell above, which is now complete.
template <typename T>
__device__ T next_cell(const Weights<T>& w, Waiting<T>& waiting, T left, T here, T right) {
  const T sum = w.x[0] * left + w.x[1] * here + w.x[2] * right;
  const T cell = waiting.two + w.y[2] * sum;
  waiting = {waiting.one + w.y[1] * sum, w.y[0] * sum};
  return cell;
}

/// Does several steps in one sweep: a warp walks down its columns, and the result of a step is the
/// input of the next step, one row above. With each step, one more column at each edge and one more
/// row at each end become wrong; other warps compute these cells.
template <unsigned steps, typename T>
__global__ void carry(Weights<T> w, unsigned height, View<const T, 2> u, View<T, 2> next) {
  const int rows = u.extent(0), cols = u.extent(1), lane = threadIdx.x;
  const int strip = blockIdx.x * warps + threadIdx.y;
  constexpr int margin = margin_of(steps);
  const int left = strip * int(width - 2 * margin) - margin + 2 * lane;
  const int j = wrapped_around(left, cols), second = j + 1 < cols ? 1 : 1 - cols;
  const int top = blockIdx.y * height, bottom = min(top + int(height), rows);
  const bool inside = lane >= margin / 2 && lane < 32 - margin / 2 && left < cols;
  Waiting<T> waiting[steps][2];
  for (int i0 = top - int(steps); i0 < bottom + int(steps); i0 += ahead) {
    Pair<T> cells[ahead];
#pragma unroll
    for (unsigned r = 0; r < ahead; ++r)
      cells[r] = load(&u(wrapped_around(i0 + int(r), rows), j), second);
#pragma unroll
    for (unsigned r = 0; r < ahead; ++r) {
      auto [a, b] = cells[r];
#pragma unroll
      for (unsigned step = 0; step < steps; ++step) {
        const T before = __shfl_up_sync(everyone, b, 1), behind = __shfl_down_sync(everyone, a, 1);
        const T first = next_cell(w, waiting[step][0], before, a, b);
        b = next_cell(w, waiting[step][1], a, b, behind);
        a = first;
      }
      const int i = i0 + int(r) - int(steps);
      if (i >= top && i < bottom && inside) store(&next(i, j), second, {a, b});
    }
  }
}

/// Does one sweep of `steps` steps, but of at most `left` steps; returns the number of steps done.
template <unsigned steps, typename T>
unsigned sweep(const Weights<T>& w, std::int64_t left, View<const T, 2> u, View<T, 2> next) {
  if constexpr (steps > 1)
    if (left < steps) return sweep<steps - 1, T>(w, left, u, next);
  const unsigned strips = ceil_div(u.extent(1), width - 2 * margin_of(steps));
  const unsigned of_strip = std::max(resident * staircase::processors() / strips, 1u);
  const unsigned height = std::max(ceil_div(u.extent(0), of_strip), least);
  const dim3 grid(ceil_div(strips, warps), ceil_div(u.extent(0), height));
  carry<steps, T><<<grid, dim3(32, warps)>>>(w, height, u, next);
  check_launch();
  return steps;
}
// [carry]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Field<T> field(problem.rows, problem.cols);
  DeviceArray<T, 2> u(problem.rows, problem.cols), next(problem.rows, problem.cols);
  timeline.begin("copy in");
  u.copy_from(rounded<T>(problem).data());
  timeline.begin("kernels");
  const auto w = weights_of<T>(problem);
  View<T, 2> from = u, to = next;
  for (std::int64_t left = problem.steps; left > 0;) {
    left -= sweep<most_steps, T>(w, left, from, to);
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
                                  .title = "Skewed time tiling",
                                  .idea = "Compute six skewed steps per sweep",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
