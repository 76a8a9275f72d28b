/// \file
/// Found in place of CUDA's own header: reductions over the threads of a group.

#pragma once

#include <algorithm>

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <typename T = void>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <typename T = void>
struct less {
  T operator()(T a, T b) const { return std::min(a, b); }
};
template <typename T = void>
struct greater {
  T operator()(T a, T b) const { return std::max(a, b); }
};
template <typename T = void>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <typename T = void>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <typename T = void>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

/// The value that the thread of a rank hands over.
template <typename Group, typename T>
T value_of(const Group& group, T value, unsigned rank) {
  if constexpr (std::is_base_of<tile_of_warps, Group>::value)
    return group.take(value, rank);
  else
    return group.shfl(value, rank);
}

/// Every thread gets the reduction of all threads' values.
template <typename Group, typename T, typename Operation>
T reduce(const Group& group, T value, Operation&& operation) {
  // A thread takes in the one `step` ranks above it, as long as there is one; the first has all at
  // last.
  const unsigned rank = group.thread_rank();
  for (unsigned step = cuda_on_cpu::bit_ceil(group.size()) / 2; step > 0; step /= 2) {
    const bool has_other = rank + step < group.size();
    const T other = value_of(group, value, has_other ? rank + step : rank);
    if (has_other) value = operation(value, other);
  }
  return group.shfl(value, 0);
}

}  // namespace cooperative_groups
