/// \file
/// From:    12_modulus_per_block
/// Changed: `wgmma` multiplies bytes: two warpgroups read columns of residues directly from shared
///          memory. A thread in a warp of its own starts the copies of tiles ahead of time. The
///          residues of A are stored in the order that `wgmma` requires.
/// Legal:   sums of integers are exact in any order. A tile is overwritten only after the barrier
///          at which all warps that read it have arrived.
/// Expect:  15 products run at 30 times the FP64 rate, so the program is twice as fast as with FP64
///          tensor cores, apart from the conversion of A to residues and the reconstruction of C.
/// Run:     ./climb ata --stages 09,12,13

#include "../plan.hpp"
#include "../residues.hpp"

#include <cstdint>
#include <staircase/pipeline.hpp>
#include <staircase/wgmma.hpp>
#include <vector>

namespace ata {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;

// [sizes]
constexpr unsigned tile = 128;     // columns of A that a block converts to residues
constexpr unsigned threads = 256;  // per block; for products, one more warp starts copies
// [sizes]

// [take_apart]
constexpr unsigned tile_bytes = tile * row_bytes;  // 128 rows of 128 columns of A

/// Converts 128 rows of 128 columns of A to scaled integers and writes their residues as tiles,
/// indexed by (residue, column of tiles, row of tiles, byte). The bytes are in `wgmma` order.
__global__ void __launch_bounds__(threads)
    take_apart(View<const double, 2> a, View<const int, 1> exponents, double large,
               Statistics statistics, View<std::int8_t, 4> tiles) {
  const unsigned rows = a.extent(0), cols = a.extent(1);
  const unsigned column = threadIdx.x % tile, i = blockIdx.y * tile + column;
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
      std::int8_t* to = &tiles(t, blockIdx.y, blockIdx.x, 0);
#pragma unroll
      for (unsigned m = 0; m < at_once; m += 16)
        reinterpret_cast<uint4&>(to[staircase::swizzled_offset(column, k0 + m)]) =
            make_uint4(words[m / 4], words[m / 4 + 1], words[m / 4 + 2], words[m / 4 + 3]);
    }
  }
  if (i < cols) atomicAdd(&statistics.large(i), count);
  if (rounded) statistics.rounded(0) = 1;
}
// [take_apart]

// [multiply_residues]
constexpr unsigned held = 32;  // products of 16 × 8 elements per warp
constexpr unsigned stages = 4;

struct Operands {
  std::int8_t i[tile_bytes], j[2 * tile_bytes];
};
using Pipeline = staircase::Pipeline<Operands, stages>;

/// Copies the operands of a tile of C into the pipeline, 128 rows of A at a time.
__device__ void feed(Pipeline& pipeline, View<const std::int8_t, 3> tiles, Product256 at) {
  for (unsigned k = 0; k < tiles.extent(1); ++k) {
    Operands& to = pipeline.fill(k, sizeof(Operands));
    auto& full = pipeline.full[k % stages];
    staircase::bulk_copy(to.i, &tiles(at.p, k, 0), tile_bytes, full);
    staircase::bulk_copy(to.j, &tiles(2 * at.q, k, 0), tile_bytes, full);
    staircase::bulk_copy(to.j + tile_bytes, &tiles(2 * at.q + 1, k, 0), tile_bytes, full);
  }
}

/// Adds products to the sums of 64 rows of a tile. Sums over up to 131071 rows of A fit in 32 bits.
__device__ void drain(Pipeline& pipeline, unsigned steps, std::int32_t (&sum)[4 * held]) {
  const unsigned warpgroup = threadIdx.x / 128;
  for (unsigned k = 0; k < steps; ++k) {
    const Operands& from = pipeline.wait(k);
    staircase::wgmma_begin();
#pragma unroll
    for (unsigned k0 = 0; k0 < row_bytes; k0 += 32)
      staircase::wgmma_s8_m64n256k32(sum, from.i + warpgroup * tile_bytes / 2, from.j, k0);
    staircase::wgmma_commit();
    staircase::wgmma_wait<1>();
    if (k > 0) pipeline.release(k - 1);
  }
  staircase::wgmma_wait<0>();
}

/// Each block computes a tile of C for one modulus and writes residues, indexed by (residue, tile,
/// product, thread).
__global__ void __launch_bounds__(threads + 32, 1)
    multiply_residues(View<const std::int8_t, 4> tiles, View<const Product256, 1> products,
                      View<unsigned, 4> sums) {
  extern __shared__ __align__(1024) unsigned char of_rows[];
  Pipeline& pipeline = *reinterpret_cast<Pipeline*>(of_rows);
  if (threadIdx.x == 0) pipeline.start(threads / 32);
  __syncthreads();
  if (threadIdx.x >= threads) {
    if (threadIdx.x == threads) feed(pipeline, tiles.row(blockIdx.y), products(blockIdx.x));
    return;
  }
  std::int32_t sum[4 * held] = {};
  drain(pipeline, tiles.extent(2), sum);
#pragma unroll
  for (unsigned n = 0; n < held; ++n)
    sums(blockIdx.y, blockIdx.x, n, threadIdx.x) = word_of(sum + 4 * n, table.of[blockIdx.y]);
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
        const auto [row, column] = staircase::position_in_warpgroup(threadIdx.x % 128, 4 * n + e);
        const unsigned i = i0 + (row + threadIdx.x / 128 * 64), j = j0 + (column - 8 * n0);
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
  staircase::require_wgmma();
  staircase::require_shared_memory(sizeof(Pipeline));
  DeviceArray<double, 2> a(rows, cols), c(cols, cols);
  DeviceArray<int, 1> exponents(cols);
  DeviceArray<unsigned, 1> large(cols), rounded(1);
  DeviceArray<std::int8_t, 4> tiles(residues, parts_i, parts_k, tile_bytes);
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
                                                  Statistics{large, rounded}, tiles);
  check_launch();
  require_bound(large, rounded, rows);
  staircase::allow_shared_memory(multiply_residues, sizeof(Pipeline));
  multiply_residues<<<dim3(count, residues), threads + 32, sizeof(Pipeline)>>>(tiles, products,
                                                                               sums);
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
                            .title = "Warpgroups",
                            .idea = "Multiply bytes by wgmma from shared memory",
                            .needs = "tensor cores of compute capability 9.0",
                            .solve_f64 = ata::solve,
                        });
}
