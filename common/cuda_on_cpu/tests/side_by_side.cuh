/// \file
/// Signals between blocks, which the analysis ignores. With these signals, tests determine the
/// order of operations in concurrent blocks.

#pragma once

#include <time.h>

#include <cstdlib>
#include <string_view>
#include <thread>

/// The number of signals that blocks have sent.
inline int times_told = 0;

/// Whether one operating-system thread runs all blocks in order, as in programs compiled by
/// clang++.
inline bool has_one_worker() {
#ifdef __clang__
  return true;
#endif
  const char* workers = std::getenv("CUDA_ON_CPU_THREADS");
  return workers != nullptr ? std::string_view(workers) == "1"
                            : std::thread::hardware_concurrency() == 1;
}

/// Resets the number of signals. If blocks run in order, the number is set so high that no wait
/// blocks.
inline void begin_to_tell() { times_told = has_one_worker() ? 1 << 20 : 0; }

/// Sends a signal from the first thread of a block.
CUDA_ON_CPU_NOT_ANALYSED __device__ __noinline__ void tell() {
  if (threadIdx.x == 0) __atomic_fetch_add(&times_told, 1, __ATOMIC_SEQ_CST);
}

/// Makes the first thread of a block wait for a number of signals, up to a time limit.
CUDA_ON_CPU_NOT_ANALYSED __device__ __noinline__ void wait_until_told(int times) {
  if (threadIdx.x > 0) return;
  const time_t start = time(nullptr);
  while (__atomic_load_n(&times_told, __ATOMIC_SEQ_CST) < times)
    if (time(nullptr) > start + 20) return;
}

/// Gives other blocks time to run first. The results do not depend on this pause.
CUDA_ON_CPU_NOT_ANALYSED __device__ __noinline__ void nap() {
  const timespec time{.tv_sec = 0, .tv_nsec = 20'000'000};
  nanosleep(&time, nullptr);
}
