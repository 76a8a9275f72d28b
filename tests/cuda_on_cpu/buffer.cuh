/// \file
/// Checked calls and device memory, for the programs that put the CPU device to the test.

#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

/// Ends the program, with status 3, if a call of the CUDA runtime failed.
inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "the device failed: %s\n", cudaGetErrorString(error));
  std::exit(3);
}

/// Elements in device memory, every byte of them set.
template <typename T>
class Buffer {
 public:
  explicit Buffer(std::size_t count, int byte = 0) {
    check(cudaMalloc(&data_, count * sizeof(T)));
    check(cudaMemset(data_, byte, count * sizeof(T)));
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};
