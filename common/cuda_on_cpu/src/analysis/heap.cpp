/// \file
/// The heap of `new` and malloc in kernels. The memory of this heap is device memory. Every thread
/// or kernel that receives an address of the heap may use and free the memory at this address.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "../analysis.hpp"
#include "../diagnostics.hpp"
#include "../machine/launch.hpp"
#include "../runtime/memory.hpp"

namespace cuda_on_cpu {
namespace {

// Marks memory of this heap. The mark precedes the memory, where other heaps store a size.
constexpr std::uint64_t mark = 0xC0DE'0F'DE'71CE'4EA9;
constexpr std::uintptr_t alignment = 512;
constexpr std::size_t one_byte = 1;

char* mark_of(void* pointer) { return static_cast<char*>(pointer) - sizeof mark; }

bool is_of_device(void* pointer) {
  if (pointer == nullptr || reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0)
    return false;
  std::uint64_t there = 0;
  std::memcpy(&there, mark_of(pointer), sizeof there);
  return there == mark;
}

void* allocate_for_kernel(std::size_t bytes) {
  end_trial();
  const int device = block->launch->device;
  const DeviceAtWork at_work;
  const Allocation* allocation = allocate(std::max(bytes, one_byte), MemorySpace::device, device);
  if (allocation == nullptr) return nullptr;
  std::memcpy(mark_of(allocation->base), &mark, sizeof mark);
  return allocation->base;
}

void give_back(void* pointer, const void* place) {
  if (!is_of_device(pointer)) return std::free(pointer);
  if (is_on_device()) {
    end_trial();
    catch_up();
  }
  const Thread* thread = block == nullptr ? nullptr : block->current;
  Thread* const hidden = block == nullptr ? nullptr : std::exchange(block->current, nullptr);
  if (Allocation* allocation = find_allocation(pointer); allocation != nullptr) {
    analysis::freed(allocation->base, allocation->bytes, place);
    release(allocation);
  } else {
    report_diagnostic({.kind = "use after free",
                       .place = place,
                       .thread = thread,
                       .sentence = "memory is freed twice"});
  }
  if (block != nullptr) block->current = hidden;
}

void* required(void* pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

}  // namespace

void* heap_malloc(std::size_t bytes) {
  return is_on_device() ? allocate_for_kernel(bytes) : std::malloc(bytes);
}

void heap_free(void* pointer) { give_back(pointer, __builtin_return_address(0)); }

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

// Operators for `new` in a kernel. Unlike the host's operators, they return null if there is no
// memory.
void* operator new(std::size_t bytes, Heap) {
  return is_on_device() ? allocate_for_kernel(bytes) : ::operator new(bytes);
}
void* operator new[](std::size_t bytes, Heap) {
  return is_on_device() ? allocate_for_kernel(bytes) : ::operator new[](bytes);
}
void operator delete(void* pointer, Heap) { ::operator delete(pointer); }
void operator delete[](void* pointer, Heap) { ::operator delete[](pointer); }

// Replacements of the library's operators. `delete` recognises memory of this heap by its mark.
void* operator new(std::size_t bytes) { return required(std::malloc(std::max(bytes, one_byte))); }
void* operator new[](std::size_t bytes) { return ::operator new(bytes); }
void operator delete(void* pointer) noexcept { give_back(pointer, __builtin_return_address(0)); }
void operator delete[](void* pointer) noexcept { give_back(pointer, __builtin_return_address(0)); }
void operator delete(void* pointer, std::size_t) noexcept {
  give_back(pointer, __builtin_return_address(0));
}
void operator delete[](void* pointer, std::size_t) noexcept {
  give_back(pointer, __builtin_return_address(0));
}
