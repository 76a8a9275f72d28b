/// \file
/// Writes that replace a value of another thread, without an order between the two writes. A write
/// of this kind is an error only if the value changes.

#pragma once

#include "shadow.hpp"

namespace cuda_on_cpu::analysis {

/// Logs that a thread is about to replace a value of another thread, and that the two writes are
/// not ordered. The writes are a race unless both threads write the same value, which is known
/// after the second write.
void expect_value(const Event& then, const Event& now, Region region, const Thread& thread);

/// Logs an access to a volatile variable. An update that consists of a read and a write may be
/// lost.
void note_volatile(const void* address, const Event& now, Kind kind, Region region, Thread& thread);

/// Logs that other threads have run since a thread logged a read of a volatile variable. The load
/// itself is performed only now.
void note_late_load(const void* address, const Thread& thread);

/// The number of threads in the running block with a pending write over another thread's value.
extern __thread unsigned overwritings;

/// Adds the finding for a write that `expect_value` announced, after the thread has performed it.
/// \param changed whether the write has changed the value
void settle(const Thread& thread, bool changed);

/// Discards, at the beginning of a block, pending writes that a block of an abandoned trial has
/// left.
void forget_overwritings();

void note_overwritten(const void* address, std::size_t bytes);
void compare_overwritten();

/// Saves the old value before a thread performs a write.
inline void note_value_before(const void* address, std::size_t bytes) {
  if (overwritings != 0) note_overwritten(address, bytes);
}

/// Compares the new value with the old one after a thread has performed a write.
inline void compare_values() {
  if (overwritings != 0) compare_overwritten();
}

}  // namespace cuda_on_cpu::analysis
