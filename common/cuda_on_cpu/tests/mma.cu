/// \file
/// The products of a warp in staircase/mma.hpp, compared with a plain triple loop.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <staircase/mma.hpp>
#include <type_traits>
#include <vector>

#include "device.hpp"

using staircase::MatrixPosition;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::expect_near;
using tap::random_value;
using tap::random_values;
using tap::table;

// --- The shapes: C is rows × 8, A rows × depth, B depth × 8; a register holds `packed` elements

template <typename ElementType, typename RegisterType, typename SumType, int rows_, int depth_>
struct Shape {
  using Element = ElementType;
  using Register = RegisterType;
  using Sum = SumType;
  static constexpr int rows = rows_, depth = depth_;
  static constexpr int packed = std::is_same_v<Element, float> || std::is_same_v<Element, double>
                                    ? 1
                                    : static_cast<int>(sizeof(Register) / sizeof(Element));
  static constexpr int in_b = depth / (4 * packed), in_a = in_b * (rows / 8), in_c = rows / 4;
};

struct F64M8N8K4 : Shape<double, double, double, 8, 4> {
  static __device__ void multiply(auto& c, auto& a, auto& b) { staircase::mma_f64_m8n8k4(c, a, b); }
};
struct F64M16N8K4 : Shape<double, double, double, 16, 4> {
  static __device__ void multiply(auto& c, auto& a, auto& b) {
    staircase::mma_f64_m16n8k4(c, a, b);
  }
};
struct F64M16N8K8 : Shape<double, double, double, 16, 8> {
  static __device__ void multiply(auto& c, auto& a, auto& b) {
    staircase::mma_f64_m16n8k8(c, a, b);
  }
};
struct F64M16N8K16 : Shape<double, double, double, 16, 16> {
  static __device__ void multiply(auto& c, auto& a, auto& b) {
    staircase::mma_f64_m16n8k16(c, a, b);
  }
};
struct S8M16N8K32 : Shape<std::int8_t, std::uint32_t, std::int32_t, 16, 32> {
  static __device__ void multiply(auto& c, auto& a, auto& b) {
    staircase::mma_s8_m16n8k32(c, a, b);
  }
};
struct Tf32M16N8K8 : Shape<float, std::uint32_t, float, 16, 8> {
  static __device__ void multiply(auto& c, auto& a, auto& b) {
    staircase::mma_tf32_m16n8k8(c, a, b);
  }
};
struct Bf16M16N8K16 : Shape<__nv_bfloat16, std::uint32_t, float, 16, 16> {
  static __device__ void multiply(auto& c, auto& a, auto& b) {
    staircase::mma_bf16_m16n8k16(c, a, b);
  }
};
struct F16M16N8K16 : Shape<__half, std::uint32_t, float, 16, 16> {
  static __device__ void multiply(auto& c, auto& a, auto& b) {
    staircase::mma_f16_m16n8k16(c, a, b);
  }
};

// --- Positions, compared with the formulas of the PTX ISA for element i of a fragment

template <typename S>
void expect_places(MatrixPosition (*in_a)(int group, int member, int i),
                   MatrixPosition (*in_b)(int group, int member, int i),
                   tap::Location place = tap::Location::current()) {
  const auto expect_place = [&](MatrixPosition actual, MatrixPosition expected) {
    expect_equal(actual.row, expected.row, place);
    expect_equal(actual.column, expected.column, place);
  };
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2, member = lane % 4;
    for (int i = 0; i < S::in_a * S::packed; ++i)
      expect_place(staircase::position_in_a(lane, i / S::packed, i % S::packed, S::packed),
                   in_a(group, member, i));
    for (int i = 0; i < S::in_b * S::packed; ++i)
      expect_place(staircase::position_in_b(lane, i / S::packed, i % S::packed, S::packed),
                   in_b(group, member, i));
    for (int i = 0; i < S::in_c; ++i)
      expect_place(staircase::position_in_c(lane, i),
                   {i < 2 ? group : group + 8, member * 2 + (i & 1)});
  }
}

TEST(places_of_f64_and_tf32) {
  expect_places<F64M8N8K4>(
      [](int group, int member, int) {
        return MatrixPosition{group, member};
      },
      [](int group, int member, int) {
        return MatrixPosition{member, group};
      });
  expect_places<F64M16N8K4>(
      [](int group, int member, int i) {
        return MatrixPosition{i == 0 ? group : group + 8, member};
      },
      [](int group, int member, int) {
        return MatrixPosition{member, group};
      });
  const auto a_of_k8 = [](int group, int member, int i) {
    return MatrixPosition{i == 0 || i == 2 ? group : group + 8, i < 2 ? member : member + 4};
  };
  const auto b_of_k8 = [](int group, int member, int i) {
    return MatrixPosition{i == 0 ? member : member + 4, group};
  };
  expect_places<F64M16N8K8>(a_of_k8, b_of_k8);
  expect_places<Tf32M16N8K8>(a_of_k8, b_of_k8);
  expect_places<F64M16N8K16>(
      [](int group, int member, int i) {
        return i % 2 == 0 ? MatrixPosition{group, i * 2 + member}
                          : MatrixPosition{group + 8, i * 2 - 2 + member};
      },
      [](int group, int member, int i) {
        return MatrixPosition{member + i * 4, group};
      });
}

TEST(places_of_16_bits_and_8) {
  const auto a_of_16_bits = [](int group, int member, int i) {
    const bool is_upper = (i >= 0 && i < 2) || (i >= 4 && i < 6);
    return MatrixPosition{is_upper ? group : group + 8, member * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  };
  const auto b_of_16_bits = [](int group, int member, int i) {
    return MatrixPosition{member * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
  };
  expect_places<F16M16N8K16>(a_of_16_bits, b_of_16_bits);
  expect_places<Bf16M16N8K16>(a_of_16_bits, b_of_16_bits);
  expect_places<S8M16N8K32>(
      [](int group, int member, int i) {
        const bool is_upper = (i >= 0 && i < 4) || (i >= 8 && i < 12);
        return MatrixPosition{is_upper ? group : group + 8,
                              member * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
      },
      [](int group, int member, int i) {
        return MatrixPosition{member * 4 + (i & 3) + (i >= 4 ? 16 : 0), group};
      });
}

// --- A warp multiplies rows × n by n × 8, with n = steps × depth

__device__ void put(double& bits, double element, int) { bits = element; }
__device__ void put(std::uint32_t& bits, float element, int) { bits = staircase::to_tf32(element); }
__device__ void put(std::uint32_t& bits, std::int8_t element, int place) {
  bits |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(element)) << 8 * place;
}
__device__ void put(std::uint32_t& bits, __half element, int place) {
  bits |= static_cast<std::uint32_t>(__half_as_ushort(element)) << 16 * place;
}
__device__ void put(std::uint32_t& bits, __nv_bfloat16 element, int place) {
  bits |= static_cast<std::uint32_t>(__bfloat16_as_ushort(element)) << 16 * place;
}

/// For each warp of the block, adds the product of its matrices A and B to its matrix C. The
/// matrices of the warps are stored one after the other.
template <typename S>
__global__ void multiply(const typename S::Element* a, const typename S::Element* b,
                         typename S::Sum* c, int steps) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, n = steps * S::depth;
  a += warp * S::rows * n;
  b += warp * n * 8;
  c += warp * S::rows * 8;
  typename S::Sum sums[S::in_c];
  for (int r = 0; r < S::in_c; ++r) {
    const MatrixPosition place = staircase::position_in_c(lane, r);
    sums[r] = c[place.row * 8 + place.column];
  }
  for (int step = 0; step < steps; ++step) {
    typename S::Register a_bits[S::in_a] = {}, b_bits[S::in_b] = {};
    for (int e = 0; e < S::packed; ++e) {
      for (int r = 0; r < S::in_a; ++r) {
        const MatrixPosition place = staircase::position_in_a(lane, r, e, S::packed);
        put(a_bits[r], a[place.row * n + step * S::depth + place.column], e);
      }
      for (int r = 0; r < S::in_b; ++r) {
        const MatrixPosition place = staircase::position_in_b(lane, r, e, S::packed);
        put(b_bits[r], b[(step * S::depth + place.row) * 8 + place.column], e);
      }
    }
    S::multiply(sums, a_bits, b_bits);
  }
  for (int r = 0; r < S::in_c; ++r) {
    const MatrixPosition place = staircase::position_in_c(lane, r);
    c[place.row * 8 + place.column] = sums[r];
  }
}

/// A problem for several warps, its exact result, and the sums of magnitudes that bound its error.
template <typename S>
struct Problem {
  std::vector<typename S::Element> a, b;
  std::vector<typename S::Sum> c;
  std::vector<double> result, magnitude;
  int steps;
};

template <typename S, typename Draw>
Problem<S> random_problem(int warps, int steps, const Draw& draw) {
  const int n = steps * S::depth;
  Problem<S> p;
  p.steps = steps;
  for (int i = 0; i < warps * S::rows * n; ++i) p.a.emplace_back(draw());
  for (int i = 0; i < warps * n * 8; ++i) p.b.emplace_back(draw());
  for (int i = 0; i < warps * S::rows * 8; ++i) {
    p.c.push_back(static_cast<typename S::Sum>(draw()));
    const int warp = i / (S::rows * 8), row = i / 8 % S::rows, column = i % 8;
    double sum = p.c[i], magnitude = std::abs(sum);
    for (int k = 0; k < n; ++k) {
      const double term = static_cast<double>(p.a[(warp * S::rows + row) * n + k]) *
                          static_cast<double>(p.b[(warp * n + k) * 8 + column]);
      sum += term;
      magnitude += std::abs(term);
    }
    p.result.push_back(sum);
    p.magnitude.push_back(magnitude);
  }
  return p;
}

template <typename S>
std::vector<typename S::Sum> product_of(const Problem<S>& p) {
  Device<typename S::Element> a(p.a), b(p.b);
  Device<typename S::Sum> c(p.c);
  const auto warps = static_cast<unsigned>(p.c.size() / (S::rows * 8));
  multiply<S><<<1, 32 * warps>>>(a.get(), b.get(), c.get(), p.steps);
  return c.to_host();
}

/// Expects exact results for small integers, whose products and sums are exact in all types.
template <typename S>
void expect_exact_integers() {
  const auto problem = random_problem<S>(3, 4, [] { return float(random_value(-16, 16)); });
  expect_equal(product_of(problem), table<typename S::Sum>(problem.result.size(), [&](int i) {
                 return problem.result[i];
               }));
}

/// Checks the errors of products of values with `bits` bits. `unit` is the rounding error of a sum.
template <typename S>
void expect_small_error(int bits, double unit) {
  const auto draw = [=] {
    const int shift = std::min(bits, 30);
    return static_cast<float>(random_value(-(1 << shift), 1 << shift)) /
           static_cast<float>(1 << shift);
  };
  const auto problem = random_problem<S>(2, 5, draw);
  const std::vector<typename S::Sum> actual = product_of(problem);
  for (std::size_t i = 0; i < actual.size(); ++i)
    expect_near<double>(actual[i], problem.result[i],
                        (5 * S::depth + 2) * unit * problem.magnitude[i]);
}

constexpr double double_unit = std::numeric_limits<double>::epsilon();
constexpr double float_unit = std::numeric_limits<float>::epsilon();

TEST(f64_m8n8k4) {
  expect_exact_integers<F64M8N8K4>();
  expect_small_error<F64M8N8K4>(24, double_unit);
}
TEST(f64_m16n8k4) {
  expect_exact_integers<F64M16N8K4>();
  expect_small_error<F64M16N8K4>(24, double_unit);
}
TEST(f64_m16n8k8) {
  expect_exact_integers<F64M16N8K8>();
  expect_small_error<F64M16N8K8>(24, double_unit);
}
TEST(f64_m16n8k16) {
  expect_exact_integers<F64M16N8K16>();
  expect_small_error<F64M16N8K16>(24, double_unit);
}
TEST(s8_m16n8k32) { expect_exact_integers<S8M16N8K32>(); }
TEST(tf32_m16n8k8) {
  expect_exact_integers<Tf32M16N8K8>();
  expect_small_error<Tf32M16N8K8>(10, float_unit);
}
TEST(bf16_m16n8k16) {
  expect_exact_integers<Bf16M16N8K16>();
  expect_small_error<Bf16M16N8K16>(7, float_unit);
}
TEST(f16_m16n8k16) {
  expect_exact_integers<F16M16N8K16>();
  expect_small_error<F16M16N8K16>(10, float_unit);
}

TEST(f64_multiplies_all_53_bits) {
  auto problem = random_problem<F64M16N8K8>(1, 1, [] { return 0.0f; });
  problem.a = random_values(problem.a.size(), -1.0, 1.0);
  problem.b = random_values(problem.b.size(), -1.0, 1.0);
  const std::vector<double> actual = product_of(problem);
  for (int i = 0; i < 128; ++i) {
    long double sum = 0, magnitude = 0;
    for (int k = 0; k < 8; ++k) {
      const long double term =
          static_cast<long double>(problem.a[i / 8 * 8 + k]) * problem.b[k * 8 + i % 8];
      sum += term;
      magnitude += std::abs(term);
    }
    expect_near<double>(actual[i], sum, 9 * double_unit * magnitude);
  }
}

TEST(s8_has_all_bytes_and_wraps_around) {
  auto problem = random_problem<S8M16N8K32>(2, 3, [] { return float(random_value(-128, 127)); });
  expect_equal(product_of(problem),
               table<std::int32_t>(256, [&](int i) { return problem.result[i]; }));
  for (int i = 0; i < 256; ++i) problem.c[i] += std::numeric_limits<std::int32_t>::max() - 1000;
  expect_equal(product_of(problem), table<std::int32_t>(256, [&](int i) {
                 return static_cast<std::uint32_t>(static_cast<std::int64_t>(problem.result[i]) +
                                                   std::numeric_limits<std::int32_t>::max() - 1000);
               }));
}

TEST(a_NaN_spreads_over_its_row) {
  auto problem = random_problem<F64M16N8K16>(1, 2, [] { return float(random_value(-9, 9)); });
  problem.a[11 * 32 + 25] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> actual = product_of(problem);
  for (int i = 0; i < 128; ++i) {
    expect_equal(std::isnan(actual[i]), i / 8 == 11);
    if (i / 8 != 11) expect_equal(actual[i], problem.result[i]);
  }
}

__global__ void round_to_tf32(const float* in, float* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = __uint_as_float(staircase::to_tf32(in[i]));
}

TEST(tf32_has_10_bits_of_fraction) {
  std::vector<float> values = random_values(200, -1000.0f, 1000.0f);
  for (int i = 0; i < 50; ++i) values[i] = (i - 25) * (1 + std::ldexp(1.0f, -11));  // some are ties
  values[50] = std::numeric_limits<float>::infinity();
  Device<float> in(values), out(200);
  round_to_tf32<<<1, 256>>>(in.get(), out.get(), 200);
  expect_equal(out.to_host(), table<float>(200, [&](int i) {
                 if (values[i] == 0 || std::isinf(values[i])) return values[i];
                 const float unit = std::ldexp(1.0f, std::ilogb(values[i]) - 10);
                 return std::round(values[i] / unit) * unit;
               }));
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
