/// \file
/// The slicer's own pragmas: `#pragma staircase slice(i: 3, j: 5) buffers(2)`.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "source.hpp"

namespace slicer {

/// A name and its arguments in parentheses.
struct Clause {
  std::string name;
  std::string text;                    ///< the text between the parentheses
  std::vector<std::string> arguments;  ///< `text`, divided at its outer commas
};

/// A pragma: `what` is the request, and `clauses` are its options.
struct Directive {
  int line = 0;
  std::string text;  ///< the entire pragma on one line
  Clause what;
  std::vector<Clause> clauses;
  Range range{};           ///< the range of the pragma, without the end of the line
  unsigned statement = 0;  ///< start of the next statement, or the end of the file

  /// The clause with this name; nullptr if there is none.
  const Clause* clause(std::string_view name) const;
};

/// The pragmas of a file that begin with `staircase`, in order. The function checks only their
/// syntax, not whether the requests are possible.
/// \throws BadInput if a pragma is malformed
std::vector<Directive> read_directives(const Source& source);

}  // namespace slicer
