/// \file
/// Several GPUs in one program: which of them, and which one calls are meant for.

#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "cuda.hpp"

namespace staircase {

/// The numbers of the first so many GPUs, or with 0 of all that are there.
/// \throws NotAvailable if there are fewer
std::vector<int> devices(std::int64_t wanted);

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

}  // namespace staircase
