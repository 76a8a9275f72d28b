/// \file
/// Streams and events of the driver API. The calls are passed on to the runtime.

#include "cuda_on_cpu/driver_api.hpp"

using cuda_on_cpu::by_runtime;

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return by_runtime([&] { return cudaStreamCreateWithFlags(stream, flags); });
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return by_runtime([&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}
CUresult cuStreamDestroy(CUstream stream) {
  return by_runtime([&] { return cudaStreamDestroy(stream); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return by_runtime([&] { return cudaStreamSynchronize(stream); });
}
CUresult cuStreamQuery(CUstream stream) {
  return by_runtime([&] { return cudaStreamQuery(stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return by_runtime([&] { return cudaStreamWaitEvent(stream, event, flags); });
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data,
                             unsigned flags) {
  struct Call {
    CUstreamCallback callback;
    void* data;
  };
  const auto pass_on = [](cudaStream_t in, cudaError_t status, void* both) {
    const auto* call = static_cast<Call*>(both);
    call->callback(in, static_cast<CUresult>(status), call->data);
    delete call;
  };
  return by_runtime([&] {
    auto call = std::make_unique<Call>(Call{callback, data});
    const cudaError_t error = cudaStreamAddCallback(stream, pass_on, call.get(), flags);
    if (error == cudaSuccess) (void)call.release();
    return error;
  });
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return by_runtime([&] { return cudaLaunchHostFunc(stream, function, data); });
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return by_runtime([&] { return cudaEventCreateWithFlags(event, flags); });
}
CUresult cuEventDestroy(CUevent event) {
  return by_runtime([&] { return cudaEventDestroy(event); });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return by_runtime([&] { return cudaEventRecord(event, stream); });
}
CUresult cuEventSynchronize(CUevent event) {
  return by_runtime([&] { return cudaEventSynchronize(event); });
}
CUresult cuEventQuery(CUevent event) {
  return by_runtime([&] { return cudaEventQuery(event); });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return by_runtime([&] { return cudaEventElapsedTime(milliseconds, start, end); });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return by_runtime([&] { return cudaEventRecordWithFlags(event, stream, flags); });
}

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return by_runtime([&] { return cudaStreamGetPriority(stream, priority); });
}
CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return by_runtime([&] { return cudaStreamGetFlags(stream, flags); });
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return by_runtime([&] { return cudaStreamGetId(stream, id); });
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return by_runtime([&] { return cudaStreamGetDevice(stream, device); });
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return by_runtime([&] { return cudaStreamBeginCapture(stream, mode); });
}
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* after,
                                     const CUgraphEdgeData* data, std::size_t count,
                                     CUstreamCaptureMode mode) {
  return by_runtime(
      [&] { return cudaStreamBeginCaptureToGraph(stream, graph, after, data, count, mode); });
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return by_runtime([&] { return cudaStreamEndCapture(stream, graph); });
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return by_runtime([&] { return cudaStreamIsCapturing(stream, status); });
}
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status,
                                unsigned long long* id, CUgraph* graph, const CUgraphNode** after,
                                const CUgraphEdgeData** data, std::size_t* count) {
  return by_runtime(
      [&] { return cudaStreamGetCaptureInfo(stream, status, id, graph, after, data, count); });
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return by_runtime([&] { return cudaThreadExchangeStreamCaptureMode(mode); });
}
