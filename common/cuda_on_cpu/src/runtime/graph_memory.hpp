/// \file
/// Memory that graphs allocate and free. The addresses exist from the creation of the node to the
/// end of the graph and of its executable graphs. The contents live from the allocation to the free
/// operation.

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

  /// Whether a launched graph has allocated the memory and no enqueued operation frees it.
  bool is_left() const { return left != nullptr; }

  Allocation* allocation;                           ///< null if no addresses were left
  std::shared_ptr<GraphAllocation> left = nullptr;  ///< points to itself while is_left() is true
  bool instantiated = false;
};

/// The memory that the nodes of an executable graph allocate and free.
struct GraphMemory {
  std::vector<std::shared_ptr<GraphAllocation>> allocates;
  std::vector<Allocation*> frees;
  bool frees_on_launch = false;  ///< whether a launch frees the memory that the previous launch has
                                 ///< left allocated

  bool is_empty() const { return allocates.empty() && frees.empty(); }
};

/// The memory that the operations of a graph allocate and free.
GraphMemory memory_of(const std::vector<OperationPointer>& operations);

/// Adds an allocation to the graph that a stream records.
cudaError_t allocate_in_graph(void** pointer, std::size_t bytes, CUstream_st& stream,
                              const void* place);

/// Enqueues an operation that frees memory of a device. Unless the stream captures, the memory
/// counts as freed immediately.
cudaError_t free_in_stream(Allocation& allocation, CUstream_st& stream, const void* place);

/// Records the freeing of memory that the launch of a graph left allocated.
void forget_left(const Allocation& allocation);

/// Whether the program may still free an allocation.
bool may_be_freed(const Allocation& allocation);

/// Reserves device memory for an executable graph that is about to be launched. Frees the memory
/// that the previous launch of this graph has left allocated.
cudaError_t take_memory_for(const GraphMemory& memory,
                            const std::vector<OperationPointer>& operations, CUstream_st& stream,
                            const void* place);

/// Records the memory that the launch of an executable graph leaves allocated, and the operation
/// after which the launch no longer needs the rest.
void note_launch_of(const GraphMemory& memory, const std::vector<OperationPointer>& operations,
                    const CUstream_st& stream, const OperationPointer& last);

}  // namespace cuda_on_cpu
