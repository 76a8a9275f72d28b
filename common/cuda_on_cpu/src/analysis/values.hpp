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

/// The thread loads the volatile variable that it read last only now, after other threads have run.
void note_late_load(const void* address, const Thread& thread);

/// How many threads are about to write so, of the block that runs.
extern __thread unsigned overwritings;

/// A thread has written what it was about to write.
void settle(const Thread& thread, bool changed);

/// A block begins; where one was given up in a trial, its threads may have been about to write.
void forget_overwritings();

void note_overwritten(const void* address, std::size_t bytes);
void compare_overwritten();

/// A thread is free to write what it asked for.
inline void note_value_before(const void* address, std::size_t bytes) {
  if (overwritings != 0) note_overwritten(address, bytes);
}

/// What a thread was about to write is there.
inline void compare_values() {
  if (overwritings != 0) compare_overwritten();
}

}  // namespace cuda_on_cpu::analysis
