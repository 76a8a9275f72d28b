/// \file
/// The memory that arrays take: counted as they are made, refused where there is not enough.

#pragma once

#include <atomic>
#include <cstddef>

namespace staircase {

/// Bytes that arrays hold; any thread may count.
class MemoryCount {
 public:
  /// Counts so many bytes more; returns how many there are now.
  std::size_t add(std::size_t bytes) noexcept;
  void subtract(std::size_t bytes) noexcept { now_ -= bytes; }

  /// The most bytes that were held at once.
  std::size_t most() const noexcept { return most_; }

 private:
  std::atomic<std::size_t> now_ = 0, most_ = 0;
};

/// What arrays hold of the host's memory, and of the device's.
MemoryCount& host_arrays();
MemoryCount& device_arrays();

/// Counts memory of the host that is about to be allocated.
/// \throws NotEnoughMemory if it is not there
void reserve(std::size_t bytes);

}  // namespace staircase
