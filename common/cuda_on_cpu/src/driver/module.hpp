/// \file
/// Handles of modules and of their kernels in the driver API.

#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "cuda_on_cpu/driver_types.hpp"
#include "cuda_on_cpu/image_entries.hpp"
#include "image.hpp"

/// A kernel that the program has looked up in a module.
struct CUfunc_st {
  CUmodule module;
  const cuda_on_cpu::ImageEntry* entry;
  std::string name;
};

struct CUmod_st {
  CUdevice device;
  std::uint32_t context;  ///< ID of the context whose end unloads the module
  cuda_on_cpu::Loading loaded;
  std::deque<CUfunc_st> functions = {};
  bool lives = true;
};

namespace cuda_on_cpu {

/// Whether a handle refers to a kernel of a module that is still loaded.
bool is_function(CUfunction function);

}  // namespace cuda_on_cpu
