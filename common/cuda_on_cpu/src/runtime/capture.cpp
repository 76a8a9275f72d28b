/// \file
/// Streams that record what they are given, and graphs that are launched.

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "graphs.hpp"
#include "stream.hpp"
#include "unasked_calls.hpp"

using namespace cuda_on_cpu;

namespace {

using Guard = std::scoped_lock<std::recursive_mutex>;

}  // namespace

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (found->capture != nullptr || find_stream(nullptr) == found)
    return fail(cudaErrorStreamCaptureUnsupported);
  synchronise(*found);  // so that the stream's past is not taken for the graph's
  found->last = nullptr;
  found->capture = std::make_shared<Capture>();
  found->capture->mode = mode;
  found->began_capture = true;
  return lasting_error();
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (found->capture == nullptr || !found->began_capture) return fail(cudaErrorIllegalState);
  const std::shared_ptr<Capture> capture = found->capture;
  bool joined = true;
  for (CUstream_st* other : created_streams()) {
    if (other->capture != capture) continue;
    if (other != found && other->last != nullptr) {
      // What another stream recorded last must be awaited by something.
      joined = joined && std::any_of(capture->operations.begin(), capture->operations.end(),
                                     [&](const OperationPointer& operation) {
                                       const auto& after = operation->after;
                                       return std::find(after.begin(), after.end(), other->last) !=
                                              after.end();
                                     });
    }
    other->capture = nullptr;
    other->last = nullptr;
    other->began_capture = false;
  }
  *graph = nullptr;
  if (!capture->valid) return fail(cudaErrorStreamCaptureInvalidated);
  if (!joined) return fail(cudaErrorStreamCaptureUnjoined);
  *graph = graph_of(*capture).release();  // cudaGraphDestroy takes it back
  return lasting_error();
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const Guard guard(runtime_mutex());
  const CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  *status = found->capture == nullptr ? cudaStreamCaptureStatusNone
            : found->capture->valid   ? cudaStreamCaptureStatusActive
                                      : cudaStreamCaptureStatusInvalidated;
  return lasting_error();
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long) {
  const Guard guard(runtime_mutex());
  if (executable == nullptr || graph == nullptr) return fail(cudaErrorInvalidValue);
  // It allocates memory, and captures forbid that: to their own thread, or to all.
  for (const CUstream_st* stream : created_streams())
    if (stream->began_capture && stream->capture->forbids_allocations()) {
      stream->capture->valid = false;
      return fail(cudaErrorStreamCaptureUnsupported);
    }
  auto made = instance_of(*graph);
  if (made == nullptr)
    return fail(cudaErrorInvalidValue, "nodes of the graph wait for each other in a circle");
  *executable = made.release();  // cudaGraphExecDestroy takes it back
  return lasting_error();
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t) {
  return executable == nullptr ? fail(cudaErrorInvalidValue) : lasting_error();
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (executable == nullptr || found == nullptr) return fail(cudaErrorInvalidValue);
  if (executable->last != nullptr) found->awaited.push_back(executable->last);
  const OperationPointer begin = mark(*found, __builtin_return_address(0));
  std::unordered_map<const Operation*, OperationPointer> copies;
  for (const OperationPointer& recorded : executable->operations) {
    auto copy = std::make_shared<Operation>(*recorded);
    if (recorded->host_call != nullptr)
      copy->host_call = std::make_shared<HostCall>(recorded->host_call->function);
    copy->after = {begin};
    for (const OperationPointer& before : recorded->after)
      if (const auto other = copies.find(before.get()); other != copies.end())
        copy->after.push_back(other->second);
    number(*copy, recorded->number);
    // What a meeting was recorded behind is its marker of arrival.
    if (copy->meeting != nullptr) copy->meeting->join(OperationPointer(copy->after.back()), copy);
    if (copy->host_call != nullptr) call_unasked(copy);
    found->awaited.push_back(copy);
    copies.emplace(recorded.get(), std::move(copy));
  }
  executable->last = mark(*found, __builtin_return_address(0));
  return lasting_error();
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const Guard guard(runtime_mutex());
  if (executable == nullptr) return fail(cudaErrorInvalidValue);
  const std::unique_ptr<CUgraphExec_st> taken(executable);
  return lasting_error();
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const Guard guard(runtime_mutex());
  if (graph == nullptr) return fail(cudaErrorInvalidValue);
  const std::unique_ptr<CUgraph_st> taken(graph);
  return lasting_error();
}
