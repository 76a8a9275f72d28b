/// \file
/// Replaces the Thrust header of the same name: allocates memory of the device heap in a kernel,
/// and host memory on the host.

#pragma once

#include <thrust/detail/config.h>
#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/system/detail/sequential/execution_policy.h>

#include <cstddef>
#include <cstdlib>

#include "cuda_on_cpu/core.hpp"

THRUST_NAMESPACE_BEGIN
namespace system::detail::sequential {

template <typename Policy>
void* malloc(execution_policy<Policy>&, std::size_t bytes) {
#ifdef CUDA_ON_CPU_ANALYSE
  return cuda_on_cpu::heap_malloc(bytes);
#else
  return std::malloc(bytes);
#endif
}

template <typename Policy, typename Pointer>
void free(execution_policy<Policy>&, Pointer memory) {
#ifdef CUDA_ON_CPU_ANALYSE
  cuda_on_cpu::heap_free(thrust::raw_pointer_cast(memory));
#else
  std::free(thrust::raw_pointer_cast(memory));
#endif
}

}  // namespace system::detail::sequential
THRUST_NAMESPACE_END
