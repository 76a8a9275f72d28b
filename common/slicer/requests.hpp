/// \file
/// The transformations that pragmas ask for.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "directives.hpp"

namespace slicer {

enum class Transformation { interchange, tile, skew, distribute, fuse, expand };

/// A transformation of the loops behind a pragma.
struct Request {
  Transformation what;
  std::string text;  ///< as it is written
  int line;
  std::vector<std::string> names;  ///< loops, or the variable to expand
  std::vector<long> numbers;       ///< the lengths of tiles, or how much a loop is skewed

  /// Whether it changes the order of the iterations of loops one in another.
  bool reorders() const {
    return what == Transformation::interchange || what == Transformation::tile ||
           what == Transformation::skew;
  }
};

/// \throws BadInput, which names the line and the request
[[noreturn]] void refuse(const Request& request, const std::string& why);

/// What is asked for of the loops of a file, by the place where the outermost begins, in order.
using Requests = std::map<unsigned, std::vector<Request>>;

/// Pragmas that ask for slices are left out.
/// \throws BadInput if a transformation is unknown, its arguments are not what it needs, or some
/// cannot be asked for together
Requests read_requests(const std::vector<Directive>& directives);

}  // namespace slicer
