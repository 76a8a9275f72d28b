/// \file
/// What threads write over what others wrote: it is a mistake if the value changes by that.

#pragma once

#include "shadow.hpp"

namespace cuda_on_cpu::analysis {

/// A thread is about to write what another one wrote, and nothing orders the two. That is a race,
/// unless both write the same, which is seen when it has written.
void expect_value(const Event& then, const Event& now, Region region, const Thread& thread);

/// A thread reads or writes a volatile variable: an update in these two steps may be lost.
void note_volatile(const void* address, const Event& now, Kind kind, Region region, Thread& thread);

/// A thread is free to write what it asked for.
void note_value_before(const void* address, std::size_t bytes);

/// What a thread was about to write is there.
void compare_values();

}  // namespace cuda_on_cpu::analysis
