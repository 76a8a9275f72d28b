/// \file
/// The order in which the iterations of loops one in another run.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "requests.hpp"
#include "space.hpp"

namespace slicer {

/// A time for each iteration, a row of numbers that are compared one after the other: at first the
/// counters of the loops, from the outermost to the innermost.
class Schedule {
 public:
  explicit Schedule(std::vector<const Loop*> band);

  /// Takes up an interchange, a skewing or a tiling. Tiles may begin anywhere; their lengths are
  /// differences of counters.
  /// \throws BadInput if tiles are asked for of loops that are not next to each other
  void apply(const Request& request);

  /// The pairs of iterations of which the first runs before the second by the loops as they are
  /// written, and behind it by this schedule.
  isl::set reversed(const Space& space) const;

 private:
  /// A whole multiple of each loop's counter, added up; and how many values count as one.
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
