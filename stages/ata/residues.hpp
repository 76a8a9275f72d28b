/// \file
/// FP64 matrices as residues of integers. The functions scale columns, compute their residues and
/// copy these to shared memory. They also reconstruct and store elements, and they test the
/// condition that a matrix must meet.

#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>
#include <staircase/error.hpp>
#include <string>
#include <vector>

#include "ata.hpp"

namespace ata {

using staircase::View;

// [moduli]
using Wide = unsigned __int128;

/// The moduli: the 15 largest integers up to 256 that are pairwise coprime.
constexpr unsigned moduli[] = {256, 255, 253, 251, 247, 241, 239, 233,
                               229, 227, 223, 217, 211, 199, 197};
constexpr unsigned residues = std::size(moduli);

constexpr Wide product_of_moduli() {
  Wide product = 1;
  for (const unsigned p : moduli) product *= p;
  return product;
}
constexpr Wide whole = product_of_moduli();  // product of the moduli, nearly 2¹¹⁸

/// The constants of a modulus p that the kernels need.
struct Modulus {
  std::int32_t p;
  unsigned quotient;  // ⌊2³² / p⌋
  unsigned bias;      // a multiple of p, at least 2³¹
  double reciprocal;  // 1 / p
  double share;       // weight / whole
  Wide weight;        // 1 modulo p, 0 modulo all other moduli, less than `whole`
};
struct Moduli {
  Modulus of[residues];
};

constexpr Moduli make_moduli() {
  Moduli table{};
  for (unsigned t = 0; t < residues; ++t) {
    const std::int32_t p = moduli[t];
    const unsigned quotient = (std::uint64_t{1} << 32) / p;
    const unsigned bias = (0x8000'0000u + p - 1) / p * p;
    const Wide others = whole / p;
    unsigned inverse = 1;  // inverse of `others` modulo p
    while (others % p * inverse % p != 1) ++inverse;
    table.of[t] = {p, quotient, bias, 1.0 / p, 1.0 * inverse / p, others * inverse};
  }
  return table;
}
__constant__ constexpr Moduli table = make_moduli();
// [moduli]

// [residue_of]
constexpr unsigned at_once = 32;  // rows of A that a thread converts at a time

/// Returns x modulo p, as a value from -128 to 127.
__device__ inline int residue_of(double x, const Modulus& modulus) {
  const double p = modulus.p;
  const int r = fma(-rint(x * modulus.reciprocal), p, x);
  return r > 127 ? r - modulus.p : r < -128 ? r + modulus.p : r;
}

/// Returns x modulo p, as a value from 0 to p - 1.
__device__ inline unsigned residue_of(std::int32_t x, const Modulus& modulus) {
  const unsigned p = modulus.p, y = x + modulus.bias;
  const unsigned r = y - __umulhi(y, modulus.quotient) * p;  // from 0 to 2 p - 1
  return min(r, r - p);
}
// [residue_of]

// [scale_columns]
constexpr unsigned columns_at_once = 32, rows_at_once = 16;

/// Combines the values of all threads of a column with `combination`, in a fixed order.
template <typename Combine>
__device__ double combine(double mine, double (&shared)[rows_at_once][columns_at_once],
                          Combine combination) {
  shared[threadIdx.y][threadIdx.x] = mine;
  __syncthreads();
  double all = shared[0][threadIdx.x];
  for (unsigned y = 1; y < rows_at_once; ++y) all = combination(all, shared[y][threadIdx.x]);
  __syncthreads();
  return all;
}

/// The largest permitted squared norm of a scaled column. If no column exceeds it, every element of
/// the product is less than whole / 2 in magnitude, even with rounding errors.
constexpr double largest_square = double(whole) / 2 * (1 - 0x1p-19);

/// Computes for each column the exponent of the power of two that scales its elements: the largest
/// exponent that the norm permits, or 0 for a column of zeros.
__global__ void scale_columns(View<const double, 2> a, View<int, 1> exponents,
                              View<unsigned, 1> large) {
  __shared__ double shared[rows_at_once][columns_at_once];
  const unsigned rows = a.extent(0), cols = a.extent(1);
  const unsigned i = blockIdx.x * columns_at_once + threadIdx.x;
  double largest = 0;
  for (unsigned k = threadIdx.y; k < rows && i < cols; k += rows_at_once)
    largest = fmax(largest, fabs(a(k, i)));
  largest = combine(largest, shared, [](double x, double y) { return fmax(x, y); });

  // Squares of values below 2 do not overflow, and no relevant square underflows.
  const int exponent = largest > 0 ? ilogb(largest) : 0;
  double square = 0;
  for (unsigned k = threadIdx.y; k < rows && i < cols; k += rows_at_once) {
    const double x = ldexp(a(k, i), -exponent);
    square += x * x;
  }
  square = combine(square, shared, [](double x, double y) { return x + y; });
  if (threadIdx.y > 0 || i >= cols) return;
  large(i) = largest > 0 ? 0 : rows;  // a column of zeros has no rounding error
  const int room = largest > 0 ? ilogb(largest_square / square) : 0;  // permitted growth, as log2
  exponents(i) = (room >= 0 ? room : room - 1) / 2 - exponent;
}
// [scale_columns]

// [operands]
constexpr unsigned row_bytes = 128;          // rows of A per step, one byte each
constexpr unsigned padded = row_bytes + 16;  // with padding, a warp's loads use all banks
using Column = std::int8_t[padded];          // a column of residues in shared memory

/// All threads of a block copy 128 rows of some columns of residues to shared memory.
template <unsigned threads, unsigned columns>
__device__ void copy(View<const std::int8_t, 2> bytes, unsigned first, unsigned k,
                     Column (&to)[columns]) {
  constexpr unsigned pieces = row_bytes / 16;
  for (unsigned e = threadIdx.x; e < columns * pieces; e += threads)
    reinterpret_cast<uint4&>(to[e / pieces][e % pieces * 16]) =
        reinterpret_cast<const uint4&>(bytes(first + e / pieces, k + e % pieces * 16));
}

/// Returns the residues of four rows of a column in one register.
__device__ inline std::uint32_t word(const Column& column, unsigned k) {
  return reinterpret_cast<const std::uint32_t&>(column[k]);
}
// [operands]

// [together]
/// Returns the FP64 value nearest to an integer.
__device__ inline double rounded(Wide x) {
  const bool negative = x >> 127 != 0;
  if (negative) x = -x;
  if (x == 0) return 0;
  const std::int64_t high = x >> 64, low = x;
  const int zeros = high != 0 ? __clzll(high) : 64 + __clzll(low);
  x <<= zeros;
  // Convert the leading 64 bits. The last one is also set if a later bit is (a sticky bit).
  const std::uint64_t front = x >> 64, behind = x;
  const double first = front | (behind != 0);
  const double magnitude = ldexp(first, 64 - zeros);
  return negative ? -magnitude : magnitude;
}

/// An integer that is reconstructed from its residues (0 to p - 1), which are added one by one.
struct Whole {
  Wide sum = 0;      // modulo 2¹²⁸
  double share = 0;  // sum / whole

  __device__ void add(unsigned residue, const Modulus& modulus) {
    sum += modulus.weight * residue;
    share += modulus.share * residue;
  }
  __device__ double value() const { return rounded(sum - Wide(rint(share)) * whole); }
};
// [together]

// [bytes]
/// Returns the residues of four sums, one byte each.
__device__ inline unsigned word_of(const std::int32_t* sums, const Modulus& modulus) {
  unsigned word = 0;
#pragma unroll
  for (unsigned e = 0; e < 4; ++e) word |= residue_of(sums[e], modulus) << 8 * e;
  return word;
}

/// Returns the element whose residues are byte `e` of each word.
__device__ inline double element_of(const unsigned (&word)[residues], unsigned e) {
  Whole sum;
#pragma unroll
  for (unsigned t = 0; t < residues; ++t) sum.add(word[t] >> 8 * e & 0xFF, table.of[t]);
  return sum.value();
}
// [bytes]

// [write]
constexpr unsigned columns_written = 32;  // columns of C that are stored at a time

/// Stores `columns_written` columns of some rows of C, and their transpose. Each loop assigns
/// elements to threads so that its stores are coalesced.
template <unsigned threads, unsigned rows>
__device__ void write(const double (&shared)[rows][columns_written + 1], unsigned i0, unsigned j0,
                      View<double, 2> c) {
  const unsigned cols = c.extent(1);
  for (unsigned e = threadIdx.x; e < rows * columns_written; e += threads) {
    const unsigned i = i0 + e / columns_written, j = j0 + e % columns_written;
    if (i <= j && j < cols) c(i, j) = shared[e / columns_written][e % columns_written];
  }
  for (unsigned e = threadIdx.x; e < rows * columns_written; e += threads) {
    const unsigned i = i0 + e % rows, j = j0 + e / rows;
    if (i < j && j < cols) c(j, i) = shared[e % rows][e / rows];
  }
}
// [write]

// [suits]
/// Column statistics that bound the error from rounding A.
struct Statistics {
  View<unsigned, 1> large;    // number of large elements per column; `rows` for a column of zeros
  View<unsigned, 1> rounded;  // whether any element of A was rounded
};

/// The threshold for large elements: an element is large if its scaled magnitude is at least this
/// value. If 3/4 of the elements of columns i and j are large, both are large in at least half of
/// the rows, and (|A|ᵀ|A|)(i, j) >= rows / 2 large². Norms are at most r √rows, with r² =
/// largest_square / rows, so rounding A adds errors of at most rows (r + 1/4). With this threshold,
/// these are at most (rows - 1) 2⁻⁵³ (|A|ᵀ|A|)(i, j). Rounding C adds one more 2⁻⁵³.
inline double large_from(std::int64_t rows) {
  const double r = std::sqrt(largest_square / rows);
  return std::sqrt(0x1p54 * (r + 0.25) / (rows - 1)) + 1;
}

/// Throws an exception unless the error from rounding A stays within the bound.
/// \throws NotAvailable
inline void require_bound(const staircase::DeviceArray<unsigned, 1>& large,
                          const staircase::DeviceArray<unsigned, 1>& rounded, std::int64_t rows) {
  unsigned any_rounded = 0;
  rounded.copy_to(&any_rounded);
  if (any_rounded == 0) return;
  std::vector<unsigned> counts(large.extent(0));
  large.copy_to(counts.data());
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (4 * std::int64_t{counts[i]} < 3 * rows)
      throw staircase::NotAvailable(
          "this stage rounds the numbers of A and takes columns of which three quarters are large; "
          "of column " +
          std::to_string(i) + ", " + std::to_string(counts[i]) + " in " + std::to_string(rows) +
          " are");
}
// [suits]

}  // namespace ata
