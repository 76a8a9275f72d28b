/// \file
/// Replaces the Thrust header of the same name: streams, copies and errors of the device.

#pragma once

#include <thrust/system/cuda/config.h>
#include <thrust/system/cuda/detail/execution_policy.h>
#include <thrust/system/cuda/error.h>
#include <thrust/system_error.h>

THRUST_NAMESPACE_BEGIN
namespace cuda_cub {

inline cudaStream_t default_stream() {
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  return cudaStreamPerThread;
#else
  return cudaStreamLegacy;
#endif
}

// A policy overloads these functions to select its stream, or to make synchronisation optional.
template <typename Policy>
cudaStream_t get_stream(execution_policy<Policy>&) {
  return default_stream();
}
template <typename Policy>
bool must_perform_optional_stream_synchronization(execution_policy<Policy>&) {
  return true;
}

template <typename Policy>
cudaStream_t stream(execution_policy<Policy>& policy) {
  return get_stream(derived_cast(policy));
}

template <typename Policy>
cudaError_t synchronize(execution_policy<Policy>& policy) {
  return cudaStreamSynchronize(stream(policy));
}

template <typename Policy>
cudaError_t synchronize_optional(execution_policy<Policy>& policy) {
  return must_perform_optional_stream_synchronization(derived_cast(policy)) ? synchronize(policy)
                                                                            : cudaSuccess;
}

/// If a call has failed, clears the last error of the runtime and throws an exception.
inline void throw_on_error(cudaError_t status, const char* what = "the device failed") {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw system_error(status, cuda_category(), what);
}

template <typename Value>
cudaError_t trivial_copy(Value* to, const Value* from, std::size_t count, cudaMemcpyKind kind,
                         cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const cudaError_t status = cudaMemcpyAsync(to, from, count * sizeof(Value), kind, stream);
  return status == cudaSuccess ? cudaStreamSynchronize(stream) : status;
}
template <typename Value>
cudaError_t trivial_copy_from_device(Value* to, const Value* from, std::size_t count,
                                     cudaStream_t stream) {
  return trivial_copy(to, from, count, cudaMemcpyDeviceToHost, stream);
}
template <typename Value>
cudaError_t trivial_copy_to_device(Value* to, const Value* from, std::size_t count,
                                   cudaStream_t stream) {
  return trivial_copy(to, from, count, cudaMemcpyHostToDevice, stream);
}

}  // namespace cuda_cub
THRUST_NAMESPACE_END
