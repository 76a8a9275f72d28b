/// \file
/// From:    01_row_decomposition
/// Changed: each rank stores its rows on a GPU. It updates the edges first and sends them to the
///          neighbours through pinned host memory and messages, while the GPU updates the other
///          rows. The column indices wrap around.
/// Legal:   the host sends an edge after the copy of this edge from the GPU. The next edges are
///          updated after both halos have arrived. The update of the interior accesses no halo.
/// Expect:  the time is divided by the number of GPUs, as long as the interior takes longer than
///          the exchange: two copies to the host, two messages and two copies to the GPU.
/// Run:     ./climb advection_distributed --stages 01,08
/// Next:    09_peer_copies drives the GPUs from one process; GPUs write into each other's memory.

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
/// The ranks that own the rows above and below the rows of this rank.
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
/// The data of a rank. Its GPU stores the rank's rows between two halo rows, in two arrays that are
/// swapped after each step. Pinned host memory stores two edges and two halo rows.
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
/// Sends a row to a rank and receives the row of another rank into the halo.
template <typename T>
void exchange(View<const T, 1> row, int to, View<T, 1> halo, int from) {
  const int count = static_cast<int>(row.extent(0));
  mpi::check(MPI_Sendrecv(row.data(), count, mpi::element<T>(), to, 0, halo.data(), count,
                          mpi::element<T>(), from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/// Once the edges are updated, sends them to the neighbours and receives the neighbours' edges.
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
/// Does a step: updates the edges first, and the interior while the edges are in transit.
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
  mpi::check(MPI_Barrier(MPI_COMM_WORLD));  // no timed step waits for the copies of other ranks
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
                                              .title = "Host-staged messages",
                                              .idea = "Update on a GPU per rank, send by the host",
                                              .solve_f64 = advection_distributed::solve<double>,
                                              .solve_f32 = advection_distributed::solve<float>,
                                          });
}
