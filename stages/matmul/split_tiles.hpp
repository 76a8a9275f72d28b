/// \file
/// Panels of f32 that are split into tiles of tf32 in the layout of `wgmma`, and the pipeline that
/// copies these tiles to a thread block.

#pragma once

#include <cstddef>
#include <staircase/factor.hpp>
#include <staircase/pipeline.hpp>
#include <staircase/stream.hpp>
#include <staircase/wgmma.hpp>

#include "matmul.hpp"

namespace matmul {

using staircase::View;

// [split]
constexpr unsigned rows_of_tile = 128, cols_of_tile = 256;  // tile of C per thread block
constexpr unsigned deep = 16;                               // elements of a line in a tile
constexpr unsigned row_bytes = 2 * deep * sizeof(float);    // bytes of a line: high and low parts
constexpr unsigned low = row_bytes / 2;                     // byte at which the low parts begin

/// Number of elements of a line of a split panel, and the device memory for such a line, in bytes.
inline std::size_t split_elements(std::size_t depth) {
  return staircase::ceil_div(depth, deep) * 2 * deep;
}
inline Line split_line(std::size_t depth) {
  return {.bytes = split_elements(depth) * sizeof(float),
          .bytes_in_transit = depth * sizeof(float),
          .most_columns = 6144};
}

/// A split panel, in tiles of at most `most_lines` lines (rows of A or columns of B) with 16
/// elements each. A line of a tile is a row of 128 bytes: first the high parts of its elements,
/// then the low parts, in the order that wgmma requires. Tiles along k are contiguous.
template <unsigned most_lines>
struct Tiles {
  float* numbers;
  std::size_t lines, depth;  // lines of the panel, and elements of a line

  __host__ __device__ unsigned steps() const { return staircase::ceil_div(depth, deep); }
  __device__ unsigned lines_of(unsigned tile) const {
    return min(most_lines, unsigned(lines) - tile * most_lines);
  }
  __device__ float* operator()(unsigned tile, unsigned step) const {
    return numbers + (std::size_t(tile) * most_lines * steps() + step * lines_of(tile)) * 2 * deep;
  }
};

/// Splits a panel. One thread block splits one tile, and a thread splits four elements of a line at
/// a time. Neighbouring threads have neighbouring elements of a row, and their stores are fully
/// coalesced: four threads share a line of A, and two share a line of B.
template <unsigned most_lines>
__global__ void split(View<const float, 2> panel, Tiles<most_lines> tiles) {
  constexpr bool is_a = most_lines == rows_of_tile;
  const unsigned lines = tiles.lines_of(blockIdx.y), first = blockIdx.y * most_lines;
  float* const tile = tiles(blockIdx.y, blockIdx.x);
  for (unsigned e = threadIdx.x; e < lines * deep / 4; e += blockDim.x) {
    const unsigned line = is_a ? e / 4 : e / 2 % lines;
    const unsigned m = 4 * (is_a ? e % 4 : e % 2 + e / (2 * lines) * 2);
    staircase::Factor<float> x[4];
    for (unsigned d = 0; d < 4; ++d) {
      const unsigned i = first + line, k = blockIdx.x * deep + m + d;
      x[d] = staircase::factor(k >= tiles.depth ? 0 : is_a ? panel(i, k) : panel(k, i));
    }
    const auto slot = [&](unsigned number) -> uint4& {
      return reinterpret_cast<uint4&>(tile[staircase::swizzled_offset(line, 4 * number) / 4]);
    };
    slot(m) = make_uint4(x[0].high, x[1].high, x[2].high, x[3].high);
    slot(deep + m) = make_uint4(x[0].low, x[1].low, x[2].low, x[3].low);
  }
}

/// Launches the kernel `split` in a stream.
template <unsigned most_lines>
void split(View<const float, 2> panel, Tiles<most_lines> tiles, const staircase::Stream& stream) {
  const dim3 grid(tiles.steps(), staircase::ceil_div(tiles.lines, most_lines));
  split<<<grid, 256, 0, stream>>>(panel, tiles);
  staircase::check_launch();
}

/// Returns a grid with one thread block for each tile of C.
inline dim3 grid_of(View<float, 2> c) {
  return dim3(staircase::ceil_div(c.extent(1), cols_of_tile),
              staircase::ceil_div(c.extent(0), rows_of_tile));
}

/// The matrices of a slice on the device: its rows of A, columns of B, and part of C.
struct Parts {
  Tiles<rows_of_tile> a;
  Tiles<cols_of_tile> b;
  View<float, 2> c;
};
// [split]

// [pipeline]
constexpr unsigned multipliers = 256;  // threads of two warpgroups; another warp starts copies
constexpr unsigned buffers = 4;

struct Operands {
  float a[rows_of_tile * 2 * deep], b[cols_of_tile * 2 * deep];
};
using Pipeline = staircase::Pipeline<Operands, buffers>;

/// Creates an empty pipeline in a thread block's shared memory. All threads call this function.
__device__ inline Pipeline& start(unsigned char* memory) {
  Pipeline& pipeline = *reinterpret_cast<Pipeline*>(memory);
  // Lines after the last one stay zero, because no copy reaches them.
  for (unsigned e = threadIdx.x; e < buffers * sizeof(Operands) / sizeof(uint4); e += blockDim.x)
    reinterpret_cast<uint4*>(pipeline.operands)[e] = {};
  staircase::fence_shared_memory();
  if (threadIdx.x == 0) pipeline.start(multipliers / 32);
  __syncthreads();
  return pipeline;
}

/// Copies the tiles of the thread block's rows and columns into the pipeline, one after the other.
/// Only the first thread that does not multiply starts copies.
__device__ inline void feed(Pipeline& pipeline, const Parts& slice) {
  if (threadIdx.x != multipliers) return;
  const unsigned of_a = row_bytes * slice.a.lines_of(blockIdx.y);
  const unsigned of_b = row_bytes * slice.b.lines_of(blockIdx.x);
  for (unsigned k = 0; k < slice.a.steps(); ++k) {
    Operands& to = pipeline.fill(k, of_a + of_b);
    auto& full = pipeline.full[k % buffers];
    staircase::bulk_copy(to.a, slice.a(blockIdx.y, k), of_a, full);
    staircase::bulk_copy(to.b, slice.b(blockIdx.x, k), of_b, full);
  }
}
// [pipeline]

// [add]
/// Adds a thread's sums to C, or stores them if `is_first`; loads 16 elements before it stores any.
__device__ inline void add_to(View<float, 2> c, const float (&sum)[128], bool is_first) {
  const auto [row, column] = staircase::position_in_warpgroup(threadIdx.x % 128, 0);
  const unsigned i0 = blockIdx.y * rows_of_tile + threadIdx.x / 128 * 64 + row;
  const unsigned j0 = blockIdx.x * cols_of_tile + column;
  const unsigned left = j0 < c.extent(1) ? c.extent(1) - j0 : 0;
  constexpr unsigned at_once = 16;
#pragma unroll
  for (unsigned h = 0; h < 2; ++h) {
    if (i0 + 8 * h >= c.extent(0)) return;
    float* const to = c.data() + (i0 + 8 * h) * c.extent(1) + j0;
#pragma unroll
    for (unsigned j = 0; j < cols_of_tile; j += at_once * 4) {
      float before[at_once] = {};
#pragma unroll
      for (unsigned n = 0; n < at_once; ++n)
        if (const unsigned at = j + n / 2 * 8 + n % 2; !is_first && at < left) before[n] = to[at];
#pragma unroll
      for (unsigned n = 0; n < at_once; ++n)
        if (const unsigned at = j + n / 2 * 8 + n % 2; at < left)
          to[at] = before[n] + sum[at / 8 * 4 + 2 * h + n % 2];
    }
  }
}
// [add]

}  // namespace matmul
