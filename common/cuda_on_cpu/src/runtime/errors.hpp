/// \file
/// The last error and the current device of each host thread. A persistent error belongs to all
/// threads.

#pragma once

#include <string>

#include "cuda_on_cpu/runtime_api.hpp"

namespace cuda_on_cpu {

/// Records an error, which cudaGetLastError returns later. Returns the error.
/// \param reason the reason in the report if the program ignores the error
cudaError_t fail(cudaError_t error, std::string reason = {});

/// The error of a kernel that failed. Every later call returns this error.
cudaError_t& lasting_error();

/// The error that cudaGetLastError would return.
cudaError_t last_error_of_thread();

/// Restores the last error of this thread after a call of the driver API, because
/// `cudaGetLastError` does not return errors of that API.
/// \returns the reason why that call failed, or empty
std::string exchange_last_error(cudaError_t before);

/// Whether the program has called the runtime, which creates the primary context.
bool& runtime_is_used();

/// Resets the last error and the persistent error.
void forget_errors();

/// The current device of this host thread.
int& current_device();

}  // namespace cuda_on_cpu
