/// \file
/// Device-wide algorithms of CUB as kernels. An algorithm that must process its items in order runs
/// in one thread. All other algorithms use one thread per element or segment.

#pragma once

#include <cub/config.cuh>
#include <cub/detail/type_traits.cuh>
#include <cub/util_type.cuh>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "closures.hpp"

namespace cuda_on_cpu {

/// A closure for a kernel: each of `count` threads calls `work(i)`, where i is the index of the
/// thread.
template <typename Work>
struct Numbered {
  std::size_t count;
  Work work;

  void operator()() {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Work mine = work;  // a copy per thread, because the call may change the object
    mine(i);
  }
};

/// Calls `work(i)` for all i below `count`. A call on the host launches a kernel with one thread
/// per i. In a kernel, the calling thread makes all calls.
template <typename Work>
__host__ __device__ cudaError_t in_threads(const char* name, cudaStream_t stream, std::size_t count,
                                           Work work) {
  if (is_on_device()) {
    for (std::size_t i = 0; i < count; ++i) work(i);
    return cudaSuccess;
  }
  if (count == 0) return cudaSuccess;
  const std::size_t threads = count < 256 ? count : 256;
  return launch_closure(name, static_cast<unsigned>((count + threads - 1) / threads),
                        static_cast<unsigned>(threads), stream,
                        std::make_shared<Numbered<Work>>(Numbered<Work>{count, std::move(work)}));
}

/// The temporary storage of an algorithm, divided into parts. Each part is aligned to 256 bytes.
class TemporaryStorage {
 public:
  static constexpr std::size_t alignment = 256;

  static constexpr std::size_t rounded(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }

  explicit TemporaryStorage(void* begin)
      : next_(rounded(reinterpret_cast<std::uintptr_t>(begin))) {}

  template <typename Value>
  Value* take(std::size_t count) {
    Value* const part = reinterpret_cast<Value*>(next_);
    next_ += rounded(count * sizeof(Value));
    return part;
  }

  /// Writes to the whole storage, as CUB would. The analysis thereby detects storage that is too
  /// small or in use elsewhere.
  static void use_up(void* begin, std::size_t bytes, unsigned char mark) {
    for (std::size_t i = 0; i < bytes; ++i) static_cast<unsigned char*>(begin)[i] = mark;
  }

  /// The byte with which a call fills the storage. Consecutive calls on the host use different
  /// bytes, because the analysis does not report conflicting stores of the same value.
  static __host__ __device__ unsigned char mark() {
    static std::atomic<unsigned char> calls{0};
    return is_on_device() ? 0xA5 : ++calls;
  }

 private:
  std::uintptr_t next_;
};

/// The size in bytes of the temporary storage that scans and similar algorithms need for `count`
/// items. In this storage, CUB keeps data for each of its thread blocks.
constexpr std::size_t storage_of_blocks(std::size_t count) {
  return TemporaryStorage::alignment * (1 + count / 32768);
}

/// Distinguishes the two calls of an algorithm. Without `storage`, the function sets `bytes` to the
/// required size. With `storage`, the function checks that the size is sufficient.
/// \returns whether the algorithm should run; otherwise, the call returns `result`
inline __host__ __device__ bool has_storage(void* storage, std::size_t& bytes, std::size_t needed,
                                            cudaError_t& result) {
  result = cudaSuccess;
  if (storage == nullptr)
    bytes = needed;
  else if (bytes < needed)
    result = cudaErrorInvalidValue;
  return storage != nullptr && result == cudaSuccess;
}

/// Runs an algorithm that processes the items in order, in one thread.
template <typename Work>
__host__ __device__ cudaError_t in_order(const char* name, void* storage, std::size_t& bytes,
                                         std::size_t count, cudaStream_t stream, Work work) {
  const std::size_t needed = storage_of_blocks(count);
  cudaError_t result;
  if (!has_storage(storage, bytes, needed, result)) return result;
  const unsigned char mark = TemporaryStorage::mark();
  return in_threads(name, stream, 1, [=](std::size_t) mutable {
    TemporaryStorage::use_up(storage, needed, mark);
    work();
  });
}

/// Runs an algorithm with one thread per segment.
template <typename Work>
__host__ __device__ cudaError_t in_segments(const char* name, void* storage, std::size_t& bytes,
                                            std::size_t segments, cudaStream_t stream, Work work) {
  cudaError_t result;
  if (!has_storage(storage, bytes, 1, result)) return result;
  const unsigned char mark = TemporaryStorage::mark();
  return in_threads(name, stream, segments, [=](std::size_t segment) mutable {
    if (segment == 0) TemporaryStorage::use_up(storage, 1, mark);
    work(segment);
  });
}

template <typename Value>
inline constexpr bool is_there = !std::is_same<Value, cub::NullType>::value;

}  // namespace cuda_on_cpu
