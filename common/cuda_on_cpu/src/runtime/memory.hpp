/// \file
/// The allocations of the CUDA runtime: on a device, pinned or registered on the host, managed, or
/// mapped.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cuda_on_cpu {

enum class MemorySpace { device, pinned, registered, managed, mapped };

struct GraphAllocation;
class SharedFile;

struct Allocation {
  char* base;
  std::size_t bytes;
  MemorySpace space;
  int device;
  unsigned number;  ///< index in the order of allocation, from 1
  bool living = true;
  void* shadow = nullptr;                      ///< shadow memory of the analysis
  GraphAllocation* of_graph = nullptr;         ///< the graph allocation whose nodes allocate and
                                               ///< free this memory, or null
  bool is_mapped = false;                      ///< whether mmap allocated the memory, whose pages
                                               ///< a file can therefore replace
  bool is_borrowed = false;                    ///< whether the memory belongs to another process
  std::shared_ptr<SharedFile> file = nullptr;  ///< the file that shares the memory with other
                                               ///< processes, or null
  const void* pool = nullptr;                  ///< the pool that the allocating call named, or null
  std::uint32_t context = 0;                   ///< the context whose end frees the memory
  unsigned flags = 0;                          ///< the flags of the call that allocated memory on
                                               ///< the host
  bool is_leaving = false;                     ///< whether a stream has an operation that frees the
                                               ///< memory

  bool contains(const void* address, std::size_t size = 1) const {
    const auto offset = static_cast<const char*>(address) - base;
    return offset >= 0 && static_cast<std::size_t>(offset) + size <= bytes;
  }
  /// Whether host code may access the memory.
  bool on_host() const { return space != MemorySpace::device && space != MemorySpace::mapped; }
};

/// Allocates memory and poisons it. The memory belongs to a device or to the host. Returns null if
/// the memory of the device does not suffice.
Allocation* allocate(std::size_t bytes, MemorySpace space, int device);

/// Registers host memory with the runtime. Returns null if a part of this memory is already
/// registered.
Allocation* register_host(void* base, std::size_t bytes, int device);

/// Reserves addresses for memory that a graph will allocate on a device. Returns null if no
/// addresses are left. The memory lives from a call of `revive`, which poisons it, to the next call
/// of `release`. Both functions may be called repeatedly. `withdraw` ends the reservation. The
/// caller accounts for the device memory.
Allocation* reserve(std::size_t bytes, int device);
void revive(Allocation* allocation);
void withdraw(Allocation* allocation);

/// Registers mapped memory that another process shares.
Allocation* import_memory(void* base, std::size_t bytes, int device);

/// Registers device memory that the program has mapped at an address.
Allocation* add_mapped(void* base, std::size_t bytes, int device);

/// Reserves bytes of a device's memory for a mapping; returns false if the memory does not suffice.
/// `give_memory_back` returns the bytes to the device.
bool take_memory(int device, std::size_t bytes);
void give_memory_back(int device, std::size_t bytes);

/// The number of registered bytes from an address to the end of the allocation that contains it,
/// plus mapped memory that directly follows.
std::size_t bytes_from(const void* address);

/// Whether the program has ever had memory that both kernels and host code can access.
bool host_sees_memory();

/// Whether memory that both host and kernels can access contains the value `word` at an aligned
/// address.
bool is_in_memory_of_both(std::uintptr_t word);

/// Frees an allocation. An analysed program keeps the pages, so that the analysis can detect later
/// accesses.
void release(Allocation* allocation);

/// The living allocations that end with a context. Memory of graphs, memory that other processes
/// share, and memory that the program has mapped are not included.
std::vector<Allocation*> allocations_of(int device, std::uint32_t context);

/// The living allocation that contains an address, or null.
Allocation* find_allocation(const void* address);

/// The allocation that contains an address, for a call that is executed asynchronously or captured
/// in a graph. Memory that a graph will allocate counts as well.
Allocation* find_allocation_of_call(const void* address);

/// The allocation, living or freed, that contains an address or is nearest to it; null if there is
/// none.
const Allocation* nearest_allocation(const void* address);

/// In an analysed program: `is_beside_allocations` checks whether an address is in the range that
/// is reserved for allocations. `is_spare` checks whether bytes belong to the guards of an
/// allocation or to a freed allocation, so that an access has no effect on other data.
bool is_beside_allocations(const void* address);
bool is_spare(const void* address, std::size_t bytes);

/// Whether an address is between the lowest and the highest address that were ever allocated. If
/// this fast test returns false, no allocation contains the address.
bool may_be_allocated(const void* address);

/// The number of allocated bytes of a device.
std::size_t memory_taken(int device);

}  // namespace cuda_on_cpu
