/// \file
/// A loop nest for given sizes: its iterations, and the elements that each iteration reads and
/// writes.

#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "elements.hpp"

namespace slicer {

using Point = std::vector<long>;  ///< counters, from the outermost loop inwards

/// A statement of a loop's body, and the iterations in which it accesses memory.
struct StatementPoints {
  int line = 0;
  std::vector<const Loop*> loops;  ///< the loops around the statement, outermost first
  std::set<Point> points;
};

/// A memory location. A variable that is declared within the nest has one location per iteration of
/// the loops around its declaration; `own` contains the counters of these loops.
struct Cell {
  const Variable* variable = nullptr;
  std::string name;
  Point own, element;
  auto operator<=>(const Cell&) const = default;
};

/// One read or write of a cell.
struct Event {
  const Access* access = nullptr;
  std::size_t statement = 0;
  Point point;
  Cell cell;
};

/// \see the function `instance_of`
struct Instance {
  std::map<std::string, long> sizes;
  std::vector<StatementPoints> statements;
  std::vector<Event> events;  ///< in the order of execution
  std::map<const Loop*, std::pair<long, long>>
      extents;  ///< first value of the counter, and its exclusive end
};

/// A size from the command line.
struct Given {
  long value = 0;
  bool is_used = false;
};

/// Lists all accesses of a nest from its iteration domains. Sizes that `given` does not contain are
/// set to 5.
/// \param given sizes by name; `is_used` is set for each size that occurs in the nest
/// \throws BadInput if the nest is not affine or has too many iterations
Instance instance_of(const Function& function, const Loop& nest,
                     std::map<std::string, Given>& given);

}  // namespace slicer
