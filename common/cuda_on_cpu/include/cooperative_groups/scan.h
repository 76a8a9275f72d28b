/// \file
/// Replaces the CUDA header of the same name: scans over the threads of a group.

#pragma once

#include "reduce.h"

namespace cooperative_groups {

/// Computes an inclusive scan: the thread with rank i receives the reduction of the values of ranks
/// 0 to i.
template <typename Group, typename Value, typename Operation>
Value inclusive_scan(const Group& group, Value value, Operation&& operation) {
  const unsigned rank = group.thread_rank();
  for (unsigned step = 1; step < group.size(); step *= 2) {
    const Value other = value_of(group, value, rank >= step ? rank - step : rank);
    if (rank >= step) value = operation(other, value);
  }
  return value;
}
template <typename Group, typename Value>
Value inclusive_scan(const Group& group, Value value) {
  return inclusive_scan(group, value, plus<Value>());
}

/// Computes an exclusive scan: the thread with rank i receives the reduction of the values of ranks
/// 0 to i - 1. Rank 0 receives Value().
template <typename Group, typename Value, typename Operation>
Value exclusive_scan(const Group& group, Value value, Operation&& operation) {
  const unsigned rank = group.thread_rank();
  const Value up_to_here = inclusive_scan(group, value, operation);
  const Value before = value_of(group, up_to_here, rank == 0 ? 0 : rank - 1);
  return rank == 0 ? Value() : before;
}
template <typename Group, typename Value>
Value exclusive_scan(const Group& group, Value value) {
  return exclusive_scan(group, value, plus<Value>());
}

}  // namespace cooperative_groups
