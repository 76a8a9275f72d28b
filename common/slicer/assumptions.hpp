/// \file
/// The assumptions of a verdict, and statements of the file that contradict them.

#pragma once

#include <string>
#include <vector>

#include "pairs.hpp"

namespace slicer {

struct Assumed {
  std::vector<Assumption> list;
  std::string contradiction;  ///< a statement that contradicts an assumption, or empty
};

/// Whether two accesses may overlap according to the rules of C++. If so, a verdict needs the
/// assumption that they do not overlap.
bool need_assumption(const Access& one, const Access& other);

/// The assumptions that a verdict on the accesses in a frame requires.
/// \throws isl::exception if the sets are too complicated
Assumed assumed_by(const Function& function, const Frame& root, const Pairs& pairs);

}  // namespace slicer
