/// \file
/// Changed: each GPU is a rank of NCCL, and all ranks send and receive edges in one group. Each
///          rank records two steps as a CUDA graph, which the host launches repeatedly.
/// Legal:   a rank receives in its own stream, after the last kernel that reads its halo, and waits
///          for the send. After two steps, each array has its original role again.
/// Expect:  exchanges take longer than copies, but stay hidden if the interior takes even longer. A
///          step needs half a launch per GPU instead of eleven calls.
/// Run:     ./climb advection_distributed --stages 09,10
/// Next:    11_gpu_initiated lets kernels store the edges themselves, in one launch for all steps.

#include "../gpus.hpp"
#include "../rows.hpp"

#include <algorithm>
#include <staircase/graph.hpp>
#include <staircase/nccl.hpp>
#include <staircase/stream.hpp>
#include <utility>

namespace advection_distributed {

using staircase::check;
using staircase::Communicators;
using staircase::DeviceArray;
using staircase::Event;
using staircase::Graph;
using staircase::nccl_type;
using staircase::Priority;
using staircase::Stream;

// [Gpu]
/// The rows of a GPU between two halo rows, in two arrays that are swapped after each step.
template <typename T>
struct Gpu : OwnRows {
  Gpu(OwnRows own, std::size_t cols, const Communicators& ranks)
      : OwnRows(own), rank(ranks[number]), u(rows + 2, cols), next(rows + 2, cols) {}

  ncclComm_t rank;
  DeviceArray<T, 2> u, next;
  View<T, 2> from = u, to = next;
  Stream interior, edges{Priority::high};
  Event ready, updated, sent;
};
// [Gpu]

// [refresh_halo]
/// Sends an edge to one rank and receives the edge of another rank into the halo.
template <typename T>
void exchange(View<const T, 1> edge, std::size_t to, View<T, 1> halo, std::size_t from,
              const Gpu<T>& gpu) {
  const std::size_t count = edge.extent(0);
  check(ncclSend(edge.data(), count, nccl_type<T>(), int(to), gpu.rank, gpu.edges));
  check(ncclRecv(halo.data(), count, nccl_type<T>(), int(from), gpu.rank, gpu.edges));
}

/// Copies the edges of all GPUs into the halos of their neighbours, after the edges are updated.
template <typename T>
void refresh_halos(std::deque<Gpu<T>>& gpus) {
  staircase::group([&] {
    for (std::size_t g = 0, count = gpus.size(); g < count; ++g) {
      Gpu<T>& gpu = gpus[g];
      const std::size_t above = (g + count - 1) % count, below = (g + 1) % count;
      exchange<T>(gpu.to.row(1), above, gpu.to.row(gpu.rows + 1), below, gpu);
      exchange<T>(gpu.to.row(gpu.rows), below, gpu.to.row(0), above, gpu);
    }
  });
}
// [refresh_halo]

// [step]
/// Does a step: updates and copies the edges in one stream, and updates the interior in another.
template <typename T>
void step(const Weights<T>& w, std::deque<Gpu<T>>& gpus) {
  for (Gpu<T>& gpu : gpus) {
    const OnDevice here(gpu.device);
    gpu.ready.record(gpu.interior);
    gpu.edges.wait(gpu.ready);
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

// [record]
/// Records two steps as one graph per GPU; all graphs must be launched together.
template <typename T>
std::deque<Graph> two_steps(const Weights<T>& w, std::deque<Gpu<T>>& gpus) {
  std::deque<Graph> graphs;
  for (const Gpu<T>& gpu : gpus) graphs.emplace_back(gpu.interior);
  step(w, gpus);
  step(w, gpus);
  for (Gpu<T>& gpu : gpus) {
    gpu.sent.record(gpu.edges);
    gpu.interior.wait(gpu.sent);
  }
  for (Graph& graph : graphs) graph.end();
  for (Graph& graph : graphs) graph.instantiate();
  return graphs;
}
// [record]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const View<const double, 2> field = problem.field_at_first();
  const std::size_t rows = field.extent(0), cols = field.extent(1);
  Field<T> result(rows, cols);
  const auto devices = devices_for(problem, rows);
  const Communicators ranks(devices);
  std::deque<Gpu<T>> gpus = distribute_rows<Gpu<T>>(devices, rows, cols, ranks);
  timeline.begin("copy in");
  copy_in<T>(problem, gpus, [](const Gpu<T>& gpu) { return &gpu.to(1, 0); });
  refresh_halos(gpus);
  synchronise(gpus);
  for (Gpu<T>& gpu : gpus) std::swap(gpu.from, gpu.to);
  timeline.begin("graph");
  const auto w = weights_of<T>(problem);
  const std::deque<Graph> graphs = two_steps(w, gpus);
  timeline.begin("kernels");
  for (std::int64_t s = 0; s < problem.steps / 2; ++s)
    for (const Graph& graph : graphs) graph.launch();
  if (problem.steps % 2 != 0) step(w, gpus);
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
                                              .title = "NCCL",
                                              .idea = "Exchange by NCCL within CUDA graphs",
                                              .solve_f64 = advection_distributed::solve<double>,
                                              .solve_f32 = advection_distributed::solve<float>,
                                          });
}
