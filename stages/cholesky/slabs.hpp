/// \file
/// The slabs of a matrix that does not fit on a GPU: their widths, their buffers on the GPU, and
/// their transfers. A slab is a group of adjacent columns. A segment is a narrower group of columns
/// of an earlier slab, which is copied to the GPU again so that its products can be subtracted.

#pragma once

#include <algorithm>
#include <cstddef>
#include <staircase/error.hpp>
#include <staircase/stream.hpp>
#include <string>

#include "panels.hpp"

namespace cholesky {

// [widths]
/// The sizes of slabs: columns of a slab and of a segment, rows of the first slab, and columns of
/// the narrowest slab.
struct Sizes {
  std::size_t slab, segment, rows, least;

  /// Number of rows of a slab that begins in row `slices` * `slab` of the matrix; at least `least`,
  /// the rows of the narrowest slab.
  std::size_t below(std::size_t slices) const {
    return std::max(rows, slices * slab + least) - slices * slab;
  }

  /// Number of elements of two slabs and two segments.
  std::size_t numbers() const { return slab * (rows + below(1)) + 2 * segment * below(2); }
};

/// Returns the sizes of the widest slabs that fit into the budget: whole panels, or groups of
/// `block` columns if no whole panel fits. A row of a segment has at most 8192 bytes, which suffice
/// for efficient transfers through PCIe.
template <typename T>
Sizes sizes_of(const Problem& problem, std::size_t block, std::size_t panel) {
  constexpr std::size_t preferred = 8192 / sizeof(T);
  const std::size_t most = 32 * panel;
  const std::size_t rows = staircase::ceil_div(problem.n, block) * block;
  const auto sizes = [&](std::size_t slab) {
    return Sizes{slab, std::min(slab, preferred), rows, block};
  };
  const auto bytes = [&](std::size_t slab) -> double { return sizes(slab).numbers() * sizeof(T); };
  std::size_t slab = std::min(most, rows);
  if (problem.budget == 0) return sizes(slab);
  if (problem.budget < bytes(block))
    throw staircase::NotEnoughMemory(
        "the budget is " + std::to_string(static_cast<std::size_t>(problem.budget)) +
        " bytes; two slabs and two segments of " + std::to_string(block) + " columns take " +
        std::to_string(static_cast<std::size_t>(bytes(block))));
  while (problem.budget < bytes(slab))
    slab = slab > panel ? (slab - 1) / panel * panel : slab - block;
  return sizes(slab);
}
// [widths]

// [storage]
/// Two buffers for slabs and two for segments, which are used alternately.
template <typename T>
class Storage {
 public:
  explicit Storage(const Sizes& sizes)
      : sizes_(sizes),
        slabs_{staircase::DeviceArray<T, 1>(sizes.slab * sizes.rows),
               staircase::DeviceArray<T, 1>(sizes.slab * sizes.below(1))},
        segments_(2, sizes.segment * sizes.below(2)) {}

  /// The buffer of the slab that begins on the diagonal in row `top`.
  staircase::View<T, 2> slab(std::size_t top) const {
    const std::size_t rows = sizes_.rows - top;
    return {slabs_[top / sizes_.slab % 2].data(), {rows, std::min(sizes_.slab, rows)}};
  }

  /// A buffer for a segment whose rows begin at `top`.
  staircase::View<T, 2> segment(std::size_t buffer, std::size_t top, std::size_t columns) const {
    return {&segments_(buffer, 0), {sizes_.rows - top, columns}};
  }

 private:
  const Sizes sizes_;
  const staircase::DeviceArray<T, 1> slabs_[2];
  const staircase::DeviceArray<T, 2> segments_;
};

/// The range of all columns of a matrix.
template <typename T>
Range all(staircase::View<T, 2> l) {
  return {0, static_cast<unsigned>(l.extent(1))};
}
// [storage]

// [transfer]
/// Copies columns of the host's matrix, beginning at column `first` and row `top`, to the device.
template <typename T>
void send(staircase::View<T, 2> host, std::size_t top, std::size_t first,
          staircase::View<T, 2> device, const staircase::Stream& stream) {
  const std::size_t n = host.extent(0), pitch = device.extent(1);
  staircase::check(cudaMemcpy2DAsync(device.data(), pitch * sizeof(T), &host(top, first),
                                     n * sizeof(T), std::min(pitch, n - first) * sizeof(T), n - top,
                                     cudaMemcpyHostToDevice, stream));
}

/// Copies columns from the device to the host's matrix, where they begin at column `first` and row
/// `top`.
template <typename T>
void fetch(staircase::View<T, 2> device, staircase::View<T, 2> host, std::size_t top,
           std::size_t first, const staircase::Stream& stream) {
  const std::size_t n = host.extent(0), pitch = device.extent(1);
  staircase::check(cudaMemcpy2DAsync(&host(top, first), n * sizeof(T), device.data(),
                                     pitch * sizeof(T), std::min(pitch, n - first) * sizeof(T),
                                     n - top, cudaMemcpyDeviceToHost, stream));
}
// [transfer]

}  // namespace cholesky
