/// \file
/// Shared memory of modules: each module has a segment in the area that every thread that runs
/// blocks keeps for all modules.

#pragma once

#include <cstddef>
#include <optional>

namespace cuda_on_cpu {

inline constexpr std::size_t shared_capacity = std::size_t{512} << 10;

/// Allocates a segment.
/// \returns its offset in the area in bytes, or nothing if no such segment is free
std::optional<std::size_t> allocate_segment(std::size_t bytes, std::size_t alignment);
void free_segment(std::size_t begin);

/// The offset of the area of all segments in the thread area, in bytes.
std::size_t first_segment();

}  // namespace cuda_on_cpu
