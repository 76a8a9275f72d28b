/// \file
/// Transformations of random nests, and the order in which their statements run then.

#pragma once

#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "nests.hpp"

namespace slicer::test {

/// A transformation, as a pragma has it.
struct Asked {
  enum { interchange, skew, tile, distribute, fuse, expand } what;
  std::vector<std::pair<std::size_t, long>> loops;  ///< with factors, or lengths of tiles
  int array = 0;                                    ///< that is expanded
};

std::string text_of(const Asked& asked);

/// Nests with transformations of a loop of the first.
struct Case {
  std::vector<Nest> nests;
  std::size_t loop = 0;
  std::vector<Asked> asked;
};

Case random_case(std::mt19937& random);

/// What happens in a nest.
struct Event {
  std::size_t nest;
  Touch touch;
};

std::vector<Event> run(const Case& of, long n, long m);

/// Whether one event that came before another comes behind it, or may do so, once a number of the
/// transformations are made.
bool is_reversed(const Case& of, std::size_t count, const Event& first, const Event& second);

}  // namespace slicer::test
