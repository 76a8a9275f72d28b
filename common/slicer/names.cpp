#include "names.hpp"

#include <algorithm>

namespace slicer {

bool has_element(const Place& place) {
  return std::any_of(place.steps.begin(), place.steps.end(),
                     [](const Step& step) { return step.member.empty(); });
}

bool may_overlap(const Place& one, const Place& other) {
  const std::size_t common = std::min(one.steps.size(), other.steps.size());
  for (std::size_t s = 0; s < common; ++s)
    if (!one.steps[s].member.empty() && !other.steps[s].member.empty() &&
        one.steps[s].member != other.steps[s].member)
      return false;
  return true;
}

const Frame* together_with(const Frame* frame) {
  while (!frame->condition && !frame->loop && frame->parent) frame = frame->parent;
  return frame;
}

/// Whether an access within a frame may change a variable.
bool Names::changes(const Variable& variable, const Frame* frame) const {
  const auto [known, is_new] = function_.changes.insert({{&variable, frame}, false});
  if (!is_new) return known->second;
  const Place place = variable.of ? *variable.of : Place{const_cast<Variable*>(&variable), {}, {}};
  known->second =
      std::any_of(function_.accesses.begin(), function_.accesses.end(), [&](const Access& access) {
        if (!access.is_write) return false;
        const bool is_same = access.place.variable == place.variable;
        // The value is unknown after a write that may be made through another name.
        const bool may_be_other =
            !is_same && !variable.is_apart && !variable.is_constant && is_elsewhere(access);
        const bool is_own =
            is_same && !has_element(access.place) && may_overlap(access.place, place);
        return (may_be_other || is_own) && access.frame->is_within(frame);
      });
  return known->second;
}

Meaning Names::meaning(const Variable& variable, const Frame* used, const Frame* stable) const {
  for (const Frame* frame = used; frame; frame = frame->parent)
    if (frame->loop && frame->loop->variable == &variable) {
      if (counts(*frame->loop)) return {Meaning::counter, frame->loop};
      if (is_inside(frame)) return {};
    }
  if (variable.value && variable.is_fixed && is_lasting(*variable.value, variable, stable))
    return {Meaning::value, nullptr};
  if (is_inside(variable.frame)) return {};
  return {changes(variable, stable) ? Meaning::unknown : Meaning::size, nullptr};
}

/// Whether a term still has the value with which the variable `of` was initialised.
bool Names::is_lasting(const Term& term, const Variable& of, const Frame* stable) const {
  if (term.operation == Operation::unknown) return false;
  if (term.operation == Operation::symbol) {
    const Meaning means = meaning(*term.symbol, of.frame, stable);
    if (means.kind == Meaning::unknown) return false;
    if (means.kind == Meaning::size && !term.symbol->is_fixed &&
        may_change_after(*term.symbol, of.made_at))
      return false;
  }
  return std::all_of(term.operands.begin(), term.operands.end(),
                     [&](const Term& operand) { return is_lasting(operand, of, stable); });
}

/// Whether a variable may change after an access, in the order of the program. The answer is yes
/// for a variable that is not local, or to which pointers or references may exist.
bool Names::may_change_after(const Variable& variable, std::size_t access) const {
  const auto& accesses = function_.accesses;
  if (!variable.is_apart || !variable.frame || variable.of || access > accesses.size()) return true;
  return std::any_of(
      accesses.begin() + static_cast<std::ptrdiff_t>(access), accesses.end(),
      [&](const Access& later) { return later.is_write && later.place.variable == &variable; });
}

void Names::walk(const Term& term, const Frame* used, const Frame* stable,
                 const std::function<void(const Variable*, const Term&)>& visit) const {
  if (term.operation == Operation::unknown) visit(nullptr, term);
  if (term.operation == Operation::symbol) {
    const Meaning means = meaning(*term.symbol, used, stable);
    if (means.kind == Meaning::size) visit(term.symbol, term);
    if (means.kind == Meaning::unknown) visit(nullptr, term);
    if (means.kind == Meaning::value) walk(*term.symbol->value, term.symbol->frame, stable, visit);
  }
  for (const Term& operand : term.operands) walk(operand, used, stable, visit);
}

std::optional<Polynomial> Names::polynomial(const Term& term, const Frame* used,
                                            const Frame* stable) const {
  if (term.operation == Operation::constant)
    return term.value == 0 ? Polynomial{} : Polynomial{{{}, term.value}};
  if (term.operation == Operation::symbol) {
    const Meaning means = meaning(*term.symbol, used, stable);
    if (means.kind == Meaning::unknown) return {};
    if (means.kind == Meaning::value)
      return polynomial(*term.symbol->value, term.symbol->frame, stable);
    return Polynomial{{{term.symbol}, 1}};
  }
  if (term.operation != Operation::sum && term.operation != Operation::difference &&
      term.operation != Operation::product)
    return {};
  const auto one = polynomial(term.operands[0], used, stable);
  const auto other = polynomial(term.operands[1], used, stable);
  if (!one || !other) return {};
  if (term.operation == Operation::product) return product_of(*one, *other);
  return sum_of(*one, *other, term.operation == Operation::sum ? 1 : -1);
}

bool Names::is_elsewhere(const Access& access) {
  const Variable& variable = *access.place.variable;
  const auto leaves = std::count_if(access.place.steps.begin(), access.place.steps.end(),
                                    [](const Step& step) { return step.leaves; });
  if (access.place.is_elsewhere || variable.is_stray) return true;
  if (variable.is_named) return false;
  // A pointer to memory that the function allocates owns this memory, but not further pointees.
  if (leaves > 0) return leaves > 1 || !variable.owns || !variable.is_pointer;
  return !variable.owns && has_element(access.place);
}

}  // namespace slicer
