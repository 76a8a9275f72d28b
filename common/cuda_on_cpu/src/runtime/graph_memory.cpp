#include "graph_memory.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "../analysis.hpp"
#include "../indestructible.hpp"
#include "../settings.hpp"
#include "cuda_on_cpu/graph_nodes.hpp"
#include "errors.hpp"

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<RuntimeMutex>;

/// Memory that a launch in a stream needs until the launch is complete. Later launches in that
/// stream may use the same memory.
struct Use {
  std::uint32_t chain;
  OperationPointer last;
  std::size_t bytes;
};

/// The device memory that graphs use. The memory grows with the concurrent need of the graphs, and
/// is returned to the device on request.
struct Account {
  std::size_t taken = 0, most_used = 0, most_taken = 0;
  std::size_t left = 0;  ///< bytes that graphs allocate and do not free
  std::vector<Use> uses;

  std::size_t needed_beside(std::uint32_t chain) const {
    std::size_t bytes = left;
    for (const Use& use : uses)
      if (use.chain != chain && !use.last->done) bytes += use.bytes;
    return bytes;
  }
  void add(const Use& use) {
    std::erase_if(uses, [](const Use& other) { return other.last->done; });
    const auto same = std::find_if(uses.begin(), uses.end(),
                                   [&](const Use& other) { return other.chain == use.chain; });
    if (same == uses.end()) return uses.push_back(use);
    same->bytes = std::max(same->bytes, use.bytes);
    same->last = use.last;
  }
};

constexpr std::uint32_t no_chain = ~0u;

Account& account_of(int device) {
  static auto& accounts =
      indestructible<std::vector<Account>>(static_cast<std::size_t>(settings().devices));
  return accounts[static_cast<std::size_t>(device)];
}

/// Frees all device memory that no graph needs.
void trim(int device) {
  Account& account = account_of(device);
  const std::size_t needed = std::min(account.taken, account.needed_beside(no_chain));
  give_memory_back(device, account.taken - needed);
  account.taken = needed;
}

/// Reserves memory of a device for a launch. `bytes` is the largest need of the launch at any time.
bool take(int device, std::size_t bytes, std::uint32_t chain) {
  Account& account = account_of(device);
  const std::size_t needed = account.needed_beside(chain) + bytes;
  if (needed > account.taken) {
    if (!take_memory(device, needed - account.taken)) return false;
    account.taken = needed;
  }
  account.most_used = std::max(account.most_used, account.taken);
  account.most_taken = std::max(account.most_taken, account.taken);
  return true;
}

bool allocates(const GraphMemory& memory, const Allocation* allocation) {
  return std::any_of(memory.allocates.begin(), memory.allocates.end(),
                     [&](const auto& own) { return own->allocation == allocation; });
}

/// The bytes of a device's memory that a launch needs: at its end, and at its peak.
struct Need {
  std::size_t now = 0, most = 0;
};

/// The memory that an executable graph needs on each device. Freeing memory of another graph does
/// not reduce this need.
std::map<int, Need> needs_of(const GraphMemory& memory,
                             const std::vector<OperationPointer>& operations) {
  std::map<int, Need> needs;
  for (const OperationPointer& operation : operations) {
    if (operation->allocates != nullptr) {
      const Allocation& allocation = *operation->allocates->allocation;
      Need& need = needs[allocation.device];
      need.now += allocation.bytes;
      need.most = std::max(need.most, need.now);
    } else if (operation->frees != nullptr && allocates(memory, operation->frees)) {
      Need& need = needs[operation->frees->device];
      need.now -= std::min(need.now, operation->frees->bytes);
    }
  }
  return needs;
}

bool frees(const GraphMemory& memory, const Allocation* allocation) {
  return std::find(memory.frees.begin(), memory.frees.end(), allocation) != memory.frees.end();
}

std::string name_of(const Allocation& allocation) {
  return "allocation " + std::to_string(allocation.number);
}

}  // namespace

GraphAllocation::GraphAllocation(std::size_t bytes, int device)
    : allocation(reserve(bytes, device)) {
  if (allocation != nullptr) allocation->of_graph = this;
}

GraphAllocation::~GraphAllocation() {
  if (allocation != nullptr) withdraw(allocation);
}

GraphMemory memory_of(const std::vector<OperationPointer>& operations) {
  GraphMemory memory;
  for (const OperationPointer& operation : operations) {
    if (operation->allocates != nullptr) memory.allocates.push_back(operation->allocates);
    if (operation->frees != nullptr) memory.frees.push_back(operation->frees);
  }
  return memory;
}

cudaError_t allocate_in_graph(void** pointer, std::size_t bytes, CUstream_st& stream,
                              const void* place) {
  if (pointer == nullptr || bytes == 0) return fail(cudaErrorInvalidValue);
  const auto memory = std::make_shared<GraphAllocation>(bytes, stream.device);
  if (memory->allocation == nullptr) return fail(cudaErrorMemoryAllocation);
  const OperationPointer allocates = enqueue(
      stream,
      [memory](const Operation& operation) {
        revive(memory->allocation);
        analysis::allocated_again(*memory->allocation, operation);
        return true;
      },
      place);
  allocates->allocates = memory;
  allocates->name = "the graph that allocates the memory";
  *pointer = memory->allocation->base;
  return lasting_error();
}

cudaError_t free_in_stream(Allocation& allocation, CUstream_st& stream, const void* place) {
  std::shared_ptr<GraphAllocation> of_graph;
  if (allocation.of_graph != nullptr) of_graph = allocation.of_graph->shared_from_this();
  const OperationPointer operation = enqueue(
      stream,
      [&allocation, of_graph](const Operation& self) {
        analysis::copy_access(allocation.base, allocation.bytes, analysis::write, self);
        analysis::freed(allocation.base, allocation.bytes, self.place);
        release(&allocation);
        return true;
      },
      place);
  operation->frees = &allocation;
  operation->name = "the operation that frees the memory";
  allocation.is_leaving = of_graph == nullptr;
  if (of_graph == nullptr || stream.capture != nullptr) return lasting_error();
  forget_left(allocation);
  account_of(allocation.device).add({stream.chain, operation, allocation.bytes});
  return lasting_error();
}

void forget_left(const Allocation& allocation) {
  if (allocation.of_graph == nullptr || !allocation.of_graph->is_left()) return;
  account_of(allocation.device).left -= allocation.bytes;
  allocation.of_graph->left = nullptr;
}

bool may_be_freed(const Allocation& allocation) {
  return allocation.of_graph == nullptr ? allocation.living && !allocation.is_leaving
                                        : allocation.of_graph->is_left();
}

cudaError_t take_memory_for(const GraphMemory& memory,
                            const std::vector<OperationPointer>& operations, CUstream_st& stream,
                            const void* place) {
  if (memory.is_empty()) return cudaSuccess;
  for (const auto& own : memory.allocates)
    if (own->is_left() && !memory.frees_on_launch)
      return fail(cudaErrorInvalidValue,
                  name_of(*own->allocation) +
                      ", which the latest launch of the graph allocated, has not been freed");
  for (const Allocation* freed : memory.frees)
    if (!allocates(memory, freed) && !may_be_freed(*freed))
      return fail(cudaErrorInvalidValue,
                  "the graph frees " + name_of(*freed) + ", which is not allocated");
  for (const auto& own : memory.allocates)
    if (own->is_left()) free_in_stream(*own->allocation, stream, place);
  for (const auto& [device, need] : needs_of(memory, operations)) {
    if (take(device, need.most, stream.chain)) continue;
    trim(device);
    if (!take(device, need.most, stream.chain)) return fail(cudaErrorMemoryAllocation);
  }
  return cudaSuccess;
}

void note_launch_of(const GraphMemory& memory, const std::vector<OperationPointer>& operations,
                    const CUstream_st& stream, const OperationPointer& last) {
  if (memory.is_empty()) return;
  for (const Allocation* freed : memory.frees)
    if (!allocates(memory, freed)) forget_left(*freed);
  for (const auto& own : memory.allocates)
    if (!frees(memory, own->allocation)) {
      own->left = own;
      account_of(own->allocation->device).left += own->allocation->bytes;
    }
  for (const auto& [device, need] : needs_of(memory, operations))
    account_of(device).add({stream.chain, last, need.most - need.now});
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  const Guard guard(runtime_mutex());
  if (device < 0 || device >= settings().devices) return fail(cudaErrorInvalidDevice);
  if (value == nullptr) return fail(cudaErrorInvalidValue);
  const Account& account = account_of(device);
  std::size_t& told = *static_cast<std::size_t*>(value);
  switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent:
    case cudaGraphMemAttrReservedMemCurrent:
      told = account.taken;
      return lasting_error();
    case cudaGraphMemAttrUsedMemHigh:
      told = account.most_used;
      return lasting_error();
    case cudaGraphMemAttrReservedMemHigh:
      told = account.most_taken;
      return lasting_error();
  }
  return fail(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  const Guard guard(runtime_mutex());
  if (device < 0 || device >= settings().devices) return fail(cudaErrorInvalidDevice);
  const bool is_high =
      attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
  if (value == nullptr || !is_high || *static_cast<std::size_t*>(value) != 0)
    return fail(cudaErrorInvalidValue, "only the high-water marks can be set, and only to 0");
  Account& account = account_of(device);
  (attribute == cudaGraphMemAttrUsedMemHigh ? account.most_used : account.most_taken) = 0;
  return lasting_error();
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  const Guard guard(runtime_mutex());
  if (device < 0 || device >= settings().devices) return fail(cudaErrorInvalidDevice);
  trim(device);
  return lasting_error();
}
