/// \file
/// Basics of CUDA stages: checked calls, arrays in device memory, and checks of the GPU's
/// capabilities.

#pragma once

#include <cuda_runtime.h>

#include <array>
#include <concepts>
#include <cstddef>

#include "view.hpp"

namespace staircase {

/// Throws an exception for the error of a failed call of the CUDA runtime.
/// \throws NotAvailable if the program has no code for this GPU
/// \throws Failure with Exit::exhausted for every other error
[[noreturn]] void fail(cudaError_t error);

/// Throws if a call of the CUDA runtime failed; see fail().
inline void check(cudaError_t error) {
  if (error != cudaSuccess) fail(error);
}

/// Throws if the preceding kernel launch failed. A call must follow every launch.
inline void check_launch() { check(cudaGetLastError()); }

/// The largest total size, in bytes, of the `__shared__` variables of a kernel. The limit is 48
/// KiB, or all shared memory of a block (227 KiB) in code for one specific architecture such as
/// sm_90a.
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr std::size_t most_static_shared = 48 * 1024;
#else
inline constexpr std::size_t most_static_shared = 227 * 1024;
#endif

/// The number of threads that can be resident on a streaming multiprocessor (SM) of the target
/// architecture. Launch bounds must not exceed this number.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800 || __CUDA_ARCH__ == 1070)
inline constexpr unsigned resident_threads = 1024;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ / 100 != 9 && __CUDA_ARCH__ / 100 != 10 && \
    __CUDA_ARCH__ != 800
inline constexpr unsigned resident_threads = 1536;
#else
inline constexpr unsigned resident_threads = 2048;
#endif

/// Throws if the GPU allows fewer than `bytes` bytes of shared memory per thread block.
/// \throws NotAvailable
void require_shared_memory(std::size_t bytes);

/// Allows each thread block of a kernel to use `bytes` bytes of dynamic shared memory.
/// \throws NotAvailable if `bytes` plus the kernel's `__shared__` variables exceed the limit per
/// block
template <typename... Parameter>
void allow_shared_memory(void (*kernel)(Parameter...), std::size_t bytes) {
  cudaFuncAttributes code{};
  check(cudaFuncGetAttributes(&code, kernel));
  require_shared_memory(code.sharedSizeBytes + bytes);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

/// Checks the compute capability of the GPU and of the compiled code that runs on this GPU.
/// \param major the major number of the required capability
/// \param minor the minor number of the required capability
/// \param what the feature that needs this capability, for the error message
/// \throws NotAvailable if the capability of the GPU or of the code is lower
void require_capability(int major, int minor, const char* what);

/// The number of streaming multiprocessors (SMs) of the GPU.
unsigned processors();

/// Allocates device memory and sets its bytes to 0xFF, so that all floating-point elements are NaN.
/// \throws NotEnoughMemory if the device has less memory available
void* allocate_on_device(std::size_t bytes);
/// Frees memory that allocate_on_device() returned.
void free_on_device(void* memory, std::size_t bytes) noexcept;

/// A dense row-major array in device memory. All elements are NaN at first, so that an element that
/// is never written is visible in the result.
template <typename T, std::size_t rank>
class DeviceArray : public View<T, rank> {
 public:
  using KernelArgument = View<T, rank>;  ///< the type that a kernel receives

  template <std::integral... Extent>
  requires(sizeof...(Extent) == rank) explicit DeviceArray(Extent... extent)
      : DeviceArray(std::array{static_cast<std::size_t>(extent)...}) {}
  ~DeviceArray() { free_on_device(this->data(), bytes_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  /// Copies all elements of the array from host memory. Returns when the copy is complete.
  void copy_from(const T* host) {
    check(cudaMemcpy(this->data(), host, bytes_, cudaMemcpyHostToDevice));
  }

  /// Copies a matrix from host memory into the first rows and columns of this array, and sets all
  /// other elements to zero. The matrix must not be larger than this array.
  void copy_padded(View<const T, 2> host) requires(rank == 2) {
    check(cudaMemset(this->data(), 0, bytes_));
    check(cudaMemcpy2D(this->data(), this->extent(1) * sizeof(T), host.data(),
                       host.extent(1) * sizeof(T), host.extent(1) * sizeof(T), host.extent(0),
                       cudaMemcpyHostToDevice));
  }

  /// Sets all elements to zero, in a stream.
  void clear(cudaStream_t stream) { check(cudaMemsetAsync(this->data(), 0, bytes_, stream)); }

  /// Copies all elements to host memory. Returns when the copy is complete.
  void copy_to(T* host) const {
    check(cudaMemcpy(host, this->data(), bytes_, cudaMemcpyDeviceToHost));
  }

  /// Copies the first rows and columns to a matrix in host memory. The matrix must not be larger
  /// than this array.
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
