#include "thread_area.hpp"

#include <link.h>

#include <algorithm>

namespace cuda_on_cpu {
namespace {

struct Area {
  std::size_t bytes = 0, end_offset = 0;
};

std::size_t rounded_up(std::size_t bytes, std::size_t align) {
  return (bytes + align - 1) / align * align;
}

Area area_of(const ElfW(Phdr) & header) {
  const auto align = std::max<std::size_t>(header.p_align, 1);
#ifdef __aarch64__
  constexpr std::size_t of_libc = 16;  // bytes that the C library uses at the thread pointer
  return {header.p_memsz, rounded_up(of_libc, align) + header.p_memsz};
#else
  return {rounded_up(header.p_memsz, align), 0};
#endif
}

const Area& area() {
  static const Area area = [] {
    Area found;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* result) {
          for (int i = 0; i < info->dlpi_phnum; ++i)
            if (info->dlpi_phdr[i].p_type == PT_TLS)
              *static_cast<Area*>(result) = area_of(info->dlpi_phdr[i]);
          return 1;  // the program comes first; its libraries do not matter
        },
        &found);
    return found;
  }();
  return area;
}

}  // namespace

std::size_t thread_area_bytes() { return area().bytes; }

std::size_t thread_area_end_offset() { return area().end_offset; }

}  // namespace cuda_on_cpu
