/// \file
/// The definition of ranks_of_program() for programs that always consist of a single process.

#include <harness/ranks.hpp>

namespace staircase {

const Ranks* ranks_of_program() { return nullptr; }

}  // namespace staircase
