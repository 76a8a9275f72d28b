/// \file
/// Dense arrays in row-major order: the last index runs fastest, everywhere in Staircase.

#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace staircase {

/// A dense row-major array that somebody else owns; `a(i, j)` is element `i * extent(1) + j`.
///
/// Copying a view copies no element. Indices are not checked.
template <typename T, std::size_t rank>
class View {
 public:
  constexpr View(T* data, std::array<std::size_t, rank> extents) : data_(data), extents_(extents) {}

  /// The element at one index a dimension.
  template <std::integral... Index>
  requires(sizeof...(Index) == rank) constexpr T& operator()(Index... index) const {
    return data_[offset(index...)];
  }

  /// The contiguous rest of the array behind the leading indices: row i of a matrix is `a.row(i)`.
  template <std::integral... Index>
  requires(sizeof...(Index) <
           rank) constexpr View<T, rank - sizeof...(Index)> row(Index... index) const {
    constexpr std::size_t rest = rank - sizeof...(Index);
    std::array<std::size_t, rest> extents{};
    std::size_t size = 1;
    for (std::size_t d = 0; d < rest; ++d) {
      extents[d] = extents_[sizeof...(Index) + d];
      size *= extents[d];
    }
    return {data_ + offset(index...) * size, extents};
  }

  constexpr std::size_t extent(std::size_t dimension) const { return extents_[dimension]; }
  constexpr T* data() const { return data_; }

  /// The same elements, not to be changed through this view.
  template <typename U>
  requires(!std::is_const_v<T> && std::is_same_v<U, const T>) constexpr operator View<U, rank>()
      const {
    return {data_, extents_};
  }

 private:
  /// Row-major offset of the leading indices (Horner's rule over the extents).
  template <std::integral... Index>
  constexpr std::size_t offset(Index... index) const {
    std::size_t dimension = 0;
    std::size_t sum = 0;
    ((sum = sum * extents_[dimension++] + static_cast<std::size_t>(index)), ...);
    return sum;
  }

  T* data_;
  std::array<std::size_t, rank> extents_;
};

/// Allocates elements that hold nothing until they are written.
template <typename T>
struct Unset : std::allocator<T> {
  template <typename U>
  struct rebind {
    using other = Unset<U>;
  };

  template <typename U>
  void construct(U* element) {
    std::uninitialized_default_construct_n(element, 1);
  }
  template <typename U, typename... Arguments>
  void construct(U* element, Arguments&&... arguments) {
    std::construct_at(element, std::forward<Arguments>(arguments)...);
  }
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
      : Array(Elements<T>((std::size_t{1} * ... * static_cast<std::size_t>(extent))),
              {static_cast<std::size_t>(extent)...}) {
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
  Array(Elements<T> values, std::array<std::size_t, rank> extents)
      : View<T, rank>(values.data(), extents), values_(std::move(values)) {}

  Elements<T> values_;
};

}  // namespace staircase
