/// \file
/// Local volatility calibration: the problem that every stage solves.
///
/// For each strike, a stage prices a call option by solving a two-factor partial differential
/// equation backwards in time. The benchmark is LocVolCalib of FinPar (Andreetta et al., "FinPar: A
/// Parallel Financial Benchmark", ACM TACO 13(2), 2016); README.md next to this file explains the
/// mathematics.

#pragma once

#include <cstddef>
#include <cstdint>
#include <staircase/stage.hpp>

namespace local_volatility {

// [Problem]
/// Call options on the same spot, priced on grids of the same size.
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
  staircase::Elements<double> strikes = {};  ///< strikes of the user; if empty, strike k is 0.001 k

  /// The strike of option k in 0..outer-1.
  double strike(std::size_t k) const {
    return strikes.empty() ? 0.001 * static_cast<double>(k) : strikes[k];
  }
  /// The strikes of all options.
  staircase::Elements<double> all_strikes() const;
};

/// One price per option, in the order of the strikes.
template <typename Real>
using Prices = staircase::Array<Real, 1>;
// [Problem]

// [derivatives]
/// The coefficients of the first and the second derivative at one point of a grid, for the point
/// before it, the point itself and the point after it.
template <typename Real>
struct Derivatives {
  Real d[3], dd[3];
};

/// Returns the coefficients at point i of a grid z, whose spacing may vary. At the ends of the
/// grid, the first derivative is one-sided and the second one is 0.
template <typename Real>
constexpr Derivatives<Real> derivatives(staircase::View<double, 1> z, std::size_t i) {
  const std::size_t last = z.extent(0) - 1;
  if (i == 0) {
    const double u = z(1) - z(0);
    return {{0, Real(-1 / u), Real(1 / u)}, {0, 0, 0}};
  }
  if (i == last) {
    const double l = z(last) - z(last - 1);
    return {{Real(-1 / l), Real(1 / l), 0}, {0, 0, 0}};
  }
  const double l = z(i) - z(i - 1);
  const double u = z(i + 1) - z(i);
  return {{Real(-u / l / (l + u)), Real((u / l - l / u) / (l + u)), Real(l / u / (l + u))},
          {Real(2 / l / (l + u)), Real(-2 * (1 / l + 1 / u) / (l + u)), Real(2 / u / (l + u))}};
}

/// Computes the coefficients at all points of a grid z: row i of d and of dd belongs to point i.
template <typename Real>
constexpr void init_operator(staircase::View<double, 1> z, staircase::View<Real, 2> d,
                             staircase::View<Real, 2> dd) {
  for (std::size_t i = 0; i < z.extent(0); ++i) {
    const Derivatives<Real> at = derivatives<Real>(z, i);
    for (std::size_t c = 0; c < 3; ++c) {
      d(i, c) = at.d[c];
      dd(i, c) = at.dd[c];
    }
  }
}

#ifdef __CUDACC__
/// Computes the coefficients with one row of a kernel's threads. Column i of d and of dd belongs to
/// point i: z has n points, and d and dd are 3 × n.
template <typename Real>
__device__ void init_operator_in_columns(staircase::View<double, 1> z, staircase::View<Real, 2> d,
                                         staircase::View<Real, 2> dd) {
  for (unsigned i = staircase::column(); i < z.extent(0); i += staircase::columns()) {
    const Derivatives<Real> at = derivatives<Real>(z, i);
    for (unsigned c = 0; c < 3; ++c) {
      d(c, i) = at.d[c];
      dd(c, i) = at.dd[c];
    }
  }
}
#endif
// [derivatives]

/// The description of a stage for the harness.
using Stage = staircase::Stage<Problem, 1>;

/// Runs a stage as a program, on the problem that the command line defines; returns the exit
/// status. The workload and the stage are named after the directories that contain the source.
int run_stage(int argc, char** argv, const Stage& stage, const char* source = __builtin_FILE());

}  // namespace local_volatility
