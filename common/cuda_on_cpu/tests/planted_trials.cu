/// \file
/// Seeded bugs: blocks that have a data race after they have changed memory in place. Under
/// analysis, several host threads may run such blocks speculatively. The writes before the race
/// must then be undone.
///
/// Each case prints its results. trials_test.py compares them with those of a run with one host
/// thread.

#include <cuda_runtime.h>

#include <cstdint>

#include "planted.cuh"
#include "resources.cuh"
#include "side_by_side.cuh"

namespace {

constexpr int blocks = 6;
constexpr int threads = 40;
constexpr int count = blocks * threads;

__device__ int index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

/// Prints a checksum of the bytes of an array, which depends on their order.
template <typename T>
void print_sum(const char* what, const T* device, std::size_t size) {
  const Pinned<T> values(size);
  check(cudaMemcpy(values.get(), device, size * sizeof(T), cudaMemcpyDeviceToHost));
  std::uint64_t sum = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.get());
  for (std::size_t i = 0; i < size * sizeof(T); ++i) sum = 31 * sum + bytes[i];
  std::printf("%s: %llx\n", what, static_cast<unsigned long long>(sum));
}

namespace last_block_wins {

template <bool bug>
__global__ void raise(int* x, int* last) {
  x[index()] = 2 * x[index()] + 1;
  if (threadIdx.x == 0) last[bug ? 0 : blockIdx.x] = static_cast<int>(blockIdx.x);  // planted: race
}

template <bool bug>
void run() {
  const Buffer<int> x(count, 1), last(blocks);
  raise<bug><<<blocks, threads>>>(x.get(), last.get());
  finish();
  print_sum("x", x.get(), count);
  print_sum("last", last.get(), blocks);
}

}  // namespace last_block_wins

namespace sum_stored_by_every_lane {

/// All lanes store the same sum of their warp; with the bug, the lanes store different values.
template <bool bug>
__global__ void add(const int* x, int* total) {
  __shared__ int sum;
  const int mine = x[index()];
  sum = bug ? static_cast<int>(threadIdx.x) : __reduce_add_sync(0xFFFFFFFF, mine);  // planted: race
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, sum);  // no speculative run reaches this line
}

template <bool bug>
void run() {
  const Buffer<int> x(count, 1), total(1);
  add<bug><<<blocks, 32>>>(x.get(), total.get());
  finish();
  if (!bug) print_sum("total", total.get(), 1);
}

}  // namespace sum_stored_by_every_lane

namespace neighbour_is_read {

/// With the bug, the kernel reads elements that the previous block changes.
template <bool bug>
__global__ void smooth(const double* x, double* y) {
  const int i = index();
  y[i] = x[i] + (i >= threads ? x[i - (bug ? 1 : 0)] : 0);  // planted: race
}

template <bool bug>
void run() {
  const Buffer<double> x(count), y(count);
  smooth<bug><<<blocks, threads>>>(bug ? y.get() : x.get(), y.get());
  finish();
  print_sum("y", y.get(), count);
}

}  // namespace neighbour_is_read

namespace bytes_of_others {

/// Blocks change bytes, some of which share a word with bytes of other blocks.
template <bool bug>
__global__ void darken(unsigned char* image, int width) {
  const int i = static_cast<int>(blockIdx.x) * width + static_cast<int>(threadIdx.x);
  if (threadIdx.x < width + (bug ? 1 : 0)) image[i] = image[i] / 2 + 3;  // planted: race
}

template <bool bug>
void run() {
  constexpr int width = 37;
  const Buffer<unsigned char> image(blocks * width + 1, 0x91);
  darken<bug><<<blocks, threads>>>(image.get(), width);
  finish();
  print_sum("image", image.get(), blocks * width);
}

}  // namespace bytes_of_others

namespace read_before_it_is_written {

/// The first block reads after the second one has written, if both run concurrently.
template <bool bug>
__global__ void look_ahead(int* x, int* y) {
  if (blockIdx.x == 0) {
    wait_until_told(1);
    if (threadIdx.x == 0) y[0] = x[bug ? 1 : 0];  // planted: race
  } else {
    if (threadIdx.x == 0) x[blockIdx.x] = 7;  // planted: race
    tell();
  }
}

template <bool bug>
void run() {
  const Buffer<int> x(blocks), y(1);
  begin_to_tell();
  look_ahead<bug><<<blocks, threads>>>(x.get(), y.get());
  finish();
  print_sum("y", y.get(), 1);
}

}  // namespace read_before_it_is_written

namespace written_after_it_was_read {

/// The first block writes after the other blocks have read, if all blocks run concurrently.
template <bool bug>
__global__ void look_back(int* x, int* y) {
  if (blockIdx.x == 0) {
    wait_until_told(2);
    if (threadIdx.x == 0) x[0] = 7;  // planted: race
  } else {
    if (threadIdx.x == 0) y[blockIdx.x] = x[bug ? 0 : 1];  // planted: race
    tell();
  }
}

template <bool bug>
void run() {
  const Buffer<int> x(2), y(blocks);
  begin_to_tell();
  look_back<bug><<<blocks, threads>>>(x.get(), y.get());
  finish();
  print_sum("y", y.get(), blocks);
}

}  // namespace written_after_it_was_read

namespace variable_of_the_device {

__device__ int numbers[2];

/// With the bug, the second block reads the variable that the first block writes.
template <bool bug>
__global__ void pass_on(int* y) {
  if (threadIdx.x > 0) return;
  if (blockIdx.x == 0) {
    wait_until_told(1);
    nap();
    numbers[0] = 7;  // planted: race
  } else if (blockIdx.x == 1) {
    tell();
    y[0] = numbers[bug ? 0 : 1];  // planted: race
  }
}

template <bool bug>
void run() {
  const Buffer<int> y(1);
  begin_to_tell();
  pass_on<bug><<<blocks, threads>>>(y.get());
  finish();
  print_sum("y", y.get(), 1);
}

}  // namespace variable_of_the_device

namespace vectors_too_far {

template <bool bug>
__global__ void scale(float4* x, int n) {
  const int i = index();
  if (i >= n + (bug ? 1 : 0)) return;
  const float4 v = x[i];  // planted: out of bounds
  x[i] = make_float4(2 * v.x, 2 * v.y + 1, 2 * v.z + 2, 2 * v.w + 3);
}

template <bool bug>
void run() {
  constexpr int n = count - 7;
  const Buffer<float4> x(n);
  scale<bug><<<blocks, threads>>>(x.get(), n);
  finish();
  print_sum("x", x.get(), n);
}

}  // namespace vectors_too_far

namespace what_nobody_wrote {

/// The error is reported after all blocks have ended, and names the first block in order.
template <bool bug>
__global__ void add(const int* x, int* y) {
  y[index()] = x[index()] + 1;  // planted: uninitialised read
}

template <bool bug>
void run() {
  int* x = nullptr;
  check(cudaMalloc(&x, count * sizeof(int)));
  if (!bug) check(cudaMemset(x, 0, count * sizeof(int)));
  const Buffer<int> y(count);
  add<bug><<<blocks, threads>>>(x, y.get());
  finish();
  print_sum("y", y.get(), count);
  check(cudaFree(x));
}

}  // namespace what_nobody_wrote

namespace first_of_many {

constexpr int in_stretch = 256;  // elements whose accesses one thread checks

/// A separate thread checks the first block's reads of `x`, which follow many other reads. The
/// report must still name the first lane of the first block.
template <bool bug>
__global__ void add(const int* known, const int* x, int* y) {
  const int t = static_cast<int>(threadIdx.x);
  int sum = 0;
  if (blockIdx.x == 0)
    for (int i = 0; i < 20000; ++i) sum += known[in_stretch + (7 * i + t) % in_stretch];
  y[index()] = sum + x[(blockIdx.x == 0 ? in_stretch : 0) + t];  // planted: uninitialised read
  y[index()] += x[t < 4 ? in_stretch + t : t];                   // planted: uninitialised read
}

template <bool bug>
void run() {
  int* x = nullptr;
  check(cudaMalloc(&x, 2 * in_stretch * sizeof(int)));
  if (!bug) check(cudaMemset(x, 0, 2 * in_stretch * sizeof(int)));
  const Buffer<int> known(2 * in_stretch), y(count);
  add<bug><<<blocks, threads>>>(known.get(), x, y.get());
  finish();
  check(cudaFree(x));
}

}  // namespace first_of_many

namespace streams_apart {

__global__ void make(int* x) { x[index()] = index(); }
__global__ void use(const int* x, int* y) { y[index()] = x[index()]; }  // planted: stream race

template <bool bug>
void run() {
  const Buffer<int> x(count), y(count);
  finish();
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams)
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  make<<<blocks, threads, 0, streams[0]>>>(x.get());
  use<<<blocks, threads, 0, streams[bug ? 1 : 0]>>>(x.get(), y.get());
  finish();
  print_sum("x", x.get(), count);
  for (cudaStream_t stream : streams) check(cudaStreamDestroy(stream));
}

}  // namespace streams_apart

namespace stops_in_the_midst {

template <bool bug>
__global__ void stop(int* x) {
  x[index()] = 2 * x[index()] + 1;
  if (bug && blockIdx.x == 2 && threadIdx.x == 0) __trap();  // planted: trap
}

template <bool bug>
void run() {
  const Buffer<int> x(count);
  stop<bug><<<blocks, threads>>>(x.get());
  check(cudaGetLastError());
  if (!bug) {
    finish();
    print_sum("x", x.get(), count);
  } else {
    (void)cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  }
}

}  // namespace stops_in_the_midst

}  // namespace

#define BOTH(name) \
  { #name, name::run < true>, name::run < false> }

int main(int argc, char** argv) {
  return run_cases(
      argc, argv,
      {BOTH(last_block_wins), BOTH(sum_stored_by_every_lane), BOTH(neighbour_is_read),
       BOTH(bytes_of_others), BOTH(read_before_it_is_written), BOTH(written_after_it_was_read),
       BOTH(variable_of_the_device), BOTH(vectors_too_far), BOTH(what_nobody_wrote),
       BOTH(first_of_many), BOTH(streams_apart), BOTH(stops_in_the_midst)});
}
