/// \file
/// Four bytes, or two halves, of a word at once.
///
/// They are templates so that a program that has none of them pays nothing.

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core.hpp"

namespace cuda_on_cpu {
namespace simd {

template <typename T>
__forceinline__ int part(unsigned word, unsigned i) {
  return static_cast<T>(word >> 8 * sizeof(T) * i);
}
template <typename T>
__forceinline__ int saturated(int x) {
  return std::clamp<int>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}
constexpr int distance(int a, int b) { return a < b ? b - a : a - b; }

}  // namespace simd
}  // namespace cuda_on_cpu

// Each part of the result by an expression of those of the arguments, `a` and `b`.
#define CUDA_ON_CPU_SIMD(name, T, parameters, b_of, expression)              \
  template <typename = void>                                                 \
  __forceinline__ unsigned name parameters {                                 \
    using Part = T;                                                          \
    unsigned result = 0;                                                     \
    for (unsigned i = 0; i < 4 / sizeof(Part); ++i) {                        \
      const int a = cuda_on_cpu::simd::part<Part>(in_a, i);                  \
      [[maybe_unused]] const int b = b_of;                                   \
      const auto bits = static_cast<std::make_unsigned_t<Part>>(expression); \
      result |= static_cast<unsigned>(bits) << 8 * sizeof(Part) * i;         \
    }                                                                        \
    return result;                                                           \
  }
#define CUDA_ON_CPU_SIMD_1(name, T, expression) \
  CUDA_ON_CPU_SIMD(name, T, (unsigned in_a), 0, expression)
#define CUDA_ON_CPU_SIMD_2(name, T, expression)             \
  CUDA_ON_CPU_SIMD(name, T, (unsigned in_a, unsigned in_b), \
                   cuda_on_cpu::simd::part<Part>(in_b, i), expression)
#define CUDA_ON_CPU_SIMD_COMPARISON(name, T, sign)       \
  CUDA_ON_CPU_SIMD_2(__vcmp##name, T, a sign b ? -1 : 0) \
  CUDA_ON_CPU_SIMD_2(__vset##name, T, a sign b ? 1 : 0)
#define CUDA_ON_CPU_SIMD_SUM(name, T)                                             \
  template <typename = void>                                                      \
  __forceinline__ unsigned name(unsigned in_a, unsigned in_b) {                   \
    using Part = T;                                                               \
    int sum = 0;                                                                  \
    for (unsigned i = 0; i < 4 / sizeof(Part); ++i)                               \
      sum += cuda_on_cpu::simd::distance(cuda_on_cpu::simd::part<Part>(in_a, i),  \
                                         cuda_on_cpu::simd::part<Part>(in_b, i)); \
    return static_cast<unsigned>(sum);                                            \
  }
#define CUDA_ON_CPU_SIMD_ALL(n, S, U)                                                 \
  CUDA_ON_CPU_SIMD_1(__vabs##n, S, a < 0 ? -a : a)                                    \
  CUDA_ON_CPU_SIMD_1(__vabsss##n, S, cuda_on_cpu::simd::saturated<S>(a < 0 ? -a : a)) \
  CUDA_ON_CPU_SIMD_1(__vneg##n, S, -a)                                                \
  CUDA_ON_CPU_SIMD_1(__vnegss##n, S, cuda_on_cpu::simd::saturated<S>(-a))             \
  CUDA_ON_CPU_SIMD_2(__vadd##n, U, a + b)                                             \
  CUDA_ON_CPU_SIMD_2(__vaddss##n, S, cuda_on_cpu::simd::saturated<S>(a + b))          \
  CUDA_ON_CPU_SIMD_2(__vaddus##n, U, cuda_on_cpu::simd::saturated<U>(a + b))          \
  CUDA_ON_CPU_SIMD_2(__vsub##n, U, a - b)                                             \
  CUDA_ON_CPU_SIMD_2(__vsubss##n, S, cuda_on_cpu::simd::saturated<S>(a - b))          \
  CUDA_ON_CPU_SIMD_2(__vsubus##n, U, cuda_on_cpu::simd::saturated<U>(a - b))          \
  CUDA_ON_CPU_SIMD_2(__vavgs##n, S, (a + b + (a + b >= 0)) >> 1)                      \
  CUDA_ON_CPU_SIMD_2(__vavgu##n, U, (a + b + 1) >> 1)                                 \
  CUDA_ON_CPU_SIMD_2(__vhaddu##n, U, (a + b) >> 1)                                    \
  CUDA_ON_CPU_SIMD_2(__vmaxs##n, S, a < b ? b : a)                                    \
  CUDA_ON_CPU_SIMD_2(__vmaxu##n, U, a < b ? b : a)                                    \
  CUDA_ON_CPU_SIMD_2(__vmins##n, S, b < a ? b : a)                                    \
  CUDA_ON_CPU_SIMD_2(__vminu##n, U, b < a ? b : a)                                    \
  CUDA_ON_CPU_SIMD_2(__vabsdiffs##n, S, cuda_on_cpu::simd::distance(a, b))            \
  CUDA_ON_CPU_SIMD_2(__vabsdiffu##n, U, cuda_on_cpu::simd::distance(a, b))            \
  CUDA_ON_CPU_SIMD_SUM(__vsads##n, S)                                                 \
  CUDA_ON_CPU_SIMD_SUM(__vsadu##n, U)                                                 \
  CUDA_ON_CPU_SIMD_COMPARISON(eq##n, U, ==)                                           \
  CUDA_ON_CPU_SIMD_COMPARISON(ne##n, U, !=)                                           \
  CUDA_ON_CPU_SIMD_COMPARISON(ges##n, S, >=)                                          \
  CUDA_ON_CPU_SIMD_COMPARISON(geu##n, U, >=)                                          \
  CUDA_ON_CPU_SIMD_COMPARISON(gts##n, S, >)                                           \
  CUDA_ON_CPU_SIMD_COMPARISON(gtu##n, U, >)                                           \
  CUDA_ON_CPU_SIMD_COMPARISON(les##n, S, <=)                                          \
  CUDA_ON_CPU_SIMD_COMPARISON(leu##n, U, <=)                                          \
  CUDA_ON_CPU_SIMD_COMPARISON(lts##n, S, <)                                           \
  CUDA_ON_CPU_SIMD_COMPARISON(ltu##n, U, <)

CUDA_ON_CPU_SIMD_ALL(2, std::int16_t, std::uint16_t)
CUDA_ON_CPU_SIMD_ALL(4, std::int8_t, std::uint8_t)

#undef CUDA_ON_CPU_SIMD_ALL
#undef CUDA_ON_CPU_SIMD_SUM
#undef CUDA_ON_CPU_SIMD_COMPARISON
#undef CUDA_ON_CPU_SIMD_2
#undef CUDA_ON_CPU_SIMD_1
#undef CUDA_ON_CPU_SIMD
