/// \file
/// Kernels that call a closure. The replacements for the algorithms of Thrust and CUB use these
/// kernels.

#pragma once

#include <memory>
#include <utility>

#include "core.hpp"
#include "runtime_api.hpp"

namespace cuda_on_cpu {

// The closure is the argument of the kernel, so the kernel may always access it.
template <typename Closure>
__global__ void perform(Closure* closure) {
  (*closure)();
}

/// Launches a kernel with the given name. Each thread of the kernel calls the closure.
template <typename Closure>
cudaError_t launch_closure(const char* name, dim3 grid, dim3 block, cudaStream_t stream,
                           std::shared_ptr<Closure> closure) {
  void* const object = closure.get();
  auto* const owner = new std::shared_ptr<Closure>(std::move(closure));
  Owned owned(object, owner, [](void* of) { delete static_cast<std::shared_ptr<Closure>*>(of); });
  Invocation invocation{std::move(owned), sizeof(Closure),
                        [](void* given)
                            CUDA_ON_CPU_NOT_ANALYSED { perform(static_cast<Closure*>(given)); }};
#ifdef CUDA_ON_CPU_ANALYSE
  invocation.callers = callers();
#endif
  return submit(name, configuration(grid, block, 0, stream), std::move(invocation));
}

}  // namespace cuda_on_cpu
