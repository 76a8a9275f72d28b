/// \file
/// The happens-before order of accesses: barriers, warps, fences with atomics, streams and flags.
///
/// The order within a grid follows its hierarchy, as in BARRACUDA (Eizenberg et al., PLDI 2017) and
/// iGUARD (Kamath and Basu, SOSP 2021). A barrier of a block and an operation of a full warp each
/// require one clock. All other order is kept in vector clocks.

#pragma once

#include "shadow.hpp"

namespace cuda_on_cpu::analysis {

/// The clock of the running block at the last fence or release of any of its threads, or 0.
extern __thread std::uint32_t last_release;

/// Whether the history stores for each warp which lanes have read a word. Such a history is
/// necessary if threads of the kernel release their accesses without a barrier.
extern __thread bool keeps_each_warp;

bool happens_before_operation(std::uint32_t first, std::uint32_t second);

/// Whether the access `then` happens before the later access `now`.
/// \param address address of the earlier access, or null
bool is_ordered(const Event& then, const Event& now, const void* address);

/// Whether the access `then`, by several threads, happens before the later access `now`.
/// \param lanes mask of the accessing lanes in the last warp
/// \param warps mask of the warps of these threads
bool is_ordered(const Event& then, unsigned lanes, unsigned warps, const Event& now,
                const void* address);

/// Whether the block of an access has ended without a release after this access.
bool never_releases(const Event& then);

/// Whether all blocks that began before the running block have ended without a release.
bool others_never_release();

/// Acquires the releases at an address, before an atomic operation of the current thread.
/// \param narrow whether the operation has block scope
void acquire_at(const void* address, std::size_t bytes, Kind kind, bool narrow);

/// Releases the accesses before the last fence of the current thread. The thread's atomic operation
/// must have been checked before.
/// \param releases scope in which the operation itself has release order
void release_at(const void* address, std::size_t bytes, Kind kind, bool narrow, Among releases);

/// Discards the releases at a word, because a plain write has replaced the value. Later reads of
/// the word acquire nothing.
void forget_releases_at(const void* address);

/// Discards earlier releases when a launch begins. Releases of launches that do not happen before
/// this launch are kept, because flags may order the accesses that these releases cover. A launch
/// whose releases are kept counts as concurrent even after its end.
void forget_releases_before(Launch& launch);

/// Clears the vector clocks of all threads when a block begins.
/// \param runs whether the accesses of the block are checked while it runs
void clear_block_clocks(bool runs);
void block_runs_no_more();

}  // namespace cuda_on_cpu::analysis
