/// \file
/// Launches of grids whose blocks all run at the same time, so that they may wait for each other.

#pragma once

#include <type_traits>

#include "cuda.hpp"

namespace staircase {

/// Launches a kernel on so many blocks, which must all fit onto the GPU at once.
template <typename... Parameter>
void launch_cooperatively(void (*kernel)(Parameter...), unsigned blocks, unsigned threads,
                          std::type_identity_t<Parameter>... arguments) {
  void* pointers[] = {&arguments...};
  check(cudaLaunchCooperativeKernel(kernel, blocks, threads, pointers, 0, nullptr));
}

}  // namespace staircase
