/// \file
/// Copies from global into shared memory that a thread starts and waits for later.
///
/// They are done when the thread waits for them, not before: who reads too early sees what was
/// there.

#pragma once

#include <cstddef>

#include "core.hpp"

namespace cuda_on_cpu {

/// Starts a copy of this thread; behind the bytes, it writes zeros.
void start_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros = 0);

/// Closes the batch of copies that this thread started since the last one; returns its number,
/// counted from 1.
std::size_t commit_copies();

/// Does all batches but the last `pending` ones.
void wait_for_copies(std::size_t pending);

/// Does the batches up to a number.
void wait_for_batch(std::size_t number);

}  // namespace cuda_on_cpu
