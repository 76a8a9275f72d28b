/// \file
/// Collective operations of a warp: shuffles, votes, matches and reductions, with full and partial
/// masks. Bit intrinsics are tested as well.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "device.hpp"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::random_value;
using tap::random_values;
using tap::table;

constexpr unsigned all_lanes = 0xFFFFFFFF;

__device__ unsigned lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

unsigned random_mask() { return random_value(0u, ~0u); }

bool holds(unsigned mask, unsigned lane) { return (mask >> lane & 1) != 0; }

// --- Shuffles

template <typename T>
struct Shuffled {
  T indexed, up, down, crossed;
};

template <typename T>
__global__ void shuffle(const T* in, const int* sources, int delta, int width, Shuffled<T>* out) {
  const T value = in[threadIdx.x];
  out[threadIdx.x].indexed = __shfl_sync(all_lanes, value, sources[threadIdx.x], width);
  out[threadIdx.x].up = __shfl_up_sync(all_lanes, value, delta, width);
  out[threadIdx.x].down = __shfl_down_sync(all_lanes, value, delta, width);
  out[threadIdx.x].crossed = __shfl_xor_sync(all_lanes, value, delta, width);
}

template <typename T>
std::uint64_t bits(const T& value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// The source lane of each of the four shuffles.
struct Sources {
  int indexed, up, down, crossed;
};
Sources sources_of(int lane, int source, int delta, int width) {
  const int place = lane % width, base = lane - place;
  return {base + source % width, place >= delta ? lane - delta : lane,
          place + delta < width ? lane + delta : lane,
          (lane ^ delta) < base + width ? lane ^ delta : lane};
}

template <typename T>
void expect_shuffles(int delta, int width) {
  std::vector<T> values(64);  // values for two warps
  const std::vector<std::uint64_t> random = random_values<std::uint64_t>(64, 0, ~0ull);
  for (int i = 0; i < 64; ++i) std::memcpy(static_cast<void*>(&values[i]), &random[i], sizeof(T));
  const std::vector<int> sources = random_values(64, 0, 100);
  Device<T> in(values);
  Device<int> device_sources(sources);
  Device<Shuffled<T>> out(64);
  shuffle<<<1, 64>>>(in.get(), device_sources.get(), delta, width, out.get());

  std::vector<std::uint64_t> actual, expected;
  const std::vector<Shuffled<T>> shuffled = out.to_host();
  for (int i = 0; i < 64; ++i) {
    const Shuffled<T>& s = shuffled[i];
    const Sources from = sources_of(i % 32, sources[i], delta, width);
    const T* warp = &values[i / 32 * 32];
    actual.insert(actual.end(), {bits(s.indexed), bits(s.up), bits(s.down), bits(s.crossed)});
    expected.insert(expected.end(), {bits(warp[from.indexed]), bits(warp[from.up]),
                                     bits(warp[from.down]), bits(warp[from.crossed])});
  }
  expect_equal(actual, expected);
}

template <typename T>
void expect_all_shuffles() {
  for (const int width : {1, 2, 4, 8, 16, 32})
    for (const int delta : {0, 1, 2, 5, 16, 31}) expect_shuffles<T>(delta, width);
}

TEST(shuffles_of_int) { expect_all_shuffles<int>(); }
TEST(shuffles_of_unsigned) { expect_all_shuffles<unsigned>(); }
TEST(shuffles_of_long) { expect_all_shuffles<long>(); }
TEST(shuffles_of_unsigned_long) { expect_all_shuffles<unsigned long>(); }
TEST(shuffles_of_long_long) { expect_all_shuffles<long long>(); }
TEST(shuffles_of_unsigned_long_long) { expect_all_shuffles<unsigned long long>(); }
TEST(shuffles_of_float) { expect_all_shuffles<float>(); }
TEST(shuffles_of_double) { expect_all_shuffles<double>(); }
TEST(shuffles_of_half) { expect_all_shuffles<__half>(); }
TEST(shuffles_of_half2) { expect_all_shuffles<__half2>(); }
TEST(shuffles_of_bfloat16) { expect_all_shuffles<__nv_bfloat16>(); }
TEST(shuffles_of_two_bfloat16) { expect_all_shuffles<__nv_bfloat162>(); }

__global__ void shuffle_without_width(const int* in, int* out) {
  const int value = in[threadIdx.x];
  int sum = __shfl_sync(all_lanes, value, 7);
  sum += 3 * __shfl_up_sync(all_lanes, value, 4);
  sum += 5 * __shfl_down_sync(all_lanes, value, 9);
  sum += 7 * __shfl_xor_sync(all_lanes, value, 21);
  out[threadIdx.x] = sum;
}

TEST(shuffles_take_the_whole_warp_by_default) {
  const std::vector<int> v = random_values(32, -1000, 1000);
  Device<int> in(v), out(32);
  shuffle_without_width<<<1, 32>>>(in.get(), out.get());
  expect_equal(out.to_host(), table<int>(32, [&](int i) {
                 return v[7] + 3 * v[i < 4 ? i : i - 4] + 5 * v[i + 9 < 32 ? i + 9 : i] +
                        7 * v[i ^ 21];
               }));
}

__global__ void sum_and_scan(const double* in, double* sums, double* butterflies, double* scans) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double down = in[i], crossed = in[i], scan = in[i];
  for (int step = 16; step > 0; step /= 2) {
    down += __shfl_down_sync(all_lanes, down, step);
    crossed += __shfl_xor_sync(all_lanes, crossed, step);
  }
  for (unsigned step = 1; step < 32; step *= 2) {
    const double left = __shfl_up_sync(all_lanes, scan, step);
    if (lane() >= step) scan += left;
  }
  if (lane() == 0) sums[i / 32] = down;
  butterflies[i] = crossed;
  scans[i] = scan;
}

TEST(warps_reduce_and_scan) {
  std::vector<double> values(256);
  for (double& value : values) value = random_value(-1000, 1000);  // sums of integers are exact
  Device<double> in(values), sums(8), butterflies(256), scans(256);
  sum_and_scan<<<2, 128>>>(in.get(), sums.get(), butterflies.get(), scans.get());
  const auto begin_of = [&](std::size_t i) { return values.begin() + i / 32 * 32; };
  const auto sum = [&](std::size_t i) {
    return std::accumulate(begin_of(i), begin_of(i) + 32, 0.0);
  };
  expect_equal(sums.to_host(), table<double>(8, [&](std::size_t warp) { return sum(32 * warp); }));
  expect_equal(butterflies.to_host(), table<double>(256, sum));
  expect_equal(scans.to_host(), table<double>(256, [&](std::size_t i) {
                 return std::accumulate(begin_of(i), values.begin() + i + 1, 0.0);
               }));
}

__global__ void write_first_of_warp(int* out) {
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[thread] = __shfl_sync(all_lanes, thread, 0);
}

TEST(warps_are_cut_from_threads_with_x_fastest) {
  for (const dim3 block : {dim3(8, 8), dim3(2, 4, 12), dim3(1, 96), dim3(48, 2)}) {
    const int threads = block.x * block.y * block.z;
    Device<int> out(threads);
    write_first_of_warp<<<1, block>>>(out.get());
    expect_equal(out.to_host(), table<int>(threads, [](int i) { return i / 32 * 32; }));
  }
}

// --- Votes, matches, reductions of full warps

struct Votes {
  unsigned ballot;
  int any, all;
};

__global__ void vote(const int* predicates, Votes* out) {
  const int predicate = predicates[threadIdx.x];
  const Votes votes = {__ballot_sync(all_lanes, predicate), __any_sync(all_lanes, predicate),
                       __all_sync(all_lanes, predicate)};
  out[threadIdx.x] = votes;
}

TEST(votes_count_what_is_not_zero) {
  for (const unsigned mask : {random_mask(), 0u, ~0u, 1u << 31, ~1u}) {
    const auto predicates = table<int>(
        64, [=](int i) { return holds(mask, i % 32) == (i < 32) ? random_value(1, 1000) : 0; });
    Device<int> in(predicates);
    Device<Votes> out(64);
    vote<<<1, 64>>>(in.get(), out.get());
    const std::vector<Votes> votes = out.to_host();
    for (int i = 0; i < 64; ++i) {
      const unsigned ballot = i < 32 ? mask : ~mask;
      expect_equal(votes[i].ballot, ballot);
      expect_equal(votes[i].any != 0, ballot != 0);
      expect_equal(votes[i].all != 0, ballot == ~0u);
    }
  }
}

template <typename T>
__global__ void match(const T* in, unsigned* any, unsigned* all, int* predicates) {
  int predicate = -1;
  any[threadIdx.x] = __match_any_sync(all_lanes, in[threadIdx.x]);
  all[threadIdx.x] = __match_all_sync(all_lanes, in[threadIdx.x], &predicate);
  predicates[threadIdx.x] = predicate != 0;
}

template <typename T>
void expect_matches() {
  // The lanes of the first warp have few different values; all lanes of the second have one value.
  const std::vector<T> few = random_values<T>(5, T(-1000), T(1000));
  const auto values = table<T>(64, [&](int i) { return few[i < 32 ? random_value(0, 4) : 0]; });
  Device<T> in(values);
  Device<unsigned> any(64), all(64);
  Device<int> predicates(64);
  match<<<1, 64>>>(in.get(), any.get(), all.get(), predicates.get());
  const auto equal_to = [&](int i) {
    unsigned mask = 0;
    for (int lane = 0; lane < 32; ++lane)
      if (values[i / 32 * 32 + lane] == values[i]) mask |= 1u << lane;
    return mask;
  };
  expect_equal(any.to_host(), table<unsigned>(64, equal_to));
  expect_equal(all.to_host(),
               table<unsigned>(64, [&](int i) { return equal_to(i) == ~0u ? ~0u : 0u; }));
  expect_equal(predicates.to_host(), table<int>(64, [&](int i) { return equal_to(i) == ~0u; }));
}

TEST(matches_of_int) { expect_matches<int>(); }
TEST(matches_of_unsigned) {
  const std::vector<unsigned> values = {0x80000000, 0, 0x80000000, 1};
  Device<unsigned> in(table<unsigned>(64, [&](int i) { return values[i % 4]; })), any(64), all(64);
  Device<int> predicates(64);
  match<<<1, 64>>>(in.get(), any.get(), all.get(), predicates.get());
  expect_equal(any.to_host(), table<unsigned>(64, [](int i) {
                 return i % 2 == 0 ? 0x55555555 : i % 4 == 1 ? 0x22222222 : 0x88888888;
               }));
  expect_equal(all.to_host(), std::vector<unsigned>(64, 0));
}
TEST(matches_of_long_long) { expect_matches<long long>(); }
TEST(matches_of_float) { expect_matches<float>(); }
TEST(matches_of_double) { expect_matches<double>(); }
TEST(matches_look_at_all_64_bits) {
  const auto values = table<unsigned long long>(64, [](int i) { return 7ull | (i % 2ull) << 40; });
  Device<unsigned long long> in(values);
  Device<unsigned> any(64), all(64);
  Device<int> predicates(64);
  match<<<1, 64>>>(in.get(), any.get(), all.get(), predicates.get());
  expect_equal(any.to_host(),
               table<unsigned>(64, [](int i) { return i % 2 == 0 ? 0x55555555 : 0xAAAAAAAA; }));
}

struct Reductions {
  int add, min, max;
  unsigned unsigned_add, unsigned_min, unsigned_max, bit_and, bit_or, bit_xor;
};

/// Reduces values over the lanes in a mask. Other lanes do not participate.
__global__ void reduce(const unsigned* in, const unsigned* masks, Reductions* out) {
  const unsigned mask = masks[threadIdx.x / 32], value = in[threadIdx.x];
  const int number = static_cast<int>(value);
  if ((mask >> lane() & 1) == 0) return;
  out[threadIdx.x] = {__reduce_add_sync(mask, number), __reduce_min_sync(mask, number),
                      __reduce_max_sync(mask, number), __reduce_add_sync(mask, value),
                      __reduce_min_sync(mask, value),  __reduce_max_sync(mask, value),
                      __reduce_and_sync(mask, value),  __reduce_or_sync(mask, value),
                      __reduce_xor_sync(mask, value)};
}

Reductions reductions_of(const std::vector<unsigned>& values) {
  Reductions r{0, INT32_MAX, INT32_MIN, 0, UINT32_MAX, 0, UINT32_MAX, 0, 0};
  for (const unsigned value : values) {
    r.unsigned_add += value;
    r.min = std::min(r.min, static_cast<int>(value));
    r.max = std::max(r.max, static_cast<int>(value));
    r.unsigned_min = std::min(r.unsigned_min, value);
    r.unsigned_max = std::max(r.unsigned_max, value);
    r.bit_and &= value;
    r.bit_or |= value;
    r.bit_xor ^= value;
  }
  r.add = static_cast<int>(r.unsigned_add);
  return r;
}

TEST(reductions_over_full_and_partial_masks) {
  const std::vector<unsigned> values = random_values(256, 0u, ~0u);
  const std::vector<unsigned> masks = {~0u,         0xFFFF,        0xFFFF0000,    1u << 13,
                                       0xAAAAAAAAu, random_mask(), random_mask(), 0x80000001};
  Device<unsigned> in(values), device_masks(masks);
  Device<Reductions> out(256);
  reduce<<<1, 256>>>(in.get(), device_masks.get(), out.get());
  const std::vector<Reductions> actual = out.to_host();
  for (int i = 0; i < 256; ++i) {
    const unsigned mask = masks[i / 32];
    if (!holds(mask, i % 32)) continue;
    std::vector<unsigned> taking_part;
    for (int lane = 0; lane < 32; ++lane)
      if (holds(mask, lane)) taking_part.push_back(values[i / 32 * 32 + lane]);
    const Reductions expected = reductions_of(taking_part);
    expect_equal(std::memcmp(&actual[i], &expected, sizeof expected), 0);
  }
}

// --- Masks

__global__ void vote_in_halves(const int* in, unsigned* out, int* partners) {
  const int value = in[threadIdx.x];
  if (lane() < 16) {
    out[threadIdx.x] = __ballot_sync(0x0000FFFF, value > 0);
    partners[threadIdx.x] = __shfl_xor_sync(0x0000FFFF, value, 3);
  } else {
    partners[threadIdx.x] = __shfl_down_sync(0xFFFF0000, value, 1, 16);
    out[threadIdx.x] = __ballot_sync(0xFFFF0000, value < 0);
  }
}

TEST(halves_of_a_warp_go_their_own_ways) {
  const std::vector<int> values = random_values(96, -1000, 1000);
  Device<int> in(values), partners(96);
  Device<unsigned> out(96);
  vote_in_halves<<<1, 96>>>(in.get(), out.get(), partners.get());
  expect_equal(out.to_host(), table<unsigned>(96, [&](int i) {
                 unsigned ballot = 0;
                 for (int j = i / 16 * 16; j < i / 16 * 16 + 16; ++j)
                   if (i % 32 < 16 ? values[j] > 0 : values[j] < 0) ballot |= 1u << j % 32;
                 return ballot;
               }));
  expect_equal(partners.to_host(), table<int>(96, [&](int i) {
                 return values[i % 32 < 16 ? i ^ 3 : i % 16 == 15 ? i : i + 1];
               }));
}

/// Each lane of the mask reads from the next lane of the mask, cyclically.
__global__ void rotate_within(unsigned mask, const double* in, double* out, unsigned* ballots) {
  if ((mask >> lane() & 1) == 0) return;
  const unsigned higher = lane() == 31 ? 0 : mask >> (lane() + 1) << (lane() + 1);
  const int next = __ffs(higher != 0 ? higher : mask) - 1;
  out[threadIdx.x] = __shfl_sync(mask, in[threadIdx.x], next);
  ballots[threadIdx.x] = __ballot_sync(mask, in[threadIdx.x] > 0);
}

TEST(any_set_of_lanes_makes_a_mask) {
  for (const unsigned mask : {random_mask() | 1, 0x00000010u, 0x80000001u, 0x5A5A0F0Fu, ~0u}) {
    const std::vector<double> values = random_values(32, -1.0, 1.0);
    Device<double> in(values), out(std::vector<double>(32, 7));
    Device<unsigned> ballots(std::vector<unsigned>(32, 7));
    rotate_within<<<1, 32>>>(mask, in.get(), out.get(), ballots.get());
    unsigned positive = 0;
    for (int i = 0; i < 32; ++i)
      if (holds(mask, i) && values[i] > 0) positive |= 1u << i;
    expect_equal(out.to_host(), table<double>(32, [&](int i) {
                   if (!holds(mask, i)) return 7.0;
                   int next = (i + 1) % 32;
                   while (!holds(mask, next)) next = (next + 1) % 32;
                   return values[next];
                 }));
    expect_equal(ballots.to_host(),
                 table<unsigned>(32, [&](int i) { return holds(mask, i) ? positive : 7; }));
  }
}

__global__ void sum_partial_warps(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned mask = __ballot_sync(all_lanes, i < n);
  if (i >= n) return;
  int sum = in[i];
  for (int step = 16; step > 0; step /= 2) {
    const int other = __shfl_down_sync(mask, sum, step);
    if (lane() + step < 32 && (mask >> (lane() + step) & 1) != 0) sum += other;
  }
  if (lane() == 0) out[i / 32] = sum;
}

TEST(a_ballot_masks_the_lanes_beyond_the_end) {
  const int n = random_value(1, 500);
  const std::vector<int> values = random_values(n, -1000, 1000);
  Device<int> in(values), out((n + 31) / 32);
  sum_partial_warps<<<(n + 127) / 128, 128>>>(in.get(), out.get(), n);
  expect_equal(out.to_host(), table<int>(out.size(), [&](int warp) {
                 return std::accumulate(values.begin() + 32 * warp,
                                        values.begin() + std::min(n, 32 * warp + 32), 0);
               }));
}

__global__ void vote_in_last_warp(unsigned* ballots, int* sums, unsigned last_mask) {
  const unsigned mask = threadIdx.x < 64 ? all_lanes : last_mask;
  ballots[threadIdx.x] = __ballot_sync(mask, threadIdx.x % 3 == 0);
  sums[threadIdx.x] = __reduce_add_sync(mask, static_cast<int>(threadIdx.x));
  __syncwarp(mask);
}

TEST(the_last_warp_of_a_block_has_fewer_lanes) {
  for (const int threads : {65, 71, 95}) {
    const unsigned last_mask = (1u << (threads - 64)) - 1;
    Device<unsigned> ballots(threads);
    Device<int> sums(threads);
    vote_in_last_warp<<<1, threads>>>(ballots.get(), sums.get(), last_mask);
    std::vector<unsigned> expected_ballots(threads);
    std::vector<int> expected_sums(threads);
    for (int i = 0; i < threads; ++i)
      for (int j = i / 32 * 32; j < std::min(threads, i / 32 * 32 + 32); ++j) {
        if (j % 3 == 0) expected_ballots[i] |= 1u << j % 32;
        expected_sums[i] += j;
      }
    expect_equal(ballots.to_host(), expected_ballots);
    expect_equal(sums.to_host(), expected_sums);
  }
}

__global__ void vote_after_some_left(unsigned* out) {
  if (lane() >= 20) return;
  unsigned ballots = __ballot_sync(0xFFFFF, lane() % 2);
  if (lane() % 4 != 0) return;
  ballots += __ballot_sync(0x11111, lane() > 4);
  out[threadIdx.x] = ballots;
}

TEST(lanes_that_have_returned_are_not_waited_for) {
  Device<unsigned> out(std::vector<unsigned>(64, 5));
  vote_after_some_left<<<1, 64>>>(out.get());
  expect_equal(out.to_host(), table<unsigned>(64, [](int i) {
                 return i % 32 < 20 && i % 4 == 0 ? 0xAAAAA + 0x11100 : 5;
               }));
}

/// Lanes arrive at the shuffle after loops of different lengths, and from different branches.
__global__ void meet_after_divergence(int* out) {
  int steps = 0;
  for (unsigned i = 0; i < lane() * lane(); ++i) ++steps;
  if (lane() % 5 == 0) {
    steps += 1000;
  } else if (lane() % 3 == 0) {
    for (int i = 0; i < 7; ++i) steps += 10;
  }
  out[threadIdx.x] = __shfl_xor_sync(all_lanes, steps, 1);
}

__global__ void wait_for_returned_lanes(unsigned* out) {
  if (lane() < 15) __syncwarp(0x80007FFF);
  if (lane() == 15) __syncwarp(0x80008000);
  if (lane() > 15) return;
  __syncthreads();
  out[lane()] = lane();
}

TEST(each_set_of_lanes_goes_on_when_the_last_one_returns) {
  Device<unsigned> out(16);
  wait_for_returned_lanes<<<1, 32>>>(out.get());
  expect_equal(out.to_host(), table<unsigned>(16, [](int i) { return i; }));
}

TEST(a_mask_brings_lanes_together) {
  Device<int> out(32);
  meet_after_divergence<<<1, 32>>>(out.get());
  expect_equal(out.to_host(), table<int>(32, [](int i) {
                 const int j = i ^ 1;
                 return j * j + (j % 5 == 0 ? 1000 : j % 3 == 0 ? 70 : 0);
               }));
}

/// In each iteration, fewer lanes participate; the previous ballot determines the mask.
__global__ void count_rounds(const int* lengths, int* out) {
  const int length = lengths[threadIdx.x];
  int seen = 0;
  unsigned living = __ballot_sync(all_lanes, length > 0);
  for (int round = 0; round < length; ++round) {
    seen += __popc(__ballot_sync(living, 1));
    living = __ballot_sync(living, round + 1 < length);
  }
  out[threadIdx.x] = seen;
}

TEST(a_loop_of_votes_loses_lanes) {
  const std::vector<int> lengths = random_values(64, 0, 40);
  Device<int> in(lengths), out(64);
  count_rounds<<<1, 64>>>(in.get(), out.get());
  expect_equal(out.to_host(), table<int>(64, [&](int i) {
                 int seen = 0;
                 for (int lane = i / 32 * 32; lane < i / 32 * 32 + 32; ++lane)
                   seen += std::min(lengths[lane], lengths[i]);
                 return seen;
               }));
}

__global__ void write_active(unsigned* whole, unsigned* branch, unsigned* rest) {
  whole[threadIdx.x] = __activemask();
  if (lane() % 3 == 1) branch[threadIdx.x] = __activemask();
  if (lane() >= 8) return;
  __syncwarp(0xFF);
  rest[threadIdx.x] = __activemask();
}

/// CUDA does not specify which lanes are active together, but only existing lanes can be.
TEST(the_active_mask_holds_the_caller_and_no_stranger) {
  Device<unsigned> whole(50), branch(std::vector<unsigned>(50)), rest(std::vector<unsigned>(50));
  write_active<<<1, 50>>>(whole.get(), branch.get(), rest.get());
  const std::vector<unsigned> w = whole.to_host(), b = branch.to_host(), r = rest.to_host();
  for (int i = 0; i < 50; ++i) {
    const unsigned living = i < 32 ? ~0u : (1u << 18) - 1;
    const unsigned third = 0x92492492 & living, mine = 1u << i % 32;
    expect((w[i] & mine) != 0 && (w[i] & ~living) == 0, "only lanes of the warp are active");
    if (i % 32 % 3 == 1)
      expect((b[i] & mine) != 0 && (b[i] & ~third) == 0, "only lanes of the branch are active");
    if (i % 32 < 8)
      expect((r[i] & mine) != 0 && (r[i] & ~0xFFu) == 0, "lanes that returned are not active");
  }
}

// --- Memory

__global__ void pass_around(unsigned* global, unsigned* out) {
  __shared__ unsigned shared[96];
  unsigned mine = threadIdx.x;
  for (int round = 0; round < 100; ++round) {
    shared[threadIdx.x] = mine;
    global[threadIdx.x] = mine;
    __syncwarp();
    mine = shared[threadIdx.x ^ 1] + global[threadIdx.x ^ 2] - mine + 1;
    __syncwarp();
  }
  out[threadIdx.x] = mine;
}

TEST(syncwarp_orders_memory) {
  Device<unsigned> global(96), out(96);
  pass_around<<<1, 96>>>(global.get(), out.get());
  std::vector<unsigned> values(96), next(96);
  std::iota(values.begin(), values.end(), 0);
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 96; ++i) next[i] = values[i ^ 1] + values[i ^ 2] - values[i] + 1;
    values = next;
  }
  expect_equal(out.to_host(), values);
}

__global__ void reduce_in_memory(const int* in, int* out) {
  __shared__ int shared[128];
  shared[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  for (unsigned step = 16; step > 0; step /= 2) {
    if (lane() < step) shared[threadIdx.x] += shared[threadIdx.x + step];
    __syncwarp();
  }
  if (lane() == 0) out[threadIdx.x / 32] = shared[threadIdx.x];
}

TEST(a_warp_reduces_in_shared_memory) {
  const std::vector<int> values = random_values(128, -1000, 1000);
  Device<int> in(values), out(4);
  reduce_in_memory<<<1, 128>>>(in.get(), out.get());
  expect_equal(out.to_host(), table<int>(4, [&](int warp) {
                 return std::accumulate(values.begin() + 32 * warp, values.begin() + 32 * warp + 32,
                                        0);
               }));
}

// --- Bit functions, and loads and stores with cache hints

struct Counts {
  int ones, leading, first, ones_long, leading_long, first_long;
  unsigned reversed, permuted;
  unsigned long long reversed_long;
};

__global__ void count_bits(const unsigned long long* in, const unsigned* selectors, Counts* out,
                           int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long value = in[i];
  const auto low = static_cast<unsigned>(value), high = static_cast<unsigned>(value >> 32);
  out[i] = {__popc(low),
            __clz(static_cast<int>(low)),
            __ffs(static_cast<int>(low)),
            __popcll(value),
            __clzll(static_cast<long long>(value)),
            __ffsll(static_cast<long long>(value)),
            __brev(low),
            __byte_perm(low, high, selectors[i]),
            __brevll(value)};
}

Counts counts_of(unsigned long long value, unsigned selector) {
  Counts c{0, 32, 0, 0, 64, 0, 0, 0, 0};
  for (int bit = 63; bit >= 0; --bit) {
    if ((value >> bit & 1) == 0) continue;
    ++c.ones_long;
    c.leading_long = std::min(c.leading_long, 63 - bit);
    c.first_long = bit + 1;
    c.reversed_long |= 1ull << (63 - bit);
    if (bit > 31) continue;
    ++c.ones;
    c.leading = std::min(c.leading, 31 - bit);
    c.first = bit + 1;
    c.reversed |= 1u << (31 - bit);
  }
  for (int byte = 0; byte < 4; ++byte)
    c.permuted |= static_cast<unsigned>(value >> 8 * (selector >> 4 * byte & 7) & 0xFF) << 8 * byte;
  return c;
}

TEST(bits_are_counted_and_moved) {
  std::vector<unsigned long long> values = random_values(200, 0ull, ~0ull);
  for (int i = 0; i < 64; ++i) values[i] = 1ull << i;
  for (int i = 64; i < 128; ++i) values[i] >>= i - 64;
  values[128] = 0;
  std::vector<unsigned> selectors = random_values(200, 0u, ~0u);
  for (unsigned& selector : selectors) selector &= 0x7777;
  Device<unsigned long long> in(values);
  Device<unsigned> device_selectors(selectors);
  Device<Counts> out(200);
  count_bits<<<2, 128>>>(in.get(), device_selectors.get(), out.get(), 200);
  const std::vector<Counts> actual = out.to_host();
  for (int i = 0; i < 200; ++i) {
    const Counts expected = counts_of(values[i], selectors[i]);
    expect_equal(actual[i].ones, expected.ones);
    expect_equal(actual[i].leading, expected.leading);
    expect_equal(actual[i].first, expected.first);
    expect_equal(actual[i].ones_long, expected.ones_long);
    expect_equal(actual[i].leading_long, expected.leading_long);
    expect_equal(actual[i].first_long, expected.first_long);
    expect_equal(actual[i].reversed, expected.reversed);
    expect_equal(actual[i].reversed_long, expected.reversed_long);
    expect_equal(actual[i].permuted, expected.permuted);
  }
}

template <typename T>
__global__ void copy_with_hints(const T* in, T* out) {
  const int i = threadIdx.x;
  __stcg(&out[i], __ldg(&in[i]));
  __stcs(&out[32 + i], __ldcs(&in[32 + i]));
  __stwb(&out[64 + i], __ldca(&in[64 + i]));
  __stwt(&out[96 + i], __ldcg(&in[96 + i]));
  out[128 + i] = __ldcv(&in[128 + i]);
  out[160 + i] = __ldlu(&in[160 + i]);
}

template <typename T>
void expect_copied_with_hints() {
  std::vector<unsigned char> bytes = random_values<unsigned char>(192 * sizeof(T), 0, 255);
  std::vector<T> values(192);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  Device<T> in(values), out(192);
  copy_with_hints<<<1, 32>>>(in.get(), out.get());
  const std::vector<T> actual = out.to_host();
  std::vector<unsigned char> back(bytes.size());
  std::memcpy(back.data(), actual.data(), back.size());
  expect_equal(back, bytes);
}

TEST(loads_and_stores_take_hints) {
  expect_copied_with_hints<int>();
  expect_copied_with_hints<unsigned>();
  expect_copied_with_hints<long long>();
  expect_copied_with_hints<float>();
  expect_copied_with_hints<double>();
  expect_copied_with_hints<int4>();
  expect_copied_with_hints<float2>();
  expect_copied_with_hints<float4>();
  expect_copied_with_hints<double2>();
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
