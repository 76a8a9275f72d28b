/// \file
/// The interface between the image of a module and its loader: the kernels of the image, and the
/// data that a launch requires.
///
/// An image is a shared object that `cuda-on-cpu -cubin`, `-fatbin` or `-ptx` builds from a source.
/// The rewriter adds an entry after each kernel of this source.

#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "runtime_api.hpp"

namespace cuda_on_cpu {

/// The position of a parameter, in bytes, in a buffer that contains all parameters of a kernel.
struct KernelParameter {
  std::size_t offset, bytes;
};

/// The layout of the parameters of a kernel. The parameters are consecutive, and the offset of each
/// parameter satisfies the alignment of its type.
template <typename... Parameters>
constexpr std::array<KernelParameter, sizeof...(Parameters) + 1> layout_of() {
  std::array<KernelParameter, sizeof...(Parameters) + 1> all{};
  std::size_t count = 0, end = 0;
  const auto add = [&](std::size_t bytes, std::size_t alignment) {
    const std::size_t offset = (end + alignment - 1) / alignment * alignment;
    all[count++] = {offset, bytes};
    end = offset + bytes;
  };
  (add(sizeof(Parameters), alignof(Parameters)), ...);
  all[count] = {end, 0};
  return all;
}

/// A kernel or a variable of an image, as an entry of a linked list.
struct ImageEntry {
  const void* address;
  const char* expression = nullptr;  ///< name expression that was passed to NVRTC
  cudaError_t (*launch)(const void* kernel, const Configuration& configuration,
                        void** arguments) = nullptr;
  const KernelParameter* parameters = nullptr;  ///< one per parameter, then the buffer's end
  std::size_t count = 0;                        ///< number of parameters
  const ImageEntry* next = nullptr;
};

/// Strings by which the loader recognises an image before it loads the image.
inline constexpr char mark_of_image[] = "cuda-on-cpu image 1 plain";
inline constexpr char mark_of_analysed_image[] = "cuda-on-cpu image 1 analysed";

/// The header of an image, which the loader reads and modifies.
struct ImageHead {
  const ImageEntry* entries;     ///< list of entries, the last entry of the source first
  const char* constants;         ///< section of __constant__ variables; null if absent
  const char* end_of_constants;  ///< end of the __constant__ variables
  // The loader sets the following members.
  std::size_t shared_offset;  ///< offset of this image in the shared memory of all images
  std::size_t tls_module;     ///< index of the image among modules with thread-local variables
  void* (*thread_variable)(void* index);  ///< finds thread-local variables of other modules
};

}  // namespace cuda_on_cpu
