/// \file
/// Changed: segments of a column exchange data once per step, not twice. Each segment publishes its
///          outgoing values as functions of its incoming ones; one block combines the functions.
/// Legal:   a segment depends linearly on the values that enter at its two ends, so the solutions
///          may be superposed (the partition method).
/// Expect:  latency is the limit: two waits for other blocks per step, and the work in between.
/// Run:     ./climb local_volatility --stages 12-18

#include "../strip_of_adjoint.hpp"

#include <cuda_pipeline.h>

#include <algorithm>
#include <staircase/bulk_copy.hpp>

namespace local_volatility {

using staircase::check;
using staircase::Cluster;
using staircase::TransferBarrier;

// [columns]
/// The barriers of a block: one for the coefficients of the segments that it combines, and one for
/// the values that enter its own segments.
struct Barriers {
  TransferBarrier combined, entered;
};

/// Computes the values that enter each segment of the columns that this block combines, with one
/// lane per segment. Sends these values to the blocks of the segments.
template <typename Real>
__device__ void join(const Strip<Real>& strip, const Shape& shape, const Column<Real>& c,
                     unsigned num_y, Barriers& barriers) {
  const unsigned segments = shape.segments(), array = strip.array_of_segments(shape);
  const unsigned p = modulo(threadIdx.x, segments), n = over(threadIdx.x, segments);
  const bool inside = n < shape.joins && c.first_joined + n < num_y;
  Segment<Real> f{{0, 1}, {0, 1}, 0};
  if (inside) f = stored(strip.joined + p * (shape.joins + 1) + n, array);
  scan_segments<+1>(f.d, p, segments);
  const Real above = before<+1>(f.d.a, 1), entering = p == 0 ? 0 : above;
  f.x.a += f.x_of_d * entering;
  scan_segments<-1>(f.x, p, segments);
  const Real below = before<-1>(f.x.a, 1);
  if (inside) {
    const unsigned block = over(p, shape.segments_x);
    Real* const to = strip.entering + modulo(p, shape.segments_x) * num_y + c.first_joined + n;
    store_in_block(to[0], entering, barriers.entered, block);
    store_in_block(to[threads_of_strip], p == segments - 1 ? 0 : below, barriers.entered, block);
  }
}

/// Returns the values that enter this thread's segment of a column.
template <typename Real>
__device__ Ends<Real> exchange(const Strip<Real>& strip, const Shape& shape, const Column<Real>& c,
                               const Segment<Real>& mine, unsigned num_y, unsigned step,
                               Barriers& barriers) {
  if (shape.segments() == 1) return {0, 0};
  const unsigned array = strip.array_of_segments(shape);
  if (threadIdx.x == 0) {
    const unsigned columns = min(shape.joins, max(c.first_joined, num_y) - c.first_joined);
    barriers.combined.arrive_and_expect(columns * shape.segments() * 5 * sizeof(Real));
    barriers.entered.arrive_and_expect(shape.segments_x * num_y * 2 * sizeof(Real));
  }
  if (c.active) {
    const unsigned p = Cluster::rank() * shape.segments_x + c.segment;
    const unsigned block = over(c.j, shape.joins);
    Real* const to = strip.joined + p * (shape.joins + 1) + modulo(c.j, shape.joins);
    store_in_block(to[0 * array], mine.d.a, barriers.combined, block);
    store_in_block(to[1 * array], mine.d.b, barriers.combined, block);
    store_in_block(to[2 * array], mine.x.a, barriers.combined, block);
    store_in_block(to[3 * array], mine.x.b, barriers.combined, block);
    store_in_block(to[4 * array], mine.x_of_d, barriers.combined, block);
  }
  barriers.combined.wait(step % 2);
  join(strip, shape, c, num_y, barriers);
  barriers.entered.wait(step % 2);
  if (!c.active) return {0, 0};
  const Real* const of_segment = strip.entering + c.segment * num_y + c.j;
  return {of_segment[0], of_segment[threads_of_strip]};
}

/// Reads the inverse pivots of a segment in a time step. Rows after the last row of the grid get
/// the inverse pivot of the last row, which is multiplied only by zeros.
template <typename Real, unsigned held>
__device__ void load(const State<Real>& s, const Column<Real>& c, unsigned step,
                     Real (&inverse)[held]) {
  const Real* const from = &s.inverse_x(step, c.first_of_grid, c.active ? c.j : 0);
#pragma unroll
  for (unsigned m = 0; m < held; ++m) inverse[m] = from[min(m, c.last) * s.num_y];
}

/// Computes p = (1 / dt - Lx' / 2)^-1 q in place of q. On entry, `inverse` contains the inverse
/// pivots of time step `step`; on return, those of step `next`.
template <typename Real, unsigned held>
__device__ void solve_columns(const State<Real>& s, const Shape& shape, const Strip<Real>& strip,
                              const Column<Real>& c, unsigned step, unsigned next,
                              Real (&inverse)[held], Barriers& barriers) {
  const Real var = c.var * *strip.var_t;
  Real* const w = strip.w + strip.at(c.first, c.active ? c.j : 0);
  Real f[held], of_d[held], of_x[held];  // p(m) = f(m) + of_d(m) d + of_x(m) x
  Linear<Real> down{0, 1};
  Real up = 0, up_of_d = 0, up_of_x = 1;
  if (c.active) {
#pragma unroll
    for (unsigned m = 0; m < held; ++m) {
      const Real factor = strip.from_x[c.first + m] * var * inverse[m];
      down = compose(Linear<Real>{w[m * strip.step] * inverse[m], factor}, down);
      f[m] = down.a;
      of_d[m] = down.b;
    }
#pragma unroll
    for (unsigned m = held; m-- > 0;) {
      const Real factor = strip.to_x[c.first + m] * var * inverse[m];
      up = f[m] += factor * up;
      up_of_d = of_d[m] += factor * up_of_d;
      up_of_x = of_x[m] = factor * up_of_x;
    }
  }
  const auto [d, x] = exchange(strip, shape, c, Segment<Real>{down, {up, up_of_x}, up_of_d},
                               s.num_y, step, barriers);
  if (c.active)
#pragma unroll
    for (unsigned m = 0; m < held; ++m) w[m * strip.step] = f[m] + of_d[m] * d + of_x[m] * x;
  load(s, c, next, inverse);
}
// [columns]

// [rows]
/// Stores q = (1 / dt - Ly' / 2)^-1 2 z / dt in w, as 2 z plus an increment, for a smaller error.
/// Replaces z by q - z for add(), so that q needs no registers between the two calls.
template <typename Real, unsigned count>
__device__ void solve_rows(const Strip<Real>& strip, const Rows<Real, count>& rows,
                           OfRows<Real, count>& z) {
  OfRows<Real, count> b;  // finally the increment
  Real d[count] = {}, x[count] = {};
  apply_y(strip, rows, z, b);
#pragma unroll
  for (unsigned m = 0; m < held_y; ++m) {
    const Real pivot = strip.pivot_y[rows.column(m)], below = strip.below_y[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < count; ++n) d[n] = b[n][m] = b[n][m] * pivot + below * d[n];
  }
  enter<+1>(d, strip.through_below, rows.segments);
#pragma unroll
  for (unsigned m = held_y; m-- > 0;) {
    const Real from = strip.from_below[rows.column(m)], above = strip.above_y[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < count; ++n) {
      b[n][m] += from * d[n];
      x[n] = b[n][m] += above * x[n];
    }
  }
  enter<-1>(x, strip.through_above, rows.segments);
#pragma unroll
  for (unsigned m = 0; m < held_y; ++m) {
    const Real from = strip.from_above[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < count; ++n) {
      b[n][m] += from * x[n];
      if (rows.active) rows.w(n, m) = 2 * z[n][m] + b[n][m];
      z[n][m] += b[n][m];
    }
  }
}

/// On entry, `z` contains q - z, and w contains p. On return, `z` contains the z of the next step,
/// z + (Lx' + Ly') p / 2, where Lx' p / 2 = p / dt - q.
template <typename Real, unsigned count>
__device__ void add(const Strip<Real>& strip, const Rows<Real, count>& rows, Real dt_inv,
                    OfRows<Real, count>& z) {
  OfRows<Real, count> p, b;
#pragma unroll
  for (unsigned n = 0; n < count; ++n)
#pragma unroll
    for (unsigned m = 0; m < held_y; ++m) p[n][m] = rows.active ? rows.w(n, m) : 0;
  apply_y(strip, rows, p, b);
#pragma unroll
  for (unsigned n = 0; n < count; ++n)
#pragma unroll
    for (unsigned m = 0; m < held_y; ++m) z[n][m] = dt_inv * p[n][m] - z[n][m] + b[n][m];
}
// [rows]

// [sweep]
/// Advances z by `steps` time steps in one cluster, beginning with step g. Each block of the
/// cluster has a strip of the grid.
template <typename Real, unsigned held>
__global__ void __launch_bounds__(threads_of_strip)
    sweep(State<Real> s, Shape shape, unsigned g, unsigned steps) {
  shape.held = held;  // now a compile-time constant
  extern __shared__ double memory[];
  const Strip<Real> strip(reinterpret_cast<Real*>(memory), shape);
  const Column<Real> column(s, shape);
  constexpr unsigned count = std::max(held / held_y, 1u);  // rows of a thread
  const Rows<Real, count> rows(shape, strip);
  const unsigned first_row = Cluster::rank() * shape.rows();
  __shared__ Barriers barriers;
  if (threadIdx.x == 0) {
    barriers.combined.init(1);
    barriers.entered.init(1);
    staircase::fence_barriers();
  }
  prepare(s, shape, strip);
  Cluster::sync();  // all blocks must have started before their shared memory is written

  Real inverse[held];
  load(s, column, 0, inverse);
  OfRows<Real, count> z;
  for (unsigned n = 0; n < count; ++n)
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
    solve_columns(s, shape, strip, column, step, min(step + 1, steps - 1), inverse, barriers);
    __syncthreads();
    add(strip, rows, s.dt_inv, z);
  }
  for (unsigned n = 0; n < count; ++n)
    for (unsigned m = 0; m < held_y; ++m) {
      const unsigned i = first_row + rows.row[n], j = rows.segment * held_y + m;
      if (rows.active && i < s.num_x && j < s.num_y) s.z(i, j) = z[n][m];
    }
}
// [sweep]

// [launch]
/// Describes the launch of sweep().
template <typename Real, unsigned held>
auto sweep_launch(const Shape& shape) {
  return staircase::ClusterLaunch(sweep<Real, held>, shape.blocks, threads_of_strip,
                                  Strip<Real>::bytes(shape));
}
// [launch]

// [solve]
/// Solves with segments of `held` points along x.
template <typename Real, unsigned held>
Prices<Real> solve_with(const Problem& problem, staircase::Timeline& timeline) {
  const Shape shape = shape_of(problem.num_x, problem.num_y, held);
  sweep_launch<Real, held>(shape).require_at_once();

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
    sweep_launch<Real, held>(shape)(1, s, shape, g, std::min(arrays.steps, s.num_t - 1 - g));
  }
  price_all(s);
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  arrays.prices.copy_to(prices.data());
  return prices;
}

/// Solves with the shortest segments for which a cluster needs at most 8 blocks, or else with the
/// longest ones.
template <typename Real>
Prices<Real> solve(const Problem& problem, staircase::Timeline& timeline) {
  staircase::require_clusters();
  constexpr unsigned most_blocks = 8;
  const auto fits = [&](unsigned held) {
    return problem.num_x <= warp_size * held &&
           shape_of(problem.num_x, problem.num_y, held).blocks <= most_blocks;
  };
  if (fits(4)) return solve_with<Real, 4>(problem, timeline);
  if (fits(8)) return solve_with<Real, 8>(problem, timeline);
  return solve_with<Real, held_x>(problem, timeline);
}
// [solve]

}  // namespace local_volatility

int main(int argc, char** argv) {
  return local_volatility::run_stage(
      argc, argv,
      {
          .title = "Reduced system",
          .idea = "Combine segments once per step by a scan",
          .needs = "clusters of thread blocks (compute capability 9.0)",
          .solve_f64 = local_volatility::solve<double>,
          .solve_f32 = local_volatility::solve<float>,
      });
}
