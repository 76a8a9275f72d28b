/// \file
/// The tiles of all steps in the order in which blocks draw them, and the flags that tell of them.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cuda/atomic>

#include "advection_distributed.hpp"

namespace advection_distributed {

// [queue]
constexpr unsigned block_size = 256;  // threads of a block, two columns for each
constexpr unsigned most_rows = 8;     // of a tile

/// For whose threads a processor shall have registers.
template <typename T>
constexpr unsigned blocks_of_processor = sizeof(T) == sizeof(double) ? 5 : 6;

using Count = unsigned long long;

/// Some rows of as many columns as a block has threads for, in a step.
struct Tile {
  unsigned step, band, strip;
};

/// How a GPU's rows are cut: height of bands, their number, that of their tiles, and of blocks.
struct Cut {
  unsigned height, bands, strips, blocks;

  __device__ Tile tile(Count number) const {
    const unsigned step = number / (bands * strips), in_step = number % (bands * strips);
    return {step, in_step / strips, in_step % strips};
  }
};

/// Cuts rows into bands, so low that there is a tile for each of so many blocks.
inline Cut cut_of(unsigned rows, std::size_t cols, unsigned blocks) {
  const unsigned strips = staircase::pieces(cols, 2 * block_size);
  const unsigned height = std::clamp(rows * strips / blocks, 1U, most_rows);
  const unsigned bands = staircase::pieces(rows, height);
  return {height, bands, strips, std::min(bands * strips, blocks)};
}
// [queue]

// [flags]
/// What kernels see of a GPU: its rows between two rows of halo, in two arrays that change roles;
/// how many tiles of each band of rows are done, between those of the neighbours' bands; and how
/// many were drawn.
template <typename T>
struct Part {
  staircase::View<T, 3> u;
  staircase::View<Count, 1> done, drawn;
};

using OfGpu = cuda::atomic_ref<Count, cuda::thread_scope_device>;
using OfAll = cuda::atomic_ref<Count, cuda::thread_scope_system>;

/// Waits until so many tiles are done of a band, of the one above and of the one below.
__device__ inline void wait_for_three(staircase::View<Count, 1> done, unsigned band, Count tiles) {
  const unsigned side = threadIdx.x - 32;  // in another warp than the thread that tells
  if (side < 3)
    while (OfAll(done(band + side)).load(cuda::memory_order_acquire) < tiles) continue;
  __syncthreads();
}

/// Counts a tile of a band, which all threads have done. The last one of a band at an edge, which
/// makes so many of them, tells the neighbour, too.
template <typename T>
__device__ void tell(const Part<T>& own, const Part<T>& above, const Part<T>& below, unsigned band,
                     Count tiles) {
  const unsigned last = own.done.extent(0) - 3;
  if (band > 0 && band < last) {
    OfGpu(own.done(band + 1)).fetch_add(1, cuda::memory_order_release);
  } else if (OfAll(own.done(band + 1)).fetch_add(1, cuda::memory_order_acq_rel) + 1 == tiles) {
    const auto store = [&](Count& done) { OfAll(done).store(tiles, cuda::memory_order_release); };
    if (band == 0) store(above.done(above.done.extent(0) - 1));
    if (band == last) store(below.done(0));
  }
}
// [flags]

}  // namespace advection_distributed
