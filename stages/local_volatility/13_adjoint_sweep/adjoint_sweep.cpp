/// \file
/// From:    00_original
/// Changed: one adjoint sweep over time replaces one sweep per option. It runs from today to
///          maturity, with the transposed steps of the scheme, and carries weights of the payoff.
/// Legal:   a step is linear in R, so the product of starting weights, steps and payoff may be
///          evaluated from the left or from the right. Both results are equal up to rounding.
/// Expect:  any number of options takes the time that stage 00 takes for one option.
/// Run:     ./climb local_volatility --stages 00,13
/// Next:    14_adjoint_hoisted hoists the work that all steps share.

#include "../local_volatility.hpp"

#include <algorithm>
#include <cmath>
#include <staircase/flush_to_zero.hpp>

namespace local_volatility {

using staircase::Array;
using staircase::View;

// [State]
/// The data of the sweep: its grid, its operators, its coefficients and its vectors. Between steps,
/// z(i, j) is the contribution of a payoff of 1 at point (i, j) to the price.
template <typename Real>
struct State {
  explicit State(const Problem& problem)
      : num_x(problem.num_x), num_y(problem.num_y), num_t(problem.num_t) {}

  std::size_t num_x, num_y, num_t;
  std::size_t ix = 0, iy = 0;  // the grid point of the spot and of today's volatility

  Array<double, 1> x{num_x}, y{num_y}, tau{num_t};  // kept in f64 for accurate differences
  Array<Real, 2> dx{num_x, 3}, dxx{num_x, 3}, dy{num_y, 3}, dyy{num_y, 3};
  Array<Real, 2> mu_x{num_x, num_y}, var_x{num_x, num_y};
  Array<Real, 2> mu_y{num_x, num_y}, var_y{num_x, num_y};

  Array<Real, 2> z{num_x, num_y}, p{num_y, num_x}, q{num_x, num_y};
  Array<Real, 1> ax{num_x}, bx{num_x}, cx{num_x}, wx{num_x}, weight{num_x};
  Array<Real, 1> ay{num_y}, by{num_y}, cy{num_y}, wy{num_y};
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

// [update_params]
template <typename Real>
void update_params(const Problem& problem, std::size_t g, State<Real>& state) {
  const Real beta = problem.beta;
  const Real nu2 = problem.nu * problem.nu;
  const Real half = 0.5;
  for (std::size_t i = 0; i < state.num_x; ++i) {
    const Real log_x = std::log(state.x(i));
    for (std::size_t j = 0; j < state.num_y; ++j) {
      state.mu_x(i, j) = 0;
      state.var_x(i, j) =
          std::exp(2 * (beta * log_x + Real(state.y(j)) - half * nu2 * Real(state.tau(g))));
      state.mu_y(i, j) = 0;
      state.var_y(i, j) = nu2;
    }
  }
}
// [update_params]

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
/// Does one step of the sweep, from tau(g) to tau(g + 1): the transposed parts of a step of stage
/// 00, in the opposite order. Lx' and Ly' are the transposed operators.
template <typename Real>
void step(std::size_t g, State<Real>& state) {
  auto& [num_x, num_y, num_t, ix, iy, x, y, tau, dx, dxx, dy, dyy, mu_x, var_x, mu_y, var_y, z, p,
         q, ax, bx, cx, wx, weight, ay, by, cy, wy] = state;
  const Real dt_inv = 1 / (tau(g + 1) - tau(g));
  const Real half = 0.5;

  // Implicit y: z = (1 / dt - Ly' / 2)^-1 z, one system per i
  for (std::size_t i = 0; i < num_x; ++i) {
    for (std::size_t j = 0; j < num_y; ++j) {
      ay(j) = -half * (mu_y(i, j) * dy(j, 0) + half * var_y(i, j) * dyy(j, 0));
      by(j) = dt_inv - half * (mu_y(i, j) * dy(j, 1) + half * var_y(i, j) * dyy(j, 1));
      cy(j) = -half * (mu_y(i, j) * dy(j, 2) + half * var_y(i, j) * dyy(j, 2));
    }
    tridag<Real>(ay, by, cy, z.row(i), z.row(i), wy);
  }

  // Implicit x: p = (1 / dt - Lx' / 2)^-1 z / dt, one system per j
  for (std::size_t j = 0; j < num_y; ++j) {
    for (std::size_t i = 0; i < num_x; ++i) {
      ax(i) = -half * (mu_x(i, j) * dx(i, 0) + half * var_x(i, j) * dxx(i, 0));
      bx(i) = dt_inv - half * (mu_x(i, j) * dx(i, 1) + half * var_x(i, j) * dxx(i, 1));
      cx(i) = -half * (mu_x(i, j) * dx(i, 2) + half * var_x(i, j) * dxx(i, 2));
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
      if (j > 0) z(i, j - 1) += (mu_y(i, j) * dy(j, 0) + half * var_y(i, j) * dyy(j, 0)) * q(i, j);
      z(i, j) += (mu_y(i, j) * dy(j, 1) + half * var_y(i, j) * dyy(j, 1)) * q(i, j);
      if (j < num_y - 1)
        z(i, j + 1) += (mu_y(i, j) * dy(j, 2) + half * var_y(i, j) * dyy(j, 2)) * q(i, j);
    }

  // Explicit x: z = z + Lx' p / 2
  for (std::size_t i = 0; i < num_x; ++i)
    for (std::size_t j = 0; j < num_y; ++j) {
      if (i > 0)
        z(i - 1, j) += half * (mu_x(i, j) * dx(i, 0) + half * var_x(i, j) * dxx(i, 0)) * p(j, i);
      z(i, j) += half * (mu_x(i, j) * dx(i, 1) + half * var_x(i, j) * dxx(i, 1)) * p(j, i);
      if (i < num_x - 1)
        z(i + 1, j) += half * (mu_x(i, j) * dx(i, 2) + half * var_x(i, j) * dxx(i, 2)) * p(j, i);
    }
}
// [step]

// [solve]
template <typename Real>
Prices<Real> solve(const Problem& problem, staircase::Timeline& timeline) {
  const staircase::FlushToZero flush_to_zero;  // for weights below 1e-38; all weights add up to one
  Prices<Real> prices(problem.outer);

  timeline.begin("set up");
  State<Real> state(problem);
  init_grid(problem, state);
  init_operator<Real>(state.x, state.dx, state.dxx);
  init_operator<Real>(state.y, state.dy, state.dyy);
  for (std::size_t i = 0; i < state.num_x; ++i)
    for (std::size_t j = 0; j < state.num_y; ++j) state.z(i, j) = 0;
  state.z(state.ix, state.iy) = 1;

  timeline.begin("steps");
  for (std::size_t g = 0; g < state.num_t - 1; ++g) {
    update_params(problem, g, state);
    step(g, state);
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
                                         .title = "Adjoint sweep",
                                         .idea = "Transpose the steps, price all options at once",
                                         .solve_f64 = local_volatility::solve<double>,
                                         .solve_f32 = local_volatility::solve<float>,
                                     });
}
