/// \file
/// Formats of 16, 8, 6 and 4 bits: each conversion is compared with a search among all values of
/// the format, and each function of half and bfloat16 with a result in double precision.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "device.hpp"

using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::random_value;

constexpr double infinity = std::numeric_limits<double>::infinity();

template <typename In, typename Out, typename Function>
__global__ void apply(const In* in, Out* out, int count, Function function) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = function(in[i]);
}

/// The results of a function for each value.
template <typename Out, typename In, typename Function>
std::vector<Out> applied(const std::vector<In>& values, Function function) {
  const Device<In> in(values);
  const Device<Out> out(values.size());
  apply<<<static_cast<unsigned>(values.size() + 127) / 128, 128>>>(
      in.get(), out.get(), static_cast<int>(values.size()), function);
  return out.to_host();
}

/// Defines a function object for a kernel.
#define FUNCTION(name, Out, In, ...)                       \
  struct name {                                            \
    __device__ Out operator()(In x) const { __VA_ARGS__; } \
  };

/// Random floats in the range of a format, among them values halfway between its values.
std::vector<float> random_floats(std::size_t count, int smallest, int largest) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    const int fraction = random_value(0, i % 2 == 0 ? 64 : 1 << 20);
    const float size = 1 + static_cast<float>(fraction) / (i % 2 == 0 ? 64.0f : 1 << 20);
    const float value = std::ldexp(size, random_value(smallest, largest));
    values.push_back(i % 3 == 0 ? -value : value);
  }
  for (const float special : {0.0f, -0.0f, HUGE_VALF, -HUGE_VALF}) values.push_back(special);
  return values;
}

// --- Formats with a sign, an exponent and a fraction

/// The non-negative finite values of a format, in the order of their bit patterns.
std::vector<double> sizes_of(int exponent_bits, int fraction_bits, int left_out) {
  std::vector<double> sizes;
  const int bias = (1 << (exponent_bits - 1)) - 1, in_binade = 1 << fraction_bits;
  for (int bits = 0; bits < (1 << (exponent_bits + fraction_bits)) - left_out; ++bits) {
    const int exponent = bits / in_binade, fraction = bits % in_binade;
    const double significand = exponent == 0 ? fraction : in_binade + fraction;
    sizes.push_back(std::ldexp(significand, (exponent == 0 ? 1 : exponent) - bias - fraction_bits));
  }
  return sizes;
}

/// The bits of the value nearest to `size` (ties to even) or, with `towards_zero`, of the largest
/// value not above it. Returns -1 if rounding would exceed the largest value.
int search(const std::vector<double>& sizes, double size, bool towards_zero) {
  const int last = static_cast<int>(sizes.size()) - 1;
  int found = 0;
  while (found < last && sizes[found + 1] <= size) ++found;
  if (found == last) {
    const double half_a_step = (sizes[last] - sizes[last - 1]) / 2;
    const bool is_odd = last % 2 == 1;
    const bool rounds_up =
        is_odd ? size >= sizes[last] + half_a_step : size > sizes[last] + half_a_step;
    return rounds_up && !towards_zero ? -1 : last;
  }
  const double below = size - sizes[found], above = sizes[found + 1] - size;
  if (!towards_zero && (above < below || (above == below && found % 2 == 1))) ++found;
  return found;
}

struct Format {
  int exponent_bits, fraction_bits, left_out;  ///< `left_out` encodings are not finite values
  int beyond;                                  ///< result of an overflow; -1: largest finite value
  bool towards_zero = false;

  int bits(float value) const {
    const auto sizes = sizes_of(exponent_bits, fraction_bits, left_out);
    const int found = search(sizes, std::fabs(static_cast<double>(value)), towards_zero);
    const int last = static_cast<int>(sizes.size()) - 1;
    const int size = found >= 0 ? found : beyond >= 0 ? beyond : last;
    return size | (std::signbit(value) ? 1 << (exponent_bits + fraction_bits) : 0);
  }
};

template <typename Function>
void expect_conversion(Function function, const Format& format,
                       tap::Location place = tap::Location::current()) {
  const auto values = random_floats(2000, -20, 18);
  const auto found = applied<unsigned char>(values, function);
  for (std::size_t i = 0; i < values.size(); ++i)
    expect_equal(static_cast<int>(found[i]), format.bits(values[i]), place);
}

constexpr Format e4m3{4, 3, 1, -1}, e4m3_or_nan{4, 3, 1, 0x7f}, e5m2{5, 2, 4, -1},
    e5m2_or_infinity{5, 2, 4, 0x7c}, e2m3{2, 3, 0, -1}, e3m2{3, 2, 0, -1}, e2m1{2, 1, 0, -1};
constexpr Format towards_zero(Format format) {
  format.towards_zero = true;
  return format;
}

FUNCTION(ToE4M3, unsigned char, float, return __nv_fp8_e4m3(x).__x)
FUNCTION(ToE5M2, unsigned char, float, return __nv_fp8_e5m2(x).__x)
FUNCTION(ToE4M3OrNan, unsigned char, float, return __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3))
FUNCTION(ToE5M2OrInfinity, unsigned char, float,
         return __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2))
FUNCTION(DoubleToE4M3, unsigned char, float, return __nv_fp8_e4m3(static_cast<double>(x)).__x)
FUNCTION(ToE2M3, unsigned char, float, return __nv_fp6_e2m3(x).__x)
FUNCTION(ToE3M2, unsigned char, float, return __nv_fp6_e3m2(x).__x)
FUNCTION(ToE2M1, unsigned char, float, return __nv_fp4_e2m1(x).__x)
FUNCTION(ToE2M3TowardsZero, unsigned char, float,
         return __nv_cvt_float_to_fp6(x, __NV_E2M3, cudaRoundZero))
FUNCTION(ToE2M1TowardsZero, unsigned char, float,
         return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundZero))

TEST(floats_are_rounded_to_the_nearest_number_of_8_bits) {
  expect_conversion(ToE4M3(), e4m3);
  expect_conversion(DoubleToE4M3(), e4m3);
  expect_conversion(ToE5M2(), e5m2);
  expect_conversion(ToE4M3OrNan(), e4m3_or_nan);
  expect_conversion(ToE5M2OrInfinity(), e5m2_or_infinity);
}
TEST(floats_are_rounded_to_the_nearest_number_of_6_and_4_bits) {
  expect_conversion(ToE2M3(), e2m3);
  expect_conversion(ToE3M2(), e3m2);
  expect_conversion(ToE2M1(), e2m1);
  expect_conversion(ToE2M3TowardsZero(), towards_zero(e2m3));
  expect_conversion(ToE2M1TowardsZero(), towards_zero(e2m1));
}

/// The value of a bit pattern of a type.
template <typename Float>
struct ValueOf {
  __device__ float operator()(unsigned char bits) const {
    Float number;
    number.__x = bits;
    return static_cast<float>(number);
  }
};

template <typename Float>
void expect_values(const Format& format, double beyond) {
  const auto sizes = sizes_of(format.exponent_bits, format.fraction_bits, format.left_out);
  const int sign = 1 << (format.exponent_bits + format.fraction_bits);
  const auto found = applied<float>(tap::table<unsigned char>(2 * static_cast<std::size_t>(sign),
                                                              [](std::size_t i) { return i; }),
                                    ValueOf<Float>());
  for (int bits = 0; bits < 2 * sign; ++bits) {
    const std::size_t size = bits % sign;
    const float value = bits < sign ? found[bits] : -found[bits];
    if (size < sizes.size())
      expect_equal(value, sizes[size]);
    else if (size == sizes.size() && beyond == infinity)
      expect_equal(value, infinity);
    else
      expect(std::isnan(value), "what is left out is NaN");
  }
}

TEST(all_numbers_of_few_bits_have_their_values) {
  expect_values<__nv_fp8_e4m3>(e4m3, 0);
  expect_values<__nv_fp8_e5m2>(e5m2, infinity);
  expect_values<__nv_fp6_e2m3>(e2m3, 0);
  expect_values<__nv_fp6_e3m2>(e3m2, 0);
  expect_values<__nv_fp4_e2m1>(e2m1, 0);
}

FUNCTION(ToScale, unsigned char, float, return __nv_fp8_e8m0(x).__x)
FUNCTION(ToScaleBelow, unsigned char, float,
         return __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundZero))

TEST(scales_are_powers_of_two) {
  std::vector<float> values;
  for (int i = 0; i < 500; ++i)
    values.push_back(std::ldexp(random_value(1.0f, 2.0f), random_value(-120, 120)));
  const auto above = applied<unsigned char>(values, ToScale()),
             below = applied<unsigned char>(values, ToScaleBelow());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int exponent = std::ilogb(values[i]);
    expect_equal(static_cast<int>(below[i]), exponent + 127);
    expect_equal(static_cast<int>(above[i]),
                 exponent + 127 + (values[i] > std::ldexp(1.0f, exponent) ? 1 : 0));
  }
  const auto powers = applied<float>(
      tap::table<unsigned char>(255, [](std::size_t i) { return i; }), ValueOf<__nv_fp8_e8m0>());
  for (int i = 0; i < 255; ++i) expect_equal(powers[i], std::ldexp(1.0, i - 127));
}

FUNCTION(Packed8, unsigned, float4, return __nv_fp8x4_e4m3(x).__x)
FUNCTION(Unpacked8, float4, unsigned, __nv_fp8x4_e4m3 all; all.__x = x;
         return static_cast<float4>(all))
FUNCTION(Packed4, unsigned, float4, return __nv_fp4x4_e2m1(x).__x)
FUNCTION(HalvesOfPair, float2, unsigned, __nv_fp8x2_e5m2 pair;
         pair.__x = static_cast<unsigned short>(x);
         return __half22float2(static_cast<__half2>(pair)))

TEST(the_first_of_several_numbers_lies_in_the_lowest_bits) {
  const std::vector<float4> all{make_float4(1, -2, 0.5f, 448)};
  expect_equal(applied<unsigned>(all, Packed8())[0], 0x7e30c038u);
  const float4 back = applied<float4>(std::vector<unsigned>{0x7e30c038u}, Unpacked8())[0];
  expect(back.x == 1 && back.y == -2 && back.z == 0.5f && back.w == 448, "four numbers come back");
  const std::vector<float4> few{make_float4(1, -2, 0.5f, 6)};
  expect_equal(applied<unsigned>(few, Packed4())[0], 0x71c2u);
  const float2 pair = applied<float2>(std::vector<unsigned>{0xc03c}, HalvesOfPair())[0];
  expect(pair.x == 1 && pair.y == -2, "a pair comes back as halves");
}

FUNCTION(Truncated, int, float, return static_cast<int>(__nv_fp8_e5m2(x)))
FUNCTION(TruncatedToByte, int, float, return static_cast<unsigned char>(__nv_fp8_e5m2(x)))

TEST(integers_are_truncated_and_limited) {
  const std::vector<float> values{-2.5f, 2.5f, 1024, -3};
  expect_equal(applied<int>(values, Truncated()), std::vector<int>{-2, 2, 1024, -3});
  expect_equal(applied<int>(values, TruncatedToByte()), std::vector<int>{0, 2, 255, 0});
}

// --- Functions of half and bfloat16

template <typename Half>
struct Pair {
  Half a, b;
};

__half half_of(unsigned short bits) { return __ushort_as_half(bits); }
template <typename Half>
Half from_bits(unsigned short bits);
template <>
__half from_bits<__half>(unsigned short bits) {
  return __ushort_as_half(bits);
}
template <>
__nv_bfloat16 from_bits<__nv_bfloat16>(unsigned short bits) {
  return __ushort_as_bfloat16(bits);
}
double number(__half x) { return __half2float(x); }
double number(__nv_bfloat16 x) { return __bfloat162float(x); }

/// The distance between x and y, in steps between adjacent values of the format.
template <typename Half>
int distance(Half x, Half y) {
  const auto place = [](Half of) {
    std::uint16_t bits;
    memcpy(&bits, &of, sizeof bits);
    return (bits & 0x8000) != 0 ? -static_cast<int>(bits & 0x7fff) : static_cast<int>(bits);
  };
  return std::abs(place(x) - place(y));
}

/// Expects that a function differs from a reference in double precision by at most `units` units in
/// the last place.
template <typename Half, typename Function, typename Reference>
void expect_function(Function function, Reference reference, int units, bool positive = false,
                     tap::Location place = tap::Location::current()) {
  std::vector<Pair<Half>> values;
  for (int i = 0; i < 1000; ++i) {
    const auto draw = [&] {
      const float size = std::ldexp(random_value(1.0f, 2.0f), random_value(-6, 2));
      return Half(positive || i % 2 == 0 ? size : -size);
    };
    values.push_back({draw(), draw()});
  }
  const auto found = applied<Half>(values, function);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto expected = Half(reference(number(values[i].a), number(values[i].b)));
    if (distance(found[i], expected) > units)
      tap::complain(tap::shown(number(found[i])) + " instead of " + tap::shown(number(expected)) +
                        " for " + tap::shown(number(values[i].a)) + " and " +
                        tap::shown(number(values[i].b)),
                    place);
  }
}

#define HALF_FUNCTION(name, ...)                                    \
  template <typename Half>                                          \
  struct name {                                                     \
    __device__ Half operator()(Pair<Half> x) const { __VA_ARGS__; } \
  };
HALF_FUNCTION(Sum, return __hadd_rn(x.a, x.b))
HALF_FUNCTION(Product, return __hmul_rn(x.a, x.b))
HALF_FUNCTION(SaturatedSum, return __hadd_sat(x.a, x.b))
HALF_FUNCTION(SaturatedDifference, return __hsub_sat(x.a, x.b))
HALF_FUNCTION(Rectified, return __hfma_relu(x.a, x.b, x.a))
HALF_FUNCTION(SaturatedFma, return __hfma_sat(x.a, x.b, x.a))
HALF_FUNCTION(Quotient, return __hdiv(x.a, x.b))
HALF_FUNCTION(Tanh, return htanh(x.a))
HALF_FUNCTION(TenTo, return hexp10(x.a))
HALF_FUNCTION(Log10, return hlog10(x.a))
HALF_FUNCTION(Incremented, Half a = x.a; ++a; return a)

template <typename Half>
void expect_functions() {
  const auto limited = [](double x) { return x < 0 ? 0 : x > 1 ? 1 : x; };
  expect_function<Half>(
      Sum<Half>(), [](double a, double b) { return a + b; }, 0);
  expect_function<Half>(
      Product<Half>(), [](double a, double b) { return a * b; }, 0);
  expect_function<Half>(
      SaturatedSum<Half>(), [=](double a, double b) { return limited(a + b); }, 0);
  expect_function<Half>(
      SaturatedDifference<Half>(), [=](double a, double b) { return limited(a - b); }, 0);
  expect_function<Half>(
      Rectified<Half>(), [](double a, double b) { return std::fmax(a * b + a, 0); }, 0);
  expect_function<Half>(
      SaturatedFma<Half>(), [=](double a, double b) { return limited(a * b + a); }, 0);
  expect_function<Half>(
      Quotient<Half>(), [](double a, double b) { return a / b; }, 1);
  expect_function<Half>(
      Tanh<Half>(), [](double a, double) { return std::tanh(a); }, 1);
  expect_function<Half>(
      TenTo<Half>(), [](double a, double) { return std::pow(10, a); }, 2);
  expect_function<Half>(
      Log10<Half>(), [](double a, double) { return std::log10(a); }, 2, true);
  expect_function<Half>(
      Incremented<Half>(), [](double a, double) { return a + 1; }, 0);
}

TEST(functions_of_half) { expect_functions<__half>(); }
TEST(functions_of_bfloat16) { expect_functions<__nv_bfloat16>(); }

HALF_FUNCTION(Maximum, return __hmax(x.a, x.b))
HALF_FUNCTION(MinimumOrNan, return __hmin_nan(x.a, x.b))
/// The results of twelve comparisons as bits: eq, ne, lt, le, gt, ge, and their unordered variants.
template <typename Half>
struct Comparisons {
  __device__ unsigned operator()(Pair<Half> x) const {
    const bool holds[] = {__heq(x.a, x.b),  __hne(x.a, x.b),  __hlt(x.a, x.b),  __hle(x.a, x.b),
                          __hgt(x.a, x.b),  __hge(x.a, x.b),  __hequ(x.a, x.b), __hneu(x.a, x.b),
                          __hltu(x.a, x.b), __hleu(x.a, x.b), __hgtu(x.a, x.b), __hgeu(x.a, x.b)};
    unsigned bits = 0;
    for (int i = 0; i < 12; ++i) bits |= holds[i] ? 1u << i : 0;
    return bits;
  }
};

template <typename Half>
void expect_comparisons() {
  std::vector<Pair<Half>> values;
  const Half nan = from_bits<Half>(0x7fff);
  for (int i = 0; i < 600; ++i) {
    const Half a(static_cast<float>(random_value(-2, 2))),
        b(static_cast<float>(random_value(-2, 2)));
    values.push_back({i % 7 == 0 ? nan : a, i % 11 == 0 ? nan : b});
  }
  const auto found = applied<unsigned>(values, Comparisons<Half>());
  const auto most = applied<Half>(values, Maximum<Half>());
  const auto least = applied<Half>(values, MinimumOrNan<Half>());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double a = number(values[i].a), b = number(values[i].b);
    const bool unordered = std::isnan(a) || std::isnan(b);
    const bool holds[] = {a == b, !unordered && a != b, a<b, a <= b, a> b, a >= b};
    for (int k = 0; k < 12; ++k)
      expect_equal((found[i] >> k & 1) != 0, holds[k % 6] || (k >= 6 && unordered));
    const double expected = std::fmax(a, b);
    expect(std::isnan(expected) ? std::isnan(number(most[i])) : number(most[i]) == expected,
           "NaN loses against a number");
    expect(unordered ? std::isnan(number(least[i])) : number(least[i]) == std::fmin(a, b),
           "NaN wins where it is asked for");
  }
}

TEST(comparisons_of_half_and_bfloat16) {
  expect_comparisons<__half>();
  expect_comparisons<__nv_bfloat16>();
}

FUNCTION(Up, float, long long, return __bfloat162float(__ll2bfloat16_ru(x)))
FUNCTION(Down, float, long long, return __bfloat162float(__ll2bfloat16_rd(x)))
FUNCTION(Nearest, float, long long, return __bfloat162float(__ll2bfloat16_rn(x)))

TEST(integers_are_rounded_once) {
  std::vector<long long> values;
  for (int i = 0; i < 1000; ++i)
    values.push_back(random_value(-(1ll << 62), 1ll << 62) >> random_value(0, 61));
  // Almost halfway between two values; a float does not represent the difference.
  values.push_back((0x181ll << 40) + 1);
  values.push_back((0x183ll << 40) - 1);
  const auto up = applied<float>(values, Up()), down = applied<float>(values, Down()),
             nearest = applied<float>(values, Nearest());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<__int128>(values[i]);
    const auto above = static_cast<__int128>(up[i]), below = static_cast<__int128>(down[i]);
    expect(below <= value && value <= above, "it lies between");
    const auto rounded = static_cast<__int128>(nearest[i]);
    expect(rounded == (value - below < above - value   ? below
                       : value - below > above - value ? above
                                                       : rounded),
           "it is rounded to the nearest");
  }
}

FUNCTION(ToInt, int, __half, return __half2int_ru(x))
FUNCTION(ToUnsigned, unsigned, __half, return __half2uint_rd(x))
FUNCTION(ToShort, short, __half, return __half2short_rn(x))

TEST(halves_become_integers) {
  const std::vector<__half> values{__float2half(2.5f), __float2half(-2.5f), __float2half(65504.0f),
                                   half_of(0x7c00), half_of(0x7fff)};
  constexpr int most = 0x7fffffff;
  expect_equal(applied<int>(values, ToInt()), std::vector<int>{3, -2, 65504, most, 0});
  expect_equal(applied<unsigned>(values, ToUnsigned()), std::vector<unsigned>{2, 0, 65504, ~0u, 0});
  expect_equal(applied<short>(values, ToShort()), std::vector<short>{2, -2, 32767, 32767, 0});
}

template <typename Half2>
struct Masks {
  __device__ unsigned operator()(Half2 x) const {
    const Half2 swapped = __lowhigh2highlow(x);
    return (__hlt2_mask(x, swapped) & 0x00ff00ffu) | (__hbne2(x, swapped) ? 0x100u : 0) |
           (__hbge2(x, swapped) ? 0x1000000u : 0);
  }
};

TEST(pairs_are_compared_one_by_one_and_together) {
  const std::vector<__half2> halves{__floats2half2_rn(1, 2), __floats2half2_rn(2, 2)};
  expect_equal(applied<unsigned>(halves, Masks<__half2>()),
               std::vector<unsigned>{0x000001ff, 0x01000000});
  const std::vector<__nv_bfloat162> others{__bfloat162bfloat162(__float2bfloat16(1)),
                                           __floats2bfloat162_rn(3, -3)};
  expect_equal(applied<unsigned>(others, Masks<__nv_bfloat162>()),
               std::vector<unsigned>{0x01000000, 0x00ff0100});
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
