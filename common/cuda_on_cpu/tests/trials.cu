/// \file
/// Blocks of an analysed launch that run speculatively and concurrently. If the speculation fails,
/// the writes are undone, and externally visible effects happen once.
///
/// trials_test.py compares the reports of this program for several numbers of threads.

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "device.hpp"
#include "side_by_side.cuh"

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using tap::table;

constexpr int blocks = 8;
constexpr int threads = 32;
constexpr int count = blocks * threads;

__device__ int index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// --- Blocks that run concurrently

int met = 0;

/// Makes the first two blocks wait for each other.
CUDA_ON_CPU_NOT_ANALYSED __device__ void meet_another_block() {
  if (blockIdx.x > 1 || threadIdx.x > 0) return;
  tell();
  wait_until_told(2);
  if (__atomic_load_n(&times_told, __ATOMIC_SEQ_CST) >= 2)
    __atomic_fetch_add(&met, 1, __ATOMIC_SEQ_CST);
}

/// Expects that the first two blocks of a launch synchronise exactly once, if several threads can
/// run blocks.
template <typename Launch>
void expect_meeting(const Launch& launch) {
  begin_to_tell();
  met = 0;
  launch();
  check(cudaDeviceSynchronize());
  expect_equal(met, 2);
}

__global__ void fill(int* out) {
  meet_another_block();
  out[index()] = 3 * index();
}

TEST(blocks_run_side_by_side) {
  const Device<int> out(count);
  expect_meeting([&] { fill<<<blocks, threads>>>(out.get()); });
  expect_equal(out.to_host(), table<int>(count, [](int i) { return 3 * i; }));
}

__constant__ int factors[4];

/// Sums values in shared and in local memory. All blocks read the same values.
__global__ void fold(const int* in, int* out) {
  extern __shared__ int sums[];
  int mine[4];
  meet_another_block();
  for (int k = 0; k < 4; ++k) mine[(k + threadIdx.x) % 4] = factors[k] * in[threadIdx.x];
  sums[threadIdx.x] = mine[0] + mine[1] + mine[2] + mine[3];
  __syncthreads();
  for (int step = threads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  const int neighbour = __shfl_xor_sync(0xffffffff, sums[threadIdx.x], 1);
  if (clock64() != 0) out[index()] = sums[0] + 0 * neighbour;
}

TEST(shared_local_and_constant_memory_need_no_order_of_blocks) {
  const Device<int> in(table<int>(threads, [](int i) { return i; })), out(count);
  const int values[] = {1, 2, 3, 4};
  check(cudaMemcpyToSymbol(factors, values, sizeof values));
  expect_meeting([&] { fold<<<blocks, threads, threads * sizeof(int)>>>(in.get(), out.get()); });
  expect_equal(out.to_host(), std::vector<int>(count, 10 * threads * (threads - 1) / 2));
}

TEST(launches_of_a_graph_and_of_streams_run_side_by_side) {
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) check(cudaStreamCreate(&stream));
  const Device<int> one(count), two(count), three(count);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
  fill<<<blocks, threads, 0, streams[0]>>>(one.get());
  check(cudaStreamEndCapture(streams[0], &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  expect_meeting([&] { check(cudaGraphLaunch(executable, streams[0])); });
  expect_meeting([&] { fill<<<blocks, threads, 0, streams[1]>>>(two.get()); });
  fill<<<blocks, threads, 0, streams[0]>>>(one.get());
  fill<<<blocks, threads, 0, streams[1]>>>(three.get());
  check(cudaDeviceSynchronize());
  for (const Device<int>* out : {&one, &two, &three})
    expect_equal(out->to_host(), table<int>(count, [](int i) { return 3 * i; }));
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
  for (cudaStream_t stream : streams) check(cudaStreamDestroy(stream));
}

// --- Undone writes: all kernels change memory in place, and then end the speculation

/// Counts a thread. The atomic operation ends the speculative execution of the block.
__device__ void count_block(int* counter) { atomicAdd(counter, 1); }

/// Arrays of elements with 1, 2, 4, 8 and 16 bytes.
struct Arrays {
  unsigned char* bytes;
  short* halves;
  float* words;
  double* pairs;
  float4* vectors;
};

__global__ void change(Arrays x, int* counter) {
  const int i = index();
  x.bytes[i] = 3 * x.bytes[i] + 1;
  x.halves[i] = 3 * x.halves[i] + 1;
  x.words[i] = 3 * x.words[i] + 1;
  x.pairs[i] = 3 * x.pairs[i] + 1;
  const float4 v = x.vectors[i];
  x.vectors[i] = make_float4(v.x + 1, v.y + 2, v.z + 3, v.w + 4);
  count_block(counter);
}

template <typename T>
std::vector<T> numbers_from(int first, int step) {
  return table<T>(count, [=](int i) { return first + i % 40 * step; });
}

TEST(memory_of_each_width_is_taken_back) {
  const Device<unsigned char> bytes(numbers_from<unsigned char>(0, 1));
  const Device<short> halves(numbers_from<short>(0, 1));
  const Device<float> words(numbers_from<float>(0, 1));
  const Device<double> pairs(numbers_from<double>(0, 1));
  const Device<float4> vectors(std::vector<float4>(count, make_float4(0, 0, 0, 0)));
  const Device<int> counter(std::vector<int>{0});
  const Arrays x{bytes.get(), halves.get(), words.get(), pairs.get(), vectors.get()};
  change<<<blocks, threads>>>(x, counter.get());
  expect_equal(bytes.to_host(), numbers_from<unsigned char>(1, 3));
  expect_equal(halves.to_host(), numbers_from<short>(1, 3));
  expect_equal(words.to_host(), numbers_from<float>(1, 3));
  expect_equal(pairs.to_host(), numbers_from<double>(1, 3));
  for (const float4 v : vectors.to_host())
    expect(v.x == 1 && v.y == 2 && v.z == 3 && v.w == 4, "each number was raised once");
  expect_equal(counter.to_host(), std::vector<int>{count});
}

/// Blocks of three threads change bytes of shared words.
__global__ void change_bytes(unsigned char* x) { x[index()] = 2 * x[index()] + 1; }

TEST(blocks_may_share_a_word) {
  const Device<unsigned char> x(table<unsigned char>(3 * blocks, [](int i) { return i; }));
  change_bytes<<<blocks, 3>>>(x.get());
  expect_equal(x.to_host(), table<unsigned char>(3 * blocks, [](int i) { return 2 * i + 1; }));
}

__device__ int variable[count];

__device__ int& own_static() {
  static int numbers[count];
  return numbers[index()];
}

__global__ void change_variables(int* out, int* counter) {
  variable[index()] = variable[index()] * 2 + 1;
  own_static() = own_static() * 3 + 1;
  count_block(counter);
  out[index()] = 10 * variable[index()] + own_static();
}

TEST(variables_of_the_device_change_once) {
  const Device<int> out(count), counter(std::vector<int>{0});
  change_variables<<<blocks, threads>>>(out.get(), counter.get());
  expect_equal(out.to_host(), std::vector<int>(count, 11));
}

__global__ void change_surface(cudaSurfaceObject_t surface, int* counter) {
  const int x = index() * static_cast<int>(sizeof(int));
  surf1Dwrite(3 * surf1Dread<int>(surface, x) + 1, surface, x);
  count_block(counter);
}

TEST(what_surfaces_store_is_taken_back) {
  const auto before = table<int>(count, [](int i) { return i; });
  const auto format = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  check(cudaMallocArray(&array, &format, count, 0, cudaArraySurfaceLoadStore));
  check(cudaMemcpy2DToArray(array, 0, 0, before.data(), count * sizeof(int), count * sizeof(int), 1,
                            cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  check(cudaCreateSurfaceObject(&surface, &resource));
  const Device<int> counter(std::vector<int>{0});
  change_surface<<<blocks, threads>>>(surface, counter.get());
  std::vector<int> after(count);
  check(cudaMemcpy2DFromArray(after.data(), count * sizeof(int), array, 0, 0, count * sizeof(int),
                              1, cudaMemcpyDeviceToHost));
  expect_equal(after, table<int>(count, [](int i) { return 3 * i + 1; }));
  check(cudaDestroySurfaceObject(surface));
  check(cudaFreeArray(array));
}

// --- Operations that the analysis cannot observe prevent speculation

__global__ void split(double* x, int* counter) {
  modf(1.5 * x[index()], &x[index()]);
  count_block(counter);
}

TEST(a_function_of_mathematics_stores_once) {
  const Device<double> x(table<double>(count, [](int i) { return i; }));
  const Device<int> counter(std::vector<int>{0});
  split<<<blocks, threads>>>(x.get(), counter.get());
  expect_equal(x.to_host(), table<double>(count, [](int i) { return std::trunc(1.5 * i); }));
}

struct Six {
  int v[6];
};

/// Rotates the values of an element by one position, with a call that the compiler may replace by
/// loads and stores.
__global__ void rotate_by_copy(Six* x, int* counter) {
  Six& mine = x[index()];
  const int first = mine.v[0];
  memmove(&mine.v[0], &mine.v[1], 5 * sizeof(int));
  mine.v[5] = first;
  count_block(counter);
}

TEST(a_block_copy_is_made_once) {
  const Device<Six> x(std::vector<Six>(count, {0, 1, 2, 3, 4, 5}));
  const Device<int> counter(std::vector<int>{0});
  rotate_by_copy<<<blocks, threads>>>(x.get(), counter.get());
  for (const Six& six : x.to_host())
    for (int k = 0; k < 6; ++k) expect_equal(six.v[k], (k + 1) % 6);
}

// A function that is not inlined into a kernel stores its result without instrumentation.

__device__ __noinline__ Six from(int first) {
  Six six;
  for (int k = 0; k < 6; ++k) six.v[k] = first + k;
  return six;
}

__global__ void raise(Six* x, int* counter) {
  const int i = index();
  x[i] = from(x[i].v[0] + 1);
  count_block(counter);
}

TEST(what_a_function_returns_that_is_not_taken_in_is_stored_once) {
  const Device<Six> x(std::vector<Six>(count, Six{}));
  const Device<int> counter(std::vector<int>{0});
  raise<<<blocks, threads>>>(x.get(), counter.get());
  for (const Six& six : x.to_host())
    for (int k = 0; k < 6; ++k) expect_equal(six.v[k], k + 1);
}

__device__ Six further(const Six* x, int i) {
  Six six = x[i];
  for (int& value : six.v) ++value;
  return six;
}

using Function = Six (*)(const Six*, int);
__device__ Function further_on_device = further;

/// Calls a function of which the analysis observes only the reads.
__global__ void raise_by(Six* x, Function function, int* counter) {
  x[index()] = function(x, index());
  count_block(counter);
}

TEST(what_a_function_returns_that_nobody_knows_is_stored_once) {
  const Device<Six> x(std::vector<Six>(count, Six{}));
  const Device<int> counter(std::vector<int>{0});
  Function function = nullptr;
  check(cudaMemcpyFromSymbol(&function, further_on_device, sizeof function));
  raise_by<<<blocks, threads>>>(x.get(), function, counter.get());
  for (const Six& six : x.to_host())
    for (const int value : six.v) expect_equal(value, 1);
}

/// A call that is not inlined stores its argument without instrumentation; the function reads it.
__device__ Six one_more(Six six, int times) {
  if (times == 0) return six;
  for (int& value : six.v) ++value;
  return one_more(six, times - 1);
}

__global__ void raise_often(Six* x, int times, int* counter) {
  x[index()] = one_more(x[index()], times);
  count_block(counter);
}

TEST(what_a_function_returns_that_calls_itself_is_stored_once) {
  const Device<Six> x(std::vector<Six>(count, Six{}));
  const Device<int> counter(std::vector<int>{0});
  raise_often<<<blocks, threads>>>(x.get(), 5, counter.get());
  for (const Six& six : x.to_host())
    for (const int value : six.v) expect_equal(value, 5);
}

/// Counts with atomic operations of the compiler instead of CUDA's.
__global__ void count_by_compiler(int* x, int* counter) {
  __atomic_fetch_add(&x[index()], 1, __ATOMIC_RELAXED);
  count_block(counter);
}

TEST(atomics_of_the_compiler_are_done_once) {
  const Device<int> x(std::vector<int>(count, 0)), counter(std::vector<int>{0});
  count_by_compiler<<<blocks, threads>>>(x.get(), counter.get());
  expect_equal(x.to_host(), std::vector<int>(count, 1));
}

__global__ void take_memory(int** kept, int* counter) {
  kept[index()] = new int[1024];
  *kept[index()] = index();
  count_block(counter);
}

__global__ void give_memory_back(int** kept, int* out, int* counter) {
  out[index()] = *kept[index()];
  delete[] kept[index()];
  count_block(counter);
}

std::size_t free_memory() {
  std::size_t free = 0, all = 0;
  check(cudaMemGetInfo(&free, &all));
  return free;
}

TEST(kernels_ask_for_memory_once_and_give_it_back_once) {
  const Device<int*> kept(count);
  const Device<int> out(count), counter(std::vector<int>{0});
  const std::size_t before = free_memory();
  take_memory<<<blocks, threads>>>(kept.get(), counter.get());
  check(cudaDeviceSynchronize());
  // Without analysis, the memory comes from the host's heap.
  const std::size_t taken = before - free_memory();
  expect(taken == 0 || taken == count * 1024 * sizeof(int), "each thread takes memory once");
  give_memory_back<<<blocks, threads>>>(kept.get(), out.get(), counter.get());
  expect_equal(out.to_host(), table<int>(count, [](int i) { return i; }));
  expect_equal(free_memory(), before);
}

#ifdef CUDA_ON_CPU_ANALYSE
/// Calls of the runtime depend on the calling host thread and may block it.
__global__ void ask_runtime(int* devices, void** kept) {
  if (threadIdx.x > 0) return;
  cudaGetDevice(&devices[blockIdx.x]);
  cudaMalloc(&kept[blockIdx.x], 64);
}

TEST(kernels_may_call_the_runtime) {
  const Device<int> devices(std::vector<int>(blocks, 7));
  const Device<void*> kept(blocks);
  ask_runtime<<<blocks, threads>>>(devices.get(), kept.get());
  check(cudaDeviceSynchronize());
  expect_equal(devices.to_host(), std::vector<int>(blocks, 0));
  for (void* memory : kept.to_host()) check(cudaFree(memory));
}
#endif

// --- Externally visible effects

/// Prints lines, which trials_test.py counts.
__global__ void print(int* x, int* counter) {
  x[index()] = 2 * x[index()] + 1;
  if (threadIdx.x == 0) printf("# block %u prints\n", blockIdx.x);
  if (threadIdx.x == 0 && blockIdx.x == 0) printf("# a line of its own\n");
  count_block(counter);
}

TEST(what_kernels_print_comes_once) {
  const Device<int> x(table<int>(count, [](int i) { return i; }));
  const Device<int> counter(std::vector<int>{0});
  print<<<blocks, threads>>>(x.get(), counter.get());
  expect_equal(x.to_host(), table<int>(count, [](int i) { return 2 * i + 1; }));
}

std::atomic<int> times_shown = 0;

CUDA_ON_CPU_NOT_ANALYSED __device__ void note_shown() {
  __atomic_fetch_add(reinterpret_cast<int*>(&times_shown), 1, __ATOMIC_SEQ_CST);
}

/// Writes values that are visible to the host, and then ends the speculation.
__global__ void show(int* pinned, int* counter) {
  pinned[index()] = pinned[index()] + 1;
  if (threadIdx.x == 0) note_shown();
  count_block(counter);
}

TEST(a_thread_of_the_host_that_may_look_on_sees_each_number_once) {
  int* pinned = nullptr;
  check(cudaMallocHost(&pinned, count * sizeof(int)));
  std::fill_n(pinned, count, 0);
  const Device<int> counter(std::vector<int>{0});
  std::atomic<bool> over = false;
  std::thread looks_on([&] { over.wait(false); });
  times_shown = 0;
  show<<<blocks, threads>>>(pinned, counter.get());
  check(cudaDeviceSynchronize());
  over = true;
  over.notify_one();
  looks_on.join();
  expect_equal(times_shown, blocks);
  for (int i = 0; i < count; ++i) expect_equal(pinned[i], 1);
  check(cudaFreeHost(pinned));
}

// --- Data stored outside the shadow cells

constexpr int many = 64 * 1024;

/// Adds elements that many blocks read, so the readers of each element are stored separately.
__global__ void add_all(const int* x, int* out) {
  int sum = 0;
  for (int i = index(); i < 2 * many; i += count) sum += x[(i + (i < many ? 0 : threads)) % many];
  out[index()] = sum;
}

__global__ void clear(int* x) {
  for (int i = index(); i < many; i += count) x[i] = 0;
}

TEST(readers_of_a_grid_are_forgotten_side_by_side) {
  const Device<int> x(std::vector<int>(many, 1)), out(count);
  int *numbers = x.get(), *sums = out.get();
  void* arguments[] = {&numbers, &sums};
  check(cudaLaunchCooperativeKernel((void*)add_all, dim3(blocks), dim3(threads), arguments, 0,
                                    nullptr));
  clear<<<blocks, threads>>>(x.get());
  expect_equal(out.to_host(), std::vector<int>(count, 2 * many / count));
  expect_equal(x.to_host(), std::vector<int>(many, 0));
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
