/// \file
/// The image of a module, from its bytes to what runs.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "../runtime/images.hpp"
#include "cuda_on_cpu/driver_types.hpp"
#include "cuda_on_cpu/image_entries.hpp"

namespace cuda_on_cpu {

/// The bytes of an image that a program gives by its address only; empty where it is none.
std::string_view image_at_address(const void* image);

/// What became of an image that was to be loaded: its code stays for the rest of the run, for
/// closures of launches may be destroyed late.
struct Loading {
  CUresult error = CUDA_SUCCESS;
  std::string sentence;  ///< why there is an error
  const ImageHead* head = nullptr;
  const LoadedImage* image = nullptr;
  std::size_t shared_offset = 0;
};

/// Loads an image, or says why it does not.
/// \param what the image is called in sentences
Loading load_image(std::string_view bytes, const std::string& what);

}  // namespace cuda_on_cpu
