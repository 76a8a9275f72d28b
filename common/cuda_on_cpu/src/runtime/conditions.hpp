/// \file
/// Conditional nodes of graphs: they select a graph, or repeat one, depending on a value that
/// kernels set.

#pragma once

#include <memory>
#include <vector>

#include "cuda_on_cpu/graph_nodes.hpp"
#include "memory.hpp"
#include "stream.hpp"

namespace cuda_on_cpu {

/// The value of a condition. The value is stored in device memory, so that the analysis checks the
/// order of its reads and writes. The address of this object is the handle.
struct Condition {
  Condition(unsigned first, bool is_assigned);
  ~Condition();
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  cudaGraphConditionalHandle handle() const {
    return reinterpret_cast<cudaGraphConditionalHandle>(this);
  }
  unsigned read(const Operation& by) const;
  void write(unsigned value, const Operation& by) const;

  Allocation* memory;  ///< null if the device has no memory left
  unsigned first;
  bool is_assigned;      ///< whether each launch of its graph assigns `first`
  bool is_used = false;  ///< whether a node uses this condition
};

using Conditions = std::vector<std::shared_ptr<Condition>>;

/// Whether a conditional node of this type may have `size` graphs.
bool is_choice(cudaGraphConditionalNodeType type, unsigned size);

/// Assigns the initial values of conditions at the launch of a graph. Even conditions of nested
/// loops are assigned only once per launch.
void assign_first_values(const Conditions& conditions, const Operation& by);

/// The condition of a node, and the executable graphs among which the node chooses.
struct Choice {
  std::shared_ptr<const Condition> condition;
  cudaGraphConditionalNodeType type;
  std::vector<std::unique_ptr<CUgraphExec_st>> bodies;
};

/// Executes a conditional node.
/// \returns whether it succeeded
bool choose(const Choice& choice, const Operation& node);

/// Executes all operations of an executable graph as parts of a running operation.
void run_within(const CUgraphExec_st& body, const Operation& whole);

}  // namespace cuda_on_cpu
