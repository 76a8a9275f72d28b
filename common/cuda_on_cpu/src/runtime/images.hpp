/// \file
/// The address ranges of code and variables: of the program, and of the modules that it loaded.

#pragma once

#include <cstddef>
#include <list>
#include <string>

#include "memory.hpp"

namespace cuda_on_cpu {

struct LoadedImage {
  const char* base;   ///< the address that symbols are relative to
  const char* begin;  ///< begin and end of the mapped range; code precedes variables
  const char* end;
  Allocation data;                  ///< all variables, as one allocation
  const char* constants = nullptr;  ///< range of the __constant__ variables, or null if unknown
  const char* end_of_constants = nullptr;
  std::size_t shared_offset = 0;  ///< offset of the image's shared memory in the thread area
  std::string file;               ///< the ELF file with symbols and source lines

  bool contains(const void* address) const { return address >= begin && address < end; }
};

/// The program, followed by the modules that it loaded.
std::list<LoadedImage>& loaded_images();
const LoadedImage& program();

/// The image that contains an address, or null.
const LoadedImage* image_at(const void* address);

}  // namespace cuda_on_cpu
