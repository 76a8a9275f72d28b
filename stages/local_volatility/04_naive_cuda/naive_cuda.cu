/// \file
/// Changed: the arrays are in device memory; every parallel loop of a nest becomes a dimension of
///          the grid of threads. A thread's loop begins with its index in this dimension.
/// Legal:   these loops were parallel already, and kernels of one stream run one after the other.
/// Expect:  memory is the limit; most kernels have strided accesses, since neighbouring threads do
///          not access neighbouring elements.
/// Run:     ./climb local_volatility --stages 00-04
/// Next:    05_parallel_scan solves each tridiagonal system in parallel, too.

#include "../expanded.hpp"

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

// [tridag]
/// Solves a tridiagonal system (diagonals a, b, c, right-hand side r) for u by the Thomas
/// algorithm, and stores the pivots in w. r and u may be the same array.
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

/// Computes U = R / dt + Lx R / 2.
template <typename Real>
__global__ void explicit_x(State<Real> s) {
  const Real half = 0.5;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = row(); i < s.num_x; i += rows())
      for (unsigned j = column(); j < s.num_y; j += columns()) {
        s.u(k, j, i) = s.dt_inv(k) * s.result(k, i, j);
        if (i > 0) s.u(k, j, i) += half * lx(s, k, i, j, 0) * s.result(k, i - 1, j);
        s.u(k, j, i) += half * lx(s, k, i, j, 1) * s.result(k, i, j);
        if (i < s.num_x - 1) s.u(k, j, i) += half * lx(s, k, i, j, 2) * s.result(k, i + 1, j);
      }
}

/// Computes V = Ly R and U = U + V.
template <typename Real>
__global__ void explicit_y(State<Real> s) {
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = row(); i < s.num_x; i += rows())
      for (unsigned j = column(); j < s.num_y; j += columns()) {
        s.v(k, i, j) = 0;
        if (j > 0) s.v(k, i, j) += ly(s, k, i, j, 0) * s.result(k, i, j - 1);
        s.v(k, i, j) += ly(s, k, i, j, 1) * s.result(k, i, j);
        if (j < s.num_y - 1) s.v(k, i, j) += ly(s, k, i, j, 2) * s.result(k, i, j + 1);
        s.u(k, j, i) += s.v(k, i, j);
      }
}

/// Assembles the systems (1 / dt - Lx / 2) U' = U, one per j.
template <typename Real>
__global__ void implicit_x(State<Real> s) {
  const Real half = 0.5;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned j = row(); j < s.num_y; j += rows())
      for (unsigned i = column(); i < s.num_x; i += columns()) {
        s.ax(k, j, i) = -half * lx(s, k, i, j, 0);
        s.bx(k, j, i) = s.dt_inv(k) - half * lx(s, k, i, j, 1);
        s.cx(k, j, i) = -half * lx(s, k, i, j, 2);
      }
}

template <typename Real>
__global__ void solve_x(Systems<Real> s) {
  for (unsigned k = row(); k < s.outer; k += rows())
    for (unsigned j = column(); j < s.num_y; j += columns())
      tridag<Real>(s.ax.row(k, j), s.bx.row(k, j), s.cx.row(k, j), s.u.row(k, j), s.u.row(k, j),
                   s.wx.row(k, j));
}

/// Assembles the systems (1 / dt - Ly / 2) R' = U' / dt - V / 2, one per i.
template <typename Real>
__global__ void implicit_y(State<Real> s) {
  const Real half = 0.5;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = row(); i < s.num_x; i += rows())
      for (unsigned j = column(); j < s.num_y; j += columns()) {
        s.ay(k, i, j) = -half * ly(s, k, i, j, 0);
        s.by(k, i, j) = s.dt_inv(k) - half * ly(s, k, i, j, 1);
        s.cy(k, i, j) = -half * ly(s, k, i, j, 2);
        s.ry(k, i, j) = s.dt_inv(k) * s.u(k, j, i) - half * s.v(k, i, j);
      }
}

template <typename Real>
__global__ void solve_y(Systems<Real> s) {
  for (unsigned k = row(); k < s.outer; k += rows())
    for (unsigned i = column(); i < s.num_x; i += columns())
      tridag<Real>(s.ay.row(k, i), s.by.row(k, i), s.cy.row(k, i), s.ry.row(k, i),
                   s.result.row(k, i), s.wy.row(k, i));
}
// [time]

// [solve]
template <typename Real>
Prices<Real> solve(const Problem& problem, staircase::Timeline& timeline) {
  const Real beta = problem.beta;
  const Real nu2 = problem.nu * problem.nu;

  timeline.begin("allocate");
  Arrays<Real> arrays(problem);
  const State<Real> s = arrays.state();
  DeviceArray<Real, 3> wx(s.outer, s.num_y, s.num_x), wy(s.outer, s.num_x, s.num_y);
  const Systems<Real> systems{s, wx, wy};
  Prices<Real> prices(s.outer);

  timeline.begin("copy in");
  arrays.strikes.copy_from(problem.all_strikes().data());

  timeline.begin("kernels");
  const dim3 line(128), tile(32, 8);
  set_up(s, problem);
  for (std::size_t g = s.num_t - 1; g-- > 0;) {
    update_params<<<blocks(tile, s.num_y, s.num_x, s.outer), tile>>>(s, g, beta, nu2);
    check_launch();
    explicit_x<<<blocks(tile, s.num_y, s.num_x, s.outer), tile>>>(s);
    check_launch();
    explicit_y<<<blocks(tile, s.num_y, s.num_x, s.outer), tile>>>(s);
    check_launch();
    implicit_x<<<blocks(tile, s.num_x, s.num_y, s.outer), tile>>>(s);
    check_launch();
    solve_x<<<blocks(tile, s.num_y, s.outer), tile>>>(systems);
    check_launch();
    implicit_y<<<blocks(tile, s.num_y, s.num_x, s.outer), tile>>>(s);
    check_launch();
    solve_y<<<blocks(tile, s.num_x, s.outer), tile>>>(systems);
    check_launch();
  }
  read_prices<<<blocks(line, s.outer), line>>>(s);
  check_launch();
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  arrays.prices.copy_to(prices.data());
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
