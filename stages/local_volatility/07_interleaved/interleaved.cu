/// \file
/// Changed: in all arrays, neighbours in y are adjacent in memory, so the rows of a system along x
///          are num_y apart, interleaved with those of other systems. The Thomas algorithm solves
///          these systems again, merged with the explicit half steps; no data are transposed.
/// Legal:   the systems along x are independent, and a thread that goes down a column visits the
///          points in the order in which the Thomas algorithm needs their right-hand sides.
/// Expect:  this stage is faster than 06 if the systems fill the GPU, and slower otherwise.
/// Run:     ./climb local_volatility --stages 05-07
/// Next:    08_shared_grids stores the data that are the same for all options only once.

#include "../exchange.hpp"
#include "../laid_out.hpp"
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

// [elimination]
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
// [elimination]

// [tridag]
/// Solves a tridiagonal system of n rows for u with a team of threads; row_of(i) is row i. Rows
/// beyond the end must have a = c = r = 0. A system with more rows than the team's registers can
/// hold is solved in chunks; all chunks but the last store d and e of eliminate() in u and w.
template <int team, int held, typename Real, typename RowOf>
__device__ void tridag(std::size_t n, RowOf row_of, Real* u, Real* w) {
  __shared__ SharedRows<Real, held> shared;
  constexpr std::size_t chunk = team * held;
  std::size_t first = 0;  // first row of the team
  Real d[held], e[held];
  Real g_above = 1, d_above = 0, x_below = 0;

  for (;; first += chunk) {
    eliminate<team>(distribute<team>(shared, row_of, first), d, e, g_above, d_above);
    if (first + chunk >= n) break;
    for (int m = 0; m < held; ++m) {
      u[first + m * team + threadIdx.x] = d[m];
      w[first + m * team + threadIdx.x] = e[m];
    }
  }

  while (true) {
    substitute<team>(d, e, x_below);
    collect<team>(shared, d, u, first, n);
    if (first == 0) break;
    first -= chunk;
    for (int m = 0; m < held; ++m) {
      d[m] = u[first + m * team + threadIdx.x];
      e[m] = w[first + m * team + threadIdx.x];
    }
  }
}
// [tridag]

// [time]
/// Computes the coefficients of step g. A thread goes along a row and computes log(x) only once.
template <typename Real>
__global__ void update_params(State<Real> s, std::size_t g, Real beta, Real nu2) {
  const Real half = 0.5;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = row(); i < s.num_x; i += rows()) {
      const Real log_x = log(Real(s.x(k, i)));
      const Real tau = s.tau(k, g);
      for (unsigned j = column(); j < s.num_y; j += columns()) {
        const std::size_t p = s.at(k, i, j);
        if (i == 0 && j == 0) s.dt_inv(k) = 1 / (s.tau(k, g + 1) - s.tau(k, g));
        s.mu_x(p) = 0;
        s.var_x(p) = exp(2 * (beta * log_x + Real(s.y(k, j)) - half * nu2 * tau));
        s.mu_y(p) = 0;
        s.var_y(p) = nu2;
      }
    }
}

/// Number of rows that a thread loads together, so that it waits for memory only once.
template <typename Real>
constexpr unsigned batch_of = 32 / sizeof(Real);

/// Computes V = Ly R and reduces (1 / dt - Lx / 2) U' = R / dt + Lx R / 2 + V down a column to
/// U'(i) = d(i) + e(i) U'(i + 1). Stores d in u and e in mu_x.
template <typename Real>
__device__ void eliminate_column(const State<Real>& s, unsigned k, unsigned j) {
  constexpr unsigned batch = batch_of<Real>;
  const Real half = 0.5;
  const View<Real, 2> dx = s.dx.row(k), dxx = s.dxx.row(k);
  const View<Real, 2> dy = s.dy.row(k), dyy = s.dyy.row(k);
  const Real dt_inv = s.dt_inv(k);
  Real above = 0, centre = s.result(s.at(k, 0, j)), d = 0, e = 0;
  for (unsigned first = 0; first < s.num_x; first += batch) {
    Real mu_x[batch], var_x[batch], mu_y[batch], var_y[batch], left[batch], right[batch],
        below[batch];
    for (unsigned m = 0; m < batch; ++m) {
      const unsigned i = min(first + m, s.num_x - 1);
      const std::size_t p = s.at(k, i, j);
      mu_x[m] = s.mu_x(p);
      var_x[m] = s.var_x(p);
      mu_y[m] = s.mu_y(p);
      var_y[m] = s.var_y(p);
      left[m] = j > 0 ? s.result(p - 1) : 0;
      right[m] = j < s.num_y - 1 ? s.result(p + 1) : 0;
      below[m] = i < s.num_x - 1 ? s.result(p + s.num_y) : 0;
    }
    for (unsigned m = 0; m < batch && first + m < s.num_x; ++m) {
      const unsigned i = first + m;
      const std::size_t p = s.at(k, i, j);
      const Real v = (mu_y[m] * dy(0, j) + half * var_y[m] * dyy(0, j)) * left[m] +
                     (mu_y[m] * dy(1, j) + half * var_y[m] * dyy(1, j)) * centre +
                     (mu_y[m] * dy(2, j) + half * var_y[m] * dyy(2, j)) * right[m];
      const Real lower = half * (mu_x[m] * dx(0, i) + half * var_x[m] * dxx(0, i));
      const Real middle = half * (mu_x[m] * dx(1, i) + half * var_x[m] * dxx(1, i));
      const Real upper = half * (mu_x[m] * dx(2, i) + half * var_x[m] * dxx(2, i));
      const Real u = dt_inv * centre + lower * above + middle * centre + upper * below[m] + v;
      const Real pivot = dt_inv - middle - lower * e;
      d = (u + lower * d) / pivot;
      e = upper / pivot;
      s.v(p) = v;
      s.u(p) = d;
      s.mu_x(p) = e;
      above = centre;
      centre = below[m];
    }
  }
}

/// Goes up the column and computes U'(i) = d(i) + e(i) U'(i + 1).
template <typename Real>
__device__ void substitute_column(const State<Real>& s, unsigned k, unsigned j) {
  constexpr unsigned batch = batch_of<Real>;
  Real x = 0;
  for (unsigned rest = s.num_x; rest > 0;) {
    Real ds[batch], es[batch];
    for (unsigned m = 0; m < batch; ++m) {
      const std::size_t p = s.at(k, rest > m ? rest - 1 - m : 0, j);
      ds[m] = s.u(p);
      es[m] = s.mu_x(p);
    }
    for (unsigned m = 0; m < batch && rest > 0; ++m) {
      x = ds[m] + es[m] * x;
      s.u(s.at(k, --rest, j)) = x;
    }
  }
}

template <typename Real>
__global__ void half_step_x(State<Real> s) {
  for (unsigned k = row(); k < s.outer; k += rows())
    for (unsigned j = column(); j < s.num_y; j += columns()) {
      eliminate_column(s, k, j);
      substitute_column(s, k, j);
    }
}

/// Solves the systems (1 / dt - Ly / 2) R' = U' / dt - V / 2, one per i.
template <typename Real, int team, int held>
__global__ void implicit_y(State<Real> s) {
  const Real half = 0.5;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = row(); i < s.num_x; i += rows()) {
      const std::size_t p = s.at(k, i, 0);
      const Real *mu = &s.mu_y(p), *var = &s.var_y(p), *u = &s.u(p), *v = &s.v(p);
      const Real *d0 = &s.dy(k, 0, 0), *d1 = &s.dy(k, 1, 0), *d2 = &s.dy(k, 2, 0);
      const Real *dd0 = &s.dyy(k, 0, 0), *dd1 = &s.dyy(k, 1, 0), *dd2 = &s.dyy(k, 2, 0);
      const Real dt_inv = s.dt_inv(k);
      const auto row_of = [&](std::size_t j) -> Row<Real> {
        const auto of = [&](const Real* x) { return j < s.num_y ? x[j] : 0; };
        const Real m = of(mu), h = half * of(var);
        return {-half * (m * of(d0) + h * of(dd0)), dt_inv - half * (m * of(d1) + h * of(dd1)),
                -half * (m * of(d2) + h * of(dd2)), dt_inv * of(u) - half * of(v)};
      };
      tridag<team, held>(s.num_y, row_of, &s.result(p), &s.mu_y(p));
    }
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
    update_params<<<blocks(tile, s.num_y / 4 + 1, s.num_x, s.outer), tile>>>(s, g, beta, nu2);
    check_launch();
    half_step_x<<<blocks(line, s.num_y, s.outer), line>>>(s);
    check_launch();
    with_team(s.num_y, [&](auto team, auto held, dim3 block) {
      implicit_y<Real, team, held><<<blocks(block, team, s.num_x, s.outer), block>>>(s);
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
                                         .title = "Interleaved",
                                         .idea = "Solve interleaved systems, one per thread",
                                         .solve_f64 = local_volatility::solve<double>,
                                         .solve_f32 = local_volatility::solve<float>,
                                     });
}
