/// \file
/// Changed: the rows of the grid are divided among a team of threads. A system along x crosses the
///          rows of all threads, so strips of systems pass from thread to thread in a pipeline.
/// Legal:   a thread computes a strip after the neighbour whose row it reads has finished this
///          strip. Three barriers per time step order all other accesses to shared data.
/// Expect:  the time is divided by the number of cores, and the pipeline adds the time in which it
///          fills and drains.
/// Run:     ./climb local_volatility --stages 15,19,20 --dataset large
/// Next:    nothing; this is the last stage.

#include "../local_volatility.hpp"

#include <omp.h>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <staircase/flush_to_zero.hpp>
#include <thread>
#include <vector>

namespace local_volatility {

using staircase::Array;
using staircase::View;

// [sizes]
constexpr std::size_t jammed = 4;  // systems along y that are solved together
// [sizes]

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

  Array<Real, 2> z{num_x, num_y}, p{num_x, num_y}, inverse_x{num_x, num_y};
  Array<Real, 1> weight{num_x};
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

// [Part]
/// A range of consecutive rows or systems, `end` excluded.
struct Part {
  std::size_t begin, end;
};

/// The number of strips that a thread has finished in one direction, in all time steps together.
/// Each counter has a cache line of its own.
struct alignas(64) Progress {
  std::atomic<std::size_t> strips = 0;

  void wait_for(std::size_t number) const {
    for (std::size_t tries = 0; strips.load(std::memory_order_acquire) < number;)
      if (++tries % 1000 == 0) std::this_thread::yield();  // the other thread may need this core
  }
  void finish_strip() { strips.store(strips + 1, std::memory_order_release); }
};
// [Part]

// [step]
/// Computes z = (1 / dt - Ly' / 2)^-1 z for `rows` consecutive systems, with the factors of the
/// matrix: the transposed upper factor first. `last` contains the previous element of each system.
template <std::size_t rows, typename Real>
void solve_rows(std::size_t first, State<Real>& s) {
  const std::size_t n = s.num_y;
  Real last[rows];
  for (std::size_t r = 0; r < rows; ++r) last[r] = s.z(first + r, 0) *= s.inverse_y(0);
  for (std::size_t j = 1; j < n; ++j) {
    const Real scale = s.inverse_y(j), factor = s.upper_y(j - 1) * s.inverse_y(j);
    for (std::size_t r = 0; r < rows; ++r)
      s.z(first + r, j) = last[r] = s.z(first + r, j) * scale + factor * last[r];
  }
  for (std::size_t j = n - 1; j-- > 0;) {
    const Real factor = s.lower_y(j + 1) * s.inverse_y(j);
    for (std::size_t r = 0; r < rows; ++r)
      s.z(first + r, j) = last[r] = s.z(first + r, j) + factor * last[r];
  }
}

/// Solves systems along y, one per row i: `jammed` at a time, then the remaining ones.
template <typename Real>
void solve_y(Part rows, State<Real>& s) {
  std::size_t i = rows.begin;
  for (; i + jammed <= rows.end; i += jammed) solve_rows<jammed>(i, s);
  for (; i < rows.end; ++i) solve_rows<1>(i, s);
}

/// Does the elimination for p = (1 / dt - Lx' / 2)^-1 z / dt, in the rows of a thread and the
/// systems of a strip. Computes one row of all these systems at a time.
template <typename Real>
void eliminate_x(Real dt_inv, Part rows, Part strip, State<Real>& s) {
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    const auto here = half_operator<Real>(s.dx, s.dxx, i);
    const auto above = half_operator<Real>(s.dx, s.dxx, i > 0 ? i - 1 : 0);
    const Real var = s.var_of_x(i), var_above = i > 0 ? s.var_of_x(i - 1) : 0;
    const View<Real, 1> z = s.z.row(i), p = s.p.row(i), inverse = s.inverse_x.row(i);
    const View<Real, 1> p_above = s.p.row(i - (i > 0)),
                        inverse_above = s.inverse_x.row(i - (i > 0));
#pragma omp simd
    for (std::size_t j = strip.begin; j < strip.end; ++j) {
      const auto [lower, centre, upper] = here(var * s.var_x(j));
      const Real upper_above = above(var_above * s.var_x(j)).upper;
      inverse(j) = 1 / (dt_inv - centre - (i > 0 ? lower * upper_above * inverse_above(j) : 0));
      p(j) = (dt_inv * z(j) + (i > 0 ? upper_above * p_above(j) : 0)) * inverse(j);
    }
  }
}

/// Does the substitution that follows eliminate_x(), from the last row to the first.
template <typename Real>
void substitute_x(Part rows, Part strip, State<Real>& s) {
  for (std::size_t i = std::min(rows.end, s.num_x - 1); i-- > rows.begin;) {
    const auto below = half_operator<Real>(s.dx, s.dxx, i + 1);
    const Real var = s.var_of_x(i + 1);
    const View<Real, 1> p = s.p.row(i), p_below = s.p.row(i + 1), inverse = s.inverse_x.row(i);
#pragma omp simd
    for (std::size_t j = strip.begin; j < strip.end; ++j)
      p(j) += below(var * s.var_x(j)).lower * inverse(j) * p_below(j);
  }
}

/// Computes z = (1 / dt + Lx' / 2) p + Ly' (p - z / 2), for the given rows.
template <typename Real>
void apply_explicit(Real dt_inv, Part rows, View<Real, 1> q, State<Real>& s) {
  const Real half = 0.5;
  const std::size_t n = s.num_y;
  for (std::size_t i = rows.begin; i < rows.end; ++i) {
    const bool first = i == 0, last = i == s.num_x - 1;
    const auto here = half_operator<Real>(s.dx, s.dxx, i);
    const auto above = half_operator<Real>(s.dx, s.dxx, i - !first);
    const auto below = half_operator<Real>(s.dx, s.dxx, i + !last);
    const Real var = s.var_of_x(i), var_above = first ? 0 : s.var_of_x(i - 1),
               var_below = last ? 0 : s.var_of_x(i + 1);
    const View<Real, 1> z = s.z.row(i), p = s.p.row(i);
    const View<Real, 1> p_above = s.p.row(i - !first), p_below = s.p.row(i + !last);
    for (std::size_t j = 0; j < n; ++j) q(j + 1) = p(j) - half * z(j);
    for (std::size_t j = 0; j < n; ++j)
      z(j) = dt_inv * p(j) + above(var_above * s.var_x(j)).upper * p_above(j) +
             here(var * s.var_x(j)).centre * p(j) +
             below(var_below * s.var_x(j)).lower * p_below(j);
    for (std::size_t j = 0; j < n; ++j)
      z(j) += 2 * (s.centre_y(j) * q(j + 1) + (j > 0 ? s.upper_y(j - 1) * q(j) : 0) +
                   (j < n - 1 ? s.lower_y(j + 1) * q(j + 2) : 0));
  }
}
// [step]

// [pipeline]
/// The number of systems in a strip, at least a cache line; a grid has about 4 × `team` strips.
template <typename Real>
std::size_t width_of_strip(std::size_t num_y, std::size_t team) {
  const std::size_t line = 64 / sizeof(Real), lines = (num_y + line - 1) / line;
  return std::max<std::size_t>(lines / (4 * team), 1) * line;
}

/// Solves the systems along x. `down` and `up` count the strips in which each thread has finished
/// the elimination and the substitution.
template <typename Real>
void solve_x(Real dt_inv, Part rows, std::vector<Progress>& down, std::vector<Progress>& up,
             State<Real>& s) {
  const std::size_t me = omp_get_thread_num(), team = omp_get_num_threads();
  const std::size_t width = width_of_strip<Real>(s.num_y, team);
  for (std::size_t begin = 0; begin < s.num_y; begin += width) {
    if (me > 0) down[me - 1].wait_for(down[me].strips + 1);
    eliminate_x(dt_inv, rows, {begin, std::min(begin + width, s.num_y)}, s);
    down[me].finish_strip();
  }
  for (std::size_t begin = 0; begin < s.num_y; begin += width) {
    if (me + 1 < team) up[me + 1].wait_for(up[me].strips + 1);
    substitute_x(rows, {begin, std::min(begin + width, s.num_y)}, s);
    up[me].finish_strip();
  }
}
// [pipeline]

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
  std::vector<Progress> down(omp_get_max_threads()), up(down.size());
  Array<Real, 2> q(down.size(), state.num_y + 2);
#pragma omp parallel
  {
    const staircase::FlushToZero flush_in_this_thread;
    const std::size_t me = omp_get_thread_num(), team = omp_get_num_threads();
    const Part rows{state.num_x * me / team, state.num_x * (me + 1) / team};
    for (std::size_t g = 0; g < state.num_t - 1; ++g) {
      solve_y(rows, state);
#pragma omp barrier
#pragma omp for
      for (std::size_t j = 0; j < state.num_y; ++j)
        state.var_x(j) = std::exp(2 * Real(state.y(j)) - nu2 * Real(state.tau(g)));
      solve_x(dt_inv, rows, down, up, state);
#pragma omp barrier
      apply_explicit<Real>(dt_inv, rows, q.row(me), state);
    }
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
                                         .title = "Pipelined adjoint",
                                         .idea = "Pass strips of systems from thread to thread",
                                         .solve_f64 = local_volatility::solve<double>,
                                         .solve_f32 = local_volatility::solve<float>,
                                     });
}
