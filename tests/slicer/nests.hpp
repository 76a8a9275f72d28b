/// \file
/// Random nests of loops: their text, and what they touch when they run.

#pragma once

#include <array>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace slicer::test {

/// a + b n + c m + the sum of multiples of the counters of the loops around.
struct Affine {
  long constant = 0;
  std::array<long, 2> of_sizes{};
  std::vector<long> of_counters;
};

struct Element {
  int array;  ///< 0 and 1 are matrices, 2 and 3 vectors, 4 a scalar
  std::vector<Affine> subscripts;
};

/// What a loop or a statement is subject to: a comparison of an affine number with zero.
struct Guard {
  Affine number;
  int comparison;  ///< 0: >= 0, 1: == 0, 2: divisible by two
};

struct Statement {
  Element to;
  std::vector<Element> from;
  int update;  ///< 0 none, 1 a sum, 2 a product
  std::vector<Guard> guards;
};

struct Loop {
  std::vector<Affine> first, last;  ///< the largest of the first, and the smallest of the last
  long step = 1;
  std::vector<Guard> guards;
};

/// Loops, one in another, with statements in front of the inner loop and behind it.
struct Nest {
  std::vector<Loop> loops;
  std::vector<std::vector<Statement>> before, behind;  ///< of each loop
};

Nest random_nest(std::mt19937& random);

/// The arrays by their numbers, and the counters by the depth of their loops.
extern const std::array<std::string, 5> arrays;
extern const std::array<std::string, 3> counters;

/// The text of a function with nests one after the other; the lines of their loops are counted from
/// zero. A pragma may stand in front of a loop of the first.
std::string text_of(const std::vector<Nest>& nests, const std::string& name,
                    std::vector<int>& lines, std::size_t loop = 0, const std::string& pragma = "");

std::string text_of(const Nest& nest, const std::string& name, std::vector<int>& lines);

std::string text_of(const Element& element);

/// What happens to an element in an iteration.
struct Touch {
  std::vector<long> element;  ///< the array, then subscripts
  bool is_write;
  int update;
  std::vector<long> counters;
  std::vector<long> times;  ///< which iteration of each loop it is
  std::vector<long> parts;  ///< which statement of each loop's body
};

std::vector<Touch> run(const Nest& nest, long n, long m);

}  // namespace slicer::test
