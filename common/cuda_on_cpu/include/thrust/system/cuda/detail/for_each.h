/// \file
/// Replaces the Thrust header of the same name: for_each with one thread of the device per element.
/// Thrust implements further algorithms with for_each, such as transform, fill and gather.

#pragma once

#include <thrust/distance.h>
#include <thrust/system/cuda/config.h>
#include <thrust/system/detail/sequential/for_each.h>

#include "cuda_on_cpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename Iterator, typename Size, typename Function>
Iterator for_each_n(execution_policy<Policy>& policy, Iterator first, Size count,
                    Function function) {
  if (cuda_on_cpu::is_on_device()) {
    system::detail::sequential::tag one;
    return system::detail::sequential::for_each_n(one, first, count, function);
  }
  in_many_threads("thrust::for_each", policy, first, static_cast<std::size_t>(count), function);
  return first + count;
}

template <typename Policy, typename Iterator, typename Function>
Iterator for_each(execution_policy<Policy>& policy, Iterator first, Iterator last,
                  Function function) {
  return cuda_cub::for_each_n(policy, first, thrust::distance(first, last), function);
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
