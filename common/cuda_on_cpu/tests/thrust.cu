/// \file
/// Tests Thrust's algorithms, compiled from the toolkit's headers, on the CPU device.

#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/swap.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/system_error.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
#include <thrust/universal_vector.h>

#include <cuda/atomic>
#include <cuda/std/array>
#include <new>
#include <vector>

#include "device.hpp"

namespace {

using tap::check;
using tap::Device;
using tap::expect;
using tap::expect_equal;
using Ints = std::vector<int>;

template <typename T>
std::vector<T> on_host(const thrust::device_vector<T>& values) {
  const thrust::host_vector<T> copied = values;
  return {copied.begin(), copied.end()};
}

struct Square {
  __host__ __device__ int operator()(int x) const { return x * x; }
};
struct IsOdd {
  __device__ bool operator()(int x) const { return x % 2 != 0; }
};

__global__ void twice(int* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] *= 2;
}

TEST(an_algorithm_sees_what_kernels_wrote_before) {
  thrust::device_vector<int> v(300);
  thrust::sequence(v.begin(), v.end());
  twice<<<3, 128>>>(thrust::raw_pointer_cast(v.data()), 300);
  expect_equal(thrust::reduce(v.begin(), v.end()), 300 * 299);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  thrust::fill(thrust::cuda::par_nosync.on(stream), v.begin(), v.end(), 3);
  twice<<<3, 128, 0, stream>>>(thrust::raw_pointer_cast(v.data()), 300);
  expect_equal(thrust::reduce(thrust::cuda::par.on(stream), v.begin(), v.end()), 1800);
  check(cudaStreamDestroy(stream));
}

TEST(elements_are_read_and_written_one_by_one) {
  thrust::device_vector<int> v = {4, 5, 6};
  v[1] = 7;
  v[2] = v[0];
  v.push_back(9);
  v[0] += 2;
  expect_equal(on_host(v), Ints{6, 7, 4, 9});
  thrust::device_vector<int>::reference first = v[0], second = v[1];
  swap(first, second);
  expect_equal(on_host(v), Ints{7, 6, 4, 9});
}

TEST(memory_of_the_runtime_is_wrapped) {
  const Device<int> memory(Ints{3, 1, 2});
  const thrust::device_ptr<int> first(memory.get());
  thrust::sort(first, first + 3);
  expect_equal(memory.to_host(), Ints{1, 2, 3});
  thrust::sort(thrust::device, memory.get(), memory.get() + 3, thrust::greater<int>());
  expect_equal(memory.to_host(), Ints{3, 2, 1});
  cudaPointerAttributes attributes{};
  const thrust::device_vector<int> v(1);
  check(cudaPointerGetAttributes(&attributes, thrust::raw_pointer_cast(v.data())));
  expect(attributes.type == cudaMemoryTypeDevice, "a vector lies in memory of the device");
}

TEST(copies_convert_between_host_and_device) {
  thrust::host_vector<int> h(100);
  thrust::sequence(h.begin(), h.end());
  const thrust::device_vector<double> d = h;
  expect_equal(thrust::reduce(d.begin(), d.end()), 4950.0);
  std::vector<float> back(100);
  thrust::copy(d.begin(), d.end(), back.begin());
  expect_equal(back[99], 99.0f);
  thrust::universal_vector<int> u(4, 5);
  expect_equal(thrust::reduce(u.begin(), u.end()) + u[3], 25);
}

TEST(sorts_and_scans) {
  thrust::device_vector<int> v = {5, 3, 4, 3};
  thrust::device_vector<float> w = {0, 1, 2, 3};
  thrust::stable_sort_by_key(v.begin(), v.end(), w.begin());
  expect_equal(on_host(w), std::vector<float>{1, 3, 2, 0});
  thrust::inclusive_scan(v.begin(), v.end(), v.begin());
  expect_equal(on_host(v), Ints{3, 6, 10, 15});
  thrust::exclusive_scan(v.begin(), v.end(), v.begin(), 1);
  expect_equal(on_host(v), Ints{1, 4, 10, 20});
  thrust::adjacent_difference(v.begin(), v.end(), v.begin());
  expect_equal(on_host(v), Ints{1, 3, 6, 10});
  expect_equal(thrust::lower_bound(v.begin(), v.end(), 5) - v.begin(), 2);
}

TEST(functors_and_lambdas_are_called_for_each_element) {
  thrust::device_vector<int> v(1000), w(1000, 1);
  thrust::copy(thrust::make_counting_iterator(0), thrust::make_counting_iterator(1000), v.begin());
  thrust::transform(v.begin(), v.end(), w.begin(), w.begin(),
                    [] __device__(int a, int b) { return a + b; });
  expect_equal(thrust::reduce(w.begin(), w.end(), 0, thrust::maximum<int>()), 1000);
  expect_equal(thrust::count_if(w.begin(), w.end(), IsOdd()), 500);
  const auto squares = thrust::make_transform_iterator(v.begin(), Square());
  expect_equal(thrust::reduce(squares, squares + 10), 285);
  const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(v.begin(), w.begin()));
  thrust::for_each(pairs, pairs + 1000,
                   [] __device__(auto pair) { thrust::get<0>(pair) = 2 * thrust::get<1>(pair); });
  expect_equal(int(v[999]), 2000);
  expect_equal(thrust::inner_product(v.begin(), v.begin() + 3, w.begin(), 0), 2 + 8 + 18);
  expect_equal(thrust::max_element(v.begin(), v.end()) - v.begin(), 999);
}

TEST(elements_are_chosen) {
  thrust::device_vector<int> v = {1, 2, 2, 3, 4, 5}, w(6);
  expect_equal(thrust::copy_if(v.begin(), v.end(), w.begin(), IsOdd()) - w.begin(), 3);
  expect_equal(thrust::unique(v.begin(), v.end()) - v.begin(), 5);
  expect_equal(thrust::remove_if(v.begin(), v.begin() + 5, IsOdd()) - v.begin(), 2);
  v = Ints{4, 1, 2, 3, 6};
  thrust::stable_partition(v.begin(), v.end(), IsOdd());
  expect_equal(on_host(v), Ints{1, 3, 4, 2, 6});
  thrust::reverse(v.begin(), v.end());
  expect_equal(on_host(v), Ints{6, 2, 4, 3, 1});
}

TEST(keys_and_sets) {
  thrust::device_vector<int> keys = {1, 1, 2, 3, 3}, values = {1, 2, 3, 4, 5}, k(5), v(5);
  const auto ends =
      thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), k.begin(), v.begin());
  expect_equal(ends.second - v.begin(), 3);
  expect_equal(int(v[2]), 9);
  thrust::inclusive_scan_by_key(keys.begin(), keys.end(), values.begin(), v.begin());
  expect_equal(on_host(v), Ints{1, 3, 3, 4, 9});
  const thrust::device_vector<int> a = {1, 3, 5}, b = {3, 4};
  thrust::device_vector<int> c(5);
  thrust::merge(a.begin(), a.end(), b.begin(), b.end(), c.begin());
  expect_equal(on_host(c), Ints{1, 3, 3, 4, 5});
  expect_equal(
      thrust::set_intersection(a.begin(), a.end(), b.begin(), b.end(), c.begin()) - c.begin(), 1);
}

__global__ void sort_each(int* x, int n) {
  int* mine = x + n * static_cast<int>(threadIdx.x);
  thrust::sort(thrust::seq, mine, mine + n);
  mine[0] = thrust::reduce(thrust::device, mine, mine + n);
}

TEST(a_thread_of_a_kernel_has_algorithms_too) {
  const Device<int> memory(Ints{3, 1, 2, 9, 8, 7});
  sort_each<<<1, 2>>>(memory.get(), 3);
  expect_equal(memory.to_host(), Ints{6, 2, 3, 24, 8, 9});
}

__global__ void count(int* x) {
  const cuda::std::array<int, 2> steps{1, 2};
  cuda::atomic_ref<int, cuda::thread_scope_device> total(*x);
  total.fetch_add(steps[threadIdx.x % 2], cuda::std::memory_order_relaxed);
}

TEST(the_libraries_of_the_toolkit_and_ours_go_together) {
  thrust::device_vector<int> total(1);
  count<<<1, 32>>>(thrust::raw_pointer_cast(total.data()));
  expect_equal(int(total[0]), 48);
}

TEST(what_cannot_be_had_is_an_exception) {
  bool refused = false;
  try {
    const thrust::device_vector<char> all(std::size_t{1} << 60);
  } catch (const std::bad_alloc&) {
    refused = true;
  }
  expect(refused, "there is not so much memory");
  expect_equal(static_cast<int>(cudaGetLastError()), 0);
}

}  // namespace

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
