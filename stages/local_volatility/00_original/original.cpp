/// \file
/// Changed: nothing yet; every later stage is compared with the prices that this stage computes.
/// Expect:  each time step solves a tridiagonal system for each row and each column of the grid.
///          The latency of divisions is the limit.
/// Run:     ./climb local_volatility --stages 00
/// Next:    01_openmp distributes the options over threads.

#include "../local_volatility.hpp"

#include <algorithm>
#include <cmath>

namespace local_volatility {

using staircase::Array;
using staircase::View;

// [State]
/// The data for pricing one option: its grid, its operators, its coefficients and its vectors.
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

  Array<Real, 2> result{num_x, num_y}, u{num_y, num_x}, v{num_x, num_y};
  Array<Real, 1> ax{num_x}, bx{num_x}, cx{num_x}, wx{num_x};
  Array<Real, 1> ay{num_y}, by{num_y}, cy{num_y}, wy{num_y}, ry{num_y};
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

// [set_payoff]
template <typename Real>
void set_payoff(double strike, State<Real>& state) {
  for (std::size_t i = 0; i < state.num_x; ++i)
    for (std::size_t j = 0; j < state.num_y; ++j)
      state.result(i, j) = std::max<Real>(state.x(i) - strike, 0);
}
// [set_payoff]

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
/// Solves a tridiagonal system (diagonals a, b, c, right-hand side r) for u by the Thomas
/// algorithm, and stores the pivots in w. r and u may be the same array.
template <typename Real>
void tridag(View<Real, 1> a, View<Real, 1> b, View<Real, 1> c, View<Real, 1> r, View<Real, 1> u,
            View<Real, 1> w) {
  const std::size_t n = a.extent(0);
  w(0) = b(0);
  u(0) = r(0);
  for (std::size_t i = 1; i < n; ++i) {
    const Real factor = a(i) / w(i - 1);
    w(i) = b(i) - factor * c(i - 1);
    u(i) = r(i) - factor * u(i - 1);
  }
  u(n - 1) = u(n - 1) / w(n - 1);
  for (std::size_t i = n - 1; i-- > 0;) u(i) = (u(i) - c(i) * u(i + 1)) / w(i);
}
// [tridag]

// [rollback]
/// Does one step backwards in time, from tau(g + 1) to tau(g).
template <typename Real>
void rollback(std::size_t g, State<Real>& state) {
  auto& [num_x, num_y, num_t, ix, iy, x, y, tau, dx, dxx, dy, dyy, mu_x, var_x, mu_y, var_y, result,
         u, v, ax, bx, cx, wx, ay, by, cy, wy, ry] = state;
  const Real dt_inv = 1 / (tau(g + 1) - tau(g));
  const Real half = 0.5;

  // Explicit x: U = R / dt + Lx R / 2
  for (std::size_t i = 0; i < num_x; ++i)
    for (std::size_t j = 0; j < num_y; ++j) {
      u(j, i) = dt_inv * result(i, j);
      if (i > 0)
        u(j, i) +=
            half * (mu_x(i, j) * dx(i, 0) + half * var_x(i, j) * dxx(i, 0)) * result(i - 1, j);
      u(j, i) += half * (mu_x(i, j) * dx(i, 1) + half * var_x(i, j) * dxx(i, 1)) * result(i, j);
      if (i < num_x - 1)
        u(j, i) +=
            half * (mu_x(i, j) * dx(i, 2) + half * var_x(i, j) * dxx(i, 2)) * result(i + 1, j);
    }

  // Explicit y: V = Ly R, U = U + V
  for (std::size_t i = 0; i < num_x; ++i)
    for (std::size_t j = 0; j < num_y; ++j) {
      v(i, j) = 0;
      if (j > 0)
        v(i, j) += (mu_y(i, j) * dy(j, 0) + half * var_y(i, j) * dyy(j, 0)) * result(i, j - 1);
      v(i, j) += (mu_y(i, j) * dy(j, 1) + half * var_y(i, j) * dyy(j, 1)) * result(i, j);
      if (j < num_y - 1)
        v(i, j) += (mu_y(i, j) * dy(j, 2) + half * var_y(i, j) * dyy(j, 2)) * result(i, j + 1);
      u(j, i) += v(i, j);
    }

  // Implicit x: (1 / dt - Lx / 2) U' = U, one system per j
  for (std::size_t j = 0; j < num_y; ++j) {
    for (std::size_t i = 0; i < num_x; ++i) {
      ax(i) = -half * (mu_x(i, j) * dx(i, 0) + half * var_x(i, j) * dxx(i, 0));
      bx(i) = dt_inv - half * (mu_x(i, j) * dx(i, 1) + half * var_x(i, j) * dxx(i, 1));
      cx(i) = -half * (mu_x(i, j) * dx(i, 2) + half * var_x(i, j) * dxx(i, 2));
    }
    tridag<Real>(ax, bx, cx, u.row(j), u.row(j), wx);
  }

  // Implicit y: (1 / dt - Ly / 2) R' = U' / dt - V / 2, one system per i
  for (std::size_t i = 0; i < num_x; ++i) {
    for (std::size_t j = 0; j < num_y; ++j) {
      ay(j) = -half * (mu_y(i, j) * dy(j, 0) + half * var_y(i, j) * dyy(j, 0));
      by(j) = dt_inv - half * (mu_y(i, j) * dy(j, 1) + half * var_y(i, j) * dyy(j, 1));
      cy(j) = -half * (mu_y(i, j) * dy(j, 2) + half * var_y(i, j) * dyy(j, 2));
      ry(j) = dt_inv * u(j, i) - half * v(i, j);
    }
    tridag<Real>(ay, by, cy, ry, result.row(i), wy);
  }
}
// [rollback]

// [value]
/// Returns the price of one option.
template <typename Real>
Real value(const Problem& problem, double strike, State<Real>& state) {
  init_grid(problem, state);
  init_operator<Real>(state.x, state.dx, state.dxx);
  init_operator<Real>(state.y, state.dy, state.dyy);
  set_payoff(strike, state);
  for (std::size_t g = state.num_t - 1; g-- > 0;) {
    update_params(problem, g, state);
    rollback(g, state);
  }
  return state.result(state.ix, state.iy);
}
// [value]

// [solve]
template <typename Real>
Prices<Real> solve(const Problem& problem, staircase::Timeline& timeline) {
  Prices<Real> prices(problem.outer);
  timeline.begin("kernels");
  double strike;
  State<Real> state(problem);
  for (std::int64_t k = 0; k < problem.outer; ++k) {
    strike = problem.strike(k);
    prices(k) = value(problem, strike, state);
  }
  return prices;
}
// [solve]

}  // namespace local_volatility

int main(int argc, char** argv) {
  return local_volatility::run_stage(argc, argv,
                                     {
                                         .title = "Original",
                                         .idea = "Price one option after the other",
                                         .solve_f64 = local_volatility::solve<double>,
                                         .solve_f32 = local_volatility::solve<float>,
                                     });
}
