/// \file
/// What the slicer knows of a function: loops, what surrounds them, and each access to memory.

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

/// An integer or a condition, as far as it can be followed.
struct Term {
  Operation operation = Operation::unknown;
  long value = 0;
  Variable* symbol = nullptr;
  std::string text;
  std::vector<Term> operands;
  int bits = 0;  ///< of operands without a sign, of which a negative one is a large number
};

/// A step from a variable to a part of it: a member, or an element.
struct Step {
  std::string member;  ///< empty for an element
  Term index;
  bool in_call = false;  ///< a(i), not a[i]
  bool is_row = false;   ///< a.row(i), which is a part of the same array
};

/// Where something lies in memory.
struct Place {
  Variable* variable = nullptr;
  std::vector<Step> steps;
  std::string unsure;     ///< why it may be less than what is named
  bool is_loose = false;  ///< its subscripts do not say where it is
};

/// A variable; or a quantity that belongs to one and stays as it is with it, as `a.extent(0)`.
struct Variable {
  std::string name;
  Frame* frame = nullptr;  ///< where it is declared, if within the function
  bool is_integer = false;
  bool is_natural = false;  ///< an integer that is not negative
  bool is_array = false;    ///< has elements, by its type
  bool owns = false;        ///< its elements are its own, and not somebody else's
  bool is_named = false;    ///< a parameter, a member or a global: memory of its own by assumption
  bool is_fixed = false;    ///< never changes
  bool is_apart = false;    ///< a number that nobody can have another name for
  bool is_stray = false;    ///< another name for what is not known
  bool is_of_thread = false;   ///< each thread has its own, as OpenMP was told
  std::optional<Term> value;   ///< what it is made with
  std::optional<Place> alias;  ///< what it is a name for
  std::optional<Place> of;     ///< what the quantity belongs to
};

/// A loop that counts, or why it does not.
struct Loop {
  Variable* variable = nullptr;
  Term first, condition;
  long step = 0;
  std::string unknown;
  int line = 0;
  Range range{};  ///< where it is written
  Frame* frame = nullptr;
  std::vector<const Pragma*> pragmas;
  Loop* inside = nullptr;          ///< the loop that is all of its body
  Loop* next = nullptr;            ///< the loop that follows with nothing between
  std::vector<std::size_t> parts;  ///< the first access of each statement of its body
  bool is_inlined = false;
};

/// A part of the function that runs whole or not at all: a block, a branch, a loop's body.
struct Frame {
  Frame* parent = nullptr;
  std::optional<Term> condition;
  Loop* loop = nullptr;
  const Pragma* region = nullptr;  ///< a parallel region of OpenMP
  bool is_cut = false;             ///< something in it may be left out, as by `break`

  bool is_within(const Frame* other) const {
    for (const Frame* frame = this; frame; frame = frame->parent)
      if (frame == other) return true;
    return false;
  }
};

/// What an update does whose order does not matter.
enum class Update { none, sum, product, minimum, maximum, conjunction, disjunction, parity };

struct Access {
  Place place;
  bool is_write = false;
  Frame* frame = nullptr;
  int line = 0;
  std::string text;
  Update update = Update::none;
  std::string guard;        ///< what holds threads apart: `atomic`, or `critical` with its name
  bool is_pointer = false;  ///< its type says where elements are, and has none itself
};

/// Something that cannot be followed, and why.
struct Trouble {
  Frame* frame;
  int line;
  std::string reason;
};

/// What was read of a function. Addresses of its parts stay as they are.
struct Function {
  std::string name;
  Range range{};         ///< where it is written
  bool is_free = false;  ///< neither a method nor a lambda
  std::list<Variable> variables;
  std::list<Frame> frames;
  std::list<Loop> loops;
  std::vector<Access> accesses;
  std::vector<Trouble> troubles;
};

}  // namespace slicer
