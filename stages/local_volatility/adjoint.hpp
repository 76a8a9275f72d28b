/// \file
/// The code before and after an adjoint sweep on a GPU: grid and operators, the factors of all time
/// steps, the prices from the final weights, and the launches of all these kernels.

#pragma once

#include <algorithm>
#include <cmath>
#include <staircase/device_memory.hpp>

#include "local_volatility.hpp"
#include "steps_at_once.hpp"

namespace local_volatility {

using staircase::blocks;
using staircase::check_launch;
using staircase::column;
using staircase::columns;
using staircase::DeviceArray;
using staircase::DevicePart;
using staircase::row;
using staircase::rows;
using staircase::View;

constexpr int warp_size = 32;
const dim3 line(64), tile(32, 8);  // shapes of thread blocks

// [state]
/// The grid, its operators times 1 / 2, their factors and the weights z, as arguments of kernels.
/// Each row of an operator sums to zero: its centre is minus the sum of `lower` and `upper`.
template <typename Real>
struct State {
  unsigned outer, num_x, num_y, num_t;
  std::size_t ix, iy;
  Real dt_inv;
  View<double, 1> strikes, x;
  // Coefficients of Lx / 2 (without the factors of the variance for y and t) and of Ly / 2.
  View<Real, 1> lower_x, upper_x, lower_y, upper_y;
  View<Real, 1> var_of_y, var_of_t;  // the factors of the variance along x
  View<Real, 1> inverse_y;           // inverse pivots along y
  View<Real, 3> inverse_x;           // inverse pivots along x: (step, i, j)
  View<Real, 2> z;                   // indexed by (i, j)
  View<Real, 1> weight, prices;
};
// [state]

// [arrays]
/// The parameters of the market, and the spacing of the grid.
struct Market {
  double s0, t, step_x, step_y, log_alpha, beta, nu2;
};

inline Market market_of(const Problem& problem) {
  return {problem.s0,
          problem.t,
          20 * problem.alpha * problem.s0 * std::sqrt(problem.t) / unsigned(problem.num_x),
          10 * problem.nu * std::sqrt(problem.t) / unsigned(problem.num_y),
          std::log(problem.alpha),
          problem.beta,
          problem.nu * problem.nu};
}

/// The arrays, all in one allocation of device memory.
template <typename Real>
class Arrays {
 public:
  explicit Arrays(const Problem& problem)
      : market(market_of(problem)),
        outer(problem.outer),
        num_x(problem.num_x),
        num_y(problem.num_y),
        num_t(problem.num_t),
        steps(steps_at_once(num_x, num_y, num_t)) {}

  /// The arrays as arguments of kernels.
  State<Real> state() const {
    return {.outer = outer,
            .num_x = num_x,
            .num_y = num_y,
            .num_t = num_t,
            .ix = std::size_t(market.s0 / market.step_x),
            .iy = num_y / 2,
            .dt_inv = Real((num_t - 1) / market.t),
            .strikes = strikes,
            .x = x,
            .lower_x = of_x.row(0),
            .upper_x = of_x.row(1),
            .lower_y = of_y.row(0),
            .upper_y = of_y.row(1),
            .var_of_y = of_y.row(2),
            .var_of_t = var_of_t,
            .inverse_y = of_y.row(3),
            .inverse_x = inverse_x,
            .z = z,
            .weight = of_x.row(2),
            .prices = prices};
  }

  const Market market;
  const unsigned outer, num_x, num_y, num_t;
  const unsigned steps;  // time steps whose factors are stored at the same time

 private:
  std::size_t bytes() const {
    using staircase::bytes_of_part;
    return staircase::bytes_of_parts(
        {bytes_of_part<double>(outer), bytes_of_part<Real>(outer), bytes_of_part<double>(num_x),
         bytes_of_part<Real>(3u, num_x), bytes_of_part<Real>(4u, num_y), bytes_of_part<Real>(num_t),
         bytes_of_part<Real>(steps, num_x, num_y), bytes_of_part<Real>(num_x, num_y)});
  }

  staircase::DeviceMemory memory{bytes()};

 public:
  DevicePart<double, 1> strikes{memory, outer};
  DevicePart<Real, 1> prices{memory, outer};

 private:
  DevicePart<double, 1> x{memory, num_x};
  DevicePart<Real, 2> of_x{memory, 3u, num_x}, of_y{memory, 4u, num_y};
  DevicePart<Real, 1> var_of_t{memory, num_t};
  DevicePart<Real, 3> inverse_x{memory, steps, num_x, num_y};
  DevicePart<Real, 2> z{memory, num_x, num_y};
};
// [arrays]

// [setup]
/// Coefficients of an operator times 1 / 2; the coefficient of the point itself is minus their sum.
struct Neighbours {
  double lower, upper;
};
__device__ Neighbours half_operator(double z_below, double z, double z_above, double var) {
  const double l = z - z_below, u = z_above - z;
  return {0.5 * var / l / (l + u), 0.5 * var / u / (l + u)};
}

/// Initialises the grid and its operators with one row of threads.
template <typename Real>
__device__ void init_operators(const State<Real>& s, const Market& m) {
  const auto x_of = [&](unsigned i) { return max(i * m.step_x - s.ix * m.step_x + m.s0, 1e-30); };
  const auto y_of = [&](unsigned j) { return j * m.step_y - s.iy * m.step_y + m.log_alpha; };
  for (unsigned g = column(); g < s.num_t; g += columns())
    s.var_of_t(g) = exp(-m.nu2 * m.t * g / (s.num_t - 1));
  for (unsigned i = column(); i < s.num_x; i += columns()) {
    const double x = s.x(i) = x_of(i);
    Neighbours lx{0, 0};  // zero at both ends of the grid
    if (i > 0 && i < s.num_x - 1)
      lx = half_operator(x_of(i - 1), x, x_of(i + 1), exp(2 * m.beta * log(x)));
    s.lower_x(i) = lx.lower;
    s.upper_x(i) = lx.upper;
  }
  for (unsigned j = column(); j < s.num_y; j += columns()) {
    s.var_of_y(j) = exp(2 * y_of(j));
    Neighbours ly{0, 0};
    if (j > 0 && j < s.num_y - 1) ly = half_operator(y_of(j - 1), y_of(j), y_of(j + 1), m.nu2);
    s.lower_y(j) = ly.lower;
    s.upper_y(j) = ly.upper;
  }
}

template <typename Real>
__global__ void init(State<Real> s, Market market) {
  if (row() == 0) init_operators(s, market);
  for (unsigned i = row(); i < s.num_x; i += rows())
    for (unsigned j = column(); j < s.num_y; j += columns())
      s.z(i, j) = i == s.ix && j == s.iy ? 1 : 0;
}
// [setup]

// [stencil]
/// Row i of the transposed operator Lx' / 2 or Ly' / 2: coefficients of points i - 1, i and i + 1.
template <typename Real>
struct Stencil {
  Real from, own, to;
};

template <typename Real>
__device__ Stencil<Real> transposed(View<Real, 1> lower, View<Real, 1> upper, unsigned i) {
  return {i > 0 ? upper(i - 1) : 0, -lower(i) - upper(i),
          i + 1 < lower.extent(0) ? lower(i + 1) : 0};
}
// [stencil]

// [factorise]
/// Computes the inverse pivots of 1 / dt - L. L has the coefficients `lower` and `upper` × `var`.
template <typename Real>
__device__ void factorise(View<Real, 1> lower, View<Real, 1> upper, Real var, Real dt_inv,
                          Real* inverse, std::size_t stride) {
  constexpr unsigned batch = 16;  // rows loaded together
  const unsigned n = lower.extent(0);
  Real above = 0, reciprocal = 0;  // upper coefficient and inverse pivot of the row above
  for (unsigned first = 0; first < n; first += batch) {
    Real l[batch], u[batch];
#pragma unroll
    for (unsigned m = 0; m < batch; ++m) {
      const unsigned i = min(first + m, n - 1);
      l[m] = var * lower(i);
      u[m] = var * upper(i);
    }
#pragma unroll
    for (unsigned m = 0; m < batch; ++m) {
      reciprocal = 1 / (dt_inv + l[m] + u[m] - l[m] * above * reciprocal);
      if (first + m < n) *inverse = reciprocal;
      inverse += stride;
      above = u[m];
    }
  }
}

/// Computes the inverse pivots along x of the time steps g, g + 1, ...; each thread has one pair
/// (step, j). One more thread computes the inverse pivots along y.
template <typename Real>
__global__ void factorise_all(State<Real> s, unsigned g) {
  const unsigned room = s.inverse_x.extent(0), steps = min(room, s.num_t - 1 - g);
  for (unsigned step = row(); step <= steps; step += rows())
    for (unsigned j = column(); j < s.num_y; j += columns()) {
      if (step < steps)
        factorise(s.lower_x, s.upper_x, s.var_of_y(j) * s.var_of_t(g + step), s.dt_inv,
                  &s.inverse_x(step, 0, j), s.num_y);
      else if (j == 0)
        factorise(s.lower_y, s.upper_y, Real(1), s.dt_inv, &s.inverse_y(0), 1);
    }
}
// [factorise]

// [price]
/// Returns the sum of x over all lanes of the warp to each lane.
template <typename Real>
__device__ Real sum_of_lanes(Real x) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    x += __shfl_xor_sync(0xFFFFFFFF, x, distance);
  return x;
}

/// Sets weight(i) to the sum of z(i, j) over j, with a warp for each i.
template <typename Real>
__global__ void sum_rows(State<Real> s) {
  for (unsigned i = row(); i < s.num_x; i += rows()) {
    Real sum = 0;
    for (unsigned j = threadIdx.x; j < s.num_y; j += warp_size) sum += s.z(i, j);
    sum = sum_of_lanes(sum);
    if (threadIdx.x == 0) s.weight(i) = sum;
  }
}

/// Computes the prices, with a warp for each option.
template <typename Real>
__global__ void price(State<Real> s) {
  for (unsigned k = row(); k < s.outer; k += rows()) {
    const double strike = s.strikes(k);
    Real sum = 0;
    for (unsigned i = threadIdx.x; i < s.num_x; i += warp_size)
      sum += s.weight(i) * max(Real(s.x(i) - strike), Real(0));
    sum = sum_of_lanes(sum);
    if (threadIdx.x == 0) s.prices(k) = sum;
  }
}
// [price]

// [around]
/// Launches init().
template <typename Real>
void set_up(const State<Real>& s, const Market& market) {
  init<<<blocks(tile, std::max(s.num_y, s.num_t), s.num_x), tile>>>(s, market);
  check_launch();
}

/// Launches factorise_all() for the time steps g, g + 1, ...
template <typename Real>
void factorise_from(const State<Real>& s, unsigned g) {
  const unsigned steps = s.inverse_x.extent(0);
  factorise_all<<<blocks(line, s.num_y, steps + 1), line>>>(s, g);
  check_launch();
}

/// Launches sum_rows() and price().
template <typename Real>
void price_all(const State<Real>& s) {
  sum_rows<<<blocks(tile, 1, s.num_x), tile>>>(s);
  check_launch();
  price<<<blocks(tile, 1, s.outer), tile>>>(s);
  check_launch();
}
// [around]

}  // namespace local_volatility
