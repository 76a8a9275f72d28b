/// \file
/// Graphs and their instances, for the tests of graphs.

#pragma once

#include "device.hpp"

namespace tap {

class Graph {
 public:
  Graph() { check(cudaGraphCreate(&graph_, 0)); }
  explicit Graph(cudaGraph_t graph) : graph_(graph) {}
  ~Graph() { cudaGraphDestroy(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  cudaGraph_t get() const { return graph_; }

 private:
  cudaGraph_t graph_ = nullptr;
};

class Instance {
 public:
  explicit Instance(const Graph& graph, unsigned long long flags = 0) {
    check(cudaGraphInstantiate(&instance_, graph.get(), flags));
  }
  ~Instance() { cudaGraphExecDestroy(instance_); }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  cudaGraphExec_t get() const { return instance_; }
  void launch(cudaStream_t stream = nullptr) const {
    check(cudaGraphLaunch(instance_, stream));
    check(cudaStreamSynchronize(stream));
  }

 private:
  cudaGraphExec_t instance_ = nullptr;
};

}  // namespace tap
