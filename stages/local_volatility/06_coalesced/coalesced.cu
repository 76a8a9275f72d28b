/// \file
/// Changed: arrays are stored in the order in which threads access them. Two kernels transpose
///          tiles in shared memory, through which a team also exchanges the rows of its system.
///          Coefficients and sums stay in registers, so a step has five kernels instead of seven.
/// Legal:   the layout of an array concerns only its readers and writers, and merged kernels
///          exchange values within a thread, or across a barrier of the thread block.
/// Expect:  memory is the limit, with 22 values per point and step instead of 37, each moved once.
/// Run:     ./climb local_volatility --stages 04-06
/// Next:    07_interleaved solves one system per thread again, with systems interleaved in memory.

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
/// Computes the coefficients of step g. A thread goes down a column and computes log(x) only once.
template <typename Real>
__global__ void update_params(State<Real> s, std::size_t g, Real beta, Real nu2) {
  const Real half = 0.5;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z) {
    for (unsigned i = column(); i < s.num_x; i += columns()) {
      const Real log_x = log(Real(s.x(k, i)));
      const Real tau = s.tau(k, g);
      for (unsigned j = row(); j < s.num_y; j += rows()) {
        const std::size_t p = s.along_x(k, j, i);
        if (i == 0 && j == 0) s.dt_inv(k) = 1 / (s.tau(k, g + 1) - s.tau(k, g));
        s.mu_x(p) = 0;
        s.var_x(p) = exp(2 * (beta * log_x + Real(s.y(k, j)) - half * nu2 * tau));
      }
    }
    const std::size_t first = s.at(k, 0, 0), end = s.at(k + 1, 0, 0);
    for (std::size_t p = first + std::size_t{row()} * columns() + column(); p < end;
         p += std::size_t{rows()} * columns()) {
      s.mu_y(p) = 0;
      s.var_y(p) = nu2;
    }
  }
}

/// Computes V = Ly R along the rows of a tile, then U = R / dt + Lx R / 2 + V along its columns.
template <typename Real>
__global__ void explicit_xy(State<Real> s) {
  __shared__ Real r[tile_size + 2][tile_size];  // R of the tile and of the rows above and below
  __shared__ Real v[tile_size][tile_size];
  const Real half = 0.5;
  const unsigned x = threadIdx.x, y = threadIdx.y;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i0 = tile_row(); i0 < s.num_x; i0 += tile_rows())
      for (unsigned j0 = tile_column(); j0 < s.num_y; j0 += tile_columns()) {
        if (const unsigned i = i0 + y, j = j0 + x; i < s.num_x && j < s.num_y) {
          const std::size_t p = s.at(k, i, j);
          const View<Real, 2> d = s.dy.row(k), dd = s.dyy.row(k);
          const Real mu = s.mu_y(p), var = s.var_y(p), centre = s.result(p);
          Real sum = 0;
          if (j > 0) sum += (mu * d(0, j) + half * var * dd(0, j)) * s.result(p - 1);
          sum += (mu * d(1, j) + half * var * dd(1, j)) * centre;
          if (j < s.num_y - 1) sum += (mu * d(2, j) + half * var * dd(2, j)) * s.result(p + 1);
          r[y + 1][swizzled(y + 1, x)] = centre;
          if (y == 0 && i > 0) r[0][swizzled(0, x)] = s.result(p - s.num_y);
          if (y == tile_size - 1 && i < s.num_x - 1)
            r[y + 2][swizzled(y + 2, x)] = s.result(p + s.num_y);
          s.v(p) = v[y][swizzled(y, x)] = sum;
        }
        __syncthreads();
        if (const unsigned i = i0 + x, j = j0 + y; i < s.num_x && j < s.num_y) {
          const std::size_t p = s.along_x(k, j, i);
          const View<Real, 2> d = s.dx.row(k), dd = s.dxx.row(k);
          const Real mu = s.mu_x(p), var = s.var_x(p), centre = r[x + 1][swizzled(x + 1, y)];
          Real sum = s.dt_inv(k) * centre;
          if (i > 0) sum += half * (mu * d(0, i) + half * var * dd(0, i)) * r[x][swizzled(x, y)];
          sum += half * (mu * d(1, i) + half * var * dd(1, i)) * centre;
          if (i < s.num_x - 1)
            sum += half * (mu * d(2, i) + half * var * dd(2, i)) * r[x + 2][swizzled(x + 2, y)];
          s.u(p) = sum + v[x][swizzled(x, y)];
        }
        __syncthreads();
      }
}

/// Solves the systems (1 / dt - Lx / 2) U' = U, one per j.
template <typename Real, int team, int held>
__global__ void implicit_x(State<Real> s) {
  const Real half = 0.5;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned j = row(); j < s.num_y; j += rows()) {
      const std::size_t p = s.along_x(k, j, 0);
      const Real *mu = &s.mu_x(p), *var = &s.var_x(p), *r = &s.u(p);
      const Real *d0 = &s.dx(k, 0, 0), *d1 = &s.dx(k, 1, 0), *d2 = &s.dx(k, 2, 0);
      const Real *dd0 = &s.dxx(k, 0, 0), *dd1 = &s.dxx(k, 1, 0), *dd2 = &s.dxx(k, 2, 0);
      const Real dt_inv = s.dt_inv(k);
      const auto row_of = [&](std::size_t i) -> Row<Real> {
        const auto of = [&](const Real* x) { return i < s.num_x ? x[i] : 0; };
        const Real m = of(mu), v = half * of(var);
        return {-half * (m * of(d0) + v * of(dd0)), dt_inv - half * (m * of(d1) + v * of(dd1)),
                -half * (m * of(d2) + v * of(dd2)), of(r)};
      };
      tridag<team, held>(s.num_x, row_of, &s.u(p), &s.mu_x(p));
    }
}

/// Computes the right-hand side along y: V becomes U' / dt - V / 2.
template <typename Real>
__global__ void right_side_y(State<Real> s) {
  __shared__ Real u[tile_size][tile_size];
  const Real half = 0.5;
  const unsigned x = threadIdx.x, y = threadIdx.y;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i0 = tile_row(); i0 < s.num_x; i0 += tile_rows())
      for (unsigned j0 = tile_column(); j0 < s.num_y; j0 += tile_columns()) {
        if (const unsigned i = i0 + x, j = j0 + y; i < s.num_x && j < s.num_y)
          u[y][swizzled(y, x)] = s.u(s.along_x(k, j, i));
        __syncthreads();
        if (const unsigned i = i0 + y, j = j0 + x; i < s.num_x && j < s.num_y) {
          const std::size_t p = s.at(k, i, j);
          s.v(p) = s.dt_inv(k) * u[x][swizzled(x, y)] - half * s.v(p);
        }
        __syncthreads();
      }
}

/// Solves the systems (1 / dt - Ly / 2) R' = U' / dt - V / 2, one per i.
template <typename Real, int team, int held>
__global__ void implicit_y(State<Real> s) {
  const Real half = 0.5;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = row(); i < s.num_x; i += rows()) {
      const std::size_t p = s.at(k, i, 0);
      const Real *mu = &s.mu_y(p), *var = &s.var_y(p), *r = &s.v(p);
      const Real *d0 = &s.dy(k, 0, 0), *d1 = &s.dy(k, 1, 0), *d2 = &s.dy(k, 2, 0);
      const Real *dd0 = &s.dyy(k, 0, 0), *dd1 = &s.dyy(k, 1, 0), *dd2 = &s.dyy(k, 2, 0);
      const Real dt_inv = s.dt_inv(k);
      const auto row_of = [&](std::size_t j) -> Row<Real> {
        const auto of = [&](const Real* x) { return j < s.num_y ? x[j] : 0; };
        const Real m = of(mu), v = half * of(var);
        return {-half * (m * of(d0) + v * of(dd0)), dt_inv - half * (m * of(d1) + v * of(dd1)),
                -half * (m * of(d2) + v * of(dd2)), of(r)};
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
  const dim3 line(128), tile(32, 8), square(tile_size, tile_size);
  set_up(s, problem);
  for (std::size_t g = s.num_t - 1; g-- > 0;) {
    update_params<<<blocks(tile, s.num_x, s.num_y / 4 + 1, s.outer), tile>>>(s, g, beta, nu2);
    check_launch();
    explicit_xy<<<blocks(square, s.num_y, s.num_x, s.outer), square>>>(s);
    check_launch();
    with_team(s.num_x, [&](auto team, auto held, dim3 block) {
      implicit_x<Real, team, held><<<blocks(block, team, s.num_y, s.outer), block>>>(s);
    });
    check_launch();
    right_side_y<<<blocks(square, s.num_y, s.num_x, s.outer), square>>>(s);
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
                                         .title = "Coalesced",
                                         .idea = "Coalesce accesses, transpose in shared memory",
                                         .solve_f64 = local_volatility::solve<double>,
                                         .solve_f32 = local_volatility::solve<float>,
                                     });
}
