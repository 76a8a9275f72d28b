/// \file
/// Checks accesses: which memory an access uses, whether the thread may use this memory, and
/// whether the access conflicts with other accesses.

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>

#include "../indestructible.hpp"
#include "../machine/builtins.hpp"
#include "../machine/combining.hpp"
#include "../machine/gang.hpp"
#include "../machine/launch.hpp"
#include "../machine/thread_area.hpp"
#include "../runtime/images.hpp"
#include "../runtime/memory.hpp"
#include "../runtime/stream.hpp"
#include "../runtime/symbols.hpp"
#include "callbacks.hpp"
#include "cuda_on_cpu/shifts.hpp"
#include "cuda_on_cpu/threads.hpp"
#include "ends.hpp"
#include "findings.hpp"
#include "happens_before.hpp"
#include "host_flags.hpp"
#include "plain_access.hpp"
#include "shared_bytes.hpp"
#include "targets.hpp"
#include "trial.hpp"
#include "unwritten.hpp"
#include "values.hpp"

extern "C" {
// The bounds of the section of __constant__ variables; null in programs without such variables.
extern const char __start_cuda_constant[] __attribute__((weak));
extern const char __stop_cuda_constant[] __attribute__((weak));
}

namespace cuda_on_cpu {

bool may_access(int from, int to);

namespace analysis {

const bool enabled = true;
__thread std::uint64_t accesses = 0;
__thread std::size_t passes_over = 0;

namespace {

/// The distance, in bytes, up to which an illegal access is attributed to an allocation.
constexpr std::ptrdiff_t near_bytes = 4096;

/// The outcome of the checks of an access. With `request` and `no_request`, the access is
/// performed; only `request` counts as a request of the warp. With the other outcomes, the launch
/// ends.
enum class Outcome : std::uint8_t { request, no_request, illegal_address, launch_failure };

/// The shadow memory for the shared memory that a thread of the operating system provides for its
/// blocks.
/// \param thread_area end of this thread's area
Shadow& find_shared_shadow(const char* thread_area) {
  using Shadows = std::unordered_map<const char*, std::unique_ptr<Shadow>>;
  static Shadows& shadows = indestructible<Shadows>();
  static auto& mutex = indestructible<std::mutex>();
  const std::scoped_lock lock(mutex);
  auto& shadow = shadows[thread_area];
  if (shadow == nullptr)
    shadow = std::make_unique<Shadow>(thread_area - thread_area_bytes(), thread_area_bytes());
  return *shadow;
}

inline Shadow& shared_shadow(const char* thread_area) {
  thread_local const char* last_area = nullptr;
  thread_local Shadow* last = nullptr;
  if (thread_area != last_area) {
    last = &find_shared_shadow(thread_area);
    last_area = thread_area;
  }
  return *last;
}

Shadow& shadow_of(Allocation& allocation) {
  // Allocations and their shadows exist until the program ends. Concurrent blocks may request the
  // same shadow.
  static auto& mutex = indestructible<std::mutex>();
  const std::atomic_ref<void*> shadow(allocation.shadow);
  if (shadow == nullptr) {
    const std::scoped_lock lock(mutex);
    if (shadow == nullptr)
      shadow = std::make_unique<Shadow>(allocation.base, allocation.bytes).release();
  }
  return *static_cast<Shadow*>(shadow.load());
}

/// Guards the checks of memory that the host can access. Host threads, host functions in streams
/// and kernels may check such memory at the same time.
std::recursive_mutex& memory_of_host() {
  static auto& mutex = indestructible<std::recursive_mutex>();
  return mutex;
}

/// Locks `memory_of_host` for memory that the host can access. While kernels run concurrently with
/// the host, copies may use device memory, so the mutex is then locked for device memory as well.
std::unique_lock<std::recursive_mutex> lock_memory(Region region) {
  return region == Region::host || (region == Region::global && host_goes_on())
             ? std::unique_lock(memory_of_host())
             : std::unique_lock<std::recursive_mutex>();
}

Region region_of(const Allocation& allocation) {
  return allocation.space == MemorySpace::device ? Region::global : Region::host;
}

/// The allocation for the variables of the program or of a module, if it contains all bytes of an
/// access; otherwise null.
Allocation* own_data_at(const char* address, std::size_t bytes) {
  for (LoadedImage& image : loaded_images())
    if (image.data.contains(address, bytes)) return &image.data;
  return nullptr;
}

/// Whether an address lies in the code or the constant data of the program or of a module. Code and
/// constant data precede the variables.
bool is_constant_of_compiler(const char* address) {
  const LoadedImage* image = image_at(address);
  return image != nullptr && address < image->data.base;
}

/// A section of variables in __constant__ memory.
struct Constants {
  const char *begin, *end;

  bool contains(const char* address) const { return address >= begin && address < end; }
};

/// The section in the program or in a module that contains an address; empty if there is none.
Constants constants_at(const char* address) {
  const Constants of_program{__start_cuda_constant, __stop_cuda_constant};
  if (of_program.contains(address)) return of_program;
  for (const LoadedImage& image : loaded_images())
    if (const Constants all{image.constants, image.end_of_constants}; all.contains(address))
      return all;
  return {};
}

bool is_constant(const char* address) { return constants_at(address).begin != nullptr; }

/// The variables of the program that no source marks as device variables, sorted by address.
/// Variables of libraries and of the compiler are not included.
std::map<const char*, Variable> read_host_variables() {
  const std::set<std::string>& of_device = names_of_device();
  std::map<const char*, Variable> variables;
  for (const Variable& variable : variables_in_namespaces()) {
    const std::string& name = variable.name;
    const auto scope = name.rfind("::");
    const std::string base = scope == name.npos ? name : name.substr(scope + 2);
    if (base.starts_with('_') || name.starts_with("std::") || name.starts_with("cuda") ||
        of_device.contains(base) || !program().data.contains(variable.begin, variable.bytes))
      continue;
    variables.emplace(variable.begin, variable);
  }
  return variables;
}

/// The host variable that contains an address, or null.
const Variable* host_variable_at(const char* address) {
  static const auto& variables = indestructible_from(read_host_variables);
  const auto behind = variables.upper_bound(address);
  if (behind == variables.begin()) return nullptr;
  const Variable& variable = std::prev(behind)->second;
  return address < variable.begin + variable.bytes ? &variable : nullptr;
}

/// The allocation that contains an address, or null. The last result is cached per instruction.
inline Allocation* cached_allocation(const char* address, std::size_t bytes, Place place) {
  Allocation*& cached = block->targets->allocations[(place ^ place >> 10) & 1023];
  if (cached != nullptr && cached->living && cached->contains(address, bytes)) return cached;
  Allocation* found = find_allocation(address);
  if (found == nullptr || !found->contains(address, bytes)) return nullptr;
  return cached = found;
}

const char* verb_of(Kind kind) {
  return !is_write(kind)                            ? "reads"
         : kind == atomic || kind == atomic_compare ? "updates"
                                                    : "writes";
}

std::string accessed(Kind kind, std::size_t bytes) {
  return std::string(verb_of(kind)) + ' ' + std::to_string(bytes) + " bytes ";
}

/// The index of an access outside an allocation, for example ": index 400 of 300". The text is
/// empty if the allocation cannot consist of elements of the access's size.
std::string index_of_access(const Allocation& nearest, std::ptrdiff_t offset, std::size_t bytes) {
  const auto width = static_cast<std::ptrdiff_t>(bytes);
  if (bytes == 0 || offset % width != 0 || nearest.bytes % bytes != 0) return "";
  return ": index " + std::to_string(offset / width) + " of " +
         std::to_string(nearest.bytes / bytes);
}

/// Reports an access to an address that belongs to no living allocation.
void report_stray(const char* address, std::size_t bytes, Kind kind, Place place,
                  const Thread* thread) {
  if (is_of_no_block(address)) {
    add_finding("out of bounds", place, 0, thread,
                accessed(kind, bytes) +
                    "of the shared memory of a block that does not exist: the number of blocks in "
                    "the cluster is " +
                    std::to_string(cluster_size()));
    return;
  }
  const Allocation* nearest = nearest_allocation(address);
  const auto offset = nearest == nullptr ? 0 : address - nearest->base;
  const bool is_near =
      nearest != nullptr &&
      (is_beside_allocations(address) ||
       (offset > -near_bytes && offset < static_cast<std::ptrdiff_t>(nearest->bytes) + near_bytes));
  if (thread != nullptr) note_accessed(address, bytes);
  if (is_near) {
    const bool dead = !nearest->living;
    const std::string where = "at byte " + std::to_string(offset) + " of allocation " +
                              std::to_string(nearest->number) + ", which has " +
                              std::to_string(nearest->bytes) + " bytes" +
                              (dead ? "" : index_of_access(*nearest, offset, bytes));
    add_finding(
        dead ? "use after free" : "out of bounds", place, 0, thread,
        accessed(kind, bytes) + where +
            (!dead                          ? ""
             : nearest->of_graph == nullptr ? " and was freed"
                                            : " and is not currently allocated by its graph"));
    return;
  }
  if (address == nullptr || reinterpret_cast<std::uintptr_t>(address) < 65536) {
    add_finding("out of bounds", place, 0, thread, accessed(kind, bytes) + "near address 0");
    return;
  }
  add_finding("illegal device access", place, 0, thread,
              accessed(kind, bytes) +
                  "of memory that only the host may use: it is neither on the device nor pinned");
}

/// The thread area that contains an address in shared memory; null for an address elsewhere.
struct SharedPlace {
  const char* thread_area = nullptr;
  bool ended = false;         ///< whether the block of this area has ended
  bool may_be_early = false;  ///< whether the area belongs to another block, which may not have
                              ///< started on a GPU
};

SharedPlace shared_place(const char* address) {
  static const std::size_t bytes = thread_area_bytes();
  const auto inside = [&](const char* area) {
    return area != nullptr && address < area && address >= area - bytes;
  };
  const char* mine = thread_area_end();
  if (inside(mine)) return {mine};
  if (const Gang* gang = block->gang; gang != nullptr)
    for (unsigned rank = 0; rank < gang->size(); ++rank)
      if (inside(gang->thread_area(rank)))
        return {gang->thread_area(rank), !gang->inside(rank), gang->phase() == 0};
  return {};
}

/// The offset in bytes of an address in its thread area.
std::size_t offset_of(const char* address, const SharedPlace& shared) {
  return static_cast<std::size_t>(address - (shared.thread_area - thread_area_bytes()));
}

/// The use of a byte in the thread area. `guard`: unused bytes after a variable in shared memory.
/// `flag`: a variable of the compiler that records whether another variable has been initialised.
enum class Use : std::uint8_t { variable, dynamic, guard, flag, builtin };

void add_uses(std::vector<Use>& all, const LoadedImage& image) {
  for (const auto& [word, use] : {std::pair{"cuda_on_cpu_guard", Use::guard},
                                  {"_ZGVZ", Use::flag},
                                  {"cuda_on_cpu_dynamic_shared", Use::dynamic}})
    for (const ThreadVariable& variable : thread_variables(image, word))
      std::fill_n(&all[variable.offset], variable.bytes, use);
}

std::vector<Use> uses_of_thread_area() {
  std::vector<Use> all(thread_area_bytes());
  add_uses(all, program());
  const char* first = thread_area_end() - all.size();
  for (std::size_t offset = 0; offset < all.size(); ++offset)
    if (is_builtin(first + offset)) all[offset] = Use::builtin;
  return all;
}

std::vector<Use>& uses() {
  static auto& uses = indestructible<std::vector<Use>>(uses_of_thread_area());
  return uses;
}

Use use_of(std::size_t offset) { return uses()[offset]; }

/// The offsets at which the use of the thread area changes, including its beginning and its end.
std::vector<std::size_t> find_changes_of_use() {
  std::vector<std::size_t> found{0};
  for (std::size_t i = 1; i < uses().size(); ++i)
    if (uses()[i] != uses()[i - 1]) found.push_back(i);
  found.push_back(uses().size());
  return found;
}

std::vector<std::size_t>& changes_of_use() {
  static auto& changes = indestructible<std::vector<std::size_t>>(find_changes_of_use());
  return changes;
}

/// Whether the launch has allocated these bytes of dynamic shared memory.
bool is_given(std::ptrdiff_t offset, std::size_t bytes) {
  return static_cast<std::size_t>(offset) + bytes <= block->launch->configuration.dynamic_shared;
}

/// Reports the errors of a shared-memory access that do not depend on other accesses.
void check_shared_place(const char* address, std::size_t bytes, Kind kind, Place place,
                        const Thread& thread, const SharedPlace& shared) {
  const char* area = thread_area_end();
  const auto in_dynamic = (address - shared.thread_area) - (cuda_on_cpu_dynamic_shared - area);
  if (in_dynamic >= 0 && in_dynamic < static_cast<std::ptrdiff_t>(most_dynamic_shared) &&
      !is_given(in_dynamic, bytes))
    add_finding("out of bounds", place, 0, &thread,
                accessed(kind, bytes) + "at byte " + std::to_string(in_dynamic) +
                    " of dynamic shared memory, but the launch provides only " +
                    std::to_string(block->launch->configuration.dynamic_shared) + " bytes");
  if (shared.ended)
    add_finding("use after free", place, 0, &thread,
                accessed(kind, bytes) + "of the shared memory of a block that has ended");
  if (shared.may_be_early)
    add_finding("race", place, 0, &thread,
                accessed(kind, bytes) +
                    "of the shared memory of another block, which possibly has not started yet: "
                    "synchronise the cluster first");
  if (use_of(offset_of(address, shared)) == Use::guard)
    add_finding("out of bounds", place, 0, &thread,
                accessed(kind, bytes) + "past the end of a variable in shared memory");
}

/// Checks an access of a thread. Logs reads of unwritten bytes, and finds out whether a write
/// copies such bytes.
void check_in(Shadow& shadow, std::size_t offset, std::size_t bytes, Kind kind, const Event& event,
              Region region, const Thread& thread) {
  const Found found = check_thread(shadow, offset, bytes, kind, event, region, thread);
  if (found != Found::written)
    expect_copy(shadow, offset, bytes, event, region, thread, found == Found::unwritten);
  else if (kind == write && unwritten_reads != 0)
    find_source(shadow, offset, bytes, event, thread);
}

/// Checks an access to shared memory.
/// \returns whether the access counts as a request to shared memory
bool check_shared(const char* address, std::size_t bytes, Kind kind, Place place, Thread& thread,
                  const SharedPlace& shared) {
  check_shared_place(address, bytes, kind, place, thread, shared);
  const std::size_t offset = offset_of(address, shared);
  const Use use = use_of(offset);
  if (use == Use::flag || use == Use::builtin) return false;
  Shadow& shadow = shared_shadow(shared.thread_area);
  const Event event = event_of(kind, place, thread);
  check_in(shadow, offset, bytes, kind, event, Region::shared, thread);
  if (kind != read && kind != write) note_volatile(address, event, kind, Region::shared, thread);
  return true;
}

bool reads(Kind kind) { return kind == read || kind == volatile_read; }

/// Checks an access to a variable in __constant__ memory, which kernels can only read.
Outcome check_constant(std::size_t bytes, Kind kind, Place place, const Thread& thread) {
  if (reads(kind)) return Outcome::no_request;
  add_finding("illegal device access", place, 0, &thread,
              accessed(kind, bytes) + "of a __constant__ variable, which kernels can only read");
  return Outcome::launch_failure;
}

Outcome check_global(const char* address, std::size_t bytes, Kind kind, Place place,
                     Thread& thread) {
  Allocation* allocation = cached_allocation(address, bytes, place);
  if (allocation == nullptr) {
    if (is_constant(address)) return check_constant(bytes, kind, place, thread);
    if (Allocation* own = own_data_at(address, bytes); own != nullptr) {
      allocation = own;
      if (const Variable* variable = host_variable_at(address); variable != nullptr)
        add_finding("illegal device access", place, 0, &thread,
                    accessed(kind, bytes) + "of '" + variable->name + "', a variable of the host");
    } else if (is_constant_of_compiler(address)) {
      return Outcome::no_request;
    } else {
      report_stray(address, bytes, kind, place, &thread);
      if (is_of_no_block(address)) return Outcome::launch_failure;
      return is_spare(address, bytes) ? Outcome::request : Outcome::illegal_address;
    }
  }
  const int device = block->launch->device;
  if (allocation->space == MemorySpace::device && device != allocation->device &&
      !may_access(device, allocation->device))
    add_finding("illegal device access", place, 0, &thread,
                "device " + std::to_string(device) + " uses memory of device " +
                    std::to_string(allocation->device) + " without peer access");
  Shadow& shadow = shadow_of(*allocation);
  const auto offset = static_cast<std::size_t>(address - allocation->base);
  const Event event = event_of(kind, place, thread);
  const Region region = region_of(*allocation);
  const auto lock = lock_memory(region);
  check_in(shadow, offset, bytes, kind, event, region, thread);
  if (kind != read && kind != write) note_volatile(address, event, kind, region, thread);
  return Outcome::request;
}

bool is_argument(const char* address) {
  const Invocation& invocation = block->launch->invocation;
  return static_cast<std::size_t>(address - static_cast<char*>(invocation.closure.get())) <
         invocation.bytes;
}

/// A range of bytes in which all accesses have the same treatment; empty if each access has to be
/// checked separately.
struct Stretch {
  const char* begin = nullptr;
  std::size_t bytes = 0;
  Space space = Space::global;
  Treatment treatment = Treatment::request;
  Claim* claims = nullptr;
};

/// The stretch around an offset in the running block's shared memory or built-in variables.
Stretch shared_stretch(std::size_t offset) {
  const char* begin = thread_area_end() - thread_area_bytes();
  const Use use = use_of(offset);
  if (use == Use::dynamic)
    return {cuda_on_cpu_dynamic_shared, block->launch->configuration.dynamic_shared, Space::shared};
  if (use != Use::variable && use != Use::builtin) return {};
  const std::vector<std::size_t>& changes = changes_of_use();
  const auto behind = std::upper_bound(changes.begin(), changes.end(), offset);
  return {begin + *std::prev(behind), *behind - *std::prev(behind), Space::shared,
          use == Use::variable ? Treatment::request : Treatment::count};
}

/// Whether the running device may use an allocation even without peer access.
bool is_at_hand(const Allocation& allocation) {
  return allocation.space != MemorySpace::device || allocation.device == block->launch->device;
}

Stretch stretch_of(const char* address, std::size_t bytes, Kind kind, Place place) {
  const Invocation& invocation = block->launch->invocation;
  if (on_a_stack(reinterpret_cast<std::uintptr_t>(address)))
    return {block->stack_pool, all_stacks_bytes, Space::global, Treatment::stack};
  if (is_argument(address))
    return {static_cast<const char*>(invocation.closure.get()), invocation.bytes, Space::global,
            Treatment::none};
  const char* area = thread_area_end();
  const auto below = static_cast<std::size_t>(area - address);
  if (below - 1 < thread_area_bytes()) return shared_stretch(thread_area_bytes() - below);
  if (Allocation* allocation = cached_allocation(address, bytes, place); allocation != nullptr) {
    if (!is_at_hand(*allocation)) return {};
    if (allocation->on_host() && kind == write) shows_to_host();
    Claim* claims = block->on_trial ? shadow_of(*allocation).claims() : nullptr;
    return {.begin = allocation->base, .bytes = allocation->bytes, .claims = claims};
  }
  const auto [begin, end] = constants_at(address);
  if (begin == nullptr || kind != read) return {};
  return {begin, static_cast<std::size_t>(end - begin), Space::global, Treatment::count};
}

/// Sets the target of an instruction to the memory that the instruction accesses, so that the next
/// access can take the fast path.
/// \returns the target, or null if there is none for this address
const Target* note_target(const char* address, std::size_t bytes, Kind kind, Place place) {
  const DeviceAtWork at_work;
  const Stretch stretch = stretch_of(address, bytes, kind, place);
  if (address < stretch.begin || address + bytes > stretch.begin + stretch.bytes) return nullptr;
  Targets& targets = *block->targets;
  Target& target = targets.at(place);
  target = {.key = targets.key_of(place),
            .begin = reinterpret_cast<std::uintptr_t>(stretch.begin),
            .last = stretch.bytes - bytes,
            .claims = stretch.claims,
            .form = {bytes, kind, static_cast<unsigned>(stretch.space), false},
            .treatment = stretch.treatment};
  return &target;
}

/// Checks an access to the stacks of the block: a thread must not use the local variables of
/// another thread.
void check_stack(const char* address, std::size_t bytes, Kind kind, Place place) {
  const Thread& thread = *block->current;
  if (is_combining || is_on_own_stack(thread, reinterpret_cast<std::uintptr_t>(address))) return;
  const DeviceAtWork at_work;
  add_finding("illegal device access", place, 0, &thread,
              accessed(kind, bytes) +
                  "of the local memory of another thread: on a GPU, this address belongs to the "
                  "local memory of the thread that uses it");
}

/// Whether an address lies in memory that has been freed.
bool was_freed(const char* address) {
  const Allocation* dead = nearest_allocation(address);
  return dead != nullptr && !dead->living && dead->contains(address) &&
         dead->space != MemorySpace::registered;
}

/// Reports an access of host code to a device variable of the program.
void check_variable_of_device(const char* address, std::size_t bytes, Kind kind, Place place) {
  const std::string* const name = device_variable_name(address);
  if (name == nullptr) return;
  add_finding("illegal host access", place, 0, nullptr,
              "the host " + accessed(kind, bytes) + "of '" + *name +
                  "', a variable of the device: cudaMemcpyToSymbol and cudaMemcpyFromSymbol copy "
                  "its value");
}

/// Checks an access of host code. An access to device memory is illegal. An access to memory that
/// host and device use may conflict with operations in streams.
void check_host(const char* address, std::size_t bytes, Kind kind, Place place) {
  if (!may_be_allocated(address)) return check_variable_of_device(address, bytes, kind, place);
  Allocation* allocation = find_allocation(address);
  if (allocation == nullptr) {
    if (was_freed(address))
      add_finding("use after free", place, 0, nullptr,
                  "the host " + accessed(kind, bytes) + "of memory that was freed");
    return;
  }
  if (!allocation->on_host()) {
    add_finding("illegal host access", place, 0, nullptr,
                "the host " + accessed(kind, bytes) + "of memory on the device");
    return;
  }
  const bool looks = kind == volatile_read || kind == atomic || kind == atomic_compare;
  if (looks) host_looks();
  const std::scoped_lock lock(memory_of_host());
  host_catches_up();
  check_operation(shadow_of(*allocation), static_cast<std::size_t>(address - allocation->base),
                  bytes, kind, host_operation(), place, Region::host);
  if (kind > write && kind != volatile_read) host_releases(address);
  if (looks) host_sees(address);
}

/// The largest width in bytes of a GPU access (1 to 16) that divides both the address and the
/// length of a range.
std::size_t piece_of(const void* address, std::size_t bytes) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  for (const std::size_t piece : {16, 8, 4, 2})
    if (number % piece == 0 && bytes % piece == 0) return piece;
  return 1;
}

}  // namespace

void image_loaded(const LoadedImage& image, std::size_t bytes) {
  std::fill_n(&uses()[image.shared_offset], bytes, Use::variable);
  add_uses(uses(), image);
  changes_of_use() = find_changes_of_use();
}

/// Sets `written` to the allocation that contains the destination of a write by an unanalysed
/// block.
[[gnu::noinline]] static void note_written_to(Written& written, const char* address,
                                              std::size_t bytes) {
  const DeviceAtWork at_work;
  Allocation* allocation = find_allocation(address);
  if (allocation != nullptr && !allocation->contains(address, bytes)) allocation = nullptr;
  if (allocation == nullptr) allocation = own_data_at(address, bytes);
  written = {};
  if (allocation != nullptr)
    written = {reinterpret_cast<std::uintptr_t>(allocation->base), allocation->bytes,
               &allocation->living, &shadow_of(*allocation)};
}

/// Checks an access of a kernel by the slow path.
/// \param space receives the memory space of the address
[[gnu::noinline]] static Outcome check_fully(const char* address, std::size_t bytes, Kind kind,
                                             Place place, Thread& thread, Space& space) {
  const DeviceAtWork at_work;
  const SharedPlace shared = shared_place(address);
  space = shared.thread_area != nullptr ? Space::shared : Space::global;
  if (space == Space::global) return check_global(address, bytes, kind, place, thread);
  return check_shared(address, bytes, kind, place, thread, shared) ? Outcome::request
                                                                   : Outcome::no_request;
}

RequestedMemory requested_memory(Space space, const char* address, std::size_t bytes, Place place) {
  if (space == Space::shared) {
    const char* area = thread_area_end();
    return {&shared_shadow(area), reinterpret_cast<std::uintptr_t>(area) - thread_area_bytes(),
            thread_area_bytes() - bytes, Region::shared};
  }
  Allocation* allocation = cached_allocation(address, bytes, place);
  if (allocation == nullptr || !is_at_hand(*allocation)) return {};
  return {&shadow_of(*allocation), reinterpret_cast<std::uintptr_t>(allocation->base),
          allocation->bytes - bytes, region_of(*allocation)};
}

/// The memory that a lane of the running block has accessed, with its shadow.
static RequestedMemory memory_at(const Accesses& all, unsigned lane) {
  const AccessForm form = all.form[lane];
  const auto* address = reinterpret_cast<const char*>(all.address[lane]);
  const auto below = static_cast<std::size_t>(thread_area_end() - address);
  const bool is_shared = below - 1 < thread_area_bytes();
  if (is_shared != (static_cast<Space>(form.space()) == Space::shared)) return {};
  return requested_memory(static_cast<Space>(form.space()), address, form.bytes(),
                          place_in(all.order[lane]));
}

/// Searches the log for the write that copied a piece of a structure, given the read of this piece.
/// Compilers report the copy of a structure as a write and then as a read, piece by piece.
static void find_earlier_copy(const Warp& warp, const Accesses& read_by, unsigned lane) {
  const std::uint64_t number = read_by.number[lane];
  for (const Accesses& row : warp.log->rows) {
    if (row.form[lane].kind() != write || row.form[lane].bytes() != read_by.form[lane].bytes() ||
        row.number[lane] >= number || row.number[lane] + AccessLog::most_pieces < number)
      continue;
    const RequestedMemory to = memory_at(row, lane);
    const std::size_t offset = row.address[lane] - to.base;
    if (to.shadow == nullptr || offset > to.last) continue;
    if (was_stored(*to.shadow, offset, row.form[lane].bytes(), place_in(row.order[lane]),
                   warp.threads[lane]))
      return;
  }
}

/// Checks the access of one lane of a request by the slow path.
/// \param request mask of the request's lanes
static void check_lane(const Warp& warp, const Accesses& all, unsigned lane, unsigned request) {
  const AccessForm form = all.form[lane];
  Thread& thread = warp.threads[lane];
  Space space = Space::global;
  check_fully(reinterpret_cast<const char*>(all.address[lane]), form.bytes(),
              static_cast<Kind>(form.kind()), place_in(all.order[lane]), thread, space);
  if (overwritings != 0)
    settle(thread, (all.changes >> lane & 1) != 0 && !warp.log->was_stored_again(lane, request));
  if (form.kind() == read && unwritten_reads != 0) find_earlier_copy(warp, all, lane);
}

static void check_each_lane(const Warp& warp, const Accesses& all, unsigned lanes,
                            unsigned request) {
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1)
    check_lane(warp, all, static_cast<unsigned>(std::countr_zero(rest)), request);
}

/// Checks a request that accesses complete four-byte words by the fast path, row by row.
template <Kind kind, Region region>
static void check_cells(const Warp& warp, const Request& request, std::size_t bytes,
                        const RequestedMemory& memory) {
  const Accesses& all = request.all;
  const unsigned any = request.rows[0].first;
  PlainAccess<kind, region> access(*memory.shadow,
                                   event_of(kind, place_in(all.order[any]), warp.threads[any]),
                                   block->barrier_clock);
  for (const Row& row : request) {
    const std::size_t offset = all.address[row.first] - memory.base;
    const std::size_t last = all.address[row.end - 1] - memory.base;
    if (offset > memory.last || last > memory.last || offset % 4 != 0) {
      check_each_lane(warp, all, row.lanes(), request.lanes);
      continue;
    }
    Cell* cells = memory.shadow->cells(offset, last - offset + bytes);
    if (row.same) {
      if (!access.make(cells, bytes / 4, row.lanes(), row.end - 1))
        check_each_lane(warp, all, row.lanes(), request.lanes);
    } else {
      for (unsigned lane = row.first; lane < row.end; ++lane, cells += bytes / 4)
        if (!access.make(cells, bytes / 4, 1u << lane, lane))
          check_lane(warp, all, lane, request.lanes);
    }
  }
}

static unsigned unchecked_lanes(const Accesses& all, unsigned lanes) {
  unsigned unchecked = 0;
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1)
    unchecked |= all.form[std::countr_zero(rest)].checked() ? 0 : rest & -rest;
  return unchecked;
}

void check_request(const Warp& warp, const Request& request) {
  if (request.count == 0) return;
  const DeviceAtWork at_work;
  const Accesses& all = request.all;
  const unsigned first = request.rows[0].first;
  const AccessForm form = all.form[first];
  if (block->on_trial && static_cast<Space>(form.space()) == Space::global)
    return note_request(warp, request);
  // The lanes may differ in whether they have arrived at the barrier of their gang.
  if (!request.alike || block->arrives_split)
    return check_each_lane(warp, all, unchecked_lanes(all, request.lanes), request.lanes);
  if (form.checked()) return;
  if (unwritten_reads != 0 && form.kind() == write)
    return check_each_lane(warp, all, request.lanes, request.lanes);
  const auto space = static_cast<Space>(form.space());
  const RequestedMemory memory =
      requested_memory(space, reinterpret_cast<const char*>(all.address[first]), form.bytes(),
                       place_in(all.order[first]));
  if (form.bytes() % 4 != 0 || memory.shadow == nullptr || memory.base % 4 != 0)
    return check_each_lane(warp, all, request.lanes, request.lanes);
  const auto check = space == Space::shared
                         ? (form.kind() == read ? check_cells<read, Region::shared>
                                                : check_cells<write, Region::shared>)
                         : (form.kind() == read ? check_cells<read, Region::global>
                                                : check_cells<write, Region::global>);
  const auto lock = lock_memory(memory.region);
  check(warp, request, form.bytes(), memory);
}

/// The scope and the memory order of an atomic operation.
struct Ordering {
  bool narrow;           ///< whether the operation has block scope
  Among releases;        ///< scope in which the operation has release order
  const void* expected;  ///< address of the value with which the operation compares, or null
};

/// Lets other threads run if the current thread reads a volatile variable repeatedly.
[[gnu::noinline]] static void before_volatile_read(const void* instruction) {
  block->current->place = instruction;
  note_spin(true);
}

/// Takes the scope and the memory order of the current thread's next access from the block, because
/// other threads may run before the access is made.
static Ordering take_ordering() {
  Block& b = *block;
  return {std::exchange(b.narrow, false), std::exchange(b.releases, Among::nobody),
          std::exchange(b.expected, nullptr)};
}

/// Merges the marks of each word, and reserves space for more marks.
[[gnu::noinline]] static void unite(std::vector<Mark>& marks) {
  std::sort(marks.begin(), marks.end(),
            [](const Mark& a, const Mark& b) { return a.word < b.word; });
  std::size_t count = 0;
  for (const Mark& mark : marks)
    if (count > 0 && marks[count - 1].word == mark.word)
      marks[count - 1].bytes |= mark.bytes;
    else
      marks[count++] = mark;
  marks.resize(count);
  marks.reserve(std::max<std::size_t>(2 * count, 1024));
}

void pass_over_write(const void* where, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(where);
  if (on_a_stack(address)) return;  // the stack exists only until the block ends
  const Place place = place_of(__builtin_return_address(0));
  Written& written = block->targets->written[place / 4 % 256];
  if (written.bytes < bytes || address - written.begin > written.bytes - bytes ||
      !*written.living) {
    note_written_to(written, static_cast<const char*>(where), bytes);
    if (written.shadow == nullptr) return;
  }
  std::vector<Mark>& marks = block->targets->marks;
  written.shadow->note_written(address - written.begin, bytes, marks);
  if (marks.size() == marks.capacity()) unite(marks);
}

/// Whether a compare-and-swap is about to fail and therefore only reads.
static bool is_failing(const char* address, std::size_t bytes, Kind kind,
                       const Ordering& ordering) {
  return kind == atomic_compare && ordering.expected != nullptr &&
         std::memcmp(address, ordering.expected, bytes) != 0;
}

/// Handles an access of an unanalysed block. Atomic operations and volatile accesses still order
/// the accesses of other blocks.
[[gnu::noinline]] static void pass_over(const char* address, std::size_t bytes, Kind kind,
                                        const void* instruction) {
  const Ordering ordering = take_ordering();
  if (kind > write) end_trial();  // the order of this access among the blocks matters
  if (is_write(kind) && !is_shared_passed_over(address)) pass_over_write(address, bytes);
  if (kind <= write) return;
  if (kind == volatile_read) before_volatile_read(instruction);
  if (is_failing(address, bytes, kind, ordering)) kind = atomic_read;
  acquire_at(address, bytes, kind, ordering.narrow);
  release_at(address, bytes, kind, ordering.narrow, ordering.releases);
}

void check_access_of_host(const void* where, std::size_t bytes, Kind kind,
                          const void* instruction) {
  check_host(static_cast<const char*>(where), bytes, kind, place_of(instruction));
}

void note_next_access(Thread& thread, const void* address, const Target& target, Place place,
                      const void* frame) {
  AccessLog& log = *thread.warp->log;
  const AccessForm form = target.form;  // other threads may change the target later
  const bool is_full = log.is_full(thread.lane, form.kind());
  if (!log.may_copy(thread.lane, form))
    log.note_after(thread.lane);
  else if (is_full)
    log.note_change(thread.lane);
  if (is_full) wait_for_requests(&thread);
  note_access(thread, address, form, place, frame);
  if (form.kind() == write) log.note_before(thread.lane, address, form.bytes());
}

/// Ends the launch if an access must not be performed.
/// \returns whether the access counts as a request to memory
static bool is_performed(Outcome outcome) {
  if (outcome == Outcome::illegal_address) fail_launch(cudaErrorIllegalAddress);
  if (outcome == Outcome::launch_failure) fail_launch(cudaErrorLaunchFailure);
  return outcome == Outcome::request;
}

/// Whether atomic operations and volatile accesses at an address can order other accesses. The
/// address must belong to an allocation, to data of the program, or to shared memory other than
/// flags and built-in variables.
static bool is_ordered(const char* address, std::size_t bytes, Place place, Space& space) {
  const DeviceAtWork at_work;
  const SharedPlace shared = shared_place(address);
  space = shared.thread_area != nullptr ? Space::shared : Space::global;
  if (space == Space::global)
    return cached_allocation(address, bytes, place) != nullptr ||
           own_data_at(address, bytes) != nullptr;
  const Use use = use_of(offset_of(address, shared));
  return use != Use::flag && use != Use::builtin;
}

/// Checks an atomic operation or an access to a volatile variable. The access first acquires, is
/// then checked, and finally releases.
static void synchronise(const char* address, std::size_t bytes, Kind kind, const Ordering& ordering,
                        const void* instruction, const void* frame) {
  Thread& thread = *block->current;
  const Place place = place_of(instruction);
  Space space = Space::global;
  const bool ordered = is_ordered(address, bytes, place, space);
  if (!ordered && (space == Space::shared ||
                   !is_performed(check_fully(address, bytes, kind, place, thread, space))))
    return;
  if (kind == atomic_compare)
    if (const auto order = thread.warp->log->last_read(thread.lane, address, bytes); order != 0)
      note_optimistic_read(place_in(order));
  const Kind counted = kind == volatile_read    ? read
                       : kind == volatile_write ? write
                       : kind == atomic_write || kind == atomic_read || kind == atomic_store
                           ? atomic
                           : kind;
  note_access(thread, address, {bytes, counted, static_cast<unsigned>(space), true}, place, frame);
  wait_for_requests(&thread);
  if (kind == volatile_read) {
    before_volatile_read(instruction);
    note_late_load(address, thread);
  }
  if (is_failing(address, bytes, kind, ordering)) kind = atomic_read;
  acquire_at(address, bytes, kind, ordering.narrow);
  block->narrow = ordering.narrow;
  if (ordered) is_performed(check_fully(address, bytes, kind, place, thread, space));
  block->narrow = false;
  if (kind == volatile_write) note_value_before(address, bytes);
  release_at(address, bytes, kind, ordering.narrow, ordering.releases);
}

// The stack frames of all waiting lanes should fit into the cache. Code that needs large frames is
// therefore in functions that return before the lane waits.
void check_closely(const void* where, std::size_t bytes, Kind kind, const void* instruction,
                   const void* frame) {
  if (ends_by_signal.load(std::memory_order_relaxed)) wait_for_end();
  compare_values();
  const auto* address = static_cast<const char*>(where);
  const Place place = place_of(instruction);
  if (block->left_out || kind > write) {
    if (on_a_stack(reinterpret_cast<std::uintptr_t>(address)))
      return block->left_out ? void() : check_stack(address, bytes, kind, place);
    if (is_argument(address)) return;
    if (block->left_out) return pass_over(address, bytes, kind, instruction);
  }
  const Target* target = kind > write ? nullptr : note_target(address, bytes, kind, place);
  if (target == nullptr && !is_constant_of_compiler(address)) end_trial();
  if (target != nullptr && target->treatment == Treatment::request) expect_kernel();
  Thread& thread = *block->current;
  if (target != nullptr) {
    if (target->treatment == Treatment::stack) check_stack(address, bytes, kind, place);
    accesses += target->treatment > Treatment::stack;
    if (target->treatment != Treatment::request) return;
    if (target->claims != nullptr) claim(*target, address, bytes, kind, block->targets->claimant);
    note_next_access(thread, address, *target, place, frame);
  } else {
    const Ordering ordering = take_ordering();
    catch_up();
    ++accesses;
    if (kind > write) return synchronise(address, bytes, kind, ordering, instruction, frame);
    Space space = Space::global;
    if (!is_performed(check_fully(address, bytes, kind, place, thread, space))) return;
    note_access(thread, address, {bytes, kind, static_cast<unsigned>(space), true}, place, frame);
    wait_for_requests(&thread);
    if (kind == write) note_value_before(address, bytes);
  }
}

/// The log of the running thread of a kernel. The result is null if no kernel runs, or if the block
/// is not analysed.
static AccessLog* log_of_current() {
  const bool is_analysed = block != nullptr && block->current != nullptr && !block->left_out;
  return is_analysed ? block->current->warp->log : nullptr;
}

void access(const void* address, std::size_t bytes, Kind kind, const void* place,
            const void* frame) {
  const std::size_t piece = piece_of(address, bytes);
  if (kind == write && piece != bytes && log_of_current() != nullptr)
    return write_structure(address, bytes, place, frame);
  // Each piece counts as an instruction, so that corresponding pieces of the lanes form a request.
  for (std::size_t done = 0; done < bytes; done += piece)
    check_access(static_cast<const char*>(address) + done, piece, kind, place, frame);
}

/// Whether the log of the current thread contains a pending write of one piece to an address.
static bool is_being_written(const AccessLog* log, const char* address) {
  if (log == nullptr) return false;
  const unsigned lane = block->current->lane;
  return log->writing[lane] != 0 &&
         log->rows[log->written[lane]].address[lane] == reinterpret_cast<std::uintptr_t>(address);
}

void write_structure(const void* to, std::size_t bytes, const void* place, const void* frame) {
  const auto* address = static_cast<const char*>(to);
  const std::size_t piece = piece_of(to, bytes), pieces = bytes / piece;
  AccessLog* const log = log_of_current();
  if (log == nullptr || pieces == 1) return access(to, bytes, write, place, frame);
  const bool is_short = pieces <= AccessLog::most_pieces && bytes <= AccessLog::most_bytes_written;
  const unsigned lane = block->current->lane;
  log->note_after(lane);
  if (is_short && log->end[lane] + 2 * pieces > AccessLog::most) wait_for_requests(block->current);
  for (std::size_t done = 0; done < bytes; done += piece) {
    const std::uint8_t first = log->written[lane], all = log->writing[lane];
    log->writing[lane] = 0;
    check_access(address + done, piece, write, place, frame);
    if (!is_being_written(log, address + done)) continue;
    if (!is_short) {
      log->note_change(lane);
    } else if (all != 0) {  // one write together with the earlier pieces
      log->written[lane] = first;
      log->writing[lane] = all;
      log->note_before_piece(lane, address + done, piece);
    }
  }
}

void write_values(const void* to, std::size_t bytes, const ValueAt& value_at, const void* place,
                  const void* frame) {
  const auto* address = static_cast<const char*>(to);
  const std::size_t piece = piece_of(to, bytes);
  AccessLog* const log = log_of_current();
  for (std::size_t done = 0; done < bytes; done += piece) {
    check_access(address + done, piece, write, place, frame);
    if (!is_being_written(log, address + done)) continue;
    char value[16];
    value_at(done, piece, value);
    log->note_value(block->current->lane, std::memcmp(address + done, value, piece) == 0);
  }
}

void misaligned(const void* address, std::size_t multiple, const void* place) {
  if (block == nullptr || block->current == nullptr) return;
  if (is_argument(static_cast<const char*>(address))) return;
  const Thread& thread = *block->current;
  const DeviceAtWork at_work;
  add_finding("misaligned access", place_of(place), 0, &thread,
              "the access needs an address that is a multiple of " + std::to_string(multiple) +
                  ", but its address is " +
                  std::to_string(reinterpret_cast<std::uintptr_t>(address) % multiple) +
                  " bytes above such a multiple");
}

void index_out_of_bounds(const char* array, std::ptrdiff_t index, const void* place) {
  if (is_on_device()) catch_up();
  const Thread* thread = block == nullptr ? nullptr : block->current;
  const auto report = [&] {
    add_finding("out of bounds", place_of(place), 0, thread,
                "index " + std::to_string(index) + " of an array " + array);
  };
  if (thread == nullptr) {
    report();
    std::exit(1);
  }
  {
    const DeviceAtWork at_work;  // the program's own functions for strings may be instrumented
    report();
  }
  fail_launch(cudaErrorIllegalAddress);
}

void shifted_too_far(int bits, std::int64_t by, bool as_gpu, const void* place) {
  if (block == nullptr || block->current == nullptr) return;
  const Thread& thread = *block->current;
  const DeviceAtWork at_work;
  add_note("wide shift", place_of(place), 0, &thread,
           "a value of " + std::to_string(bits) + " bits is shifted by " + std::to_string(by) +
               " bits: C++ does not define the result; a GPU shifts out all bits, " +
               (as_gpu ? "and so does the CPU device"
                       : "but at this position the CPU device may give another result"));
}

void copy_starts(const void* to, std::size_t bytes, const void* instruction) {
  if (block->left_out) return;
  catch_up();
  const auto* address = static_cast<const char*>(to);
  const Thread& thread = *block->current;
  const DeviceAtWork at_work;
  const SharedPlace shared = shared_place(address);
  if (bytes == 0 || shared.thread_area == nullptr ||
      shared.thread_area != shared_place(address + bytes - 1).thread_area)
    return;
  check_thread(shared_shadow(shared.thread_area), offset_of(address, shared), bytes, early_write,
               event_of(early_write, place_of(instruction), thread), Region::shared, thread);
}

void sends(const void* to, std::size_t bytes, const void* instruction) {
  if (block->left_out) return;
  const auto* address = static_cast<const char*>(to);
  const Thread& thread = *block->current;
  const DeviceAtWork at_work;
  check_shared_place(address, bytes, write, place_of(instruction), thread, shared_place(address));
}

std::string shared_byte_text(std::size_t offset) {
  if (use_of(offset) != Use::variable) return "";
  for (const ThreadVariable& variable : thread_variables(program(), ""))
    if (offset >= variable.offset && offset - variable.offset < variable.bytes)
      return ": byte " + std::to_string(offset - variable.offset) + " of a variable of " +
             std::to_string(variable.bytes) + " bytes";
  return "";
}

static std::vector<ThreadVariable> find_shared_variables() {
  std::vector<ThreadVariable> found;
  for (const ThreadVariable& variable : thread_variables(program(), ""))
    if (use_of(variable.offset) == Use::variable) found.push_back(variable);
  return found;
}

/// The shared-memory variables of the program.
static const std::vector<ThreadVariable>& shared_variables() {
  static const auto& all = indestructible_from(find_shared_variables);
  return all;
}

/// The bytes in a range of memory that a kernel has stored and that nothing has read since.
/// \param owner block or gang that owns the bytes in shared memory; 0 for global memory
static Unread unread_of(const Shadow& shadow, std::size_t offset, std::size_t bytes,
                        std::uint32_t owner) {
  Unread unread;
  unread.of_bytes = bytes;
  for (std::size_t byte = 0; byte + 4 <= bytes; byte += 4) {
    const Cell* cell = shadow.own_cell(offset + byte);
    if (cell == nullptr || cell->owner != owner || cell->history != 0 || !cell->earlier.writes ||
        cell->earlier.bytes == 0 || cell->earlier.block == no_block || cell->latest.bytes != 0)
      continue;
    if (unread.bytes == 0) unread.first = byte;
    unread.bytes += 4;
  }
  return unread;
}

std::vector<std::pair<std::string, Unread>> unread_of_block() {
  std::vector<std::pair<std::string, Unread>> found;
  const Shadow& shadow = shared_shadow(thread_area_end());
  const std::uint32_t owner = current_owner();
  for (const ThreadVariable& variable : shared_variables())
    if (const Unread unread = unread_of(shadow, variable.offset, variable.bytes, owner);
        unread.bytes != 0)
      found.emplace_back(variable.name, unread);
  return found;
}

std::pair<unsigned, Unread> unread_of_array(const void* address) {
  constexpr std::size_t most = 1 << 22;  // of a larger allocation, nothing is looked through
  const Allocation* array = find_allocation(address);
  if (array == nullptr || array->on_host() || array->shadow == nullptr || array->bytes > most)
    return {};
  return {array->number, unread_of(*static_cast<const Shadow*>(array->shadow), 0, array->bytes, 0)};
}

/// The arguments of a kernel as words of eight bytes.
static std::span<const std::uint64_t> words_of_arguments(const Launch& launch) {
  const Invocation& invocation = launch.invocation;
  return {static_cast<const std::uint64_t*>(invocation.closure.get()), invocation.bytes / 8};
}

static const Allocation* pointed_to(std::uint64_t word) {
  const auto* pointer = reinterpret_cast<const char*>(word);
  return may_be_allocated(pointer) ? find_allocation(pointer) : nullptr;
}

/// Stores the words after the word with index `i`, as far as they may be the extents of an array of
/// `bytes` bytes. Other values, such as addresses, differ from run to run.
static void store_extents(std::span<const std::uint64_t> words, std::size_t i, std::size_t bytes,
                          std::uint64_t (&extents)[4]) {
  bool may_be_extents = true;
  for (std::size_t k = 0; k < std::size(extents); ++k) {
    const std::uint64_t word = i + 1 + k < words.size() ? words[i + 1 + k] : 0;
    may_be_extents = may_be_extents && word <= bytes;
    extents[k] = may_be_extents ? word : 0;
  }
}

std::vector<Argument> pointers_of(const Launch& launch) {
  std::vector<Argument> pointers;
  const auto words = words_of_arguments(launch);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Allocation* array = pointed_to(words[i]);
    if (array == nullptr) continue;
    const auto offset = reinterpret_cast<const char*>(words[i]) - array->base;
    pointers.push_back(
        {array->base, array->bytes, array->number, static_cast<std::size_t>(offset)});
    store_extents(words, i, array->bytes - pointers.back().offset, pointers.back().words);
  }
  return pointers;
}

std::vector<std::pair<std::size_t, std::uint64_t>> other_words_of(const Launch& launch) {
  std::vector<std::pair<std::size_t, std::uint64_t>> others;
  const auto words = words_of_arguments(launch);
  for (std::size_t i = 0; i < words.size(); ++i)
    if (pointed_to(words[i]) == nullptr) others.emplace_back(i, words[i]);
  return others;
}

std::vector<unsigned> arrays_of(const Launch& launch) {
  std::vector<unsigned> numbers;
  for (const Argument& pointer : pointers_of(launch)) numbers.push_back(pointer.number);
  return numbers;
}

/// Finds the kernel argument that points to the accessed array, and stores the position of the
/// access relative to this argument in `accessed`.
static void find_argument(Accessed& accessed, const char* address) {
  const Allocation* array = nearest_allocation(address);
  if (array == nullptr || address + near_bytes < array->base ||
      address > array->base + array->bytes + near_bytes)
    return;
  const auto words = words_of_arguments(*block->launch);
  const char* nearest = nullptr;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto* pointer = reinterpret_cast<const char*>(words[i]);
    const Allocation* of_pointer = pointed_to(words[i]);
    if (of_pointer == nullptr) continue;
    const int number = accessed.pointers++;
    const bool is_before = pointer <= address;
    if (of_pointer != array ||
        (nearest != nullptr && (!is_before || (nearest <= address && pointer <= nearest))))
      continue;
    nearest = pointer;
    accessed.pointer = number;
    accessed.byte = address - pointer;
    accessed.of_bytes = static_cast<std::size_t>(array->base + array->bytes - pointer);
    store_extents(words, i, accessed.of_bytes, accessed.words);
  }
}

Accessed accessed_at(const void* where, std::size_t bytes) {
  Accessed accessed;
  const auto* address = static_cast<const char*>(where);
  if (block == nullptr || block->launch == nullptr) return accessed;
  accessed.bytes = bytes;
  const auto below = static_cast<std::size_t>(thread_area_end() - address);
  if (below - 1 >= thread_area_bytes()) {
    find_argument(accessed, address);
    return accessed;
  }
  const std::size_t offset = thread_area_bytes() - below;
  for (const ThreadVariable& variable : shared_variables())
    if (offset >= variable.offset && offset - variable.offset < variable.bytes) {
      accessed.variable = variable.name;
      accessed.byte = static_cast<std::ptrdiff_t>(offset - variable.offset);
      accessed.of_bytes = variable.bytes;
    }
  return accessed;
}

/// The ranges of unwritten bytes in a part of the shadow memory, at most 256 of them.
static std::vector<ByteRange> unwritten_ranges(Shadow& shadow, std::size_t offset,
                                               std::size_t bytes) {
  constexpr std::size_t most = 256;
  std::vector<ByteRange> ranges;
  for (std::size_t byte = 0; byte < bytes; ++byte) {
    if (!shadow.lacks(offset + byte)) continue;
    if (!ranges.empty() && ranges.back().first + ranges.back().bytes == byte)
      ++ranges.back().bytes;
    else if (ranges.size() < most)
      ranges.push_back({byte, 1});
    else
      break;
  }
  return ranges;
}

std::vector<ByteRange> unwritten_of_array(const void* address, std::size_t& of_bytes) {
  constexpr std::size_t most = 1 << 20;  // of a larger allocation, nothing is looked through
  const Allocation* array = find_allocation(address);
  if (array == nullptr || array->on_host() || array->shadow == nullptr || array->bytes > most)
    return {};
  of_bytes = array->bytes;
  return unwritten_ranges(*static_cast<Shadow*>(array->shadow), 0, array->bytes);
}

void received(const void* where, std::size_t bytes) {
  const char* area = thread_area_end();
  const auto below = static_cast<std::size_t>(area - static_cast<const char*>(where));
  note_received(shared_shadow(area), thread_area_bytes() - below, bytes);
}

void copy_access(const void* where, std::size_t bytes, Kind kind, const Operation& operation,
                 Purpose purpose) {
  if (operation.name != nullptr) note_name(operation.number, operation.name);
  const auto* address = static_cast<const char*>(where);
  Allocation* allocation = find_allocation(address);
  if (allocation == nullptr) {
    if (was_freed(address))
      add_finding("use after free", place_of(operation.place), 0, nullptr,
                  "an operation of a stream " + accessed(kind, bytes) +
                      "of memory that was freed before, or that a graph has not allocated");
    return;
  }
  const Region region = region_of(*allocation);
  const auto lock = lock_memory(region);
  Shadow& shadow = shadow_of(*allocation);
  const auto offset = static_cast<std::size_t>(address - allocation->base);
  const Place place = place_of(operation.place);
  const bool shows_some = purpose == Purpose::copy_to_host && kind == read &&
                          region == Region::global && shadow.is_any_written(offset, bytes);
  check_operation(shadow, offset, bytes, kind, operation.number, place, region,
                  purpose != Purpose::copy_within_device && !shows_some);
  if (shows_some && shadow.longest_unwritten(offset, bytes) >= 16) {
    note_ranges(unwritten_ranges(shadow, offset, bytes), bytes);
    add_note("unwritten bytes", place, 0, nullptr,
             "a copy to the host contains bytes that nothing has written: their values are "
             "undefined");
  }
}

void carry_unwritten(const void* to, const void* from, std::size_t bytes) {
  Allocation* const source = find_allocation(from);
  Allocation* const target = find_allocation(to);
  if (source == nullptr || target == nullptr) return;
  const auto offset_in = [](const Allocation& a, const void* address) {
    return static_cast<std::size_t>(static_cast<const char*>(address) - a.base);
  };
  shadow_of(*target).carry_unwritten(offset_in(*target, to), shadow_of(*source),
                                     offset_in(*source, from), bytes);
}

void blocks_wait_for_each_other(const Thread& thread) {
  add_note("not cooperative", place_of(thread.place), 0, &thread,
           "a block waits for another block of its launch: only a cooperative launch "
           "(cudaLaunchCooperativeKernel) guarantees that all blocks run at the same time");
}

void allocated_again(Allocation& allocation, const Operation& operation) {
  Shadow& shadow = shadow_of(allocation);
  if (operation.name != nullptr) note_name(operation.number, operation.name);
  shadow.forget();
  // Operations that use the memory must wait for this allocation. The allocation itself writes
  // nothing.
  check_operation(shadow, 0, allocation.bytes, write, operation.number, place_of(operation.place),
                  region_of(allocation));
  shadow.note_written(0);
}

void written_by_others(Allocation& allocation) { shadow_of(allocation).note_written(0xF); }

void different_operations(const Thread& thread, const Thread& other) {
  const DeviceAtWork at_work;
  add_finding("invalid mask", place_of(thread.place), place_of(other.place), &thread,
              "lanes that wait for each other execute different operations");
}

void different_masks(const Thread& thread, const Thread& other) {
  const DeviceAtWork at_work;
  add_finding("invalid mask", place_of(thread.place), 0, &thread,
              "lane " + std::to_string(other.lane) +
                  " is in the mask, but has used another mask for this operation");
}

void asks_outside_mask(const Thread& thread, unsigned absent) {
  add_note("undefined value", place_of(thread.place), 0, &thread,
           "a shuffle reads the value of lane " + std::to_string(absent) +
               ", which is not in the mask: the result is undefined and must not be used");
}

void different_barriers(const Thread& thread, const Thread& other) {
  const DeviceAtWork at_work;
  add_finding("divergent barrier", place_of(thread.place), place_of(other.place), &thread,
              "threads of one block wait at different barriers");
}

}  // namespace analysis

void note_wide_shift(int bits, std::int64_t by) {
  analysis::shifted_too_far(bits, by, true, __builtin_return_address(0));
}

}  // namespace cuda_on_cpu
