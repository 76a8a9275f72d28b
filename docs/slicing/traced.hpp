/// \file
/// A memory that logs how a piece of a program uses each cell. From the log, the memory derives
/// Bernstein's four kinds of cells, his conditions, and condition (2) of \ref slicing_a_loop.

#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "slices.hpp"

namespace slicing {

/// An element in memory: the name of its array, and its position in the array.
struct Cell {
  std::string array;
  Index row = 0, col = 0;
  auto operator<=>(const Cell&) const = default;
};

using Cells = std::set<Cell>;
using Numbers = std::map<Cell, Index>;

// [kinds]
/// How a piece of a program uses each cell that it accesses: W is only read, X is only written, Y
/// is read and then written, and Z is written and then read.
using Kinds = std::map<Cell, char>;

/// The kind of a cell after it is read.
inline char once_read(char kind) { return kind == ' ' ? 'W' : kind == 'X' ? 'Z' : kind; }

/// The kind of a cell after it is written.
inline char once_written(char kind) { return kind == ' ' ? 'X' : kind == 'W' ? 'Y' : kind; }
// [kinds]

/// The values of all cells, and the kinds of the cells accessed since the last call of `look`.
class Memory {
 public:
  explicit Memory(Numbers numbers) : numbers_(std::move(numbers)) {}

  Index read(const Cell& cell) {
    const auto found = numbers_.find(cell);
    if (found == numbers_.end()) throw std::out_of_range("nothing was written to " + cell.array);
    char& kind = kinds_.try_emplace(cell, ' ').first->second;
    kind = once_read(kind);
    return found->second;
  }

  void write(const Cell& cell, Index number) {
    numbers_[cell] = number;
    char& kind = kinds_.try_emplace(cell, ' ').first->second;
    kind = once_written(kind);
  }

  /// Returns the kinds of the cells accessed since the last call.
  Kinds look() { return std::exchange(kinds_, {}); }

  const Numbers& numbers() const { return numbers_; }

 private:
  Numbers numbers_;
  Kinds kinds_;
};

/// A cell that is used like a variable.
class Variable {
 public:
  Variable(Memory& memory, Cell cell) : memory_(memory), cell_(std::move(cell)) {}
  operator Index() const { return memory_.read(cell_); }
  void operator=(Index number) const { memory_.write(cell_, number); }
  void operator=(const Variable& other) const { *this = Index(other); }
  void operator+=(Index number) const { *this = *this + number; }
  void operator-=(Index number) const { *this = *this - number; }

 private:
  Memory& memory_;
  Cell cell_;
};

/// An array in a memory: the element a(i, j) can be used like a variable.
class Array {
 public:
  Array(Memory& memory, std::string name) : memory_(memory), name_(std::move(name)) {}
  Variable operator()(Index i = 0, Index j = 0) const { return {memory_, {name_, i, j}}; }

 private:
  Memory& memory_;
  std::string name_;
};

/// The cells whose kind is one of `wanted`.
inline Cells of(const Kinds& kinds, std::string_view wanted) {
  Cells cells;
  for (const auto& [cell, kind] : kinds)
    if (wanted.find(kind) != wanted.npos) cells.insert(cell);
  return cells;
}

/// The cells that are in both sets.
inline Cells both(const Cells& one, const Cells& two) {
  Cells cells;
  std::ranges::set_intersection(one, two, std::inserter(cells, cells.end()));
  return cells;
}

// [condition 2]
/// The cells because of which condition (2) forbids exchanging two iterations, or running them
/// concurrently.
inline Cells against_2(const Kinds& one, const Kinds& two) {
  Cells found = both(of(one, "WYZ"), of(two, "XYZ"));  // p(one), q(two)
  found.merge(both(of(one, "XYZ"), of(two, "WYZ")));   // q(one), p(two)
  found.merge(both(of(one, "XYZ"), of(two, "XYZ")));   // q(one), q(two)
  return found;
}
// [condition 2]

// [bernstein]
/// The cells that violate Bernstein's conditions. The rest of the program (piece 3) reads the cells
/// of `later` before writing to them.
inline Cells against_bernstein(const Kinds& one, const Kinds& two, const Cells& later) {
  Cells found = both(of(one, "WYZ"), of(two, "XYZ"));
  found.merge(both(of(one, "XYZ"), of(two, "WYZ")));
  found.merge(both(both(of(one, "X"), of(two, "X")), later));
  return found;
}
// [bernstein]

}  // namespace slicing
