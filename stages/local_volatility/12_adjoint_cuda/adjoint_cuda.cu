/// \file
/// Changed: the sweep of stage 11 becomes a kernel in the manner of stage 10; the pieces of a
///          column meet once a step instead of twice; factors and prices get kernels of their own.
/// Legal:   a piece depends linearly on what enters at its two ends, and so do the pieces on each
///          other.
/// Expect:  bound by latency: two barriers of a cluster a step, and the chains between them.
/// Run:     ./climb local_volatility --stages 09-12

#include "../local_volatility.hpp"

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
constexpr unsigned held_x = 16, held_y = 8;
constexpr unsigned rows_of_thread = held_x / held_y;
constexpr unsigned threads_of_strip = 256;

/// How a cluster holds a grid: each block a strip of rows, cut into pieces along x and along y, a
/// power of two of them.
struct Shape {
  unsigned blocks;    // of a cluster
  unsigned pieces_x;  // of a column of a strip: a thread each
  unsigned pieces_y;  // of a row: a lane each
  unsigned joins;     // columns whose pieces a block joins

  __host__ __device__ unsigned rows() const { return pieces_x * held_x; }  // of a strip
  __host__ __device__ unsigned pitch() const { return pieces_y * held_y; }
  __host__ __device__ unsigned pieces() const { return blocks * pieces_x; }  // of a column
};

/// The shape with the fewest blocks in which a column has no more pieces than a warp has lanes; the
/// largest grid, 256 rows of 256 points, has 16.
inline Shape shape_of(std::size_t num_x, std::size_t num_y) {
  for (unsigned blocks = 1;; blocks *= 2) {
    const std::size_t rows = std::size_t{blocks} * held_x;
    const unsigned pieces_x = std::bit_ceil((num_x + rows - 1) / rows);
    const unsigned pieces_y = std::bit_ceil((num_y + held_y - 1) / held_y);
    if (pieces_y <= warp_size && blocks * pieces_x <= warp_size &&
        pieces_x * pieces_y * held_y <= threads_of_strip)
      return {blocks, pieces_x, pieces_y, std::max(pieces_y * held_y / blocks, 1u)};
  }
}
// [shape]

/// Time steps whose factors are kept at once: as many as 64 MB of f64 hold, or one.
inline std::size_t steps_at_once(std::size_t num_x, std::size_t num_y, std::size_t num_t) {
  constexpr std::size_t numbers = 1 << 23;
  return std::clamp(numbers / num_x / num_y, std::size_t{1}, num_t - 1);
}

// [state]
/// The grid, the halves of its operators, their factors, and z, as kernels take them. A row of an
/// operator sums to zero: its centre is minus the sum of lower and upper.
template <typename Real>
struct State {
  unsigned outer, num_x, num_y, num_t;
  std::size_t ix, iy;
  Real dt_inv;
  View<double, 1> strikes, x;
  View<Real, 1> lower_x, upper_x;    // of Lx / 2, where the variance's factors of y and t are 1
  View<Real, 1> lower_y, upper_y;    // of Ly / 2
  View<Real, 1> var_of_y, var_of_t;  // the factors of the variance along x
  View<Real, 1> inverse_y;           // of the pivots along y
  View<Real, 3> inverse_x;           // (step, i, j): of the pivots along x
  View<Real, 2> z;                   // (i, j)
  View<Real, 1> weight, prices;
};
// [state]

// [powers of two]
/// n / d and n % d where d is a power of two: a GPU has no instruction that divides, and a division
/// by a number that is known only at run time takes 20 of others.
__device__ unsigned over(unsigned n, unsigned d) { return n >> (__ffs(d) - 1); }
__device__ unsigned modulo(unsigned n, unsigned d) { return n & (d - 1); }
// [powers of two]

// [functions]
/// x → a + b x
template <typename Real>
struct Linear {
  Real a, b;
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
template <int direction, typename Real>
__device__ Linear<Real> before(Linear<Real> f, int distance) {
  return {before<direction>(f.a, distance), before<direction>(f.b, distance)};
}
// [functions]

// [setup]
/// The market and the steps of the grid.
struct Market {
  double s0, t, step_x, step_y, log_alpha, beta, nu2;
};

/// Coefficients of the half of an operator: minus their sum is the point's own.
struct Neighbours {
  double lower, upper;
};
__device__ Neighbours half_operator(double z_below, double z, double z_above, double var) {
  const double l = z - z_below, u = z_above - z;
  return {0.5 * var / l / (l + u), 0.5 * var / u / (l + u)};
}

/// The grid and its operators, by one row of threads
template <typename Real>
__device__ void init_operators(const State<Real>& s, const Market& m) {
  const auto x_of = [&](unsigned i) { return max(i * m.step_x - s.ix * m.step_x + m.s0, 1e-30); };
  const auto y_of = [&](unsigned j) { return j * m.step_y - s.iy * m.step_y + m.log_alpha; };
  for (unsigned g = column(); g < s.num_t; g += columns())
    s.var_of_t(g) = exp(-m.nu2 * m.t * g / (s.num_t - 1));
  for (unsigned i = column(); i < s.num_x; i += columns()) {
    const double x = s.x(i) = x_of(i);
    Neighbours lx{0, 0};  // at both ends
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

// [factorise]
/// The inverse pivots of 1 / dt - L, where L is an operator times `var`
template <typename Real>
__device__ void factorise(View<Real, 1> lower, View<Real, 1> upper, Real var, Real dt_inv,
                          Real* inverse, std::size_t stride) {
  constexpr unsigned batch = 16;  // rows read at once
  const unsigned n = lower.extent(0);
  Real above = 0, reciprocal = 0;  // upper and inverse of the row above
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

/// The inverse pivots along x of the time steps g, g + 1, ..., one (step, j) a thread, and those
/// along y by one thread more
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

// [strip]
/// What a block keeps in shared memory.
template <typename Real>
struct Strip {
  static constexpr unsigned line = 128 / sizeof(Real);  // numbers that the 32 banks hold
  static constexpr unsigned step = threads_of_strip + threads_of_strip / line;
  static constexpr unsigned most_columns = held_y * warp_size;
  static constexpr unsigned levels = 5;  // of a scan in a warp
  static constexpr unsigned ends = 5;    // numbers of a piece that others need

  __device__ Strip(Real* memory, const Shape& shape)
      : pitch(shape.pitch()),
        w(memory),
        joined(w + held_x * step),
        entering(joined + ends * array_of_pieces(shape)),
        from_x(entering + 2 * threads_of_strip),
        to_x(from_x + shape.rows()),
        from_y(to_x + shape.rows()),
        own_y(from_y + most_columns),
        to_y(own_y + most_columns),
        pivot_y(to_y + most_columns),
        below_y(pivot_y + most_columns),
        above_y(below_y + most_columns),
        from_below(above_y + most_columns),
        from_above(from_below + most_columns),
        through_below(from_above + most_columns),
        through_above(through_below + levels * warp_size),
        var_t(through_above + levels * warp_size) {}

  static std::size_t bytes(const Shape& shape) {
    return sizeof(Real) * (held_x * step + ends * array_of_pieces(shape) + 2 * threads_of_strip +
                           2 * shape.rows() + 8 * most_columns + 2 * levels * warp_size + 1);
  }

  /// The room for a number of each piece that a block joins: a row a piece, and one number more, so
  /// that pieces of a column lie in different banks.
  __host__ __device__ static unsigned array_of_pieces(const Shape& shape) {
    return shape.pieces() * (shape.joins + 1);
  }

  /// Where point (i, j) lies in w: the first rows of all pieces, a `step` further the second ones,
  /// and so on. Behind every line, room for one number is left out: then the threads of a warp meet
  /// all banks, whether their points are 1 or `held_y` apart.
  __device__ unsigned at(unsigned i, unsigned j) const {
    return i % held_x * step + i / held_x * (pitch + pitch / line) + j + j / line;
  }

  /// Where what belongs to column j lies in the arrays of a row: point m of all pieces, then m + 1.
  /// Here and in w, the way from one point of a thread to its next is known at compile time.
  __device__ unsigned of_column(unsigned j) const { return j % held_y * warp_size + j / held_y; }

  unsigned pitch;
  Real* w;                              // at(i, j): q, then p
  Real *joined, *entering;              // see join()
  Real *from_x, *to_x;                  // i: what a row of Lx' / 2 takes from i - 1 and i + 1
  Real *from_y, *own_y, *to_y;          // j: the same of Ly' / 2, and its own
  Real *pivot_y, *below_y, *above_y;    // factors along y: 2 over the pivot, and both others
  Real *from_below, *from_above;        // their products from the ends of the piece
  Real *through_below, *through_above;  // (level, lane): through 1, 2, 4, ... pieces
  Real* var_t;                          // the variance's factor of the time step
};
// [strip]

// [prepare]
/// The products of factors that a scan along y needs, by one warp
template <int direction, typename Real>
__device__ void multiply(const Real* factors, Real* from, Real* through, unsigned pieces) {
  const unsigned piece = threadIdx.x % pieces;
  const unsigned rank = direction > 0 ? piece : pieces - 1 - piece;
  Real product = 1;
  for (unsigned n = 0; n < held_y; ++n) {
    const unsigned at = (direction > 0 ? n : held_y - 1 - n) * warp_size + piece;
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
  const unsigned first_row = Cluster::rank() * shape.rows();
  for (unsigned n = threadIdx.x; n < held_x * strip.step; n += blockDim.x) strip.w[n] = 0;
  for (unsigned n = threadIdx.x; n < shape.rows(); n += blockDim.x) {
    const unsigned i = first_row + n;
    strip.from_x[n] = i > 0 && i < s.num_x ? s.upper_x(i - 1) : 0;
    strip.to_x[n] = i + 1 < s.num_x ? s.lower_x(i + 1) : 0;
  }
  for (unsigned j = threadIdx.x; j < strip.pitch; j += blockDim.x) {
    const unsigned at = strip.of_column(j);
    const bool inside = j < s.num_y;
    const Real inverse = inside ? s.inverse_y(j) : 0;
    strip.from_y[at] = inside && j > 0 ? s.upper_y(j - 1) : 0;
    strip.own_y[at] = inside ? -s.lower_y(j) - s.upper_y(j) : 0;
    strip.to_y[at] = j + 1 < s.num_y ? s.lower_y(j + 1) : 0;
    strip.pivot_y[at] = 2 * inverse;
    strip.below_y[at] = strip.from_y[at] * inverse;
    strip.above_y[at] = strip.to_y[at] * inverse;
  }
  __syncthreads();
  if (threadIdx.x < warp_size) {
    multiply<+1>(strip.below_y, strip.from_below, strip.through_below, shape.pieces_y);
    multiply<-1>(strip.above_y, strip.from_above, strip.through_above, shape.pieces_y);
  }
  __syncthreads();
}
// [prepare]

// [columns]
/// The piece of a column that a thread solves along x, and its part in joining pieces.
template <typename Real>
struct Column {
  __device__ Column(const State<Real>& s, const Shape& shape)
      : piece(over(threadIdx.x, shape.pitch())),
        j(modulo(threadIdx.x, shape.pitch())),
        active(piece < shape.pieces_x && j < s.num_y),
        first(piece * held_x),
        first_of_grid(min(Cluster::rank() * shape.rows() + first, s.num_x - 1)),
        last(s.num_x - 1 - first_of_grid),
        first_joined(Cluster::rank() * shape.joins),
        var(active ? s.var_of_y(j) : 0) {}

  unsigned piece, j;
  bool active;
  unsigned first, first_of_grid;  // row, in the strip and in the grid
  unsigned last;                  // row of the grid, from first_of_grid on
  unsigned first_joined;          // column of those whose pieces this block joins
  Real var;                       // the variance's factor of y
};

/// What enters a piece of a column from above and from below.
template <typename Real>
struct Ends {
  Real d, x;
};

/// What a piece makes of them: d leaves below, x leaves above.
template <typename Real>
struct Piece {
  Linear<Real> d;  // of the d that enters
  Linear<Real> x;  // of the x that enters,
  Real x_of_d;     // and of the d
};

/// What enters each piece of the columns that this block joins: a lane a piece, in place of what
/// the pieces do.
template <typename Real>
__device__ void join(const Strip<Real>& strip, const Shape& shape, const Column<Real>& c,
                     unsigned num_y) {
  const unsigned pieces = shape.pieces(), array = strip.array_of_pieces(shape);
  const unsigned p = modulo(threadIdx.x, pieces), n = over(threadIdx.x, pieces);
  const bool inside = n < shape.joins && c.first_joined + n < num_y;
  Real* const of_piece = strip.joined + p * (shape.joins + 1) + n;
  Linear<Real> d{0, 1}, x{0, 1};
  Real x_of_d = 0;
  if (inside) {
    d = {of_piece[0 * array], of_piece[1 * array]};
    x = {of_piece[2 * array], of_piece[3 * array]};
    x_of_d = of_piece[4 * array];
  }
  for (unsigned distance = 1; distance < pieces; distance *= 2) {
    const Linear<Real> earlier = before<+1>(d, distance);
    if (p >= distance) d = compose(d, earlier);
  }
  const Real above = before<+1>(d.a, 1), entering = p == 0 ? 0 : above;
  x.a += x_of_d * entering;
  for (unsigned distance = 1; distance < pieces; distance *= 2) {
    const Linear<Real> later = before<-1>(x, distance);
    if (p + distance < pieces) x = compose(x, later);
  }
  const Real below = before<-1>(x.a, 1);
  if (inside) {
    of_piece[0 * array] = entering;
    of_piece[1 * array] = p == pieces - 1 ? 0 : below;
  }
}

/// What enters this thread's piece of a column. The pieces of a column meet in one of the blocks,
/// which sends back what enters them: two barriers of the cluster.
template <typename Real>
__device__ Ends<Real> exchange(const Strip<Real>& strip, const Shape& shape, const Column<Real>& c,
                               const Piece<Real>& mine, unsigned num_y) {
  if (shape.pieces() == 1) return {0, 0};
  const unsigned array = strip.array_of_pieces(shape);
  if (c.active) {
    const unsigned p = Cluster::rank() * shape.pieces_x + c.piece;
    Real* const to = Cluster::of_block(strip.joined, over(c.j, shape.joins)) +
                     p * (shape.joins + 1) + modulo(c.j, shape.joins);
    to[0 * array] = mine.d.a;
    to[1 * array] = mine.d.b;
    to[2 * array] = mine.x.a;
    to[3 * array] = mine.x.b;
    to[4 * array] = mine.x_of_d;
  }
  Cluster::sync();
  join(strip, shape, c, num_y);
  __syncthreads();
  const unsigned p = over(threadIdx.x, shape.joins), n = modulo(threadIdx.x, shape.joins);
  if (p < shape.pieces() && c.first_joined + n < num_y) {
    const Real* const of_piece = strip.joined + p * (shape.joins + 1) + n;
    Real* const to = Cluster::of_block(strip.entering, over(p, shape.pieces_x)) +
                     modulo(p, shape.pieces_x) * num_y + c.first_joined + n;
    to[0] = of_piece[0];
    to[threads_of_strip] = of_piece[array];
  }
  Cluster::sync();
  if (!c.active) return {0, 0};
  const Real* const of_piece = strip.entering + c.piece * num_y + c.j;
  return {of_piece[0], of_piece[threads_of_strip]};
}

/// Reads the inverse pivots of a piece in a time step. Rows behind the last one of the grid read
/// that one's: they multiply zeros by it.
template <typename Real>
__device__ void load(const State<Real>& s, const Column<Real>& c, unsigned step,
                     Real (&inverse)[held_x]) {
  const Real* const from = &s.inverse_x(step, c.first_of_grid, c.active ? c.j : 0);
#pragma unroll
  for (unsigned m = 0; m < held_x; ++m) inverse[m] = from[min(m, c.last) * s.num_y];
}

/// p = (1 / dt - Lx' / 2)^-1 q in place of q. `inverse`
/// becomes that of the step `next`.
template <typename Real>
__device__ void solve_columns(const State<Real>& s, const Shape& shape, const Strip<Real>& strip,
                              const Column<Real>& c, unsigned next, Real (&inverse)[held_x]) {
  const Real var = c.var * *strip.var_t;
  Real* const w = strip.w + strip.at(c.first, c.active ? c.j : 0);
  Real f[held_x], of_d[held_x], of_x[held_x];  // p(m) = f(m) + of_d(m) d + of_x(m) x
  Linear<Real> down{0, 1};
  Real up = 0, up_of_d = 0, up_of_x = 1;
  if (c.active) {
#pragma unroll
    for (unsigned m = 0; m < held_x; ++m) {
      const Real factor = strip.from_x[c.first + m] * var * inverse[m];
      down = compose(Linear<Real>{w[m * strip.step] * inverse[m], factor}, down);
      f[m] = down.a;
      of_d[m] = down.b;
    }
#pragma unroll
    for (unsigned m = held_x; m-- > 0;) {
      const Real factor = strip.to_x[c.first + m] * var * inverse[m];
      up = f[m] += factor * up;
      up_of_d = of_d[m] += factor * up_of_d;
      up_of_x = of_x[m] = factor * up_of_x;
    }
  }
  const auto [d, x] = exchange(strip, shape, c, Piece<Real>{down, {up, up_of_x}, up_of_d}, s.num_y);
  if (c.active)
#pragma unroll
    for (unsigned m = 0; m < held_x; ++m) w[m * strip.step] = f[m] + of_d[m] * d + of_x[m] * x;
  load(s, c, next, inverse);
}
// [columns]

// [rows]
/// The pieces of rows that a thread solves along y. A thread that has fewer rows than it could hold
/// holds one more than once; one that has none looks at the first, and writes nothing.
template <typename Real>
struct Rows {
  __device__ Rows(const Shape& shape, const Strip<Real>& strip)
      : piece(modulo(threadIdx.x, shape.pieces_y)), pieces(shape.pieces_y), memory(strip.w) {
    const unsigned thread = over(threadIdx.x, pieces), stride = over(threads_of_strip, pieces);
    active = thread < shape.rows();
    for (unsigned n = 0; n < rows_of_thread; ++n) {
      row[n] = thread + n * stride < shape.rows() ? thread + n * stride : active ? thread : 0;
      first[n] = strip.at(row[n], piece * held_y);
    }
  }
  __device__ Real& w(unsigned n, unsigned m) const { return memory[first[n] + m]; }
  __device__ unsigned column(unsigned m) const { return m * warp_size + piece; }

  unsigned piece, pieces;
  Real* memory;
  bool active;
  unsigned row[rows_of_thread], first[rows_of_thread];
};

template <typename Real>
using OfRows = Real[rows_of_thread][held_y];

/// What enters this lane's pieces of rows, which make `f` of zero.
template <int direction, typename Real>
__device__ void enter(Real (&f)[rows_of_thread], const Real* through, unsigned pieces) {
  unsigned level = 0;
  for (unsigned distance = 1; distance < pieces; distance *= 2, ++level) {
    const Real factor = through[level * warp_size + threadIdx.x % warp_size];
#pragma unroll
    for (Real& of_row : f) of_row += factor * before<direction>(of_row, distance);
  }
  const bool first = modulo(threadIdx.x, pieces) == (direction > 0 ? 0 : pieces - 1);
#pragma unroll
  for (Real& of_row : f) {
    const Real met = before<direction>(of_row, 1);
    of_row = first ? 0 : met;
  }
}

/// b = Ly' v / 2
template <typename Real>
__device__ void apply_y(const Strip<Real>& strip, const Rows<Real>& rows, const OfRows<Real>& v,
                        OfRows<Real>& b) {
  Real left[rows_of_thread], right[rows_of_thread];
#pragma unroll
  for (unsigned n = 0; n < rows_of_thread; ++n) {
    left[n] = before<+1>(v[n][held_y - 1], 1);
    right[n] = before<-1>(v[n][0], 1);
  }
#pragma unroll
  for (unsigned m = 0; m < held_y; ++m) {
    const unsigned at = rows.column(m);
    const Real from = strip.from_y[at], own = strip.own_y[at], to = strip.to_y[at];
#pragma unroll
    for (unsigned n = 0; n < rows_of_thread; ++n) {
      const Real l = m > 0 ? v[n][m - 1] : left[n], u = m + 1 < held_y ? v[n][m + 1] : right[n];
      b[n][m] = from * l + own * v[n][m] + to * u;
    }
  }
}

/// w = q = (1 / dt - Ly' / 2)^-1 2 z / dt: as 2 z and what the solve adds to it, which errs less.
/// z becomes q - z, the other number that add() needs, so that q takes no registers until then.
template <typename Real>
__device__ void solve_rows(const Strip<Real>& strip, const Rows<Real>& rows, OfRows<Real>& z) {
  OfRows<Real> b;  // what the solve adds, when it is done
  Real d[rows_of_thread] = {}, x[rows_of_thread] = {};
  apply_y(strip, rows, z, b);
#pragma unroll
  for (unsigned m = 0; m < held_y; ++m) {
    const Real pivot = strip.pivot_y[rows.column(m)], below = strip.below_y[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < rows_of_thread; ++n) d[n] = b[n][m] = b[n][m] * pivot + below * d[n];
  }
  enter<+1>(d, strip.through_below, rows.pieces);
#pragma unroll
  for (unsigned m = held_y; m-- > 0;) {
    const Real from = strip.from_below[rows.column(m)], above = strip.above_y[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < rows_of_thread; ++n) {
      b[n][m] += from * d[n];
      x[n] = b[n][m] += above * x[n];
    }
  }
  enter<-1>(x, strip.through_above, rows.pieces);
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

/// The z of the next step, which is greater by (Lx' + Ly') p / 2, from q - z, where w holds p and
/// Lx' p / 2 = p / dt - q
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
/// Carries z over so many time steps, from step g on: one cluster, a strip of the grid a block
template <typename Real>
__global__ void __launch_bounds__(threads_of_strip)
    sweep(State<Real> s, Shape shape, unsigned g, unsigned steps) {
  extern __shared__ double memory[];
  const Strip<Real> strip(reinterpret_cast<Real*>(memory), shape);
  const Column<Real> column(s, shape);
  const Rows<Real> rows(shape, strip);
  const unsigned first_row = Cluster::rank() * shape.rows();
  prepare(s, shape, strip);
  Cluster::sync();  // before others' shared memory is written, they must have started

  Real inverse[held_x];
  load(s, column, 0, inverse);
  OfRows<Real> z;
  for (unsigned n = 0; n < rows_of_thread; ++n)
    for (unsigned m = 0; m < held_y; ++m) {
      const unsigned i = first_row + rows.row[n], j = rows.piece * held_y + m;
      z[n][m] = i < s.num_x && j < s.num_y ? s.z(i, j) : 0;
    }
  for (unsigned step = 0; step < steps; ++step) {
    // It is on its way while rows are solved, and takes no register.
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
      const unsigned i = first_row + rows.row[n], j = rows.piece * held_y + m;
      if (rows.active && i < s.num_x && j < s.num_y) s.z(i, j) = z[n][m];
    }
}
// [sweep]

// [price]
/// The sum of a number of each lane of a warp, in all of them
template <typename Real>
__device__ Real sum_of_lanes(Real x) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    x += __shfl_xor_sync(0xFFFFFFFF, x, distance);
  return x;
}

/// weight(i) = the sum of z(i, j), a warp an i
template <typename Real>
__global__ void sum_rows(State<Real> s) {
  for (unsigned i = row(); i < s.num_x; i += rows()) {
    Real sum = 0;
    for (unsigned j = threadIdx.x; j < s.num_y; j += warp_size) sum += s.z(i, j);
    sum = sum_of_lanes(sum);
    if (threadIdx.x == 0) s.weight(i) = sum;
  }
}

/// The prices, a warp an option
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

// [launch]
/// The launch of sweep().
template <typename Real>
auto sweep_launch(const Shape& shape) {
  return staircase::ClusterLaunch(sweep<Real>, shape.blocks, threads_of_strip,
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
  const double step_x = 20 * problem.alpha * problem.s0 * std::sqrt(problem.t) / num_x;
  const double step_y = 10 * problem.nu * std::sqrt(problem.t) / num_y;
  staircase::require_clusters();
  const Shape shape = shape_of(num_x, num_y);
  sweep_launch<Real>(shape).require_at_once();

  timeline.begin("allocate");
  DeviceArray<double, 1> strikes(outer), x(num_x);
  DeviceArray<Real, 2> of_x(3, num_x), of_y(4, num_y);
  DeviceArray<Real, 1> var_of_t(num_t), prices_of_device(outer);
  const unsigned steps = steps_at_once(num_x, num_y, num_t);
  DeviceArray<Real, 3> inverse_x(steps, num_x, num_y);
  DeviceArray<Real, 2> z(num_x, num_y);
  const State<Real> s{.outer = outer,
                      .num_x = num_x,
                      .num_y = num_y,
                      .num_t = num_t,
                      .ix = std::size_t(problem.s0 / step_x),
                      .iy = num_y / 2,
                      .dt_inv = Real((num_t - 1) / problem.t),
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
                      .prices = prices_of_device};
  Prices<Real> prices(outer);

  timeline.begin("copy in");
  strikes.copy_from(problem.all_strikes().data());

  timeline.begin("kernels");
  const dim3 line(64), tile(32, 8);
  init<<<blocks(tile, std::max(num_y, num_t), num_x), tile>>>(
      s, Market{problem.s0, problem.t, step_x, step_y, std::log(problem.alpha), problem.beta,
                problem.nu * problem.nu});
  check_launch();
  for (unsigned g = 0; g < num_t - 1; g += steps) {
    factorise_all<<<blocks(line, num_y, steps + 1), line>>>(s, g);
    check_launch();
    sweep_launch<Real>(shape)(1, s, shape, g, std::min(steps, num_t - 1 - g));
  }
  sum_rows<<<blocks(tile, 1, num_x), tile>>>(s);
  check_launch();
  price<<<blocks(tile, 1, outer), tile>>>(s);
  check_launch();
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  prices_of_device.copy_to(prices.data());
  return prices;
}
// [solve]

}  // namespace local_volatility

int main(int argc, char** argv) {
  return local_volatility::run_stage(
      argc, argv,
      {
          .title = "Adjoint CUDA",
          .idea = "Sweep one grid with one cluster of blocks",
          .needs = "clusters of thread blocks (compute capability 9.0)",
          .solve_f64 = local_volatility::solve<double>,
          .solve_f32 = local_volatility::solve<float>,
      });
}
