/// \file
/// The device of a program: the processor, a GPU, or the CPU device. Each has its own library,
/// which programs link with. Workloads are compiled once for all three.

#pragma once

#include <string>

namespace staircase {

struct Ranks;

/// The functions of a device that the harness needs.
struct Device {
  std::string kind;  ///< "cpu", "gpu" or "cpu-device"
  /// Initialises the device, so that this time is not part of the stage's time.
  /// \throws NotAvailable if there is no such device
  void (*prepare)();
  std::string (*name)();              ///< such as "NVIDIA H200"
  double (*free_memory)() = nullptr;  ///< in bytes; null if the device uses host memory
  /// Seconds of a copy within device memory that reads bytes / 2 and writes bytes / 2; null without
  /// a GPU.
  double (*seconds_to_copy)(double bytes) = nullptr;
  const Ranks* ranks = nullptr;  ///< null if the program is always one process
  /// Launches an empty kernel and waits until the GPU has finished all work; null without a GPU.
  void (*wake)() = nullptr;
};

/// The device for which this program was built.
const Device& this_device();

}  // namespace staircase
