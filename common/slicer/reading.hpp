/// \file
/// The class that reads one function. It also reads the functions that this function calls in the
/// same file and in headers of the project. reader.cpp and the files of its parts implement it.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "changes.hpp"
#include "nest.hpp"
#include "terms.hpp"

namespace slicer {

class Reader {
 public:
  Reader(const Source& source, const Callees& callees, Function& function)
      : source_(source), callees_(callees), function_(function), changes_(source, callees) {}

  void read(CXCursor function, CXCursor body);

 private:
  // --- Frames, troubles and variables: variables.cpp

  Frame* enter();
  void enter_if(Term condition);
  /// The innermost loop that is read.
  Loop* loop() const;
  void trouble(CXCursor cursor, const std::string& reason);
  /// The line in the file itself. For code in a header, this is the line of the call.
  int line(CXCursor cursor) const;
  void trouble_with(CXCursor cursor, const std::string& what);
  Variable* add(std::string name);
  /// Adds the variable of a declaration, with the properties of its type.
  Variable* declare(CXCursor declaration);
  Variable* declare_parameter(CXCursor declaration);
  /// The variable that a name refers to. A variable without a declaration in the read code is
  /// global.
  Variable* find(CXCursor declaration);
  /// Whether a variable is `threadprivate`.
  bool is_of_thread(const std::string& name) const;
  Variable* this_object();
  /// A constant quantity of a location, such as the extent of an array.
  Variable* quantity(const Place& of, const std::string& name, bool is_natural);
  /// A term with its present value, for later use.
  Term frozen(Term term);
  Place frozen(Place place);
  /// Sets the initial value of a variable, or the location that a pointer or reference names.
  void bind(Variable& variable, CXType type, const Cursors& made_with, bool is_parameter = false);

  // --- Places, and accesses to them: places.cpp

  /// The location that an expression names, if any. Records the reads in its subscripts.
  std::optional<Place> place(CXCursor cursor);
  std::optional<Place> named(CXCursor cursor);
  std::optional<Place> member(CXCursor cursor);
  std::optional<Place> element(CXCursor base, const Cursors& subscripts, bool in_call);
  /// Records that two rows may share elements, unless a type owns the elements.
  void mind_rows(Place& of, CXCursor base);
  /// An element of the form a(i, j), a row, or a view of an entire array.
  std::optional<Place> called_place(CXCursor cursor);
  void access(CXCursor cursor, const Place& place, bool is_write, Update update = Update::none);
  /// Records a read of a location, and returns its value if it is an integer that can be followed.
  Term read(CXCursor cursor, const Place& place);

  // --- Values: values.cpp

  Term value(CXCursor cursor);
  Term all_of(CXCursor cursor);
  /// Expressions for which libclang has no cursor kind: casts, and lists in parentheses.
  Term unexposed(CXCursor cursor);
  Term literal(CXCursor cursor);
  Term enumerator(CXCursor cursor);
  Term cast(CXCursor cursor);
  Term choice(CXCursor cursor);
  Term unary(CXCursor cursor);
  Term binary(CXCursor cursor);
  /// Arithmetic on two integers, and comparisons of them.
  Term combined(CXCursor cursor, const std::string& operation, Term first, Term second,
                const Cursors& operands);
  /// The value of an expression whose accesses are already recorded.
  Term quietly(CXCursor cursor);

  // --- Calls: calls.cpp

  Term call(CXCursor cursor);
  /// An operator of a class, which is assumed to do what its name suggests.
  Term overloaded(CXCursor cursor, const std::string& operation);
  /// A constructor, which is assumed to write its object and to read its arguments.
  Term construct(CXCursor cursor);
  Term method(CXCursor cursor, CXCursor callee);
  Term pure(CXCursor cursor, const std::string& name, const Cursors& arguments);
  /// Reads the body of a function in place of its call, and returns its value. The function has to
  /// be in the same file, or in a header of the project if its entire body can be read.
  std::optional<Term> inlined(CXCursor callee, const Cursors& arguments);

  // --- Assignments: assignments.cpp

  void assign(CXCursor cursor, bool is_statement);
  /// Reads an update of the form s = s + e or s = max(s, e). Returns false for any other
  /// assignment.
  bool update(CXCursor left, CXCursor right);
  bool updates(CXCursor left, const std::string& name, Update kind, std::vector<CXCursor> added,
               const std::vector<CXCursor>& taken);
  Term count(CXCursor cursor, bool is_statement);

  // --- Statements: statements.cpp

  void statement(CXCursor cursor);
  void block(CXCursor cursor);
  /// Reads consecutive loops in a common frame, and returns the index of the last one.
  std::size_t row_of_loops(const Cursors& children, std::size_t first, Loop* whole);
  /// An expression whose value is not used.
  void effect(CXCursor cursor);
  void declaration(CXCursor cursor);
  /// The names of a structured binding: parts of its initial value, or copies of them.
  void bindings(CXCursor cursor);
  void branch(CXCursor cursor);
  std::optional<Term> condition_of(CXCursor cursor, const Cursors& parts);
  /// The condition under which the statements after `if (...) continue;` or `if (...) return;` run.
  std::optional<Term> condition_to_stay(CXCursor cursor);
  /// Whether only such conditions are between this statement and the loop.
  bool is_directly_in_loop() const;
  bool is_outside_loops() const;
  void leave(CXCursor cursor, const std::string& reason);
  void give_back(CXCursor cursor);

  // --- Loops: loops.cpp

  Loop& add_loop(CXCursor cursor, const std::vector<const Pragma*>& pragmas);
  void counted(CXCursor cursor, const std::vector<const Pragma*>& pragmas);
  /// Reads where a loop starts.
  void start(Loop& read, const Parts& parts);
  /// Reads a loop's step and its end.
  void limits(Loop& read, const Parts& parts);
  /// for (i = n; i-- > 0;)
  bool counts_down(Loop& read, CXCursor condition);
  long step_of(CXCursor cursor, const Variable* variable);
  void note_inside(Loop& read, CXCursor body);
  void uncounted(CXCursor cursor, const std::vector<const Pragma*>& pragmas);

  const Source& source_;
  const Callees& callees_;
  Function& function_;
  Changes changes_;
  Frame* frame_ = nullptr;
  const Frame* base_ = nullptr;
  std::vector<std::vector<std::pair<CXCursor, Variable*>>> scopes_{2};
  Variable* this_ = nullptr;
  int line_of_call_ = 0;
  Term returned_;
  bool has_returned_ = false;
  std::string guard_;
};

}  // namespace slicer
