/// \file
/// Dense arrays in host memory, in row-major order.

#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "view.hpp"

namespace staircase {

/// Allocates `bytes` bytes of host memory, aligned to `alignment` bytes. The harness counts the
/// allocated bytes (harness/memory.hpp).
/// \throws NotEnoughMemory if the machine has less memory available
void* allocate(std::size_t bytes, std::size_t alignment);
/// Frees memory that allocate() returned.
void deallocate(void* memory, std::size_t bytes, std::size_t alignment) noexcept;

/// An allocator for std::vector that leaves new elements uninitialised.
template <typename T>
struct UninitialisedAllocator {
  using value_type = T;

  UninitialisedAllocator() = default;
  template <typename U>
  constexpr UninitialisedAllocator(const UninitialisedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(staircase::allocate(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* elements, std::size_t count) {
    staircase::deallocate(elements, count * sizeof(T), alignof(T));
  }

  template <typename U>
  void construct(U* element) {
    ::new (static_cast<void*>(element)) U;
  }
  template <typename U, typename... Arguments>
  void construct(U* element, Arguments&&... arguments) {
    ::new (static_cast<void*>(element)) U(std::forward<Arguments>(arguments)...);
  }

  bool operator==(const UninitialisedAllocator&) const = default;
};

/// A vector that does not initialise its elements, which saves time if the program overwrites all
/// of them.
template <typename T>
using Elements = std::vector<T, UninitialisedAllocator<T>>;

/// Sets all elements to NaN, with all threads if the array is larger than 1 MiB. The operating
/// system maps each page at the first write to it. A single thread would therefore write more
/// slowly than the memory bandwidth allows.
void poison(std::span<double> elements);
void poison(std::span<float> elements);

/// A dense row-major array that owns its elements.
///
/// All elements are NaN at first, so that an element that is never written is visible in the
/// result.
template <std::floating_point T, std::size_t rank>
class Array : public View<T, rank> {
 public:
  template <std::integral... Extent>
  requires(sizeof...(Extent) == rank) explicit Array(Extent... extent)
      : Array(std::array{static_cast<std::size_t>(extent)...}) {
    poison(values_);
  }

  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  Array(Array&&) noexcept = default;
  Array& operator=(Array&&) noexcept = default;

  /// All elements in row-major order.
  std::span<const T> values() const { return values_; }

  /// Moves the elements out of the array, which must not be used afterwards.
  Elements<T> release() && { return std::move(values_); }

 private:
  explicit Array(const std::array<std::size_t, rank>& extents)
      : Array(Elements<T>(product(extents)), extents) {}
  Array(Elements<T> values, const std::array<std::size_t, rank>& extents)
      : View<T, rank>(values.data(), extents), values_(std::move(values)) {}

  Elements<T> values_;
};

}  // namespace staircase
