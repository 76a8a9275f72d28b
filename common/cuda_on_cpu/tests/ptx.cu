/// \file
/// Inline PTX: the most common instructions, and their edge cases.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect_equal;

/// Calls a function of the thread index in one warp.
template <typename T, typename Function>
__global__ void call(T* out, Function function) {
  out[threadIdx.x] = function(static_cast<unsigned>(threadIdx.x));
}

template <typename T, typename Function>
std::vector<T> called(Function function) {
  const Device<T> out(32);
  call<<<1, 32>>>(out.get(), function);
  return out.to_host();
}

#define WARP_FUNCTION(name, T, ...)                                        \
  struct name {                                                            \
    __device__ T operator()([[maybe_unused]] unsigned t) const __VA_ARGS__ \
  }

template <typename T, typename Expected>
void expect_values(const std::vector<T>& found, Expected expected) {
  expect_equal(found, tap::table<T>(32, expected));
}

WARP_FUNCTION(LaneNumber, unsigned, {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
});
WARP_FUNCTION(LanesBelow, unsigned, {
  unsigned lanes;
  asm volatile("mov.u32 %0, %lanemask_lt;" : "=r"(lanes));
  return lanes;
});
WARP_FUNCTION(ThreadAndBlock, unsigned, {
  unsigned x, n;
  asm("mov.u32 %0, %%tid.x;" : "=r"(x));
  asm("mov.u32 %0, %%ntid.x;" : "=r"(n));
  return 100 * n + x;
});

TEST(registers_of_its_own) {
  expect_values(called<unsigned>(LaneNumber()), [](unsigned t) { return t; });
  expect_values(called<unsigned>(LanesBelow()), [](unsigned t) { return (1u << t) - 1; });
  expect_values(called<unsigned>(ThreadAndBlock()), [](unsigned t) { return 3200 + t; });
}

WARP_FUNCTION(TimeOfDevices, unsigned long long, {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
});

TEST(all_devices_tell_one_time) {
  // Both clocks count nanoseconds since 1970. A GPU's clock may be wrong by more than a second.
  constexpr double nanoseconds = 1e9, tolerance = 3600;
  const double now = static_cast<double>(std::time(nullptr));
  for (const auto then : called<unsigned long long>(TimeOfDevices()))
    tap::expect_near(static_cast<double>(then) / nanoseconds, now, tolerance);
}

WARP_FUNCTION(ShiftLeft, unsigned, {
  unsigned result;
  asm("shl.b32 %0, %1, %2;" : "=r"(result) : "r"(3u), "r"(t + 8));
  return result;
});
WARP_FUNCTION(ShiftRightSigned, int, {
  int result;
  asm("shr.s32 %0, %1, %2;" : "=r"(result) : "r"(-1000), "r"(2 * t));
  return result;
});
WARP_FUNCTION(Extract, int, {
  int result;
  asm("bfe.s32 %0, %1, %2, 4;" : "=r"(result) : "r"(0x12345678), "r"(t));
  return result;
});
WARP_FUNCTION(Insert, unsigned, {
  unsigned result;
  asm("bfi.b32 %0, %1, %2, %3, 8;" : "=r"(result) : "r"(0xabu), "r"(0x11111111u), "r"(t));
  return result;
});
WARP_FUNCTION(Majority, unsigned, {
  unsigned result;
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(result) : "r"(t), "r"(21u), "r"(11u));
  return result;
});

TEST(bits) {
  expect_values(called<unsigned>(ShiftLeft()), [](unsigned t) {
    return t + 8 < 32 ? 3u << (t + 8) : 0u;  // a GPU shifts all bits out
  });
  expect_values(called<int>(ShiftRightSigned()),
                [](unsigned t) { return 2 * t < 32 ? -1000 >> 2 * t : -1; });
  expect_values(called<int>(Extract()), [](unsigned t) {
    const int digit = 0x12345678 >> t;  // the sign comes from the highest existing bit
    return t <= 28 ? static_cast<int>(static_cast<unsigned>(digit) << 28) >> 28 : 0;
  });
  expect_values(called<unsigned>(Insert()), [](unsigned t) {
    const std::uint64_t mask = std::uint64_t{0xff} << t;
    return static_cast<unsigned>((0x11111111u & ~mask) | (std::uint64_t{0xab} << t));
  });
  expect_values(called<unsigned>(Majority()),
                [](unsigned t) { return (t & 21) | (t & 11) | (21u & 11); });
}

WARP_FUNCTION(MultiplyAdd, std::uint64_t, {
  std::uint64_t result;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(result) : "r"(0xffffffffu), "r"(t), "l"(5ull));
  return result;
});
WARP_FUNCTION(High, unsigned, {
  unsigned result;
  asm("{mul.hi.u32 %0, %1, %2;}" : "=r"(result) : "r"(0xf0000000u), "r"(t));
  return result;
});
WARP_FUNCTION(Fused, float, {
  float result;
  asm("fma.rn.f32 %0, %1, %2, 0f3F800000;" : "=f"(result) : "f"(0.5f), "f"(float(t)));
  return result;
});
WARP_FUNCTION(Twice, unsigned, {
  unsigned result;
  asm("add.u32 %0, %1, %1;\n\t"
      "add.u32 %0, %0, 1;"
      : "=&r"(result)
      : "r"(t));
  return result;
});

TEST(numbers) {
  expect_values(called<std::uint64_t>(MultiplyAdd()),
                [](unsigned t) { return std::uint64_t{0xffffffff} * t + 5; });
  expect_values(called<unsigned>(High()), [](unsigned t) {
    return static_cast<unsigned>(std::uint64_t{0xf0000000} * t >> 32);
  });
  expect_values(called<float>(Fused()), [](unsigned t) { return 0.5f * t + 1; });
  expect_values(called<unsigned>(Twice()), [](unsigned t) { return 2 * t + 1; });
}

__global__ void move(const float* in, float* out, unsigned* count) {
  __shared__ alignas(16) float tile[128];
  const unsigned t = threadIdx.x;
  float a, b, c, d;
  asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
               : "l"(in + 4 * t));
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(tile + 4 * t));
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(place), "f"(d), "f"(c), "f"(b),
               "f"(a)
               : "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  const auto other = static_cast<unsigned>(__cvta_generic_to_shared(tile + 4 * (31 - t)));
  asm volatile("ld.shared.f32 %0, [%1 + 8];" : "=f"(a) : "r"(other) : "memory");
  asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(out + t), "f"(a) : "memory");
  unsigned before;
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(count), "r"(t) : "memory");
  asm volatile("red.global.max.u32 [%0], %1;" ::"l"(count + 1), "r"(before / before) : "memory");
  asm volatile("prefetch.global.L2 [%0];" ::"l"(in));
  asm volatile("membar.gl;" ::: "memory");
}

TEST(memory) {
  const Device<float> in(tap::table<float>(128, [](int i) { return i; })), out(32);
  const Device<unsigned> count(std::vector<unsigned>{1, 0});
  move<<<1, 32>>>(in.get(), out.get(), count.get());
  // The second element is 8 bytes after the beginning of four reversed elements.
  expect_values(out.to_host(), [](int t) { return 4 * (31 - t) + 1; });
  expect_equal(count.to_host(), {31u * 32 / 2 + 1, 1u});
}

__global__ void copy(const int* in, int* out) {
  __shared__ alignas(16) int tile[128];
  const unsigned t = threadIdx.x;
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(tile + 4 * t));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(in + 4 * t)
               : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[t] = tile[127 - t];
}

TEST(asynchronous_copies) {
  const Device<int> in(tap::table<int>(128, [](int i) { return i; })), out(32);
  copy<<<1, 32>>>(in.get(), out.get());
  expect_values(out.to_host(), [](int t) { return 127 - t; });
}

WARP_FUNCTION(SumIfOdd, unsigned, {
  unsigned x = t;
  asm("{\n  .reg .pred p;\n  .reg .b32 bit;\n  and.b32 bit, %0, 1;\n  setp.ne.u32 p, bit, 0;\n"
      "  @p add.u32 %0, %0, 100;\n  @!p mov.u32 %0, 7;\n}"
      : "+r"(x));
  return x;
});
WARP_FUNCTION(Smaller, int, {
  int x;
  asm("{ .reg .pred p, q; setp.lt.s32 p, %1, 20; not.pred q, p; selp.b32 %0, -1, %1, q; }"
      : "=r"(x)
      : "r"(static_cast<int>(t)));
  return x;
});
WARP_FUNCTION(Halves, std::uint64_t, {
  std::uint64_t x;
  asm("{ .reg .b32 h<2>; mov.b64 {h0, h1}, %1; mov.b64 %0, {h1, h0}; }"
      : "=l"(x)
      : "l"(std::uint64_t{t} << 32 | 5));
  return x;
});
WARP_FUNCTION(LowByte, unsigned, {
  unsigned x;
  asm("{ .reg .u16 byte; cvt.u16.u8 byte, %1; cvt.u32.u16 %0, byte; }" : "=r"(x) : "r"(t * 300));
  return x;
});

TEST(predicates_and_registers_of_their_own) {
  expect_values(called<unsigned>(SumIfOdd()), [](unsigned t) { return t % 2 ? t + 100 : 7; });
  expect_values(called<int>(Smaller()), [](int t) { return t < 20 ? t : -1; });
  expect_values(called<std::uint64_t>(Halves()),
                [](unsigned t) { return std::uint64_t{5} << 32 | t; });
  expect_values(called<unsigned>(LowByte()), [](unsigned t) { return t * 300 % 256; });
}

/// Converts in each rounding mode, from and to types of 32 and 64 bits.
__global__ void convert(const float* in, int* narrow, long long* wide, unsigned* positive,
                        float* integral) {
  const unsigned t = threadIdx.x;
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(narrow[t]) : "f"(in[t]));
  asm("cvt.rzi.s32.f64 %0, %1;" : "=r"(narrow[32 + t]) : "d"(double(in[t])));
  asm("cvt.rmi.s64.f32 %0, %1;" : "=l"(wide[t]) : "f"(in[t]));
  asm("cvt.rpi.ftz.u32.f32 %0, %1;" : "=r"(positive[t]) : "f"(in[t]));
  asm("cvt.rni.f32.f32 %0, %1;" : "=f"(integral[t]) : "f"(in[t]));
}

TEST(conversions_that_round_to_integers) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> numbers{0.5f,
                             1.5f,
                             2.5f,
                             -0.5f,
                             -1.5f,
                             -2.7f,
                             3e9f,
                             -3e9f,
                             1e20f,
                             -1e20f,
                             infinity,
                             -infinity,
                             std::numeric_limits<float>::quiet_NaN()};
  while (numbers.size() < 32)
    numbers.push_back(static_cast<float>(static_cast<int>(tap::generator()())) / 65536);
  const Device<float> in(numbers), integral(32);
  const Device<int> narrow(64);
  const Device<long long> wide(32);
  const Device<unsigned> positive(32);
  convert<<<1, 32>>>(in.get(), narrow.get(), wide.get(), positive.get(), integral.get());
  const auto limited = [](double x, double least, double most) {
    return x < least ? least : x > most ? most : x;
  };
  for (unsigned t = 0; t < 32; ++t) {
    const double x = numbers[t];
    if (std::isnan(x)) {  // 0, unless a type has 64 bits (PTX ISA, cvt)
      expect_equal(narrow.to_host()[t], 0);
      expect_equal(narrow.to_host()[32 + t], std::numeric_limits<int>::lowest());
      expect_equal(wide.to_host()[t], std::numeric_limits<long long>::lowest());
      expect_equal(positive.to_host()[t], 0u);
      continue;
    }
    expect_equal(double(narrow.to_host()[t]),
                 limited(std::nearbyint(x), -2147483648.0, 2147483647.0));
    expect_equal(double(narrow.to_host()[32 + t]),
                 limited(std::trunc(x), -2147483648.0, 2147483647.0));
    if (std::abs(x) < 9e18) expect_equal(double(wide.to_host()[t]), std::floor(x));
    if (x > 1e19) expect_equal(wide.to_host()[t], std::numeric_limits<long long>::max());
    expect_equal(double(positive.to_host()[t]), limited(std::ceil(x), 0.0, 4294967295.0));
    expect_equal(integral.to_host()[t], std::nearbyint(numbers[t]));
  }
}

__global__ void find_highest(const int* in, unsigned* out) {
  const unsigned t = threadIdx.x;
  asm("bfind.u32 %0, %1;" : "=r"(out[t]) : "r"(in[t]));
  asm("bfind.s32 %0, %1;" : "=r"(out[32 + t]) : "r"(in[t]));
  asm("bfind.shiftamt.u32 %0, %1;" : "=r"(out[64 + t]) : "r"(in[t]));
  asm("bfind.u64 %0, %1;" : "=r"(out[96 + t]) : "l"(std::uint64_t(unsigned(in[t])) << 20));
}

TEST(the_highest_bit) {
  std::vector<int> numbers{0, 1, -1, 2, -2, 3, 255, 256, -256, -257, 1 << 30, -(1 << 30)};
  while (numbers.size() < 32) numbers.push_back(static_cast<int>(tap::generator()()));
  const Device<int> in(numbers);
  const Device<unsigned> out(128);
  find_highest<<<1, 32>>>(in.get(), out.get());
  const auto highest = [](std::uint64_t x) {
    unsigned place = ~0u;
    for (unsigned bit = 0; bit < 64; ++bit)
      if ((x >> bit & 1) != 0) place = bit;
    return place;
  };
  std::vector<unsigned> expected(128);
  for (unsigned t = 0; t < 32; ++t) {
    const auto x = static_cast<unsigned>(numbers[t]);
    expected[t] = highest(x);
    expected[32 + t] = highest(numbers[t] < 0 ? ~x : x);
    expected[64 + t] = x == 0 ? ~0u : 31 - highest(x);
    expected[96 + t] = x == 0 ? ~0u : highest(x) + 20;
  }
  expect_equal(out.to_host(), expected);
}

/// The value that a lane receives, and whether its source lane is in range.
#define SHUFFLE(mode)                                                         \
  __global__ void mode##_by(unsigned* out, unsigned b, unsigned c) {          \
    unsigned x, found;                                                        \
    asm volatile("{ .reg .pred p; shfl.sync." #mode                           \
                 ".b32 %0|p, %2, %3, %4, 0xffffffff; selp.u32 %1, 1, 0, p; }" \
                 : "=r"(x), "=r"(found)                                       \
                 : "r"(threadIdx.x + 1000), "r"(b), "r"(c));                  \
    out[threadIdx.x] = 2 * x + found;                                         \
  }
SHUFFLE(up)
SHUFFLE(down)
SHUFFLE(bfly)
SHUFFLE(idx)

template <typename Source>
void expect_shuffle(void (*kernel)(unsigned*, unsigned, unsigned), unsigned b, unsigned width,
                    bool is_up, Source source) {
  const Device<unsigned> out(32);
  kernel<<<1, 32>>>(out.get(), b, (32 - width) << 8 | (is_up ? 0 : 31));
  expect_values(out.to_host(), [&](int lane) {
    const int first = lane / int(width) * int(width), from = source(lane, first);
    const bool found = from >= first && from < first + int(width);
    return 2u * unsigned((found ? from : lane) + 1000) + found;
  });
}

TEST(shuffles_say_whether_there_is_a_lane) {
  for (const unsigned width : {32u, 8u})
    for (const int b : {0, 1, 5}) {
      const unsigned by = static_cast<unsigned>(b);
      expect_shuffle(up_by, by, width, true, [&](int lane, int) { return lane - b; });
      expect_shuffle(down_by, by, width, false, [&](int lane, int) { return lane + b; });
      expect_shuffle(bfly_by, by, width, false, [&](int lane, int) { return lane ^ b; });
      expect_shuffle(idx_by, by, width, false, [&](int, int first) { return first + b; });
    }
}

WARP_FUNCTION(OddLanes, unsigned, {
  unsigned lanes;
  asm volatile(
      "{ .reg .pred p; .reg .b32 bit; and.b32 bit, %1, 1; setp.eq.u32 p, bit, 1;"
      " vote.sync.ballot.b32 %0, p, 0xffffffff; }"
      : "=r"(lanes)
      : "r"(t));
  return lanes;
});

TEST(votes) {
  expect_values(called<unsigned>(OddLanes()), [](unsigned) { return 0xaaaaaaaau; });
}

/// One block passes values to the next one, through a flag or through single wide stores.
__global__ void hand_on(int* data, unsigned* flag, uint2* pair, ulonglong2* wide, long* out) {
  if (blockIdx.x == 0) {
    data[0] = 7;
    asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(flag), "r"(1u) : "memory");
    asm volatile("st.relaxed.gpu.v2.u32 [%0], {%1, %2};" ::"l"(pair), "r"(1u), "r"(8u) : "memory");
    asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};" ::"l"(wide), "l"(1l), "l"(9l) : "memory");
    return;
  }
  unsigned set = 0;
  while (set == 0) asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(set) : "l"(flag) : "memory");
  out[0] = data[0];
  uint2 both = {0, 0};
  while (both.x == 0)
    asm volatile("ld.relaxed.gpu.v2.u32 {%0, %1}, [%2];"
                 : "=r"(both.x), "=r"(both.y)
                 : "l"(pair)
                 : "memory");
  out[1] = both.y;
  ulonglong2 words = {0, 0};
  while (words.x == 0)
    asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];"
                 : "=l"(words.x), "=l"(words.y)
                 : "l"(wide)
                 : "memory");
  out[2] = static_cast<long>(words.y);
}

TEST(accesses_in_order) {
  const Device<int> data(1);
  const Device<unsigned> flag(std::vector<unsigned>{0});
  const Device<uint2> pair(std::vector<uint2>{{0, 0}});
  const Device<ulonglong2> wide(std::vector<ulonglong2>{{0, 0}});
  const Device<long> out(3);
  hand_on<<<2, 1>>>(data.get(), flag.get(), pair.get(), wide.get(), out.get());
  check(cudaDeviceSynchronize());
  expect_equal(out.to_host(), std::vector<long>{7, 8, 9});
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
