/// \file
/// The arrays of all options on a GPU, as expanded by stage 02, and the coefficients of Lx and Ly.

#pragma once

#include "set_up.hpp"

namespace local_volatility {

// [state]
/// The arrays of all options, as arguments of kernels.
template <typename Real>
struct State {
  unsigned outer, num_x, num_y, num_t;
  staircase::View<double, 1> strikes;
  staircase::View<std::size_t, 1> ix, iy;
  staircase::View<Real, 1> dt_inv;
  staircase::View<double, 2> x, y, tau;
  staircase::View<Real, 3> dx, dxx, dy, dyy;
  staircase::View<Real, 3> mu_x, var_x, mu_y, var_y;
  staircase::View<Real, 3> result, u, v;
  staircase::View<Real, 3> ax, bx, cx, ay, by, cy, ry;
  staircase::View<Real, 1> prices;
};

/// The arrays of all options, with the pivots of all systems for the Thomas algorithm.
template <typename Real>
struct Systems : State<Real> {
  staircase::View<Real, 3> wx, wy;
};
// [state]

// [operators]
/// Returns the coefficient in Lx or Ly for the neighbour before a point (c = 0), for the point
/// itself (1) or for the neighbour after it (2).
template <typename Real>
__device__ Real lx(const State<Real>& s, unsigned k, unsigned i, unsigned j, unsigned c) {
  const Real half = 0.5;
  return s.mu_x(k, i, j) * s.dx(k, i, c) + half * s.var_x(k, i, j) * s.dxx(k, i, c);
}
template <typename Real>
__device__ Real ly(const State<Real>& s, unsigned k, unsigned i, unsigned j, unsigned c) {
  const Real half = 0.5;
  return s.mu_y(k, i, j) * s.dy(k, j, c) + half * s.var_y(k, i, j) * s.dyy(k, j, c);
}
// [operators]

// [arrays]
/// The arrays in device memory.
template <typename Real>
class Arrays {
 public:
  explicit Arrays(const Problem& problem)
      : outer(problem.outer), num_x(problem.num_x), num_y(problem.num_y), num_t(problem.num_t) {}

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
            .mu_y = mu_y,
            .var_y = var_y,
            .result = result,
            .u = u,
            .v = v,
            .ax = ax,
            .bx = bx,
            .cx = cx,
            .ay = ay,
            .by = by,
            .cy = cy,
            .ry = ry,
            .prices = prices};
  }

 private:
  unsigned outer, num_x, num_y, num_t;

 public:
  staircase::DeviceArray<double, 1> strikes{outer};
  staircase::DeviceArray<Real, 1> prices{outer};

 private:
  staircase::DeviceArray<std::size_t, 1> ix{outer}, iy{outer};
  staircase::DeviceArray<Real, 1> dt_inv{outer};
  staircase::DeviceArray<double, 2> x{outer, num_x}, y{outer, num_y}, tau{outer, num_t};
  staircase::DeviceArray<Real, 3> dx{outer, num_x, 3u}, dxx{outer, num_x, 3u};
  staircase::DeviceArray<Real, 3> dy{outer, num_y, 3u}, dyy{outer, num_y, 3u};
  staircase::DeviceArray<Real, 3> mu_x{outer, num_x, num_y}, var_x{outer, num_x, num_y};
  staircase::DeviceArray<Real, 3> mu_y{outer, num_x, num_y}, var_y{outer, num_x, num_y};
  staircase::DeviceArray<Real, 3> result{outer, num_x, num_y};
  staircase::DeviceArray<Real, 3> u{outer, num_y, num_x}, v{outer, num_x, num_y};
  staircase::DeviceArray<Real, 3> ax{outer, num_y, num_x}, bx{outer, num_y, num_x};
  staircase::DeviceArray<Real, 3> cx{outer, num_y, num_x};
  staircase::DeviceArray<Real, 3> ay{outer, num_x, num_y}, by{outer, num_x, num_y};
  staircase::DeviceArray<Real, 3> cy{outer, num_x, num_y}, ry{outer, num_x, num_y};
};
// [arrays]

}  // namespace local_volatility
