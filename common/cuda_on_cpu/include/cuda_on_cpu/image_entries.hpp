/// \file
/// The interface between the image of a module and its loader: its kernels, and the data that a
/// launch requires.
///
/// An image is a shared object that `cuda-on-cpu -cubin`, `-fatbin` or `-ptx` makes from a source.
/// The rewriter adds an entry after each of its kernels.

#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "runtime_api.hpp"

namespace cuda_on_cpu {

/// The position of a parameter in a buffer with all parameters of a kernel.
struct KernelParameter {
  std::size_t offset, bytes;
};

/// The layout of the parameters of a kernel: one after the other, each at an offset that suits its
/// type.
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

/// A kernel or a variable of an image.
struct ImageEntry {
  const void* address;
  const char* expression = nullptr;  ///< name expression that was passed to NVRTC
  cudaError_t (*launch)(const void* kernel, const Configuration& configuration,
                        void** arguments) = nullptr;
  const KernelParameter* parameters = nullptr;  ///< followed by an entry for the end
  std::size_t count = 0;                        ///< number of parameters
  const ImageEntry* next = nullptr;
};

/// Marks in an image, by which the loader recognises images before it loads them.
inline constexpr char mark_of_image[] = "cuda-on-cpu image 1 plain";
inline constexpr char mark_of_analysed_image[] = "cuda-on-cpu image 1 analysed";

/// The head of an image, which the loader reads and writes.
struct ImageHead {
  const ImageEntry* entries;     ///< list of the entries, the last one first
  const char* constants;         ///< the section of its __constant__ variables, if there is one
  const char* end_of_constants;  ///< end of this section
  // The loader sets the following members.
  std::size_t shared_offset;  ///< offset of its shared memory in the shared memory of all images
  std::size_t tls_module;     ///< its index among the modules with thread-local variables
  void* (*thread_variable)(void* index);  ///< finds variables of other modules
};

}  // namespace cuda_on_cpu
