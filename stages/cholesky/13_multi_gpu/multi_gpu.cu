/// \file
/// From:    09_look_ahead
/// Changed: panels are distributed cyclically to all GPUs, and each GPU stores the columns of its
///          own panels. To factorise a panel, a GPU copies it to a separate buffer. The other GPUs
///          fetch the panel from this buffer.
/// Legal:   a GPU writes only to its own columns, and fetches each panel of another GPU before it
///          reads the panel. Events keep a panel unchanged until all GPUs have fetched it and have
///          subtracted its products.
/// Expect:  the speed grows in proportion to the number of GPUs, as long as factorising and
///          fetching a panel takes less time than an update.
/// Run:     ./climb cholesky --stages 09,13

#include "../block_cyclic.hpp"
#include "../panels.hpp"
#include "../products.hpp"

#include <cuda_pipeline.h>

#include <algorithm>
#include <deque>
#include <staircase/devices.hpp>
#include <staircase/factor.hpp>
#include <staircase/stream.hpp>
#include <string>
#include <vector>

namespace cholesky {

using staircase::ceil_div;
using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::Event;
using staircase::Factor;
using staircase::factor;
using staircase::multiply_add;
using staircase::OnDevice;
using staircase::Stream;
using staircase::View;

// [range]
using Distribution = BlockCyclic<panel>;
// [range]

// [tiles]
constexpr unsigned strip = 8;    // columns of tiles that are processed row by row
constexpr unsigned buffers = 4;  // buffers for factors in shared memory
constexpr unsigned ahead = buffers - 1;

/// Number of columns of factors in a buffer: 128 bytes of a row.
template <typename T>
constexpr unsigned depth = 128 / sizeof(T);

/// Number of adjacent elements of a row that are copied together.
template <typename T>
constexpr unsigned packed = 16 / sizeof(T);

/// Factors for the rows and for the columns of a tile. Each row has four elements of padding.
/// Rows are therefore in different banks when four elements of each row are read at the same time.
template <typename T>
struct alignas(16) Tiles {
  T i[tile][depth<T> + 4], j[tile][depth<T> + 4];
};

/// Starts the copies of factors, beginning with column k. Row indices are clamped to the last row.
template <typename T>
__device__ void copy_tiles(View<const T, 2> l, unsigned i0, unsigned j0, unsigned k,
                           Tiles<T>& tiles) {
  constexpr unsigned packs = depth<T> / packed<T>;
  const unsigned of_k = threadIdx.x % packs * packed<T>, last = l.extent(0) - 1;
#pragma unroll
  for (unsigned m = threadIdx.x / packs; m < tile; m += threads / packs) {
    __pipeline_memcpy_async(&tiles.i[m][of_k], &l(min(i0 + m, last), k + of_k), 16);
    __pipeline_memcpy_async(&tiles.j[m][of_k], &l(min(j0 + m, last), k + of_k), 16);
  }
}
// [tiles]

// [multiply_tiles]
/// The elements of eight columns that one lane contributes to all `mma` products of its warp.
template <typename T>
struct Factors {
  Factor<T> x[kept_i][4], y[kept_j][2];
};

/// Loads one lane's operands from eight columns of the tiles, beginning with column k.
template <typename T>
__device__ void load_factors(const Tiles<T>& tiles, unsigned k, Factors<T>& factors) {
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) {
    const auto [i, of_k] = staircase::position_in_a(threadIdx.x % 32, r);
#pragma unroll
    for (unsigned m = 0; m < kept_i; ++m)
      factors.x[m][r] = factor(tiles.i[row_of(m) + i][k + of_k]);
  }
#pragma unroll
  for (unsigned r = 0; r < 2; ++r) {
    const auto [of_k, j] = staircase::position_in_b(threadIdx.x % 32, r);
#pragma unroll
    for (unsigned n = 0; n < kept_j; ++n)
      factors.y[n][r] = factor(tiles.j[column_of(n) + j][k + of_k]);
  }
}

/// Computes rest += x y.
template <typename T>
__device__ void multiply_factors(const Factors<T>& factors, Rest<T>& rest) {
#pragma unroll
  for (unsigned m = 0; m < kept_i; ++m)
#pragma unroll
    for (unsigned n = 0; n < kept_j; ++n) multiply_add(rest[m][n], factors.x[m], factors.y[n]);
}
// [multiply_tiles]

// [update]
/// Trailing update: subtracts the products of columns `k` of `computed`, a complete panel, from a
/// GPU's columns `j`, on and below the diagonal.
template <typename T>
__global__ void __launch_bounds__(threads)
    update(View<const T, 2> computed, View<T, 2> l, Range k, Range j, Distribution distribution) {
  extern __shared__ __align__(16) unsigned char bytes[];
  Tiles<T>* const tiles = reinterpret_cast<Tiles<T>*>(bytes);
  const unsigned i0 = distribution.whole(j.first) + blockIdx.y * tile;
  const unsigned j0 = j.first + (blockIdx.z * strip + blockIdx.x) * tile;
  const unsigned whole = distribution.whole(j0);
  if (whole > i0 || j0 >= j.end) return;
  const unsigned steps = (k.end - k.first) / depth<T>;
  const auto copy_step = [&](unsigned step) {
    if (step < steps)
      copy_tiles<T>(computed, i0, whole, k.first + step * depth<T>, tiles[step % buffers]);
    __pipeline_commit();
  };
  for (unsigned step = 0; step < ahead; ++step) copy_step(step);
  Rest<T> rest;
  load<T>(l, i0, j0, j.end, rest);
  Factors<T> even, odd;  // factors of eight columns, and of the next eight columns
  const auto take_step = [&](unsigned step) {
    __pipeline_wait_prior(ahead - 1);
    __syncthreads();
    copy_step(step + ahead);
    load_factors(tiles[step % buffers], 0, even);
  };
  take_step(0);
  for (unsigned step = 0; step < steps; ++step)
#pragma unroll
    for (unsigned k = 8; k < depth<T>; k += 16) {
      load_factors(tiles[step % buffers], k, odd);
      multiply_factors(even, rest);
      if (k + 8 < depth<T>)
        load_factors(tiles[step % buffers], k + 8, even);
      else if (step + 1 < steps)
        take_step(step + 1);
      multiply_factors(odd, rest);
    }
  store(rest, i0, j0, whole - j0, j.end, l);
}

/// Launches `update` in a stream unless the range `j` is empty.
template <typename T>
void launch_update(View<const T, 2> computed, View<T, 2> l, Range k, Range j,
                   Distribution distribution, const Stream& stream) {
  if (j.first >= j.end) return;
  const unsigned rows = ceil_div(l.extent(0) - distribution.whole(j.first), tile);
  const unsigned columns = ceil_div(j.end - j.first, tile);
  const dim3 grid(std::min(columns, strip), rows, ceil_div(columns, strip));
  update<T><<<grid, threads, sizeof(Tiles<T>[buffers]), stream>>>(computed, l, k, j, distribution);
  check_launch();
}
// [update]

// [factorise]
/// Factorises the columns of a panel, 64 at a time.
template <typename T>
void factorise_panel(View<T, 2> l, unsigned first, const Stream& stream) {
  const unsigned n = l.extent(0), end = std::min(first + panel, n);
  for (unsigned k = first; k < end; k += block) {
    factorise_block<T><<<1, dim3(side, side), 0, stream>>>(l, k);
    check_launch();
    if (k + block == n) return;
    solve_below<T><<<(n - k - block) / rows_at_once, dim3(lanes, rows_at_once), 0, stream>>>(l, k);
    check_launch();
    launch_update<T>(l, l, {k, k + block}, {k + block, end}, {0, 1}, stream);
  }
}
// [factorise]

// [GPU]
/// The data of a GPU: the columns of its panels, two buffers for panels (used alternately), and its
/// streams and events.
template <typename T>
struct Gpu {
  Gpu(int device_number, Distribution columns_of_gpu, std::size_t rows,
      staircase::Timeline& timeline)
      : device(device_number),
        distribution(columns_of_gpu),
        l(rows, distribution.from(ceil_div(rows, panel))),
        panel_buffers{DeviceArray<T, 2>(rows, panel), DeviceArray<T, 2>(rows, panel)},
        times(timeline, ", GPU " + std::to_string(device)) {
    staircase::allow_shared_memory(update<T>, sizeof(Tiles<T>[buffers]));
  }
  const int device;
  const Distribution distribution;
  const DeviceArray<T, 2> l, panel_buffers[2];
  const Stream urgent{staircase::Priority::high}, patient{staircase::Priority::low};
  Event computed[2], updated;
  staircase::StreamTimes times;
};
// [GPU]

// [panels]
/// Subtracts the products of the previous panel from a panel of this GPU, and factorises the panel.
template <typename T>
void make_panel(Gpu<T>& gpu, unsigned number) {
  auto& [device, distribution, l, panel_buffers, urgent, patient, computed, updated, times] = gpu;
  const unsigned first = number * panel, own = distribution.from(number), buffer = number % 2;
  const OnDevice here(device);
  times.of("panels", urgent, [&] {
    if (number > 0)
      launch_update<T>(panel_buffers[1 - buffer], l, {0, panel}, {own, own + panel}, distribution,
                       urgent);
    copy_columns<T>(panel, l, own, panel_buffers[buffer], 0, first, urgent);
    factorise_panel<T>({&panel_buffers[buffer](first, 0), {l.extent(0) - first, panel}}, 0, urgent);
    computed[buffer].record(urgent);
    copy_columns<T>(panel, panel_buffers[buffer], 0, l, own, first, urgent);
  });
}

/// Fetches a panel from the GPU that factorised it.
template <typename T>
void fetch_panel(const Gpu<T>& maker, Gpu<T>& gpu, unsigned number) {
  const unsigned first = number * panel, buffer = number % 2;
  const OnDevice here(gpu.device);
  gpu.urgent.wait(maker.computed[buffer]);
  gpu.times.of("fetch", gpu.urgent, [&] {
    const std::size_t bytes = (gpu.l.extent(0) - first) * panel * sizeof(T);
    check(cudaMemcpyPeerAsync(&gpu.panel_buffers[buffer](first, 0), gpu.device,
                              &maker.panel_buffers[buffer](first, 0), maker.device, bytes,
                              gpu.urgent));
  });
  gpu.computed[buffer].record(gpu.urgent);
}

/// Subtracts the products of a panel from the columns of a GPU that lie beyond the next panel.
template <typename T>
void update_rest(Gpu<T>& gpu, unsigned number) {
  auto& [device, distribution, l, panel_buffers, urgent, patient, computed, updated, times] = gpu;
  const Range behind = {distribution.from(number + 2), static_cast<unsigned>(l.extent(1))};
  const OnDevice here(device);
  patient.wait(computed[number % 2]);
  times.of("updates", patient, [&] {
    launch_update<T>(panel_buffers[number % 2], l, {0, panel}, behind, distribution, patient);
  });
  updated.record(patient);
}
// [panels]

// [factorise_all]
/// Factorises panel by panel. While a panel is factorised and fetched, the products of the previous
/// panel are subtracted from later columns.
template <typename T>
void factorise(std::deque<Gpu<T>>& gpus) {
  const unsigned panels = ceil_div(gpus[0].l.extent(0), panel);
  for (unsigned number = 0; number < panels; ++number) {
    for (Gpu<T>& gpu : gpus) {
      gpu.urgent.wait(gpu.updated);
      for (const Gpu<T>& other : gpus) gpu.urgent.wait(other.computed[number % 2]);
    }
    Gpu<T>& maker = gpus[number % gpus.size()];
    make_panel(maker, number);
    for (Gpu<T>& gpu : gpus) {
      if (&gpu != &maker) fetch_panel(maker, gpu, number);
      if (number > 0) update_rest(gpu, number - 1);
    }
  }
}
// [factorise_all]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  std::vector<int> devices = staircase::devices(problem.gpus);
  timeline.begin("allocate");
  staircase::require_capability(9, 0, "FP64 tensor cores for products of 16 × 8 × 8");
  staircase::require_shared_memory(sizeof(Tiles<T>[buffers]));
  const unsigned padded = ceil_div(problem.n, block) * block;
  devices.resize(std::min<std::size_t>(devices.size(), ceil_div(padded, panel)));
  staircase::connect(devices);
  std::deque<Gpu<T>> gpus = gpus_of<Gpu<T>>(devices, padded, timeline);
  Solution<T> l(problem.n, problem.n);

  timeline.begin("copy in");
  std::copy_n(problem.a<T>().data(), problem.n * problem.n, l.data());
  for_each_group(gpus, [&](const Gpu<T>& gpu, unsigned first, unsigned own) {
    copy_columns<T>(panel, l, first, gpu.l, own, first, gpu.urgent);
  });

  timeline.begin("kernels");
  factorise<T>(gpus);
  staircase::synchronise(gpus);

  timeline.begin("copy out");
  for_each_group(gpus, [&](const Gpu<T>& gpu, unsigned first, unsigned own) {
    copy_columns<T>(panel, gpu.l, own, l, first, first, gpu.urgent);
  });
  timeline.end();
  staircase::add_to_timeline(gpus);
  return l;
}
// [solve]

}  // namespace cholesky

int main(int argc, char** argv) {
  return cholesky::run_stage(argc, argv,
                             {
                                 .title = "Multi-GPU",
                                 .idea = "Distribute the panels cyclically to all GPUs",
                                 .needs = "FP64 tensor cores of compute capability 9.0",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
