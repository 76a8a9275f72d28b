/// \file
/// Modules and their kernels, as handles of the driver API.

#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "cuda_on_cpu/driver_types.hpp"
#include "cuda_on_cpu/image_entries.hpp"
#include "image.hpp"

/// A kernel that a program asked for.
struct CUfunc_st {
  CUmodule module;
  const cuda_on_cpu::ImageEntry* entry;
  std::string name;
};

struct CUmod_st {
  CUdevice device;
  std::uint32_t context;  ///< with which it ends
  cuda_on_cpu::Loading loaded;
  std::deque<CUfunc_st> functions = {};
  bool lives = true;
};

namespace cuda_on_cpu {

/// Whether a handle is that of a kernel whose module is loaded.
bool is_function(CUfunction function);

}  // namespace cuda_on_cpu
