/// \file
/// The slicer's own pragmas: `#pragma staircase slice(i: 3, j: 5) buffers(2)`.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "source.hpp"

namespace slicer {

/// A name, and what stands behind it in parentheses.
struct Clause {
  std::string name;
  std::string text;                    ///< all that is in the parentheses
  std::vector<std::string> arguments;  ///< the same, cut at commas that are in no others
};

/// A pragma: `what` says what is to be done, and `clauses` how.
struct Directive {
  int line = 0;
  std::string text;  ///< the whole of it, on one line
  Clause what;
  std::vector<Clause> clauses;
  Range range{};           ///< where it is written, without the end of its line
  unsigned statement = 0;  ///< where the statement begins that it is about; the file's end if none

  /// The clause of a name, or nullptr.
  const Clause* clause(std::string_view name) const;
};

/// The pragmas of a file that begin with `staircase`, in their order. What they ask for is not
/// looked at, only how they are written.
/// \throws BadInput if one is malformed
std::vector<Directive> read_directives(const Source& source);

}  // namespace slicer
