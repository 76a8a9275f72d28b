/// \file
/// Transposed copies of the systems of a warp to shared memory and back, and the number of warps
/// per block.

#pragma once

#include <cuda_pipeline.h>

#include <algorithm>

#include "durbin_levinson_batched.hpp"

namespace durbin_levinson_batched {

// [move]
constexpr unsigned warp = 32;
constexpr unsigned pitch = warp + 1;  // length of a row; columns and diagonals then use all banks
constexpr unsigned kept = 16;         // reflection coefficients that are written together

/// Elements with the same index, one of each system of a warp.
template <typename T>
using Row = T[pitch];

/// The order n rounded up to a multiple of `kept`; zeros pad the systems to this order.
__host__ __device__ constexpr unsigned filled(unsigned n) { return (n + kept - 1) / kept * kept; }

/// The position of a lane while its warp visits all elements of consecutive rows of `width`
/// columns.
struct Walk {
  __device__ explicit Walk(unsigned columns)
      : width(columns), row(threadIdx.x / columns), column(threadIdx.x % columns) {}

  __device__ void step() {
    row += warp / width;
    column += warp % width;
    if (column < width) return;
    column -= width;
    ++row;
  }

  unsigned width, row, column;
};

/// The number of systems of a warp whose first system is s0; 0 if s0 is beyond the last system.
__device__ unsigned systems_from(unsigned s0, std::size_t systems) {
  return s0 < systems ? min(std::size_t{warp}, systems - s0) : 0;
}

/// Copies r_1 ... r_n of a warp's systems: r_(m+1) of system s0 + s becomes tile[m][s]. Elements of
/// missing systems, and of rows beyond n, are set to 0.
template <typename T>
__device__ void fetch(staircase::View<const T, 2> r, unsigned s0, Row<T>* tile) {
  const unsigned n = r.extent(1) - 1;
  const unsigned systems = systems_from(s0, r.extent(0));
  const T* from = &r(s0, 1);
  for (Walk at(n); at.row < systems; at.step())
    __pipeline_memcpy_async(&tile[at.column][at.row], from + at.row * (n + 1) + at.column,
                            sizeof(T));
  __pipeline_commit();
  for (unsigned m = threadIdx.x < systems ? n : 0; m < filled(n); ++m) tile[m][threadIdx.x] = 0;
  __pipeline_wait_prior(0);
  __syncwarp();
}

/// Writes rows of a tile, transposed, to row `row` of the solutions, beginning at index i0.
template <typename T>
__device__ void write(const Row<T>* tile, unsigned rows, unsigned s0, unsigned row, unsigned i0,
                      staircase::View<T, 3> solution) {
  const unsigned n = solution.extent(2);
  const unsigned systems = systems_from(s0, solution.extent(0));
  T* to = &solution(s0, row, i0);
  __syncwarp();
  for (Walk at(rows); at.row < systems; at.step())
    to[at.row * 2 * n + at.column] = tile[at.column][at.row];
  __syncwarp();
}

/// Writes the buffered reflection coefficients to row 1 of the solution, beginning at index `done`.
template <typename T>
__device__ void write_kept(const Row<T>* alphas, unsigned done, unsigned s0,
                           staircase::View<T, 3> solution) {
  const unsigned n = solution.extent(2);
  write<T>(alphas, min(kept, n - done), s0, 1, done, solution);
}

/// Writes y from the registers of the lanes to row 0 of the solution, transposed through a tile.
template <typename T, unsigned order>
__device__ void write_all(const T (&y)[order], Row<T>* tile, unsigned s0,
                          staircase::View<T, 3> solution) {
  const unsigned n = solution.extent(2);
#pragma unroll
  for (unsigned i = 0; i < order; ++i)
    if (i / kept * kept < n) tile[i][threadIdx.x] = y[i];
  write<T>(tile, n, s0, 0, 0, solution);
}
// [move]

// [teams]
/// `team`: warps per block, which stay synchronised; blocks have fewer warps if there are few
/// systems. `resident`: blocks per SM; the compiler limits the registers accordingly.
template <typename T>
constexpr unsigned team = sizeof(T) == 8 ? 4 : 8;
constexpr unsigned resident = 2;

/// The number of rows of a warp in shared memory: for r, and for buffered reflection coefficients.
__host__ __device__ constexpr unsigned rows_for(unsigned n) { return filled(n) + kept; }

/// The number of blocks, the warps of each block, and its shared memory in bytes.
struct Teams {
  unsigned blocks, warps;
  std::size_t bytes;
};

/// The launch configuration for `systems` systems of order n, with one thread per system. Also
/// allows the kernel to use the necessary amount of shared memory.
template <typename T, typename Kernel>
Teams teams_for(Kernel kernel, unsigned systems, unsigned n) {
  const unsigned warps = (systems - 1) / warp + 1;
  const std::size_t bytes_of_warp = rows_for(n) * sizeof(Row<T>);
  const unsigned that_fit = shared_memory() / bytes_of_warp;
  const unsigned concurrent =
      std::clamp(std::min(warps / staircase::processors(), that_fit), 1u, team<T>);
  const std::size_t bytes = concurrent * bytes_of_warp;
  staircase::allow_shared_memory(kernel, bytes);
  return {(warps - 1) / concurrent + 1, concurrent, bytes};
}
// [teams]

}  // namespace durbin_levinson_batched
