/// \file
/// The queue of the tiles of all steps, and the counters that publish finished tiles.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cuda/atomic>

#include "advection_distributed.hpp"

namespace advection_distributed {

// [queue]
constexpr unsigned block_size = 256;  // threads of a block, two columns per thread
constexpr unsigned most_rows = 8;     // rows of a tile

/// Number of thread blocks for which the registers of an SM must suffice.
template <typename T>
constexpr unsigned blocks_per_sm = std::min(sizeof(T) == sizeof(double) ? 5u : 6u,
                                            staircase::resident_threads / block_size);

using Count = unsigned long long;

/// A tile: the rows of a band and the columns of a strip in one step. A thread updates two columns.
struct Tile {
  unsigned step, band, strip;
};

/// The tiling of the rows of a GPU: height of a band, number of bands, tiles per band, and number
/// of thread blocks.
struct Cut {
  unsigned height, bands, strips, blocks;

  __device__ Tile tile(Count number) const {
    const unsigned step = number / (bands * strips), within_step = number % (bands * strips);
    return {step, within_step / strips, within_step % strips};
  }
};

/// Divides rows into bands of `most_rows` rows, or fewer if thread blocks would otherwise be idle.
inline Cut cut_of(unsigned rows, std::size_t cols, unsigned blocks) {
  const unsigned strips = staircase::ceil_div(cols, 2 * block_size);
  const unsigned height = std::clamp(rows * strips / blocks, 1U, most_rows);
  const unsigned bands = staircase::ceil_div(rows, height);
  return {height, bands, strips, std::min(bands * strips, blocks)};
}
// [queue]

// [flags]
/// The data of a GPU that kernels access: its rows between two halo rows, in two arrays (`u`), and
/// the number of claimed tiles (`claimed`). `done` counts the finished tiles of the band above, of
/// each own band, and of the band below. The tiles of the first and of the last own band are first
/// counted in `at_edges`; `done` receives these counts when a step of the band is finished.
template <typename T>
struct Part {
  staircase::View<T, 3> u;
  staircase::View<Count, 1> done, at_edges, claimed;
};

using OfGpu = cuda::atomic_ref<Count, cuda::thread_scope_device>;
using OfAll = cuda::atomic_ref<Count, cuda::thread_scope_system>;

/// Waits until at least `tiles` tiles of a band, of the band above and of the band below are
/// finished.
__device__ inline void wait_for_three(staircase::View<Count, 1> done, unsigned band, Count tiles) {
  const unsigned side = threadIdx.x - 32;  // thread 0 counts tiles, so another warp waits
  if (side < 3)
    while (OfAll(done(band + side)).load(cuda::memory_order_acquire) < tiles) continue;
  __syncthreads();
}

/// Publishes a tile of `band` that all threads have finished. If the band is at an edge and now has
/// `tiles` finished tiles, first stores this number in the neighbour's memory. The next step of the
/// band begins after this store, so the neighbour receives the numbers in ascending order.
template <typename T>
__device__ void publish(const Part<T>& own, const Part<T>& above, const Part<T>& below,
                        unsigned band, Count tiles) {
  const unsigned last = own.done.extent(0) - 3;
  if (band > 0 && band < last) {
    OfGpu(own.done(band + 1)).fetch_add(1, cuda::memory_order_release);
  } else if (OfAll(own.at_edges(band > 0)).fetch_add(1, cuda::memory_order_acq_rel) + 1 == tiles) {
    const auto store = [&](Count& done) { OfAll(done).store(tiles, cuda::memory_order_release); };
    if (band == 0) store(above.done(above.done.extent(0) - 1));
    if (band == last) store(below.done(0));
    store(own.done(band + 1));
  }
}
// [flags]

}  // namespace advection_distributed
