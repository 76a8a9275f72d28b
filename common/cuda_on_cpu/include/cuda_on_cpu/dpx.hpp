/// \file
/// The functions for dynamic programming (DPX): sums, maxima and minima of words, or of the two
/// halves of words.
///
/// The functions are templates, so that they do not increase the compile time of programs that do
/// not use them.

#pragma once

#include <cstdint>

#include "core.hpp"

namespace cuda_on_cpu {
namespace dpx {

template <typename Part>
__forceinline__ Part larger(Part a, Part b) {
  return a < b ? b : a;
}
template <typename Part>
__forceinline__ Part smaller(Part a, Part b) {
  return b < a ? b : a;
}
/// The sum of two parts, which wraps around.
template <typename Part>
__forceinline__ Part sum(Part a, Part b) {
  return static_cast<Part>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
template <typename Part>
__forceinline__ Part positive(Part a) {
  return larger(a, Part{0});
}
/// Half i of a word; half 0 consists of the low bits.
template <typename Half>
__forceinline__ Half half(unsigned word, int i) {
  return static_cast<Half>(word >> 16 * i);
}
/// A word whose halves are `function` of the corresponding halves of the operands.
template <typename Half, typename Function>
__forceinline__ unsigned each_half(unsigned a, unsigned b, unsigned c, Function function) {
  unsigned result = 0;
  for (int i = 0; i < 2; ++i) {
    const Half part = function(half<Half>(a, i), half<Half>(b, i), half<Half>(c, i));
    result |= static_cast<unsigned>(static_cast<std::uint16_t>(part)) << 16 * i;
  }
  return result;
}

}  // namespace dpx
}  // namespace cuda_on_cpu

// Defines a function of words and a function of their halves. `expression` computes a part of the
// result from the parts `a`, `b` and `c` of the operands.
#define CUDA_ON_CPU_DPX(of_words, of_halves, Word, Half, expression)                             \
  template <typename = void>                                                                     \
  __forceinline__ Word of_words(Word a, Word b, Word c) {                                        \
    using namespace cuda_on_cpu::dpx;                                                            \
    return expression;                                                                           \
  }                                                                                              \
  template <typename = void>                                                                     \
  __forceinline__ unsigned of_halves(unsigned in_a, unsigned in_b, unsigned in_c) {              \
    using namespace cuda_on_cpu::dpx;                                                            \
    return each_half<Half>(in_a, in_b, in_c, [](Half a, Half b, Half c) { return expression; }); \
  }
#define CUDA_ON_CPU_DPX_BOTH(name, expression)                                   \
  CUDA_ON_CPU_DPX(name##_s32, name##_s16x2, int, std::int16_t, expression)       \
  CUDA_ON_CPU_DPX(name##_u32, name##_u16x2, unsigned, std::uint16_t, expression) \
  CUDA_ON_CPU_DPX(name##_s32_relu, name##_s16x2_relu, int, std::int16_t, positive(expression))
// Defines the functions of two operands. `chosen` is `larger` or `smaller`, and each function also
// stores whether its result is the first operand.
#define CUDA_ON_CPU_DPX_PAIR(name, chosen)                                                  \
  template <typename = void>                                                                \
  __forceinline__ int __vi##name##_s32_relu(int a, int b) {                                 \
    return __vi##name##3_s32_relu(a, b, b);                                                 \
  }                                                                                         \
  template <typename = void>                                                                \
  __forceinline__ unsigned __vi##name##_s16x2_relu(unsigned a, unsigned b) {                \
    return __vi##name##3_s16x2_relu(a, b, b);                                               \
  }                                                                                         \
  CUDA_ON_CPU_DPX_CHOICE(__vib##name##_s32, __vib##name##_s16x2, int, std::int16_t, chosen) \
  CUDA_ON_CPU_DPX_CHOICE(__vib##name##_u32, __vib##name##_u16x2, unsigned, std::uint16_t, chosen)
#define CUDA_ON_CPU_DPX_CHOICE(of_words, of_halves, Word, Half, chosen)              \
  template <typename = void>                                                         \
  __forceinline__ Word of_words(Word a, Word b, bool* is_first) {                    \
    *is_first = cuda_on_cpu::dpx::chosen(a, b) == a;                                 \
    return cuda_on_cpu::dpx::chosen(a, b);                                           \
  }                                                                                  \
  template <typename = void>                                                         \
  __forceinline__ unsigned of_halves(unsigned a, unsigned b, bool* is_first_high,    \
                                     bool* is_first_low) {                           \
    using namespace cuda_on_cpu::dpx;                                                \
    const unsigned result =                                                          \
        each_half<Half>(a, b, b, [](Half x, Half y, Half) { return chosen(x, y); }); \
    *is_first_high = half<Half>(result, 1) == half<Half>(a, 1);                      \
    *is_first_low = half<Half>(result, 0) == half<Half>(a, 0);                       \
    return result;                                                                   \
  }

CUDA_ON_CPU_DPX_BOTH(__vimax3, larger(larger(a, b), c))
CUDA_ON_CPU_DPX_BOTH(__vimin3, smaller(smaller(a, b), c))
CUDA_ON_CPU_DPX_BOTH(__viaddmax, larger(sum(a, b), c))
CUDA_ON_CPU_DPX_BOTH(__viaddmin, smaller(sum(a, b), c))
CUDA_ON_CPU_DPX_PAIR(max, larger)
CUDA_ON_CPU_DPX_PAIR(min, smaller)

#undef CUDA_ON_CPU_DPX_CHOICE
#undef CUDA_ON_CPU_DPX_PAIR
#undef CUDA_ON_CPU_DPX_BOTH
#undef CUDA_ON_CPU_DPX
