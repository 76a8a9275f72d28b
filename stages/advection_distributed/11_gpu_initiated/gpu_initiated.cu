/// \file
/// From:    09_peer_copies
/// Changed: one launch per GPU does all steps. A block has a band of rows; it waits for flags of
///          the two beside it, stores edges into the neighbours' halos itself, and raises its own.
///          The update is the one of advection 13.
/// Legal:   a flag is raised behind all that it tells of, and lets a band be one step ahead of
///          those beside it, so that two arrays are enough; all blocks run at the same time.
/// Expect:  a step costs what its cells cost, since no step is launched, copied or waited for.
/// Run:     ./climb advection_distributed --stages 09,11

#include "../advection_distributed.hpp"

#include <algorithm>
#include <array>
#include <cuda/atomic>
#include <deque>
#include <staircase/cooperative.hpp>
#include <staircase/devices.hpp>
#include <utility>
#include <vector>

namespace advection_distributed {

using advection::Pair;
using staircase::check;
using staircase::DeviceArray;
using staircase::OnDevice;
using staircase::View;

// [update]
constexpr unsigned block_size = 256;         // threads of a block, two columns for each
constexpr unsigned ahead = 2;                // rows that are loaded before any of them is used
constexpr unsigned blocks_of_processor = 4;  // for whose threads there shall be registers

/// Where a step goes: to a GPU's array, and its edges to the halos of the neighbours, too.
template <typename T>
struct Target {
  View<T, 2> own, above, below;

  /// Puts two neighbours into a row.
  __device__ void store(int i, int j, int second, Pair<T> cells) const {
    advection::store(&own(i, j), second, cells);
    if (i == 1) advection::store(&above(above.extent(0) - 1, j), second, cells);
    if (i + 2 == int(own.extent(0))) advection::store(&below(0, j), second, cells);
  }
};

/// The weighted sums of two cells and their neighbours in a row, which lie so far from the first.
template <typename T>
__device__ Pair<T> row_sums(const Weights<T>& w, const T* cell, int left, int second, int right) {
  const auto [a, b] = advection::load(cell, second);
  return {w.x[0] * cell[left] + w.x[1] * a + w.x[2] * b,
          w.x[0] * a + w.x[1] * b + w.x[2] * cell[right]};
}

/// A step of some rows of two columns: each cell becomes the weighted sum of its nine neighbours,
/// in another array. A thread goes down with the sums of three rows.
template <typename T>
__device__ void update(const Weights<T>& w, Share rows, int j, View<const T, 2> u,
                       const Target<T>& next) {
  const int cols = u.extent(1), top = rows.begin, bottom = rows.end;
  const int left = j > 0 ? -1 : cols - 1, second = j + 1 < cols ? 1 : 1 - cols;
  const int right = j + 2 < cols ? 2 : (j + 2) % cols - j;
  Pair<T> above = row_sums(w, &u(top - 1, j), left, second, right);
  Pair<T> here = row_sums(w, &u(top, j), left, second, right);
  for (int i0 = top; i0 < bottom; i0 += ahead) {
    Pair<T> below[ahead];
#pragma unroll
    for (unsigned r = 0; r < ahead; ++r) {
      const int i = i0 + int(r) + 1;
      below[r] = row_sums(w, &u(i < bottom ? i : bottom, j), left, second, right);
    }
#pragma unroll
    for (unsigned r = 0; r < ahead; ++r) {
      if (i0 + int(r) < bottom) {
        const T a = w.y[0] * above.a + w.y[1] * here.a + w.y[2] * below[r].a;
        const T b = w.y[0] * above.b + w.y[1] * here.b + w.y[2] * below[r].b;
        next.store(i0 + int(r), j, second, {a, b});
      }
      above = here;
      here = below[r];
    }
  }
}
// [update]

// [flags]
/// What kernels see of a GPU: its rows between two rows of halo, in two arrays that change roles,
/// and the steps that each band of rows has done, between those of the neighbours' bands.
template <typename T>
struct Part {
  View<T, 3> u;
  View<unsigned, 1> done;
};

using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;

/// Waits until the bands above and below a band have done so many steps.
__device__ inline void wait_for_both(View<unsigned, 1> done, unsigned band, unsigned steps) {
  if (threadIdx.x == 0)
    for (const unsigned side : {band, band + 2})
      while (Flag(done(side)).load(cuda::memory_order_acquire) < steps) continue;
  __syncthreads();
}

/// Tells them that the band has done so many, of which all threads have done their part.
__device__ inline void tell(unsigned& done, unsigned steps) {
  Flag(done).store(steps, cuda::memory_order_release);
}
// [flags]

// [advance]
/// All steps of a GPU's rows. A block has a band of them.
template <typename T>
__global__ void __launch_bounds__(block_size, blocks_of_processor)
    advance(Weights<T> w, unsigned steps, Part<T> own, Part<T> above, Part<T> below) {
  const std::size_t rows = own.u.extent(1) - 2, cols = own.u.extent(2);
  const unsigned band = blockIdx.x, bands = gridDim.x;
  const Share of_band{1 + rows * band / bands, 1 + rows * (band + 1) / bands};
  for (unsigned s = 0; s < steps; ++s) {
    const unsigned to = (s + 1) % 2;
    wait_for_both(own.done, band, s);
    for (unsigned j = 2 * threadIdx.x; j < cols; j += 2 * block_size)
      update<T>(w, of_band, j, own.u.row(s % 2), {own.u.row(to), above.u.row(to), below.u.row(to)});
    __syncthreads();
    if (threadIdx.x > 0) continue;
    tell(own.done(band + 1), s + 1);
    if (band == 0) tell(above.done(above.done.extent(0) - 1), s + 1);
    if (band + 1 == bands) tell(below.done(0), s + 1);
  }
}
// [advance]

// [Gpu]
/// The rows of a GPU, and a band of them for each block that it runs at the same time.
template <typename T>
struct Gpu {
  Gpu(int number, Share own, std::size_t cols)
      : device(number),
        first(own.begin),
        rows(static_cast<unsigned>(own.end - own.begin)),
        bands(std::min(rows, staircase::blocks_at_once(advance<T>, block_size))),
        u(2, rows + 2, cols),
        done(bands + 2) {
    done.clear(nullptr);
  }
  std::size_t bytes() const { return rows * u.extent(2) * sizeof(T); }
  Part<T> part() const { return {u, done}; }

  int device;
  std::size_t first;
  unsigned rows, bands;
  DeviceArray<T, 3> u;
  DeviceArray<unsigned, 1> done;
};

/// Deals the rows of a field to GPUs.
template <typename T>
std::deque<Gpu<T>> deal(View<const double, 2> field, const std::vector<int>& devices) {
  const std::size_t rows = field.extent(0), count = devices.size();
  staircase::connect_ring(devices);
  std::deque<Gpu<T>> gpus;
  for (std::size_t g = 0; g < count; ++g) {
    const OnDevice here(devices[g]);
    gpus.emplace_back(devices[g], Share{rows * g / count, rows * (g + 1) / count}, field.extent(1));
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
    const std::size_t rows = field.extent(0), cols = field.extent(1);
    for (const auto [row, from, count] :
         {std::array<std::size_t, 3>{0, (gpu.first + rows - 1) % rows, 1},
          {1, gpu.first, gpu.rows},
          {gpu.rows + 1, (gpu.first + gpu.rows) % rows, 1}})
      check(cudaMemcpy(&gpu.u(0, row, 0), &rounded[from * cols], count * cols * sizeof(T),
                       cudaMemcpyHostToDevice));
  }
  synchronise(gpus);
  timeline.begin("kernels");
  const auto w = weights_of<T>(problem);
  const auto steps = static_cast<unsigned>(problem.steps);
  for (std::size_t g = 0, count = gpus.size(); g < count; ++g) {
    const Gpu<T>&gpu = gpus[g], &above = gpus[(g + count - 1) % count],
          &below = gpus[(g + 1) % count];
    const OnDevice here(gpu.device);
    staircase::launch_cooperatively(advance<T>, gpu.bands, block_size, w, steps, gpu.part(),
                                    above.part(), below.part());
  }
  synchronise(gpus);
  timeline.begin("copy out");
  for (const Gpu<T>& gpu : gpus)
    check(cudaMemcpy(&field(gpu.first, 0), &gpu.u(problem.steps % 2, 1, 0), gpu.bytes(),
                     cudaMemcpyDeviceToHost));
  return field;
}
// [solve]

}  // namespace advection_distributed

int main(int argc, char** argv) {
  using advection_distributed::Division;
  return advection_distributed::run_stage(argc, argv, Division::none,
                                          {
                                              .title = "GPU-initiated",
                                              .idea = "Kernels store edges and raise flags",
                                              .solve_f64 = advection_distributed::solve<double>,
                                              .solve_f32 = advection_distributed::solve<float>,
                                          });
}
