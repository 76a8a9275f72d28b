/// \file
/// Where shared memory is: among the thread-local variables of who runs the block.

#pragma once

#include <cstddef>

namespace cuda_on_cpu {

/// Bytes of the program's thread-local variables, which lie below the thread pointer.
std::size_t thread_area_bytes();

}  // namespace cuda_on_cpu
