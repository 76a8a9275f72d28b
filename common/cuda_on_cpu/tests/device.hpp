/// \file
/// Checked calls and device arrays for the tests of CUDA.

#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tap.hpp"

namespace tap {

/// Abandons the test if a call of the CUDA runtime failed.
inline void check(cudaError_t error, Location place = Location::current()) {
  if (error == cudaSuccess) return;
  complain(std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error), place);
  throw Abandoned{};
}

inline void expect_error(cudaError_t actual, cudaError_t expected,
                         Location place = Location::current()) {
  if (actual != expected)
    complain(std::string(cudaGetErrorName(actual)) + " instead of " + cudaGetErrorName(expected),
             place);
}

/// Expects an error that does not persist, and resets the last error.
inline void expect_refusal(cudaError_t actual, cudaError_t expected,
                           Location place = Location::current()) {
  expect_error(actual, expected, place);
  expect_error(cudaGetLastError(), actual, place);
}

/// An array in device memory, initialised with given values or with a byte pattern. Kernels in any
/// stream may use it.
template <typename T>
class Device {
 public:
  explicit Device(std::size_t size) : size_(size) {
    check(cudaMalloc(&data_, bytes()));
    check(cudaMemset(data_, 0xC5, bytes()));
    check(cudaStreamSynchronize(nullptr));
  }
  explicit Device(const std::vector<T>& values) : size_(values.size()) {
    check(cudaMalloc(&data_, bytes()));
    check(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
    check(cudaStreamSynchronize(nullptr));
  }
  ~Device() { cudaFree(data_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  T* get() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

  /// The values after all earlier launches.
  std::vector<T> to_host(Location place = Location::current()) const {
    check(cudaGetLastError(), place);
    std::vector<T> values(size_);
    check(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost), place);
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

/// A stream that does not wait for the default stream.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  explicit Event(unsigned flags = cudaEventDefault) {
    check(cudaEventCreateWithFlags(&event_, flags));
  }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Limits a potentially endless wait to about ten seconds, both on a GPU and on a CPU.
class Patience {
 public:
  __device__ Patience() { start_ = clock64(); }
  __device__ bool lasts() const { return clock64() - start_ < 20'000'000'000; }

 private:
  long long start_;
};

/// Runs the tests. After each test, the device must have no pending work and no error.
inline int run_on_device(int argc, char** argv) {
  return run(argc, argv, [] {
    check(cudaDeviceSynchronize());
    check(cudaGetLastError());
  });
}

}  // namespace tap
