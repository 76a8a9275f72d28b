/// \file
/// Seeded bugs in uses of CUB. The analysis reports the line of the CUB call, not one inside CUB.

#include <cuda_runtime.h>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

#include <cstdlib>

#include "planted.cuh"
#include "resources.cuh"

namespace {

using cub::DeviceReduce;
using cub::DeviceScan;

constexpr int size = 128;

/// The operands of an algorithm of CUB: input, output of the same size, and temporary storage.
struct Rooms {
  int *in = nullptr, *out = nullptr;
  void* temp = nullptr;
  std::size_t bytes = 0;

  Rooms() {
    check(cudaMalloc(&in, size * sizeof(int)));
    check(cudaMemset(in, 1, size * sizeof(int)));
    check(cudaMalloc(&out, size * sizeof(int)));
    check(DeviceScan::InclusiveSum(nullptr, bytes, in, out, size));
    check(cudaMalloc(&temp, bytes));
    finish();
  }
  ~Rooms() {
    check(cudaFree(in));
    check(cudaFree(out));
    check(cudaFree(temp));
  }
};

namespace storage_that_is_used_again {

using Reduce = cub::BlockReduce<int, size>;

template <bool bug>
__global__ void extremes(const int* in, int* out) {
  __shared__ Reduce::TempStorage temp;
  const int x = in[threadIdx.x];
  const int least = Reduce(temp).Reduce(x, cuda::minimum<>{});  // planted: race
  if (!bug) __syncthreads();
  const int most = Reduce(temp).Reduce(x + 1, cuda::maximum<>{});  // planted: race
  if (threadIdx.x == 0) {
    out[0] = least;
    out[1] = most;
  }
}

template <bool bug>
void run() {
  const Rooms r;
  extremes<bug><<<1, size>>>(r.in, r.out);
  finish();
}

}  // namespace storage_that_is_used_again

namespace storage_that_two_share {

using Reduce = cub::BlockReduce<int, size>;
using Scan = cub::BlockScan<int, size>;

template <bool bug>
__global__ void scan_and_sum(const int* in, int* out) {
  __shared__ union {
    Scan::TempStorage scan;
    Reduce::TempStorage sum;
  } temp;
  const int x = in[threadIdx.x];
  int before;
  Scan(temp.scan).ExclusiveSum(x, before);  // planted: race
  if (!bug) __syncthreads();
  const int sum = Reduce(temp.sum).Sum(before);  // planted: race
  if (threadIdx.x == 0) *out = sum;
}

template <bool bug>
void run() {
  const Rooms r;
  scan_and_sum<bug><<<1, size>>>(r.in, r.out);
  finish();
}

}  // namespace storage_that_two_share

namespace a_loop_without_a_barrier {

using Scan = cub::BlockScan<int, size, cub::BLOCK_SCAN_WARP_SCANS>;

template <bool bug>
__global__ void twice(const int* in, int* out) {
  __shared__ Scan::TempStorage temp;
  int x = in[threadIdx.x];
  for (int i = 0; i < 2; ++i) {
    Scan(temp).InclusiveSum(x, x);  // planted: race
    if (!bug) __syncthreads();
  }
  out[threadIdx.x] = x;
}

template <bool bug>
void run() {
  const Rooms r;
  twice<bug><<<1, size>>>(r.in, r.out);
  finish();
}

}  // namespace a_loop_without_a_barrier

namespace warps_that_share_storage {

using Reduce = cub::WarpReduce<int, 20>;

template <bool bug>
__global__ void sums(const int* in, int* out) {
  __shared__ Reduce::TempStorage temp[2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane >= 20) return;
  const int sum = Reduce(temp[bug ? 0 : warp]).Sum(in[threadIdx.x]);  // planted: race
  if (lane == 0) out[warp] = sum;
}

template <bool bug>
void run() {
  const Rooms r;
  sums<bug><<<1, 64>>>(r.in, r.out);
  finish();
}

}  // namespace warps_that_share_storage

namespace only_some_threads {

using Reduce = cub::BlockReduce<int, size>;

template <bool bug>
__global__ void sum(const int* in, int* out, int n) {
  __shared__ Reduce::TempStorage temp;
  const int t = static_cast<int>(threadIdx.x);
  int all = 0;
  if (!bug || t < n) all = Reduce(temp).Sum(t < n ? in[t] : 0);  // planted: divergent barrier
  __syncthreads();                                               // planted: divergent barrier
  if (t == 0) *out = all;
}

template <bool bug>
void run() {
  const Rooms r;
  sum<bug><<<1, size>>>(r.in, r.out, 64);
  finish();
}

}  // namespace only_some_threads

namespace numbers_of_the_host {

template <bool bug>
void run() {
  Rooms r;
  int on_host[size] = {};
  const int* const in = bug ? on_host : r.in;
  check(DeviceReduce::Sum(r.temp, r.bytes, in, r.out, size));  // planted: illegal device access
  finish();
}

}  // namespace numbers_of_the_host

namespace storage_of_the_host {

template <bool bug>
void run() {
  Rooms r;
  void* const on_host = std::malloc(r.bytes);
  void* const temp = bug ? on_host : r.temp;
  check(DeviceReduce::Sum(temp, r.bytes, r.in, r.out, size));  // planted: illegal device access
  finish();
  std::free(on_host);
}

}  // namespace storage_of_the_host

namespace too_little_storage {

template <bool bug>
void run() {
  Rooms r;
  std::size_t bytes = bug ? 1 : r.bytes;
  cub::DeviceScan::InclusiveSum(r.temp, bytes, r.in, r.out, size);  // planted: ignored error
  finish();
}

}  // namespace too_little_storage

namespace an_error_that_cub_looks_at {

/// With the bug, an error is ignored. In the correct counterpart, a macro of CUB prints the error.
template <bool bug>
void run() {
  Rooms r;
  if (bug) cudaMemset(r.in, 0, (size + 1) * sizeof(int));  // planted: ignored error
  if (!bug) CubDebug(cudaMemset(r.in, 0, (size + 1) * sizeof(int)));
}

}  // namespace an_error_that_cub_looks_at

namespace storage_without_its_size {

/// With the bug, the temporary storage is large enough only for a smaller number of items.
template <bool bug>
void run() {
  Rooms r;
  constexpr int many = 1 << 17;
  int* long_out = nullptr;
  check(cudaMalloc(&long_out, many * sizeof(int)));
  check(cudaMemset(long_out, 0, many * sizeof(int)));
  std::size_t bytes = 0;
  check(DeviceScan::InclusiveSum(nullptr, bytes, long_out, many));
  void* large = nullptr;
  check(cudaMalloc(&large, bytes));
  void* const temp = bug ? r.temp : large;
  check(DeviceScan::InclusiveSum(temp, bytes, long_out, many));  // planted: out of bounds
  finish();
  check(cudaFree(large));
  check(cudaFree(long_out));
}

}  // namespace storage_without_its_size

namespace one_item_too_many {

template <bool bug>
void run() {
  Rooms r;
  const int count = size + bug;
  check(DeviceScan::InclusiveSum(r.temp, r.bytes, r.in, r.out, count));  // planted: out of bounds
  finish();
}

}  // namespace one_item_too_many

namespace streams_that_share_storage {

template <bool bug>
void run() {
  Rooms r;
  cudaStream_t one = nullptr, other = nullptr;
  check(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  cudaStream_t const second = bug ? other : one;
  check(DeviceReduce::Sum(r.temp, r.bytes, r.in, r.out, size, one));         // planted: stream race
  check(DeviceReduce::Max(r.temp, r.bytes, r.in, r.out + 1, size, second));  // planted: stream race
  finish();
  check(cudaStreamDestroy(one));
  check(cudaStreamDestroy(other));
}

}  // namespace streams_that_share_storage

namespace a_result_that_is_read_too_early {

template <bool bug>
void run() {
  const Rooms r;
  std::size_t bytes = r.bytes;
  int* sum = nullptr;
  check(cudaMallocManaged(&sum, sizeof(int)));
  check(DeviceReduce::Sum(r.temp, bytes, r.in, sum, size));  // planted: host race
  if (!bug) finish();
  std::printf("%d\n", *sum + 0);  // planted: host race
  finish();
  check(cudaFree(sum));
}

}  // namespace a_result_that_is_read_too_early

}  // namespace

int main(int argc, char** argv) {
  return run_cases(
      argc, argv,
      {{"storage_that_is_used_again", storage_that_is_used_again::run<true>,
        storage_that_is_used_again::run<false>},
       {"storage_that_two_share", storage_that_two_share::run<true>,
        storage_that_two_share::run<false>},
       {"a_loop_without_a_barrier", a_loop_without_a_barrier::run<true>,
        a_loop_without_a_barrier::run<false>},
       {"warps_that_share_storage", warps_that_share_storage::run<true>,
        warps_that_share_storage::run<false>},
       {"only_some_threads", only_some_threads::run<true>, only_some_threads::run<false>},
       {"numbers_of_the_host", numbers_of_the_host::run<true>, numbers_of_the_host::run<false>},
       {"storage_of_the_host", storage_of_the_host::run<true>, storage_of_the_host::run<false>},
       {"too_little_storage", too_little_storage::run<true>, too_little_storage::run<false>},
       {"an_error_that_cub_looks_at", an_error_that_cub_looks_at::run<true>,
        an_error_that_cub_looks_at::run<false>},
       {"storage_without_its_size", storage_without_its_size::run<true>,
        storage_without_its_size::run<false>},
       {"one_item_too_many", one_item_too_many::run<true>, one_item_too_many::run<false>},
       {"streams_that_share_storage", streams_that_share_storage::run<true>,
        streams_that_share_storage::run<false>},
       {"a_result_that_is_read_too_early", a_result_that_is_read_too_early::run<true>,
        a_result_that_is_read_too_early::run<false>}});
}
