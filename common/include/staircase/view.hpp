/// \file
/// Views of dense arrays in row-major order: elements that differ by 1 in the last index are
/// adjacent.

#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>

namespace staircase {

/// The number of elements of an array with the given extents. If the product overflows, the result
/// is the largest std::size_t.
template <std::size_t rank>
constexpr std::size_t product(const std::array<std::size_t, rank>& extents) {
  std::size_t size = 1;
  for (const std::size_t extent : extents)
    if (__builtin_mul_overflow(size, extent, &size)) return ~std::size_t{0};
  return size;
}

/// A non-owning reference to a dense row-major array. For a matrix, `a(i, j)` is element
/// `i * extent(1) + j`.
///
/// Copying a view copies no elements. Indices are not checked.
template <typename T, std::size_t rank>
class View {
 public:
  constexpr View(T* data, std::array<std::size_t, rank> extents) : data_(data), extents_(extents) {}

  /// The element at the given indices, one per dimension.
  template <std::integral... Index>
  requires(sizeof...(Index) == rank) constexpr T& operator()(Index... index) const {
    return data_[offset(index...)];
  }

  /// The contiguous part of the array with the given leading indices: row i of a matrix is
  /// `a.row(i)`.
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

  /// Converts to a read-only view of the same elements.
  template <typename U>
  requires(!std::is_const_v<T> && std::is_same_v<U, const T>) constexpr operator View<U, rank>()
      const {
    return {data_, extents_};
  }

 private:
  /// The row-major offset of the element with the given leading indices (Horner's rule over the
  /// extents).
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

}  // namespace staircase
