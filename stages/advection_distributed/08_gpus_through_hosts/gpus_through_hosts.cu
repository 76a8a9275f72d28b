/// \file
/// From:    01_rows
/// Changed: each rank has its rows on a GPU; edges are updated first, and go to the neighbours by
///          pinned memory of the host and messages, while the GPU updates the rest. Columns wrap
///          by index.
/// Legal:   the host sends an edge that has been copied, and the next edges are updated when both
///          halos are there; the interior reads and writes neither.
/// Expect:  the time of one GPU divided by their number, as long as the interior takes longer than
///          two copies, two messages and two copies.
/// Run:     ./climb advection_distributed --stages 01,08
/// Next:    09_peer_copies has GPUs of one process, which write each other's memory.

#include "../rows.hpp"

#include <algorithm>
#include <staircase/mpi.hpp>
#include <staircase/stream.hpp>
#include <utility>

namespace advection_distributed {

namespace mpi = staircase::mpi;
using staircase::check;
using staircase::DeviceArray;
using staircase::Event;
using staircase::PinnedArray;
using staircase::Stream;
using staircase::View;

// [neighbours]
/// The ranks that have the rows above this rank's and below.
struct Neighbours {
  int above, below;
};

inline Neighbours neighbours() {
  int rank = 0, ranks = 0;
  mpi::check(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  mpi::check(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
  return {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
}
// [neighbours]

// [Gpu]
/// A rank's rows on its GPU between two rows of halo, in two arrays that change roles, and memory
/// of the host that two edges and two rows of halo pass through.
template <typename T>
struct Gpu {
  Gpu(std::size_t own, std::size_t cols)
      : rows(static_cast<unsigned>(own)), u(rows + 2, cols), next(rows + 2, cols), host(4, cols) {}
  std::size_t bytes() const { return rows * u.extent(1) * sizeof(T); }

  unsigned rows;
  DeviceArray<T, 2> u, next;
  View<T, 2> from = u, to = next;
  PinnedArray<T, 2> host;
  Stream kernels, copies;
  Event edges, copied;
};
// [Gpu]

// [refresh_halo]
/// Sends a row to one rank while another one's arrives.
template <typename T>
void exchange(View<const T, 1> row, int to, View<T, 1> halo, int from) {
  const int count = static_cast<int>(row.extent(0));
  mpi::check(MPI_Sendrecv(row.data(), count, mpi::element<T>(), to, 0, halo.data(), count,
                          mpi::element<T>(), from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/// The halos above and below take the edges of the neighbours, as soon as these are there.
template <typename T>
void refresh_halos(const Neighbours& ranks, Gpu<T>& gpu) {
  const View<T, 2> host = gpu.host;
  gpu.copies.wait(gpu.edges);
  copy(gpu.to.row(1), host.row(0), gpu.copies);
  copy(gpu.to.row(gpu.rows), host.row(1), gpu.copies);
  gpu.copied.record(gpu.copies);
  gpu.copied.wait();
  exchange<T>(host.row(0), ranks.above, host.row(2), ranks.below);
  exchange<T>(host.row(1), ranks.below, host.row(3), ranks.above);
  copy(host.row(2), gpu.to.row(gpu.rows + 1), gpu.copies);
  copy(host.row(3), gpu.to.row(0), gpu.copies);
  gpu.copied.record(gpu.copies);
}
// [refresh_halo]

// [step]
/// A step: edges first, then the interior while they travel.
template <typename T>
void step(const Weights<T>& w, const Neighbours& ranks, Gpu<T>& gpu) {
  update<T>(w, {1, gpu.rows + 1, std::max(gpu.rows - 1, 1U)}, gpu.from, gpu.to, gpu.kernels);
  gpu.edges.record(gpu.kernels);
  update<T>(w, {2, gpu.rows, 1}, gpu.from, gpu.to, gpu.kernels);
  refresh_halos(ranks, gpu);
  gpu.kernels.wait(gpu.copied);
  std::swap(gpu.from, gpu.to);
}
// [step]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const View<const double, 2> at_first = problem.field_at_first();
  Field<T> field(at_first.extent(0), at_first.extent(1));
  Gpu<T> gpu(field.extent(0), field.extent(1));
  timeline.begin("copy in");
  const auto rounded = advection::rounded<T>(problem);
  check(cudaMemcpy(&gpu.to(1, 0), rounded.data(), gpu.bytes(), cudaMemcpyHostToDevice));
  mpi::check(MPI_Barrier(MPI_COMM_WORLD));  // so that no step is timed that waits for a copy
  timeline.begin("kernels");
  const auto w = weights_of<T>(problem);
  const Neighbours ranks = neighbours();
  refresh_halos(ranks, gpu);
  check(cudaDeviceSynchronize());
  std::swap(gpu.from, gpu.to);
  for (std::int64_t s = 0; s < problem.steps; ++s) step(w, ranks, gpu);
  check(cudaDeviceSynchronize());
  timeline.begin("copy out");
  check(cudaMemcpy(field.data(), &gpu.from(1, 0), gpu.bytes(), cudaMemcpyDeviceToHost));
  return field;
}
// [solve]

}  // namespace advection_distributed

int main(int argc, char** argv) {
  using advection_distributed::Division;
  return advection_distributed::run_stage(argc, argv, Division::rows,
                                          {
                                              .title = "GPUs through hosts",
                                              .idea = "One GPU per rank, edges by host and message",
                                              .solve_f64 = advection_distributed::solve<double>,
                                              .solve_f32 = advection_distributed::solve<float>,
                                          });
}
