/// \file
/// Replaces the Thrust header of the same name: reduce runs in one thread of the device.

#pragma once

// Programs rely on the algorithms and iterators that the original header includes.
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>

#include <thrust/system/cuda/config.h>
#include <thrust/system/detail/sequential/reduce.h>

#include "cuda_on_cpu/thrust.hpp"

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename... Arguments>
auto reduce(execution_policy<Policy>& policy, Arguments... arguments)
    -> decltype(system::detail::sequential::reduce(one_thread(), arguments...)) {
  return in_one_thread("thrust::reduce", policy, [=](auto& one) {
    return system::detail::sequential::reduce(one, arguments...);
  });
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
