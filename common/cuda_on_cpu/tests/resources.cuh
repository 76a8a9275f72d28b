/// \file
/// Checked calls, memory, streams and events, for the programs that put the CPU device to the test.

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

/// Waits for all that was started, and checks how it went.
inline void finish() {
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
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

/// Elements in pinned memory of the host, all of one value.
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

/// A stream that waits for the default stream only if `flags` say so.
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
