/// \file
/// Host functions that a stream has to call although the program does not call the runtime. A
/// program may wait for the effects of such a function by other means, such as a condition
/// variable.

#pragma once

#include "stream.hpp"

namespace cuda_on_cpu {

/// Schedules the host function of an operation. Once the program waits without a call of the
/// runtime, the function and all operations before it are executed. The caller holds the runtime's
/// mutex.
void call_unasked(const OperationPointer& operation);

/// The number of runtime threads that call such host functions.
unsigned threads_for_unasked_calls();

}  // namespace cuda_on_cpu
