/// \file
/// The model of a function: its loops, the conditions around them, and each access to memory.

#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "source.hpp"

namespace slicer {

struct Variable;
struct Frame;

enum class Operation {
  constant,
  symbol,
  unknown,
  sum,
  difference,
  product,
  quotient,
  remainder,
  minimum,
  maximum,
  choice,
  less,
  at_most,
  equal,
  both,
  either,
  negation
};

/// An integer or a condition, as an expression that the tool can follow.
struct Term {
  Operation operation = Operation::unknown;
  long value = 0;
  Variable* symbol = nullptr;
  std::string text;
  std::vector<Term> operands;
  int bits = 0;  ///< width of unsigned operands, which wrap around below zero; 0 for other operands
};

/// A step from a variable to a part of it: a member, or an element.
struct Step {
  std::string member;  ///< empty for an element
  Term index;
  bool in_call = false;  ///< a(i), not a[i]
  bool is_row = false;   ///< a.row(i), which is a part of the same array
  bool leaves = false;   ///< follows a pointer, a view or a reference to other memory
  long extent = 0;       ///< declared number of elements; -1 if it is not constant, 0 if unknown
};

/// A memory location: a variable and the steps to a part of it.
struct Place {
  Variable* variable = nullptr;
  std::vector<Step> steps;
  std::string unsure;            ///< why the location may be smaller than the steps indicate
  bool is_loose = false;         ///< its subscripts do not determine the location
  bool is_elsewhere = false;     ///< may be any memory: its target is unknown
  bool is_view = false;          ///< a view of elements that it does not own
  std::optional<Term> offset{};  ///< offset of a pointer, added to the next subscript
};

/// A variable, or a constant quantity of a variable, such as `a.extent(0)`.
struct Variable {
  std::string name;
  Frame* frame = nullptr;  ///< where it is declared, if within the function
  bool is_integer = false;
  bool is_natural = false;   ///< an integer that is not negative
  bool is_array = false;     ///< whether its type has elements
  bool is_view = false;      ///< a view of elements that it does not own
  bool owns = false;         ///< whether it owns its elements, unlike a pointer or a view
  bool is_pointer = false;   ///< refers to elements
  bool is_named = false;     ///< a parameter, a member or a global variable: separate memory by
                             ///< assumption
  bool is_fixed = false;     ///< never changes
  bool is_constant = false;  ///< whether its type is constant
  bool is_apart = false;     ///< not an array, and no pointer or reference to it can exist
  bool is_stray = false;     ///< a pointer or reference with an unknown target
  bool is_object = false;    ///< separate memory by its declaration, not by assumption
  int parameter = -1;        ///< index of the parameter, or -1
  int line = 0;              ///< line of the declaration, or 0 if it is in another file
  CXCursor declaration = clang_getNullCursor();
  bool is_of_thread = false;   ///< each thread has its own copy, by a clause of OpenMP
  std::optional<Term> value;   ///< the initial value
  std::size_t made_at = ~0ul;  ///< the number of accesses before the variable gets this value
  std::optional<Place> alias;  ///< the location that this variable is a name for
  std::optional<Place> of;     ///< the location to which this quantity belongs
};

/// A loop with a counter, or the reason why it has none.
struct Loop {
  Variable* variable = nullptr;
  Term first, condition;
  long step = 0;
  std::string unknown;
  int line = 0;
  Range range{};  ///< its range in the source
  Frame* frame = nullptr;
  std::vector<const Pragma*> pragmas;
  std::string doubt;                    ///< the reason why the tool does not judge the loop's
                                        ///< pragma
  std::vector<const Variable*> linear;  ///< variables that advance with the counter, by a clause of
                                        ///< OpenMP
  Loop* inside = nullptr;               ///< the loop that is its entire body
  Loop* next = nullptr;                 ///< the loop that follows immediately
  std::vector<std::size_t> parts;       ///< the first access of each statement of its body
  bool is_inlined = false;
};

/// A part of the function that runs completely or not at all: a block, a branch, a loop body.
struct Frame {
  Frame* parent = nullptr;
  std::optional<Term> condition;
  Loop* loop = nullptr;
  const Pragma* region = nullptr;  ///< a parallel region of OpenMP
  std::string guard;               ///< mutual exclusion: `atomic`, or `critical` with its name
  std::string directive;           ///< a directive of OpenMP that the tool does not cover, or empty
  const Pragma* pragma = nullptr;  ///< the pragma with this directive
  bool is_cut = false;             ///< whether `break` or similar may skip a part of it

  bool is_within(const Frame* other) const {
    for (const Frame* frame = this; frame; frame = frame->parent)
      if (frame == other) return true;
    return false;
  }
};

/// The operation of an update whose order is irrelevant.
enum class Update {
  none,
  sum,
  product,
  minimum,
  maximum,
  conjunction,
  disjunction,
  parity,
  logical_and,
  logical_or
};

struct Access {
  Place place;
  bool is_write = false;
  Frame* frame = nullptr;
  int line = 0;
  std::string text;
  Update update = Update::none;
  bool is_pointer = false;           ///< a pointer or a view, without elements of its own
  CXTypeKind type = CXType_Invalid;  ///< type of a built-in number
  bool is_input = false;             ///< writes a number that the user of the program chooses
};

/// A construct that the tool cannot follow, and the reason.
struct Trouble {
  Frame* frame;
  int line;
  std::string reason;
  CXCursor cursor;            ///< the construct
  std::size_t at;             ///< the number of preceding accesses
  bool only_prints = false;   ///< output, which leaves all variables as they are
  bool is_directive = false;  ///< a directive of OpenMP whose statement the tool reads
};

/// A point at which all threads of a parallel region wait for each other.
struct Barrier {
  const Frame* frame;
  std::size_t at;  ///< the number of preceding accesses
};

/// An assumption about a part of a function, and the line of the code that needs the assumption.
struct Assumption {
  const Frame* frame;
  int line;
  std::string text;
};

/// Two variables for which a call passes the same memory.
struct Overlap {
  const Variable *one, *other;
  int line;
};

/// The result of reading a function. The addresses of its parts stay valid.
struct Function {
  std::string name;
  CXCursor declaration = clang_getNullCursor();  ///< the first declaration
  Range range{};                                 ///< its range in the source
  bool is_free = false;                          ///< neither a method nor a lambda
  std::list<Variable> variables;
  std::list<Frame> frames;
  std::list<Loop> loops;
  std::vector<Access> accesses;
  std::vector<Trouble> troubles;
  std::vector<Barrier> barriers;
  std::vector<const Pragma*> pragmas;  ///< the pragmas of OpenMP within the function
  std::vector<Assumption> assumptions;
  std::vector<Overlap> overlaps;
  /// Cached answers of Names::changes(): whether a frame changes a variable.
  mutable std::map<std::pair<const Variable*, const Frame*>, bool> changes;
};

}  // namespace slicer
