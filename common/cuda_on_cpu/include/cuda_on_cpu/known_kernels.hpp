/// \file
/// Kernels that a program launches by an address of type `const void*`, as C code does.
///
/// The rewriter calls known() for each kernel name that the source casts to `void*`. It also
/// registers kernels whose address the source takes in another way. The runtime can then look up
/// the types of the parameters by the address.

#pragma once

#include <type_traits>

#include "graphs.hpp"

namespace cuda_on_cpu {

/// Registers the types of a kernel's parameters under its address.
/// \returns true
bool note_kernel(const KernelFunction& kernel);
/// The kernel at an address. If it is not registered, its parameters are unknown.
KernelFunction noted_kernel(const void* address);

/// Returns a value that is cast to `void*`, and registers it if it is a kernel.
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
