/// \file
/// Columns of a matrix that are dealt to several GPUs, and their ways there and back.

#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <staircase/devices.hpp>
#include <type_traits>
#include <vector>

#include "cholesky.hpp"

namespace cholesky {

// [deal]
/// Which columns a GPU has: so many neighbours, every so many of which are its own.
template <unsigned width>
struct Dealt {
  unsigned gpu, gpus;
  static constexpr unsigned neighbours = width;

  /// The column of the whole matrix that is its column `own`.
  __host__ __device__ unsigned whole(unsigned own) const {
    return (own / width * gpus + gpu) * width + own % width;
  }

  /// The first of its columns that is among those `number` times the width and behind.
  unsigned from(unsigned number) const { return (number + gpus - 1 - gpu) / gpus * width; }

  /// Tiles of its columns from the diagonal down, of a matrix of so many rows of them.
  unsigned count_below(unsigned tiles) const {
    unsigned count = 0;
    for (unsigned j = gpu; j < tiles; j += gpus) count += tiles - j;
    return count;
  }
};
// [deal]

/// Copies so many columns, or those that both matrices have, from row `first` down.
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

/// What each of these devices has, which is told its number, its columns, and whatever else.
template <typename Gpu, typename... Arguments>
std::deque<Gpu> gpus_of(const std::vector<int>& devices, Arguments&... arguments) {
  using Deal = std::remove_const_t<decltype(Gpu::deal)>;
  const unsigned count = devices.size();
  std::deque<Gpu> gpus;
  for (unsigned g = 0; g < count; ++g) {
    const staircase::OnDevice here(devices[g]);
    gpus.emplace_back(devices[g], Deal{g, count}, arguments...);
  }
  return gpus;
}

/// Calls copy(gpu, first, own) for all neighbours among the columns of each GPU, which begin with
/// column `first` of the matrix and column `own` of the GPU, and waits.
template <typename Gpus, typename Copy>
void for_each_dealt(const Gpus& gpus, Copy copy) {
  for (const auto& gpu : gpus) {
    const staircase::OnDevice here(gpu.device);
    for (unsigned own = 0; own < gpu.l.extent(1); own += gpu.deal.neighbours)
      copy(gpu, gpu.deal.whole(own), own);
    staircase::check(cudaDeviceSynchronize());
  }
}

}  // namespace cholesky
