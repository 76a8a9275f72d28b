#include "image.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "../analysis.hpp"
#include "image_text.hpp"
#include "shared_segments.hpp"

extern "C" void* __tls_get_addr(void* index);

namespace cuda_on_cpu {
namespace {

constexpr unsigned mark_of_fat_binary = 0xba55ed50, mark_of_its_wrapper = 0x466243b1;

/// The address ranges of an image relative to its base, and the size and alignment of its shared
/// memory in bytes.
struct Segments {
  std::uintptr_t begin = ~std::uintptr_t{0}, end = 0, data = 0, end_of_data = 0;
  std::size_t shared = 0, alignment = 1;
};

Segments segments_of(const char* base) {
  Segments all;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(base);
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(base + header->e_phoff);
  for (const Elf64_Phdr* s = segments; s != segments + header->e_phnum; ++s) {
    if (s->p_type == PT_TLS) {
      all.shared = s->p_memsz;
      all.alignment = std::max<std::size_t>(s->p_align, 1);
    }
    if (s->p_type != PT_LOAD) continue;
    all.begin = std::min(all.begin, s->p_vaddr);
    all.end = std::max(all.end, s->p_vaddr + s->p_memsz);
    if ((s->p_flags & PF_W) == 0) continue;
    if (all.end_of_data == 0) all.data = s->p_vaddr;
    all.end_of_data = s->p_vaddr + s->p_memsz;
  }
  return all;
}

/// Whether no other image has an address with the same lower 32 bits as an address in a range. The
/// analysis identifies an instruction by the lower 32 bits of its distance from the program.
bool is_apart(const char* begin, const char* end) {
  const auto half = [](const char* address) {
    return static_cast<std::uint32_t>(address - program().begin);
  };
  if (half(begin) > half(end)) return false;
  const auto& all = loaded_images();
  return std::none_of(all.begin(), all.end(), [&](const LoadedImage& other) {
    return half(begin) <= half(other.end) && half(other.begin) <= half(end);
  });
}

/// An image that the dynamic loader has opened.
struct Opened {
  void* handle = nullptr;
  int file = -1;
  std::string path, reason;
};

/// Writes an image to an anonymous file and loads the file. Every file has a different path,
/// because the loader does not load the same path twice.
Opened open_image(std::string_view bytes) {
  static unsigned count = 0;
  Opened opened;
  opened.file = memfd_create("module", MFD_CLOEXEC);
  for (std::size_t written = 0; written < bytes.size();) {
    const ssize_t more = write(opened.file, bytes.data() + written, bytes.size() - written);
    if (more <= 0) {
      opened.reason = "its copy in memory cannot be written: " + std::string(std::strerror(errno));
      return opened;
    }
    written += static_cast<std::size_t>(more);
  }
  opened.path =
      "/proc/self/fd" + std::string(1 + count++ % 3000, '/') + std::to_string(opened.file);
  opened.handle = dlopen(opened.path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (opened.handle == nullptr) opened.reason = dlerror();
  return opened;
}

const char* base_of(const Opened& opened) {
  link_map* map = nullptr;
  dlinfo(opened.handle, RTLD_DI_LINKMAP, &map);
  return reinterpret_cast<const char*>(map->l_addr);
}

/// Loads an image at addresses whose lower halves no other image uses. A copy at unsuitable
/// addresses stays loaded, so that the next attempt gets other addresses.
Opened open_apart(std::string_view bytes) {
  for (int attempt = 0; attempt < 16; ++attempt) {
    Opened opened = open_image(bytes);
    if (opened.handle == nullptr) return opened;
    const char* base = base_of(opened);
    const Segments segments = segments_of(base);
    if (is_apart(base + segments.begin, base + segments.end)) return opened;
  }
  Opened none;
  none.reason = "no suitable range of addresses was found";
  return none;
}

/// Sets the members of `ImageHead` through which an image finds its shared memory.
void settle(ImageHead& head, const Opened& opened, std::size_t shared_offset) {
  head.shared_offset = shared_offset;
  head.tls_module = ~std::size_t{0};
  dlinfo(opened.handle, RTLD_DI_TLS_MODID, &head.tls_module);
  head.thread_variable = [](void* index) { return __tls_get_addr(index); };
}

const LoadedImage& add_image(const ImageHead& head, const Opened& opened,
                             const Segments& segments) {
  const char* base = base_of(opened);
  LoadedImage& image = loaded_images().emplace_back();
  image.base = base;
  image.begin = base + segments.begin;
  image.end = base + segments.end;
  image.data = {const_cast<char*>(base) + segments.data, segments.end_of_data - segments.data,
                MemorySpace::managed, 0, 0};
  image.constants = head.constants;
  image.end_of_constants = head.end_of_constants;
  image.shared_offset = first_segment() + head.shared_offset;
  image.file = opened.path;
  return image;
}

bool holds(std::string_view bytes, std::string_view mark) { return bytes.find(mark) != bytes.npos; }

/// Checks whether this program can load an image.
/// \returns the error and its reason; no error if the image is valid
Loading judged(std::string_view bytes, const std::string& what) {
  const std::string how = "; compile its source with cuda-on-cpu" +
                          std::string(analysis::enabled ? " --analyze" : "") +
                          " -cubin, -fatbin or -ptx";
  if (!bytes.starts_with(ELFMAG)) {
    unsigned first = 0;
    std::memcpy(&first, bytes.data(), std::min(bytes.size(), sizeof first));
    if (first == mark_of_fat_binary || first == mark_of_its_wrapper)
      return {CUDA_ERROR_NO_BINARY_FOR_GPU, what + " is code for a GPU" + how};
    return {CUDA_ERROR_INVALID_IMAGE, what + " is not a module for the CPU device" + how};
  }
  const bool is_plain = holds(bytes, mark_of_image);
  if (!is_plain && !holds(bytes, mark_of_analysed_image)) {
    ElfW(Ehdr) header{};
    std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof header));
    if (header.e_machine == EM_CUDA)
      return {CUDA_ERROR_NO_BINARY_FOR_GPU, what + " is code for a GPU" + how};
    return {CUDA_ERROR_INVALID_IMAGE, what + " is not a module for the CPU device" + how};
  }
  if (is_plain == analysis::enabled)
    return {CUDA_ERROR_NO_BINARY_FOR_GPU, what + " was built " + (is_plain ? "without" : "with") +
                                              " --analyze, but the program was built " +
                                              (is_plain ? "with" : "without") +
                                              " it; build both in the same way"};
  return {};
}

}  // namespace

std::string_view image_at_address(const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  if (std::strncmp(bytes, ELFMAG, SELFMAG) != 0) return {bytes, std::max(std::strlen(bytes), 4ul)};
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  return {bytes, header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize};
}

Loading load_image(std::string_view bytes, const std::string& what) {
  const std::string from_text = is_image_text(bytes) ? image_of_text(bytes) : "";
  if (!from_text.empty()) bytes = from_text;
  if (Loading refused = judged(bytes, what); refused.error != CUDA_SUCCESS) return refused;
  if (dlsym(RTLD_DEFAULT, "cuda_on_cpu_shared_of_images") == nullptr)
    return {CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
            what + " needs the CPU device in the program; link the program with -lcuda"};
  const Opened opened = open_apart(bytes);
  if (opened.handle == nullptr)
    return {CUDA_ERROR_INVALID_IMAGE, what + " cannot be loaded: " + opened.reason};
  const Segments segments = segments_of(base_of(opened));
  const auto shared_offset = allocate_segment(segments.shared, segments.alignment);
  if (!shared_offset)
    return {CUDA_ERROR_OUT_OF_MEMORY,
            what + " has " + std::to_string(segments.shared) +
                " bytes of shared memory, more than the other loaded modules leave free"};
  auto& head = *static_cast<ImageHead*>(dlsym(opened.handle, "cuda_on_cpu_image"));
  settle(head, opened, *shared_offset);
  const LoadedImage& image = add_image(head, opened, segments);
  if (segments.shared > 0) analysis::image_loaded(image, segments.shared);
  return {CUDA_SUCCESS, "", &head, &image, *shared_offset};
}

}  // namespace cuda_on_cpu
