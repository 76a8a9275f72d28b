/// \file
/// Shifts with the semantics of a GPU: a shift by at least the width of the value shifts out all
/// bits.
///
/// In device code, the rewriter replaces `a << b` by `a << AsGpu() << b`, and `a <<= b` by `a <<=
/// AsGpu() = b`. With this form, the rewriter does not need to find the end of `b`.

#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "core.hpp"

namespace cuda_on_cpu {

/// Reports a shift by at least the width of the value, as a note of the analysis.
void note_wide_shift(int bits, std::int64_t by);

namespace shifts {

#define CUDA_ON_CPU_SHIFT [[gnu::always_inline, gnu::artificial]] constexpr inline

template <typename Type>
inline constexpr bool is_number = std::is_integral_v<Type> || std::is_enum_v<Type>;

/// Whether the built-in shift operators apply to a type.
template <typename Type>
inline constexpr bool is_plain = is_number<Type>&& std::is_convertible_v<Type, int>;

/// Whether the distance of a shift is at least the width of the value in bits. A GPU uses only the
/// lower 32 bits of the distance.
template <typename Number, typename Width>
CUDA_ON_CPU_SHIFT bool is_wide(Width by) {
  constexpr unsigned bits = 8 * sizeof(Number);
  const bool wide = static_cast<std::uint32_t>(by) >= bits;
#ifdef CUDA_ON_CPU_ANALYSE
  if (wide && !__builtin_is_constant_evaluated())
    note_wide_shift(static_cast<int>(bits), static_cast<std::int64_t>(by));
#endif
  return wide;
}

template <typename Type, typename Width>
CUDA_ON_CPU_SHIFT auto left(Type number, Width by) {
  using Number = decltype(+number);
  return is_wide<Number>(by) ? Number{} : static_cast<Number>(number) << static_cast<unsigned>(by);
}

template <typename Type, typename Width>
CUDA_ON_CPU_SHIFT auto right(Type number, Width by) {
  using Number = decltype(+number);
  constexpr unsigned farthest = 8 * sizeof(Number) - 1;
  const auto value = static_cast<Number>(number);
  if (!is_wide<Number>(by)) return value >> static_cast<unsigned>(by);
  // All bits of the result are copies of the sign bit.
  return std::is_signed_v<Number> ? value >> farthest : Number{};
}

/// The distance of a shift in an assignment such as `a <<= b`.
template <typename Width>
struct Amount {
  Width width;
};

struct AsGpu {
  template <typename Width>
  CUDA_ON_CPU_SHIFT Amount<Width> operator=(Width width) const {
    return {width};
  }
};

/// The left operand of a shift: a value, or a reference to an object of a class with its own shift
/// operators.
template <typename Type>
struct Shifted {
  Type what;
};

// Integers are passed by value, because bit fields and static constants of classes have no address.
// Types with their own shift operators use these operators as usual. `AsGpu&&` is a better match
// than the `const Type&` of operators that accept any type.
#define CUDA_ON_CPU_SHIFTS(sign, side)                                                   \
  template <typename Type, std::enable_if_t<is_number<Type>, int> = 0>                   \
  CUDA_ON_CPU_SHIFT Shifted<Type> operator sign(Type number, AsGpu&&) {                  \
    return {number};                                                                     \
  }                                                                                      \
  template <typename Type, std::enable_if_t<!is_number<std::decay_t<Type>>, int> = 0>    \
  CUDA_ON_CPU_SHIFT Shifted<Type&&> operator sign(Type&& object, AsGpu&&) {              \
    return {static_cast<Type&&>(object)};                                                \
  }                                                                                      \
  template <typename Type, typename Width, std::enable_if_t<is_number<Width>, int> = 0>  \
  CUDA_ON_CPU_SHIFT decltype(auto) operator sign(Shifted<Type> shifted, Width by) {      \
    if constexpr (is_plain<Type> && is_plain<Width>) {                                   \
      using Number = decltype(+shifted.what);                                            \
      if constexpr (std::is_same_v<decltype(shifted.what sign by), Number>)              \
        return side(shifted.what, by);                                                   \
      else                                                                               \
        return shifted.what sign by;                                                     \
    } else {                                                                             \
      return static_cast<Type&&>(shifted.what) sign by;                                  \
    }                                                                                    \
  }                                                                                      \
  template <typename Type, typename Other,                                               \
            std::enable_if_t<!is_number<std::decay_t<Other>>, int> = 0>                  \
  CUDA_ON_CPU_SHIFT decltype(auto) operator sign(Shifted<Type> shifted, Other&& other) { \
    return static_cast<Type&&>(shifted.what) sign static_cast<Other&&>(other);           \
  }                                                                                      \
  template <typename Type, typename Width>                                               \
  CUDA_ON_CPU_SHIFT decltype(auto) operator sign##=(Type&& object, Amount<Width>&& by) { \
    using Value = std::remove_cv_t<std::remove_reference_t<Type>>;                       \
    if constexpr (std::is_integral_v<Value> && is_plain<Width>) {                        \
      const auto value = static_cast<Value>(side(static_cast<Value>(object), by.width)); \
      object = value;                                                                    \
      if constexpr (std::is_volatile_v<std::remove_reference_t<Type>>)                   \
        return value;                                                                    \
      else                                                                               \
        return static_cast<Type&&>(object);                                              \
    } else {                                                                             \
      return static_cast<Type&&>(object) sign## = static_cast<Width&&>(by.width);        \
    }                                                                                    \
  }

CUDA_ON_CPU_SHIFTS(<<, left)
CUDA_ON_CPU_SHIFTS(>>, right)

#undef CUDA_ON_CPU_SHIFTS
#undef CUDA_ON_CPU_SHIFT

}  // namespace shifts

using shifts::AsGpu;

}  // namespace cuda_on_cpu
