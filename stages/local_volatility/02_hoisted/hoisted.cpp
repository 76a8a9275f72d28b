/// \file
/// Changed: the functions that contain the loop nests are inlined into the loop over the options.
///          The state of an option is expanded into arrays, indexed by the option (and, in
///          tridiagonal systems, by the system), and hoisted out of the loop.
/// Legal:   each iteration accesses only the elements of its option, so iterations share none.
/// Expect:  this stage is slower than 01 and needs more memory: arrays that stayed in a core's
///          caches now pass through memory.
/// Run:     ./climb local_volatility --stages 00-02
/// Next:    03_distributed moves the loop inwards and splits it into one loop for each nest.

#include "../local_volatility.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace local_volatility {

using staircase::Array;
using staircase::View;

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

// [solve]
template <typename Real>
Prices<Real> solve(const Problem& problem, staircase::Timeline& timeline) {
  const std::size_t outer = problem.outer;
  const std::size_t num_x = problem.num_x;
  const std::size_t num_y = problem.num_y;
  const std::size_t num_t = problem.num_t;
  const Real beta = problem.beta;
  const Real nu2 = problem.nu * problem.nu;
  const Real half = 0.5;

  // [state]
  timeline.begin("allocate");
  std::vector<std::size_t> ix(outer), iy(outer);
  Array<Real, 1> dt_inv(outer);
  Array<double, 2> x(outer, num_x), y(outer, num_y), tau(outer, num_t);
  Array<Real, 3> dx(outer, num_x, 3), dxx(outer, num_x, 3);
  Array<Real, 3> dy(outer, num_y, 3), dyy(outer, num_y, 3);
  Array<Real, 3> mu_x(outer, num_x, num_y), var_x(outer, num_x, num_y);
  Array<Real, 3> mu_y(outer, num_x, num_y), var_y(outer, num_x, num_y);
  Array<Real, 3> result(outer, num_x, num_y), u(outer, num_y, num_x), v(outer, num_x, num_y);
  Array<Real, 3> ax(outer, num_y, num_x), bx(outer, num_y, num_x), cx(outer, num_y, num_x),
      wx(outer, num_y, num_x);
  Array<Real, 3> ay(outer, num_x, num_y), by(outer, num_x, num_y), cy(outer, num_x, num_y),
      wy(outer, num_x, num_y), ry(outer, num_x, num_y);
  Prices<Real> prices(outer);
  // [state]

  // [setup]
  timeline.begin("kernels");
#pragma omp parallel for
  for (std::size_t k = 0; k < outer; ++k) {
    // Grid
    for (std::size_t g = 0; g < num_t; ++g) tau(k, g) = problem.t * g / (num_t - 1);

    const double step_x = 20 * problem.alpha * problem.s0 * std::sqrt(problem.t) / num_x;
    ix[k] = problem.s0 / step_x;
    for (std::size_t i = 0; i < num_x; ++i)
      x(k, i) = std::max(i * step_x - ix[k] * step_x + problem.s0, 1e-30);

    const double step_y = 10 * problem.nu * std::sqrt(problem.t) / num_y;
    iy[k] = num_y / 2;
    for (std::size_t j = 0; j < num_y; ++j)
      y(k, j) = j * step_y - iy[k] * step_y + std::log(problem.alpha);

    // Operators
    init_operator<Real>(x.row(k), dx.row(k), dxx.row(k));
    init_operator<Real>(y.row(k), dy.row(k), dyy.row(k));

    // Payoff
    for (std::size_t i = 0; i < num_x; ++i)
      for (std::size_t j = 0; j < num_y; ++j)
        result(k, i, j) = std::max<Real>(x(k, i) - problem.strike(k), 0);
    // [setup]

    // [time]
    // One step backwards in time, from tau(g + 1) to tau(g)
    for (std::size_t g = num_t - 1; g-- > 0;) {
      // Coefficients
      dt_inv(k) = 1 / (tau(k, g + 1) - tau(k, g));
      for (std::size_t i = 0; i < num_x; ++i) {
        const Real log_x = std::log(x(k, i));
        for (std::size_t j = 0; j < num_y; ++j) {
          mu_x(k, i, j) = 0;
          var_x(k, i, j) =
              std::exp(2 * (beta * log_x + Real(y(k, j)) - half * nu2 * Real(tau(k, g))));
          mu_y(k, i, j) = 0;
          var_y(k, i, j) = nu2;
        }
      }

      // Explicit x: U = R / dt + Lx R / 2
      for (std::size_t i = 0; i < num_x; ++i)
        for (std::size_t j = 0; j < num_y; ++j) {
          u(k, j, i) = dt_inv(k) * result(k, i, j);
          if (i > 0)
            u(k, j, i) += half *
                          (mu_x(k, i, j) * dx(k, i, 0) + half * var_x(k, i, j) * dxx(k, i, 0)) *
                          result(k, i - 1, j);
          u(k, j, i) += half *
                        (mu_x(k, i, j) * dx(k, i, 1) + half * var_x(k, i, j) * dxx(k, i, 1)) *
                        result(k, i, j);
          if (i < num_x - 1)
            u(k, j, i) += half *
                          (mu_x(k, i, j) * dx(k, i, 2) + half * var_x(k, i, j) * dxx(k, i, 2)) *
                          result(k, i + 1, j);
        }

      // Explicit y: V = Ly R, U = U + V
      for (std::size_t i = 0; i < num_x; ++i)
        for (std::size_t j = 0; j < num_y; ++j) {
          v(k, i, j) = 0;
          if (j > 0)
            v(k, i, j) += (mu_y(k, i, j) * dy(k, j, 0) + half * var_y(k, i, j) * dyy(k, j, 0)) *
                          result(k, i, j - 1);
          v(k, i, j) += (mu_y(k, i, j) * dy(k, j, 1) + half * var_y(k, i, j) * dyy(k, j, 1)) *
                        result(k, i, j);
          if (j < num_y - 1)
            v(k, i, j) += (mu_y(k, i, j) * dy(k, j, 2) + half * var_y(k, i, j) * dyy(k, j, 2)) *
                          result(k, i, j + 1);
          u(k, j, i) += v(k, i, j);
        }

      // Implicit x: (1 / dt - Lx / 2) U' = U, one system per j
      for (std::size_t j = 0; j < num_y; ++j) {
        for (std::size_t i = 0; i < num_x; ++i) {
          ax(k, j, i) =
              -half * (mu_x(k, i, j) * dx(k, i, 0) + half * var_x(k, i, j) * dxx(k, i, 0));
          bx(k, j, i) = dt_inv(k) -
                        half * (mu_x(k, i, j) * dx(k, i, 1) + half * var_x(k, i, j) * dxx(k, i, 1));
          cx(k, j, i) =
              -half * (mu_x(k, i, j) * dx(k, i, 2) + half * var_x(k, i, j) * dxx(k, i, 2));
        }
        tridag<Real>(ax.row(k, j), bx.row(k, j), cx.row(k, j), u.row(k, j), u.row(k, j),
                     wx.row(k, j));
      }

      // Implicit y: (1 / dt - Ly / 2) R' = U' / dt - V / 2, one system per i
      for (std::size_t i = 0; i < num_x; ++i) {
        for (std::size_t j = 0; j < num_y; ++j) {
          ay(k, i, j) =
              -half * (mu_y(k, i, j) * dy(k, j, 0) + half * var_y(k, i, j) * dyy(k, j, 0));
          by(k, i, j) = dt_inv(k) -
                        half * (mu_y(k, i, j) * dy(k, j, 1) + half * var_y(k, i, j) * dyy(k, j, 1));
          cy(k, i, j) =
              -half * (mu_y(k, i, j) * dy(k, j, 2) + half * var_y(k, i, j) * dyy(k, j, 2));
          ry(k, i, j) = dt_inv(k) * u(k, j, i) - half * v(k, i, j);
        }
        tridag<Real>(ay.row(k, i), by.row(k, i), cy.row(k, i), ry.row(k, i), result.row(k, i),
                     wy.row(k, i));
      }
    }
    // [time]

    // Price
    prices(k) = result(k, ix[k], iy[k]);
  }
  return prices;
}
// [solve]

}  // namespace local_volatility

int main(int argc, char** argv) {
  return local_volatility::run_stage(argc, argv,
                                     {
                                         .title = "Hoisted",
                                         .idea = "Expand each option's state into arrays",
                                         .solve_f64 = local_volatility::solve<double>,
                                         .solve_f32 = local_volatility::solve<float>,
                                     });
}
