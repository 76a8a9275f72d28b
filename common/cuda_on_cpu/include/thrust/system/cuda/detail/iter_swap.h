/// \file
/// Replaces the Thrust header of the same name: swaps two elements.

#pragma once

#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/swap.h>
#include <thrust/system/cuda/config.h>
#include <thrust/system/cuda/detail/execution_policy.h>

#include <cuda/std/utility>

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename Pointer1, typename Pointer2>
void iter_swap(execution_policy<Policy>& policy, Pointer1 a, Pointer2 b) {
  using ::cuda::std::swap;
  if (cuda_on_cpu::is_on_device())
    swap(*thrust::raw_pointer_cast(a), *thrust::raw_pointer_cast(b));
  else
    thrust::swap_ranges(derived_cast(policy), a, a + 1, b);
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
