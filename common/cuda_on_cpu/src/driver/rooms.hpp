/// \file
/// Shared memory of modules: each has a room of its own in what every thread that runs blocks keeps
/// for all of them.

#pragma once

#include <cstddef>
#include <optional>

namespace cuda_on_cpu {

inline constexpr std::size_t room_for_all = std::size_t{512} << 10;

/// A room, by where it begins among those of all modules; none if they have no such room left.
std::optional<std::size_t> take_room(std::size_t bytes, std::size_t alignment);
void leave_room(std::size_t begin);

/// Where the rooms begin in the thread area.
std::size_t first_room();

}  // namespace cuda_on_cpu
