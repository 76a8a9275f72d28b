/// \file
/// CUDA graphs: launches that are captured once and then executed many times.

#pragma once

#include <cuda_runtime.h>

#include "cuda.hpp"

namespace staircase {

// [graph]
/// Captures the work of a stream as a CUDA graph, which can be launched repeatedly.
class Graph {
 public:
  /// Creates a new stream and starts to capture its work; see stream().
  Graph() {
    check(cudaStreamCreate(&own_));
    capture(own_);
  }
  /// Captures the work of an existing stream, and of all streams that wait for its events, until
  /// end().
  explicit Graph(cudaStream_t stream) { capture(stream); }
  ~Graph() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
    if (own_ != nullptr) cudaStreamDestroy(own_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  cudaStream_t stream() const { return stream_; }

  /// Ends the capture. If a thread captures several graphs, it must end all captures before it
  /// instantiates one of the graphs.
  void end() { check(cudaStreamEndCapture(stream_, &graph_)); }

  /// Prepares the captured work for launches. Ends the capture first if end() was not called.
  void instantiate() {
    if (graph_ == nullptr) end();
    check(cudaGraphInstantiate(&executable_, graph_, 0));
    check(cudaGraphUpload(executable_, stream_));
  }

  /// Launches the captured work in the captured stream.
  void launch() const { check(cudaGraphLaunch(executable_, stream_)); }

 private:
  void capture(cudaStream_t stream) {
    stream_ = stream;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  }

  cudaStream_t own_ = nullptr, stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};
// [graph]

}  // namespace staircase
