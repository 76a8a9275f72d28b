/// \file
/// Seeded bugs: launches on two devices that store in each other's memory and wait for flags.

#include <cuda_runtime.h>

#include <cstdlib>
#include <cuda/atomic>
#include <memory>

#include "planted.cuh"
#include "resources.cuh"

namespace {

constexpr unsigned threads = 64, steps = 5;
using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;

/// The memory of a device: values that the other device stores, and the number of finished steps.
struct Part {
  int device;
  int* halo;
  unsigned* done;
};

__device__ void wait_for(unsigned& done, unsigned step) {
  if (threadIdx.x == 0)
    while (Flag(done).load(cuda::memory_order_acquire) < step) continue;  // planted: deadlock
  __syncthreads();
}

__device__ void tell(unsigned& done, unsigned step) {
  if (threadIdx.x == 0) Flag(done).store(step, cuda::memory_order_release);
}

/// Two devices with peer access to each other.
class Pair {
 public:
  Pair() {
    for (int d = 0; d < 2; ++d) {
      check(cudaSetDevice(d));
      check(cudaDeviceEnablePeerAccess(1 - d, 0));
      halos_[d] = std::make_unique<Buffer<int>>(2 * threads);
      done_[d] = std::make_unique<Buffer<unsigned>>(1);
      finish();
    }
  }
  ~Pair() {
    for (const int d : {1, 0}) {
      check(cudaSetDevice(d));
      check(cudaDeviceDisablePeerAccess(1 - d));
    }
  }

  /// Launches a cooperative kernel on each device, with the parts of both devices, and waits for
  /// both launches.
  void run(void (*kernel)(Part, Part)) {
    for (int d = 0; d < 2; ++d) {
      check(cudaSetDevice(d));
      Part own = part(d), other = part(1 - d);
      void* arguments[] = {&own, &other};
      check(cudaLaunchCooperativeKernel(kernel, 1, threads, arguments, 0, nullptr));
    }
    finish_both(0);
  }

  /// Makes plain launches. Waits first for device `first`; without `at_once`, after each launch.
  void run_plain(void (*kernel)(Part, Part), int first, bool at_once = true) {
    for (int d = 0; d < 2; ++d) {
      check(cudaSetDevice(d));
      kernel<<<1, threads>>>(part(d), part(1 - d));
      if (!at_once) finish();
    }
    finish_both(first);
  }

 private:
  static void finish_both(int first) {
    for (const int d : {first, 1 - first}) {
      check(cudaSetDevice(d));
      finish();
    }
  }

  Part part(int d) const { return {d, halos_[d]->get(), done_[d]->get()}; }

  std::unique_ptr<Buffer<int>> halos_[2];
  std::unique_ptr<Buffer<unsigned>> done_[2];
};

namespace flag_raised_before_all_have_stored {

/// With the bug, a flag is set without a barrier, so it covers only stores of the setting thread.
template <bool bug>
__global__ void exchange(Part own, Part other) {
  for (unsigned s = 0; s < steps; ++s) {
    wait_for(*own.done, s);
    const unsigned from = s % 2 * threads, to = (s + 1) % 2 * threads;
    other.halo[to + threadIdx.x] = own.halo[from + threadIdx.x] + 1;  // planted: stream race
    if (!bug) __syncthreads();
    tell(*other.done, s + 1);
  }
}

template <bool bug>
void run() {
  Pair().run(exchange<bug>);
}

}  // namespace flag_raised_before_all_have_stored

namespace flag_without_order {

/// With the bug, the flag is set by a relaxed store, which orders no other store.
template <bool bug>
__global__ void exchange(Part own, Part other) {
  other.halo[threadIdx.x] = 7;
  __syncthreads();
  if (threadIdx.x == 0)
    Flag(*other.done).store(1, bug ? cuda::memory_order_relaxed : cuda::memory_order_release);
  wait_for(*own.done, 1);
  own.halo[threadIdx.x] += 1;  // planted: stream race
}

template <bool bug>
void run() {
  Pair().run(exchange<bug>);
}

}  // namespace flag_without_order

namespace halo_read_before_it_is_told {

/// With the bug, a device reads values of the other device that have not arrived yet.
template <bool bug>
__global__ void exchange(Part own, Part other) {
  for (unsigned s = 0; s < steps; ++s) {
    const unsigned from = s % 2 * threads, to = (s + 1) % 2 * threads;
    if (!bug) wait_for(*own.done, s);
    other.halo[to + threadIdx.x] = own.halo[from + threadIdx.x] + 1;  // planted: stream race
    __syncthreads();
    tell(*other.done, s + 1);
  }
}

template <bool bug>
void run() {
  Pair().run(exchange<bug>);
}

}  // namespace halo_read_before_it_is_told

namespace nobody_raises_the_flag {

template <bool bug>
__global__ void exchange(Part own, Part other) {
  tell(*(bug ? own.done : other.done), bug ? 0 : 1);
  wait_for(*own.done, 1);
}

template <bool bug>
void run() {
  Pair().run(exchange<bug>);
}

}  // namespace nobody_raises_the_flag

namespace flag_of_a_plain_launch_without_order {

/// Blocks of plain launches can wait for each other, too.
template <bool bug>
__global__ void exchange(Part own, Part other) {
  for (unsigned s = 1; s < steps; ++s) {
    other.halo[threadIdx.x + s % 2 * threads] = 7;
    __syncthreads();
    if (threadIdx.x == 0)
      Flag(*other.done).store(s, bug ? cuda::memory_order_relaxed : cuda::memory_order_release);
    wait_for(*own.done, s);
    own.halo[threadIdx.x + s % 2 * threads] += 1;  // planted: stream race
  }
}

template <bool bug>
void run() {
  for (const int first : {0, 1}) Pair().run_plain(exchange<bug>, first);
}

}  // namespace flag_of_a_plain_launch_without_order

namespace flag_of_a_launch_that_is_done_without_order {

/// With the bug, a relaxed store sets the flag. The wait may begin when the first launch has ended.
template <bool bug>
__global__ void hand_on(Part own, Part other) {
  if (own.device == 1) wait_for(*own.done, 1);
  other.halo[threadIdx.x] = own.halo[threadIdx.x] + 1;  // planted: stream race
  __syncthreads();
  if (threadIdx.x == 0)
    Flag(*other.done).store(1, bug ? cuda::memory_order_relaxed : cuda::memory_order_release);
}

template <bool bug>
void run() {
  for (const int first : {0, 1}) Pair().run_plain(hand_on<bug>, first);
}

}  // namespace flag_of_a_launch_that_is_done_without_order

namespace launched_when_the_other_is_done {

/// With the bug, the host waits for one launch before it starts the launch that sets the flag.
__global__ void exchange(Part own, Part other) {
  tell(*other.done, 1);
  wait_for(*own.done, 1);
}

template <bool bug>
void run() {
  Pair().run_plain(exchange, 0, !bug);
}

}  // namespace launched_when_the_other_is_done

}  // namespace

#define CASE(name) \
  { #name, name::run < true>, name::run < false> }

int main(int argc, char** argv) {
  setenv("CUDA_ON_CPU_DEVICES", "2", 1);
  return run_cases(
      argc, argv,
      {CASE(flag_raised_before_all_have_stored), CASE(flag_without_order),
       CASE(halo_read_before_it_is_told), CASE(nobody_raises_the_flag),
       CASE(flag_of_a_plain_launch_without_order),
       CASE(flag_of_a_launch_that_is_done_without_order), CASE(launched_when_the_other_is_done)});
}
