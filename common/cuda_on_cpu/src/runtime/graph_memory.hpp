/// \file
/// Memory that graphs allocate and free. Its addresses are there from the node on, as long as the
/// graph or an instance of it is; what stands there lives from one node to another.

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "memory.hpp"
#include "stream.hpp"

namespace cuda_on_cpu {

struct GraphAllocation : std::enable_shared_from_this<GraphAllocation> {
  GraphAllocation(std::size_t bytes, int device);
  ~GraphAllocation();
  GraphAllocation(const GraphAllocation&) = delete;
  GraphAllocation& operator=(const GraphAllocation&) = delete;

  /// Whether a graph that was launched allocates it and nothing that was asked for frees it.
  bool is_left() const { return left != nullptr; }

  Allocation* allocation;                           ///< null if there are no addresses
  std::shared_ptr<GraphAllocation> left = nullptr;  ///< itself, so long
  bool instantiated = false;
};

/// What the nodes of an instance do to memory.
struct GraphMemory {
  std::vector<std::shared_ptr<GraphAllocation>> allocates;
  std::vector<Allocation*> frees;
  bool frees_on_launch = false;  ///< what its latest launch has left

  bool is_empty() const { return allocates.empty() && frees.empty(); }
};

/// Of all operations of a graph; null pointers where they allocate and free nothing.
GraphMemory memory_of(const std::vector<OperationPointer>& operations);

/// Adds an allocation to the graph that a stream records.
cudaError_t allocate_in_graph(void** pointer, std::size_t bytes, CUstream_st& stream,
                              const void* place);

/// Adds an operation that frees memory of a device to a stream. If the stream does not record it,
/// the memory counts as freed from now on.
cudaError_t free_in_stream(Allocation& allocation, CUstream_st& stream, const void* place);

/// Memory of a graph is freed now.
void forget_left(const Allocation& allocation);

/// Whether somebody may still free memory.
bool may_be_freed(const Allocation& allocation);

/// Looks for the memory of an instance that is about to be launched, and frees what it has left.
cudaError_t take_memory_for(const GraphMemory& memory,
                            const std::vector<OperationPointer>& operations, CUstream_st& stream,
                            const void* place);

/// Notes what an instance that was launched leaves, and until when it needs the rest.
void note_launch_of(const GraphMemory& memory, const std::vector<OperationPointer>& operations,
                    const CUstream_st& stream, const OperationPointer& last);

}  // namespace cuda_on_cpu
