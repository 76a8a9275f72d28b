/// \file
/// The transformations that pragmas request.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "directives.hpp"

namespace slicer {

enum class Transformation { interchange, tile, skew, distribute, fuse, expand };

/// A transformation of the loops after a pragma.
struct Request {
  Transformation what;
  std::string text;  ///< the request as written in the source
  int line;
  std::vector<std::string> names;  ///< the loops, or the variable to expand
  std::vector<long> numbers;       ///< the lengths of tiles, or the factor of a skewing

  /// Whether the transformation changes the schedule of nested loops.
  bool reorders() const {
    return what == Transformation::interchange || what == Transformation::tile ||
           what == Transformation::skew;
  }
};

/// \throws BadInput, which names the line and the request
[[noreturn]] void refuse(const Request& request, const std::string& why);

/// The requests in a file. The key is the position at which the outermost loop begins.
using Requests = std::map<unsigned, std::vector<Request>>;

/// Reads all requests except requests for slices.
/// \throws BadInput if a transformation is unknown, has wrong arguments, or cannot be combined with
/// another transformation
Requests read_requests(const std::vector<Directive>& directives);

}  // namespace slicer
