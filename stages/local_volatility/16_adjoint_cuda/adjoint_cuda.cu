/// \file
/// Changed: the sweep of stage 15 becomes three kernels per time step, with a thread for each row,
///          column or point. The matrices are factorised in parallel before the steps, and a step
///          computes the increment that it adds to z.
/// Legal:   the systems of a direction are independent, and kernels run one after the other. The
///          increment form is the same scheme up to rounding.
/// Expect:  latency is the limit: each row or column is a dependency chain, and only a few chains
///          run at the same time.
/// Run:     ./climb local_volatility --stages 12-16
/// Next:    17_single_cluster_adjoint does all steps in one kernel and keeps z on the chip, as
///          stage 12 keeps R.

#include "../adjoint.hpp"

namespace local_volatility {

using staircase::check;

// [step]
/// Stores q = (1 / dt - Ly' / 2)^-1 2 z / dt in p, as 2 z plus an increment. Each row has a thread.
template <typename Real>
__global__ void solve_y(State<Real> s, View<Real, 2> p) {
  for (unsigned i = column(); i < s.num_x; i += columns()) {
    Real left = 0, centre = s.z(i, 0), x = 0;
    for (unsigned j = 0; j < s.num_y; ++j) {
      const auto [from, own, to] = transposed(s.lower_y, s.upper_y, j);
      const Real right = j + 1 < s.num_y ? s.z(i, j + 1) : 0;
      x = p(i, j) = (2 * (from * left + own * centre + to * right) + from * x) * s.inverse_y(j);
      left = centre;
      centre = right;
    }
    x = 0;
    for (unsigned j = s.num_y; j-- > 0;) {
      x = p(i, j) + transposed(s.lower_y, s.upper_y, j).to * s.inverse_y(j) * x;
      p(i, j) = 2 * s.z(i, j) + x;
    }
  }
}

/// Replaces q by p = (1 / dt - Lx' / 2)^-1 q, with a thread per column.
template <typename Real>
__global__ void solve_x(State<Real> s, View<Real, 2> p, unsigned g, unsigned step) {
  for (unsigned j = column(); j < s.num_y; j += columns()) {
    const Real var = s.var_of_y(j) * s.var_of_t(g);
    Real x = 0;
    for (unsigned i = 0; i < s.num_x; ++i)
      x = p(i, j) =
          (p(i, j) + var * transposed(s.lower_x, s.upper_x, i).from * x) * s.inverse_x(step, i, j);
    x = 0;
    for (unsigned i = s.num_x; i-- > 0;)
      x = p(i, j) += var * transposed(s.lower_x, s.upper_x, i).to * s.inverse_x(step, i, j) * x;
  }
}

/// Adds (Lx' + Ly') p / 2 to z, with a thread per point.
template <typename Real>
__global__ void add(State<Real> s, View<Real, 2> p, unsigned g) {
  for (unsigned i = row(); i < s.num_x; i += rows())
    for (unsigned j = column(); j < s.num_y; j += columns()) {
      const Stencil<Real> x = transposed(s.lower_x, s.upper_x, i);
      const Stencil<Real> y = transposed(s.lower_y, s.upper_y, j);
      const Real var_of_t = s.var_of_t(g), var = s.var_of_y(j) * var_of_t;
      const Real above = i > 0 ? p(i - 1, j) : 0, below = i + 1 < s.num_x ? p(i + 1, j) : 0;
      const Real left = j > 0 ? p(i, j - 1) : 0, right = j + 1 < s.num_y ? p(i, j + 1) : 0;
      s.z(i, j) += var * (x.from * above + x.own * p(i, j) + x.to * below) + y.from * left +
                   y.own * p(i, j) + y.to * right;
    }
}
// [step]

// [solve]
template <typename Real>
Prices<Real> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Arrays<Real> arrays(problem);
  const State<Real> s = arrays.state();
  DeviceArray<Real, 2> p(s.num_x, s.num_y);
  Prices<Real> prices(problem.outer);

  timeline.begin("copy in");
  arrays.strikes.copy_from(problem.all_strikes().data());

  timeline.begin("kernels");
  set_up(s, arrays.market);
  for (unsigned g = 0; g < s.num_t - 1; ++g) {
    if (g % arrays.steps == 0) factorise_from(s, g);
    solve_y<<<blocks(line, s.num_x), line>>>(s, p);
    check_launch();
    solve_x<<<blocks(line, s.num_y), line>>>(s, p, g, g % arrays.steps);
    check_launch();
    add<<<blocks(tile, s.num_y, s.num_x), tile>>>(s, p, g);
    check_launch();
  }
  price_all(s);
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
                                         .title = "Adjoint CUDA",
                                         .idea = "Sweep with a thread per row, column or point",
                                         .solve_f64 = local_volatility::solve<double>,
                                         .solve_f32 = local_volatility::solve<float>,
                                     });
}
