/// \file
/// Definitions that each image of a module contains. The command cuda-on-cpu includes this file
/// only in the source of an image.

#pragma once

#include "image_entries.hpp"

extern "C" {

// The bounds of the section of __constant__ variables. The symbols are null in images without such
// variables.
extern const char __start_cuda_constant[] __attribute__((weak, visibility("hidden")));
extern const char __stop_cuda_constant[] __attribute__((weak, visibility("hidden")));

// The shared memory of all images, for the block that this operating-system thread executes.
extern __thread char cuda_on_cpu_shared_of_images[] __attribute__((tls_model("initial-exec")));

extern const char cuda_on_cpu_image_mark[];
#ifdef CUDA_ON_CPU_ANALYSE
__attribute__((used)) const char cuda_on_cpu_image_mark[] = "cuda-on-cpu image 1 analysed";
#else
__attribute__((used)) const char cuda_on_cpu_image_mark[] = "cuda-on-cpu image 1 plain";
#endif

extern cuda_on_cpu::ImageHead cuda_on_cpu_image;
cuda_on_cpu::ImageHead cuda_on_cpu_image = {
    nullptr, __start_cuda_constant, __stop_cuda_constant, 0, 0, nullptr};

/// Compilers call this function to locate a thread-local variable. The thread-local variables of an
/// image are shared memory, which must be in the thread area of the program. The function therefore
/// returns an address in this area. Within the image, this function hides the C library's function
/// of the same name.
__attribute__((visibility("hidden"))) CUDA_ON_CPU_NOT_ANALYSED void* __tls_get_addr(void* index) {
  const auto* const parts = static_cast<const unsigned long*>(index);  // a module and an offset
  if (parts[0] != cuda_on_cpu_image.tls_module) return cuda_on_cpu_image.thread_variable(index);
  return cuda_on_cpu_shared_of_images + cuda_on_cpu_image.shared_offset + parts[1];
}

}  // extern "C"

namespace cuda_on_cpu {

/// Adds a kernel or a variable to the list of entries of its image.
struct AddedEntry : ImageEntry {
  template <typename... Parameters>
  explicit AddedEntry(void (*kernel)(Parameters...), const char* named = nullptr) {
    static constexpr auto layout = layout_of<plain<Parameters>...>();
    address = reinterpret_cast<const void*>(kernel);
    launch = [](const void* pointer, const Configuration& configuration, void** arguments) {
      return launch_by_address(
          reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(pointer)), configuration,
          arguments);
    };
    parameters = layout.data();
    count = sizeof...(Parameters);
    add(named);
  }
  template <typename Value>
  explicit AddedEntry(Value* variable, const char* named) {
    address = const_cast<const void*>(static_cast<const volatile void*>(variable));
    add(named);
  }

 private:
  void add(const char* named) {
    expression = named;
    next = cuda_on_cpu_image.entries;
    cuda_on_cpu_image.entries = this;
  }
};

}  // namespace cuda_on_cpu
