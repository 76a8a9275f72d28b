/// \file
/// SIMD functions on the four bytes or the two halves of a 32-bit word.
///
/// The functions are templates, so that they do not increase the compile time of programs that do
/// not use them.

#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "core.hpp"

namespace cuda_on_cpu {
namespace simd {

template <typename Value>
__forceinline__ int part(unsigned word, unsigned i) {
  return static_cast<Value>(word >> 8 * sizeof(Value) * i);
}
template <typename Value>
__forceinline__ int saturated(int x) {
  constexpr int least = (std::numeric_limits<Value>::min)(),
                most = (std::numeric_limits<Value>::max)();
  return x < least ? least : x > most ? most : x;
}
constexpr int distance(int a, int b) { return a < b ? b - a : a - b; }

}  // namespace simd
}  // namespace cuda_on_cpu

// Computes each part of the result by an expression of the corresponding parts `a` and `b` of the
// operands.
#define CUDA_ON_CPU_SIMD(name, Value, parameters, b_of, expression)          \
  template <typename = void>                                                 \
  __forceinline__ unsigned name parameters {                                 \
    using Part = Value;                                                      \
    unsigned result = 0;                                                     \
    for (unsigned i = 0; i < 4 / sizeof(Part); ++i) {                        \
      const int a = cuda_on_cpu::simd::part<Part>(in_a, i);                  \
      [[maybe_unused]] const int b = b_of;                                   \
      const auto bits = static_cast<std::make_unsigned_t<Part>>(expression); \
      result |= static_cast<unsigned>(bits) << 8 * sizeof(Part) * i;         \
    }                                                                        \
    return result;                                                           \
  }
#define CUDA_ON_CPU_SIMD_1(name, Value, expression) \
  CUDA_ON_CPU_SIMD(name, Value, (unsigned in_a), 0, expression)
#define CUDA_ON_CPU_SIMD_2(name, Value, expression)             \
  CUDA_ON_CPU_SIMD(name, Value, (unsigned in_a, unsigned in_b), \
                   cuda_on_cpu::simd::part<Part>(in_b, i), expression)
#define CUDA_ON_CPU_SIMD_COMPARISON(name, Value, sign)       \
  CUDA_ON_CPU_SIMD_2(__vcmp##name, Value, a sign b ? -1 : 0) \
  CUDA_ON_CPU_SIMD_2(__vset##name, Value, a sign b ? 1 : 0)
#define CUDA_ON_CPU_SIMD_SUM(name, Value)                                         \
  template <typename = void>                                                      \
  __forceinline__ unsigned name(unsigned in_a, unsigned in_b) {                   \
    using Part = Value;                                                           \
    int sum = 0;                                                                  \
    for (unsigned i = 0; i < 4 / sizeof(Part); ++i)                               \
      sum += cuda_on_cpu::simd::distance(cuda_on_cpu::simd::part<Part>(in_a, i),  \
                                         cuda_on_cpu::simd::part<Part>(in_b, i)); \
    return static_cast<unsigned>(sum);                                            \
  }
#define CUDA_ON_CPU_SIMD_ALL(n, Signed, Unsigned)                                               \
  CUDA_ON_CPU_SIMD_1(__vabs##n, Signed, a < 0 ? -a : a)                                         \
  CUDA_ON_CPU_SIMD_1(__vabsss##n, Signed, cuda_on_cpu::simd::saturated<Signed>(a < 0 ? -a : a)) \
  CUDA_ON_CPU_SIMD_1(__vneg##n, Signed, -a)                                                     \
  CUDA_ON_CPU_SIMD_1(__vnegss##n, Signed, cuda_on_cpu::simd::saturated<Signed>(-a))             \
  CUDA_ON_CPU_SIMD_2(__vadd##n, Unsigned, a + b)                                                \
  CUDA_ON_CPU_SIMD_2(__vaddss##n, Signed, cuda_on_cpu::simd::saturated<Signed>(a + b))          \
  CUDA_ON_CPU_SIMD_2(__vaddus##n, Unsigned, cuda_on_cpu::simd::saturated<Unsigned>(a + b))      \
  CUDA_ON_CPU_SIMD_2(__vsub##n, Unsigned, a - b)                                                \
  CUDA_ON_CPU_SIMD_2(__vsubss##n, Signed, cuda_on_cpu::simd::saturated<Signed>(a - b))          \
  CUDA_ON_CPU_SIMD_2(__vsubus##n, Unsigned, cuda_on_cpu::simd::saturated<Unsigned>(a - b))      \
  CUDA_ON_CPU_SIMD_2(__vavgs##n, Signed, (a + b + (a + b >= 0)) >> 1)                           \
  CUDA_ON_CPU_SIMD_2(__vavgu##n, Unsigned, (a + b + 1) >> 1)                                    \
  CUDA_ON_CPU_SIMD_2(__vhaddu##n, Unsigned, (a + b) >> 1)                                       \
  CUDA_ON_CPU_SIMD_2(__vmaxs##n, Signed, a < b ? b : a)                                         \
  CUDA_ON_CPU_SIMD_2(__vmaxu##n, Unsigned, a < b ? b : a)                                       \
  CUDA_ON_CPU_SIMD_2(__vmins##n, Signed, b < a ? b : a)                                         \
  CUDA_ON_CPU_SIMD_2(__vminu##n, Unsigned, b < a ? b : a)                                       \
  CUDA_ON_CPU_SIMD_2(__vabsdiffs##n, Signed, cuda_on_cpu::simd::distance(a, b))                 \
  CUDA_ON_CPU_SIMD_2(__vabsdiffu##n, Unsigned, cuda_on_cpu::simd::distance(a, b))               \
  CUDA_ON_CPU_SIMD_SUM(__vsads##n, Signed)                                                      \
  CUDA_ON_CPU_SIMD_SUM(__vsadu##n, Unsigned)                                                    \
  CUDA_ON_CPU_SIMD_COMPARISON(eq##n, Unsigned, ==)                                              \
  CUDA_ON_CPU_SIMD_COMPARISON(ne##n, Unsigned, !=)                                              \
  CUDA_ON_CPU_SIMD_COMPARISON(ges##n, Signed, >=)                                               \
  CUDA_ON_CPU_SIMD_COMPARISON(geu##n, Unsigned, >=)                                             \
  CUDA_ON_CPU_SIMD_COMPARISON(gts##n, Signed, >)                                                \
  CUDA_ON_CPU_SIMD_COMPARISON(gtu##n, Unsigned, >)                                              \
  CUDA_ON_CPU_SIMD_COMPARISON(les##n, Signed, <=)                                               \
  CUDA_ON_CPU_SIMD_COMPARISON(leu##n, Unsigned, <=)                                             \
  CUDA_ON_CPU_SIMD_COMPARISON(lts##n, Signed, <)                                                \
  CUDA_ON_CPU_SIMD_COMPARISON(ltu##n, Unsigned, <)

CUDA_ON_CPU_SIMD_ALL(2, std::int16_t, std::uint16_t)
CUDA_ON_CPU_SIMD_ALL(4, std::int8_t, std::uint8_t)

#undef CUDA_ON_CPU_SIMD_ALL
#undef CUDA_ON_CPU_SIMD_SUM
#undef CUDA_ON_CPU_SIMD_COMPARISON
#undef CUDA_ON_CPU_SIMD_2
#undef CUDA_ON_CPU_SIMD_1
#undef CUDA_ON_CPU_SIMD
