/// \file
/// Grids of thread blocks: a thread's place in one, and how many blocks a problem takes.

#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace staircase {

// [threads]
/// A thread's place in a grid of blocks, and the extent of the grid: loops step by it, so that a
/// grid of any size covers any number of points, up to 2^31 in each direction.
__device__ inline unsigned column() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline unsigned columns() { return gridDim.x * blockDim.x; }
__device__ inline unsigned row() { return blockIdx.y * blockDim.y + threadIdx.y; }
__device__ inline unsigned rows() { return gridDim.y * blockDim.y; }
// [threads]

/// So many pieces of a size cover a count.
__host__ __device__ constexpr unsigned pieces(std::size_t count, unsigned size) {
  return (count + size - 1) / size;
}

/// Blocks of `block` for so many columns, rows and layers, as far as a grid may reach.
inline dim3 blocks(dim3 block, std::size_t columns, std::size_t rows = 1, std::size_t layers = 1) {
  constexpr unsigned most = 65535;
  const unsigned y = pieces(rows, block.y), z = pieces(layers, block.z);
  return {pieces(columns, block.x), y < most ? y : most, z < most ? z : most};
}

}  // namespace staircase
