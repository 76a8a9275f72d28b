#include "shared_segments.hpp"

#include <algorithm>
#include <map>

#include "../indestructible.hpp"
#include "../machine/thread_area.hpp"

extern "C" {
extern __thread char cuda_on_cpu_shared_of_images[];
alignas(1024) __thread char cuda_on_cpu_shared_of_images[cuda_on_cpu::shared_capacity];
}

namespace cuda_on_cpu {
namespace {

/// Maps the beginning of each allocated segment to its end; both are offsets in bytes.
std::map<std::size_t, std::size_t>& segments() {
  static auto& segments = indestructible<std::map<std::size_t, std::size_t>>();
  return segments;
}

}  // namespace

std::optional<std::size_t> allocate_segment(std::size_t bytes, std::size_t alignment) {
  std::size_t begin = 0;
  for (const auto& [taken, end] : segments()) {
    if (begin + bytes <= taken) break;
    begin = (end + alignment - 1) / alignment * alignment;
  }
  if (alignment > 1024 || begin + bytes > shared_capacity) return std::nullopt;
  segments()[begin] = begin + std::max<std::size_t>(bytes, 1);
  return begin;
}

void free_segment(std::size_t begin) { segments().erase(begin); }

std::size_t first_segment() {
  const char* area = thread_area_end() - thread_area_bytes();
  return static_cast<std::size_t>(cuda_on_cpu_shared_of_images - area);
}

}  // namespace cuda_on_cpu
