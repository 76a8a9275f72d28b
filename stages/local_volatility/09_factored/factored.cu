/// \file
/// Changed: the tridiagonal matrices are factorised outside the loop over the options, so a solve
///          needs no division, and along y it needs only scans of linear functions.
/// Legal:   a matrix depends on the grid and the time step alone, so its factorisation may be
///          hoisted. A product with an inverse equals the quotient up to rounding.
/// Expect:  memory is the limit, with 8 values per point and step instead of 10.
/// Run:     ./climb local_volatility --stages 06-09
/// Next:    10_increments computes the amount that a time step adds to R, and needs one array less.

#include "../exchange.hpp"
#include "../one_grid.hpp"
#include "../scan.hpp"
#include "../steps_at_once.hpp"

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

/// Number of rows for which factors along y are stored: a multiple of tridag()'s chunk size.
inline std::size_t padded(std::size_t num_y) { return (num_y / 1024 + 1) * 1024; }

// [state]
/// The data that all options share, the arrays of all options, the factors of the matrices, and the
/// vectors of a time step.
template <typename Real>
struct State : OneGrid<Real> {
  View<Real, 3> inverse_x;                             // inverse pivots along x: (step, i, j)
  View<Real, 1> pivot_y, inverse_y, below_y, above_y;  // factors along y, in the order of tridag()
  View<Real, 1> u, v;                                  // indexed by at(k, i, j)
};
// [state]

/// Returns t / q, rounded once like a division. `reciprocal` is 1 / q, up to rounding.
template <typename Real>
__device__ Real quotient(Real t, Real q, Real reciprocal) {
  const Real x = t * reciprocal;
  return fma(fma(-x, q, t), reciprocal, x);
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

// [tridag]
/// The position of the factors of row i. The factors of the m-th rows of all threads of a team are
/// adjacent in memory, so that the team's loads are coalesced.
template <int team, int held>
__device__ std::size_t factor_of_row(std::size_t i) {
  constexpr std::size_t chunk = team * held;
  const std::size_t in_chunk = i % chunk;
  return i - in_chunk + in_chunk % held * team + in_chunk / held;
}

/// Solves a system of n rows along y for u with a team of threads. The right-hand side is r_of(i),
/// which must be 0 beyond the end. A system with more rows than the team's registers can hold is
/// solved in chunks; all chunks but the last store the result d of the elimination in u.
template <int team, int held, typename Real, typename ValueOf>
__device__ void tridag(const State<Real>& s, std::size_t n, ValueOf r_of, Real* u) {
  __shared__ SharedValues<Real, held> shared;
  constexpr std::size_t chunk = team * held;
  std::size_t first = 0;  // first row of the team
  Real d[held], e[held];
  Real d_above = 0, x_below = 0;

  for (;; first += chunk) {
    distribute<team>(shared, r_of, first, d);
    Linear<Real> f[held];
    Linear<Real> all{0, 1};
    for (int m = 0; m < held; ++m) {
      const std::size_t at = first + m * team + threadIdx.x;
      f[m] = {quotient(d[m], s.pivot_y(at), s.inverse_y(at)), s.below_y(at)};
      all = compose(f[m], all);
    }
    Real d_before = scan<team, +1>(all, d_above);
    for (int m = 0; m < held; ++m) d_before = d[m] = f[m](d_before);
    if (first + chunk >= n) break;
    for (int m = 0; m < held; ++m) u[first + m * team + threadIdx.x] = d[m];
  }

  while (true) {
    for (int m = 0; m < held; ++m) e[m] = s.above_y(first + m * team + threadIdx.x);
    substitute<team>(d, e, x_below);
    collect<team>(shared, d, u, first, n);
    if (first == 0) break;
    first -= chunk;
    for (int m = 0; m < held; ++m) d[m] = u[first + m * team + threadIdx.x];
  }
}
// [tridag]

// [factorise]
/// Computes the inverse pivots along x of steps g, g - 1, ...; each thread has one pair (step, j).
template <typename Real>
__global__ void factorise_x(State<Real> s, unsigned g) {
  const unsigned room = s.inverse_x.extent(0), steps = min(room, g + 1);
  for (unsigned step = row(); step < steps; step += rows())
    for (unsigned j = column(); j < s.num_y; j += columns()) {
      const Real var = s.var_of_y(j) * s.var_of_t(g - step);
      Real e = 0;
      for (unsigned i = 0; i < s.num_x; ++i) {
        const auto [lower, centre, upper] = half_stencil_x(s, i, var);
        const Real inverse = 1 / (s.dt_inv - centre - lower * e);
        s.inverse_x(step, i, j) = inverse;
        e = upper * inverse;
      }
    }
}

/// Computes the factors along y in one thread; rows beyond the end get factors that make x 0.
template <typename Real, int team, int held>
__global__ void factorise_y(State<Real> s) {
  const Real half = 0.5;
  Real e = 0;
  for (std::size_t j = 0; j < s.pivot_y.extent(0); ++j) {
    Real pivot = 1, inverse = 0, below = 0;
    if (j < s.num_y) {
      const auto [lower, centre, upper] = stencil(s.dy, s.dyy, j, s.mu_y, s.var_y);
      pivot = s.dt_inv - half * centre - half * lower * e;
      inverse = 1 / pivot;
      below = half * lower * inverse;
      e = half * upper * inverse;
    }
    const std::size_t at = factor_of_row<team, held>(j);
    s.pivot_y(at) = pivot;
    s.inverse_y(at) = inverse;
    s.below_y(at) = below;
    s.above_y(at) = j < s.num_y ? e : 0;
  }
}
// [factorise]

// [time]
/// Number of rows that a thread loads together, so that it waits for memory only once.
template <typename Real>
constexpr unsigned batch_of = 64 / sizeof(Real);

/// Computes V = Ly R and reduces (1 / dt - Lx / 2) U' = R / dt + Lx R / 2 + V down a column to
/// U'(i) = d(i) + e(i) U'(i + 1). Stores d in u. The variance is `var * var_of_x(i)`.
template <typename Real>
__device__ void eliminate_column(const State<Real>& s, View<Real, 2> inverse_x, Real var,
                                 unsigned k, unsigned j) {
  constexpr unsigned batch = batch_of<Real>;
  const Stencil<Real> ly = stencil(s.dy, s.dyy, j, s.mu_y, s.var_y);
  Real above = 0, centre = s.result(s.at(k, 0, j)), d = 0, e = 0;
  for (unsigned first = 0; first < s.num_x; first += batch) {
    Real left[batch], right[batch], below[batch], inverse[batch];
    for (unsigned m = 0; m < batch; ++m) {
      const unsigned i = min(first + m, s.num_x - 1);
      const std::size_t p = s.at(k, i, j);
      left[m] = j > 0 ? s.result(p - 1) : 0;
      right[m] = j < s.num_y - 1 ? s.result(p + 1) : 0;
      below[m] = i < s.num_x - 1 ? s.result(p + s.num_y) : 0;
      inverse[m] = inverse_x(i, j);
    }
    for (unsigned m = 0; m < batch && first + m < s.num_x; ++m) {
      const std::size_t p = s.at(k, first + m, j);
      const auto [lower, middle, upper] = half_stencil_x(s, first + m, var);
      const Real v = ly.lower * left[m] + ly.centre * centre + ly.upper * right[m];
      const Real u = s.dt_inv * centre + lower * above + middle * centre + upper * below[m] + v;
      d = quotient(u + lower * d, s.dt_inv - middle - lower * e, inverse[m]);
      e = upper * inverse[m];
      s.v(p) = v;
      s.u(p) = d;
      above = centre;
      centre = below[m];
    }
  }
}

/// Goes up the column and computes U'(i) = d(i) + e(i) U'(i + 1).
template <typename Real>
__device__ void substitute_column(const State<Real>& s, View<Real, 2> inverse_x, Real var,
                                  unsigned k, unsigned j) {
  constexpr unsigned batch = batch_of<Real>;
  Real x = 0;
  for (unsigned rest = s.num_x; rest > 0;) {
    Real ds[batch], inverse[batch];
    for (unsigned m = 0; m < batch; ++m) {
      const unsigned i = rest > m ? rest - 1 - m : 0;
      ds[m] = s.u(s.at(k, i, j));
      inverse[m] = inverse_x(i, j);
    }
    for (unsigned m = 0; m < batch && rest > 0; ++m) {
      --rest;
      x = ds[m] + half_stencil_x(s, rest, var).upper * inverse[m] * x;
      s.u(s.at(k, rest, j)) = x;
    }
  }
}

template <typename Real>
__global__ void half_step_x(State<Real> s, unsigned g, unsigned step) {
  for (unsigned k = row(); k < s.outer; k += rows())
    for (unsigned j = column(); j < s.num_y; j += columns()) {
      const Real var = s.var_of_y(j) * s.var_of_t(g);
      eliminate_column(s, s.inverse_x.row(step), var, k, j);
      substitute_column(s, s.inverse_x.row(step), var, k, j);
    }
}

/// Solves the systems (1 / dt - Ly / 2) R' = U' / dt - V / 2, one per i.
template <typename Real, int team, int held>
__global__ void implicit_y(State<Real> s) {
  const Real half = 0.5;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = row(); i < s.num_x; i += rows()) {
      const std::size_t p = s.at(k, i, 0);
      const Real *u = &s.u(p), *v = &s.v(p);
      const auto r_of = [&](std::size_t j) {
        return j < s.num_y ? s.dt_inv * u[j] - half * v[j] : Real(0);
      };
      tridag<team, held>(s, s.num_y, r_of, &s.result(p));
    }
}
// [time]

// [solve]
template <typename Real>
Prices<Real> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Arrays<Real> arrays(problem);
  const OneGrid<Real> grid = arrays.grid();
  const unsigned steps = steps_at_once(grid.num_x, grid.num_y, grid.num_t);
  DeviceArray<Real, 3> inverse_x(steps, grid.num_x, grid.num_y);
  const std::size_t rows_y = padded(grid.num_y);
  DeviceArray<Real, 1> pivot_y(rows_y), inverse_y(rows_y), below_y(rows_y), above_y(rows_y);
  DeviceArray<Real, 1> u(arrays.points), v(arrays.points);
  const State<Real> s{grid, inverse_x, pivot_y, inverse_y, below_y, above_y, u, v};
  Prices<Real> prices(s.outer);

  timeline.begin("copy in");
  arrays.strikes.copy_from(problem.all_strikes().data());

  timeline.begin("kernels");
  const dim3 line(128);
  set_up(s, problem, arrays);
  with_team(s.num_y,
            [&](auto team, auto held, dim3) { factorise_y<Real, team, held><<<1, 1>>>(s); });
  check_launch();
  for (unsigned g = s.num_t - 1; g-- > 0;) {
    const unsigned step = (s.num_t - 2 - g) % steps;
    if (step == 0) factorise_x<<<blocks(line, s.num_y, steps), line>>>(s, g);
    check_launch();
    half_step_x<<<blocks(line, s.num_y, s.outer), line>>>(s, g, step);
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
                                         .title = "Factored",
                                         .idea = "Factorise once for all options",
                                         .solve_f64 = local_volatility::solve<double>,
                                         .solve_f32 = local_volatility::solve<float>,
                                     });
}
