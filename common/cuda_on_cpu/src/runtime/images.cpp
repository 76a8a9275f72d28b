#include "images.hpp"

#include "../indestructible.hpp"

extern "C" const char __executable_start, __data_start, _end;

namespace cuda_on_cpu {

std::list<LoadedImage>& loaded_images() {
  static auto& images = indestructible<std::list<LoadedImage>>(std::list<LoadedImage>{
      {.base = &__executable_start,
       .begin = &__executable_start,
       .end = &_end,
       .data = {const_cast<char*>(&__data_start), static_cast<std::size_t>(&_end - &__data_start),
                MemorySpace::managed, 0, 0},
       .file = "/proc/self/exe"}});
  return images;
}

const LoadedImage& program() { return loaded_images().front(); }

const LoadedImage* image_at(const void* address) {
  for (const LoadedImage& image : loaded_images())
    if (image.contains(address)) return &image;
  return nullptr;
}

}  // namespace cuda_on_cpu
