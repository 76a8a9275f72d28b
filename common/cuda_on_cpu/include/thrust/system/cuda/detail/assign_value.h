/// \file
/// Replaces the Thrust header of the same name: assigns to one element in device memory.

#pragma once

#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/system/cuda/config.h>
#include <thrust/system/cuda/detail/copy.h>

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename To, typename From>
void assign_value(execution_policy<Policy>& policy, To to, From from) {
  if (cuda_on_cpu::is_on_device())
    *thrust::raw_pointer_cast(to) = *thrust::raw_pointer_cast(from);
  else
    cuda_cub::copy(policy, from, from + 1, to);
}

/// `systems` contains the systems of `to` and `from`, in this order.
template <typename System1, typename System2, typename To, typename From>
void assign_value(cross_system<System1, System2>& systems, To to, From from) {
  if (cuda_on_cpu::is_on_device())
    *thrust::raw_pointer_cast(to) = *thrust::raw_pointer_cast(from);
  else
    cuda_cub::copy(systems.rotate(), from, from + 1, to);
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
