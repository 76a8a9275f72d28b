/// \file
/// Fences, clocks and the end of a program, as CUDA names them.

#include <time.h>

#include <atomic>
#include <cstdlib>

#include "analysis.hpp"
#include "block.hpp"
#include "cuda_on_cpu/threads.hpp"
#include "launch.hpp"
#include "trouble.hpp"

using namespace cuda_on_cpu;

void __threadfence_block() {
  analysis::fence();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
void __threadfence() { __threadfence_block(); }
void __threadfence_system() { __threadfence_block(); }

void __nanosleep(unsigned) {
  block->current->place = __builtin_return_address(0);
  yield();
}

long long clock64() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

void __trap() { fatal("kernel " + block->launch->kernel + " called __trap()"); }
