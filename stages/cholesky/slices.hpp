/// \file
/// How wide the slices of a matrix are that a GPU has no room for, where they lie on it, and their
/// ways to it and back.

#pragma once

#include <algorithm>
#include <cstddef>
#include <staircase/error.hpp>
#include <staircase/stream.hpp>
#include <string>

#include "panels.hpp"

namespace cholesky {

// [widths]
/// Columns of a slice, of a piece that comes again, rows of the first slice, and columns of the
/// narrowest.
struct Sizes {
  std::size_t slice, piece, rows, least;

  /// Rows of what begins so many slices below, but those of the narrowest at least.
  std::size_t below(std::size_t slices) const {
    return std::max(rows, slices * slice + least) - slices * slice;
  }

  /// Numbers of two slices and two pieces.
  std::size_t numbers() const { return slice * (rows + below(1)) + 2 * piece * below(2); }
};

/// The widest that the budget has room for, of whole panels, or blocks if there is none. Rows of a
/// piece are as long as the bus likes them.
template <typename T>
Sizes sizes_of(const Problem& problem, std::size_t block, std::size_t panel) {
  constexpr std::size_t liked = 8192 / sizeof(T);
  const std::size_t most = 32 * panel;
  const std::size_t rows = staircase::pieces(problem.n, block) * block;
  const auto sizes = [&](std::size_t slice) {
    return Sizes{slice, std::min(slice, liked), rows, block};
  };
  const auto bytes = [&](std::size_t slice) -> double {
    return sizes(slice).numbers() * sizeof(T);
  };
  std::size_t slice = std::min(most, rows);
  if (problem.budget == 0) return sizes(slice);
  if (problem.budget < bytes(block))
    throw staircase::NotEnoughMemory(
        "the budget is " + std::to_string(static_cast<std::size_t>(problem.budget)) +
        " bytes; two slices and two pieces of " + std::to_string(block) + " columns take " +
        std::to_string(static_cast<std::size_t>(bytes(block))));
  while (problem.budget < bytes(slice))
    slice = slice > panel ? (slice - 1) / panel * panel : slice - block;
  return sizes(slice);
}
// [widths]

// [room]
/// Room for two slices and for two pieces, which take turns.
template <typename T>
class Room {
 public:
  explicit Room(const Sizes& sizes)
      : sizes_(sizes),
        slices_{staircase::DeviceArray<T, 1>(sizes.slice * sizes.rows),
                staircase::DeviceArray<T, 1>(sizes.slice * sizes.below(1))},
        pieces_(2, sizes.piece * sizes.below(2)) {}

  /// The slice that begins on the diagonal in row `top`.
  staircase::View<T, 2> slice(std::size_t top) const {
    const std::size_t rows = sizes_.rows - top;
    return {slices_[top / sizes_.slice % 2].data(), {rows, std::min(sizes_.slice, rows)}};
  }

  /// A piece of the rows from `top` on.
  staircase::View<T, 2> piece(std::size_t turn, std::size_t top, std::size_t columns) const {
    return {&pieces_(turn, 0), {sizes_.rows - top, columns}};
  }

 private:
  const Sizes sizes_;
  const staircase::DeviceArray<T, 1> slices_[2];
  const staircase::DeviceArray<T, 2> pieces_;
};

/// All columns of a matrix.
template <typename T>
Range all(staircase::View<T, 2> l) {
  return {0, static_cast<unsigned>(l.extent(1))};
}
// [room]

// [transfer]
/// Copies columns from `first` on, in those rows from `top` on that the host's matrix has.
template <typename T>
void send(staircase::View<T, 2> host, std::size_t top, std::size_t first,
          staircase::View<T, 2> device, const staircase::Stream& stream) {
  const std::size_t n = host.extent(0), pitch = device.extent(1);
  staircase::check(cudaMemcpy2DAsync(device.data(), pitch * sizeof(T), &host(top, first),
                                     n * sizeof(T), std::min(pitch, n - first) * sizeof(T), n - top,
                                     cudaMemcpyHostToDevice, stream));
}

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
