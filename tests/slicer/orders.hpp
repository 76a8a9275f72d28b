/// \file
/// Transformations of random nests, and the order in which the transformed statements run.

#pragma once

#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "nests.hpp"

namespace slicer::test {

/// A transformation as a pragma requests it.
struct Asked {
  enum { interchange, skew, tile, distribute, fuse, expand } what;
  std::vector<std::pair<std::size_t, long>> loops;  ///< the loops, with factors or lengths of tiles
  int array = 0;                                    ///< the array that is expanded
};

std::string text_of(const Asked& asked);

/// Nests, and the transformations that are requested for one loop of the first nest.
struct Case {
  std::vector<Nest> nests;
  std::size_t loop = 0;
  std::vector<Asked> asked;
};

Case random_case(std::mt19937& random);

/// A read or write in a nest.
struct Event {
  std::size_t nest;
  Touch touch;
};

std::vector<Event> run(const Case& of, long n, long m);

/// Whether the first `count` transformations reverse, or may reverse, the order of two events.
bool is_reversed(const Case& of, std::size_t count, const Event& first, const Event& second);

}  // namespace slicer::test
