/// \file
/// Products of matrices of 8-bit integers or tf32 elements by a warpgroup (four warps). The tensor
/// cores read the operands directly from shared memory (PTX: wgmma).
///
/// Each row of a matrix in shared memory has 128 bytes. Row 0 begins at a multiple of 1024 bytes.
/// The eight chunks of 16 bytes of each row are permuted (swizzled) as in swizzled_offset(). Only
/// GPUs of compute capability 9.0 have these instructions, and only code compiled for sm_90a can
/// use them.

#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda.hpp"
#include "error.hpp"

namespace staircase {

/// The offset, in bytes, of byte k of row i in a matrix in shared memory. The offset follows the
/// 128-byte swizzle of the PTX ISA, "Asynchronous warpgroup level matrix shared memory layout".
constexpr __host__ __device__ unsigned swizzled_offset(unsigned i, unsigned k) {
  return 128 * i + 16 * (k / 16 ^ i % 8) + k % 16;
}

/// The position of a thread's element `index` (0 to 127) in a product of 64 × 256 elements.
struct WarpgroupPosition {
  unsigned row, column;
};
constexpr __host__ __device__ WarpgroupPosition position_in_warpgroup(unsigned thread,
                                                                      unsigned index) {
  return {thread / 32 * 16 + thread % 32 / 4 + index / 2 % 2 * 8,
          index / 4 * 8 + thread % 4 * 2 + index % 2};
}

/// Whether the GPU has wgmma instructions, and the program was built with these instructions
/// (`gpu_arch` 90a).
inline bool has_wgmma() {
#if defined(STAIRCASE_GPU_ARCH_90A) || defined(STAIRCASE_CUDA_ON_CPU)
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  return properties.major == 9 && properties.minor == 0;
#else
  return false;
#endif
}

/// Throws if has_wgmma() is false.
/// \throws NotAvailable
inline void require_wgmma() {
  require_capability(9, 0, "wgmma");
  if (!has_wgmma())
    throw NotAvailable(
        "this stage needs a GPU of compute capability 9.0 and a build with gpu_arch 90a");
}

/// Orders the thread's earlier accesses to the registers of the sums before the next products. All
/// threads must call the function before each batch of products.
__device__ void wgmma_begin();

/// Commits the preceding products as one batch.
__device__ void wgmma_commit();

/// Waits until at most the last `pending` batches of the calling warp are incomplete.
template <int pending>
__device__ void wgmma_wait();

/// Computes C += A·Bᵀ over bytes k0 to k0 + 31 of each row, with 64 rows of A and 256 rows of B.
/// All threads of a warpgroup call the function, and may access c again after wgmma_wait().
__device__ void wgmma_s8_m64n256k32(std::int32_t (&c)[128], const std::int8_t* a,
                                    const std::int8_t* b, unsigned k0);

/// Computes C += A·Bᵀ, with 64 rows of A and 256 rows of B, for elements that are results of
/// to_tf32(). The function uses eight elements of each row, which begin at byte ka in A and at byte
/// kb in B. The sums are f32.
__device__ void wgmma_tf32_m64n256k8(float (&c)[128], const float* a, unsigned ka, const float* b,
                                     unsigned kb);

#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
// Code for other GPUs is compiled but never launched.
__device__ inline void wgmma_begin() { __trap(); }
__device__ inline void wgmma_commit() {}
template <int>
__device__ void wgmma_wait() {}
__device__ inline void wgmma_s8_m64n256k32(std::int32_t (&)[128], const std::int8_t*,
                                           const std::int8_t*, unsigned) {}
__device__ inline void wgmma_tf32_m64n256k8(float (&)[128], const float*, unsigned, const float*,
                                            unsigned) {}
#elif defined(STAIRCASE_CUDA_ON_CPU)
__device__ inline void wgmma_begin() {}
__device__ inline void wgmma_commit() {}
template <int>
__device__ void wgmma_wait() {
  __syncwarp();  // the wait applies to all lanes of the warp
}

namespace detail {

/// Computes one thread's elements of the product. On a GPU, the tensor cores read the operands, and
/// not this thread. The analysis therefore ignores the reads of this function. It checks the reads
/// of report_reads() instead.
template <typename T, typename Sum>
__device__ __attribute__((noinline, no_sanitize("thread"))) void multiply(Sum (&c)[128], const T* a,
                                                                          unsigned ka, const T* b,
                                                                          unsigned kb,
                                                                          unsigned thread) {
  const auto chunk = [](const T* matrix, unsigned row, unsigned k) {
    return matrix + swizzled_offset(row, k) / sizeof(T);
  };
  for (unsigned index = 0; index < 128; ++index) {
    const auto [row, column] = position_in_warpgroup(thread, index);
    for (const unsigned k : {0u, 16u}) {
      const T *x = chunk(a, row, ka + k), *y = chunk(b, column, kb + k);
      for (unsigned m = 0; m < 16 / sizeof(T); ++m) c[index] += x[m] * y[m];
    }
  }
}

/// Reads one word of each 16-byte chunk that the warpgroup reads, so that the analysis detects
/// these accesses.
template <typename T>
__device__ void report_reads(const T* a, unsigned ka, const T* b, unsigned kb) {
  const unsigned thread = threadIdx.x % 128, row = thread / 2, k = thread % 2 * 16;
  const auto see = [](const T* matrix, unsigned i, unsigned byte) {
    static_cast<void>(
        *reinterpret_cast<const volatile int*>(matrix + swizzled_offset(i, byte) / sizeof(T)));
  };
  see(a, row, ka + k);
  for (unsigned i = row; i < 256; i += 64) see(b, i, kb + k);
}

}  // namespace detail

__device__ inline void wgmma_s8_m64n256k32(std::int32_t (&c)[128], const std::int8_t* a,
                                           const std::int8_t* b, unsigned k0) {
  detail::report_reads(a, k0, b, k0);
  detail::multiply(c, a, k0, b, k0, threadIdx.x % 128);
}

__device__ inline void wgmma_tf32_m64n256k8(float (&c)[128], const float* a, unsigned ka,
                                            const float* b, unsigned kb) {
  detail::report_reads(a, ka, b, kb);
  detail::multiply(c, a, ka, b, kb, threadIdx.x % 128);
}
#else
__device__ inline void wgmma_begin() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }

__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}

template <int pending>
__device__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(pending) : "memory");
}

/// The matrix descriptor of the instruction: the address, a stride of 1024 bytes between groups of
/// eight rows, and the 128-byte swizzle. Source: PTX ISA, "Matrix descriptor format".
__device__ inline std::uint64_t wgmma_descriptor(const void* matrix) {
  const std::uint64_t address = __cvta_generic_to_shared(matrix);
  return (address & 0x3FFFF) >> 4 | std::uint64_t{1} << 16 | std::uint64_t{1024 >> 4} << 32 |
         std::uint64_t{1} << 62;
}

__device__ inline void wgmma_s8_m64n256k32(std::int32_t (&c)[128], const std::int8_t* a,
                                           const std::int8_t* b, unsigned k0) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
      "%127}, %128, %129, add;\n"
      "}"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]), "+r"(c[6]),
        "+r"(c[7]), "+r"(c[8]), "+r"(c[9]), "+r"(c[10]), "+r"(c[11]), "+r"(c[12]), "+r"(c[13]),
        "+r"(c[14]), "+r"(c[15]), "+r"(c[16]), "+r"(c[17]), "+r"(c[18]), "+r"(c[19]), "+r"(c[20]),
        "+r"(c[21]), "+r"(c[22]), "+r"(c[23]), "+r"(c[24]), "+r"(c[25]), "+r"(c[26]), "+r"(c[27]),
        "+r"(c[28]), "+r"(c[29]), "+r"(c[30]), "+r"(c[31]), "+r"(c[32]), "+r"(c[33]), "+r"(c[34]),
        "+r"(c[35]), "+r"(c[36]), "+r"(c[37]), "+r"(c[38]), "+r"(c[39]), "+r"(c[40]), "+r"(c[41]),
        "+r"(c[42]), "+r"(c[43]), "+r"(c[44]), "+r"(c[45]), "+r"(c[46]), "+r"(c[47]), "+r"(c[48]),
        "+r"(c[49]), "+r"(c[50]), "+r"(c[51]), "+r"(c[52]), "+r"(c[53]), "+r"(c[54]), "+r"(c[55]),
        "+r"(c[56]), "+r"(c[57]), "+r"(c[58]), "+r"(c[59]), "+r"(c[60]), "+r"(c[61]), "+r"(c[62]),
        "+r"(c[63]), "+r"(c[64]), "+r"(c[65]), "+r"(c[66]), "+r"(c[67]), "+r"(c[68]), "+r"(c[69]),
        "+r"(c[70]), "+r"(c[71]), "+r"(c[72]), "+r"(c[73]), "+r"(c[74]), "+r"(c[75]), "+r"(c[76]),
        "+r"(c[77]), "+r"(c[78]), "+r"(c[79]), "+r"(c[80]), "+r"(c[81]), "+r"(c[82]), "+r"(c[83]),
        "+r"(c[84]), "+r"(c[85]), "+r"(c[86]), "+r"(c[87]), "+r"(c[88]), "+r"(c[89]), "+r"(c[90]),
        "+r"(c[91]), "+r"(c[92]), "+r"(c[93]), "+r"(c[94]), "+r"(c[95]), "+r"(c[96]), "+r"(c[97]),
        "+r"(c[98]), "+r"(c[99]), "+r"(c[100]), "+r"(c[101]), "+r"(c[102]), "+r"(c[103]),
        "+r"(c[104]), "+r"(c[105]), "+r"(c[106]), "+r"(c[107]), "+r"(c[108]), "+r"(c[109]),
        "+r"(c[110]), "+r"(c[111]), "+r"(c[112]), "+r"(c[113]), "+r"(c[114]), "+r"(c[115]),
        "+r"(c[116]), "+r"(c[117]), "+r"(c[118]), "+r"(c[119]), "+r"(c[120]), "+r"(c[121]),
        "+r"(c[122]), "+r"(c[123]), "+r"(c[124]), "+r"(c[125]), "+r"(c[126]), "+r"(c[127])
      : "l"(wgmma_descriptor(a + k0)), "l"(wgmma_descriptor(b + k0)));
}

__device__ inline void wgmma_tf32_m64n256k8(float (&c)[128], const float* a, unsigned ka,
                                            const float* b, unsigned kb) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
      "%127}, %128, %129, add, 1, 1;\n"
      "}"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
        "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]),
        "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]),
        "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]),
        "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]),
        "+f"(c[35]), "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]),
        "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]),
        "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]),
        "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]),
        "+f"(c[63]), "+f"(c[64]), "+f"(c[65]), "+f"(c[66]), "+f"(c[67]), "+f"(c[68]), "+f"(c[69]),
        "+f"(c[70]), "+f"(c[71]), "+f"(c[72]), "+f"(c[73]), "+f"(c[74]), "+f"(c[75]), "+f"(c[76]),
        "+f"(c[77]), "+f"(c[78]), "+f"(c[79]), "+f"(c[80]), "+f"(c[81]), "+f"(c[82]), "+f"(c[83]),
        "+f"(c[84]), "+f"(c[85]), "+f"(c[86]), "+f"(c[87]), "+f"(c[88]), "+f"(c[89]), "+f"(c[90]),
        "+f"(c[91]), "+f"(c[92]), "+f"(c[93]), "+f"(c[94]), "+f"(c[95]), "+f"(c[96]), "+f"(c[97]),
        "+f"(c[98]), "+f"(c[99]), "+f"(c[100]), "+f"(c[101]), "+f"(c[102]), "+f"(c[103]),
        "+f"(c[104]), "+f"(c[105]), "+f"(c[106]), "+f"(c[107]), "+f"(c[108]), "+f"(c[109]),
        "+f"(c[110]), "+f"(c[111]), "+f"(c[112]), "+f"(c[113]), "+f"(c[114]), "+f"(c[115]),
        "+f"(c[116]), "+f"(c[117]), "+f"(c[118]), "+f"(c[119]), "+f"(c[120]), "+f"(c[121]),
        "+f"(c[122]), "+f"(c[123]), "+f"(c[124]), "+f"(c[125]), "+f"(c[126]), "+f"(c[127])
      : "l"(wgmma_descriptor(a + ka / 4)), "l"(wgmma_descriptor(b + kb / 4)));
}
#endif

}  // namespace staircase
