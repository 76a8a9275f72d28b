/// \file
/// From:    09_peer_copies
/// Changed: halos have as many rows as a sweep has steps, six; a sweep is the kernel of stage 14 of
///          advection on some rows of a GPU, and edges travel once for six steps.
/// Legal:   a row after a sweep depends on rows at most six away; those beyond a GPU's own are in
///          its halo, which has the neighbours' rows as they were before the sweep.
/// Expect:  a sixth of the traffic with memory, of copies and of calls, hidden as before; rows at
///          the edges are carried twice.
/// Run:     ./climb advection_distributed --stages 09,12

#include "../advection_distributed.hpp"

#include <algorithm>
#include <deque>
#include <staircase/devices.hpp>
#include <staircase/stream.hpp>
#include <utility>
#include <vector>

namespace advection_distributed {

using advection::load;
using advection::Pair;
using advection::store;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::Event;
using staircase::OnDevice;
using staircase::pieces;
using staircase::Priority;
using staircase::Stream;
using staircase::View;

// [wrapped]
/// Where an index lies that may be before the first or behind the last.
__device__ inline unsigned wrapped(int index, int count) {
  while (index < 0) index += count;
  while (index >= count) index -= count;
  return index;
}
// [wrapped]

// [carry]
constexpr unsigned warps = 4;       // of a block
constexpr unsigned resident = 20;   // warps of a processor, if there are rows enough
constexpr unsigned least = 8;       // rows of a warp
constexpr unsigned ahead = 4;       // rows that are loaded before any of them is used
constexpr unsigned most_steps = 6;  // of a sweep, and rows of a halo
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

/// Pieces of so many rows, of which each begins so far behind the one before.
struct Rows {
  unsigned begin, end, height, stride;
};

/// Several steps in one sweep: a warp goes down its columns, and what comes out of a step is at
/// once what goes into the next, a row above. With each step one column at each edge and one row at
/// each end stops being right; they belong to others.
template <unsigned steps, typename T>
__global__ void carry(Weights<T> w, Rows of_rows, View<const T, 2> u, View<T, 2> next) {
  const int last = u.extent(0) - 1, cols = u.extent(1), lane = threadIdx.x;
  const int strip = blockIdx.x * warps + threadIdx.y;
  constexpr int margin = margin_of(steps);
  const int left = strip * int(width - 2 * margin) - margin + 2 * lane;
  const int j = wrapped(left, cols), second = j + 1 < cols ? 1 : 1 - cols;
  const int top = of_rows.begin + of_rows.stride * blockIdx.y;
  const int bottom = min(top + int(of_rows.height), int(of_rows.end));
  const bool inside = lane >= margin / 2 && lane < 32 - margin / 2 && left < cols;
  Waiting<T> waiting[steps][2];
  for (int i0 = top - int(steps); i0 < bottom + int(steps); i0 += ahead) {
    Pair<T> cells[ahead];
#pragma unroll
    for (unsigned r = 0; r < ahead; ++r) cells[r] = load(&u(min(i0 + int(r), last), j), second);
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
// [carry]

// [Gpu]
/// The rows of a GPU between two halos, in two arrays that change roles.
template <typename T>
struct Gpu {
  Gpu(int number, Share own, unsigned rows_of_halo, std::size_t cols)
      : device(number),
        first(own.begin),
        rows(static_cast<unsigned>(own.end - own.begin)),
        halo(rows_of_halo),
        u(rows + 2 * halo, cols),
        next(rows + 2 * halo, cols) {}
  std::size_t bytes() const { return rows * u.extent(1) * sizeof(T); }

  int device;
  std::size_t first;
  unsigned rows, halo;
  DeviceArray<T, 2> u, next;
  View<T, 2> from = u, to = next;
  Stream interior, edges{Priority::high};
  Event ready, updated, sent;
};

/// Deals the rows of a field to GPUs.
template <typename T>
std::deque<Gpu<T>> deal(View<const double, 2> field, const std::vector<int>& devices) {
  const std::size_t rows = field.extent(0), count = devices.size();
  const unsigned halo = std::min<std::size_t>(most_steps, rows / count);
  staircase::connect(devices);
  std::deque<Gpu<T>> gpus;
  for (std::size_t g = 0; g < count; ++g) {
    const OnDevice here(devices[g]);
    gpus.emplace_back(devices[g], Share{rows * g / count, rows * (g + 1) / count}, halo,
                      field.extent(1));
  }
  return gpus;
}

/// Waits until no GPU has anything to do.
template <typename T>
void synchronise(const std::deque<Gpu<T>>& gpus) {
  for (const Gpu<T>& gpu : gpus) {
    const OnDevice here(gpu.device);
    check(cudaDeviceSynchronize());
  }
}
// [Gpu]

// [refresh_halo]
/// Copies an edge to another GPU's halo.
template <typename T>
void copy(const Gpu<T>& from, const T* edge, const Gpu<T>& to, T* halo) {
  check(cudaMemcpyPeerAsync(halo, to.device, edge, from.device,
                            from.halo * from.u.extent(1) * sizeof(T), from.edges));
}

/// The halos above and below take the edges of all GPUs, behind what updates these.
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
/// A sweep of so many steps over some rows of a GPU, in a stream.
template <unsigned most, typename T>
void carry(unsigned steps, const Weights<T>& w, Rows of_rows, const Gpu<T>& gpu,
           const Stream& stream) {
  if constexpr (most > 1)
    if (steps < most) return carry<most - 1, T>(steps, w, of_rows, gpu, stream);
  if (of_rows.begin >= of_rows.end) return;
  const unsigned strips = pieces(gpu.u.extent(1), width - 2 * margin_of(most));
  const dim3 grid(pieces(strips, warps), pieces(of_rows.end - of_rows.begin, of_rows.stride));
  const View<const T, 2> read(gpu.from.data(), {of_rows.end + gpu.halo, gpu.from.extent(1)});
  carry<most, T><<<grid, dim3(32, warps), 0, stream>>>(w, of_rows, read, gpu.to);
  check_launch();
}

/// As many rows to a warp as give the GPU's processors enough of them.
template <typename T>
unsigned height_of(const Gpu<T>& gpu) {
  const unsigned strips = pieces(gpu.u.extent(1), width - 2 * margin_of(most_steps));
  const unsigned of_strip = std::max(resident * staircase::processors() / strips, 1u);
  return std::max(pieces(gpu.rows, of_strip), least);
}

/// A sweep: edges and their way to the neighbours, and the interior beside them.
template <typename T>
void sweep(unsigned steps, const Weights<T>& w, std::deque<Gpu<T>>& gpus) {
  for (std::size_t g = 0, count = gpus.size(); g < count; ++g) {
    Gpu<T>& gpu = gpus[g];
    const OnDevice here(gpu.device);
    gpu.ready.record(gpu.interior);
    gpu.edges.wait(gpu.ready);
    gpu.edges.wait(gpus[(g + count - 1) % count].sent);
    gpu.edges.wait(gpus[(g + 1) % count].sent);
    const unsigned rows = gpu.rows, halo = gpu.halo, apart = std::max(rows - halo, halo);
    carry<most_steps, T>(steps, w, {halo, rows + halo, halo, apart}, gpu, gpu.edges);
    gpu.updated.record(gpu.edges);
  }
  refresh_halos(gpus);
  for (Gpu<T>& gpu : gpus) {
    const OnDevice here(gpu.device);
    const unsigned height = height_of(gpu);
    carry<most_steps, T>(steps, w, {2 * gpu.halo, gpu.rows, height, height}, gpu, gpu.interior);
    gpu.interior.wait(gpu.updated);
    std::swap(gpu.from, gpu.to);
  }
}
// [sweep]

// [solve]
template <typename T>
Field<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const View<const double, 2> at_first = problem.field_at_first();
  Field<T> field(at_first.extent(0), at_first.extent(1));
  auto devices = staircase::devices(problem.gpus);
  devices.resize(std::min(devices.size(), field.extent(0)));  // a row for each
  std::deque<Gpu<T>> gpus = deal<T>(at_first, devices);
  timeline.begin("copy in");
  const auto rounded = advection::rounded<T>(problem);
  for (Gpu<T>& gpu : gpus) {
    const OnDevice here(gpu.device);
    check(cudaMemcpy(&gpu.to(gpu.halo, 0), &rounded[gpu.first * field.extent(1)], gpu.bytes(),
                     cudaMemcpyHostToDevice));
  }
  synchronise(gpus);
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
  for (const Gpu<T>& gpu : gpus)
    check(cudaMemcpy(&field(gpu.first, 0), &gpu.from(gpu.halo, 0), gpu.bytes(),
                     cudaMemcpyDeviceToHost));
  return field;
}
// [solve]

}  // namespace advection_distributed

int main(int argc, char** argv) {
  using advection_distributed::Division;
  return advection_distributed::run_stage(argc, argv, Division::none,
                                          {
                                              .title = "Time-tiled",
                                              .idea = "Six steps a sweep, six rows of halo",
                                              .solve_f64 = advection_distributed::solve<double>,
                                              .solve_f32 = advection_distributed::solve<float>,
                                          });
}
