/// \file
/// Declarations that a program with loop (4) of the chapter on slicing contains, so that it needs
/// no other file.

#pragma once

namespace slicer {

/// The definitions that all sliced programs need.
inline constexpr const char* prelude = R"(/// Definitions that loops over slices need.
namespace sliced {

/// A loop from `first` up to `last`, in at most `most` slices of equal length. The last slice may
/// be shorter, and no slice is empty.
struct Cut {
  Cut(long from, long to, long most)
      : first(from),
        last(std::max(from, to)),
        length(most > 1 ? (last - first) / most + ((last - first) % most > 0) : last - first),
        slices(length > 0 ? (last - first - 1) / length + 1 : 0) {}

  /// The beginning of slice s, and its end (exclusive).
  template <typename Index>
  std::pair<Index, Index> slice(long s) const {
    const long begin = first + s * length;
    return {static_cast<Index>(begin), static_cast<Index>(std::min(begin + length, last))};
  }

  long first, last, length, slices;
};
)";

/// Boxes on the host.
inline constexpr const char* box_prelude = R"(
/// A copy of the elements of an array from `first` up to `last` along each dimension. The elements
/// have the same subscripts as in the array.
template <typename Reference, std::size_t rank>
class Box {
 public:
  using Element = std::remove_cvref_t<Reference>;
  using Subscripts = std::array<long, rank>;

  /// Allocates the elements, without initial values.
  void hold(const Subscripts& first, const Subscripts& last) {
    first_ = first;
    long size = 1;
    for (std::size_t d = 0; d < rank; ++d) {
      extents_[d] = std::max(last[d] - first[d], 0L);
      size *= extents_[d];
    }
    if (size <= room_) return;
    elements_ = std::make_unique_for_overwrite<Element[]>(static_cast<std::size_t>(size));
    room_ = size;
  }

  /// a(i, j)
  template <typename... Subscript>
  Element& operator()(Subscript... subscript) const {
    long at = 0;
    std::size_t d = 0;
    ((at = at * extents_[d] + static_cast<long>(subscript) - first_[d], ++d), ...);
    return elements_[static_cast<std::size_t>(at)];
  }

  /// a[i][j]
  decltype(auto) operator[](long subscript) const { return Row<0>{*this, 0}[subscript]; }

 private:
  /// The part of the box that the first subscripts select.
  template <std::size_t known>
  struct Row {
    const Box& box;
    long at;
    decltype(auto) operator[](long subscript) const {
      const long next = at * box.extents_[known] + subscript - box.first_[known];
      if constexpr (known + 1 == rank)
        return (box.elements_[static_cast<std::size_t>(next)]);
      else
        return Row<known + 1>{box, next};
    }
  };

  Subscripts first_{}, extents_{};
  std::unique_ptr<Element[]> elements_;
  long room_ = 0;
};
)";

/// A box of a matrix that is stored as a vector.
inline constexpr const char* lines_prelude = R"(
/// A box of a matrix whose elements have the form a[i * row + j].
template <typename Reference>
class Line : public Box<Reference, 2> {
 public:
  void hold(const std::array<long, 2>& first, const std::array<long, 2>& last, long row) {
    Box<Reference, 2>::hold(first, last);
    row_ = row;
  }
  auto& operator[](long at) const { return (*this)(at / row_, at % row_); }

 private:
  long row_ = 1;
};
)";

/// Division that rounds down, as isl requires it.
inline constexpr const char* quotient_prelude = R"(
/// The quotient, rounded down. The divisor is positive.
inline long quotient(long dividend, long divisor) {
  return dividend / divisor - (dividend % divisor < 0);
}
)";

/// The pipeline that overlaps the serialisation of slices with computation.
inline constexpr const char* overlap_prelude = R"(
/// While a slice is computed, one thread serialises the next slice, and another thread deserialises
/// the previous one. All three synchronise after each phase, and exceptions are rethrown then.
inline void overlap(long slices, const std::function<void(long)>& serialise,
                    const std::function<void(long)>& kernel,
                    const std::function<void(long)>& deserialise) {
  for (long part = -1; slices > 0 && part <= slices; ++part) {
    std::future<void> next, before;
    if (part + 1 < slices) next = std::async(std::launch::async, std::cref(serialise), part + 1);
    if (part > 0) before = std::async(std::launch::async, std::cref(deserialise), part - 1);
    if (part >= 0 && part < slices) kernel(part);
    if (next.valid()) next.get();
    if (before.valid()) before.get();
  }
}
)";

inline constexpr const char* end_of_prelude = R"(
}  // namespace sliced
)";

}  // namespace slicer
