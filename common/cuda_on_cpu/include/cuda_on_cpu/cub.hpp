/// \file
/// Algorithms of CUB for a whole device, as kernels: what needs an order runs in one thread, what
/// does not, in a thread for each element or segment.

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

/// So many threads, each with its number.
template <typename Work>
struct Numbered {
  std::size_t count;
  Work work;

  void operator()() {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Work mine = work;  // what changes as it works is this thread's own
    mine(i);
  }
};

/// In a kernel, all of it is done by the thread that asks for it.
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

/// What algorithms find their temporary storage in: parts of it begin where any type may.
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

  /// Writes into all of it, as CUB would: it must be there, and nobody else may use it.
  static void use_up(void* begin, std::size_t bytes, unsigned char mark) {
    for (std::size_t i = 0; i < bytes; ++i) static_cast<unsigned char*>(begin)[i] = mark;
  }

  /// What a call writes differs from what the calls about it do, or two at once would do no harm.
  static __host__ __device__ unsigned char mark() {
    static std::atomic<unsigned char> calls{0};
    return is_on_device() ? 0xA5 : ++calls;
  }

 private:
  std::uintptr_t next_;
};

/// What a scan of so many items, or the like, needs between its blocks.
constexpr std::size_t storage_of_blocks(std::size_t count) {
  return TemporaryStorage::alignment * (1 + count / 32768);
}

/// The two calls of an algorithm: one asks how much temporary storage there must be, the other has
/// it. Work that needs none itself uses it up first.
/// \returns whether the work is to be done; otherwise, `result` is what the call returns
inline __host__ __device__ bool has_storage(void* storage, std::size_t& bytes, std::size_t needed,
                                            cudaError_t& result) {
  result = cudaSuccess;
  if (storage == nullptr)
    bytes = needed;
  else if (bytes < needed)
    result = cudaErrorInvalidValue;
  return storage != nullptr && result == cudaSuccess;
}

/// An algorithm that takes the items in their order.
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

/// An algorithm that has a thread for each of its segments.
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
