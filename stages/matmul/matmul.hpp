/// \file
/// The product C = A B of matrices in the host's memory, larger than the GPU's if need be: the
/// problem that every stage solves.
///
/// Matrices lie row by row. README.md beside this file has the mathematics.

#pragma once

#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>
#include <variant>

namespace matmul {

// [Problem]
/// The elements of a matrix, row by row, in the precision that is solved.
using Elements = std::variant<staircase::Elements<double>, staircase::Elements<float>>;

/// A of l × m numbers and B of m × n; wanted is C = A B, which is l × n.
struct Problem {
  std::int64_t l = 1024;
  std::int64_t m = 2000;
  std::int64_t n = 777;
  std::int64_t seed = 1;        ///< of the random numbers
  double budget = 0;            ///< bytes of a device that slices may take; 0: what it has
  std::int64_t sl = 0, sn = 0;  ///< slices along the rows and the columns of C; 0: as few as fit
  std::int64_t gpus = 0;        ///< that slices are dealt to; 0: all
  Elements elements_of_a = {}, elements_of_b = {};

  template <typename T>
  staircase::View<const T, 2> a() const {
    return {std::get<staircase::Elements<T>>(elements_of_a).data(),
            {static_cast<std::size_t>(l), static_cast<std::size_t>(m)}};
  }
  template <typename T>
  staircase::View<const T, 2> b() const {
    return {std::get<staircase::Elements<T>>(elements_of_b).data(),
            {static_cast<std::size_t>(m), static_cast<std::size_t>(n)}};
  }
};

template <typename T>
using Product = staircase::Array<T, 2>;
// [Problem]

// [Slices]
/// A rectangle of C: so many rows from row i0 on, so many columns from column j0 on. It takes those
/// rows of A and those columns of B, whole.
struct Slice {
  std::size_t i0, rows, j0, cols;
};

/// C in sl × sn slices of `rows` × `cols`; the last ones along each side may be smaller.
struct Slices {
  std::size_t l, n;        ///< rows and columns of C
  std::size_t rows, cols;  ///< of a slice
  std::size_t sl, sn;      ///< slices along the rows and along the columns

  std::size_t count() const { return sl * sn; }

  /// Slice e: the digits of e are s_0 along the rows, which runs fastest, and s_1 along the
  /// columns.
  Slice operator()(std::size_t e) const {
    const std::size_t i0 = e % sl * rows, j0 = e / sl * cols;
    return {i0, i0 + rows < l ? rows : l - i0, j0, j0 + cols < n ? cols : n - j0};
  }
};

/// As many slices as the problem asks for. Where it leaves the choice: of those of which `buffers`
/// sets of A's rows, B's columns and C's slice fit into the budget, and which are cut into `least`
/// at least, the ones for which the least of A and B is moved. None is empty: parts that the others
/// leave nothing for do not count.
/// \throws NotEnoughMemory if the budget holds no slice, or not those that are asked for
Slices slices_of(const Problem& problem, std::size_t buffers, std::size_t bytes_of_element,
                 std::size_t least = 1);
// [Slices]

// [Panels]
/// Slices of which those beside each other have the same rows of A, and those below each other the
/// same columns of B: panels. A group of A's stays on the device while all of B's come and go.
struct Panels {
  Slices slices;
  std::size_t kept;    ///< panels of A on the device: a group
  std::size_t coming;  ///< panels of B on the device
};

/// What a line of a panel, a row of A or a column of B, takes on the device: in the panel, and on
/// its way there. And how many columns a panel of B has at most, if all of A's stay, and how many
/// slices of C are on the device.
struct Line {
  std::size_t bytes, bytes_on_the_way = 0;
  std::size_t most_columns = 2048;
  std::size_t slices = 2;
};

/// As many slices as the problem asks for. Where it leaves the choice, they have equal sides of at
/// most 2048, or what `line` says, or less if the budget does not hold a panel of A, two of B (or
/// the only one), the longest on its way and the slices of C. There are as few groups as the budget
/// allows; if more than one, they are of one size but for the last, and the rest of the budget is
/// for panels of B.
/// \throws NotEnoughMemory if the budget does not hold that for one element, or for those asked
/// for
Panels panels_of(const Problem& problem, std::size_t bytes_of_element, const Line& line);

/// The same where panels hold lines as they are.
Panels panels_of(const Problem& problem, std::size_t bytes_of_element);
// [Panels]

/// What a stage tells the harness of itself.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program, on the problem that the command line asks for; returns the exit
/// status. The workload and the stage are named after the directories that hold the stage's source.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace matmul
