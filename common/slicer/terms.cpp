#include "terms.hpp"

#include <algorithm>
#include <utility>

namespace slicer {

Term constant(long value) { return {Operation::constant, value, nullptr, {}, {}}; }
Term symbol(Variable* variable) { return {Operation::symbol, 0, variable, variable->name, {}}; }
Term unknown(std::string text) { return {Operation::unknown, 0, nullptr, std::move(text), {}}; }
Term made(Operation operation, std::vector<Term> operands) {
  return {operation, 0, nullptr, {}, std::move(operands)};
}
Term negated(Term term) { return made(Operation::negation, {std::move(term)}); }

bool are_same(const Term& one, const Term& other) {
  return one.operation != Operation::unknown && one.operation == other.operation &&
         one.value == other.value && one.symbol == other.symbol && one.bits == other.bits &&
         std::equal(one.operands.begin(), one.operands.end(), other.operands.begin(),
                    other.operands.end(), are_same);
}

bool mentions(const Term& term, const Variable* variable) {
  return (term.operation == Operation::symbol && term.symbol == variable) ||
         std::any_of(term.operands.begin(), term.operands.end(),
                     [&](const Term& operand) { return mentions(operand, variable); });
}

bool may_be_negative(const Term& term) {
  switch (term.operation) {
    case Operation::constant:
      return term.value < 0;
    case Operation::symbol:
      return term.symbol->value ? may_be_negative(*term.symbol->value) : !term.symbol->is_natural;
    case Operation::sum:
    case Operation::product:
    case Operation::quotient:
    case Operation::minimum:
    case Operation::maximum:
      return std::any_of(term.operands.begin(), term.operands.end(), may_be_negative);
    default:
      return true;
  }
}

bool is_known(const Term& term) {
  return term.operation != Operation::unknown &&
         std::all_of(term.operands.begin(), term.operands.end(), is_known);
}

bool stays(const Term& term) {
  return is_known(term) && (!term.symbol || term.symbol->is_fixed) &&
         std::all_of(term.operands.begin(), term.operands.end(), stays);
}

namespace {

/// The change of a term per unit of a variable, if this change is constant.
std::optional<long> slope(const Term& term, const Variable* variable) {
  if (!mentions(term, variable)) return 0;
  if (term.operation == Operation::symbol) return 1;
  std::vector<long> slopes;
  for (const Term& operand : term.operands) {
    const auto of_operand = slope(operand, variable);
    if (!of_operand) return {};
    slopes.push_back(*of_operand);
  }
  if (term.operation == Operation::sum) return slopes[0] + slopes[1];
  if (term.operation == Operation::difference) return slopes[0] - slopes[1];
  if (term.operation == Operation::product) {
    if (term.operands[0].operation == Operation::constant)
      return term.operands[0].value * slopes[1];
    if (term.operands[1].operation == Operation::constant)
      return term.operands[1].value * slopes[0];
  }
  return {};
}

}  // namespace

bool bounds(const Term& condition, const Variable* variable, long step) {
  if (condition.operation == Operation::both)
    return bounds(condition.operands[0], variable, step) &&
           bounds(condition.operands[1], variable, step);
  if (condition.operation == Operation::negation &&
      condition.operands[0].operation == Operation::less)
    return bounds(made(Operation::at_most,
                       {condition.operands[0].operands[1], condition.operands[0].operands[0]}),
                  variable, step);
  if (condition.operation != Operation::less && condition.operation != Operation::at_most)
    return false;
  const auto left = slope(condition.operands[0], variable);
  const auto right = slope(condition.operands[1], variable);
  return left && right && (*right - *left) * step < 0;
}

}  // namespace slicer
