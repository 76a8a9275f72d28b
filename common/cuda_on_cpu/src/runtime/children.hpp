/// \file
/// What threads of kernels ask of the runtime: launches, copies and fills, and streams and events
/// for these.
///
/// What a kernel asks for waits until its blocks have ended. Then it is done, each operation with
/// all that it asks for itself, before the next one; tails come last. A kernel cannot see the
/// difference, for it cannot wait for what it launches.

#pragma once

#include <functional>

#include "../machine/launch.hpp"
#include "stream.hpp"

namespace cuda_on_cpu {

/// The calls, by threads of kernels.
cudaError_t submit_in_kernel(const char* kernel, const Configuration& configuration,
                             Invocation invocation);
cudaError_t enqueue_in_kernel(cudaStream_t stream, std::function<bool(const Operation&)> work,
                              Moves moves, const void* place);
cudaError_t create_stream_in_kernel(cudaStream_t* stream, unsigned flags);
cudaError_t destroy_stream_in_kernel(cudaStream_t stream);
cudaError_t create_event_in_kernel(cudaEvent_t* event, unsigned flags);
cudaError_t destroy_event_in_kernel(cudaEvent_t event);
cudaError_t record_in_kernel(cudaEvent_t event, cudaStream_t stream);
cudaError_t wait_in_kernel(cudaStream_t stream, cudaEvent_t event);

/// Why a launch is refused, and what is wrong with it.
struct Refusal {
  cudaError_t error = cudaSuccess;
  std::string reason = {};
};
Refusal refusal_of(const char* kernel, const Configuration& configuration);

/// The launch that an operation with a kernel is.
std::unique_ptr<Launch> launch_of(const Operation& operation);

/// Does what kernels asked for that have run, and what comes of that.
/// \returns whether all came to its end
bool run_children(const Launches& launches, const CallOthers& call_others);

}  // namespace cuda_on_cpu
