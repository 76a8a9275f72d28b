/// \file
/// Floating-point types of 8, 6 and 4 bits with their conversions, for single values, pairs and
/// groups of four.

#pragma once

#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#include "number_formats.hpp"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

enum cudaRoundMode {
  cudaRoundNearest = 0,
  cudaRoundZero = 1,
  cudaRoundPosInf = 2,
  cudaRoundMinInf = 3
};

namespace cuda_on_cpu {

/// Packs two elements, the first in the lowest bits.
template <typename Storage2>
Storage2 pair_of(unsigned first, unsigned second) {
  return static_cast<Storage2>(first | second << 4 * sizeof(Storage2));
}
template <typename Format>
HalfRaw<Format> raw_of(float number) {
  return std::isnan(number) ? canonical_nan<Format>() : Half<Format>(number);
}
template <typename Format>
float float_of(HalfRaw<Format> raw) {
  return Half<Format>(raw);
}

/// The encoding that constructors use. A value is rounded to nearest or, for E8M0, to the next
/// larger power of two.
template <typename Format>
unsigned small_bits(double number) {
  return Format::bits(number, true);
}
template <>
inline unsigned small_bits<E8M0>(double number) {
  return E8M0::bits(number, true, true);
}

/// Converts to an arithmetic type; for integers, the value is truncated.
template <typename Number>
Number number_of(float value) {
  if constexpr (std::is_same_v<Number, bool>)
    return value != 0;  // also true for NaN
  else if constexpr (std::is_integral_v<Number>)
    return integer_of<Number>(value, FE_TOWARDZERO);
  else
    return static_cast<Number>(value);
}

}  // namespace cuda_on_cpu

// The types `nameN_format` of N elements each; `element_bits` is the number of bits per element.
#define CUDA_ON_CPU_SMALL_FLOAT(name, format, Format, element_bits, Storage, Storage2, Storage4)   \
  struct name##_##format {                                                                         \
    Storage __x;                                                                                   \
    name##_##format() = default;                                                                   \
    template <typename Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>            \
    explicit name##_##format(Number number)                                                        \
        : __x(static_cast<Storage>(                                                                \
              cuda_on_cpu::small_bits<cuda_on_cpu::Format>(static_cast<double>(number)))) {}       \
    explicit name##_##format(__half number) : name##_##format(float(number)) {}                    \
    explicit name##_##format(__nv_bfloat16 number) : name##_##format(float(number)) {}             \
    template <typename Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>            \
    explicit operator Number() const {                                                             \
      return cuda_on_cpu::number_of<Number>(cuda_on_cpu::Format::number(__x));                     \
    }                                                                                              \
    explicit operator __half() const { return cuda_on_cpu::Format::number(__x); }                  \
    explicit operator __nv_bfloat16() const { return cuda_on_cpu::Format::number(__x); }           \
  };                                                                                               \
  struct name##x2_##format {                                                                       \
    Storage2 __x;                                                                                  \
    name##x2_##format() = default;                                                                 \
    explicit name##x2_##format(double2 pair)                                                       \
        : __x(cuda_on_cpu::pair_of<Storage2>(name##_##format(pair.x).__x,                          \
                                             name##_##format(pair.y).__x)) {}                      \
    explicit name##x2_##format(float2 pair) : name##x2_##format(double2{pair.x, pair.y}) {}        \
    explicit name##x2_##format(__half2 pair) : name##x2_##format(double2{pair.x, pair.y}) {}       \
    explicit name##x2_##format(__nv_bfloat162 pair)                                                \
        : name##x2_##format(double2{pair.x, pair.y}) {}                                            \
    explicit operator float2() const {                                                             \
      return {cuda_on_cpu::Format::number(__x), cuda_on_cpu::Format::number(__x >> element_bits)}; \
    }                                                                                              \
    explicit operator __half2() const {                                                            \
      const auto pair = static_cast<float2>(*this);                                                \
      return {pair.x, pair.y};                                                                     \
    }                                                                                              \
    explicit operator __nv_bfloat162() const {                                                     \
      const auto pair = static_cast<float2>(*this);                                                \
      return {pair.x, pair.y};                                                                     \
    }                                                                                              \
  };                                                                                               \
  struct name##x4_##format {                                                                       \
    Storage4 __x;                                                                                  \
    name##x4_##format() = default;                                                                 \
    explicit name##x4_##format(double4 all)                                                        \
        : __x(cuda_on_cpu::pair_of<Storage4>(name##x2_##format(double2{all.x, all.y}).__x,         \
                                             name##x2_##format(double2{all.z, all.w}).__x)) {}     \
    explicit name##x4_##format(double4_16a all)                                                    \
        : name##x4_##format(double4{all.x, all.y, all.z, all.w}) {}                                \
    explicit name##x4_##format(double4_32a all)                                                    \
        : name##x4_##format(double4{all.x, all.y, all.z, all.w}) {}                                \
    explicit name##x4_##format(float4 all)                                                         \
        : name##x4_##format(double4{all.x, all.y, all.z, all.w}) {}                                \
    name##x4_##format(__half2 low, __half2 high)                                                   \
        : name##x4_##format(double4{low.x, low.y, high.x, high.y}) {}                              \
    name##x4_##format(__nv_bfloat162 low, __nv_bfloat162 high)                                     \
        : name##x4_##format(double4{low.x, low.y, high.x, high.y}) {}                              \
    explicit operator float4() const {                                                             \
      name##x2_##format low, high;                                                                 \
      low.__x = static_cast<Storage2>(__x);                                                        \
      high.__x = static_cast<Storage2>(__x >> 2 * element_bits);                                   \
      const auto first = static_cast<float2>(low), second = static_cast<float2>(high);             \
      return {first.x, first.y, second.x, second.y};                                               \
    }                                                                                              \
  };

// The functions `__nv_cvt_SOURCE_to_FAMILY` and `..._to_FAMILYx2` for each source type. Each family
// defines two macros: CUDA_ON_CPU_SMALL_PARAMETERS contains the parameters after the value, and
// CUDA_ON_CPU_SMALL_BITS(number) computes the encoding according to these parameters.
#define CUDA_ON_CPU_SMALL_FROM(family, Storage, Storage2, source, Value, pair_source, Pair, value, \
                               first, second)                                                      \
  inline Storage __nv_cvt_##source##_to_##family(Value x, CUDA_ON_CPU_SMALL_PARAMETERS) {          \
    return static_cast<Storage>(CUDA_ON_CPU_SMALL_BITS(value));                                    \
  }                                                                                                \
  inline Storage2 __nv_cvt_##pair_source##_to_##family##x2(Pair x, CUDA_ON_CPU_SMALL_PARAMETERS) { \
    return cuda_on_cpu::pair_of<Storage2>(CUDA_ON_CPU_SMALL_BITS(first),                           \
                                          CUDA_ON_CPU_SMALL_BITS(second));                         \
  }
#define CUDA_ON_CPU_SMALL_FROM_FLOATS(family, Storage, Storage2)                                   \
  CUDA_ON_CPU_SMALL_FROM(family, Storage, Storage2, double, double, double2, double2, x, x.x, x.y) \
  CUDA_ON_CPU_SMALL_FROM(family, Storage, Storage2, float, float, float2, float2, x, x.x, x.y)
#define CUDA_ON_CPU_SMALL_FROM_ALL(family, Storage, Storage2)                                     \
  CUDA_ON_CPU_SMALL_FROM_FLOATS(family, Storage, Storage2)                                        \
  CUDA_ON_CPU_SMALL_FROM(family, Storage, Storage2, halfraw, __half_raw, halfraw2, __half2_raw,   \
                         cuda_on_cpu::float_of(x), cuda_on_cpu::float_of(__half_raw{x.x}),        \
                         cuda_on_cpu::float_of(__half_raw{x.y}))                                  \
  CUDA_ON_CPU_SMALL_FROM(family, Storage, Storage2, bfloat16raw, __nv_bfloat16_raw, bfloat16raw2, \
                         __nv_bfloat162_raw, cuda_on_cpu::float_of(x),                            \
                         cuda_on_cpu::float_of(__nv_bfloat16_raw{x.x}),                           \
                         cuda_on_cpu::float_of(__nv_bfloat16_raw{x.y}))
