/// \file
/// Random nests of loops: their text, and the elements that they access when they run.

#pragma once

#include <array>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace slicer::test {

/// An affine expression: a constant, plus multiples of the two sizes n and m, plus multiples of the
/// counters of the surrounding loops.
struct Affine {
  long constant = 0;
  std::array<long, 2> of_sizes{};
  std::vector<long> of_counters;
};

struct Element {
  int array;  ///< 0 and 1 are matrices, 2 and 3 are vectors, and 4 is a scalar
  std::vector<Affine> subscripts;
};

/// A condition on the value of an affine expression, which guards a loop or a statement.
struct Guard {
  Affine number;
  int comparison;  ///< 0: >= 0, 1: == 0, 2: divisible by two
};

struct Statement {
  Element to;
  std::vector<Element> from;
  int update;  ///< 0: none, 1: a sum, 2: a product
  std::vector<Guard> guards;
};

struct Loop {
  std::vector<Affine> first, last;  ///< the counter is at least the largest of `first`, and less
                                    ///< than the smallest of `last`
  long step = 1;
  std::vector<Guard> guards;
};

/// Nested loops, with statements before and after the inner loop.
struct Nest {
  std::vector<Loop> loops;
  std::vector<std::vector<Statement>> before, behind;  ///< the statements in each loop before and
                                                       ///< after its inner loop
};

Nest random_nest(std::mt19937& random);

/// The names of the arrays by index, and of the counters by depth of their loops.
extern const std::array<std::string, 5> arrays;
extern const std::array<std::string, 3> counters;

/// The text of a function with consecutive nests. `lines` receives the lines of their loops,
/// counted from 0. `pragma` precedes the loop with index `loop` of the first nest.
std::string text_of(const std::vector<Nest>& nests, const std::string& name,
                    std::vector<int>& lines, std::size_t loop = 0, const std::string& pragma = "");

std::string text_of(const Nest& nest, const std::string& name, std::vector<int>& lines);

std::string text_of(const Element& element);

/// A read or write of an element in an iteration.
struct Touch {
  std::vector<long> element;  ///< the index of the array, then the subscripts
  bool is_write;
  int update;
  std::vector<long> counters;
  std::vector<long> times;  ///< the index of the iteration of each loop
  std::vector<long> parts;  ///< the index of the statement in the body of each loop
};

std::vector<Touch> run(const Nest& nest, long n, long m);

}  // namespace slicer::test
