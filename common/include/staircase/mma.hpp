/// \file
/// Products of small matrices by a whole warp: C += A·B, on the tensor cores of a GPU.
///
/// Each function is one PTX instruction `mma.sync.aligned.mMnNkK.row.col`; A is M×K, B is K×N, C is
/// M×N. All 32 lanes call the function together. The elements of a matrix are distributed over the
/// lanes; the elements of one lane are called the lane's *fragment*. A 32-bit or 64-bit register of
/// a fragment contains `packed` elements: 1 for f64 and tf32, 2 for f16 and bf16, and 4 for s8. The
/// first element is in the lowest bits. The PTX ISA, "Matrix multiply-accumulate operation using
/// mma instruction", defines the positions of the elements for each shape. For the shapes in this
/// file, all definitions follow one rule, which position_in_a(), position_in_b() and
/// position_in_c() implement. With `group = lane / 4` and `member = lane % 4`:
///
/// | element e of register r | row | column |
/// |---|---|---|
/// | of A | group + 8 (r mod 2) | packed·member + e + 4·packed·⌊r / 2⌋ |
/// | of B | packed·member + e + 4·packed·r | group |
/// | of C | group + 8 ⌊r / 2⌋ | 2 member + r mod 2 |
///
/// If A has 8 rows, a fragment of A consists of register 0 only. If C has 8 rows, a fragment of C
/// consists of registers 0 and 1.
///
/// | function | A, B | C | registers of A, B, C | needs |
/// |---|---|---|---|---|
/// | mma_f64_m8n8k4 | f64 | f64 | 1, 1, 2 | sm_80 |
/// | mma_f64_m16n8k4 | f64 | f64 | 2, 1, 4 | sm_90 |
/// | mma_f64_m16n8k8 | f64 | f64 | 4, 2, 4 | sm_90 |
/// | mma_f64_m16n8k16 | f64 | f64 | 8, 4, 4 | sm_90 |
/// | mma_s8_m16n8k32 | s8 | s32, wraps around | 4, 2, 4 | sm_80 |
/// | mma_tf32_m16n8k8 | tf32 | f32 | 4, 2, 4 | sm_80 |
/// | mma_bf16_m16n8k16 | bf16 | f32 | 4, 2, 4 | sm_80 |
/// | mma_f16_m16n8k16 | f16 | f32 | 4, 2, 4 | sm_80 |
///
/// Sums in f64 are as accurate as a sequence of fused multiply-adds. Sums in f32 are less accurate
/// than in IEEE arithmetic, and the order of the additions is not specified.

#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#ifdef STAIRCASE_CUDA_ON_CPU
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#endif

namespace staircase {

/// The row and column of an element in its matrix.
struct MatrixPosition {
  int row, column;
};

/// The position in A, B or C of one element of a fragment: element `element` of register `index` of
/// lane `lane`.
constexpr __host__ __device__ MatrixPosition position_in_a(int lane, int index, int element = 0,
                                                           int packed = 1) {
  return {lane / 4 + 8 * (index % 2), packed * (lane % 4) + element + 4 * packed * (index / 2)};
}
constexpr __host__ __device__ MatrixPosition position_in_b(int lane, int index, int element = 0,
                                                           int packed = 1) {
  return {packed * (lane % 4) + element + 4 * packed * index, lane / 4};
}
constexpr __host__ __device__ MatrixPosition position_in_c(int lane, int index) {
  return {lane / 4 + 8 * (index / 2), 2 * (lane % 4) + index % 2};
}

#ifdef STAIRCASE_CUDA_ON_CPU
namespace detail {

/// The element types of operands. Each type defines the number of elements per register, and a
/// function that extracts one element.
struct F64 {
  static constexpr int packed = 1;
  static double read(double bits, int) { return bits; }
};
struct S8 {
  static constexpr int packed = 4;
  static std::int32_t read(std::uint32_t bits, int element) {
    return static_cast<std::int8_t>(bits >> 8 * element);
  }
};
struct Tf32 {
  static constexpr int packed = 1;
  static float read(std::uint32_t bits, int) { return __uint_as_float(bits & ~0x1FFFu); }
};
struct Bf16 {
  static constexpr int packed = 2;
  static float read(std::uint32_t bits, int element) {
    return __bfloat162float(__ushort_as_bfloat16(static_cast<std::uint16_t>(bits >> 16 * element)));
  }
};
struct F16 {
  static constexpr int packed = 2;
  static float read(std::uint32_t bits, int element) {
    return __half2float(__ushort_as_half(static_cast<std::uint16_t>(bits >> 16 * element)));
  }
};

__device__ inline float multiply_add(float a, float b, float c) { return a * b + c; }
__device__ inline std::int32_t multiply_add(std::int32_t a, std::int32_t b, std::int32_t c) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a * b) +
                                   static_cast<std::uint32_t>(c));
}

/// The fragments that a lane passes. The lane's fragment of the result is stored in `c`.
template <typename Sum, typename Register, int in_a, int in_b, int in_c>
struct Fragments {
  Sum c[in_c];
  Register a[in_a];
  Register b[in_b];
};

/// The matrices A and B of a warp, assembled from the fragments of its lanes. Elements of inactive
/// lanes are NaN.
template <typename Type, typename Register, int in_a, int in_b, int rows>
struct Factors {
  static constexpr int packed = Type::packed, depth = 4 * packed * in_b;
  using Element = decltype(Type::read(Register{}, 0));
  Element a[rows][depth];
  Element b[depth][8];

  Factors() {
    std::fill_n(&a[0][0], rows * depth, std::numeric_limits<Element>::quiet_NaN());
    std::fill_n(&b[0][0], depth * 8, std::numeric_limits<Element>::quiet_NaN());
  }
  void take(int lane, const Register (&from_a)[in_a], const Register (&from_b)[in_b]) {
    for (int element = 0; element < packed; ++element) {
      for (int index = 0; index < in_a; ++index) {
        const MatrixPosition place = position_in_a(lane, index, element, packed);
        a[place.row][place.column] = Type::read(from_a[index], element);
      }
      for (int index = 0; index < in_b; ++index) {
        const MatrixPosition place = position_in_b(lane, index, element, packed);
        b[place.row][place.column] = Type::read(from_b[index], element);
      }
    }
  }
};

/// Computes C += A·B for all lanes of a warp.
template <typename Type, typename Sum, typename Register, int in_a, int in_b, int in_c>
__device__ void combine(void* const* records) {
  using Lane = Fragments<Sum, Register, in_a, in_b, in_c>;
  constexpr int rows = 4 * in_c;
  Factors<Type, Register, in_a, in_b, rows> factors;
  for (int lane = 0; lane < 32; ++lane)
    if (const auto* fragments = static_cast<const Lane*>(records[lane]); fragments != nullptr)
      factors.take(lane, fragments->a, fragments->b);
  const auto for_each_sum = [&](auto action) {
    for (int lane = 0; lane < 32; ++lane)
      if (auto* fragments = static_cast<Lane*>(records[lane]); fragments != nullptr)
        for (int index = 0; index < in_c; ++index)
          action(fragments->c[index], position_in_c(lane, index));
  };
  // In f64, add_product() of the CPU device uses fused multiply-adds.
  if constexpr (std::is_same_v<Sum, double>) {
    Sum c[rows][8] = {};
    for_each_sum([&](Sum sum, MatrixPosition place) { c[place.row][place.column] = sum; });
    cuda_on_cpu::add_product(&c[0][0], &factors.a[0][0], &factors.b[0][0], rows, factors.depth);
    for_each_sum([&](Sum& sum, MatrixPosition place) { sum = c[place.row][place.column]; });
  } else {
    for_each_sum([&](Sum& sum, MatrixPosition place) {
      for (int k = 0; k < factors.depth; ++k)
        sum = multiply_add(factors.a[place.row][k], factors.b[k][place.column], sum);
    });
  }
}

/// Each lane of a warp calls the function, which adds the lane's part of the product to `c`.
template <typename Type, typename Sum, typename Register, int in_a, int in_b, int in_c>
__device__ void multiply(Sum (&c)[in_c], const Register (&a)[in_a], const Register (&b)[in_b]) {
  Fragments<Sum, Register, in_a, in_b, in_c> fragments;
  std::copy_n(c, in_c, fragments.c);
  std::copy_n(a, in_a, fragments.a);
  std::copy_n(b, in_b, fragments.b);
  cuda_on_cpu::warp_collective(~0u, &fragments, combine<Type, Sum, Register, in_a, in_b, in_c>);
  std::copy_n(fragments.c, in_c, c);
}

}  // namespace detail
#endif

/// Rounds to tf32, which has 10 fraction bits; ties are rounded away from zero. Returns the bits of
/// the f32 result.
__device__ inline std::uint32_t to_tf32(float value) {
#ifdef STAIRCASE_CUDA_ON_CPU
  if (std::isnan(value)) return 0x7FFFFFFF;
  return (__float_as_uint(value) + 0x1000) & ~0x1FFFu;
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  __trap();  // code for older GPUs is compiled but never launched
  return 0;
#else
  std::uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
#endif
}

__device__ inline void mma_f64_m8n8k4(double (&c)[2], const double (&a)[1], const double (&b)[1]) {
#ifdef STAIRCASE_CUDA_ON_CPU
  detail::multiply<detail::F64>(c, a, b);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  __trap();  // code for older GPUs is compiled but never launched
#else
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(c[0]), "+d"(c[1])
               : "d"(a[0]), "d"(b[0]));
#endif
}

__device__ inline void mma_f64_m16n8k4(double (&c)[4], const double (&a)[2], const double (&b)[1]) {
#ifdef STAIRCASE_CUDA_ON_CPU
  detail::multiply<detail::F64>(c, a, b);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();  // code for older GPUs is compiled but never launched
#else
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(b[0]));
#endif
}

__device__ inline void mma_f64_m16n8k8(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#ifdef STAIRCASE_CUDA_ON_CPU
  detail::multiply<detail::F64>(c, a, b);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();  // code for older GPUs is compiled but never launched
#else
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#endif
}

__device__ inline void mma_f64_m16n8k16(double (&c)[4], const double (&a)[8],
                                        const double (&b)[4]) {
#ifdef STAIRCASE_CUDA_ON_CPU
  detail::multiply<detail::F64>(c, a, b);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __trap();  // code for older GPUs is compiled but never launched
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, "
      "{%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
        "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#endif
}

__device__ inline void mma_s8_m16n8k32(std::int32_t (&c)[4], const std::uint32_t (&a)[4],
                                       const std::uint32_t (&b)[2]) {
#ifdef STAIRCASE_CUDA_ON_CPU
  detail::multiply<detail::S8>(c, a, b);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  __trap();  // code for older GPUs is compiled but never launched
#else
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

/// Computes C += A·B for elements of A and B that are results of to_tf32().
__device__ inline void mma_tf32_m16n8k8(float (&c)[4], const std::uint32_t (&a)[4],
                                        const std::uint32_t (&b)[2]) {
#ifdef STAIRCASE_CUDA_ON_CPU
  detail::multiply<detail::Tf32>(c, a, b);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  __trap();  // code for older GPUs is compiled but never launched
#else
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

__device__ inline void mma_bf16_m16n8k16(float (&c)[4], const std::uint32_t (&a)[4],
                                         const std::uint32_t (&b)[2]) {
#ifdef STAIRCASE_CUDA_ON_CPU
  detail::multiply<detail::Bf16>(c, a, b);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  __trap();  // code for older GPUs is compiled but never launched
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

__device__ inline void mma_f16_m16n8k16(float (&c)[4], const std::uint32_t (&a)[4],
                                        const std::uint32_t (&b)[2]) {
#ifdef STAIRCASE_CUDA_ON_CPU
  detail::multiply<detail::F16>(c, a, b);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  __trap();  // code for older GPUs is compiled but never launched
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

}  // namespace staircase
