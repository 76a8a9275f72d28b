/// \file
/// Stage 08, persistent: one kernel for all steps, whose rows stay in registers.
///
/// Changed: blocks of a cluster stay for all steps. Beside y a thread keeps the row z that is y in
///          reverse order, so that it never needs what others hold but the one number to its left.
///          Update and next inner product are one pass, with one barrier behind it.
/// Legal:   z follows the same recursion; what is sent and what is read between two barriers lies
///          in different buffers.
/// Expect:  bound by the chain of operations in a step: sum of a warp, barrier, sum of the warps.
/// Run:     ./climb durbin_levinson --stages 07,08
/// Next:    09_schur has a recursion without an inner product.

#include "../durbin_levinson.hpp"

#include <cooperative_groups.h>

#include <algorithm>
#include <optional>
#include <staircase/cluster.hpp>
#include <staircase/stage.hpp>
#include <vector>

namespace durbin_levinson {

using staircase::check;
using staircase::Cluster;
using staircase::DeviceArray;
using staircase::View;

constexpr unsigned warp_size = 32;

// [shapes]
/// How a cluster holds the rows.
struct Shape {
  unsigned blocks;   // of the cluster
  unsigned threads;  // of a block
  unsigned held;     // numbers of each row that a thread holds

  __host__ __device__ unsigned warps() const { return threads / warp_size; }  // of a block
  __host__ __device__ unsigned numbers() const { return threads * held; }     // of a block
};

/// From the shortest step to the longest, by the count on the page.
constexpr Shape shapes[] = {{1, 128, 4},  {1, 128, 8},  {1, 256, 8},   {1, 256, 16}, {1, 256, 32},
                            {16, 256, 4}, {16, 256, 8}, {16, 256, 16}, {8, 256, 32}, {16, 256, 32}};
constexpr unsigned most_threads = 256;

/// Threads of a block that takes part where no cluster holds the rows.
constexpr unsigned threads_in_memory = 512;
// [shapes]

/// Whether there is a shape for the rows; whether the device has it is known when it runs.
inline bool fits_on_chip(const Problem& problem) {
  return std::any_of(std::begin(shapes), std::end(shapes), [&](const Shape& shape) {
    return problem.n <= std::int64_t{shape.blocks} * shape.numbers();
  });
}

/// The numbers that the arrays of solve() hold on the device.
inline double reals(const Problem& problem) {
  const auto n = static_cast<double>(problem.n);
  return 3 * n + 1 + 2 * (n / (2 * threads_in_memory) + 1);
}

/// The numbers that the kernels read and write: on the chip r, y and alpha, each once; else step k
/// reads r and reads and writes the row.
inline double traffic(const Problem& problem) {
  const auto n = static_cast<double>(problem.n);
  return 3 * n + 1 + (fits_on_chip(problem) ? 0 : 1.5 * n * (n - 1));
}

// [sums]
/// The sum of a number of each of so many neighbouring lanes, a power of two, for all of them.
template <typename T>
__device__ T sum_of_lanes(T value, unsigned lanes = warp_size) {
  for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xFFFFFFFF, value, distance);
  return value;
}

/// t / q, given 1 / q, which is computed while others are waited for.
template <typename T>
__device__ T quotient(T t, T q, T reciprocal) {
  const T x = t * reciprocal;
  return fma(fma(-x, q, t), reciprocal, x);
}
// [sums]

// [exchange]
/// A number of each row.
template <typename T>
struct alignas(2 * sizeof(T)) Pair {
  T y, z;
};

/// What the warps of a cluster tell each other, in a block's shared memory. It is written for one
/// step while that of the step before may still be read.
template <typename T>
class Exchange {
 public:
  __device__ Exchange(T* memory, Shape shape)
      : shape_(shape),
        parts_(memory + 4 * shape.warps()),
        left_(reinterpret_cast<Pair<T>*>(memory)) {}

  /// So many numbers.
  __host__ __device__ static unsigned size(Shape shape) {
    return (4 + 2 * shape.blocks) * shape.warps();
  }

  /// Left of the first numbers of all lies the 1 in front of y.
  __device__ void prepare() {
    if (Cluster::rank() == 0 && threadIdx.x == 0) left_[0] = left_[shape_.warps()] = {1, 0};
  }

  /// Sends all blocks this warp's part of the sum, and the warp to the right the last numbers.
  __device__ void send(unsigned step, T part, Pair<T> last) {
    const unsigned warps = shape_.warps();
    const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
    const unsigned rank = Cluster::rank(), buffer = step % 2;
    if (lane < shape_.blocks)
      *Cluster::of_block(&parts_[(buffer * shape_.blocks + rank) * warps + warp], lane) = part;
    const unsigned block = warp + 1 < warps ? rank : rank + 1;
    if (lane == warp_size - 1 && block < shape_.blocks)
      *Cluster::of_block(&left_[buffer * warps + (warp + 1) % warps], block) = last;
  }

  /// The sum of the parts of all warps, for all threads.
  __device__ T sum(unsigned step) const {
    const unsigned parts = shape_.blocks * shape_.warps(), lanes = min(parts, warp_size);
    T sum = 0;
    for (unsigned i = threadIdx.x % lanes; i < parts; i += lanes)
      sum += parts_[step % 2 * parts + i];
    return sum_of_lanes(sum, lanes);
  }

  /// The numbers left of this warp's.
  __device__ Pair<T> left(unsigned step) const {
    return left_[step % 2 * shape_.warps() + threadIdx.x / warp_size];
  }

 private:
  Shape shape_;
  T* parts_;       // (buffer, block, warp)
  Pair<T>* left_;  // (buffer, warp)
};
// [exchange]

// [share]
/// Sets `numbers` to this thread's share of a row from `first` on, and to 0 beyond its end;
/// neighbouring threads read neighbouring numbers, and get successive ones.
template <typename T, unsigned held>
__device__ void deal_out(View<const T, 1> row, unsigned first, T* shared, T (&numbers)[held]) {
  for (unsigned i = threadIdx.x; i < held * blockDim.x; i += blockDim.x)
    shared[i] = first + i < row.extent(0) ? row(first + i) : 0;
  __syncthreads();
  for (unsigned m = 0; m < held; ++m) numbers[m] = shared[threadIdx.x * held + m];
  __syncthreads();
}

/// Writes the block's numbers to a row from `first` on.
template <typename T>
__device__ void collect(const T* shared, unsigned count, unsigned first, View<T, 1> row) {
  for (unsigned i = threadIdx.x; i < count && first + i < row.extent(0); i += blockDim.x)
    row(first + i) = shared[i];
}
// [share]

// [solve_on_chip]
/// All steps on one cluster. Element i of z is y(k - 1 - i) for i < k, and 1 for i = k: the row of
/// order k in reverse order, with the 1 in front of y behind it.
template <typename T, unsigned held>
__global__ void __launch_bounds__(most_threads)
    solve_on_chip(Shape shape, View<const T, 1> r_from_1, View<T, 2> solution) {
  extern __shared__ double memory[];
  Exchange<T> exchange(reinterpret_cast<T*>(memory), shape);
  T* const shared = reinterpret_cast<T*>(memory) + Exchange<T>::size(shape);
  const auto n = static_cast<unsigned>(solution.extent(1));
  const unsigned first = Cluster::rank() * shape.numbers();

  T r[held], y[held]{}, z[held]{};
  deal_out(r_from_1, first, shared, r);
  if (first + threadIdx.x == 0) z[0] = 1;
  exchange.prepare();
  Cluster::sync();  // before others' shared memory is written, they must have started

  T alpha = 0, beta = 1;
  for (unsigned k = 0; k < n; ++k) {
    T part = 0;
    for (unsigned m = 0; m < held; ++m) part += r[m] * z[m];
    exchange.send(k, sum_of_lanes(part), {y[held - 1], z[held - 1]});
    Pair<T> left{__shfl_up_sync(0xFFFFFFFF, y[held - 1], 1),
                 __shfl_up_sync(0xFFFFFFFF, z[held - 1], 1)};
    beta *= 1 - alpha * alpha;
    const T reciprocal = 1 / beta;
    Cluster::sync();

    if (threadIdx.x % warp_size == 0) left = exchange.left(k);
    alpha = -quotient(exchange.sum(k), beta, reciprocal);
    if (threadIdx.x == 0 && k - first < shape.numbers()) shared[k - first] = alpha;
    for (unsigned m = held; m-- > 0;) {
      const Pair<T> before = m > 0 ? Pair<T>{y[m - 1], z[m - 1]} : left;
      y[m] += alpha * z[m];
      z[m] = before.z + alpha * before.y;
    }
  }

  __syncthreads();
  collect(shared, shape.numbers(), first, solution.row(1));
  __syncthreads();
  for (unsigned m = 0; m < held; ++m) shared[threadIdx.x * held + m] = y[m];
  __syncthreads();
  collect(shared, shape.numbers(), first, solution.row(0));
}
// [solve_on_chip]

// [solve_in_memory]
/// The sum of a number of each thread, for all threads of the block.
template <typename T>
__device__ T sum_of_block(T value) {
  __shared__ T of_warp[threads_in_memory / warp_size];
  value = sum_of_lanes(value);
  __syncthreads();  // the last sum has been read
  if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = value;
  __syncthreads();
  T sum = 0;
  for (const T of_one : of_warp) sum += of_one;
  return sum;
}

/// All steps on all blocks, with the row in memory. A thread updates both ends of the row, in
/// place, and multiplies them for the next step.
template <typename T>
__global__ void __launch_bounds__(threads_in_memory)
    solve_in_memory(View<const T, 1> r, View<T, 2> parts, View<T, 2> solution) {
  const View<T, 1> y = solution.row(0), alphas = solution.row(1);
  const std::size_t n = solution.extent(1), threads = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

  T alpha = 0, beta = 1;
  T part = thread == 0 ? r(1) : 0;
  for (std::size_t k = 0; k < n; ++k) {
    part = sum_of_block(part);
    if (threadIdx.x == 0) parts(k % 2, blockIdx.x) = part;
    cooperative_groups::this_grid().sync();

    T sum = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) sum += parts(k % 2, b);
    beta *= 1 - alpha * alpha;
    alpha = -sum_of_block(sum) / beta;
    part = 0;
    for (std::size_t i = thread; i < (k + 1) / 2; i += threads) {
      const std::size_t j = k - 1 - i;
      const T front = y(i), back = y(j);
      y(i) = front + alpha * back;
      y(j) = back + alpha * front;
      part += r(k + 1 - i) * y(i);
      if (i < j) part += r(k + 1 - j) * y(j);
    }
    if (thread == 0) {
      y(k) = alphas(k) = alpha;
      part += r(1) * alpha;
      if (k + 2 <= n) part += r(k + 2);
    }
  }
}
// [solve_in_memory]

// [launch]
template <typename T>
using OnChip = staircase::ClusterLaunch<Shape, View<const T, 1>, View<T, 2>>;

/// The launch of solve_on_chip() for a shape.
template <typename T>
OnChip<T> on_chip(Shape shape) {
  constexpr auto kernel_of = [](unsigned held) {
    switch (held) {
      case 4:
        return solve_on_chip<T, 4>;
      case 8:
        return solve_on_chip<T, 8>;
      case 16:
        return solve_on_chip<T, 16>;
      default:
        return solve_on_chip<T, 32>;
    }
  };
  return OnChip<T>(kernel_of(shape.held), shape.blocks, shape.threads,
                   (Exchange<T>::size(shape) + shape.numbers()) * sizeof(T));
}

/// The first shape that holds the rows and that the GPU has; nothing if it has none.
template <typename T>
std::optional<Shape> shape_for(std::size_t n) {
  if (!staircase::has_clusters()) return {};
  for (const Shape& shape : shapes)
    if (n <= std::size_t{shape.blocks} * shape.numbers() && on_chip<T>(shape).at_once() > 0)
      return shape;
  return {};
}

/// Blocks for solve_in_memory(): as many as there is work for, one a multiprocessor at most.
inline unsigned blocks_in_memory(std::size_t n) {
  return static_cast<unsigned>(
      std::min(n / (2 * threads_in_memory) + 1, std::size_t{staircase::processors()}));
}
// [launch]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  const auto n = static_cast<std::size_t>(problem.n);
  const std::optional<Shape> shape = shape_for<T>(n);

  timeline.begin("allocate");
  DeviceArray<T, 1> device_r(n + 1);
  DeviceArray<T, 2> device_solution(2, n), device_parts(2, blocks_in_memory(n));
  Solution<T> solution(2, n);

  timeline.begin("copy in");
  const std::vector<T> host_r(problem.r.begin(), problem.r.end());
  device_r.copy_from(host_r.data());

  timeline.begin("kernels");
  View<const T, 1> r = device_r.view();
  View<T, 2> parts = device_parts.view(), result = device_solution.view();
  if (shape) {
    on_chip<T> (*shape)(1, *shape, View<const T, 1>(r.data() + 1, {n}), result);
  } else {
    void* arguments[] = {&r, &parts, &result};
    check(cudaLaunchCooperativeKernel(solve_in_memory<T>, blocks_in_memory(n), threads_in_memory,
                                      arguments, 0, nullptr));
  }
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_solution.copy_to(solution.data());
  return solution;
}
// [solve]

}  // namespace durbin_levinson

int main(int argc, char** argv) {
  return staircase::run_stage(argc, argv, durbin_levinson::workload,
                              {.title = "Persistent",
                               .idea = "One kernel for all steps, rows in registers",
                               .note = "Where no cluster of thread blocks holds the rows, they "
                                       "stay in memory, and all blocks wait for one another.",
                               .reals = durbin_levinson::reals,
                               .traffic = durbin_levinson::traffic,
                               .solve_f64 = durbin_levinson::solve<double>,
                               .solve_f32 = durbin_levinson::solve<float>});
}
