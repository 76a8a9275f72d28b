/// \file
/// Replaces the Thrust header of the same name: inclusive_scan and exclusive_scan run in one thread
/// of the device.

#pragma once

#include <thrust/system/cuda/config.h>
#include <thrust/system/detail/sequential/scan.h>

#include "cuda_on_cpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename... Arguments>
auto inclusive_scan(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::inclusive_scan(one_thread(), arguments...)) {
  return in_one_thread("thrust::inclusive_scan", policy, [=](auto& one) {
    return system::detail::sequential::inclusive_scan(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto exclusive_scan(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::exclusive_scan(one_thread(), arguments...)) {
  return in_one_thread("thrust::exclusive_scan", policy, [=](auto& one) {
    return system::detail::sequential::exclusive_scan(one, arguments...);
  });
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
