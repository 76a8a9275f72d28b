/// \file
/// Changed: a warp takes 64 columns down through six steps at once: what comes out of one step is
///          what goes into the next, a row above; neighbours within a row come by shuffles.
/// Legal:   a cell after s steps depends on cells at most s away; what of a warp's edges is not
///          right after six steps is what its neighbours write.
/// Expect:  a sixth of the traffic with memory, for a quarter more arithmetic at the edges.
/// Run:     ./climb advection --stages 13,14
/// Next:    15_convolved takes many steps as one wider filter.

#include "../advection.hpp"

#include <algorithm>
#include <utility>

namespace advection {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::pieces;
using staircase::View;

// [carry]
constexpr unsigned warps = 4;       // of a block
constexpr unsigned resident = 20;   // warps of a processor, if there are rows enough
constexpr unsigned least = 8;       // rows of a warp
constexpr unsigned ahead = 4;       // rows that are loaded before any of them is used
constexpr unsigned most_steps = 6;  // of a sweep
constexpr unsigned width = 2 * 32;  // columns that a warp loads, two of each lane
constexpr unsigned everyone = ~0u;

/// Columns at each edge of a warp that are right no more after some steps, in pairs.
constexpr int margin_of(unsigned steps) { return (steps + 1) / 2 * 2; }

/// The sums that wait for the next row of a level: of a row and the one above it, and of the row.
template <typename T>
struct Waiting {
  T two = 0, one = 0;
};

/// The cell above, now that the sum of the row is there that it waited for.
template <typename T>
__device__ T next_cell(const Weights<T>& w, Waiting<T>& waiting, T left, T here, T right) {
  const T sum = w.x[0] * left + w.x[1] * here + w.x[2] * right;
  const T cell = waiting.two + w.y[2] * sum;
  waiting = {waiting.one + w.y[1] * sum, w.y[0] * sum};
  return cell;
}

/// Several steps in one sweep: a warp goes down its columns, and what comes out of a step is at
/// once what goes into the next, a row above. With each step one column at each edge and one row at
/// each end stops being right; they belong to others.
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

/// One sweep of as many steps as are left, but not more than so many; returns how many they were.
template <unsigned steps, typename T>
unsigned sweep(const Weights<T>& w, std::int64_t left, View<const T, 2> u, View<T, 2> next) {
  if constexpr (steps > 1)
    if (left < steps) return sweep<steps - 1, T>(w, left, u, next);
  const unsigned strips = pieces(u.extent(1), width - 2 * margin_of(steps));
  const unsigned of_strip = std::max(resident * staircase::processors() / strips, 1u);
  const unsigned height = std::max(pieces(u.extent(0), of_strip), least);
  const dim3 grid(pieces(strips, warps), pieces(u.extent(0), height));
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
                                  .title = "Time-tiled CUDA",
                                  .idea = "Six steps per sweep, from register to register",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
