#include "requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>
#include <staircase/error.hpp>

namespace slicer {

void refuse(const Request& request, const std::string& why) {
  throw staircase::BadInput(fmt::format("line {}: `{}` {}", request.line, request.text, why));
}

namespace {

/// The name of a transformation, and an example of its syntax.
struct Wording {
  Transformation what;
  const char *name, *example;
};

constexpr Wording wordings[] = {
    {Transformation::interchange, "interchange", "interchange(i, j)"},
    {Transformation::tile, "tile", "tile(i: 32, j: 32)"},
    {Transformation::skew, "skew", "skew(j: 2 * i)"},
    {Transformation::distribute, "distribute", "distribute"},
    {Transformation::fuse, "fuse", "fuse"},
    {Transformation::expand, "expand", "expand(x)"},
};

const Wording& wording_of(const Clause& clause, const Directive& directive) {
  for (const Wording& wording : wordings)
    if (clause.name == wording.name) return wording;
  throw staircase::BadInput(
      fmt::format("line {}: the pragma `{}` asks for `{}`; there are slice, interchange, tile, "
                  "skew, distribute, fuse and expand",
                  directive.line, directive.text, clause.name));
}

/// Reads one argument of a request. Returns false if the argument does not have the required form.
bool read_argument(Request& request, const std::string& text) {
  static const std::regex name(R"(\s*([A-Za-z_]\w*)\s*)"),
      length(R"(\s*([A-Za-z_]\w*)\s*:\s*0*([1-9]\d{0,5})\s*)"),
      shear(R"(\s*([A-Za-z_]\w*)\s*:\s*(-?)\s*(?:(\d{1,6})\s*\*\s*)?([A-Za-z_]\w*)\s*)");
  std::smatch found;
  switch (request.what) {
    case Transformation::interchange:
    case Transformation::expand:
      if (!std::regex_match(text, found, name)) return false;
      request.names.push_back(found[1]);
      return true;
    case Transformation::tile:
      if (!std::regex_match(text, found, length)) return false;
      request.names.push_back(found[1]);
      request.numbers.push_back(std::stol(found[2]));
      return true;
    case Transformation::skew:
      if (!std::regex_match(text, found, shear)) return false;
      request.names = {found[1], found[4]};
      request.numbers = {(found[2].length() ? -1 : 1) *
                         (found[3].matched ? std::stol(found[3]) : 1)};
      return true;
    default:
      return false;
  }
}

Request read_request(const Clause& clause, const Directive& directive) {
  const Wording& wording = wording_of(clause, directive);
  const std::string given = clause.text.empty() ? "" : "(" + clause.text + ")";
  Request request{wording.what, clause.name + given, directive.line, {}, {}};
  const auto wants = [&] {
    refuse(request, fmt::format("should look like `{}`", wording.example));
  };
  for (const std::string& argument : clause.arguments)
    if (!read_argument(request, argument)) wants();
  const std::size_t count = clause.arguments.size();
  const bool is_whole =
      wording.what == Transformation::interchange                                      ? count == 2
      : wording.what == Transformation::tile                                           ? count > 0
      : wording.what == Transformation::skew || wording.what == Transformation::expand ? count == 1
                                                                                       : count == 0;
  if (!is_whole) wants();
  if (std::set(request.names.begin(), request.names.end()).size() < request.names.size())
    refuse(request, "names a loop twice");
  return request;
}

/// Checks that no two requests change the same loops in ways that the tool cannot judge together.
void check_together(const std::vector<Request>& requests) {
  const Request* other = nullptr;
  for (const Request& request : requests) {
    if (request.what == Transformation::expand) continue;
    if (other && !(other->reorders() && request.reorders()))
      refuse(request,
             fmt::format("follows `{}`, but the two cannot be judged together", other->text));
    if (other && other->what == Transformation::tile)
      refuse(request, fmt::format("follows `{}`, which has to be the last", other->text));
    other = &request;
  }
}

}  // namespace

Requests read_requests(const std::vector<Directive>& directives) {
  Requests requests;
  for (const Directive& directive : directives) {
    if (directive.what.name == "slice") continue;
    std::vector<Request>& all = requests[directive.statement];
    all.push_back(read_request(directive.what, directive));
    for (const Clause& clause : directive.clauses) all.push_back(read_request(clause, directive));
  }
  for (const auto& [place, all] : requests) check_together(all);
  return requests;
}

}  // namespace slicer
