/// \file
/// Changed: one cooperative launch executes all steps. Thread blocks keep their pairs in registers;
///          flags instead of launches order the exchange of ghost zones. In addition, one exchange
///          between lanes serves two steps, and the divisions for two coefficients overlap.
/// Legal:   all thread blocks are resident, so a thread block may wait for others. A pair is read
///          only after it has been published, and overwritten only after it has been read.
/// Expect:  per 64 steps, a message between SMs (about 1 µs) replaces the time between two kernels.
/// Run:     ./climb durbin_levinson --stages 14,15
/// Next:    nothing; this is the last stage.

#include "../ends.hpp"

#include <cstdint>
#include <cuda/atomic>
#include <limits>
#include <staircase/cooperative.hpp>
#include <staircase/error.hpp>
#include <staircase/reciprocal.hpp>
#include <string>

namespace durbin_levinson {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

constexpr unsigned slots = 4;  // for the ghost zones that a thread block receives
static_assert(led == 2);

// [two_steps]
/// The pairs of a thread, preceded by the last two pairs of its left neighbour. With these two
/// pairs, the thread executes two steps without another exchange.
template <typename T, unsigned count>
struct Extended {
  T y[2 + count], z[2 + count];

  /// Fetches two pairs of the left neighbour, and copies the thread's own pairs.
  __device__ Extended(const T (&own_y)[count], const T (&own_z)[count]) {
    for (unsigned m = 0; m < 2; ++m) {
      y[m] = __shfl_up_sync(all_lanes, own_y[count - 2 + m], 1);
      z[m] = __shfl_up_sync(all_lanes, own_z[count - 2 + m], 1);
    }
    for (unsigned m = 0; m < count; ++m) {
      y[2 + m] = own_y[m];
      z[2 + m] = own_z[m];
    }
  }

  /// Executes the first step (s = 0) or the second step (s = 1).
  __device__ void step(unsigned s, T alpha) {
    for (unsigned m = 2 + count; --m > s;) {
      y[m] += alpha * z[m];
      z[m] = z[m - 1] + alpha * y[m - 1];
    }
  }

  /// Copies the thread's pairs back to `own_y` and `own_z`.
  __device__ void store(T (&own_y)[count], T (&own_z)[count]) const {
    for (unsigned m = 0; m < count; ++m) {
      own_y[m] = y[2 + m];
      own_z[m] = z[2 + m];
    }
  }
};
// [two_steps]

// [lead]
/// Returns a / b, up to rounding, if b and 1 / b are normal. If b is zero, infinite or NaN, the
/// result is NaN without a branch, so the compiler can overlap two divisions.
template <typename T>
__device__ T divide(T a, T b) {
  const T rough = staircase::rough_reciprocal(b), error = fma(-b, rough, T{1}), x = a * rough;
  return fma(x, fma(error, error, error), x);
}

/// Computes, in one warp, the reflection coefficients of 64 steps; those from step `end` on are 0.
/// The warp's pairs go through the steps, each until it is the leading pair. Each lane computes two
/// coefficients from its pairs; the warp uses the coefficients of the lane with the leading pairs.
template <typename T>
__device__ void lead(T (&y)[led], T (&z)[led], unsigned end, T* alphas) {
  const unsigned lane = threadIdx.x % warp_size;
  T own[led] = {};
  for (unsigned leader = 0; leader < warp_size; ++leader) {
    Extended<T, led> pairs(y, z);
    const T square = (z[0] - y[0]) * (z[0] + y[0]);
    T alpha[led] = {divide(-y[0], z[0]), divide(y[0] * z[1] - y[1] * z[0], square)};
    for (unsigned m = 0; m < led; ++m) {
      alpha[m] = __shfl_sync(all_lanes, alpha[m], leader);
      own[m] = lane == leader ? alpha[m] : own[m];
      pairs.step(m, alpha[m]);
    }
    pairs.store(y, z);
  }
  const unsigned s = lane * led;
  const Pair<T> both = {s < end ? own[0] : 0, s + 1 < end ? own[1] : 0};
  reinterpret_cast<Pair<T>&>(alphas[s]) = both;
}
// [lead]

// [follow]
/// Executes `steps` steps with known coefficients. `at` is the index of the leading pair of the
/// first step, relative to the thread's first pair. In each step, a new element of y takes the
/// place of the leading pair. `gives_up` is true only for the warp that contains the leading pairs.
template <bool gives_up, typename T>
__device__ void follow(const T* alphas, unsigned steps, unsigned at, T (&y)[held], T (&z)[held]) {
  for (unsigned k = 0; k < steps; k += 2) {
    const T alpha[2] = {alphas[k], alphas[k + 1]};
    Extended<T, held> pairs(y, z);
    for (unsigned s = 0; s < 2; ++s) {
      pairs.step(s, alpha[s]);
      if (gives_up)
        for (unsigned m = s; m < held; m += 2)
          if (at + k + s == m) pairs.y[2 + m] = alpha[s];
    }
    pairs.store(y, z);
  }
}
// [follow]

// [flags]
template <typename T>
using Shared = cuda::atomic_ref<T, cuda::thread_scope_device>;

/// Pairs that thread blocks exchange through global memory.
template <typename T>
struct Exchange {
  View<Pair<T>, 1> leading;      // each pair, before the 64 steps in which it leads
  View<Pair<T>, 3> ghosts;       // ghost zones, by (thread block, slot, pair)
  View<unsigned, 1> sent, read;  // number of ghost zones sent to, and read by, a thread block
};

/// Publishes an element. NaN means "not yet published", so infinity is stored instead of NaN.
template <typename T>
__device__ void publish(T& element, T value) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  Shared<T>(element).store(isnan(value) ? infinity : value, cuda::memory_order_relaxed);
}

/// Loads a thread's leading pairs as soon as they are published. Pairs beyond the end are zero.
template <typename T>
__device__ void wait_for(View<Pair<T>, 1> leading, std::int64_t first, T (&y)[led], T (&z)[led]) {
  bool complete;
  do {
    complete = true;
    for (unsigned m = 0; m < led; ++m) {
      y[m] = z[m] = 0;
      if (first + m >= std::int64_t(leading.extent(0))) continue;
      y[m] = Shared<T>(leading(first + m).y).load(cuda::memory_order_relaxed);
      z[m] = Shared<T>(leading(first + m).z).load(cuda::memory_order_relaxed);
      complete = complete && !isnan(y[m]) && !isnan(z[m]);
    }
  } while (!complete);
}

/// Makes a warp wait until a counter has reached `value`.
__device__ inline void wait_until(unsigned& counter, unsigned value) {
  if (threadIdx.x % warp_size == 0)
    while (Shared<unsigned>(counter).load(cuda::memory_order_acquire) < value) {
    }
  __syncwarp();
}

/// Sets a counter to `value` after all earlier reads and writes of the calling warp (a release).
__device__ inline void set(unsigned& counter, unsigned value) {
  __syncwarp();
  if (threadIdx.x % warp_size == 0)
    Shared<unsigned>(counter).store(value, cuda::memory_order_release);
}
// [flags]

// [advance]
/// Loads the initial pairs of a thread, beginning at position `first`; see pair_at().
template <typename T, unsigned count>
__device__ void load_initial(View<const T, 1> r, std::int64_t first, T (&y)[count], T (&z)[count]) {
  const std::int64_t n = r.extent(0) - 1;
  for (unsigned m = 0; m < count; ++m) {
    const std::int64_t i = first + m;
    y[m] = i >= 0 && i < n ? r(i + 1) : i == -1 ? 1 : 0;
    z[m] = i >= 0 && i < n ? r(i) : 0;
  }
}

/// Executes all steps. Each warp of a thread block but the last one has 128 neighbouring pairs, of
/// which the first 64 are its ghost zone. The first warp of a thread block also computes the
/// coefficients. The last warp receives the ghost zone of the first warp.
template <typename T>
__global__ void __launch_bounds__(warp_size*(most_warps + 1))
    advance(View<const T, 1> r, Exchange<T> exchange, View<T, 2> solution) {
  __shared__ alignas(sizeof(Pair<T>)) T alphas[2][steps_of_launch];
  __shared__ Pair<T> ghosts[2][most_warps + 1][steps_of_launch];
  const std::int64_t n = solution.extent(1);
  const unsigned own = threadIdx.x / warp_size, warps = blockDim.x / warp_size - 1;
  const unsigned lane = threadIdx.x % warp_size, warp = blockIdx.x * warps + own;
  const unsigned me = blockIdx.x, next = me + 1;
  const bool keeps = lane * held >= steps_of_launch, sends = next < gridDim.x;
  const std::int64_t first = std::int64_t{warp} * kept - steps_of_launch + lane * held;
  T y[held], z[held];
  load_initial(r, first, y, z);
  for (unsigned done = 0; done * steps_of_launch < n; ++done) {
    const unsigned k = done * steps_of_launch, left = n - k, steps = min(steps_of_launch, left);
    auto& received = ghosts[done % 2];
    auto& alpha = alphas[done % 2];
    if (own == 0) {
      T lead_y[led], lead_z[led];
      if (done == 0)
        load_initial(r, lane * led, lead_y, lead_z);
      else
        wait_for(exchange.leading, k + lane * led, lead_y, lead_z);
      lead(lead_y, lead_z, steps, alpha);
    } else if (own == warps) {
      if (me > 0 && done > 0) {
        wait_until(exchange.sent(me), done);
        for (unsigned i = lane; i < steps_of_launch; i += warp_size)
          received[0][i] = exchange.ghosts(me, done % slots, i);
      }
      if (sends && done >= slots) wait_until(exchange.read(next), done + 1 - slots);
    }
    __syncthreads();

    if (own == warps) {
      if (me > 0) set(exchange.read(me), done);
      continue;
    }
    if (warp > 0 && done > 0 && !keeps)
      for (unsigned m = 0; m < held; ++m) {
        const Pair<T> pair = received[own][lane * held + m];
        y[m] = pair.y;
        z[m] = pair.z;
      }
    if (warp == done)
      follow<true>(alpha, steps, k - first, y, z);
    else
      follow<false>(alpha, steps, k - first, y, z);
    for (unsigned m = 0; keeps && m < held; ++m) {
      const std::int64_t i = first + m;
      if (warp == done + 1 && i < n) {
        publish(exchange.leading(i).y, y[m]);
        publish(exchange.leading(i).z, z[m]);
      }
      ghosts[(done + 1) % 2][own + 1][lane * held + m - steps_of_launch] = {y[m], z[m]};
    }
    if (own + 1 == warps && sends && left > steps_of_launch) {
      for (unsigned m = 0; keeps && m < held; ++m)
        exchange.ghosts(next, (done + 1) % slots, lane * held + m - steps_of_launch) = {y[m], z[m]};
      set(exchange.sent(next), done + 1);
    }
    if (me == 0)
      for (unsigned s = threadIdx.x; s < steps; s += warps * warp_size)
        solution(1, k + s) = alpha[s];
  }
  for (unsigned m = 0; m < held; ++m)
    if (own < warps && keeps && first + m < n) solution(0, first + m) = y[m];
}
// [advance]

// [solve]
/// Returns a grid of at most one thread block per SM, with as few warps per thread block as
/// possible. Each thread block has one more warp, which receives ghost zones.
inline Blocks resident_blocks_for(unsigned n) {
  const unsigned warps = (n + kept - 1) / kept, processors = staircase::processors();
  const unsigned of_block = (warps + processors - 1) / processors;
  if (of_block > most_warps)
    throw staircase::NotAvailable("this stage needs " +
                                  std::to_string((warps + most_warps - 1) / most_warps) +
                                  " multiprocessors for n = " + std::to_string(n) +
                                  ", and this GPU has " + std::to_string(processors));
  return {(warps + of_block - 1) / of_block, (of_block + 1) * warp_size};
}

template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  const unsigned n = problem.n;
  const auto [blocks, threads] = resident_blocks_for(n);

  timeline.begin("allocate");
  DeviceArray<T, 1> device_r(n + 1);
  DeviceArray<Pair<T>, 1> leading(n);
  DeviceArray<Pair<T>, 3> ghosts(blocks, slots, steps_of_launch);
  DeviceArray<unsigned, 2> counters(2, blocks);
  DeviceArray<T, 2> device_solution(2, n);
  Solution<T> solution(2, n);

  timeline.begin("copy in");
  device_r.copy_from(rounded<T>(problem).data());
  counters.clear(nullptr);

  timeline.begin("kernels");
  const View<unsigned, 2> sent_and_read = counters;
  staircase::launch_cooperatively(
      advance<T>, blocks, threads, device_r,
      Exchange<T>{leading, ghosts, sent_and_read.row(0), sent_and_read.row(1)}, device_solution);
  check_launch();
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  device_solution.copy_to(solution.data());
  return solution;
}
// [solve]

}  // namespace durbin_levinson

int main(int argc, char** argv) {
  return durbin_levinson::run_stage(argc, argv,
                                    {
                                        .title = "Persistent blocks",
                                        .idea = "Exchange ghost zones by flags in one launch",
                                        .solve_f64 = durbin_levinson::solve<double>,
                                        .solve_f32 = durbin_levinson::solve<float>,
                                    });
}
