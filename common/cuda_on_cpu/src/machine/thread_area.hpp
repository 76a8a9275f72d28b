/// \file
/// Where shared memory is: among the thread-local variables of who runs the block.

#pragma once

#include <cstddef>

namespace cuda_on_cpu {

/// Bytes of the program's thread-local variables.
std::size_t thread_area_bytes();

/// How far behind the thread pointer they end: not at all on x86-64, where they lie below it; on
/// AArch64 they lie above.
std::size_t thread_area_end_offset();

/// The end of the thread-local variables of the thread that asks.
inline const char* thread_area_end() {
  const auto* pointer = static_cast<const char*>(__builtin_thread_pointer());
#ifdef __aarch64__
  pointer += thread_area_end_offset();
#endif
  return pointer;
}

}  // namespace cuda_on_cpu
