/// \file
/// Replaces the Thrust header of the same name: merge and merge_by_key run in one thread of the
/// device.

#pragma once

#include <thrust/system/cuda/config.h>
#include <thrust/system/detail/sequential/merge.h>

#include "cuda_on_cpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename... Arguments>
auto merge(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::merge(one_thread(), arguments...)) {
  return in_one_thread("thrust::merge", policy, [=](auto& one) {
    return system::detail::sequential::merge(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto merge_by_key(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::merge_by_key(one_thread(), arguments...)) {
  return in_one_thread("thrust::merge_by_key", policy, [=](auto& one) {
    return system::detail::sequential::merge_by_key(one, arguments...);
  });
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
