#include "errors.hpp"

#include <utility>

#include "../analysis.hpp"
#include "../indestructible.hpp"
#include "../machine/block.hpp"

namespace cuda_on_cpu {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

/// The last error of the calling thread, which is a host thread or a thread of a kernel.
cudaError_t& last_error_of_caller() {
  return is_on_device() ? changed_details_of(*block->current).last_error : last_error;
}

/// The reason of the last failed call of this host thread, or empty.
std::string& last_reason() {
  thread_local auto& reason = indestructible<std::string>();
  return reason;
}

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

constexpr ErrorText error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "driver shutting down"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidChannelDescriptor, "cudaErrorInvalidChannelDescriptor",
     "invalid channel descriptor"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {cudaErrorInvalidFilterSetting, "cudaErrorInvalidFilterSetting", "invalid filter setting"},
    {cudaErrorInvalidNormSetting, "cudaErrorInvalidNormSetting", "invalid norm setting"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorLaunchMaxDepthExceeded, "cudaErrorLaunchMaxDepthExceeded",
     "launch would exceed maximum depth of nested launches"},
    {cudaErrorLaunchPendingCountExceeded, "cudaErrorLaunchPendingCountExceeded",
     "launch would exceed maximum number of pending launches"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context"},
    {cudaErrorMapBufferObjectFailed, "cudaErrorMapBufferObjectFailed",
     "mapping of buffer object failed"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorUnsupportedLimit, "cudaErrorUnsupportedLimit",
     "limit is not supported on this architecture"},
    {cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported",
     "peer access is not supported between these two devices"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled",
     "peer access has not been enabled"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorHardwareStackError, "cudaErrorHardwareStackError", "hardware stack error"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
    {cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize",
     "a kernel launch error has occurred due to cluster misconfiguration"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const ErrorText* text_of(cudaError_t error) {
  for (const ErrorText& text : error_texts)
    if (text.error == error) return &text;
  return nullptr;
}

}  // namespace

cudaError_t fail(cudaError_t error, std::string reason) {
  if (error != cudaSuccess) last_error_of_caller() = error;
  void* const thread = leave_kernel();
  last_reason() = std::move(reason);
  return_to_kernel(thread);
  return error;
}

void drop(cudaError_t error) {
  // A failed kernel has already been reported, and not every error code indicates an error.
  if (!analysis::enabled || error == lasting_error() || error == cudaErrorNotReady ||
      error == cudaErrorPeerAccessAlreadyEnabled || error == cudaErrorCudartUnloading)
    return;
  const bool is_last = last_error_of_caller() == error;
  void* const thread = leave_kernel();
  const std::string reason = is_last ? last_reason() : "";
  analysis::error_dropped(__builtin_return_address(0), static_cast<const Thread*>(thread),
                          std::string(cudaGetErrorName(error)) + ", " + cudaGetErrorString(error) +
                              (reason.empty() ? "" : ": " + reason) +
                              "; the program ignores this error");
  return_to_kernel(thread);
}

cudaError_t& lasting_error() {
  static cudaError_t lasting = cudaSuccess;
  return lasting;
}

cudaError_t last_error_of_thread() { return last_error; }

std::string exchange_last_error(cudaError_t before) {
  last_error = before;
  return std::exchange(last_reason(), {});
}

bool& runtime_is_used() {
  static bool used = false;
  return used;
}

void forget_errors() { last_error = lasting_error() = cudaSuccess; }

int& current_device() {
  thread_local int device = 0;
  return device;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* text = text_of(error);
  return text == nullptr ? "unrecognized error code" : text->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* text = text_of(error);
  return text == nullptr ? "unrecognized error code" : text->text;
}

cudaError_t cudaGetLastError() {
  cudaError_t& last = last_error_of_caller();
  if (last != cudaSuccess) analysis::errors_looked_at();
  return std::exchange(last, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  const cudaError_t last = last_error_of_caller();
  if (last != cudaSuccess) analysis::errors_looked_at();
  return last;
}
