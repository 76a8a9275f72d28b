/// \file
/// Dense arrays in the host's memory, in row-major order.

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

/// Allocates memory of the host, which is counted (harness/memory.hpp), and gives it back.
/// \throws NotEnoughMemory if the machine has not so much of it
void* allocate(std::size_t bytes, std::size_t alignment);
void deallocate(void* memory, std::size_t bytes, std::size_t alignment) noexcept;

/// Allocates elements that hold nothing until they are written.
template <typename T>
struct Unset {
  using value_type = T;

  Unset() = default;
  template <typename U>
  constexpr Unset(const Unset<U>&) {}

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

  bool operator==(const Unset&) const = default;
};

/// A vector that takes no time to set elements that are to be written anyway.
template <typename T>
using Elements = std::vector<T, Unset<T>>;

/// Sets all elements to NaN: with all threads if they are many, so that the pages of fresh memory
/// come to be at the speed of the memory and not of one core.
void poison(std::span<double> elements);
void poison(std::span<float> elements);

/// A dense row-major array that owns its elements.
///
/// It is born poisoned (NaN), so that an element that was never written is seen in the result.
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

  std::span<const T> values() const { return values_; }

  /// Hands the elements over; the array must not be used afterwards.
  Elements<T> release() && { return std::move(values_); }

 private:
  explicit Array(const std::array<std::size_t, rank>& extents)
      : Array(Elements<T>(product(extents)), extents) {}
  Array(Elements<T> values, const std::array<std::size_t, rank>& extents)
      : View<T, rank>(values.data(), extents), values_(std::move(values)) {}

  Elements<T> values_;
};

}  // namespace staircase
