/// \file
/// Cuts loops into slices, and assigns an index to each slice of a nest: \ref slicing_a_loop.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace slicing {

using Index = std::int64_t;

/// Iterations of a loop: the first one, and the end (exclusive).
struct Range {
  Index first, last;
  bool operator==(const Range&) const = default;
};

/// A quotient, rounded up.
inline Index divide_up(Index n, Index by) { return (n + by - 1) / by; }

// [slice]
/// Slice s of a loop 0 <= i < n that is cut into `slices` slices of equal length.
inline Range slice(Index n, Index slices, Index s) {
  const Index length = divide_up(n, slices);
  return {s * length, std::min((s + 1) * length, n)};
}
// [slice]

/// Slice s of the same loop as in slice(), with the wrong bound that the chapter quotes from a
/// paper.
inline Range slice_as_printed(Index n, Index slices, Index s) {
  const Index length = divide_up(n, slices);
  return {s * length, std::min((s + 1) * length, slices)};
}

// [needed]
/// The number of slices that are needed for all iterations. All further slices are empty.
inline Index slices_needed(Index n, Index slices) {
  const Index length = divide_up(n, slices);
  return divide_up(n, length);
}
// [needed]

// [even]
/// Slice s of the same loop, cut into slices whose lengths differ by at most one iteration.
inline Range even_slice(Index n, Index slices, Index s) {
  return {s * n / slices, (s + 1) * n / slices};
}
// [even]

// [number]
/// g(e): the digits of e in mixed radix. Digit n selects a slice of loop n; digit 0 runs fastest.
inline std::vector<Index> g(Index e, const std::vector<Index>& slices) {
  std::vector<Index> digits;
  for (const Index radix : slices) {
    digits.push_back(e % radix);
    e /= radix;
  }
  return digits;
}

/// The inverse of g(): the index e of the slice with the given digits.
inline Index number_of(const std::vector<Index>& digits, const std::vector<Index>& slices) {
  Index e = 0;
  for (std::size_t n = slices.size(); n-- > 0;) e = e * slices[n] + digits[n];
  return e;
}
// [number]

// [loop 3]
/// Loop (3): all slices of a nest, one after the other. `work` receives the slice index e and the
/// range of each loop in this slice.
template <class Work>
void for_each_slice(const std::vector<Index>& extents, const std::vector<Index>& slices,
                    const Work& work) {
  Index count = 1;
  for (const Index radix : slices) count *= radix;
  for (Index e = 0; e < count; ++e) {
    const std::vector<Index> s = g(e, slices);
    std::vector<Range> ranges;
    for (std::size_t n = 0; n < s.size(); ++n) ranges.push_back(slice(extents[n], slices[n], s[n]));
    work(e, ranges);
  }
}
// [loop 3]

}  // namespace slicing
