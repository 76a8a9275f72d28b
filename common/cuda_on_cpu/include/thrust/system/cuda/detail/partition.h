/// \file
/// Replaces the Thrust header of the same name: partition, stable_partition and
/// stable_partition_copy run in one thread of the device.

#pragma once

// Programs rely on the algorithms and iterators that the original header includes.
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/sequence.h>
#include <thrust/tabulate.h>

#include <thrust/system/cuda/config.h>
#include <thrust/system/detail/sequential/partition.h>

#include "cuda_on_cpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename... Arguments>
auto partition(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::partition(one_thread(), arguments...)) {
  return in_one_thread("thrust::partition", policy, [=](auto& one) {
    return system::detail::sequential::partition(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto stable_partition(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::stable_partition(one_thread(), arguments...)) {
  return in_one_thread("thrust::stable_partition", policy, [=](auto& one) {
    return system::detail::sequential::stable_partition(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto stable_partition_copy(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::stable_partition_copy(one_thread(), arguments...)) {
  return in_one_thread("thrust::stable_partition_copy", policy, [=](auto& one) {
    return system::detail::sequential::stable_partition_copy(one, arguments...);
  });
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
