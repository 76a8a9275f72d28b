/// \file
/// From:    12_grid_per_cluster
/// Changed: a cluster applies all transposed steps to the single grid of stage 16, instead of all
///          steps to the grid of each option. z stays in the registers of the threads that solve
///          its rows, and only q and p pass through shared memory.
/// Legal:   the transposed systems have the same pivots. Their segments are combined like those of
///          the systems of stage 12.
/// Expect:  latency is the limit: two barriers of the cluster per step, and the work in between.
/// Run:     ./climb local_volatility --stages 16,17
/// Next:    18_reduced_system lets segments exchange their functions once per step instead of
///          twice.

#include "../strip_of_adjoint.hpp"

#include <cuda_pipeline.h>

#include <algorithm>

namespace local_volatility {

using staircase::check;
using staircase::Cluster;

// [enter]
/// Returns the value that enters this block's segment if each block has one segment of a column.
/// Reads a batch of the earlier blocks' functions before it applies the first of them.
template <int direction, typename Real>
__device__ Real enter_block(Linear<Real>* segment) {
  constexpr unsigned batch = 8;
  const unsigned last = Cluster::blocks() - 1;
  const unsigned count = direction > 0 ? Cluster::rank() : last - Cluster::rank();
  Real value = 0;
  for (unsigned first = 0; first < count; first += batch) {
    Linear<Real> f[batch];
#pragma unroll
    for (unsigned n = 0; n < batch; ++n) {
      f[n] = {0, 1};
      if (first + n < count)
        f[n] = *Cluster::of_block(segment, direction > 0 ? first + n : last - first - n);
    }
#pragma unroll
    for (unsigned n = 0; n < batch; ++n) value = f[n](value);
  }
  return value;
}

/// Returns the value that enters this thread's segment of a column: the result of the functions of
/// all earlier segments in the cluster, beginning with zero. `mine` is this segment's function.
template <int direction, typename Real>
__device__ Real enter(Linear<Real>* segments, Linear<Real> mine, const Shape& shape,
                      unsigned segment, unsigned j, unsigned width) {
  if (shape.segments() == 1) return 0;
  if (segment < shape.segments_x) segments[segment * width + j] = mine;
  Cluster::sync();
  if (segment >= shape.segments_x) return 0;
  if (shape.segments_x == 1) return enter_block<direction>(segments + j);

  const unsigned last = shape.segments_x - 1;
  Real value = 0;
  const auto apply = [&](const Linear<Real>* of_block, unsigned count) {
    for (unsigned n = 0; n < count; ++n)
      value = of_block[(direction > 0 ? n : last - n) * width + j](value);
  };
  const unsigned last_block = shape.blocks - 1;
  const unsigned before_this = direction > 0 ? Cluster::rank() : last_block - Cluster::rank();
  for (unsigned n = 0; n < before_this; ++n)
    apply(Cluster::of_block(segments, direction > 0 ? n : last_block - n), shape.segments_x);
  apply(segments, direction > 0 ? segment : last - segment);
  return value;
}
// [enter]

// [columns]
/// Reads the inverse pivots of a segment in a time step. Rows after the last row of the grid get
/// the inverse pivot of the last row, which is multiplied only by zeros.
template <typename Real>
__device__ void load(const State<Real>& s, const Column<Real>& c, unsigned step,
                     Real (&inverse)[held_x]) {
  const Real* const from = &s.inverse_x(step, c.first_of_grid, c.active ? c.j : 0);
#pragma unroll
  for (unsigned m = 0; m < held_x; ++m) inverse[m] = from[min(m, c.last) * s.num_y];
}

/// Computes p = (1 / dt - Lx' / 2)^-1 q in place of q, then loads `inverse` for step `next`.
template <typename Real>
__device__ void solve_columns(const State<Real>& s, const Shape& shape, const Strip<Real>& strip,
                              const Column<Real>& c, unsigned next, Real (&inverse)[held_x]) {
  const Real var = c.var * *strip.var_t;
  Real* const w = strip.w + strip.at(c.first, c.active ? c.j : 0);
  Real f[held_x], e[held_x];

  Linear<Real> all{0, 1};
  if (c.active)
#pragma unroll
    for (unsigned m = 0; m < held_x; ++m) {
      f[m] = w[m * strip.step] * inverse[m];
      all = compose(Linear<Real>{f[m], strip.from_x[c.first + m] * var * inverse[m]}, all);
    }
  Real x = enter<+1>(reinterpret_cast<Linear<Real>*>(strip.joined), all, shape, c.segment, c.j,
                     shape.pitch());

  all = {0, 1};
  if (c.active) {
#pragma unroll
    for (unsigned m = 0; m < held_x; ++m)
      x = f[m] += strip.from_x[c.first + m] * var * inverse[m] * x;
#pragma unroll
    for (unsigned m = held_x; m-- > 0;) {
      e[m] = strip.to_x[c.first + m] * var * inverse[m];
      all = compose(Linear<Real>{f[m], e[m]}, all);
    }
  }
  x = enter<-1>(reinterpret_cast<Linear<Real>*>(strip.entering), all, shape, c.segment, c.j,
                shape.pitch());

  load(s, c, next, inverse);
  if (c.active)
#pragma unroll
    for (unsigned m = held_x; m-- > 0;) w[m * strip.step] = x = f[m] + e[m] * x;
}
// [columns]

// [rows]
/// Stores q = (1 / dt - Ly' / 2)^-1 2 z / dt in w, as 2 z plus an increment, for a smaller error.
/// Replaces z by q - z for add(), so that q needs no registers between the two calls.
template <typename Real>
__device__ void solve_rows(const Strip<Real>& strip, const Rows<Real>& rows, OfRows<Real>& z) {
  OfRows<Real> b;  // finally the increment
  Real d[rows_of_thread] = {}, x[rows_of_thread] = {};
  apply_y(strip, rows, z, b);
#pragma unroll
  for (unsigned m = 0; m < held_y; ++m) {
    const Real pivot = strip.pivot_y[rows.column(m)], below = strip.below_y[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < rows_of_thread; ++n) d[n] = b[n][m] = b[n][m] * pivot + below * d[n];
  }
  enter<+1>(d, strip.through_below, rows.segments);
#pragma unroll
  for (unsigned m = held_y; m-- > 0;) {
    const Real from = strip.from_below[rows.column(m)], above = strip.above_y[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < rows_of_thread; ++n) {
      b[n][m] += from * d[n];
      x[n] = b[n][m] += above * x[n];
    }
  }
  enter<-1>(x, strip.through_above, rows.segments);
#pragma unroll
  for (unsigned m = 0; m < held_y; ++m) {
    const Real from = strip.from_above[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < rows_of_thread; ++n) {
      b[n][m] += from * x[n];
      if (rows.active) rows.w(n, m) = 2 * z[n][m] + b[n][m];
      z[n][m] += b[n][m];
    }
  }
}

/// On entry, `z` contains q - z, and w contains p. On return, `z` contains the z of the next step,
/// z + (Lx' + Ly') p / 2, where Lx' p / 2 = p / dt - q.
template <typename Real>
__device__ void add(const Strip<Real>& strip, const Rows<Real>& rows, Real dt_inv,
                    OfRows<Real>& z) {
  OfRows<Real> p, b;
#pragma unroll
  for (unsigned n = 0; n < rows_of_thread; ++n)
#pragma unroll
    for (unsigned m = 0; m < held_y; ++m) p[n][m] = rows.active ? rows.w(n, m) : 0;
  apply_y(strip, rows, p, b);
#pragma unroll
  for (unsigned n = 0; n < rows_of_thread; ++n)
#pragma unroll
    for (unsigned m = 0; m < held_y; ++m) z[n][m] = dt_inv * p[n][m] - z[n][m] + b[n][m];
}
// [rows]

// [sweep]
/// Advances z by `steps` time steps in one cluster, beginning with step g. Each block of the
/// cluster has a strip of the grid.
template <typename Real>
__global__ void __launch_bounds__(threads_of_strip)
    sweep(State<Real> s, Shape shape, unsigned g, unsigned steps) {
  extern __shared__ double memory[];
  const Strip<Real> strip(reinterpret_cast<Real*>(memory), shape);
  const Column<Real> column(s, shape);
  const Rows<Real> rows(shape, strip);
  const unsigned first_row = Cluster::rank() * shape.rows();
  prepare(s, shape, strip);
  Cluster::sync();  // all blocks must have started before their shared memory is written

  Real inverse[held_x];
  load(s, column, 0, inverse);
  OfRows<Real> z;
  for (unsigned n = 0; n < rows_of_thread; ++n)
    for (unsigned m = 0; m < held_y; ++m) {
      const unsigned i = first_row + rows.row[n], j = rows.segment * held_y + m;
      z[n][m] = i < s.num_x && j < s.num_y ? s.z(i, j) : 0;
    }
  for (unsigned step = 0; step < steps; ++step) {
    // This copy is in flight while rows are solved, and takes no register.
    if (threadIdx.x == 0) __pipeline_memcpy_async(strip.var_t, &s.var_of_t(g + step), sizeof(Real));
    __pipeline_commit();
    solve_rows(strip, rows, z);
    __pipeline_wait_prior(0);
    __syncthreads();
    solve_columns(s, shape, strip, column, min(step + 1, steps - 1), inverse);
    __syncthreads();
    add(strip, rows, s.dt_inv, z);
  }
  for (unsigned n = 0; n < rows_of_thread; ++n)
    for (unsigned m = 0; m < held_y; ++m) {
      const unsigned i = first_row + rows.row[n], j = rows.segment * held_y + m;
      if (rows.active && i < s.num_x && j < s.num_y) s.z(i, j) = z[n][m];
    }
  Cluster::sync();  // shared memory must exist until other blocks have read it
}
// [sweep]

// [launch]
/// Describes the launch of sweep().
template <typename Real>
auto sweep_launch(const Shape& shape) {
  return staircase::ClusterLaunch(sweep<Real>, shape.blocks, threads_of_strip,
                                  Strip<Real>::bytes(shape));
}
// [launch]

// [solve]
template <typename Real>
Prices<Real> solve(const Problem& problem, staircase::Timeline& timeline) {
  staircase::require_clusters();
  const Shape shape = shape_of(problem.num_x, problem.num_y);
  sweep_launch<Real>(shape).require_at_once();

  timeline.begin("allocate");
  Arrays<Real> arrays(problem);
  const State<Real> s = arrays.state();
  Prices<Real> prices(problem.outer);

  timeline.begin("copy in");
  arrays.strikes.copy_from(problem.all_strikes().data());

  timeline.begin("kernels");
  set_up(s, arrays.market);
  for (unsigned g = 0; g < s.num_t - 1; g += arrays.steps) {
    factorise_from(s, g);
    sweep_launch<Real>(shape)(1, s, shape, g, std::min(arrays.steps, s.num_t - 1 - g));
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
  return local_volatility::run_stage(
      argc, argv,
      {
          .title = "Single-cluster adjoint",
          .idea = "Sweep the grid in one cluster of blocks",
          .needs = "clusters of thread blocks (compute capability 9.0)",
          .solve_f64 = local_volatility::solve<double>,
          .solve_f32 = local_volatility::solve<float>,
      });
}
