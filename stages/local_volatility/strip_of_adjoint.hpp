/// \file
/// The single grid of an adjoint sweep in a cluster: its distribution over blocks, the shared
/// memory of a block, and the points of each thread.

#pragma once

#include <algorithm>
#include <bit>
#include <staircase/cluster.hpp>

#include "adjoint.hpp"

namespace local_volatility {

// [shape]
/// The number of points of a thread in a column while it solves along x, and in each of its rows
/// while it solves along y. Stage 18 also has segments with fewer points along x.
constexpr unsigned held_x = 16, held_y = 8;
constexpr unsigned rows_of_thread = held_x / held_y;
constexpr unsigned threads_of_strip = 256;

/// The distribution of a grid over a cluster. Each block has a strip of rows, which is cut into
/// segments along x and along y. Each count is a power of two.
struct Shape {
  unsigned blocks;      // per cluster
  unsigned segments_x;  // segments of a column of a strip, one per thread
  unsigned segments_y;  // segments of a row, one per lane
  unsigned joins;       // columns whose segments a block combines
  unsigned held;        // points of a segment along x

  __host__ __device__ unsigned rows() const { return segments_x * held; }  // per strip
  __host__ __device__ unsigned pitch() const { return segments_y * held_y; }
  __host__ __device__ unsigned segments() const { return blocks * segments_x; }  // per column
};

/// The shape with the fewest blocks in which a column has no more segments than a warp has lanes.
/// The largest grid, 256 rows of 256 points, needs 16 blocks.
inline Shape shape_of(std::size_t num_x, std::size_t num_y, unsigned held = held_x) {
  for (unsigned blocks = 1;; blocks *= 2) {
    const std::size_t rows = std::size_t{blocks} * held;
    const unsigned segments_x = std::bit_ceil((num_x + rows - 1) / rows);
    const unsigned segments_y = std::bit_ceil((num_y + held_y - 1) / held_y);
    if (segments_y <= warp_size && blocks * segments_x <= warp_size &&
        segments_x * segments_y * held_y <= threads_of_strip)
      return {blocks, segments_x, segments_y, std::max(segments_y * held_y / blocks, 1u), held};
  }
}
// [shape]

// [powers of two]
/// n / d and n % d for powers of two d. A GPU has no instruction for integer division, and a
/// division by a divisor that is known only at run time takes 20 other instructions.
__device__ unsigned over(unsigned n, unsigned d) { return n >> (__ffs(d) - 1); }
__device__ unsigned modulo(unsigned n, unsigned d) { return n & (d - 1); }
// [powers of two]

// [functions]
/// The function x → a + b x.
template <typename Real>
struct Linear {
  Real a, b;
  __device__ Real operator()(Real x) const { return a + b * x; }
};

/// Returns the function that applies `first` and then `second`.
template <typename Real>
__device__ Linear<Real> compose(Linear<Real> second, Linear<Real> first) {
  return {second.a + second.b * first.a, second.b * first.b};
}

/// Returns the value of the lane that is `distance` lanes before the calling lane, in a forward
/// (+1) or backward (-1) scan.
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

// [segments]
/// The values that enter a segment of a column from above (d) and from below (x).
template <typename Real>
struct Ends {
  Real d, x;
};

/// The values that leave a segment of a column, as functions of the values that enter it.
template <typename Real>
struct Segment {
  Linear<Real> d;  // the outgoing d as a function of the incoming d
  Linear<Real> x;  // the outgoing x as a function of the incoming x
  Real x_of_d;     // coefficient of the incoming d in the outgoing x
};

/// Stores the five coefficients of a segment, `spacing` elements apart.
template <typename Real>
__device__ void store(const Segment<Real>& segment, Real* to, unsigned spacing) {
  to[0 * spacing] = segment.d.a;
  to[1 * spacing] = segment.d.b;
  to[2 * spacing] = segment.x.a;
  to[3 * spacing] = segment.x.b;
  to[4 * spacing] = segment.x_of_d;
}

/// Reads the coefficients of a segment that store() has stored.
template <typename Real>
__device__ Segment<Real> stored(const Real* from, unsigned spacing) {
  return {{from[0 * spacing], from[1 * spacing]},
          {from[2 * spacing], from[3 * spacing]},
          from[4 * spacing]};
}

/// Composes f, the function of this lane's segment p of a column, with the functions of the
/// segments before it (`direction` is +1) or after it (-1).
template <int direction, typename Real>
__device__ void scan_segments(Linear<Real>& f, const unsigned& p, const unsigned& segments) {
  for (unsigned distance = 1; distance < segments; distance *= 2) {
    const Linear<Real> other = before<direction>(f, distance);
    if (direction > 0 ? p >= distance : p + distance < segments) f = compose(f, other);
  }
}
// [segments]

// [strip]
/// The shared memory of a block.
template <typename Real>
struct Strip {
  static constexpr unsigned line = 128 / sizeof(Real);  // values in one row of the 32 banks
  static constexpr unsigned step = threads_of_strip + threads_of_strip / line;
  static constexpr unsigned most_columns = held_y * warp_size;
  static constexpr unsigned levels = 5;  // of a scan in a warp
  static constexpr unsigned ends = 5;    // coefficients of a segment that other threads need

  __device__ Strip(Real* memory, const Shape& shape)
      : pitch(shape.pitch()),
        held(shape.held),
        w(memory),
        joined(w + held * step),
        entering(joined + ends * array_of_segments(shape)),
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
    return sizeof(Real) *
           (shape.held * step + ends * array_of_segments(shape) + 2 * threads_of_strip +
            2 * shape.rows() + 8 * most_columns + 2 * levels * warp_size + 1);
  }

  /// The size of an array with one value for each segment that a block combines. Each row of the
  /// array has one value of padding, so that the segments of a column are in different banks.
  __host__ __device__ static unsigned array_of_segments(const Shape& shape) {
    return shape.segments() * (shape.joins + 1);
  }

  /// The position of point (i, j) in w. The first rows of all segments come first, the second rows
  /// are `step` elements further on, and so on. After every line there is a gap of one value. The
  /// threads of a warp then use all banks, whether their points are 1 or `held_y` apart.
  __device__ unsigned at(unsigned i, unsigned j) const {
    return modulo(i, held) * step + over(i, held) * (pitch + pitch / line) + j + j / line;
  }

  /// The position of column j in arrays with one value per column: point m of all segments, then
  /// point m + 1. Here and in w, the distance between a thread's points is a compile-time constant.
  __device__ unsigned of_column(unsigned j) const { return j % held_y * warp_size + j / held_y; }

  unsigned pitch, held;
  Real* w;                              // at(i, j): q, then p
  Real *joined, *entering;              // data that segments of columns exchange
  Real *from_x, *to_x;                  // (i): coefficients of i - 1 and i + 1 in Lx' / 2
  Real *from_y, *own_y, *to_y;          // (j): coefficients of j - 1, j and j + 1 in Ly' / 2
  Real *pivot_y, *below_y, *above_y;    // factors along y: 2 / pivot, and both neighbours' factors
  Real *from_below, *from_above;        // products of factors from the ends of a segment
  Real *through_below, *through_above;  // (level, lane): products over 1, 2, 4, ... segments
  Real* var_t;                          // the variance's factor for the time step
};
// [strip]

// [prepare]
/// Computes, in one warp, the products of factors that a scan along y needs.
template <int direction, typename Real>
__device__ void multiply(const Real* factors, Real* from, Real* through, unsigned segments) {
  const unsigned segment = threadIdx.x % segments;
  const unsigned rank = direction > 0 ? segment : segments - 1 - segment;
  Real product = 1;
  for (unsigned n = 0; n < held_y; ++n) {
    const unsigned at = (direction > 0 ? n : held_y - 1 - n) * warp_size + segment;
    product *= factors[at];
    if (threadIdx.x < segments) from[at] = product;
  }
  for (unsigned level = 0; level < Strip<Real>::levels; ++level) {
    const unsigned distance = 1 << level;
    through[level * warp_size + threadIdx.x] = rank >= distance ? product : 0;
    const Real other = before<direction>(product, distance);
    if (rank >= distance) product *= other;
  }
}

/// Computes all data that do not depend on the time step. Beyond the grid, all values are zero.
template <typename Real>
__device__ void prepare(const State<Real>& s, const Shape& shape, const Strip<Real>& strip) {
  const unsigned first_row = staircase::Cluster::rank() * shape.rows();
  for (unsigned n = threadIdx.x; n < strip.held * strip.step; n += blockDim.x) strip.w[n] = 0;
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
    multiply<+1>(strip.below_y, strip.from_below, strip.through_below, shape.segments_y);
    multiply<-1>(strip.above_y, strip.from_above, strip.through_above, shape.segments_y);
  }
  __syncthreads();
}
// [prepare]

// [segments of columns]
/// The segment of a column that a thread solves along x, and the columns that its block combines.
template <typename Real>
struct Column {
  __device__ Column(const State<Real>& s, const Shape& shape)
      : segment(over(threadIdx.x, shape.pitch())),
        j(modulo(threadIdx.x, shape.pitch())),
        active(segment < shape.segments_x && j < s.num_y),
        first(segment * shape.held),
        first_of_grid(min(staircase::Cluster::rank() * shape.rows() + first, s.num_x - 1)),
        last(s.num_x - 1 - first_of_grid),
        first_joined(staircase::Cluster::rank() * shape.joins),
        var(active ? s.var_of_y(j) : 0) {}

  unsigned segment, j;
  bool active;
  unsigned first, first_of_grid;  // first row, in the strip and in the grid
  unsigned last;                  // last row of the grid, counted from first_of_grid
  unsigned first_joined;          // first column whose segments this block combines
  Real var;                       // the variance's factor for y
};
// [segments of columns]

// [segments of rows]
/// The segments of rows that a thread solves along y. If a thread has fewer rows than it can solve,
/// it solves one row repeatedly. A thread without rows reads the first row and writes nothing.
template <typename Real, unsigned count = rows_of_thread>
struct Rows {
  __device__ Rows(const Shape& shape, const Strip<Real>& strip)
      : segment(modulo(threadIdx.x, shape.segments_y)),
        segments(shape.segments_y),
        memory(strip.w) {
    const unsigned thread = over(threadIdx.x, segments), stride = over(threads_of_strip, segments);
    active = thread < shape.rows();
    for (unsigned n = 0; n < count; ++n) {
      row[n] = thread + n * stride < shape.rows() ? thread + n * stride : active ? thread : 0;
      first[n] = strip.at(row[n], segment * held_y);
    }
  }
  __device__ Real& w(unsigned n, unsigned m) const { return memory[first[n] + m]; }
  __device__ unsigned column(unsigned m) const { return m * warp_size + segment; }

  unsigned segment, segments;
  Real* memory;
  bool active;
  unsigned row[count], first[count];
};

template <typename Real, unsigned count = rows_of_thread>
using OfRows = Real[count][held_y];

/// On entry, f contains the results of this lane's segments of rows for zero input; on return, it
/// contains the values that enter these segments.
template <int direction, typename Real, unsigned count>
__device__ void enter(Real (&f)[count], const Real* through, unsigned segments) {
  unsigned level = 0;
  for (unsigned distance = 1; distance < segments; distance *= 2, ++level) {
    const Real factor = through[level * warp_size + threadIdx.x % warp_size];
#pragma unroll
    for (Real& of_row : f) of_row += factor * before<direction>(of_row, distance);
  }
  const bool first = modulo(threadIdx.x, segments) == (direction > 0 ? 0 : segments - 1);
#pragma unroll
  for (Real& of_row : f) {
    const Real previous = before<direction>(of_row, 1);
    of_row = first ? 0 : previous;
  }
}

/// Computes b = Ly' v / 2.
template <typename Real, unsigned count>
__device__ void apply_y(const Strip<Real>& strip, const Rows<Real, count>& rows,
                        const Real (&v)[count][held_y], Real (&b)[count][held_y]) {
  Real left[count], right[count];
#pragma unroll
  for (unsigned n = 0; n < count; ++n) {
    left[n] = before<+1>(v[n][held_y - 1], 1);
    right[n] = before<-1>(v[n][0], 1);
  }
#pragma unroll
  for (unsigned m = 0; m < held_y; ++m) {
    const unsigned at = rows.column(m);
    const Real from = strip.from_y[at], own = strip.own_y[at], to = strip.to_y[at];
#pragma unroll
    for (unsigned n = 0; n < count; ++n) {
      const Real l = m > 0 ? v[n][m - 1] : left[n], u = m + 1 < held_y ? v[n][m + 1] : right[n];
      b[n][m] = from * l + own * v[n][m] + to * u;
    }
  }
}
// [segments of rows]

}  // namespace local_volatility
