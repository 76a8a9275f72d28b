/// \file
/// Changed: a cluster keeps a grid, one strip of rows per block, and its blocks exchange the values
///          at the edges of their strips. The launch has as many clusters as the GPU can hold.
/// Legal:   segments of a column are combined in the same order, in whichever block they are. A
///          barrier of the cluster replaces the barrier of the block wherever blocks exchange data.
/// Expect:  only the factors cause memory traffic; waits of blocks for each other are the limit.
/// Run:     ./climb local_volatility --stages 09-12
/// Next:    13_adjoint_sweep does all time steps once, and all options use the result.

#include "../steps_at_once.hpp"
#include "../strip_of_option.hpp"

#include <cuda_pipeline.h>

#include <algorithm>
#include <staircase/cluster.hpp>

namespace local_volatility {

using staircase::blocks;
using staircase::check;
using staircase::check_launch;
using staircase::Cluster;
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
template <int direction, typename Real, unsigned held>
__device__ Real enter(Linear<Real>* segments, Linear<Real> mine, const ShapeWith<held>& shape,
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
/// Starts copying the inverse pivots of a time step to shared memory; each thread copies its own.
template <unsigned held, typename Real>
__device__ void fetch(const State<Real>& s, const Strip<Real>& strip, const Column<Real>& c,
                      unsigned step) {
  if (c.active) {
    const Real* const from = &s.inverse_x(step, 0, 0) + c.first_of_grid * s.num_y + c.j;
#pragma unroll
    for (unsigned m = 0; m < held; ++m)
      __pipeline_memcpy_async(strip.inverse + m * threads_of_strip + threadIdx.x,
                              from + m * s.num_y, sizeof(Real),
                              c.first_of_grid + m < s.num_x ? 0 : sizeof(Real));
  }
  __pipeline_commit();
}

/// Returns R above the first row of a segment and below its last row. Outside the grid, R is
/// zero, and so is the coefficient by which Lx multiplies it.
template <unsigned held, typename Real>
__device__ Neighbours<Real> beside(const Strip<Real>& strip, const ShapeWith<held>& shape,
                                   const Column<Real>& c) {
  const unsigned rank = Cluster::rank(), next = c.first + held;
  Neighbours<Real> r{0, 0};
  if (c.first > 0)
    r.lower = strip.r[strip.at(c.first - 1, c.j)];
  else if (rank > 0)
    r.lower = Cluster::of_block(strip.r, rank - 1)[strip.at(shape.rows() - 1, c.j)];
  if (next < shape.rows())
    r.upper = strip.r[strip.at(next, c.j)];
  else if (rank + 1 < shape.blocks)
    r.upper = Cluster::of_block(strip.r, rank + 1)[strip.at(0, c.j)];
  return r;
}

/// Replaces W = Ly R / 2 by (1 / dt - Lx / 2)^-1 (Lx + Ly) R / 2; `var_t` is the variance's factor
/// for the time. Then starts the copies of the inverse pivots of step `next`.
template <unsigned held, typename Real>
__device__ void solve_columns(const State<Real>& s, const ShapeWith<held>& shape,
                              const Strip<Real>& strip, const Column<Real>& c, Real var_t,
                              unsigned next) {
  const Real var = c.var * var_t;
  const Real* const inverse = strip.inverse + threadIdx.x;
  const Neighbours<Real>* const along = strip.along_x + c.first;
  Real f[held], e[held];

  __pipeline_wait_prior(0);
  Cluster::sync();
  Linear<Real> all{0, 1};
  if (c.active) {
    const auto [above, below_last] = beside(strip, shape, c);
    const Real* r = strip.r + strip.at(c.first, c.j);
    Real centre = *r, up = centre - above;
#pragma unroll
    for (unsigned m = 0; m < held; ++m) {
      const Real ly = r[strip.w];
      r += strip.row();
      const Real below = m + 1 < held ? *r : below_last, down = below - centre;
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
    for (unsigned m = 0; m < held; ++m)
      x = f[m] += along[m].lower * var * inverse[m * threads_of_strip] * x;
#pragma unroll
    for (unsigned m = held; m-- > 0;) {
      e[m] = along[m].upper * var * inverse[m * threads_of_strip];
      all = compose(Linear<Real>{f[m], e[m]}, all);
    }
  }
  x = enter<-1>(strip.backwards, all, shape, c.segment, c.j, s.num_y);

  fetch<held>(s, strip, c, next);
  if (c.active) {
    Real* w = strip.r + strip.w + strip.at(c.first + held, c.j);
#pragma unroll
    for (unsigned m = held; m-- > 0;) {
      w -= strip.row();
      *w = x = f[m] + e[m] * x;
    }
  }
}
// [columns]

// [on_chip]
/// Rolls R back by `steps` time steps, beginning with step g. Each cluster has one option at a
/// time, and each of its blocks has a strip of the grid.
template <typename Real, unsigned held>
__global__ void __launch_bounds__(threads_of_strip, sizeof(Real) == 4 ? 2 : 1)
    roll_back(State<Real> s, ShapeWith<held> shape, unsigned g, unsigned steps) {
  extern __shared__ double memory[];
  const Strip<Real> strip(reinterpret_cast<Real*>(memory), shape);
  const unsigned first = Cluster::rank() * shape.rows();
  const Column<Real> column(s, shape, first);
  const Rows<Real, held / held_y> rows(shape, strip);
  const unsigned points = first < s.num_x ? min(shape.rows(), s.num_x - first) * s.num_y : 0;
  prepare(s, shape, strip, first);
  fetch<held>(s, strip, column, 0);

  for (unsigned k = blockIdx.x / shape.blocks; k < s.outer; k += gridDim.x / shape.blocks) {
    Real* const result = s.result.data() + s.at(k, first, 0);
    bring_in(strip, rows, result, points, s.num_y);
    for (unsigned step = 0; step < steps; ++step) {
      solve_columns(s, shape, strip, column, s.var_of_t(g - step), step + 1 < steps ? step + 1 : 0);
      solve_rows(shape, strip, rows);
    }
    bring_out(strip, result, points, s.num_y);
  }
  __pipeline_wait_prior(0);
  Cluster::sync();  // shared memory must exist until other blocks have read it
}
// [on_chip]

// [launch]
/// Describes the launch of roll_back().
template <typename Real, unsigned held>
auto roll_back_launch(const ShapeWith<held>& shape) {
  return staircase::ClusterLaunch(roll_back<Real, held>, shape.blocks, threads_of_strip,
                                  Strip<Real>::bytes(shape));
}
// [launch]

// [solve]
/// Solves with segments of `held` points along x.
template <typename Real, unsigned held>
Prices<Real> solve_with(const Problem& problem, staircase::Timeline& timeline) {
  const auto shape = shape_of<held>(problem.num_x, problem.num_y);
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

/// Solves with short segments if a cluster then needs at most 8 blocks and the GPU can hold the
/// grids of all options at the same time; with long segments otherwise.
template <typename Real>
Prices<Real> solve(const Problem& problem, staircase::Timeline& timeline) {
  staircase::require_clusters();
  constexpr unsigned short_segment = 8, most_blocks = 8;
  const auto spread = shape_of<short_segment>(problem.num_x, problem.num_y);
  const bool whole_warps = spread.rows() * spread.segments_y >= warp_size;  // along y
  if (spread.blocks <= most_blocks && whole_warps &&
      roll_back_launch<Real>(spread).at_once() >= problem.outer)
    return solve_with<Real, short_segment>(problem, timeline);
  return solve_with<Real, held_x>(problem, timeline);
}
// [solve]

}  // namespace local_volatility

int main(int argc, char** argv) {
  return local_volatility::run_stage(
      argc, argv,
      {
          .title = "Grid per cluster",
          .idea = "Keep a grid in a cluster for all steps",
          .needs = "clusters of thread blocks (compute capability 9.0)",
          .solve_f64 = local_volatility::solve<double>,
          .solve_f32 = local_volatility::solve<float>,
      });
}
