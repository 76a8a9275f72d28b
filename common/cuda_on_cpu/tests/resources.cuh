/// \file
/// Checked calls, memory, streams and events, for the programs that test the CPU device.

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

/// Waits for all launched work, and checks for errors.
inline void finish() {
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}

/// Elements in device memory, with every byte set to one value.
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

/// Elements in pinned host memory, all with one value.
template <typename T>
class Pinned {
 public:
  explicit Pinned(std::size_t count, T value = {}) {
    check(cudaMallocHost(&data_, count * sizeof(T)));
    for (std::size_t i = 0; i < count; ++i) data_[i] = value;
  }
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  T* get() const { return data_; }
  T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
};

/// A stream. The stream is non-blocking, unless `flags` has another value.
class Stream {
 public:
  explicit Stream(unsigned flags = cudaStreamNonBlocking) {
    check(cudaStreamCreateWithFlags(&stream_, flags));
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};
