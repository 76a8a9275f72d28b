#include "thread_area.hpp"

#include <link.h>

#include <algorithm>

namespace cuda_on_cpu {

std::size_t thread_area_bytes() {
  static const std::size_t bytes = [] {
    std::size_t found = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* result) {
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& header = info->dlpi_phdr[i];
            if (header.p_type != PT_TLS) continue;
            const auto align = std::max<std::size_t>(header.p_align, 1);
            *static_cast<std::size_t*>(result) = (header.p_memsz + align - 1) / align * align;
          }
          return 1;  // the program itself comes first, and is all that counts
        },
        &found);
    return found;
  }();
  return bytes;
}

}  // namespace cuda_on_cpu
