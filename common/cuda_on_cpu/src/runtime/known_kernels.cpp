/// \file
/// A registry of kernels by address.

#include "cuda_on_cpu/known_kernels.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "../indestructible.hpp"
#include "errors.hpp"

namespace cuda_on_cpu {
namespace {

struct Kernels {
  std::mutex mutex;
  std::map<const void*, KernelFunction> by_address;
};
Kernels& kernels() {
  static Kernels& all = indestructible<Kernels>();
  return all;
}

}  // namespace

bool note_kernel(const KernelFunction& kernel) {
  if (!kernel.has_parameters()) return true;
  const std::scoped_lock guard(kernels().mutex);
  kernels().by_address.insert_or_assign(static_cast<const void*>(static_cast<void*>(kernel)),
                                        kernel);
  return true;
}

KernelFunction noted_kernel(const void* address) {
  const std::scoped_lock guard(kernels().mutex);
  const auto found = kernels().by_address.find(address);
  return found == kernels().by_address.end() ? KernelFunction(const_cast<void*>(address))
                                             : found->second;
}

cudaError_t launch_noted(const void* kernel, const Configuration& configuration, void** arguments) {
  const KernelFunction function = noted_kernel(kernel);
  if (!function.has_parameters())
    return fail(kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle,
                "the pointer is not the address of a kernel, or the source never takes the address "
                "of this kernel");
  if (arguments == nullptr && function.takes_arguments()) return fail(cudaErrorInvalidValue);
  return submit(name_of(any_kernel(kernel)), configuration, function.copy(arguments).invocation);
}

}  // namespace cuda_on_cpu
