/// \file
/// SIMD functions for four bytes or two halves of a word, each compared with a loop over the parts.
/// The tests cover all pairs of bytes, and pairs of halves at the limits.

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

}  // namespace

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
