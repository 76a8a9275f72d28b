/// \file
/// Replaces the Thrust header of the same name: adjacent_difference runs in one thread of the
/// device.

#pragma once

#include <thrust/system/cuda/config.h>
#include <thrust/system/detail/sequential/adjacent_difference.h>

#include "cuda_on_cpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename... Arguments>
auto adjacent_difference(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::adjacent_difference(one_thread(), arguments...)) {
  return in_one_thread("thrust::adjacent_difference", policy, [=](auto& one) {
    return system::detail::sequential::adjacent_difference(one, arguments...);
  });
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
