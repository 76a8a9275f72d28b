/// \file
/// Changed: tridag() solves a system by parallel scans in a team of threads. The two kernels that
///          call tridag() and their launches change accordingly; no pivots are stored.
/// Legal:   each of the three recurrences applies one function per row to a running value. The
///          composition of functions is associative, so it may be grouped (and scanned) in any way.
/// Expect:  a solve reads and writes each element once; the other kernels take as long as in 04.
/// Run:     ./climb local_volatility --stages 04,05
/// Next:    06_coalesced lets neighbouring threads access neighbouring elements.

#include "../expanded.hpp"
#include "../scan.hpp"

#include <cmath>

namespace local_volatility {

using staircase::blocks;
using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::columns;
using staircase::row;
using staircase::rows;
using staircase::View;

// [tridag]
/// Successive rows a x(i - 1) + b x(i) + c x(i + 1) = r of a system, with the sums s = a + b + c.
/// In the system's first row a = 0, and in its last row c = 0.
template <typename Real, int held>
struct Rows {
  Real a[held], s[held], c[held], r[held];
};

/// Advances (q, G), here q and g, by one row: pivot = new q / old q, and G / q = 1 + c / pivot. In
/// a diffusion equation, a, c <= 0 and s >= 0. No term is negative, so no cancellation occurs.
template <typename Real, int held>
__device__ void take_over(const Rows<Real, held>& rows, int m, Real& q, Real& g) {
  g = rows.s[m] * q - rows.a[m] * g;
  q = g - rows.c[m] * q;
}

/// Returns t / q, rounded once like a division. `reciprocal` is 1 / q, up to rounding.
template <typename Real>
__device__ Real quotient(Real t, Real q, Real reciprocal) {
  const Real x = t * reciprocal;
  return fma(fma(-x, q, t), reciprocal, x);
}

/// Converts the rows of a team to x(i) = d(i) + e(i) x(i + 1). On entry, g_above and d_above belong
/// to the row above the team's first row; on return, they belong to the team's last row.
template <int team, typename Real, int held>
__device__ void eliminate(const Rows<Real, held>& rows, Real (&d)[held], Real (&e)[held],
                          Real& g_above, Real& d_above) {
  Fractional<Real> pivots{1, 0, 0, 1};
  for (int m = 0; m < held; ++m) {
    take_over(rows, m, pivots.qq, pivots.gq);
    take_over(rows, m, pivots.qg, pivots.gg);
    pivots = scaled(pivots);
  }

  Linear<Real> f[held];
  Linear<Real> all{0, 1};
  Real q = 1, g = scan<team, +1>(pivots, g_above);
  for (int m = 0; m < held; ++m) {
    const Real q_above = q;
    take_over(rows, m, q, g);
    const Real reciprocal = 1 / q, inverse = q_above * reciprocal;  // inverse of the pivot
    f[m] = {quotient(rows.r[m] * q_above, q, reciprocal), -rows.a[m] * inverse};
    e[m] = -rows.c[m] * inverse;
    all = compose(f[m], all);
    const Real scale = scale_of(q);
    q *= scale;
    g *= scale;
  }

  Real d_before = scan<team, +1>(all, d_above);
  for (int m = 0; m < held; ++m) d_before = d[m] = f[m](d_before);
}

/// Solves x(i) = d(i) + e(i) x(i + 1) and stores x in d. On entry, x_below is the x of the row
/// below the team's last row; on return, it is the x of the team's first row.
template <int team, typename Real, int held>
__device__ void substitute(Real (&d)[held], const Real (&e)[held], Real& x_below) {
  Linear<Real> all{0, 1};
  for (int m = held - 1; m >= 0; --m) all = compose(Linear<Real>{d[m], e[m]}, all);
  Real x = scan<team, -1>(all, x_below);
  for (int m = held - 1; m >= 0; --m) x = d[m] += e[m] * x;
}

/// Solves a tridiagonal system (diagonals a, b, c, right-hand side r) for u with a team of threads.
/// r and u may be the same array. A system with more rows than the team's registers can hold is
/// solved in chunks; all chunks but the last store d and e of eliminate() in u and c.
template <int team, int held, typename Real>
__device__ void tridag(View<Real, 1> a, View<Real, 1> b, View<Real, 1> c, View<Real, 1> r,
                       View<Real, 1> u) {
  const std::size_t n = a.extent(0);
  constexpr std::size_t chunk = team * held;
  std::size_t first = threadIdx.x * held;  // first row of this thread
  Real d[held], e[held];
  Real g_above = 1, d_above = 0, x_below = 0;

  for (std::size_t end = chunk;; end += chunk, first += chunk) {
    Rows<Real, held> rows;
    for (int m = 0; m < held; ++m) {
      const std::size_t i = first + m;
      const bool inside = i < n;
      rows.a[m] = inside ? a(i) : 0;
      rows.c[m] = inside ? c(i) : 0;
      rows.s[m] = inside ? a(i) + b(i) + c(i) : 1;
      rows.r[m] = inside ? r(i) : 0;
    }
    eliminate<team>(rows, d, e, g_above, d_above);
    if (end >= n) break;
    for (int m = 0; m < held; ++m) {
      u(first + m) = d[m];
      c(first + m) = e[m];
    }
  }

  while (true) {
    substitute<team>(d, e, x_below);
    for (int m = 0; m < held; ++m)
      if (first + m < n) u(first + m) = d[m];
    if (first < chunk) break;
    first -= chunk;
    for (int m = 0; m < held; ++m) {
      d[m] = u(first + m);
      e[m] = c(first + m);
    }
  }
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

template <typename Real, int team, int held>
__global__ void solve_x(State<Real> s) {
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned j = row(); j < s.num_y; j += rows())
      tridag<team, held>(s.ax.row(k, j), s.bx.row(k, j), s.cx.row(k, j), s.u.row(k, j),
                         s.u.row(k, j));
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

template <typename Real, int team, int held>
__global__ void solve_y(State<Real> s) {
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = row(); i < s.num_x; i += rows())
      tridag<team, held>(s.ay.row(k, i), s.by.row(k, i), s.cy.row(k, i), s.ry.row(k, i),
                         s.result.row(k, i));
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
    with_team(s.num_x, [&](auto team, auto held, dim3 block) {
      solve_x<Real, team, held><<<blocks(block, team, s.num_y, s.outer), block>>>(s);
    });
    check_launch();
    implicit_y<<<blocks(tile, s.num_y, s.num_x, s.outer), tile>>>(s);
    check_launch();
    with_team(s.num_y, [&](auto team, auto held, dim3 block) {
      solve_y<Real, team, held><<<blocks(block, team, s.num_x, s.outer), block>>>(s);
    });
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
                                         .title = "Parallel scan",
                                         .idea = "Solve each system by parallel scans",
                                         .solve_f64 = local_volatility::solve<double>,
                                         .solve_f32 = local_volatility::solve<float>,
                                     });
}
