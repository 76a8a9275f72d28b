/// \file
/// Shifts with the result of a GPU: a shift by at least the width of a value shifts out all bits.
///
/// In device code, the rewriter replaces `a << b` with `a << AsGpu() << b`, and `a <<= b` with `a
/// <<= AsGpu() = b`. It therefore does not have to find the end of `b`.

#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "core.hpp"

namespace cuda_on_cpu {

/// Reports such a shift as a note in an analysed program.
void note_wide_shift(int bits, std::int64_t by);

namespace shifts {

#define CUDA_ON_CPU_SHIFT [[gnu::always_inline, gnu::artificial]] constexpr inline

template <typename Type>
inline constexpr bool is_number = std::is_integral_v<Type> || std::is_enum_v<Type>;

/// Whether the built-in shifts apply to a type.
template <typename Type>
inline constexpr bool is_plain = is_number<Type>&& std::is_convertible_v<Type, int>;

/// Whether a shift is at least as wide as the value. A GPU uses only the lower 32 bits of the
/// width.
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
  // Copies of the sign bit are shifted in.
  return std::is_signed_v<Number> ? value >> farthest : Number{};
}

/// The width of a shift with assignment.
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

/// The left operand: a value, or a reference to an object of a class with shift operators.
template <typename Type>
struct Shifted {
  Type what;
};

// Integers are passed by value, because bit fields and constants of classes have no address. Other
// types have shift operators of their own, which are called as usual. `AsGpu&&` is a better match
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
