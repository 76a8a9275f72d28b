/// \file
/// Replaces the Thrust header of the same name: unique_by_key and unique_by_key_copy run in one
/// thread of the device.

#pragma once

#include <thrust/system/cuda/config.h>
#include <thrust/system/detail/sequential/unique_by_key.h>

#include "cuda_on_cpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename... Arguments>
auto unique_by_key(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::unique_by_key(one_thread(), arguments...)) {
  return in_one_thread("thrust::unique_by_key", policy, [=](auto& one) {
    return system::detail::sequential::unique_by_key(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto unique_by_key_copy(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::unique_by_key_copy(one_thread(), arguments...)) {
  return in_one_thread("thrust::unique_by_key_copy", policy, [=](auto& one) {
    return system::detail::sequential::unique_by_key_copy(one, arguments...);
  });
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
