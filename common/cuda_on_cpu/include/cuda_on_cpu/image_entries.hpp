/// \file
/// What an image of a module tells who loads it: its kernels, with what a launch needs of them.
///
/// An image is a shared object that `cuda-on-cpu -cubin`, `-fatbin` or `-ptx` makes of a source.
/// The rewriter puts an entry behind each of its kernels.

#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "runtime_api.hpp"

namespace cuda_on_cpu {

/// Where a parameter lies in a buffer that holds all of a kernel's.
struct KernelParameter {
  std::size_t offset, bytes;
};

/// The parameters of a kernel, one after the other, each where its type may lie.
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

/// A kernel, or a variable, of an image.
struct ImageEntry {
  const void* address;
  const char* expression = nullptr;  ///< by which NVRTC was asked for it
  cudaError_t (*launch)(const void* kernel, const Configuration& configuration,
                        void** arguments) = nullptr;
  const KernelParameter* parameters = nullptr;  ///< behind the last one stands where it ends
  std::size_t count = 0;                        ///< of parameters
  const ImageEntry* next = nullptr;
};

/// How an image begins, so that one is told from others before it is loaded.
inline constexpr char mark_of_image[] = "cuda-on-cpu image 1 plain";
inline constexpr char mark_of_analysed_image[] = "cuda-on-cpu image 1 analysed";

/// What an image has for who loads it.
struct ImageHead {
  const ImageEntry* entries;     ///< the last one first
  const char* constants;         ///< the section of its __constant__ variables, if there is one
  const char* end_of_constants;  ///< and where it ends
  // What is told to the image.
  std::size_t room;        ///< of its shared memory, from the beginning of that of all images
  std::size_t tls_module;  ///< its number among those who have thread-local variables
  void* (*thread_variable)(void* index);  ///< finds those of others
};

}  // namespace cuda_on_cpu
