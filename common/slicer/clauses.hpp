/// \file
/// What the pragmas of OpenMP say of a loop's variables.

#pragma once

#include <string>
#include <vector>

#include "nest.hpp"

namespace slicer {

/// The operator in a reduction clause.
std::string sign_of(Update update);

/// Whether a pragma is about a loop, and lets its iterations run together.
bool makes_parallel(const Pragma& pragma);

/// The pragma that makes a loop parallel.
const Pragma* parallel_pragma(const Loop& loop);

/// How many loops a pragma takes together; 0 if that cannot be read.
int collapsed(const Pragma& pragma);

/// What the pragmas of a loop say of a variable.
class Clauses {
 public:
  Clauses(const Loop& loop, const Pragma* pragma) : loop_(loop), pragma_(pragma) {}

  /// Each thread has its own: by a clause, or since the variable is declared in the region.
  bool is_private(const Variable& variable) const;
  bool reduces(const Variable& variable, Update update) const;

 private:
  bool is_counter(const Variable& variable) const;

  const Loop& loop_;
  const Pragma* pragma_;
};

}  // namespace slicer
