/// \file
/// Seeded bugs: ranks that wait for each other forever, or access memory that NCCL still transfers.

#include <nccl.h>

#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "planted.cuh"
#include "resources.cuh"

namespace {

constexpr int count = 256;

__global__ void fill(int* out, int value) {
  out[threadIdx.x] = value;  // planted: stream race
}

/// One of two ranks on two devices, with a stream and buffers.
struct Rank {
  ncclComm_t comm = nullptr;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<Buffer<int>> from, to;
};

class Pair {
 public:
  Pair() {
    ncclComm_t comms[2];
    ncclCommInitAll(comms, 2, nullptr);
    for (int r = 0; r < 2; ++r) {
      cudaSetDevice(r);
      ranks_[r] = {comms[r], std::make_unique<Stream>(), std::make_unique<Buffer<int>>(count),
                   std::make_unique<Buffer<int>>(count)};
      cudaDeviceSynchronize();
    }
    cudaSetDevice(0);
  }
  ~Pair() {
    for (const Rank& rank : ranks_) {
      cudaStreamSynchronize(rank.stream->get());
      ncclCommDestroy(rank.comm);
    }
  }

  const Rank& operator[](int r) const { return ranks_[r]; }

 private:
  Rank ranks_[2];
};

/// Calls `work` on a separate thread for each rank and waits for the streams.
template <typename Work>
void in_threads(const Pair& ranks, Work work) {
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      cudaSetDevice(r);
      work(ranks[r], 1 - r);
      cudaStreamSynchronize(ranks[r].stream->get());
    });
  for (auto& thread : threads) thread.join();
}

namespace one_thread_waits_between_its_ranks {

/// With the bug, the host waits for rank 0 before it makes the call of rank 1.
template <bool bug>
void run() {
  const Pair ranks;
  const auto &first = ranks[0], &second = ranks[1];
  const auto to = first.to->get(), from = second.from->get();
  if (!bug) ncclGroupStart();
  ncclRecv(to, count, ncclInt, 1, first.comm, first.stream->get());  // planted: deadlock
  if (bug) cudaStreamSynchronize(first.stream->get());
  ncclSend(from, count, ncclInt, 0, second.comm, second.stream->get());
  if (!bug) ncclGroupEnd();
}

}  // namespace one_thread_waits_between_its_ranks

namespace both_send_first {

/// A send may wait for its receive; with the bug, both ranks receive only after their sends.
template <bool bug>
void run() {
  const Pair ranks;
  in_threads(ranks, [](const Rank& rank, int other) {
    const auto from = rank.from->get(), to = rank.to->get();
    if (!bug) ncclGroupStart();
    ncclSend(from, count, ncclInt, other, rank.comm, rank.stream->get());  // planted: deadlock
    ncclRecv(to, count, ncclInt, other, rank.comm, rank.stream->get());    // planted: deadlock
    if (!bug) ncclGroupEnd();
  });
}

}  // namespace both_send_first

namespace both_wait_for_the_other_host {

/// With the bug, each host thread waits for a receive before it sends.
template <bool bug>
void run() {
  const Pair ranks;
  in_threads(ranks, [](const Rank& rank, int other) {
    const auto from = rank.from->get(), to = rank.to->get();
    if (!bug) ncclGroupStart();
    ncclRecv(to, count, ncclInt, other, rank.comm, rank.stream->get());  // planted: deadlock
    if (bug) cudaStreamSynchronize(rank.stream->get());
    ncclSend(from, count, ncclInt, other, rank.comm, rank.stream->get());
    if (!bug) ncclGroupEnd();
  });
}

}  // namespace both_wait_for_the_other_host

namespace ranks_reduce_in_another_order {

/// With the bug, rank 1 receives before a sum of both ranks, and rank 0 sends after the sum.
template <bool bug>
void run() {
  const Pair ranks;
  in_threads(ranks, [](const Rank& rank, int other) {
    const auto from = rank.from->get(), to = rank.to->get();
    const auto stream = rank.stream->get();
    const auto sum = [&] {
      ncclAllReduce(from, from, count, ncclInt, ncclSum, rank.comm, stream);  // planted: deadlock
    };
    if (bug && other == 0) sum();
    if (other == 1)
      ncclSend(from, count, ncclInt, 1, rank.comm, stream);  // planted: deadlock
    else
      ncclRecv(to, count, ncclInt, 0, rank.comm, stream);  // planted: deadlock
    if (!bug || other == 1) sum();
  });
}

}  // namespace ranks_reduce_in_another_order

/// Both ranks exchange their data in one group.
void exchange(const Pair& ranks) {
  ncclGroupStart();
  for (int r = 0; r < 2; ++r) {
    const auto from = ranks[r].from->get(), to = ranks[r].to->get();
    const auto stream = ranks[r].stream->get();
    ncclSend(from, count, ncclInt, 1 - r, ranks[r].comm, stream);  // planted: stream race
    ncclRecv(to, count, ncclInt, 1 - r, ranks[r].comm, stream);    // planted: stream race
  }
  ncclGroupEnd();
}

namespace sent_before_it_is_computed {

/// With the bug, the kernel runs in a stream that the exchange does not wait for.
template <bool bug>
void run() {
  const Pair ranks;
  const Stream other;
  fill<<<1, count, 0, bug ? other.get() : ranks[0].stream->get()>>>(ranks[0].from->get(), 3);
  exchange(ranks);
  cudaStreamSynchronize(other.get());
}

}  // namespace sent_before_it_is_computed

namespace received_while_it_is_used {

/// With the bug, the next step runs in a stream that does not wait for the halo.
template <bool bug>
void run() {
  const Pair ranks;
  const Stream other;
  exchange(ranks);
  fill<<<1, count, 0, bug ? other.get() : ranks[0].stream->get()>>>(ranks[0].to->get(), 3);
  cudaStreamSynchronize(other.get());
}

}  // namespace received_while_it_is_used

namespace overwritten_while_it_is_sent {

/// With the bug, the buffer of rank 0 is overwritten after a wait for the stream of rank 1.
template <bool bug>
void run() {
  const Pair ranks;
  const Stream other;
  exchange(ranks);
  cudaStreamSynchronize(ranks[bug ? 1 : 0].stream->get());
  fill<<<1, count, 0, other.get()>>>(ranks[0].from->get(), 3);
  cudaStreamSynchronize(other.get());
}

}  // namespace overwritten_while_it_is_sent

}  // namespace

int main(int argc, char** argv) {
  setenv("CUDA_ON_CPU_DEVICES", "2", 1);
#define CASE(name) \
  { #name, name::run < true>, name::run < false> }
  return run_cases(argc, argv,
                   {CASE(one_thread_waits_between_its_ranks), CASE(both_send_first),
                    CASE(both_wait_for_the_other_host), CASE(ranks_reduce_in_another_order),
                    CASE(sent_before_it_is_computed), CASE(received_while_it_is_used),
                    CASE(overwritten_while_it_is_sent)});
}
