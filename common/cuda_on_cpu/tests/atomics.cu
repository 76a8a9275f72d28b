/// \file
/// Atomic operations, and algorithms based on them: reductions by the last block, locks, flags and
/// decoupled look-back.

#include <cuda/atomic>
#include <cuda/std/atomic>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::Patience;
using tap::random_value;
using tap::random_values;
using tap::table;

// --- Each operation: three scopes on the device, and its effect on a value

/// Applies an operation. Sums and differences of integers wrap around.
template <typename T, typename Operation>
T wrapped(T a, T b, Operation operation) {
  if constexpr (std::is_same_v<T, int>)
    return static_cast<int>(operation(static_cast<unsigned>(a), static_cast<unsigned>(b)));
  else
    return operation(a, b);
}

struct Add {
  static __device__ auto on_device(auto* p, auto v) { return atomicAdd(p, v); }
  static __device__ auto in_block(auto* p, auto v) { return atomicAdd_block(p, v); }
  static __device__ auto in_system(auto* p, auto v) { return atomicAdd_system(p, v); }
  static auto result(auto old, auto v) { return wrapped(old, v, std::plus<>()); }
};

struct Subtract {
  static __device__ auto on_device(auto* p, auto v) { return atomicSub(p, v); }
  static __device__ auto in_block(auto* p, auto v) { return atomicSub_block(p, v); }
  static __device__ auto in_system(auto* p, auto v) { return atomicSub_system(p, v); }
  static auto result(auto old, auto v) { return wrapped(old, v, std::minus<>()); }
};

struct Minimum {
  static __device__ auto on_device(auto* p, auto v) { return atomicMin(p, v); }
  static __device__ auto in_block(auto* p, auto v) { return atomicMin_block(p, v); }
  static __device__ auto in_system(auto* p, auto v) { return atomicMin_system(p, v); }
  static auto result(auto old, auto v) { return std::min(old, v); }
};

struct Maximum {
  static __device__ auto on_device(auto* p, auto v) { return atomicMax(p, v); }
  static __device__ auto in_block(auto* p, auto v) { return atomicMax_block(p, v); }
  static __device__ auto in_system(auto* p, auto v) { return atomicMax_system(p, v); }
  static auto result(auto old, auto v) { return std::max(old, v); }
};

struct Exchange {
  static __device__ auto on_device(auto* p, auto v) { return atomicExch(p, v); }
  static __device__ auto in_block(auto* p, auto v) { return atomicExch_block(p, v); }
  static __device__ auto in_system(auto* p, auto v) { return atomicExch_system(p, v); }
  static auto result(auto /*old*/, auto v) { return v; }
};

struct Increment {
  static __device__ auto on_device(auto* p, auto v) { return atomicInc(p, v); }
  static __device__ auto in_block(auto* p, auto v) { return atomicInc_block(p, v); }
  static __device__ auto in_system(auto* p, auto v) { return atomicInc_system(p, v); }
  static auto result(auto old, auto v) { return old >= v ? 0 : old + 1; }
};

struct Decrement {
  static __device__ auto on_device(auto* p, auto v) { return atomicDec(p, v); }
  static __device__ auto in_block(auto* p, auto v) { return atomicDec_block(p, v); }
  static __device__ auto in_system(auto* p, auto v) { return atomicDec_system(p, v); }
  static auto result(auto old, auto v) { return old == 0 || old > v ? v : old - 1; }
};

struct And {
  static __device__ auto on_device(auto* p, auto v) { return atomicAnd(p, v); }
  static __device__ auto in_block(auto* p, auto v) { return atomicAnd_block(p, v); }
  static __device__ auto in_system(auto* p, auto v) { return atomicAnd_system(p, v); }
  static auto result(auto old, auto v) { return old & v; }
};

struct Or {
  static __device__ auto on_device(auto* p, auto v) { return atomicOr(p, v); }
  static __device__ auto in_block(auto* p, auto v) { return atomicOr_block(p, v); }
  static __device__ auto in_system(auto* p, auto v) { return atomicOr_system(p, v); }
  static auto result(auto old, auto v) { return old | v; }
};

struct ExclusiveOr {
  static __device__ auto on_device(auto* p, auto v) { return atomicXor(p, v); }
  static __device__ auto in_block(auto* p, auto v) { return atomicXor_block(p, v); }
  static __device__ auto in_system(auto* p, auto v) { return atomicXor_system(p, v); }
  static auto result(auto old, auto v) { return old ^ v; }
};

/// Exchanges only if the value is half of the operand.
struct CompareAndSwap {
  static __device__ auto on_device(auto* p, auto v) { return atomicCAS(p, v / 2, v); }
  static __device__ auto in_block(auto* p, auto v) { return atomicCAS_block(p, v / 2, v); }
  static __device__ auto in_system(auto* p, auto v) { return atomicCAS_system(p, v / 2, v); }
  static auto result(auto old, auto v) { return old == v / 2 ? v : old; }
};

// --- One thread: the old value is returned, the new value is stored

template <typename Operation, typename T>
__global__ void apply_in_turn(const T* operands, T* numbers, T* old, int n) {
  __shared__ T shared;
  shared = numbers[1];
  for (int i = 0; i < n; ++i) {
    old[4 * i] = Operation::on_device(&numbers[0], operands[i]);
    old[4 * i + 1] = Operation::in_block(&shared, operands[i]);
    old[4 * i + 2] = Operation::on_device(&shared, operands[i]);
    old[4 * i + 3] = Operation::in_system(&numbers[2], operands[i]);
  }
  numbers[1] = shared;
}

template <typename Operation, typename T>
void expect_effect(const std::vector<T>& operands, T first) {
  const int n = static_cast<int>(operands.size());
  Device<T> in(operands), numbers(std::vector<T>(3, first)), old(4 * n);
  apply_in_turn<Operation><<<1, 1>>>(in.get(), numbers.get(), old.get(), n);
  std::vector<T> expected_numbers(3, first), expected_old;
  for (const T operand : operands)
    for (const int target : {0, 1, 1, 2}) {
      T& number = expected_numbers[target];
      expected_old.push_back(number);
      number = Operation::result(number, operand);
    }
  expect_equal(old.to_host(), expected_old);
  expect_equal(numbers.to_host(), expected_numbers);
}

template <typename Operation, typename T>
void expect_effect_on_integers() {
  using Limits = std::numeric_limits<T>;
  expect_effect<Operation, T>(random_values(100, Limits::min(), Limits::max()),
                              random_value(Limits::min(), Limits::max()));
  expect_effect<Operation, T>(random_values<T>(100, 0, 20), 10);
}

template <typename Operation, typename T>
void expect_effect_on_reals() {
  expect_effect<Operation, T>(random_values(100, T(-10), T(10)), random_value(T(-10), T(10)));
}

TEST(atomicAdd_adds) {
  expect_effect_on_integers<Add, int>();
  expect_effect_on_integers<Add, unsigned>();
  expect_effect_on_integers<Add, unsigned long long>();
  expect_effect_on_reals<Add, float>();
  expect_effect_on_reals<Add, double>();
}

TEST(atomicSub_subtracts) {
  expect_effect_on_integers<Subtract, int>();
  expect_effect_on_integers<Subtract, unsigned>();
}

TEST(atomicMin_keeps_the_smaller) {
  expect_effect_on_integers<Minimum, int>();
  expect_effect_on_integers<Minimum, unsigned>();
  expect_effect_on_integers<Minimum, long long>();
  expect_effect_on_integers<Minimum, unsigned long long>();
}

TEST(atomicMax_keeps_the_larger) {
  expect_effect_on_integers<Maximum, int>();
  expect_effect_on_integers<Maximum, unsigned>();
  expect_effect_on_integers<Maximum, long long>();
  expect_effect_on_integers<Maximum, unsigned long long>();
}

TEST(atomicExch_exchanges) {
  expect_effect_on_integers<Exchange, int>();
  expect_effect_on_integers<Exchange, unsigned>();
  expect_effect_on_integers<Exchange, unsigned long long>();
  expect_effect_on_reals<Exchange, float>();
}

TEST(atomicInc_counts_up_and_around) { expect_effect_on_integers<Increment, unsigned>(); }

TEST(atomicDec_counts_down_and_around) { expect_effect_on_integers<Decrement, unsigned>(); }

TEST(atomic_operations_on_bits) {
  expect_effect_on_integers<And, int>();
  expect_effect_on_integers<And, unsigned>();
  expect_effect_on_integers<And, unsigned long long>();
  expect_effect_on_integers<Or, int>();
  expect_effect_on_integers<Or, unsigned>();
  expect_effect_on_integers<Or, unsigned long long>();
  expect_effect_on_integers<ExclusiveOr, int>();
  expect_effect_on_integers<ExclusiveOr, unsigned>();
  expect_effect_on_integers<ExclusiveOr, unsigned long long>();
}

template <typename T>
void expect_compare_and_swap() {
  expect_effect<CompareAndSwap, T>({1, 2, 4, 7, 8, 16, 5, 32, 64}, 0);
}

TEST(atomicCAS_swaps_what_is_equal) {
  expect_compare_and_swap<int>();
  expect_compare_and_swap<unsigned>();
  expect_compare_and_swap<unsigned long long>();
}

// --- Many concurrent threads

template <typename Operation, typename T>
__global__ void apply_together(const T* operands, T first, T* results, int n) {
  __shared__ T shared;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) shared = first;
  __syncthreads();
  if (i < n) {
    Operation::in_block(&shared, operands[i]);
    Operation::on_device(&results[0], operands[i]);
  }
  __syncthreads();
  if (threadIdx.x == 0) results[1 + blockIdx.x] = shared;
}

/// Checks an operation: each block combines its operands in shared memory, and all blocks combine
/// their results in one variable. The result must not depend on the order.
template <typename Operation, typename T>
void expect_result(const std::vector<T>& operands, T first) {
  const int n = static_cast<int>(operands.size()), blocks = (n + 255) / 256;
  std::vector<T> expected(1 + blocks, first);
  Device<T> in(operands), results(expected);
  apply_together<Operation><<<blocks, 256>>>(in.get(), first, results.get(), n);
  for (int i = 0; i < n; ++i) {
    expected[0] = Operation::result(expected[0], operands[i]);
    expected[1 + i / 256] = Operation::result(expected[1 + i / 256], operands[i]);
  }
  expect_equal(results.to_host(), expected);
}

template <typename Operation, typename T>
void expect_result_of_integers() {
  using Limits = std::numeric_limits<T>;
  expect_result<Operation, T>(random_values(5000, Limits::min(), Limits::max()),
                              random_value(Limits::min(), Limits::max()));
}

template <typename T>
void expect_sum_of_reals() {
  std::vector<T> values(5000);  // small integers, so that every order gives the same sum
  for (T& value : values) value = static_cast<T>(random_value(-100, 100));
  expect_result<Add, T>(values, T(0.5));
}

TEST(many_threads_add) {
  expect_result_of_integers<Add, int>();
  expect_result_of_integers<Add, unsigned>();
  expect_result_of_integers<Add, unsigned long long>();
  expect_sum_of_reals<float>();
  expect_sum_of_reals<double>();
  expect_result_of_integers<Subtract, int>();
}

TEST(many_threads_find_extremes) {
  expect_result_of_integers<Minimum, int>();
  expect_result_of_integers<Maximum, unsigned>();
  expect_result_of_integers<Minimum, unsigned long long>();
  expect_result_of_integers<Maximum, long long>();
}

TEST(many_threads_work_on_bits) {
  expect_result_of_integers<ExclusiveOr, unsigned>();
  expect_result_of_integers<ExclusiveOr, unsigned long long>();
  std::vector<unsigned> single(3000);
  for (unsigned& bit : single) bit = 1u << random_value(0, 31);
  expect_result<Or, unsigned>(single, 0);
  for (unsigned& bit : single) bit = ~bit;
  expect_result<And, unsigned>(single, ~0u);
}

TEST(many_threads_count_around) {
  expect_result<Increment, unsigned>(std::vector<unsigned>(3000, 16), 0);
  expect_result<Decrement, unsigned>(std::vector<unsigned>(3000, 16), 0);
}

__global__ void draw_numbers(unsigned* next, unsigned* drawn) {
  drawn[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(next, 1u);
}

TEST(every_thread_draws_a_number_of_its_own) {
  Device<unsigned> next(std::vector<unsigned>{0}), drawn(40 * 128);
  draw_numbers<<<40, 128>>>(next.get(), drawn.get());
  std::vector<unsigned> numbers = drawn.to_host();
  std::sort(numbers.begin(), numbers.end());
  expect_equal(numbers, table<unsigned>(40 * 128, [](unsigned i) { return i; }));
}

__global__ void count_in_shared(const unsigned char* in, unsigned* histogram, int n) {
  __shared__ unsigned bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    atomicAdd_block(&bins[in[i]], 1u);
  __syncthreads();
  atomicAdd(&histogram[threadIdx.x], bins[threadIdx.x]);
}

TEST(blocks_build_a_histogram) {
  const int n = random_value(1, 50000);
  const std::vector<unsigned char> values = random_values<unsigned char>(n, 0, 255);
  Device<unsigned char> in(values);
  Device<unsigned> histogram(std::vector<unsigned>(256));
  count_in_shared<<<7, 256>>>(in.get(), histogram.get(), n);
  std::vector<unsigned> expected(256);
  for (const unsigned char value : values) ++expected[value];
  expect_equal(histogram.to_host(), expected);
}

// --- Compare-and-swap loops

__device__ float atomic_maximum(float* address, float value) {
  int* const bits = reinterpret_cast<int*>(address);
  int old = *static_cast<volatile int*>(bits), assumed = 0;
  do {
    assumed = old;
    if (__int_as_float(assumed) >= value) break;
    old = atomicCAS(bits, assumed, __float_as_int(value));
  } while (old != assumed);
  return __int_as_float(old);
}

__device__ double atomic_product(double* address, double factor) {
  auto* const bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = atomicAdd(bits, 0ull), assumed = 0;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed,
                    static_cast<unsigned long long>(
                        __double_as_longlong(factor * __longlong_as_double(assumed))));
  } while (old != assumed);
  return __longlong_as_double(old);
}

__global__ void fold_by_compare_and_swap(const float* in, float* maximum, double* product, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomic_maximum(maximum, in[i]);
  atomic_product(product, i % 2 == 0 ? 2.0 : 0.5);  // exact in any order
}

TEST(compare_and_swap_builds_other_operations) {
  const int n = 2 * random_value(1, 1000) + 1;
  const std::vector<float> values = random_values(n, -1.0f, 1.0f);
  Device<float> in(values), maximum(std::vector<float>{-7});
  Device<double> product(std::vector<double>{3});
  fold_by_compare_and_swap<<<(n + 127) / 128, 128>>>(in.get(), maximum.get(), product.get(), n);
  expect_equal(maximum.to_host(), {*std::max_element(values.begin(), values.end())});
  expect_equal(product.to_host(), {6.0});
}

// --- cuda::atomic_ref

template <typename T, cuda::thread_scope scope>
using Reference = cuda::atomic_ref<T, scope>;

__global__ void use_references(int* numbers, float* sum, unsigned* shared_sum) {
  __shared__ unsigned shared;
  if (threadIdx.x == 0) shared = 0;
  __syncthreads();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  Reference<int, cuda::thread_scope_device> first(numbers[0]);
  first.fetch_add(i, cuda::memory_order_relaxed);
  Reference<int, cuda::thread_scope_device>(numbers[1]).fetch_sub(1, cuda::memory_order_acq_rel);
  Reference<int, cuda::thread_scope_device>(numbers[2]).fetch_max(i);
  Reference<int, cuda::thread_scope_device>(numbers[3]).fetch_min(-i);
  Reference<int, cuda::thread_scope_device>(numbers[4]).fetch_or(1 << i % 20);
  Reference<int, cuda::thread_scope_device>(numbers[5]).fetch_xor(i);
  Reference<int, cuda::thread_scope_system>(numbers[6]) += 2;
  ++Reference<int, cuda::thread_scope_device>(numbers[7]);
  Reference<float, cuda::thread_scope_device>(*sum).fetch_add(0.5f, cuda::memory_order_relaxed);
  Reference<unsigned, cuda::thread_scope_block>(shared).fetch_add(threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) shared_sum[blockIdx.x] = shared;
}

TEST(references_add_and_compare) {
  Device<int> numbers(std::vector<int>(8));
  Device<float> sum(std::vector<float>(1));
  Device<unsigned> shared_sum(10);
  use_references<<<10, 100>>>(numbers.get(), sum.get(), shared_sum.get());
  int bits = 0;
  for (int i = 0; i < 1000; ++i) bits ^= i;
  expect_equal(numbers.to_host(), {999 * 500, -1000, 999, -999, (1 << 20) - 1, bits, 2000, 1000});
  expect_equal(sum.to_host(), {500.0f});
  expect_equal(shared_sum.to_host(), std::vector<unsigned>(10, 99 * 50));
}

__global__ void exchange_references(int* number, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> reference(*number);
  reference.store(5, cuda::memory_order_relaxed);
  out[0] = reference.load(cuda::memory_order_acquire);
  out[1] = reference.exchange(8);
  int expected = 5;
  out[2] = reference.compare_exchange_strong(expected, 9);
  out[3] = expected;
  out[4] = reference.compare_exchange_strong(expected, 10, cuda::memory_order_acq_rel);
  expected = 10;
  while (!reference.compare_exchange_weak(expected, 11, cuda::memory_order_release,
                                          cuda::memory_order_relaxed)) {
  }
  out[5] = reference;
}

TEST(references_exchange) {
  Device<int> number(1), out(6);
  exchange_references<<<1, 1>>>(number.get(), out.get());
  expect_equal(out.to_host(), {5, 5, 0, 8, 1, 11});
}

__global__ void use_atomic_objects(int* out) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> count;
  if (threadIdx.x == 0) count.store(7, cuda::memory_order_relaxed);
  __syncthreads();
  count.fetch_add(2);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = count.load();
}

TEST(atomic_objects_live_in_shared_memory) {
  Device<int> out(5);
  use_atomic_objects<<<5, 96>>>(out.get());
  expect_equal(out.to_host(), std::vector<int>(5, 7 + 192));
}

// --- Threads that wait for other threads

__device__ unsigned finished_blocks;

/// The last block to finish adds the partial sums of all blocks.
__global__ void sum_by_last_block(const double* in, double* partial, double* out, int n) {
  __shared__ double sums[128];
  __shared__ bool is_last;
  double sum = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) sum += in[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned step = 64; step > 0; step /= 2) {
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sums[0];
    __threadfence();
    is_last = atomicInc(&finished_blocks, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  __threadfence();
  double total = 0;
  for (unsigned block = 0; block < gridDim.x; ++block) total += partial[block];
  *out = total;
}

TEST(the_last_block_reduces) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    const int n = random_value(1, 100000);
    std::vector<double> values(n);
    for (double& value : values) value = random_value(-1000, 1000);
    Device<double> in(values), partial(37), out(1);
    sum_by_last_block<<<37, 128>>>(in.get(), partial.get(), out.get(), n);
    expect_equal(out.to_host(), {std::accumulate(values.begin(), values.end(), 0.0)});
  }
}

/// A warp waits for a value that another warp of the block has to write.
template <bool lower_waits>
__global__ void wait_for_other_warp(int* out) {
  __shared__ int flag, message;
  if (threadIdx.x == 0) flag = message = 0;
  __syncthreads();
  const bool waits = (threadIdx.x < 32) == lower_waits;
  if (waits) {
    const Patience patience;
    while (atomicAdd(&flag, 0) == 0 && patience.lasts()) {
    }
    __threadfence_block();
    out[threadIdx.x % 32] = message;
  } else if (threadIdx.x % 32 == 7) {
    message = 42;
    __threadfence_block();
    atomicExch(&flag, 1);
  }
}

TEST(a_warp_waits_for_a_flag_of_another) {
  Device<int> out(32);
  wait_for_other_warp<true><<<1, 64>>>(out.get());
  expect_equal(out.to_host(), std::vector<int>(32, 42));
  Device<int> other(32);
  wait_for_other_warp<false><<<1, 64>>>(other.get());
  expect_equal(other.to_host(), std::vector<int>(32, 42));
}

__global__ void wait_for_reference(int* out) {
  __shared__ int flag, message;
  if (threadIdx.x == 0) flag = message = 0;
  __syncthreads();
  const cuda::atomic_ref<int, cuda::thread_scope_block> reference(flag);
  if (threadIdx.x < 32) {
    const Patience patience;
    while (reference.load(cuda::memory_order_acquire) != 1 && patience.lasts()) __nanosleep(20);
    out[threadIdx.x] = message;
  } else if (threadIdx.x == 40) {
    message = 43;
    reference.store(1, cuda::memory_order_release);
  }
}

TEST(a_release_is_seen_by_an_acquire) {
  Device<int> out(32);
  wait_for_reference<<<1, 64>>>(out.get());
  expect_equal(out.to_host(), std::vector<int>(32, 43));
}

/// Passes a message through two warps; the receiver must also see the writes of the first warp.
__global__ void pass_on_a_message(int* out) {
  __shared__ int flags[2], message;
  if (threadIdx.x == 0) flags[0] = flags[1] = message = 0;
  __syncthreads();
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x % 32 != 0) return;
  if (warp == 0) message = 45;
  if (warp > 0) {
    const Patience patience;
    while (atomicAdd(&flags[warp - 1], 0) == 0 && patience.lasts()) {
    }
  }
  __threadfence_block();
  if (warp < 2) atomicExch(&flags[warp], 1);
  if (warp == 2) *out = message;
}

TEST(a_message_is_passed_on) {
  Device<int> out(1);
  pass_on_a_message<<<1, 96>>>(out.get());
  expect_equal(out.to_host(), {45});
}

/// Waits in a loop that only reads, and gives up after a limited number of tries.
__global__ void wait_for_volatile(int* out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int tries = 0; flag == 0 && tries < 100'000'000; ++tries) {
    }
    out[threadIdx.x] = flag;
  } else if (threadIdx.x == 63) {
    flag = 44;
  }
}

TEST(a_warp_waits_for_a_volatile_flag_of_another) {
  Device<int> out(32);
  wait_for_volatile<<<1, 64>>>(out.get());
  expect_equal(out.to_host(), std::vector<int>(32, 44));
}

/// Threads wait in different kinds of loops for threads that begin later.
__global__ void wait_for_later_threads(volatile int* flags, int* out) {
  const int t = threadIdx.x;
  if (t == 0) {
    while (flags[0] == 0) {
    }
  } else if (t == 1) {
    for (int old = -1; (old = flags[1]) < 2;) continue;
  } else if (t == 2) {
    do {
    } while (*static_cast<volatile int*>(flags + 2) < 3);
  } else {
    flags[t - 3] = t - 2;
  }
  out[t] = t < 3 ? flags[t] : 0;
}

TEST(threads_wait_for_volatile_flags_of_later_ones) {
  Device<int> flags(std::vector<int>(3, 0)), out(6);
  wait_for_later_threads<<<1, 6>>>(flags.get(), out.get());
  expect_equal(out.to_host(), {1, 2, 3, 0, 0, 0});
}

/// Each lane waits for the progress of its neighbour, within a warp and between warps.
__global__ void pass_through_threads(int rounds, int* out) {
  __shared__ volatile int progress[96], values[96];
  const int t = threadIdx.x;
  progress[t] = 0;
  __syncthreads();
  for (int round = 1; round <= rounds; ++round) {
    if (t > 0)
      while (progress[t - 1] < round) {
      }
    __threadfence_block();
    values[t] = t > 0 ? values[t - 1] + 1 : round;
    __threadfence_block();
    progress[t] = round;
    if (t < 95)
      while (round < rounds && progress[t + 1] < round) {
      }
  }
  out[t] = values[t];
}

TEST(threads_pass_values_on_by_volatile_flags) {
  Device<int> out(96);
  pass_through_threads<<<1, 96>>>(3, out.get());
  expect_equal(out.to_host(), tap::table<int>(96, [](int t) { return t + 3; }));
}

/// All lanes of a warp acquire the same lock, one after the other.
__global__ void lock_by_lane(int* lock, int* count) {
  const Patience patience;
  bool done = false;
  while (!done && patience.lasts()) {
    if (atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    *count = *count + 1;
    __threadfence();
    atomicExch(lock, 0);
    done = true;
  }
}

TEST(lanes_of_a_warp_take_a_lock) {
  Device<int> lock(std::vector<int>{0}), count(std::vector<int>{0});
  lock_by_lane<<<1, 32>>>(lock.get(), count.get());
  expect_equal(count.to_host(), {32});
}

struct Lock {
  unsigned next, serving;
};

/// Blocks acquire the lock in the order of their tickets.
__global__ void lock_by_ticket(Lock* lock, int* count, unsigned* order) {
  if (threadIdx.x != 0) return;
  const Patience patience;
  const unsigned ticket = atomicAdd(&lock->next, 1u);
  while (atomicAdd(&lock->serving, 0u) != ticket && patience.lasts()) {
  }
  __threadfence();
  order[(*count)++] = ticket;
  __threadfence();
  atomicAdd(&lock->serving, 1u);
}

TEST(blocks_take_a_lock_by_tickets) {
  Device<Lock> lock(std::vector<Lock>{{0, 0}});
  Device<int> count(std::vector<int>{0});
  Device<unsigned> order(300);
  lock_by_ticket<<<300, 32>>>(lock.get(), count.get(), order.get());
  expect_equal(count.to_host(), {300});
  expect_equal(order.to_host(), table<unsigned>(300, [](unsigned i) { return i; }));
}

// --- Decoupled look-back

constexpr unsigned long long has_sum = 1ull << 62, has_prefix = 2ull << 62;

/// Computes an inclusive scan in one pass. A block waits only for blocks with smaller indices.
__global__ void scan_with_look_back(const unsigned* in, unsigned* out, unsigned* next_block,
                                    unsigned long long* states, int n) {
  __shared__ unsigned block, values[128], before;
  if (threadIdx.x == 0) block = atomicAdd(next_block, 1u);
  __syncthreads();
  const int i = static_cast<int>(block * 128 + threadIdx.x);
  values[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned step = 1; step < 128; step *= 2) {
    const unsigned left = threadIdx.x >= step ? values[threadIdx.x - step] : 0;
    __syncthreads();
    values[threadIdx.x] += left;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    using State = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
    const Patience patience;
    before = 0;
    State(states[block]).store(has_sum | values[127], cuda::memory_order_release);
    for (int other = static_cast<int>(block) - 1; other >= 0 && patience.lasts();) {
      const unsigned long long state = State(states[other]).load(cuda::memory_order_acquire);
      if (state >= has_sum) {
        before += static_cast<unsigned>(state);
        --other;
      }
      if (state >= has_prefix) break;
    }
    State(states[block]).store(has_prefix | (before + values[127]), cuda::memory_order_release);
  }
  __syncthreads();
  if (i < n) out[i] = before + values[threadIdx.x];
}

TEST(blocks_look_back) {
  for (const int n : {1, 127, 1000, random_value(5000, 50000)}) {
    const std::vector<unsigned> values = random_values(n, 0u, ~0u);
    const int blocks = (n + 127) / 128;
    Device<unsigned> in(values), out(n), next(std::vector<unsigned>{0});
    Device<unsigned long long> states(std::vector<unsigned long long>(blocks, 0));
    scan_with_look_back<<<blocks, 128>>>(in.get(), out.get(), next.get(), states.get(), n);
    std::vector<unsigned> expected(n);
    std::inclusive_scan(values.begin(), values.end(), expected.begin());
    expect_equal(out.to_host(), expected);
  }
}

/// Performs a look-back with fences and volatile reads, as programs did before atomic references.
__global__ void chain_with_fences(unsigned* next_block, volatile int* flags, volatile int* sums) {
  if (threadIdx.x != 0) return;
  const Patience patience;
  const unsigned block = atomicAdd(next_block, 1u);
  int before = 0;
  if (block > 0) {
    while (atomicAdd(const_cast<int*>(&flags[block - 1]), 0) == 0 && patience.lasts()) {
    }
    __threadfence();
    before = sums[block - 1];
  }
  sums[block] = before + static_cast<int>(block);
  __threadfence();
  atomicExch(const_cast<int*>(&flags[block]), 1);
}

TEST(fences_order_what_flags_announce) {
  Device<unsigned> next(std::vector<unsigned>{0});
  Device<int> flags(std::vector<int>(200, 0)), sums(200);
  chain_with_fences<<<200, 32>>>(next.get(), flags.get(), sums.get());
  expect_equal(sums.to_host(), table<int>(200, [](int i) { return i * (i + 1) / 2; }));
}

// --- Atomics without a scope, as in the C++ standard

struct Shared {
  cuda::std::atomic<int> count, ready;
  cuda::std::atomic_flag lock;
  int guarded, message, result;
};

/// Threads update counters atomically or under a lock. Block 0 sends a message to block 1.
__global__ void use_standard_atomics(Shared* shared, int* plain) {
  shared->count.fetch_add(2, cuda::std::memory_order_relaxed);
  --shared->count;
  cuda::std::atomic_ref<int>(*plain).fetch_or(1 << threadIdx.x % 8);
  if (threadIdx.x != 0) return;
  const Patience patience;
  while (shared->lock.test_and_set(cuda::std::memory_order_acquire) && patience.lasts()) {
  }
  ++shared->guarded;
  shared->lock.clear(cuda::std::memory_order_release);
  if (blockIdx.x == 0) {
    shared->message = 42;
    shared->ready.store(1, cuda::std::memory_order_release);
  } else if (blockIdx.x == 1) {
    while (shared->ready.load(cuda::std::memory_order_acquire) == 0 && patience.lasts()) {
    }
    shared->result = shared->message;
  }
}

TEST(standard_atomics_count_lock_and_order) {
  Shared* shared = nullptr;
  check(cudaMallocManaged(&shared, sizeof(Shared)));
  check(cudaMemset(shared, 0, sizeof(Shared)));
  const Device<int> plain(std::vector<int>{0});
  void* arguments[] = {&shared, nullptr};
  int* bits = plain.get();
  arguments[1] = &bits;
  check(
      cudaLaunchCooperativeKernel(use_standard_atomics, dim3(4), dim3(64), arguments, 0, nullptr));
  check(cudaDeviceSynchronize());
  expect_equal(shared->count.load(), 4 * 64);
  expect_equal(shared->guarded, 4);
  expect_equal(shared->result, 42);
  expect_equal(plain.to_host()[0], 0xff);
  check(cudaFree(shared));
}

// --- Functions whose arguments include a memory order and a scope

/// Two values that are loaded and stored together.
struct alignas(4) Pair {
  short first, second;
};

/// One thread calls each function. `old` receives the values that the functions return.
template <typename T>
__global__ void call_ordered_functions(T* x, T* old, bool* replaced, Pair* pairs) {
  T expected = 7;
  const T desired = 3;
  old[0] = __nv_atomic_fetch_add(x, 5, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  old[1] = __nv_atomic_fetch_sub(x, 1, __NV_ATOMIC_SEQ_CST);
  old[2] = __nv_atomic_fetch_min(x, 9, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
  old[3] = __nv_atomic_fetch_max(x, 11, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_CLUSTER);
  old[4] = __nv_atomic_exchange_n(x, 8, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  replaced[0] = __nv_atomic_compare_exchange_n(x, &expected, 1, false, __NV_ATOMIC_ACQ_REL,
                                               __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
  old[5] = expected;
  replaced[1] = __nv_atomic_compare_exchange(x, &expected, &desired, true, __NV_ATOMIC_SEQ_CST,
                                             __NV_ATOMIC_RELAXED);
  __nv_atomic_exchange(x, &expected, &old[6], __NV_ATOMIC_RELAXED);
  __nv_atomic_load(x, &old[7], __NV_ATOMIC_ACQUIRE);
  __nv_atomic_store_n(x, 20, __NV_ATOMIC_RELEASE);
  old[8] = __nv_atomic_load_n(x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_THREAD);
  __nv_atomic_store(x, &desired, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_add(x, 10, __NV_ATOMIC_RELAXED);
  __nv_atomic_sub(x, 2, __NV_ATOMIC_RELAXED);
  __nv_atomic_min(x, 12, __NV_ATOMIC_RELAXED);
  __nv_atomic_max(x, 4, __NV_ATOMIC_RELAXED);
  Pair pair;
  __nv_atomic_load(&pairs[0], &pair, __NV_ATOMIC_RELAXED);
  __nv_atomic_store(&pairs[1], &pair, __NV_ATOMIC_RELAXED);
}

/// One thread calls the functions for bits.
__global__ void call_ordered_functions_of_bits(unsigned* x, unsigned* old) {
  old[0] = __nv_atomic_fetch_and(x, 6, __NV_ATOMIC_RELAXED);
  old[1] = __nv_atomic_fetch_or(x, 1, __NV_ATOMIC_RELAXED);
  old[2] = __nv_atomic_fetch_xor(x, 15, __NV_ATOMIC_RELAXED);
  __nv_atomic_and(x, 11, __NV_ATOMIC_RELAXED);
  __nv_atomic_or(x, 4, __NV_ATOMIC_RELAXED);
  __nv_atomic_xor(x, 1, __NV_ATOMIC_RELAXED);
}

template <typename T>
void expect_ordered_functions() {
  Device<T> x(std::vector<T>{10}), old(9);
  Device<bool> replaced(2);
  Device<Pair> pairs(std::vector<Pair>{{-1, 2}, {0, 0}});
  call_ordered_functions<<<1, 1>>>(x.get(), old.get(), replaced.get(), pairs.get());
  expect_equal(old.to_host(), std::vector<T>{10, 15, 14, 9, 11, 8, 3, 8, 20});
  expect_equal(x.to_host()[0], T{11});
  bool of_both[2];
  check(cudaMemcpy(of_both, replaced.get(), sizeof of_both, cudaMemcpyDeviceToHost));
  expect(!of_both[0] && of_both[1], "only the second exchange replaces the value");
  const Pair stored = pairs.to_host()[1];
  expect_equal(stored.first + 10 * stored.second, 19);
}

TEST(functions_with_an_order_return_and_store_values) {
  expect_ordered_functions<int>();
  expect_ordered_functions<unsigned>();
  expect_ordered_functions<unsigned long long>();
  Device<unsigned> bits(std::vector<unsigned>{13}), old(3);
  call_ordered_functions_of_bits<<<1, 1>>>(bits.get(), old.get());
  expect_equal(old.to_host(), std::vector<unsigned>{13, 4, 5});
  expect_equal(bits.to_host()[0], 15u);
}

/// Block 0 sends two messages to block 1: one with a release, the other with a fence.
__global__ void send_with_an_order(int* messages, int* flags, int* results) {
  const Patience patience;
  if (blockIdx.x == 0) {
    messages[0] = 42;
    __nv_atomic_store_n(&flags[0], 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    messages[1] = 43;
    __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_add(&flags[1], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    return;
  }
  for (int i = 0; i < 2; ++i) {
    while (__nv_atomic_load_n(&flags[i], __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0 &&
           patience.lasts()) {
    }
    results[i] = messages[i];
  }
}

TEST(functions_with_an_order_publish_values) {
  Device<int> messages(2), flags(std::vector<int>(2, 0)), results(2);
  int *first = messages.get(), *second = flags.get(), *third = results.get();
  void* arguments[] = {&first, &second, &third};
  check(cudaLaunchCooperativeKernel(send_with_an_order, dim3(2), dim3(1), arguments, 0, nullptr));
  check(cudaDeviceSynchronize());
  expect_equal(results.to_host(), std::vector<int>{42, 43});
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
