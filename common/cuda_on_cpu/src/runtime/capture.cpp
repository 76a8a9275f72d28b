/// \file
/// Stream capture, and launches of graphs.

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "graphs.hpp"
#include "stream.hpp"
#include "unasked_calls.hpp"

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<RuntimeMutex>;

/// Copies the operations of an executable graph. The copies depend on the operations in `begin`,
/// and `give_number` numbers the copies.
template <typename Number>
Operations copies_of(const CUgraphExec_st& executable, const Operations& begin,
                     const Number& give_number) {
  std::unordered_map<const Operation*, OperationPointer> copies;
  Operations all;
  for (const OperationPointer& recorded : executable.operations) {
    auto copy = std::make_shared<Operation>(*recorded);
    if (recorded->host_call != nullptr)
      copy->host_call = std::make_shared<HostCall>(recorded->host_call->function);
    if (recorded->is_disabled) {
      copy->work = marker()->work;
      copy->kernel = nullptr;
    }
    copy->after = begin;
    for (const OperationPointer& before : recorded->after)
      if (const auto other = copies.find(before.get()); other != copies.end())
        copy->after.push_back(other->second);
    give_number(*copy, recorded->number);
    // The last operation before a recorded call of a rank is the arrival marker of this call.
    if (copy->meeting != nullptr) copy->meeting->join(OperationPointer(copy->after.back()), copy);
    all.push_back(copy);
    copies.emplace(recorded.get(), std::move(copy));
  }
  return all;
}

cudaError_t begin_capture(CUstream_st* found, cudaStreamCaptureMode mode) {
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (found->capture != nullptr || find_stream(nullptr) == found)
    return fail(cudaErrorStreamCaptureUnsupported);
  synchronise(*found);  // so that earlier operations of the stream do not become part of the graph
  found->last = nullptr;
  found->capture = std::make_shared<Capture>();
  found->capture->mode = mode;
  found->began_capture = true;
  return lasting_error();
}

/// The captures that forbid unsafe calls to a thread: all captures that are not relaxed, only the
/// captures of the thread itself, or none.
cudaStreamCaptureMode& mode_of_thread() {
  thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

bool forbids_allocations(const Capture& capture) {
  return capture.forbids_allocations() && mode_of_thread() != cudaStreamCaptureModeRelaxed &&
         (mode_of_thread() == cudaStreamCaptureModeGlobal ||
          capture.thread == std::this_thread::get_id());
}

cudaStreamCaptureStatus status_of(const CUstream_st& stream) {
  return stream.capture == nullptr ? cudaStreamCaptureStatusNone
         : stream.capture->valid   ? cudaStreamCaptureStatusActive
                                   : cudaStreamCaptureStatusInvalidated;
}

}  // namespace

void run_within(const CUgraphExec_st& body, const Operation& whole) {
  const auto give_number = [&](Operation& part, std::uint32_t chain) {
    number_within(part, chain, whole);
  };
  for (const OperationPointer& part : copies_of(body, {}, give_number)) {
    finish(part);
    acquire_from_part(whole, *part);
  }
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

CUgraphExec_st::~CUgraphExec_st() {
  for (const auto& own : memory.allocates) own->instantiated = false;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const Guard guard(runtime_mutex());
  return begin_capture(find_stream(stream), mode);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* after, const cudaGraphEdgeData*,
                                          std::size_t count, cudaStreamCaptureMode mode) {
  const Guard guard(runtime_mutex());
  if (graph == nullptr || (after == nullptr && count > 0) || !are_nodes_of(*graph, after, count))
    return fail(cudaErrorInvalidValue);
  CUstream_st* found = find_stream(stream);
  const cudaError_t error = begin_capture(found, mode);
  if (error != cudaSuccess) return error;
  found->capture->graph = graph;
  found->capture->begins_behind.assign(after, after + count);
  return cudaSuccess;
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
      // Some recorded operation must wait for the last operation of each other stream.
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
  if (graph != nullptr) *graph = nullptr;
  if (!capture->valid) return fail(cudaErrorStreamCaptureInvalidated);
  if (!joined) return fail(cudaErrorStreamCaptureUnjoined);
  cudaGraph_t made = &graph_so_far(*capture);
  if (graph == nullptr) return lasting_error();
  if (capture->own_graph != nullptr)
    made = capture->own_graph.release();  // owned by the program until cudaGraphDestroy
  *graph = made;
  return lasting_error();
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const Guard guard(runtime_mutex());
  const CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  *status = status_of(*found);
  return lasting_error();
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal ||
      *mode > cudaStreamCaptureModeRelaxed)
    return fail(cudaErrorInvalidValue);
  std::swap(*mode, mode_of_thread());
  return lasting_error();
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** after, const cudaGraphEdgeData** data,
                                     std::size_t* count) {
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (status == nullptr) return fail(cudaErrorInvalidValue);
  *status = status_of(*found);
  if (*status != cudaStreamCaptureStatusActive) return lasting_error();
  Capture& capture = *found->capture;
  CUgraph_st& so_far = graph_so_far(capture);
  capture.told = latest_nodes(*found);
  if (id != nullptr) *id = reinterpret_cast<unsigned long long>(&capture);
  if (graph != nullptr) *graph = &so_far;
  if (after != nullptr) *after = capture.told.data();
  if (data != nullptr) *data = nullptr;
  if (count != nullptr) *count = capture.told.size();
  return lasting_error();
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* after,
                                                const cudaGraphEdgeData*, std::size_t count,
                                                unsigned flags) {
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (found->capture == nullptr) return fail(cudaErrorIllegalState);
  Capture& capture = *found->capture;
  if (flags > cudaStreamSetCaptureDependencies || (after == nullptr && count > 0) ||
      !are_nodes_of(graph_so_far(capture), after, count))
    return fail(cudaErrorInvalidValue);
  if (flags == cudaStreamSetCaptureDependencies) {
    found->awaited.clear();
    found->last = nullptr;
    found->chain = new_chain();  // later operations need not follow the earlier ones
  }
  for (std::size_t i = 0; i < count; ++i) {
    capture.substitutes.push_back(marker());
    capture.nodes[capture.substitutes.back().get()] = after[i];
    found->awaited.push_back(capture.substitutes.back());
  }
  return lasting_error();
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags) {
  const Guard guard(runtime_mutex());
  if (executable == nullptr || graph == nullptr) return fail(cudaErrorInvalidValue);
  // Instantiating a graph allocates memory. A capture may forbid this to its own thread, or to all
  // threads.
  for (const CUstream_st* stream : created_streams())
    if (stream->began_capture && forbids_allocations(*stream->capture)) {
      stream->capture->valid = false;
      return fail(cudaErrorStreamCaptureUnsupported);
    }
  if (!has_legal_bodies(*graph))
    return fail(cudaErrorInvalidValue,
                "the body of a conditional node contains a node that calls the host, allocates or "
                "frees memory, or uses an event; CUDA does not allow such nodes there");
  auto made = instance_of(*graph);
  if (made == nullptr)
    return fail(cudaErrorInvalidValue, "the nodes of the graph depend on each other in a cycle");
  for (const auto& own : made->memory.allocates)
    if (own->instantiated) {
      made->memory.allocates.clear();  // the allocations belong to another instance
      return fail(cudaErrorNotSupported,
                  "a graph that allocates memory can have only one instance at a time; destroy the "
                  "other instance first");
    }
  for (const auto& own : made->memory.allocates) own->instantiated = true;
  made->flags = flags;
  made->memory.frees_on_launch = (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0;
  *executable = made.release();  // owned by the program until cudaGraphExecDestroy
  return lasting_error();
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  const cudaError_t error = cudaGraphInstantiate(executable, graph, parameters->flags);
  parameters->errNode_out = nullptr;
  parameters->result_out =
      error == cudaSuccess ? cudaGraphInstantiateSuccess
      : error == cudaErrorInvalidValue && executable != nullptr && graph != nullptr
          ? cudaGraphInstantiateInvalidStructure
          : cudaGraphInstantiateError;
  if (error != cudaSuccess || (parameters->flags & cudaGraphInstantiateFlagUpload) == 0)
    return error;
  return cudaGraphUpload(*executable, parameters->uploadStream);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long* flags) {
  if (executable == nullptr || flags == nullptr) return fail(cudaErrorInvalidValue);
  *flags = executable->flags;
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
  const void* place = __builtin_return_address(0);
  const auto& operations = executable->operations;
  if (const auto error = take_memory_for(executable->memory, operations, *found, place);
      error != cudaSuccess)
    return error;
  const OperationPointer first = mark(*found, place);
  if (!executable->conditions.empty()) {
    first->name = "the start of a graph";
    first->work = [conditions = executable->conditions](const Operation& self) {
      assign_first_values(conditions, self);
      return true;
    };
  }
  for (const OperationPointer& copy : copies_of(*executable, {first}, number)) {
    if (copy->host_call != nullptr) call_unasked(copy);
    if (copy->awaits != nullptr && copy->awaits->operation != nullptr &&
        copy->awaits->capture == nullptr)
      copy->after.push_back(copy->awaits->operation);
    if (copy->records != nullptr) {
      copy->records->operation = copy;
      copy->records->capture = nullptr;
    }
    found->awaited.push_back(copy);
  }
  executable->last = mark(*found, place);
  note_launch_of(executable->memory, operations, *found, executable->last);
  return lasting_error();
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const Guard guard(runtime_mutex());
  if (executable == nullptr) return fail(cudaErrorInvalidValue);
  // A pending launch may use the objects of the graph.
  if (!executable->objects.empty() && executable->last != nullptr) finish(executable->last);
  const std::unique_ptr<CUgraphExec_st> taken(executable);
  return lasting_error();
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const Guard guard(runtime_mutex());
  if (graph == nullptr) return fail(cudaErrorInvalidValue);
  const std::unique_ptr<CUgraph_st> taken(graph);
  return lasting_error();
}
