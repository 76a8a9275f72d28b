/// \file
/// What names mean at a place within a part of a function, and which may be the same memory.

#pragma once

#include <functional>
#include <optional>

#include "nest.hpp"
#include "polynomial.hpp"

namespace slicer {

/// What a name means at a place.
struct Meaning {
  enum { counter, size, value, unknown } kind = unknown;
  const Loop* loop = nullptr;
};

/// Whether the values that a loop's variable takes are known.
inline bool counts(const Loop& loop) { return loop.variable && loop.unknown.empty(); }

/// Whether a place is an element of an array, or in one.
bool has_element(const Place& place);

/// Whether places of one variable may overlap as far as members say.
bool may_overlap(const Place& one, const Place& other);

/// The largest part that runs whenever a frame does.
const Frame* together_with(const Frame* frame);

/// The names of a function, seen from within one of its frames, the root.
class Names {
 public:
  Names(const Function& function, const Frame* root) : function_(function), root_(root) {}

  const Frame* root() const { return root_; }
  bool is_inside(const Frame* frame) const { return frame && frame->is_within(root_); }

  /// What a variable means where it is used; constraints hold as long as `stable` is not left.
  Meaning meaning(const Variable& variable, const Frame* used, const Frame* stable) const;

  /// Calls a function with each size and each unknown part of a term.
  void walk(const Term& term, const Frame* used, const Frame* stable,
            const std::function<void(const Variable*, const Term&)>& visit) const;

  /// What a constraint of a frame must not outlast.
  const Frame* stable_for(const Frame* frame) const { return is_inside(frame) ? root_ : frame; }

  /// A term as a polynomial of counters and sizes, if it is one.
  std::optional<Polynomial> polynomial(const Term& term, const Frame* used,
                                       const Frame* stable) const;

  /// Elements by a name for memory that is not known.
  static bool is_elsewhere(const Access& access);

 private:
  bool changes(const Variable& variable, const Frame* frame) const;
  bool is_lasting(const Term& term, const Frame* made, const Frame* stable) const;

  const Function& function_;
  const Frame* root_;
};

}  // namespace slicer
