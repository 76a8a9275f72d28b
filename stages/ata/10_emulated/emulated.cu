/// \file
/// Changed: columns of A are scaled to whole numbers below 2⁵⁹, of which 15 residues of a byte each
///          are kept; the product is computed 15 times, of residues, exactly, by `wgmma`; the
///          Chinese remainder theorem puts each element together again, exactly, too (Ozaki, Uchino
///          and Imamura, "Ozaki Scheme II", arXiv:2504.08009).
/// Legal:   the only errors are those of rounding A to whole numbers, and C to FP64; if any number
///          of A is rounded, statistics of its columns must show that the error keeps the bound of
///          a sum in FP64. Other matrices are refused, and so are more than 131071 rows.
/// Expect:  15 products at 30 times the rate: twice the speed of FP64 tensor cores, less the time
///          to take A apart and to put C together.
/// Run:     ./climb ata --stages 09,10
/// Next:    11_overlapped goes back to stage 09, and copies while it computes.

#include "../ata.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <staircase/bulk_copy.hpp>
#include <staircase/error.hpp>
#include <staircase/wgmma.hpp>
#include <string>
#include <vector>

namespace ata {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::View;

// [sizes]
constexpr unsigned tile = 128;     // columns of A of a tile of residues
constexpr unsigned threads = 256;  // of a block that makes such tiles
// [sizes]

// [moduli]
using Wide = unsigned __int128;

/// The largest 15 numbers up to 256 of which no two have a common factor.
constexpr unsigned moduli[] = {256, 255, 253, 251, 247, 241, 239, 233,
                               229, 227, 223, 217, 211, 199, 197};
constexpr unsigned residues = std::size(moduli);

constexpr Wide product_of_moduli() {
  Wide product = 1;
  for (const unsigned p : moduli) product *= p;
  return product;
}
constexpr Wide whole = product_of_moduli();  // nearly 2¹¹⁸

/// What the kernels need to know of a modulus p.
struct Modulus {
  std::int32_t p;
  unsigned quotient;  // ⌊2³² / p⌋
  unsigned bias;      // a multiple of p, at least 2³¹
  double reciprocal;  // 1 / p
  double share;       // weight / whole
  Wide weight;        // 1 modulo p, 0 modulo all others, less than whole
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
    unsigned inverse = 1;  // of `others` modulo p
    while (others % p * inverse % p != 1) ++inverse;
    table.of[t] = {p, quotient, bias, 1.0 / p, 1.0 * inverse / p, others * inverse};
  }
  return table;
}
__constant__ constexpr Moduli table = make_moduli();
// [moduli]

// [scale_columns]
constexpr unsigned columns_at_once = 32, rows_at_once = 16;

/// Combines what the threads of a column have found, always in the same order.
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

/// The largest square of a column's norm for which every element of C is less than whole / 2, with
/// room for rounding.
constexpr double largest_square = double(whole) / 2 * (1 - 0x1p-19);

/// Finds for each column the power of two that its numbers are multiplied by, the largest that its
/// norm allows; 0 for a column of zeros.
__global__ void scale_columns(View<const double, 2> a, View<int, 1> exponents,
                              View<unsigned, 1> large) {
  __shared__ double shared[rows_at_once][columns_at_once];
  const unsigned rows = a.extent(0), cols = a.extent(1);
  const unsigned i = blockIdx.x * columns_at_once + threadIdx.x;
  double largest = 0;
  for (unsigned k = threadIdx.y; k < rows && i < cols; k += rows_at_once)
    largest = fmax(largest, fabs(a(k, i)));
  largest = combine(largest, shared, [](double x, double y) { return fmax(x, y); });

  // Squares of numbers below 2 neither overflow nor vanish if they matter.
  const int exponent = largest > 0 ? ilogb(largest) : 0;
  double square = 0;
  for (unsigned k = threadIdx.y; k < rows && i < cols; k += rows_at_once) {
    const double x = ldexp(a(k, i), -exponent);
    square += x * x;
  }
  square = combine(square, shared, [](double x, double y) { return x + y; });
  if (threadIdx.y > 0 || i >= cols) return;
  large(i) = largest > 0 ? 0 : rows;  // nothing is lost by rounding zeros
  const int room = largest > 0 ? ilogb(largest_square / square) : 0;  // in powers of 2, of squares
  exponents(i) = (room >= 0 ? room : room - 1) / 2 - exponent;
}
// [scale_columns]

// [take_apart]
constexpr unsigned row_bytes = 128;                // of a tile of residues: rows of A
constexpr unsigned tile_bytes = tile * row_bytes;  // of 128 columns of A
constexpr unsigned at_once = 32;                   // rows of A of a thread

/// What the columns tell of the error that rounding A causes.
struct Statistics {
  View<unsigned, 1> large;  // of each column, how many numbers are large; all of a column of zeros
  View<unsigned, 1> rounded;  // whether any number of A was rounded
};

/// x modulo p, from -128 to 127.
__device__ int residue_of(double x, const Modulus& modulus) {
  const double p = modulus.p;
  const int r = fma(-rint(x * modulus.reciprocal), p, x);
  return r > 127 ? r - modulus.p : r < -128 ? r + modulus.p : r;
}

/// Rounds 128 columns of 128 rows of A, scaled, to whole numbers and writes their residues as
/// tiles: (residue, 128 columns, 128 rows, byte), for each column its rows, as wgmma wants them.
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
        reinterpret_cast<uint4&>(to[staircase::place_in_rows(column, k0 + m)]) =
            make_uint4(words[m / 4], words[m / 4 + 1], words[m / 4 + 2], words[m / 4 + 3]);
    }
  }
  if (i < cols) atomicAdd(&statistics.large(i), count);
  if (rounded) statistics.rounded(0) = 1;
}
// [take_apart]

// [multiply_residues]
/// A tile of C: 128 rows from 128 p on, 256 columns from 256 q on.
struct Product256 {
  unsigned p, q;
};
constexpr unsigned multipliers = 256;  // threads of two warpgroups; another warp starts the copies
constexpr unsigned words = 32;         // of four numbers each that a thread holds of a tile
constexpr unsigned stages = 4;

struct Operands {
  std::int8_t i[tile_bytes], j[2 * tile_bytes];
};
struct Pipeline {
  Operands operands[stages];
  staircase::TransferBarrier full[stages], empty[stages];
};

/// Copies the operands of a tile into the pipeline, 128 rows of A at a time.
__device__ void feed(Pipeline& pipeline, View<const std::int8_t, 3> tiles, Product256 at) {
  for (unsigned k = 0; k < tiles.extent(1); ++k) {
    Operands& to = pipeline.operands[k % stages];
    auto& full = pipeline.full[k % stages];
    pipeline.empty[k % stages].wait((k / stages + 1) % 2);
    full.arrive_and_expect(sizeof(Operands));
    staircase::bulk_copy(to.i, &tiles(at.p, k, 0), tile_bytes, full);
    staircase::bulk_copy(to.j, &tiles(2 * at.q, k, 0), tile_bytes, full);
    staircase::bulk_copy(to.j + tile_bytes, &tiles(2 * at.q + 1, k, 0), tile_bytes, full);
  }
}

/// Adds up the products of 64 rows of a tile: of 131071 rows of A, they fit 32 bits.
__device__ void drain(Pipeline& pipeline, unsigned steps, std::int32_t (&sum)[4 * words]) {
  const unsigned warpgroup = threadIdx.x / 128;
  for (unsigned k = 0; k < steps; ++k) {
    const Operands& from = pipeline.operands[k % stages];
    pipeline.full[k % stages].wait(k / stages % 2);
    staircase::wgmma_begin();
#pragma unroll
    for (unsigned k0 = 0; k0 < row_bytes; k0 += 32)
      staircase::wgmma_s8_m64n256k32(sum, from.i + warpgroup * tile_bytes / 2, from.j, k0);
    staircase::wgmma_commit();
    staircase::wgmma_wait<1>();
    if (k > 0 && threadIdx.x % 32 == 0) pipeline.empty[(k - 1) % stages].arrive();
  }
  staircase::wgmma_wait<0>();
}

/// x modulo p, from 0 to p - 1.
__device__ unsigned residue_of(std::int32_t x, const Modulus& modulus) {
  const unsigned p = modulus.p, y = x + modulus.bias;
  const unsigned r = y - __umulhi(y, modulus.quotient) * p;  // from 0 to 2 p - 1
  return min(r, r - p);
}

/// Each block computes a tile of C modulo one of the moduli: (residue, tile, word, thread).
__global__ void __launch_bounds__(multipliers + 32, 1)
    multiply_residues(View<const std::int8_t, 4> tiles, View<const Product256, 1> products,
                      View<unsigned, 4> sums) {
  extern __shared__ __align__(1024) unsigned char of_rows[];
  Pipeline& pipeline = *reinterpret_cast<Pipeline*>(of_rows);
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < stages; ++s) {
      pipeline.full[s].init(1);
      pipeline.empty[s].init(multipliers / 32);
    }
    staircase::fence_barriers();
  }
  __syncthreads();
  if (threadIdx.x >= multipliers) {
    if (threadIdx.x == multipliers) feed(pipeline, tiles.row(blockIdx.y), products(blockIdx.x));
    return;
  }
  std::int32_t sum[4 * words] = {};
  drain(pipeline, tiles.extent(2), sum);
#pragma unroll
  for (unsigned w = 0; w < words; ++w) {
    unsigned word = 0;
#pragma unroll
    for (unsigned e = 0; e < 4; ++e)
      word |= residue_of(sum[4 * w + e], table.of[blockIdx.y]) << 8 * e;
    sums(blockIdx.y, blockIdx.x, w, threadIdx.x) = word;
  }
}
// [multiply_residues]

// [put_together]
/// The FP64 number nearest to a whole one.
__device__ double rounded(Wide x) {
  const bool negative = x >> 127 != 0;
  if (negative) x = -x;
  if (x == 0) return 0;
  const std::int64_t high = x >> 64, low = x;
  const int zeros = high != 0 ? __clzll(high) : 64 + __clzll(low);
  x <<= zeros;
  // The first 64 digits, the last of them set if any behind it is: enough to round once.
  const std::uint64_t front = x >> 64, behind = x;
  const double first = front | (behind != 0);
  const double magnitude = ldexp(first, 64 - zeros);
  return negative ? -magnitude : magnitude;
}

/// The element of C whose residues are byte e of these words.
__device__ double element_of(const unsigned (&word)[residues], unsigned e) {
  Wide sum = 0;      // modulo 2¹²⁸
  double share = 0;  // sum / whole
#pragma unroll
  for (unsigned t = 0; t < residues; ++t) {
    const unsigned residue = word[t] >> 8 * e & 0xFF;
    sum += table.of[t].weight * residue;
    share += table.of[t].share * residue;
  }
  return rounded(sum - Wide(rint(share)) * whole);
}

constexpr unsigned columns_written = 32;  // of C at a time

/// Puts a tile of C together and writes it and its mirror image; threads meet in shared memory and
/// change places.
__global__ void __launch_bounds__(multipliers)
    put_together(View<const unsigned, 4> sums, View<const Product256, 1> products,
                 View<const int, 1> exponents, View<double, 2> c) {
  __shared__ double shared[tile][columns_written + 1];
  const unsigned cols = c.extent(1), i0 = products(blockIdx.x).p * tile;
  for (unsigned w0 = 0; w0 < words; w0 += columns_written / 8) {
    const unsigned j0 = products(blockIdx.x).q * 256 + 8 * w0;
    if (j0 >= cols || i0 >= j0 + columns_written) continue;
    for (unsigned w = w0; w < w0 + columns_written / 8; ++w) {
      unsigned word[residues];
#pragma unroll
      for (unsigned t = 0; t < residues; ++t) word[t] = sums(t, blockIdx.x, w, threadIdx.x);
#pragma unroll
      for (unsigned e = 0; e < 4; ++e) {
        auto [row, column] = staircase::place_in_warpgroup(threadIdx.x % 128, 4 * w + e);
        row += threadIdx.x / 128 * 64;
        column -= 8 * w0;
        const unsigned i = i0 + row, j = j0 + column;
        shared[row][column] =
            i <= j && j < cols ? ldexp(element_of(word, e), -exponents(i) - exponents(j)) : 0;
      }
    }
    __syncthreads();
    for (unsigned e = threadIdx.x; e < tile * columns_written; e += multipliers) {
      const unsigned i = i0 + e / columns_written, j = j0 + e % columns_written;
      if (i <= j && j < cols) c(i, j) = shared[e / columns_written][e % columns_written];
    }
    for (unsigned e = threadIdx.x; e < tile * columns_written; e += multipliers) {
      const unsigned i = i0 + e % tile, j = j0 + e / tile;
      if (i < j && j < cols) c(j, i) = shared[e % tile][e / tile];
    }
    __syncthreads();
  }
}
// [put_together]

// [suits]
/// From which magnitude on a scaled number counts as large. If three quarters of the numbers of
/// each of two columns do, then at least half of the rows have two large ones, and (|A|ᵀ|A|)(i, j)
/// >= rows / 2 large². The norms of columns, of r √rows at most, bound what rounding adds up to by
/// rows (r + 1/4). With this threshold, that is no more than (rows - 1) 2⁻⁵³ (|A|ᵀ|A|)(i, j);
/// rounding C adds one 2⁻⁵³ more.
double large_from(std::int64_t rows) {
  const double r = std::sqrt(largest_square / rows);
  return std::sqrt(0x1p54 * (r + 0.25) / (rows - 1)) + 1;
}

/// Throws unless the error of rounding A keeps the bound.
/// \throws NotAvailable
void require_bound(const DeviceArray<unsigned, 1>& large, const DeviceArray<unsigned, 1>& rounded,
                   std::int64_t rows) {
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

// [plan]
/// The tiles of 128 × 256 that are not wholly below the diagonal, in strips of 6 columns, row by
/// row.
std::vector<Product256> products_of(unsigned cols) {
  const unsigned p_tiles = (cols + 127) / 128, q_tiles = (cols + 255) / 256, width = 6;
  std::vector<Product256> products;
  for (unsigned q0 = 0; q0 < q_tiles; q0 += width)
    for (unsigned p = 0; p < std::min(2 * (q0 + width), p_tiles); ++p)
      for (unsigned q = std::max(p / 2, q0); q < std::min(q0 + width, q_tiles); ++q)
        products.push_back({p, q});
  return products;
}
// [plan]

// [solve]
Product solve(const Problem& problem, staircase::Timeline& timeline) {
  const std::size_t rows = problem.rows, cols = problem.cols;
  const std::vector<Product256> tiles_of_c = products_of(cols);
  const unsigned count = tiles_of_c.size();

  timeline.begin("allocate");
  staircase::require_wgmma();
  staircase::require_shared_memory(sizeof(Pipeline));
  DeviceArray<double, 2> a(rows, cols), c(cols, cols);
  DeviceArray<int, 1> exponents(cols);
  DeviceArray<unsigned, 1> large(cols), rounded(1);
  DeviceArray<std::int8_t, 4> tiles(residues, (cols + 255) / 256 * 2, (rows + 127) / 128,
                                    tile_bytes);
  DeviceArray<Product256, 1> products(count);
  DeviceArray<unsigned, 4> sums(residues, count, words, multipliers);
  Product product(cols, cols);

  timeline.begin("copy in");
  a.copy_from(problem.matrix().data());
  products.copy_from(tiles_of_c.data());

  timeline.begin("kernels");
  check(cudaMemset(rounded.data(), 0, sizeof(unsigned)));
  const unsigned groups = (cols + columns_at_once - 1) / columns_at_once;
  scale_columns<<<groups, dim3(columns_at_once, rows_at_once)>>>(a, exponents, large);
  check_launch();
  take_apart<<<dim3(tiles.extent(2), tiles.extent(1)), threads>>>(
      a, exponents, large_from(rows), Statistics{large, rounded}, tiles);
  check_launch();
  require_bound(large, rounded, rows);
  staircase::allow_shared_memory(multiply_residues, sizeof(Pipeline));
  multiply_residues<<<dim3(count, residues), multipliers + 32, sizeof(Pipeline)>>>(tiles, products,
                                                                                   sums);
  check_launch();
  put_together<<<count, multipliers>>>(sums, products, exponents, c);
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
                            .idea = "FP64 from products of bytes",
                            .needs = "tensor cores of compute capability 9.0",
                            .solve_f64 = ata::solve,
                        });
}
