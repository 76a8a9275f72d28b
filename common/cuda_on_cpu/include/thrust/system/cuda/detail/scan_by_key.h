/// \file
/// Replaces the Thrust header of the same name: inclusive_scan_by_key and exclusive_scan_by_key run
/// in one thread of the device.

#pragma once

#include <thrust/system/cuda/config.h>
#include <thrust/system/detail/sequential/scan_by_key.h>

#include "cuda_on_cpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename... Arguments>
auto inclusive_scan_by_key(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::inclusive_scan_by_key(one_thread(), arguments...)) {
  return in_one_thread("thrust::inclusive_scan_by_key", policy, [=](auto& one) {
    return system::detail::sequential::inclusive_scan_by_key(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto exclusive_scan_by_key(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::exclusive_scan_by_key(one_thread(), arguments...)) {
  return in_one_thread("thrust::exclusive_scan_by_key", policy, [=](auto& one) {
    return system::detail::sequential::exclusive_scan_by_key(one, arguments...);
  });
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
