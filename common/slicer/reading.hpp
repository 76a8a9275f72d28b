/// \file
/// Reads one function, with what it calls within the same file and the headers of the project: what
/// reader.cpp and the files of each of its parts have in common.

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
  /// The line of the file itself: what is in a header has that of the call.
  int line(CXCursor cursor) const;
  void trouble_with(CXCursor cursor, const std::string& what);
  Variable* add(std::string name);
  /// A variable that a declaration makes, with what its type says.
  Variable* declare(CXCursor declaration);
  Variable* declare_parameter(CXCursor declaration);
  /// The variable that a name refers to. One that is not declared in what was read lies outside.
  Variable* find(CXCursor declaration);
  /// Whether OpenMP gives each thread a variable of its own, wherever it is named.
  bool is_of_thread(const std::string& name) const;
  Variable* this_object();
  /// A quantity that stays as it is with what it belongs to.
  Variable* quantity(const Place& of, const std::string& name, bool is_natural);
  /// A term as it is now, where it stands for itself later.
  Term frozen(Term term);
  Place frozen(Place place);
  /// Gives a variable what it is made with: another name for a place, or a value.
  void bind(Variable& variable, CXType type, const Cursors& made_with, bool is_parameter = false);

  // --- Places, and accesses to them: places.cpp

  /// The place that an expression names, if it is one. What its subscripts read is noted.
  std::optional<Place> place(CXCursor cursor);
  std::optional<Place> named(CXCursor cursor);
  std::optional<Place> member(CXCursor cursor);
  std::optional<Place> element(CXCursor base, const Cursors& subscripts, bool in_call);
  /// Notes that elements of elements may be the same ones, unless a type owns them.
  void mind_rows(Place& of, CXCursor base);
  /// An element by a call, as in a(i, j), a row, or a view made of a whole array.
  std::optional<Place> called_place(CXCursor cursor);
  void access(CXCursor cursor, const Place& place, bool is_write, Update update = Update::none);
  /// Reads a place, whose value may be followed if it is an integer.
  Term read(CXCursor cursor, const Place& place);

  // --- Values: values.cpp

  Term value(CXCursor cursor);
  Term all_of(CXCursor cursor);
  /// What libclang has no name for: casts, and lists in parentheses.
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
  /// The value of what was read already.
  Term quietly(CXCursor cursor);

  // --- Calls: calls.cpp

  Term call(CXCursor cursor);
  /// An operator of a class does as it says.
  Term overloaded(CXCursor cursor, const std::string& operation);
  /// A constructor makes its object, and reads what it is given.
  Term construct(CXCursor cursor);
  Term method(CXCursor cursor, CXCursor callee);
  Term pure(CXCursor cursor, const std::string& name, const Cursors& arguments);
  /// What a function returns whose statements are read as if they stood here: one of the same file,
  /// or of a header, if all of it can be followed.
  std::optional<Term> inlined(CXCursor callee, const Cursors& arguments);

  // --- Assignments: assignments.cpp

  void assign(CXCursor cursor, bool is_statement);
  /// An update in the form s = s + e or s = max(s, e); returns false if it is none.
  bool update(CXCursor left, CXCursor right);
  bool updates(CXCursor left, const std::string& name, Update kind, std::vector<CXCursor> added,
               const std::vector<CXCursor>& taken);
  Term count(CXCursor cursor, bool is_statement);

  // --- Statements: statements.cpp

  void statement(CXCursor cursor);
  void block(CXCursor cursor);
  /// Reads loops that follow each other, in a frame of their own; returns which is the last.
  std::size_t row_of_loops(const Cursors& children, std::size_t first, Loop* whole);
  /// An expression for its effect.
  void effect(CXCursor cursor);
  void declaration(CXCursor cursor);
  /// The names of a structured binding stand for parts of what it is made with, or for copies.
  void bindings(CXCursor cursor);
  void branch(CXCursor cursor);
  std::optional<Term> condition_of(CXCursor cursor, const Cursors& parts);
  /// What must hold for what follows `if (...) continue;` or `if (...) return;`, if it is such.
  std::optional<Term> condition_to_stay(CXCursor cursor);
  /// Whether nothing but conditions to stay lies between here and the loop.
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
