/// \file
/// Hosts that look at memory again and again until a kernel has written it, and call nothing of the
/// runtime meanwhile.

#pragma once

namespace cuda_on_cpu {

/// Has what streams have to do done beside the host, once the host waits without a call, as it
/// seems. It is told of each operation, where kernels may write what the host sees. The runtime's
/// mutex is held.
void watch_for_polling_hosts();

/// There is something to do beside the host. The runtime's mutex is held.
void call_for_thread();

/// Nothing is left that a host may wait for.
void forget_polling_hosts();

/// How many threads of the runtime's own look after such hosts.
unsigned threads_for_polling_hosts();

}  // namespace cuda_on_cpu
