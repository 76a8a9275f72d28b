/// \file The problem that every stage solves: the product C = A B of matrices in the host's memory.
/// The matrices may be larger than the GPU's memory.
///
/// Matrices are stored row by row. README.md in this directory explains the mathematics.

#pragma once

#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>
#include <variant>

namespace matmul {

// [Problem]
/// The elements of a matrix, row by row, in the precision of the computation.
using Elements = std::variant<staircase::Elements<double>, staircase::Elements<float>>;

/// A with l × m elements and B with m × n; the solution is C = A B, with l × n elements.
struct Problem {
  std::int64_t l = 1024;
  std::int64_t m = 2000;
  std::int64_t n = 777;
  std::int64_t seed = 1;        ///< seed of the random elements
  double budget = 0;            ///< bytes for slices; 0: most of a GPU's free memory, or a cache
  std::int64_t sl = 0, sn = 0;  ///< slices along the rows and the columns of C; 0: as few as fit
  std::int64_t gpus = 0;        ///< number of GPUs that compute slices; 0: all
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
/// A rectangle of C: `rows` rows beginning at row i0, and `cols` columns beginning at column j0. A
/// slice needs the complete rows of A and the complete columns of B with the same indices.
struct Slice {
  std::size_t i0, rows, j0, cols;
};

/// C in sl × sn slices of `rows` × `cols`; the last slices along each side may be smaller.
struct Slices {
  std::size_t l, n;        ///< rows and columns of C
  std::size_t rows, cols;  ///< rows and columns of a slice
  std::size_t sl, sn;      ///< numbers of slices along the rows and the columns

  std::size_t count() const { return sl * sn; }

  /// Returns slice e = i + sl j, which is slice i along the rows of C and slice j along the
  /// columns. The indices i and j begin at zero.
  Slice operator()(std::size_t e) const {
    const std::size_t i0 = e % sl * rows, j0 = e / sl * cols;
    return {i0, i0 + rows < l ? rows : l - i0, j0, j0 + cols < n ? cols : n - j0};
  }
};

/// The slices that the problem requests, or at least `least` slices if the problem requests none.
/// The budget must suffice for `buffers` sets of buffers for a slice (rows of A, columns of B, part
/// of C). Of all such divisions, the one that transfers the fewest elements of A and B is chosen.
/// No slice is empty.
/// \throws NotEnoughMemory if the smallest or the requested slices do not fit into the budget
Slices slices_of(const Problem& problem, std::size_t buffers, std::size_t bytes_of_element,
                 std::size_t least = 1);
// [Slices]

// [Panels]
/// Slices with their panels. Slices in the same rows of C need the same rows of A (a panel of A),
/// and slices in the same columns need the same columns of B (a panel of B). A group of panels of A
/// stays on the device while all panels of B are transferred.
struct Panels {
  Slices slices;
  std::size_t kept;    ///< panels of A on the device: the size of a group
  std::size_t coming;  ///< panels of B on the device
};

/// Bytes of a line (a row of A or a column of B) on the device: in its panel, and in the buffer
/// that it passes through. `most_columns` limits the columns of a panel of B if all panels of A
/// stay on the device, and `slices` is the number of slices of C on the device.
struct Line {
  std::size_t bytes, bytes_in_transit = 0;
  std::size_t most_columns = 2048;
  std::size_t slices = 2;
};

/// The slices that the problem requests. If the problem requests none, all slices have about the
/// same size, with at most 2048 rows and `line.most_columns` columns. Slices are smaller if the
/// budget is too small for a panel of A, two panels of B (or the only one), the buffer for the
/// longest panel in transit, and the slices of C. There are as few groups as the budget permits. If
/// there are several groups, all groups except the last have the same size, and the rest of the
/// budget is used for panels of B.
/// \throws NotEnoughMemory if the budget is too small for slices of one element, or for the
/// requested slices
Panels panels_of(const Problem& problem, std::size_t bytes_of_element, const Line& line);

/// Overload for panels whose lines are stored as in A and B.
Panels panels_of(const Problem& problem, std::size_t bytes_of_element);
// [Panels]

/// The description of a stage for the harness.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program, on the problem that the command line specifies; returns the exit
/// status. The workload and the stage are named after the directories of the stage's source.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace matmul
