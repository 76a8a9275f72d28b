/// \file
/// How threads of a team tell each other their parts of a sum, with one barrier per step that is no
/// more than that.

#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace durbin_levinson {

// [Exchange]
/// Where the threads of a team leave their parts of a sum for each other.
template <typename T>
class Exchange {
 public:
  explicit Exchange(std::size_t threads) : slots_(2 * threads) {}

  /// The sum of the parts of all threads of the team, and a barrier: what a thread has written
  /// before, all may read now. Each has two slots, since those of step k may still be read when the
  /// first thread is done with step k + 1, and none is with k + 2.
  T sum(std::size_t k, std::size_t me, std::size_t team, T part) {
    Slot* const slots = &slots_[k % 2 * (slots_.size() / 2)];
    slots[me].part = part;
    slots[me].step.store(k, std::memory_order_release);
    T sum = 0;
    for (std::size_t t = 0; t < team; ++t) {
      for (int tries = 0; slots[t].step.load(std::memory_order_acquire) != k;)
        if (++tries % 1000 == 0) std::this_thread::yield();  // it may wait for this very core
      sum += slots[t].part;
    }
    return sum;
  }

 private:
  /// Two lines of the cache, since processors fetch lines by pairs.
  struct alignas(128) Slot {
    std::atomic<std::size_t> step{0};
    T part;
  };
  std::vector<Slot> slots_;
};
// [Exchange]

}  // namespace durbin_levinson
