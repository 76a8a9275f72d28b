/// \file
/// The guarantees of NCCL, for all ranks in one thread and for one thread per rank.

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <numeric>
#include <staircase/devices.hpp>
#include <staircase/nccl.hpp>
#include <string>
#include <thread>
#include <vector>

#include "device.hpp"

using staircase::Communicators;
using staircase::group;
using staircase::OnDevice;
using tap::check;
using tap::expect;
using tap::expect_equal;

namespace {

void expect_success(ncclResult_t actual, tap::Location place = tap::Location::current()) {
  if (actual == ncclSuccess) return;
  tap::complain(std::string(ncclGetErrorString(actual)) + ": " + ncclGetLastError(nullptr), place);
  throw tap::Abandoned{};
}

/// Numbers of ranks for which there are enough devices.
std::vector<int> sizes() {
  const auto available = static_cast<int>(staircase::devices(0).size());
  std::vector<int> all{1, 2, 3, 7};
  std::erase_if(all, [&](int size) { return size > available; });
  return all;
}

std::vector<int> two_devices() {
  if (staircase::devices(0).size() < 2) tap::skip("there is one device");
  return staircase::devices(2);
}

/// A rank with a stream, a send buffer and a receive buffer.
template <typename T>
struct Rank {
  int device;
  ncclComm_t comm;
  tap::Device<T> from, to;
  cudaStream_t stream = nullptr;

  Rank(int d, ncclComm_t c, const std::vector<T>& values, std::size_t received)
      : device(d), comm(c), from(values), to(received) {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  ~Rank() { cudaStreamDestroy(stream); }
  Rank(const Rank&) = delete;

  std::vector<T> received() const {
    const OnDevice here(device);
    check(cudaStreamSynchronize(stream));
    return to.to_host();
  }
};

template <typename T>
using Ranks = std::deque<Rank<T>>;

template <typename T>
Rank<T>& add(Ranks<T>& ranks, int device, ncclComm_t comm, const std::vector<T>& values,
             std::size_t received) {
  const OnDevice here(device);
  return ranks.emplace_back(device, comm, values, received);
}

__global__ void twice(const double* from, double* to, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = 2 * from[i];
}

constexpr int length = 37;

std::vector<double> field_of(int rank) {
  return tap::table<double>(length, [&](int i) { return 1000 * rank + i; });
}

/// Exchanges data with both neighbours in a ring. The left neighbour's data come first in `to`.
void exchange(const Rank<double>& rank, int me, int size) {
  const int left = (me + size - 1) % size, right = (me + 1) % size;
  expect_success(ncclSend(rank.from.get(), length, ncclDouble, right, rank.comm, rank.stream));
  expect_success(ncclRecv(rank.to.get(), length, ncclDouble, left, rank.comm, rank.stream));
  expect_success(ncclSend(rank.from.get(), length, ncclDouble, left, rank.comm, rank.stream));
  expect_success(
      ncclRecv(rank.to.get() + length, length, ncclDouble, right, rank.comm, rank.stream));
}

/// The expected result of an exchange, with every element multiplied by a factor.
std::vector<double> exchanged(int me, int size, double factor = 1) {
  auto both = field_of((me + size - 1) % size);
  const auto right = field_of((me + 1) % size);
  both.insert(both.end(), right.begin(), right.end());
  for (double& value : both) value *= factor;
  return both;
}

Ranks<double> ring(const Communicators& communicators, int size) {
  Ranks<double> ranks;
  for (int r = 0; r < size; ++r) add(ranks, r, communicators[r], field_of(r), 2 * length);
  return ranks;
}

/// Calls work(rank) on a separate thread for each rank.
template <typename Work>
void in_threads(int size, const Work& work) {
  std::deque<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&work, rank] {
      try {
        check(cudaSetDevice(rank));
        work(rank);
      } catch (const tap::Abandoned&) {
      }
    });
  for (auto& thread : threads) thread.join();
}

template <typename T>
constexpr ncclDataType_t type_of();
template <>
constexpr ncclDataType_t type_of<char>() {
  return ncclChar;
}
template <>
constexpr ncclDataType_t type_of<std::uint8_t>() {
  return ncclUint8;
}
template <>
constexpr ncclDataType_t type_of<int>() {
  return ncclInt32;
}
template <>
constexpr ncclDataType_t type_of<unsigned>() {
  return ncclUint32;
}
template <>
constexpr ncclDataType_t type_of<std::int64_t>() {
  return ncclInt64;
}
template <>
constexpr ncclDataType_t type_of<std::uint64_t>() {
  return ncclUint64;
}
template <>
constexpr ncclDataType_t type_of<float>() {
  return ncclFloat;
}
template <>
constexpr ncclDataType_t type_of<double>() {
  return ncclDouble;
}

/// Compares an all-reduce of random values with sums, minima and maxima in double precision.
template <typename T>
void reduce_random(const std::vector<int>& devices, std::size_t count, ncclRedOp_t operation,
                   bool in_place) {
  const Communicators communicators(devices);
  Ranks<T> ranks;
  std::vector<double> wanted(count), magnitude(count);
  for (const int d : devices) {
    const auto values = tap::random_values<T>(count, T(std::is_signed_v<T> ? -9 : 0), T(9));
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = static_cast<double>(values[i]);
      magnitude[i] += std::abs(value);
      if (d == devices.front())
        wanted[i] = value;
      else if (operation == ncclSum)
        wanted[i] += value;
      else
        wanted[i] = operation == ncclMin ? std::min(wanted[i], value) : std::max(wanted[i], value);
    }
    add(ranks, d, communicators[d], values, count);
  }
  group([&] {
    for (const auto& rank : ranks)
      expect_success(ncclAllReduce(rank.from.get(), in_place ? rank.from.get() : rank.to.get(),
                                   count, type_of<T>(), operation, rank.comm, rank.stream));
  });
  for (const auto& rank : ranks) {
    const OnDevice here(rank.device);
    check(cudaStreamSynchronize(rank.stream));
    const auto found = in_place ? rank.from.to_host() : rank.to.to_host();
    const double rounding = std::is_same_v<T, float> ? 1e-6 : std::is_same_v<T, double> ? 1e-15 : 0;
    for (std::size_t i = 0; i < count; ++i)
      if (!(std::abs(static_cast<double>(found[i]) - wanted[i]) <= rounding * magnitude[i]))
        return tap::complain(
            "an element is " + tap::shown(found[i]) + " instead of " + tap::shown(wanted[i]),
            tap::Location::current());
  }
}

}  // namespace

TEST(a_ring_of_one_thread_exchanges_with_both_neighbours) {
  for (const int size : sizes()) {
    const Communicators communicators(staircase::devices(size));
    const auto ranks = ring(communicators, size);
    group([&] {
      for (int r = 0; r < size; ++r) exchange(ranks[r], r, size);
    });
    for (int r = 0; r < size; ++r)
      // Two sends between the same ranks in one group arrive in the order of their calls.
      if (size != 2)
        expect_equal(ranks[r].received(), exchanged(r, size));
      else
        ranks[r].received();
  }
}

TEST(a_ring_of_threads_exchanges_with_both_neighbours) {
  for (const int size : sizes()) {
    ncclUniqueId id;
    expect_success(ncclGetUniqueId(&id));
    in_threads(size, [&](int r) {
      ncclComm_t comm = nullptr;
      expect_success(ncclCommInitRank(&comm, size, id, r));
      {
        const Rank<double> rank(r, comm, field_of(r), 2 * length);
        for (int again = 0; again < 3; ++again) group([&] { exchange(rank, r, size); });
        expect_equal(rank.received(), exchanged(r, size));
      }
      expect_success(ncclCommFinalize(comm));
      expect_success(ncclCommDestroy(comm));
    });
  }
}

TEST(calls_are_ordered_in_their_stream_and_the_host_goes_on) {
  const Communicators communicators(two_devices());
  auto ranks = ring(communicators, 2);
  std::vector<std::unique_ptr<tap::Device<double>>> doubled;
  for (auto& rank : ranks) {
    const OnDevice here(rank.device);
    doubled.push_back(std::make_unique<tap::Device<double>>(length));
    twice<<<1, 32, 0, rank.stream>>>(rank.from.get(), doubled.back()->get(), length);
    check(cudaGetLastError());
  }
  group([&] {
    for (int r = 0; r < 2; ++r) {
      expect_success(
          ncclSend(doubled[r]->get(), length, ncclDouble, 1 - r, ranks[r].comm, ranks[r].stream));
      expect_success(
          ncclRecv(ranks[r].to.get(), length, ncclDouble, 1 - r, ranks[r].comm, ranks[r].stream));
    }
  });
  for (int r = 0; r < 2; ++r) {
    const OnDevice here(r);
    twice<<<1, 32, 0, ranks[r].stream>>>(ranks[r].to.get(), ranks[r].to.get() + length, length);
    check(cudaGetLastError());
  }
  for (int r = 0; r < 2; ++r) {
    const auto found = ranks[r].received(), sent = field_of(1 - r);
    for (int i = 0; i < length; ++i) {
      expect_equal(found[i], 2 * sent[i]);
      expect_equal(found[length + i], 4 * sent[i]);
    }
  }
}

TEST(groups_nest_and_what_a_rank_sends_to_itself_comes) {
  const Communicators communicators(staircase::devices(1));
  const auto ranks = ring(communicators, 1);
  group([&] {
    group([&] {
      expect_success(
          ncclSend(ranks[0].from.get(), length, ncclDouble, 0, ranks[0].comm, ranks[0].stream));
    });
    expect_success(
        ncclRecv(ranks[0].to.get(), length, ncclDouble, 0, ranks[0].comm, ranks[0].stream));
    expect_success(ncclSend(ranks[0].from.get(), 0, ncclDouble, 0, ranks[0].comm, ranks[0].stream));
    expect_success(ncclRecv(ranks[0].to.get(), 0, ncclDouble, 0, ranks[0].comm, ranks[0].stream));
  });
  auto found = ranks[0].received();
  found.resize(length);
  expect_equal(found, field_of(0));
}

TEST(an_empty_group_does_nothing) {
  group([] {});
}

TEST(the_null_stream_is_that_of_the_ranks_device) {
  const Communicators communicators(two_devices());
  const auto ranks = ring(communicators, 2);
  group([&] {
    for (int r = 0; r < 2; ++r)
      expect_success(ncclBroadcast(ranks[r].from.get(), ranks[r].to.get(), length, ncclDouble, 1,
                                   ranks[r].comm, nullptr));
  });
  for (int r = 0; r < 2; ++r) {
    const OnDevice here(r);
    check(cudaStreamSynchronize(nullptr));
    auto found = ranks[r].to.to_host();
    found.resize(length);
    expect_equal(found, field_of(1));
  }
}

TEST(broadcasts_reach_all_from_every_root) {
  for (const int size : sizes()) {
    const Communicators communicators(staircase::devices(size));
    const auto ranks = ring(communicators, size);
    for (int root = 0; root < size; ++root) {
      group([&] {
        for (int r = 0; r < size; ++r)  // only the root needs a send buffer
          expect_success(ncclBroadcast(r == root ? ranks[r].from.get() : nullptr, ranks[r].to.get(),
                                       length, ncclDouble, root, ranks[r].comm, ranks[r].stream));
      });
      for (const auto& rank : ranks) {
        auto found = rank.received();
        found.resize(length);
        expect_equal(found, field_of(root));
      }
    }
  }
}

TEST(reductions_are_those_of_double_precision) {
  for (const int size : sizes()) {
    const auto devices = staircase::devices(size);
    for (const ncclRedOp_t operation : {ncclSum, ncclMin, ncclMax}) {
      reduce_random<float>(devices, 1001, operation, false);
      reduce_random<double>(devices, 1, operation, true);
      reduce_random<int>(devices, 33, operation, true);
      reduce_random<std::int64_t>(devices, 7, operation, false);
    }
    reduce_random<char>(devices, 129, ncclMin, false);
    reduce_random<std::uint8_t>(devices, 129, ncclSum, false);
    reduce_random<unsigned>(devices, 40, ncclSum, true);
    reduce_random<std::uint64_t>(devices, 3, ncclMax, false);
    reduce_random<double>(devices, 0, ncclSum, false);
  }
}

TEST(threads_reduce_in_turns_with_sends) {
  const int size = sizes().back();
  const Communicators communicators(staircase::devices(size));
  in_threads(size, [&](int r) {
    const Rank<double> rank(r, communicators[r], field_of(r), 2 * length);
    for (int again = 0; again < 5; ++again) {
      group([&] { exchange(rank, r, size); });
      expect_success(ncclAllReduce(rank.from.get(), rank.from.get(), length, ncclDouble, ncclMax,
                                   rank.comm, rank.stream));
    }
    check(cudaStreamSynchronize(rank.stream));
    expect_equal(rank.from.to_host(), field_of(size - 1));
    if (size == 7) expect_equal(rank.to.to_host()[0], 6000);
  });
}

TEST(a_graph_of_one_thread_exchanges_whenever_it_is_launched) {
  for (const int size : sizes()) {
    if (size == 2) continue;
    const Communicators communicators(staircase::devices(size));
    const auto ranks = ring(communicators, size);
    cudaEvent_t begin = nullptr;
    check(cudaEventCreateWithFlags(&begin, cudaEventDisableTiming));
    std::vector<cudaEvent_t> ends(size);
    check(cudaStreamBeginCapture(ranks[0].stream, cudaStreamCaptureModeThreadLocal));
    check(cudaEventRecord(begin, ranks[0].stream));
    for (int r = 1; r < size; ++r) check(cudaStreamWaitEvent(ranks[r].stream, begin, 0));
    group([&] {
      for (int r = 0; r < size; ++r) exchange(ranks[r], r, size);
    });
    for (int r = 0; r < size; ++r) {
      const OnDevice here(r);
      twice<<<1, 32, 0, ranks[r].stream>>>(ranks[r].to.get(), ranks[r].to.get(), 2 * length);
      check(cudaEventCreateWithFlags(&ends[r], cudaEventDisableTiming));
      check(cudaEventRecord(ends[r], ranks[r].stream));
    }
    for (int r = 1; r < size; ++r) check(cudaStreamWaitEvent(ranks[0].stream, ends[r], 0));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaStreamEndCapture(ranks[0].stream, &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    for (int launch = 0; launch < 3; ++launch) {
      check(cudaGraphLaunch(executable, ranks[0].stream));
      check(cudaStreamSynchronize(ranks[0].stream));
      for (int r = 0; r < size; ++r) expect_equal(ranks[r].received(), exchanged(r, size, 2));
    }
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
    check(cudaEventDestroy(begin));
    for (const cudaEvent_t end : ends) check(cudaEventDestroy(end));
  }
}

TEST(graphs_of_several_threads_meet_whenever_they_are_launched) {
  const int size = sizes().back();
  const Communicators communicators(staircase::devices(size));
  in_threads(size, [&](int r) {
    const Rank<double> rank(r, communicators[r], field_of(r), 2 * length);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaStreamBeginCapture(rank.stream, cudaStreamCaptureModeThreadLocal));
    group([&] { exchange(rank, r, size); });
    twice<<<1, 32, 0, rank.stream>>>(rank.to.get(), rank.from.get(), length);
    check(cudaStreamEndCapture(rank.stream, &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    for (int launch = 0; launch < 2 * size; ++launch)
      check(cudaGraphLaunch(executable, rank.stream));
    check(cudaStreamSynchronize(rank.stream));
    // All data went around the ring twice, and each rank doubled the values on each pass.
    const auto found = rank.from.to_host(), mine = field_of(r);
    if (size != 2)
      for (int i = 0; i < length; ++i) expect_equal(found[i], mine[i] * (1 << (2 * size)));
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
  });
}

TEST(a_communicator_knows_its_ranks) {
  auto devices = staircase::devices(0);
  std::reverse(devices.begin(), devices.end());
  const Communicators communicators(devices);
  for (std::size_t r = 0; r < devices.size(); ++r) {
    int count = -1, rank = -1, device = -1;
    ncclResult_t error = ncclInternalError;
    expect_success(ncclCommCount(communicators[r], &count));
    expect_success(ncclCommUserRank(communicators[r], &rank));
    expect_success(ncclCommCuDevice(communicators[r], &device));
    expect_success(ncclCommGetAsyncError(communicators[r], &error));
    expect_equal(count, devices.size());
    expect_equal(rank, r);
    expect_equal(device, devices[r]);
    expect_equal(error, ncclSuccess);
  }
  int version = 0;
  expect_success(ncclGetVersion(&version));
  expect(version >= 20000, "the version is of the second kind");
}

TEST(one_thread_joins_all_ranks_in_a_group) {
  const auto devices = staircase::devices(0);
  std::vector<ncclComm_t> comms(devices.size());
  ncclUniqueId id;
  expect_success(ncclGetUniqueId(&id));
  group([&] {
    for (const int d : devices) {
      const OnDevice here(d);
      expect_success(ncclCommInitRank(&comms[d], static_cast<int>(comms.size()), id, d));
    }
  });
  for (const ncclComm_t comm : comms) expect_success(ncclCommDestroy(comm));
}

#ifdef STAIRCASE_CUDA_ON_CPU  // on a GPU, some of these calls hang, and others read out of bounds

namespace {

/// After a failure, waits for the first two devices, then resets device 0 and the last error.
void reset() {
  for (const int device : {1, 0}) {
    cudaSetDevice(device);
    cudaDeviceSynchronize();
  }
  cudaDeviceReset();
  cudaGetLastError();
}

void expect_result(ncclResult_t actual, ncclResult_t expected,
                   tap::Location place = tap::Location::current()) {
  if (actual != expected)
    tap::complain(
        std::string(ncclGetErrorString(actual)) + " instead of " + ncclGetErrorString(expected),
        place);
}

}  // namespace

TEST(arguments_out_of_range_are_refused) {
  const Communicators communicators(two_devices());
  auto ranks = ring(communicators, 2);
  double* const from = ranks[0].from.get();
  double* const to = ranks[0].to.get();
  const ncclComm_t comm = ranks[0].comm;
  const cudaStream_t stream = ranks[0].stream;
  double on_host = 0;
  const auto refused = [&](ncclResult_t result, const char* part,
                           tap::Location place = tap::Location::current()) {
    expect_result(result, ncclInvalidArgument, place);
    const std::string sentence = ncclGetLastError(comm);
    expect(sentence.find(part) != std::string::npos, "'" + sentence + "' has '" + part + "'",
           place);
  };
  refused(ncclSend(from, 1, ncclDouble, 2, comm, stream),
          "rank 2 does not exist: the ranks are 0 to 1");
  refused(ncclRecv(to, 1, ncclDouble, -1, comm, stream), "rank -1 does not exist");
  refused(ncclBroadcast(from, to, 1, ncclDouble, 7, comm, stream), "rank 7 does not exist");
  refused(ncclSend(nullptr, 1, ncclDouble, 1, comm, stream), "not belong to any allocation");
  refused(ncclSend(reinterpret_cast<double*>(~std::uintptr_t{7}), 1, ncclDouble, 1, comm, stream),
          "not belong to any allocation");
  refused(ncclSend(&on_host, 1, ncclDouble, 1, comm, stream), "not belong to any allocation");
  refused(ncclSend(from, length + 1, ncclDouble, 1, comm, stream), "304 bytes");
  refused(ncclRecv(to + 1, 2 * length, ncclDouble, 1, comm, stream), "target of rank 0 has less");
  refused(ncclSend(from, ~std::size_t{0}, ncclDouble, 1, comm, stream), "too many");
  refused(ncclSend(ranks[1].from.get(), 1, ncclDouble, 1, comm, stream), "lies on device 1");
  refused(ncclSend(from, 1, static_cast<ncclDataType_t>(99), 1, comm, stream), "99 is no");
  refused(ncclAllReduce(from, to, 1, ncclDouble, static_cast<ncclRedOp_t>(9), comm, stream),
          "9 is no");
  refused(ncclAllReduce(from, to, 1, ncclHalf, ncclSum, comm, stream), "16 bits");
  refused(ncclSend(from, 1, ncclDouble, 1, nullptr, stream), "communicator is not valid");
  refused(ncclSend(from, 1, ncclDouble, 1, comm, ranks[1].stream), "does not belong to device 0");
  refused(ncclCommCount(nullptr, nullptr), "communicator is not valid");
  ncclComm_t none[64];
  refused(ncclCommInitAll(none, 0, nullptr), "0 ranks");
  const int devices[] = {0, 64};
  refused(ncclCommInitAll(none, 2, devices), "device 64");
  const int same[] = {1, 1};
  expect_result(ncclCommInitAll(none, 2, same), ncclInvalidUsage);
  expect_result(ncclGroupEnd(), ncclInvalidUsage);
  // A group with one invalid call has no effect.
  expect_success(ncclGroupStart());
  expect_success(ncclSend(from, 1, ncclDouble, 0, comm, stream));
  expect_result(ncclRecv(to, 1, ncclDouble, 5, comm, stream), ncclInvalidArgument);
  expect_result(ncclGroupEnd(), ncclInvalidArgument);
  expect_result(ncclSend(from, 1, ncclDouble, 0, comm, stream), ncclInvalidUsage);
  check(cudaStreamSynchronize(stream));
}

TEST(ranks_of_another_process_are_refused) {
  ncclUniqueId id;
  expect_success(ncclGetUniqueId(&id));
  id.internal[0] = id.internal[0] == '9' ? '8' : '9';
  ncclComm_t comm = nullptr;
  expect_result(ncclCommInitRank(&comm, 2, id, 0), ncclInvalidUsage);
  const std::string sentence = ncclGetLastError(nullptr);
  expect(sentence.find("threads of one process") != std::string::npos,
         "'" + sentence + "' says it");
}

TEST(one_thread_that_joins_without_a_group_is_told) {
  ncclUniqueId id;
  expect_success(ncclGetUniqueId(&id));
  ncclComm_t comm = nullptr;
  expect_result(ncclCommInitRank(&comm, 2, id, 0), ncclInvalidUsage);
  expect_success(ncclCommDestroy(comm));
}

TEST(different_sizes_are_an_error) {
  const auto fail = [](bool in_all) {
    const Communicators communicators(two_devices());
    const auto ranks = ring(communicators, 2);
    expect_success(ncclGroupStart());
    for (int r = 0; r < 2; ++r) {
      const auto& [device, comm, from, to, stream] = ranks[r];
      expect_success(
          in_all   ? ncclAllReduce(from.get(), to.get(), 4 + r, ncclDouble, ncclSum, comm, stream)
          : r == 0 ? ncclSend(from.get(), 4, ncclDouble, 1, comm, stream)
                   : ncclRecv(to.get(), 5, ncclDouble, 0, comm, stream));
    }
    expect_result(ncclGroupEnd(), ncclInvalidArgument);
    const std::string sentence = ncclGetLastError(nullptr);
    expect(sentence.find(in_all ? "different sizes" : "32 bytes") != std::string::npos,
           "'" + sentence + "' says it");
    ncclResult_t error = ncclSuccess;
    expect_success(ncclCommGetAsyncError(communicators[0], &error));
    expect_result(error, ncclInvalidUsage);
    tap::expect_error(cudaStreamSynchronize(ranks[0].stream), cudaErrorLaunchFailure);
  };
  for (const bool in_all : {false, true}) {
    fail(in_all);
    reset();
  }
}

#endif

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
