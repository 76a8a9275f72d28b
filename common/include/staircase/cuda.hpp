/// \file
/// What CUDA stages share: checked calls, arrays on the device, and what the device must have.

#pragma once

#include <cuda_runtime.h>

#include <array>
#include <concepts>
#include <cstddef>

#include "view.hpp"

namespace staircase {

/// Says why a call of the CUDA runtime failed.
/// \throws NotAvailable if the program was not built for this GPU
/// \throws Failure with the exit status "the device failed" for all else
[[noreturn]] void fail(cudaError_t error);

/// Throws if a call of the CUDA runtime failed.
inline void check(cudaError_t error) {
  if (error != cudaSuccess) fail(error);
}

/// Throws if the launch before it failed; call it behind every launch.
inline void check_launch() { check(cudaGetLastError()); }

/// Throws if a block may not have so many bytes of the GPU's shared memory.
/// \throws NotAvailable
void require_shared_memory(std::size_t bytes);

/// Lets the blocks of a kernel have so many bytes of dynamic shared memory.
template <typename... Parameter>
void allow_shared_memory(void (*kernel)(Parameter...), std::size_t bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

/// Throws if the GPU is of a lower compute capability than `major`.`minor`, and so has no `what`.
/// \throws NotAvailable
void require_capability(int major, int minor, const char* what);

/// The number of multiprocessors of the GPU.
unsigned processors();

/// Allocates memory of the device, poisoned with bytes 0xFF, which are NaN; and gives it back.
/// \throws NotEnoughMemory if the device has not so much of it
void* allocate_on_device(std::size_t bytes);
void free_on_device(void* memory, std::size_t bytes) noexcept;

/// A dense row-major array in device memory. It is born poisoned (NaN), so that an element that was
/// never written is seen in the result.
template <typename T, std::size_t rank>
class DeviceArray : public View<T, rank> {
 public:
  using KernelArgument = View<T, rank>;  ///< what a launch passes on

  template <std::integral... Extent>
  requires(sizeof...(Extent) == rank) explicit DeviceArray(Extent... extent)
      : DeviceArray(std::array{static_cast<std::size_t>(extent)...}) {}
  ~DeviceArray() { free_on_device(this->data(), bytes_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  /// Copies as many elements as the array has; returns when they are there.
  void copy_from(const T* host) {
    check(cudaMemcpy(this->data(), host, bytes_, cudaMemcpyHostToDevice));
  }

  /// Copies a matrix that is no larger into the first rows and columns; all others become zero.
  void copy_padded(View<const T, 2> host) requires(rank == 2) {
    check(cudaMemset(this->data(), 0, bytes_));
    check(cudaMemcpy2D(this->data(), this->extent(1) * sizeof(T), host.data(),
                       host.extent(1) * sizeof(T), host.extent(1) * sizeof(T), host.extent(0),
                       cudaMemcpyHostToDevice));
  }

  /// Makes all elements zero, in a stream.
  void clear(cudaStream_t stream) { check(cudaMemsetAsync(this->data(), 0, bytes_, stream)); }

  void copy_to(T* host) const {
    check(cudaMemcpy(host, this->data(), bytes_, cudaMemcpyDeviceToHost));
  }

  /// Copies the first rows and columns to a matrix that is no larger.
  void copy_corner_to(View<T, 2> host) const requires(rank == 2) {
    check(cudaMemcpy2D(host.data(), host.extent(1) * sizeof(T), this->data(),
                       this->extent(1) * sizeof(T), host.extent(1) * sizeof(T), host.extent(0),
                       cudaMemcpyDeviceToHost));
  }

 private:
  explicit DeviceArray(const std::array<std::size_t, rank>& extents)
      : View<T, rank>(static_cast<T*>(allocate_on_device(bytes_of(extents))), extents),
        bytes_(bytes_of(extents)) {}

  static std::size_t bytes_of(const std::array<std::size_t, rank>& extents) {
    return product<2>({product(extents), sizeof(T)});
  }

  std::size_t bytes_;
};

}  // namespace staircase
