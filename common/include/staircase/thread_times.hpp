/// \file
/// Measures intervals of work on the threads of an OpenMP team; the intervals of two threads can
/// overlap.

#pragma once

#include <omp.h>

#include <cstddef>
#include <string>
#include <vector>

#include "timeline.hpp"

namespace staircase {

namespace detail {

/// An interval of work on a thread, in seconds since the creation of the timeline.
struct ThreadSpan {
  const char* name;
  double begin, end;
};

/// The intervals of one thread. The alignment to two cache lines (128 bytes) avoids false sharing,
/// because processors prefetch pairs of lines.
struct alignas(128) ThreadSpans {
  std::vector<ThreadSpan> spans;
};

}  // namespace detail

/// Measures, for a timeline, intervals of work on the threads of an OpenMP team.
class ThreadTimes {
 public:
  explicit ThreadTimes(Timeline& timeline) : timeline_(timeline), of_(omp_get_max_threads()) {}

  /// Calls work() and measures its duration on the calling thread. `name` must outlive this object.
  template <typename Work>
  void of(const char* name, Work work) {
    const double begin = timeline_.now();
    work();
    of_[omp_get_thread_num()].spans.push_back({name, begin, timeline_.now()});
  }

  /// Adds the intervals to the timeline as "NAME, thread 1"; all threads must have finished. If
  /// there are more than 500 intervals, the function adds none, because a diagram could not show so
  /// many.
  void add_to_timeline() {
    constexpr std::size_t most = 500;
    std::size_t count = 0;
    for (const detail::ThreadSpans& thread : of_) count += thread.spans.size();
    for (std::size_t t = 0; t < of_.size() && count <= most; ++t)
      for (const auto& [name, begin, end] : of_[t].spans)
        timeline_.add_overlapping((name + (", thread " + std::to_string(t))).c_str(), begin, end);
  }

 private:
  Timeline& timeline_;
  std::vector<detail::ThreadSpans> of_;
};

}  // namespace staircase
