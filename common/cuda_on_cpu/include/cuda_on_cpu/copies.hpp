/// \file
/// Asynchronous copies from global to shared memory, for which a thread waits later.
///
/// A copy is performed when its thread waits for it, not earlier. A thread that reads too early
/// sees the old contents.

#pragma once

#include <cstddef>

#include "core.hpp"

namespace cuda_on_cpu {

/// Starts a copy of the current thread. It writes `bytes` bytes, and then `zeros` bytes that are
/// zero.
void start_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros = 0);

/// Combines the copies that this thread has started since the last call into a batch.
/// \returns the index of the batch, counted from 1
std::size_t commit_copies();

/// Performs all batches but the last `pending` ones.
void wait_for_copies(std::size_t pending);

/// Performs all batches up to the one with index `number`.
void wait_for_batch(std::size_t number);

}  // namespace cuda_on_cpu
