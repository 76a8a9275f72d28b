/// \file
/// The function that a call invokes, and whether the tool can read its body.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "syntax.hpp"

namespace slicer {

/// Whether a cursor is a function or a function template, but not a method of a class.
bool is_function(CXCursor cursor);
/// Whether a function is an instance that libclang has created from a template.
bool is_instance(CXCursor function);
std::string callee_name(CXCursor callee);

/// The functions of a source, and of the project's headers that it includes.
class Callees {
 public:
  using Named = std::map<std::string, Cursors>;

  explicit Callees(const Source& source);

  /// The function that a call with the given number of arguments invokes. If several functions
  /// accept this number, the result is the reference to the overload set. In a template, all
  /// functions of the project with this name are candidates.
  CXCursor declaration_of(CXCursor callee, std::size_t arguments) const;
  /// Whether a function of the standard library or of OpenMP only computes a value, without side
  /// effects.
  bool is_pure(CXCursor callee, const std::string& name) const;
  /// The definition of the called function, if the tool can read its body.
  std::optional<CXCursor> definition_of(CXCursor callee, std::size_t arguments) const;
  /// The definition of a method, if the method is not virtual and the tool can read its body.
  std::optional<CXCursor> method_of(CXCursor method) const;
  /// The default argument of a parameter.
  Cursors default_of(CXCursor function, std::size_t parameter) const;

 private:
  /// Whether the tool can read the body of a function.
  bool can_follow(CXCursor function) const;

  const Source& source_;
  Named named_;
};

}  // namespace slicer
