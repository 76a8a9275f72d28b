/// \file
/// What a program computes on: the processor, a GPU, or the CPU device. Each has a library of its
/// own that a program links with, so that stages and workloads are compiled alike for all three.

#pragma once

#include <string>

namespace staircase {

struct Ranks;

/// A device, as the harness needs it.
struct Device {
  std::string kind;  ///< "cpu", "gpu" or "cpu-device"
  /// Gets it ready, so that its start is not taken for the stage's time.
  /// \throws NotAvailable if it is not there
  void (*prepare)();
  std::string (*name)();
  double (*free_memory)() = nullptr;  ///< in bytes; null where the host's memory is all there is
  /// Seconds of a copy that reads and writes so many bytes in all; null where there is no GPU.
  double (*seconds_to_copy)(double bytes) = nullptr;
  const Ranks* ranks = nullptr;  ///< null where a program is always one process
  /// Waits until the GPU has done all that it was given, and an empty kernel behind it; null where
  /// there is none.
  void (*wake)() = nullptr;
};

/// The device that this program was built for.
const Device& this_device();

}  // namespace staircase
