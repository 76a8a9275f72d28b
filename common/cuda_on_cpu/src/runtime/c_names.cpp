/// \file
/// The runtime for C sources, under unmangled names. C++ sources use mangled names, so that
/// NVIDIA's library, which some build files link as well, does not replace these functions.

#include "cuda_on_cpu/runtime_api.hpp"

namespace cuda_on_cpu {

extern "C" {
cudaError_t c_get_device_count(int* count) __asm__("cudaGetDeviceCount");
cudaError_t c_set_device(int device) __asm__("cudaSetDevice");
cudaError_t c_get_device(int* device) __asm__("cudaGetDevice");
cudaError_t c_synchronize() __asm__("cudaDeviceSynchronize");
cudaError_t c_reset() __asm__("cudaDeviceReset");
cudaError_t c_last_error() __asm__("cudaGetLastError");
const char* c_error_string(cudaError_t error) __asm__("cudaGetErrorString");
cudaError_t c_malloc(void** pointer, std::size_t bytes) __asm__("cudaMalloc");
cudaError_t c_malloc_host(void** pointer, std::size_t bytes) __asm__("cudaMallocHost");
cudaError_t c_free(void* pointer) __asm__("cudaFree");
cudaError_t c_free_host(void* pointer) __asm__("cudaFreeHost");
cudaError_t c_memcpy(void* to, const void* from, std::size_t bytes,
                     cudaMemcpyKind kind) __asm__("cudaMemcpy");
cudaError_t c_memset(void* to, int value, std::size_t bytes) __asm__("cudaMemset");

cudaError_t c_get_device_count(int* count) { return cudaGetDeviceCount(count); }
cudaError_t c_set_device(int device) { return cudaSetDevice(device); }
cudaError_t c_get_device(int* device) { return cudaGetDevice(device); }
cudaError_t c_synchronize() { return cudaDeviceSynchronize(); }
cudaError_t c_reset() { return cudaDeviceReset(); }
cudaError_t c_last_error() { return cudaGetLastError(); }
const char* c_error_string(cudaError_t error) { return cudaGetErrorString(error); }
cudaError_t c_malloc(void** pointer, std::size_t bytes) { return cudaMalloc(pointer, bytes); }
cudaError_t c_malloc_host(void** pointer, std::size_t bytes) {
  return cudaMallocHost(pointer, bytes);
}
cudaError_t c_free(void* pointer) { return cudaFree(pointer); }
cudaError_t c_free_host(void* pointer) { return cudaFreeHost(pointer); }
cudaError_t c_memcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t c_memset(void* to, int value, std::size_t bytes) {
  return cudaMemset(to, value, bytes);
}
}

}  // namespace cuda_on_cpu
