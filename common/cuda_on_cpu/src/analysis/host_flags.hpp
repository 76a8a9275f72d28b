/// \file
/// Releases and acquires between the host and concurrent kernels through flags: volatile or atomic
/// variables that one side writes and the other side reads.

#pragma once

#include "clock_map.hpp"

namespace cuda_on_cpu::analysis {

/// Releases clocks to the host at an address, after a fence of system scope in a kernel.
void publish_to_host(const void* address, const ClockMap& clocks);

/// The clocks that the host has released at an address, or null. The caller holds the mutex.
const ClockMap* published_by_host(const void* address);

/// `host_sees` logs that the host reads a flag. At the host's next action, `host_catches_up`
/// acquires the clocks that were released at the flag.
void host_sees(const void* address);
void host_catches_up();

/// Releases all earlier accesses of the host at a flag that the host writes.
void host_releases(const void* address);

/// Whether an access happens before an operation of the host or of a stream by virtue of an
/// acquire: the host has read a flag at which the access was released.
bool is_acquired_from_host(const Event& then, std::uint32_t operation);

/// Drops clocks from the flags of kernels if the order of streams already implies them.
void drop_old_host_clocks();

}  // namespace cuda_on_cpu::analysis
