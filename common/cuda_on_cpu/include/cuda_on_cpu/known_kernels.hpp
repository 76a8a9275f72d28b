/// \file
/// Kernels that a program launches by an address of type `const void*`, as C programs do.
///
/// The rewriter calls known() for each kernel name that the source casts to `void*`. The rewriter
/// also registers kernels whose addresses the source takes in other ways. The runtime can then look
/// up a kernel's parameter types by its address.

#pragma once

#include <type_traits>

#include "graphs.hpp"

namespace cuda_on_cpu {

/// Registers the parameter types of a kernel under its address.
/// \returns true
bool note_kernel(const KernelFunction& kernel);
/// Returns the kernel at an address. If the kernel is not registered, the result has no parameter
/// types.
KernelFunction noted_kernel(const void* address);

/// Returns its argument, which the source casts to `void*`. If the argument is a kernel, registers
/// it.
template <typename Value>
constexpr Value&& known(Value&& value) {
  using Function = std::remove_pointer_t<std::decay_t<Value>>;
  if constexpr (std::is_function_v<Function>)
    if (!__builtin_is_constant_evaluated()) note_kernel(KernelFunction(&*value));
  return static_cast<Value&&>(value);
}

cudaError_t launch_noted(const void* kernel, const Configuration& configuration, void** arguments);

}  // namespace cuda_on_cpu

inline cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared = 0, cudaStream_t stream = nullptr) {
  return cuda_on_cpu::launch_noted(kernel, cuda_on_cpu::configuration(grid, block, shared, stream),
                                   arguments);
}
inline cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block,
                                               void** arguments, std::size_t shared = 0,
                                               cudaStream_t stream = nullptr) {
  auto configuration = cuda_on_cpu::configuration(grid, block, shared, stream);
  configuration.cooperative = true;
  return cuda_on_cpu::launch_noted(kernel, configuration, arguments);
}
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                       void** arguments) {
  return cuda_on_cpu::launch_noted(kernel, cuda_on_cpu::configuration(*config), arguments);
}
