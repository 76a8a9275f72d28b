"""Tests that programs have the results of a GPU, and that errors are found: results_test.py COMMAND. Prints TAP.

A source is built with the given flags. If it is analysed, its report must contain findings at exactly the lines that
end in `// here`, or in `// here with FLAG` if the source is built with -DFLAG. Errors and notes both count.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMMAND = pathlib.Path(sys.argv[1]).resolve()
SECONDS = 120  # time limit of a program
CHECK = "#include <cstdio>\n#define CHECK(call) if ((call) != cudaSuccess) { printf(\"%s fails\\n\", #call); return 2; }\n"
SOURCES = {
    # Each form of a launch: the caller copies an argument once and destroys the copy, and no thread does either.
    "arguments.cu": CHECK + """#include <atomic>
static std::atomic<int> copies{0}, ends{0};
struct Counted {
  int value;
  explicit Counted(int v) : value(v) {}
  Counted(const Counted& other) : value(other.value) { ++copies; }
  ~Counted() { ++ends; }
};
struct Copied {  // has no destructor of its own
  int value;
  explicit Copied(int v) : value(v) {}
  __host__ __device__ Copied(const Copied& other) : value(other.value + 1000) {}
};
struct Widened {
  long value;
  Widened(int v) : value(v) {}
  ~Widened() { ++ends; }
};
__global__ void plain(Counted a, int* sum) {
  a.value += threadIdx.x;  // each thread has its own
  atomicAdd(sum, a.value);
}
template <typename T>
__global__ void deduced(T a, int* sum) { atomicAdd(sum, a.value); }
template <typename T>
__global__ void scaled(T a, long factor, int* sum) { atomicAdd(sum, int(a.value * factor)); }
__global__ void overloaded(Counted a, int* sum) { atomicAdd(sum, a.value); }
__global__ void overloaded(int a, int* sum) { atomicAdd(sum, 2 * a); }
__global__ void converts(Widened a, Counted b, int* sum) { atomicAdd(sum, int(a.value) + b.value); }
__global__ void both(Copied a, Counted b, int* sum) { atomicAdd(sum, a.value + b.value); }
__global__ void mixed(Counted a, long factor, int* sum) { atomicAdd(sum, int(a.value * factor)); }
__global__ void mixed(Widened a, const char* text, int* sum) { atomicAdd(sum, int(a.value) - (text == nullptr)); }
namespace inner { __global__ void listed(Widened a, Counted b, int* sum, int* none) { atomicAdd(sum, int(a.value) + b.value + (none == nullptr)); } }
struct Owner {
  void (*kernel)(Counted, int*) = plain;
  void run(const Counted& a, int* sum) { kernel<<<1, 2>>>(a, sum); }
};
int main() {
  int* sum;
  CHECK(cudaMallocManaged(&sum, sizeof *sum));
  const auto show = [&](const char* what) {
    CHECK(cudaDeviceSynchronize());
    printf("%s %d %d %d\\n", what, *sum, copies.load(), ends.load());
    *sum = copies = ends = 0;
    return 0;
  };
  *sum = 0;
  Counted a(3);
  plain<<<2, 4>>>(a, sum);
  show("plain");
  deduced<<<1, 4>>>(a, sum);
  show("deduced");
  scaled<Counted><<<1, 4>>>(a, 2, sum);
  show("scaled");
  overloaded<<<1, 4>>>(a, sum);
  show("overloaded");
  overloaded<<<1, 4>>>(7, sum);
  show("another overload");
  converts<<<1, 4>>>(5, a, sum);
  show("converts");
  both<<<1, 4>>>(Copied(1), a, sum);
  show("both");
  mixed<<<1, 4>>>(a, 2, sum);
  show("overloaded, converted");
  mixed<<<1, 4>>>(5, NULL, sum);
  show("overloaded, without types");
  inner::listed<<<1, 4>>>({7}, a, sum, 0);
  show("without types");
  Owner().run(a, sum);
  show("by pointer");
  Counted b(8);
  void* arguments[] = {&b, &sum};
  CHECK(cudaLaunchKernel(plain, dim3(1), dim3(2), arguments));
  show("by addresses");
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(2);
  CHECK(cudaLaunchKernelEx(&config, plain, b, sum));
  show("with attributes");
}
""",
    "punning.cu": CHECK + """__global__ void swap_halves(const float4* from, float4* to) {
  float4 value = from[threadIdx.x];
  long long* const words = reinterpret_cast<long long*>(&value);
  const long long first = words[0];
  words[0] = words[1];
  words[1] = first;
  float* const floats = reinterpret_cast<float*>(words);
  *reinterpret_cast<unsigned*>(&floats[0]) ^= 0x80000000u;
  to[threadIdx.x] = value;
}
int main() {
  float4 values[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, *from, *to;
  CHECK(cudaMalloc(&from, sizeof values));
  CHECK(cudaMalloc(&to, sizeof values));
  CHECK(cudaMemcpy(from, values, sizeof values, cudaMemcpyHostToDevice));
  swap_halves<<<1, 2>>>(from, to);
  CHECK(cudaMemcpy(values, to, sizeof values, cudaMemcpyDeviceToHost));
  for (const float4& v : values) printf("%g %g %g %g\\n", v.x, v.y, v.z, v.w);
}
""",
    "own.cuh": """__device__ int total;
__constant__ int step = STEP;
inline __device__ int scaled(int x) { return x * step; }
template <typename T>
__device__ void add(T x) { atomicAdd(&total, scaled(x)); }
""",
    "one.cu": """#define STEP 1
#include "own.cuh"
#include <cstdio>
int of_other();
__device__ int named_alike[2] = {1, 2}, beside = 3;
__global__ void run() { add(1 + named_alike[0] * beside); }
int main() {
  run<<<1, 8>>>();
  int mine = 0;
  if (cudaMemcpyFromSymbol(&mine, total, sizeof mine) != cudaSuccess) return 2;
  printf("%d %d\\n", mine, of_other());
}
""",
    "two.cu": """#define STEP 10
#include "own.cuh"
namespace { __device__ float named_alike; }
__device__ int beside = 4;
__global__ void run_other() { add(beside); named_alike = 1; }
int of_other() {
  int step_of_host = 100, mine = 0;
  if (cudaMemcpyToSymbol(step, &step_of_host, sizeof mine) != cudaSuccess) return -1;
  run_other<<<1, 8>>>();
  return cudaMemcpyFromSymbol(&mine, total, sizeof mine) == cudaSuccess ? mine : -1;
}
""",
    "defines.cu": "__device__ int shared_by_all;\n__constant__ int known = 5;\n",
    "uses.cu": CHECK + """extern __device__ int shared_by_all;
extern __constant__ int known;
__global__ void count() { atomicAdd(&shared_by_all, known); }
int main() {
  int value = 0;
  count<<<1, 8>>>();
  CHECK(cudaMemcpyFromSymbol(&value, shared_by_all, sizeof value));
  printf("%d\\n", value);
}
""",
    "print.cu": CHECK + """__global__ void print(int* results) {
  printf("a statement %d\\n", 1);
  results[0] = printf("nothing\\n");
  results[1] = std::printf("%d %s\\n", 1, "two");
  if (const int count = ::printf("%d %d %d\\n", 1, 2, 3); count > 0) results[2] = count;
}
int main() {
  int results[3] = {}, *r;
  CHECK(cudaMalloc(&r, sizeof results));
  print<<<1, 1>>>(r);
  CHECK(cudaMemcpy(results, r, sizeof results, cudaMemcpyDeviceToHost));
  printf("%d %d %d\\n", results[0], results[1], results[2]);
}
""",
    "symbols.cu": CHECK + """struct Pair { int a, b; };
__constant__ float weights[4];
__device__ Pair pair;
__managed__ int both;
namespace inner { __device__ int value; }
template <typename T> __device__ T variable;
static float of_host[4];
static const int table_of_host[4] = {1, 2, 3, 4};
__global__ void use(float* out) {
  *out = weights[0] + pair.a + both + inner::value + variable<int> + variable<float>;
}
int main() {
  float values[4] = {1, 2, 3, 4};
  int one = 1;
  std::size_t size = 0;
  void* address = &size;
  const auto show = [](cudaError_t error) { printf("%s\\n", cudaGetErrorName(error)); cudaGetLastError(); };
  show(cudaMemcpyToSymbol("weights", values, sizeof values));
  show(cudaMemcpyToSymbol(&weights, values, sizeof values));
  show(cudaMemcpyToSymbol(of_host, values, sizeof values));
  show(cudaMemcpyFromSymbol(&one, table_of_host, sizeof one));
  show(cudaMemcpyToSymbol(weights[1], values, sizeof *values));
  show(cudaMemcpyToSymbol(pair.b, &one, sizeof one));
  show(cudaGetSymbolAddress(&address, of_host));
  show(cudaGetSymbolSize(&size, values));
  printf("%d\\n", address == &size && size == 0);
  show(cudaMemcpyToSymbol(weights, values, sizeof values + 1));
  one = 1;
  CHECK(cudaMemcpyToSymbol(weights, values, sizeof values));
  CHECK(cudaMemcpyToSymbol(pair, &one, sizeof one));
  CHECK(cudaMemcpyToSymbol(both, &one, sizeof one));
  CHECK(cudaMemcpyToSymbol(inner::value, &one, sizeof one));
  CHECK(cudaMemcpyToSymbol(variable<int>, &one, sizeof one));
  CHECK(cudaMemcpyToSymbol(variable<float>, values, sizeof *values));
  CHECK(cudaGetSymbolSize(&size, pair));
  float* out;
  CHECK(cudaMallocManaged(&out, sizeof *out));
  use<<<1, 1>>>(out);
  CHECK(cudaDeviceSynchronize());
  printf("%g %zu\\n", *out, size);
}
""",
    "far.cu": """__global__ void fill(double* a, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    a[i] = i;  // here
  }
}
int main() {
  const int n = 1 << 20;
  double* a;
  if (cudaMalloc(&a, n) != cudaSuccess) return 2;  // the number of elements, not of bytes
  fill<<<1, 128>>>(a, n);
  return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 2;
}
""",
    "wild.cu": """#include <cstring>
__global__ void copy(char* to, const char* from) {
  memmove(to, from, 64);  // here
}
int main() {
  char* to;
  if (cudaMalloc(&to, 64) != cudaSuccess) return 2;
  copy<<<1, 1>>>(to, reinterpret_cast<const char*>(16));
  return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 2;
}
""",
    "called.cu": """using Function = int (*)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ Function functions[2] = {twice, nullptr};
__global__ void call(int* out, int which) {
  *out = functions[which](*out);  // here
}
int main() {
  int* out;
  if (cudaMalloc(&out, sizeof *out) != cudaSuccess || cudaMemset(out, 0, sizeof *out) != cudaSuccess) return 2;
  call<<<1, 1>>>(out, 0);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  call<<<1, 1>>>(out, 1);
  return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 2;
}
""",
    "constants.cu": """__constant__ int limits[2] = {1, 2};
__device__ void raise(int* which) {
  atomicMax(which, 7);  // here
}
__global__ void change() { raise(limits + 1); }
int main() {
  int values[2] = {};
  change<<<1, 1>>>();
  if (cudaDeviceSynchronize() != cudaErrorLaunchFailure) return 2;
  return cudaMemcpyFromSymbol(values, limits, sizeof values) == cudaErrorLaunchFailure ? 0 : 2;
}
""",
    # A compare-and-swap fails if the preceding plain read has returned an outdated value; an exchange does not fail.
    "swap_loops.cu": CHECK + """__device__ double add(double* sum, double value) {
  unsigned long long* const bits = reinterpret_cast<unsigned long long*>(sum);
  unsigned long long old = *bits, assumed;  // here
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__device__ void raise(float* most, float value) {
  int* const bits = reinterpret_cast<int*>(most);
  int old = *bits;  // here
  while (__int_as_float(old) < value) {
    const int known = atomicCAS(bits, old, __float_as_int(value));
    if (known == old) break;
    old = known;
  }
}
__global__ void run(double* sum, float* most) {
  add(sum, 1);
  raise(most, threadIdx.x * 7 % 64);
}
#ifdef WITHOUT_SWAP
__global__ void exchange(int* last, int* out) {
  const int old = *last;  // here with WITHOUT_SWAP
  out[threadIdx.x] = old;
  atomicExch(last, threadIdx.x);  // here with WITHOUT_SWAP
}
#endif
int main() {
  double* sum;
  float* most;
  int* out;
  CHECK(cudaMallocManaged(&sum, sizeof *sum));
  CHECK(cudaMallocManaged(&most, sizeof *most));
  CHECK(cudaMallocManaged(&out, 256));
  *sum = *most = 0;
  run<<<3, 64>>>(sum, most);
#ifdef WITHOUT_SWAP
  exchange<<<1, 64>>>(reinterpret_cast<int*>(most), out);
#endif
  CHECK(cudaDeviceSynchronize());
#ifndef WITHOUT_SWAP
  printf("%g %g\\n", *sum, *most);
#endif
}
""",
    # A read and a write of a volatile variable are not one atomic operation. A wait for a value and a later store of
    # another value are not an update.
    "counters.cu": CHECK + """__global__ void by_blocks(volatile int* n) { if (threadIdx.x == 0) *n = *n + 1; }  // here
__global__ void by_lanes(volatile int* n) { n[0] += 1; }  // here
__global__ void by_warps(volatile long* n) {
  if (threadIdx.x % 32 != 0) return;
  const long old = *n;
  *n = old + blockDim.x;  // here
}
__global__ void in_shared(int* out) {
  __shared__ volatile int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  ++count;  // here
  __syncthreads();
  out[threadIdx.x] = count;
}
__global__ void in_turn(volatile int* turn) {
  if (threadIdx.x != 0) return;
  while (*turn != int(blockIdx.x)) {}
  *turn = blockIdx.x + 1;
}
__global__ void own(volatile int* n) {
  n[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
__global__ void between_barriers(volatile int* n) {
  for (unsigned t = 0; t < 4; ++t) {
    if (threadIdx.x == 40 * t) *n = *n + 1;
    __syncthreads();
  }
}
__global__ void with_lock(volatile int* n, int* lock) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  *n = *n + 1;
  __threadfence();
  atomicExch(lock, 0);
}
__global__ void set_once(volatile int* flag) { if (*flag == 0) *flag = 1; }  // here
int main() {
  int *n, *lock;
  CHECK(cudaMalloc(&n, 1024));
  CHECK(cudaMalloc(&lock, 4));
  CHECK(cudaMemset(n, 0, 1024));
  CHECK(cudaMemset(lock, 0, 4));
  by_blocks<<<4, 32>>>(n);
  by_lanes<<<1, 32>>>(n);
  by_warps<<<1, 128>>>(reinterpret_cast<long*>(n));
  in_shared<<<1, 32>>>(n);
  CHECK(cudaMemset(n, 0, 1024));
  in_turn<<<3, 32>>>(n);
  own<<<2, 32>>>(n);
  between_barriers<<<1, 128>>>(n);
  with_lock<<<4, 32>>>(n, lock);
  CHECK(cudaMemset(n, 0, 1024));
  set_once<<<1, 32>>>(n);
  CHECK(cudaDeviceSynchronize());
}
""",
    # Bytes that nothing has written may be copied, and then count as unwritten. Only a use is an error.
    "copies.cu": CHECK + """struct Item { double a, b; int n; };
__global__ void fill(Item* items) {
  items[threadIdx.x].a = 1;
  items[threadIdx.x].n = threadIdx.x;
}
__global__ void copy(const float* from, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}
__global__ void copy_items(const Item* from, Item* to) {
  to[threadIdx.x] = from[threadIdx.x];
}
__global__ void through_shared(const float4* from, float4* to) {
  __shared__ float4 tile[32];
  tile[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = tile[31 - threadIdx.x];
}
__global__ void scale(const float* from, float* to) {
  to[threadIdx.x] = 2 * from[threadIdx.x];  // here with USES
}
__global__ void sum_up(const Item* items, double* sums) {
  sums[threadIdx.x] = items[threadIdx.x].a + items[threadIdx.x].n;
#ifdef USES
  sums[threadIdx.x] += items[threadIdx.x].b;  // here with USES
#endif
}
int main() {
  constexpr int n = 1000;
  static float host[n];
  float *a, *b, *c;
  Item *items, *more;
  CHECK(cudaMalloc(&a, n * sizeof *a));
  CHECK(cudaMalloc(&b, n * sizeof *b));
  CHECK(cudaMalloc(&c, n * sizeof *c));
  CHECK(cudaMalloc(&items, 32 * sizeof *items));
  CHECK(cudaMalloc(&more, 32 * sizeof *more));
  CHECK(cudaMemset(a, 0, 512 * sizeof *a));
  fill<<<1, 32>>>(items);
  copy<<<8, 128>>>(a, b, n);
  CHECK(cudaMemcpy(c, b, n * sizeof *c, cudaMemcpyDeviceToDevice));
  copy_items<<<1, 32>>>(items, more);
  through_shared<<<1, 32>>>(reinterpret_cast<float4*>(c + 448), reinterpret_cast<float4*>(b + 448));
#ifdef USES
  scale<<<1, 32>>>(c + 500, a);
#endif
  scale<<<1, 32>>>(c, a);
  scale<<<1, 32>>>(b + 512, a);
  sum_up<<<1, 32>>>(more, reinterpret_cast<double*>(a));
#ifdef TO_HOST
  CHECK(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));  // here with TO_HOST
#endif
  CHECK(cudaMemcpy(host, c, 512 * sizeof *c, cudaMemcpyDeviceToHost));
}
""",
    # Each block reads a value, and the last block then overwrites it. Its own reads are ordered before the write.
    "blocks.cu": CHECK + """__global__ void after_barrier(const float* a, float* out, float* same) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = a[0];
  __syncthreads();
  if (threadIdx.x == 5 && blockIdx.x == gridDim.x - 1) same[0] = 1;  // here
}
__global__ void alone(const float* a, float* out, float* same) {
  if (threadIdx.x != 5) return;
  out[blockIdx.x] = a[0];
  if (blockIdx.x == gridDim.x - 1) same[0] = 1;  // here
}
int main() {
  float *a, *out;
  CHECK(cudaMalloc(&a, 4));
  CHECK(cudaMalloc(&out, 3 * 256));
  CHECK(cudaMemset(a, 0, 4));
  after_barrier<<<3, 64>>>(a, out, a);
  alone<<<3, 64>>>(a, out, a);
  CHECK(cudaDeviceSynchronize());
}
""",
    # A local variable belongs to its thread, even if other threads get pointers to it.
    "locals.cu": CHECK + """__global__ void pass_on(int* out) {
  __shared__ int* shared;
  int mine[2] = {int(threadIdx.x), 5};
  if (threadIdx.x == 3) shared = mine;
  __syncthreads();
  int* const pointer = threadIdx.x == 7 ? shared : mine;
  out[threadIdx.x] = pointer[0];  // here
  __syncthreads();
  if (threadIdx.x == 3) out[0] = *shared;
  __syncthreads();
  if (threadIdx.x == 40) atomicAdd(shared, 1);  // here
  __syncthreads();
  out[64 + threadIdx.x] = mine[1];
}
int main() {
  int* out;
  CHECK(cudaMalloc(&out, 512));
  pass_on<<<1, 64>>>(out);
  CHECK(cudaDeviceSynchronize());
}
""",
    # The host names variables of the device only in calls of the runtime.
    "host_names.cu": CHECK + """__device__ int count;
__device__ float table[8];
__constant__ int limit;
__managed__ int both;
__device__ const int four = 4;
int of_host = 2;
__global__ void add(int* out) { *out = count + limit + both + four + int(table[1]); }
int main() {
  int *out, value = four;
  CHECK(cudaMallocManaged(&out, sizeof *out));
  count = 3;  // here
  table[1] = 1;  // here
  both = of_host;
  CHECK(cudaMemcpyToSymbol(limit, &value, sizeof value));
  add<<<1, 1>>>(out);
  CHECK(cudaDeviceSynchronize());
  printf("%d\\n", *out + limit);  // here
}
""",
    # Blocks of a small plain launch wait for each other, which only a cooperative launch allows.
    "waiting_blocks.cu": CHECK + """__device__ unsigned arrived;
__device__ volatile int flag;
__device__ int value;
__global__ void meet(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) < gridDim.x) {}  // here
    __threadfence();
  }
  __syncthreads();
  const unsigned next = (blockIdx.x + 1) % gridDim.x;
  out[(gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = out[next * blockDim.x + threadIdx.x];
}
__global__ void look_forward(int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    while (flag == 0) {}  // here
    __threadfence();
    *out = value;
  } else if (blockIdx.x == gridDim.x - 1) {
    value = 5;
    __threadfence();
    flag = 1;
  }
}
int main() {
  int *out, values[2 * 6 * 32];
  CHECK(cudaMalloc(&out, sizeof values));
  meet<<<6, 32>>>(out);
  CHECK(cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost));
  printf("%d %d\\n", values[6 * 32], values[11 * 32]);
  look_forward<<<5, 32>>>(out);
  CHECK(cudaMemcpy(values, out, sizeof *values, cudaMemcpyDeviceToHost));
  printf("%d\\n", *values);
}
""",
    # A GPU allows 512 KiB of local memory per thread.
    "large_locals.cu": CHECK + """__global__ void sum(float* out, int n) {
  float values[50000];
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float all = 0;
  for (int i = n; i-- > 0;) all += values[i];
  out[threadIdx.x] = all;
}
__global__ void wait(float* out, int n) {
  double values[64 * 1024];
  for (int i = 0; i < n; ++i) values[i] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = values[n - 1];
}
int main() {
  float *out;
  CHECK(cudaMallocManaged(&out, 64 * sizeof *out));
  sum<<<1, 32>>>(out, 50000);
  CHECK(cudaDeviceSynchronize());
  printf("%g\\n", out[31]);
  wait<<<1, 64>>>(out, 64 * 1024);
  CHECK(cudaDeviceSynchronize());
  printf("%g\\n", out[63]);
}
""",
    # No code reads what these kernels store.
    "stores.cu": """__device__ int sink;
static __device__ float sinks[2];
struct Counter { static __device__ int value; };
__device__ int Counter::value;
__constant__ int limit;
__global__ void of_variable() { sink = threadIdx.x; }  // here
__global__ void of_array() { sinks[threadIdx.x % 2] = threadIdx.x; }  // here
__global__ void of_member() { Counter::value = threadIdx.x; }  // here
__global__ void of_shared() { __shared__ int last; last = threadIdx.x; }  // here
__global__ void of_constant() { limit = 1; }  // here
int main() {
  of_variable<<<1, 64>>>();
  of_array<<<1, 64>>>();
  of_member<<<1, 64>>>();
  of_shared<<<1, 64>>>();
  of_constant<<<1, 1>>>();
  return cudaDeviceSynchronize() == cudaErrorLaunchFailure ? 0 : 2;
}
""",
    "passes.cu": """#ifdef __CUDA_ARCH__
__device__ int sum(int a) {
  return
      a + 1;
}
#else
__device__ int sum(int a) { return a; }
#endif
__host__ __device__ int both(int a) {
#ifndef __CUDA_ARCH__
  return a
         + 2;
#endif
  return a + 3;
}
__global__ void collide(int* a) {
  *a = sum(both(threadIdx.x));  // here
}
int main() {
  int* a;
  if (cudaMalloc(&a, sizeof *a) != cudaSuccess) return 2;
  collide<<<1, 64>>>(a);
  return cudaDeviceSynchronize();
}
""",
    "header.cuh": """__device__ inline void give(int* all, int where) {
  atomicAdd(all + where, 1);  // here
}
__global__ void spread(int* all) {
  give(all, threadIdx.x);
}
""",
    "header.cu": """#include "header.cuh"
int main() {
  int* all;
  if (cudaMalloc(&all, 128) != cudaSuccess || cudaMemset(all, 0, 128) != cudaSuccess) return 2;
  spread<<<1, 33>>>(all);
  return cudaDeviceSynchronize();
}
""",
    "functions.cu": CHECK + """using Function = int (*)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ Function of_device = twice;
struct Step { Function function; int value; };
__global__ void call(Function function, int* out) { *out = function(4); }
__global__ void ignore(const Step*) {}
int main() {
  Function function = nullptr;
  int* out;
  CHECK(cudaMalloc(&out, sizeof *out));
#ifdef OF_HOST
  call<<<1, 1>>>(&twice, out);  // here with OF_HOST
#endif
#ifdef IN_A_COPY
  Step step{twice, 1}, *steps;
  CHECK(cudaMalloc(&steps, sizeof step));
  CHECK(cudaMemcpy(steps, &step, sizeof step, cudaMemcpyHostToDevice));  // here with IN_A_COPY
  ignore<<<1, 1>>>(steps);
#endif
  CHECK(cudaMemcpyFromSymbol(&function, of_device, sizeof function));
  call<<<1, 1>>>(function, out);
  CHECK(cudaDeviceSynchronize());
}
""",
    "virtual.cu": CHECK + """#include <new>
struct Shape { __host__ __device__ virtual int sides() const { return 0; } };  // here with BY_HOST
struct Square : Shape { __host__ __device__ int sides() const override { return 4; } };  // here with BY_HOST
__global__ void ask(const Shape* shape, int* out) { *out = shape->sides(); }
__global__ void make(void* memory) { new (memory) Square; }
__global__ void take(Square square, int* out) { *out = square.Square::sides(); }
int main() {
  int* out;
  void* memory;
  Square square;
  CHECK(cudaMalloc(&out, sizeof *out));
  CHECK(cudaMallocManaged(&memory, sizeof square));
#if defined BY_VALUE
  take<<<1, 1>>>(square, out);  // here with BY_VALUE
#elif defined BY_COPY
  CHECK(cudaMemcpy(memory, &square, sizeof square, cudaMemcpyHostToDevice));  // here with BY_COPY
#elif defined BY_HOST
  new (memory) Square;
#endif
  make<<<1, 1>>>(memory);
  ask<<<1, 1>>>(static_cast<const Shape*>(memory), out);
  CHECK(cudaDeviceSynchronize());
}
""",
    "letters.cu": CHECK + """int x = 1, y = 2, m = 3;
template <int n> struct Chosen { int values[n]; };
__device__ int sum_of(Chosen<3> c, int n, int m) { return c.values[0] + n + m; }
__device__ int n = 4;
__global__ void read(int* out) {
  out[0] = n + sum_of({{1, 2, 3}}, 1, 2);
  out[1] = x;  // here
  out[2] = y;  // here
  out[3] = m;  // here
}
int main() {
  int* out;
  CHECK(cudaMalloc(&out, 16));
  x = y = m = 5;
  read<<<1, 1>>>(out);
  CHECK(cudaDeviceSynchronize());
}
""",
    "lanes.cu": CHECK + """__global__ void reduce(int* out) {
  int sum = threadIdx.x;
  if (threadIdx.x < 24) {
    for (int by = 16; by > 0; by /= 2) {
      const int other = __shfl_down_sync(0xFFFFFF, sum, by);  // here
      if (threadIdx.x + by < 24) sum += other;
    }
    if (threadIdx.x == 0) *out = sum;
  }
}
int main() {
  int *out, sum = 0;
  CHECK(cudaMalloc(&out, sizeof *out));
  reduce<<<1, 32>>>(out);
  CHECK(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
  printf("%d\\n", sum);
}
""",
}
ARGUMENTS = """plain 36 1 1
deduced 12 1 1
scaled 24 1 1
overloaded 12 1 1
another overload 56 0 0
converts 32 1 2
both 4016 1 1
overloaded, converted 24 1 1
overloaded, without types 16 0 1
without types 44 1 2
by pointer 7 1 1
by addresses 17 0 0
with attributes 17 1 1
"""
NO_SYMBOL = "cudaErrorInvalidSymbol\n"
# A pattern that the sentence of each finding of a source must match.
SENTENCES = {"blocks.cu": r"thread 5 of block 2 writes what is read by thread \d+ of block [01], with no barrier"}
# The flags of each compiler, and their description.
COMPILERS = [(f", by {compiler}", f" -ccbin {compiler}") for compiler in filter(shutil.which, ("g++", "clang++"))]
# The runs: description; sources; flags; expected output or None; exit status; kinds of the findings, or None without
# analysis.
RUNS = [
    ("kernel arguments are copied as bytes, and each copy is destroyed once", "arguments.cu", "-O2", ARGUMENTS, 0, None),
    ("an analysed program also copies kernel arguments as bytes, and destroys each copy once",
     "arguments.cu", "--analyze", ARGUMENTS, 0, []),
    ("a kernel reads and writes a local value as another type", "punning.cu", "-O3", "-3 4 1 2\n-7 8 5 6\n", 0, None),
    ("each source has its own device variables", "one.cu two.cu", "-O0", "32 3200\n", 0, None),
    ("all sources share device variables if device code is linked (-rdc=true)",
     "defines.cu uses.cu", "-rdc=true", "40\n", 0, None),
    ("printf in a kernel returns the number of its arguments", "print.cu", "-O2",
     "a statement 1\nnothing\n1 two\n1 2 3\n0 2 3\n", 0, None),
    ("cudaMemcpyToSymbol and similar functions accept only device variables",
     "symbols.cu", "-O2", 8 * NO_SYMBOL + "1\ncudaErrorInvalidValue\n6 8\n", 0, None),
    ("a program at a fixed address accepts only device variables as symbols", "symbols.cu", "-Xcompiler -no-pie",
     8 * NO_SYMBOL + "1\ncudaErrorInvalidValue\n6 8\n", 0, None),
    ("an analysed program accepts only device variables as symbols",
     "symbols.cu", "--analyze", 8 * NO_SYMBOL + "1\ncudaErrorInvalidValue\n6 8\n", 0, []),
    ("a store far beyond an allocation is reported", "far.cu", "--analyze", None, 1, ["out of bounds"]),
    ("an illegal address in a function of the C library is reported", "wild.cu", "--analyze", None, 1, ["out of bounds"]),
    ("a call through a null function pointer is reported", "called.cu", "--analyze", None, 1, ["out of bounds"]),
    ("a store to a constant variable is reported", "constants.cu", "--analyze", None, 1, ["illegal device access"]),
    *[("races and illegal stores to variables that no code reads are reported" + by,
       "stores.cu", "--analyze" + flags, None, 1, 4 * ["race"] + ["illegal device access"])
      for by, flags in COMPILERS],
    *[(what + by, source, flags + compiler, printed, status, kinds) for by, compiler in COMPILERS for what, source, flags, printed, status, kinds in (
        ("a plain read before a compare-and-swap is a note, not a race",
         "swap_loops.cu", "--analyze", "192 63\n", 0, 2 * ["optimistic read"]),
        ("a plain read before an atomic exchange is a race",
         "swap_loops.cu", "--analyze -DWITHOUT_SWAP", "", 1, 2 * ["optimistic read"] + 2 * ["race"]),
        ("unsynchronised increments of volatile counters are races",
         "counters.cu", "--analyze", None, 1, 4 * ["race"] + ["same value"]),
        ("copies of partly written memory are not reported", "copies.cu", "--analyze", None, 0, []),
        ("a copy of partly written memory to the host is a note",
         "copies.cu", "--analyze -DTO_HOST", None, 0, ["unwritten bytes"]),
        ("a use of copied unwritten memory is an error",
         "copies.cu", "--analyze -DUSES", None, 1, 2 * ["uninitialised read"]),
        ("a race with a thread block that has ended is reported, after reads by the writing thread block itself",
         "blocks.cu", "--analyze", None, 1, 2 * ["race"]),
        ("an access to the local variable of another thread is reported",
         "locals.cu", "--analyze", None, 1, 2 * ["illegal device access"]),
        ("accesses of the host to device variables by name are reported",
         "host_names.cu", "--analyze", "18\n", 1, 3 * ["illegal host access"]),
        ("waits of thread blocks for each other in a launch that is not cooperative are notes",
         "waiting_blocks.cu", "--analyze", "1 0\n5\n", 0, 2 * ["not cooperative"]),
        ("a thread may have 512 KiB of local memory", "large_locals.cu", "--analyze", "149997\n63\n", 0, []))],
    ("a thread may have 512 KiB of local memory, without analysis", "large_locals.cu", "-O0", "149997\n63\n", 0, None),
    ("thread blocks may wait for each other, without analysis", "waiting_blocks.cu", "-O2", "1 0\n5\n", 0, None),
    ("a race is reported at the right line after functions that only one pass compiles",
     "passes.cu", "--analyze", None, 1, ["race"]),
    ("an error in a kernel of a header is reported at its line in the header",
     "header.cu", "--analyze", None, 1, ["out of bounds"]),
    ("a kernel calls a function whose address comes from the device", "functions.cu", "--analyze", None, 0, []),
    ("a kernel in a program at a fixed address calls a function whose address comes from the device",
     "functions.cu", "--analyze -Xcompiler -no-pie", None, 0, []),
    ("a call through a function address of the host is reported",
     "functions.cu", "--analyze -DOF_HOST", None, 1, ["illegal device access"]),
    ("a copy of a function address from the host to the device is a note",
     "functions.cu", "--analyze -DIN_A_COPY", None, 0, ["host code address"]),
    ("a kernel calls virtual functions of an object that a kernel constructed", "virtual.cu", "--analyze", None, 0, []),
    ("an object with virtual functions as a kernel argument is reported",
     "virtual.cu", "--analyze -DBY_VALUE", None, 1, ["illegal device access"]),
    ("a copy of an object with virtual functions from the host to the device is a note",
     "virtual.cu", "--analyze -DBY_COPY", None, 0, ["host code address"]),
    ("an object with virtual functions that the host constructs in managed memory is a note",
     "virtual.cu", "--analyze -DBY_HOST", None, 0, 2 * ["host code address"]),
    ("accesses of a kernel to host variables with one-letter names are reported",
     "letters.cu", "--analyze", None, 1, 3 * ["illegal device access"]),
    ("a shuffle from a lane outside its mask is a note", "lanes.cu", "--analyze", "276\n", 0, ["undefined value"]),
]


def marked_lines(sources, flags):
    """Returns file and line of the marked lines, in the sources and in the headers that they include."""
    files = {name for name in SOURCES if pathlib.Path(name).stem in {pathlib.Path(source).stem for source in sources}}
    ends = ["// here", *("// here with " + flag.removeprefix("-D") for flag in flags.split())]
    return sorted((name, number) for name in files for number, text in enumerate(SOURCES[name].split("\n"), 1)
                  if text.endswith(tuple(ends)))


def problem_of(cwd, sources, flags, printed, status, kinds):
    """Returns the problem of a run; empty if there is none."""
    built = subprocess.run([COMMAND, *flags.split(), *sources, "-o", "program"], cwd=cwd, text=True, capture_output=True, check=False)
    if built.returncode != 0:
        return built.stderr
    report = cwd / "report.json"
    report.unlink(missing_ok=True)
    ran = subprocess.run(["./program"], cwd=cwd, text=True, capture_output=True, check=False, timeout=SECONDS,
                         env={**os.environ, "CUDA_ON_CPU_REPORT": str(report)})
    summary = f"the exit status is {ran.returncode}, expected {status}; the program printed:\n{ran.stdout}{ran.stderr}"
    if ran.returncode != status or (printed is not None and ran.stdout != printed):
        return summary
    if kinds is None:
        return ""
    contents = json.loads(report.read_text())
    # A line may consist of several instructions with the same finding.
    found = sorted({(pathlib.Path(f["file"]).name, f["line"], f["kind"]) for f in contents["errors"] + contents["notes"]})
    wanted = [(*place, kind) for place, kind in zip(marked_lines(sources, flags), kinds, strict=True)]
    if found != wanted:
        return f"the report has {found}, not {wanted}\n{summary}"
    sentence = SENTENCES.get(sources[0], "")
    return "".join(f"the sentence of a finding does not match {sentence!r}: {f['sentence']}\n"
                   for f in contents["errors"] + contents["notes"] if not re.search(sentence, f["sentence"]))


def main():
    print(f"1..{len(RUNS)}")
    with tempfile.TemporaryDirectory() as directory:
        cwd = pathlib.Path(directory)
        for name, text in SOURCES.items():
            (cwd / name).write_text(text)
        for number, (what, sources, flags, printed, status, kinds) in enumerate(RUNS, 1):
            problem = problem_of(cwd, sources.split(), flags, printed, status, kinds)
            print(f"{'not ok' if problem else 'ok'} {number} - {what}", flush=True)
            print("".join(f"# {line}\n" for line in problem.splitlines()), end="")


main()
