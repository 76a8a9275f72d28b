/// \file
/// The example nests of \ref slicing_a_loop. The nests compute with integers, so results can be
/// compared exactly.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "traced.hpp"

namespace slicing {

/// The values of the loop variables in one iteration.
using Iteration = std::vector<Index>;

/// A loop, or a nest of loops, with its input and the array that is its result.
struct Nest {
  std::string name;
  Numbers numbers;                    ///< the contents of memory before the loop
  std::string wanted;                 ///< the array that is read after the loop
  std::vector<Iteration> iterations;  ///< in sequential order
  std::function<void(Memory&, const Iteration&)> body;
};

/// Adds an array of small nonzero integers.
inline void fill(Numbers& numbers, const std::string& array, Index rows, Index cols = 1) {
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) numbers[{array, i, j}] = 1 + (7 * i + 3 * j + array[0]) % 11;
}

/// All iteration vectors within some ranges, in sequential order: the last loop runs fastest.
inline std::vector<Iteration> box(const std::vector<Range>& ranges) {
  std::vector<Iteration> found{{}};
  for (const Range& range : ranges) {
    std::vector<Iteration> longer;
    for (const Iteration& begun : found)
      for (Index i = range.first; i < range.last; ++i) {
        longer.push_back(begun);
        longer.back().push_back(i);
      }
    found = std::move(longer);
  }
  return found;
}

/// C = A B: an iteration computes one element of C.
inline Nest product(Index rows, Index cols, Index terms) {
  Nest nest{"C = A B, over i and j", {}, "c", box({{0, rows}, {0, cols}}), {}};
  fill(nest.numbers, "a", rows, terms);
  fill(nest.numbers, "b", terms, cols);
  nest.body = [terms](Memory& memory, const Iteration& at) {
    const Array a(memory, "a"), b(memory, "b"), c(memory, "c");
    const Index i = at[0], j = at[1];
    // [product]
    Index sum = 0;
    for (Index k = 0; k < terms; ++k) sum += a(i, k) * b(k, j);
    c(i, j) = sum;
    // [product]
  };
  return nest;
}

/// C = C + A B: an iteration adds one term to an element of C.
inline Nest product_of_terms(Index rows, Index cols, Index terms) {
  Nest nest = product(rows, cols, terms);
  nest.name = "C += A B, over i, j and k";
  nest.iterations = box({{0, rows}, {0, cols}, {0, terms}});
  fill(nest.numbers, "c", rows, cols);
  nest.body = [](Memory& memory, const Iteration& at) {
    const Array a(memory, "a"), b(memory, "b"), c(memory, "c");
    const Index i = at[0], j = at[1], k = at[2];
    // [term of a product]
    c(i, j) += a(i, k) * b(k, j);
    // [term of a product]
  };
  return nest;
}

/// Forces on bodies that are connected by springs. An iteration computes the force on one body.
inline Nest bodies(Index count) {
  Nest nest{"bodies, over i", {}, "f", box({{0, count}}), {}};
  fill(nest.numbers, "m", count);
  fill(nest.numbers, "x", count);
  nest.body = [count](Memory& memory, const Iteration& at) {
    const Array m(memory, "m"), x(memory, "x"), f(memory, "f");
    const Index i = at[0];
    // [bodies]
    Index sum = 0;
    for (Index j = 0; j < count; ++j)
      if (j != i) sum += m(j) * (x(j) - x(i));
    f(i) = sum;
    // [bodies]
  };
  return nest;
}

/// The same forces as in bodies(). An iteration computes the force of one body on another.
inline Nest pairs_of_bodies(Index count) {
  Nest nest = bodies(count);
  nest.name = "bodies, over i and j";
  nest.iterations = box({{0, count}, {0, count}});
  std::erase_if(nest.iterations, [](const Iteration& at) { return at[0] == at[1]; });
  fill(nest.numbers, "f", count);
  nest.body = [](Memory& memory, const Iteration& at) {
    const Array m(memory, "m"), x(memory, "x"), f(memory, "f");
    const Index i = at[0], j = at[1];
    // [pairs]
    f(i) += m(j) * (x(j) - x(i));
    // [pairs]
  };
  return nest;
}

/// The same forces as in bodies(). An iteration computes the force of a pair on both of its bodies.
inline Nest pairs_once(Index count) {
  Nest nest = pairs_of_bodies(count);
  nest.name = "bodies, each pair once";
  std::erase_if(nest.iterations, [](const Iteration& at) { return at[0] > at[1]; });
  nest.body = [](Memory& memory, const Iteration& at) {
    const Array m(memory, "m"), x(memory, "x"), f(memory, "f");
    const Index i = at[0], j = at[1];
    // [once]
    const Index distance = x(j) - x(i);
    f(i) += m(j) * distance;
    f(j) -= m(i) * distance;
    // [once]
  };
  return nest;
}

/// The input of both forms of a triangular solve. The diagonal is 1 or -1, so quotients are
/// integers.
inline Nest triangle(Index size) {
  Nest nest{"", {}, "x", box({{0, size}}), {}};
  fill(nest.numbers, "a", size, size);
  fill(nest.numbers, "b", size);
  for (Index i = 0; i < size; ++i) nest.numbers[{"a", i, i}] = i % 2 ? -1 : 1;
  return nest;
}

/// A x = b, first form: an iteration computes an unknown.
inline Nest solve_rows(Index size) {
  Nest nest = triangle(size);
  nest.name = "solve, first form, over i";
  nest.body = [](Memory& memory, const Iteration& at) {
    const Array a(memory, "a"), b(memory, "b"), x(memory, "x"), s(memory, "s");
    const Index i = at[0];
    // [first form]
    s() = 0;
    for (Index j = 0; j < i; ++j) s() += a(i, j) * x(j);
    x(i) = (b(i) - s()) / a(i, i);
    // [first form]
  };
  return nest;
}

/// The inner loop of the first form for the last unknown: an iteration adds one term.
inline Nest solve_rows_inner(Index size) {
  Nest nest = triangle(size);
  nest.name = "solve, first form, over j";
  nest.iterations.pop_back();
  nest.wanted = "s";
  fill(nest.numbers, "x", size);
  fill(nest.numbers, "s", 1);
  nest.body = [i = size - 1](Memory& memory, const Iteration& at) {
    const Array a(memory, "a"), x(memory, "x"), s(memory, "s");
    const Index j = at[0];
    s() += a(i, j) * x(j);
  };
  return nest;
}

/// A x = b, second form: an iteration computes an unknown and updates all equations below it.
inline Nest solve_columns(Index size) {
  Nest nest = triangle(size);
  nest.name = "solve, second form, over i";
  nest.body = [size](Memory& memory, const Iteration& at) {
    const Array a(memory, "a"), b(memory, "b"), x(memory, "x");
    const Index i = at[0];
    // [second form]
    x(i) = b(i) / a(i, i);
    for (Index j = i + 1; j < size; ++j) b(j) -= a(j, i) * x(i);
    // [second form]
  };
  return nest;
}

/// The inner loop of the second form for the first unknown: an iteration updates one equation.
inline Nest solve_columns_inner(Index size) {
  Nest nest = triangle(size);
  nest.name = "solve, second form, over j";
  nest.iterations.erase(nest.iterations.begin());
  nest.wanted = "b";
  fill(nest.numbers, "x", size);
  nest.body = [](Memory& memory, const Iteration& at) {
    const Array a(memory, "a"), b(memory, "b"), x(memory, "x");
    const Index i = 0, j = at[0];
    b(j) -= a(j, i) * x(i);
  };
  return nest;
}

/// A loop that logs its progress in a cell that is never read.
inline Nest noted(Index count) {
  Nest nest{"squares, and a note", {}, "c", box({{0, count}}), {}};
  fill(nest.numbers, "a", count);
  nest.body = [](Memory& memory, const Iteration& at) {
    const Array a(memory, "a"), c(memory, "c"), note(memory, "note");
    const Index i = at[0];
    // [note]
    c(i) = a(i) * a(i);
    note() = i;
    // [note]
  };
  return nest;
}

/// A loop whose iterations share a temporary variable.
inline Nest shared_place(Index count) {
  Nest nest = noted(count);
  nest.name = "squares, by way of t";
  nest.body = [](Memory& memory, const Iteration& at) {
    const Array a(memory, "a"), c(memory, "c"), t(memory, "t");
    const Index i = at[0];
    // [place]
    t() = a(i);
    c(i) = t() * t();
    // [place]
  };
  return nest;
}

/// The kinds of the cells of each iteration, if the iterations run in order.
inline std::vector<Kinds> traced(const Nest& nest) {
  Memory memory(nest.numbers);
  std::vector<Kinds> kinds;
  for (const Iteration& at : nest.iterations) {
    nest.body(memory, at);
    kinds.push_back(memory.look());
  }
  return kinds;
}

/// The result after the iterations have run in the given order.
inline Numbers result(const Nest& nest, const std::vector<Iteration>& order) {
  Memory memory(nest.numbers);
  for (const Iteration& at : order) nest.body(memory, at);
  Numbers numbers = memory.numbers();
  std::erase_if(numbers, [&](const auto& number) { return number.first.array != nest.wanted; });
  return numbers;
}

/// Whether the iterations, executed one at a time, give the same result in every order.
inline bool same_in_any_order(const Nest& nest) {
  const Numbers expected = result(nest, nest.iterations);
  std::vector<Iteration> order = nest.iterations;
  std::ranges::sort(order);
  do {
    try {
      if (result(nest, order) != expected) return false;
    } catch (const std::out_of_range&) {
      return false;  // a cell is read before it is written
    }
  } while (std::ranges::next_permutation(order).found);
  return true;
}

// [footprint]
/// The cells that are sent to the device for a slice, and the cells that are fetched.
struct Footprint {
  Cells in, out;
};

/// The footprint of iterations that start from the contents of `host`.
inline Footprint footprint(const Nest& nest, const std::vector<Iteration>& of_slice,
                           const Memory& host) {
  Memory trial(host.numbers());
  for (const Iteration& at : of_slice) nest.body(trial, at);
  const Kinds kinds = trial.look();
  return {of(kinds, "WY"), of(kinds, "XYZ")};
}
// [footprint]

// [loop 4]
/// Loop (4) for a slice: serialise, send, compute, fetch, deserialise.
inline void run_slice(const Nest& nest, const std::vector<Iteration>& of_slice, Memory& host) {
  const Footprint cells = footprint(nest, of_slice, host);
  std::vector<Index> sent, fetched;  // contiguous buffers

  for (const Cell& cell : cells.in) sent.push_back(host.read(cell));

  Numbers on_device;
  for (std::size_t n = 0; const Cell& cell : cells.in) on_device[cell] = sent[n++];
  Memory device(std::move(on_device));
  for (const Iteration& at : of_slice) nest.body(device, at);
  for (const Cell& cell : cells.out) fetched.push_back(device.read(cell));

  for (std::size_t n = 0; const Cell& cell : cells.out) host.write(cell, fetched[n++]);
}
// [loop 4]

}  // namespace slicing
