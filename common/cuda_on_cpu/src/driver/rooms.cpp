#include "rooms.hpp"

#include <algorithm>
#include <map>

#include "../immortal.hpp"
#include "../machine/thread_area.hpp"

extern "C" {
extern __thread char cuda_on_cpu_shared_of_images[];
alignas(1024) __thread char cuda_on_cpu_shared_of_images[cuda_on_cpu::room_for_all];
}

namespace cuda_on_cpu {
namespace {

/// The ends of the rooms that are taken, by where they begin.
std::map<std::size_t, std::size_t>& rooms() {
  static auto& rooms = immortal<std::map<std::size_t, std::size_t>>();
  return rooms;
}

}  // namespace

std::optional<std::size_t> take_room(std::size_t bytes, std::size_t alignment) {
  std::size_t begin = 0;
  for (const auto& [taken, end] : rooms()) {
    if (begin + bytes <= taken) break;
    begin = (end + alignment - 1) / alignment * alignment;
  }
  if (alignment > 1024 || begin + bytes > room_for_all) return std::nullopt;
  rooms()[begin] = begin + std::max<std::size_t>(bytes, 1);
  return begin;
}

void leave_room(std::size_t begin) { rooms().erase(begin); }

std::size_t first_room() {
  const char* area = thread_area_end() - thread_area_bytes();
  return static_cast<std::size_t>(cuda_on_cpu_shared_of_images - area);
}

}  // namespace cuda_on_cpu
