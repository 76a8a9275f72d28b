/// \file
/// Replaces the CUDA header of the same name: primitives for asynchronous copies to shared memory.

#pragma once

#include "cuda_on_cpu/copies.hpp"
#include "cuda_runtime.h"

inline void __pipeline_memcpy_async(void* shared, const void* global, std::size_t bytes,
                                    std::size_t zero_fill = 0) {
  cuda_on_cpu::start_copy(shared, global, bytes - zero_fill, zero_fill);
}
inline void __pipeline_commit() { cuda_on_cpu::commit_copies(); }
inline void __pipeline_wait_prior(std::size_t batches) { cuda_on_cpu::wait_for_copies(batches); }
