/// \file
/// Seeded bugs: memory that kernels allocate with `new` and malloc, and host functions that they
/// call. Threads may use and free memory of other threads and earlier kernels.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "planted.cuh"
#include "resources.cuh"

namespace {

constexpr int threads = 64;

struct Node {
  int value;
  Node* next;
};

namespace list_without_an_end {

__device__ Node* head;

/// With the bug, the last node's pointer is uninitialised.
template <bool bug>
__global__ void build(int n) {
  Node* last = nullptr;
  for (int i = 0; i < n; ++i) {
    Node* node = new Node;
    node->value = i;
    if (!bug || i > 0) node->next = last;
    last = node;
  }
  head = last;
}

__global__ void sum(int* out) {
  int total = 0;
  const Node* node = head;
  for (int i = 0; i < 10; ++i) {
    total += node->value;
    if (i < 9) node = node->next;
  }
  *out = node->next == nullptr ? total : -1;  // planted: uninitialised read
}

__global__ void take_apart() {
  for (Node* node = head; node != nullptr;) {
    Node* next = node->next;
    delete node;
    node = next;
  }
}

template <bool bug>
void run() {
  const Buffer<int> out(1);
  build<bug><<<1, 1>>>(10);
  sum<<<1, 1>>>(out.get());
  if (!bug) take_apart<<<1, 1>>>();
  finish();
}

}  // namespace list_without_an_end

namespace scratch_of_a_block {

/// One thread allocates and frees memory for all threads; with the bug, it frees too early.
template <bool bug>
__global__ void reverse(int* out) {
  __shared__ int* scratch;
  if (threadIdx.x == 0) scratch = static_cast<int*>(malloc(threads * sizeof(int)));
  __syncthreads();
  scratch[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (bug && threadIdx.x == 0) free(scratch);
  __syncthreads();
  out[blockIdx.x * threads + threadIdx.x] =
      scratch[threads - 1 - threadIdx.x];  // planted: use after free
  __syncthreads();
  if (!bug && threadIdx.x == 0) free(scratch);
}

template <bool bug>
void run() {
  const Buffer<int> out(3 * threads);
  reverse<bug><<<3, threads>>>(out.get());
  finish();
}

}  // namespace scratch_of_a_block

namespace one_element_too_few {

template <bool bug>
__global__ void differences(const int* in, int* out, int n) {
  int* copy = new int[bug ? n - 1 : n];
  for (int i = 0; i < n; ++i) copy[i] = in[i];  // planted: out of bounds
  for (int i = 1; i < n - 1; ++i) out[i] = copy[i] - copy[i - 1];
  delete[] copy;
}

template <bool bug>
void run() {
  const Buffer<int> in(threads), out(threads);
  differences<bug><<<1, 1>>>(in.get(), out.get(), threads);
  finish();
}

}  // namespace one_element_too_few

namespace given_back_twice {

__global__ void twice(int** slots, bool both) {
  slots[threadIdx.x] = new int;
  __syncthreads();
  *slots[(threadIdx.x + 1) % 2] = 1;
  __syncthreads();
  delete slots[both ? 0 : threadIdx.x];  // planted: use after free
}

template <bool bug>
void run() {
  const Buffer<int*> slots(2);
  twice<<<1, 2>>>(slots.get(), bug);
  finish();
}

}  // namespace given_back_twice

#ifdef STAIRCASE_CUDA_ON_CPU  // nvcc refuses these bugs

namespace host_function_in_a_kernel {

/// Without __device__, this is a host function.
int clamped(int x, int least) {  // planted: host function
  return x < least ? least : x;
}
__host__ __device__ int bounded(int x, int least) { return x < least ? least : x; }

template <bool bug>
__global__ void clamp(int* values) {
  int& own = values[threadIdx.x];
  own = bug ? clamped(own, 0) : bounded(own, 0);  // planted: host function
}

template <bool bug>
void run() {
  const Buffer<int> values(threads);
  clamp<bug><<<1, threads>>>(values.get());
  finish();
  if (clamped(bounded(-3, -2), 0) != 0) std::puts("wrong");
}

}  // namespace host_function_in_a_kernel

namespace host_template_in_a_kernel {

template <typename T>
T square(T x) {  // planted: host function
  return x * x;
}
template <typename T>
__host__ __device__ inline T product(T x, T y) {
  return x * y;
}
constexpr int two() { return 2; }

template <bool bug>
__global__ void power(float* values) {
  float& own = values[threadIdx.x];
  own = two() * (bug ? square(own) : product(own, own));  // planted: host function
}

template <bool bug>
void run() {
  const Buffer<float> values(threads);
  power<bug><<<1, threads>>>(values.get());
  finish();
}

}  // namespace host_template_in_a_kernel

#endif

}  // namespace

#define BOTH(name) \
  { #name, name::run < true>, name::run < false> }

int main(int argc, char** argv) {
  return run_cases(argc, argv,
                   {
#ifdef STAIRCASE_CUDA_ON_CPU
                       BOTH(host_function_in_a_kernel), BOTH(host_template_in_a_kernel),
#endif
                       BOTH(list_without_an_end), BOTH(scratch_of_a_block),
                       BOTH(one_element_too_few), BOTH(given_back_twice)});
}
