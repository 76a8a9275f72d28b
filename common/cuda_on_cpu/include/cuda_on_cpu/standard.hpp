/// \file
/// Parts of the C++20 standard library, for sources that are compiled as C++17.

#pragma once

#include <type_traits>

namespace cuda_on_cpu {

template <typename To, typename From>
constexpr To bit_cast(const From& from) {
  return __builtin_bit_cast(To, from);
}

constexpr int popcount(unsigned long long x) { return __builtin_popcountll(x); }
constexpr int countr_zero(unsigned x) { return x == 0 ? 32 : __builtin_ctz(x); }
constexpr int countl_zero(unsigned x) { return x == 0 ? 32 : __builtin_clz(x); }
constexpr int countl_zero(unsigned long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
constexpr bool has_single_bit(unsigned x) { return x != 0 && (x & (x - 1)) == 0; }
constexpr unsigned bit_ceil(unsigned x) { return x <= 1 ? 1 : 1u << (32 - countl_zero(x - 1)); }

/// A type that the compiler does not deduce from an argument (std::type_identity).
template <typename Value>
struct Given {
  using Type = Value;
};
template <typename Value>
using given = typename Given<Value>::Type;

template <typename Value>
using plain = std::remove_cv_t<std::remove_reference_t<Value>>;

template <typename Value>
inline constexpr Value pi = static_cast<Value>(3.14159265358979323846264338327950288L);

}  // namespace cuda_on_cpu
