/// \file
/// What a thread of the host has by itself: the error of its last call that failed, and the device
/// that it has chosen; and the error that stays.

#pragma once

#include <string>

#include "cuda_on_cpu/runtime_api.hpp"

namespace cuda_on_cpu {

/// Notes an error, which cudaGetLastError tells; returns it.
/// \param reason what the report says of it, should nobody look at it
cudaError_t fail(cudaError_t error, std::string reason = {});

/// The error of a kernel that did not come to its end; every call returns it from then on.
cudaError_t& lasting_error();

/// The error that cudaGetLastError would tell.
cudaError_t last_error_of_thread();

/// Puts an error back that this thread had before a call of the driver, whose errors are not among
/// those that cudaGetLastError tells.
/// \returns why that call failed, where it was said
std::string exchange_last_error(cudaError_t before);

/// Whether the program has used the runtime, which then has made a context for it.
bool& runtime_is_used();

/// Forgets the last error, and the one that stays.
void forget_errors();

/// The device that this thread of the host has chosen.
int& current_device();

}  // namespace cuda_on_cpu
