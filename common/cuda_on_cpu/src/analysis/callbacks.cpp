/// \file
/// The functions that code compiled with -fsanitize=thread calls before each memory access. These
/// functions replace the sanitizer's own library, which is not linked.

#include "callbacks.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "targets.hpp"

namespace analysis = cuda_on_cpu::analysis;

/// Reports a misaligned access and then checks it. The address must be a multiple of the size, or a
/// multiple of 8 if the size exceeds 8 bytes.
[[gnu::noinline, gnu::cold]] static void check_misaligned(const void* address, std::size_t bytes,
                                                          analysis::Kind kind,
                                                          const void* instruction,
                                                          const void* frame) {
  analysis::misaligned(address, bytes < 8 ? bytes : 8, instruction);
  analysis::check_access(address, bytes, kind, instruction, frame);
}

#define CHECK(address, bytes, kind)                                                   \
  analysis::check_access(address, bytes, analysis::kind, __builtin_return_address(0), \
                         __builtin_frame_address(0))

// On a GPU, an access must be aligned if the compiler assumes that it is aligned. An access of 16
// bytes may move a structure in two halves, so this check only requires a multiple of 8.
// `__ubsan_handle_type_mismatch_v1` checks types with a larger alignment. Unanalysed blocks are not
// checked.
#define CHECK_ALIGNED(address, bytes, kind)                                                   \
  if (analysis::passes_over != 0) {                                                           \
    if (analysis::kind == analysis::read || analysis::is_shared_passed_over(address)) return; \
    return analysis::pass_over_write(address, bytes);                                         \
  }                                                                                           \
  if (reinterpret_cast<std::uintptr_t>(address) % ((bytes) < 8 ? (bytes) : 8) != 0)           \
    return check_misaligned(address, bytes, analysis::kind, __builtin_return_address(0),      \
                            __builtin_frame_address(0));                                      \
  CHECK(address, bytes, kind)

#define CALLBACKS(bytes)                                                                    \
  void __tsan_read##bytes(void* p) { CHECK_ALIGNED(p, bytes, read); }                       \
  void __tsan_write##bytes(void* p) { CHECK_ALIGNED(p, bytes, write); }                     \
  void __tsan_unaligned_read##bytes(void* p) { CHECK(p, bytes, read); }                     \
  void __tsan_unaligned_write##bytes(void* p) { CHECK(p, bytes, write); }                   \
  void __tsan_volatile_read##bytes(void* p) { CHECK(p, bytes, volatile_read); }             \
  void __tsan_volatile_write##bytes(void* p) { CHECK(p, bytes, volatile_write); }           \
  void __tsan_unaligned_volatile_read##bytes(void* p) { CHECK(p, bytes, volatile_read); }   \
  void __tsan_unaligned_volatile_write##bytes(void* p) { CHECK(p, bytes, volatile_write); } \
  void __tsan_read_write##bytes(void* p) {                                                  \
    CHECK(p, bytes, read);                                                                  \
    CHECK(p, bytes, write);                                                                 \
  }                                                                                         \
  void __tsan_unaligned_read_write##bytes(void* p) {                                        \
    CHECK(p, bytes, read);                                                                  \
    CHECK(p, bytes, write);                                                                 \
  }

/// Checks an atomic operation of host code. In a kernel, such an operation is not analysed and ends
/// a trial.
static void note_atomic(const void* address, std::size_t bytes, analysis::Kind kind,
                        const void* instruction) {
  if (cuda_on_cpu::is_on_device())
    cuda_on_cpu::end_trial();
  else
    analysis::check_access_of_host(address, bytes, kind, instruction);
}

#define NOTE_ATOMIC(address, kind) \
  note_atomic(address, sizeof *(address), analysis::kind, __builtin_return_address(0))

// Atomic operations in host code and in the libraries that the host code includes.
#define ATOMICS(bits, T)                                                                    \
  T __tsan_atomic##bits##_load(const T* p, int) {                                           \
    return NOTE_ATOMIC(p, volatile_read), __atomic_load_n(p, __ATOMIC_SEQ_CST);             \
  }                                                                                         \
  void __tsan_atomic##bits##_store(T* p, T v, int) {                                        \
    NOTE_ATOMIC(p, volatile_write);                                                         \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                               \
  }                                                                                         \
  T __tsan_atomic##bits##_exchange(T* p, T v, int) {                                        \
    return NOTE_ATOMIC(p, atomic), __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);             \
  }                                                                                         \
  T __tsan_atomic##bits##_fetch_add(T* p, T v, int) {                                       \
    return NOTE_ATOMIC(p, atomic), __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);              \
  }                                                                                         \
  T __tsan_atomic##bits##_fetch_sub(T* p, T v, int) {                                       \
    return NOTE_ATOMIC(p, atomic), __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST);              \
  }                                                                                         \
  T __tsan_atomic##bits##_fetch_and(T* p, T v, int) {                                       \
    return NOTE_ATOMIC(p, atomic), __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);              \
  }                                                                                         \
  T __tsan_atomic##bits##_fetch_or(T* p, T v, int) {                                        \
    return NOTE_ATOMIC(p, atomic), __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);               \
  }                                                                                         \
  T __tsan_atomic##bits##_fetch_xor(T* p, T v, int) {                                       \
    return NOTE_ATOMIC(p, atomic), __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);              \
  }                                                                                         \
  int __tsan_atomic##bits##_compare_exchange_strong(T* p, T* e, T v, int, int) {            \
    return NOTE_ATOMIC(p, atomic),                                                          \
           __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                         \
  int __tsan_atomic##bits##_compare_exchange_weak(T* p, T* e, T v, int, int) {              \
    return NOTE_ATOMIC(p, atomic),                                                          \
           __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }

/// The last structure whose store a thread of a kernel reported, and the number of accesses of the
/// block at that time.
struct Range {
  const void* first = nullptr;
  std::size_t bytes = 0;
  std::uint64_t accesses = 0;
};
static thread_local Range reported;

/// Whether a memcpy or a memset performs the store that was reported immediately before.
static bool is_reported(const void* to, std::size_t bytes) {
  return cuda_on_cpu::is_on_device() && reported.first == to && reported.bytes == bytes &&
         reported.accesses == analysis::accesses;
}

static analysis::ValueAt values_at(const void* from) {
  return [from](std::size_t offset, std::size_t bytes, char* values) {
    std::memcpy(values, static_cast<const char*>(from) + offset, bytes);
  };
}

extern "C" {

CALLBACKS(1)
CALLBACKS(2)
CALLBACKS(4)
CALLBACKS(8)
CALLBACKS(16)
ATOMICS(8, std::uint8_t)
ATOMICS(16, std::uint16_t)
ATOMICS(32, std::uint32_t)
ATOMICS(64, std::uint64_t)

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

// These functions report copies of structures. The compiled code may then call a function that
// performs the copy. This call is not a separate access.
void __tsan_read_range(void* p, std::size_t bytes) {
  const bool is_source = reported.bytes == bytes && reported.accesses == analysis::accesses;
  analysis::access(p, bytes, analysis::read, __builtin_return_address(0),
                   __builtin_frame_address(0));
  if (is_source) reported.accesses = analysis::accesses;
}
void __tsan_write_range(void* p, std::size_t bytes) {
  analysis::write_structure(p, bytes, __builtin_return_address(0), __builtin_frame_address(0));
  reported = {p, bytes, analysis::accesses};
}

// Instrumented code calls these functions instead of memcpy, memset and memmove.
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  if (!is_reported(to, bytes)) {
    analysis::access(from, bytes, analysis::read, __builtin_return_address(0),
                     __builtin_frame_address(0));
    analysis::write_values(to, bytes, values_at(from), __builtin_return_address(0),
                           __builtin_frame_address(0));
  }
  return std::memcpy(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  if (!is_reported(to, bytes))
    analysis::write_values(
        to, bytes,
        [value](std::size_t, std::size_t count, char* values) {
          std::memset(values, value, count);
        },
        __builtin_return_address(0), __builtin_frame_address(0));
  return std::memset(to, value, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  analysis::access(from, bytes, analysis::read, __builtin_return_address(0),
                   __builtin_frame_address(0));
  analysis::write_values(to, bytes, values_at(from), __builtin_return_address(0),
                         __builtin_frame_address(0));
  return std::memmove(to, from, bytes);
}

// Code compiled with -fsanitize=bounds calls this function if an index is outside an array of
// known length. The compiler defines the layout of these structures.
struct Position {
  const char* file;
  std::uint32_t line, column;
};
struct Type {
  std::uint16_t kind, info;
  char name[1];
};
struct Indexing {
  Position position;
  const Type* array;
  const Type* index;
};
[[noreturn]] void __ubsan_handle_out_of_bounds_abort(const Indexing* indexing,
                                                     std::uintptr_t index) {
  analysis::index_out_of_bounds(indexing->array->name, static_cast<std::intptr_t>(index),
                                __builtin_return_address(0));
}

// Code compiled with -fsanitize=alignment calls this function if an address is not aligned as its
// type requires. Up to 8 bytes, the check at the access suffices.
struct TypeMismatch {
  Position position;
  const Type* type;
  unsigned char log_alignment, use;
};
void __ubsan_handle_type_mismatch_v1(const TypeMismatch* mismatch, std::uintptr_t address) {
  // No access of a GPU requires an alignment above 16 bytes.
  const std::size_t alignment =
      std::min(std::size_t{1} << mismatch->log_alignment, std::size_t{16});
  if (alignment > 8 && address % alignment != 0)
    analysis::misaligned(reinterpret_cast<const void*>(address), alignment,
                         __builtin_return_address(0));
}

// Code compiled with -fsanitize=shift-exponent calls this function for a shift by a negative number
// of bits, or by at least the width of the value.
struct Shift {
  Position position;
  const Type* number;
  const Type* width;
};
void __ubsan_handle_shift_out_of_bounds(const Shift* shift, std::uintptr_t, std::uintptr_t width) {
  // For an integer type, the lowest bit of `info` is set if the type is signed. The other bits
  // contain the binary logarithm of its width.
  const auto bits_of = [](const Type& type) { return 1 << (type.info >> 1); };
  const bool is_int = (shift->width->info & 1) != 0 && bits_of(*shift->width) == 32;
  analysis::shifted_too_far(
      bits_of(*shift->number),
      is_int ? static_cast<std::int32_t>(width) : static_cast<std::int64_t>(width), false,
      __builtin_return_address(0));
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void** object, void*) {
  if (cuda_on_cpu::is_on_device())
    cuda_on_cpu::end_trial();
  else
    analysis::virtual_table_set(object, __builtin_return_address(0));
}
void __tsan_vptr_read(void**) {}
}
