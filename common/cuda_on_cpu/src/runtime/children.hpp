/// \file
/// Calls of the runtime by threads of kernels: launches, copies, memsets, and their streams and
/// events.
///
/// The work that a kernel launches waits until the blocks of the kernel have ended. Then each
/// operation and all its descendants run before the next operation; tail launches run last. A
/// kernel cannot observe this order, because it cannot wait for its launches.

#pragma once

#include <functional>

#include "../machine/launch.hpp"
#include "stream.hpp"

namespace cuda_on_cpu {

/// The calls of the runtime by threads of kernels.
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

/// The error of a refused launch, and its reason.
struct Refusal {
  cudaError_t error = cudaSuccess;
  std::string reason = {};
};
Refusal refusal_of(const char* kernel, const Configuration& configuration);

/// The launch of an operation that contains a kernel.
std::unique_ptr<Launch> launch_of(const Operation& operation);

/// Runs all operations that finished kernels have launched, and their descendants.
/// \returns whether all ran to their end
bool run_children(const Launches& launches, const CallOthers& call_others);

}  // namespace cuda_on_cpu
