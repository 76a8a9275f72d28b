/// \file
/// The grid that all options share, and the operators on it.

#pragma once

#include <cmath>

#include "local_volatility.hpp"

namespace local_volatility {

// [setup]
template <typename State, typename Real>
__global__ void init_grid(State s, double s0, double t, double step_x, double step_y,
                          double log_alpha, Real beta, Real nu2) {
  for (unsigned g = staircase::column(); g < s.num_t; g += staircase::columns())
    s.var_of_t(g) = exp(-nu2 * Real(t * g / (s.num_t - 1)));
  for (unsigned i = staircase::column(); i < s.num_x; i += staircase::columns()) {
    s.x(i) = max(i * step_x - s.ix * step_x + s0, 1e-30);
    s.var_of_x(i) = exp(2 * beta * log(Real(s.x(i))));
  }
  for (unsigned j = staircase::column(); j < s.num_y; j += staircase::columns()) {
    s.y(j) = j * step_y - s.iy * step_y + log_alpha;
    s.var_of_y(j) = exp(2 * Real(s.y(j)));
  }
}

template <typename State>
__global__ void init_operators(State s) {
  init_operator_in_columns(s.x, s.dx, s.dxx);
  init_operator_in_columns(s.y, s.dy, s.dyy);
}
// [setup]

// [stencil]
/// A row of an operator: lower R(i - 1) + centre R(i) + upper R(i + 1)
template <typename Real>
struct Stencil {
  Real lower, centre, upper;
};

template <typename Real>
__device__ Stencil<Real> stencil(staircase::View<Real, 2> d, staircase::View<Real, 2> dd,
                                 unsigned i, Real mu, Real var) {
  const Real half = 0.5;
  return {mu * d(0, i) + half * var * dd(0, i), mu * d(1, i) + half * var * dd(1, i),
          mu * d(2, i) + half * var * dd(2, i)};
}

/// Row i of Lx / 2, where the variance is `var` times its factor of x
template <typename State, typename Real>
__device__ Stencil<Real> half_stencil_x(const State& s, unsigned i, Real var) {
  const Real half = 0.5;
  const auto [lower, centre, upper] = stencil(s.dx, s.dxx, i, s.mu_x, var * s.var_of_x(i));
  return {half * lower, half * centre, half * upper};
}
// [stencil]

}  // namespace local_volatility
