/// \file
/// CUDA's fences, clocks, traps and assertions.

#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../analysis.hpp"
#include "../diagnostics.hpp"
#include "block.hpp"
#include "cuda_on_cpu/threads.hpp"
#include "launch.hpp"

using namespace cuda_on_cpu;

namespace {

/// Reports an error and aborts the launch to which the running thread belongs. The sentence is
/// passed in three parts, because a thread of a kernel must not construct strings: the analysis
/// would check their accesses.
[[noreturn]] void fail_at(const void* place, const char* kind, const char* begin,
                          const char* middle, const char* end, cudaError_t error) {
  catch_up();
  {
    const Thread* thread = block->current;
    const DeviceAtWork at_work;
    report_diagnostic({.kind = kind,
                       .place = place,
                       .thread = thread,
                       .sentence = std::string(begin) + middle + end});
  }
  fail_launch(error);
}

}  // namespace

static void fence_for(analysis::Among among) {
  analysis::fence(among);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void __threadfence_block() { fence_for(analysis::Among::block); }
void __threadfence() { fence_for(analysis::Among::device); }
void __threadfence_system() { fence_for(analysis::Among::system); }

void __nanosleep(unsigned) {
  block->current->place = __builtin_return_address(0);
  yield();
}

namespace {

/// The time of a clock of the operating system in nanoseconds.
long long nanoseconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

}  // namespace

long long clock64() {
  constexpr long long ticks = 198, in = 100;  // 198 ticks in 100 ns, the clock rate of the device's
                                              // properties
  const long long now = nanoseconds(CLOCK_MONOTONIC);
  return now / in * ticks + now % in * ticks / in;
}

long long cuda_on_cpu::global_timer() { return nanoseconds(CLOCK_REALTIME); }

/// Returns the device's clock in cycles to a kernel, and the processor time of the process to the
/// host.
extern "C" clock_t clock() noexcept {
  if (is_on_device()) return clock64();
  return nanoseconds(CLOCK_PROCESS_CPUTIME_ID) / (1'000'000'000LL / CLOCKS_PER_SEC);
}

void __trap() {
  fail_at(__builtin_return_address(0), "trap", "the kernel ends itself by a trap", "", "",
          cudaErrorLaunchFailure);
}

void cuda_on_cpu::no_instructions(const char* text) {
  fatal(std::string("'").append(text).append("', PTX in a header of the toolkit, does not run on the CPU"));
}

/// The macro assert() calls this function. A failed assertion in a kernel ends the launch; in host
/// code it ends the program.
extern "C" void __assert_fail(const char* assertion, const char* file, unsigned line,
                              const char* function) noexcept {
  if (is_on_device()) {
    end_trial();
    catch_up();
  }
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s` failed.\n", file, line, function, assertion);
  if (block == nullptr || block->current == nullptr) std::abort();
  fail_at(__builtin_return_address(0), "failed assertion", "the assertion '", assertion,
          "' does not hold", cudaErrorAssert);
}
