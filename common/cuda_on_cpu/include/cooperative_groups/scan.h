/// \file
/// Found in place of CUDA's own header: scans over the threads of a group.

#pragma once

#include "reduce.h"

namespace cooperative_groups {

/// Thread i gets the reduction of the values of threads 0 to i.
template <typename Group, typename T, typename Operation>
T inclusive_scan(const Group& group, T value, Operation&& operation) {
  const unsigned rank = group.thread_rank();
  for (unsigned step = 1; step < group.size(); step *= 2) {
    const T other = value_of(group, value, rank >= step ? rank - step : rank);
    if (rank >= step) value = operation(other, value);
  }
  return value;
}
template <typename Group, typename T>
T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}

/// Thread i gets the reduction of the values of threads 0 to i - 1; thread 0 gets T().
template <typename Group, typename T, typename Operation>
T exclusive_scan(const Group& group, T value, Operation&& operation) {
  const unsigned rank = group.thread_rank();
  const T up_to_here = inclusive_scan(group, value, operation);
  const T before = value_of(group, up_to_here, rank == 0 ? 0 : rank - 1);
  return rank == 0 ? T() : before;
}
template <typename Group, typename T>
T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
