/// \file
/// Seeded bugs: kernels that launch kernels. Each correct counterpart passes permitted memory to
/// its children and orders their accesses.

#include <cuda_runtime.h>

#include <cuda/atomic>

#include "planted.cuh"
#include "resources.cuh"

namespace {

constexpr int threads = 64;

__global__ void add(const int* in, int* out, int addend) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + addend;
}

namespace written_behind_the_launch {

__global__ void read(const int* in, int* out) { *out = *in; }  // planted: stream race

template <bool bug>
__global__ void launch(int* numbers) {
  if (!bug) numbers[0] = 7;
  read<<<1, 1>>>(numbers, numbers + 1);
  if (bug) numbers[0] = 7;
}

template <bool bug>
void run() {
  const Buffer<int> numbers(2);
  launch<bug><<<1, 1>>>(numbers.get());
  finish();
}

}  // namespace written_behind_the_launch

namespace launched_without_a_barrier {

/// With the bug, other threads of the launching block may not have written their elements yet.
__global__ void read(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x];  // planted: stream race
}

template <bool bug>
__global__ void launch(int* numbers) {
  numbers[threadIdx.x] = threadIdx.x;
  if (!bug) __syncthreads();
  if (threadIdx.x == 0) read<<<1, threads>>>(numbers, numbers + threads);
}

template <bool bug>
void run() {
  const Buffer<int> numbers(2 * threads);
  launch<bug><<<1, threads>>>(numbers.get());
  finish();
}

}  // namespace launched_without_a_barrier

namespace launched_before_the_parent_reads {

__global__ void clear(int* numbers) { numbers[threadIdx.x] = 0; }  // planted: stream race

template <bool bug>
__global__ void launch(int* numbers, int* out) {
  if (!bug) out[threadIdx.x] = numbers[threadIdx.x];
  if (!bug) __syncthreads();
  if (threadIdx.x == 0) clear<<<1, threads>>>(numbers);
  if (bug) out[threadIdx.x] = numbers[threadIdx.x];
}

template <bool bug>
void run() {
  const Buffer<int> numbers(threads), out(threads);
  launch<bug><<<1, threads>>>(numbers.get(), out.get());
  finish();
}

}  // namespace launched_before_the_parent_reads

namespace streams_without_an_event {

__global__ void use(const int* in, int* out) {
  out[threadIdx.x] = 2 * in[threadIdx.x];  // planted: stream race
}

template <bool bug>
__global__ void launch(int* numbers) {
  cudaStream_t one, other;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  add<<<1, threads, 0, one>>>(numbers, numbers + threads, 1);
  if (!bug) {
    cudaEventRecord(event, one);
    cudaStreamWaitEvent(other, event, 0);
  }
  use<<<1, threads, 0, other>>>(numbers + threads, numbers + 2 * threads);
  cudaEventDestroy(event);
  cudaStreamDestroy(one);
  cudaStreamDestroy(other);
}

template <bool bug>
void run() {
  const Buffer<int> numbers(3 * threads);
  launch<bug><<<1, 1>>>(numbers.get());
  finish();
}

}  // namespace streams_without_an_event

namespace forgotten_before_it_is_used {

/// A fire-and-forget launch is ordered only before tail launches.
__global__ void use(const int* in, int* out) {
  out[threadIdx.x] = 2 * in[threadIdx.x];  // planted: stream race
}

template <bool bug>
__global__ void launch(int* numbers) {
  add<<<1, threads, 0, cudaStreamFireAndForget>>>(numbers, numbers + threads, 1);
  use<<<1, threads, 0, bug ? cudaStreamFireAndForget : cudaStreamTailLaunch>>>(
      numbers + threads, numbers + 2 * threads);
}

template <bool bug>
void run() {
  const Buffer<int> numbers(3 * threads);
  launch<bug><<<1, 1>>>(numbers.get());
  finish();
}

}  // namespace forgotten_before_it_is_used

namespace child_of_a_child_without_an_order {

__global__ void read(const int* in, int* out) { *out = *in; }  // planted: stream race

__global__ void pass_on(int* numbers) { add<<<1, 1>>>(numbers, numbers + 1, 1); }

template <bool bug>
__global__ void launch(int* numbers) {
  pass_on<<<1, 1>>>(numbers);
  read<<<1, 1, 0, bug ? cudaStreamFireAndForget : nullptr>>>(numbers + 1, numbers + 2);
}

template <bool bug>
void run() {
  const Buffer<int> numbers(3);
  launch<bug><<<1, 1>>>(numbers.get());
  finish();
}

}  // namespace child_of_a_child_without_an_order

namespace copied_too_early {

/// A copy that a kernel enqueues may run concurrently with later writes of the kernel.
template <bool bug>
__global__ void launch(int* numbers) {
  if (!bug) numbers[threadIdx.x] = threadIdx.x;
  if (!bug) __syncthreads();
  if (threadIdx.x == 0)
    cudaMemcpyAsync(numbers + threads, numbers, sizeof(int) * threads,  // planted: stream race
                    cudaMemcpyDeviceToDevice, nullptr);
  if (bug) numbers[threadIdx.x] = threadIdx.x;  // planted: stream race
}

template <bool bug>
void run() {
  const Buffer<int> numbers(2 * threads);
  launch<bug><<<1, threads>>>(numbers.get());
  finish();
}

}  // namespace copied_too_early

namespace last_block_without_a_fence {

__global__ void sum(const int* parts, int n, int* total) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += parts[i];  // planted: stream race
  *total = sum;
}

/// The last block starts a kernel that sums all parts; with the bug, no fence precedes the launch.
template <bool bug>
__global__ void launch(int* parts, unsigned* done, int* total) {
  if (threadIdx.x > 0) return;
  parts[blockIdx.x] = blockIdx.x;
  if (!bug) __threadfence();
  if (atomicAdd(done, 1) == gridDim.x - 1) sum<<<1, 1>>>(parts, gridDim.x, total);
}

template <bool bug>
void run() {
  const Buffer<int> parts(8), total(1);
  const Buffer<unsigned> done(1);
  launch<bug><<<8, threads>>>(parts.get(), done.get(), total.get());
  finish();
}

}  // namespace last_block_without_a_fence

namespace parent_waits_for_its_child {

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void raise(int* flag) { Flag(*flag).store(1, cuda::memory_order_release); }

/// A kernel cannot wait for the kernels that it launches.
template <bool bug>
__global__ void launch(int* flag) {
  if (threadIdx.x == 0) raise<<<1, 1>>>(flag);
  if (bug)
    while (Flag(*flag).load(cuda::memory_order_acquire) == 0) continue;  // planted: deadlock
}

template <bool bug>
void run() {
  const Buffer<int> flag(1);
  launch<bug><<<1, threads>>>(flag.get());
  finish();
}

}  // namespace parent_waits_for_its_child

namespace refused_child {

template <bool bug>
__global__ void launch(const int* in, int* out, int n, bool* refused) {
  add<<<1, n>>>(in, out, 1);  // planted: ignored error
  if (!bug) *refused = cudaGetLastError() != cudaSuccess;
}

template <bool bug>
void run() {
  const Buffer<int> in(2048), out(2048);
  const Buffer<bool> refused(1);
  launch<bug><<<1, 1>>>(in.get(), out.get(), 2048, refused.get());
  finish();
}

}  // namespace refused_child

namespace too_many_children {

template <bool bug>
__global__ void launch(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (!bug && i >= 2048) return;
  add<<<1, 1>>>(in + i, out + i, 1);  // planted: ignored error
}

template <bool bug>
void run() {
  const Buffer<int> in(2112), out(2112);
  launch<bug><<<2112 / threads, threads>>>(in.get(), out.get());
  finish();
}

}  // namespace too_many_children

namespace local_memory_for_a_child {

template <bool bug>
__global__ void launch(int* numbers) {
  int local = 5;
  if (!bug) *numbers = local;
  add<<<1, 1>>>(bug ? &local : numbers, numbers + 1, 1);  // planted: illegal device access
}

template <bool bug>
void run() {
  const Buffer<int> numbers(2);
  launch<bug><<<1, 1>>>(numbers.get());
  finish();
}

}  // namespace local_memory_for_a_child

namespace shared_memory_for_a_child {

template <bool bug>
__global__ void launch(int* numbers) {
  __shared__ int tile[threads];
  tile[threadIdx.x] = threadIdx.x;
  numbers[threadIdx.x] = tile[threadIdx.x];
  __syncthreads();
  const int* const given = bug ? tile : numbers;
  if (threadIdx.x == 0)
    add<<<1, threads>>>(given, numbers + threads, 1);  // planted: illegal device access
}

template <bool bug>
void run() {
  const Buffer<int> numbers(2 * threads);
  launch<bug><<<1, threads>>>(numbers.get());
  finish();
}

}  // namespace shared_memory_for_a_child

namespace beyond_what_a_kernel_allocated {

__global__ void fill(int* numbers) { numbers[threadIdx.x] = 1; }  // planted: out of bounds

template <bool bug>
__global__ void launch(int** pointer) {
  cudaMalloc(pointer, sizeof(int) * (bug ? threads - 1 : threads));
  fill<<<1, threads>>>(*pointer);
}

template <bool bug>
void run() {
  const Buffer<int*> pointer(1);
  launch<bug><<<1, 1>>>(pointer.get());
  finish();
}

}  // namespace beyond_what_a_kernel_allocated

}  // namespace

#define CASE(name) \
  { #name, name::run < true>, name::run < false> }

int main(int argc, char** argv) {
  return run_cases(
      argc, argv,
      {CASE(written_behind_the_launch), CASE(launched_without_a_barrier),
       CASE(launched_before_the_parent_reads), CASE(streams_without_an_event),
       CASE(forgotten_before_it_is_used), CASE(child_of_a_child_without_an_order),
       CASE(copied_too_early), CASE(last_block_without_a_fence), CASE(parent_waits_for_its_child),
       CASE(refused_child), CASE(too_many_children), CASE(local_memory_for_a_child),
       CASE(shared_memory_for_a_child), CASE(beyond_what_a_kernel_allocated)});
}
