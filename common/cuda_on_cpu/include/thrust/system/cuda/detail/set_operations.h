/// \file
/// Replaces the Thrust header of the same name: set_difference, set_intersection,
/// set_symmetric_difference and set_union run in one thread of the device.

#pragma once

// Programs rely on the algorithms and iterators that the original header includes.
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/merge.h>
#include <thrust/reduce.h>
#include <thrust/reverse.h>
#include <thrust/transform_reduce.h>

#include <thrust/system/cuda/config.h>
#include <thrust/system/detail/sequential/set_operations.h>

#include "cuda_on_cpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename... Arguments>
auto set_difference(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::set_difference(one_thread(), arguments...)) {
  return in_one_thread("thrust::set_difference", policy, [=](auto& one) {
    return system::detail::sequential::set_difference(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto set_intersection(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::set_intersection(one_thread(), arguments...)) {
  return in_one_thread("thrust::set_intersection", policy, [=](auto& one) {
    return system::detail::sequential::set_intersection(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto set_symmetric_difference(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::set_symmetric_difference(one_thread(), arguments...)) {
  return in_one_thread("thrust::set_symmetric_difference", policy, [=](auto& one) {
    return system::detail::sequential::set_symmetric_difference(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto set_union(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::set_union(one_thread(), arguments...)) {
  return in_one_thread("thrust::set_union", policy, [=](auto& one) {
    return system::detail::sequential::set_union(one, arguments...);
  });
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
