/// \file
/// The times of what threads of a team do beside each other.

#pragma once

#include <omp.h>

#include <cstddef>
#include <string>
#include <vector>

#include "timeline.hpp"

namespace staircase {

namespace detail {

/// A span of a thread, in seconds since the timeline was made.
struct ThreadSpan {
  const char* name;
  double begin, end;
};

/// The spans of a thread: two lines of the cache, since processors fetch lines by pairs.
struct alignas(128) ThreadSpans {
  std::vector<ThreadSpan> spans;
};

}  // namespace detail

/// Takes the times of what the threads of an OpenMP team do, for a timeline.
class ThreadTimes {
 public:
  explicit ThreadTimes(Timeline& timeline) : timeline_(timeline), of_(omp_get_max_threads()) {}

  /// Times what `work` does on the thread that calls; the name must outlive the times.
  template <typename Work>
  void of(const char* name, Work work) {
    const double begin = timeline_.now();
    work();
    of_[omp_get_thread_num()].spans.push_back({name, begin, timeline_.now()});
  }

  /// Hands the spans over to the timeline, when all threads are done: "NAME, thread 1". If they are
  /// more than anybody looks at, none are.
  void hand_over() {
    constexpr std::size_t most = 500;
    std::size_t count = 0;
    for (const detail::ThreadSpans& thread : of_) count += thread.spans.size();
    for (std::size_t t = 0; t < of_.size() && count <= most; ++t)
      for (const auto& [name, begin, end] : of_[t].spans)
        timeline_.add_beside((name + (", thread " + std::to_string(t))).c_str(), begin, end);
  }

 private:
  Timeline& timeline_;
  std::vector<detail::ThreadSpans> of_;
};

}  // namespace staircase
