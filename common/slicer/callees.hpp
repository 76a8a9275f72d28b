/// \file
/// Which function a call is of, and whether it can be followed.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "syntax.hpp"

namespace slicer {

/// Whether something is a function of a namespace, or a template of one.
bool is_function(CXCursor cursor);
/// Whether libclang names a function that it has made of a template, besides the template itself.
bool is_instance(CXCursor function);
std::string callee_name(CXCursor callee);

/// The functions of a source, and of the project's headers that it includes.
class Callees {
 public:
  using Named = std::map<std::string, Cursors>;

  explicit Callees(const Source& source);

  /// The one function that a call with so many arguments is of, or what they are called if there
  /// may be several. Within a template, one that is declared elsewhere may be found as well.
  CXCursor declaration_of(CXCursor callee, std::size_t arguments) const;
  /// Whether a function of the standard library only computes.
  bool is_pure(CXCursor callee, const std::string& name) const;
  /// The definition of what is called, if it can be followed.
  std::optional<CXCursor> definition_of(CXCursor callee, std::size_t arguments) const;

 private:
  const Source& source_;
  Named named_;
};

}  // namespace slicer
