/// \file
/// Several GPUs in one program: the selection of devices, and the current device of a thread.

#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "cuda.hpp"

namespace staircase {

/// The device indices of the first `wanted` GPUs, or of all GPUs if `wanted` is 0.
/// \throws NotAvailable if the machine has fewer GPUs
std::vector<int> devices(std::int64_t wanted);

/// The device with the least free memory.
int fullest(const std::vector<int>& devices);

/// Enables direct copies between devices (peer access) if the hardware supports them. Without peer
/// access, copies pass through host memory.
void connect(const std::vector<int>& devices);

/// Lets the kernels of each device access the memory of its two neighbours in the ring of devices.
/// \throws NotAvailable if two neighbours have no peer access
void connect_ring(const std::vector<int>& devices);

/// Lets the kernels of each device access the memory of all other devices.
/// \throws NotAvailable if two devices have no peer access
void connect_all(const std::vector<int>& devices);

/// Makes a device the current device of this thread during the lifetime of the object. Allocations,
/// new streams and events, and launches use the current device, which is 0 in a new thread.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    check(cudaGetDevice(&before_));
    check(cudaSetDevice(device));
  }
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

/// Constructs one `Gpu` per device from the device index and further arguments. The device is
/// current during the construction of its `Gpu`.
template <typename Gpu, typename... Arguments>
std::deque<Gpu> make_gpus(const std::vector<int>& devices, Arguments&... arguments) {
  std::deque<Gpu> gpus;
  for (const int device : devices) {
    const OnDevice here(device);
    gpus.emplace_back(device, arguments...);
  }
  return gpus;
}

/// Calls work(gpu) for one GPU after the other, with `gpu.device` as the current device.
template <typename Gpus, typename Work>
void for_each_gpu(Gpus& gpus, Work work) {
  for (auto& gpu : gpus) {
    const OnDevice here(gpu.device);
    work(gpu);
  }
}

/// Adds the intervals in `gpu.times` of each GPU to the timeline.
template <typename Gpus>
void add_to_timeline(Gpus& gpus) {
  for_each_gpu(gpus, [](auto& gpu) { gpu.times.add_to_timeline(); });
}

/// Waits until all GPUs have finished their work.
template <typename Gpus>
void synchronise(const Gpus& gpus) {
  for_each_gpu(gpus, [](auto&) { check(cudaDeviceSynchronize()); });
}

}  // namespace staircase
