/// \file
/// What a workload tells the harness: its parameters, data sets, test cases, work and tolerance.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "array.hpp"
#include "compare.hpp"
#include "npy.hpp"

namespace staircase {

/// The floating-point type that a solve computes in.
enum class Precision { f64, f32 };

/// Bytes of one number.
constexpr double bytes_of(Precision precision) { return precision == Precision::f64 ? 8 : 4; }

/// A number of the problem that users may set.
template <typename Problem>
struct Parameter {
  std::string name;
  std::variant<std::int64_t Problem::*, double Problem::*> member;
  double min;  ///< the least value allowed
  double max;  ///< the greatest value allowed
  std::string help;
};

/// A problem with a name.
template <typename Problem>
struct NamedProblem {
  std::string name;
  Problem problem;
};

/// The array that `--input` reads.
struct InputFormat {
  std::size_t rank;     ///< number of dimensions
  double min;           ///< the least value allowed
  double max;           ///< the greatest value allowed
  double typical;       ///< tests draw values up to this, from its negative or min if greater
  std::string meaning;  ///< what it holds, for the help text
  std::size_t least_elements = 1;    ///< the fewest elements of a row allowed
  std::optional<double> first = {};  ///< what tests make the first of a row, if it is special
};

/// The work that the problem needs whatever the stage.
struct Work {
  double flops;  ///< additions, multiplications, divisions and elementary functions, one each
  double bytes;  ///< compulsory traffic: input read once, solution written once
  bool matrix = false;  ///< a product of matrices, which tensor cores may do
};

/// A workload; its solution is an array of `rank` dimensions.
template <typename ProblemType, std::size_t solution_rank>
struct Workload {
  using Problem = ProblemType;
  static constexpr std::size_t rank = solution_rank;

  std::vector<Parameter<Problem>> parameters;
  std::vector<NamedProblem<Problem>> datasets;    ///< the first is the default
  std::vector<NamedProblem<Problem>> test_cases;  ///< awkward sizes, for the contract suite
  InputFormat input;
  void (*set_input)(Problem&, NpyArray);     ///< takes over a checked input array
  void (*check)(const Problem&, Precision);  ///< throws BadInput on what ranges cannot say
  /// Makes the input that the parameters stand for, before the time is taken; null if solve() takes
  /// it from the parameters themselves. An array that set_input() took over is there already.
  void (*prepare)(Problem&) = nullptr;
  Work (*work)(const Problem&, Precision);
  /// How far a stage's solution in a precision may lie from stage zero's in f64.
  Tolerance (*tolerance)(const Problem&, Precision);
  /// The phase by whose time stages are compared; null for the whole solve.
  const char* timed_phase = nullptr;
  /// Throws BadInput if a solution shows that the input has none; null if every input has one. It
  /// sees the solution before the harness refuses what is not finite.
  void (*check_solution)(const Problem&, const NpyArray&) = nullptr;
};

}  // namespace staircase
