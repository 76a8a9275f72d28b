/// \file
/// Reads of memory that nothing has written. If a thread only copies the bytes that it has read,
/// the copy counts as unwritten as well. Any other use is an error.

#pragma once

#include "shadow.hpp"

namespace cuda_on_cpu::analysis {

/// The number of reads of unwritten bytes in the running block for which a copy may still follow.
extern __thread unsigned unwritten_reads;

/// Logs that a thread has read bytes, of which some are unwritten. A copy of them may follow.
/// \param matters whether a use of these bytes is an error; a use of padding is not
void expect_copy(Shadow& shadow, std::size_t offset, std::size_t bytes, const Event& now,
                 Region region, const Thread& thread, bool matters);

/// Checks whether bytes that a thread has written are a copy of unwritten bytes that it has read,
/// and marks such a copy as unwritten.
void find_source(Shadow& shadow, std::size_t offset, std::size_t bytes, const Event& now,
                 const Thread& thread);

/// Whether a thread stored a copy of unwritten bytes before its read of these bytes was reported.
/// Compilers report copies of structures in this order.
/// \returns whether the bytes at `offset` in `to` are a copy of the last such read
bool was_stored(Shadow& to, std::size_t offset, std::size_t bytes, Place place,
                const Thread& thread);

/// At the end of a block, reports the reads of unwritten bytes that no copy followed.
void report_uses();
void forget_unwritten_reads();

}  // namespace cuda_on_cpu::analysis
