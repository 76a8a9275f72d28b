/// \file
/// The runtime's calls for memory: allocation, copies and memsets.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "../analysis.hpp"
#include "../indestructible.hpp"
#include "../machine/thread_area.hpp"
#include "../settings.hpp"
#include "children.hpp"
#include "cuda_on_cpu/batch_copies.hpp"
#include "cuda_on_cpu/memory_pools.hpp"
#include "graph_memory.hpp"
#include "memory.hpp"
#include "stream.hpp"
#include "symbols.hpp"

namespace cuda_on_cpu {
namespace {

using Guard = std::scoped_lock<RuntimeMutex>;

/// A matrix of bytes: `height` rows of `width` bytes, which begin `pitch` bytes apart.
struct Rows {
  char* first;
  std::size_t pitch;
  std::size_t width;
  std::size_t height;

  std::size_t extent() const { return height == 0 ? 0 : (height - 1) * pitch + width; }
  char* row(std::size_t i) const { return first + i * pitch; }
};

enum class Side { pageable, host, device };

struct Symbol {
  char* base;
  std::size_t bytes;
  bool has_address = false;  ///< whether the host has queried the address and may use it
};

/// Device variables that the host has used by name.
std::vector<Symbol>& symbols() {
  static auto& symbols = indestructible<std::vector<Symbol>>();
  return symbols;
}

Symbol* symbol_at(const void* address) {
  for (Symbol& symbol : symbols())
    if (address >= symbol.base && address < symbol.base + symbol.bytes) return &symbol;
  return nullptr;
}

bool is_symbol(const void* address) { return symbol_at(address) != nullptr; }

/// Whether an address was formed from the name of a device variable. On a GPU, such an address
/// belongs to the host's shadow variable.
bool is_name_of_symbol(const void* address) {
  const Symbol* symbol = symbol_at(address);
  return symbol != nullptr && !symbol->has_address;
}

Symbol& known_symbol(const void* address, std::size_t bytes) {
  Symbol* known = symbol_at(address);
  if (known != nullptr) return *known;
  symbols().push_back({static_cast<char*>(const_cast<void*>(address)), bytes});
  return symbols().back();
}

/// Refuses a symbol that is not a device variable. The symbol may be a host variable, or the name,
/// the address or an element of a device variable.
cudaError_t refuse_symbol() {
  return fail(cudaErrorInvalidSymbol,
              "the symbol is not a __device__, __constant__ or __managed__ variable; pass the "
              "variable itself, not its address or a string with its name");
}

/// Whether a device variable begins at an address.
bool is_device_symbol(const void* address) {
  const Symbol* known = symbol_at(address);
  return (known != nullptr && known->base == address) || is_device_variable(address);
}

Side side_of(const void* address) {
  const Allocation* allocation = find_allocation_of_call(address);
  if (allocation == nullptr) return is_symbol(address) ? Side::device : Side::pageable;
  return allocation->on_host() && allocation->space != MemorySpace::managed ? Side::host
                                                                            : Side::device;
}

/// A description of an address for messages.
std::string described(const void* address) {
  if (address == nullptr) return "null";
  const Allocation* allocation = find_allocation_of_call(address);
  if (allocation == nullptr) {
    const Allocation* nearest = nearest_allocation(address);
    if (nearest != nullptr && !nearest->living && nearest->contains(address))
      return "allocation " + std::to_string(nearest->number) + ", which was freed";
    return is_name_of_symbol(address) ? "the host's address of a variable of the device"
           : is_symbol(address)       ? "a variable of the device"
                                      : "memory that only the host may use";
  }
  constexpr const char* spaces[] = {"on the device", "pinned on the host", "registered on the host",
                                    "managed", "mapped on the device"};
  return "byte " + std::to_string(static_cast<const char*>(address) - allocation->base) +
         " of allocation " + std::to_string(allocation->number) + ", which is " +
         spaces[static_cast<int>(allocation->space)] + " and has " +
         std::to_string(allocation->bytes) + " bytes";
}

/// A description of a refused copy for messages.
std::string reason_of(const Rows& to, const Rows& from, cudaMemcpyKind kind) {
  constexpr const char* kinds[] = {"from host to host", "from host to device",
                                   "from device to host", "from device to device",
                                   "with cudaMemcpyDefault"};
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return "";
  return "a copy " + std::string(kinds[kind]) + " cannot transfer " + std::to_string(to.extent()) +
         " bytes to " + described(to.first) + ", from " + described(from.first);
}

/// Whether a copy may access these bytes as device memory or as host memory.
bool is_legal(const Rows& rows, bool on_device) {
  const Allocation* allocation = find_allocation_of_call(rows.first);
  if (allocation == nullptr) return !on_device || is_symbol(rows.first);
  return rows.extent() <= bytes_from(rows.first) && (on_device || allocation->on_host());
}

cudaError_t refusal_of(const Rows& to, const Rows& from, cudaMemcpyKind kind) {
  if (to.first == nullptr || from.first == nullptr) return cudaErrorInvalidValue;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  const bool by_address = kind == cudaMemcpyDefault;
  const bool to_device = by_address
                             ? side_of(to.first) == Side::device
                             : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = by_address
                               ? side_of(from.first) == Side::device
                               : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return is_legal(to, to_device) && is_legal(from, from_device) ? cudaSuccess
                                                                : cudaErrorInvalidValue;
}

void note(const Rows& rows, analysis::Kind kind, const Operation& operation,
          analysis::Purpose purpose = analysis::Purpose::use) {
  if (!analysis::enabled) return;
  for (std::size_t i = 0; i < rows.height; ++i)
    for (std::size_t x = 0; x < rows.width;) {
      // One mapped allocation may end where the next one begins.
      const char* first = rows.row(i) + x;
      const Allocation* at = find_allocation(first);
      const bool is_mapped = at != nullptr && at->space == MemorySpace::mapped;
      const std::size_t rest = rows.width - x;
      const std::size_t bytes =
          is_mapped ? std::min(rest, static_cast<std::size_t>(at->base + at->bytes - first)) : rest;
      analysis::copy_access(first, bytes, kind, operation, purpose);
      x += bytes;
    }
}

/// Marks the destination of a copy as uninitialised wherever its source is uninitialised.
void note_unwritten(const Rows& to, const Rows& from) {
  if (!analysis::enabled) return;
  for (std::size_t i = 0; i < to.height; ++i)
    analysis::carry_unwritten(to.row(i), from.row(i), to.width);
}

void move(const Rows& to, const Rows& from) {
  for (std::size_t i = 0; i < to.height; ++i) std::memmove(to.row(i), from.row(i), to.width);
}

/// Lets the analysis search copied bytes for code addresses that are valid only on the source side.
void note_code(const Rows& to, bool to_device, const Operation& operation) {
  if (!analysis::enabled) return;
  for (std::size_t i = 0; i < to.height; ++i)
    if (to_device)
      analysis::copied_to_device(to.row(i), to.width, operation);
    else
      analysis::copied_to_host(to.row(i), to.width);
}

/// Enqueues a copy in a stream. Pageable host memory is read, or written, before the call returns,
/// unless a graph captures the copy. All other memory is accessed when the stream executes the
/// copy.
cudaError_t copy(Rows to, Rows from, cudaMemcpyKind kind, CUstream_st* stream, bool wait,
                 const void* place, bool by_name = false) {
  if (stream == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (to.width == 0 || to.height == 0) return lasting_error();
  if (!by_name && (is_name_of_symbol(to.first) || is_name_of_symbol(from.first)))
    return fail(cudaErrorInvalidValue, reason_of(to, from, kind));
  if (const cudaError_t refusal = refusal_of(to, from, kind); refusal != cudaSuccess)
    return fail(refusal, reason_of(to, from, kind));
  const Side to_side = side_of(to.first), from_side = side_of(from.first);
  std::shared_ptr<std::vector<char>> staged;
  const bool recorded = stream->capture != nullptr;
  if (from_side == Side::pageable && to_side != Side::pageable && !recorded) {
    staged = std::make_shared<std::vector<char>>(to.width * to.height);
    const Rows buffer{staged->data(), to.width, to.width, to.height};
    move(buffer, from);
    from = buffer;
  }
  enqueue(
      *stream,
      [=](const Operation& operation) {
        const bool is_within_device = to_side == Side::device && from_side == Side::device;
        if (staged == nullptr)
          note(from, analysis::read, operation,
               is_within_device ? analysis::Purpose::copy_within_device
                                : analysis::Purpose::copy_to_host);
        note(to, analysis::write, operation);
        if (is_within_device) note_unwritten(to, from);
        move(to, from);
        if (to_side != from_side) note_code(to, to_side == Side::device, operation);
        return true;
      },
      place)
      ->moves = Moves::copy;
  const bool between_devices = to_side == Side::device && from_side == Side::device;
  if (!recorded && (to_side == Side::pageable || (wait && !between_devices))) synchronise(*stream);
  return fail(lasting_error());
}

cudaError_t fill(Rows to, int value, CUstream_st* stream, bool wait, const void* place) {
  if (stream == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (to.width == 0 || to.height == 0) return lasting_error();
  if (to.first == nullptr || is_name_of_symbol(to.first) || (side_of(to.first) == Side::pageable) ||
      !is_legal(to, true))
    return fail(cudaErrorInvalidValue, "a memset cannot write " + std::to_string(to.extent()) +
                                           " bytes to " + described(to.first));
  enqueue(
      *stream,
      [=](const Operation& operation) {
        note(to, analysis::write, operation);
        for (std::size_t i = 0; i < to.height; ++i) std::memset(to.row(i), value, to.width);
        return true;
      },
      place)
      ->moves = Moves::fill;
  if (wait && side_of(to.first) == Side::host) synchronise(*stream);
  return lasting_error();
}

Rows line(void* first, std::size_t bytes) { return {static_cast<char*>(first), bytes, bytes, 1}; }
Rows line(const void* first, std::size_t bytes) { return line(const_cast<void*>(first), bytes); }
Rows rows(const void* first, std::size_t pitch, std::size_t width, std::size_t height) {
  return {static_cast<char*>(const_cast<void*>(first)), pitch, width, height};
}

cudaError_t allocate_for(void** pointer, std::size_t bytes, MemorySpace space) {
  const Guard guard(runtime_mutex());
  runtime_is_used() = true;
  if (pointer == nullptr) return fail(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (lasting_error() != cudaSuccess) return fail(lasting_error());
  if (bytes == 0) return cudaSuccess;
  const Allocation* allocation = allocate(bytes, space, current_device());
  if (allocation == nullptr) return fail(cudaErrorMemoryAllocation);
  *pointer = allocation->base;
  return cudaSuccess;
}

/// Allocates memory for a thread of a kernel. The function does not lock the runtime, because the
/// host may have locked it while kernels run.
cudaError_t allocate_in_kernel(void** pointer, std::size_t bytes) {
  end_trial();
  const Allocation* allocation = nullptr;
  {
    const int device = block->launch->device;
    const DeviceAtWork at_work;
    if (bytes > 0) allocation = allocate(bytes, MemorySpace::device, device);
    *pointer = allocation == nullptr ? nullptr : allocation->base;
  }
  return bytes > 0 && allocation == nullptr ? fail(cudaErrorMemoryAllocation) : cudaSuccess;
}

/// The allocation that begins at an address and belongs to one of two memory spaces.
Allocation* allocation_at(void* pointer, MemorySpace one, MemorySpace other) {
  Allocation* found = find_allocation_of_call(pointer);
  const bool right =
      found != nullptr && found->base == pointer && (found->space == one || found->space == other);
  return right ? found : nullptr;
}

/// Refuses to free memory that has already been freed or has not been allocated yet.
cudaError_t refuse_to_free(const Allocation& allocation) {
  return fail(cudaErrorInvalidValue,
              allocation.is_leaving
                  ? "this call frees " + described(allocation.base) +
                        ", but cudaFreeAsync already frees this memory"
                  : "the memory belongs to a graph and is not allocated: no launch of the graph "
                    "has allocated it, or it was freed since");
}

cudaError_t free_now(void* pointer, MemorySpace one, MemorySpace other, const void* place) {
  const Guard guard(runtime_mutex());
  runtime_is_used() = true;
  if (pointer == nullptr) return lasting_error();
  Allocation* allocation = allocation_at(pointer, one, other);
  if (allocation == nullptr)
    return fail(cudaErrorInvalidValue, "this call cannot free " + described(pointer));
  if (!may_be_freed(*allocation)) return refuse_to_free(*allocation);
  for (int device = 0; device < settings().devices; ++device) synchronise_device(device);
  analysis::freed(allocation->base, allocation->bytes, place);
  release(allocation);
  forget_left(*allocation);  // may delete the last reference to its graph allocation
  return fail(lasting_error());
}

cudaError_t free_in_kernel(void* pointer, const void* place) {
  end_trial();
  catch_up();
  std::string reason;
  {
    const DeviceAtWork at_work;
    Allocation* allocation = allocation_at(pointer, MemorySpace::device, MemorySpace::device);
    if (allocation != nullptr) {
      analysis::freed(allocation->base, allocation->bytes, place);
      release(allocation);
    } else if (pointer != nullptr) {
      reason = "this call cannot free " + described(pointer);
    }
  }
  return reason.empty() ? cudaSuccess : fail(cudaErrorInvalidValue, std::move(reason));
}

/// Whether an address is in local memory of a thread, or in shared memory, of the running block.
/// Operations that run later cannot use it.
bool is_private(const void* address) {
  const char* area = thread_area_end();
  const auto below = static_cast<std::size_t>(area - static_cast<const char*>(address));
  return on_a_stack(reinterpret_cast<std::uintptr_t>(address)) || below - 1 < thread_area_bytes();
}

/// The reason why a copy or memset that a kernel calls may not access these bytes; empty if the
/// access is allowed. The bounds of variables are not checked.
std::string objection_in_kernel(const Rows& rows) {
  const DeviceAtWork at_work;
  if (rows.first == nullptr) return "the address of a copy or a memset is null";
  if (is_private(rows.first))
    return "a copy or a memset cannot use local or shared memory of the kernel that calls it";
  const Allocation* allocation = find_allocation(rows.first);
  return allocation == nullptr || allocation->contains(rows.first, rows.extent())
             ? ""
             : "a copy or a memset cannot access " + std::to_string(rows.extent()) +
                   " bytes starting at " + described(rows.first);
}

/// Enqueues a copy for a thread of a kernel.
cudaError_t copy_in_kernel(const Rows& to, const Rows& from, cudaMemcpyKind kind,
                           cudaStream_t stream, const void* place) {
  if (to.width == 0 || to.height == 0) return cudaSuccess;
  if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    return fail(cudaErrorInvalidMemcpyDirection);
  for (const Rows& rows : {to, from})
    if (std::string objection = objection_in_kernel(rows); !objection.empty())
      return fail(cudaErrorInvalidValue, std::move(objection));
  const auto work = [=](const Operation& operation) {
    note(from, analysis::read, operation);
    note(to, analysis::write, operation);
    move(to, from);
    return true;
  };
  return enqueue_in_kernel(stream, work, Moves::copy, place);
}

cudaError_t fill_in_kernel(const Rows& to, int value, cudaStream_t stream, const void* place) {
  if (to.width == 0 || to.height == 0) return cudaSuccess;
  if (std::string objection = objection_in_kernel(to); !objection.empty())
    return fail(cudaErrorInvalidValue, std::move(objection));
  const auto work = [=](const Operation& operation) {
    note(to, analysis::write, operation);
    for (std::size_t i = 0; i < to.height; ++i) std::memset(to.row(i), value, to.width);
    return true;
  };
  return enqueue_in_kernel(stream, work, Moves::fill, place);
}

}  // namespace

cudaError_t register_symbol_use(const void* symbol, std::size_t size) {
  const Guard guard(runtime_mutex());
  if (!is_device_symbol(symbol)) return refuse_symbol();
  known_symbol(symbol, size).has_address = true;
  return lasting_error();
}

cudaError_t check_symbol(const void* symbol) {
  const Guard guard(runtime_mutex());
  return is_device_symbol(symbol) ? lasting_error() : refuse_symbol();
}

void note_pool(const void* memory, cudaMemPool_t pool) {
  const Guard guard(runtime_mutex());
  if (Allocation* allocation = find_allocation_of_call(memory); allocation != nullptr)
    allocation->pool = pool;
}

bool is_known_address(const void* address) {
  const Guard guard(runtime_mutex());
  const Symbol* symbol = symbol_at(address);
  return symbol != nullptr && symbol->has_address;
}

cudaError_t copy_symbol(void* to, const void* from, std::size_t bytes, std::size_t size,
                        std::size_t offset, bool to_symbol, bool wait, cudaStream_t stream) {
  const Guard guard(runtime_mutex());
  if (!is_device_symbol(to_symbol ? to : from)) return refuse_symbol();
  if (offset + bytes > size)
    return fail(cudaErrorInvalidValue, "a copy of " + std::to_string(bytes) + " bytes at byte " +
                                           std::to_string(offset) + " exceeds a variable of " +
                                           std::to_string(size) + " bytes");
  known_symbol(to_symbol ? to : from, size);
  if (to_symbol)
    to = static_cast<char*>(to) + offset;
  else
    from = static_cast<const char*>(from) + offset;
  return copy(line(to, bytes), line(from, bytes), cudaMemcpyDefault, find_stream(stream), wait,
              __builtin_return_address(0), true);
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  if (is_on_device()) {
    analysis::access(pointer, sizeof *pointer, analysis::write, __builtin_return_address(0),
                     __builtin_frame_address(0));
    return allocate_in_kernel(pointer, bytes);
  }
  return allocate_for(pointer, bytes, MemorySpace::device);
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  constexpr std::size_t alignment = 512;
  *pitch = (width + alignment - 1) / alignment * alignment;
  return allocate_for(pointer, *pitch * height, MemorySpace::device);
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return allocate_for(pointer, bytes, MemorySpace::pinned);
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  const Guard guard(runtime_mutex());
  const cudaError_t error = allocate_for(pointer, bytes, MemorySpace::pinned);
  if (error == cudaSuccess && *pointer != nullptr) find_allocation(*pointer)->flags = flags;
  return error;
}
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
  return bytes == 0 ? fail(cudaErrorInvalidValue)
                    : allocate_for(pointer, bytes, MemorySpace::managed);
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (found->capture != nullptr)
    return allocate_in_graph(pointer, bytes, *found, __builtin_return_address(0));
  const cudaError_t error = allocate_for(pointer, bytes, MemorySpace::device);
  // The memory comes from a pool of the device, which outlives contexts other than the primary one.
  if (error == cudaSuccess && *pointer != nullptr) find_allocation(*pointer)->context = 0;
  return error;
}

cudaError_t cudaFree(void* pointer) {
  if (is_on_device()) return free_in_kernel(pointer, __builtin_return_address(0));
  return free_now(pointer, MemorySpace::device, MemorySpace::managed, __builtin_return_address(0));
}

cudaError_t cudaFreeHost(void* pointer) {
  return free_now(pointer, MemorySpace::pinned, MemorySpace::pinned, __builtin_return_address(0));
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (pointer == nullptr) return lasting_error();
  Allocation* allocation = allocation_at(pointer, MemorySpace::device, MemorySpace::device);
  if (allocation == nullptr)
    return fail(cudaErrorInvalidValue, "this call cannot free " + described(pointer));
  if (found->capture != nullptr && allocation->of_graph == nullptr)
    return fail(cudaErrorInvalidValue, "a graph can free only memory that a graph has allocated");
  if (found->capture == nullptr && !may_be_freed(*allocation)) return refuse_to_free(*allocation);
  return free_in_stream(*allocation, *found, __builtin_return_address(0));
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  const Guard guard(runtime_mutex());
  if (pointer == nullptr || bytes == 0) return fail(cudaErrorInvalidValue);
  return register_host(pointer, bytes, current_device()) == nullptr
             ? fail(cudaErrorHostMemoryAlreadyRegistered)
             : lasting_error();
}

cudaError_t cudaHostUnregister(void* pointer) {
  const Guard guard(runtime_mutex());
  Allocation* allocation = allocation_at(pointer, MemorySpace::registered, MemorySpace::registered);
  if (allocation == nullptr)
    return fail(pointer == nullptr ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered);
  for (int device = 0; device < settings().devices; ++device) synchronise_device(device);
  release(allocation);
  return lasting_error();
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  const Allocation* allocation = find_allocation_of_call(host);
  if (device == nullptr || flags != 0 || allocation == nullptr || !allocation->on_host())
    return fail(cudaErrorInvalidValue);
  *device = host;
  return lasting_error();
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  const Guard guard(runtime_mutex());
  const Allocation* allocation = find_allocation_of_call(host);
  if (flags == nullptr || allocation == nullptr || allocation->space != MemorySpace::pinned)
    return fail(cudaErrorInvalidValue);
  *flags = allocation->flags;
  return lasting_error();
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return fail(cudaErrorInvalidValue);
  const Allocation* allocation = find_allocation_of_call(pointer);
  auto* address = const_cast<void*>(pointer);
  if (allocation == nullptr) {
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, nullptr};
    return lasting_error();
  }
  const cudaMemoryType type = !allocation->on_host()                      ? cudaMemoryTypeDevice
                              : allocation->space == MemorySpace::managed ? cudaMemoryTypeManaged
                                                                          : cudaMemoryTypeHost;
  *attributes = {type, allocation->device, address, allocation->on_host() ? address : nullptr};
  return lasting_error();
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = settings().memory;
  *free = settings().memory - memory_taken(current_device());
  return lasting_error();
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const Guard guard(runtime_mutex());
  return copy(line(to, bytes), line(from, bytes), kind, find_stream(nullptr), true,
              __builtin_return_address(0));
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (is_on_device())
    return copy_in_kernel(line(to, bytes), line(from, bytes), kind, stream,
                          __builtin_return_address(0));
  const Guard guard(runtime_mutex());
  return copy(line(to, bytes), line(from, bytes), kind, find_stream(stream), false,
              __builtin_return_address(0));
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  const Guard guard(runtime_mutex());
  if (width > to_pitch || width > from_pitch) return fail(cudaErrorInvalidPitchValue);
  return copy(rows(to, to_pitch, width, height), rows(from, from_pitch, width, height), kind,
              find_stream(nullptr), true, __builtin_return_address(0));
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  if (is_on_device())
    return copy_in_kernel(rows(to, to_pitch, width, height), rows(from, from_pitch, width, height),
                          kind, stream, __builtin_return_address(0));
  const Guard guard(runtime_mutex());
  if (width > to_pitch || width > from_pitch) return fail(cudaErrorInvalidPitchValue);
  return copy(rows(to, to_pitch, width, height), rows(from, from_pitch, width, height), kind,
              find_stream(stream), false, __builtin_return_address(0));
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t bytes) {
  const Guard guard(runtime_mutex());
  for (const int device : {to_device, from_device}) {
    if (device < 0 || device >= settings().devices) return fail(cudaErrorInvalidDevice);
    synchronise_device(device);
  }
  return copy(line(to, bytes), line(from, bytes), cudaMemcpyDeviceToDevice, find_stream(nullptr),
              true, __builtin_return_address(0));
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes, cudaStream_t stream) {
  const Guard guard(runtime_mutex());
  for (const int device : {to_device, from_device})
    if (device < 0 || device >= settings().devices) return fail(cudaErrorInvalidDevice);
  return copy(line(to, bytes), line(from, bytes), cudaMemcpyDeviceToDevice, find_stream(stream),
              false, __builtin_return_address(0));
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  const Guard guard(runtime_mutex());
  return fill(line(to, bytes), value, find_stream(nullptr), true, __builtin_return_address(0));
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  if (is_on_device())
    return fill_in_kernel(line(to, bytes), value, stream, __builtin_return_address(0));
  const Guard guard(runtime_mutex());
  return fill(line(to, bytes), value, find_stream(stream), false, __builtin_return_address(0));
}

cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  const Guard guard(runtime_mutex());
  return fill(rows(to, pitch, width, height), value, find_stream(nullptr), true,
              __builtin_return_address(0));
}

cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  if (is_on_device())
    return fill_in_kernel(rows(to, pitch, width, height), value, stream,
                          __builtin_return_address(0));
  const Guard guard(runtime_mutex());
  return fill(rows(to, pitch, width, height), value, find_stream(stream), false,
              __builtin_return_address(0));
}

cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* bytes,
                                 std::size_t count, cudaMemcpyAttributes* attributes,
                                 std::size_t* firsts, std::size_t attribute_count,
                                 cudaStream_t stream) {
  const Guard guard(runtime_mutex());
  CUstream_st* found = find_stream(stream);
  if (found == nullptr) return fail(cudaErrorInvalidResourceHandle);
  if (to == nullptr || from == nullptr || bytes == nullptr || attributes == nullptr ||
      firsts == nullptr || count == 0 || attribute_count == 0 || attribute_count > count ||
      found == find_stream(nullptr))
    return fail(cudaErrorInvalidValue,
                "a batch of copies needs a stream other than the default stream, at least one "
                "copy, and from one to as many attributes as copies");
  for (std::size_t i = 0; i < attribute_count; ++i)
    if (attributes[i].srcAccessOrder < cudaMemcpySrcAccessOrderStream ||
        attributes[i].srcAccessOrder > cudaMemcpySrcAccessOrderAny || firsts[i] >= count ||
        (i == 0 ? firsts[i] != 0 : firsts[i] <= firsts[i - 1]))
      return fail(
          cudaErrorInvalidValue,
          "the first attribute of a batch belongs to copy 0, and the others belong to later "
          "copies in ascending order");
  bool reads_at_once = false;
  std::size_t attribute = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (attribute + 1 < attribute_count && firsts[attribute + 1] == i) ++attribute;
    reads_at_once = reads_at_once ||
                    attributes[attribute].srcAccessOrder == cudaMemcpySrcAccessOrderDuringApiCall;
    if (const cudaError_t error =
            copy(line(to[i], bytes[i]), line(from[i], bytes[i]), cudaMemcpyDefault, found, false,
                 __builtin_return_address(0));
        error != cudaSuccess)
      return error;
  }
  if (reads_at_once && found->capture == nullptr) synchronise(*found);
  return fail(lasting_error());
}
