/// \file
/// Blocks that tell each other what they have done, unseen by the analysis: so tests lay down the
/// order in which blocks do things that run at the same time.

#pragma once

#include <time.h>

#include <cstdlib>
#include <string_view>
#include <thread>

/// How often blocks have told of something.
inline int times_told = 0;

/// Whether one thread of the operating system runs all blocks, one after the other, as in programs
/// that clang++ has compiled.
inline bool has_one_worker() {
#ifdef __clang__
  return true;
#endif
  const char* workers = std::getenv("CUDA_ON_CPU_THREADS");
  return workers != nullptr ? std::string_view(workers) == "1"
                            : std::thread::hardware_concurrency() == 1;
}

/// Blocks have told nothing yet; where they run one after the other, they have told all.
inline void begin_to_tell() { times_told = has_one_worker() ? 1 << 20 : 0; }

/// The first thread of a block tells that it has come so far.
CUDA_ON_CPU_NOT_ANALYSED __device__ __noinline__ void tell() {
  if (threadIdx.x == 0) __atomic_fetch_add(&times_told, 1, __ATOMIC_SEQ_CST);
}

/// The first thread of a block waits until others have told so often. (It gives up in the end.)
CUDA_ON_CPU_NOT_ANALYSED __device__ __noinline__ void wait_until_told(int times) {
  if (threadIdx.x > 0) return;
  const time_t start = time(nullptr);
  while (__atomic_load_n(&times_told, __ATOMIC_SEQ_CST) < times)
    if (time(nullptr) > start + 20) return;
}

/// Gives others time to come first; what is told does not depend on it.
CUDA_ON_CPU_NOT_ANALYSED __device__ __noinline__ void nap() {
  const timespec time{.tv_sec = 0, .tv_nsec = 20'000'000};
  nanosleep(&time, nullptr);
}
