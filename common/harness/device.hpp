/// \file
/// The device of a program: the processor, a GPU, or the CPU device. Each device has its own
/// library, and a program is linked with the library of its device. Workloads are compiled only
/// once for all three devices.

#pragma once

#include <string>

namespace staircase {

struct Ranks;

/// The functions of a device that the harness needs.
struct Device {
  std::string kind;  ///< "cpu", "gpu" or "cpu-device"
  /// Initialises the device, so that the time of the initialisation is not part of the stage's
  /// time.
  /// \throws NotAvailable if the machine has no such device
  void (*prepare)();
  std::string (*name)();              ///< for example "NVIDIA H200"
  double (*free_memory)() = nullptr;  ///< free device memory in bytes; null without kernels
  /// Copies bytes / 2 bytes within device memory, and returns the time in seconds. The copy reads
  /// and writes `bytes` bytes in total. The pointer is null if the program does not use a GPU.
  double (*seconds_to_copy)(double bytes) = nullptr;
  const Ranks* ranks = nullptr;  ///< null for programs without ranks
  /// Launches an empty kernel and waits until the device has finished all work. The pointer is null
  /// for programs without kernels.
  void (*wake)() = nullptr;
};

/// The device for which this program was built.
const Device& this_device();

}  // namespace staircase
