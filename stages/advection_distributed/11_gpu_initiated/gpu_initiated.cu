/// \file
/// From:    09_peer_copies
/// Changed: one launch per GPU does all steps. Thread blocks claim tiles of all steps from a queue.
///          A thread block waits until the neighbouring tiles have finished the previous step,
///          stores edges in the halos of the neighbours itself, and counts its tile as finished.
///          The update works as in advection 13.
/// Legal:   a counter is incremented after all stores that it publishes. A tile is at most one step
///          ahead of its neighbours, so two arrays are enough. A tile waits only for tiles that
///          have been claimed before it, or that belong to an earlier step of another GPU.
/// Expect:  a step costs only the update of its cells; the host does nothing per step.
/// Run:     ./climb advection_distributed --stages 09,11

#include "../gpus.hpp"
#include "../pairs.hpp"
#include "../queue.hpp"

#include <algorithm>
#include <array>
#include <staircase/cooperative.hpp>
#include <utility>

namespace advection_distributed {

using staircase::check;
using staircase::DeviceArray;

// [advance]
/// Advances the rows of one GPU by all time steps. A thread block claims one tile after the other.
template <typename T>
__global__ void __launch_bounds__(block_size, blocks_per_sm<T>)
    advance(Weights<T> w, unsigned steps, Cut cut, Part<T> own, Part<T> above, Part<T> below) {
  __shared__ Tile claimed;
  const auto claim = [&] { return OfGpu(own.claimed(0)).fetch_add(1, cuda::memory_order_relaxed); };
  if (threadIdx.x == 0) claimed = cut.tile(claim());
  __syncthreads();
  for (Tile tile = claimed; tile.step < steps; tile = claimed) {
    const Count next = threadIdx.x == 0 ? claim() : 0;  // claimed one tile in advance
    wait_for_three(own.done, tile.band, Count{cut.strips} * tile.step);
    const View<T, 2> from = own.u.row(tile.step % 2), to = own.u.row((tile.step + 1) % 2);
    const unsigned rows = to.extent(0) - 2, cols = to.extent(1);
    const unsigned top = 1 + tile.band * cut.height, bottom = min(top + cut.height, rows + 1);
    const unsigned j = 2 * (tile.strip * block_size + threadIdx.x);
    if (j < cols) {
      update<T>(w, top, bottom, j, from, to);
      if (top == 1) send<T>(to.row(1), above.u.row((tile.step + 1) % 2, above.u.extent(1) - 1), j);
      if (bottom == rows + 1) send<T>(to.row(rows), below.u.row((tile.step + 1) % 2, 0), j);
    }
    if (threadIdx.x == 0) claimed = cut.tile(next);
    __syncthreads();
    if (threadIdx.x == 0)
      publish(own, above, below, tile.band, Count{cut.strips} * (tile.step + 1));
  }
}
// [advance]

// [Gpu]
/// The rows of a GPU, the counters of their bands and the queue of their tiles.
template <typename T>
struct Gpu : OwnRows {
  Gpu(OwnRows own, std::size_t cols)
      : OwnRows(own),
        cut(cut_of(rows, cols, staircase::blocks_at_once(advance<T>, block_size))),
        u(2, rows + 2, cols),
        done(cut.bands + 2),
        at_edges(2),
        claimed(1) {
    done.clear(nullptr);
    at_edges.clear(nullptr);
    claimed.clear(nullptr);
  }
  Part<T> part() const { return {u, done, at_edges, claimed}; }

  Cut cut;
  DeviceArray<T, 3> u;
  DeviceArray<Count, 1> done, at_edges, claimed;
};
// [Gpu]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const View<const double, 2> field = problem.field_at_first();
  const std::size_t rows = field.extent(0), cols = field.extent(1);
  Field<T> result(rows, cols);
  const auto devices = devices_for(problem, rows);
  staircase::connect_ring(devices);
  std::deque<Gpu<T>> gpus = distribute_rows<Gpu<T>>(devices, rows, cols);
  timeline.begin("copy in");
  const auto rounded = advection::rounded<T>(problem);
  for (Gpu<T>& gpu : gpus) {
    const OnDevice here(gpu.device);
    using Copy = std::array<std::size_t, 3>;
    for (const auto [row, from, count] :
         {Copy{0, (gpu.first + rows - 1) % rows, 1}, Copy{1, gpu.first, gpu.rows},
          Copy{gpu.rows + 1, (gpu.first + gpu.rows) % rows, 1}})
      check(cudaMemcpy(&gpu.u(0, row, 0), &rounded[from * cols], count * cols * sizeof(T),
                       cudaMemcpyHostToDevice));
  }
  synchronise(gpus);
  timeline.begin("kernels");
  const auto w = weights_of<T>(problem);
  const auto steps = static_cast<unsigned>(problem.steps);
  for (std::size_t g = 0, count = gpus.size(); g < count; ++g) {
    Gpu<T>&gpu = gpus[g], &above = gpus[(g + count - 1) % count], &below = gpus[(g + 1) % count];
    const OnDevice here(gpu.device);
    staircase::launch_cooperatively(advance<T>, gpu.cut.blocks, block_size, w, steps, gpu.cut,
                                    gpu.part(), above.part(), below.part());
  }
  synchronise(gpus);
  timeline.begin("copy out");
  copy_out(gpus, result, [&](const Gpu<T>& gpu) { return &gpu.u(steps % 2, 1, 0); });
  return result;
}
// [solve]

}  // namespace advection_distributed

int main(int argc, char** argv) {
  using advection_distributed::Division;
  return advection_distributed::run_stage(argc, argv, Division::none,
                                          {
                                              .title = "GPU-initiated",
                                              .idea = "Store edges and signal them in one kernel",
                                              .solve_f64 = advection_distributed::solve<double>,
                                              .solve_f32 = advection_distributed::solve<float>,
                                          });
}
