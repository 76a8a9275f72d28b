/// \file
/// Shifts in kernels: a shift by at least the width of the value shifts all bits out. Code near
/// shifts, and code that resembles shifts, must still compile.

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <vector>

#include "device.hpp"

using tap::Device;
using tap::expect_equal;

// --- Values of all types

constexpr int widths[] = {0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 255, 1 << 30, -1};
constexpr int width_count = sizeof widths / sizeof *widths;

struct Results {
  long long left, right, assigned_left, assigned_right;
};

template <typename T>
__global__ void shift_all(T number, const int* by, Results* out) {
  const int i = threadIdx.x;
  T left = number, right = number;
  left <<= by[i];
  right >>= by[i];
  out[i].left = number << by[i];
  out[i].right = number >> by[i];
  out[i].assigned_left = left;
  out[i].assigned_right = right;
}

/// Shifts one bit at a time, which gives the result of a GPU.
template <typename Number>
Number shifted(Number number, unsigned by, bool to_left) {
  for (unsigned i = 0; i < by && i < 64; ++i)
    number = to_left ? static_cast<Number>(static_cast<std::uint64_t>(number) * 2) : number >> 1;
  return number;
}

template <typename T>
void compare_shifts() {
  for (const T number : {T(1), T(77), T(-1), T(std::uint64_t{1} << (8 * sizeof(T) - 1))}) {
    Device<int> by(std::vector<int>(widths, widths + width_count));
    Device<Results> out(width_count);
    shift_all<<<1, width_count>>>(number, by.get(), out.get());
    const std::vector<Results> actual = out.to_host();
    for (int i = 0; i < width_count; ++i) {
      const auto width = static_cast<unsigned>(widths[i]);
      const auto left = shifted(+number, width, true), right = shifted(+number, width, false);
      expect_equal(actual[i].left, static_cast<long long>(left));
      expect_equal(actual[i].right, static_cast<long long>(right));
      expect_equal(actual[i].assigned_left, static_cast<long long>(static_cast<T>(left)));
      expect_equal(actual[i].assigned_right, static_cast<long long>(static_cast<T>(right)));
    }
  }
}

TEST(numbers_of_all_types_are_shifted_out) {
  compare_shifts<bool>();
  compare_shifts<char>();
  compare_shifts<signed char>();
  compare_shifts<unsigned char>();
  compare_shifts<short>();
  compare_shifts<unsigned short>();
  compare_shifts<int>();
  compare_shifts<unsigned>();
  compare_shifts<long>();
  compare_shifts<unsigned long>();
  compare_shifts<long long>();
  compare_shifts<unsigned long long>();
}

// --- Shift widths of other types, volatile values, several shifts in a statement

enum Plain { five = 5, forty = 40 };

__global__ void shift_by_others(const std::int64_t* wide, const unsigned char* narrow, int* out) {
  volatile int number = 3;
  number <<= *narrow;
  out[0] = number;
  out[1] = 1 << *wide;  // only the lower 32 bits of the width matter
  out[2] = (1 << five) + (five << *narrow);
  const Plain width = *narrow > 30 ? forty : five;
  out[3] = 1 << width >> *narrow << (*narrow > 30);
  out[4] = 1 << *narrow >> 1 << *narrow / 32;
  int i = 0, several[2] = {1, 1};
  several[i++] <<= *narrow == 31 ? 4 : 5;
  out[5] = several[0] * 100 + several[1] * 10 + i;
}

TEST(widths_may_be_of_any_type) {
  Device<std::int64_t> wide(std::vector<std::int64_t>{(std::int64_t{1} << 32) + 3});
  Device<unsigned char> narrow(std::vector<unsigned char>{31});
  Device<int> out(6);
  shift_by_others<<<1, 1>>>(wide.get(), narrow.get(), out.get());
  const int least = -0x7FFFFFFF - 1;
  expect_equal(out.to_host(), std::vector<int>{least, 8, 32 + least, 0, least / 2, 1611});
}

// --- Bit fields, which have no address

struct Fields {
  unsigned low : 5, high : 7;
  std::int64_t sum : 40;
  int field = 1;
};

__global__ void shift_fields(const int* by, int* out) {
  Fields f{};
  f.low = 3;
  f.high = 65;
  f.sum = -8;
  f.low <<= *by;
  f.high >>= *by;
  f.sum >>= *by;
  f.field <<= *by + 32;
  out[0] = static_cast<int>(f.low);
  out[1] = static_cast<int>(f.high);
  out[2] = static_cast<int>(f.sum);
  out[3] = f.field;
  out[4] = -1 < f.low << *by;  // a narrow bit field becomes an int
  out[5] = 1 << f.low;
}

TEST(fields_of_bits_are_shifted) {
  Device<int> by(std::vector<int>{2}), out(6);
  shift_fields<<<1, 1>>>(by.get(), out.get());
  expect_equal(out.to_host(), std::vector<int>{12, 16, -2, 0, 1, 4096});
}

// --- Constant expressions

template <int n>
struct Number {
  static constexpr int value = n;
};

template <typename T>
__host__ __device__ constexpr T power(int n) {
  return T{1} << n;
}
static_assert(power<int>(5) == 32 && power<std::int64_t>(40) == std::int64_t{1} << 40, "");

template <int n>
__global__ void use_constants(int* out) {
  constexpr int three = 3;
  enum Local { eight = 1 << three, high = 1 << (n - 1) };
  static_assert(1 << three == eight && (high >> n) == 0, "");
  const int array[1 << three] = {7, 6};
  __shared__ int shared[1 << n];
  unsigned char brace{1 << three};
  out[0] = static_cast<int>(sizeof array / sizeof *array);
  out[1] = static_cast<int>(sizeof shared / sizeof *shared);
  out[2] = Number<1 << three>::value + Number<(256 >> n)>::value;
  out[3] = power<int>(three) + brace;
  switch (n) {
    case 1 << (three - 1):
      out[4] = 1;
      break;
    default:
      out[4] = 0;
  }
  if constexpr ((1 << n) > 8) out[5] = array[power<int>(0)];
}

TEST(constants_stay_constant) {
  Device<int> out(6);
  use_constants<4><<<1, 1>>>(out.get());
  expect_equal(out.to_host(), std::vector<int>{8, 16, 24, 16, 1, 6});
  volatile int by = 4;
  expect_equal(power<int>(by), 16);
}

// --- Types with user-defined shifts

enum class Flags : unsigned { none = 0, one = 1 };
__host__ __device__ constexpr Flags operator<<(Flags flags, int by) {
  return static_cast<Flags>(static_cast<unsigned>(flags) << by);
}
__host__ __device__ inline Flags& operator<<=(Flags& flags, int by) { return flags = flags << by; }

enum Steps { first_step, second_step, third_step };
__host__ __device__ inline Steps operator<<(Steps step, int by) {
  return static_cast<Steps>(static_cast<int>(step) + by);
}
__host__ __device__ inline Steps& operator<<=(Steps& step, int by) { return step = step << by; }

template <typename T>
struct Pair {
  T a, b;
  __host__ __device__ Pair& operator<<=(T by) {
    a <<= by;
    b <<= by;
    return *this;
  }
};
template <typename T, typename By>
__host__ __device__ Pair<T> operator<<(const Pair<T>& pair, const By& by) {
  return {pair.a << by, pair.b << by};
}

/// Accepts shifted values of any type, as a stream does.
struct Sum {
  double sum = 0;
  int count = 0;
  template <typename T>
  __host__ __device__ Sum& operator<<(const T& value) {
    sum += static_cast<double>(value);
    ++count;
    return *this;
  }
  template <typename T>
  __host__ __device__ Sum& operator<<=(const T& value) {
    return *this << value << value;
  }
  Sum() = default;
  Sum(const Sum&) = delete;
};

template <typename... Ts>
__device__ void add_all(Sum& sum, const Ts&... values) {
  (sum << ... << values);
}

template <typename T>
__device__ T shift_dependent(T value, int by) {
  value <<= by;
  return value << by;
}

__global__ void use_own_shifts(const int* by, int* out) {
  Flags flags = Flags::one << *by;
  flags <<= *by;
  out[0] = static_cast<int>(flags);
  Steps step = first_step << *by;
  step <<= *by - 1;
  out[1] = static_cast<int>(step);
  const Pair<int> pair = shift_dependent(Pair<int>{1, 3}, *by);
  out[2] = pair.a * 100 + pair.b;
  out[3] = shift_dependent(5, *by) + shift_dependent(1, 16);
  Sum sum;
  sum << *by << 0.5 << *by + 1;
  sum <<= *by;
  add_all(sum, *by, 2.0f);
  out[4] = static_cast<int>(sum.sum * 100) + sum.count;
  const Pair<Pair<int>> nested{{1, *by}, {2, 3}};
  out[5] = nested.a.b < 3 >> *by;
}

TEST(types_have_their_own_shifts) {
  Device<int> by(std::vector<int>{2}), out(6);
  use_own_shifts<<<1, 1>>>(by.get(), out.get());
  expect_equal(out.to_host(), std::vector<int>{16, 3, 1648, 80, 1357, 0});
}

__host__ __device__ int describe(std::ostream* stream, int value) {
#ifndef __CUDA_ARCH__
  if (stream != nullptr) *stream << value << ": " << std::hex << (value << 1) << std::endl;
#endif
  return value << 1;
}

template <typename Stream>
__host__ __device__ void write(Stream& stream, int value) {
  stream << value << ' ' << std::bitset<4>(5) << "; ";
}

__global__ void use_both_sides(int* out) { *out = describe(nullptr, 21); }

TEST(functions_of_both_sides_write_to_streams) {
  Device<int> out(1);
  use_both_sides<<<1, 1>>>(out.get());
  std::ostringstream stream;
  write(stream, 3);
  expect_equal(describe(&stream, 21), out.to_host()[0]);
  expect_equal(stream.str(), std::string("3 0101; 21: 2a\n"));
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
