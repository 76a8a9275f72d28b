/// \file
/// The ways of a matrix to the device and back, in pieces that pass through pinned memory.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <staircase/stream.hpp>
#include <vector>

#include "ata.hpp"

namespace ata {

// [pieces]
constexpr unsigned slots = 4;  // room for pieces on their way, each way

/// The numbers of a slot: 4 MB of them, what a strip of so many columns has at most, or a row of C.
inline std::size_t slot_size(const Problem& problem, std::size_t columns) {
  const std::size_t rows = problem.rows, cols = problem.cols;
  return std::max(cols, std::min(std::max(rows, cols) * columns, std::size_t{1} << 19));
}

/// A rectangle of a matrix.
struct Piece {
  std::size_t row, rows, col, cols;
};

/// Cuts a rectangle into pieces of whole rows that fit a slot.
inline std::vector<Piece> pieces_of(const Piece& all, std::size_t slot_size) {
  std::vector<Piece> pieces;
  if (all.cols == 0) return pieces;
  const std::size_t rows = slot_size / all.cols;
  for (std::size_t row = 0; row < all.rows; row += rows)
    pieces.push_back({all.row + row, std::min(rows, all.rows - row), all.col, all.cols});
  return pieces;
}

/// Copies a piece from one place in the host's memory to another, row by row.
template <typename From, typename To>
void copy_rows(const Piece& piece, From from, To to) {
#pragma omp parallel for
  for (std::size_t r = 0; r < piece.rows; ++r) std::copy_n(from(r), piece.cols, to(r));
}
// [pieces]

// [in]
/// The way of a matrix into the memory of the device.
class In {
 public:
  In(staircase::View<const double, 2> from, staircase::View<double, 2> to, std::size_t slot_size)
      : from_(from), to_(to), memory_(slots, slot_size) {}

  /// Copies a piece to a slot, as soon as the piece before has left it, and on in the stream.
  void send(const Piece& piece) {
    const std::size_t slot = sent_++ % slots;
    double* const memory = memory_.row(slot).data();
    left_[slot].wait();
    copy_rows(
        piece, [&](std::size_t r) { return &from_(piece.row + r, piece.col); },
        [&](std::size_t r) { return memory + r * piece.cols; });
    const std::size_t bytes = piece.cols * sizeof(double);
    staircase::check(cudaMemcpy2DAsync(&to_(piece.row, piece.col), to_.extent(1) * sizeof(double),
                                       memory, bytes, bytes, piece.rows, cudaMemcpyHostToDevice,
                                       stream_));
    left_[slot].record(stream_);
  }

  const staircase::Stream& stream() const { return stream_; }

 private:
  staircase::View<const double, 2> from_;
  staircase::View<double, 2> to_;
  staircase::Stream stream_;
  staircase::PinnedArray<double, 2> memory_;
  std::array<staircase::Event, slots> left_;
  std::size_t sent_ = 0;
};
// [in]

// [out]
/// The way of a matrix out of it.
class Out {
 public:
  Out(staircase::View<const double, 2> from, staircase::View<double, 2> to, std::size_t slot_size,
      staircase::StreamTimes& times)
      : from_(from), to_(to), times_(times), memory_(slots, slot_size) {}

  /// Pieces that may leave as soon as the kernels have come to a point.
  void add(const std::vector<Piece>& pieces, const staircase::Event& computed) {
    for (const Piece& piece : pieces)
      requests_.push_back({piece, &computed, &piece == &pieces.back()});
  }

  /// Lets the stream fetch as many pieces as there are slots, and takes those that have come.
  void go_on() {
    fetch();
    while (taken_ < fetched_ && come_[taken_ % slots].reached()) take();
  }

  void finish() {
    for (fetch(); taken_ < fetched_; take()) come_[taken_ % slots].wait();
  }

 private:
  struct Request {
    Piece piece;
    const staircase::Event* computed;
    bool last;  // of those that were added together
  };

  void fetch() {
    for (; fetched_ < requests_.size() && fetched_ < taken_ + slots; ++fetched_) {
      const auto& [piece, computed, last] = requests_[fetched_];
      const std::size_t slot = fetched_ % slots;
      const std::size_t bytes = piece.cols * sizeof(double);
      stream_.wait(*computed);
      if (fetched_ == 0 || requests_[fetched_ - 1].last) span_ = times_.begin("copy out", stream_);
      staircase::check(cudaMemcpy2DAsync(
          memory_.row(slot).data(), bytes, &from_(piece.row, piece.col),
          from_.extent(1) * sizeof(double), bytes, piece.rows, cudaMemcpyDeviceToHost, stream_));
      come_[slot].record(stream_);
      if (last) times_.end(span_, stream_);
    }
  }

  void take() {
    const Piece& piece = requests_[taken_].piece;
    const double* const memory = memory_.row(taken_ % slots).data();
    copy_rows(
        piece, [&](std::size_t r) { return memory + r * piece.cols; },
        [&](std::size_t r) { return &to_(piece.row + r, piece.col); });
    ++taken_;
    fetch();
  }

  staircase::View<const double, 2> from_;
  staircase::View<double, 2> to_;
  staircase::StreamTimes& times_;
  staircase::Stream stream_;
  staircase::PinnedArray<double, 2> memory_;
  std::array<staircase::Event, slots> come_;
  std::vector<Request> requests_;
  std::size_t fetched_ = 0, taken_ = 0, span_ = 0;
};
// [out]

}  // namespace ata
