/// \file
/// Changed: the arrays live on the device; every parallel loop of a nest turns into a dimension of
///          the grid of threads, with the index that it had.
/// Legal:   those loops were parallel already, and kernels of one stream run one after the other.
/// Expect:  bound by memory; most of the nests stride through it, since neighbouring threads do not
///          touch neighbouring elements.
/// Run:     ./climb local_volatility --stages 00-04
/// Next:    05_tridag_scan solves the tridiagonal systems in parallel, too.

#include "../set_up.hpp"

#include <algorithm>
#include <cmath>

namespace local_volatility {

using staircase::blocks;
using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::columns;
using staircase::DeviceArray;
using staircase::row;
using staircase::rows;
using staircase::View;

// [state]
/// The arrays of all options, as kernels take them.
template <typename Real>
struct State {
  unsigned outer, num_x, num_y, num_t;
  View<double, 1> strikes;
  View<std::size_t, 1> ix, iy;
  View<Real, 1> dt_inv;
  View<double, 2> x, y, tau;
  View<Real, 3> dx, dxx, dy, dyy;
  View<Real, 3> mu_x, var_x, mu_y, var_y;
  View<Real, 3> result, u, v;
  View<Real, 3> ax, bx, cx, wx, ay, by, cy, wy, ry;
  View<Real, 1> prices;
};
// [state]

// [tridag]
/// Solves a tridiagonal system (diagonals a, b, c, right-hand side r) for u by the Thomas
/// algorithm; w takes the pivots. r and u may be the same array.
template <typename Real>
__device__ void tridag(View<Real, 1> a, View<Real, 1> b, View<Real, 1> c, View<Real, 1> r,
                       View<Real, 1> u, View<Real, 1> w) {
  const std::size_t n = a.extent(0);
  w(0) = b(0);
  u(0) = r(0);
  for (unsigned i = 1; i < n; ++i) {
    const Real factor = a(i) / w(i - 1);
    w(i) = b(i) - factor * c(i - 1);
    u(i) = r(i) - factor * u(i - 1);
  }
  u(n - 1) = u(n - 1) / w(n - 1);
  for (unsigned i = n - 1; i-- > 0;) u(i) = (u(i) - c(i) * u(i + 1)) / w(i);
}
// [tridag]

// [setup]
template <typename Real>
__global__ void set_payoff(State<Real> s) {
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = row(); i < s.num_x; i += rows())
      for (unsigned j = column(); j < s.num_y; j += columns())
        s.result(k, i, j) = max(Real(s.x(k, i) - s.strikes(k)), Real(0));
}
// [setup]

// [time]
template <typename Real>
__global__ void update_params(State<Real> s, std::size_t g, Real beta, Real nu2) {
  const Real half = 0.5;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = row(); i < s.num_x; i += rows())
      for (unsigned j = column(); j < s.num_y; j += columns()) {
        if (i == 0 && j == 0) s.dt_inv(k) = 1 / (s.tau(k, g + 1) - s.tau(k, g));
        s.mu_x(k, i, j) = 0;
        s.var_x(k, i, j) = exp(
            2 * (beta * log(Real(s.x(k, i))) + Real(s.y(k, j)) - half * nu2 * Real(s.tau(k, g))));
        s.mu_y(k, i, j) = 0;
        s.var_y(k, i, j) = nu2;
      }
}

/// U = R / dt + Lx R / 2
template <typename Real>
__global__ void explicit_x(State<Real> s) {
  const Real half = 0.5;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = row(); i < s.num_x; i += rows())
      for (unsigned j = column(); j < s.num_y; j += columns()) {
        s.u(k, j, i) = s.dt_inv(k) * s.result(k, i, j);
        if (i > 0)
          s.u(k, j, i) +=
              half * (s.mu_x(k, i, j) * s.dx(k, i, 0) + half * s.var_x(k, i, j) * s.dxx(k, i, 0)) *
              s.result(k, i - 1, j);
        s.u(k, j, i) +=
            half * (s.mu_x(k, i, j) * s.dx(k, i, 1) + half * s.var_x(k, i, j) * s.dxx(k, i, 1)) *
            s.result(k, i, j);
        if (i < s.num_x - 1)
          s.u(k, j, i) +=
              half * (s.mu_x(k, i, j) * s.dx(k, i, 2) + half * s.var_x(k, i, j) * s.dxx(k, i, 2)) *
              s.result(k, i + 1, j);
      }
}

/// V = Ly R, U = U + V
template <typename Real>
__global__ void explicit_y(State<Real> s) {
  const Real half = 0.5;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = row(); i < s.num_x; i += rows())
      for (unsigned j = column(); j < s.num_y; j += columns()) {
        s.v(k, i, j) = 0;
        if (j > 0)
          s.v(k, i, j) +=
              (s.mu_y(k, i, j) * s.dy(k, j, 0) + half * s.var_y(k, i, j) * s.dyy(k, j, 0)) *
              s.result(k, i, j - 1);
        s.v(k, i, j) +=
            (s.mu_y(k, i, j) * s.dy(k, j, 1) + half * s.var_y(k, i, j) * s.dyy(k, j, 1)) *
            s.result(k, i, j);
        if (j < s.num_y - 1)
          s.v(k, i, j) +=
              (s.mu_y(k, i, j) * s.dy(k, j, 2) + half * s.var_y(k, i, j) * s.dyy(k, j, 2)) *
              s.result(k, i, j + 1);
        s.u(k, j, i) += s.v(k, i, j);
      }
}

/// The systems (1 / dt - Lx / 2) U' = U, one per j
template <typename Real>
__global__ void implicit_x(State<Real> s) {
  const Real half = 0.5;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned j = row(); j < s.num_y; j += rows())
      for (unsigned i = column(); i < s.num_x; i += columns()) {
        s.ax(k, j, i) =
            -half * (s.mu_x(k, i, j) * s.dx(k, i, 0) + half * s.var_x(k, i, j) * s.dxx(k, i, 0));
        s.bx(k, j, i) = s.dt_inv(k) - half * (s.mu_x(k, i, j) * s.dx(k, i, 1) +
                                              half * s.var_x(k, i, j) * s.dxx(k, i, 1));
        s.cx(k, j, i) =
            -half * (s.mu_x(k, i, j) * s.dx(k, i, 2) + half * s.var_x(k, i, j) * s.dxx(k, i, 2));
      }
}

template <typename Real>
__global__ void solve_x(State<Real> s) {
  for (unsigned k = row(); k < s.outer; k += rows())
    for (unsigned j = column(); j < s.num_y; j += columns())
      tridag<Real>(s.ax.row(k, j), s.bx.row(k, j), s.cx.row(k, j), s.u.row(k, j), s.u.row(k, j),
                   s.wx.row(k, j));
}

/// The systems (1 / dt - Ly / 2) R' = U' / dt - V / 2, one per i
template <typename Real>
__global__ void implicit_y(State<Real> s) {
  const Real half = 0.5;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = row(); i < s.num_x; i += rows())
      for (unsigned j = column(); j < s.num_y; j += columns()) {
        s.ay(k, i, j) =
            -half * (s.mu_y(k, i, j) * s.dy(k, j, 0) + half * s.var_y(k, i, j) * s.dyy(k, j, 0));
        s.by(k, i, j) = s.dt_inv(k) - half * (s.mu_y(k, i, j) * s.dy(k, j, 1) +
                                              half * s.var_y(k, i, j) * s.dyy(k, j, 1));
        s.cy(k, i, j) =
            -half * (s.mu_y(k, i, j) * s.dy(k, j, 2) + half * s.var_y(k, i, j) * s.dyy(k, j, 2));
        s.ry(k, i, j) = s.dt_inv(k) * s.u(k, j, i) - half * s.v(k, i, j);
      }
}

template <typename Real>
__global__ void solve_y(State<Real> s) {
  for (unsigned k = row(); k < s.outer; k += rows())
    for (unsigned i = column(); i < s.num_x; i += columns())
      tridag<Real>(s.ay.row(k, i), s.by.row(k, i), s.cy.row(k, i), s.ry.row(k, i),
                   s.result.row(k, i), s.wy.row(k, i));
}
// [time]

template <typename Real>
__global__ void read_prices(State<Real> s) {
  for (unsigned k = column(); k < s.outer; k += columns())
    s.prices(k) = s.result(k, s.ix(k), s.iy(k));
}

// [solve]
template <typename Real>
Prices<Real> solve(const Problem& problem, staircase::Timeline& timeline) {
  const unsigned outer = problem.outer;
  const unsigned num_x = problem.num_x;
  const unsigned num_y = problem.num_y;
  const unsigned num_t = problem.num_t;
  const Real beta = problem.beta;
  const Real nu2 = problem.nu * problem.nu;

  timeline.begin("allocate");
  DeviceArray<double, 1> strikes(outer);
  DeviceArray<std::size_t, 1> ix(outer), iy(outer);
  DeviceArray<Real, 1> dt_inv(outer), device_prices(outer);
  DeviceArray<double, 2> x(outer, num_x), y(outer, num_y), tau(outer, num_t);
  DeviceArray<Real, 3> dx(outer, num_x, 3), dxx(outer, num_x, 3);
  DeviceArray<Real, 3> dy(outer, num_y, 3), dyy(outer, num_y, 3);
  DeviceArray<Real, 3> mu_x(outer, num_x, num_y), var_x(outer, num_x, num_y);
  DeviceArray<Real, 3> mu_y(outer, num_x, num_y), var_y(outer, num_x, num_y);
  DeviceArray<Real, 3> result(outer, num_x, num_y), u(outer, num_y, num_x), v(outer, num_x, num_y);
  DeviceArray<Real, 3> ax(outer, num_y, num_x), bx(outer, num_y, num_x), cx(outer, num_y, num_x),
      wx(outer, num_y, num_x);
  DeviceArray<Real, 3> ay(outer, num_x, num_y), by(outer, num_x, num_y), cy(outer, num_x, num_y),
      wy(outer, num_x, num_y), ry(outer, num_x, num_y);
  const State<Real> s{.outer = outer,
                      .num_x = num_x,
                      .num_y = num_y,
                      .num_t = num_t,
                      .strikes = strikes,
                      .ix = ix,
                      .iy = iy,
                      .dt_inv = dt_inv,
                      .x = x,
                      .y = y,
                      .tau = tau,
                      .dx = dx,
                      .dxx = dxx,
                      .dy = dy,
                      .dyy = dyy,
                      .mu_x = mu_x,
                      .var_x = var_x,
                      .mu_y = mu_y,
                      .var_y = var_y,
                      .result = result,
                      .u = u,
                      .v = v,
                      .ax = ax,
                      .bx = bx,
                      .cx = cx,
                      .wx = wx,
                      .ay = ay,
                      .by = by,
                      .cy = cy,
                      .wy = wy,
                      .ry = ry,
                      .prices = device_prices};
  Prices<Real> prices(outer);

  timeline.begin("copy in");
  strikes.copy_from(problem.all_strikes().data());

  timeline.begin("kernels");
  const dim3 line(128), tile(32, 8);
  init_grid<<<blocks(line, outer), line>>>(s, problem.s0, problem.t, problem.alpha, problem.nu);
  check_launch();
  init_operators<<<blocks(line, outer), line>>>(s);
  check_launch();
  set_payoff<<<blocks(tile, num_y, num_x, outer), tile>>>(s);
  check_launch();
  for (std::size_t g = num_t - 1; g-- > 0;) {
    update_params<<<blocks(tile, num_y, num_x, outer), tile>>>(s, g, beta, nu2);
    check_launch();
    explicit_x<<<blocks(tile, num_y, num_x, outer), tile>>>(s);
    check_launch();
    explicit_y<<<blocks(tile, num_y, num_x, outer), tile>>>(s);
    check_launch();
    implicit_x<<<blocks(tile, num_x, num_y, outer), tile>>>(s);
    check_launch();
    solve_x<<<blocks(tile, num_y, outer), tile>>>(s);
    check_launch();
    implicit_y<<<blocks(tile, num_y, num_x, outer), tile>>>(s);
    check_launch();
    solve_y<<<blocks(tile, num_x, outer), tile>>>(s);
    check_launch();
  }
  read_prices<<<blocks(line, outer), line>>>(s);
  check_launch();
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_prices.copy_to(prices.data());
  return prices;
}
// [solve]

}  // namespace local_volatility

int main(int argc, char** argv) {
  return local_volatility::run_stage(argc, argv,
                                     {
                                         .title = "Naive CUDA",
                                         .idea = "Make each loop nest a kernel",
                                         .solve_f64 = local_volatility::solve<double>,
                                         .solve_f32 = local_volatility::solve<float>,
                                     });
}
