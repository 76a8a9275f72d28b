/// \file
/// Releases and acquires between the host and concurrent kernels through flags: volatile or atomic
/// variables that one side writes and the other side reads.

#pragma once

#include "clock_map.hpp"

namespace cuda_on_cpu::analysis {

/// A kernel releases clocks at an address after a fence of system scope.
void publish_to_host(const void* address, const ClockMap& clocks);

/// The clocks that the host has released at an address, or null. The caller holds the mutex.
const ClockMap* published_by_host(const void* address);

/// The host reads a flag. It acquires the clocks that were released there when it does something
/// else, which the second function signals.
void host_sees(const void* address);
void host_catches_up();

/// The host writes a flag, which releases all its accesses so far.
void host_releases(const void* address);

/// Whether an access happens before an operation of the host or of a stream because the host had
/// acquired it from a flag.
bool is_acquired_from_host(const Event& then, std::uint32_t operation);

/// Drops clocks from flags that the order of streams implies by now.
void drop_old_host_clocks();

}  // namespace cuda_on_cpu::analysis
