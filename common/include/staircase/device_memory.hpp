/// \file
/// Several arrays in one allocation of device memory. The driver takes tens of microseconds to map
/// the memory of an allocation and to unmap it, and a short solve would spend much of its time on
/// these calls.

#pragma once

#include <cstddef>
#include <deque>
#include <initializer_list>
#include <stdexcept>

#include "cuda.hpp"

namespace staircase {

/// A number of bytes, rounded up to a multiple of the alignment of a separate allocation. A number
/// that is too large to be rounded up is returned unchanged.
inline std::size_t aligned_size(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  return bytes > ~alignment ? bytes : (bytes + alignment - 1) / alignment * alignment;
}

/// The number of bytes of an array with these extents.
template <typename T, std::integral... Extent>
std::size_t bytes_of_array(Extent... extent) {
  return product<2>({product<sizeof...(Extent)>({static_cast<std::size_t>(extent)...}), sizeof(T)});
}

/// The number of bytes that a DevicePart takes from a DeviceMemory.
template <typename T, std::integral... Extent>
std::size_t bytes_of_part(Extent... extent) {
  return aligned_size(bytes_of_array<T>(extent...));
}

/// The total size of parts in bytes. A total that does not fit into std::size_t becomes the largest
/// value of this type, so that the allocation fails.
inline std::size_t bytes_of_parts(std::initializer_list<std::size_t> parts) {
  std::size_t sum = 0;
  for (const std::size_t bytes : parts)
    sum = bytes > ~std::size_t{0} - sum ? ~std::size_t{0} : sum + bytes;
  return sum;
}

/// An allocation of device memory from which parts are taken one after the other. All bytes are
/// 0xFF at first, so that all floating-point elements are NaN. On a GPU, an access beyond the end
/// of a part reaches the next part, so tools that check accesses do not report it. On the CPU
/// device, each part is a separate allocation, so that the analysis reports such an access.
class DeviceMemory {
 public:
  /// \param bytes the size of all parts, see bytes_of_parts()
  /// \throws NotEnoughMemory if the device has less memory available
#ifdef STAIRCASE_CUDA_ON_CPU
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {}
#else
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes), allocation_(bytes) {}
#endif

  /// Returns the address of the next part, which has `bytes` bytes, and skips the bytes up to the
  /// next multiple of the alignment.
  /// \throws std::logic_error if fewer bytes are left
  std::byte* take(std::size_t bytes) {
    const std::size_t aligned = aligned_size(bytes);
    if (aligned > bytes_ - taken_)
      throw std::logic_error("the parts of a DeviceMemory are larger than its allocation");
    taken_ += aligned;
#ifdef STAIRCASE_CUDA_ON_CPU
    return parts_.emplace_back(bytes).data();
#else
    return allocation_.data() + (taken_ - aligned);
#endif
  }

 private:
  std::size_t bytes_, taken_ = 0;
#ifdef STAIRCASE_CUDA_ON_CPU
  std::deque<DeviceArray<std::byte, 1>> parts_;
#else
  DeviceArray<std::byte, 1> allocation_;
#endif
};

/// A dense row-major array in a part of a DeviceMemory. The DeviceMemory must outlive the array.
template <typename T, std::size_t rank>
class DevicePart : public View<T, rank> {
 public:
  template <std::integral... Extent>
  requires(sizeof...(Extent) == rank) DevicePart(DeviceMemory& memory, Extent... extent)
      : View<T, rank>(reinterpret_cast<T*>(memory.take(bytes_of_array<T>(extent...))),
                      {static_cast<std::size_t>(extent)...}),
        bytes_(bytes_of_array<T>(extent...)) {}

  /// Copies all elements of the array from host memory; returns when the copy is complete.
  void copy_from(const T* host) {
    check(cudaMemcpy(this->data(), host, bytes_, cudaMemcpyHostToDevice));
  }

  /// Copies all elements to host memory; returns when the copy is complete.
  void copy_to(T* host) const {
    check(cudaMemcpy(host, this->data(), bytes_, cudaMemcpyDeviceToHost));
  }

 private:
  std::size_t bytes_;
};

}  // namespace staircase
