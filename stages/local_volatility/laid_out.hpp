/// \file
/// The arrays of all options in the order in which threads access them (points along x or along y,
/// derivatives diagonal by diagonal), and their set-up.

#pragma once

#include "set_up_in_columns.hpp"

namespace local_volatility {

// [state]
/// The arrays of all options, as arguments of kernels. A grid has fewer than 2^31 points per side;
/// only indices into arrays of points need 64 bits.
template <typename Real>
struct State {
  unsigned outer, num_x, num_y, num_t;
  staircase::View<double, 1> strikes;
  staircase::View<std::size_t, 1> ix, iy;
  staircase::View<Real, 1> dt_inv;
  staircase::View<double, 2> x, y, tau;
  staircase::View<Real, 3> dx, dxx, dy, dyy;        // indexed by (k, diagonal, i or j)
  staircase::View<Real, 1> mu_x, var_x, u;          // along_x(k, j, i); in 07: at(k, i, j)
  staircase::View<Real, 1> mu_y, var_y, v, result;  // indexed by at(k, i, j)
  staircase::View<Real, 1> prices;

  /// The position of a point in the arrays in which neighbours in x are adjacent in memory
  /// (along_x), and in the other arrays (at).
  __device__ std::size_t along_x(unsigned k, unsigned j, unsigned i) const {
    return (std::size_t{k} * num_y + j) * num_x + i;
  }
  __device__ std::size_t at(unsigned k, unsigned i, unsigned j) const {
    return (std::size_t{k} * num_x + i) * num_y + j;
  }
};
// [state]

// [arrays]
/// The arrays in device memory.
template <typename Real>
class Arrays {
 public:
  explicit Arrays(const Problem& problem)
      : outer(problem.outer),
        num_x(problem.num_x),
        num_y(problem.num_y),
        num_t(problem.num_t),
        points(std::size_t{outer} * num_x * num_y) {}

  /// The arrays as arguments of kernels.
  State<Real> state() const {
    return {.outer = outer,
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
            .u = u,
            .mu_y = mu_y,
            .var_y = var_y,
            .v = v,
            .result = result,
            .prices = prices};
  }

 private:
  unsigned outer, num_x, num_y, num_t;
  std::size_t points;

 public:
  staircase::DeviceArray<double, 1> strikes{outer};
  staircase::DeviceArray<Real, 1> prices{outer};

 private:
  staircase::DeviceArray<std::size_t, 1> ix{outer}, iy{outer};
  staircase::DeviceArray<Real, 1> dt_inv{outer};
  staircase::DeviceArray<double, 2> x{outer, num_x}, y{outer, num_y}, tau{outer, num_t};
  staircase::DeviceArray<Real, 3> dx{outer, 3u, num_x}, dxx{outer, 3u, num_x};
  staircase::DeviceArray<Real, 3> dy{outer, 3u, num_y}, dyy{outer, 3u, num_y};
  staircase::DeviceArray<Real, 1> mu_x{points}, var_x{points}, u{points};
  staircase::DeviceArray<Real, 1> mu_y{points}, var_y{points}, v{points}, result{points};
};
// [arrays]

}  // namespace local_volatility
