/// \file
/// Counts the memory of arrays, and rejects arrays that exceed the available memory.

#pragma once

#include <atomic>
#include <cstddef>

namespace staircase {

/// A counter of the bytes of existing arrays. All functions may be called by any thread.
class MemoryCount {
 public:
  /// Adds bytes; returns the new total.
  std::size_t add(std::size_t bytes) noexcept;
  void subtract(std::size_t bytes) noexcept { now_ -= bytes; }

  /// The largest total so far.
  std::size_t most() const noexcept { return most_; }

 private:
  std::atomic<std::size_t> now_ = 0, most_ = 0;
};

/// The counters for arrays in host memory and in device memory.
MemoryCount& host_arrays();
MemoryCount& device_arrays();

/// Adds `bytes` to the counter of host memory before they are allocated.
/// \throws NotEnoughMemory if they are not available
void reserve(std::size_t bytes);

}  // namespace staircase
