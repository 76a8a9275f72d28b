/// \file
/// Asynchronous copies from global to shared memory. A thread starts a copy and waits for it later.
///
/// A copy is performed only when its thread waits for it. A thread that reads the destination too
/// early therefore reads the old contents.

#pragma once

#include <cstddef>

#include "core.hpp"

namespace cuda_on_cpu {

/// Starts a copy of the current thread: `bytes` bytes from `from`, followed by `zeros` zero bytes.
void start_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros = 0);

/// Combines the copies that this thread has started since the last call into a batch.
/// \returns the index of the batch, counted from 1
std::size_t commit_copies();

/// Performs all committed batches except the last `pending` batches.
void wait_for_copies(std::size_t pending);

/// Performs all batches up to and including batch `number`.
void wait_for_batch(std::size_t number);

}  // namespace cuda_on_cpu
