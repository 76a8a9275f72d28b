/// \file
/// From:    00_original
/// Changed: the rows are distributed among GPUs, with a halo row on each side; the column indices
///          wrap around. One stream updates the edges and copies them to the neighbours; another
///          one updates the interior.
/// Legal:   the update of an interior reads no halo. An edge is updated only after both halos have
///          arrived and the interior is finished, so no GPU gets a full step ahead of a neighbour.
/// Expect:  the time of one GPU is divided by the number of GPUs; the update of the interior hides
///          the copies.
/// Run:     ./climb advection_distributed --stages 00,09
/// Next:    10_nccl leaves the exchange to a library and records two steps as a CUDA graph.

#include "../gpus.hpp"
#include "../rows.hpp"

#include <algorithm>
#include <staircase/stream.hpp>
#include <utility>

namespace advection_distributed {

using staircase::check;
using staircase::DeviceArray;
using staircase::Event;
using staircase::Priority;
using staircase::Stream;

// [Gpu]
/// The rows of a GPU between two halo rows, in two arrays that are swapped after each step.
template <typename T>
struct Gpu : OwnRows {
  Gpu(OwnRows own, std::size_t cols) : OwnRows(own), u(rows + 2, cols), next(rows + 2, cols) {}

  DeviceArray<T, 2> u, next;
  View<T, 2> from = u, to = next;
  Stream interior, edges{Priority::high};
  Event ready, updated, sent;
};
// [Gpu]

// [refresh_halo]
/// Copies an edge into the halo of another GPU.
template <typename T>
void copy(const Gpu<T>& from, View<const T, 1> edge, const Gpu<T>& to, View<T, 1> halo) {
  check(cudaMemcpyPeerAsync(halo.data(), to.device, edge.data(), from.device,
                            edge.extent(0) * sizeof(T), from.edges));
}

/// Copies the edges of all GPUs into the halos of their neighbours, after the edges are updated.
template <typename T>
void refresh_halos(std::deque<Gpu<T>>& gpus) {
  for (std::size_t g = 0, count = gpus.size(); g < count; ++g) {
    Gpu<T>&gpu = gpus[g], &above = gpus[(g + count - 1) % count], &below = gpus[(g + 1) % count];
    const OnDevice here(gpu.device);
    copy<T>(gpu, gpu.to.row(1), above, above.to.row(above.rows + 1));
    copy<T>(gpu, gpu.to.row(gpu.rows), below, below.to.row(0));
    gpu.sent.record(gpu.edges);
  }
}
// [refresh_halo]

// [step]
/// Does a step: updates and copies the edges in one stream, and updates the interior in another.
template <typename T>
void step(const Weights<T>& w, std::deque<Gpu<T>>& gpus) {
  for (std::size_t g = 0, count = gpus.size(); g < count; ++g) {
    Gpu<T>& gpu = gpus[g];
    const OnDevice here(gpu.device);
    gpu.ready.record(gpu.interior);
    gpu.edges.wait(gpu.ready);
    gpu.edges.wait(gpus[(g + count - 1) % count].sent);
    gpu.edges.wait(gpus[(g + 1) % count].sent);
    update<T>(w, {1, gpu.rows + 1, std::max(gpu.rows - 1, 1U)}, gpu.from, gpu.to, gpu.edges);
    gpu.updated.record(gpu.edges);
  }
  refresh_halos(gpus);
  for (Gpu<T>& gpu : gpus) {
    const OnDevice here(gpu.device);
    update<T>(w, {2, gpu.rows, 1}, gpu.from, gpu.to, gpu.interior);
    gpu.interior.wait(gpu.updated);
    std::swap(gpu.from, gpu.to);
  }
}
// [step]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const View<const double, 2> field = problem.field_at_first();
  const std::size_t rows = field.extent(0), cols = field.extent(1);
  Field<T> result(rows, cols);
  const auto devices = devices_for(problem, rows);
  staircase::connect(devices);
  std::deque<Gpu<T>> gpus = distribute_rows<Gpu<T>>(devices, rows, cols);
  timeline.begin("copy in");
  copy_in<T>(problem, gpus, [](const Gpu<T>& gpu) { return &gpu.to(1, 0); });
  refresh_halos(gpus);
  synchronise(gpus);
  for (Gpu<T>& gpu : gpus) std::swap(gpu.from, gpu.to);
  timeline.begin("kernels");
  const auto w = weights_of<T>(problem);
  for (std::int64_t s = 0; s < problem.steps; ++s) step(w, gpus);
  synchronise(gpus);
  timeline.begin("copy out");
  copy_out(gpus, result, [](const Gpu<T>& gpu) { return &gpu.from(1, 0); });
  return result;
}
// [solve]

}  // namespace advection_distributed

int main(int argc, char** argv) {
  using advection_distributed::Division;
  return advection_distributed::run_stage(argc, argv, Division::none,
                                          {
                                              .title = "Peer copies",
                                              .idea = "Copy edges from GPU to GPU in a stream",
                                              .solve_f64 = advection_distributed::solve<double>,
                                              .solve_f32 = advection_distributed::solve<float>,
                                          });
}
