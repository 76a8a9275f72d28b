/// \file
/// From:    10_emulated
/// Changed: a block processes one modulus instead of all moduli in sequence, so its registers
///          contain only sums: 128 per thread, for a tile of 128 × 256. The block writes each sum
///          as a residue of one byte. A second kernel reads the 15 bytes of each element,
///          reconstructs the element and writes it to C.
/// Legal:   the residue of a sum depends on no other modulus, and the second kernel starts after
///          all residues have been written.
/// Expect:  1/8 of stage 10's steps, each 1.5 times as long: the kernel is nearly 5 times as fast.
/// Run:     ./climb ata --stages 09,10,12
/// Next:    13_warpgroups overlaps copies and products, with factors in shared memory.

#include "../plan.hpp"
#include "../residues.hpp"

#include <cstdint>
#include <staircase/mma.hpp>
#include <vector>

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
constexpr unsigned held = 32;  // products of 16 × 8 elements per warp

struct Operands {
  Column i[tile], j[2 * tile];
};

/// Adds products to a warp's 16 × 256 sums. Sums over at most 131071 rows of A fit in 32 bits.
__device__ void multiply(const Column* of_i, const Column* of_j, std::int32_t (&sum)[held][4]) {
  const unsigned warp = threadIdx.x / 32, row = threadIdx.x % 32 / 4, four = threadIdx.x % 4 * 4;
  const unsigned i = warp * 16 + row, j = row;
  for (unsigned k = four; k < row_bytes; k += 32) {
    const std::uint32_t x[4] = {word(of_i[i], k), word(of_i[i + 8], k), word(of_i[i], k + 16),
                                word(of_i[i + 8], k + 16)};
#pragma unroll
    for (unsigned n = 0; n < held; ++n)
      staircase::mma_s8_m16n8k32(sum[n], x,
                                 {word(of_j[j + 8 * n], k), word(of_j[j + 8 * n], k + 16)});
  }
}

/// Each block computes a tile of C for one modulus and writes residues, indexed by (residue, tile,
/// product, thread).
__global__ void __launch_bounds__(threads)
    multiply_residues(View<const std::int8_t, 3> bytes, View<const Product256, 1> products,
                      View<unsigned, 4> sums) {
  extern __shared__ __align__(16) unsigned char of_rows[];
  Operands& of = *reinterpret_cast<Operands*>(of_rows);
  const Product256 at = products(blockIdx.x);
  std::int32_t sum[held][4] = {};
  for (unsigned k = 0; k < bytes.extent(2); k += row_bytes) {
    copy<threads>(bytes.row(blockIdx.y), at.p * tile, k, of.i);
    copy<threads>(bytes.row(blockIdx.y), at.q * 256, k, of.j);
    __syncthreads();
    multiply(of.i, of.j, sum);
    __syncthreads();
  }
#pragma unroll
  for (unsigned n = 0; n < held; ++n)
    sums(blockIdx.y, blockIdx.x, n, threadIdx.x) = word_of(sum[n], table.of[blockIdx.y]);
}
// [multiply_residues]

// [put_together]
/// Reconstructs a tile of C, and stores it and its transpose after an exchange in shared memory.
__global__ void __launch_bounds__(threads)
    put_together(View<const unsigned, 4> sums, View<const Product256, 1> products,
                 View<const int, 1> exponents, View<double, 2> c) {
  __shared__ double shared[tile][columns_written + 1];
  const unsigned cols = c.extent(1), i0 = products(blockIdx.x).p * tile;
  for (unsigned n0 = 0; n0 < held; n0 += columns_written / 8) {
    const unsigned j0 = products(blockIdx.x).q * 256 + 8 * n0;
    if (j0 >= cols || i0 >= j0 + columns_written) continue;
    for (unsigned n = n0; n < n0 + columns_written / 8; ++n) {
      unsigned word[residues];
#pragma unroll
      for (unsigned t = 0; t < residues; ++t) word[t] = sums(t, blockIdx.x, n, threadIdx.x);
#pragma unroll
      for (unsigned e = 0; e < 4; ++e) {
        const auto [row, column] = staircase::position_in_c(threadIdx.x % 32, e);
        const unsigned i = i0 + (row + threadIdx.x / 32 * 16), j = j0 + (column + 8 * (n - n0));
        shared[i - i0][j - j0] =
            i <= j && j < cols ? ldexp(element_of(word, e), -exponents(i) - exponents(j)) : 0;
      }
    }
    __syncthreads();
    write<threads>(shared, i0, j0, c);
    __syncthreads();
  }
}
// [put_together]

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  const std::size_t rows = problem.rows, cols = problem.cols;
  const unsigned parts_i = (cols + 255) / 256 * 2, parts_k = (rows + row_bytes - 1) / row_bytes;
  const std::vector<Product256> tiles_of_c = products_of(cols);
  const unsigned count = tiles_of_c.size();

  timeline.begin("allocate");
  staircase::require_capability(8, 0, "tensor cores for products of 16 × 8 × 32 bytes");
  staircase::require_shared_memory(sizeof(Operands));
  DeviceArray<double, 2> a(rows, cols), c(cols, cols);
  DeviceArray<int, 1> exponents(cols);
  DeviceArray<unsigned, 1> large(cols), rounded(1);
  DeviceArray<std::int8_t, 3> bytes(residues, parts_i * tile, parts_k * row_bytes);
  DeviceArray<Product256, 1> products(count);
  DeviceArray<unsigned, 4> sums(residues, count, held, threads);
  Product product(cols, cols);

  timeline.begin("copy in");
  a.copy_from(problem.matrix().data());
  products.copy_from(tiles_of_c.data());

  timeline.begin("kernels");
  check(cudaMemset(rounded.data(), 0, sizeof(unsigned)));
  const unsigned groups = (cols + columns_at_once - 1) / columns_at_once;
  scale_columns<<<groups, dim3(columns_at_once, rows_at_once)>>>(a, exponents, large);
  check_launch();
  take_apart<<<dim3(parts_k, parts_i), threads>>>(a, exponents, large_from(rows),
                                                  Statistics{large, rounded}, bytes);
  check_launch();
  require_bound(large, rounded, rows);
  staircase::allow_shared_memory(multiply_residues, sizeof(Operands));
  multiply_residues<<<dim3(count, residues), threads, sizeof(Operands)>>>(bytes, products, sums);
  check_launch();
  put_together<<<count, threads>>>(sums, products, exponents, c);
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
                            .title = "Modulus per block",
                            .idea = "Compute one modulus per block, then combine",
                            .needs = "tensor cores of compute capability 8.0",
                            .solve_f64 = ata::solve,
                        });
}
