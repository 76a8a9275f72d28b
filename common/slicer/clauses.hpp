/// \file
/// The clauses of OpenMP for the variables of a loop.

#pragma once

#include <string>
#include <vector>

#include "nest.hpp"

namespace slicer {

/// The operator in a reduction clause.
std::string sign_of(Update update);

/// Whether a pragma makes a loop parallel.
bool makes_parallel(const Pragma& pragma);

/// The pragma that makes a loop parallel.
const Pragma* parallel_pragma(const Loop& loop);

/// The number of loops that a pragma collapses; 0 if it cannot be read.
int collapsed(const Pragma& pragma);

/// The clauses of a loop's pragmas for a variable.
class Clauses {
 public:
  Clauses(const Loop& loop, const Pragma* pragma) : loop_(loop), pragma_(pragma) {}

  /// Whether each thread has its own variable, by a clause or by a declaration in the region.
  bool is_private(const Variable& variable) const;
  bool reduces(const Variable& variable, Update update) const;

 private:
  bool is_counter(const Variable& variable) const;

  const Loop& loop_;
  const Pragma* pragma_;
};

}  // namespace slicer
