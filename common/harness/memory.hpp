/// \file
/// Counts the memory of arrays, and rejects arrays that would exceed the available memory.

#pragma once

#include <atomic>
#include <cstddef>

namespace staircase {

/// Counts the bytes of all existing arrays. All functions may be called from any thread.
class MemoryCount {
 public:
  /// Adds `bytes` and returns the new total.
  std::size_t add(std::size_t bytes) noexcept;
  void subtract(std::size_t bytes) noexcept { now_ -= bytes; }

  /// The largest total so far.
  std::size_t most() const noexcept { return most_; }

 private:
  std::atomic<std::size_t> now_ = 0, most_ = 0;
};

/// The counters of arrays in host memory and of arrays in device memory.
MemoryCount& host_arrays();
MemoryCount& device_arrays();

/// Adds `bytes` to the counter of host memory. The function must be called before the allocation.
/// \throws NotEnoughMemory if fewer bytes are available
void reserve(std::size_t bytes);

}  // namespace staircase
