/// \file
/// The grid and the operators that all options share, the set-up of these data and of the payoffs,
/// and the final prices.

#pragma once

#include <algorithm>
#include <cmath>
#include <staircase/device_memory.hpp>
#include <type_traits>

#include "local_volatility.hpp"

namespace local_volatility {

// [state]
/// The data that all options share and the arrays of all options, as arguments of kernels. A grid
/// has fewer than 2^31 points per side; only indices into arrays of points need 64 bits.
template <typename Real>
struct OneGrid {
  unsigned outer, num_x, num_y, num_t;
  std::size_t ix, iy;
  Real dt_inv, mu_x, mu_y, var_y;
  staircase::View<double, 1> strikes, x, y;
  staircase::View<Real, 1> var_of_x, var_of_y, var_of_t;  // the factors of the variance along x
  staircase::View<Real, 2> dx, dxx, dy, dyy;              // indexed by (diagonal, i or j)
  staircase::View<Real, 1> result;                        // indexed by at(k, i, j)
  staircase::View<Real, 1> prices;

  /// The position of a point in the arrays of points.
  __device__ std::size_t at(unsigned k, unsigned i, unsigned j) const {
    return (std::size_t{k} * num_x + i) * num_y + j;
  }
};
// [state]

// [arrays]
/// The arrays, all in one allocation of device memory.
template <typename Real>
class Arrays {
 public:
  explicit Arrays(const Problem& problem)
      : problem(problem),
        outer(problem.outer),
        num_x(problem.num_x),
        num_y(problem.num_y),
        num_t(problem.num_t) {}

  /// The arrays as arguments of kernels.
  OneGrid<Real> grid() const {
    return {.outer = outer,
            .num_x = num_x,
            .num_y = num_y,
            .num_t = num_t,
            .ix = std::size_t(problem.s0 / step_x),
            .iy = num_y / 2,
            .dt_inv = Real((num_t - 1) / problem.t),
            .mu_x = 0,
            .mu_y = 0,
            .var_y = Real(problem.nu * problem.nu),
            .strikes = strikes,
            .x = x,
            .y = y,
            .var_of_x = var_of_x,
            .var_of_y = var_of_y,
            .var_of_t = var_of_t,
            .dx = dx,
            .dxx = dxx,
            .dy = dy,
            .dyy = dyy,
            .result = result,
            .prices = prices};
  }

 private:
  const Problem& problem;
  const unsigned outer, num_x, num_y, num_t;

 public:
  const double step_x = 20 * problem.alpha * problem.s0 * std::sqrt(problem.t) / num_x;
  const double step_y = 10 * problem.nu * std::sqrt(problem.t) / num_y;
  const std::size_t points = std::size_t{outer} * num_x * num_y;

 private:
  std::size_t bytes() const {
    using staircase::bytes_of_part;
    return staircase::bytes_of_parts(
        {bytes_of_part<double>(outer), bytes_of_part<Real>(outer), bytes_of_part<double>(num_x),
         bytes_of_part<double>(num_y), bytes_of_part<Real>(num_x), bytes_of_part<Real>(num_y),
         bytes_of_part<Real>(num_t), bytes_of_part<Real>(3u, num_x), bytes_of_part<Real>(3u, num_x),
         bytes_of_part<Real>(3u, num_y), bytes_of_part<Real>(3u, num_y),
         bytes_of_part<Real>(points)});
  }

  staircase::DeviceMemory memory{bytes()};

 public:
  staircase::DevicePart<double, 1> strikes{memory, outer};
  staircase::DevicePart<Real, 1> prices{memory, outer};

 private:
  staircase::DevicePart<double, 1> x{memory, num_x}, y{memory, num_y};
  staircase::DevicePart<Real, 1> var_of_x{memory, num_x}, var_of_y{memory, num_y};
  staircase::DevicePart<Real, 1> var_of_t{memory, num_t};
  staircase::DevicePart<Real, 2> dx{memory, 3u, num_x}, dxx{memory, 3u, num_x};
  staircase::DevicePart<Real, 2> dy{memory, 3u, num_y}, dyy{memory, 3u, num_y};
  staircase::DevicePart<Real, 1> result{memory, points};
};
// [arrays]

// [setup]
template <typename State, typename Real>
__global__ void init_grid(State s, double s0, double t, double step_x, double step_y,
                          double log_alpha, Real beta, Real nu2) {
  for (unsigned g = staircase::column(); g < s.num_t; g += staircase::columns())
    s.var_of_t(g) = exp(-nu2 * Real(t * g / (s.num_t - 1)));
  for (unsigned i = staircase::column(); i < s.num_x; i += staircase::columns()) {
    s.x(i) = max(i * step_x - s.ix * step_x + s0, 1e-30);
    s.var_of_x(i) = exp(2 * beta * log(Real(s.x(i))));
  }
  for (unsigned j = staircase::column(); j < s.num_y; j += staircase::columns()) {
    s.y(j) = j * step_y - s.iy * step_y + log_alpha;
    s.var_of_y(j) = exp(2 * Real(s.y(j)));
  }
}

template <typename State>
__global__ void init_operators(State s) {
  init_operator_in_columns(s.x, s.dx, s.dxx);
  init_operator_in_columns(s.y, s.dy, s.dyy);
}

template <typename State>
__global__ void set_payoff(State s) {
  using Real = std::remove_reference_t<decltype(s.result(0))>;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = staircase::row(); i < s.num_x; i += staircase::rows())
      for (unsigned j = staircase::column(); j < s.num_y; j += staircase::columns())
        s.result(s.at(k, i, j)) = max(Real(s.x(i) - s.strikes(k)), Real(0));
}

/// Launches the three kernels that set up the grid, the operators and the payoffs.
template <typename State, typename Real>
void set_up(const State& s, const Problem& problem, const Arrays<Real>& arrays) {
  const dim3 line(128), tile(32, 8);
  const unsigned longest = std::max({s.num_x, s.num_y, s.num_t});
  init_grid<<<staircase::blocks(line, longest), line>>>(
      s, problem.s0, problem.t, arrays.step_x, arrays.step_y, std::log(problem.alpha),
      Real(problem.beta), Real(problem.nu * problem.nu));
  staircase::check_launch();
  init_operators<<<staircase::blocks(line, longest), line>>>(s);
  staircase::check_launch();
  set_payoff<<<staircase::blocks(tile, s.num_y, s.num_x, s.outer), tile>>>(s);
  staircase::check_launch();
}

template <typename State>
__global__ void read_prices(State s) {
  for (unsigned k = staircase::column(); k < s.outer; k += staircase::columns())
    s.prices(k) = s.result(s.at(k, s.ix, s.iy));
}
// [setup]

// [stencil]
/// A row of an operator; its product with R is lower R(i - 1) + centre R(i) + upper R(i + 1).
template <typename Real>
struct Stencil {
  Real lower, centre, upper;
};

template <typename Real>
__device__ Stencil<Real> stencil(staircase::View<Real, 2> d, staircase::View<Real, 2> dd,
                                 unsigned i, Real mu, Real var) {
  const Real half = 0.5;
  return {mu * d(0, i) + half * var * dd(0, i), mu * d(1, i) + half * var * dd(1, i),
          mu * d(2, i) + half * var * dd(2, i)};
}

/// Returns row i of Lx / 2 for the variance `var * var_of_x(i)`.
template <typename State, typename Real>
__device__ Stencil<Real> half_stencil_x(const State& s, unsigned i, Real var) {
  const Real half = 0.5;
  const auto [lower, centre, upper] = stencil(s.dx, s.dxx, i, s.mu_x, var * s.var_of_x(i));
  return {half * lower, half * centre, half * upper};
}
// [stencil]

}  // namespace local_volatility
