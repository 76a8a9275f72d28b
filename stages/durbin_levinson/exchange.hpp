/// \file
/// An all-reduce among the threads of a team: the exchange of partial sums is also the barrier of a
/// step.

#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace durbin_levinson {

// [Exchange]
/// Slots in which the threads of a team publish their partial sums.
template <typename T>
class Exchange {
 public:
  explicit Exchange(std::size_t threads) : slots_(2 * threads) {}

  /// Returns the sum of the parts of all threads of the team. The call is also a barrier:
  /// afterwards, each thread may read all values that any thread wrote before the call. Each thread
  /// has two slots. A slow thread may still read the slots of step k while a fast thread stores its
  /// part of step k + 1. No thread can store its part of step k + 2 at that time.
  T sum(std::size_t k, std::size_t me, std::size_t team, T part) {
    Slot* const slots = &slots_[k % 2 * (slots_.size() / 2)];
    slots[me].part = part;
    slots[me].step.store(k, std::memory_order_release);
    T sum = 0;
    for (std::size_t t = 0; t < team; ++t) {
      for (int tries = 0; slots[t].step.load(std::memory_order_acquire) != k;)
        if (++tries % 1000 == 0) std::this_thread::yield();  // thread t may need this core
      sum += slots[t].part;
    }
    return sum;
  }

 private:
  /// A slot occupies two cache lines, because processors fetch lines in pairs.
  struct alignas(128) Slot {
    std::atomic<std::size_t> step{0};
    T part;
  };
  std::vector<Slot> slots_;
};
// [Exchange]

}  // namespace durbin_levinson
