/// \file
/// Changed: a block loads its tile of 16 × 32 cells and a frame of one cell into shared memory,
///          adds three neighbours within each row once, and then adds three of these sums.
/// Legal:   each weight is the product of a weight along x and a weight along y. A barrier
///          separates the writes to shared memory from the reads by other threads.
/// Expect:  a cell needs 6 loads from shared memory instead of 9 through the L1 cache. The memory
///          traffic stays the same, and nothing is loaded while threads wait at two barriers.
/// Run:     ./climb advection --stages 11,12
/// Next:    13_register_rolling walks down two columns and keeps the row sums in registers.

#include "../advection.hpp"

#include <utility>

namespace advection {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [update]
constexpr unsigned tile_rows = 16, tile_cols = 32;  // tile of a thread block, one thread per cell

/// Maps the index -1 to the last element and the index `count` to the first. Larger indices become
/// 0; no result depends on the elements loaded for them.
__device__ inline unsigned wrapped(int index, int count) {
  return index < 0 ? count - 1 : index < count ? index : 0;
}

/// Does one step of a tile: loads its cells and a frame, sums three neighbours within each row, and
/// then sums three of these row sums.
template <typename T>
__global__ void update(Weights<T> w, View<const T, 2> u, View<T, 2> next) {
  __shared__ T cells[tile_rows + 2][tile_cols + 2], sums[tile_rows + 2][tile_cols];
  const unsigned rows = u.extent(0), cols = u.extent(1), x = threadIdx.x, y = threadIdx.y;
  const int top = blockIdx.y * tile_rows - 1, left = blockIdx.x * tile_cols - 1;
  for (unsigned i = y; i < tile_rows + 2; i += tile_rows)
    for (unsigned j = x; j < tile_cols + 2; j += tile_cols)
      cells[i][j] = u(wrapped(top + i, rows), wrapped(left + j, cols));
  __syncthreads();
  for (unsigned i = y; i < tile_rows + 2; i += tile_rows)
    sums[i][x] = w.x[0] * cells[i][x] + w.x[1] * cells[i][x + 1] + w.x[2] * cells[i][x + 2];
  __syncthreads();
  const unsigned i = blockIdx.y * tile_rows + y, j = blockIdx.x * tile_cols + x;
  if (i < rows && j < cols)
    next(i, j) = w.y[0] * sums[y][x] + w.y[1] * sums[y + 1][x] + w.y[2] * sums[y + 2][x];
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
  const dim3 block(tile_cols, tile_rows);
  const dim3 grid(ceil_div(problem.cols, tile_cols), ceil_div(problem.rows, tile_rows));
  View<T, 2> from = u, to = next;
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    update<T><<<grid, block>>>(w, from, to);
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
                                  .title = "Tiled",
                                  .idea = "Compute row sums of a tile in shared memory",
                                  .solve_f64 = advection::solve<double>,
                                  .solve_f32 = advection::solve<float>,
                              });
}
