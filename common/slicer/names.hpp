/// \file
/// The meaning of names in a part of a function, and whether two names may share memory.

#pragma once

#include <functional>
#include <optional>

#include "nest.hpp"
#include "polynomial.hpp"

namespace slicer {

/// The meaning of a name where it is used.
struct Meaning {
  enum { counter, size, value, unknown } kind = unknown;
  const Loop* loop = nullptr;
};

/// Whether the sequence of values of the loop variable is known.
inline bool counts(const Loop& loop) { return loop.variable && loop.unknown.empty(); }

/// Whether a memory location is an element of an array, or a part of such an element.
bool has_element(const Place& place);

/// Whether two locations in the same variable may overlap, judged only by their members.
bool may_overlap(const Place& one, const Place& other);

/// The outermost frame that runs completely whenever `frame` runs.
const Frame* together_with(const Frame* frame);

/// The names of a function, from the point of view of one of its frames, the root.
class Names {
 public:
  Names(const Function& function, const Frame* root) : function_(function), root_(root) {}

  const Frame* root() const { return root_; }
  const Function& function() const { return function_; }
  bool is_inside(const Frame* frame) const { return frame && frame->is_within(root_); }

  /// The meaning of a variable in the frame `used`, for constraints that hold within `stable`.
  Meaning meaning(const Variable& variable, const Frame* used, const Frame* stable) const;

  /// Calls `visit` for each size and each unknown part of a term.
  void walk(const Term& term, const Frame* used, const Frame* stable,
            const std::function<void(const Variable*, const Term&)>& visit) const;

  /// The frame within which a constraint of `frame` has to stay valid.
  const Frame* stable_for(const Frame* frame) const { return is_inside(frame) ? root_ : frame; }

  /// A term as a polynomial of counters and sizes; empty if the term is no such polynomial.
  std::optional<Polynomial> polynomial(const Term& term, const Frame* used,
                                       const Frame* stable) const;

  /// Whether an access uses a pointer or reference whose target is unknown.
  static bool is_elsewhere(const Access& access);

 private:
  bool changes(const Variable& variable, const Frame* frame) const;
  bool is_lasting(const Term& term, const Variable& of, const Frame* stable) const;
  bool may_change_after(const Variable& variable, std::size_t access) const;

  const Function& function_;
  const Frame* root_;
};

}  // namespace slicer
