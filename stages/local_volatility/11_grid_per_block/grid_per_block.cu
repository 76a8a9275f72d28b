/// \file
/// Changed: one kernel contains the time loop, and a thread block keeps the grid of an option in
///          its shared memory for all steps. Each column is cut into segments, one per thread.
/// Legal:   the data that one step passes to the next stay in the block, with a barrier in between;
///          segments are combined as in a scan (the partition method).
/// Expect:  only the factors cause memory traffic; shared memory and its latency are the limit.
/// Run:     ./climb local_volatility --dataset medium --stages 10,11
/// Next:    12_grid_per_cluster distributes a grid over the blocks of a cluster.

#include "../steps_at_once.hpp"
#include "../strip_of_option.hpp"

#include <cuda_pipeline.h>

#include <algorithm>
#include <staircase/cluster.hpp>

namespace local_volatility {

using staircase::blocks;
using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::columns;
using staircase::DeviceArray;
using staircase::row;
using staircase::rows;

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
// [factorise]

// [enter]
/// Returns the value that enters this thread's segment of a column: the result of the functions of
/// the segments before it, beginning with zero. `mine` is the function of this segment.
template <int direction, typename Real>
__device__ Real enter(Linear<Real>* segments, Linear<Real> mine, const Shape& shape,
                      unsigned segment, unsigned j, unsigned width) {
  if (shape.segments() == 1) return 0;
  if (segment < shape.segments_x) segments[segment * width + j] = mine;
  __syncthreads();
  if (segment >= shape.segments_x) return 0;

  const unsigned last = shape.segments_x - 1;
  Real value = 0;
  const unsigned count = direction > 0 ? segment : last - segment;
  for (unsigned n = 0; n < count; ++n)
    value = segments[(direction > 0 ? n : last - n) * width + j](value);
  return value;
}
// [enter]

// [columns]
/// Starts copying the inverse pivots of a time step to shared memory; each thread copies its own.
template <typename Real>
__device__ void fetch(const State<Real>& s, const Strip<Real>& strip, const Column<Real>& c,
                      unsigned step) {
  if (c.active) {
    const Real* const from = &s.inverse_x(step, 0, 0) + c.first_of_grid * s.num_y + c.j;
#pragma unroll
    for (unsigned m = 0; m < held_x; ++m)
      __pipeline_memcpy_async(strip.inverse + m * threads_of_strip + threadIdx.x,
                              from + m * s.num_y, sizeof(Real),
                              c.first_of_grid + m < s.num_x ? 0 : sizeof(Real));
  }
  __pipeline_commit();
}

/// Returns R above the first row of a segment and below its last row. Outside the grid, R is
/// zero, and so is the coefficient by which Lx multiplies it.
template <typename Real>
__device__ Neighbours<Real> beside(const Strip<Real>& strip, const Shape& shape,
                                   const Column<Real>& c) {
  const unsigned next = c.first + held_x;
  Neighbours<Real> r{0, 0};
  if (c.first > 0) r.lower = strip.r[strip.at(c.first - 1, c.j)];
  if (next < shape.rows()) r.upper = strip.r[strip.at(next, c.j)];
  return r;
}

/// Replaces W = Ly R / 2 by (1 / dt - Lx / 2)^-1 (Lx + Ly) R / 2; `var_t` is the variance's factor
/// for the time. Then starts the copies of the inverse pivots of step `next`.
template <typename Real>
__device__ void solve_columns(const State<Real>& s, const Shape& shape, const Strip<Real>& strip,
                              const Column<Real>& c, Real var_t, unsigned next) {
  const Real var = c.var * var_t;
  const Real* const inverse = strip.inverse + threadIdx.x;
  const Neighbours<Real>* const along = strip.along_x + c.first;
  Real f[held_x], e[held_x];

  __pipeline_wait_prior(0);
  __syncthreads();
  Linear<Real> all{0, 1};
  if (c.active) {
    const auto [above, below_last] = beside(strip, shape, c);
    const Real* r = strip.r + strip.at(c.first, c.j);
    Real centre = *r, up = centre - above;
#pragma unroll
    for (unsigned m = 0; m < held_x; ++m) {
      const Real ly = r[strip.w];
      r += strip.row();
      const Real below = m + 1 < held_x ? *r : below_last, down = below - centre;
      const Real w = inverse[m * threads_of_strip];
      f[m] = w * (ly + var * (along[m].upper * down - along[m].lower * up));
      all = compose(Linear<Real>{f[m], along[m].lower * var * w}, all);
      centre = below;
      up = down;
    }
  }
  Real x = enter<+1>(strip.forwards, all, shape, c.segment, c.j, s.num_y);

  all = {0, 1};
  if (c.active) {
#pragma unroll
    for (unsigned m = 0; m < held_x; ++m)
      x = f[m] += along[m].lower * var * inverse[m * threads_of_strip] * x;
#pragma unroll
    for (unsigned m = held_x; m-- > 0;) {
      e[m] = along[m].upper * var * inverse[m * threads_of_strip];
      all = compose(Linear<Real>{f[m], e[m]}, all);
    }
  }
  x = enter<-1>(strip.backwards, all, shape, c.segment, c.j, s.num_y);

  fetch(s, strip, c, next);
  if (c.active) {
    Real* w = strip.r + strip.w + strip.at(c.first + held_x, c.j);
#pragma unroll
    for (unsigned m = held_x; m-- > 0;) {
      w -= strip.row();
      *w = x = f[m] + e[m] * x;
    }
  }
}
// [columns]

// [on_chip]
/// Rolls R back by `steps` time steps, beginning with step g. Each block has one option at a time.
template <typename Real>
__global__ void __launch_bounds__(threads_of_strip, sizeof(Real) == 4 ? 2 : 1)
    roll_back(State<Real> s, Shape shape, unsigned g, unsigned steps) {
  extern __shared__ double memory[];
  const Strip<Real> strip(reinterpret_cast<Real*>(memory), shape);
  const Column<Real> column(s, shape, 0);
  const Rows<Real> rows(shape, strip);
  const unsigned points = s.num_x * s.num_y;
  prepare(s, shape, strip, 0);
  fetch(s, strip, column, 0);

  for (unsigned k = blockIdx.x; k < s.outer; k += gridDim.x) {
    Real* const result = s.result.data() + s.at(k, 0, 0);
    bring_in(strip, rows, result, points, s.num_y);
    for (unsigned step = 0; step < steps; ++step) {
      solve_columns(s, shape, strip, column, s.var_of_t(g - step), step + 1 < steps ? step + 1 : 0);
      solve_rows(shape, strip, rows);
    }
    bring_out(strip, result, points, s.num_y);
  }
  __pipeline_wait_prior(0);
}
// [on_chip]

// [launch]
/// Describes the launch of roll_back().
template <typename Real>
auto roll_back_launch(const Shape& shape) {
  return staircase::ClusterLaunch(roll_back<Real>, shape.blocks, threads_of_strip,
                                  Strip<Real>::bytes(shape));
}
// [launch]

// [solve]
template <typename Real>
Prices<Real> solve(const Problem& problem, staircase::Timeline& timeline) {
  staircase::require_clusters();
  const Shape shape = shape_of(problem.num_x, problem.num_y);
  const unsigned clusters = roll_back_launch<Real>(shape).require_at_once();

  timeline.begin("allocate");
  Arrays<Real> arrays(problem);
  const OneGrid<Real> grid = arrays.grid();
  const unsigned steps = steps_at_once(grid.num_x, grid.num_y, grid.num_t);
  DeviceArray<Real, 3> inverse_x(steps, grid.num_x, grid.num_y);
  const State<Real> s{grid, inverse_x};
  Prices<Real> prices(s.outer);

  timeline.begin("copy in");
  arrays.strikes.copy_from(problem.all_strikes().data());

  timeline.begin("kernels");
  const dim3 line(128);
  set_up(s, problem, arrays);
  for (unsigned step = 0; step < s.num_t - 1; step += steps) {
    const unsigned g = s.num_t - 2 - step;
    factorise_x<<<blocks(line, s.num_y, steps), line>>>(s, g);
    check_launch();
    roll_back_launch<Real>(shape)(std::min(clusters, s.outer), s, shape, g, std::min(steps, g + 1));
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
  return local_volatility::run_stage(
      argc, argv,
      {
          .title = "Grid per block",
          .idea = "Keep a grid in a thread block for all steps",
          .needs = "clusters of thread blocks (compute capability 9.0)",
          .solve_f64 = local_volatility::solve<double>,
          .solve_f32 = local_volatility::solve<float>,
      });
}
