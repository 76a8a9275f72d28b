/// \file
/// Cooperation of the threads of a block, a cluster and a grid: cooperative groups, barriers,
/// asynchronous copies and pipelines.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_pipeline.h>

#include <algorithm>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "device.hpp"

// A barrier in shared memory is initialised by init(), not by its constructor.
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;
using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::random_value;
using tap::random_values;
using tap::table;

// --- Block barriers that count predicates

struct Counts {
  int count, all, any;
};

__global__ void count_predicates(const int* predicates, Counts* out) {
  const int predicate = predicates[blockIdx.x * blockDim.x + threadIdx.x];
  Counts counts{};
  counts.count = __syncthreads_count(predicate);
  counts.all = __syncthreads_and(predicate);
  counts.any = __syncthreads_or(predicate);
  out[blockIdx.x * blockDim.x + threadIdx.x] = counts;
}

TEST(barriers_count_predicates) {
  // Predicates: all false, all true, one false, one true, and random.
  const auto predicates = table<int>(5 * 100, [](int i) {
    const int which[] = {0, random_value(1, 9), i % 100 != 77, i % 100 == 99, random_value(0, 1)};
    return which[i / 100];
  });
  Device<int> in(predicates);
  Device<Counts> out(5 * 100);
  count_predicates<<<5, 100>>>(in.get(), out.get());
  const std::vector<Counts> actual = out.to_host();
  for (int i = 0; i < 5 * 100; ++i) {
    const auto begin = predicates.begin() + i / 100 * 100;
    const int count = static_cast<int>(100 - std::count(begin, begin + 100, 0));
    expect_equal(actual[i].count, count);
    expect_equal(actual[i].all != 0, count == 100);
    expect_equal(actual[i].any != 0, count > 0);
  }
}

// --- Blocks and tiles

__global__ void write_places_in_block(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const dim3 thread = block.thread_index(), extent = block.dim_threads();
  const int rank = (thread.z * extent.y + thread.y) * extent.x + thread.x;
  const int wrong =
      (static_cast<int>(block.thread_rank()) != rank) +
      2 * (block.size() != extent.x * extent.y * extent.z) +
      4 * (block.num_threads() != block.size()) +
      8 * (block.group_index().y != blockIdx.y || block.group_index().x != blockIdx.x);
  out[(blockIdx.y * gridDim.x + blockIdx.x) * block.size() + block.thread_rank()] = wrong;
}

TEST(a_block_knows_its_threads) {
  Device<int> out(6 * 60);
  write_places_in_block<<<dim3(3, 2), dim3(5, 4, 3)>>>(out.get());
  expect_equal(out.to_host(), std::vector<int>(6 * 60, 0));
}

__global__ void reverse_in_block(int* values) {
  __shared__ int buffer[96];
  const cg::thread_block block = cg::this_thread_block();
  buffer[block.thread_rank()] = values[block.thread_rank()];
  block.sync();
  const int other = buffer[95 - block.thread_rank()];
  cg::sync(block);
  buffer[block.thread_rank()] = other + 1;
  block.barrier_wait(block.barrier_arrive());
  values[block.thread_rank()] = buffer[block.thread_rank() ^ 1];
}

TEST(a_block_synchronises) {
  const std::vector<int> values = random_values(96, -1000, 1000);
  Device<int> out(values);
  reverse_in_block<<<1, 96>>>(out.get());
  expect_equal(out.to_host(), table<int>(96, [&](int i) { return values[95 - (i ^ 1)] + 1; }));
}

struct TilePlace {
  unsigned rank, size, tile, tiles;
};

template <int size>
__global__ void write_places_in_tiles(TilePlace* out) {
  const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  static_assert(tile.num_threads() == size);
  out[threadIdx.x] = {tile.thread_rank(), tile.size(), tile.meta_group_rank(),
                      tile.meta_group_size()};
}

template <int size>
void expect_places_in_tiles() {
  Device<TilePlace> out(96);
  write_places_in_tiles<size><<<1, 96>>>(out.get());
  const std::vector<TilePlace> places = out.to_host();
  for (unsigned i = 0; i < 96; ++i) {
    expect_equal(places[i].rank, i % size);
    expect_equal(places[i].size, unsigned(size));
    expect_equal(places[i].tile, i / size);
    expect_equal(places[i].tiles, 96u / size);
  }
}

TEST(tiles_know_their_threads) {
  expect_places_in_tiles<1>();
  expect_places_in_tiles<2>();
  expect_places_in_tiles<4>();
  expect_places_in_tiles<8>();
  expect_places_in_tiles<16>();
  expect_places_in_tiles<32>();
}

template <typename T>
struct TileShuffles {
  T indexed, up, down, crossed;
};

template <int size, typename T>
__global__ void shuffle_in_tiles(const T* in, TileShuffles<T>* out) {
  const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  const T value = in[threadIdx.x];
  out[threadIdx.x] = {tile.shfl(value, size - 1), tile.shfl_up(value, size / 2),
                      tile.shfl_down(value, size / 2), tile.shfl_xor(value, size / 2)};
}

template <int size, typename T>
void expect_shuffles_in_tiles() {
  const std::vector<T> v = random_values(64, T(-1000), T(1000));
  Device<T> in(v);
  Device<TileShuffles<T>> out(64);
  shuffle_in_tiles<size><<<1, 64>>>(in.get(), out.get());
  const std::vector<TileShuffles<T>> actual = out.to_host();
  for (int i = 0; i < 64; ++i) {
    const int place = i % size, half = size / 2;
    expect_equal(actual[i].indexed, v[i - place + size - 1]);
    expect_equal(actual[i].up, v[place >= half ? i - half : i]);
    expect_equal(actual[i].down, v[place + half < size ? i + half : i]);
    expect_equal(actual[i].crossed, v[i ^ half]);
  }
}

TEST(tiles_shuffle) {
  expect_shuffles_in_tiles<2, int>();
  expect_shuffles_in_tiles<4, double>();
  expect_shuffles_in_tiles<8, float>();
  expect_shuffles_in_tiles<16, long long>();
  expect_shuffles_in_tiles<32, double>();
}

struct Complex {
  double re, im;
};
__global__ void shuffle_structures(const Complex* in, Complex* out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  out[threadIdx.x] = tile.shfl_xor(in[threadIdx.x], 3);
}

TEST(tiles_shuffle_structures) {
  const std::vector<double> values = random_values(128, -1.0, 1.0);
  std::vector<Complex> numbers(64);
  for (int i = 0; i < 64; ++i) numbers[i] = {values[2 * i], values[2 * i + 1]};
  Device<Complex> in(numbers), out(64);
  shuffle_structures<<<1, 64>>>(in.get(), out.get());
  const std::vector<Complex> actual = out.to_host();
  for (int i = 0; i < 64; ++i) {
    expect_equal(actual[i].re, numbers[i ^ 3].re);
    expect_equal(actual[i].im, numbers[i ^ 3].im);
  }
}

struct TileVotes {
  unsigned ballot, match;
  int any, all, all_equal;
};

template <int size>
__global__ void vote_in_tiles(const int* in, TileVotes* out) {
  const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  const int value = in[threadIdx.x];
  int all_equal = -1;
  TileVotes votes{};
  votes.ballot = tile.ballot(value > 0);
  votes.match = tile.match_any(value);
  votes.any = tile.any(value > 0);
  votes.all = tile.all(value > 0);
  tile.match_all(value, all_equal);
  votes.all_equal = all_equal;
  out[threadIdx.x] = votes;
}

template <int size>
void expect_votes_in_tiles() {
  const std::vector<int> v = random_values(64, 0, 2);
  Device<int> in(v);
  Device<TileVotes> out(64);
  vote_in_tiles<size><<<1, 64>>>(in.get(), out.get());
  const std::vector<TileVotes> actual = out.to_host();
  constexpr unsigned full = size == 32 ? ~0u : (1u << size % 32) - 1;
  for (int i = 0; i < 64; ++i) {
    unsigned positive = 0, equal = 0;
    for (int j = 0; j < size; ++j) {
      if (v[i / size * size + j] > 0) positive |= 1u << j;
      if (v[i / size * size + j] == v[i]) equal |= 1u << j;
    }
    expect_equal(actual[i].ballot, positive);
    expect_equal(actual[i].match, equal);
    expect_equal(actual[i].any != 0, positive != 0);
    expect_equal(actual[i].all != 0, positive == full);
    expect_equal(actual[i].all_equal != 0, equal == full);
  }
}

TEST(tiles_vote) {
  expect_votes_in_tiles<2>();
  expect_votes_in_tiles<8>();
  expect_votes_in_tiles<32>();
}

__global__ void pass_in_tiles(int* out) {
  __shared__ int buffer[128];
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto tile = cg::tiled_partition<4>(warp);
  int mine = threadIdx.x;
  for (unsigned round = 0; round < tile.meta_group_rank() + 1;
       ++round) {  // tiles take different branches
    buffer[threadIdx.x] = mine;
    tile.sync();
    mine = buffer[threadIdx.x / 4 * 4 + (threadIdx.x + 1) % 4] + 1;
    tile.sync();
  }
  out[threadIdx.x] = mine;
}

TEST(tiles_synchronise_by_themselves) {
  Device<int> out(128);
  pass_in_tiles<<<1, 128>>>(out.get());
  expect_equal(out.to_host(), table<int>(128, [](int i) {
                 const int rounds = i % 32 / 4 + 1;
                 return i / 4 * 4 + (i + rounds) % 4 + rounds;
               }));
}

__global__ void partition_at_run_time(int* out, unsigned size) {
  __shared__ int buffer[64];
  const cg::thread_group group = cg::tiled_partition(cg::this_thread_block(), size);
  buffer[threadIdx.x] = 10 * threadIdx.x;
  group.sync();
  const unsigned begin = threadIdx.x - group.thread_rank();
  out[threadIdx.x] = buffer[begin + (group.thread_rank() + 1) % group.size()];
}

TEST(groups_are_partitioned_at_run_time) {
  for (const int size : {4, 32}) {
    Device<int> out(64);
    partition_at_run_time<<<1, 64>>>(out.get(), size);
    expect_equal(out.to_host(),
                 table<int>(64, [=](int i) { return 10 * (i / size * size + (i + 1) % size); }));
  }
}

// --- Reductions and scans

template <typename T>
struct Reduced {
  T sum, least, greatest, greatest_by_lambda;
};

template <int size, typename T>
__global__ void reduce_in_tiles(const T* in, Reduced<T>* out) {
  const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  const T value = in[threadIdx.x];
  Reduced<T> reduced{};
  reduced.sum = cg::reduce(tile, value, cg::plus<T>());
  reduced.least = cg::reduce(tile, value, cg::less<T>());
  reduced.greatest = cg::reduce(tile, value, cg::greater<T>());
  reduced.greatest_by_lambda = cg::reduce(tile, value, [](T a, T b) { return a < b ? b : a; });
  out[threadIdx.x] = reduced;
}

/// Small integers, whose sums are exact in every order.
template <typename T>
std::vector<T> random_integers(std::size_t count) {
  return table<T>(count, [](std::size_t) { return random_value(-1000, 1000); });
}

template <int size, typename T>
void expect_reductions_in_tiles() {
  const std::vector<T> v = random_integers<T>(96);
  Device<T> in(v);
  Device<Reduced<T>> out(96);
  reduce_in_tiles<size><<<1, 96>>>(in.get(), out.get());
  const std::vector<Reduced<T>> actual = out.to_host();
  for (int i = 0; i < 96; ++i) {
    const auto begin = v.begin() + i / size * size, end = begin + size;
    const T greatest = *std::max_element(begin, end);
    expect_equal(actual[i].sum, std::accumulate(begin, end, T(0)));
    expect_equal(actual[i].least, *std::min_element(begin, end));
    expect_equal(actual[i].greatest, greatest);
    expect_equal(actual[i].greatest_by_lambda, greatest);
  }
}

TEST(tiles_reduce) {
  expect_reductions_in_tiles<1, int>();
  expect_reductions_in_tiles<2, float>();
  expect_reductions_in_tiles<4, double>();
  expect_reductions_in_tiles<8, long long>();
  expect_reductions_in_tiles<16, int>();
  expect_reductions_in_tiles<32, int>();
  expect_reductions_in_tiles<32, float>();
  expect_reductions_in_tiles<32, double>();
}

struct ReducedBits {
  unsigned all, some, odd;
};
__global__ void reduce_bits(const unsigned* in, ReducedBits* out) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  out[threadIdx.x] = {cg::reduce(tile, in[threadIdx.x], cg::bit_and<unsigned>()),
                      cg::reduce(tile, in[threadIdx.x], cg::bit_or<unsigned>()),
                      cg::reduce(tile, in[threadIdx.x], cg::bit_xor<unsigned>())};
}

TEST(tiles_reduce_bits) {
  const std::vector<unsigned> v = random_values(64, 0u, ~0u);
  Device<unsigned> in(v);
  Device<ReducedBits> out(64);
  reduce_bits<<<1, 64>>>(in.get(), out.get());
  const std::vector<ReducedBits> actual = out.to_host();
  for (int i = 0; i < 64; ++i) {
    ReducedBits expected{~0u, 0, 0};
    for (int j = i / 16 * 16; j < i / 16 * 16 + 16; ++j) {
      expected.all &= v[j];
      expected.some |= v[j];
      expected.odd ^= v[j];
    }
    expect_equal(actual[i].all, expected.all);
    expect_equal(actual[i].some, expected.some);
    expect_equal(actual[i].odd, expected.odd);
  }
}

template <typename T>
struct Scanned {
  T inclusive, exclusive, greatest, before;
};

template <int size, typename T>
__global__ void scan_in_tiles(const T* in, Scanned<T>* out) {
  const auto tile = cg::tiled_partition<size>(cg::this_thread_block());
  const T value = in[threadIdx.x];
  Scanned<T> scanned{};
  scanned.inclusive = cg::inclusive_scan(tile, value);
  scanned.exclusive = cg::exclusive_scan(tile, value);
  scanned.greatest = cg::inclusive_scan(tile, value, cg::greater<T>());
  scanned.before = cg::exclusive_scan(tile, value, cg::plus<T>());
  out[threadIdx.x] = scanned;
}

template <int size, typename T>
void expect_scans_in_tiles() {
  const std::vector<T> v = random_integers<T>(64);
  Device<T> in(v);
  Device<Scanned<T>> out(64);
  scan_in_tiles<size><<<1, 64>>>(in.get(), out.get());
  const std::vector<Scanned<T>> actual = out.to_host();
  for (int i = 0; i < 64; ++i) {
    const auto begin = v.begin() + i / size * size, here = v.begin() + i;
    const T before = std::accumulate(begin, here, T(0));
    expect_equal(actual[i].inclusive, before + *here);
    expect_equal(actual[i].exclusive, before);
    expect_equal(actual[i].greatest, *std::max_element(begin, here + 1));
    expect_equal(actual[i].before, before);
  }
}

TEST(tiles_scan) {
  expect_scans_in_tiles<2, int>();
  expect_scans_in_tiles<8, double>();
  expect_scans_in_tiles<32, float>();
  expect_scans_in_tiles<32, int>();
}

struct Range {
  double least, greatest;
};
struct Join {
  __device__ Range operator()(Range a, Range b) const {
    return {fmin(a.least, b.least), fmax(a.greatest, b.greatest)};
  }
};

__global__ void scan_structures(const Range* in, Range* out, Range* all) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  out[threadIdx.x] = cg::inclusive_scan(tile, in[threadIdx.x], Join());
  all[threadIdx.x] = cg::reduce(tile, in[threadIdx.x], Join());
}

TEST(structures_are_reduced_and_scanned) {
  const std::vector<double> v = random_values(64, -1.0, 1.0);
  Device<Range> in(table<Range>(64, [&](int i) { return Range{v[i], v[i]}; })), out(64), all(64);
  scan_structures<<<1, 64>>>(in.get(), out.get(), all.get());
  const std::vector<Range> actual = out.to_host(), actual_all = all.to_host();
  for (int i = 0; i < 64; ++i) {
    const auto begin = v.begin() + i / 16 * 16, here = v.begin() + i + 1, end = begin + 16;
    expect_equal(actual[i].least, *std::min_element(begin, here));
    expect_equal(actual[i].greatest, *std::max_element(begin, here));
    expect_equal(actual_all[i].least, *std::min_element(begin, end));
    expect_equal(actual_all[i].greatest, *std::max_element(begin, end));
  }
}

// --- Tiles of more than one warp

struct LargeTile {
  unsigned rank, size, tile, tiles, inner_tile, inner_tiles, warp, warps;
  int shuffled, sum, greatest, before, any, all;
  friend bool operator==(const LargeTile&, const LargeTile&) = default;
};

template <int size>
__global__ void act_in_large_tiles(const int* in, LargeTile* out) {
  __shared__ cg::block_tile_memory<512> memory;
  const auto tile = cg::tiled_partition<size>(cg::this_thread_block(memory));
  static_assert(tile.num_threads() == size);
  const auto inner = cg::tiled_partition<size / 2>(tile);
  const auto warp = cg::tiled_partition<32>(tile);
  const unsigned i = blockIdx.x * 512 + cg::this_thread_block().thread_rank();
  const int value = in[i];
  LargeTile& o = out[i];
  o = {tile.thread_rank(),      tile.size(),
       tile.meta_group_rank(),  tile.meta_group_size(),
       inner.meta_group_rank(), inner.meta_group_size(),
       warp.meta_group_rank(),  warp.meta_group_size()};
  o.shuffled = tile.shfl(value, 33);
  o.sum = cg::reduce(tile, value, cg::plus<int>());
  o.greatest = cg::reduce(tile, value, [](int a, int b) { return a < b ? b : a; });
  o.before = cg::exclusive_scan(tile, value);
  o.any = tile.any(value > 990);
  o.all = tile.all(value > -990);
}

template <int size>
void expect_large_tiles() {
  const unsigned block = 512, count = 3 * block;
  const std::vector<int> v = random_values(count, -1000, 1000);
  Device<int> in(v);
  Device<LargeTile> out(count);
  act_in_large_tiles<size><<<3, dim3(32, 4, 4)>>>(in.get(), out.get());
  const std::vector<LargeTile> actual = out.to_host();
  for (unsigned i = 0; i < count; ++i) {
    const auto begin = v.begin() + i / size * size, end = begin + size;
    const unsigned rank = i % size;
    const LargeTile expected = {rank,
                                size,
                                i % block / size,
                                block / size,
                                rank / (size / 2),
                                2,
                                rank / 32,
                                size / 32,
                                begin[33],
                                std::accumulate(begin, end, 0),
                                *std::max_element(begin, end),
                                std::accumulate(begin, begin + rank, 0),
                                *std::max_element(begin, end) > 990,
                                *std::min_element(begin, end) > -990};
    expect(actual[i] == expected, "thread " + std::to_string(i) + " sees its tile");
  }
}

__global__ void act_in_threads(const int* in, int* out) {
  // The rank counts threads in all dimensions. A row of threads is not a warp here.
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  const unsigned rank = cg::this_thread_block().thread_rank();
  out[rank] = cg::reduce(tile, in[rank], cg::plus<int>());
}

TEST(large_tiles_hand_over_and_reduce) {
  expect_large_tiles<64>();
  expect_large_tiles<128>();
  expect_large_tiles<256>();
  expect_large_tiles<512>();
  const std::vector<int> v = random_values(128, -9, 9);
  Device<int> in(v), out(128);
  act_in_threads<<<1, dim3(4, 8, 4)>>>(in.get(), out.get());
  expect_equal(out.to_host(), table<int>(128, [&](int i) {
                 return std::accumulate(v.begin() + i / 64 * 64, v.begin() + i / 64 * 64 + 64, 0);
               }));
}

/// Tile i reverses its 128 elements i times, and adds 1 to each element each time.
__global__ void turn_in_large_tiles(int* values) {
  __shared__ int row[512];
  const auto tile = cg::tiled_partition<128>(cg::this_thread_block());
  int* const own = &row[tile.meta_group_rank() * 128];
  const unsigned rank = tile.thread_rank();
  own[rank] = values[threadIdx.x];
  for (unsigned round = 0; round < tile.meta_group_rank(); ++round) {
    tile.sync();
    const int other = own[127 - rank];
    tile.sync();
    own[rank] = other + 1;
  }
  cg::sync(tile);
  values[threadIdx.x] = own[rank ^ 1];
}

TEST(large_tiles_wait_by_themselves) {
  const std::vector<int> v = random_values(512, -1000, 1000);
  Device<int> values(v);
  turn_in_large_tiles<<<1, 512>>>(values.get());
  expect_equal(values.to_host(), table<int>(512, [&](int i) {
                 const int tile = i / 128, place = i % 128 ^ 1;
                 return v[tile * 128 + (tile % 2 == 0 ? place : 127 - place)] + tile;
               }));
}

// --- Threads that run together by chance

/// CUDA does not specify which threads form a group, but all threads of a group must agree on it.
__global__ void gather_positive(const int* in, int* count, int* gathered, int* wrong) {
  const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (value <= 0) return;
  const cg::coalesced_group together = cg::coalesced_threads();
  int begin = 0;
  if (together.thread_rank() == 0) begin = atomicAdd(count, static_cast<int>(together.size()));
  begin = together.shfl(begin, 0);
  gathered[begin + together.thread_rank()] = value;
  const int size = static_cast<int>(together.num_threads());
  const bool right = together.thread_rank() < together.size() &&
                     cg::reduce(together, 1, cg::plus<int>()) == size &&
                     __popc(together.ballot(1)) == size && together.all(value > 0) &&
                     !together.any(value < 0);
  together.sync();
  if (!right) atomicAdd(wrong, 1);
}

TEST(coalesced_threads_act_as_one) {
  const std::vector<int> values = random_values(20 * 96, -1000, 1000);
  Device<int> in(values), count(std::vector<int>{0}), gathered(20 * 96), wrong(std::vector<int>{0});
  gather_positive<<<20, 96>>>(in.get(), count.get(), gathered.get(), wrong.get());
  std::vector<int> expected;
  std::copy_if(values.begin(), values.end(), std::back_inserter(expected),
               [](int value) { return value > 0; });
  std::vector<int> actual = gathered.to_host();
  actual.resize(expected.size());
  std::sort(actual.begin(), actual.end());
  std::sort(expected.begin(), expected.end());
  expect_equal(wrong.to_host(), {0});
  expect_equal(count.to_host(), {static_cast<int>(expected.size())});
  expect_equal(actual, expected);
}

/// Forms groups as a warp in lockstep does: first of all lanes, then of the lanes of each branch.
__global__ void come_together(unsigned* sizes, int n) {
  const unsigned thread = threadIdx.x;
  if (thread >= static_cast<unsigned>(n)) return;
  const cg::coalesced_group all = cg::coalesced_threads();
  sizes[thread] = all.size() << 16 | (all.ballot(thread % 2 == 0) & 0xFFFF);
  sizes += blockDim.x;
  if (thread % 2 == 0) {
    const cg::coalesced_group even = cg::coalesced_threads();
    sizes[thread] = even.size() << 16 | even.thread_rank();
  } else {
    const cg::coalesced_group odd = cg::coalesced_threads();
    sizes[thread] = odd.size() << 16 | odd.thread_rank();
  }
}

TEST(lanes_that_have_not_parted_come_together) {
  // GPUs and the CPU device form these groups, although CUDA does not guarantee them.
  Device<unsigned> sizes(2 * 64);
  come_together<<<1, 64>>>(sizes.get(), 48);
  const std::vector<unsigned> actual = sizes.to_host();
  for (unsigned i = 0; i < 48; ++i) {
    const unsigned lanes = i < 32 ? 32 : 16;
    expect_equal(actual[i] >> 16, lanes);
    expect_equal(actual[i] & 0xFFFF, 0x5555u);
    expect_equal(actual[64 + i], lanes / 2 << 16 | i % 32 / 2);
  }
}

/// Lane 0 waits for a later write of lane 1, which must not wait for lane 0 to form a group.
__global__ void wait_for_a_lane_behind(unsigned* sizes, volatile int* flag) {
  if (threadIdx.x == 0) {
    while (*flag == 0) continue;
  }
  const cg::coalesced_group together = cg::coalesced_threads();
  sizes[threadIdx.x] = together.size();
  if (threadIdx.x == 1) *flag = 1;
}

TEST(who_comes_together_does_not_wait_for_lanes_that_wait) {
  Device<unsigned> sizes(32);
  Device<int> flag(std::vector<int>{0});
  wait_for_a_lane_behind<<<1, 32>>>(sizes.get(), flag.get());
  std::vector<unsigned> expected(32, 31);
  expected[0] = 1;
  expect_equal(sizes.to_host(), expected);
}

// --- The grid

struct GridPlace {
  unsigned long long rank, size;
  unsigned blocks, threads_of_block, block;
  int is_valid;
};

__global__ void write_places_in_grid(GridPlace* out) {
  const cg::grid_group grid = cg::this_grid();
  out[grid.thread_rank()] = {grid.thread_rank(),
                             grid.size(),
                             static_cast<unsigned>(grid.num_blocks()),
                             cg::this_thread_block().num_threads(),
                             static_cast<unsigned>(grid.block_rank()),
                             grid.is_valid()};
}

TEST(a_grid_knows_its_threads) {
  Device<GridPlace> out(6 * 24);
  GridPlace* pointer = out.get();
  void* arguments[] = {&pointer};
  check(cudaLaunchCooperativeKernel((void*)write_places_in_grid, dim3(3, 2), dim3(8, 3), arguments,
                                    0, nullptr));
  const std::vector<GridPlace> places = out.to_host();
  for (unsigned i = 0; i < 6 * 24; ++i) {
    expect_equal(places[i].rank, i);
    expect_equal(places[i].size, 6 * 24);
    expect_equal(places[i].blocks, 6u);
    expect_equal(places[i].threads_of_block, 24u);
    expect_equal(places[i].block, i / 24);
    expect_equal(places[i].is_valid, 1);
  }
}

/// Every step reads values that other blocks wrote in the previous step.
__global__ void smooth(double* now, double* next, int n, int steps) {
  const cg::grid_group grid = cg::this_grid();
  for (int step = 0; step < steps; ++step) {
    for (int i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size()))
      next[i] = 0.5 * (now[(i + n - 1) % n] + now[(i + 1) % n]);
    if (step % 2 == 0)
      grid.sync();
    else
      grid.barrier_wait(grid.barrier_arrive());
    double* const swapped = now;
    now = next;
    next = swapped;
  }
}

TEST(a_grid_synchronises_in_every_step) {
  const int n = random_value(1, 2000);
  std::vector<double> values = random_values(n, -1.0, 1.0), next(n);
  Device<double> a(values), b(n);
  for (const int blocks : {1, 8, 13}) {
    double *now = a.get(), *after = b.get();
    int steps = 6, size = n;
    void* arguments[] = {&now, &after, &size, &steps};
    check(
        cudaLaunchCooperativeKernel((void*)smooth, dim3(blocks), dim3(64), arguments, 0, nullptr));
    for (int step = 0; step < steps; ++step) {
      for (int i = 0; i < n; ++i) next[i] = 0.5 * (values[(i + n - 1) % n] + values[(i + 1) % n]);
      values.swap(next);
    }
    expect_equal(a.to_host(), values);
  }
}

__global__ void find_own_memory(int* out) {
  __shared__ int mine;
  const cg::cluster_group cluster = cg::this_cluster();
  mine = static_cast<int>(blockIdx.x);
  cg::this_grid().sync();
  out[blockIdx.x] = *cluster.map_shared_rank(&mine, cluster.block_rank());
}

TEST(each_block_of_a_grid_is_a_cluster_of_its_own) {
  const Device<int> out(6);
  int* pointer = out.get();
  void* arguments[] = {&pointer};
  check(
      cudaLaunchCooperativeKernel((void*)find_own_memory, dim3(6), dim3(1), arguments, 0, nullptr));
  expect_equal(out.to_host(), table<int>(6, [](int i) { return i; }));
}

// --- Clusters

cudaLaunchConfig_t with_clusters(dim3 grid, dim3 block, dim3 cluster,
                                 cudaLaunchAttribute& attribute) {
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster.x;
  attribute.val.clusterDim.y = cluster.y;
  attribute.val.clusterDim.z = cluster.z;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return config;
}

struct ClusterPlace {
  unsigned rank, blocks, thread, threads, x, y, z, extent;
};

__global__ void write_places_in_cluster(ClusterPlace* out) {
  const cg::cluster_group cluster = cg::this_cluster();
  const dim3 place = cluster.block_index(), extent = cluster.dim_blocks();
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  out[block * blockDim.x + threadIdx.x] = {cluster.block_rank(),
                                           cluster.num_blocks(),
                                           cluster.thread_rank(),
                                           cluster.num_threads(),
                                           place.x,
                                           place.y,
                                           place.z,
                                           100 * extent.x + 10 * extent.y + extent.z};
}

TEST(clusters_know_their_blocks) {
  for (const dim3 c : {dim3(1, 1, 1), dim3(4, 1, 1), dim3(2, 2, 1), dim3(2, 1, 2), dim3(1, 8, 1)}) {
    const dim3 grid(4, 8, 2);
    Device<ClusterPlace> out(64 * 32);
    cudaLaunchAttribute attribute;
    const cudaLaunchConfig_t config = with_clusters(grid, 32, c, attribute);
    check(cudaLaunchKernelEx(&config, write_places_in_cluster, out.get()));
    const std::vector<ClusterPlace> places = out.to_host();
    for (unsigned i = 0; i < 64 * 32; ++i) {
      const unsigned block = i / 32, x = block % 4 % c.x, y = block / 4 % 8 % c.y,
                     z = block / 32 % c.z;
      expect_equal(places[i].rank, (z * c.y + y) * c.x + x);
      expect_equal(places[i].blocks, c.x * c.y * c.z);
      expect_equal(places[i].thread, places[i].rank * 32 + i % 32);
      expect_equal(places[i].threads, places[i].blocks * 32);
      expect_equal(places[i].x, x);
      expect_equal(places[i].y, y);
      expect_equal(places[i].z, z);
      expect_equal(places[i].extent, 100 * c.x + 10 * c.y + c.z);
    }
  }
}

/// Reads from the next block of the cluster and writes into the previous one.
__global__ void exchange_with_neighbours(const int* in, int* read, int* received, unsigned* ranks) {
  __shared__ int mine[64], gifts[64];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  mine[threadIdx.x] = in[i];
  cluster.sync();
  const int* const theirs = cluster.map_shared_rank(mine, (rank + 1) % blocks);
  int* const target = cluster.map_shared_rank(gifts, (rank + blocks - 1) % blocks);
  read[i] = theirs[63 - threadIdx.x];
  target[threadIdx.x] = in[i] + 1;
  ranks[i] = 100 * cluster.query_shared_rank(theirs) + cluster.query_shared_rank(mine);
  cluster.sync();  // no block leaves while others access its memory
  received[i] = gifts[threadIdx.x];
}

void expect_exchange(int size) {
  const int blocks = 2 * size;
  const std::vector<int> v = random_values(blocks * 64, -1000000, 1000000);
  Device<int> in(v), read(v.size()), received(v.size());
  Device<unsigned> ranks(v.size());
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t config = with_clusters(blocks, 64, size, attribute);
  check(cudaLaunchKernelEx(&config, exchange_with_neighbours, static_cast<const int*>(in.get()),
                           read.get(), received.get(), ranks.get()));
  const auto next = [=](int block) { return block / size * size + (block + 1) % size; };
  expect_equal(read.to_host(),
               table<int>(v.size(), [&](int i) { return v[next(i / 64) * 64 + 63 - i % 64]; }));
  expect_equal(received.to_host(),
               table<int>(v.size(), [&](int i) { return v[next(i / 64) * 64 + i % 64] + 1; }));
  expect_equal(ranks.to_host(), table<unsigned>(v.size(), [&](int i) {
                 return 100 * (next(i / 64) % size) + i / 64 % size;
               }));
}

TEST(blocks_of_a_cluster_read_and_write_each_others_memory) {
  for (const int size : {1, 2, 4, 8}) expect_exchange(size);
}

TEST(kernels_opt_in_to_clusters_of_16_blocks) {
  check(cudaFuncSetAttribute(exchange_with_neighbours,
                             cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  expect_exchange(16);
}

using Given = cuda::atomic_ref<int, cuda::thread_scope_device>;

/// All threads of a block wait in a loop for values that the previous block stores.
__global__ void hand_on_in_cluster(int* out) {
  __shared__ int given[64];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  int value = rank == 0 ? 0 : -1;
  given[threadIdx.x] = value;
  cluster.sync();
  while (value < 0) value = Given(given[threadIdx.x]).load(cuda::memory_order_relaxed);
  if (rank + 1 < cluster.num_blocks())
    Given(*cluster.map_shared_rank(&given[threadIdx.x], rank + 1))
        .store(value + 1, cuda::memory_order_relaxed);
  out[blockIdx.x * 64 + threadIdx.x] = value;
  cluster.sync();  // no block leaves while others access its memory
}

TEST(blocks_of_a_cluster_wait_in_loops_for_each_other) {
  Device<int> out(2 * 8 * 64);
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t config = with_clusters(2 * 8, 64, 8, attribute);
  check(cudaLaunchKernelEx(&config, hand_on_in_cluster, out.get()));
  expect_equal(out.to_host(), table<int>(2 * 8 * 64, [](int i) { return i / 64 % 8; }));
}

__global__ void __cluster_dims__(4, 1, 1)
    count_in_cluster(const int* in, unsigned* histogram, int n) {
  __shared__ unsigned bins[64];  // 64 of the 256 bins
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&cluster.map_shared_rank(bins, in[i] / 64)[in[i] % 64], 1u);
  cluster.sync();
  if (threadIdx.x < 64)
    atomicAdd(&histogram[cluster.block_rank() * 64 + threadIdx.x], bins[threadIdx.x]);
}

TEST(clusters_add_in_distributed_shared_memory) {
  const int n = random_value(1, 20000);
  const std::vector<int> values = random_values(n, 0, 255);
  Device<int> in(values);
  Device<unsigned> histogram(std::vector<unsigned>(256));
  count_in_cluster<<<8, 128>>>(in.get(), histogram.get(), n);
  std::vector<unsigned> expected(256);
  for (const int value : values) ++expected[value];
  expect_equal(histogram.to_host(), expected);
}

/// The first block arrives at the barrier and ends. The second block must still wait for the last
/// block.
__global__ void arrive_and_end(int* values, int* sums) {
  const cg::cluster_group cluster = cg::this_cluster();
  if (cluster.block_rank() == cluster.num_blocks() - 1) {
    for (int turn = 0; turn < 1000; ++turn) __nanosleep(100);
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
  }
  cluster.barrier_arrive();
  if (cluster.block_rank() == 0) return;
  cluster.barrier_wait();
  if (cluster.block_rank() == 1) sums[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

TEST(blocks_of_a_cluster_arrive_and_end) {
  const int threads = 40;
  Device<int> values(threads), sums(threads);
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t config = with_clusters(3, threads, 3, attribute);
  check(cudaLaunchKernelEx(&config, arrive_and_end, values.get(), sums.get()));
  expect_equal(sums.to_host(), table<int>(threads, [&](int i) { return threads - 1 - i; }));
}

/// The first block arrives at the grid barrier and ends. The second must wait for the last block.
__global__ void arrive_at_the_grid_and_end(int* values, int* sums) {
  const cg::grid_group grid = cg::this_grid();
  if (grid.block_rank() == grid.num_blocks() - 1) {
    for (int turn = 0; turn < 1000; ++turn) __nanosleep(100);
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
  }
  cg::grid_group::arrival_token token = grid.barrier_arrive();
  if (grid.block_rank() == 0) return;
  grid.barrier_wait(std::move(token));
  if (grid.block_rank() == 1) sums[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

TEST(blocks_of_a_grid_arrive_and_end) {
  const int threads = 40;
  Device<int> values(threads), sums(threads);
  int *first = values.get(), *second = sums.get();
  void* arguments[] = {&first, &second};
  check(cudaLaunchCooperativeKernel(arrive_at_the_grid_and_end, 3, threads, arguments));
  expect_equal(sums.to_host(), table<int>(threads, [&](int i) { return threads - 1 - i; }));
}

/// Transposes a square matrix whose rows are distributed over the shared memory of a cluster.
__global__ void transpose_in_cluster(const double* in, double* out, int rows) {
  extern __shared__ double mine[];
  const cg::cluster_group cluster = cg::this_cluster();
  const int side = rows * static_cast<int>(cluster.num_blocks());
  const int first = static_cast<int>(cluster.block_rank()) * rows;
  for (int i = threadIdx.x; i < rows * side; i += blockDim.x) mine[i] = in[first * side + i];
  cluster.sync();
  for (int i = threadIdx.x; i < rows * side; i += blockDim.x) {
    const int row = first + i / side, column = i % side;
    const double* const theirs = cluster.map_shared_rank(mine, column / rows);
    out[first * side + i] = theirs[column % rows * side + row];
  }
  cluster.sync();
}

TEST(clusters_transpose_in_large_dynamic_memory) {
  const int rows = 40, size = 4, side = rows * size, bytes = rows * side * 8;  // 50 KiB
  const std::vector<double> v = random_values(side * side, -1.0, 1.0);
  Device<double> in(v), out(v.size());
  cudaLaunchAttribute attribute;
  cudaLaunchConfig_t config = with_clusters(size, 256, size, attribute);
  config.dynamicSmemBytes = bytes;
  check(cudaFuncSetAttribute(transpose_in_cluster, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             bytes));
  check(cudaLaunchKernelEx(&config, transpose_in_cluster, static_cast<const double*>(in.get()),
                           out.get(), rows));
  expect_equal(out.to_host(),
               table<double>(v.size(), [&](int i) { return v[i % side * side + i / side]; }));
}

/// A field stays in the shared memory of a cluster for many steps; neighbours exchange edges.
__global__ void diffuse_in_cluster(double* field, int steps) {
  __shared__ double buffers[2][66];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
  const int t = threadIdx.x + 1;
  buffers[0][t] = field[blockIdx.x * 64 + threadIdx.x];
  cluster.sync();  // no block writes into a block that has not begun
  for (int step = 0; step < steps; ++step) {
    double* const now = buffers[step % 2];
    if (t == 1) cluster.map_shared_rank(now, (rank + blocks - 1) % blocks)[65] = now[1];
    if (t == 64) cluster.map_shared_rank(now, (rank + 1) % blocks)[0] = now[64];
    // The split barrier: arrive, do independent work, wait.
    if (step % 2 == 0) {
      cluster.barrier_arrive();
      cluster.barrier_wait();
    } else {
      cg::cluster_group::arrival_token token = cluster.barrier_arrive();
      cluster.barrier_wait(std::move(token));
    }
    buffers[1 - step % 2][t] = 0.5 * now[t] + 0.25 * now[t - 1] + 0.25 * now[t + 1];
    __syncthreads();
  }
  field[blockIdx.x * 64 + threadIdx.x] = buffers[steps % 2][t];
  cluster.sync();
}

TEST(clusters_keep_a_field_over_many_steps) {
  const int n = 8 * 64, steps = 25;
  std::vector<double> values = random_values(n, -1.0, 1.0), next(n);
  Device<double> field(values);
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t config = with_clusters(8, 64, 8, attribute);
  check(cudaLaunchKernelEx(&config, diffuse_in_cluster, field.get(), steps));
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < n; ++i)
      next[i] = 0.5 * values[i] + 0.25 * values[(i + n - 1) % n] + 0.25 * values[(i + 1) % n];
    values.swap(next);
  }
  expect_equal(field.to_host(), values);
}

// --- cuda::barrier

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__device__ void make_barrier(Barrier* barrier, int count) {
  if (threadIdx.x == 0) init(barrier, count);
  __syncthreads();
}

__global__ void rotate_with_barrier(int* values, int rounds) {
  __shared__ Barrier barrier;
  __shared__ int buffer[2][96];
  make_barrier(&barrier, blockDim.x);
  buffer[0][threadIdx.x] = values[threadIdx.x];
  barrier.arrive_and_wait();
  for (int round = 0; round < rounds; ++round) {
    buffer[1 - round % 2][threadIdx.x] = buffer[round % 2][(threadIdx.x + 1) % 96];
    barrier.arrive_and_wait();
  }
  values[threadIdx.x] = buffer[rounds % 2][threadIdx.x];
}

TEST(a_barrier_has_many_phases) {
  const std::vector<int> values = random_values(96, -1000, 1000);
  Device<int> out(values);
  rotate_with_barrier<<<1, 96>>>(out.get(), 200);
  expect_equal(out.to_host(), table<int>(96, [&](int i) { return values[(i + 200) % 96]; }));
}

__global__ void split_barrier(int* out) {
  __shared__ Barrier barrier;
  __shared__ int buffer[128];
  make_barrier(&barrier, blockDim.x);
  int sum = 0;
  for (int round = 1; round < 20; ++round) {
    buffer[threadIdx.x] = round * threadIdx.x;
    Barrier::arrival_token token = barrier.arrive();
    sum += round;  // work that needs no other thread
    barrier.wait(std::move(token));
    sum += buffer[127 - threadIdx.x];
    barrier.wait(barrier.arrive());
  }
  out[threadIdx.x] = sum;
}

TEST(a_barrier_is_split_into_arrival_and_wait) {
  Device<int> out(128);
  split_barrier<<<1, 128>>>(out.get());
  expect_equal(out.to_host(), table<int>(128, [](int i) { return 190 + 190 * (127 - i); }));
}

/// The upper half of the block uses a separate barrier; thread 64 arrives 16 additional times.
__global__ void barrier_of_some(int* out) {
  __shared__ Barrier barrier;
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  make_barrier(&barrier, 64 + 16);
  if (threadIdx.x < 64) return;
  for (int round = 0; round < 5; ++round) {
    atomicAdd(&sum, 1);
    barrier.wait(barrier.arrive(threadIdx.x == 64 ? 17 : 1));
    if (threadIdx.x == 127) out[round] = sum;
    barrier.wait(barrier.arrive(threadIdx.x == 64 ? 17 : 1));
  }
}

TEST(a_barrier_counts_arrivals_and_not_threads) {
  Device<int> out(5);
  barrier_of_some<<<1, 128>>>(out.get());
  expect_equal(out.to_host(), {64, 128, 192, 256, 320});
}

__global__ void wait_for_parity(int* values, int rounds) {
  __shared__ Barrier barrier;
  __shared__ int buffer[2][64];
  buffer[0][threadIdx.x] = values[threadIdx.x];
  make_barrier(&barrier, 64);
  for (int round = 0; round < rounds; ++round) {
    buffer[1 - round % 2][threadIdx.x] = buffer[round % 2][(threadIdx.x + 1) % 64] + 1;
    (void)barrier.arrive();
    barrier.wait_parity(round % 2 != 0);
  }
  values[threadIdx.x] = buffer[rounds % 2][threadIdx.x];
}

TEST(a_phase_is_waited_for_by_parity) {
  const std::vector<int> values = random_values(64, -1000, 1000);
  Device<int> out(values);
  wait_for_parity<<<1, 64>>>(out.get(), 33);
  expect_equal(out.to_host(), table<int>(64, [&](int i) { return values[(i + 33) % 64] + 33; }));
}

/// Thread t leaves after iteration t / 4; the other threads continue without it.
__global__ void drop_one_by_one(int* living) {
  __shared__ Barrier barrier;
  __shared__ int count[16];
  if (threadIdx.x < 16) count[threadIdx.x] = 0;
  make_barrier(&barrier, 64);
  for (int round = 0; round < 16; ++round) {
    atomicAdd(&count[round], 1);
    if (static_cast<int>(threadIdx.x / 4) == round && round < 15) {
      barrier.arrive_and_drop();
      return;
    }
    barrier.arrive_and_wait();
    if (threadIdx.x == 63) living[round] = count[round];
  }
}

TEST(threads_drop_out_of_a_barrier) {
  Device<int> living(16);
  drop_one_by_one<<<1, 64>>>(living.get());
  expect_equal(living.to_host(), table<int>(16, [](int round) { return 64 - 4 * round; }));
}

/// One warp fills two buffers alternately; the other warps empty them.
__global__ void produce_and_consume(const int* in, int* out, int batches) {
  __shared__ Barrier ready[2], filled[2];
  __shared__ int buffers[2][96];
  if (threadIdx.x < 4) init(threadIdx.x < 2 ? &ready[threadIdx.x] : &filled[threadIdx.x - 2], 128);
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int batch = 0; batch < batches; ++batch) {
      ready[batch % 2].arrive_and_wait();
      for (int i = threadIdx.x; i < 96; i += 32) buffers[batch % 2][i] = in[batch * 96 + i];
      (void)filled[batch % 2].arrive();
    }
  } else {
    (void)ready[0].arrive();
    (void)ready[1].arrive();
    for (int batch = 0; batch < batches; ++batch) {
      filled[batch % 2].arrive_and_wait();
      out[batch * 96 + threadIdx.x - 32] = buffers[batch % 2][127 - threadIdx.x];
      (void)ready[batch % 2].arrive();
    }
  }
}

TEST(barriers_stand_between_producer_and_consumer) {
  const int batches = 21;
  const std::vector<int> values = random_values(batches * 96, -1000, 1000);
  Device<int> in(values), out(values.size());
  produce_and_consume<<<1, 128>>>(in.get(), out.get(), batches);
  expect_equal(out.to_host(),
               table<int>(values.size(), [&](int i) { return values[i / 96 * 96 + 95 - i % 96]; }));
}

__global__ void copy_to_barrier(const double* in, double* out, int n) {
  __shared__ Barrier barrier;
  __shared__ double buffer[128];
  const cg::thread_block block = cg::this_thread_block();
  make_barrier(&barrier, static_cast<int>(block.size()));
  for (int begin = 0; begin < n; begin += 128) {
    const int count = min(128, n - begin);
    cuda::memcpy_async(block, buffer, in + begin, count * sizeof(double), barrier);
    barrier.arrive_and_wait();
    for (int i = threadIdx.x; i < count; i += blockDim.x) out[begin + i] = buffer[count - 1 - i];
    barrier.arrive_and_wait();
  }
}

__global__ void copy_elements_to_barrier(const double* in, double* out, int n) {
  __shared__ Barrier barrier;
  __shared__ double buffer[128];
  make_barrier(&barrier, 128);
  for (int begin = 0; begin < n; begin += 128) {
    const int i = begin + static_cast<int>(threadIdx.x), count = min(128, n - begin);
    if (i < n)
      cuda::memcpy_async(&buffer[threadIdx.x], &in[i], cuda::aligned_size_t<8>(sizeof(double)),
                         barrier);
    barrier.arrive_and_wait();
    if (i < n) out[i] = buffer[count - 1 - threadIdx.x];
    barrier.arrive_and_wait();
  }
}

std::vector<double> reversed_by_blocks(const std::vector<double>& values) {
  const int n = static_cast<int>(values.size());
  return table<double>(n, [&](int i) {
    const int begin = i / 128 * 128, count = std::min(128, n - begin);
    return values[begin + count - 1 - i % 128];
  });
}

TEST(a_barrier_waits_for_copies) {
  const int n = random_value(1, 2000);
  const std::vector<double> values = random_values(n, -1.0, 1.0);
  Device<double> in(values), out(n), other(n);
  copy_to_barrier<<<1, 96>>>(in.get(), out.get(), n);
  expect_equal(out.to_host(), reversed_by_blocks(values));
  copy_elements_to_barrier<<<1, 128>>>(in.get(), other.get(), n);
  expect_equal(other.to_host(), reversed_by_blocks(values));
}

// --- Asynchronous copies of groups

__global__ void copy_by_block(const double* in, double* out, int n) {
  __shared__ double buffer[128];
  const cg::thread_block block = cg::this_thread_block();
  for (int begin = 0; begin < n; begin += 128) {
    const int count = min(128, n - begin);
    cg::memcpy_async(block, buffer, in + begin, count * sizeof(double));
    cg::wait(block);
    for (int i = threadIdx.x; i < count; i += blockDim.x) out[begin + i] = buffer[count - 1 - i];
    block.sync();
  }
}

/// The block fills one buffer while it uses the other buffer.
__global__ void copy_by_block_ahead(const double* in, double* out, int n) {
  __shared__ alignas(16) double buffers[2][128];
  const cg::thread_block block = cg::this_thread_block();
  const auto fetch = [&](int begin) {
    if (begin < n)
      cg::memcpy_async(block, buffers[begin / 128 % 2], in + begin,
                       cuda::aligned_size_t<8>(min(128, n - begin) * sizeof(double)));
  };
  fetch(0);
  for (int begin = 0; begin < n; begin += 128) {
    fetch(begin + 128);
    if (begin + 128 < n)
      cg::wait_prior<1>(block);
    else
      cg::wait(block);
    const int count = min(128, n - begin);
    for (int i = threadIdx.x; i < count; i += blockDim.x)
      out[begin + i] = buffers[begin / 128 % 2][count - 1 - i];
    block.sync();
  }
}

TEST(a_block_copies_asynchronously) {
  const int n = random_value(1, 2000);
  const std::vector<double> values = random_values(n, -1.0, 1.0);
  Device<double> in(values), out(n), ahead(n);
  copy_by_block<<<1, 96>>>(in.get(), out.get(), n);
  expect_equal(out.to_host(), reversed_by_blocks(values));
  copy_by_block_ahead<<<1, 96>>>(in.get(), ahead.get(), n);
  expect_equal(ahead.to_host(), reversed_by_blocks(values));
}

__global__ void copy_vectors(const float4* in, float* out, int n) {
  __shared__ float4 buffer[32];
  const cg::thread_block block = cg::this_thread_block();
  buffer[threadIdx.x] = {20, 20, 20, 20};
  block.sync();
  cg::memcpy_async(block, buffer, in, n * sizeof(float));
  cg::wait(block);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = reinterpret_cast<float*>(buffer)[i];
}

TEST(a_copy_leaves_the_bytes_behind_the_last_whole_vector) {
  std::vector<float> values = random_values<float>(128, -10, 10);
  const Device<float> in(values);
  Device<float> out(101);
  copy_vectors<<<1, 32>>>(reinterpret_cast<const float4*>(in.get()), out.get(), 101);
  values.resize(101);
  values[100] = 20;
  expect_equal(out.to_host(), values);
}

__global__ void copy_by_tile(const int* in, int* out) {
  __shared__ int buffer[128];
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int begin = 32 * static_cast<int>(tile.meta_group_rank());
  cg::memcpy_async(tile, buffer + begin, in + begin, 32 * sizeof(int));
  cg::wait(tile);
  out[threadIdx.x] = buffer[begin + (threadIdx.x + 1) % 32];
}

TEST(a_tile_copies_asynchronously) {
  const std::vector<int> values = random_values(128, -1000, 1000);
  Device<int> in(values), out(128);
  copy_by_tile<<<1, 128>>>(in.get(), out.get());
  expect_equal(out.to_host(),
               table<int>(128, [&](int i) { return values[i / 32 * 32 + (i + 1) % 32]; }));
}

// --- cuda::pipeline

/// Each thread has two elements in flight, which no other thread reads.
__global__ void pipeline_of_thread(const double* in, double* out, int n) {
  __shared__ double buffers[2][64];
  cuda::pipeline<cuda::thread_scope_thread> pipeline = cuda::make_pipeline();
  const auto fetch = [&](int i, int stage) {
    pipeline.producer_acquire();
    if (i < n) cuda::memcpy_async(&buffers[stage][threadIdx.x], &in[i], sizeof(double), pipeline);
    pipeline.producer_commit();
  };
  fetch(threadIdx.x, 0);
  for (int i = threadIdx.x, stage = 0; i < n; i += 64, stage = 1 - stage) {
    fetch(i + 64, 1 - stage);
    cuda::pipeline_consumer_wait_prior<1>(pipeline);
    out[i] = 2 * buffers[stage][threadIdx.x];
    pipeline.consumer_release();
  }
}

TEST(a_thread_has_a_pipeline) {
  const int n = random_value(1, 1000);
  const std::vector<double> values = random_values(n, -1.0, 1.0);
  Device<double> in(values), out(n);
  pipeline_of_thread<<<1, 64>>>(in.get(), out.get(), n);
  expect_equal(out.to_host(), table<double>(n, [&](int i) { return 2 * values[i]; }));
}

/// All threads produce and consume. Copies run up to `stages` batches ahead.
template <int stages>
__global__ void pipeline_of_block(const double* in, double* out, int n) {
  __shared__ double buffers[stages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const cg::thread_block block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const int batches = (n + 127) / 128;
  for (int batch = 0, fetched = 0; batch < batches; ++batch) {
    for (; fetched < batches && fetched < batch + stages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, buffers[fetched % stages], in + fetched * 128,
                         min(128, n - fetched * 128) * sizeof(double), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    const int count = min(128, n - batch * 128);
    for (int i = threadIdx.x; i < count; i += blockDim.x)
      out[batch * 128 + i] = buffers[batch % stages][count - 1 - i];
    pipeline.consumer_release();
  }
}

TEST(a_block_has_a_pipeline_of_stages) {
  const int n = random_value(1, 3000);
  const std::vector<double> values = random_values(n, -1.0, 1.0);
  Device<double> in(values), one(n), two(n), four(n);
  pipeline_of_block<1><<<1, 64>>>(in.get(), one.get(), n);
  pipeline_of_block<2><<<1, 128>>>(in.get(), two.get(), n);
  pipeline_of_block<4><<<1, 96>>>(in.get(), four.get(), n);
  expect_equal(one.to_host(), reversed_by_blocks(values));
  expect_equal(two.to_host(), reversed_by_blocks(values));
  expect_equal(four.to_host(), reversed_by_blocks(values));
}

/// The first warp produces; the other three consume.
__global__ void pipeline_of_roles(const double* in, double* out, int n) {
  constexpr int stages = 3;
  __shared__ double buffers[stages][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const bool produces = threadIdx.x < 32;
  auto pipeline =
      cuda::make_pipeline(cg::this_thread_block(), &state,
                          produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  const int batches = (n + 127) / 128;
  for (int batch = 0; batch < batches; ++batch) {
    double* const buffer = buffers[batch % stages];
    const int count = min(128, n - batch * 128);
    if (produces) {
      pipeline.producer_acquire();
      for (int i = threadIdx.x; i < count; i += 32)
        cuda::memcpy_async(&buffer[i], &in[batch * 128 + i], sizeof(double), pipeline);
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      for (int i = threadIdx.x - 32; i < count; i += 96)
        out[batch * 128 + i] = buffer[count - 1 - i];
      pipeline.consumer_release();
    }
  }
}

TEST(a_pipeline_has_producers_and_consumers) {
  const int n = random_value(1, 3000);
  const std::vector<double> values = random_values(n, -1.0, 1.0);
  Device<double> in(values), out(n);
  pipeline_of_roles<<<1, 128>>>(in.get(), out.get(), n);
  expect_equal(out.to_host(), reversed_by_blocks(values));
}

// --- The primitives of <cuda_pipeline.h>

/// Copies chunks of type T. Beyond the end of the input, chunks are padded with zeros.
template <typename T>
__global__ void copy_by_primitives(const T* in, T* out, int bytes, int batches) {
  __shared__ T buffers[3][32];
  constexpr int size = sizeof(T);
  const auto fetch = [&](int batch) {
    const int i = batch * 32 + static_cast<int>(threadIdx.x);
    const int missing = min(size, max(0, (i + 1) * size - bytes));
    if (batch < batches)
      __pipeline_memcpy_async(&buffers[batch % 3][threadIdx.x], &in[i], size, missing);
    __pipeline_commit();
  };
  fetch(0);
  fetch(1);
  for (int batch = 0; batch < batches; ++batch) {
    fetch(batch + 2);
    __pipeline_wait_prior(2);
    __syncthreads();
    out[batch * 32 + threadIdx.x] = buffers[batch % 3][31 - threadIdx.x];
    __syncthreads();
  }
}

template <typename T>
void expect_copied_by_primitives() {
  constexpr int batches = 7, words = sizeof(T) / 4, all = batches * 32 * words;
  const int given = random_value(1, all);
  const std::vector<int> values = random_values(all, 1, 1000000);
  Device<int> in(values), out(all);
  copy_by_primitives<<<1, 32>>>(reinterpret_cast<const T*>(in.get()),
                                reinterpret_cast<T*>(out.get()), given * 4, batches);
  expect_equal(out.to_host(), table<int>(all, [&](int i) {
                 const int piece = i / words, source = piece / 32 * 32 + 31 - piece % 32;
                 const int word = source * words + i % words;
                 return word < given ? values[word] : 0;
               }));
}

TEST(pipeline_primitives_copy_4_8_and_16_bytes) {
  expect_copied_by_primitives<float>();
  expect_copied_by_primitives<double>();
  expect_copied_by_primitives<int4>();
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
