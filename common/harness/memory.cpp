#include "memory.hpp"

#include <fmt/format.h>

#include <new>
#include <staircase/array.hpp>
#include <staircase/error.hpp>

#include "machine.hpp"

namespace staircase {
namespace {

/// The memory, in bytes, that was available when the first array was created. This value is the
/// limit for the total size of all arrays.
double memory_at_first() {
  static const double bytes = available_memory();
  return bytes;
}

}  // namespace

std::size_t MemoryCount::add(std::size_t bytes) noexcept {
  const std::size_t now = now_ += bytes;
  std::size_t most = most_;
  while (now > most && !most_.compare_exchange_weak(most, now)) {
  }
  return now;
}

MemoryCount& host_arrays() {
  static MemoryCount count;
  return count;
}

MemoryCount& device_arrays() {
  static MemoryCount count;
  return count;
}

void reserve(std::size_t bytes) {
  const double there = memory_at_first();
  const bool absurd = static_cast<double>(bytes) > there;  // the sum could overflow
  const std::size_t needed = absurd ? bytes : host_arrays().add(bytes);
  if (static_cast<double>(needed) <= there) return;
  if (!absurd) host_arrays().subtract(bytes);
  throw NotEnoughMemory(
      fmt::format("this problem needs at least {} bytes of host memory, and {:.0f} bytes are "
                  "available; choose a smaller problem",
                  needed, there));
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  reserve(bytes);
  return ::operator new (bytes, std::align_val_t{alignment});
}

void deallocate(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  ::operator delete (memory, std::align_val_t{alignment});
  host_arrays().subtract(bytes);
}

}  // namespace staircase
