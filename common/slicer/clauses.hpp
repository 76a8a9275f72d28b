/// \file
/// The OpenMP clauses that determine how the threads of a loop share variables.

#pragma once

#include <string>
#include <vector>

#include "nest.hpp"

namespace slicer {

/// The operator in a reduction clause.
std::string sign_of(Update update);

/// Whether a pragma makes a loop parallel.
bool makes_parallel(const Pragma& pragma);

/// The name of a directive that the tool does not cover; empty if the tool covers the directive.
/// \param together all pragmas of the same statement
std::string uncovered(const Pragma& pragma, const std::vector<const Pragma*>& together = {});

/// The property of a pragma's directive or clauses that prevents the tool from checking the pragma;
/// empty if there is none.
std::string doubt_of(const Pragma& pragma, const Source& source);

/// The mutual exclusion at an access within a loop: `atomic`, or `critical` with its name.
std::string guard_of(const Access& access, const Loop& loop);

/// The property of the code around a loop (such as an enclosing `single` directive) that prevents
/// the tool from checking the pragma; empty if there is none.
std::string surroundings_of(const Loop& loop, const Pragma& pragma);

/// The pragma that makes a loop parallel.
const Pragma* parallel_pragma(const Loop& loop);

/// Whether a clause of a pragma may read the value that a variable had before the pragma.
bool may_read(const Pragma& pragma, const std::string& name);

/// The number of loops that a pragma collapses; 0 if this number cannot be read.
int collapsed(const Pragma& pragma);

/// How the threads of a loop share a variable.
struct Sharing {
  bool is_private = false;    ///< each thread has its own copy
  bool is_counter = false;    ///< the variable of a collapsed loop
  bool is_of_region = false;  ///< the variable is declared in the parallel region
  bool takes_value = false;   ///< firstprivate: each copy starts with the variable's value
  bool leaves_value = false;  ///< lastprivate: the last iteration's copy is assigned to the
                              ///< variable
};

/// The clauses of a loop's pragmas for a variable.
class Clauses {
 public:
  Clauses(const Loop& loop, const Pragma* pragma) : loop_(loop), pragma_(pragma) {}

  /// The sharing of a variable, as determined by a clause or by a declaration in the region.
  Sharing sharing(const Variable& variable) const;
  bool is_private(const Variable& variable) const { return sharing(variable).is_private; }
  /// The operator of the reduction clause that names a variable.
  std::string reduction_of(const Variable& variable) const;
  bool reduces(const Variable& variable, Update update) const;
  /// The array section, such as [0:n], with which a reduction clause names a variable; empty if
  /// there is none.
  std::vector<std::string> section_of(const Variable& variable) const;

 private:
  bool is_counter(const Variable& variable) const;
  bool names_it(const char* clause, const Variable& variable) const;

  const Loop& loop_;
  const Pragma* pragma_;
};

}  // namespace slicer
