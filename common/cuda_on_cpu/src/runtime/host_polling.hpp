/// \file
/// Advances the streams while the host polls memory until a kernel has written it, and makes no
/// calls of the runtime.

#pragma once

namespace cuda_on_cpu {

/// Starts, or wakes up, a thread that advances the streams once the host probably polls memory.
/// Programs whose kernels can write host memory call this function for each operation. The caller
/// holds the runtime's mutex.
void watch_for_polling_hosts();

/// Requests that the watching thread call `perform_wanted`. The caller holds the runtime's mutex.
void call_for_thread();

/// Forgets that a polling host was detected.
void forget_polling_hosts();

/// The number of runtime threads for polling hosts.
unsigned threads_for_polling_hosts();

}  // namespace cuda_on_cpu
