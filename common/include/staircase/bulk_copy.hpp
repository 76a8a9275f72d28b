/// \file
/// Asynchronous bulk copies of contiguous bytes between global and shared memory by the Tensor
/// Memory Accelerator (TMA), and barriers that wait for these copies. The copies and barriers need
/// compute capability 9.0 or later. Source: PTX ISA, "cp.async.bulk", "st.async" and "mbarrier".

#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#ifdef STAIRCASE_CUDA_ON_CPU
#include <cuda/barrier>
#else
#include <bit>
#endif

namespace staircase {

/// A barrier in shared memory that waits for arrivals of threads and for copied bytes (PTX:
/// mbarrier).
///
/// The phases of a barrier are numbered from 0. A phase ends when the number of arrivals given to
/// init() is reached and all expected bytes have been copied. The next phase then begins.
class TransferBarrier {
 public:
  /// Initialises the barrier for `arrivals` arrivals per phase. One thread calls init() and then
  /// fence_barriers(); afterwards all threads call __syncthreads().
  __device__ void init(unsigned arrivals);

  /// Arrives at the barrier. All earlier reads and writes of this thread are ordered before the
  /// arrival.
  __device__ void arrive();

  /// Arrives at the barrier, and adds `bytes` to the number of bytes that bulk copies must transfer
  /// before the phase can end.
  __device__ void arrive_and_expect(unsigned bytes);

  /// Waits until the phase with parity `parity` (0 or 1) has ended. If this is not the current
  /// phase but the previous one, the function returns at once; so does wait(1) on a new barrier.
  __device__ void wait(unsigned parity);

 private:
  friend __device__ void bulk_copy(void* shared, const void* global, unsigned bytes,
                                   TransferBarrier& barrier);
  template <typename T>
  friend __device__ void store_in_block(T& shared, T value, TransferBarrier& barrier,
                                        unsigned rank);
#ifdef STAIRCASE_CUDA_ON_CPU
  cuda_on_cpu::BarrierState state_;  // counts each byte as an arrival
#else
  __device__ unsigned address() const {
    return static_cast<unsigned>(__cvta_generic_to_shared(&state_));
  }

  std::uint64_t state_;
#endif
};

/// Starts a copy of `bytes` bytes from global to shared memory. Both addresses and the size must be
/// multiples of 16. The bytes count towards the current phase of `barrier`, so a thread must pass
/// the number of bytes to arrive_and_expect().
__device__ void bulk_copy(void* shared, const void* global, unsigned bytes,
                          TransferBarrier& barrier);

/// Starts the asynchronous store of a value of 4 or 8 bytes to the shared memory of another thread
/// block of the cluster.
///
/// `shared` and `barrier` are variables in the shared memory of the calling block; the function
/// accesses the same variables of block `rank`. The bytes count towards the current phase of the
/// barrier of block `rank`. A thread of block `rank` must pass the number of bytes to
/// arrive_and_expect().
template <typename T>
__device__ void store_in_block(T& shared, T value, TransferBarrier& barrier, unsigned rank);

/// Starts a copy of `bytes` bytes from shared to global memory. Both addresses and the size must be
/// multiples of 16. The copy is complete, and visible to this thread, after wait_for_stores().
__device__ void bulk_store(void* global, const void* shared, unsigned bytes);

/// Waits until all copies of this thread by bulk_store() are complete.
__device__ void wait_for_stores();

/// Makes newly initialised barriers visible to the TMA and to the other blocks of the cluster.
__device__ void fence_barriers();

/// Initialises the barriers of `count` slots of a pipeline: `fillers` arrivals mark a slot as full,
/// and `arrivals` arrivals mark the slot as empty. Exactly one thread calls the function. A
/// __syncthreads() must follow before other threads use the barriers.
template <unsigned count>
__device__ void init(TransferBarrier (&full)[count], TransferBarrier (&empty)[count],
                     unsigned arrivals, unsigned fillers = 1) {
  for (unsigned b = 0; b < count; ++b) {
    full[b].init(fillers);
    empty[b].init(arrivals);
  }
  fence_barriers();
}

/// Makes earlier writes of this thread to shared memory visible to tensor cores (wgmma) and the
/// TMA.
__device__ void fence_shared_memory();

/// Makes earlier writes of this thread to global memory visible to the TMA.
__device__ void fence_device_memory();

#ifdef STAIRCASE_CUDA_ON_CPU
// On the CPU device, a copy is complete before the call returns.

inline void TransferBarrier::init(unsigned arrivals) {
  cuda_on_cpu::init_barrier(&state_, arrivals);
}

inline void TransferBarrier::arrive() { cuda_on_cpu::arrive(&state_, 1, false); }

inline void TransferBarrier::arrive_and_expect(unsigned bytes) {
  cuda_on_cpu::expect(&state_, bytes);
  cuda_on_cpu::arrive(&state_, 1, false);
}

inline void TransferBarrier::wait(unsigned parity) {
  cuda_on_cpu::wait_for_parity(&state_, parity == 1);
}

inline void bulk_copy(void* shared, const void* global, unsigned bytes, TransferBarrier& barrier) {
  const auto* from = static_cast<const uint4*>(global);
  for (unsigned i = 0; i < bytes / sizeof(uint4); ++i) static_cast<uint4*>(shared)[i] = from[i];
  cuda_on_cpu::arrive(&barrier.state_, bytes, false);
}

template <typename T>
void store_in_block(T& shared, T value, TransferBarrier& barrier, unsigned rank) {
  cuda_on_cpu::store_in_block(&shared, &value, sizeof(T), &barrier.state_, rank);
}

inline void bulk_store(void* global, const void* shared, unsigned bytes) {
  const auto* from = static_cast<const uint4*>(shared);
  for (unsigned i = 0; i < bytes / sizeof(uint4); ++i) static_cast<uint4*>(global)[i] = from[i];
}

inline void wait_for_stores() {}
inline void fence_barriers() {}
inline void fence_shared_memory() {}
inline void fence_device_memory() {}
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
// Code for older GPUs is compiled but never launched.
__device__ inline void TransferBarrier::init(unsigned) { __trap(); }
__device__ inline void TransferBarrier::arrive() {}
__device__ inline void TransferBarrier::arrive_and_expect(unsigned) {}
__device__ inline void TransferBarrier::wait(unsigned) {}
__device__ inline void bulk_copy(void*, const void*, unsigned, TransferBarrier&) {}
template <typename T>
__device__ void store_in_block(T&, T, TransferBarrier&, unsigned) {}
__device__ inline void bulk_store(void*, const void*, unsigned) {}
__device__ inline void wait_for_stores() {}
__device__ inline void fence_barriers() {}
__device__ inline void fence_shared_memory() {}
__device__ inline void fence_device_memory() {}
#else
__device__ inline void TransferBarrier::init(unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :
               : "r"(address()), "r"(arrivals)
               : "memory");
}

__device__ inline void TransferBarrier::arrive() {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(address()) : "memory");
}

__device__ inline void TransferBarrier::arrive_and_expect(unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(address()), "r"(bytes)
               : "memory");
}

__device__ inline void TransferBarrier::wait(unsigned parity) {
  unsigned ended;
  do {
    asm volatile(
        "{\n"
        ".reg .pred ended;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
        "selp.u32 %0, 1, 0, ended;\n"
        "}"
        : "=r"(ended)
        : "r"(address()), "r"(parity)
        : "memory");
  } while (ended == 0);
}

__device__ inline void bulk_copy(void* shared, const void* global, unsigned bytes,
                                 TransferBarrier& barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))),
        "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(barrier.address())
      : "memory");
}

/// The address of the same variable in the shared memory of another block of the cluster.
__device__ inline unsigned address_in_block(unsigned address, unsigned rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

template <typename T>
__device__ void store_in_block(T& shared, T value, TransferBarrier& barrier, unsigned rank) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  const auto here = static_cast<unsigned>(__cvta_generic_to_shared(&shared));
  const unsigned to = address_in_block(here, rank);
  const unsigned there = address_in_block(barrier.address(), rank);
  if constexpr (sizeof(T) == 8)
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
                 :
                 : "r"(to), "l"(std::bit_cast<std::uint64_t>(value)), "r"(there)
                 : "memory");
  else
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                 :
                 : "r"(to), "r"(std::bit_cast<std::uint32_t>(value)), "r"(there)
                 : "memory");
}

__device__ inline void bulk_store(void* global, const void* shared, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :
               : "l"(__cvta_generic_to_global(global)),
                 "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))), "r"(bytes)
               : "memory");
}

__device__ inline void wait_for_stores() {
  asm volatile("cp.async.bulk.commit_group;" : : : "memory");
  asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
}

__device__ inline void fence_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}

__device__ inline void fence_shared_memory() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

__device__ inline void fence_device_memory() {
  asm volatile("fence.proxy.async.global;" : : : "memory");
}
#endif

}  // namespace staircase
