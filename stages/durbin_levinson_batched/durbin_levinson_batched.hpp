/// \file
/// The problem that every stage solves: many small Yule-Walker systems T y = -r.
///
/// Speech coders solve such a system for each frame of 20 ms, and statisticians for each series.
/// README.md in this directory explains the equations.

#pragma once

#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>

namespace durbin_levinson_batched {

// [Problem]
/// Autocorrelations r_0 = 1, r_1 ... r_n of each system. The matrix T of a system is n × n with
/// T(i, j) = r_|i-j|, and the unknown is the solution y of T y = -(r_1 ... r_n).
struct Problem {
  std::int64_t systems = 4096;
  std::int64_t n = 16;    ///< the order: number of unknowns of a system
  std::int64_t seed = 1;  ///< seed of the random reflection coefficients
  /// r_0 ... r_n of each system, from the user's input or generated from the seed
  staircase::Elements<double> r = {};

  staircase::View<double, 2> autocorrelations() {
    return {r.data(), {static_cast<std::size_t>(systems), static_cast<std::size_t>(n) + 1}};
  }
};

/// For each system, y_1 ... y_n in row 0 and the reflection coefficients alpha_1 ... alpha_n in
/// row 1.
template <typename T>
using Solution = staircase::Array<T, 3>;

/// The autocorrelations in the precision of the computation.
template <typename T>
staircase::Elements<T> rounded(const Problem& problem) {
  return {problem.r.begin(), problem.r.end()};
}
// [Problem]

#ifdef __CUDACC__
/// The maximum amount of shared memory of a thread block, in bytes.
inline std::size_t shared_memory() {
  int available = 0;
  staircase::check(cudaDeviceGetAttribute(&available, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  return available;
}
#endif

/// alpha_k of a system whose autocorrelations are generated from the seed.
double reflection_coefficient(const Problem& problem, std::size_t system, std::size_t k);

/// The description of a stage for the harness.
using Stage = staircase::Stage<Problem, 3>;

/// Runs a stage as a program, on the problem that the command line specifies; returns the exit
/// status. The directories of the stage's source give the names of the workload and the stage.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace durbin_levinson_batched
