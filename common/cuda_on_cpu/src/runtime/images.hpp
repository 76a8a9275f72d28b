/// \file
/// Where code and variables of kernels are: the program's, and those of the modules that it loaded.

#pragma once

#include <cstddef>
#include <list>
#include <string>

#include "memory.hpp"

namespace cuda_on_cpu {

struct LoadedImage {
  const char* base;   ///< from which its symbols count
  const char* begin;  ///< what is mapped, code before variables
  const char* end;
  Allocation data;                  ///< its variables, as if they were one allocation
  const char* constants = nullptr;  ///< __constant__ variables among them, if that is known
  const char* end_of_constants = nullptr;
  std::size_t shared_offset = 0;  ///< where its shared memory begins in the thread area
  std::string file;               ///< where symbols and lines are read

  bool contains(const void* address) const { return address >= begin && address < end; }
};

/// The program, and behind it what it loaded.
std::list<LoadedImage>& loaded_images();
const LoadedImage& program();

/// The image that an address lies in, or null.
const LoadedImage* image_at(const void* address);

}  // namespace cuda_on_cpu
