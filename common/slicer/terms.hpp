/// \file
/// Construction and properties of terms.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest.hpp"

namespace slicer {

Term constant(long value);
Term symbol(Variable* variable);
Term unknown(std::string text);
Term made(Operation operation, std::vector<Term> operands);
Term negated(Term term);

/// Whether two terms are known and have the same form, so that they have the same value.
bool are_same(const Term& one, const Term& other);
bool mentions(const Term& term, const Variable* variable);
/// Whether a term may be negative, judged by its form.
bool may_be_negative(const Term& term);
bool is_known(const Term& term);
/// Whether a term is known and never changes.
bool stays(const Term& term);
/// Whether a condition, once false, stays false in all later iterations of a loop.
bool bounds(const Term& condition, const Variable* variable, long step);

}  // namespace slicer
