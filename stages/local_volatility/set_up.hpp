/// \file
/// Computes the grids and operators of all options (with one thread per option), the payoffs, and
/// the final prices.

#pragma once

#include <cmath>
#include <type_traits>

#include "local_volatility.hpp"

namespace local_volatility {

template <typename State>
__global__ void init_grid(State s, double s0, double t, double alpha, double nu) {
  for (unsigned k = staircase::column(); k < s.outer; k += staircase::columns()) {
    for (std::size_t g = 0; g < s.num_t; ++g) s.tau(k, g) = t * g / (s.num_t - 1);

    const double step_x = 20 * alpha * s0 * sqrt(t) / s.num_x;
    s.ix(k) = s0 / step_x;
    for (unsigned i = 0; i < s.num_x; ++i)
      s.x(k, i) = max(i * step_x - s.ix(k) * step_x + s0, 1e-30);

    const double step_y = 10 * nu * sqrt(t) / s.num_y;
    s.iy(k) = s.num_y / 2;
    for (unsigned j = 0; j < s.num_y; ++j) s.y(k, j) = j * step_y - s.iy(k) * step_y + log(alpha);
  }
}

template <typename State>
__global__ void init_operators(State s) {
  for (unsigned k = staircase::column(); k < s.outer; k += staircase::columns()) {
    init_operator(s.x.row(k), s.dx.row(k), s.dxx.row(k));
    init_operator(s.y.row(k), s.dy.row(k), s.dyy.row(k));
  }
}

template <typename State>
__global__ void set_payoff(State s) {
  using Real = std::remove_reference_t<decltype(s.result(0, 0, 0))>;
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = staircase::row(); i < s.num_x; i += staircase::rows())
      for (unsigned j = staircase::column(); j < s.num_y; j += staircase::columns())
        s.result(k, i, j) = max(Real(s.x(k, i) - s.strikes(k)), Real(0));
}

/// Launches the three kernels that set up the grid, the operators and the payoffs.
template <typename State>
void set_up(const State& s, const Problem& problem) {
  const dim3 line(128), tile(32, 8);
  init_grid<<<staircase::blocks(line, s.outer), line>>>(s, problem.s0, problem.t, problem.alpha,
                                                        problem.nu);
  staircase::check_launch();
  init_operators<<<staircase::blocks(line, s.outer), line>>>(s);
  staircase::check_launch();
  set_payoff<<<staircase::blocks(tile, s.num_y, s.num_x, s.outer), tile>>>(s);
  staircase::check_launch();
}

template <typename State>
__global__ void read_prices(State s) {
  for (unsigned k = staircase::column(); k < s.outer; k += staircase::columns())
    s.prices(k) = s.result(k, s.ix(k), s.iy(k));
}

}  // namespace local_volatility
