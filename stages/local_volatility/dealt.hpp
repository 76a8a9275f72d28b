/// \file
/// How points get from the threads that read them to those that use them, through shared memory:
/// square tiles, and rows of tridiagonal systems.

#pragma once

#include "teams.hpp"

namespace local_volatility {

// [tiles]
constexpr unsigned tile_size = 16;  // points that a block's tile is wide and high

/// The first row and column of a block's tile, and how far the next one is.
__device__ inline unsigned tile_row() { return blockIdx.y * tile_size; }
__device__ inline unsigned tile_rows() { return gridDim.y * tile_size; }
__device__ inline unsigned tile_column() { return blockIdx.x * tile_size; }
__device__ inline unsigned tile_columns() { return gridDim.x * tile_size; }

/// The place in its row of number x of row y of a tile in shared memory: rows are permuted, so that
/// a warp meets all banks along a row and along a column.
__device__ inline unsigned place(unsigned y, unsigned x) { return x ^ y % tile_size; }
// [tiles]

// [shared]
/// One row of a system.
template <typename Real>
struct Row {
  Real a, b, c, r;
};

/// Successive rows a x(i - 1) + b x(i) + c x(i + 1) = r of a system, with the sums s = a + b + c; a
/// of the system's first row and c of its last are 0.
template <typename Real, int held>
struct Rows {
  Real a[held], s[held], c[held], r[held];
};

/// Where numbers of rows lie in shared memory that the teams of a block hold, on their way from the
/// threads that read them to those that solve them. After every 128 bytes, room for one number is
/// left out: then the threads of a warp meet all banks, whether their numbers are 1, 2, 4 or 8
/// apart.
template <typename Real, int held>
struct Dealt {
  static constexpr int numbers = block_size * held, gap = 128 / sizeof(Real);
  static constexpr int size = numbers + numbers / gap;

  /// Where the number of the i-th row of this thread's team lies.
  __device__ static int slot(int i) {
    const int number = threadIdx.y * blockDim.x * held + i;
    return number + number / gap;
  }
};

/// Room for whole rows.
template <typename Real, int held>
struct SharedRows : Dealt<Real, held> {
  Real a[SharedRows::size], s[SharedRows::size], c[SharedRows::size], r[SharedRows::size];
};

/// Room for a number of each row.
template <typename Real, int held>
struct SharedNumbers : Dealt<Real, held> {
  Real r[SharedNumbers::size];
};

/// Waits for the threads of the team.
template <int team>
__device__ void wait() {
  if constexpr (team > warp_size)
    __syncthreads();
  else
    __syncwarp();
}

/// Rows first, first + 1, ... of a system, dealt out to a team: neighbouring threads read
/// neighbouring rows, and get successive ones.
template <int team, typename Real, int held, typename RowOf>
__device__ Rows<Real, held> deal_out(SharedRows<Real, held>& shared, RowOf row_of,
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

/// Sets r to the numbers of rows first, first + 1, ... of a system, dealt out to a team:
/// neighbouring threads read neighbouring rows, and get successive ones.
template <int team, typename Real, int held, typename NumberOf>
__device__ void deal_out(SharedNumbers<Real, held>& shared, NumberOf number_of, std::size_t first,
                         Real (&r)[held]) {
  if constexpr (held == 1) {
    r[0] = number_of(first + threadIdx.x);
  } else {
    for (int i = threadIdx.x; i < team * held; i += team)
      shared.r[shared.slot(i)] = number_of(first + i);
    wait<team>();
    for (int m = 0; m < held; ++m) r[m] = shared.r[shared.slot(threadIdx.x * held + m)];
    wait<team>();
  }
}

/// What becomes of a number of u where another one is handed in.
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

/// Writes the team's numbers to u(first), u(first + 1), ... up to u(n - 1), the same way back, or
/// adds them.
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
