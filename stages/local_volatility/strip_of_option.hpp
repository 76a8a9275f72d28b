/// \file
/// The grid of an option on the chip: its distribution over blocks, the shared memory of a block,
/// and the solves along rows.

#pragma once

#include <bit>

#include "one_grid.hpp"

namespace local_volatility {

// [shape]
constexpr int warp_size = 32;

/// The number of points of a thread in a column while it solves along x, and in each of its rows
/// while it solves along y. Stage 12 also has segments with fewer points along x.
constexpr unsigned held_x = 32, held_y = 8;
constexpr unsigned rows_of_thread = held_x / held_y;
constexpr unsigned threads_of_strip = 256;
constexpr unsigned points_of_strip = threads_of_strip * held_x;

/// The distribution of a grid over a cluster. Each block has a strip of rows, which is cut along x
/// into segments of `held` points and along y into segments of `held_y`. Counts are powers of two.
template <unsigned held>
struct ShapeWith {
  unsigned blocks;      // per cluster
  unsigned segments_x;  // segments of a column of a strip, one per thread
  unsigned segments_y;  // segments of a row, one per lane

  __host__ __device__ unsigned rows() const { return segments_x * held; }  // per strip
  __host__ __device__ unsigned pitch() const { return segments_y * held_y; }
  __host__ __device__ unsigned segments() const { return blocks * segments_x; }  // per column
};
using Shape = ShapeWith<held_x>;

/// The shape with the fewest blocks; the largest grid, 512 rows of 256 points, needs 16 blocks.
template <unsigned held = held_x>
ShapeWith<held> shape_of(std::size_t num_x, std::size_t num_y) {
  for (unsigned blocks = 1;; blocks *= 2) {
    const std::size_t rows = std::size_t{blocks} * held;
    const unsigned segments_x = std::bit_ceil((num_x + rows - 1) / rows);
    const unsigned segments_y = std::bit_ceil((num_y + held_y - 1) / held_y);
    if (segments_y <= warp_size && segments_x <= threads_of_strip / held_y / segments_y)
      return {blocks, segments_x, segments_y};
  }
}
// [shape]

// [state]
/// The data that all options share, the arrays of all options, and the factors along x.
template <typename Real>
struct State : OneGrid<Real> {
  staircase::View<Real, 3> inverse_x;  // inverse pivots along x: (step, i, j)
};
// [state]

// [functions]
/// The function x → a + b x.
template <typename Real>
struct alignas(2 * sizeof(Real)) Linear {
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
// [functions]

// [strip]
/// The coefficients of a row's two neighbours in an operator; the coefficient of the centre is
/// minus their sum.
template <typename Real>
struct Neighbours {
  Real lower, upper;
};

/// The shared memory of a block: R and W, and the data that its threads need to solve.
template <typename Real>
struct Strip {
  static constexpr unsigned line = 128 / sizeof(Real);  // values in one row of the 32 banks
  static constexpr unsigned w = points_of_strip + points_of_strip / line;  // distance from R to W
  static constexpr unsigned levels = 5;                                    // of a scan in a warp

  __device__ Strip(Real* memory, const auto& shape)
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

  static std::size_t bytes(const auto& shape) {
    return sizeof(Real) * (2 * w + points_of_strip + 4 * threads_of_strip + 2 * shape.rows() +
                           7 * shape.pitch() + 2 * levels * warp_size);
  }

  /// The position of point (i, j) in R. After every line there is a gap of one value. The threads
  /// of a warp then use all banks, whether their points are 1 or `held_y` apart.
  __device__ unsigned at(unsigned i, unsigned j) const { return i * row() + j + j / line; }
  __device__ unsigned row() const { return pitch + pitch / line; }

  /// The position of column j in arrays with one value per column: point m of all segments, then
  /// point m + 1.
  __device__ unsigned of_column(unsigned j) const {
    return j % held_y * (pitch / held_y) + j / held_y;
  }

  unsigned pitch;
  Real *r, *inverse;                    // R and then W: at(i, j); inverse pivots: (m, thread)
  Linear<Real>*forwards, *backwards;    // (segment, j): functions of segments of columns
  Neighbours<Real>*along_x, *along_y;   // (i): Lx / 2 for a variance of 1; (j): Ly / 2
  Real *pivot_y, *below_y, *above_y;    // factors along y: 2 / (dt pivot), and e of both neighbours
  Real *from_below, *from_above;        // products of factors from the ends of a segment
  Real *through_below, *through_above;  // (level, lane): products over 1, 2, 4, ... segments
};
// [strip]

// [prepare]
/// Computes the factors along y from the diagonal in pivot_y, in one thread.
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

/// Computes, in one warp, the products of factors that a scan along y needs.
template <int direction, typename Real>
__device__ void multiply(const Real* factors, Real* from, Real* through, unsigned segments) {
  const unsigned segment = threadIdx.x % segments;
  const unsigned rank = direction > 0 ? segment : segments - 1 - segment;
  Real product = 1;
  for (unsigned n = 0; n < held_y; ++n) {
    const unsigned at = (direction > 0 ? n : held_y - 1 - n) * segments + segment;
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

/// Computes all data that do not depend on the time step, for a strip that begins in row
/// `first_row` of the grid. Beyond the grid, all values are zero.
template <typename Real>
__device__ void prepare(const State<Real>& s, const auto& shape, const Strip<Real>& strip,
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
    multiply<+1>(strip.below_y, strip.from_below, strip.through_below, shape.segments_y);
    multiply<-1>(strip.above_y, strip.from_above, strip.through_above, shape.segments_y);
  }
}
// [prepare]

// [segments of columns]
/// The segment of a column that a thread solves along x, in a strip that begins in row `first_row`
/// of the grid.
template <typename Real>
struct Column {
  template <unsigned held>
  __device__ Column(const State<Real>& s, const ShapeWith<held>& shape, unsigned first_row)
      : segment(threadIdx.x / s.num_y),
        j(threadIdx.x % s.num_y),
        active(segment < shape.segments_x),
        first(segment * held),
        first_of_grid(first_row + first),
        var(active ? s.var_of_y(j) : 0) {}

  unsigned segment, j;
  bool active;
  unsigned first, first_of_grid;  // first row, in the strip and in the grid
  Real var;                       // the variance's factor for y
};
// [segments of columns]

// [rows]
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
  const bool first = threadIdx.x % segments == (direction > 0 ? 0 : segments - 1);
#pragma unroll
  for (Real& of_row : f) {
    const Real previous = before<direction>(of_row, 1);
    of_row = first ? 0 : previous;
  }
}

/// The `count` segments of rows that a thread solves along y. If a strip has fewer rows than its
/// threads can solve, a thread solves its first row repeatedly.
template <typename Real, unsigned count = rows_of_thread>
struct Rows {
  __device__ Rows(const auto& shape, const Strip<Real>& strip)
      : memory(strip.r), segment(threadIdx.x % shape.segments_y), segments(shape.segments_y) {
    const unsigned row = threadIdx.x / segments, stride = threads_of_strip / segments;
    active = row < shape.rows();
    for (unsigned n = 0; n < count; ++n) {
      const unsigned i = row + n * stride;
      first[n] = strip.at(i < shape.rows() ? i : row, segment * held_y);
    }
  }
  __device__ Real& r(unsigned n, unsigned m) const { return memory[first[n] + m]; }
  __device__ Real& w(unsigned n, unsigned m) const { return memory[first[n] + m + Strip<Real>::w]; }
  __device__ unsigned column(unsigned m) const { return m * segments + segment; }

  bool active;
  Real* memory;
  unsigned segment, segments;
  unsigned first[count];
};

/// Stores x in R, and Ly x / 2 in W.
template <typename Real, unsigned count>
__device__ void put(const Strip<Real>& strip, const Rows<Real, count>& rows,
                    const Real (&x)[count][held_y]) {
  Real left[count], right[count];
#pragma unroll
  for (unsigned n = 0; n < count; ++n) {
    left[n] = before<+1>(x[n][held_y - 1], 1);
    right[n] = before<-1>(x[n][0], 1);
  }
#pragma unroll
  for (unsigned m = 0; m < held_y; ++m) {
    const auto [lower, upper] = strip.along_y[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < count; ++n) {
      const Real l = m > 0 ? x[n][m - 1] : left[n], u = m + 1 < held_y ? x[n][m + 1] : right[n];
      rows.r(n, m) = x[n][m];
      rows.w(n, m) = lower * (l - x[n][m]) + upper * (u - x[n][m]);
    }
  }
}

/// Computes R += (1 / dt - Ly / 2)^-1 2 W / dt.
template <typename Real, unsigned count>
__device__ void solve_rows(const auto& shape, const Strip<Real>& strip,
                           const Rows<Real, count>& rows) {
  Real f[count][held_y], d[count] = {}, x[count] = {};
  __syncthreads();
  if (!rows.active) return;
#pragma unroll
  for (unsigned m = 0; m < held_y; ++m) {
    const Real pivot = strip.pivot_y[rows.column(m)], below = strip.below_y[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < count; ++n) d[n] = f[n][m] = rows.w(n, m) * pivot + below * d[n];
  }
  enter<+1>(d, strip.through_below, shape.segments_y);
#pragma unroll
  for (unsigned m = held_y; m-- > 0;) {
    const Real from = strip.from_below[rows.column(m)], above = strip.above_y[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < count; ++n) {
      f[n][m] += from * d[n];
      x[n] = f[n][m] += above * x[n];
    }
  }
  enter<-1>(x, strip.through_above, shape.segments_y);
#pragma unroll
  for (unsigned m = 0; m < held_y; ++m) {
    const Real from = strip.from_above[rows.column(m)];
#pragma unroll
    for (unsigned n = 0; n < count; ++n) f[n][m] += rows.r(n, m) + from * x[n];
  }
  put(strip, rows, f);
}

/// bring_in() copies R at the `points` points of a strip from global to shared memory, and sets W
/// to Ly R / 2; bring_out() copies R back.
template <typename Real, unsigned count>
__device__ void bring_in(const Strip<Real>& strip, const Rows<Real, count>& rows,
                         const Real* result, unsigned points, unsigned num_y) {
  for (unsigned p = threadIdx.x; p < points; p += blockDim.x)
    strip.r[strip.at(p / num_y, p % num_y)] = result[p];
  __syncthreads();
  if (!rows.active) return;
  Real x[count][held_y];
  for (unsigned n = 0; n < count; ++n)
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
