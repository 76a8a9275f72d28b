/// \file
/// Copies of a matrix to the device and back, in segments that pass through pinned memory.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <staircase/stream.hpp>
#include <vector>

#include "ata.hpp"

namespace ata {

// [segments]
constexpr unsigned slots = 4;  // maximum number of segments in transit per direction

/// Number of elements of a slot: `columns` columns, but at most 2¹⁹, and at least one row of C.
inline std::size_t slot_size(const Problem& problem, std::size_t columns) {
  const std::size_t rows = problem.rows, cols = problem.cols;
  return std::max(cols, std::min(std::max(rows, cols) * columns, std::size_t{1} << 19));
}

/// A segment: a rectangle of a matrix.
struct Segment {
  std::size_t row, rows, col, cols;
};

/// Splits a rectangle into segments of complete rows that fit in a slot.
inline std::vector<Segment> segments_of(const Segment& all, std::size_t slot_size) {
  std::vector<Segment> segments;
  if (all.cols == 0) return segments;
  const std::size_t rows = slot_size / all.cols;
  for (std::size_t row = 0; row < all.rows; row += rows)
    segments.push_back({all.row + row, std::min(rows, all.rows - row), all.col, all.cols});
  return segments;
}

/// All threads copy a segment within host memory, row by row.
template <typename From, typename To>
void copy_rows(const Segment& segment, From from, To to) {
#pragma omp parallel for
  for (std::size_t r = 0; r < segment.rows; ++r) std::copy_n(from(r), segment.cols, to(r));
}
// [segments]

// [in]
/// Copies a matrix to the device.
class In {
 public:
  In(staircase::View<const double, 2> from, staircase::View<double, 2> to, std::size_t slot_size)
      : from_(from), to_(to), memory_(slots, slot_size) {}

  /// Copies a segment to a slot once the slot is free, and then from the slot to the device.
  void send(const Segment& segment) {
    const std::size_t slot = sent_++ % slots;
    double* const memory = memory_.row(slot).data();
    free_[slot].wait();
    copy_rows(
        segment, [&](std::size_t r) { return &from_(segment.row + r, segment.col); },
        [&](std::size_t r) { return memory + r * segment.cols; });
    const std::size_t bytes = segment.cols * sizeof(double);
    staircase::check(cudaMemcpy2DAsync(&to_(segment.row, segment.col),
                                       to_.extent(1) * sizeof(double), memory, bytes, bytes,
                                       segment.rows, cudaMemcpyHostToDevice, stream_));
    free_[slot].record(stream_);
  }

  const staircase::Stream& stream() const { return stream_; }

 private:
  staircase::View<const double, 2> from_;
  staircase::View<double, 2> to_;
  staircase::Stream stream_;
  staircase::PinnedArray<double, 2> memory_;
  std::array<staircase::Event, slots> free_;
  std::size_t sent_ = 0;
};
// [in]

// [out]
/// Copies a matrix from the device.
class Out {
 public:
  Out(staircase::View<const double, 2> from, staircase::View<double, 2> to, std::size_t slot_size,
      staircase::StreamTimes& times)
      : from_(from), to_(to), times_(times), memory_(slots, slot_size) {}

  /// Adds segments that may be copied after the event `computed`.
  void add(const std::vector<Segment>& segments, const staircase::Event& computed) {
    for (const Segment& segment : segments)
      requests_.push_back({segment, &computed, &segment == &segments.back()});
  }

  /// Starts copies into all free slots, and empties the slots whose copies have finished.
  void advance() {
    fetch();
    while (emptied_ < fetched_ && arrived_[emptied_ % slots].reached()) empty_slot();
  }

  void finish() {
    for (fetch(); emptied_ < fetched_; empty_slot()) arrived_[emptied_ % slots].wait();
  }

 private:
  struct Request {
    Segment segment;
    const staircase::Event* computed;
    bool last;  // whether this is the last segment of a call of add()
  };

  void fetch() {
    for (; fetched_ < requests_.size() && fetched_ < emptied_ + slots; ++fetched_) {
      const auto& [segment, computed, last] = requests_[fetched_];
      const std::size_t slot = fetched_ % slots;
      const std::size_t bytes = segment.cols * sizeof(double);
      stream_.wait(*computed);
      if (fetched_ == 0 || requests_[fetched_ - 1].last) span_ = times_.begin("copy out", stream_);
      staircase::check(cudaMemcpy2DAsync(
          memory_.row(slot).data(), bytes, &from_(segment.row, segment.col),
          from_.extent(1) * sizeof(double), bytes, segment.rows, cudaMemcpyDeviceToHost, stream_));
      arrived_[slot].record(stream_);
      if (last) times_.end(span_, stream_);
    }
  }

  void empty_slot() {
    const Segment& segment = requests_[emptied_].segment;
    const double* const memory = memory_.row(emptied_ % slots).data();
    copy_rows(
        segment, [&](std::size_t r) { return memory + r * segment.cols; },
        [&](std::size_t r) { return &to_(segment.row + r, segment.col); });
    ++emptied_;
    fetch();
  }

  staircase::View<const double, 2> from_;
  staircase::View<double, 2> to_;
  staircase::StreamTimes& times_;
  staircase::Stream stream_;
  staircase::PinnedArray<double, 2> memory_;
  std::array<staircase::Event, slots> arrived_;
  std::vector<Request> requests_;
  std::size_t fetched_ = 0, emptied_ = 0, span_ = 0;
};
// [out]

}  // namespace ata
