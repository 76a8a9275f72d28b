#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "../analysis.hpp"
#include "../indestructible.hpp"
#include "../settings.hpp"
#include "contexts.hpp"
#include "shared_events.hpp"

// Defined in programs that share memory with other processes.
extern "C" __attribute__((weak)) const char cuda_on_cpu_exports_memory;

namespace cuda_on_cpu {
namespace {

constexpr std::size_t alignment = 512;
// Unused bytes on either side of an allocation in an analysed program. Accesses just outside the
// allocation hit these bytes.
constexpr std::size_t guard = 4096;
constexpr int poison = 0xFF;  // NaN in every floating-point type

/// The address range for the allocations of an analysed program. Between two allocations there is
/// an inaccessible gap at least as large as the larger allocation. A wrong index therefore does not
/// lead from one allocation to another, or to the data of the analysis.
class Reserve {
 public:
  Reserve() {
    for (bytes_ = most; bytes_ >= least && begin_ == nullptr; bytes_ /= 2) {
      void* const pages =
          mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (pages != MAP_FAILED) begin_ = next_ = static_cast<char*>(pages);
      if (begin_ != nullptr) break;
    }
  }

  /// Makes pages accessible and returns them; null if no addresses are left.
  char* take(std::size_t bytes) {
    bytes = (bytes + page - 1) / page * page;
    // The operating system limits the number of ranges with different access rights.
    const std::size_t gap = ++count_ > most_gaps ? 0 : std::max(bytes, least_gap);
    const std::size_t skipped = std::max(gap, last_gap_);
    if (begin_ == nullptr || bytes + skipped + gap > bytes_ - used()) return nullptr;
    char* const first = next_ + skipped;
    if (mprotect(first, bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
    next_ = first + bytes;
    last_gap_ = gap;
    return first;
  }

  bool contains(const char* address) const {
    return begin_ != nullptr && address >= begin_ && address < begin_ + bytes_;
  }

 private:
  static constexpr std::size_t page = 4096, most = std::size_t{1} << 44;
  static constexpr std::size_t least = std::size_t{1} << 30, least_gap = std::size_t{64} << 20;
  static constexpr std::size_t most_gaps = 16000;

  std::size_t used() const { return static_cast<std::size_t>(next_ - begin_); }

  char* begin_ = nullptr;
  char* next_ = nullptr;
  std::size_t bytes_ = 0, last_gap_ = least_gap, count_ = 0;
};

Reserve& reserved() {
  static auto& reserve = indestructible<Reserve>();
  return reserve;
}

struct Heap {
  std::mutex mutex;
  std::deque<Allocation> all;
  std::map<std::uintptr_t, Allocation*> by_base;  // the newest allocation for each base address
  std::vector<std::size_t> taken;
  std::atomic<bool> host_sees_memory = false;
  std::atomic<std::uintptr_t> lowest = ~std::uintptr_t{0}, highest = 0;
};

Heap& heap() {
  static auto& heap = indestructible<Heap>();
  return heap;
}

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

std::size_t& taken_of(int device) {
  auto& taken = heap().taken;
  taken.resize(static_cast<std::size_t>(settings().devices));
  return taken[static_cast<std::size_t>(device)];
}

bool takes_device_memory(MemorySpace space) {
  return space == MemorySpace::device || space == MemorySpace::managed;
}

Allocation* add(char* base, std::size_t bytes, MemorySpace space, int device) {
  Heap& h = heap();
  h.all.push_back({base, bytes, space, device, static_cast<unsigned>(h.all.size() + 1)});
  h.all.back().context = current_context_number();
  h.by_base[number_of(base)] = &h.all.back();
  h.lowest = std::min<std::uintptr_t>(h.lowest, number_of(base));
  h.highest = std::max<std::uintptr_t>(h.highest, number_of(base) + bytes);
  if (space != MemorySpace::device && space != MemorySpace::mapped) h.host_sees_memory = true;
  analysis::allocated(base, bytes);
  return &h.all.back();
}

Allocation* at_or_before(const void* address) {
  auto& by_base = heap().by_base;
  const auto after = by_base.upper_bound(number_of(address));
  return after == by_base.begin() ? nullptr : std::prev(after)->second;
}

bool take(int device, std::size_t bytes) {
  std::size_t& taken = taken_of(device);
  if (bytes > settings().memory || taken + bytes > settings().memory) return false;
  taken += bytes;
  return true;
}

/// The number of guard bytes before an allocation and after it.
std::size_t margin() { return analysis::enabled ? guard : 0; }

/// Maps pages, which the system provides at the first access. Returns null on failure.
char* map_pages(std::size_t bytes) {
  if (analysis::enabled)
    if (char* const pages = reserved().take(bytes); pages != nullptr) return pages;
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<char*>(pages);
}

Allocation* find(const void* address, bool or_of_graph) {
  const std::scoped_lock lock(heap().mutex);
  Allocation* found = at_or_before(address);
  if (found == nullptr) return nullptr;
  const bool is_there = found->living || (or_of_graph && found->of_graph != nullptr);
  return is_there && (found->contains(address) || found->base == address) ? found : nullptr;
}

}  // namespace

Allocation* allocate(std::size_t bytes, MemorySpace space, int device) {
  const std::scoped_lock lock(heap().mutex);
  if (takes_device_memory(space) && !take(device, bytes)) return nullptr;
  const std::size_t whole = (bytes + 2 * margin() + alignment - 1) / alignment * alignment;
  const bool is_mapped = space == MemorySpace::device && &cuda_on_cpu_exports_memory != nullptr;
  auto* base = is_mapped || analysis::enabled
                   ? map_pages(whole)
                   : static_cast<char*>(std::aligned_alloc(alignment, whole));
  if (base == nullptr) return nullptr;
  std::memset(base, poison, whole);
  Allocation* made = add(base + margin(), bytes, space, device);
  made->is_mapped = is_mapped;
  return made;
}

Allocation* reserve(std::size_t bytes, int device) {
  const std::scoped_lock lock(heap().mutex);
  char* base = map_pages(bytes + 2 * margin());
  if (base == nullptr) return nullptr;
  Allocation* made = add(base + margin(), bytes, MemorySpace::device, device);
  made->living = false;
  return made;
}

void revive(Allocation* allocation) {
  const std::scoped_lock lock(heap().mutex);
  std::memset(allocation->base, poison, allocation->bytes);
  allocation->living = true;
}

void withdraw(Allocation* allocation) {
  const std::scoped_lock lock(heap().mutex);
  allocation->living = false;
  allocation->of_graph = nullptr;
  if (analysis::enabled) return;
  heap().by_base.erase(number_of(allocation->base));
  munmap(allocation->base, allocation->bytes);
}

Allocation* import_memory(void* base, std::size_t bytes, int device) {
  const std::scoped_lock lock(heap().mutex);
  Allocation* made = add(static_cast<char*>(base), bytes, MemorySpace::device, device);
  made->is_mapped = made->is_borrowed = true;
  return made;
}

bool take_memory(int device, std::size_t bytes) {
  const std::scoped_lock lock(heap().mutex);
  return take(device, bytes);
}

void give_memory_back(int device, std::size_t bytes) {
  const std::scoped_lock lock(heap().mutex);
  taken_of(device) -= bytes;
}

Allocation* register_host(void* base, std::size_t bytes, int device) {
  const std::scoped_lock lock(heap().mutex);
  auto* first = static_cast<char*>(base);
  for (const char* end : {first, first + bytes - 1}) {
    const Allocation* known = at_or_before(end);
    if (known != nullptr && known->living && known->contains(end)) return nullptr;
  }
  return add(first, bytes, MemorySpace::registered, device);
}

Allocation* add_mapped(void* base, std::size_t bytes, int device) {
  const std::scoped_lock lock(heap().mutex);
  return add(static_cast<char*>(base), bytes, MemorySpace::mapped, device);
}

std::size_t bytes_from(const void* address) {
  const auto* first = static_cast<const char*>(address);
  const char* end = first;
  for (const Allocation* at = find_allocation_of_call(first); at != nullptr && at->bytes > 0;) {
    end = at->base + at->bytes;
    const Allocation* next = at->space == MemorySpace::mapped ? find_allocation(end) : nullptr;
    at =
        next != nullptr && next->space == MemorySpace::mapped && next->base == end ? next : nullptr;
  }
  return static_cast<std::size_t>(end - first);
}

void release(Allocation* allocation) {
  const std::scoped_lock lock(heap().mutex);
  allocation->living = false;
  if (allocation->of_graph != nullptr) {  // the pages are not needed until the graph allocates them
                                          // again
    madvise(allocation->base, allocation->bytes, MADV_DONTNEED);
    return;
  }
  allocation->file = nullptr;
  if (takes_device_memory(allocation->space) && !allocation->is_borrowed)
    taken_of(allocation->device) -= allocation->bytes;
  const bool is_of_others =
      allocation->space == MemorySpace::registered || allocation->space == MemorySpace::mapped;
  if (analysis::enabled || is_of_others) return;
  heap().by_base.erase(number_of(allocation->base));
  if (allocation->is_mapped)
    munmap(allocation->base, allocation->bytes);
  else
    std::free(allocation->base);
}

std::vector<Allocation*> allocations_of(int device, std::uint32_t context) {
  const std::scoped_lock lock(heap().mutex);
  std::vector<Allocation*> found;
  for (const auto& [base, allocation] : heap().by_base) {
    const bool ends_otherwise = allocation->of_graph != nullptr || allocation->is_borrowed ||
                                allocation->space == MemorySpace::mapped;
    if (allocation->living && !ends_otherwise && allocation->device == device &&
        allocation->context == context)
      found.push_back(allocation);
  }
  return found;
}

Allocation* find_allocation(const void* address) { return find(address, false); }
Allocation* find_allocation_of_call(const void* address) { return find(address, true); }

const Allocation* nearest_allocation(const void* address) {
  const std::scoped_lock lock(heap().mutex);
  const Allocation* before = at_or_before(address);
  const auto after = heap().by_base.upper_bound(number_of(address));
  if (after == heap().by_base.end()) return before;
  if (before == nullptr) return after->second;
  const auto gap_before = static_cast<const char*>(address) - (before->base + before->bytes);
  const auto gap_after = after->second->base - static_cast<const char*>(address);
  return gap_before <= gap_after ? before : after->second;
}

bool host_sees_memory() { return heap().host_sees_memory; }

bool is_in_memory_of_both(std::uintptr_t word) {
  const std::scoped_lock lock(heap().mutex);
  for (const auto& [base, allocation] : heap().by_base)
    if (allocation->living && allocation->on_host())
      for (std::size_t i = 0; i + sizeof word <= allocation->bytes; i += sizeof word)
        if (std::memcmp(allocation->base + i, &word, sizeof word) == 0) return true;
  return false;
}

bool is_beside_allocations(const void* address) {
  return analysis::enabled && reserved().contains(static_cast<const char*>(address));
}

bool is_spare(const void* address, std::size_t bytes) {
  const Allocation* nearest = nearest_allocation(address);
  if (nearest == nullptr || nearest->space == MemorySpace::registered ||
      nearest->space == MemorySpace::mapped)
    return false;
  const auto* first = static_cast<const char*>(address);
  return first >= nearest->base - margin() &&
         first + bytes <= nearest->base + nearest->bytes + margin();
}

bool may_be_allocated(const void* address) {
  return number_of(address) >= heap().lowest && number_of(address) < heap().highest;
}

std::size_t memory_taken(int device) {
  const std::scoped_lock lock(heap().mutex);
  return taken_of(device);
}

}  // namespace cuda_on_cpu
