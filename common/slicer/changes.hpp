/// \file
/// The variables that a function may change after their declarations.

#pragma once

#include "callees.hpp"

namespace slicer {

/// The variables that a function may change. A variable is unchanged only if each of its uses is
/// known to leave it unchanged.
class Changes {
 public:
  Changes(const Source& source, const Callees& callees) : source_(source), callees_(callees) {}

  /// Records all variables that the statements under a cursor may change.
  void note(CXCursor cursor);
  bool has(CXCursor declaration) const;
  /// Whether a pointer or a reference to a variable may exist.
  bool is_addressed(CXCursor declaration) const;
  /// Whether the function may change a member of the object `*this`.
  bool has_this() const { return changes_this_; }

 private:
  /// How an expression is used: for its value, as the target of an assignment, or as a name through
  /// which later code may change the variable.
  enum class Use { value, target, name };

  void note(CXCursor cursor, Use use);
  void note_parts(CXCursor cursor, Use use);
  void note_root(CXCursor cursor, Use use);
  void note_declaration(CXCursor declaration);
  void note_binary(CXCursor cursor, Use use);
  void note_unary(CXCursor cursor, Use use);
  void note_member(CXCursor cursor, Use use);
  void note_call(CXCursor call, Use use);
  void note_given(CXCursor function, const Cursors& given);
  void note_this(Use use);

  const Source& source_;
  const Callees& callees_;
  Cursors changed_, addressed_;
  bool changes_this_ = false;
};

}  // namespace slicer
