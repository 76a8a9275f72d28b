/// \file
/// What happens at each access: where it goes, whether it may, and what it collides with.

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>

#include "../indestructible.hpp"
#include "../machine/builtins.hpp"
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
#include "device_names.hpp"
#include "findings.hpp"
#include "lessons.hpp"
#include "plain_access.hpp"
#include "targets.hpp"
#include "trial.hpp"
#include "values.hpp"

extern "C" {
// The section of __constant__ variables; absent from programs that have none.
extern const char __start_cuda_constant[] __attribute__((weak));
extern const char __stop_cuda_constant[] __attribute__((weak));

// The section in which the rewriter lists the names of the device's variables.
extern const char __start_cuda_device_names[] __attribute__((weak));
extern const char __stop_cuda_device_names[] __attribute__((weak));
}

namespace cuda_on_cpu {

bool may_access(int from, int to);

namespace analysis {

const bool enabled = true;
__thread std::uint64_t accesses = 0;
__thread std::size_t passes_over = 0;

namespace {

constexpr std::ptrdiff_t near_bytes = 4096;  // of an allocation: probably that one was meant

/// One shadow per thread of the operating system for its shared memory.
Shadow& find_shared_shadow(const char* thread_area) {
  using Shadows = std::unordered_map<const char*, std::unique_ptr<Shadow>>;
  static Shadows& shadows = indestructible<Shadows>();
  static auto& mutex = indestructible<std::mutex>();
  const std::scoped_lock lock(mutex);
  auto& shadow = shadows[thread_area];
  if (shadow == nullptr) shadow = std::make_unique<Shadow>(thread_area_bytes());
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
  // Allocations are kept for the whole run, and so are their shadows. Blocks that run side by side
  // may ask for one at once.
  static auto& mutex = indestructible<std::mutex>();
  const std::atomic_ref<void*> shadow(allocation.shadow);
  if (shadow == nullptr) {
    const std::scoped_lock lock(mutex);
    if (shadow == nullptr) shadow = std::make_unique<Shadow>(allocation.bytes).release();
  }
  return *static_cast<Shadow*>(shadow.load());
}

/// Held where memory is checked that the host uses, too: its threads, functions that streams call,
/// and kernels beside them run together.
std::recursive_mutex& memory_of_host() {
  static auto& mutex = indestructible<std::recursive_mutex>();
  return mutex;
}

/// The same, where the memory may be the device's, which copies use beside kernels then.
std::unique_lock<std::recursive_mutex> lock_memory(Region region) {
  return region == Region::host || (region == Region::global && host_goes_on())
             ? std::unique_lock(memory_of_host())
             : std::unique_lock<std::recursive_mutex>();
}

Region region_of(const Allocation& allocation) {
  return allocation.space == MemorySpace::device ? Region::global : Region::host;
}

/// The own variables of the program, or of a module, that hold an address; null if none do.
Allocation* own_data_at(const char* address, std::size_t bytes) {
  for (LoadedImage& image : loaded_images())
    if (image.data.contains(address, bytes)) return &image.data;
  return nullptr;
}

/// Whether an address lies before the variables of the program, or of a module.
bool is_constant_of_compiler(const char* address) {
  const LoadedImage* image = image_at(address);
  return image != nullptr && address < image->data.base;
}

/// Variables in __constant__ memory.
struct Constants {
  const char *begin, *end;

  bool contains(const char* address) const { return address >= begin && address < end; }
};

/// Those of the program, or of a module, that hold an address; none if no ones do.
Constants constants_at(const char* address) {
  const Constants of_program{__start_cuda_constant, __stop_cuda_constant};
  if (of_program.contains(address)) return of_program;
  for (const LoadedImage& image : loaded_images())
    if (const Constants all{image.constants, image.end_of_constants}; all.contains(address))
      return all;
  return {};
}

bool is_constant(const char* address) { return constants_at(address).begin != nullptr; }

}  // namespace

std::set<std::string> names_of_device() {
  std::string all;
  for (const char* c = __start_cuda_device_names; c != __stop_cuda_device_names; ++c)
    all += *c == '\0' ? ' ' : *c;
  std::istringstream words(all);
  return {std::istream_iterator<std::string>(words), {}};
}

namespace {

/// The variables of the program that no source marks as the device's, by their first byte. The
/// libraries' own, and those that the compiler makes, are none of them.
std::map<const char*, Variable> read_host_variables() {
  const std::set<std::string> of_device = names_of_device();
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

/// The variable of the host that an address lies in, or null.
const Variable* host_variable_at(const char* address) {
  static const auto& variables = indestructible_from(read_host_variables);
  const auto behind = variables.upper_bound(address);
  if (behind == variables.begin()) return nullptr;
  const Variable& variable = std::prev(behind)->second;
  return address < variable.begin + variable.bytes ? &variable : nullptr;
}

/// The allocation of an address, remembered by the instruction that used it last.
inline Allocation* cached_allocation(const char* address, std::size_t bytes, Place place) {
  Allocation*& cached = block->targets->allocations[(place ^ place >> 10) & 1023];
  if (cached != nullptr && cached->living && cached->contains(address, bytes)) return cached;
  Allocation* found = find_allocation(address);
  if (found == nullptr || !found->contains(address, bytes)) return nullptr;
  return cached = found;
}

const char* verb_of(Kind kind) {
  return kind == read || kind == volatile_read      ? "reads"
         : kind == atomic || kind == atomic_compare ? "updates"
                                                    : "writes";
}

std::string accessed(Kind kind, std::size_t bytes) {
  return std::string(verb_of(kind)) + ' ' + std::to_string(bytes) + " bytes ";
}

/// Says what is wrong with an address that no living allocation has.
void report_stray(const char* address, std::size_t bytes, Kind kind, Place place,
                  const Thread* thread) {
  if (is_of_no_block(address)) {
    add_finding("out of bounds", place, 0, thread,
                accessed(kind, bytes) + "of the shared memory of a block that the cluster, of " +
                    std::to_string(cluster_size()) + ", does not have");
    return;
  }
  const Allocation* nearest = nearest_allocation(address);
  const auto offset = nearest == nullptr ? 0 : address - nearest->base;
  const bool is_near = nearest != nullptr && offset > -near_bytes &&
                       offset < static_cast<std::ptrdiff_t>(nearest->bytes) + near_bytes;
  if (is_near) {
    const bool dead = !nearest->living;
    const std::string where = "at byte " + std::to_string(offset) + " of allocation " +
                              std::to_string(nearest->number) + ", which has " +
                              std::to_string(nearest->bytes) + " bytes";
    add_finding(dead ? "use after free" : "out of bounds", place, 0, thread,
                accessed(kind, bytes) + where +
                    (!dead                          ? ""
                     : nearest->of_graph == nullptr ? " and was freed"
                                                    : " and that its graph has not allocated"));
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

/// A thread of the operating system whose shared memory an address lies in.
struct SharedPlace {
  const char* thread_area = nullptr;
  bool ended = false;         ///< whether its block no longer runs
  bool may_be_early = false;  ///< whether its block, another one, may not have started on a GPU
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

/// The distance from the beginning of the thread area that an address lies in.
std::size_t offset_of(const char* address, const SharedPlace& shared) {
  return static_cast<std::size_t>(address - (shared.thread_area - thread_area_bytes()));
}

/// What a byte of the thread area is for: a variable, dynamic shared memory, a guard behind a
/// variable in shared memory, a flag by which the compiler notes that a variable was initialised,
/// or a built-in variable.
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

/// Where what a byte of the thread area is for changes, from its beginning to its end.
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

/// Whether the launch gave so much dynamic shared memory.
bool is_given(std::ptrdiff_t offset, std::size_t bytes) {
  return static_cast<std::size_t>(offset) + bytes <= block->launch->configuration.dynamic_shared;
}

/// Says what is wrong with a place in shared memory, whatever others do there.
void check_shared_place(const char* address, std::size_t bytes, Kind kind, Place place,
                        const Thread& thread, const SharedPlace& shared) {
  const char* area = thread_area_end();
  const auto in_dynamic = (address - shared.thread_area) - (cuda_on_cpu_dynamic_shared - area);
  if (in_dynamic >= 0 && in_dynamic < static_cast<std::ptrdiff_t>(most_dynamic_shared) &&
      !is_given(in_dynamic, bytes))
    add_finding("out of bounds", place, 0, &thread,
                accessed(kind, bytes) + "at byte " + std::to_string(in_dynamic) +
                    " of dynamic shared memory, of which the launch gave " +
                    std::to_string(block->launch->configuration.dynamic_shared) + " bytes");
  if (shared.ended)
    add_finding("use after free", place, 0, &thread,
                accessed(kind, bytes) + "of the shared memory of a block that has ended");
  if (shared.may_be_early)
    add_finding("race", place, 0, &thread,
                accessed(kind, bytes) +
                    "of the shared memory of a block that may not have started: the cluster has "
                    "passed no barrier");
  if (use_of(offset_of(address, shared)) == Use::guard)
    add_finding("out of bounds", place, 0, &thread,
                accessed(kind, bytes) + "past the end of a variable in shared memory");
}

/// \returns whether the access counts as a request to shared memory
bool check_shared(const char* address, std::size_t bytes, Kind kind, Place place, Thread& thread,
                  const SharedPlace& shared) {
  check_shared_place(address, bytes, kind, place, thread, shared);
  const std::size_t offset = offset_of(address, shared);
  const Use use = use_of(offset);
  if (use == Use::flag || use == Use::builtin) return false;
  Shadow& shadow = shared_shadow(shared.thread_area);
  const Event event = event_of(kind, place, thread);
  check_thread(shadow, offset, bytes, kind, event, Region::shared, thread);
  if (kind != read && kind != write) note_volatile(address, event, kind, Region::shared, thread);
  return true;
}

/// \returns whether the access counts as a request to global memory
bool check_global(const char* address, std::size_t bytes, Kind kind, Place place, Thread& thread) {
  Allocation* allocation = cached_allocation(address, bytes, place);
  if (allocation == nullptr) {
    if (is_constant(address)) return false;
    if (Allocation* own = own_data_at(address, bytes); own != nullptr) {
      allocation = own;
      if (const Variable* variable = host_variable_at(address); variable != nullptr)
        add_finding("illegal device access", place, 0, &thread,
                    accessed(kind, bytes) + "of '" + variable->name + "', a variable of the host");
    } else if (is_constant_of_compiler(address)) {
      return false;
    } else {
      report_stray(address, bytes, kind, place, &thread);
      return true;
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
  check_thread(shadow, offset, bytes, kind, event, region, thread);
  if (kind != read && kind != write) note_volatile(address, event, kind, region, thread);
  return true;
}

bool is_argument(const char* address) {
  const Invocation& invocation = block->launch->invocation;
  return static_cast<std::size_t>(address - static_cast<char*>(invocation.closure.get())) <
         invocation.bytes;
}

/// Bytes of which every access is treated alike; none if each has to be looked at.
struct Stretch {
  const char* begin = nullptr;
  std::size_t bytes = 0;
  Space space = Space::global;
  Treatment treatment = Treatment::request;
  Claim* claims = nullptr;
};

/// The stretch of the block's own shared memory, or of its built-in variables.
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

/// Whether the device that runs may use an allocation without a further question.
bool is_at_hand(const Allocation& allocation) {
  return allocation.space != MemorySpace::device || allocation.device == block->launch->device;
}

Stretch stretch_of(const char* address, std::size_t bytes, Kind kind, Place place) {
  const Invocation& invocation = block->launch->invocation;
  if (on_a_stack(reinterpret_cast<std::uintptr_t>(address)))
    return {block->stack_pool, all_stacks_bytes, Space::global, Treatment::none};
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
  if (begin == nullptr) return {};
  return {begin, static_cast<std::size_t>(end - begin), Space::global, Treatment::count};
}

/// Notes where an instruction goes, so that its next access takes the short way.
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

/// Whether an address lies in memory that the program gave back.
bool was_freed(const char* address) {
  const Allocation* dead = nearest_allocation(address);
  return dead != nullptr && !dead->living && dead->contains(address) &&
         dead->space != MemorySpace::registered;
}

/// An access of host code: to memory of the device it is illegal, to memory that both use it may
/// collide with work in a stream.
void check_host(const char* address, std::size_t bytes, Kind kind, Place place) {
  if (!may_be_allocated(address)) return;
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
  if (kind > write && kind != volatile_read) host_tells(address);
  if (looks) host_sees(address);
}

/// The widest access that a GPU has for a stretch of memory.
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

/// Finds out where an instruction of a block that is left out writes.
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

/// Checks any access of a kernel.
/// \returns whether it counts as a request
[[gnu::noinline]] static bool check_fully(const char* address, std::size_t bytes, Kind kind,
                                          Place place, Thread& thread, Space& space) {
  const DeviceAtWork at_work;
  const SharedPlace shared = shared_place(address);
  space = shared.thread_area != nullptr ? Space::shared : Space::global;
  return space == Space::shared ? check_shared(address, bytes, kind, place, thread, shared)
                                : check_global(address, bytes, kind, place, thread);
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

/// Checks what one lane of a request did, whatever that is.
/// \param request its lanes
static void check_lane(const Warp& warp, const Accesses& all, unsigned lane, unsigned request) {
  const AccessForm form = all.form[lane];
  Thread& thread = warp.threads[lane];
  Space space = Space::global;
  check_fully(reinterpret_cast<const char*>(all.address[lane]), form.bytes(),
              static_cast<Kind>(form.kind()), place_in(all.order[lane]), thread, space);
  if (overwritings != 0)
    settle(thread, (all.changes >> lane & 1) != 0 && !warp.log->was_stored_again(lane, request));
}

static void check_each_lane(const Warp& warp, const Accesses& all, unsigned lanes,
                            unsigned request) {
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1)
    check_lane(warp, all, static_cast<unsigned>(std::countr_zero(rest)), request);
}

/// Checks a request of whole cells, row by row.
template <Kind kind, Region region>
static void check_cells(const Warp& warp, const Request& request, std::size_t bytes,
                        const RequestedMemory& memory) {
  const Accesses& all = request.all;
  const unsigned any = request.rows[0].first;
  PlainAccess<kind, region> access(event_of(kind, place_in(all.order[any]), warp.threads[any]),
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
  if (!request.alike)
    return check_each_lane(warp, all, unchecked_lanes(all, request.lanes), request.lanes);
  if (form.checked()) return;
  const auto space = static_cast<Space>(form.space());
  const RequestedMemory memory =
      requested_memory(space, reinterpret_cast<const char*>(all.address[first]), form.bytes(),
                       place_in(all.order[first]));
  if (form.bytes() % 4 != 0 || threads_learned || block->launch->configuration.cooperative ||
      memory.shadow == nullptr || memory.base % 4 != 0)
    return check_each_lane(warp, all, request.lanes, request.lanes);
  const auto check = space == Space::shared
                         ? (form.kind() == read ? check_cells<read, Region::shared>
                                                : check_cells<write, Region::shared>)
                         : (form.kind() == read ? check_cells<read, Region::global>
                                                : check_cells<write, Region::global>);
  const auto lock = lock_memory(memory.region);
  check(warp, request, form.bytes(), memory);
}

/// What an access does when the warp has made its request.
[[gnu::noinline]] static void after_request(const void* where, Kind kind, bool narrow,
                                            const void* instruction) {
  synchronise_at(where, kind, narrow);
  if (kind == volatile_read) {
    block->current->place = instruction;
    note_spin(true);
  }
}

/// Makes one of the marks of each word, when there is no room for more.
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
  if (on_a_stack(address)) return;  // it ends with the block, too
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

/// An access of a block that is left out: it still orders what others do.
[[gnu::noinline]] static void pass_over(const char* address, std::size_t bytes, Kind kind,
                                        const void* instruction) {
  const bool narrow = block->narrow;
  block->narrow = false;
  if (kind > write) end_trial();  // its order among other blocks matters
  if (kind != read && kind != volatile_read && !is_shared_passed_over(address))
    pass_over_write(address, bytes);
  if (kind > write) after_request(address, kind, narrow, instruction);
}

void check_access_of_host(const void* where, std::size_t bytes, Kind kind,
                          const void* instruction) {
  check_host(static_cast<const char*>(where), bytes, kind, place_of(instruction));
}

void note_next_access(Thread& thread, const void* address, const Target& target, Place place,
                      const void* frame) {
  AccessLog& log = *thread.warp->log;
  const AccessForm form = target.form;  // others may change it while this thread waits
  const bool is_full = log.end[thread.lane] == AccessLog::most;
  if (!log.may_copy(thread.lane, form))
    log.note_after(thread.lane);
  else if (is_full)
    log.note_change(thread.lane);
  if (is_full) wait_for_requests(&thread);
  note_access(thread, address, form, place, frame);
  if (form.kind() == write) log.note_before(thread.lane, address, form.bytes());
}

// What the stacks of all lanes hold while they wait has to fit into the cache: what needs much of
// it is called and comes back.
void check_closely(const void* where, std::size_t bytes, Kind kind, const void* instruction,
                   const void* frame) {
  compare_values();
  const auto* address = static_cast<const char*>(where);
  const Place place = place_of(instruction);
  if (block->left_out || kind > write) {
    if (on_a_stack(reinterpret_cast<std::uintptr_t>(address)) || is_argument(address)) return;
    if (block->left_out) return pass_over(address, bytes, kind, instruction);
  }
  const bool narrow = block->narrow;
  const Target* target = kind > write ? nullptr : note_target(address, bytes, kind, place);
  if (target == nullptr && !is_constant_of_compiler(address)) end_trial();
  if (target != nullptr && target->treatment == Treatment::request) expect_kernel();
  Thread& thread = *block->current;
  if (target != nullptr) {
    accesses += target->treatment != Treatment::none;
    if (target->treatment != Treatment::request) return;
    if (target->claims != nullptr) claim(*target, address, bytes, kind, block->targets->claimant);
    note_next_access(thread, address, *target, place, frame);
  } else {
    block->narrow = false;  // others may run now
    catch_up();
    block->narrow = narrow;
    ++accesses;
    Space space = Space::global;
    if (!check_fully(address, bytes, kind, place, thread, space)) return;
    block->narrow = false;
    const Kind counted = kind == volatile_read    ? read
                         : kind == volatile_write ? write
                         : kind == atomic_write   ? atomic
                                                  : kind;
    note_access(thread, address, {bytes, counted, static_cast<unsigned>(space), true}, place,
                frame);
    wait_for_requests(&thread);
    if (kind == write || kind == volatile_write) note_value_before(address, bytes);
    if (kind > write) after_request(where, kind, narrow, instruction);
  }
}

void access(const void* address, std::size_t bytes, Kind kind, const void* place,
            const void* frame) {
  const std::size_t piece = piece_of(address, bytes);
  // Each piece is an instruction of its own, so that the lanes' pieces meet one by one.
  for (std::size_t done = 0; done < bytes; done += piece)
    check_access(static_cast<const char*>(address) + done, piece, kind, place, frame);
}

void misaligned(const void* address, std::size_t multiple, const void* place) {
  if (block == nullptr || block->current == nullptr) return;
  if (is_argument(static_cast<const char*>(address))) return;
  const Thread& thread = *block->current;
  const DeviceAtWork at_work;
  add_finding("misaligned access", place_of(place), 0, &thread,
              "the access needs an address that is a multiple of " + std::to_string(multiple) +
                  ", and this one is " +
                  std::to_string(reinterpret_cast<std::uintptr_t>(address) % multiple) + " beyond");
}

void index_out_of_bounds(const char* array, std::ptrdiff_t index, const void* place) {
  const std::string sentence = "index " + std::to_string(index) + " of an array " + array;
  if (is_on_device()) catch_up();
  const Thread* thread = block == nullptr ? nullptr : block->current;
  if (thread == nullptr) {
    add_finding("out of bounds", place_of(place), 0, nullptr, sentence);
    std::exit(1);
  }
  {
    const DeviceAtWork at_work;
    add_finding("out of bounds", place_of(place), 0, thread, sentence);
  }
  fail_launch(cudaErrorIllegalAddress);
}

void shifted_too_far(int bits, std::int64_t by, bool as_gpu, const void* place) {
  if (block == nullptr || block->current == nullptr) return;
  const Thread& thread = *block->current;
  const DeviceAtWork at_work;
  add_note("wide shift", place_of(place), 0, &thread,
           "a value of " + std::to_string(bits) + " bits is shifted by " + std::to_string(by) +
               ": C++ does not define this, a GPU shifts out all bits, and " +
               (as_gpu ? "so does the CPU device" : "here the result may differ"));
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

void received(const void* where, std::size_t bytes) {
  const char* area = thread_area_end();
  const auto below = static_cast<std::size_t>(area - static_cast<const char*>(where));
  note_received(shared_shadow(area), thread_area_bytes() - below, bytes);
}

void copy_access(const void* where, std::size_t bytes, Kind kind, const Operation& operation) {
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
  check_operation(shadow_of(*allocation), static_cast<std::size_t>(address - allocation->base),
                  bytes, kind, operation.number, place_of(operation.place), region);
}

void allocated_again(Allocation& allocation, const Operation& operation) {
  Shadow& shadow = shadow_of(allocation);
  if (operation.name != nullptr) note_name(operation.number, operation.name);
  shadow.forget();
  // Who uses it must wait for this; but nothing is written yet.
  check_operation(shadow, 0, allocation.bytes, write, operation.number, place_of(operation.place),
                  region_of(allocation));
  shadow.note_written(0);
}

void written_by_others(Allocation& allocation) { shadow_of(allocation).note_written(0xF); }

void fence(Among among) {
  if (block == nullptr || block->current == nullptr) return;
  Among& fenced = block->current->fenced;
  fenced = std::max(fenced, among);
}

void different_operations(const Thread& thread, const Thread& other) {
  const DeviceAtWork at_work;
  add_finding("invalid mask", place_of(thread.place), place_of(other.place), &thread,
              "lanes that wait for each other execute different operations");
}

void different_masks(const Thread& thread, const Thread& other) {
  const DeviceAtWork at_work;
  add_finding("invalid mask", place_of(thread.place), 0, &thread,
              "lane " + std::to_string(other.lane) + " of the mask used another mask");
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
