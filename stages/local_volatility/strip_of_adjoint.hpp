/// \file
/// How a cluster of blocks holds the one grid of an adjoint sweep: its shape, what a block keeps of
/// it in shared memory, and what threads hold of its rows.

#pragma once

#include <algorithm>
#include <bit>
#include <staircase/cluster.hpp>

#include "adjoint.hpp"

namespace local_volatility {

// [shape]
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
template <int direction, typename Real>
__device__ Linear<Real> before(Linear<Real> f, int distance) {
  return {before<direction>(f.a, distance), before<direction>(f.b, distance)};
}
// [functions]

// [pieces]
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

/// Stores the numbers of a piece so many apart.
template <typename Real>
__device__ void store(const Piece<Real>& piece, Real* to, unsigned apart) {
  to[0 * apart] = piece.d.a;
  to[1 * apart] = piece.d.b;
  to[2 * apart] = piece.x.a;
  to[3 * apart] = piece.x.b;
  to[4 * apart] = piece.x_of_d;
}

/// The piece whose numbers are stored so.
template <typename Real>
__device__ Piece<Real> stored(const Real* from, unsigned apart) {
  return {{from[0 * apart], from[1 * apart]}, {from[2 * apart], from[3 * apart]}, from[4 * apart]};
}

/// Lets f, the function of this lane's piece, the p-th of a column, apply those of all pieces
/// before it first: from the first one on (+1) or from the last one on (-1).
template <int direction, typename Real>
__device__ void scan_pieces(Linear<Real>& f, const unsigned& p, const unsigned& pieces) {
  for (unsigned distance = 1; distance < pieces; distance *= 2) {
    const Linear<Real> other = before<direction>(f, distance);
    if (direction > 0 ? p >= distance : p + distance < pieces) f = compose(f, other);
  }
}
// [pieces]

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
  Real *joined, *entering;              // what pieces of columns tell one another
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
  const unsigned first_row = staircase::Cluster::rank() * shape.rows();
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

// [pieces of columns]
/// The piece of a column that a thread solves along x, and its part in joining pieces.
template <typename Real>
struct Column {
  __device__ Column(const State<Real>& s, const Shape& shape)
      : piece(over(threadIdx.x, shape.pitch())),
        j(modulo(threadIdx.x, shape.pitch())),
        active(piece < shape.pieces_x && j < s.num_y),
        first(piece * held_x),
        first_of_grid(min(staircase::Cluster::rank() * shape.rows() + first, s.num_x - 1)),
        last(s.num_x - 1 - first_of_grid),
        first_joined(staircase::Cluster::rank() * shape.joins),
        var(active ? s.var_of_y(j) : 0) {}

  unsigned piece, j;
  bool active;
  unsigned first, first_of_grid;  // row, in the strip and in the grid
  unsigned last;                  // row of the grid, from first_of_grid on
  unsigned first_joined;          // column of those whose pieces this block joins
  Real var;                       // the variance's factor of y
};
// [pieces of columns]

// [pieces of rows]
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
// [pieces of rows]

}  // namespace local_volatility
