/// \file
/// Tests CUB's block reductions, warp reductions and warp scans, compiled from the toolkit's
/// headers, in kernels of this test. Block sizes are near the warp size, threads have several
/// items, and tiles may be incomplete.

#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#include <algorithm>
#include <vector>

#include "cub_values.hpp"

namespace {

using tap::Device;
using tap::expect_equal;

/// Writes the total of all items and the total of the first `valid` items.
template <typename T, int threads, int items, cub::BlockReduceAlgorithm algorithm,
          typename Operation>
__global__ void reduce(const T* in, T* out, int valid) {
  using Reduce = cub::BlockReduce<T, threads, algorithm>;
  __shared__ typename Reduce::TempStorage temp;
  const int t = static_cast<int>(threadIdx.x);
  T mine[items];
  cub::LoadDirectBlocked(t, in, mine);
  const T all = Reduce(temp).Reduce(mine, Operation());
  __syncthreads();
  const T some = Reduce(temp).Reduce(t < valid ? in[t] : T{}, Operation(), valid);
  if (t == 0) {
    out[0] = all;
    out[1] = some;
  }
}

template <typename T, int threads, int items, cub::BlockReduceAlgorithm algorithm,
          typename Operation = Plus>
void check_reduce() {
  const std::vector<T> all = values<T>(threads * items);
  const Device<T> in(all), out(2);
  const int valid = threads == 1 ? 1 : threads - 1;
  reduce<T, threads, items, algorithm, Operation><<<1, threads>>>(in.get(), out.get(), valid);
  expect_equal(out.to_host(),
               std::vector<T>{total(all, all.size(), Operation()),
                              total(all, static_cast<std::size_t>(valid), Operation())});
}

template <int threads, int items>
void check_reductions() {
  check_reduce<int, threads, items, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>();
  check_reduce<Map, threads, items, cub::BLOCK_REDUCE_RAKING, After>();
  check_reduce<Map, threads, items, cub::BLOCK_REDUCE_WARP_REDUCTIONS, After>();
}

TEST(reductions_of_blocks) {
  check_reductions<1, 3>();
  check_reductions<31, 1>();
  check_reductions<32, 4>();
  check_reductions<33, 3>();
  check_reductions<96, 1>();
  check_reductions<128, 4>();
  check_reductions<256, 1>();
  check_reductions<1024, 1>();
}

TEST(reductions_of_other_types) {
  check_reduce<unsigned, 128, 4, cub::BLOCK_REDUCE_WARP_REDUCTIONS>();
  check_reduce<float, 33, 1, cub::BLOCK_REDUCE_WARP_REDUCTIONS>();
  check_reduce<double, 33, 3, cub::BLOCK_REDUCE_WARP_REDUCTIONS>();
  check_reduce<long long, 96, 3, cub::BLOCK_REDUCE_WARP_REDUCTIONS>();
  check_reduce<double, 96, 1, cub::BLOCK_REDUCE_RAKING>();
  check_reduce<short, 96, 1, cub::BLOCK_REDUCE_RAKING>();
}

/// Reduces with CUB's own sums, minima and maxima, for which CUB has special implementations.
template <typename T, int threads, cub::BlockReduceAlgorithm algorithm>
__global__ void reduce_by_name(const T* in, T* out, int valid) {
  using Reduce = cub::BlockReduce<T, threads, algorithm>;
  __shared__ typename Reduce::TempStorage temp[5];
  const T mine = in[threadIdx.x];
  const T results[] = {Reduce(temp[0]).Sum(mine), Reduce(temp[1]).Sum(mine, valid),
                       Reduce(temp[2]).Reduce(mine, cuda::minimum<>{}),
                       Reduce(temp[3]).Reduce(mine, cuda::maximum<>{}),
                       Reduce(temp[4]).Reduce(mine, cuda::maximum<>{}, valid)};
  if (threadIdx.x == 0)
    for (int i = 0; i < 5; ++i) out[i] = results[i];
}

template <typename T, int threads, cub::BlockReduceAlgorithm algorithm>
void check_named() {
  const std::vector<T> all = values<T>(threads);
  const Device<T> in(all), out(5);
  constexpr int valid = (threads + 1) / 2;
  reduce_by_name<T, threads, algorithm><<<1, threads>>>(in.get(), out.get(), valid);
  expect_equal(out.to_host(), std::vector<T>{total(all, threads, Plus()), total(all, valid, Plus()),
                                             *std::min_element(all.begin(), all.end()),
                                             *std::max_element(all.begin(), all.end()),
                                             *std::max_element(all.begin(), all.begin() + valid)});
}

TEST(sums_minima_and_maxima_of_blocks) {
  check_named<int, 128, cub::BLOCK_REDUCE_WARP_REDUCTIONS>();
  check_named<unsigned, 33, cub::BLOCK_REDUCE_WARP_REDUCTIONS>();
  check_named<int, 96, cub::BLOCK_REDUCE_RAKING>();
  check_named<unsigned long long, 96, cub::BLOCK_REDUCE_WARP_REDUCTIONS>();
  check_named<float, 128, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>();
  check_named<double, 31, cub::BLOCK_REDUCE_WARP_REDUCTIONS>();
}

/// For each warp of `width` lanes, computes the sum of all lanes, the sum of the first `valid`
/// lanes, the scan, and the sums of the segments.
template <typename T, int width>
__global__ void in_warps(const T* in, T* out, int valid) {
  using Reduce = cub::WarpReduce<T, width>;
  using Scan = cub::WarpScan<T, width>;
  constexpr int warps = 64 / width;
  __shared__ typename Reduce::TempStorage sums[warps];
  __shared__ typename Scan::TempStorage scans[warps];
  const int t = static_cast<int>(threadIdx.x), warp = t / width, lane = t % width;
  if (warp >= warps) return;
  const T mine = in[t];
  const T all = Reduce(sums[warp]).Sum(mine);
  __syncwarp();
  const T some = Reduce(sums[warp]).Sum(mine, valid);
  __syncwarp();
  const T of_segment = Reduce(sums[warp]).HeadSegmentedSum(mine, lane % 3 == 0);
  T inclusive, exclusive;
  Scan(scans[warp]).Scan(mine, inclusive, exclusive, T{0}, Plus());
  if (lane == 0) {
    out[t] = all;
    out[64 + t] = some;
  }
  if (lane % 3 == 0) out[128 + t] = of_segment;
  out[192 + t] = inclusive;
  out[256 + t] = exclusive;
}

template <typename T, int width>
void check_warps() {
  const std::vector<T> all = values<T>(64);
  const Device<T> in(all), out(std::vector<T>(320));
  constexpr int valid = (width + 1) / 2;
  in_warps<T, width><<<1, 64>>>(in.get(), out.get(), valid);
  std::vector<T> expected(320);
  for (int first = 0; first + width <= 64; first += width) {
    T sum{};
    for (int i = first; i < first + width; ++i) {
      const int lane = i - first;
      expected[256 + i] = sum;
      expected[192 + i] = sum += all[i];
      expected[128 + i - lane % 3] += all[i];
      expected[64 + first] += lane < valid ? all[i] : T{};
    }
    expected[first] = sum;
  }
  expect_equal(out.to_host(), expected);
}

TEST(reductions_and_scans_of_warps) {
  check_warps<int, 32>();
  check_warps<int, 8>();
  check_warps<float, 16>();
  check_warps<double, 32>();
  check_warps<unsigned, 1>();
}

template <typename T, int width>
__global__ void in_one_warp(const T* in, T* out) {
  using Reduce = cub::WarpReduce<T, width>;
  __shared__ typename Reduce::TempStorage temp;
  const T all = Reduce(temp).Reduce(in[threadIdx.x], After());
  if (threadIdx.x == 0) *out = all;
}

TEST(a_warp_of_lanes_that_are_no_power_of_two) {
  const std::vector<Map> all = values<Map>(13);
  const Device<Map> in(all), out(1);
  in_one_warp<Map, 13><<<1, 13>>>(in.get(), out.get());
  expect_equal(out.to_host(), std::vector<Map>{total(all, all.size(), After())});
}

}  // namespace

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
