/// \file
/// Arithmetic in kernels: vector types, conversions, rounding, mathematical functions, integers,
/// and 16-bit floating-point types.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::expect_near;
using tap::random_value;
using tap::random_values;
using tap::table;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Whether two values are equal, or both NaN.
template <typename T>
bool same(T a, T b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// --- Vector types

template <typename T, std::size_t size, std::size_t alignment>
constexpr bool has_layout = sizeof(T) == size && alignof(T) == alignment;

static_assert(has_layout<char2, 2, 2> && has_layout<char4, 4, 4> && has_layout<uchar4, 4, 4>);
static_assert(has_layout<short2, 4, 4> && has_layout<ushort2, 4, 4> && has_layout<short4, 8, 8>);
static_assert(has_layout<int1, 4, 4> && has_layout<int2, 8, 8> && has_layout<int3, 12, 4>);
static_assert(has_layout<int4, 16, 16> && has_layout<uint2, 8, 8> && has_layout<uint4, 16, 16>);
static_assert(has_layout<float1, 4, 4> && has_layout<float2, 8, 8> && has_layout<float3, 12, 4>);
static_assert(has_layout<float4, 16, 16> && has_layout<double2, 16, 16>);
static_assert(has_layout<double3, 24, 8> && has_layout<longlong2, 16, 16>);
static_assert(has_layout<ulonglong2, 16, 16> && has_layout<uchar3, 3, 1>);

__global__ void make_vectors(float* out) {
  const int2 a = make_int2(1, 2);
  const float3 b = make_float3(3, 4, 5);
  const float4 c = make_float4(6, 7, 8, 9);
  const double2 d = make_double2(10.5, 11.5);
  const uint4 e = make_uint4(12, 13, 14, 15);
  const char4 f = make_char4(16, 17, 18, 19);
  const ulonglong2 g = make_ulonglong2(20, 21);
  const double3 h = {22, 23, 24};
  const short2 i{25, 26};
  const uchar2 j = make_uchar2(27, 28);
  const dim3 k(29, 30);
  const float all[] = {float(a.x), float(a.y), b.x,        b.y,        b.z,        c.x,
                       c.y,        c.z,        c.w,        float(d.x), float(d.y), float(e.x),
                       float(e.y), float(e.z), float(e.w), float(f.x), float(f.y), float(f.z),
                       float(f.w), float(g.x), float(g.y), float(h.x), float(h.y), float(h.z),
                       float(i.x), float(i.y), float(j.x), float(j.y), float(k.x), float(k.y),
                       float(k.z)};
  for (int n = 0; n < 31; ++n) out[n] = all[n];
}

TEST(vectors_are_made_of_parts) {
  Device<float> out(31);
  make_vectors<<<1, 1>>>(out.get());
  std::vector<float> expected = table<float>(31, [](int i) { return i + 1; });
  expected[9] = 10.5f;
  expected[10] = 11.5f;
  expected[30] = 1;
  expect_equal(out.to_host(), expected);
}

__global__ void scale_vectors(const float* in, float* out, int quads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  float4 v = reinterpret_cast<const float4*>(in)[i];
  v.x *= 1;
  v.y *= 2;
  v.z *= 3;
  v.w *= 4;
  reinterpret_cast<float4*>(out)[i] = v;
}

TEST(vectors_are_loaded_and_stored_whole) {
  const int quads = random_value(1, 500);
  const std::vector<float> values = random_values(4 * quads, -1.0f, 1.0f);
  Device<float> in(values), out(values.size());
  scale_vectors<<<(quads + 63) / 64, 64>>>(in.get(), out.get(), quads);
  expect_equal(out.to_host(),
               table<float>(values.size(), [&](int i) { return values[i] * float(i % 4 + 1); }));
}

// --- Bits and conversions

struct Bits {
  int from_float;
  unsigned unsigned_from_float;
  float to_float, unsigned_to_float;
  long long from_double;
  double to_double, from_halves;
  int high, low;
};

__global__ void reinterpret_bits(const float* floats, const double* doubles, Bits* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  const double d = doubles[i];
  Bits b{};
  b.from_float = __float_as_int(floats[i]);
  b.unsigned_from_float = __float_as_uint(floats[i]);
  b.to_float = __int_as_float(b.from_float);
  b.unsigned_to_float = __uint_as_float(b.unsigned_from_float);
  b.from_double = __double_as_longlong(d);
  b.to_double = __longlong_as_double(b.from_double);
  b.high = __double2hiint(d);
  b.low = __double2loint(d);
  b.from_halves = __hiloint2double(b.high, b.low);
  out[i] = b;
}

TEST(bits_are_reinterpreted) {
  std::vector<float> floats = random_values(50, -1e10f, 1e10f);
  std::vector<double> doubles = random_values(50, -1e10, 1e10);
  floats[0] = -0.0f;
  doubles[0] = -0.0;
  floats[1] = std::numeric_limits<float>::infinity();
  doubles[1] = infinity;
  floats[2] = 1e-40f;
  doubles[2] = 1e-310;
  Device<float> device_floats(floats);
  Device<double> device_doubles(doubles);
  Device<Bits> out(50);
  reinterpret_bits<<<1, 64>>>(device_floats.get(), device_doubles.get(), out.get(), 50);
  const std::vector<Bits> actual = out.to_host();
  for (int i = 0; i < 50; ++i) {
    int bits = 0;
    long long long_bits = 0;
    std::memcpy(&bits, &floats[i], sizeof bits);
    std::memcpy(&long_bits, &doubles[i], sizeof long_bits);
    expect_equal(actual[i].from_float, bits);
    expect_equal(actual[i].unsigned_from_float, static_cast<unsigned>(bits));
    expect_equal(actual[i].to_float, floats[i]);
    expect_equal(actual[i].unsigned_to_float, floats[i]);
    expect_equal(actual[i].from_double, long_bits);
    expect_equal(actual[i].to_double, doubles[i]);
    expect_equal(actual[i].high, static_cast<int>(long_bits >> 32));
    expect_equal(actual[i].low, static_cast<int>(long_bits));
    expect_equal(actual[i].from_halves, doubles[i]);
  }
}

/// Results of the four rounding modes: to nearest (ties to even), towards zero, up and down.
template <typename T>
struct Rounded {
  T nearest, zero, up, down;
};
struct Conversions {
  Rounded<int> int_of_float, int_of_double;
  Rounded<unsigned> unsigned_of_double;
  Rounded<long long> long_of_float, long_of_double;
  Rounded<unsigned long long> unsigned_long_of_double;
  Rounded<float> float_of_double, float_of_int, float_of_unsigned, float_of_long;
  Rounded<double> double_of_long, double_of_unsigned_long;
  double double_of_int, double_of_unsigned;
};

__global__ void convert(const double* in, const long long* integers, Conversions* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double d = in[i];
  const auto f = static_cast<float>(d);
  const long long l = integers[i];
  const auto ul = static_cast<unsigned long long>(l);
  const auto j = static_cast<int>(l);
  const auto u = static_cast<unsigned>(l);
  Conversions& c = out[i];
  c.int_of_float = {__float2int_rn(f), __float2int_rz(f), __float2int_ru(f), __float2int_rd(f)};
  c.int_of_double = {__double2int_rn(d), __double2int_rz(d), __double2int_ru(d),
                     __double2int_rd(d)};
  c.unsigned_of_double = {__double2uint_rn(fabs(d)), __double2uint_rz(fabs(d)),
                          __double2uint_ru(fabs(d)), __double2uint_rd(fabs(d))};
  c.long_of_float = {__float2ll_rn(f), __float2ll_rz(f), __float2ll_ru(f), __float2ll_rd(f)};
  c.long_of_double = {__double2ll_rn(d), __double2ll_rz(d), __double2ll_ru(d), __double2ll_rd(d)};
  c.unsigned_long_of_double = {__double2ull_rn(fabs(d)), __double2ull_rz(fabs(d)),
                               __double2ull_ru(fabs(d)), __double2ull_rd(fabs(d))};
  c.float_of_double = {__double2float_rn(d), __double2float_rz(d), __double2float_ru(d),
                       __double2float_rd(d)};
  c.float_of_int = {__int2float_rn(j), __int2float_rz(j), __int2float_ru(j), __int2float_rd(j)};
  c.float_of_unsigned = {__uint2float_rn(u), __uint2float_rz(u), __uint2float_ru(u),
                         __uint2float_rd(u)};
  c.float_of_long = {__ll2float_rn(l), __ll2float_rz(l), __ll2float_ru(l), __ll2float_rd(l)};
  c.double_of_long = {__ll2double_rn(l), __ll2double_rz(l), __ll2double_ru(l), __ll2double_rd(l)};
  c.double_of_unsigned_long = {__ull2double_rn(ul), __ull2double_rz(ul), __ull2double_ru(ul),
                               __ull2double_rd(ul)};
  c.double_of_int = __int2double_rn(j);
  c.double_of_unsigned = __uint2double_rn(u);
}

/// The roundings of a value that a long double represents exactly.
template <typename T>
Rounded<T> rounded(long double exact) {
  const auto nearest = [&] {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(std::nearbyint(exact));
    else
      return static_cast<T>(exact);
  }();
  T down = nearest, up = nearest;
  if constexpr (std::is_integral_v<T>) {
    down = static_cast<T>(std::floor(exact));
    up = static_cast<T>(std::ceil(exact));
  } else {
    if (nearest > exact) down = std::nextafter(nearest, -std::numeric_limits<T>::infinity());
    if (nearest < exact) up = std::nextafter(nearest, std::numeric_limits<T>::infinity());
  }
  return {nearest, exact < 0 ? up : down, up, down};
}

template <typename T>
void expect_rounded(const Rounded<T>& actual, const Rounded<T>& expected,
                    tap::Location place = tap::Location::current()) {
  expect_equal(actual.nearest, expected.nearest, place);
  expect_equal(actual.zero, expected.zero, place);
  expect_equal(actual.up, expected.up, place);
  expect_equal(actual.down, expected.down, place);
}

TEST(conversions_round_in_four_directions) {
  const int n = 200;
  std::vector<double> values = random_values(n, -2e9, 2e9);
  for (int i = 0; i < 40; ++i) values[i] = (i - 20) * 0.5;  // ties
  std::vector<long long> integers = random_values(n, -(1ll << 62), 1ll << 62);
  for (int i = 0; i < 20; ++i) integers[i] = i - 10;
  for (int i = 20; i < 60; ++i) integers[i] = (1ll << 53) + i;
  Device<double> in(values);
  Device<long long> device_integers(integers);
  Device<Conversions> out(n);
  convert<<<2, 128>>>(in.get(), device_integers.get(), out.get(), n);
  const std::vector<Conversions> actual = out.to_host();
  for (int i = 0; i < n; ++i) {
    const Conversions& c = actual[i];
    const double d = values[i];
    const auto f = static_cast<float>(d);
    const auto u = static_cast<unsigned>(integers[i]);
    const auto ul = static_cast<unsigned long long>(integers[i]);
    expect_rounded(c.int_of_float, rounded<int>(f));
    expect_rounded(c.int_of_double, rounded<int>(d));
    expect_rounded(c.unsigned_of_double, rounded<unsigned>(std::abs(d)));
    expect_rounded(c.long_of_float, rounded<long long>(f));
    expect_rounded(c.long_of_double, rounded<long long>(d));
    expect_rounded(c.unsigned_long_of_double, rounded<unsigned long long>(std::abs(d)));
    expect_rounded(c.float_of_double, rounded<float>(d));
    expect_rounded(c.float_of_int, rounded<float>(static_cast<int>(u)));
    expect_rounded(c.float_of_unsigned, rounded<float>(u));
    expect_rounded(c.float_of_long, rounded<float>(integers[i]));
    expect_rounded(c.double_of_long, rounded<double>(integers[i]));
    expect_rounded(c.double_of_unsigned_long, rounded<double>(ul));
    expect_equal(c.double_of_int, static_cast<double>(static_cast<int>(u)));
    expect_equal(c.double_of_unsigned, static_cast<double>(u));
  }
}

// --- Rounded arithmetic, never contracted

template <typename T>
struct Arithmetic {
  Rounded<T> add, subtract, multiply, fma, divide, reciprocal, root;
};

__global__ void calculate(const double* a, const double* b, const double* c,
                          Arithmetic<double>* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = a[i], y = b[i], z = c[i], p = fabs(y);
  Arithmetic<double>& o = out[i];
  o.add = {__dadd_rn(x, y), __dadd_rz(x, y), __dadd_ru(x, y), __dadd_rd(x, y)};
  o.subtract = {__dsub_rn(x, y), __dsub_rz(x, y), __dsub_ru(x, y), __dsub_rd(x, y)};
  o.multiply = {__dmul_rn(x, y), __dmul_rz(x, y), __dmul_ru(x, y), __dmul_rd(x, y)};
  o.fma = {__fma_rn(x, y, z), __fma_rz(x, y, z), __fma_ru(x, y, z), __fma_rd(x, y, z)};
  o.divide = {__ddiv_rn(x, y), __ddiv_rz(x, y), __ddiv_ru(x, y), __ddiv_rd(x, y)};
  o.reciprocal = {__drcp_rn(y), __drcp_rz(y), __drcp_ru(y), __drcp_rd(y)};
  o.root = {__dsqrt_rn(p), __dsqrt_rz(p), __dsqrt_ru(p), __dsqrt_rd(p)};
}

__global__ void calculate(const float* a, const float* b, const float* c, Arithmetic<float>* out,
                          int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i], y = b[i], z = c[i], p = fabsf(y);
  Arithmetic<float>& o = out[i];
  o.add = {__fadd_rn(x, y), __fadd_rz(x, y), __fadd_ru(x, y), __fadd_rd(x, y)};
  o.subtract = {__fsub_rn(x, y), __fsub_rz(x, y), __fsub_ru(x, y), __fsub_rd(x, y)};
  o.multiply = {__fmul_rn(x, y), __fmul_rz(x, y), __fmul_ru(x, y), __fmul_rd(x, y)};
  o.fma = {__fmaf_rn(x, y, z), __fmaf_rz(x, y, z), __fmaf_ru(x, y, z), __fmaf_rd(x, y, z)};
  o.divide = {__fdiv_rn(x, y), __fdiv_rz(x, y), __fdiv_ru(x, y), __fdiv_rd(x, y)};
  o.reciprocal = {__frcp_rn(y), __frcp_rz(y), __frcp_ru(y), __frcp_rd(y)};
  o.root = {__fsqrt_rn(p), __fsqrt_rz(p), __fsqrt_ru(p), __fsqrt_rd(p)};
}

/// Checks on which side of the exact result roundings lie. `side(r)` has the sign of exact - r.
template <typename T, typename Side>
void expect_sides(const Rounded<T>& r, T nearest, const Side& side,
                  tap::Location place = tap::Location::current()) {
  const T up = std::numeric_limits<T>::infinity();
  expect_equal(r.nearest, nearest, place);
  expect_equal(r.zero, nearest < 0 ? r.up : r.down, place);
  const bool down_is_right = side(r.down) >= 0 && side(std::nextafter(r.down, up)) < 0;
  const bool up_is_right = side(r.up) <= 0 && side(std::nextafter(r.up, -up)) > 0;
  if (!down_is_right || !up_is_right)
    tap::complain(tap::shown(r.down) + " and " + tap::shown(r.up) + " do not enclose the result",
                  place);
}

template <typename T>
void expect_arithmetic() {
  // Sums and products have too many bits for a T, but not for a long double.
  constexpr int bits = std::is_same_v<T, double> ? 28 : 16, n = 300;
  const auto draw = [](int exponent) {
    const int number = random_value(1 << (bits - 1), (1 << bits) - 1);
    return std::ldexp(T(random_value(0, 1) == 0 ? number : -number), exponent);
  };
  const auto a = table<T>(n, [&](int) { return draw(0); });
  const auto b = table<T>(n, [&](int) { return draw(-bits - 2); });
  const auto c = table<T>(n, [&](int) { return draw(-bits - 6); });
  Device<T> device_a(a), device_b(b), device_c(c);
  Device<Arithmetic<T>> out(n);
  calculate<<<3, 128>>>(device_a.get(), device_b.get(), device_c.get(), out.get(), n);
  const std::vector<Arithmetic<T>> actual = out.to_host();
  for (int i = 0; i < n; ++i) {
    const long double x = a[i], y = b[i], z = c[i];
    expect_rounded(actual[i].add, rounded<T>(x + y));
    expect_rounded(actual[i].subtract, rounded<T>(x - y));
    expect_rounded(actual[i].multiply, rounded<T>(x * y));
    expect_rounded(actual[i].fma, rounded<T>(x * y + z));
    const T positive = std::abs(b[i]), sign = b[i] < 0 ? -1 : 1;
    expect_sides(actual[i].divide, a[i] / b[i],
                 [&](T q) { return sign * std::fma(-q, b[i], a[i]); });
    expect_sides(actual[i].reciprocal, 1 / b[i],
                 [&](T q) { return sign * std::fma(-q, b[i], T(1)); });
    expect_sides(actual[i].root, std::sqrt(positive),
                 [&](T q) { return std::fma(-q, q, positive); });
  }
}

TEST(doubles_are_rounded_in_four_directions) { expect_arithmetic<double>(); }
TEST(floats_are_rounded_in_four_directions) { expect_arithmetic<float>(); }

template <typename T>
__global__ void fuse(const T* a, const T* b, T* fused, T* plain) {
  const int i = threadIdx.x;
  fused[i] = fma(a[i], a[i], b[i]);
  if constexpr (std::is_same_v<T, float>)
    plain[i] = __fadd_rn(__fmul_rn(a[i], a[i]), b[i]);
  else
    plain[i] = __dadd_rn(__dmul_rn(a[i], a[i]), b[i]);
}

/// Checks a a - round(a a): fma returns the rounding error, separate operations return 0.
template <typename T>
void expect_fusion() {
  const std::vector<T> a = random_values(64, T(1), T(2));
  const auto minus_square = table<T>(64, [&](int i) { return -(a[i] * a[i]); });
  Device<T> device_a(a), device_b(minus_square), fused(64), plain(64);
  fuse<<<1, 64>>>(device_a.get(), device_b.get(), fused.get(), plain.get());
  expect_equal(plain.to_host(), std::vector<T>(64, 0));
  expect_equal(fused.to_host(),
               table<T>(64, [&](int i) { return std::fma(a[i], a[i], minus_square[i]); }));
}

TEST(fma_rounds_once) {
  expect_fusion<float>();
  expect_fusion<double>();
}

// --- Integers

struct Integers {
  int mulhi, mul24, average, rounded_average;
  unsigned umulhi, umul24, uaverage, rounded_uaverage, sad, usad;
  long long mul64hi;
  unsigned long long umul64hi;
  unsigned left, right, left_clamped, right_clamped;
  int dot, dot_into;
  unsigned udot;
  int minimum, maximum, magnitude;
  unsigned uminimum, mixed_maximum;
  long long long_minimum, long_magnitude;
  unsigned long long ulong_maximum;
};

__global__ void calculate_integers(const long long* a, const long long* b, Integers* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long la = a[i], lb = b[i];
  const auto x = static_cast<int>(la), y = static_cast<int>(lb);
  const auto ux = static_cast<unsigned>(la), uy = static_cast<unsigned>(lb);
  const auto ula = static_cast<unsigned long long>(la), ulb = static_cast<unsigned long long>(lb);
  const auto shift = static_cast<unsigned>(lb >> 32) & 63;
  Integers& o = out[i];
  o.mulhi = __mulhi(x, y);
  o.mul24 = __mul24(x % (1 << 20), 7);
  o.average = __hadd(x, y);
  o.rounded_average = __rhadd(x, y);
  o.umulhi = __umulhi(ux, uy);
  o.umul24 = __umul24(ux >> 8, 5u);
  o.uaverage = __uhadd(ux, uy);
  o.rounded_uaverage = __urhadd(ux, uy);
  o.sad = __sad(x / 2, y / 2, 3u);
  o.usad = __usad(ux / 2, uy / 2, 3u);
  o.mul64hi = __mul64hi(la, lb);
  o.umul64hi = __umul64hi(ula, ulb);
  o.left = __funnelshift_l(ux, uy, shift);
  o.right = __funnelshift_r(ux, uy, shift);
  o.left_clamped = __funnelshift_lc(ux, uy, shift);
  o.right_clamped = __funnelshift_rc(ux, uy, shift);
  o.dot = __dp4a(x, y, 0);
  o.dot_into = __dp4a(x, y, 1000);
  o.udot = __dp4a(ux, uy, 1000u);
  o.minimum = min(x, y);
  o.maximum = max(x, y);
  o.magnitude = abs(x / 2);
  o.uminimum = min(ux, uy);
  o.mixed_maximum = max(ux, 5);
  o.long_minimum = min(la, lb);
  o.long_magnitude = llabs(la / 2);
  o.ulong_maximum = max(ula, ulb);
}

template <typename Byte>
int dot_of_bytes(unsigned a, unsigned b) {
  int sum = 0;
  for (int shift = 0; shift < 32; shift += 8)
    sum += static_cast<Byte>(a >> shift) * static_cast<Byte>(b >> shift);
  return sum;
}

/// The high word of the product of 64-bit integers, computed by parts.
unsigned long long high_product(unsigned long long a, unsigned long long b) {
  const unsigned long long low = 0xFFFFFFFF;
  const unsigned long long mixed = (a >> 32) * (b & low) + ((a & low) * (b & low) >> 32);
  return (a >> 32) * (b >> 32) + (mixed >> 32) + (((mixed & low) + (a & low) * (b >> 32)) >> 32);
}

Integers integers_of(long long la, long long lb) {
  const auto x = static_cast<int>(la), y = static_cast<int>(lb);
  const auto ux = static_cast<unsigned>(la), uy = static_cast<unsigned>(lb);
  const auto ula = static_cast<unsigned long long>(la), ulb = static_cast<unsigned long long>(lb);
  const auto shift = static_cast<unsigned>(lb >> 32) & 63;
  const auto joined = static_cast<unsigned long long>(uy) << 32 | ux;
  const auto lx = static_cast<long long>(x), ly = static_cast<long long>(y);
  Integers o{};
  o.mulhi = static_cast<int>(lx * ly >> 32);
  o.mul24 = x % (1 << 20) * 7;
  o.average = static_cast<int>((lx + ly) >> 1);
  o.rounded_average = static_cast<int>((lx + ly + 1) >> 1);
  o.umulhi = static_cast<unsigned>((joined >> 32) * ux >> 32);
  o.umul24 = (ux >> 8) * 5;
  o.uaverage = static_cast<unsigned>(((joined >> 32) + ux) >> 1);
  o.rounded_uaverage = static_cast<unsigned>(((joined >> 32) + ux + 1) >> 1);
  o.sad = static_cast<unsigned>(std::abs(x / 2 - y / 2)) + 3;
  o.usad = (ux / 2 > uy / 2 ? ux / 2 - uy / 2 : uy / 2 - ux / 2) + 3;
  o.umul64hi = high_product(ula, ulb);
  o.mul64hi = static_cast<long long>(o.umul64hi - (la < 0 ? ulb : 0) - (lb < 0 ? ula : 0));
  o.left = static_cast<unsigned>(joined << shift % 32 >> 32);
  o.right = static_cast<unsigned>(joined >> shift % 32);
  o.left_clamped = shift < 32 ? o.left : ux;
  o.right_clamped = shift < 32 ? o.right : uy;
  o.dot = dot_of_bytes<signed char>(ux, uy);
  o.dot_into = o.dot + 1000;
  o.udot = static_cast<unsigned>(dot_of_bytes<unsigned char>(ux, uy)) + 1000;
  o.minimum = std::min(x, y);
  o.maximum = std::max(x, y);
  o.magnitude = std::abs(x / 2);
  o.uminimum = std::min(ux, uy);
  o.mixed_maximum = std::max(ux, 5u);
  o.long_minimum = std::min(la, lb);
  o.long_magnitude = std::llabs(la / 2);
  o.ulong_maximum = std::max(ula, ulb);
  return o;
}

TEST(integers_have_intrinsic_functions) {
  using Limits = std::numeric_limits<long long>;
  const int n = 300;
  const auto a = random_values(n, Limits::min(), Limits::max());
  const auto b = random_values(n, Limits::min(), Limits::max());
  Device<long long> device_a(a), device_b(b);
  Device<Integers> out(n);
  calculate_integers<<<3, 128>>>(device_a.get(), device_b.get(), out.get(), n);
  const std::vector<Integers> actual = out.to_host();
  for (int i = 0; i < n; ++i) {
    const Integers &o = actual[i], e = integers_of(a[i], b[i]);
    expect_equal(o.mulhi, e.mulhi);
    expect_equal(o.mul24, e.mul24);
    expect_equal(o.average, e.average);
    expect_equal(o.rounded_average, e.rounded_average);
    expect_equal(o.umulhi, e.umulhi);
    expect_equal(o.umul24, e.umul24);
    expect_equal(o.uaverage, e.uaverage);
    expect_equal(o.rounded_uaverage, e.rounded_uaverage);
    expect_equal(o.sad, e.sad);
    expect_equal(o.usad, e.usad);
    expect_equal(o.mul64hi, e.mul64hi);
    expect_equal(o.umul64hi, e.umul64hi);
    expect_equal(o.left, e.left);
    expect_equal(o.right, e.right);
    expect_equal(o.left_clamped, e.left_clamped);
    expect_equal(o.right_clamped, e.right_clamped);
    expect_equal(o.dot, e.dot);
    expect_equal(o.dot_into, e.dot_into);
    expect_equal(o.udot, e.udot);
    expect_equal(o.minimum, e.minimum);
    expect_equal(o.maximum, e.maximum);
    expect_equal(o.magnitude, e.magnitude);
    expect_equal(o.uminimum, e.uminimum);
    expect_equal(o.mixed_maximum, e.mixed_maximum);
    expect_equal(o.long_minimum, e.long_minimum);
    expect_equal(o.long_magnitude, e.long_magnitude);
    expect_equal(o.ulong_maximum, e.ulong_maximum);
  }
}

// --- Mathematical functions, for float and double

struct Sqrt {
  static __device__ auto value(auto x) { return sqrt(x); }
  static auto exact(auto x) { return std::sqrt(x); }
};
struct Rsqrt {
  static __device__ auto value(auto x) { return rsqrt(x); }
  static auto exact(auto x) { return 1 / std::sqrt(x); }
};
struct Cbrt {
  static __device__ auto value(auto x) { return cbrt(x); }
  static auto exact(auto x) { return std::cbrt(x); }
};
struct Rcbrt {
  static __device__ auto value(auto x) { return rcbrt(x); }
  static auto exact(auto x) { return 1 / std::cbrt(x); }
};
struct Exp {
  static __device__ auto value(auto x) { return exp(x); }
  static auto exact(auto x) { return std::exp(x); }
};
struct Exp2 {
  static __device__ auto value(auto x) { return exp2(x); }
  static auto exact(auto x) { return std::exp2(x); }
};
struct Exp10 {
  static __device__ auto value(auto x) { return exp10(x); }
  static auto exact(auto x) { return std::pow(decltype(x)(10), x); }
};
struct Expm1 {
  static __device__ auto value(auto x) { return expm1(x); }
  static auto exact(auto x) { return std::expm1(x); }
};
struct Log {
  static __device__ auto value(auto x) { return log(x); }
  static auto exact(auto x) { return std::log(x); }
};
struct Log2 {
  static __device__ auto value(auto x) { return log2(x); }
  static auto exact(auto x) { return std::log2(x); }
};
struct Log10 {
  static __device__ auto value(auto x) { return log10(x); }
  static auto exact(auto x) { return std::log10(x); }
};
struct Log1p {
  static __device__ auto value(auto x) { return log1p(x); }
  static auto exact(auto x) { return std::log1p(x); }
};
struct Sin {
  static __device__ auto value(auto x) { return sin(x); }
  static auto exact(auto x) { return std::sin(x); }
};
struct Cos {
  static __device__ auto value(auto x) { return cos(x); }
  static auto exact(auto x) { return std::cos(x); }
};
struct Tan {
  static __device__ auto value(auto x) { return tan(x); }
  static auto exact(auto x) { return std::tan(x); }
};
struct Sinpi {
  static __device__ auto value(auto x) { return sinpi(x); }
  static auto exact(auto x) { return std::sin(std::acos(decltype(x)(-1)) * x); }
};
struct Cospi {
  static __device__ auto value(auto x) { return cospi(x); }
  static auto exact(auto x) { return std::cos(std::acos(decltype(x)(-1)) * x); }
};
struct Asin {
  static __device__ auto value(auto x) { return asin(x); }
  static auto exact(auto x) { return std::asin(x); }
};
struct Acos {
  static __device__ auto value(auto x) { return acos(x); }
  static auto exact(auto x) { return std::acos(x); }
};
struct Atan {
  static __device__ auto value(auto x) { return atan(x); }
  static auto exact(auto x) { return std::atan(x); }
};
struct Sinh {
  static __device__ auto value(auto x) { return sinh(x); }
  static auto exact(auto x) { return std::sinh(x); }
};
struct Cosh {
  static __device__ auto value(auto x) { return cosh(x); }
  static auto exact(auto x) { return std::cosh(x); }
};
struct Tanh {
  static __device__ auto value(auto x) { return tanh(x); }
  static auto exact(auto x) { return std::tanh(x); }
};
struct Erf {
  static __device__ auto value(auto x) { return erf(x); }
  static auto exact(auto x) { return std::erf(x); }
};
struct Erfc {
  static __device__ auto value(auto x) { return erfc(x); }
  static auto exact(auto x) { return std::erfc(x); }
};
struct Normcdf {
  static __device__ auto value(auto x) { return normcdf(x); }
  static auto exact(auto x) { return std::erfc(-x / std::sqrt(decltype(x)(2))) / 2; }
};

/// The distance to the correctly rounded value in units of the last place; NaN if the result is
/// NaN. If two values are equally near, as far as `exact` can show, both are correct.
template <typename T>
double error_in_ulps(T actual, long double exact) {
  const T nearest = static_cast<T>(exact), size = std::abs(nearest);
  if (size > std::numeric_limits<T>::max()) return actual == nearest ? 0 : infinity;
  const T ulp = std::nextafter(size, std::numeric_limits<T>::infinity()) - size;
  if (std::abs(actual - exact) <= 0.501L * ulp) return 0;
  return std::abs(actual - nearest) / static_cast<double>(ulp);
}

template <typename T>
struct Errors {
  double largest = 0;
  T at{};

  void add(T x, double error) {
    if (error <= largest) return;  // NaN counts as the largest error
    largest = std::isnan(error) ? infinity : error;
    at = x;
  }
  void expect_within(double bound, tap::Location place) const {
    if (!(largest <= bound))
      tap::complain(tap::shown(largest) + " units in the last place at " + tap::shown(at) +
                        ", more than " + tap::shown(bound),
                    place);
  }
};

template <typename Function, typename T>
__global__ void evaluate(const T* in, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  static_assert(std::is_same_v<decltype(Function::value(in[i])), T>);
  out[i] = Function::value(in[i]);
}

template <typename Function, typename T>
void expect_within_ulps(double low, double high, double bound, tap::Location place) {
  const int n = 1000;
  const std::vector<T> x = random_values(n, static_cast<T>(low), static_cast<T>(high));
  Device<T> in(x), out(n);
  evaluate<Function><<<(n + 127) / 128, 128>>>(in.get(), out.get(), n);
  const std::vector<T> actual = out.to_host();
  Errors<T> errors;
  for (int i = 0; i < n; ++i)
    errors.add(x[i], error_in_ulps(actual[i], Function::exact(static_cast<long double>(x[i]))));
  errors.expect_within(bound, place);
}

/// Checks a function against the error bounds of the CUDA documentation, for float and for double.
template <typename Function>
void expect_accuracy(double low, double high, double float_bound, double double_bound,
                     tap::Location place = tap::Location::current()) {
  expect_within_ulps<Function, float>(low, high, float_bound, place);
  expect_within_ulps<Function, double>(low, high, double_bound, place);
}

// The CPU device uses the functions of the host's library. Three of them are less accurate than
// CUDA's.
#ifdef STAIRCASE_CUDA_ON_CPU
constexpr double of_library = 4;
#else
constexpr double of_library = 1;
#endif

TEST(roots_are_accurate) {
  expect_accuracy<Sqrt>(0, 1000, 0, 0);
  expect_accuracy<Rsqrt>(0.001, 1000, 2, 1);
  expect_accuracy<Cbrt>(-1000, 1000, 1, of_library);
  expect_accuracy<Rcbrt>(0.001, 1000, 2, 1);
}

TEST(exponential_functions_are_accurate) {
  expect_accuracy<Exp>(-80, 80, 2, 1);
  expect_accuracy<Exp2>(-120, 120, 2, 1);
  expect_accuracy<Exp10>(-35, 35, 2, of_library);
  expect_accuracy<Expm1>(-2, 5, 1, 1);
}

TEST(logarithms_are_accurate) {
  expect_accuracy<Log>(1e-30, 1e30, 1, 1);
  expect_accuracy<Log>(0.5, 2, 1, 1);
  expect_accuracy<Log2>(1e-3, 1e3, 1, 1);
  expect_accuracy<Log10>(1e-3, 1e3, 2, of_library);
  expect_accuracy<Log1p>(-0.5, 2, 1, 1);
}

TEST(trigonometric_functions_are_accurate) {
  expect_accuracy<Sin>(-1000, 1000, 2, 2);
  expect_accuracy<Cos>(-1000, 1000, 2, 2);
  expect_accuracy<Tan>(-10, 10, 4, 2);
  expect_accuracy<Sinpi>(-0.9, 0.9, 2, 2);
  expect_accuracy<Cospi>(-0.4, 0.4, 2, 2);
  expect_accuracy<Asin>(-1, 1, 2, 2);
  expect_accuracy<Acos>(-1, 1, 2, 2);
  expect_accuracy<Atan>(-100, 100, 2, 2);
}

TEST(hyperbolic_functions_are_accurate) {
  expect_accuracy<Sinh>(-50, 50, 3, 2);
  expect_accuracy<Cosh>(-50, 50, 2, 1);
  expect_accuracy<Tanh>(-5, 5, 2, 2);
}

TEST(error_functions_are_accurate) {
  expect_accuracy<Erf>(-3, 3, 2, 2);
  expect_accuracy<Erfc>(-3, 5, 4, 5);
  expect_accuracy<Normcdf>(-5, 5, 5, 5);
}

template <typename T>
struct OfTwo {
  T pow, atan2, hypot, rhypot, fmod, remainder, fdim, copysign, fmin, fmax, nextafter, divided;
  T sin, cos, norm3d, norm4d, rnorm3d;
};

template <typename T>
__global__ void evaluate_two(const T* a, const T* b, OfTwo<T>* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T x = a[i], y = b[i];
  OfTwo<T>& o = out[i];
  o.pow = pow(fabs(x), y);
  o.atan2 = atan2(x, y);
  o.hypot = hypot(x, y);
  o.rhypot = rhypot(x, y);
  o.fmod = fmod(x, y);
  o.remainder = remainder(x, y);
  o.fdim = fdim(x, y);
  o.copysign = copysign(x, y);
  o.fmin = fmin(x, y);
  o.fmax = fmax(x, y);
  o.nextafter = nextafter(x, y);
  o.divided = x / y;
  sincos(x, &o.sin, &o.cos);
  o.norm3d = norm3d(x, y, T(2));
  o.norm4d = norm4d(x, y, T(2), T(3));
  o.rnorm3d = rnorm3d(x, y, T(2));
}

template <typename T>
void expect_functions_of_two(double pow_bound, double atan2_bound) {
  const int n = 500;
  const std::vector<T> a = random_values(n, T(-10), T(10));
  std::vector<T> b = random_values(n, T(-10), T(10));
  for (T& y : b)
    if (y == 0) y = 1;  // otherwise remainders would be NaN, which equals no value
  Device<T> device_a(a), device_b(b);
  Device<OfTwo<T>> out(n);
  evaluate_two<<<4, 128>>>(device_a.get(), device_b.get(), out.get(), n);
  const std::vector<OfTwo<T>> actual = out.to_host();
  Errors<T> pow, atan2, hypot, sincos, norms;
  for (int i = 0; i < n; ++i) {
    const OfTwo<T>& o = actual[i];
    const T x = a[i], y = b[i];
    const long double lx = x, ly = y, square = lx * lx + ly * ly;
    pow.add(x, error_in_ulps(o.pow, std::pow(std::abs(lx), ly)));
    atan2.add(x, error_in_ulps(o.atan2, std::atan2(lx, ly)));
    hypot.add(x, error_in_ulps(o.hypot, std::sqrt(square)));
    hypot.add(x, error_in_ulps(o.rhypot, 1 / std::sqrt(square)));
    sincos.add(x, error_in_ulps(o.sin, std::sin(lx)));
    sincos.add(x, error_in_ulps(o.cos, std::cos(lx)));
    norms.add(x, error_in_ulps(o.norm3d, std::sqrt(square + 4)));
    norms.add(x, error_in_ulps(o.norm4d, std::sqrt(square + 13)));
    norms.add(x, error_in_ulps(o.rnorm3d, 1 / std::sqrt(square + 4)));
    expect_equal(o.fmod, std::fmod(x, y));
    expect_equal(o.remainder, std::remainder(x, y));
    expect_equal(o.fdim, std::fdim(x, y));
    expect_equal(o.copysign, std::copysign(x, y));
    expect_equal(o.fmin, std::fmin(x, y));
    expect_equal(o.fmax, std::fmax(x, y));
    expect_equal(o.nextafter, std::nextafter(x, y));
    expect_equal(o.divided, x / y);
  }
  pow.expect_within(pow_bound, tap::Location::current());
  atan2.expect_within(atan2_bound, tap::Location::current());
  hypot.expect_within(3, tap::Location::current());
  sincos.expect_within(2, tap::Location::current());
  norms.expect_within(3, tap::Location::current());
}

TEST(functions_of_two_floats) { expect_functions_of_two<float>(4, 3); }
TEST(functions_of_two_doubles) { expect_functions_of_two<double>(2, 2); }

__global__ void take_norm(const double* in, double* out, int n) {
  out[0] = norm(n, in);
  out[1] = rnorm(n, in);
}

TEST(a_vector_has_a_norm) {
  const std::vector<double> values = random_values(77, -1.0, 1.0);
  Device<double> in(values), out(2);
  take_norm<<<1, 1>>>(in.get(), out.get(), 77);
  long double square = 0;
  for (const double value : values) square += static_cast<long double>(value) * value;
  const double expected = static_cast<double>(std::sqrt(square));
  const std::vector<double> actual = out.to_host();
  expect_near(actual[0], expected, 1e-14 * expected);
  expect_near(actual[1], 1 / expected, 1e-14 / expected);
}

struct Parts {
  double floor, ceil, trunc, round, rint, nearbyint, fraction, whole, mantissa, scaled, scalbn;
  long to_long;
  long long to_long_long, rounded;
  int exponent, ilogb;
};

__global__ void take_apart(const double* in, Parts* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  const double x = in[i];
  Parts& p = out[i];
  p.floor = floor(x);
  p.ceil = ceil(x);
  p.trunc = trunc(x);
  p.round = round(x);
  p.rint = rint(x);
  p.nearbyint = nearbyint(x);
  p.fraction = modf(x, &p.whole);
  p.mantissa = frexp(x, &p.exponent);
  p.scaled = ldexp(x, 5);
  p.scalbn = scalbn(x, -3);
  p.ilogb = ilogb(x);
  p.to_long = lrint(x);
  p.to_long_long = llrint(x);
  p.rounded = llround(x);
}

TEST(numbers_are_taken_apart) {
  std::vector<double> values = random_values(100, -1000.0, 1000.0);
  for (int i = 0; i < 40; ++i) values[i] = (i - 20) * 0.5 + (i == 20 ? 0.25 : 0);
  Device<double> in(values);
  Device<Parts> out(100);
  take_apart<<<1, 128>>>(in.get(), out.get(), 100);
  const std::vector<Parts> actual = out.to_host();
  for (int i = 0; i < 100; ++i) {
    const Parts& p = actual[i];
    const double x = values[i];
    double whole = 0;
    int exponent = 0;
    expect_equal(p.floor, std::floor(x));
    expect_equal(p.ceil, std::ceil(x));
    expect_equal(p.trunc, std::trunc(x));
    expect_equal(p.round, std::round(x));
    expect_equal(p.rint, std::rint(x));
    expect_equal(p.nearbyint, std::nearbyint(x));
    expect_equal(p.fraction, std::modf(x, &whole));
    expect_equal(p.whole, whole);
    expect_equal(p.mantissa, std::frexp(x, &exponent));
    expect_equal(p.exponent, exponent);
    expect_equal(p.scaled, 32 * x);
    expect_equal(p.scalbn, x / 8);
    expect_equal(p.ilogb, std::ilogb(x));
    expect_equal(p.to_long, std::lrint(x));
    expect_equal(p.to_long_long, std::llrint(x));
    expect_equal(p.rounded, std::llround(x));
  }
}

__global__ void to_integers(const float* narrow, const double* wide, int* of_32_bits,
                            unsigned long long* of_64_bits) {
  of_32_bits[0] = __float2int_rz(*narrow);
  of_32_bits[1] = static_cast<int>(__float2uint_rn(*narrow));
  of_32_bits[2] = __double2int_rd(*wide);
  of_32_bits[3] = static_cast<int>(__double2uint_ru(*wide));
  of_64_bits[0] = static_cast<unsigned long long>(__float2ll_rn(*narrow));
  of_64_bits[1] = __float2ull_rz(*narrow);
  of_64_bits[2] = static_cast<unsigned long long>(__double2ll_rz(*wide));
  of_64_bits[3] = __double2ull_rd(*wide);
}

TEST(integers_that_nan_becomes) {
  const Device<float> narrow(std::vector<float>{std::numeric_limits<float>::quiet_NaN()});
  const Device<double> wide(std::vector<double>{not_a_number});
  const Device<int> of_32_bits(4);
  const Device<unsigned long long> of_64_bits(4);
  to_integers<<<1, 1>>>(narrow.get(), wide.get(), of_32_bits.get(), of_64_bits.get());
  constexpr int lowest = std::numeric_limits<int>::lowest();
  expect_equal(of_32_bits.to_host(), std::vector<int>{0, 0, lowest, lowest});
  expect_equal(of_64_bits.to_host(), std::vector<unsigned long long>(4, 1ull << 63));
}

struct Classes {
  int is_nan, is_inf, is_finite, is_negative;
  double minimum, maximum, magnitude;
};

template <typename T>
__global__ void classify(const T* in, Classes* out) {
  const T x = in[threadIdx.x];
  out[threadIdx.x] = {isnan(x) != 0, isinf(x) != 0,  isfinite(x) != 0, signbit(x) != 0,
                      fmin(x, T(1)), fmax(x, T(-1)), fabs(x)};
}

template <typename T>
void expect_classes() {
  const std::vector<double> x = {1.5, -2.5, 0.0, -0.0, infinity, -infinity, not_a_number};
  Device<T> in(table<T>(7, [&](int i) { return x[i]; }));
  Device<Classes> out(7);
  classify<<<1, 7>>>(in.get(), out.get());
  const std::vector<Classes> actual = out.to_host();
  for (int i = 0; i < 7; ++i) {
    expect_equal(actual[i].is_nan, i == 6);
    expect_equal(actual[i].is_inf, i == 4 || i == 5);
    expect_equal(actual[i].is_finite, i < 4);
    if (i < 6) expect_equal(actual[i].is_negative, i == 1 || i == 3 || i == 5);
    expect_equal(actual[i].minimum, std::fmin(x[i], 1.0));  // the other operand rather than NaN
    expect_equal(actual[i].maximum, std::fmax(x[i], -1.0));
    expect(same(actual[i].magnitude, std::abs(x[i])), "the magnitude is right");
  }
}

TEST(numbers_have_classes) {
  expect_classes<float>();
  expect_classes<double>();
}

__global__ void reach_limits(double* out, double zero, double one) {
  const double values[] = {one / zero,
                           -one / zero,
                           zero / zero,
                           log(zero),
                           log(-one),
                           sqrt(-one),
                           exp(1000 * one),
                           exp(-1000 * one),
                           pow(zero, zero),
                           rsqrt(zero),
                           fmod(one, zero),
                           INFINITY,
                           NAN,
                           fma(one / zero, zero, one)};
  for (int i = 0; i < 14; ++i) out[i] = values[i];
}

TEST(functions_have_limits) {
  const double inf = infinity, nan = not_a_number;
  const double expected[] = {inf, -inf, nan, -inf, nan, nan, inf, 0, 1, inf, nan, inf, nan, nan};
  Device<double> out(14);
  reach_limits<<<1, 1>>>(out.get(), 0.0, 1.0);
  const std::vector<double> actual = out.to_host();
  for (int i = 0; i < 14; ++i)
    expect(same(actual[i], expected[i]), "value " + tap::shown(i) + ", " + tap::shown(actual[i]) +
                                             ", is " + tap::shown(expected[i]));
}

// --- Fast functions, with the larger bounds of the documentation

struct Fast {
  float exp, exp10, log, log2, log10, sin, cos, sin_of_both, cos_of_both, tan, pow, divided;
  float reciprocal_root, saturated;
};

__global__ void evaluate_fast(const float* a, const float* b, Fast* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i], y = b[i];
  Fast& o = out[i];
  o.exp = __expf(x);
  o.exp10 = __exp10f(x);
  o.log = __logf(y);
  o.log2 = __log2f(y);
  o.log10 = __log10f(y);
  o.sin = __sinf(x);
  o.cos = __cosf(x);
  __sincosf(x, &o.sin_of_both, &o.cos_of_both);
  o.tan = __tanf(x / 3);
  o.pow = __powf(y, x);
  o.divided = __fdividef(x, y);
  o.reciprocal_root = __frsqrt_rn(y);
  o.saturated = __saturatef(x);
}

TEST(fast_functions_keep_their_bounds) {
  const int n = 1000;
  const auto a = random_values(n, -3.14f, 3.14f), b = random_values(n, 0.5f, 2.0f);
  Device<float> device_a(a), device_b(b);
  Device<Fast> out(n);
  evaluate_fast<<<8, 128>>>(device_a.get(), device_b.get(), out.get(), n);
  const std::vector<Fast> actual = out.to_host();
  for (int i = 0; i < n; ++i) {
    const Fast& o = actual[i];
    const double x = a[i], y = b[i];
    expect(error_in_ulps(o.exp, std::exp(x)) <= 2 + std::floor(std::abs(1.173 * x)), "__expf");
    expect(error_in_ulps(o.exp10, std::pow(10, x)) <= 2 + std::floor(std::abs(2.97 * x)),
           "__exp10f");
    expect_near<double>(o.log, std::log(y), std::exp2(-21.41));
    expect_near<double>(o.log2, std::log2(y), std::exp2(-22));
    expect_near<double>(o.log10, std::log10(y), std::exp2(-24));
    expect_near<double>(o.sin, std::sin(x), std::exp2(-21.41));
    expect_near<double>(o.cos, std::cos(x), std::exp2(-21.19));
    expect_near<double>(o.sin_of_both, std::sin(x), std::exp2(-21.41));
    expect_near<double>(o.cos_of_both, std::cos(x), std::exp2(-21.19));
    // The documentation gives no bound for these two functions.
    expect_near<double>(o.tan, std::tan(static_cast<double>(a[i] / 3)), 1e-5);
    expect_near(o.pow / std::pow(y, x), 1.0, 1e-5);
    expect(error_in_ulps(o.divided, x / y) <= 2, "__fdividef");
    expect(error_in_ulps(o.reciprocal_root, 1 / std::sqrt(static_cast<long double>(y))) == 0,
           "__frsqrt_rn");
    expect_equal(o.saturated, std::clamp(a[i], 0.0f, 1.0f));
  }
}

// --- 16-bit floating-point types

/// Properties of the two types: bits of the significand, least exponent, and largest value.
template <typename T>
struct Format;
template <>
struct Format<__half> {
  static constexpr int bits = 11, least_exponent = -14;
  static constexpr double largest = 65504;
};
template <>
struct Format<__nv_bfloat16> {
  static constexpr int bits = 8, least_exponent = -126;
  static constexpr double largest = 3.3895313892515355e38;
};

/// The distance between adjacent values around x.
template <typename T>
long double spacing(long double x) {
  const int exponent = x == 0 ? Format<T>::least_exponent : std::ilogb(x);
  return std::exp2(static_cast<long double>(std::max(exponent, Format<T>::least_exponent) -
                                            Format<T>::bits + 1));
}

/// Rounds to the nearest value of the type, ties to even.
template <typename T>
double nearest(long double x) {
  if (std::isnan(x) || std::isinf(x)) return static_cast<double>(x);
  const long double unit = spacing<T>(x), result = std::nearbyint(x / unit) * unit;
  return std::abs(result) > Format<T>::largest ? std::copysign(infinity, static_cast<double>(x))
                                               : static_cast<double>(result);
}

/// The value of a 16-bit pattern.
template <typename T>
double decoded(unsigned bits) {
  const int fraction_bits = Format<T>::bits - 1, exponent = (bits & 0x7FFF) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1), sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int largest_exponent = (1 << (15 - fraction_bits)) - 1;
  if (exponent == largest_exponent) return fraction != 0 ? not_a_number : sign * infinity;
  const int significand = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
  return sign * std::ldexp(significand,
                           std::max(exponent, 1) - 1 + Format<T>::least_exponent - fraction_bits);
}

__device__ void convert_bits(unsigned short bits, float* value, unsigned short* back, __half) {
  *value = __half2float(__ushort_as_half(bits));
  *back = __half_as_ushort(__float2half(*value));
}
__device__ void convert_bits(unsigned short bits, float* value, unsigned short* back,
                             __nv_bfloat16) {
  *value = __bfloat162float(__ushort_as_bfloat16(bits));
  *back = __bfloat16_as_ushort(__float2bfloat16(*value));
}

template <typename T>
__global__ void convert_all_bits(float* values, unsigned short* back) {
  const unsigned bits = blockIdx.x * blockDim.x + threadIdx.x;
  convert_bits(static_cast<unsigned short>(bits), &values[bits], &back[bits], T{});
}

template <typename T>
void expect_all_values() {
  Device<float> values(65536);
  Device<unsigned short> back(65536);
  convert_all_bits<T><<<256, 256>>>(values.get(), back.get());
  const std::vector<float> actual = values.to_host();
  const std::vector<unsigned short> bits = back.to_host();
  int wrong = 0;
  for (unsigned i = 0; i < 65536; ++i) {
    const double expected = decoded<T>(i);
    const bool is_right = same<double>(actual[i], expected) &&
                          std::signbit(actual[i]) == std::signbit(expected) && bits[i] == i;
    if (!is_right && !std::isnan(expected)) ++wrong;
    if (std::isnan(expected) && !(std::isnan(actual[i]) && std::isnan(decoded<T>(bits[i]))))
      ++wrong;
  }
  expect_equal(wrong, 0);
}

TEST(half_has_65536_values) { expect_all_values<__half>(); }
TEST(bfloat16_has_65536_values) { expect_all_values<__nv_bfloat16>(); }

struct Halves {
  float nearest, zero, up, down, of_double, of_int;
  int to_int, to_int_down;
};

__global__ void round_to_half(const float* in, Halves* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  out[i] = {__half2float(__float2half_rn(x)), __half2float(__float2half_rz(x)),
            __half2float(__float2half_ru(x)), __half2float(__float2half_rd(x)),
            __half2float(__double2half(x)),   __half2float(__int2half_rn(static_cast<int>(x))),
            __half2int_rn(__float2half(x)),   __half2int_rd(__float2half(x))};
}

__global__ void round_to_bfloat16(const float* in, Halves* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  out[i] = {__bfloat162float(__float2bfloat16_rn(x)),
            __bfloat162float(__float2bfloat16_rz(x)),
            __bfloat162float(__float2bfloat16_ru(x)),
            __bfloat162float(__float2bfloat16_rd(x)),
            __bfloat162float(__double2bfloat16(x)),
            __bfloat162float(__int2bfloat16_rn(static_cast<int>(x))),
            __bfloat162int_rn(__float2bfloat16(x)),
            __bfloat162int_rd(__float2bfloat16(x))};
}

template <typename T, typename Kernel>
void expect_rounding(Kernel* kernel) {
  const int n = 2000;
  std::vector<float> values = random_values(n, -1000.0f, 1000.0f);
  for (int i = 0; i < 500; ++i) values[i] *= std::ldexp(1.0f, random_value(-34, 5));
  for (int i = 500; i < 1000; ++i)  // ties
    values[i] = static_cast<float>(nearest<T>(values[i]) + spacing<T>(values[i]) / 2);
  Device<float> in(values);
  Device<Halves> out(n);
  kernel<<<(n + 127) / 128, 128>>>(in.get(), out.get(), n);
  const std::vector<Halves> actual = out.to_host();
  for (int i = 0; i < n; ++i) {
    const long double x = values[i], unit = spacing<T>(x);
    const double down = static_cast<double>(std::floor(x / unit) * unit);
    const double up = static_cast<double>(std::ceil(x / unit) * unit);
    const Halves& h = actual[i];
    expect_equal(h.nearest, nearest<T>(x));
    expect_equal(h.zero, x < 0 ? up : down);
    expect_equal(h.up, up);
    expect_equal(h.down, down);
    expect_equal(h.of_double, nearest<T>(x));
    expect_equal(h.of_int, nearest<T>(std::trunc(x)));
    expect_equal(h.to_int, static_cast<int>(std::nearbyint(nearest<T>(x))));
    expect_equal(h.to_int_down, static_cast<int>(std::floor(nearest<T>(x))));
  }
}

TEST(half_is_rounded_to) { expect_rounding<__half>(round_to_half); }
TEST(bfloat16_is_rounded_to) { expect_rounding<__nv_bfloat16>(round_to_bfloat16); }

struct HalfArithmetic {
  float add, subtract, multiply, divide, fma, negative, magnitude, minimum, maximum;
  float plus, minus, times, over, accumulated;
  int comparisons, operators, is_nan;
};

template <typename T>
__global__ void calculate_halves(const T* a, const T* b, const T* c, HalfArithmetic* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T x = a[i], y = b[i], z = c[i];
  HalfArithmetic& o = out[i];
  o.add = __hadd(x, y);
  o.subtract = __hsub(x, y);
  o.multiply = __hmul(x, y);
  o.divide = __hdiv(x, y);
  o.fma = __hfma(x, y, z);
  o.negative = __hneg(x);
  o.magnitude = __habs(x);
  o.minimum = __hmin(x, y);
  o.maximum = __hmax(x, y);
  o.plus = x + y;
  o.minus = x - y;
  o.times = x * y;
  o.over = x / y;
  T sum = x;
  sum += y;
  o.accumulated = -sum;
  o.comparisons = __heq(x, y) | __hne(x, y) << 1 | __hlt(x, y) << 2 | __hle(x, y) << 3 |
                  __hgt(x, y) << 4 | __hge(x, y) << 5;
  o.operators =
      (x == y) | (x != y) << 1 | (x < y) << 2 | (x <= y) << 3 | (x > y) << 4 | (x >= y) << 5;
  o.is_nan = __hisnan(x);
}

/// Expects a result within one ulp, and infinity exactly if the nearest value is infinite.
template <typename T>
void expect_quotient(double actual, long double exact) {
  if (std::isinf(nearest<T>(exact)))
    expect_equal(actual, nearest<T>(exact));
  else
    expect_near(actual, static_cast<double>(exact), static_cast<double>(spacing<T>(exact)));
}

template <typename T>
void expect_half_arithmetic() {
  const int n = 1000;
  const auto draw = [=](int) { return nearest<T>(random_value(-8.0, 8.0)); };
  auto a = table<double>(n, draw), b = table<double>(n, draw), c = table<double>(n, draw);
  for (int i = 0; i < 20; ++i) a[i] = b[i];
  a[20] = not_a_number;
  for (int i = 21; i < 24; ++i) b[i] = std::exp2(Format<T>::least_exponent);  // causes overflow
  const auto upload = [](const std::vector<double>& values) {
    return std::vector<T>(values.begin(), values.end());
  };
  Device<T> device_a(upload(a)), device_b(upload(b)), device_c(upload(c));
  Device<HalfArithmetic> out(n);
  calculate_halves<<<8, 128>>>(device_a.get(), device_b.get(), device_c.get(), out.get(), n);
  const std::vector<HalfArithmetic> actual = out.to_host();
  for (int i = 0; i < n; ++i) {
    const HalfArithmetic& o = actual[i];
    const long double x = a[i], y = b[i], z = c[i];
    const int comparisons =
        (x == y) | (x != y) << 1 | (x < y) << 2 | (x <= y) << 3 | (x > y) << 4 | (x >= y) << 5;
    expect_equal(o.is_nan != 0, i == 20);
    expect_equal(o.operators, comparisons);
    if (i == 20) {
      expect(std::isnan(o.add) && std::isnan(o.times) && std::isnan(o.fma), "NaN spreads");
      continue;
    }
    expect_equal(o.comparisons, comparisons);
    expect_equal(o.add, nearest<T>(x + y));
    expect_equal(o.subtract, nearest<T>(x - y));
    expect_equal(o.multiply, nearest<T>(x * y));
    expect_equal(o.fma, nearest<T>(x * y + z));
    expect_equal(o.negative, a[i] * -1);
    expect_equal(o.magnitude, std::abs(a[i]));
    expect_equal(o.minimum, std::min(a[i], b[i]));
    expect_equal(o.maximum, std::max(a[i], b[i]));
    expect_equal(o.plus, nearest<T>(x + y));
    expect_equal(o.minus, nearest<T>(x - y));
    expect_equal(o.times, nearest<T>(x * y));
    expect_equal(o.accumulated, -nearest<T>(x + y));
    for (const float quotient : {o.divide, o.over}) expect_quotient<T>(quotient, x / y);
  }
}

TEST(half_has_arithmetic) { expect_half_arithmetic<__half>(); }
TEST(bfloat16_has_arithmetic) { expect_half_arithmetic<__nv_bfloat16>(); }

struct HalfFunctions {
  float sqrt, rsqrt, exp, log, sin, reciprocal, floor, ceil, trunc, rint;
};

template <typename T>
__global__ void evaluate_halves(const T* in, HalfFunctions* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const T x = in[i];
  out[i] = {hsqrt(x), hrsqrt(x), hexp(x),  hlog(x),   hsin(x),
            hrcp(x),  hfloor(x), hceil(x), htrunc(x), hrint(x)};
}

template <typename T>
void expect_half_functions() {
  const int n = 500;
  const auto values = table<double>(n, [](int) { return nearest<T>(random_value(0.1, 8.0)); });
  Device<T> in(std::vector<T>(values.begin(), values.end()));
  Device<HalfFunctions> out(n);
  evaluate_halves<<<4, 128>>>(in.get(), out.get(), n);
  const std::vector<HalfFunctions> actual = out.to_host();
  const auto expect_rounded_well = [](float value, double exact) {
    expect_near<double>(value, exact, static_cast<double>(spacing<T>(exact)));
  };
  for (int i = 0; i < n; ++i) {
    const double x = values[i];
    const HalfFunctions& f = actual[i];
    expect_rounded_well(f.sqrt, std::sqrt(x));
    expect_rounded_well(f.rsqrt, 1 / std::sqrt(x));
    expect_rounded_well(f.exp, std::exp(x));
    expect_rounded_well(f.log, std::log(x));
    expect_rounded_well(f.reciprocal, 1 / x);
    expect_near<double>(f.sin, std::sin(x), static_cast<double>(spacing<T>(1)));
    expect_equal(f.floor, std::floor(x));
    expect_equal(f.ceil, std::ceil(x));
    expect_equal(f.trunc, std::trunc(x));
    expect_equal(f.rint, std::nearbyint(x));
  }
}

TEST(half_has_functions) { expect_half_functions<__half>(); }
TEST(bfloat16_has_functions) { expect_half_functions<__nv_bfloat16>(); }

// --- Pairs of 16-bit values

__global__ void calculate_pairs(const float2* a, const float2* b, float2* out) {
  const float2 fa = a[threadIdx.x], fb = b[threadIdx.x];
  float2* const o = out + 16 * threadIdx.x;
  const __half2 x = __floats2half2_rn(fa.x, fa.y), y = __float22half2_rn(fb);
  o[0] = __half22float2(__hadd2(x, y));
  o[1] = __half22float2(__hmul2(x, y));
  o[2] = __half22float2(__hsub2(x, y));
  o[3] = __half22float2(__hfma2(x, y, x));
  o[4] = __half22float2(x * y);
  o[5] = make_float2(__low2float(x), __high2float(x));
  o[6] = __half22float2(__lowhigh2highlow(x));
  o[7] = __half22float2(__halves2half2(__high2half(x), __low2half(y)));
  o[8] = __half22float2(__half2half2(x.x));
  o[9] = __half22float2(__float2half2_rn(fa.y));
  o[10] = __half22float2(__hmax2(x, y));
  o[11] = __half22float2(__hlt2(x, y));
  o[12] = make_float2(__half2float(make_half2(x.y, y.x).x), static_cast<float>(__hbeq2(x, x)));
  const __nv_bfloat162 s = __floats2bfloat162_rn(fa.x, fa.y), t = __float22bfloat162_rn(fb);
  o[13] = __bfloat1622float2(__hadd2(s, t));
  o[14] = __bfloat1622float2(__hfma2(s, t, s));
  o[15] = make_float2(__low2float(s * t), __high2float(s * t));
}

TEST(pairs_have_arithmetic) {
  const int n = 64;
  const auto draw = [](int) {  // with few bits, so that both types represent them exactly
    return float2{static_cast<float>(random_value(-64, 64)) / 16,
                  static_cast<float>(random_value(-64, 64)) / 16};
  };
  const auto a = table<float2>(n, draw), b = table<float2>(n, draw);
  Device<float2> device_a(a), device_b(b), out(16 * n);
  calculate_pairs<<<1, n>>>(device_a.get(), device_b.get(), out.get());
  const std::vector<float2> actual = out.to_host();
  for (int i = 0; i < n; ++i) {
    const float2 x = a[i], y = b[i];
    const auto each = [&](const auto& f) { return float2{f(x.x, y.x), f(x.y, y.y)}; };
    const auto half = [](float value) { return static_cast<float>(nearest<__half>(value)); };
    const auto bfloat = [](float value) {
      return static_cast<float>(nearest<__nv_bfloat16>(value));
    };
    const float2 expected[] = {each([&](float p, float q) { return half(p + q); }),
                               each([&](float p, float q) { return half(p * q); }),
                               each([&](float p, float q) { return half(p - q); }),
                               each([&](float p, float q) { return half(p * q + p); }),
                               each([&](float p, float q) { return half(p * q); }),
                               x,
                               {x.y, x.x},
                               {x.y, y.x},
                               {x.x, x.x},
                               {x.y, x.y},
                               each([&](float p, float q) { return std::max(p, q); }),
                               each([&](float p, float q) { return p < q ? 1.0f : 0.0f; }),
                               {x.y, 1},
                               each([&](float p, float q) { return bfloat(p + q); }),
                               each([&](float p, float q) { return bfloat(p * q + p); }),
                               each([&](float p, float q) { return bfloat(p * q); })};
    for (int k = 0; k < 16; ++k) {
      expect_equal(actual[16 * i + k].x, expected[k].x);
      expect_equal(actual[16 * i + k].y, expected[k].y);
    }
  }
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
