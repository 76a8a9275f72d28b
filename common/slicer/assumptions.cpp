#include "assumptions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace slicer {
namespace {

bool leaves(const Place& place) {
  return std::any_of(place.steps.begin(), place.steps.end(),
                     [](const Step& step) { return step.leaves; });
}

/// Whether a location is in the memory of a local variable or a parameter, and no other name can
/// refer to this memory.
bool is_own(const Place& place) {
  const Variable& variable = *place.variable;
  const bool is_local = variable.frame || variable.parameter >= 0;
  if (variable.owns) return is_local;
  return is_local && variable.is_object && !leaves(place);
}

/// The signed type that corresponds to an unsigned type; any other type unchanged. C++ permits
/// accesses to the same object through both types.
CXTypeKind with_sign(CXTypeKind type) {
  switch (type) {
    case CXType_UShort:
      return CXType_Short;
    case CXType_UInt:
      return CXType_Int;
    case CXType_ULong:
      return CXType_Long;
    case CXType_ULongLong:
      return CXType_LongLong;
    case CXType_UInt128:
      return CXType_Int128;
    default:
      return type;
  }
}

}  // namespace

bool need_assumption(const Access& one, const Access& other) {
  if (!one.is_write && !other.is_write) return false;
  const Place &place = one.place, &other_place = other.place;
  if (is_own(place) || is_own(other_place)) return false;
  const bool are_objects = place.variable->is_object && other_place.variable->is_object &&
                           !leaves(place) && !leaves(other_place);
  if (are_objects) return false;
  const auto is_character = [](CXTypeKind type) {
    return type == CXType_Char_S || type == CXType_Char_U || type == CXType_UChar ||
           type == CXType_SChar || type == CXType_Invalid;
  };
  return with_sign(one.type) == with_sign(other.type) || is_character(one.type) ||
         is_character(other.type);
}

namespace {

/// Whether a term contains a product of two unknowns, which may overflow.
bool may_overflow(const Term& term) {
  const auto is_constant = [](const Term& part) { return part.operation == Operation::constant; };
  if (term.operation == Operation::product &&
      std::none_of(term.operands.begin(), term.operands.end(), is_constant))
    return true;
  return std::any_of(term.operands.begin(), term.operands.end(), may_overflow);
}

/// The sizes for which a set of iterations is not empty.
isl::set sizes_of(const Space& space, isl::set set) {
  const auto sizes = static_cast<unsigned>(space.sizes().size());
  const auto first = static_cast<unsigned>(space.count()) - sizes;
  return isl::manage(isl_set_eliminate(set.release(), isl_dim_set, 0, first));
}

class Collected {
 public:
  Collected(const Function& function, const Frame& root, const Pairs& pairs)
      : function_(function), root_(root), pairs_(pairs) {
    find_overlaps();
    find_extents();
    find_products();
    for (const Assumption& assumption : function.assumptions)
      if (assumption.frame->is_within(&root) || root.is_within(assumption.frame))
        add(assumption.line, assumption.text);
  }

  Assumed assumed;

 private:
  void add(int line, const std::string& text) {
    for (const Assumption& known : assumed.list)
      if (known.text == text) return;
    assumed.list.push_back({&root_, line, text});
  }

  void contradict(const std::string& why) {
    if (assumed.contradiction.empty()) assumed.contradiction = why;
  }

  int line_of_loop() const {
    for (const Loop& loop : function_.loops)
      if (loop.frame == &root_) return loop.line;
    return pairs_.touched().empty() ? 0 : pairs_.touched().front().access->line;
  }

  /// The name of the memory of a location: a variable with its members.
  static std::string name_of(const Place& place) {
    std::string name = place.variable->name;
    for (const Step& step : place.steps) {
      if (step.member.empty()) break;
      name = name == "this" ? step.member : name + "." + step.member;
    }
    return name;
  }

  void find_overlaps() {
    std::vector<std::string> names;
    const auto note = [&](const std::string& name) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    for (const Touched& one : pairs_.touched())
      for (const Touched& other : pairs_.touched()) {
        const Place &place = one.access->place, &other_place = other.access->place;
        const bool is_same = place.variable == other_place.variable;
        if (is_same &&
            (may_overlap(place, other_place) || (!leaves(place) && !leaves(other_place))))
          continue;
        if (!need_assumption(*one.access, *other.access)) continue;
        note(name_of(place));
        note(name_of(other_place));
        if (is_same) continue;
        for (const Overlap& overlap : function_.overlaps)
          if (overlap.one == place.variable && overlap.other == other_place.variable)
            contradict(fmt::format("line {} gives `{}` and `{}` the same memory", overlap.line,
                                   place.variable->name, other_place.variable->name));
      }
    if (names.size() < 2) return;
    std::sort(names.begin(), names.end());
    const std::string last = names.back();
    names.pop_back();
    for (std::string& name : names) name = "`" + name + "`";
    add(line_of_loop(), fmt::format("{} and `{}` do not overlap", fmt::join(names, ", "), last));
  }

  void find_extents() {
    for (const Touched& touched : pairs_.touched()) {
      const auto& steps = touched.access->place.steps;
      const auto subscripts = std::count_if(steps.begin(), steps.end(), [](const Step& step) {
        return step.member.empty() && !step.index.text.empty();
      });
      for (std::size_t s = 0; s < steps.size(); ++s) {
        if (!steps[s].member.empty() || touched.at[0][s].size() != 1) continue;
        if (steps[s].extent > 0 || (steps[s].extent < 0 && subscripts > 1))
          compare(touched, s);
        else if (subscripts > 1)
          assume_within(touched);
      }
    }
  }

  void assume_within(const Touched& touched) {
    add(touched.access->line,
        fmt::format("subscripts of `{}` are within its extents", name_of(touched.access->place)));
  }

  /// Checks a subscript against the declared extent of its array.
  void compare(const Touched& touched, std::size_t s) {
    const Space& space = pairs_.space();
    const Step& step = touched.access->place.steps[s];
    const isl::pw_aff at = touched.at[0][s].front();
    const isl::set domain = touched.domains[0];
    const isl::set below = domain.intersect(at.lt_set(space.number(0)));
    const bool is_known = step.extent > 0;
    const isl::set beyond =
        is_known ? domain.intersect(at.ge_set(space.number(step.extent))) : space.nothing();
    if (is_known && below.is_empty() && beyond.is_empty()) return;
    for (const isl::set& outside : {below, beyond}) {
      const bool is_sure = touched.unsure.empty() && !domain.is_empty() && !outside.is_empty() &&
                           sizes_of(space, domain).is_subset(sizes_of(space, outside));
      if (is_sure)
        contradict(fmt::format("the subscript `{}` of `{}` in line {} leaves its {}elements",
                               step.index.text, name_of(touched.access->place),
                               touched.access->line,
                               is_known ? std::to_string(step.extent) + " " : ""));
    }
    assume_within(touched);
  }

  void find_products() {
    for (const Touched& touched : pairs_.touched())
      for (const Step& step : touched.access->place.steps)
        if (step.member.empty() && may_overflow(step.index) && !step.index.text.empty())
          add(touched.access->line, fmt::format("`{}` does not overflow", step.index.text));
  }

  const Function& function_;
  const Frame& root_;
  const Pairs& pairs_;
};

}  // namespace

Assumed assumed_by(const Function& function, const Frame& root, const Pairs& pairs) {
  return std::move(Collected(function, root, pairs).assumed);
}

}  // namespace slicer
