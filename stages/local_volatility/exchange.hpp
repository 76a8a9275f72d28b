/// \file
/// Exchange of values through shared memory between the threads that load or store them and the
/// threads that compute with them: square tiles, and rows of tridiagonal systems.

#pragma once

#include "teams.hpp"

namespace local_volatility {

// [tiles]
constexpr unsigned tile_size = 16;  // width and height of a block's tile in points

/// The first row and column of a block's tile, and the distance to its next tile.
__device__ inline unsigned tile_row() { return blockIdx.y * tile_size; }
__device__ inline unsigned tile_rows() { return gridDim.y * tile_size; }
__device__ inline unsigned tile_column() { return blockIdx.x * tile_size; }
__device__ inline unsigned tile_columns() { return gridDim.x * tile_size; }

/// The position of element (y, x) of a tile within its row in shared memory. Each row is permuted
/// (swizzled), so that a warp uses all banks along a row and along a column.
__device__ inline unsigned swizzled(unsigned y, unsigned x) { return x ^ y % tile_size; }
// [tiles]

// [shared]
/// A row of a tridiagonal system: a x(i - 1) + b x(i) + c x(i + 1) = r.
template <typename Real>
struct Row {
  Real a, b, c, r;
};

/// Successive rows a x(i - 1) + b x(i) + c x(i + 1) = r of a system, with the sums s = a + b + c.
/// In the system's first row a = 0, and in its last row c = 0.
template <typename Real, int held>
struct Rows {
  Real a[held], s[held], c[held], r[held];
};

/// The layout in shared memory of the values of rows, which pass from the threads that read them to
/// the threads that solve with them. After every 128 bytes, there is a gap of one value. The
/// threads of a warp then use all banks, whether their values are 1, 2, 4 or 8 apart.
template <typename Real, int held>
struct PaddedLayout {
  static constexpr int numbers = block_size * held, gap = 128 / sizeof(Real);
  static constexpr int size = numbers + numbers / gap;

  /// The position of the value for row i of this thread's team.
  __device__ static int slot(int i) {
    const int number = threadIdx.y * blockDim.x * held + i;
    return number + number / gap;
  }
};

/// Shared memory for four values of each row.
template <typename Real, int held>
struct SharedRows : PaddedLayout<Real, held> {
  Real a[SharedRows::size], s[SharedRows::size], c[SharedRows::size], r[SharedRows::size];
};

/// Shared memory for one value of each row.
template <typename Real, int held>
struct SharedValues : PaddedLayout<Real, held> {
  Real r[SharedValues::size];
};

/// Waits at a barrier for all threads of the team.
template <int team>
__device__ void wait() {
  if constexpr (team > warp_size)
    __syncthreads();
  else
    __syncwarp();
}

/// Distributes rows first, first + 1, ... of a system over a team. Neighbouring threads read
/// neighbouring rows, and each thread gets successive rows.
template <int team, typename Real, int held, typename RowOf>
__device__ Rows<Real, held> distribute(SharedRows<Real, held>& shared, RowOf row_of,
                                       std::size_t first) {
  if constexpr (held == 1) {
    const Row<Real> row = row_of(first + threadIdx.x);
    return {{row.a}, {row.a + row.b + row.c}, {row.c}, {row.r}};
  } else {
    for (int i = threadIdx.x; i < team * held; i += team) {
      const Row<Real> row = row_of(first + i);
      const int slot = shared.slot(i);
      shared.a[slot] = row.a;
      shared.s[slot] = row.a + row.b + row.c;
      shared.c[slot] = row.c;
      shared.r[slot] = row.r;
    }
    wait<team>();
    Rows<Real, held> rows;
    for (int m = 0; m < held; ++m) {
      const int slot = shared.slot(threadIdx.x * held + m);
      rows.a[m] = shared.a[slot];
      rows.s[m] = shared.s[slot];
      rows.c[m] = shared.c[slot];
      rows.r[m] = shared.r[slot];
    }
    wait<team>();
    return rows;
  }
}

/// Sets r to the values of rows first, first + 1, ... of a system, distributed over a team.
/// Neighbouring threads read neighbouring rows, and each thread gets successive rows.
template <int team, typename Real, int held, typename ValueOf>
__device__ void distribute(SharedValues<Real, held>& shared, ValueOf value_of, std::size_t first,
                           Real (&r)[held]) {
  if constexpr (held == 1) {
    r[0] = value_of(first + threadIdx.x);
  } else {
    for (int i = threadIdx.x; i < team * held; i += team)
      shared.r[shared.slot(i)] = value_of(first + i);
    wait<team>();
    for (int m = 0; m < held; ++m) r[m] = shared.r[shared.slot(threadIdx.x * held + m)];
    wait<team>();
  }
}

/// How collect() stores a value in u: by assignment or by addition.
struct Set {
  template <typename Real>
  __device__ static void put(Real& u, Real x) {
    u = x;
  }
};
struct Add {
  template <typename Real>
  __device__ static void put(Real& u, Real x) {
    u += x;
  }
};

/// Assigns or adds the team's values to u(first), u(first + 1), ... up to u(n - 1). The values pass
/// through shared memory in the direction opposite to that of distribute().
template <int team, typename How = Set, typename Shared, typename Real, int held>
__device__ void collect(Shared& shared, const Real (&x)[held], Real* u, std::size_t first,
                        std::size_t n) {
  if constexpr (held == 1) {
    if (const std::size_t i = first + threadIdx.x; i < n) How::put(u[i], x[0]);
  } else {
    for (int m = 0; m < held; ++m) shared.r[shared.slot(threadIdx.x * held + m)] = x[m];
    wait<team>();
    for (int i = threadIdx.x; i < team * held; i += team)
      if (first + i < n) How::put(u[first + i], shared.r[shared.slot(i)]);
    wait<team>();
  }
}
// [shared]

}  // namespace local_volatility
