/// \file
/// The matrix instructions of PTX, as inline assembly: ldmatrix, stmatrix and movmatrix, all shapes
/// and types of mma.sync, and the variants of cp.async. Results are compared with sums in double
/// precision. The positions of elements follow the PTX ISA.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::random_value;

// --- Transfers: lane i passes the address of row i mod 8 of matrix i / 8

using Elements = std::vector<std::uint16_t>;

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

template <int matrices, bool transposes>
__global__ void load(const std::uint16_t* in, unsigned* out) {
  __shared__ alignas(16) std::uint16_t rows[32][8];
  for (int i = 0; i < 8; ++i) rows[threadIdx.x][i] = in[8 * threadIdx.x + i];
  __syncwarp();
  const unsigned from = shared_address(rows[threadIdx.x % (8 * matrices)]);
  unsigned r[4] = {};
  if constexpr (matrices == 1 && !transposes)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(from));
  else if constexpr (matrices == 1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(from));
  else if constexpr (matrices == 2 && !transposes)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(from));
  else if constexpr (matrices == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(from));
  else if constexpr (!transposes)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from));
  for (int i = 0; i < matrices; ++i) out[matrices * threadIdx.x + i] = r[i];
}

template <int matrices, bool transposes>
__global__ void store(const unsigned* in, std::uint16_t* out) {
  __shared__ alignas(16) std::uint16_t rows[8 * matrices][8];
  const unsigned to = shared_address(rows[threadIdx.x % (8 * matrices)]);
  unsigned r[4] = {};
  for (int i = 0; i < matrices; ++i) r[i] = in[matrices * threadIdx.x + i];
  if constexpr (matrices == 1 && !transposes)
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" : : "r"(to), "r"(r[0]));
  else if constexpr (matrices == 1)
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};"
                 :
                 : "r"(to), "r"(r[0]));
  else if constexpr (matrices == 2 && !transposes)
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
                 :
                 : "r"(to), "r"(r[0]), "r"(r[1]));
  else if constexpr (matrices == 2)
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};"
                 :
                 : "r"(to), "r"(r[0]), "r"(r[1]));
  else if constexpr (!transposes)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(to), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]));
  else
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(to), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]));
  __syncwarp();
  if (threadIdx.x < 8 * matrices)
    for (int i = 0; i < 8; ++i) out[8 * threadIdx.x + i] = rows[threadIdx.x][i];
}

/// The index of the element in half `half` of register `matrix` of a lane. Rows have 8 elements.
std::size_t place(int matrix, int lane, int half, bool transposes) {
  const int row = lane / 4, column = 2 * (lane % 4) + half;
  return transposes ? 64 * matrix + 8 * column + row : 64 * matrix + 8 * row + column;
}

template <int matrices, bool transposes>
void expect_transfers() {
  const auto elements = tap::random_values<std::uint16_t>(256, 0, 65535);
  const Device<std::uint16_t> in(elements);
  const Device<unsigned> registers(32 * matrices);
  load<matrices, transposes><<<1, 32>>>(in.get(), registers.get());
  const auto found = registers.to_host();
  for (int lane = 0; lane < 32; ++lane)
    for (int matrix = 0; matrix < matrices; ++matrix)
      for (int half = 0; half < 2; ++half)
        expect_equal(found[matrices * lane + matrix] >> 16 * half & 0xffff,
                     elements[place(matrix, lane, half, transposes)]);
  // Storing the matrices must restore the original positions.
  const Device<std::uint16_t> out(64 * matrices);
  store<matrices, transposes><<<1, 32>>>(registers.get(), out.get());
  expect_equal(out.to_host(), Elements(elements.begin(), elements.begin() + 64 * matrices));
}

TEST(matrices_are_loaded_and_stored) {
  expect_transfers<1, false>();
  expect_transfers<2, false>();
  expect_transfers<4, false>();
}
TEST(matrices_are_transposed_when_they_are_loaded_and_stored) {
  expect_transfers<1, true>();
  expect_transfers<2, true>();
  expect_transfers<4, true>();
}

__global__ void transpose(const unsigned* in, unsigned* out) {
  unsigned result;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
               : "=r"(result)
               : "r"(in[threadIdx.x]));
  out[threadIdx.x] = result;
}

TEST(a_matrix_is_transposed_in_registers) {
  const auto words = tap::random_values<unsigned>(32, 0, ~0u);
  const Device<unsigned> in(words), out(32);
  transpose<<<1, 32>>>(in.get(), out.get());
  const auto found = out.to_host();
  const auto element = [](const std::vector<unsigned>& of, int row, int column) {
    return of[4 * row + column / 2] >> 16 * (column % 2) & 0xffff;
  };
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column)
      expect_equal(element(found, row, column), element(words, column, row));
}

// --- Products. A type defines the storage of its elements, and draws random elements.

struct Drawn {
  std::uint64_t bits;
  double value;
};

template <typename Value, typename Bits>
Bits bits_of(Value value) {
  Bits bits;
  static_assert(sizeof bits == sizeof value, "bits have the size of what they are of");
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

struct F16 {
  static constexpr int bits = 16;
  static Drawn draw() {
    const __half number = __float2half(random_value(-2.0f, 2.0f));
    return {bits_of<__half, std::uint16_t>(number), __half2float(number)};
  }
  static double value(std::uint64_t word) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(word)));
  }
};
struct BF16 {
  static constexpr int bits = 16;
  static Drawn draw() {
    const __nv_bfloat16 number = __float2bfloat16(random_value(-2.0f, 2.0f));
    return {bits_of<__nv_bfloat16, std::uint16_t>(number), __bfloat162float(number)};
  }
};
struct TF32 {
  static constexpr int bits = 32;
  static Drawn draw() {  // 10 fraction bits, like results of cvt.rna.tf32
    const float number = std::ldexp(static_cast<float>(random_value(-2048, 2048)), -10);
    return {bits_of<float, std::uint32_t>(number), number};
  }
};
struct F32 {
  static constexpr int bits = 32;
  static Drawn draw() {
    const float number = random_value(-2.0f, 2.0f);
    return {bits_of<float, std::uint32_t>(number), number};
  }
  static double value(std::uint64_t word) {
    return bits_of<std::uint32_t, float>(static_cast<std::uint32_t>(word));
  }
};
struct F64 {
  static constexpr int bits = 64;
  static Drawn draw() {
    const double number = random_value(-2.0, 2.0);
    return {bits_of<double, std::uint64_t>(number), number};
  }
  static double value(std::uint64_t word) { return bits_of<std::uint64_t, double>(word); }
};
template <typename Float>
struct EightBits {
  static constexpr int bits = 8;
  static Drawn draw() {
    const Float number(random_value(-2.0f, 2.0f));
    return {number.__x, static_cast<float>(number)};
  }
};
using E4M3 = EightBits<__nv_fp8_e4m3>;
using E5M2 = EightBits<__nv_fp8_e5m2>;
template <int bits_, int low, int high>
struct Integer {
  static constexpr int bits = bits_;
  static Drawn draw() {
    const int number = random_value(low, high);
    return {static_cast<std::uint64_t>(number) & ((1ull << bits) - 1), static_cast<double>(number)};
  }
};
using S8 = Integer<8, -128, 127>;
using U8 = Integer<8, 0, 255>;
using S4 = Integer<4, -8, 7>;
using U4 = Integer<4, 0, 15>;
using B1 = Integer<1, 0, 1>;
struct S32 {
  static constexpr int bits = 32;
  static Drawn draw() {
    const int number = random_value(-100000, 100000);
    return {static_cast<std::uint32_t>(number), static_cast<double>(number)};
  }
  static double value(std::uint64_t word) { return static_cast<std::int32_t>(word); }
};

/// The register type for elements of a type: .f64, .f32 or .b32 in PTX.
template <typename Type>
struct Register {
  using Value = std::uint32_t;
};
template <>
struct Register<F64> {
  using Value = double;
};
template <>
struct Register<F32> {
  using Value = float;
};

struct Position {
  int row, column;
};

/// A shape, with the types of its matrices. `exact` sums have no rounding errors.
template <int rows_, int depth_, typename DType, typename AType, typename BType, typename CType>
struct Shape {
  using D = DType;
  using A = AType;
  using B = BType;
  using C = CType;
  static constexpr int rows = rows_, depth = depth_, products = 1;
  template <typename Type>
  static constexpr int packed = (Type::bits == 64 ? 64 : 32) / Type::bits;
  template <typename Type>
  static constexpr int registers(int elements) {
    return elements / 32 / packed<Type>;
  }
  static constexpr int in_d = registers<D>(rows * 8), in_a = registers<A>(rows * depth),
                       in_b = registers<B>(depth * 8), in_c = registers<C>(rows * 8);

  // Positions of element i of a fragment: the formulas of the PTX ISA with groupID = lane / 4 and
  // threadID_in_group = lane % 4.
  static bool is_of(int, int) { return true; }
  static Position a(int lane, int i) {
    const int width = packed<A>, index = i / width;
    return {lane / 4 + (rows == 16 && index % 2 == 1 ? 8 : 0),
            lane % 4 * width + i % width + (rows == 16 ? index / 2 : index) * 4 * width};
  }
  static Position b(int lane, int i) {
    const int width = packed<B>;
    return {lane % 4 * width + i % width + i / width * 4 * width, lane / 4};
  }
  template <typename Type>
  static Position sum(int lane, int i) {
    return {lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + i % 2};
  }
  static double combine(double x, double y) { return x * y; }
};

/// The shape m8n8k4 of f16: four products. Lanes 4q to 4q + 3 and lanes 4q + 16 to 4q + 19
/// compute product q.
template <typename DType, typename CType, bool a_by_columns, bool b_by_rows>
struct FourProducts : Shape<8, 4, DType, F16, F16, CType> {
  using Base = Shape<8, 4, DType, F16, F16, CType>;
  static constexpr int products = 4;
  static constexpr int in_d = 4 * Base::in_d, in_a = Base::template registers<F16>(4 * 8 * 4),
                       in_b = in_a, in_c = 4 * Base::in_c;

  static bool is_of(int lane, int product) { return lane % 16 / 4 == product; }
  static int upper(int lane) { return lane < 16 ? 0 : 4; }
  static Position a(int lane, int i) {
    return a_by_columns ? Position{i + upper(lane), lane % 4} : Position{lane % 4 + upper(lane), i};
  }
  static Position b(int lane, int i) {
    return b_by_rows ? Position{lane % 4, i + upper(lane)} : Position{i, lane % 4 + upper(lane)};
  }
  template <typename Type>
  static Position sum(int lane, int i) {
    if (Type::bits == 16) return {lane % 4 + upper(lane), i};
    return {(lane & 1) + (i & 2) + upper(lane), (i & 4) + (lane & 2) + (i & 1)};
  }
};

// The instruction for a shape. The digits in a name are the numbers of registers of D, A, B and C.
// S and F are the constraints of the registers.
#define MMA_2_1_1_2(name, S, F)                        \
  asm volatile(name " {%0, %1}, {%2}, {%3}, {%4, %5};" \
               : "=" S(d[0]), "=" S(d[1])              \
               : F(a[0]), F(b[0]), S(c[0]), S(c[1]))
#define MMA_2_2_1_2(name, S, F)                            \
  asm volatile(name " {%0, %1}, {%2, %3}, {%4}, {%5, %6};" \
               : "=" S(d[0]), "=" S(d[1])                  \
               : F(a[0]), F(a[1]), F(b[0]), S(c[0]), S(c[1]))
#define MMA_2_4_2_2(name, S, F)                                        \
  asm volatile(name " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};" \
               : "=" S(d[0]), "=" S(d[1])                              \
               : F(a[0]), F(a[1]), F(a[2]), F(a[3]), F(b[0]), F(b[1]), S(c[0]), S(c[1]))
#define MMA_4_2_1_4(name, S, F)                                             \
  asm volatile(name " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};" \
               : "=" S(d[0]), "=" S(d[1]), "=" S(d[2]), "=" S(d[3])         \
               : F(a[0]), F(a[1]), F(b[0]), S(c[0]), S(c[1]), S(c[2]), S(c[3]))
#define MMA_4_2_2_4(name, S, F)                                                  \
  asm volatile(name " {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11};" \
               : "=" S(d[0]), "=" S(d[1]), "=" S(d[2]), "=" S(d[3])              \
               : F(a[0]), F(a[1]), F(b[0]), F(b[1]), S(c[0]), S(c[1]), S(c[2]), S(c[3]))
#define MMA_4_4_2_4(name, S, F)                                                                   \
  asm volatile(name " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"        \
               : "=" S(d[0]), "=" S(d[1]), "=" S(d[2]), "=" S(d[3])                               \
               : F(a[0]), F(a[1]), F(a[2]), F(a[3]), F(b[0]), F(b[1]), S(c[0]), S(c[1]), S(c[2]), \
                 S(c[3]))
#define MMA_4_8_4_4(name, S, F)                                                                   \
  asm volatile(name                                                                               \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, "    \
               "{%16, %17, %18, %19};"                                                            \
               : "=" S(d[0]), "=" S(d[1]), "=" S(d[2]), "=" S(d[3])                               \
               : F(a[0]), F(a[1]), F(a[2]), F(a[3]), F(a[4]), F(a[5]), F(a[6]), F(a[7]), F(b[0]), \
                 F(b[1]), F(b[2]), F(b[3]), S(c[0]), S(c[1]), S(c[2]), S(c[3]))
#define MMA_8_2_2_8(name, S, F)                                                                   \
  asm volatile(name                                                                               \
               " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, "                        \
               "{%12, %13, %14, %15, %16, %17, %18, %19};"                                        \
               : "=" S(d[0]), "=" S(d[1]), "=" S(d[2]), "=" S(d[3]), "=" S(d[4]), "=" S(d[5]),    \
                 "=" S(d[6]), "=" S(d[7])                                                         \
               : F(a[0]), F(a[1]), F(b[0]), F(b[1]), S(c[0]), S(c[1]), S(c[2]), S(c[3]), S(c[4]), \
                 S(c[5]), S(c[6]), S(c[7]))

/// Defines a struct that derives from a shape, with a member function for the instruction.
#define PRODUCT(struct_name, mma, instruction, S, F, ...)              \
  struct struct_name : __VA_ARGS__ {                                   \
    template <typename Sum, typename Factor>                           \
    static __device__ void run(Sum* d, Factor* a, Factor* b, Sum* c) { \
      mma("mma.sync.aligned." instruction, S, F);                      \
    }                                                                  \
  };

template <typename P>
__global__ void multiply(const std::uint64_t* in, std::uint64_t* out) {
  typename Register<typename P::A>::Value a[P::in_a], b[P::in_b];
  typename Register<typename P::C>::Value c[P::in_c], d[P::in_d] = {};
  const auto take = [&](auto& of, int first, int i) {
    memcpy(&of, in + 32 * (first + i) + threadIdx.x, sizeof of);
  };
  for (int i = 0; i < P::in_a; ++i) take(a[i], 0, i);
  for (int i = 0; i < P::in_b; ++i) take(b[i], P::in_a, i);
  for (int i = 0; i < P::in_c; ++i) take(c[i], P::in_a + P::in_b, i);
  P::run(d, a, b, c);
  for (int i = 0; i < P::in_d; ++i) {
    std::uint64_t word = 0;
    memcpy(&word, &d[i], sizeof d[i]);
    out[32 * i + threadIdx.x] = word;
  }
}

/// Draws random elements of a matrix into the registers of a warp, and returns their values.
template <typename Type, typename P, typename Place>
std::vector<double> draw(std::vector<std::uint64_t>& words, int registers, int columns,
                         const Place& place) {
  const std::size_t first = words.size();
  words.resize(first + 32 * static_cast<std::size_t>(registers));
  std::vector<double> values(static_cast<std::size_t>(P::products) * 16 * columns);
  constexpr int packed = P::template packed<Type>;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < registers * packed; ++i)
      for (int product = 0; product < P::products; ++product) {
        if (!P::is_of(lane, product)) continue;
        const Drawn drawn = Type::draw();
        const Position at = place(lane, i);
        words[first + 32 * (i / packed) + lane] |= drawn.bits << i % packed * Type::bits;
        values[(product * 16 + at.row) * columns + at.column] = drawn.value;
      }
  return values;
}

/// Checks a product against a sum in double precision. The error must be at most `tolerance` times
/// the sum of the magnitudes of all terms.
template <typename P>
void expect_product(double tolerance, bool counts_xor = false) {
  std::vector<std::uint64_t> words;
  const auto a = draw<typename P::A, P>(words, P::in_a, P::depth, P::a);
  const auto transposed = [](int lane, int i) {
    const Position at = P::b(lane, i);
    return Position{at.column, at.row};
  };
  const auto b = draw<typename P::B, P>(words, P::in_b, P::depth, transposed);
  const auto c = draw<typename P::C, P>(words, P::in_c, 8, P::template sum<typename P::C>);
  const Device<std::uint64_t> in(words), out(32 * P::in_d);
  multiply<P><<<1, 32>>>(in.get(), out.get());
  const auto found = out.to_host();
  constexpr int packed = P::template packed<typename P::D>;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < P::in_d * packed; ++i)
      for (int product = 0; product < P::products; ++product) {
        if (!P::is_of(lane, product)) continue;
        const Position at = P::template sum<typename P::D>(lane, i);
        double sum = c[(product * 16 + at.row) * 8 + at.column], size = std::abs(sum);
        for (int k = 0; k < P::depth; ++k) {
          const double x = a[(product * 16 + at.row) * P::depth + k];
          const double y = b[(product * 16 + at.column) * P::depth + k];
          const double term = counts_xor ? std::abs(x - y) : x * y;
          sum += term;
          size += std::abs(term);
        }
        const double value =
            P::D::value(found[32 * (i / packed) + lane] >> i % packed * P::D::bits);
        tap::expect_near(value, sum, tolerance * size);
      }
}

constexpr double of_f64 = 1e-14, of_f32 = 1e-6, of_f16 = 1e-3, of_8_bits = 1e-3;

PRODUCT(F16K8ToF32, MMA_4_2_1_4, "m16n8k8.row.col.f32.f16.f16.f32", "f", "r",
        Shape<16, 8, F32, F16, F16, F32>)
PRODUCT(F16K8ToF16, MMA_2_2_1_2, "m16n8k8.row.col.f16.f16.f16.f16", "r", "r",
        Shape<16, 8, F16, F16, F16, F16>)
PRODUCT(BF16K8, MMA_4_2_1_4, "m16n8k8.row.col.f32.bf16.bf16.f32", "f", "r",
        Shape<16, 8, F32, BF16, BF16, F32>)
PRODUCT(F16K16ToF32, MMA_4_4_2_4, "m16n8k16.row.col.f32.f16.f16.f32", "f", "r",
        Shape<16, 16, F32, F16, F16, F32>)
PRODUCT(F16K16ToF16, MMA_2_4_2_2, "m16n8k16.row.col.f16.f16.f16.f16", "r", "r",
        Shape<16, 16, F16, F16, F16, F16>)
PRODUCT(BF16K16, MMA_4_4_2_4, "m16n8k16.row.col.f32.bf16.bf16.f32", "f", "r",
        Shape<16, 16, F32, BF16, BF16, F32>)
PRODUCT(TF32K4, MMA_4_2_1_4, "m16n8k4.row.col.f32.tf32.tf32.f32", "f", "r",
        Shape<16, 4, F32, TF32, TF32, F32>)
PRODUCT(TF32K8, MMA_4_4_2_4, "m16n8k8.row.col.f32.tf32.tf32.f32", "f", "r",
        Shape<16, 8, F32, TF32, TF32, F32>)
PRODUCT(F64M8K4, MMA_2_1_1_2, "m8n8k4.row.col.f64.f64.f64.f64", "d", "d",
        Shape<8, 4, F64, F64, F64, F64>)
PRODUCT(F64M16K4, MMA_4_2_1_4, "m16n8k4.row.col.f64.f64.f64.f64", "d", "d",
        Shape<16, 4, F64, F64, F64, F64>)
PRODUCT(F64M16K8, MMA_4_4_2_4, "m16n8k8.row.col.f64.f64.f64.f64", "d", "d",
        Shape<16, 8, F64, F64, F64, F64>)
PRODUCT(F64M16K16, MMA_4_8_4_4, "m16n8k16.row.col.f64.f64.f64.f64", "d", "d",
        Shape<16, 16, F64, F64, F64, F64>)
PRODUCT(E4M3E4M3K16ToF32, MMA_4_2_1_4, "m16n8k16.row.col.f32.e4m3.e4m3.f32", "f", "r",
        Shape<16, 16, F32, E4M3, E4M3, F32>)
PRODUCT(E4M3E4M3K16ToF16, MMA_2_2_1_2, "m16n8k16.row.col.f16.e4m3.e4m3.f16", "r", "r",
        Shape<16, 16, F16, E4M3, E4M3, F16>)
PRODUCT(E5M2E5M2K16ToF32, MMA_4_2_1_4, "m16n8k16.row.col.f32.e5m2.e5m2.f32", "f", "r",
        Shape<16, 16, F32, E5M2, E5M2, F32>)
PRODUCT(E5M2E5M2K16ToF16, MMA_2_2_1_2, "m16n8k16.row.col.f16.e5m2.e5m2.f16", "r", "r",
        Shape<16, 16, F16, E5M2, E5M2, F16>)
PRODUCT(E4M3E5M2K16ToF32, MMA_4_2_1_4, "m16n8k16.row.col.f32.e4m3.e5m2.f32", "f", "r",
        Shape<16, 16, F32, E4M3, E5M2, F32>)
PRODUCT(E4M3E5M2K16ToF16, MMA_2_2_1_2, "m16n8k16.row.col.f16.e4m3.e5m2.f16", "r", "r",
        Shape<16, 16, F16, E4M3, E5M2, F16>)
PRODUCT(E4M3E4M3K32ToF32, MMA_4_4_2_4, "m16n8k32.row.col.f32.e4m3.e4m3.f32", "f", "r",
        Shape<16, 32, F32, E4M3, E4M3, F32>)
PRODUCT(E4M3E4M3K32ToF16, MMA_2_4_2_2, "m16n8k32.row.col.f16.e4m3.e4m3.f16", "r", "r",
        Shape<16, 32, F16, E4M3, E4M3, F16>)
PRODUCT(E5M2E5M2K32ToF32, MMA_4_4_2_4, "m16n8k32.row.col.f32.e5m2.e5m2.f32", "f", "r",
        Shape<16, 32, F32, E5M2, E5M2, F32>)
PRODUCT(E5M2E5M2K32ToF16, MMA_2_4_2_2, "m16n8k32.row.col.f16.e5m2.e5m2.f16", "r", "r",
        Shape<16, 32, F16, E5M2, E5M2, F16>)
PRODUCT(E4M3E5M2K32ToF32, MMA_4_4_2_4, "m16n8k32.row.col.f32.e4m3.e5m2.f32", "f", "r",
        Shape<16, 32, F32, E4M3, E5M2, F32>)
PRODUCT(E4M3E5M2K32ToF16, MMA_2_4_2_2, "m16n8k32.row.col.f16.e4m3.e5m2.f16", "r", "r",
        Shape<16, 32, F16, E4M3, E5M2, F16>)
PRODUCT(S8S8M8K16, MMA_2_1_1_2, "m8n8k16.row.col.s32.s8.s8.s32", "r", "r",
        Shape<8, 16, S32, S8, S8, S32>)
PRODUCT(U8S8M8K16, MMA_2_1_1_2, "m8n8k16.row.col.s32.u8.s8.s32", "r", "r",
        Shape<8, 16, S32, U8, S8, S32>)
PRODUCT(S8U8M8K16, MMA_2_1_1_2, "m8n8k16.row.col.s32.s8.u8.s32", "r", "r",
        Shape<8, 16, S32, S8, U8, S32>)
PRODUCT(U8U8M8K16, MMA_2_1_1_2, "m8n8k16.row.col.s32.u8.u8.s32", "r", "r",
        Shape<8, 16, S32, U8, U8, S32>)
PRODUCT(S8S8M16K16, MMA_4_2_1_4, "m16n8k16.row.col.s32.s8.s8.s32", "r", "r",
        Shape<16, 16, S32, S8, S8, S32>)
PRODUCT(U8S8M16K16, MMA_4_2_1_4, "m16n8k16.row.col.s32.u8.s8.s32", "r", "r",
        Shape<16, 16, S32, U8, S8, S32>)
PRODUCT(S8U8M16K16, MMA_4_2_1_4, "m16n8k16.row.col.s32.s8.u8.s32", "r", "r",
        Shape<16, 16, S32, S8, U8, S32>)
PRODUCT(U8U8M16K16, MMA_4_2_1_4, "m16n8k16.row.col.s32.u8.u8.s32", "r", "r",
        Shape<16, 16, S32, U8, U8, S32>)
PRODUCT(S8S8M16K32, MMA_4_4_2_4, "m16n8k32.row.col.s32.s8.s8.s32", "r", "r",
        Shape<16, 32, S32, S8, S8, S32>)
PRODUCT(U8S8M16K32, MMA_4_4_2_4, "m16n8k32.row.col.s32.u8.s8.s32", "r", "r",
        Shape<16, 32, S32, U8, S8, S32>)
PRODUCT(S8U8M16K32, MMA_4_4_2_4, "m16n8k32.row.col.s32.s8.u8.s32", "r", "r",
        Shape<16, 32, S32, S8, U8, S32>)
PRODUCT(U8U8M16K32, MMA_4_4_2_4, "m16n8k32.row.col.s32.u8.u8.s32", "r", "r",
        Shape<16, 32, S32, U8, U8, S32>)
PRODUCT(S4S4M8K32, MMA_2_1_1_2, "m8n8k32.row.col.s32.s4.s4.s32", "r", "r",
        Shape<8, 32, S32, S4, S4, S32>)
PRODUCT(U4S4M8K32, MMA_2_1_1_2, "m8n8k32.row.col.s32.u4.s4.s32", "r", "r",
        Shape<8, 32, S32, U4, S4, S32>)
PRODUCT(U4U4M8K32, MMA_2_1_1_2, "m8n8k32.row.col.s32.u4.u4.s32", "r", "r",
        Shape<8, 32, S32, U4, U4, S32>)
PRODUCT(S4S4M16K32, MMA_4_2_1_4, "m16n8k32.row.col.s32.s4.s4.s32", "r", "r",
        Shape<16, 32, S32, S4, S4, S32>)
PRODUCT(U4S4M16K32, MMA_4_2_1_4, "m16n8k32.row.col.s32.u4.s4.s32", "r", "r",
        Shape<16, 32, S32, U4, S4, S32>)
PRODUCT(U4U4M16K32, MMA_4_2_1_4, "m16n8k32.row.col.s32.u4.u4.s32", "r", "r",
        Shape<16, 32, S32, U4, U4, S32>)
PRODUCT(S4S4M16K64, MMA_4_4_2_4, "m16n8k64.row.col.s32.s4.s4.s32", "r", "r",
        Shape<16, 64, S32, S4, S4, S32>)
PRODUCT(U4S4M16K64, MMA_4_4_2_4, "m16n8k64.row.col.s32.u4.s4.s32", "r", "r",
        Shape<16, 64, S32, U4, S4, S32>)
PRODUCT(U4U4M16K64, MMA_4_4_2_4, "m16n8k64.row.col.s32.u4.u4.s32", "r", "r",
        Shape<16, 64, S32, U4, U4, S32>)
PRODUCT(AndM8K128, MMA_2_1_1_2, "m8n8k128.row.col.s32.b1.b1.s32.and.popc", "r", "r",
        Shape<8, 128, S32, B1, B1, S32>)
PRODUCT(XorM8K128, MMA_2_1_1_2, "m8n8k128.row.col.s32.b1.b1.s32.xor.popc", "r", "r",
        Shape<8, 128, S32, B1, B1, S32>)
PRODUCT(AndM16K128, MMA_4_2_1_4, "m16n8k128.row.col.s32.b1.b1.s32.and.popc", "r", "r",
        Shape<16, 128, S32, B1, B1, S32>)
PRODUCT(XorM16K128, MMA_4_2_1_4, "m16n8k128.row.col.s32.b1.b1.s32.xor.popc", "r", "r",
        Shape<16, 128, S32, B1, B1, S32>)
PRODUCT(AndM16K256, MMA_4_4_2_4, "m16n8k256.row.col.s32.b1.b1.s32.and.popc", "r", "r",
        Shape<16, 256, S32, B1, B1, S32>)
PRODUCT(XorM16K256, MMA_4_4_2_4, "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", "r", "r",
        Shape<16, 256, S32, B1, B1, S32>)
PRODUCT(FourRowRowToF32, MMA_8_2_2_8, "m8n8k4.row.row.f32.f16.f16.f32", "f", "r",
        FourProducts<F32, F32, false, true>)
PRODUCT(FourRowRowToF16, MMA_4_2_2_4, "m8n8k4.row.row.f16.f16.f16.f16", "r", "r",
        FourProducts<F16, F16, false, true>)
PRODUCT(FourRowColToF32, MMA_8_2_2_8, "m8n8k4.row.col.f32.f16.f16.f32", "f", "r",
        FourProducts<F32, F32, false, false>)
PRODUCT(FourRowColToF16, MMA_4_2_2_4, "m8n8k4.row.col.f16.f16.f16.f16", "r", "r",
        FourProducts<F16, F16, false, false>)
PRODUCT(FourColRowToF32, MMA_8_2_2_8, "m8n8k4.col.row.f32.f16.f16.f32", "f", "r",
        FourProducts<F32, F32, true, true>)
PRODUCT(FourColRowToF16, MMA_4_2_2_4, "m8n8k4.col.row.f16.f16.f16.f16", "r", "r",
        FourProducts<F16, F16, true, true>)
PRODUCT(FourColColToF32, MMA_8_2_2_8, "m8n8k4.col.col.f32.f16.f16.f32", "f", "r",
        FourProducts<F32, F32, true, false>)
PRODUCT(FourColColToF16, MMA_4_2_2_4, "m8n8k4.col.col.f16.f16.f16.f16", "r", "r",
        FourProducts<F16, F16, true, false>)

TEST(products_of_f16_with_sums_of_f32) {
  expect_product<F16K8ToF32>(of_f32);
  expect_product<F16K16ToF32>(of_f32);
}
TEST(products_of_f16_with_sums_of_f16) {
  expect_product<F16K8ToF16>(of_f16);
  expect_product<F16K16ToF16>(of_f16);
}
TEST(products_of_bf16) {
  expect_product<BF16K8>(of_f32);
  expect_product<BF16K16>(of_f32);
}
TEST(products_of_tf32) {
  expect_product<TF32K4>(of_f32);
  expect_product<TF32K8>(of_f32);
}
TEST(products_of_f64) {
  expect_product<F64M8K4>(of_f64);
  expect_product<F64M16K4>(of_f64);
  expect_product<F64M16K8>(of_f64);
  expect_product<F64M16K16>(of_f64);
}
TEST(products_of_f8) {
  expect_product<E4M3E4M3K16ToF32>(of_8_bits);
  expect_product<E4M3E4M3K16ToF16>(of_8_bits);
  expect_product<E5M2E5M2K16ToF32>(of_8_bits);
  expect_product<E5M2E5M2K16ToF16>(of_8_bits);
  expect_product<E4M3E5M2K16ToF32>(of_8_bits);
  expect_product<E4M3E5M2K16ToF16>(of_8_bits);
  expect_product<E4M3E4M3K32ToF32>(of_8_bits);
  expect_product<E4M3E4M3K32ToF16>(of_8_bits);
  expect_product<E5M2E5M2K32ToF32>(of_8_bits);
  expect_product<E5M2E5M2K32ToF16>(of_8_bits);
  expect_product<E4M3E5M2K32ToF32>(of_8_bits);
  expect_product<E4M3E5M2K32ToF16>(of_8_bits);
}
TEST(products_of_integers_of_8_bits) {
  expect_product<S8S8M8K16>(0);
  expect_product<U8S8M8K16>(0);
  expect_product<S8U8M8K16>(0);
  expect_product<U8U8M8K16>(0);
  expect_product<S8S8M16K16>(0);
  expect_product<U8S8M16K16>(0);
  expect_product<S8U8M16K16>(0);
  expect_product<U8U8M16K16>(0);
  expect_product<S8S8M16K32>(0);
  expect_product<U8S8M16K32>(0);
  expect_product<S8U8M16K32>(0);
  expect_product<U8U8M16K32>(0);
}
TEST(products_of_integers_of_4_bits) {
  expect_product<S4S4M8K32>(0);
  expect_product<U4S4M8K32>(0);
  expect_product<U4U4M8K32>(0);
  expect_product<S4S4M16K32>(0);
  expect_product<U4S4M16K32>(0);
  expect_product<U4U4M16K32>(0);
  expect_product<S4S4M16K64>(0);
  expect_product<U4S4M16K64>(0);
  expect_product<U4U4M16K64>(0);
}
TEST(products_of_bits) {
  expect_product<AndM8K128>(0);
  expect_product<XorM8K128>(0, true);
  expect_product<AndM16K128>(0);
  expect_product<XorM16K128>(0, true);
  expect_product<AndM16K256>(0);
  expect_product<XorM16K256>(0, true);
}
TEST(four_products_of_f16) {
  expect_product<FourRowRowToF32>(of_f32);
  expect_product<FourRowRowToF16>(of_f16);
  expect_product<FourRowColToF32>(of_f32);
  expect_product<FourRowColToF16>(of_f16);
  expect_product<FourColRowToF32>(of_f32);
  expect_product<FourColRowToF16>(of_f16);
  expect_product<FourColColToF32>(of_f32);
  expect_product<FourColColToF16>(of_f16);
}

// --- Sums of integers at the limits of 32 bits

template <bool saturates>
__global__ void overflow(int before, int* out) {
  const unsigned a = 0x7f7f7f7f, b = 0x7f7f7f7f;
  int d[2];
  if constexpr (saturates)
    asm volatile(
        "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %4};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(a), "r"(b), "r"(before));
  else
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %4};"
                 : "=r"(d[0]), "=r"(d[1])
                 : "r"(a), "r"(b), "r"(before));
  out[threadIdx.x] = d[0];
}

TEST(sums_of_integers_wrap_around_or_saturate) {
  constexpr int most = 0x7fffffff, added = 16 * 127 * 127;
  const Device<int> out(32);
  overflow<false><<<1, 32>>>(most, out.get());
  expect_equal(out.to_host(), std::vector<int>(32, static_cast<int>(0x80000000u + (added - 1))));
  overflow<true><<<1, 32>>>(most, out.get());
  expect_equal(out.to_host(), std::vector<int>(32, most));
}

// --- Asynchronous copies of a thread

__global__ void copy(const int* in, int* out, int count) {
  __shared__ alignas(16) int words[4 * 6];
  for (int i = threadIdx.x; i < 24; i += 32) words[i] = -1;
  __syncwarp();
  if (threadIdx.x == 0) {
    unsigned to[6];
    for (int i = 0; i < 6; ++i) to[i] = shared_address(words + 4 * i);
    std::uint64_t policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(to[0]), "l"(in));
    asm volatile("cp.async.cg.shared::cta.global.L2::128B [%0], [%1], 16;"
                 :
                 : "r"(to[1]), "l"(in + 4));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(to[2]), "l"(in + 8), "r"(count));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;"
                 :
                 : "r"(to[3]), "l"(in + 12), "l"(policy));
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %2, 0; cp.async.ca.shared.global [%0], [%1], 8, p; }"
        :
        : "r"(to[4]), "l"(in + 16), "r"(1));
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %2, 0; cp.async.ca.shared.global [%0], [%1], 8, p; }"
        :
        : "r"(to[5]), "l"(in + 20), "r"(0));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group %0;" : : "n"(1));
    for (int i = 0; i < 12; ++i) out[i] = words[i];
    asm volatile("cp.async.wait_all;");
    for (int i = 12; i < 24; ++i) out[i] = words[i];
  }
}

TEST(copies_are_partial_ignored_and_hinted) {
  const auto words = tap::random_values<int>(24, 0, 1 << 30);
  const Device<int> in(words), out(24);
  copy<<<1, 32>>>(in.get(), out.get(), 8);
  auto expected = words;
  for (const int i : {1, 2, 3, 18, 19, 22, 23}) expected[i] = -1;
  for (const int i : {10, 11, 16, 17}) expected[i] = 0;
  expect_equal(out.to_host(), expected);
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
