/// \file
/// Changed: the systems along x are solved at the same time, one row of all systems after another.
/// Legal:   the systems are independent, so the loop over them may become the inner loop
///          (interchange). This loop carries no dependence, so it can be vectorised.
/// Expect:  the time along x is divided by the length of a vector; the time along y stays the same.
/// Run:     ./climb local_volatility --stages 00,13-15
/// Next:    16_adjoint_cuda runs the sweep on a GPU, which then has to hide the latencies of a
///          single small problem.

#include "../local_volatility.hpp"

#include <algorithm>
#include <cmath>
#include <staircase/flush_to_zero.hpp>

namespace local_volatility {

using staircase::Array;
using staircase::View;

// [State]
/// The data of the sweep: its grid, its operators, their factors and its vectors. Between steps,
/// z(i, j) is the contribution of a payoff of 1 at point (i, j) to the price.
template <typename Real>
struct State {
  explicit State(const Problem& problem)
      : num_x(problem.num_x), num_y(problem.num_y), num_t(problem.num_t) {}

  std::size_t num_x, num_y, num_t;
  std::size_t ix = 0, iy = 0;  // the grid point of the spot and of today's volatility

  Array<double, 1> x{num_x}, y{num_y}, tau{num_t};  // kept in f64 for accurate differences
  Array<Real, 2> dx{num_x, 3}, dxx{num_x, 3}, dy{num_y, 3}, dyy{num_y, 3};
  Array<Real, 1> var_of_x{num_x}, var_x{num_y};  // variance along x: var_of_x(i) var_x(j)
  Array<Real, 1> lower_y{num_y}, centre_y{num_y}, upper_y{num_y}, inverse_y{num_y};

  Array<Real, 2> z{num_x, num_y}, p{num_x, num_y}, inverse_x{num_x, num_y};
  Array<Real, 1> q{num_y + 2}, weight{num_x};
};
// [State]

// [init_grid]
template <typename Real>
void init_grid(const Problem& problem, State<Real>& state) {
  for (std::size_t g = 0; g < state.num_t; ++g) state.tau(g) = problem.t * g / (state.num_t - 1);

  const double dx = 20 * problem.alpha * problem.s0 * std::sqrt(problem.t) / state.num_x;
  state.ix = problem.s0 / dx;
  for (std::size_t i = 0; i < state.num_x; ++i)
    state.x(i) = std::max(i * dx - state.ix * dx + problem.s0, 1e-30);

  const double dy = 10 * problem.nu * std::sqrt(problem.t) / state.num_y;
  state.iy = state.num_y / 2;
  for (std::size_t j = 0; j < state.num_y; ++j)
    state.y(j) = j * dy - state.iy * dy + std::log(problem.alpha);
}
// [init_grid]

// [stencil]
/// A row of an operator; its product with R is lower R(i - 1) + centre R(i) + upper R(i + 1).
template <typename Real>
struct Stencil {
  Real lower, centre, upper;
};

/// Returns row i of half an operator, as a function of the variance; the drift is zero.
template <typename Real>
auto half_operator(View<Real, 2> d, View<Real, 2> dd, std::size_t i) {
  const Real half = 0.5, mu = 0;
  const Stencil<Real> first{d(i, 0), d(i, 1), d(i, 2)}, second{dd(i, 0), dd(i, 1), dd(i, 2)};
  return [=](Real var) -> Stencil<Real> {
    return {half * (mu * first.lower + half * var * second.lower),
            half * (mu * first.centre + half * var * second.centre),
            half * (mu * first.upper + half * var * second.upper)};
  };
}
// [stencil]

// [factorise_y]
/// Computes the operator along y and its factors, which are the same for all i and all times.
template <typename Real>
void factorise_y(Real var_y, Real dt_inv, State<Real>& state) {
  for (std::size_t j = 0; j < state.num_y; ++j) {
    const auto [lower, centre, upper] = half_operator<Real>(state.dy, state.dyy, j)(var_y);
    state.lower_y(j) = lower;
    state.centre_y(j) = centre;
    state.upper_y(j) = upper;
    state.inverse_y(j) =
        1 / (dt_inv - centre - (j > 0 ? lower * state.upper_y(j - 1) * state.inverse_y(j - 1) : 0));
  }
}
// [factorise_y]

// [step]
/// Computes z = (1 / dt - Ly' / 2)^-1 z, one system per i (Ly' is Ly transposed), with the factors
/// of the matrix. The forward pass uses the transposed upper factor.
template <typename Real>
void solve_y(State<Real>& s) {
  for (std::size_t i = 0; i < s.num_x; ++i) {
    const View<Real, 1> z = s.z.row(i);
    z(0) *= s.inverse_y(0);
    for (std::size_t j = 1; j < s.num_y; ++j)
      z(j) = z(j) * s.inverse_y(j) + s.upper_y(j - 1) * s.inverse_y(j) * z(j - 1);
    for (std::size_t j = s.num_y - 1; j-- > 0;)
      z(j) += s.lower_y(j + 1) * s.inverse_y(j) * z(j + 1);
  }
}

/// Computes p = (1 / dt - Lx' / 2)^-1 z / dt, one system per j, one row of all systems at a time.
template <typename Real>
void solve_x(Real dt_inv, State<Real>& s) {
  for (std::size_t i = 0; i < s.num_x; ++i) {
    const auto here = half_operator<Real>(s.dx, s.dxx, i);
    const auto above = half_operator<Real>(s.dx, s.dxx, i > 0 ? i - 1 : 0);
    const Real var = s.var_of_x(i), var_above = i > 0 ? s.var_of_x(i - 1) : 0;
    const View<Real, 1> z = s.z.row(i), p = s.p.row(i), inverse = s.inverse_x.row(i);
    const View<Real, 1> p_above = s.p.row(i - (i > 0)),
                        inverse_above = s.inverse_x.row(i - (i > 0));
    for (std::size_t j = 0; j < s.num_y; ++j) {
      const auto [lower, centre, upper] = here(var * s.var_x(j));
      const Real upper_above = above(var_above * s.var_x(j)).upper;
      inverse(j) = 1 / (dt_inv - centre - (i > 0 ? lower * upper_above * inverse_above(j) : 0));
      p(j) = (dt_inv * z(j) + (i > 0 ? upper_above * p_above(j) : 0)) * inverse(j);
    }
  }
  for (std::size_t i = s.num_x - 1; i-- > 0;) {
    const auto below = half_operator<Real>(s.dx, s.dxx, i + 1);
    const Real var = s.var_of_x(i + 1);
    const View<Real, 1> p = s.p.row(i), p_below = s.p.row(i + 1), inverse = s.inverse_x.row(i);
    for (std::size_t j = 0; j < s.num_y; ++j)
      p(j) += below(var * s.var_x(j)).lower * inverse(j) * p_below(j);
  }
}

/// Computes z = (1 / dt + Lx' / 2) p + Ly' (p - z / 2).
template <typename Real>
void apply_explicit(Real dt_inv, State<Real>& s) {
  const Real half = 0.5;
  const std::size_t n = s.num_y;
  for (std::size_t i = 0; i < s.num_x; ++i) {
    const bool first = i == 0, last = i == s.num_x - 1;
    const auto here = half_operator<Real>(s.dx, s.dxx, i);
    const auto above = half_operator<Real>(s.dx, s.dxx, i - !first);
    const auto below = half_operator<Real>(s.dx, s.dxx, i + !last);
    const Real var = s.var_of_x(i), var_above = first ? 0 : s.var_of_x(i - 1),
               var_below = last ? 0 : s.var_of_x(i + 1);
    const View<Real, 1> z = s.z.row(i), p = s.p.row(i);
    const View<Real, 1> p_above = s.p.row(i - !first), p_below = s.p.row(i + !last);
    for (std::size_t j = 0; j < n; ++j) s.q(j + 1) = p(j) - half * z(j);
    for (std::size_t j = 0; j < n; ++j)
      z(j) = dt_inv * p(j) + above(var_above * s.var_x(j)).upper * p_above(j) +
             here(var * s.var_x(j)).centre * p(j) +
             below(var_below * s.var_x(j)).lower * p_below(j);
    for (std::size_t j = 0; j < n; ++j)
      z(j) += 2 * (s.centre_y(j) * s.q(j + 1) + (j > 0 ? s.upper_y(j - 1) * s.q(j) : 0) +
                   (j < n - 1 ? s.lower_y(j + 1) * s.q(j + 2) : 0));
  }
}
// [step]

// [solve]
template <typename Real>
Prices<Real> solve(const Problem& problem, staircase::Timeline& timeline) {
  const staircase::FlushToZero flush_to_zero;  // for weights below 1e-38; all weights add up to one
  const Real nu2 = problem.nu * problem.nu;
  Prices<Real> prices(problem.outer);

  timeline.begin("set up");
  State<Real> state(problem);
  init_grid(problem, state);
  init_operator<Real>(state.x, state.dx, state.dxx);
  init_operator<Real>(state.y, state.dy, state.dyy);
  const Real dt_inv = (state.num_t - 1) / problem.t;
  factorise_y(nu2, dt_inv, state);
  for (std::size_t i = 0; i < state.num_x; ++i)
    state.var_of_x(i) = std::exp(2 * Real(problem.beta) * std::log(Real(state.x(i))));
  for (std::size_t i = 0; i < state.num_x; ++i)
    for (std::size_t j = 0; j < state.num_y; ++j) state.z(i, j) = 0;
  state.z(state.ix, state.iy) = 1;

  timeline.begin("steps");
  for (std::size_t g = 0; g < state.num_t - 1; ++g) {
    for (std::size_t j = 0; j < state.num_y; ++j)
      state.var_x(j) = std::exp(2 * Real(state.y(j)) - nu2 * Real(state.tau(g)));
    solve_y(state);
    solve_x(dt_inv, state);
    apply_explicit(dt_inv, state);
  }

  timeline.begin("prices");
  for (std::size_t i = 0; i < state.num_x; ++i) {
    state.weight(i) = 0;
    for (std::size_t j = 0; j < state.num_y; ++j) state.weight(i) += state.z(i, j);
  }
  for (std::int64_t k = 0; k < problem.outer; ++k) {
    const double strike = problem.strike(k);
    prices(k) = 0;
    for (std::size_t i = 0; i < state.num_x; ++i)
      prices(k) += state.weight(i) * std::max<Real>(state.x(i) - strike, 0);
  }
  return prices;
}
// [solve]

}  // namespace local_volatility

int main(int argc, char** argv) {
  return local_volatility::run_stage(argc, argv,
                                     {
                                         .title = "Vectorised adjoint",
                                         .idea = "Solve systems along x in the lanes of vectors",
                                         .solve_f64 = local_volatility::solve<double>,
                                         .solve_f32 = local_volatility::solve<float>,
                                     });
}
