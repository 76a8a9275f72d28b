/// \file
/// Loads the image of a module.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "../runtime/images.hpp"
#include "cuda_on_cpu/driver_types.hpp"
#include "cuda_on_cpu/image_entries.hpp"

namespace cuda_on_cpu {

/// The bytes of an image at an address. The length of an ELF file follows from its header. Other
/// data extends to the first zero byte and has at least four bytes.
std::string_view image_at_address(const void* image);

/// The result of loading an image. The code stays loaded until the program ends, because closures
/// of launches may be destroyed late.
struct Loading {
  CUresult error = CUDA_SUCCESS;
  std::string sentence;  ///< reason for the error
  const ImageHead* head = nullptr;
  const LoadedImage* image = nullptr;
  std::size_t shared_offset = 0;
};

/// Loads an image.
/// \param what name of the image in messages
/// \returns the loaded image, or an error with its reason
Loading load_image(std::string_view bytes, const std::string& what);

}  // namespace cuda_on_cpu
