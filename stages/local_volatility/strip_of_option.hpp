/// \file
/// How blocks hold the grid of an option on the chip: its shape, what a block keeps of it in shared
/// memory, and how it solves rows.

#pragma once

#include <bit>

#include "one_grid.hpp"

namespace local_volatility {

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
/// What all options share and each has, and the factors along x.
template <typename Real>
struct State : OneGrid<Real> {
  staircase::View<Real, 3> inverse_x;  // (step, i, j): of the pivots along x
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

/// Fills what depends on no time step, for a strip from this row of the grid on; beyond the grid,
/// all is zero.
template <typename Real>
__device__ void prepare(const State<Real>& s, const Shape& shape, const Strip<Real>& strip,
                        unsigned first_row) {
  const Real half = 0.5;
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

// [pieces of columns]
/// The piece of a column that a thread solves along x, in a strip from this row of the grid on.
template <typename Real>
struct Column {
  __device__ Column(const State<Real>& s, const Shape& shape, unsigned first_row)
      : piece(threadIdx.x / s.num_y),
        j(threadIdx.x % s.num_y),
        active(piece < shape.pieces_x),
        first(piece * held_x),
        first_of_grid(first_row + first),
        var(active ? s.var_of_y(j) : 0) {}

  unsigned piece, j;
  bool active;
  unsigned first, first_of_grid;  // row, in the strip and in the grid
  Real var;                       // the variance's factor of y
};
// [pieces of columns]

// [rows]
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

/// Brings the rows of a grid that a strip has, `points` in all, into the strip, and back.
template <typename Real>
__device__ void bring_in(const Strip<Real>& strip, const Rows<Real>& rows, const Real* result,
                         unsigned points, unsigned num_y) {
  for (unsigned p = threadIdx.x; p < points; p += blockDim.x)
    strip.r[strip.at(p / num_y, p % num_y)] = result[p];
  __syncthreads();
  if (!rows.active) return;
  Real x[rows_of_thread][held_y];
  for (unsigned n = 0; n < rows_of_thread; ++n)
    for (unsigned m = 0; m < held_y; ++m) x[n][m] = rows.r(n, m);
  put(strip, rows, x);
}
template <typename Real>
__device__ void bring_out(const Strip<Real>& strip, Real* result, unsigned points, unsigned num_y) {
  __syncthreads();
  for (unsigned p = threadIdx.x; p < points; p += blockDim.x)
    result[p] = strip.r[strip.at(p / num_y, p % num_y)];
}
// [rows]

}  // namespace local_volatility
