/// \file
/// A nest of loops as it runs for some sizes: its points, and what each reads and writes.

#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "elements.hpp"

namespace slicer {

using Point = std::vector<long>;  ///< counters, from the outermost loop inwards

/// A statement of a loop's body, and the iterations in which it touches memory.
struct StatementPoints {
  int line = 0;
  std::vector<const Loop*> loops;  ///< around it, from the outermost inwards
  std::set<Point> points;
};

/// A place in memory. One that is declared within the nest is another one in each iteration of
/// the loops around it, whose counters are `own`.
struct Cell {
  const Variable* variable = nullptr;
  std::string name;
  Point own, element;
  auto operator<=>(const Cell&) const = default;
};

/// A cell that is read or written.
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
  std::vector<Event> events;  ///< in the order in which they happen
  std::map<const Loop*, std::pair<long, long>>
      extents;  ///< from the first counter to behind the last
};

/// A size that the user chooses.
struct Given {
  long value = 0;
  bool is_used = false;
};

/// Runs a nest by the sets of its iterations, for sizes that are given by name, or else are 5.
/// \param given if a name is a size of the nest, `is_used` is set
/// \throws BadInput if something of the nest is beyond affine, or if it has too many points
Instance instance_of(const Function& function, const Loop& nest,
                     std::map<std::string, Given>& given);

}  // namespace slicer
