/// \file
/// Seeded bugs in arguments of Thrust algorithms. The analysis reports the line of the call or of
/// the functor.

#include <cuda_runtime.h>
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/system_error.h>
#include <thrust/transform.h>
#include <thrust/universal_vector.h>

#include <cstdlib>

#include "planted.cuh"
#include "resources.cuh"

namespace {

constexpr int size = 100;

using Ints = thrust::device_vector<int>;

__global__ void set(int* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] = 2;  // planted: stream race
}

namespace one_element_too_many {

template <bool bug>
void run() {
  Ints v(size, 1);
  thrust::sort(v.begin(), v.end() + bug);  // planted: out of bounds
}

}  // namespace one_element_too_many

namespace a_kernel_beyond_a_vector {

template <bool bug>
__global__ void fill(int* x) {
  x[threadIdx.x + bug] = 1;  // planted: out of bounds
}

template <bool bug>
void run() {
  Ints v(size);
  fill<bug><<<1, size>>>(thrust::raw_pointer_cast(v.data()));
  finish();
}

}  // namespace a_kernel_beyond_a_vector

namespace a_sum_without_an_atomic {

template <bool bug>
void run() {
  Ints v(size, 1), sum(1);
  int* total = thrust::raw_pointer_cast(sum.data());
  thrust::for_each(v.begin(), v.end(), [total] __device__(int x) {
    if (bug)
      *total += x;  // planted: race
    else
      atomicAdd(total, x);
  });
}

}  // namespace a_sum_without_an_atomic

namespace a_neighbour_that_is_written {

template <bool bug>
void run() {
  Ints v(size, 1), w(size);
  const int* of = thrust::raw_pointer_cast(v.data());
  const auto index = thrust::make_counting_iterator(0);
  thrust::transform(index, index + size - 1, bug ? v.begin() : w.begin(),
                    [of] __device__(int i) { return of[i] + of[i + 1]; });  // planted: race
}

}  // namespace a_neighbour_that_is_written

namespace memory_of_the_host {

template <bool bug>
void run() {
  int values[size] = {};
  const Ints v(values, values + size);
  const int* first = bug ? values : thrust::raw_pointer_cast(v.data());
  try {
    thrust::reduce(thrust::device, first, first + size);  // planted: illegal device access
  } catch (const thrust::system_error&) {
    std::exit(EXIT_SUCCESS);  // the kernel failed, so the vector cannot be freed any more
  }
}

}  // namespace memory_of_the_host

namespace memory_of_the_device {

template <bool bug>
void run() {
  const Ints v(size, 1);
  const int* first = thrust::raw_pointer_cast(v.data());
  std::printf("%d\n", bug ? *first : v[0]);  // planted: illegal host access
}

}  // namespace memory_of_the_device

namespace memory_that_nobody_wrote {

template <bool bug>
void run() {
  int* memory = nullptr;
  check(cudaMalloc(&memory, size * sizeof(int)));
  const thrust::device_ptr<int> first(memory);
  if (!bug) thrust::fill(first, first + size, 1);
  thrust::reduce(first, first + size);  // planted: uninitialised read
  check(cudaFree(memory));
}

}  // namespace memory_that_nobody_wrote

namespace another_stream {

template <bool bug>
void run() {
  Ints v(size, 1);
  cudaStream_t one = nullptr, other = nullptr;
  check(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  set<<<1, size, 0, one>>>(thrust::raw_pointer_cast(v.data()), size);
  if (!bug) check(cudaStreamSynchronize(one));
  thrust::reduce(thrust::cuda::par.on(other), v.begin(), v.end());
  check(cudaStreamDestroy(one));
  check(cudaStreamDestroy(other));
}

}  // namespace another_stream

namespace nobody_waits {

template <bool bug>
void run() {
  thrust::universal_vector<int> v(size, 1);
  thrust::fill(thrust::cuda::par_nosync, v.begin(), v.end(), 2);  // planted: host race
  if (!bug) finish();
  std::printf("%d\n", v[0] + 0);  // planted: host race
}

}  // namespace nobody_waits

}  // namespace

int main(int argc, char** argv) {
  return run_cases(
      argc, argv,
      {{"one_element_too_many", one_element_too_many::run<true>, one_element_too_many::run<false>},
       {"a_kernel_beyond_a_vector", a_kernel_beyond_a_vector::run<true>,
        a_kernel_beyond_a_vector::run<false>},
       {"a_sum_without_an_atomic", a_sum_without_an_atomic::run<true>,
        a_sum_without_an_atomic::run<false>},
       {"a_neighbour_that_is_written", a_neighbour_that_is_written::run<true>,
        a_neighbour_that_is_written::run<false>},
       {"memory_of_the_host", memory_of_the_host::run<true>, memory_of_the_host::run<false>},
       {"memory_of_the_device", memory_of_the_device::run<true>, memory_of_the_device::run<false>},
       {"memory_that_nobody_wrote", memory_that_nobody_wrote::run<true>,
        memory_that_nobody_wrote::run<false>},
       {"another_stream", another_stream::run<true>, another_stream::run<false>},
       {"nobody_waits", nobody_waits::run<true>, nobody_waits::run<false>}});
}
