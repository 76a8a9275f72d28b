/// \file
/// Shifts as a GPU does them: by as many bits as a number has, or more, all of them are shifted
/// out.
///
/// In code of the device, the rewriter makes `a << as_gpu << b` of `a << b`, and `a <<= as_gpu = b`
/// of `a <<= b`, so that it need not know where `b` ends.

#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "core.hpp"

namespace cuda_on_cpu {

/// Notes such a shift, in a program that is analysed.
void note_wide_shift(int bits, std::int64_t by);

namespace shifts {

#define CUDA_ON_CPU_SHIFT [[gnu::always_inline, gnu::artificial]] constexpr inline

template <typename T>
inline constexpr bool is_number = std::is_integral_v<T> || std::is_enum_v<T>;

/// Whether the bits are shifted out; a GPU looks at the lower 32 bits of the width only.
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

template <typename T, typename Width>
CUDA_ON_CPU_SHIFT auto left(T number, Width by) {
  using Number = decltype(number << 0);
  return is_wide<Number>(by) ? Number{} : number << static_cast<std::uint32_t>(by);
}

template <typename T, typename Width>
CUDA_ON_CPU_SHIFT auto right(T number, Width by) {
  using Number = decltype(number >> 0);
  if (is_wide<Number>(by)) return static_cast<Number>(static_cast<Number>(number) < 0 ? -1 : 0);
  return static_cast<Number>(number >> static_cast<std::uint32_t>(by));
}

/// The width of a shift that assigns; also what it was, for types with shifts of their own.
template <typename Width>
struct Amount {
  Width width;
  CUDA_ON_CPU_SHIFT operator Width() const { return width; }
};

struct AsGpu {
  template <typename Width>
  CUDA_ON_CPU_SHIFT Amount<Width> operator=(Width width) const {
    return {width};
  }
};

template <typename T>
struct Left {
  T number;
};
template <typename T>
struct Right {
  T number;
};

// Numbers are taken by value, for bit-fields and constants of classes have no address; all else
// has shifts of its own, and gets what it would get.
#define CUDA_ON_CPU_SHIFTS(sign, Side, side)                                         \
  template <typename T, std::enable_if_t<is_number<T>, int> = 0>                     \
  CUDA_ON_CPU_SHIFT Side<T> operator sign(T number, AsGpu) {                         \
    return {number};                                                                 \
  }                                                                                  \
  template <typename T, std::enable_if_t<!is_number<std::decay_t<T>>, int> = 0>      \
  CUDA_ON_CPU_SHIFT Side<T&&> operator sign(T&& object, AsGpu) {                     \
    return {static_cast<T&&>(object)};                                               \
  }                                                                                  \
  template <typename T, typename Width, std::enable_if_t<is_number<Width>, int> = 0> \
  CUDA_ON_CPU_SHIFT decltype(auto) operator sign(Side<T> shifted, Width by) {        \
    if constexpr (is_number<T> && std::is_convertible_v<T, int> &&                   \
                  std::is_convertible_v<Width, int>)                                 \
      return side(shifted.number, by);                                               \
    else                                                                             \
      return static_cast<T&&>(shifted.number) sign by;                               \
  }                                                                                  \
  template <typename T, typename Other,                                              \
            std::enable_if_t<!is_number<std::decay_t<Other>>, int> = 0>              \
  CUDA_ON_CPU_SHIFT decltype(auto) operator sign(Side<T> shifted, Other&& other) {   \
    return static_cast<T&&>(shifted.number) sign static_cast<Other&&>(other);        \
  }                                                                                  \
  template <typename T, typename Width, std::enable_if_t<is_number<T>, int> = 0>     \
  CUDA_ON_CPU_SHIFT T& operator sign##=(T& number, Amount<Width> by) {               \
    number = static_cast<T>(side(number, by.width));                                 \
    return number;                                                                   \
  }

CUDA_ON_CPU_SHIFTS(<<, Left, left)
CUDA_ON_CPU_SHIFTS(>>, Right, right)

#undef CUDA_ON_CPU_SHIFTS
#undef CUDA_ON_CPU_SHIFT

}  // namespace shifts

inline constexpr shifts::AsGpu as_gpu;

}  // namespace cuda_on_cpu
