/// \file
/// Reads of memory that nothing has written. If a thread only copies the bytes that it has read,
/// the copy counts as unwritten as well. Any other use is an error.

#pragma once

#include "shadow.hpp"

namespace cuda_on_cpu::analysis {

/// The number of such reads of the running block that a copy may follow.
extern __thread unsigned unwritten_reads;

/// The current thread has read bytes some of which nothing has written.
/// \param matters whether a use of these bytes is an error; padding of structures is none
void expect_copy(Shadow& shadow, std::size_t offset, std::size_t bytes, const Event& now,
                 Region region, const Thread& thread, bool matters);

/// A thread has written bytes: they may be a copy of bytes that it read before.
void find_source(Shadow& shadow, std::size_t offset, std::size_t bytes, const Event& now,
                 const Thread& thread);

/// A thread has read unwritten bytes and may have stored them before the read was reported, as
/// compilers do for structures.
/// \returns whether the bytes at the other address are a copy of the last such read
bool was_stored(Shadow& to, std::size_t offset, std::size_t bytes, Place place,
                const Thread& thread);

/// The block ends: reads that no copy followed are errors.
void report_uses();
void forget_unwritten_reads();

}  // namespace cuda_on_cpu::analysis
