/// \file
/// Several arrays in one allocation of device memory. The driver takes tens of microseconds to map
/// the memory of an allocation and to unmap it, and a short solve would spend much of its time on
/// these calls.

#pragma once

#include <cstddef>
#include <initializer_list>
#include <stdexcept>

#include "cuda.hpp"

namespace staircase {

/// The number of bytes of a DevicePart: the size of its elements, rounded up to a multiple of the
/// alignment that a separate allocation would have.
template <typename T, std::integral... Extent>
std::size_t bytes_of_part(Extent... extent) {
  constexpr std::size_t alignment = 256;
  const std::size_t bytes =
      product<2>({product<sizeof...(Extent)>({static_cast<std::size_t>(extent)...}), sizeof(T)});
  return bytes > ~alignment ? bytes : (bytes + alignment - 1) / alignment * alignment;
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
/// 0xFF at first, so that all floating-point elements are NaN. An access beyond the end of a part
/// reaches the next part, so tools that check accesses do not report it.
class DeviceMemory {
 public:
  /// \param bytes the size of all parts, see bytes_of_parts()
  /// \throws NotEnoughMemory if the device has less memory available
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {}

  /// Returns the address of the next `bytes` bytes.
  /// \throws std::logic_error if fewer bytes are left
  std::byte* take(std::size_t bytes) {
    if (bytes > bytes_.extent(0) - taken_)
      throw std::logic_error("the parts of a DeviceMemory are larger than its allocation");
    std::byte* const part = bytes_.data() + taken_;
    taken_ += bytes;
    return part;
  }

 private:
  DeviceArray<std::byte, 1> bytes_;
  std::size_t taken_ = 0;
};

/// A dense row-major array in a part of a DeviceMemory. The DeviceMemory must outlive the array.
template <typename T, std::size_t rank>
class DevicePart : public View<T, rank> {
 public:
  template <std::integral... Extent>
  requires(sizeof...(Extent) == rank) DevicePart(DeviceMemory& memory, Extent... extent)
      : View<T, rank>(reinterpret_cast<T*>(memory.take(bytes_of_part<T>(extent...))),
                      {static_cast<std::size_t>(extent)...}),
        bytes_(sizeof(T) * (static_cast<std::size_t>(extent) * ...)) {}

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
