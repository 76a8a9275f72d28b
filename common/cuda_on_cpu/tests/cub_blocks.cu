/// \file
/// CUB's primitives of blocks and warps, from the toolkit's headers, in kernels of one's own: block
/// sizes about that of a warp, several items of a thread, tiles that are not full.

#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#include <algorithm>
#include <functional>
#include <numeric>
#include <ostream>
#include <vector>

#include "device.hpp"

namespace {

using tap::Device;
using tap::expect_equal;

/// x -> scale x + shift: putting two after each other is associative, but the order counts.
struct Map {
  unsigned scale, shift;
  friend bool operator==(Map a, Map b) { return a.scale == b.scale && a.shift == b.shift; }
  friend std::ostream& operator<<(std::ostream& to, Map m) {
    return to << m.scale << " x + " << m.shift;
  }
};
struct After {
  __host__ __device__ Map operator()(Map a, Map b) const {
    return {a.scale * b.scale, a.shift * b.scale + b.shift};
  }
};
struct Plus {
  template <typename T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

template <typename T>
T value(int i) {
  return static_cast<T>(i * 7919 % 1000) - 300;
}
template <>
Map value<Map>(int i) {
  return {2 * static_cast<unsigned>(i) + 1, static_cast<unsigned>(i * 7919 % 1000)};
}

template <typename T>
std::vector<T> values(int count) {
  std::vector<T> all;
  for (int i = 0; i < count; ++i) all.push_back(value<T>(i));
  return all;
}

template <typename T, typename Operation>
T total(const std::vector<T>& all, std::size_t count, Operation operation) {
  return std::accumulate(all.begin() + 1, all.begin() + static_cast<std::ptrdiff_t>(count), all[0],
                         operation);
}

template <typename T, typename Operation>
std::vector<T> scanned(const std::vector<T>& all, Operation operation) {
  std::vector<T> sums(all.size());
  std::partial_sum(all.begin(), all.end(), sums.begin(), operation);
  return sums;
}

/// The total of all items, twice, and that of the first `valid` ones.
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

/// CUB has ways of its own for sums, minima and maxima by its own operations.
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

/// The scan of all items, and behind it the exclusive one that begins with the first item.
template <typename T, int threads, int items, cub::BlockScanAlgorithm algorithm, typename Operation>
__global__ void scan(const T* in, T* out, T* sum) {
  using Scan = cub::BlockScan<T, threads, algorithm>;
  using Load = cub::BlockLoad<T, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<T, threads, items, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Store::TempStorage store;
  } temp;
  T mine[items], result[items], whole;
  Load(temp.load).Load(in, mine);
  __syncthreads();
  Scan(temp.scan).InclusiveScan(mine, result, Operation(), whole);
  __syncthreads();
  Store(temp.store).Store(out, result);
  __syncthreads();
  Scan(temp.scan).ExclusiveScan(mine, mine, in[0], Operation());
  __syncthreads();
  Store(temp.store).Store(out + threads * items, mine);
  if (threadIdx.x == 0) *sum = whole;
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

/// How much came before, taken on from tile to tile.
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

/// For each warp of `width` lanes: its total, that of its first lanes, its scan, its segments'
/// sums.
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
