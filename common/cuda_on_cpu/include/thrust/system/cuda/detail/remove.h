/// \file
/// Replaces the Thrust header of the same name: remove_if and remove_copy_if run in one thread of
/// the device.

#pragma once

#include <thrust/system/cuda/config.h>
#include <thrust/system/detail/sequential/remove.h>

#include "cuda_on_cpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename... Arguments>
auto remove_if(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::remove_if(one_thread(), arguments...)) {
  return in_one_thread("thrust::remove_if", policy, [=](auto& one) {
    return system::detail::sequential::remove_if(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto remove_copy_if(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::remove_copy_if(one_thread(), arguments...)) {
  return in_one_thread("thrust::remove_copy_if", policy, [=](auto& one) {
    return system::detail::sequential::remove_copy_if(one, arguments...);
  });
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
