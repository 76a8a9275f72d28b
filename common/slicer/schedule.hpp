/// \file
/// Schedules: the order in which the iterations of nested loops run.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "requests.hpp"
#include "space.hpp"

namespace slicer {

/// Maps each iteration to a time, a sequence of integers in lexicographic order. Initially, the
/// time consists of the loop counters, outermost first.
class Schedule {
 public:
  explicit Schedule(std::vector<const Loop*> band);

  /// Applies an interchange, a skewing or a tiling. The first tile may begin at any value of a
  /// counter. The length of a tile is a difference between two values, not a number of iterations.
  /// \throws BadInput if a tiling names loops that are not adjacent
  void apply(const Request& request);

  /// The pairs of iterations whose order differs: the first one runs before the second one in the
  /// original loops, and after it in this schedule.
  isl::set reversed(const Space& space) const;

 private:
  /// An integer combination of the counters. In a tiling, `length` consecutive values of this
  /// combination count as one value.
  struct Time {
    std::size_t loop;
    std::vector<long> sum;
    long length = 1;
  };

  std::size_t find(const std::string& name) const;
  void interchange(const Request& request);
  void skew(const Request& request);
  void tile(const Request& request);
  static isl::set backward(const Space& space, const std::vector<const Loop*>& band,
                           const std::vector<Time>& times, int sign);

  std::vector<const Loop*> band_;
  std::vector<Time> written_, times_;
};

}  // namespace slicer
