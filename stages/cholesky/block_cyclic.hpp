/// \file
/// Columns of a matrix that are distributed cyclically over several GPUs, and their transfers.

#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <staircase/devices.hpp>
#include <type_traits>
#include <vector>

#include "cholesky.hpp"

namespace cholesky {

// [distribute]
/// The columns of a GPU. Groups of `width` adjacent columns are distributed cyclically: this GPU
/// has all groups whose index is `gpu` modulo `gpus`.
template <unsigned width>
struct BlockCyclic {
  unsigned gpu, gpus;
  static constexpr unsigned neighbours = width;

  /// The column of the whole matrix that is column `own` of this GPU.
  __host__ __device__ unsigned whole(unsigned own) const {
    return (own / width * gpus + gpu) * width + own % width;
  }

  /// The first column of this GPU that belongs to group `number` of the whole matrix or to a later
  /// group.
  unsigned from(unsigned number) const { return (number + gpus - 1 - gpu) / gpus * width; }

  /// Number of tiles on and below the diagonal in the columns of this GPU, if the matrix has
  /// `tiles` rows of tiles.
  unsigned count_below(unsigned tiles) const {
    unsigned count = 0;
    for (unsigned j = gpu; j < tiles; j += gpus) count += tiles - j;
    return count;
  }
};
// [distribute]

/// Copies up to `most` columns, from row `first` downwards, as far as both matrices contain them.
template <typename T>
void copy_columns(std::size_t most, staircase::View<const T, 2> from, std::size_t from_column,
                  staircase::View<T, 2> to, std::size_t to_column, std::size_t first,
                  cudaStream_t stream) {
  const std::size_t rows = std::min(from.extent(0), to.extent(0)) - first;
  const std::size_t columns =
      std::min({most, from.extent(1) - from_column, to.extent(1) - to_column});
  staircase::check(cudaMemcpy2DAsync(&to(first, to_column), to.extent(1) * sizeof(T),
                                     &from(first, from_column), from.extent(1) * sizeof(T),
                                     columns * sizeof(T), rows, cudaMemcpyDefault, stream));
}

/// Creates the data of each device from the device's index, its columns, and further arguments.
template <typename Gpu, typename... Arguments>
std::deque<Gpu> gpus_of(const std::vector<int>& devices, Arguments&... arguments) {
  using Distribution = std::remove_const_t<decltype(Gpu::distribution)>;
  const unsigned count = devices.size();
  std::deque<Gpu> gpus;
  for (unsigned g = 0; g < count; ++g) {
    const staircase::OnDevice here(devices[g]);
    gpus.emplace_back(devices[g], Distribution{g, count}, arguments...);
  }
  return gpus;
}

/// Calls copy(gpu, first, own) for each group of adjacent columns of each GPU, and waits for the
/// copies. A group begins with column `first` of the matrix, which is column `own` of the GPU.
template <typename Gpus, typename Copy>
void for_each_group(const Gpus& gpus, Copy copy) {
  for (const auto& gpu : gpus) {
    const staircase::OnDevice here(gpu.device);
    for (unsigned own = 0; own < gpu.l.extent(1); own += gpu.distribution.neighbours)
      copy(gpu, gpu.distribution.whole(own), own);
    staircase::check(cudaDeviceSynchronize());
  }
}

}  // namespace cholesky
