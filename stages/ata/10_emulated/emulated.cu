/// \file
/// Changed: columns of A are scaled to integers below 2⁵⁹ and replaced by 15 residues of one byte
///          each. The product of residues is computed exactly, 15 times, with `mma` on bytes. The
///          Chinese remainder theorem reconstructs each element, also exactly (Ozaki, Uchino and
///          Imamura, "Ozaki Scheme II", arXiv:2504.08009). No copy overlaps a product.
/// Legal:   the only errors come from rounding A to integers and C to FP64. If any element of A is
///          rounded, column statistics must show that the error stays within the error bound of an
///          FP64 sum. Other matrices are rejected, as are matrices with more than 131071 rows.
/// Expect:  this stage is slower than 09, because no warp multiplies while columns are copied. The
///          aim is 15 products at 30 times the FP64 rate, which 13_warpgroups reaches.
/// Run:     ./climb ata --stages 09,10
/// Next:    11_overlapped continues stage 09 and overlaps its copies and kernels.

#include "../residues.hpp"

#include <cstdint>
#include <staircase/mma.hpp>

namespace ata {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;

// [sizes]
constexpr unsigned tile = 128;     // columns of A that a block converts to residues
constexpr unsigned threads = 256;  // per block
// [sizes]

// [take_apart]
/// Converts 128 rows of 128 columns of A to scaled integers and writes their residues, indexed by
/// (residue, column, row), since a register of `mma` contains four rows of a column.
__global__ void __launch_bounds__(threads)
    take_apart(View<const double, 2> a, View<const int, 1> exponents, double large,
               Statistics statistics, View<std::int8_t, 3> bytes) {
  const unsigned rows = a.extent(0), cols = a.extent(1);
  const unsigned i = blockIdx.y * tile + threadIdx.x % tile;
  const int exponent = i < cols ? exponents(i) : 0;
  unsigned count = 0;
  bool rounded = false;
  for (unsigned k0 = threadIdx.x / tile * at_once; k0 < row_bytes; k0 += threads / tile * at_once) {
    double x[at_once];
#pragma unroll
    for (unsigned m = 0; m < at_once; ++m) {
      const unsigned k = blockIdx.x * row_bytes + k0 + m;
      const double exact = k < rows && i < cols ? ldexp(a(k, i), exponent) : 0;
      x[m] = rint(exact);
      rounded = rounded || x[m] != exact;
      count += fabs(x[m]) >= large ? 1 : 0;
    }
    for (unsigned t = 0; t < residues; ++t) {
      unsigned words[at_once / 4] = {};
#pragma unroll
      for (unsigned m = 0; m < at_once; ++m)
        words[m / 4] |= (residue_of(x[m], table.of[t]) & 0xFFu) << m % 4 * 8;
      std::int8_t* to = &bytes(t, i, blockIdx.x * row_bytes);
#pragma unroll
      for (unsigned m = 0; m < at_once; m += 16)
        reinterpret_cast<uint4&>(to[k0 + m]) =
            make_uint4(words[m / 4], words[m / 4 + 1], words[m / 4 + 2], words[m / 4 + 3]);
    }
  }
  if (i < cols) atomicAdd(&statistics.large(i), count);
  if (rounded) statistics.rounded(0) = 1;
}
// [take_apart]

// [multiply_residues]
constexpr unsigned side = 64;  // rows and columns of a tile of C
constexpr unsigned held = 4;   // products of 16 × 8 elements per warp

/// Adds products to a warp's 16 × 32 sums. Sums over at most 131071 rows of A fit in 32 bits.
__device__ void multiply(const Column* of_i, const Column* of_j, std::int32_t (&sum)[held][4]) {
  const unsigned warp = threadIdx.x / 32, row = threadIdx.x % 32 / 4, four = threadIdx.x % 4 * 4;
  const unsigned i = warp / 2 * 16 + row, j = warp % 2 * 8 * held + row;
  for (unsigned k = four; k < row_bytes; k += 32) {
    const std::uint32_t x[4] = {word(of_i[i], k), word(of_i[i + 8], k), word(of_i[i], k + 16),
                                word(of_i[i + 8], k + 16)};
#pragma unroll
    for (unsigned n = 0; n < held; ++n)
      staircase::mma_s8_m16n8k32(sum[n], x,
                                 {word(of_j[j + 8 * n], k), word(of_j[j + 8 * n], k + 16)});
  }
}

/// Each block computes a tile of C for one modulus after the other, and reconstructs its elements.
__global__ void __launch_bounds__(threads)
    multiply_residues(View<const std::int8_t, 3> bytes, View<const int, 1> exponents,
                      View<double, 2> c) {
  __shared__ __align__(16) Column of_i[side], of_j[side];
  const unsigned cols = c.extent(1), i0 = blockIdx.y * side, j0 = blockIdx.x * side;
  if (i0 > j0) return;
  Whole element[held][4];
  for (unsigned t = 0; t < residues; ++t) {
    std::int32_t sum[held][4] = {};
    for (unsigned k = 0; k < bytes.extent(2); k += row_bytes) {
      copy<threads>(bytes.row(t), i0, k, of_i);
      copy<threads>(bytes.row(t), j0, k, of_j);
      __syncthreads();
      multiply(of_i, of_j, sum);
      __syncthreads();
    }
#pragma unroll
    for (unsigned e = 0; e < 4 * held; ++e)
      element[e / 4][e % 4].add(residue_of(sum[e / 4][e % 4], table.of[t]), table.of[t]);
  }
#pragma unroll
  for (unsigned e = 0; e < 4 * held; ++e) {
    const auto [row, column] = staircase::position_in_c(threadIdx.x % 32, e % 4);
    const unsigned i = i0 + threadIdx.x / 64 * 16 + row;
    const unsigned j = j0 + (threadIdx.x / 32 % 2 * held + e / 4) * 8 + column;
    if (i <= j && j < cols)
      c(i, j) = c(j, i) = ldexp(element[e / 4][e % 4].value(), -exponents(i) - exponents(j));
  }
}
// [multiply_residues]

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  const std::size_t rows = problem.rows, cols = problem.cols;
  const unsigned parts_i = (cols + tile - 1) / tile, parts_k = (rows + row_bytes - 1) / row_bytes;
  const unsigned tiles = (cols + side - 1) / side;

  timeline.begin("allocate");
  staircase::require_capability(8, 0, "tensor cores for products of 16 × 8 × 32 bytes");
  DeviceArray<double, 2> a(rows, cols), c(cols, cols);
  DeviceArray<int, 1> exponents(cols);
  DeviceArray<unsigned, 1> large(cols), rounded(1);
  DeviceArray<std::int8_t, 3> bytes(residues, parts_i * tile, parts_k * row_bytes);
  Product product(cols, cols);

  timeline.begin("copy in");
  a.copy_from(problem.matrix().data());

  timeline.begin("kernels");
  check(cudaMemset(rounded.data(), 0, sizeof(unsigned)));
  const unsigned groups = (cols + columns_at_once - 1) / columns_at_once;
  scale_columns<<<groups, dim3(columns_at_once, rows_at_once)>>>(a, exponents, large);
  check_launch();
  take_apart<<<dim3(parts_k, parts_i), threads>>>(a, exponents, large_from(rows),
                                                  Statistics{large, rounded}, bytes);
  check_launch();
  require_bound(large, rounded, rows);
  multiply_residues<<<dim3(tiles, tiles), threads>>>(bytes, exponents, c);
  check_launch();
  check(cudaDeviceSynchronize());

  timeline.begin("copy out");
  c.copy_to(product.data());
  return product;
}
// [solve]

}  // namespace ata

int main(int argc, char** argv) {
  return ata::run_stage(argc, argv,
                        {
                            .title = "Emulated",
                            .idea = "Compute FP64 products from products of bytes",
                            .needs = "tensor cores of compute capability 8.0",
                            .solve_f64 = ata::solve,
                        });
}
