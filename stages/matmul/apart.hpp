/// \file
/// Panels of f32 taken apart into tiles of tf32, as `wgmma` reads them, and their way to a block
/// that multiplies them.

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
constexpr unsigned rows_of_tile = 128, cols_of_tile = 256;  // of C, for a block
constexpr unsigned deep = 16;                               // numbers of a line in a tile
constexpr unsigned row_bytes = 2 * deep * sizeof(float);    // of both their parts
constexpr unsigned low = row_bytes / 2;                     // where the low ones begin

/// The numbers that a line of a panel takes when it is taken apart, and what that asks for.
inline std::size_t numbers_apart(std::size_t depth) {
  return staircase::pieces(depth, deep) * 2 * deep;
}
inline Line line_apart(std::size_t depth) {
  return {.bytes = numbers_apart(depth) * sizeof(float),
          .bytes_on_the_way = depth * sizeof(float),
          .most_columns = 6144};
}

/// A panel taken apart, in tiles of so many lines, rows of A or columns of B, by 16 numbers of
/// each. A line of a tile is a row of 128 bytes, first the high parts of its numbers, then the low
/// ones, and lies as wgmma wants it. Tiles along k follow each other.
template <unsigned most_lines>
struct Tiles {
  float* numbers;
  std::size_t lines, depth;  // of the panel

  __host__ __device__ unsigned steps() const { return staircase::pieces(depth, deep); }
  __device__ unsigned lines_of(unsigned tile) const {
    return min(most_lines, unsigned(lines) - tile * most_lines);
  }
  __device__ float* operator()(unsigned tile, unsigned step) const {
    return numbers + (std::size_t(tile) * most_lines * steps() + step * lines_of(tile)) * 2 * deep;
  }
};

/// Takes a panel apart: one block per tile, a thread four numbers of a line at a time. Neighbours
/// have neighbouring numbers of a row, and write whole sectors: of A, four threads per line; of
/// B, two.
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
    const auto place = [&](unsigned number) -> uint4& {
      return reinterpret_cast<uint4&>(tile[staircase::place_in_rows(line, 4 * number) / 4]);
    };
    place(m) = make_uint4(x[0].high, x[1].high, x[2].high, x[3].high);
    place(deep + m) = make_uint4(x[0].low, x[1].low, x[2].low, x[3].low);
  }
}

/// Launches it in a stream.
template <unsigned most_lines>
void split(View<const float, 2> panel, Tiles<most_lines> tiles, const staircase::Stream& stream) {
  const dim3 grid(tiles.steps(), staircase::pieces(tiles.lines, most_lines));
  split<<<grid, 256, 0, stream>>>(panel, tiles);
  staircase::check_launch();
}

/// A block for each tile of C.
inline dim3 grid_of(View<float, 2> c) {
  return dim3(staircase::pieces(c.extent(1), cols_of_tile),
              staircase::pieces(c.extent(0), rows_of_tile));
}

/// What a slice takes on the device: its rows of A, its columns of B, and itself.
struct Parts {
  Tiles<rows_of_tile> a;
  Tiles<cols_of_tile> b;
  View<float, 2> c;
};
// [split]

// [pipeline]
constexpr unsigned multipliers = 256;  // threads of two warpgroups; another warp starts the copies
constexpr unsigned buffers = 4;

struct Operands {
  float a[rows_of_tile * 2 * deep], b[cols_of_tile * 2 * deep];
};
using Pipeline = staircase::Pipeline<Operands, buffers>;

/// Makes an empty pipeline of a block's memory, by all its threads.
__device__ inline Pipeline& start(unsigned char* memory) {
  Pipeline& pipeline = *reinterpret_cast<Pipeline*>(memory);
  // Lines behind the last one stay zero: no copy reaches them.
  for (unsigned e = threadIdx.x; e < buffers * sizeof(Operands) / sizeof(uint4); e += blockDim.x)
    reinterpret_cast<uint4*>(pipeline.operands)[e] = {};
  staircase::fence_shared_memory();
  if (threadIdx.x == 0) pipeline.start(multipliers / 32);
  __syncthreads();
  return pipeline;
}

/// Copies the tiles of a block's rows and columns into the pipeline, one after the other, by the
/// first of the threads that do not multiply.
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
/// Adds the sums of a thread to C, or makes them C; loads some numbers before it stores any.
__device__ inline void add_to(View<float, 2> c, const float (&sum)[128], bool is_first) {
  const auto [row, column] = staircase::place_in_warpgroup(threadIdx.x % 128, 0);
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
