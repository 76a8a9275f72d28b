/// \file
/// Functions of the host that a stream calls, for which nobody asks the runtime: a program may wait
/// for what they do by means of its own.

#pragma once

#include "stream.hpp"

namespace cuda_on_cpu {

/// Has an operation's function called, and all that comes before it done, once the program waits
/// for something without a call of the runtime. The runtime's mutex is held.
void call_unasked(const OperationPointer& operation);

/// How many threads of the runtime's own look after such calls.
unsigned threads_for_unasked_calls();

}  // namespace cuda_on_cpu
