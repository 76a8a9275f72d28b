/// \file
/// SIMD functions for four bytes or two halves of a word, and functions for dynamic programming,
/// each compared with a loop over the parts. The tests cover all pairs of bytes, and pairs of
/// halves at the limits.

#include <cstdint>
#include <vector>

#include "device.hpp"

namespace {

using tap::Device;
using tap::expect_equal;

/// Applies a function to each part of a word. Each result is truncated to the width of its part.
template <int bits, bool is_signed, typename Function>
__device__ unsigned each(unsigned a, unsigned b, Function function) {
  unsigned result = 0;
  for (int shift = 0; shift < 32; shift += bits) {
    long x = a >> shift & ((1l << bits) - 1), y = b >> shift & ((1l << bits) - 1);
    if (is_signed && x >> (bits - 1) != 0) x -= 1l << bits;
    if (is_signed && y >> (bits - 1) != 0) y -= 1l << bits;
    result |= static_cast<unsigned>(function(x, y) & ((1l << bits) - 1)) << shift;
  }
  return result;
}

template <int bits, bool is_signed>
__device__ long within(long x) {
  const long least = is_signed ? -(1l << (bits - 1)) : 0, most = least + (1l << bits) - 1;
  return x < least ? least : x > most ? most : x;
}

/// The sum of the absolute differences between the parts of two words.
template <int bits, bool is_signed>
__device__ unsigned sum(unsigned a, unsigned b) {
  unsigned total = 0;
  each<bits, is_signed>(a, b, [&](long x, long y) {
    total += static_cast<unsigned>(x < y ? y - x : x - y);
    return 0l;
  });
  return total;
}

// Compares a function of two words with an expression of `signed` or `unsigned` parts.
#define SAME_1(name, is_signed, expression) \
  wrong += name(a) != each<bits, is_signed>(a, b, [](long x, long) -> long { return expression; });
#define SAME_2(name, is_signed, expression) \
  wrong += name(a, b) !=                    \
           each<bits, is_signed>(a, b, [](long x, long y) -> long { return expression; });
#define COMPARED(n, name, is_signed, sign)        \
  SAME_2(__vcmp##name##n, is_signed, -(x sign y)) \
  SAME_2(__vset##name##n, is_signed, (x sign y))
#define ALL(n)                                                            \
  template <int bits>                                                     \
  __device__ int wrong_of_##n(unsigned a, unsigned b) {                   \
    int wrong = 0;                                                        \
    SAME_1(__vabs##n, true, x < 0 ? -x : x)                               \
    SAME_1(__vabsss##n, true, (within<bits, true>(x < 0 ? -x : x)))       \
    SAME_1(__vneg##n, true, -x)                                           \
    SAME_1(__vnegss##n, true, (within<bits, true>(-x)))                   \
    SAME_2(__vadd##n, false, x + y)                                       \
    SAME_2(__vaddss##n, true, (within<bits, true>(x + y)))                \
    SAME_2(__vaddus##n, false, (within<bits, false>(x + y)))              \
    SAME_2(__vsub##n, false, x - y)                                       \
    SAME_2(__vsubss##n, true, (within<bits, true>(x - y)))                \
    SAME_2(__vsubus##n, false, (within<bits, false>(x - y)))              \
    SAME_2(__vavgs##n, true, x + y < 0 ? (x + y) >> 1 : (x + y + 1) >> 1) \
    SAME_2(__vavgu##n, false, (x + y + 1) / 2)                            \
    SAME_2(__vhaddu##n, false, (x + y) / 2)                               \
    SAME_2(__vmaxs##n, true, x < y ? y : x)                               \
    SAME_2(__vmaxu##n, false, x < y ? y : x)                              \
    SAME_2(__vmins##n, true, x < y ? x : y)                               \
    SAME_2(__vminu##n, false, x < y ? x : y)                              \
    SAME_2(__vabsdiffs##n, true, x < y ? y - x : x - y)                   \
    SAME_2(__vabsdiffu##n, false, x < y ? y - x : x - y)                  \
    COMPARED(n, eq, false, ==)                                            \
    COMPARED(n, ne, false, !=)                                            \
    COMPARED(n, ges, true, >=)                                            \
    COMPARED(n, geu, false, >=)                                           \
    COMPARED(n, gts, true, >)                                             \
    COMPARED(n, gtu, false, >)                                            \
    COMPARED(n, les, true, <=)                                            \
    COMPARED(n, leu, false, <=)                                           \
    COMPARED(n, lts, true, <)                                             \
    COMPARED(n, ltu, false, <)                                            \
    wrong += __vsads##n(a, b) != sum<bits, true>(a, b);                   \
    wrong += __vsadu##n(a, b) != sum<bits, false>(a, b);                  \
    return wrong;                                                         \
  }
ALL(2)
ALL(4)

/// Each thread compares four pairs of bytes.
__global__ void compare_bytes(int* wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = i / 64, b = i % 64;
  // Each part has a different pair, so that an error between adjacent parts is detected.
  const unsigned others = (b + 64) << 8 | (b + 128) << 16 | (b + 192) << 24;
  if (const int found = wrong_of_4<8>(a * 0x01010101u, b | others); found != 0)
    atomicAdd(wrong, found);
}

__global__ void compare_halves(const unsigned* edges, int count, int* wrong) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count * count) return;
  const unsigned a = edges[i / count], b = edges[i % count];
  if (const int found = wrong_of_2<16>(a | b << 16, b | a << 16); found != 0)
    atomicAdd(wrong, found);
}

TEST(bytes) {
  const Device<int> wrong(std::vector<int>{0});
  compare_bytes<<<64, 256>>>(wrong.get());
  expect_equal(wrong.to_host(), std::vector<int>{0});
}

TEST(halves) {
  std::vector<unsigned> edges;
  for (const unsigned center : {0u, 0x100u, 0x4000u, 0x7fffu, 0x8000u, 0xc000u, 0xff00u})
    for (const unsigned by : {0xfffeu, 0xffffu, 0u, 1u, 2u})
      edges.push_back((center + by) & 0xffff);
  const auto count = static_cast<int>(edges.size());
  const Device<unsigned> in(edges);
  const Device<int> wrong(std::vector<int>{0});
  compare_halves<<<(count * count + 255) / 256, 256>>>(in.get(), count, wrong.get());
  expect_equal(wrong.to_host(), std::vector<int>{0});
}

// --- Functions for dynamic programming

/// The parts of words: two halves, or the word itself.
template <int bits, bool is_signed, typename Function>
__device__ unsigned each_of_three(unsigned a, unsigned b, unsigned c, Function function) {
  unsigned result = 0;
  for (int shift = 0; shift < 32; shift += bits) {
    const auto part = [&](unsigned word) {
      const long x = word >> shift & ((1l << bits) - 1);
      return is_signed && x >> (bits - 1) != 0 ? x - (1l << bits) : x;
    };
    const long value = function(part(a), part(b), part(c)) & ((1l << bits) - 1);
    result |= static_cast<unsigned>(value) << shift;
  }
  return result;
}
/// The sum of two parts, which wraps around.
template <int bits, bool is_signed>
__device__ long wrapped(long x) {
  x &= (1l << bits) - 1;
  return is_signed && x >> (bits - 1) != 0 ? x - (1l << bits) : x;
}

#define SAME_3(name, bits, is_signed, expression)  \
  wrong += static_cast<unsigned>(name(a, b, c)) != \
           each_of_three<bits, is_signed>(         \
               a, b, c, [](long x, long y, long z) -> long { return expression; });
#define SAME_OF(name, expression)                                              \
  SAME_3(name##_s32, 32, true, (expression<32, true>(x, y, z)))                \
  SAME_3(name##_u32, 32, false, (expression<32, false>(x, y, z)))              \
  SAME_3(name##_s16x2, 16, true, (expression<16, true>(x, y, z)))              \
  SAME_3(name##_u16x2, 16, false, (expression<16, false>(x, y, z)))            \
  SAME_3(name##_s32_relu, 32, true, (positive(expression<32, true>(x, y, z)))) \
  SAME_3(name##_s16x2_relu, 16, true, (positive(expression<16, true>(x, y, z))))
#define SAME_CHOICE(name, Word, is_signed, sign)                                           \
  {                                                                                        \
    bool high, low, of_word;                                                               \
    wrong += static_cast<unsigned>(name##32(a, b, &of_word)) !=                            \
             each_of_three<32, is_signed>(                                                 \
                 a, b, c, [](long x, long y, long) -> long { return x sign y ? x : y; });  \
    wrong += name##16x2(a, b, &high, &low) !=                                              \
             each_of_three<16, is_signed>(                                                 \
                 a, b, c, [](long x, long y, long) -> long { return x sign y ? x : y; });  \
    const unsigned found = high << 16 | low;                                               \
    wrong += found != each_of_three<16, is_signed>(                                        \
                          a, b, c, [](long x, long y, long) -> long { return x sign y; }); \
    wrong += of_word != (static_cast<Word>(a) sign static_cast<Word>(b));                  \
  }

__device__ long positive(long x) { return x < 0 ? 0 : x; }
__device__ long larger(long x, long y) { return x < y ? y : x; }
__device__ long smaller(long x, long y) { return x < y ? x : y; }
template <int, bool>
__device__ long largest(long x, long y, long z) {
  return larger(larger(x, y), z);
}
template <int, bool>
__device__ long smallest(long x, long y, long z) {
  return smaller(smaller(x, y), z);
}
template <int bits, bool is_signed>
__device__ long larger_sum(long x, long y, long z) {
  return larger(wrapped<bits, is_signed>(x + y), z);
}
template <int bits, bool is_signed>
__device__ long smaller_sum(long x, long y, long z) {
  return smaller(wrapped<bits, is_signed>(x + y), z);
}

/// Each thread compares all functions for two words and several third words.
__global__ void compare_dynamic(const unsigned* words, int count, int* all_wrong) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count * count) return;
  const unsigned a = words[i / count], b = words[i % count];
  int wrong = 0;
  for (int k = 0; k < count; ++k) {
    const unsigned c = words[k];
    SAME_OF(__vimax3, largest)
    SAME_OF(__vimin3, smallest)
    SAME_OF(__viaddmax, larger_sum)
    SAME_OF(__viaddmin, smaller_sum)
    wrong += __vimax_s32_relu(a, b) != __vimax3_s32_relu(a, b, a);
    wrong += __vimin_s32_relu(a, b) != __vimin3_s32_relu(a, b, a);
    wrong += __vimax_s16x2_relu(a, b) != __vimax3_s16x2_relu(a, b, a);
    wrong += __vimin_s16x2_relu(a, b) != __vimin3_s16x2_relu(a, b, a);
    SAME_CHOICE(__vibmax_s, int, true, >=)
    SAME_CHOICE(__vibmax_u, unsigned, false, >=)
    SAME_CHOICE(__vibmin_s, int, true, <=)
    SAME_CHOICE(__vibmin_u, unsigned, false, <=)
  }
  if (wrong != 0) atomicAdd(all_wrong, wrong);
}

TEST(functions_for_dynamic_programming) {
  const std::vector<unsigned> words{0,          1,           0xffff,     0x10000,    0x7fff,
                                    0x8000,     0x7fff8000u, 0x80007fff, 0x7fffffff, 0x80000000,
                                    0xffffffff, 0xfffe0002u, 0x12345678, 0xfedcba98};
  const auto count = static_cast<int>(words.size());
  const Device<unsigned> in(words);
  const Device<int> wrong(std::vector<int>{0});
  compare_dynamic<<<(count * count + 63) / 64, 64>>>(in.get(), count, wrong.get());
  expect_equal(wrong.to_host(), std::vector<int>{0});
}

}  // namespace

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
