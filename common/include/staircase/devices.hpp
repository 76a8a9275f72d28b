/// \file
/// Several GPUs in one program: which of them, and which one calls are meant for.

#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "cuda.hpp"

namespace staircase {

/// The numbers of the first so many GPUs, or with 0 of all that are there.
/// \throws NotAvailable if there are fewer
std::vector<int> devices(std::int64_t wanted);

/// The one of them that has the least free memory.
int fullest(const std::vector<int>& devices);

/// Lets them copy from each other without a detour through the host's memory, where they can.
void connect(const std::vector<int>& devices);

/// Lets the kernels of each use the memory of its neighbours, where the first follows the last.
/// \throws NotAvailable if one cannot
void connect_ring(const std::vector<int>& devices);

/// Lets the kernels of each use the memory of all others.
/// \throws NotAvailable if one cannot
void connect_all(const std::vector<int>& devices);

/// While it lives, what this thread asks of CUDA is meant for a device: memory, streams, events and
/// launches. A thread begins with device 0.
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

/// What each of these devices has, which is told its number and whatever else.
template <typename Gpu, typename... Arguments>
std::deque<Gpu> each_of(const std::vector<int>& devices, Arguments&... arguments) {
  std::deque<Gpu> gpus;
  for (const int device : devices) {
    const OnDevice here(device);
    gpus.emplace_back(device, arguments...);
  }
  return gpus;
}

/// Calls work(gpu) for one GPU after the other, each of which has a `device` that calls are then
/// meant for.
template <typename Gpus, typename Work>
void in_turn(Gpus& gpus, Work work) {
  for (auto& gpu : gpus) {
    const OnDevice here(gpu.device);
    work(gpu);
  }
}

/// Hands over the `times` of GPUs.
template <typename Gpus>
void hand_over(Gpus& gpus) {
  in_turn(gpus, [](auto& gpu) { gpu.times.hand_over(); });
}

/// Waits until no GPU has anything to do.
template <typename Gpus>
void synchronise(const Gpus& gpus) {
  in_turn(gpus, [](auto&) { check(cudaDeviceSynchronize()); });
}

}  // namespace staircase
