/// \file
/// Replaces the Thrust header of the same name: copies within the device, and between device and
/// host.

#pragma once

#include <thrust/detail/type_traits.h>
#include <thrust/system/cpp/detail/execution_policy.h>
#include <thrust/system/cuda/config.h>
#include <thrust/system/cuda/detail/cross_system.h>
#include <thrust/system/cuda/detail/execution_policy.h>

// The headers that are included below require these declarations.
THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename From, typename Size, typename To>
To copy_n(execution_policy<Policy>& policy, From first, Size count, To result);
template <typename Policy, typename From, typename To>
To copy(execution_policy<Policy>& policy, From first, From last, To result);
template <typename System1, typename System2, typename From, typename Size, typename To>
To copy_n(cross_system<System1, System2> systems, From first, Size count, To result);
template <typename System1, typename System2, typename From, typename To>
To copy(cross_system<System1, System2> systems, From first, From last, To result);

namespace __copy {
template <typename Device, typename Host, typename From, typename Size, typename To>
To cross_system_copy_n(execution_policy<Device>& device, cpp::execution_policy<Host>& host,
                       From first, Size count, To result, thrust::detail::false_type);
}  // namespace __copy

}  // namespace cuda_cub
THRUST_NAMESPACE_END

#include <thrust/system/cuda/detail/for_each.h>
#include <thrust/system/cuda/detail/internal/copy_cross_system.h>
#include <thrust/system/detail/generic/copy.h>
#include <thrust/uninitialized_copy.h>

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

template <typename Policy, typename From, typename Size, typename To>
To copy_n(execution_policy<Policy>& policy, From first, Size count, To result) {
  return system::detail::generic::copy_n(derived_cast(policy), first, count, result);
}

template <typename Policy, typename From, typename To>
To copy(execution_policy<Policy>& policy, From first, From last, To result) {
  return system::detail::generic::copy(derived_cast(policy), first, last, result);
}

namespace __copy {

/// Copies elements that are not trivially copyable from the device to the host. Thrust defines this
/// overload only for nvcc.
template <typename Device, typename Host, typename From, typename Size, typename To>
To cross_system_copy_n(execution_policy<Device>& device, cpp::execution_policy<Host>& host,
                       From first, Size count, To result, thrust::detail::false_type) {
  using Value = thrust::detail::it_value_t<From>;
  thrust::detail::temporary_array<Value, Device> on_device(device, count);
  thrust::uninitialized_copy_n(derived_cast(device), first, count, on_device.data());
  thrust::detail::temporary_array<Value, Host> on_host(host, count);
  throw_on_error(trivial_copy_from_device(thrust::raw_pointer_cast(on_host.data()),
                                          thrust::raw_pointer_cast(on_device.data()),
                                          static_cast<std::size_t>(count), stream(device)),
                 "thrust::copy");
  return thrust::copy_n(derived_cast(host), on_host.data(), count, result);
}

}  // namespace __copy

template <typename System1, typename System2, typename From, typename Size, typename To>
To copy_n(cross_system<System1, System2> systems, From first, Size count, To result) {
  return __copy::cross_system_copy_n(systems, first, count, result);
}

template <typename System1, typename System2, typename From, typename To>
To copy(cross_system<System1, System2> systems, From first, From last, To result) {
  return __copy::cross_system_copy(systems, first, last, result);
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
