/// \file
/// Hosts that poll memory until a kernel has written it, and make no calls of the runtime
/// meanwhile.

#pragma once

namespace cuda_on_cpu {

/// Starts, or wakes up, a thread that advances the streams once the host probably polls memory.
/// Programs whose kernels can write host memory call this function for each operation. The caller
/// holds the runtime's mutex.
void watch_for_polling_hosts();

/// Requests that the watching thread run the wanted operation. The caller holds the runtime's
/// mutex.
void call_for_thread();

/// Forgets that a host polls, because no operation is pending for which a host could wait.
void forget_polling_hosts();

/// The number of runtime threads for polling hosts.
unsigned threads_for_polling_hosts();

}  // namespace cuda_on_cpu
