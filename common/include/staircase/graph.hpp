/// \file
/// Graphs: launches that are recorded once and done again and again.

#pragma once

#include <cuda_runtime.h>

#include "cuda.hpp"

namespace staircase {

// [graph]
/// A stream that records what is launched in it, and does it again and again.
class Graph {
 public:
  Graph() {
    check(cudaStreamCreate(&own_));
    record(own_);
  }
  /// Records what a stream is given until the recording ends, and those that wait for it.
  explicit Graph(cudaStream_t stream) { record(stream); }
  ~Graph() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
    if (own_ != nullptr) cudaStreamDestroy(own_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  cudaStream_t stream() const { return stream_; }

  /// Ends the recording. Where a thread records several graphs, each ends before one is instantiated.
  void end() { check(cudaStreamEndCapture(stream_, &graph_)); }

  /// Makes ready for launches what was recorded; ends the recording, if nobody has.
  void instantiate() {
    if (graph_ == nullptr) end();
    check(cudaGraphInstantiate(&executable_, graph_, 0));
    check(cudaGraphUpload(executable_, stream_));
  }

  void launch() const { check(cudaGraphLaunch(executable_, stream_)); }

 private:
  void record(cudaStream_t stream) {
    stream_ = stream;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  }

  cudaStream_t own_ = nullptr, stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};
// [graph]

}  // namespace staircase
