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

/// Forgets both.
void forget_errors();

/// The device that this thread of the host has chosen.
int& current_device();

}  // namespace cuda_on_cpu
