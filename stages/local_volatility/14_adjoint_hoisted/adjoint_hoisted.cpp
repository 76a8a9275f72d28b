/// \file
/// Changed: data that all steps share are computed before the first step: the factors along y, and
///          the factor of the variance along x that depends on x.
/// Legal:   these data do not depend on values that a step writes. Up to rounding, exp(a) exp(b) is
///          exp(a + b), and the product with an inverse is the quotient.
/// Expect:  a point needs no call of exp, and it needs two divisions instead of four.
/// Run:     ./climb local_volatility --stages 13,14
/// Next:    15_vectorised_adjoint solves all systems along x at the same time.

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

  Array<Real, 2> z{num_x, num_y}, p{num_y, num_x}, q{num_x, num_y};
  Array<Real, 1> ax{num_x}, bx{num_x}, cx{num_x}, wx{num_x}, weight{num_x};
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

// [tridag]
/// Solves the transpose of a tridiagonal system (diagonals a, b, c of the original matrix,
/// right-hand side r) for u by the Thomas algorithm, and stores the pivots in w. r and u may be the
/// same array.
template <typename Real>
void tridag(View<Real, 1> a, View<Real, 1> b, View<Real, 1> c, View<Real, 1> r, View<Real, 1> u,
            View<Real, 1> w) {
  const std::size_t n = a.extent(0);
  w(0) = b(0);
  u(0) = r(0);
  for (std::size_t i = 1; i < n; ++i) {
    const Real factor = c(i - 1) / w(i - 1);
    w(i) = b(i) - factor * a(i);
    u(i) = r(i) - factor * u(i - 1);
  }
  u(n - 1) = u(n - 1) / w(n - 1);
  for (std::size_t i = n - 1; i-- > 0;) u(i) = (u(i) - a(i + 1) * u(i + 1)) / w(i);
}
// [tridag]

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

/// Does one step of the sweep: the transposed parts of a step of stage 00, in the opposite order.
template <typename Real>
void step(Real dt_inv, State<Real>& state) {
  auto& [num_x, num_y, num_t, ix, iy, x, y, tau, dx, dxx, dy, dyy, var_of_x, var_x, lower_y,
         centre_y, upper_y, inverse_y, z, p, q, ax, bx, cx, wx, weight] = state;
  const Real half = 0.5;

  solve_y(state);

  // Implicit x: p = (1 / dt - Lx' / 2)^-1 z / dt, one system per j
  for (std::size_t j = 0; j < num_y; ++j) {
    for (std::size_t i = 0; i < num_x; ++i) {
      const auto [lower, centre, upper] = half_operator<Real>(dx, dxx, i)(var_of_x(i) * var_x(j));
      ax(i) = -lower;
      bx(i) = dt_inv - centre;
      cx(i) = -upper;
      p(j, i) = dt_inv * z(i, j);
    }
    tridag<Real>(ax, bx, cx, p.row(j), p.row(j), wx);
  }

  // The input of Ly', q = p - z / 2, and the first term of the next z, p / dt
  for (std::size_t i = 0; i < num_x; ++i)
    for (std::size_t j = 0; j < num_y; ++j) {
      q(i, j) = p(j, i) - half * z(i, j);
      z(i, j) = dt_inv * p(j, i);
    }

  // Explicit y: z = z + Ly' q
  for (std::size_t i = 0; i < num_x; ++i)
    for (std::size_t j = 0; j < num_y; ++j) {
      if (j > 0) z(i, j - 1) += 2 * lower_y(j) * q(i, j);
      z(i, j) += 2 * centre_y(j) * q(i, j);
      if (j < num_y - 1) z(i, j + 1) += 2 * upper_y(j) * q(i, j);
    }

  // Explicit x: z = z + Lx' p / 2
  for (std::size_t i = 0; i < num_x; ++i)
    for (std::size_t j = 0; j < num_y; ++j) {
      const auto [lower, centre, upper] = half_operator<Real>(dx, dxx, i)(var_of_x(i) * var_x(j));
      if (i > 0) z(i - 1, j) += lower * p(j, i);
      z(i, j) += centre * p(j, i);
      if (i < num_x - 1) z(i + 1, j) += upper * p(j, i);
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
    step(dt_inv, state);
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
                                         .title = "Adjoint hoisted",
                                         .idea = "Hoist the work that all steps share",
                                         .solve_f64 = local_volatility::solve<double>,
                                         .solve_f32 = local_volatility::solve<float>,
                                     });
}
