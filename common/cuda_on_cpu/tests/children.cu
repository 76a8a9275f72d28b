/// \file
/// Kernels that launch kernels: visible memory, streams, tail launches, errors and allocations.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "device.hpp"

namespace cg = cooperative_groups;

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::expect_error;
using tap::table;

constexpr int count = 96;

__global__ void add(int* x, int n, int addend) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += addend;
}

__global__ void scale(int* x, int n, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

// --- Memory that a child sees

__global__ void count_and_pass_on(int* x) {
  x[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) add<<<3, 32>>>(x, count, 10);
}

TEST(a_child_sees_what_its_block_wrote_before_a_barrier) {
  Device<int> x(count);
  count_and_pass_on<<<1, count>>>(x.get());
  expect_equal(x.to_host(), table<int>(count, [](int i) { return i + 10; }));
}

__global__ void launch_each(int* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;
  add<<<1, 1>>>(x + i, 1, 100 * i);
}

TEST(every_thread_of_every_block_launches) {
  Device<int> x(8 * count);
  launch_each<<<8, count>>>(x.get());
  expect_equal(x.to_host(), table<int>(8 * count, [](int i) { return 101 * i; }));
}

struct Pair {
  double first;
  char second[5];
};

__global__ void write_pair(Pair* out, Pair pair, float third) {
  *out = pair;
  out->first += third;
}

__global__ void pass_by_value(Pair* out) {
  Pair pair{0.5, "four"};
  write_pair<<<1, 1>>>(out, pair, 0.25f);
  pair.first = 7;  // too late for the child
}

TEST(arguments_are_copied_when_a_child_is_launched) {
  Device<Pair> out(1);
  pass_by_value<<<1, 1>>>(out.get());
  const Pair pair = out.to_host().front();
  expect_equal(pair.first, 0.75);
  expect_equal(std::string(pair.second), "four");
}

__device__ int in_device = 3;

template <typename T>
__global__ void raise(T* x) {
  *x += static_cast<T>(in_device);
}

template <typename T>
__global__ void launch_by_pointer(T* x) {
  void (*const kernel)(T*) = raise<T>;
  in_device = 5;
  kernel<<<1, 1>>>(x);
}

TEST(a_child_is_launched_by_a_pointer_and_sees_variables_of_the_device) {
  Device<float> x(std::vector<float>{0.5f});
  launch_by_pointer<<<1, 1>>>(x.get());
  expect_equal(x.to_host(), {5.5f});
}

// --- The end of the parent

TEST(what_comes_behind_a_parent_comes_behind_its_children) {
  Device<int> x(count);
  count_and_pass_on<<<1, count>>>(x.get());
  scale<<<1, count>>>(x.get(), count, 2);
  expect_equal(x.to_host(), table<int>(count, [](int i) { return 2 * (i + 10); }));
}

TEST(an_event_behind_a_parent_comes_behind_its_children) {
  Device<int> x(count), y(count);
  cudaStream_t one, other;
  cudaEvent_t event;
  check(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  count_and_pass_on<<<1, count, 0, one>>>(x.get());
  check(cudaEventRecord(event, one));
  check(cudaStreamWaitEvent(other, event, 0));
  check(cudaMemcpyAsync(y.get(), x.get(), x.bytes(), cudaMemcpyDeviceToDevice, other));
  check(cudaStreamSynchronize(other));
  expect_equal(y.to_host(), table<int>(count, [](int i) { return i + 10; }));
  check(cudaEventDestroy(event));
  check(cudaStreamDestroy(other));
  check(cudaStreamDestroy(one));
}

/// Adds 1 to each element of a range. If `depth` > 0, two child kernels process one half each.
__global__ void halve(int* x, int n, int depth) {
  if (depth == 0) {
    for (int i = 0; i < n; ++i) x[i] += 1;
    return;
  }
  halve<<<1, 1, 0, cudaStreamFireAndForget>>>(x, n / 2, depth - 1);
  halve<<<1, 1, 0, cudaStreamFireAndForget>>>(x + n / 2, n - n / 2, depth - 1);
}

TEST(children_launch_children) {
  Device<int> x(std::vector<int>(1000, 5));
  halve<<<1, 1>>>(x.get(), 1000, 7);
  scale<<<10, 100>>>(x.get(), 1000, 2);
  expect_equal(x.to_host(), std::vector<int>(1000, 12));
}

__global__ void nest(int* deepest, cudaError_t* error, int depth) {
  *deepest = depth;
  nest<<<1, 1>>>(deepest, error, depth + 1);
  if (cudaPeekAtLastError() != cudaSuccess) *error = cudaGetLastError();
}

TEST(kernels_are_nested_as_deep_as_launches_may_wait) {
  Device<int> deepest(1);
  Device<cudaError_t> error(1);
  nest<<<1, 1>>>(deepest.get(), error.get(), 0);
  expect_equal(deepest.to_host(), {2048});
  expect_error(error.to_host().front(), cudaErrorLaunchPendingCountExceeded);
}

// --- Streams

/// Launches operations that each need the result of the previous one.
__global__ void launch_in_turn(int* x) {
  for (int i = 0; i < 5; ++i) {
    add<<<1, count>>>(x, count, 1);
    scale<<<1, count>>>(x, count, 3);
  }
}

TEST(children_in_the_stream_of_their_block_run_one_after_the_other) {
  Device<int> x(std::vector<int>(count, 0));
  launch_in_turn<<<1, 1>>>(x.get());
  expect_equal(x.to_host(), std::vector<int>(count, 363));
}

/// One thread creates a stream. The other threads launch into this stream one after the other.
__global__ void share_stream(int* x) {
  __shared__ cudaStream_t stream;
  if (threadIdx.x == 0) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  __syncthreads();
  for (int i = 0; i < static_cast<int>(blockDim.x); ++i) {
    if (i == static_cast<int>(threadIdx.x)) {
      scale<<<1, 1, 0, stream>>>(x, 1, 3);
      add<<<1, 1, 0, stream>>>(x, 1, i);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) cudaStreamDestroy(stream);
}

TEST(a_named_stream_is_shared_by_its_block) {
  Device<int> x(std::vector<int>{1});
  share_stream<<<1, 8>>>(x.get());
  int expected = 1;
  for (int i = 0; i < 8; ++i) expected = 3 * expected + i;
  expect_equal(x.to_host(), {expected});
}

/// Uses two streams. In the middle of its work, one stream waits for an event of the other stream.
__global__ void wait_for_event(int* x, cudaError_t* errors) {
  cudaStream_t one, other;
  cudaEvent_t event;
  *errors++ = cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  *errors++ = cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  *errors++ = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  add<<<1, count, 0, one>>>(x, count, 1);
  add<<<1, count, 0, other>>>(x + count, count, 2);
  *errors++ = cudaEventRecord(event, one);
  *errors++ = cudaStreamWaitEvent(other, event, 0);
  scale<<<1, 2 * count, 0, other>>>(x, 2 * count, 10);
  *errors++ = cudaEventDestroy(event);
  *errors++ = cudaStreamDestroy(one);
  *errors++ = cudaStreamDestroy(other);
}

TEST(a_stream_of_a_kernel_waits_for_an_event_of_another) {
  Device<int> x(std::vector<int>(2 * count, 0));
  Device<cudaError_t> errors(8);
  wait_for_event<<<1, 1>>>(x.get(), errors.get());
  expect_equal(x.to_host(), table<int>(2 * count, [](int i) { return i < count ? 10 : 20; }));
  expect_equal(errors.to_host(), std::vector<cudaError_t>(8, cudaSuccess));
}

__global__ void make_wrong_streams(cudaError_t* errors, cudaStream_t of_host) {
  cudaStream_t stream;
  cudaEvent_t event;
  errors[0] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
  errors[1] = cudaEventCreateWithFlags(&event, cudaEventDefault);
  errors[2] = cudaGetLastError();
  errors[3] = cudaStreamDestroy(nullptr);
  add<<<1, 1, 0, of_host>>>(nullptr, 0, 0);
  errors[4] = cudaGetLastError();
  errors[5] = cudaPeekAtLastError();
}

TEST(streams_and_events_of_kernels_have_flags_of_their_own) {
  Device<cudaError_t> errors(6);
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  make_wrong_streams<<<1, 1>>>(errors.get(), stream);
  expect_equal(errors.to_host(), {cudaSuccess, cudaErrorInvalidValue, cudaErrorInvalidValue,
                                  cudaErrorInvalidValue, cudaErrorInvalidValue, cudaSuccess});
  check(cudaStreamDestroy(stream));
}

// --- Tail launches

__global__ void append(int* list, int value) { list[++list[0]] = value; }

__global__ void append_tail(int* list, int value) {
  append<<<1, 1, 0, cudaStreamTailLaunch>>>(list, value + 1);
  append<<<1, 1>>>(list, value);
}

__global__ void launch_tails(int* list) {
  append_tail<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 3);
  append<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 5);
  append_tail<<<1, 1>>>(list, 1);
}

TEST(tails_come_behind_the_parent_and_its_children_in_their_order) {
  Device<int> list(std::vector<int>(7, 0));
  launch_tails<<<1, 1>>>(list.get());
  append<<<1, 1>>>(list.get(), 6);
  expect_equal(list.to_host(), {6, 1, 2, 3, 4, 5, 6});
}

/// Launches itself again as a tail launch, until `most` kernels have run.
__global__ void step(int* steps, int* x, int most) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] += i;
  if (i == 0 && ++*steps < most) step<<<2, 32, 0, cudaStreamTailLaunch>>>(steps, x, most);
}

TEST(a_kernel_that_is_its_own_tail_goes_on_for_long) {
  Device<int> steps(std::vector<int>{0}), x(std::vector<int>(64, 0));
  step<<<2, 32>>>(steps.get(), x.get(), 3000);
  expect_equal(steps.to_host(), {3000});
  expect_equal(x.to_host(), table<int>(64, [](int i) { return 3000 * i; }));
}

// --- Errors

__global__ void __launch_bounds__(64) in_small_blocks(int* x) { *x = 1; }

__global__ void launch_wrongly(cudaError_t* errors, int* x) {
  add<<<1, 1025>>>(x, 1, 1);
  errors[0] = cudaGetLastError();
  add<<<0, 32>>>(x, 1, 1);
  errors[1] = cudaPeekAtLastError();
  errors[2] = cudaGetLastError();
  add<<<1, 32, 64 << 10>>>(x, 1, 1);
  errors[3] = cudaGetLastError();
  in_small_blocks<<<1, 65>>>(x);
  errors[4] = cudaGetLastError();
  add<<<1, 1>>>(x, 1, 1);
  errors[5] = cudaGetLastError();
}

TEST(a_child_is_refused_for_what_a_launch_by_the_host_is_refused_for) {
  Device<cudaError_t> errors(6);
  Device<int> x(std::vector<int>{0});
  launch_wrongly<<<1, 1>>>(errors.get(), x.get());
  const std::vector<cudaError_t> actual = errors.to_host();
  for (int i = 0; i < 5; ++i) expect(actual[i] != cudaSuccess, "the launch is refused");
  expect_error(actual[1], actual[2]);
  expect_error(actual[5], cudaSuccess);
  expect_equal(x.to_host(), {1});
}

__global__ void fail_in_one_thread(cudaError_t* errors) {
  if (threadIdx.x == 5) add<<<1, 0>>>(nullptr, 0, 0);
  __syncthreads();
  errors[threadIdx.x] = cudaGetLastError();
}

TEST(each_thread_of_a_kernel_has_a_last_error_of_its_own) {
  Device<cudaError_t> errors(64);
  fail_in_one_thread<<<1, 64>>>(errors.get());
  const std::vector<cudaError_t> actual = errors.to_host();
  for (int i = 0; i < 64; ++i) expect_equal(actual[i] != cudaSuccess, i == 5);
  expect_error(cudaGetLastError(), cudaSuccess);
}

__global__ void fail_and_peek(cudaError_t* errors, bool fails) {
  if (fails) add<<<0, 1>>>(nullptr, 0, 0);
  errors[threadIdx.x] = cudaPeekAtLastError();
}

TEST(a_thread_of_a_kernel_begins_without_an_error) {
  Device<cudaError_t> errors(8);
  fail_and_peek<<<1, 8>>>(errors.get(), true);
  for (const cudaError_t error : errors.to_host()) expect(error != cudaSuccess, "it has failed");
  fail_and_peek<<<1, 8>>>(errors.get(), false);
  expect_equal(errors.to_host(), std::vector<cudaError_t>(8, cudaSuccess));
}

__global__ void launch_often(int* x, int launches, int* refused) {
  for (int i = 0; i < launches; ++i) add<<<1, 1>>>(x, 1, 1);
  *refused = cudaGetLastError() == cudaErrorLaunchPendingCountExceeded;
}

TEST(so_many_launches_wait_as_the_limit_says) {
  Device<int> x(std::vector<int>{0}), refused(1);
  std::size_t limit = 0;
  check(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount));
  expect_equal(limit, 2048u);
  launch_often<<<1, 1>>>(x.get(), 2048, refused.get());
  expect_equal(refused.to_host(), {0});
  launch_often<<<1, 1>>>(x.get(), 2049, refused.get());
  const int left_out = refused.to_host().front();  // 0 if some launches began meanwhile
#ifdef STAIRCASE_CUDA_ON_CPU
  expect_equal(left_out, 1);
#endif
  check(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096));
  launch_often<<<1, 1>>>(x.get(), 2049, refused.get());
  expect_equal(refused.to_host(), {0});
  check(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 2048));
  expect_equal(x.to_host(), {2048 + 2049 - left_out + 2049});
}

__global__ void ask(int* device, int* threads) {
  cudaGetDevice(device);
  cudaDeviceGetAttribute(threads, cudaDevAttrMaxThreadsPerBlock, *device);
  if (cudaGetErrorString(cudaErrorInvalidValue) == nullptr) *device = -1;
}

TEST(a_kernel_asks_for_its_device) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  check(cudaSetDevice(devices - 1));
  {
    Device<int> answers(std::vector<int>{-7, -7});
    ask<<<1, 1>>>(answers.get(), answers.get() + 1);
    expect_equal(answers.to_host(), {devices - 1, 1024});
    launch_each<<<1, 2>>>(answers.get());
    expect_equal(answers.to_host(), {0, 101});
  }
  check(cudaSetDevice(0));
}

// --- Memory

__global__ void fill_and_copy(int* x, int* y) {
  // In CUDA 13.0, cudaMemsetAsync in a kernel has no effect on a GPU and returns no error.
#ifdef STAIRCASE_CUDA_ON_CPU
  cudaMemsetAsync(x, 1, sizeof(int) * count);
#else
  scale<<<1, count>>>(x, count, 0);
  add<<<1, count>>>(x, count, 0x01010101);
#endif
  add<<<1, count>>>(x, count, 1);
  cudaMemcpyAsync(y, x, sizeof(int) * count, cudaMemcpyDeviceToDevice, 0);
  scale<<<1, count>>>(x, count, 0);
}

TEST(copies_and_fills_by_kernels_keep_to_their_stream) {
  Device<int> x(count), y(count);
  fill_and_copy<<<1, 1>>>(x.get(), y.get());
  expect_equal(x.to_host(), std::vector<int>(count, 0));
  expect_equal(y.to_host(), std::vector<int>(count, 0x01010102));
}

__global__ void copy_local_memory(int* x, cudaError_t* errors) {
  int local[4] = {1, 2, 3, 4};
  __shared__ int shared[4];
  shared[threadIdx.x] = 1;
  errors[0] = cudaMemcpyAsync(x, local, sizeof local, cudaMemcpyDeviceToDevice, 0);
  errors[1] = cudaMemsetAsync(shared, 0, sizeof shared);
  errors[2] = cudaMemcpyAsync(x, x, 4, cudaMemcpyHostToDevice, 0);
  errors[3] = cudaGetLastError();
}

TEST(copies_and_fills_by_kernels_do_not_reach_local_and_shared_memory) {
  Device<int> x(4);
  Device<cudaError_t> errors(4);
  copy_local_memory<<<1, 1>>>(x.get(), errors.get());
  expect_equal(errors.to_host(),
               {cudaErrorInvalidValue, cudaErrorInvalidValue, cudaErrorInvalidMemcpyDirection,
                cudaErrorInvalidMemcpyDirection});
}

__global__ void allocate(int** pointers, int n) {
  int*& mine = pointers[blockIdx.x * blockDim.x + threadIdx.x];
  cudaMalloc(&mine, n * sizeof(int));
  cudaMemsetAsync(mine, 0, n * sizeof(int));
  add<<<1, n>>>(mine, n, threadIdx.x);
}

__global__ void sum_and_free(int** pointers, int n, int* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += pointers[i][k];
  sums[i] = sum;
  cudaFree(pointers[i]);
}

TEST(memory_that_kernels_allocate_outlives_them) {
  Device<int*> pointers(4 * 32);
  Device<int> sums(4 * 32);
  allocate<<<4, 32>>>(pointers.get(), 10);
  sum_and_free<<<2, 64>>>(pointers.get(), 10, sums.get());
  expect_equal(sums.to_host(), table<int>(4 * 32, [](int i) { return i % 32 * 10; }));
}

/// The blocks of a cluster run concurrently. All but one of them run on operating-system threads
/// other than that of the host.
__global__ void __cluster_dims__(2, 1, 1) allocate_together(int** pointers, cudaError_t* errors) {
  cg::this_cluster().sync();
  errors[2 * blockIdx.x] = cudaMalloc(&pointers[blockIdx.x], 64);
  *pointers[blockIdx.x] = blockIdx.x;
  cg::this_cluster().sync();
  errors[2 * blockIdx.x + 1] = cudaFree(pointers[blockIdx.x ^ 1]);
}

TEST(blocks_allocate_memory_while_the_host_waits_for_them) {
  Device<int*> pointers(2);
  Device<cudaError_t> errors(4);
  allocate_together<<<2, 1>>>(pointers.get(), errors.get());
  expect_equal(errors.to_host(), std::vector<cudaError_t>(4, cudaSuccess));
}

// --- Other launches

__global__ void __cluster_dims__(2, 1, 1) swap_and_launch(int* x) {
  __shared__ int mine;
  mine = blockIdx.x;
  cg::this_cluster().sync();
  x[blockIdx.x] = *cg::this_cluster().map_shared_rank(&mine, cg::this_cluster().block_rank() ^ 1);
  cg::this_cluster().sync();
  if (blockIdx.x % 2 == 1) add<<<1, 2>>>(x + blockIdx.x - 1, 2, 100);
}

TEST(a_child_sees_what_the_cluster_wrote_before_its_barrier) {
  Device<int> x(8);
  swap_and_launch<<<8, 1>>>(x.get());
  expect_equal(x.to_host(), table<int>(8, [](int i) { return (i ^ 1) + 100; }));
}

__global__ void launch_cluster(int* x) { swap_and_launch<<<8, 1>>>(x); }

TEST(a_child_may_have_clusters_and_children) {
  Device<int> x(8);
  launch_cluster<<<1, 1>>>(x.get());
  expect_equal(x.to_host(), table<int>(8, [](int i) { return (i ^ 1) + 100; }));
}

__global__ void sum_in_grid(int* x, cudaError_t* error) {
  x[blockIdx.x] = blockIdx.x;
  cg::this_grid().sync();
  if (blockIdx.x != 2) return;
  add<<<1, 4>>>(x, 4, 10);
  *error = cudaGetLastError();
}

/// A GPU refuses to launch `sum_in_grid`; the CPU device refuses the launch within `sum_in_grid`.
TEST(a_cooperative_grid_launches_nothing) {
  Device<int> x(std::vector<int>{0, 1, 2, 3});
  Device<cudaError_t> of_launch(std::vector<cudaError_t>{cudaErrorNotPermitted});
  int* address = x.get();
  cudaError_t* error = of_launch.get();
  void* arguments[] = {&address, &error};
  const cudaError_t of_host = cudaLaunchCooperativeKernel((void*)sum_in_grid, 4, 1, arguments);
  expect(of_host == cudaSuccess || of_host == cudaErrorNotPermitted, "it runs, or is refused");
  expect_error(cudaGetLastError(), of_host);
  expect_equal(x.to_host(), {0, 1, 2, 3});
  expect_error(of_launch.to_host().front(), cudaErrorNotPermitted);
}

/// The last block launches a kernel that needs the results of all blocks.
__global__ void launch_at_last(int* x, unsigned* done) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
  __threadfence();
  __syncthreads();
  if (threadIdx.x > 0) return;
  if (atomicAdd(done, 1) == gridDim.x - 1) {
    __threadfence();
    add<<<gridDim.x, blockDim.x>>>(x, gridDim.x * blockDim.x, 1);
  }
}

TEST(a_child_sees_what_its_parent_learned_of_other_blocks) {
  Device<int> x(20 * 32);
  Device<unsigned> done(std::vector<unsigned>{0});
  launch_at_last<<<20, 32>>>(x.get(), done.get());
  expect_equal(x.to_host(), table<int>(20 * 32, [](int i) { return i / 32 + 1; }));
}

TEST(a_graph_has_kernels_with_children) {
  Device<int> x(count);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  count_and_pass_on<<<1, count, 0, stream>>>(x.get());
  scale<<<1, count, 0, stream>>>(x.get(), count, 2);
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 2; ++i) check(cudaGraphLaunch(executable, stream));
  check(cudaStreamSynchronize(stream));
  expect_equal(x.to_host(), table<int>(count, [](int i) { return 2 * (i + 10); }));
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
  check(cudaStreamDestroy(stream));
}

/// Launches a kernel from the host or from another kernel, depending on the caller.
__host__ __device__ void add_seven(int* x) { add<<<1, 1>>>(x, 1, 7); }

__global__ void call_both(int* x) { add_seven(x); }

TEST(functions_of_host_and_device_launch_for_both) {
  Device<int> x(std::vector<int>{0});
  add_seven(x.get());
  call_both<<<1, 1>>>(x.get());
  expect_equal(x.to_host(), {14});
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
