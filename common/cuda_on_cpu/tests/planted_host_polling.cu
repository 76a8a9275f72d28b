/// \file
/// Seeded bugs: host threads and kernels that poll memory until the other side has written it.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <atomic>
#include <cuda/atomic>
#include <thread>

#include "planted.cuh"
#include "resources.cuh"

namespace {

using Everywhere = cuda::atomic_ref<int, cuda::thread_scope_system>;
using OnDevice = cuda::atomic_ref<int, cuda::thread_scope_device>;

/// Polls a flag until it is set. With some bugs, the flag may never be set.
void await(const volatile int* flag) {
  while (*flag == 0) continue;
}

/// Uses a result.
volatile int taken = 0;
void take(int value) { taken = value; }

namespace flag_without_a_fence {

template <bool bug>
__global__ void raise(int* result, volatile int* flag) {
  *result = 5;
  if (!bug) __threadfence_system();
  *flag = 1;
}

template <bool bug>
void run() {
  const Pinned<int> result(1), flag(1);
  raise<bug><<<1, 1>>>(result.get(), flag.get());
  await(flag.get());
  take(result[0]);  // planted: host race
  finish();
}

}  // namespace flag_without_a_fence

namespace fence_for_the_device_only {

/// A device-scope fence does not order accesses as the host sees them.
template <bool bug>
__global__ void raise(int* result, volatile int* flag) {
  *result = 5;
  if (bug)
    __threadfence();
  else
    __threadfence_system();
  *flag = 1;
}

template <bool bug>
void run() {
  const Pinned<int> result(1), flag(1);
  raise<bug><<<1, 1>>>(result.get(), flag.get());
  await(flag.get());
  take(result[0]);  // planted: host race
  finish();
}

}  // namespace fence_for_the_device_only

namespace release_for_the_device_only {

template <bool bug>
__global__ void raise(int* result, int* flag) {
  *result = 5;
  if (bug)
    OnDevice(*flag).store(1, cuda::memory_order_release);
  else
    Everywhere(*flag).store(1, cuda::memory_order_release);
}

template <bool bug>
void run() {
  const Pinned<int> result(1), flag(1);
  raise<bug><<<1, 1>>>(result.get(), flag.get());
  while (Everywhere(flag[0]).load(cuda::memory_order_acquire) == 0) continue;
  take(result[0]);  // planted: host race
  finish();
}

}  // namespace release_for_the_device_only

namespace plain_flag {

/// The compiler may keep non-volatile variables in registers, or delay their stores.
template <bool bug>
__global__ void raise(int* flag) {
  if (bug)
    *flag = 1;  // planted: host race
  else
    *const_cast<volatile int*>(flag) = 1;
}

template <bool bug>
void run() {
  const Pinned<int> flag(1);
  raise<bug><<<1, 1>>>(flag.get());
  await(flag.get());
  finish();
}

}  // namespace plain_flag

namespace result_behind_the_flag {

template <bool bug>
__global__ void raise(int* result, volatile int* flag) {
  if (!bug) *result = 5;
  __threadfence_system();
  *flag = 1;
  if (bug) *result = 5;  // planted: host race
}

template <bool bug>
void run() {
  const Pinned<int> result(1), flag(1);
  raise<bug><<<1, 1>>>(result.get(), flag.get());
  await(flag.get());
  take(result[0]);  // planted: host race
  finish();
}

}  // namespace result_behind_the_flag

namespace flag_of_one_thread_for_all {

/// The results of a block are complete after a barrier, not when one thread has finished.
template <bool bug>
__global__ void raise(int* results, volatile int* flag) {
  results[threadIdx.x] = 5;
  if (!bug) __syncthreads();
  if (threadIdx.x > 0) return;
  __threadfence_system();
  *flag = 1;
}

template <bool bug>
void run() {
  const Pinned<int> results(64), flag(1);
  raise<bug><<<1, 64>>>(results.get(), flag.get());
  await(flag.get());
  for (int i = 0; i < 64; ++i) take(results[i]);  // planted: host race
  finish();
}

}  // namespace flag_of_one_thread_for_all

namespace flag_of_one_block_for_all {

/// With the bug, the host waits for the flag of the first block, and reads results of both blocks.
template <bool bug>
__global__ void raise(int* results, int* flags) {
  results[blockIdx.x] = 5;
  __threadfence_system();
  *static_cast<volatile int*>(flags + blockIdx.x) = 1;
}

template <bool bug>
void run() {
  const Pinned<int> results(2), flags(2);
  raise<bug><<<2, 1>>>(results.get(), flags.get());
  await(flags.get());
  if (!bug) await(flags.get() + 1);
  take(results[0]);
  take(results[1]);  // planted: host race
  finish();
}

}  // namespace flag_of_one_block_for_all

namespace flag_before_the_barrier_of_the_grid {

/// The results of a grid are complete after a barrier of the grid.
template <bool bug>
__global__ void raise(int* results, volatile int* flag) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  results[grid.thread_rank()] = 5;
  if (!bug) grid.sync();
  if (grid.thread_rank() == 0) {
    __threadfence_system();
    *flag = 1;
  }
  grid.sync();
}

template <bool bug>
void run() {
  const Pinned<int> results(2), flag(1);
  int *all = results.get(), *raised = flag.get();
  void* arguments[] = {&all, &raised};
  check(cudaLaunchCooperativeKernel((void*)raise<bug>, 2, 1, arguments));
  await(flag.get());
  take(results[0]);
  take(results[1]);  // planted: host race
  finish();
}

}  // namespace flag_before_the_barrier_of_the_grid

namespace question_for_another_block {

/// After a barrier of the grid, all blocks are ordered after host writes that one block has seen.
template <bool bug>
__global__ void answer(volatile int* flag, const int* question, int* results) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  if (grid.thread_rank() == 0)
    while (*flag == 0) continue;
  if (!bug) grid.sync();
  if (grid.thread_rank() == 1) results[0] = *question;  // planted: host race
  grid.sync();
}

template <bool bug>
void run() {
  const Pinned<int> question(1), flag(1);
  const Buffer<int> results(1);
  finish();
  int *of_flag = flag.get(), *of_question = question.get(), *of_results = results.get();
  void* arguments[] = {&of_flag, &of_question, &of_results};
  check(cudaLaunchCooperativeKernel((void*)answer<bug>, 2, 1, arguments));
  question[0] = 4;  // planted: host race
  std::atomic_thread_fence(std::memory_order_seq_cst);
  *static_cast<volatile int*>(of_flag) = 1;
  finish();
}

}  // namespace question_for_another_block

namespace question_behind_its_flag {

/// A kernel waits for a flag that the host sets after writing a question.
__global__ void answer(volatile int* flag, const int* question, int* result) {
  while (*flag == 0) continue;
  __threadfence_system();
  *result = *question + 1;  // planted: host race
}

template <bool bug>
void run() {
  const Pinned<int> question(1), flag(1);
  const Buffer<int> result(1);
  finish();
  answer<<<1, 1>>>(flag.get(), question.get(), result.get());
  volatile int* const raised = flag.get();
  if (!bug) question[0] = 4;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  *raised = 1;
  if (bug) question[0] = 4;  // planted: host race
  finish();
}

}  // namespace question_behind_its_flag

namespace plain_flag_of_the_host {

/// Without volatile, the compiler may read memory only once.
template <bool bug>
__global__ void look(int* flag, int* seen) {
  if (bug)
    *seen = *flag;  // planted: host race
  else
    *seen = *const_cast<volatile int*>(flag);
}

template <bool bug>
void run() {
  const Pinned<int> flag(1);
  const Buffer<int> seen(1);
  finish();
  look<bug><<<1, 1>>>(flag.get(), seen.get());
  *static_cast<volatile int*>(flag.get()) = 1;
  finish();
}

}  // namespace plain_flag_of_the_host

namespace launched_behind_another_flag {

/// Kernel results that the host has seen are ordered before later launches in every stream.
__global__ void raise(int* result, volatile int* first, volatile int* second) {
  *first = 1;
  *result = 5;
  __threadfence_system();
  *second = 1;
}

__global__ void use(const int* result, int* copy) {
  *copy = *result;  // planted: stream race
}

template <bool bug>
void run() {
  const Buffer<int> result(2);
  const Pinned<int> flags(2);
  const Stream streams[2];
  finish();
  raise<<<1, 1, 0, streams[0].get()>>>(result.get(), flags.get(), flags.get() + 1);
  await(flags.get() + (bug ? 0 : 1));
  use<<<1, 1, 0, streams[1].get()>>>(result.get(), result.get() + 1);
  finish();
}

}  // namespace launched_behind_another_flag

namespace seen_by_one_thread_only {

/// A host thread that has seen the flag is ordered after earlier writes, but not after later ones.
__global__ void raise(int* results, volatile int* flag) {
  results[0] = 5;
  __threadfence_system();
  *flag = 1;
  results[1] = 6;  // planted: host race
}

template <bool bug>
void run() {
  const Pinned<int> results(2), flag(1);
  raise<<<1, 1>>>(results.get(), flag.get());
  std::thread([&] { await(flag.get()); }).join();
  take(results[bug ? 1 : 0]);  // planted: host race
  finish();
}

}  // namespace seen_by_one_thread_only

}  // namespace

#define BOTH(name) \
  { #name, name::run < true>, name::run < false> }

int main(int argc, char** argv) {
  return run_cases(
      argc, argv,
      {BOTH(flag_without_a_fence), BOTH(fence_for_the_device_only),
       BOTH(release_for_the_device_only), BOTH(plain_flag), BOTH(result_behind_the_flag),
       BOTH(flag_of_one_thread_for_all), BOTH(flag_of_one_block_for_all),
       BOTH(flag_before_the_barrier_of_the_grid), BOTH(question_for_another_block),
       BOTH(question_behind_its_flag), BOTH(plain_flag_of_the_host),
       BOTH(launched_behind_another_flag), BOTH(seen_by_one_thread_only)});
}
