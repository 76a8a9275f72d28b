/// \file
/// Replaces the Thrust header of the same name: allocates device memory; in a kernel, allocates
/// memory of the device heap.

#pragma once

#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/system/cuda/config.h>
#include <thrust/system/cuda/detail/util.h>
#include <thrust/system/detail/bad_alloc.h>
#include <thrust/system/detail/sequential/malloc_and_free.h>

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy>
void* malloc(execution_policy<Policy>&, std::size_t bytes) {
  system::detail::sequential::tag one;
  if (cuda_on_cpu::is_on_device()) return system::detail::sequential::malloc(one, bytes);
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaSuccess) return memory;
  (void)cudaGetLastError();
  throw system::detail::bad_alloc(cuda_category().message(status));
}

template <typename Policy, typename Pointer>
void free(execution_policy<Policy>&, Pointer memory) {
  system::detail::sequential::tag one;
  if (cuda_on_cpu::is_on_device())
    system::detail::sequential::free(one, memory);
  else
    throw_on_error(cudaFree(thrust::raw_pointer_cast(memory)), "memory is given back");
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
