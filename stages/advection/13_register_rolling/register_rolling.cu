/// \file
/// From:    11_coalesced
/// Changed: a thread computes 16 cells of two neighbouring columns from top to bottom. It keeps the
///          sums of three rows in registers and loads two rows before it uses the first.
/// Legal:   the sum of a row is the same for the cells above, at and below it.
/// Expect:  two cells need 3 loads instead of 18; one of these loads fetches both cells. Each cell
///          comes from memory once, so a step takes the time of a copy of the field.
/// Run:     ./climb advection --stages 11,13
/// Next:    14_skewed_time_tiling computes several steps in one walk down the columns.

#include "../advection.hpp"

#include <utility>

namespace advection {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::DeviceArray;
using staircase::View;

// [update]
constexpr unsigned block_size = 256;  // threads of a block, each with two columns
constexpr unsigned height = 8;        // rows of a block
constexpr unsigned ahead = 2;         // rows that are loaded before the first is used

/// Returns the row sums of two adjacent cells; `left`, `second`, `right` are offsets from `cell`.
template <typename T>
__device__ Pair<T> row_sums(const Weights<T>& w, const T* cell, int left, int second, int right) {
  const auto [a, b] = load(cell, second);
  return {w.x[0] * cell[left] + w.x[1] * a + w.x[2] * b,
          w.x[0] * a + w.x[1] * b + w.x[2] * cell[right]};
}

/// Does one step: each cell of `next` is the weighted sum of the 3 × 3 cells of `u` around it. A
/// thread walks down two columns and computes row sums of `ahead` rows before it uses the first.
template <typename T>
__global__ void update(Weights<T> w, View<const T, 2> u, View<T, 2> next) {
  const int rows = u.extent(0), cols = u.extent(1), j = 2 * column();
  if (j >= cols) return;
  const int left = j > 0 ? -1 : cols - 1, second = j + 1 < cols ? 1 : 1 - cols;
  const int right = j + 2 < cols ? 2 : (j + 2) % cols - j;
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
        store(&next(i0 + int(r), j), second, {a, b});
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
                                  .title = "Register rolling",
                                  .idea = "Keep row sums of two columns in registers",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
