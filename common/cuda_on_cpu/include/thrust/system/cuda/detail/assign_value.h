/// \file
/// Found in place of Thrust's header: what becomes of an element that is assigned to.

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

/// The systems are those of `to` and of `from`.
template <typename System1, typename System2, typename To, typename From>
void assign_value(cross_system<System1, System2>& systems, To to, From from) {
  if (cuda_on_cpu::is_on_device())
    *thrust::raw_pointer_cast(to) = *thrust::raw_pointer_cast(from);
  else
    cuda_cub::copy(systems.rotate(), from, from + 1, to);
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
