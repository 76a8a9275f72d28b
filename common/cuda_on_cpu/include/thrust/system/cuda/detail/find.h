/// \file
/// Replaces the Thrust header of the same name: find_if runs in one thread of the device.

#pragma once

#include <thrust/system/cuda/config.h>
#include <thrust/system/detail/sequential/find.h>

#include "cuda_on_cpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename... Arguments>
auto find_if(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::find_if(one_thread(), arguments...)) {
  return in_one_thread("thrust::find_if", policy, [=](auto& one) {
    return system::detail::sequential::find_if(one, arguments...);
  });
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
