/// \file
/// The Yule-Walker equations T y = -r: the problem that every stage solves.
///
/// The autocorrelations of a stationary process form a symmetric Toeplitz matrix T; y predicts the
/// process from its past. README.md in this directory explains the mathematics.

#pragma once

#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>

namespace durbin_levinson {

/// The source of the autocorrelations.
enum Model : std::int64_t {
  arfima,          ///< ARFIMA(0, d, 0), whose partial autocorrelations are d / (k - d)
  gaussian_noise,  ///< fractional Gaussian noise with Hurst exponent d + 1/2
  cosines,         ///< damped cosines plus white noise
  given            ///< from the user's file
};

// [Problem]
/// Autocorrelations r_0 = 1, r_1 ... r_n. T is n × n with T(i, j) = r_|i-j|; the unknown is the
/// solution y of T y = -(r_1 ... r_n).
struct Problem {
  std::int64_t n = 1000;  ///< the order: number of unknowns
  double d = 0.3;         ///< memory parameter of the process, for the first two models
  std::int64_t model = arfima;
  staircase::Elements<double> r = {};  ///< r_0 ... r_n, from the user or the model
};

/// y_0 ... y_(n-1) in row 0; the reflection coefficients alpha_1 ... alpha_n in row 1.
template <typename T>
using Solution = staircase::Array<T, 2>;

/// The autocorrelations in the precision of the computation.
template <typename T>
staircase::Elements<T> rounded(const Problem& problem) {
  return {problem.r.begin(), problem.r.end()};
}
// [Problem]

/// The description of a stage for the harness.
using Stage = staircase::Stage<Problem, 2>;

/// Runs a stage as a program, on the problem that the command line specifies; returns the exit
/// status. The workload and the stage are named after the directories that contain the source.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace durbin_levinson
