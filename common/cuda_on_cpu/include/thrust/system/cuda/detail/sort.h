/// \file
/// Replaces the Thrust header of the same name: stable_sort and stable_sort_by_key run in one
/// thread of the device.

#pragma once

// Programs rely on the algorithms and iterators that the original header includes.
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/sequence.h>
#include <thrust/tabulate.h>
#include <thrust/transform_reduce.h>

#include <thrust/system/cuda/config.h>
#include <thrust/system/detail/sequential/sort.h>

#include "cuda_on_cpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename... Arguments>
auto stable_sort(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::stable_sort(one_thread(), arguments...)) {
  return in_one_thread("thrust::stable_sort", policy, [=](auto& one) {
    return system::detail::sequential::stable_sort(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto stable_sort_by_key(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::stable_sort_by_key(one_thread(), arguments...)) {
  return in_one_thread("thrust::stable_sort_by_key", policy, [=](auto& one) {
    return system::detail::sequential::stable_sort_by_key(one, arguments...);
  });
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
