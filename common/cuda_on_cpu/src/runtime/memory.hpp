/// \file
/// Memory that the CUDA runtime knows: on a device, pinned on the host, or managed.

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
  unsigned number;  ///< in the order of allocation, from 1
  bool living = true;
  void* shadow = nullptr;                      ///< of the analysis
  GraphAllocation* of_graph = nullptr;         ///< whose nodes let it live and end
  bool is_mapped = false;                      ///< so that a file can take its place
  bool is_borrowed = false;                    ///< of another process
  std::shared_ptr<SharedFile> file = nullptr;  ///< by which others share it
  const void* pool = nullptr;                  ///< that it was taken of, if one was named
  std::uint32_t context = 0;                   ///< with which it ends
  bool is_leaving = false;                     ///< a stream was told to free it

  bool contains(const void* address, std::size_t size = 1) const {
    const auto offset = static_cast<const char*>(address) - base;
    return offset >= 0 && static_cast<std::size_t>(offset) + size <= bytes;
  }
  /// Whether host code may touch it.
  bool on_host() const { return space != MemorySpace::device && space != MemorySpace::mapped; }
};

/// Poisoned memory of a device or of the host; null if the device's memory does not suffice.
Allocation* allocate(std::size_t bytes, MemorySpace space, int device);

/// Makes the runtime know memory of the host; null if some of it is known already.
Allocation* register_host(void* base, std::size_t bytes, int device);

/// Addresses for memory of a device that will be allocated by a graph; null if there are none.
/// What is allocated lives from `revive`, which poisons it, to `release`, any number of times. Who
/// reserved it takes it of the device.
Allocation* reserve(std::size_t bytes, int device);
void revive(Allocation* allocation);
void withdraw(Allocation* allocation);

/// Makes the runtime know memory that another process shares and that has been mapped.
Allocation* import_memory(void* base, std::size_t bytes, int device);

/// Makes the runtime know memory of a device that the program has mapped somewhere.
Allocation* add_mapped(void* base, std::size_t bytes, int device);

/// Takes memory of a device that will be mapped; false if it does not suffice. And gives it back.
bool take_memory(int device, std::size_t bytes);
void give_memory_back(int device, std::size_t bytes);

/// How many bytes from an address on are known: to the end of its allocation, and on through what
/// is mapped right behind it.
std::size_t bytes_from(const void* address);

/// Whether there ever was memory that kernels and the host's code both use.
bool host_sees_memory();

/// Whether memory that both host and kernels can access contains a word at an aligned address.
bool is_in_memory_of_both(std::uintptr_t word);

/// Gives an allocation back. Programs that are analysed keep it, to see who still uses it.
void release(Allocation* allocation);

/// The living allocations of a context, but for those that end by other means: what graphs own,
/// other processes share, or the program has mapped.
std::vector<Allocation*> allocations_of(int device, std::uint32_t context);

/// The living allocation that an address lies in, or null.
Allocation* find_allocation(const void* address);

/// The same for a call whose work may come later: what a graph is to allocate counts as well.
Allocation* find_allocation_of_call(const void* address);

/// The allocation, living or not, that an address lies in or nearest to; null if there is none.
const Allocation* nearest_allocation(const void* address);

/// In an analysed program: `is_beside_allocations` checks whether an address is in the range that
/// is reserved for allocations. `is_spare` checks whether bytes belong to the guards of an
/// allocation or to a freed one, so that an access has no effect on other data.
bool is_beside_allocations(const void* address);
bool is_spare(const void* address, std::size_t bytes);

/// Whether an address lies between the lowest and the highest that were ever allocated: a quick
/// answer that is right when it says no.
bool may_be_allocated(const void* address);

/// Bytes of a device's memory that are taken.
std::size_t memory_taken(int device);

}  // namespace cuda_on_cpu
