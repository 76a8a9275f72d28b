/// \file
/// Cooperative launches: all blocks of the grid run at the same time, so they may wait for each
/// other.

#pragma once

#include <type_traits>

#include "cuda.hpp"

namespace staircase {

/// The number of blocks of a kernel, with `threads` threads each, that are resident on the GPU at
/// the same time.
template <typename... Parameter>
unsigned blocks_at_once(void (*kernel)(Parameter...), unsigned threads) {
  int per_sm = 0;
  check(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, static_cast<int>(threads), 0));
  return static_cast<unsigned>(per_sm) * processors();
}

/// Launches a kernel cooperatively in the default stream. `blocks` must not exceed
/// blocks_at_once().
template <typename... Parameter>
void launch_cooperatively(void (*kernel)(Parameter...), unsigned blocks, unsigned threads,
                          std::type_identity_t<Parameter>... arguments) {
  void* pointers[] = {&arguments...};
#ifdef STAIRCASE_CUDA_ON_CPU
  check(cudaLaunchCooperativeKernel(kernel, blocks, threads, pointers, 0, nullptr));
#else
  // CUDA 12 accepts only a `const void*`; CUDA 13 also accepts the typed pointer.
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), blocks, threads,
                                    pointers, 0, nullptr));
#endif
}

}  // namespace staircase
