/// \file
/// Found in place of CUDA's own header: scans over the lanes of a group.

#pragma once

#include "reduce.h"

namespace cooperative_groups {

/// Lane i gets the reduction of the values of lanes 0 to i.
template <typename Group, typename T, typename Operation>
T inclusive_scan(const Group& group, T value, Operation&& operation) {
  for (unsigned step = 1; step < group.size(); step *= 2) {
    const T other = group.shfl_up(value, step);
    if (group.thread_rank() >= step) value = operation(other, value);
  }
  return value;
}
template <typename Group, typename T>
T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}

/// Lane i gets the reduction of the values of lanes 0 to i - 1; lane 0 gets T().
template <typename Group, typename T, typename Operation>
T exclusive_scan(const Group& group, T value, Operation&& operation) {
  const T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <typename Group, typename T>
T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
