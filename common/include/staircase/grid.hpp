/// \file
/// Grids of thread blocks: the index of a thread in the grid, and the number of blocks for a
/// problem.

#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace staircase {

// [threads]
/// The column and row of a thread in the grid, and the numbers of columns and rows of threads. A
/// grid-stride loop increases its index by columns() or rows(). A grid of any size therefore covers
/// any number of points, up to 2^31 in each direction.
__device__ inline unsigned column() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline unsigned columns() { return gridDim.x * blockDim.x; }
__device__ inline unsigned row() { return blockIdx.y * blockDim.y + threadIdx.y; }
__device__ inline unsigned rows() { return gridDim.y * blockDim.y; }
// [threads]

/// The number of segments of `size` elements that cover `count` elements: count / size, rounded up.
__host__ __device__ constexpr unsigned ceil_div(std::size_t count, unsigned size) {
  return (count + size - 1) / size;
}

/// The grid of thread blocks of shape `block` for the given numbers of columns (x), rows (y) and
/// layers (z). Along y and z, the grid has at most 65535 blocks, the limit of CUDA. A kernel covers
/// the remaining rows and layers by grid-stride loops.
inline dim3 blocks(dim3 block, std::size_t columns, std::size_t rows = 1, std::size_t layers = 1) {
  constexpr unsigned most = 65535;
  const unsigned y = ceil_div(rows, block.y), z = ceil_div(layers, block.z);
  return {ceil_div(columns, block.x), y < most ? y : most, z < most ? z : most};
}

}  // namespace staircase
