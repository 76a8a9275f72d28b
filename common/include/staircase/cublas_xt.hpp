/// \file
/// Helpers for cublasXt calls in baselines. cublasXt multiplies matrices in host memory on several
/// GPUs.

#pragma once

#include <cublasXt.h>

#include <vector>

#include "cublas.hpp"
#include "cuda.hpp"

namespace staircase {

/// Owns a cublasXt handle for all GPUs of the machine.
class CublasXtHandle {
 public:
  CublasXtHandle() {
    int count = 0;
    check(cudaGetDeviceCount(&count));
    std::vector<int> devices;
    for (int device = 0; device < count; ++device) devices.push_back(device);
    check(cublasXtCreate(&handle_));
    check(cublasXtDeviceSelect(handle_, count, devices.data()));
  }
  ~CublasXtHandle() { cublasXtDestroy(handle_); }
  CublasXtHandle(const CublasXtHandle&) = delete;
  CublasXtHandle& operator=(const CublasXtHandle&) = delete;
  operator cublasXtHandle_t() const { return handle_; }

 private:
  cublasXtHandle_t handle_{};
};

}  // namespace staircase
