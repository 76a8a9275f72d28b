/// \file
/// From:    09_peer_copies
/// Changed: a halo has six rows, as many as a sweep has steps. A sweep is the kernel of advection
///          14 on some rows of a GPU, and the edges are exchanged every six steps.
/// Legal:   after a sweep, a row depends on rows at a distance of at most six. If these rows belong
///          to another GPU, the halo contains them as they were before the sweep.
/// Expect:  the memory traffic, copies and calls of stage 09 fall to a sixth; the exchange stays
///          hidden. Rows near the edges are computed twice.
/// Run:     ./climb advection_distributed --stages 09,12

#include "../gpus.hpp"
#include "../sweeps.hpp"

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
/// The rows of a GPU between two halos, in two arrays that are swapped after each sweep.
template <typename T>
struct Gpu : OwnRows {
  Gpu(OwnRows own, std::size_t cols, unsigned rows_of_halo)
      : OwnRows(own), halo(rows_of_halo), u(rows + 2 * halo, cols), next(rows + 2 * halo, cols) {}

  unsigned halo;
  DeviceArray<T, 2> u, next;
  View<T, 2> from = u, to = next;
  Stream interior, edges{Priority::high};
  Event ready, updated, sent;
};
// [Gpu]

// [refresh_halo]
/// Copies an edge into the halo of another GPU.
template <typename T>
void copy(const Gpu<T>& from, const T* edge, const Gpu<T>& to, T* halo) {
  check(cudaMemcpyPeerAsync(halo, to.device, edge, from.device,
                            from.halo * from.u.extent(1) * sizeof(T), from.edges));
}

/// Copies the edges of all GPUs into the halos of their neighbours, after the edges are updated.
template <typename T>
void refresh_halos(std::deque<Gpu<T>>& gpus) {
  for (std::size_t g = 0, count = gpus.size(); g < count; ++g) {
    Gpu<T>&gpu = gpus[g], &above = gpus[(g + count - 1) % count], &below = gpus[(g + 1) % count];
    const OnDevice here(gpu.device);
    copy(gpu, &gpu.to(gpu.halo, 0), above, &above.to(above.rows + above.halo, 0));
    copy(gpu, &gpu.to(gpu.rows, 0), below, &below.to(0, 0));
    gpu.sent.record(gpu.edges);
  }
}
// [refresh_halo]

// [sweep]
/// Does a sweep: updates and copies the edges in one stream, and updates the interior in another.
template <typename T>
void sweep(unsigned steps, const Weights<T>& w, std::deque<Gpu<T>>& gpus) {
  for (std::size_t g = 0, count = gpus.size(); g < count; ++g) {
    Gpu<T>& gpu = gpus[g];
    const OnDevice here(gpu.device);
    gpu.ready.record(gpu.interior);
    gpu.edges.wait(gpu.ready);
    gpu.edges.wait(gpus[(g + count - 1) % count].sent);
    gpu.edges.wait(gpus[(g + 1) % count].sent);
    const unsigned rows = gpu.rows, halo = gpu.halo, distance = std::max(rows - halo, halo);
    carry<most_steps, T>(steps, w, {halo, rows + halo, halo, distance}, gpu.from, gpu.to, halo,
                         gpu.edges);
    gpu.updated.record(gpu.edges);
  }
  refresh_halos(gpus);
  for (Gpu<T>& gpu : gpus) {
    const OnDevice here(gpu.device);
    const unsigned height = height_of(gpu.rows, gpu.u.extent(1));
    carry<most_steps, T>(steps, w, {2 * gpu.halo, gpu.rows, height, height}, gpu.from, gpu.to,
                         gpu.halo, gpu.interior);
    gpu.interior.wait(gpu.updated);
    std::swap(gpu.from, gpu.to);
  }
}
// [sweep]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const View<const double, 2> field = problem.field_at_first();
  const std::size_t rows = field.extent(0), cols = field.extent(1);
  Field<T> result(rows, cols);
  const auto devices = devices_for(problem, rows);
  const unsigned halo = std::min<std::size_t>(most_steps, rows / devices.size());
  staircase::connect(devices);
  std::deque<Gpu<T>> gpus = distribute_rows<Gpu<T>>(devices, rows, cols, halo);
  timeline.begin("copy in");
  copy_in<T>(problem, gpus, [](const Gpu<T>& gpu) { return &gpu.to(gpu.halo, 0); });
  refresh_halos(gpus);
  synchronise(gpus);
  for (Gpu<T>& gpu : gpus) std::swap(gpu.from, gpu.to);
  timeline.begin("kernels");
  const auto w = weights_of<T>(problem);
  const std::int64_t steps = gpus.front().halo;
  for (std::int64_t left = problem.steps; left > 0; left -= steps)
    sweep<T>(std::min(left, steps), w, gpus);
  synchronise(gpus);
  timeline.begin("copy out");
  copy_out(gpus, result, [](const Gpu<T>& gpu) { return &gpu.from(gpu.halo, 0); });
  return result;
}
// [solve]

}  // namespace advection_distributed

int main(int argc, char** argv) {
  using advection_distributed::Division;
  return advection_distributed::run_stage(argc, argv, Division::none,
                                          {
                                              .title = "Time-tiled",
                                              .idea = "Exchange six rows per sweep of six steps",
                                              .solve_f64 = advection_distributed::solve<double>,
                                              .solve_f32 = advection_distributed::solve<float>,
                                          });
}
