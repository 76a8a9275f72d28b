/// \file
/// Locates the thread area: the thread-local variables of an operating-system thread, which contain
/// the shared memory of the block that the thread executes.

#pragma once

#include <cstddef>

namespace cuda_on_cpu {

/// The size of the program's thread-local variables in bytes.
std::size_t thread_area_bytes();

/// The distance in bytes from the thread pointer to the end of the thread-local variables. On
/// x86-64, the variables are stored below the pointer, and the distance is 0. On AArch64, the
/// variables are stored above the pointer.
std::size_t thread_area_end_offset();

/// The end of the thread-local variables of the calling thread.
inline const char* thread_area_end() {
  const auto* pointer = static_cast<const char*>(__builtin_thread_pointer());
#ifdef __aarch64__
  pointer += thread_area_end_offset();
#endif
  return pointer;
}

}  // namespace cuda_on_cpu
