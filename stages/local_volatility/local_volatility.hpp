/// \file
/// Local volatility calibration: the problem that every stage solves.
///
/// One call option a strike is priced by solving a two-factor partial differential equation
/// backwards in time. The benchmark is LocVolCalib of FinPar (Andreetta et al., "FinPar: A Parallel
/// Financial Benchmark", ACM TACO 13(2), 2016); README.md beside this file has the mathematics.

#pragma once

#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>

namespace local_volatility {

// [Problem]
/// A number of call options on one spot, priced on grids of one size.
struct Problem {
  std::int64_t outer = 16;   ///< number of options
  std::int64_t num_x = 32;   ///< grid points of the spot price x
  std::int64_t num_y = 256;  ///< grid points of the logarithm y of the volatility
  std::int64_t num_t = 256;  ///< points in time
  double s0 = 0.03;          ///< spot price today
  double t = 5;              ///< maturity in years
  double alpha = 0.2;        ///< volatility today
  double nu = 0.6;           ///< volatility of the volatility
  double beta = 0.5;         ///< elasticity: the spot's variance grows as x^(2 beta)
  staircase::Elements<double> strikes = {};  ///< the user's own, or empty for 0.001 k

  /// The strike of option k in 0..outer-1.
  double strike(std::size_t k) const {
    return strikes.empty() ? 0.001 * static_cast<double>(k) : strikes[k];
  }
  /// The strikes of all options.
  staircase::Elements<double> all_strikes() const;
};

/// One price an option, in the order of the strikes.
template <typename Real>
using Prices = staircase::Array<Real, 1>;
// [Problem]

/// What a stage tells the harness of itself.
using Stage = staircase::Stage<Problem, 1>;

/// Runs a stage as a program, on the problem that the command line asks for; returns the exit
/// status. The workload and the stage are named after the directories that hold the stage's source.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace local_volatility
