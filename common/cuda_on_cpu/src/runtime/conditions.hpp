/// \file
/// Nodes of graphs that choose among graphs, or repeat one, by a value that kernels set.

#pragma once

#include <memory>
#include <vector>

#include "cuda_on_cpu/graph_nodes.hpp"
#include "memory.hpp"
#include "stream.hpp"

namespace cuda_on_cpu {

/// The value, in memory of the device, so that who sets and who asks are seen to wait for each
/// other. Its address is the handle.
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

  Allocation* memory;  ///< null if the device has none left
  unsigned first;
  bool is_assigned;      ///< `first`, whenever the graph is launched that it is in
  bool is_used = false;  ///< by a node
};

using Conditions = std::vector<std::shared_ptr<Condition>>;

/// Whether a node may choose among so many graphs.
bool is_choice(cudaGraphConditionalNodeType type, unsigned size);

/// Gives conditions their first values, when a graph is launched. Those of loops within loops have
/// them once, too.
void assign_first_values(const Conditions& conditions, const Operation& by);

/// What a node decides on, and the instances that it chooses among.
struct Choice {
  std::shared_ptr<const Condition> condition;
  cudaGraphConditionalNodeType type;
  std::vector<std::unique_ptr<CUgraphExec_st>> bodies;
};

/// Does what a node of a graph does that chooses.
/// \returns whether it went well
bool choose(const Choice& choice, const Operation& node);

/// Does all operations of an instance, as a part of an operation that is under way.
void run_within(const CUgraphExec_st& body, const Operation& whole);

}  // namespace cuda_on_cpu
