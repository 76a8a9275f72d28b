/// \file
/// What CUDA stages share: checked calls, arrays on the device, and the device itself.

#pragma once

#include <cuda_runtime.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "array.hpp"
#include "error.hpp"

namespace staircase {

/// Throws if a call of the CUDA runtime failed.
/// \throws NotAvailable if the program was not built for this GPU
/// \throws Failure with the exit status "the device failed" for all else
inline void check(cudaError_t error) {
  if (error == cudaErrorNoKernelImageForDevice)
    throw NotAvailable(
        "this program was not built for this GPU; see gpu_arch and gpu_portable in meson.options");
  if (error != cudaSuccess)
    throw Failure(Exit::exhausted, std::string("the device failed: ") + cudaGetErrorString(error));
}

/// Throws if the launch before it failed; call it behind every launch.
inline void check_launch() { check(cudaGetLastError()); }

/// Creates the CUDA context, so that its time is not taken for the stage's.
/// \throws NotAvailable if there is no GPU that this program can use
inline void prepare_gpu() {
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0)
    throw NotAvailable(std::string("this stage needs a CUDA GPU, and there is none (") +
                       cudaGetErrorString(error == cudaSuccess ? cudaErrorNoDevice : error) + ")");
  check(cudaFree(nullptr));
}

/// Bytes of device memory that can be allocated.
inline double available_gpu_memory() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  return static_cast<double>(free);
}

/// The name of the GPU: "NVIDIA H200".
inline std::string gpu_name() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  return properties.name;
}

/// The compute capability of the GPU: "9.0".
inline std::string compute_capability() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  return std::to_string(properties.major) + "." + std::to_string(properties.minor);
}

/// Throws if a block may not have so many bytes of the GPU's shared memory.
/// \throws NotAvailable
inline void require_shared_memory(std::size_t bytes) {
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  if (bytes > static_cast<std::size_t>(most))
    throw NotAvailable("this stage needs a GPU with " + std::to_string(bytes) +
                       " bytes of shared memory for a block, and this one has " +
                       std::to_string(most));
}

/// Throws if the GPU is of a lower compute capability than `major`.`minor`, and so has no `what`.
/// \throws NotAvailable
inline void require_capability(int major, int minor, const std::string& what) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  if (properties.major * 100 + properties.minor < major * 100 + minor)
    throw NotAvailable("this stage needs a GPU with " + what + " (compute capability " +
                       std::to_string(major) + "." + std::to_string(minor) +
                       " or later), and this one is of " + compute_capability());
}

/// The number of multiprocessors of the GPU.
inline unsigned processors() {
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return static_cast<unsigned>(count);
}

/// A dense row-major array in device memory; poisoned with bytes 0xFF, which are NaN, when it is
/// made.
template <typename T, std::size_t rank>
class DeviceArray {
 public:
  template <std::integral... Extent>
  requires(sizeof...(Extent) == rank) explicit DeviceArray(Extent... extent)
      : extents_{static_cast<std::size_t>(extent)...} {
    check(cudaMalloc(&data_, bytes()));
    check(cudaMemset(data_, 0xFF, bytes()));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  /// The array as kernels take it.
  View<T, rank> view() const { return {data_, extents_}; }

  /// Copies as many elements as the array has; returns when they are there.
  void copy_from(const T* host) { check(cudaMemcpy(data_, host, bytes(), cudaMemcpyHostToDevice)); }

  /// Copies a matrix that is no larger into the first rows and columns; all others become zero.
  void copy_padded(View<const T, 2> host) requires(rank == 2) {
    check(cudaMemset(data_, 0, bytes()));
    check(cudaMemcpy2D(data_, extents_[1] * sizeof(T), host.data(), host.extent(1) * sizeof(T),
                       host.extent(1) * sizeof(T), host.extent(0), cudaMemcpyHostToDevice));
  }

  /// Makes all elements zero, in a stream.
  void clear(cudaStream_t stream) { check(cudaMemsetAsync(data_, 0, bytes(), stream)); }

  void copy_to(T* host) const { check(cudaMemcpy(host, data_, bytes(), cudaMemcpyDeviceToHost)); }

 private:
  std::size_t bytes() const {
    std::size_t size = sizeof(T);
    for (const std::size_t extent : extents_) size *= extent;
    return size;
  }

  T* data_ = nullptr;
  std::array<std::size_t, rank> extents_;
};

/// Seconds by the host's clock until a copy within device memory that reads and writes `bytes` in
/// all is done. It has one launch and one wait in it, as a phase of a stage has.
inline double seconds_to_copy(double bytes) {
  const auto half = static_cast<std::size_t>(bytes / 2);
  DeviceArray<unsigned char, 1> from(half), to(half);
  check(cudaDeviceSynchronize());
  const auto start = std::chrono::steady_clock::now();
  check(cudaMemcpyAsync(to.view().data(), from.view().data(), half, cudaMemcpyDeviceToDevice));
  check(cudaDeviceSynchronize());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace staircase
