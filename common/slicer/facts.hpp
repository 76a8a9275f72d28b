/// \file Statements of the file that contradict the assumption that different names denote
/// different memory.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "syntax.hpp"

namespace slicer {

/// Finds where a pointer or a view is set to memory that may have another name.
class Facts {
 public:
  explicit Facts(const Source& source);

  /// The line at which a member or a global variable is set to memory that may have another name.
  std::optional<int> reseated(CXCursor declaration) const;

  /// The line of a call that passes the same memory for two parameters of a function.
  std::optional<int> overlap(CXCursor function, std::size_t parameter, std::size_t other) const;
  /// The line of a call that passes a global variable for a parameter.
  std::optional<int> overlap(CXCursor function, std::size_t parameter, CXCursor global) const;
  /// The line of a call of a template with arguments that are not numbers.
  std::optional<int> made_for_others(CXCursor function) const;

 private:
  /// The declaration and the members through which an expression refers to memory.
  struct Root {
    CXCursor declaration;
    std::vector<std::string> members;
  };
  struct Call {
    CXCursor function;
    std::vector<std::optional<Root>> arguments;
    bool is_of_numbers;
    int line;
  };

  void read(CXCursor cursor);
  void read_constructor(CXCursor constructor);
  void read_assignment(CXCursor target, CXCursor made_with);
  void read_call(CXCursor call);
  void read_members(CXCursor made, CXType type, const Cursors& made_with);
  void reseat(CXCursor declaration, int line);
  /// Records that the pointer and view members of a type may refer to other memory after a line.
  void reseat_members(CXType type, int line);
  /// Records that a pointer or a view may be set to other memory in a way that the tool does not
  /// follow.
  void reseat_named(CXCursor name);
  std::optional<Root> root_of(CXCursor cursor) const;

  const Source& source_;
  std::vector<std::pair<CXCursor, int>> reseated_;
  std::vector<Call> calls_;
  bool makes_apart_ = false;  ///< within a call that assigns new memory
};

/// Whether an expression is null or returns memory without another name (new, malloc() and
/// similar).
bool makes_memory(CXCursor expression);

/// The first declaration of a function, or the template of which it is an instance.
CXCursor pattern_of(CXCursor function);

}  // namespace slicer
