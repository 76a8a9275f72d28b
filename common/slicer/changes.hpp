/// \file
/// The variables that a function may change after their declarations.

#pragma once

#include "callees.hpp"

namespace slicer {

class Changes {
 public:
  Changes(const Source& source, const Callees& callees) : source_(source), callees_(callees) {}

  /// Records all variables that the statements under a cursor may change.
  void note(CXCursor cursor);
  bool has(CXCursor declaration) const;
  /// Whether a pointer or a reference to a variable may exist.
  bool is_addressed(CXCursor declaration) const;

 private:
  void note_name(CXCursor cursor);
  void note_call(CXCursor call, const std::string& name, const Cursors& operands);
  void note_given(CXCursor function, const Cursors& given);
  void note_arguments(const Cursors& operands);
  void note_root(CXCursor cursor);
  void note_all(CXCursor cursor);

  const Source& source_;
  const Callees& callees_;
  Cursors changed_, addressed_;
};

}  // namespace slicer
