/// \file
/// Tests CUB's device-wide algorithms with the interface of the toolkit's headers.

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cub/cub.cuh>
#include <cuda/std/tuple>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "device.hpp"

namespace {

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::expect_error;
using Ints = std::vector<int>;

struct Larger {
  template <typename T>
  __host__ __device__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};

/// Makes the two calls of an algorithm, with the temporary storage that the first call requests.
template <typename Call>
void with_storage(Call call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes));
  expect(bytes > 0, "no temporary storage would look like a question");
  const Device<char> storage(bytes);
  check(call(storage.get(), bytes));
  check(cudaDeviceSynchronize());
}

Ints numbers(int count) {
  Ints all;
  for (int i = 0; i < count; ++i) all.push_back(i * 7919 % 1000 - 300);
  return all;
}

TEST(reductions) {
  const Ints all = numbers(1000);
  const Device<int> in(all), out(1), place(1);
  const auto result = [&] { return out.to_host()[0]; };
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(temp, bytes, in.get(), out.get(), 1000);
  });
  expect_equal(result(), std::accumulate(all.begin(), all.end(), 0));
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceReduce::Min(temp, bytes, in.get(), out.get(), 1000);
  });
  expect_equal(result(), -300);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceReduce::Max(temp, bytes, in.get(), out.get(), 1000);
  });
  expect_equal(result(), 699);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceReduce::Reduce(temp, bytes, in.get(), out.get(), 1000, Larger(), 2000);
  });
  expect_equal(result(), 2000);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceReduce::Reduce(temp, bytes, in.get(), out.get(), 0, Larger(), -7);
  });
  expect_equal(result(), -7);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceReduce::ArgMin(temp, bytes, in.get(), out.get(), place.get(), 1000);
  });
  expect_equal(result(), -300);
  expect_equal(place.to_host()[0], 0);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceReduce::TransformReduce(temp, bytes, in.get(), out.get(), 10,
                                              cuda::std::plus<>{}, Square(), 1);
  });
  expect_equal(result(),
               std::transform_reduce(all.begin(), all.begin() + 10, 1, std::plus<>(), Square()));
}

TEST(iterators_are_read) {
  const Device<long long> out(1);
  const auto squares = thrust::make_transform_iterator(thrust::make_counting_iterator(0), Square());
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(temp, bytes, squares, out.get(), 1000);
  });
  expect_equal(out.to_host()[0], 332833500LL);
}

TEST(scans) {
  Ints all = numbers(3000), expected(3000);
  const Device<int> in(all), out(3000), first(Ints{5});
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(temp, bytes, in.get(), out.get(), 3000);
  });
  std::exclusive_scan(all.begin(), all.end(), expected.begin(), 0);
  expect_equal(out.to_host(), expected);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(temp, bytes, in.get(), out.get(), 3000);
  });
  std::partial_sum(all.begin(), all.end(), expected.begin());
  expect_equal(out.to_host(), expected);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScan(temp, bytes, in.get(), out.get(), Larger(), 3000);
  });
  std::partial_sum(all.begin(), all.end(), expected.begin(), Larger());
  expect_equal(out.to_host(), expected);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveScan(temp, bytes, in.get(), out.get(), cuda::std::plus<>{},
                                          cub::FutureValue<int>(first.get()), 3000);
  });
  std::exclusive_scan(all.begin(), all.end(), expected.begin(), 5);
  expect_equal(out.to_host(), expected);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveScanInit(temp, bytes, in.get(), out.get(), cuda::std::plus<>{},
                                              7, 3000);
  });
  std::inclusive_scan(all.begin(), all.end(), expected.begin(), std::plus<>(), 7);
  expect_equal(out.to_host(), expected);
  with_storage([&](void* temp, std::size_t& bytes) {  // in place
    return cub::DeviceScan::InclusiveSum(temp, bytes, in.get(), 3000);
  });
  std::partial_sum(all.begin(), all.end(), all.begin());
  expect_equal(in.to_host(), all);
}

TEST(scans_and_sums_of_equal_keys) {
  const Device<int> keys(Ints{1, 1, 2, 2, 2, 1}), values(Ints{1, 2, 3, 4, 5, 6}), out(6), unique(6),
      runs(1);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSumByKey(temp, bytes, keys.get(), values.get(), out.get(), 6);
  });
  expect_equal(out.to_host(), Ints{1, 3, 3, 7, 12, 6});
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSumByKey(temp, bytes, keys.get(), values.get(), out.get(), 6);
  });
  expect_equal(out.to_host(), Ints{0, 1, 0, 3, 7, 0});
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceReduce::ReduceByKey(temp, bytes, keys.get(), unique.get(), values.get(),
                                          out.get(), runs.get(), Larger(), 6);
  });
  expect_equal(runs.to_host(), Ints{3});
  const Ints keys_found = unique.to_host(), largest = out.to_host();
  expect_equal(Ints(keys_found.begin(), keys_found.begin() + 3), Ints{1, 2, 1});
  expect_equal(Ints(largest.begin(), largest.begin() + 3), Ints{2, 5, 6});
}

template <typename T>
void expect_sorted(const std::vector<T>& all) {
  const int n = static_cast<int>(all.size());
  Ints order(all.size());
  std::iota(order.begin(), order.end(), 0);
  const Device<T> in(all), out(all.size());
  const Device<int> places(order), sorted(all.size());
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(temp, bytes, in.get(), out.get(), places.get(),
                                           sorted.get(), n);
  });
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return all[a] < all[b]; });
  expect_equal(sorted.to_host(), order);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeysDescending(temp, bytes, in.get(), out.get(), n);
  });
  std::vector<T> expected = all;
  std::sort(expected.begin(), expected.end(), std::greater<T>());
  expect_equal(out.to_host(), expected);
  expect_equal(in.to_host(), all);
}

TEST(sorts_by_bits) {
  const Ints all = numbers(1500);
  expect_sorted(all);
  expect_sorted(std::vector<double>(all.begin(), all.end()));
  expect_sorted(std::vector<short>(all.begin(), all.end()));
  const Device<int> in(Ints{0x321, 0x213, 0x132}), out(3);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(temp, bytes, in.get(), out.get(), 3, 4, 8);
  });
  expect_equal(out.to_host(), Ints{0x213, 0x321, 0x132});
}

TEST(a_sort_ends_in_one_of_two_buffers) {
  const Device<int> one(Ints{3, 1, 2}), other(3);
  cub::DoubleBuffer<int> keys(one.get(), other.get());
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(temp, bytes, keys, 3);
  });
  expect_equal(static_cast<const void*>(keys.Current()), static_cast<const void*>(other.get()));
  expect_equal(other.to_host(), Ints{1, 2, 3});
}

struct Pair {
  int high;
  unsigned char low;
};
struct Parts {
  __host__ __device__ cuda::std::tuple<int&, unsigned char&> operator()(Pair& pair) const {
    return {pair.high, pair.low};
  }
};

TEST(structures_are_sorted_by_their_parts) {
  const Device<Pair> in(std::vector<Pair>{{1, 2}, {-1, 9}, {1, 1}, {0, 0}}), out(4);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(temp, bytes, in.get(), out.get(), 4, Parts());
  });
  Ints found;
  for (const Pair& pair : out.to_host()) found.push_back(10 * pair.high + pair.low);
  expect_equal(found, Ints{-1, 0, 11, 12});
}

TEST(sorts_by_comparisons) {
  Ints all = numbers(777), order(777);
  std::iota(order.begin(), order.end(), 0);
  const Device<int> keys(all), places(order);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceMergeSort::StableSortPairs(
        temp, bytes, keys.get(), places.get(), 777,
        [] __device__(int a, int b) { return a / 10 < b / 10; });
  });
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return all[a] / 10 < all[b] / 10; });
  expect_equal(places.to_host(), order);
  const Device<int> a(Ints{1, 3, 5}), b(Ints{2, 3}), merged(5);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceMerge::MergeKeys(temp, bytes, a.get(), 3, b.get(), 2, merged.get());
  });
  expect_equal(merged.to_host(), Ints{1, 2, 3, 3, 5});
}

TEST(segments) {
  const Device<int> in(Ints{5, 4, 3, 9, 8, 7, 1}), out(7), ends(Ints{0, 3, 3, 7}), sums(3);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceSegmentedReduce::Sum(temp, bytes, in.get(), sums.get(), 3, ends.get(),
                                           ends.get() + 1);
  });
  expect_equal(sums.to_host(), Ints{12, 0, 25});
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceSegmentedSort::SortKeys(temp, bytes, in.get(), out.get(), 7, 3, ends.get(),
                                              ends.get() + 1);
  });
  expect_equal(out.to_host(), Ints{3, 4, 5, 1, 7, 8, 9});
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceSegmentedRadixSort::SortKeysDescending(temp, bytes, in.get(), out.get(), 7, 3,
                                                             ends.get(), ends.get() + 1);
  });
  expect_equal(out.to_host(), Ints{5, 4, 3, 9, 8, 7, 1});
}

/// The first items of an array; another array contains their number.
Ints chosen(const Device<int>& items, const Device<int>& count) {
  Ints all = items.to_host();
  all.resize(static_cast<std::size_t>(count.to_host()[0]));
  return all;
}

TEST(items_are_chosen) {
  const Device<int> in(Ints{1, 2, 2, 3, 4, 4}), flags(Ints{0, 1, 0, 0, 1, 1}), out(6), count(1);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceSelect::If(temp, bytes, in.get(), out.get(), count.get(), 6, IsOdd());
  });
  expect_equal(chosen(out, count), Ints{1, 3});
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceSelect::Flagged(temp, bytes, in.get(), flags.get(), out.get(), count.get(),
                                      6);
  });
  expect_equal(chosen(out, count), Ints{2, 4, 4});
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceSelect::Unique(temp, bytes, in.get(), out.get(), count.get(), 6);
  });
  expect_equal(chosen(out, count), Ints{1, 2, 3, 4});
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DevicePartition::If(temp, bytes, in.get(), out.get(), count.get(), 6, IsOdd());
  });
  expect_equal(out.to_host(), Ints{1, 3, 4, 4, 2, 2});
  expect_equal(count.to_host(), Ints{2});
  const Device<int> keys(6);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceSelect::UniqueByKey(temp, bytes, in.get(), flags.get(), keys.get(), out.get(),
                                          count.get(), 6);
  });
  expect_equal(chosen(keys, count), Ints{1, 2, 3, 4});
  expect_equal(chosen(out, count), Ints{0, 1, 0, 1});
}

TEST(histograms) {
  const Device<float> samples(std::vector<float>{2.2f, 6.1f, 7.1f, 2.9f, 3.5f, 0.3f, 12.0f, -1.0f});
  const Device<float> levels(std::vector<float>{0, 2, 4, 8});
  const Device<int> counts(3);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(temp, bytes, samples.get(), counts.get(), 4, 0.0f,
                                               9.0f, 8);
  });
  expect_equal(counts.to_host(), Ints{3, 1, 2});
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceHistogram::HistogramRange(temp, bytes, samples.get(), counts.get(), 4,
                                                levels.get(), 8);
  });
  expect_equal(counts.to_host(), Ints{1, 3, 2});
}

TEST(runs) {
  const Device<int> in(Ints{0, 2, 2, 9, 5, 5, 5, 8}), unique(8), lengths(8), count(1);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceRunLengthEncode::Encode(temp, bytes, in.get(), unique.get(), lengths.get(),
                                              count.get(), 8);
  });
  expect_equal(chosen(unique, count), Ints{0, 2, 9, 5, 8});
  expect_equal(chosen(lengths, count), Ints{1, 2, 1, 3, 1});
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceRunLengthEncode::NonTrivialRuns(temp, bytes, in.get(), unique.get(),
                                                      lengths.get(), count.get(), 8);
  });
  expect_equal(chosen(unique, count), Ints{1, 4});
  expect_equal(chosen(lengths, count), Ints{2, 3});
}

TEST(elements_one_by_one) {
  const Device<int> in(Ints{1, 4, 9, 16}), out(4);
  with_storage([&](void* temp, std::size_t& bytes) {
    return cub::DeviceAdjacentDifference::SubtractLeftCopy(temp, bytes, in.get(), out.get(), 4);
  });
  expect_equal(out.to_host(), Ints{1, 3, 5, 7});
  check(cub::DeviceTransform::Transform(cuda::std::make_tuple(in.get(), out.get()), out.get(), 4,
                                        [] __device__(int a, int b) { return a - b; }));
  expect_equal(out.to_host(), Ints{0, 1, 4, 9});
  check(cub::DeviceFor::ForEach(out.get(), out.get() + 4, [] __device__(int& x) { x += 1; }));
  int* const last = out.get() + 3;
  check(cub::DeviceFor::Bulk(5, [last] __device__(int i) { atomicAdd(last, i); }));
  expect_equal(out.to_host(), Ints{1, 2, 5, 20});
}

TEST(a_question_touches_nothing_and_too_little_storage_is_refused) {
  const Device<int> in(Ints{1, 2, 3}), out(Ints{-1});
  std::size_t bytes = 12345, asked = 0;
  check(cub::DeviceReduce::Sum(nullptr, bytes, in.get(), out.get(), 3));
  check(cub::DeviceReduce::Sum(nullptr, asked, in.get(), out.get(), 3));
  expect_equal(bytes, asked);
  expect_equal(out.to_host(), Ints{-1});
#ifdef STAIRCASE_CUDA_ON_CPU  // a GPU needs less storage in some cases, or writes beyond it
  const Device<char> storage(bytes);
  std::size_t less = bytes - 1;
  expect_error(cub::DeviceReduce::Sum(storage.get(), less, in.get(), out.get(), 3),
               cudaErrorInvalidValue);
  expect_equal(out.to_host(), Ints{-1});
  const Device<int> sorted(3);
  less = 1;
  expect_error(cub::DeviceRadixSort::SortKeys(storage.get(), less, in.get(), sorted.get(), 3),
               cudaErrorInvalidValue);
#endif
}

__global__ void increment(int* x, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < n) x[i] += 1;
}

TEST(algorithms_are_in_the_order_of_their_stream) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const Device<int> in(Ints{1, 2, 3}), out(1);
  std::size_t bytes = 0;
  check(cub::DeviceReduce::Sum(nullptr, bytes, in.get(), out.get(), 3, stream));
  const Device<char> storage(bytes);
  increment<<<1, 32, 0, stream>>>(in.get(), 3);
  check(cub::DeviceReduce::Sum(storage.get(), bytes, in.get(), out.get(), 3, stream));
  increment<<<1, 32, 0, stream>>>(out.get(), 1);
  check(cudaStreamSynchronize(stream));
  expect_equal(out.to_host(), Ints{10});
  check(cudaStreamDestroy(stream));
}

template <typename T>
__global__ void begin_tiles(cub::ScanTileState<T> state, int tiles) {
  state.InitializeStatus(tiles);
}

template <typename T>
__global__ void look_back(cub::ScanTileState<T> state, T* sums) {
  using Sum = ::cuda::std::plus<>;
  using Prefix = cub::TilePrefixCallbackOp<T, Sum, cub::ScanTileState<T>>;
  __shared__ typename Prefix::TempStorage storage;
  Prefix prefix(state, storage, Sum{});
  const int tile = prefix.GetTileIdx();
  const T own = static_cast<T>(tile + 1);
  if (tile == 0) {
    if (threadIdx.x == 0) state.SetInclusive(0, sums[0] = own);
  } else if (threadIdx.x < 32) {
    const T before = prefix(own);
    if (threadIdx.x == 0) sums[tile] = before + own;
  }
}

template <typename T>
void expect_prefixes(int tiles) {
  std::size_t bytes = 0;
  check(cub::ScanTileState<T>::AllocationSize(tiles, bytes));
  const Device<char> storage(bytes);
  const Device<T> sums(tiles);
  cub::ScanTileState<T> state;
  check(state.Init(tiles, storage.get(), bytes));
  begin_tiles<<<2, 128>>>(state, tiles);
  look_back<<<tiles, 64>>>(state, sums.get());
  check(cudaDeviceSynchronize());
  std::vector<T> expected;
  for (int i = 0; i < tiles; ++i) expected.push_back(static_cast<T>((i + 1) * (i + 2) / 2));
  expect_equal(sums.to_host(), expected);
}

TEST(tiles_look_back_for_their_prefixes) {
  expect_prefixes<short>(100);
  expect_prefixes<int>(100);
  expect_prefixes<double>(100);
}

}  // namespace

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
