/// The inner functions of stages 19 and 20, which run on the CPU. They process four rows of L at a
/// time in the widest vectors of the processor, and keep the partial sums of these rows in
/// registers.

#pragma once

#include <cstddef>
#include <staircase/simd.hpp>

namespace triangular_solve {

// [sizes]
inline constexpr std::size_t block = 64;  // rows of a diagonal block
inline constexpr std::size_t jammed = 4;  // rows whose products are computed together
// [sizes]

// [Rows]
/// Rows `begin` to `end` - 1 of the system. For solved rows, x contains the unknowns. For the other
/// rows, x contains the right-hand side minus the products with the columns before `first`.
template <typename T>
struct Rows {
  const T* l;
  std::size_t n, begin, end, first;
  T* x;
};
// [Rows]

// [add_lanes]
/// Sets `result` to four of the eight elements of a and b; indices 4 to 7 belong to b.
template <std::size_t... lane, typename Four>
[[gnu::always_inline]] inline void shuffle(const Four& a, const Four& b, Four& result) {
#if __has_builtin(__builtin_shufflevector)
  result = __builtin_shufflevector(a, b, lane...);
#else  // g++ 11
  result = Four{(lane < 4 ? a[lane % 4] : b[lane % 4])...};
#endif
}

/// Sets element r of `sums` to the sum of the elements of vector r.
template <typename Four>
[[gnu::always_inline]] inline void add_lanes(const Four (&v)[4], Four& sums) {
  Four low[3], high[3];
  for (std::size_t pair = 0; pair < 2; ++pair) {
    shuffle<0, 4, 1, 5>(v[2 * pair], v[2 * pair + 1], low[pair]);
    shuffle<2, 6, 3, 7>(v[2 * pair], v[2 * pair + 1], high[pair]);
    low[pair] += high[pair];
  }
  shuffle<0, 1, 4, 5>(low[0], low[1], low[2]);
  shuffle<2, 3, 6, 7>(low[0], low[1], high[2]);
  sums = low[2] + high[2];
}
// [add_lanes]

// [subtract]
/// Subtracts the products of rows i to i + 3 with the unknowns of columns `first` to `last` - 1
/// from the right-hand sides of these rows. The number of columns must be a multiple of four.
template <int bytes, typename T>
[[gnu::always_inline]] inline void subtract(const Rows<T>& s, std::size_t i, std::size_t last) {
  constexpr std::size_t size = bytes < 4 * sizeof(T) ? 4 * sizeof(T) : bytes;
  using Vector [[gnu::vector_size(size)]] = T;
  using InMemory [[gnu::vector_size(size), gnu::aligned(alignof(T))]] = T;
  using Four [[gnu::vector_size(4 * sizeof(T))]] = T;
  using FourInMemory [[gnu::vector_size(4 * sizeof(T)), gnu::aligned(alignof(T))]] = T;
  constexpr std::size_t lanes = size / sizeof(T);
  const T* const l = s.l + i * s.n;
  Vector even[jammed] = {}, odd[jammed] = {};
  std::size_t j = s.first;
  for (; j + 2 * lanes <= last; j += 2 * lanes) {
    const Vector x_even = reinterpret_cast<const InMemory&>(s.x[j]);
    const Vector x_odd = reinterpret_cast<const InMemory&>(s.x[j + lanes]);
    for (std::size_t r = 0; r < jammed; ++r) {
      even[r] += reinterpret_cast<const InMemory&>(l[r * s.n + j]) * x_even;
      odd[r] += reinterpret_cast<const InMemory&>(l[r * s.n + j + lanes]) * x_odd;
    }
  }
  Four four[jammed];
  for (std::size_t r = 0; r < jammed; ++r) {
    even[r] += odd[r];
    four[r] = reinterpret_cast<const Four&>(even[r]);
    for (std::size_t part = 1; part < lanes / 4; ++part)
      four[r] += reinterpret_cast<const FourInMemory*>(&even[r])[part];
  }
  for (; j < last; j += 4) {
    const Four x_four = reinterpret_cast<const FourInMemory&>(s.x[j]);
    for (std::size_t r = 0; r < jammed; ++r)
      four[r] += reinterpret_cast<const FourInMemory&>(l[r * s.n + j]) * x_four;
  }
  Four sums;
  add_lanes(four, sums);
  reinterpret_cast<FourInMemory&>(s.x[i]) -= sums;
}
// [subtract]

// [Update]
/// Subtracts the products of the rows with the unknowns of columns `first` to `last` - 1 from the
/// right-hand sides of these rows.
template <typename T>
struct Update {
  template <int bytes>
  [[gnu::always_inline]] static void run(const Rows<T>& s, std::size_t last) {
    std::size_t i = s.begin;
    for (; i + jammed <= s.end; i += jammed) subtract<bytes>(s, i, last);
    for (; i < s.end; ++i)
      for (std::size_t j = s.first; j < last; ++j) s.x[i] -= s.l[i * s.n + j] * s.x[j];
  }
};
// [Update]

// [Solve]
/// Solves the equations of the rows, four at a time: subtracts the products with all earlier
/// unknowns, and then solves a triangle of 4 × 4 elements in registers.
template <typename T>
struct Solve {
  template <int bytes>
  [[gnu::always_inline]] static void run(const Rows<T>& s) {
    std::size_t i = s.begin;
    for (; i + jammed <= s.end; i += jammed) {
      subtract<bytes>(s, i, i);
      const T* const l = s.l + i * s.n + i;
      T x[jammed];
      for (std::size_t k = 0; k < jammed; ++k) x[k] = s.x[i + k];
      for (std::size_t k = 0; k < jammed; ++k) {
        x[k] /= l[k * s.n + k];
        for (std::size_t r = k + 1; r < jammed; ++r) x[r] -= l[r * s.n + k] * x[k];
      }
      for (std::size_t k = 0; k < jammed; ++k) s.x[i + k] = x[k];
    }
    for (; i < s.end; ++i) {
      for (std::size_t j = s.first; j < i; ++j) s.x[i] -= s.l[i * s.n + j] * s.x[j];
      s.x[i] /= s.l[i * s.n + i];
    }
  }
};
// [Solve]

}  // namespace triangular_solve
