/// \file
/// Replaces the Thrust header of the same name: reads one element in device memory.

#pragma once

#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/iterator/iterator_traits.h>
#include <thrust/system/cuda/config.h>
#include <thrust/system/cuda/detail/util.h>

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename Pointer>
thrust::detail::it_value_t<Pointer> get_value(execution_policy<Policy>& policy, Pointer pointer) {
  using Value = thrust::detail::it_value_t<Pointer>;
  const auto* from = thrust::raw_pointer_cast(pointer);
  if (cuda_on_cpu::is_on_device()) return *from;
  // On the host, only the bytes of the element are copied; its constructor and destructor are not
  // called.
  union Copied {
    Value value;
    Copied() {}
    ~Copied() {}
  } copied;
  throw_on_error(
      trivial_copy_from_device(&copied.value, const_cast<const Value*>(from), 1, stream(policy)),
      "an element of the device");
  return copied.value;
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
