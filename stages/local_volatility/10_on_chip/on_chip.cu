/// \file
/// Changed: one kernel holds the time loop; a block has a strip of rows, and what crosses its edge
///          goes from block to block. A solve is cut into pieces, along x and along y. A step
///          computes what it adds to R, so that V and U need no memory.
/// Legal:   the increment is the same scheme, up to rounding; pieces are joined as in a scan.
/// Expect:  no traffic with memory but the factors; bound by what blocks wait for one another.
/// Run:     ./climb local_volatility --stages 09-10
/// Next:    11_adjoint: all options share the steps, and of each grid one point is read.

#include "../one_grid.hpp"
#include "../steps_at_once.hpp"

#include <cuda_pipeline.h>

#include <algorithm>
#include <bit>
#include <cmath>
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
using staircase::View;

// [shape]
constexpr int warp_size = 32;

/// A thread holds so many points of a column while it solves along x, and of each of its rows while
/// it solves along y.
constexpr unsigned held_x = 32, held_y = 8;
constexpr unsigned rows_of_thread = held_x / held_y;
constexpr unsigned threads_of_strip = 256;
constexpr unsigned points_of_strip = threads_of_strip * held_x;

/// How a cluster holds a grid: each block a strip of rows, cut into pieces along x and along y, a
/// power of two of them.
struct Shape {
  unsigned blocks;    // of a cluster
  unsigned pieces_x;  // of a column of a strip: a thread each
  unsigned pieces_y;  // of a row: a lane each

  __host__ __device__ unsigned rows() const { return pieces_x * held_x; }  // of a strip
  __host__ __device__ unsigned pitch() const { return pieces_y * held_y; }
  __host__ __device__ unsigned pieces() const { return blocks * pieces_x; }  // of a column
};

/// The shape with the fewest blocks; the largest grid, 512 rows of 256 points, has 16.
inline Shape shape_of(std::size_t num_x, std::size_t num_y) {
  for (unsigned blocks = 1;; blocks *= 2) {
    const std::size_t rows = std::size_t{blocks} * held_x;
    const unsigned pieces_x = std::bit_ceil((num_x + rows - 1) / rows);
    const unsigned pieces_y = std::bit_ceil((num_y + held_y - 1) / held_y);
    if (pieces_y <= warp_size && pieces_x <= threads_of_strip / held_y / pieces_y)
      return {blocks, pieces_x, pieces_y};
  }
}
// [shape]

// [state]
/// What all options share, and the arrays of all options, as kernels take them. A grid has fewer
/// than 2^31 points a side; only the places in arrays of points need 64 bits.
template <typename Real>
struct State {
  unsigned outer, num_x, num_y, num_t;
  std::size_t ix, iy;
  Real dt_inv, mu_x, mu_y, var_y;
  View<double, 1> strikes, x, y;
  View<Real, 1> var_of_x, var_of_y, var_of_t;  // the factors of the variance along x
  View<Real, 2> dx, dxx, dy, dyy;              // (diagonal, i or j)
  View<Real, 3> inverse_x;                     // (step, i, j): of the pivots along x
  View<Real, 1> result;                        // at(k, i, j)
  View<Real, 1> prices;

  /// Where a point lies in the arrays of points.
  __device__ std::size_t at(unsigned k, unsigned i, unsigned j) const {
    return (std::size_t{k} * num_x + i) * num_y + j;
  }
};
// [state]

// [functions]
/// x → a + b x
template <typename Real>
struct alignas(2 * sizeof(Real)) Linear {
  Real a, b;
  __device__ Real operator()(Real x) const { return a + b * x; }
};

/// The function that applies `first`, then `second`.
template <typename Real>
__device__ Linear<Real> compose(Linear<Real> second, Linear<Real> first) {
  return {second.a + second.b * first.a, second.b * first.b};
}

/// What the lane holds that comes `distance` lanes before this one, forwards (+1) or backwards
/// (-1).
template <int direction, typename Real>
__device__ Real before(Real x, int distance) {
  return direction > 0 ? __shfl_up_sync(0xFFFFFFFF, x, distance)
                       : __shfl_down_sync(0xFFFFFFFF, x, distance);
}
// [functions]

// [setup]
template <typename Real>
__global__ void set_payoff(State<Real> s) {
  for (unsigned k = blockIdx.z; k < s.outer; k += gridDim.z)
    for (unsigned i = row(); i < s.num_x; i += rows())
      for (unsigned j = column(); j < s.num_y; j += columns())
        s.result(s.at(k, i, j)) = max(Real(s.x(i) - s.strikes(k)), Real(0));
}
// [setup]

// [factorise]
/// The inverse pivots along x of the time steps g, g - 1, ..., one (step, j) a thread
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

// [strip]
/// The numbers of a row's two neighbours in an operator; its own is minus their sum.
template <typename Real>
struct Neighbours {
  Real lower, upper;
};

/// What a block keeps in shared memory: R and W, and what its threads need to solve.
template <typename Real>
struct Strip {
  static constexpr unsigned line = 128 / sizeof(Real);  // numbers that the 32 banks hold
  static constexpr unsigned w = points_of_strip + points_of_strip / line;  // of W behind R
  static constexpr unsigned levels = 5;                                    // of a scan in a warp

  __device__ Strip(Real* memory, const Shape& shape)
      : pitch(shape.pitch()),
        r(memory),
        inverse(r + 2 * w),
        forwards(reinterpret_cast<Linear<Real>*>(inverse + points_of_strip)),
        backwards(forwards + threads_of_strip),
        along_x(reinterpret_cast<Neighbours<Real>*>(backwards + threads_of_strip)),
        along_y(along_x + shape.rows()),
        pivot_y(reinterpret_cast<Real*>(along_y + pitch)),
        below_y(pivot_y + pitch),
        above_y(below_y + pitch),
        from_below(above_y + pitch),
        from_above(from_below + pitch),
        through_below(from_above + pitch),
        through_above(through_below + levels * warp_size) {}

  static std::size_t bytes(const Shape& shape) {
    return sizeof(Real) * (2 * w + points_of_strip + 4 * threads_of_strip + 2 * shape.rows() +
                           7 * shape.pitch() + 2 * levels * warp_size);
  }

  /// Where point (i, j) lies in R. Of every line, room for one number more is left out: then the
  /// threads of a warp meet all banks, whether their points are 1 or `held_y` apart.
  __device__ unsigned at(unsigned i, unsigned j) const { return i * row() + j + j / line; }
  __device__ unsigned row() const { return pitch + pitch / line; }

  /// Where what belongs to column j lies in the arrays of a row: point m of all pieces, then m + 1.
  __device__ unsigned of_column(unsigned j) const {
    return j % held_y * (pitch / held_y) + j / held_y;
  }

  unsigned pitch;
  Real *r, *inverse;                    // at(i, j), W behind R; (m, thread)
  Linear<Real>*forwards, *backwards;    // (piece, j): what each piece of a column does
  Neighbours<Real>*along_x, *along_y;   // Lx / 2 where the variance is 1, by i; Ly / 2
  Real *pivot_y, *below_y, *above_y;    // factors along y: 2 / dt over the pivot, and both e
  Real *from_below, *from_above;        // their products from the ends of the piece
  Real *through_below, *through_above;  // (level, lane): through 1, 2, 4, ... pieces
};
// [strip]

// [prepare]
/// The factors along y, by one thread, from the diagonal in pivot_y
template <typename Real>
__device__ void factorise_rows(const State<Real>& s, const Strip<Real>& strip) {
  Real e = 0;
  for (unsigned j = 0; j < s.num_y; ++j) {
    const unsigned at = strip.of_column(j);
    const auto [lower, upper] = strip.along_y[at];
    const Real inverse = 1 / (strip.pivot_y[at] - lower * e);
    strip.pivot_y[at] = 2 * s.dt_inv * inverse;
    strip.below_y[at] = lower * inverse;
    e = strip.above_y[at] = upper * inverse;
  }
}

/// The products of factors that a scan along y needs, by one warp
template <int direction, typename Real>
__device__ void multiply(const Real* factors, Real* from, Real* through, unsigned pieces) {
  const unsigned piece = threadIdx.x % pieces;
  const unsigned rank = direction > 0 ? piece : pieces - 1 - piece;
  Real product = 1;
  for (unsigned n = 0; n < held_y; ++n) {
    const unsigned at = (direction > 0 ? n : held_y - 1 - n) * pieces + piece;
    product *= factors[at];
    if (threadIdx.x < pieces) from[at] = product;
  }
  for (unsigned level = 0; level < Strip<Real>::levels; ++level) {
    const unsigned distance = 1 << level;
    through[level * warp_size + threadIdx.x] = rank >= distance ? product : 0;
    const Real other = before<direction>(product, distance);
    if (rank >= distance) product *= other;
  }
}

/// Fills what depends on no time step; beyond the grid, all is zero.
template <typename Real>
__device__ void prepare(const State<Real>& s, const Shape& shape, const Strip<Real>& strip) {
  const Real half = 0.5;
  const unsigned first_row = Cluster::rank() * shape.rows();
  for (unsigned p = threadIdx.x; p < 2 * strip.w; p += blockDim.x) strip.r[p] = 0;
  for (unsigned i = threadIdx.x; i < shape.rows(); i += blockDim.x) {
    strip.along_x[i] = {0, 0};
    if (first_row + i < s.num_x) {
      const auto [lower, centre, upper] = half_stencil_x(s, first_row + i, Real(1));
      strip.along_x[i] = {lower, upper};
    }
  }
  for (unsigned j = threadIdx.x; j < strip.pitch; j += blockDim.x) {
    const unsigned at = strip.of_column(j);
    strip.along_y[at] = {0, 0};
    strip.pivot_y[at] = strip.below_y[at] = strip.above_y[at] = 0;
    if (j < s.num_y) {
      const auto [lower, centre, upper] = stencil(s.dy, s.dyy, j, s.mu_y, s.var_y);
      strip.along_y[at] = {half * lower, half * upper};
      strip.pivot_y[at] = s.dt_inv - half * centre;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) factorise_rows(s, strip);
  __syncthreads();
  if (threadIdx.x < warp_size) {
    multiply<+1>(strip.below_y, strip.from_below, strip.through_below, shape.pieces_y);
    multiply<-1>(strip.above_y, strip.from_above, strip.through_above, shape.pieces_y);
  }
}
// [prepare]

// [enter]
/// What the blocks before this one make of zero, where each has one piece of a column: all of them
/// are read before the first is needed.
template <int direction, typename Real>
__device__ Real enter_block(Linear<Real>* piece) {
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
        f[n] = *Cluster::of_block(piece, direction > 0 ? first + n : last - first - n);
    }
#pragma unroll
    for (unsigned n = 0; n < batch; ++n) value = f[n](value);
  }
  return value;
}

/// What enters this thread's piece of a column: what the pieces before it, in all blocks of the
/// cluster, make of zero one after the other. This piece does `mine`.
template <int direction, typename Real>
__device__ Real enter(Linear<Real>* pieces, Linear<Real> mine, const Shape& shape, unsigned piece,
                      unsigned j, unsigned num_y) {
  if (shape.pieces() == 1) return 0;
  if (piece < shape.pieces_x) pieces[piece * num_y + j] = mine;
  Cluster::sync();
  if (piece >= shape.pieces_x) return 0;
  if (shape.pieces_x == 1) return enter_block<direction>(pieces + j);

  const unsigned last = shape.pieces_x - 1;
  Real value = 0;
  const auto apply = [&](const Linear<Real>* of_block, unsigned count) {
    for (unsigned n = 0; n < count; ++n)
      value = of_block[(direction > 0 ? n : last - n) * num_y + j](value);
  };
  const unsigned last_block = shape.blocks - 1;
  const unsigned before_this = direction > 0 ? Cluster::rank() : last_block - Cluster::rank();
  for (unsigned n = 0; n < before_this; ++n)
    apply(Cluster::of_block(pieces, direction > 0 ? n : last_block - n), shape.pieces_x);
  apply(pieces, direction > 0 ? piece : last - piece);
  return value;
}

/// What enters this lane's pieces of rows, which make `f` of zero.
template <int direction, typename Real>
__device__ void enter(Real (&f)[rows_of_thread], const Real* through, unsigned pieces) {
  unsigned level = 0;
  for (unsigned distance = 1; distance < pieces; distance *= 2, ++level) {
    const Real factor = through[level * warp_size + threadIdx.x % warp_size];
#pragma unroll
    for (Real& of_row : f) of_row += factor * before<direction>(of_row, distance);
  }
  const bool first = threadIdx.x % pieces == (direction > 0 ? 0 : pieces - 1);
#pragma unroll
  for (Real& of_row : f) {
    const Real met = before<direction>(of_row, 1);
    of_row = first ? 0 : met;
  }
}
// [enter]

// [columns]
/// The piece of a column that a thread solves along x.
template <typename Real>
struct Column {
  __device__ Column(const State<Real>& s, const Shape& shape)
      : piece(threadIdx.x / s.num_y),
        j(threadIdx.x % s.num_y),
        active(piece < shape.pieces_x),
        first(piece * held_x),
        first_of_grid(Cluster::rank() * shape.rows() + first),
        var(active ? s.var_of_y(j) : 0) {}

  unsigned piece, j;
  bool active;
  unsigned first, first_of_grid;  // row, in the strip and in the grid
  Real var;                       // the variance's factor of y
};

/// Starts to copy the inverse pivots of a time step: a thread those that it alone will read.
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

/// R beside a piece: above its first row, below its last; zero beyond the grid, where it meets
/// zero.
template <typename Real>
__device__ Neighbours<Real> beside(const Strip<Real>& strip, const Shape& shape,
                                   const Column<Real>& c) {
  const unsigned rank = Cluster::rank(), next = c.first + held_x;
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

/// W = (1 / dt - Lx / 2)^-1 (Lx + Ly) R / 2, where W holds Ly R / 2; `var_t` is the variance's
/// factor of time. Then fetches what the step `next` needs.
template <typename Real>
__device__ void solve_columns(const State<Real>& s, const Shape& shape, const Strip<Real>& strip,
                              const Column<Real>& c, Real var_t, unsigned next) {
  const Real var = c.var * var_t;
  const Real* const inverse = strip.inverse + threadIdx.x;
  const Neighbours<Real>* const along = strip.along_x + c.first;
  Real f[held_x], e[held_x];

  __pipeline_wait_prior(0);
  Cluster::sync();
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
  Real x = enter<+1>(strip.forwards, all, shape, c.piece, c.j, s.num_y);

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
  x = enter<-1>(strip.backwards, all, shape, c.piece, c.j, s.num_y);

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

// [rows]
/// The pieces of rows that a thread solves along y. Where a strip has fewer rows than its threads
/// could hold, a thread holds its first row more than once.
template <typename Real>
struct Rows {
  __device__ Rows(const Shape& shape, const Strip<Real>& strip)
      : memory(strip.r), piece(threadIdx.x % shape.pieces_y), pieces(shape.pieces_y) {
    const unsigned row = threadIdx.x / pieces, stride = threads_of_strip / pieces;
    active = row < shape.rows();
    for (unsigned n = 0; n < rows_of_thread; ++n) {
      const unsigned i = row + n * stride;
      first[n] = strip.at(i < shape.rows() ? i : row, piece * held_y);
    }
  }
  __device__ Real& r(unsigned n, unsigned m) const { return memory[first[n] + m]; }
  __device__ Real& w(unsigned n, unsigned m) const { return memory[first[n] + m + Strip<Real>::w]; }
  __device__ unsigned column(unsigned m) const { return m * pieces + piece; }

  bool active;
  Real* memory;
  unsigned piece, pieces;
  unsigned first[rows_of_thread];
};

/// Puts R, and Ly R / 2 where W was.
template <typename Real>
__device__ void put(const Strip<Real>& strip, const Rows<Real>& rows,
                    const Real (&x)[rows_of_thread][held_y]) {
  Real left[rows_of_thread], right[rows_of_thread];
#pragma unroll
  for (unsigned n = 0; n < rows_of_thread; ++n) {
    left[n] = before<+1>(x[n][held_y - 1], 1);
    right[n] = before<-1>(x[n][0], 1);
  }
#pragma unroll
  for (unsigned m = 0; m < held_y; ++m) {
    const auto [lower, upper] = strip.along_y[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < rows_of_thread; ++n) {
      const Real l = m > 0 ? x[n][m - 1] : left[n], u = m + 1 < held_y ? x[n][m + 1] : right[n];
      rows.r(n, m) = x[n][m];
      rows.w(n, m) = lower * (l - x[n][m]) + upper * (u - x[n][m]);
    }
  }
}

/// R += (1 / dt - Ly / 2)^-1 2 W / dt
template <typename Real>
__device__ void solve_rows(const Shape& shape, const Strip<Real>& strip, const Rows<Real>& rows) {
  Real f[rows_of_thread][held_y], d[rows_of_thread] = {}, x[rows_of_thread] = {};
  __syncthreads();
  if (!rows.active) return;
#pragma unroll
  for (unsigned m = 0; m < held_y; ++m) {
    const Real pivot = strip.pivot_y[rows.column(m)], below = strip.below_y[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < rows_of_thread; ++n)
      d[n] = f[n][m] = rows.w(n, m) * pivot + below * d[n];
  }
  enter<+1>(d, strip.through_below, shape.pieces_y);
#pragma unroll
  for (unsigned m = held_y; m-- > 0;) {
    const Real from = strip.from_below[rows.column(m)], above = strip.above_y[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < rows_of_thread; ++n) {
      f[n][m] += from * d[n];
      x[n] = f[n][m] += above * x[n];
    }
  }
  enter<-1>(x, strip.through_above, shape.pieces_y);
#pragma unroll
  for (unsigned m = 0; m < held_y; ++m) {
    const Real from = strip.from_above[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < rows_of_thread; ++n) f[n][m] += rows.r(n, m) + from * x[n];
  }
  put(strip, rows, f);
}
// [rows]

// [on_chip]
/// Rolls R back by so many time steps, from step g on: a cluster an option, a strip of its grid a
/// block
template <typename Real>
__global__ void __launch_bounds__(threads_of_strip, sizeof(Real) == 4 ? 2 : 1)
    roll_back(State<Real> s, Shape shape, unsigned g, unsigned steps) {
  extern __shared__ double memory[];
  const Strip<Real> strip(reinterpret_cast<Real*>(memory), shape);
  const Column<Real> column(s, shape);
  const Rows<Real> rows(shape, strip);
  const unsigned first = Cluster::rank() * shape.rows();
  const unsigned points = first < s.num_x ? min(shape.rows(), s.num_x - first) * s.num_y : 0;
  prepare(s, shape, strip);
  fetch(s, strip, column, 0);

  for (unsigned k = blockIdx.x / shape.blocks; k < s.outer; k += gridDim.x / shape.blocks) {
    Real* const result = s.result.data() + s.at(k, first, 0);
    for (unsigned p = threadIdx.x; p < points; p += blockDim.x)
      strip.r[strip.at(p / s.num_y, p % s.num_y)] = result[p];
    __syncthreads();
    if (rows.active) {
      Real x[rows_of_thread][held_y];
      for (unsigned n = 0; n < rows_of_thread; ++n)
        for (unsigned m = 0; m < held_y; ++m) x[n][m] = rows.r(n, m);
      put(strip, rows, x);
    }
    for (unsigned step = 0; step < steps; ++step) {
      solve_columns(s, shape, strip, column, s.var_of_t(g - step), step + 1 < steps ? step + 1 : 0);
      solve_rows(shape, strip, rows);
    }
    __syncthreads();
    for (unsigned p = threadIdx.x; p < points; p += blockDim.x)
      result[p] = strip.r[strip.at(p / s.num_y, p % s.num_y)];
  }
  __pipeline_wait_prior(0);
  Cluster::sync();  // before shared memory is gone that others still read
}
// [on_chip]

template <typename Real>
__global__ void read_prices(State<Real> s) {
  for (unsigned k = column(); k < s.outer; k += columns())
    s.prices(k) = s.result(s.at(k, s.ix, s.iy));
}

// [launch]
/// The launch of roll_back().
template <typename Real>
auto roll_back_launch(const Shape& shape) {
  return staircase::ClusterLaunch(roll_back<Real>, shape.blocks, threads_of_strip,
                                  Strip<Real>::bytes(shape));
}
// [launch]

// [solve]
template <typename Real>
Prices<Real> solve(const Problem& problem, staircase::Timeline& timeline) {
  const unsigned outer = problem.outer;
  const unsigned num_x = problem.num_x;
  const unsigned num_y = problem.num_y;
  const unsigned num_t = problem.num_t;
  const Real beta = problem.beta;
  const Real nu2 = problem.nu * problem.nu;
  const double step_x = 20 * problem.alpha * problem.s0 * std::sqrt(problem.t) / num_x;
  const double step_y = 10 * problem.nu * std::sqrt(problem.t) / num_y;

  staircase::require_clusters();
  const Shape shape = shape_of(num_x, num_y);
  const unsigned clusters = roll_back_launch<Real>(shape).require_at_once();

  timeline.begin("allocate");
  DeviceArray<double, 1> strikes(outer), x(num_x), y(num_y);
  DeviceArray<Real, 1> var_of_x(num_x), var_of_y(num_y), var_of_t(num_t);
  DeviceArray<Real, 2> dx(3, num_x), dxx(3, num_x), dy(3, num_y), dyy(3, num_y);
  const unsigned steps = steps_at_once(num_x, num_y, num_t);
  DeviceArray<Real, 3> inverse_x(steps, num_x, num_y);
  const std::size_t points = std::size_t{outer} * num_x * num_y;
  DeviceArray<Real, 1> result(points), device_prices(outer);
  const State<Real> s{.outer = outer,
                      .num_x = num_x,
                      .num_y = num_y,
                      .num_t = num_t,
                      .ix = std::size_t(problem.s0 / step_x),
                      .iy = num_y / 2,
                      .dt_inv = Real((num_t - 1) / problem.t),
                      .mu_x = 0,
                      .mu_y = 0,
                      .var_y = nu2,
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
                      .inverse_x = inverse_x,
                      .result = result,
                      .prices = device_prices};
  Prices<Real> prices(outer);

  timeline.begin("copy in");
  strikes.copy_from(problem.all_strikes().data());

  timeline.begin("kernels");
  const dim3 line(128), tile(32, 8);
  const unsigned longest = std::max({num_x, num_y, num_t});
  init_grid<<<blocks(line, longest), line>>>(s, problem.s0, problem.t, step_x, step_y,
                                             std::log(problem.alpha), beta, nu2);
  check_launch();
  init_operators<<<blocks(line, longest), line>>>(s);
  check_launch();
  set_payoff<<<blocks(tile, num_y, num_x, outer), tile>>>(s);
  check_launch();
  for (unsigned step = 0; step < num_t - 1; step += steps) {
    const unsigned g = num_t - 2 - step;
    factorise_x<<<blocks(line, num_y, steps), line>>>(s, g);
    check_launch();
    roll_back_launch<Real>(shape)(std::min(clusters, outer), s, shape, g, std::min(steps, g + 1));
  }
  read_prices<<<blocks(line, outer), line>>>(s);
  check_launch();
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_prices.copy_to(prices.data());
  return prices;
}
// [solve]

}  // namespace local_volatility

int main(int argc, char** argv) {
  return local_volatility::run_stage(
      argc, argv,
      {
          .title = "On chip",
          .idea = "Keep a grid on the chip for all steps",
          .needs = "clusters of thread blocks (compute capability 9.0)",
          .solve_f64 = local_volatility::solve<double>,
          .solve_f32 = local_volatility::solve<float>,
      });
}
