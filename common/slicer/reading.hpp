/// \file
/// The class that reads one function, together with the functions that it calls in the same file
/// and in headers of the project. The class is implemented in reader.cpp and in one file per group
/// of methods below.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "changes.hpp"
#include "facts.hpp"
#include "nest.hpp"
#include "terms.hpp"

namespace slicer {

class Reader {
 public:
  Reader(const Source& source, const Callees& callees, const Facts& facts, Function& function)
      : source_(source),
        callees_(callees),
        facts_(facts),
        function_(function),
        changes_(source, callees) {}

  void read(CXCursor function, CXCursor body);

 private:
  /// Records calls that pass the same memory for two parameters, or that pass a global variable.
  void find_overlaps();

  // --- Frames, troubles and variables: variables.cpp

  Frame* enter();
  void enter_if(Term condition);
  /// The innermost loop that contains the current position.
  Loop* loop() const;
  void trouble(CXCursor cursor, const std::string& reason);
  /// The line of a construct in the file itself. For code in a header, this is the line of the
  /// call.
  int line(CXCursor cursor) const;
  void trouble_with(CXCursor cursor, const std::string& what);
  /// Records an assumption at the line of an expression.
  void assume(CXCursor cursor, std::string text);
  /// Whether a conversion preserves the value of an integer expression. In a loop, the method also
  /// records the assumption that the value fits into a narrower type.
  bool keeps(CXCursor cursor, CXType type);
  /// Records the assumption that a dependent type is a number.
  void assume_number(CXCursor cursor);
  Variable* add(std::string name);
  /// Adds the variable of a declaration, with the properties of its type.
  Variable* declare(CXCursor declaration);
  Variable* declare_parameter(CXCursor declaration);
  /// The variable that a name refers to. A variable that is not declared in the code read so far is
  /// treated as global.
  Variable* find(CXCursor declaration);
  /// Whether a variable is `threadprivate`.
  bool is_of_thread(const std::string& name) const;
  Variable* this_object();
  /// The object of the method that is being read.
  Place own_object();
  /// A constant quantity of a location, such as the extent of an array.
  Variable* quantity(const Place& of, const std::string& name, bool is_natural);
  /// A term that keeps its present value when its variables change later.
  Term frozen(Term term);
  Place frozen(Place place);
  /// Whether an alias of a location stays valid, because no pointer on the path to the location
  /// changes.
  bool lasts(const Place& place, CXType type) const;
  /// Sets the initial value of a variable, or the location that a pointer or reference names.
  void bind(Variable& variable, CXType type, const Cursors& made_with, bool is_parameter = false);

  // --- Places, and accesses to them: places.cpp

  /// The location that an expression names, if any. Records the reads in its subscripts.
  std::optional<Place> place(CXCursor cursor);
  std::optional<Place> named(CXCursor cursor);
  /// The location that a pointer leads to. The pointer may be p or have an offset, as in p + n and
  /// &p[n].
  std::optional<Place> led_to(CXCursor pointer);
  /// Adds a subscript to a location, after the offset of its pointer.
  static void add_element(Place& of, Term index, bool in_call = false);
  std::optional<Place> member(CXCursor cursor);
  std::optional<Place> element(CXCursor base, const Cursors& subscripts, bool in_call,
                               CXType type_of_element);
  /// Records that two rows may share elements, unless the array's type owns its elements.
  void mind_rows(Place& of, CXCursor base);
  /// The location of an element of the form a(i, j), of a row, or of a view of an entire array.
  std::optional<Place> called_place(CXCursor cursor);
  void access(CXCursor cursor, const Place& place, bool is_write, Update update = Update::none);
  /// Records a read of a location, and returns its value if the tool can follow it as an integer.
  Term read(CXCursor cursor, const Place& place);

  // --- Values: values.cpp

  Term value(CXCursor cursor);
  Term all_of(CXCursor cursor);
  /// Reads expressions for which libclang has no cursor kind: casts, and lists in parentheses.
  Term unexposed(CXCursor cursor);
  Term literal(CXCursor cursor);
  Term character(CXCursor cursor);
  Term enumerator(CXCursor cursor);
  Term cast(CXCursor cursor);
  Term choice(CXCursor cursor);
  Term unary(CXCursor cursor);
  Term binary(CXCursor cursor);
  /// The value of an arithmetic operation or a comparison of two integers.
  Term combined(CXCursor cursor, const std::string& operation, Term first, Term second,
                const Cursors& operands);
  /// The value of an expression, without recording its accesses a second time.
  Term quietly(CXCursor cursor);

  // --- Calls: calls.cpp

  Term call(CXCursor cursor);
  /// Reads a call of an operator of a class.
  Term overloaded(CXCursor cursor, const std::string& operation, bool is_statement = false);
  /// Reads a call of a constructor, which writes its object and reads its arguments.
  Term construct(CXCursor cursor);
  Term method(CXCursor cursor, CXCursor callee);
  /// Whether a call prints numbers or texts. The order of such calls matters, but they change no
  /// variable.
  bool prints(CXCursor callee, const Cursors& arguments) const;
  Term pure(CXCursor cursor, const std::string& name, const Cursors& arguments);
  /// Reads std::move(x). The value of x is unknown afterwards, unless is_plain_type() is true for
  /// its type.
  Term moved(CXCursor cursor, const Cursors& arguments);
  /// Reads the body of a function in place of its call, and returns its value. The function has to
  /// be in the same file, or in a header of the project if the tool can read its entire body.
  std::optional<Term> inlined(CXCursor callee, const Cursors& arguments);
  /// The location to which a function returns a reference, if its body determines the location.
  std::optional<Place> returned_by(CXCursor cursor);
  /// Reads the body of a function with the given arguments.
  /// \param object the object of a method
  std::optional<Term> read_body(CXCursor callee, CXCursor function, const Cursors& arguments,
                                std::optional<Place> object);
  /// Reads the body of an operator or a method of a class in place of its call.
  std::optional<Term> inlined_method(CXCursor cursor, CXCursor method, CXCursor object,
                                     const Cursors& arguments);

  // --- Assignments: assignments.cpp

  void assign(CXCursor cursor, bool is_statement);
  /// Reads an update of the form s = s + e or s = max(s, e). Returns false for any other
  /// assignment.
  bool update(CXCursor left, CXCursor right);
  /// A choice between two values: a minimum, a maximum, or `none` for any other choice.
  struct Choice {
    Update update = Update::none;
    CXCursor one = clang_getNullCursor(), other = clang_getNullCursor();
  };
  /// The choice if a comparison is the condition: the maximum for x > y, the minimum for x < y.
  Choice compared(CXCursor condition) const;
  /// The choice of a conditional expression such as x > y ? x : y.
  Choice chosen(CXCursor cursor) const;
  /// Reads an update of the form `if (x > m) m = x`. Returns false for any other statement.
  bool updates_if(const Cursors& parts);
  bool updates(CXCursor left, const std::string& name, Update kind, std::vector<CXCursor> added,
               const std::vector<CXCursor>& taken);
  Term count(CXCursor cursor, bool is_statement);
  /// Whether an expression is a number that the user of the program chooses: atoi(argv[1]).
  bool is_input(CXCursor cursor);

  // --- Statements: statements.cpp

  void statement(CXCursor cursor);
  void block(CXCursor cursor);
  /// Reads consecutive loops in a common frame, and returns the index of the last loop.
  std::size_t row_of_loops(const Cursors& children, std::size_t first, Loop* whole);
  /// Reads an expression whose value is not used.
  void effect(CXCursor cursor);
  void declaration(CXCursor cursor);
  /// Reads the expressions in a variable's type, and the default constructor of an object.
  void read_type(CXCursor declaration, const Cursors& made_with);
  /// Declares the names of a structured binding. The names denote parts of the binding's initial
  /// value, or copies of these parts.
  void bindings(CXCursor cursor);
  void branch(CXCursor cursor);
  std::optional<Term> condition_of(CXCursor cursor, const Cursors& parts);
  /// The condition under which the statements after `if (...) continue;` or `if (...) return;` run.
  std::optional<Term> condition_to_stay(CXCursor cursor);
  /// Whether only conditions such as `if (...) continue;` are between this statement and the loop.
  bool is_directly_in_loop() const;
  bool is_outside_loops() const;
  void leave(CXCursor cursor, const std::string& reason);
  void give_back(CXCursor cursor);

  // --- Loops: loops.cpp

  Loop& add_loop(CXCursor cursor, const std::vector<const Pragma*>& pragmas);
  void counted(CXCursor cursor, const std::vector<const Pragma*>& pragmas);
  /// Reads the initial value of a loop's counter.
  void start(Loop& read, const Parts& parts);
  /// Reads the step and the end of a loop.
  void limits(Loop& read, const Parts& parts);
  /// Reads a loop of the form for (i = n; i-- > 0;). Returns false for any other loop.
  bool counts_down(Loop& read, CXCursor condition);
  long step_of(CXCursor cursor, const Variable* variable);
  /// Whether a loop such as for (unsigned i = n - 1; i < n; --i) ends when i wraps around below 0.
  bool counts_below_zero(const Loop& read, CXCursor condition);
  /// A variable of the clause `linear`, and the variable that replaces it within the loop.
  struct Linear {
    Variable *variable, *within;
  };
  /// Gives a variable of the clause `linear` the value that the variable has in each iteration, if
  /// the last statement of the body increments the variable by the step of the clause.
  std::vector<Linear> begin_linear(Loop& read, CXCursor body);
  void end_linear(Loop& read, CXCursor body, const std::vector<Linear>& linear, std::size_t behind);
  /// Makes all names of the variable `from` refer to the variable `to`.
  void rename(const Variable* from, Variable* to);
  void note_inside(Loop& read, CXCursor body);
  void uncounted(CXCursor cursor, const std::vector<const Pragma*>& pragmas);

  const Source& source_;
  const Callees& callees_;
  const Facts& facts_;
  Function& function_;
  Changes changes_;
  Frame* frame_ = nullptr;
  const Frame* base_ = nullptr;
  std::vector<std::vector<std::pair<CXCursor, Variable*>>> scopes_{2};
  Variable* this_ = nullptr;
  std::optional<Place> returned_place_;
  std::optional<Place> object_;  ///< the object of a method whose body replaces its call
  int line_of_call_ = 0;
  Term returned_;
  CXType result_type_{};  ///< return type of the current function
  bool has_returned_ = false;
};

}  // namespace slicer
