/// \file
/// Replaces the CUDA header of the same name: reductions over the threads of a group.

#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <typename Value = void>
struct plus {
  Value operator()(Value a, Value b) const { return a + b; }
};
template <typename Value = void>
struct less {
  Value operator()(Value a, Value b) const { return b < a ? b : a; }
};
template <typename Value = void>
struct greater {
  Value operator()(Value a, Value b) const { return a < b ? b : a; }
};
template <typename Value = void>
struct bit_and {
  Value operator()(Value a, Value b) const { return a & b; }
};
template <typename Value = void>
struct bit_or {
  Value operator()(Value a, Value b) const { return a | b; }
};
template <typename Value = void>
struct bit_xor {
  Value operator()(Value a, Value b) const { return a ^ b; }
};

/// Returns the value that the thread with rank `rank` passes to this function.
template <typename Group, typename Value>
Value value_of(const Group& group, Value value, unsigned rank) {
  if constexpr (std::is_base_of<tile_of_warps, Group>::value)
    return group.take(value, rank);
  else
    return group.shfl(value, rank);
}

/// Reduces the values of all threads of the group and returns the result to every thread.
template <typename Group, typename Value, typename Operation>
Value reduce(const Group& group, Value value, Operation&& operation) {
  // In each step, a thread combines its value with the value of the thread `step` ranks higher, if
  // there is such a thread. At the end, rank 0 has the reduction of all values.
  const unsigned rank = group.thread_rank();
  for (unsigned step = cuda_on_cpu::bit_ceil(group.size()) / 2; step > 0; step /= 2) {
    const bool has_other = rank + step < group.size();
    const Value other = value_of(group, value, has_other ? rank + step : rank);
    if (has_other) value = operation(value, other);
  }
  return group.shfl(value, 0);
}

}  // namespace cooperative_groups
