#include "host_polling.hpp"

#include <chrono>
#include <ctime>

#include "../analysis.hpp"
#include "../indestructible.hpp"
#include "cuda_on_cpu/threads.hpp"
#include "stream.hpp"

namespace cuda_on_cpu {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct Polls {
  std::condition_variable_any changed;
  bool watched = false;
  bool idle = false;                ///< whether the watching thread waits for an operation
  std::atomic<bool> asked = false;  ///< whether the analysis, or an atomic operation, has detected
                                    ///< a polling host
  bool called = false;              ///< whether the watching thread has to call `perform_wanted`
  bool known = false;               ///< whether the host has polled undetected before
};

Polls& polls() {
  static auto& polls = indestructible<Polls>();
  return polls;
}

/// A point in time, in processor time and in wall-clock time.
struct Moment {
  std::clock_t of_processor = std::clock();
  Clock::time_point of_clock = Clock::now();

  bool is_before(std::clock_t work, Clock::duration time) const {
    return std::clock() - of_processor > work || Clock::now() - of_clock > time;
  }
};

/// Two intervals: the time since the host last called the runtime, and the time since the streams
/// last advanced.
struct Silence {
  std::uint64_t calls = calls_of_runtime();
  Moment since_call = {}, since_begin = {};

  /// Whether the time is so long that the host probably polls undetected. A host that computes for
  /// a long time counts as polling, which does no harm. A sleeping host is given more time.
  bool is_long() {
    if (calls != calls_of_runtime()) {
      calls = calls_of_runtime();
      since_call = {};
    }
    if (polls().known) return since_call.is_before(CLOCKS_PER_SEC / 100, 50ms);
    // The limit is longer in analysed programs, because the analysis detects nearly all polling
    // loops and slows the host down.
    constexpr std::clock_t seen = 2 * CLOCKS_PER_SEC, unseen = CLOCKS_PER_SEC / 4;
    return since_call.is_before(analysis::enabled ? seen : unseen, 5000ms) ||
           since_begin.is_before(5 * CLOCKS_PER_SEC, 20000ms);
  }
};

void watch() {
  std::unique_lock lock(runtime_mutex());
  Polls& p = polls();
  for (;;) {
    p.idle = true;
    while (!any_is_pending()) p.changed.wait(lock);
    p.idle = false;
    for (Silence silence; any_is_pending();) {
      p.changed.wait_for(lock, p.known ? 1ms : 50ms, [&] { return p.called || p.asked; });
      if (std::exchange(p.called, false)) perform_wanted();
      const bool is_seen = p.asked;
      if (!is_seen && !silence.is_long()) continue;
      p.known = p.known || !is_seen;
      advance_streams();
      p.asked = false;
      silence = {};
    }
  }
}

}  // namespace

void watch_for_polling_hosts() {
  Polls& p = polls();
  if (!p.watched) std::thread(watch).detach();
  p.watched = true;
  if (p.idle) p.changed.notify_one();
}

void call_for_thread() {
  polls().called = true;
  polls().changed.notify_one();
}

void forget_polling_hosts() { polls().asked = false; }

unsigned threads_for_polling_hosts() { return polls().watched ? 1 : 0; }

void host_looks() {
  constexpr unsigned most = 64;
  thread_local std::uint64_t calls = 0;
  thread_local unsigned looks = 0;
  if (calls != calls_of_thread()) looks = 0;
  calls = calls_of_thread();
  if (++looks % most != 0 || !any_is_pending() || polls().asked.exchange(true)) return;
  polls().changed.notify_one();  // if the notification is lost, the thread soon wakes up by its
                                 // timeout
}

}  // namespace cuda_on_cpu
