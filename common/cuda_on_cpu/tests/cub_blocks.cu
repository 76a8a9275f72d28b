/// \file
/// Tests CUB's block-wide scans, sorts, histograms, loads and stores, compiled from the toolkit's
/// headers. Block sizes are near the warp size, and threads have several items.

#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

#include <algorithm>
#include <numeric>
#include <vector>

#include "cub_values.hpp"

namespace {

using tap::Device;
using tap::expect_equal;

/// Computes an inclusive scan of all items, then an exclusive scan that begins with the first item.
template <typename T, int threads, int items, cub::BlockScanAlgorithm algorithm, typename Operation>
__global__ void __launch_bounds__(threads) scan(const T* in, T* out, T* sum) {
  using Scan = cub::BlockScan<T, threads, algorithm>;
  __shared__ typename Scan::TempStorage temp;
  const int t = static_cast<int>(threadIdx.x);
  T mine[items], result[items], whole;
  cub::LoadDirectBlocked(t, in, mine);
  Scan(temp).InclusiveScan(mine, result, Operation(), whole);
  cub::StoreDirectBlocked(t, out, result);
  __syncthreads();
  Scan(temp).ExclusiveScan(mine, mine, in[0], Operation());
  cub::StoreDirectBlocked(t, out + threads * items, mine);
  if (t == 0) *sum = whole;
}

template <typename T, int threads, int items, cub::BlockScanAlgorithm algorithm,
          typename Operation = Plus>
void check_scan() {
  const std::vector<T> all = values<T>(threads * items);
  const Device<T> in(all), out(2 * all.size()), sum(1);
  scan<T, threads, items, algorithm, Operation><<<1, threads>>>(in.get(), out.get(), sum.get());
  std::vector<T> expected = scanned(all, Operation()), from_first{all[0]};
  expect_equal(sum.to_host(), std::vector<T>{expected.back()});
  from_first.insert(from_first.end(), all.begin(), all.end() - 1);
  from_first = scanned(from_first, Operation());
  expected.insert(expected.end(), from_first.begin(), from_first.end());
  expect_equal(out.to_host(), expected);
}

template <int threads, int items>
void check_scans() {
  check_scan<Map, threads, items, cub::BLOCK_SCAN_RAKING, After>();
  check_scan<Map, threads, items, cub::BLOCK_SCAN_WARP_SCANS, After>();
}

TEST(scans_of_blocks) {
  check_scans<1, 3>();
  check_scans<31, 1>();
  check_scans<32, 4>();
  check_scans<33, 3>();
  check_scans<96, 1>();
  check_scans<128, 4>();
  check_scans<256, 1>();
  check_scans<1024, 1>();
  check_scan<int, 128, 3, cub::BLOCK_SCAN_RAKING_MEMOIZE>();
  check_scan<double, 128, 3, cub::BLOCK_SCAN_WARP_SCANS>();
}

/// The running total, passed from tile to tile.
struct Running {
  int sum;
  __device__ int operator()(int of_tile) {
    const int before = sum;
    sum += of_tile;
    return before;
  }
};

__global__ void scan_tiles(int* x, int n) {
  using Scan = cub::BlockScan<int, 64>;
  __shared__ Scan::TempStorage temp;
  Running running{0};
  for (int first = 0; first < n; first += 64) {
    const int i = first + static_cast<int>(threadIdx.x);
    int mine = i < n ? x[i] : 0;
    Scan(temp).ExclusiveSum(mine, mine, running);
    __syncthreads();
    if (i < n) x[i] = mine;
  }
}

TEST(a_scan_goes_on_from_tile_to_tile) {
  std::vector<int> all = values<int>(150), expected(150);
  const Device<int> x(all);
  scan_tiles<<<1, 64>>>(x.get(), 150);
  std::exclusive_scan(all.begin(), all.end(), expected.begin(), 0);
  expect_equal(x.to_host(), expected);
}

template <typename T, int threads, cub::BlockScanAlgorithm algorithm>
__global__ void scan_by_name(const T* in, T* out) {
  using Scan = cub::BlockScan<T, threads, algorithm>;
  __shared__ typename Scan::TempStorage temp;
  T inclusive, exclusive;
  Scan(temp).InclusiveSum(in[threadIdx.x], inclusive);
  __syncthreads();
  Scan(temp).ExclusiveSum(in[threadIdx.x], exclusive);
  out[threadIdx.x] = inclusive;
  out[threads + threadIdx.x] = exclusive;
}

template <typename T, int threads, cub::BlockScanAlgorithm algorithm>
void check_sums() {
  const std::vector<T> all = values<T>(threads);
  const Device<T> in(all), out(2 * threads);
  scan_by_name<T, threads, algorithm><<<1, threads>>>(in.get(), out.get());
  std::vector<T> expected = scanned(all, Plus()), before(all.size());
  std::exclusive_scan(all.begin(), all.end(), before.begin(), T{0});
  expected.insert(expected.end(), before.begin(), before.end());
  expect_equal(out.to_host(), expected);
}

TEST(sums_before_each_thread) {
  check_sums<int, 33, cub::BLOCK_SCAN_WARP_SCANS>();
  check_sums<unsigned, 96, cub::BLOCK_SCAN_WARP_SCANS>();
  check_sums<float, 128, cub::BLOCK_SCAN_WARP_SCANS>();
  check_sums<double, 96, cub::BLOCK_SCAN_WARP_SCANS>();
  check_sums<long long, 64, cub::BLOCK_SCAN_WARP_SCANS>();
  check_sums<unsigned long long, 31, cub::BLOCK_SCAN_WARP_SCANS>();
  check_sums<float, 96, cub::BLOCK_SCAN_RAKING>();
}

template <int threads, int items, cub::BlockLoadAlgorithm load, cub::BlockStoreAlgorithm store>
__global__ void move(const int* in, int* out, int n) {
  using Load = cub::BlockLoad<int, threads, items, load>;
  using Store = cub::BlockStore<int, threads, items, store>;
  __shared__ typename Load::TempStorage from;
  __shared__ typename Store::TempStorage to;
  const int first = static_cast<int>(blockIdx.x) * threads * items;
  int mine[items];
  Load(from).Load(in + first, mine, n - first, -1);
  Store(to).Store(out + first, mine, n - first);
}

template <int threads, int items, cub::BlockLoadAlgorithm load, cub::BlockStoreAlgorithm store>
void check_move() {
  const int n = threads * items + threads * items / 2 + 1;
  const std::vector<int> all = values<int>(n);
  const Device<int> in(all), out(all.size());
  move<threads, items, load, store><<<2, threads>>>(in.get(), out.get(), n);
  expect_equal(out.to_host(), all);
}

TEST(tiles_are_loaded_and_stored) {
  check_move<96, 3, cub::BLOCK_LOAD_STRIPED, cub::BLOCK_STORE_STRIPED>();
  check_move<128, 4, cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>();
  check_move<33, 3, cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>();
  check_move<128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>();
  check_move<64, 3, cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
             cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>();
}

template <typename T, int threads, int items>
__global__ void sort(T* keys, int* places) {
  using Sort = cub::BlockRadixSort<T, threads, items, int>;
  using Exchange = cub::BlockExchange<T, threads, items>;
  __shared__ typename Sort::TempStorage temp;
  __shared__ typename Exchange::TempStorage exchange;
  const int t = static_cast<int>(threadIdx.x);
  T mine[items];
  int place[items];
  for (int i = 0; i < items; ++i) place[i] = t * items + i;
  cub::LoadDirectStriped<threads>(t, keys, mine);
  Exchange(exchange).StripedToBlocked(mine, mine);
  Sort(temp).Sort(mine, place);
  cub::StoreDirectBlocked(t, keys, mine);
  cub::StoreDirectBlocked(t, places, place);
}

template <typename T, int threads, int items>
void check_sort() {
  std::vector<T> all = values<T>(threads * items);
  const Device<T> keys(all);
  const Device<int> places(all.size());
  std::vector<int> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return all[a] < all[b]; });
  sort<T, threads, items><<<1, threads>>>(keys.get(), places.get());
  expect_equal(places.to_host(), order);
  std::sort(all.begin(), all.end());
  expect_equal(keys.to_host(), all);
}

TEST(blocks_are_sorted) {
  check_sort<int, 32, 4>();
  check_sort<unsigned char, 96, 3>();
  check_sort<double, 33, 1>();
}

template <cub::BlockHistogramAlgorithm algorithm>
__global__ void count(const unsigned char* in, unsigned* bins) {
  using Histogram = cub::BlockHistogram<unsigned char, 96, 3, 256, algorithm>;
  __shared__ typename Histogram::TempStorage temp;
  __shared__ unsigned mine[256];
  unsigned char samples[3];
  cub::LoadDirectBlocked(static_cast<int>(threadIdx.x), in, samples);
  Histogram(temp).Histogram(samples, mine);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += 96) bins[i] = mine[i];
}

TEST(histograms_of_blocks) {
  const std::vector<unsigned char> all = values<unsigned char>(288);
  std::vector<unsigned> expected(256);
  for (const unsigned char sample : all) ++expected[sample];
  const Device<unsigned char> in(all);
  const Device<unsigned> bins(256), others(256);
  count<cub::BLOCK_HISTO_ATOMIC><<<1, 96>>>(in.get(), bins.get());
  expect_equal(bins.to_host(), expected);
  count<cub::BLOCK_HISTO_SORT><<<1, 96>>>(in.get(), others.get());
  expect_equal(others.to_host(), expected);
}

}  // namespace

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
