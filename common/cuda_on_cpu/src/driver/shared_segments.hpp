/// \file
/// Shared memory of modules. Each operating-system thread that runs blocks has one area for all
/// modules. Each module has a segment at the same offset in every area.

#pragma once

#include <cstddef>
#include <optional>

namespace cuda_on_cpu {

inline constexpr std::size_t shared_capacity = std::size_t{512} << 10;

/// Allocates a segment.
/// \returns the offset of the segment in the area, in bytes; nothing if no segment of this size is
/// free, or if the alignment is more than 1024 bytes
std::optional<std::size_t> allocate_segment(std::size_t bytes, std::size_t alignment);
void free_segment(std::size_t begin);

/// The offset, in bytes, of the first segment from the beginning of the thread-local variables.
std::size_t first_segment();

}  // namespace cuda_on_cpu
