/// \file
/// Writes the report at the end of the program, even if a signal or `_exit` ends it.

#pragma once

#include <atomic>

namespace cuda_on_cpu::analysis {

/// Installs the signal handlers at the first use of the device. Afterwards, the report of this
/// process is also written if the process ends by a signal, by `_exit` or by `quick_exit`.
void watch_ends();

/// Whether a signal is about to end the program. Kernels must not add findings while this is true.
extern std::atomic<bool> ends_by_signal;

/// Blocks the calling thread until the program ends.
[[noreturn]] void wait_for_end();

}  // namespace cuda_on_cpu::analysis
