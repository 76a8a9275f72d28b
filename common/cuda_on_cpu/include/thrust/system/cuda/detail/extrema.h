/// \file
/// Replaces the Thrust header of the same name: min_element, max_element and minmax_element run in
/// one thread of the device.

#pragma once

#include <thrust/system/cuda/config.h>
#include <thrust/system/detail/sequential/extrema.h>

#include "cuda_on_cpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename... Arguments>
auto min_element(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::min_element(one_thread(), arguments...)) {
  return in_one_thread("thrust::min_element", policy, [=](auto& one) {
    return system::detail::sequential::min_element(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto max_element(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::max_element(one_thread(), arguments...)) {
  return in_one_thread("thrust::max_element", policy, [=](auto& one) {
    return system::detail::sequential::max_element(one, arguments...);
  });
}

template <typename Policy, typename... Arguments>
auto minmax_element(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::minmax_element(one_thread(), arguments...)) {
  return in_one_thread("thrust::minmax_element", policy, [=](auto& one) {
    return system::detail::sequential::minmax_element(one, arguments...);
  });
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
