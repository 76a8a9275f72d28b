/// \file
/// Launches of grids whose blocks all run at the same time, so that they may wait for each other.

#pragma once

#include <type_traits>

#include "cuda.hpp"

namespace staircase {

/// How many blocks of a kernel, of so many threads each, fit onto the GPU at once.
template <typename... Parameter>
unsigned blocks_at_once(void (*kernel)(Parameter...), unsigned threads) {
  int of_processor = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_processor, kernel,
                                                      static_cast<int>(threads), 0));
  return static_cast<unsigned>(of_processor) * processors();
}

/// Launches a kernel on so many blocks, which must all fit onto the GPU at once.
template <typename... Parameter>
void launch_cooperatively(void (*kernel)(Parameter...), unsigned blocks, unsigned threads,
                          std::type_identity_t<Parameter>... arguments) {
  void* pointers[] = {&arguments...};
  check(cudaLaunchCooperativeKernel(kernel, blocks, threads, pointers, 0, nullptr));
}

}  // namespace staircase
