/// \file
/// Changed: a warp fetches the rows of r of its 32 systems at once and transposes them on the way.
///          The recursion is unrolled for orders up to 64, so that each number of y has a register;
///          two orders are taken at a time, so that a number of r that was loaded is used three
///          times. A system of higher order has a block of threads.
/// Legal:   the sum for the second order is regrouped into two sums over y of the first one.
/// Expect:  memory is read and written once; arithmetic and shared memory take about as long.
/// Run:     ./climb durbin_levinson_batched --stages 02,03

#include "../durbin_levinson_batched.hpp"

#include <cuda_pipeline.h>

#include <algorithm>

namespace durbin_levinson_batched {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [sizes]
constexpr unsigned warp = 32;
constexpr unsigned pitch = warp + 1;  // of a tile: columns and diagonals meet all banks
constexpr unsigned order = 64;        // the highest that a thread has registers for
constexpr unsigned kept = 16;         // reflection coefficients that wait to be written together

/// Warps of a block, which keep in step; fewer if systems are few. The compiler leaves registers
/// for two blocks a multiprocessor.
template <typename T>
constexpr unsigned team = sizeof(T) == 8 ? 4 : 8;
constexpr unsigned resident = 2;

/// A number of each system of a warp.
template <typename T>
using Row = T[pitch];

/// A system is filled up with zeros to an order that is a multiple of `kept`.
__host__ __device__ constexpr unsigned filled(unsigned n) { return (n + kept - 1) / kept * kept; }

/// The rows that a warp has in shared memory: r, and the reflection coefficients that wait.
__host__ __device__ constexpr unsigned rows_for(unsigned n) { return filled(n) + kept; }
// [sizes]

// [move]
/// Where a warp is in `width` columns of consecutive rows, which it goes through number by number.
struct Walk {
  __device__ explicit Walk(unsigned columns)
      : width(columns), row(threadIdx.x / columns), column(threadIdx.x % columns) {}

  __device__ void step() {
    row += warp / width;
    column += warp % width;
    if (column < width) return;
    column -= width;
    ++row;
  }

  unsigned width, row, column;
};

/// The systems from s0 on that a warp has to solve; none if s0 is beyond the last one.
__device__ unsigned systems_from(unsigned s0, std::size_t systems) {
  return s0 < systems ? min(std::size_t{warp}, systems - s0) : 0;
}

/// Fetches r_1 ... r_n of the systems from s0 on: r_(m+1) of system s0 + s becomes tile[m][s].
/// Where there is no such system, and in rows behind n, it is 0.
template <typename T>
__device__ void fetch(View<const T, 2> r, unsigned s0, Row<T>* tile) {
  const unsigned n = r.extent(1) - 1;
  const unsigned systems = systems_from(s0, r.extent(0));
  const T* from = &r(s0, 1);
  for (Walk at(n); at.row < systems; at.step())
    __pipeline_memcpy_async(&tile[at.column][at.row], from + at.row * (n + 1) + at.column,
                            sizeof(T));
  __pipeline_commit();
  for (unsigned m = threadIdx.x < systems ? n : 0; m < filled(n); ++m) tile[m][threadIdx.x] = 0;
  __pipeline_wait_prior(0);
  __syncwarp();
}

/// Writes rows of a tile into a row of the solution, from place i0 on.
template <typename T>
__device__ void write(const Row<T>* tile, unsigned rows, unsigned s0, unsigned row, unsigned i0,
                      View<T, 3> solution) {
  const unsigned n = solution.extent(2);
  const unsigned systems = systems_from(s0, solution.extent(0));
  T* to = &solution(s0, row, i0);
  __syncwarp();
  for (Walk at(rows); at.row < systems; at.step())
    to[at.row * 2 * n + at.column] = tile[at.column][at.row];
  __syncwarp();
}
// [move]

// [extend]
/// From the solution of order k, y_1 ... y_k in y[0] ... y[k - 1], to that of order k + 1.
template <typename T>
__device__ void extend(T (&y)[order], unsigned k, T alpha) {
#pragma unroll
  for (unsigned i = 0; i < order / 2; ++i) {
    if (2 * i >= k) break;
    const T low = y[i], high = y[k - 1 - i];
    y[i] = low + alpha * high;
    y[k - 1 - i] = high + alpha * low;
  }
  y[k] = alpha;
}
// [extend]

// [sums]
/// Sums over the solution of order k, which give two reflection coefficients: `first` is the
/// numerator of alpha_(k+1), second + alpha_(k+1) * mirrored that of alpha_(k+2). A number of r is
/// loaded once for all three.
template <typename T>
struct Sums {
  T first, second, mirrored;
};

template <typename T>
__device__ Sums<T> sums_of(const T (&y)[order], unsigned k, const Row<T>* tile) {
  const unsigned s = threadIdx.x;
  Sums<T> sums{tile[k][s], tile[k + 1][s], tile[0][s]};
#pragma unroll
  for (unsigned m = 0; m < order; ++m) {
    if (m > k) break;
    const T r = tile[m][s];
    if (m < k) sums.first += r * y[k - 1 - m];
    if (m > 0) sums.second += r * y[k - m];
    if (m > 0) sums.mirrored += r * y[m - 1];
  }
  return sums;
}
// [sums]

// [divide]
/// a / b for b from 2⁻¹²⁶ to 1, in fewer instructions than a division that takes all numbers: two
/// steps of Newton's method from a reciprocal of 22 bits, and one for the quotient.
__device__ double divide(double a, double b) {
  double inverse = __fdividef(1, float(b));
  inverse = fma(inverse, fma(-b, inverse, 1.0), inverse);
  inverse = fma(inverse, fma(-b, inverse, 1.0), inverse);
  const double quotient = a * inverse;
  return fma(inverse, fma(-b, quotient, a), quotient);
}
__device__ float divide(float a, float b) { return __fdividef(a, b); }
// [divide]

// [solve_in_registers]
/// Durbin's recursion for orders up to 64, a system a thread, two orders at a time. A block has
/// blockDim.y warps. They share nothing but instructions, of which the nearest caches hold a small
/// part: the barrier keeps warps together, so that what one has fetched serves all.
template <typename T>
__global__ void __launch_bounds__(team<T>* warp, resident)
    solve_in_registers(View<const T, 2> r, View<T, 3> solution) {
  extern __shared__ double memory[];
  const unsigned n = solution.extent(2), s = threadIdx.x;
  const unsigned s0 = (blockIdx.x * blockDim.y + threadIdx.y) * warp;
  Row<T>* tile = reinterpret_cast<Row<T>*>(memory) + threadIdx.y * rows_for(n);
  Row<T>* alphas = tile + filled(n);
  fetch(r, s0, tile);

  T y[order], beta = 1;
#pragma unroll
  for (unsigned k = 0; k < order; k += 2) {
    __syncthreads();
    const Sums<T> sums = sums_of(y, k, tile);
    T alpha = k < n ? divide(-sums.first, beta) : 0;
    extend(y, k, alpha);
    alphas[k % kept][s] = alpha;
    beta *= 1 - alpha * alpha;
    alpha = k + 1 < n ? divide(-sums.second - alpha * sums.mirrored, beta) : 0;
    extend(y, k + 1, alpha);
    alphas[(k + 1) % kept][s] = alpha;
    beta *= 1 - alpha * alpha;
    if ((k + 2) % kept > 0) continue;
    const unsigned done = k + 2 - kept;
    write<T>(alphas, min(kept, n - done), s0, 1, done, solution);
    if (k + 2 >= n) break;
  }

#pragma unroll
  for (unsigned i = 0; i < order; ++i)
    if (i / kept * kept < n) tile[i][s] = y[i];
  write<T>(tile, n, s0, 0, 0, solution);
}
// [solve_in_registers]

// [sum_over_block]
/// The sum of all threads' parts, the same in each. `sums` is room for one number a warp.
template <typename T>
__device__ T sum_over_block(T part, T* sums) {
  for (unsigned distance = warp / 2; distance > 0; distance /= 2)
    part += __shfl_xor_sync(~0u, part, distance);
  if (threadIdx.x % warp == 0) sums[threadIdx.x / warp] = part;
  __syncthreads();
  T sum = 0;
  for (unsigned w = 0; w < blockDim.x / warp; ++w) sum += sums[w];
  return sum;
}
// [sum_over_block]

// [solve_in_block]
constexpr unsigned unknowns_of_thread = 16;
constexpr unsigned most_threads = 256;  // of a block
constexpr unsigned sums_of_block = 2 * most_threads / warp;

/// Durbin's recursion for higher orders, a system a block. A step takes y to order k and sums up
/// for alpha_(k+1) on the way. r and y lie in shared memory or, if they do not fit, in that of the
/// device.
template <typename T, bool on_chip>
__global__ void solve_in_block(View<const T, 2> rows_of_r, View<T, 3> solution) {
  extern __shared__ double memory[];
  __shared__ T sums[sums_of_block];
  const unsigned n = solution.extent(2), s = blockIdx.x;
  const T* r = &rows_of_r(s, 0);
  T* y = &solution(s, 0, 0);
  if constexpr (on_chip) {
    T* r_on_chip = reinterpret_cast<T*>(memory);
    for (unsigned i = threadIdx.x; i <= n; i += blockDim.x) r_on_chip[i] = r[i];
    r = r_on_chip;
    y = r_on_chip + n + 1;
    __syncthreads();
  }

  T alpha = -r[1], beta = 1;
  for (unsigned k = 1; k <= n; ++k) {
    T part = 0;
    for (unsigned i = threadIdx.x; 2 * i + 1 < k; i += blockDim.x) {
      const unsigned j = k - 2 - i;
      const T low = y[i], high = y[j];
      y[i] = low + alpha * high;
      y[j] = high + alpha * low;
      part += r[k - i] * y[i];
      if (i != j) part += r[k - j] * y[j];
    }
    if (threadIdx.x == 0) {
      y[k - 1] = solution(s, 1, k - 1) = alpha;
      part += r[1] * alpha + (k < n ? r[k + 1] : 0);
    }
    beta *= 1 - alpha * alpha;
    alpha = -sum_over_block(part, sums + k % 2 * (sums_of_block / 2)) / beta;
  }

  if constexpr (on_chip)
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) solution(s, 0, i) = y[i];
}
// [solve_in_block]

// [launch]
/// The shared memory that a block may have, in bytes.
inline std::size_t shared_memory() {
  int available = 0;
  check(cudaDeviceGetAttribute(&available, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  return available;
}

/// Solves systems of low order, a thread each.
template <typename T>
void solve_low(unsigned systems, unsigned n, const DeviceArray<T, 2>& r,
               const DeviceArray<T, 3>& solution) {
  const unsigned warps = (systems - 1) / warp + 1;
  const std::size_t bytes_of_warp = rows_for(n) * sizeof(Row<T>);
  const unsigned that_fit = shared_memory() / bytes_of_warp;
  const unsigned in_step =
      std::clamp(std::min(warps / staircase::processors(), that_fit), 1u, team<T>);
  const unsigned blocks = (warps - 1) / in_step + 1;
  const std::size_t bytes = in_step * bytes_of_warp;
  staircase::allow_shared_memory(solve_in_registers<T>, bytes);
  solve_in_registers<T><<<blocks, dim3(warp, in_step), bytes>>>(r, solution);
}

/// Solves systems of high order, a block each; r and y of one stay on the chip if they fit.
template <typename T>
void solve_high(unsigned systems, unsigned n, const DeviceArray<T, 2>& r,
                const DeviceArray<T, 3>& solution) {
  const std::size_t bytes = (2 * std::size_t{n} + 1) * sizeof(T);
  const unsigned threads = std::min((n / (warp * unknowns_of_thread) + 1) * warp, most_threads);
  if (bytes + sums_of_block * sizeof(T) <= shared_memory()) {
    staircase::allow_shared_memory(solve_in_block<T, true>, bytes);
    solve_in_block<T, true><<<systems, threads, bytes>>>(r, solution);
  } else {
    solve_in_block<T, false><<<systems, threads>>>(r, solution);
  }
}
// [launch]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  DeviceArray<T, 2> r(problem.systems, problem.n + 1);
  DeviceArray<T, 3> y_and_alpha(problem.systems, 2, problem.n);
  Solution<T> solution(problem.systems, 2, problem.n);
  const staircase::Elements<T> numbers = rounded<T>(problem);

  timeline.begin("copy in");
  r.copy_from(numbers.data());

  timeline.begin("kernels");
  const unsigned systems = problem.systems;
  const unsigned n = problem.n;
  n <= order ? solve_low(systems, n, r, y_and_alpha) : solve_high(systems, n, r, y_and_alpha);
  check_launch();
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  y_and_alpha.copy_to(solution.data());
  return solution;
}
// [solve]

}  // namespace durbin_levinson_batched

int main(int argc, char** argv) {
  return durbin_levinson_batched::run_stage(argc, argv,
                                            {
                                                .title = "On chip",
                                                .idea = "y in registers, r in shared memory",
                                                .solve_f64 = durbin_levinson_batched::solve<double>,
                                                .solve_f32 = durbin_levinson_batched::solve<float>,
                                            });
}
