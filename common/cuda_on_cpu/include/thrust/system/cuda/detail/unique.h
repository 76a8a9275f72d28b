/// \file
/// Replaces the Thrust header of the same name: unique, unique_copy and unique_count run in one
/// thread of the device.

#pragma once

#include <thrust/system/cuda/config.h>
#include <thrust/system/detail/sequential/unique.h>

#include "cuda_on_cpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename... Arguments>
auto unique(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::unique(one_thread(), arguments...)) {
  return in_one_thread("thrust::unique", policy, [=](auto& one) {
    return system::detail::sequential::unique(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto unique_copy(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::unique_copy(one_thread(), arguments...)) {
  return in_one_thread("thrust::unique_copy", policy, [=](auto& one) {
    return system::detail::sequential::unique_copy(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto unique_count(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::unique_count(one_thread(), arguments...)) {
  return in_one_thread("thrust::unique_count", policy, [=](auto& one) {
    return system::detail::sequential::unique_count(one, arguments...);
  });
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
