/// \file
/// Tests of the functions that the stages for several GPUs share.

#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cuda/atomic>
#include <deque>
#include <mutex>
#include <staircase/bulk_copy.hpp>
#include <staircase/cooperative.hpp>
#include <staircase/device_memory.hpp>
#include <staircase/devices.hpp>
#include <staircase/distribute.hpp>
#include <staircase/error.hpp>
#include <staircase/stream.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device.hpp"

using staircase::OnDevice;
using tap::expect;
using tap::expect_equal;

namespace {

int available() {
  int count = 0;
  tap::check(cudaGetDeviceCount(&count));
  return count;
}

int current() {
  int device = -1;
  tap::check(cudaGetDevice(&device));
  return device;
}

/// A GPU by its device index, with the indices of the work items that it has received.
struct Gpu {
  int device;
  std::vector<std::size_t> numbers = {};
  int current = -1;
};

std::deque<Gpu> gpus() {
  std::deque<Gpu> all;
  for (const int device : staircase::devices(0)) all.push_back({device});
  return all;
}

__global__ void write(int* place) { *place = 7; }

__global__ void twice(int* number) { *number *= 2; }
__global__ void increase(int* number) { *number += 1; }

/// Each block counts alternately with another device: it waits for a value in its own memory and
/// stores the next value in the memory of the other device.
__global__ void count_in_turn(unsigned* own, unsigned* other, unsigned first, unsigned last) {
  using Number = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;
  for (unsigned n = first; n < last; n += 2) {
    if (threadIdx.x == 0)
      while (Number(own[blockIdx.x]).load(cuda::memory_order_acquire) != n) continue;
    __syncthreads();
    if (threadIdx.x == 0) Number(other[blockIdx.x]).store(n + 1, cuda::memory_order_release);
  }
}

}  // namespace

TEST(zero_takes_all_devices) {
  expect_equal(staircase::devices(0), tap::table<int>(available(), [](int d) { return d; }));
}

TEST(a_number_takes_the_first_devices) {
  for (int wanted = 1; wanted <= available(); ++wanted)
    expect_equal(staircase::devices(wanted), tap::table<int>(wanted, [](int d) { return d; }));
}

TEST(the_fullest_device_has_the_least_free_memory) {
  if (available() < 2) tap::skip("there is one device");
  const auto all = staircase::devices(0);
  std::vector<std::size_t> free;
  for (const int device : all) {
    const OnDevice here(device);
    std::size_t total = 0;
    tap::check(cudaMemGetInfo(&free.emplace_back(), &total));
  }
  // Allocate more than the difference between the free memory of the devices.
  const auto [least, most] = std::minmax_element(free.begin(), free.end());
  const std::size_t size = (*most - *least) / sizeof(double) + (std::size_t{1} << 20);
  for (const int device : all) {
    const OnDevice here(device);
    const staircase::DeviceArray<double, 1> array(size);
    expect_equal(staircase::fullest(all), device);
  }
}

TEST(more_devices_than_there_are_are_refused) {
  const int wanted = available() + 1;
  try {
    staircase::devices(wanted);
    expect(false, "more devices are refused");
  } catch (const staircase::NotAvailable& refusal) {
    const std::string sentence = refusal.what();
    for (const int number : {wanted, available()})
      expect(sentence.find(" " + std::to_string(number) + " ") != std::string::npos,
             "'" + sentence + "' names " + std::to_string(number));
  }
}

TEST(devices_are_connected_as_often_as_one_likes) {
  const auto all = staircase::devices(0);
  for (int again = 0; again < 2; ++again) {
    staircase::connect(all);
    expect_equal(cudaGetLastError(), cudaSuccess);
    expect_equal(current(), 0);
  }
  if (available() < 2) tap::skip("there is one device");
  int can = 0;
  tap::check(cudaDeviceCanAccessPeer(&can, 1, 0));
  const OnDevice second(1);
  const cudaError_t error = cudaDeviceEnablePeerAccess(0, 0);
  cudaGetLastError();
  expect_equal(error == cudaErrorPeerAccessAlreadyEnabled, can != 0);
}

TEST(devices_in_a_ring_are_connected) {
  const auto all = staircase::devices(0);
  staircase::connect_ring(all);
  staircase::connect_ring({0});
  expect_equal(current(), 0);
}

TEST(devices_are_all_connected_with_each_other) {
  const auto all = staircase::devices(0);
  staircase::connect_all(all);
  staircase::connect_all({0});
  expect_equal(current(), 0);
}

TEST(grids_of_several_devices_wait_for_each_other) {
  if (available() < 2) tap::skip("there is one device");
  staircase::connect_ring({0, 1});
  constexpr unsigned blocks = 3, last = 100;
  using Numbers = staircase::DeviceArray<unsigned, 1>;
  std::deque<Numbers> numbers;
  for (const int device : {0, 1}) {
    const OnDevice here(device);
    numbers.emplace_back(blocks);
    numbers.back().clear(nullptr);  // in the stream of the launch
    if (device == 1) tap::check(cudaDeviceSynchronize());
  }
  tap::check(cudaDeviceSynchronize());
  numbers[0].clear(nullptr);
  for (const int device : {0, 1}) {
    const OnDevice here(device);
    const unsigned first = static_cast<unsigned>(device);
    staircase::launch_cooperatively(count_in_turn, blocks, 40, numbers[device].data(),
                                    numbers[1 - device].data(), first, last);
  }
  for (const int device : {0, 1}) {
    const OnDevice here(device);
    tap::check(cudaDeviceSynchronize());
  }
  for (const int device : {0, 1}) {
    std::vector<unsigned> counted(blocks);
    numbers[device].copy_to(counted.data());
    expect_equal(counted, std::vector<unsigned>(blocks, last - static_cast<unsigned>(device)));
  }
}

/// Blocks count alternately with the blocks of other devices. A block claims its index from an
/// atomic counter when it starts.
__global__ void pass_on(unsigned* own, unsigned* next, unsigned first, unsigned last, unsigned by) {
  using Number = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;
  __shared__ unsigned drawn;
  if (threadIdx.x == 0) drawn = atomicAdd(own, 1);
  __syncthreads();
  unsigned& number = own[1 + drawn];
  for (unsigned n = first; n < last; n += by) {
    if (threadIdx.x == 0)
      while (Number(number).load(cuda::memory_order_acquire) != n) continue;
    __syncthreads();
    if (threadIdx.x == 0) Number(next[1 + drawn]).store(n + 1, cuda::memory_order_release);
  }
}

TEST(plain_launches_of_several_devices_wait_for_each_other) {
  if (available() < 2) tap::skip("there is one device");
  const auto all = staircase::devices(0);
  staircase::connect_all(all);
  const unsigned count = available(), blocks = 40, last = 7 * count;
  for (const int waits_first : {0, available() - 1}) {
    std::deque<staircase::DeviceArray<unsigned, 1>> numbers;
    for (const int device : all) {
      const OnDevice here(device);
      numbers.emplace_back(1 + blocks);
      numbers.back().clear(nullptr);
      tap::check(cudaDeviceSynchronize());
    }
    for (unsigned d = 0; d < count; ++d) {
      const OnDevice here(all[d]);
      pass_on<<<blocks, 40>>>(numbers[d].data(), numbers[(d + 1) % count].data(), d, last, count);
    }
    for (unsigned d = 0; d < count; ++d) {
      const OnDevice here((waits_first + static_cast<int>(d)) % available());
      tap::check(cudaDeviceSynchronize());
    }
    for (unsigned d = 0; d < count; ++d) {
      std::vector<unsigned> counted(1 + blocks, last - count + d), there(1 + blocks);
      counted[0] = blocks;
      if (d == 0) std::fill(counted.begin() + 1, counted.end(), last);
      numbers[d].copy_to(there.data());
      expect_equal(there, counted);
    }
  }
}

/// A thread waits for another device between a barrier and the use of the data that the barrier
/// guards.
__global__ void use_behind_flag(unsigned* own, unsigned* other) {
  using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;
  __shared__ staircase::TransferBarrier written;
  __shared__ unsigned number;
  if (threadIdx.x == 0) {
    written.init(1);
    staircase::fence_barriers();
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    number = 5;
    written.arrive();
  }
  if (threadIdx.x > 0) return;
  written.wait(0);
  Flag(other[0]).store(1, cuda::memory_order_release);
  while (Flag(own[0]).load(cuda::memory_order_acquire) == 0) continue;
  own[1] = number;
}

TEST(a_block_knows_what_is_done_in_it_when_another_devices_has_run) {
  if (available() < 2) tap::skip("there is one device");
  staircase::connect_all({0, 1});
  std::deque<staircase::DeviceArray<unsigned, 1>> numbers;
  for (const int device : {0, 1}) {
    const OnDevice here(device);
    numbers.emplace_back(2);
    numbers.back().clear(nullptr);
    tap::check(cudaDeviceSynchronize());
  }
  for (const int device : {0, 1}) {
    const OnDevice here(device);
    use_behind_flag<<<1, 64>>>(numbers[device].data(), numbers[1 - device].data());
  }
  for (const int device : {0, 1}) {
    const OnDevice here(device);
    tap::check(cudaDeviceSynchronize());
    std::vector<unsigned> there(2);
    numbers[device].copy_to(there.data());
    expect_equal(there, std::vector<unsigned>{1, 5});
  }
}

TEST(a_grid_that_comes_behind_another_ones_does_not_run_beside_it) {
  if (available() < 2) tap::skip("there is one device");
  staircase::connect_ring({0, 1});
  for (const int waits_for : {0, 1}) {
    const tap::Device<int> place(std::vector<int>{5});
    cudaEvent_t doubled = nullptr;
    tap::check(cudaEventCreate(&doubled));
    int* const number = place.get();
    staircase::launch_cooperatively(twice, 1, 1, number);
    tap::check(cudaEventRecord(doubled));
    const OnDevice second(1);
    tap::check(cudaStreamWaitEvent(nullptr, doubled, 0));
    staircase::launch_cooperatively(increase, 1, 1, number);
    for (const int device : {waits_for, 1 - waits_for}) {
      const OnDevice here(device);
      tap::check(cudaDeviceSynchronize());
    }
    expect_equal(place.to_host()[0], 11);
    tap::check(cudaEventDestroy(doubled));
  }
}

TEST(streams_have_the_priority_that_is_asked_for) {
  int least = 0, greatest = 0, low = 0, high = 0;
  tap::check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  const staircase::Stream patient(staircase::Priority::low), urgent(staircase::Priority::high);
  tap::check(cudaStreamGetPriority(patient, &low));
  tap::check(cudaStreamGetPriority(urgent, &high));
  expect_equal(low, least);
  expect_equal(high, greatest);
}

TEST(calls_are_meant_for_a_device_in_a_scope_of_one_thread) {
  if (available() < 2) tap::skip("there is one device");
  {
    const OnDevice second(1);
    expect_equal(current(), 1);
    {
      const OnDevice first(0);
      expect_equal(current(), 0);
    }
    expect_equal(current(), 1);
    int elsewhere = -1;
    std::thread([&] { elsewhere = current(); }).join();
    expect_equal(elsewhere, 0);
    const staircase::DeviceArray<double, 1> there(5);
    cudaPointerAttributes attributes{};
    tap::check(cudaPointerGetAttributes(&attributes, there.data()));
    expect_equal(attributes.device, 1);
  }
  expect_equal(current(), 0);
}

TEST(a_device_that_is_not_there_leaves_the_one_before) {
  try {
    const OnDevice none(available());
    expect(false, "a device that is not there is refused");
  } catch (const staircase::Failure&) {
    cudaGetLastError();
  }
  expect_equal(current(), 0);
}

TEST(each_number_is_dealt_once_and_each_gpu_begins_with_its_own) {
  for (const std::size_t count : {0, 1, 2, 7, 300}) {
    auto all = gpus();
    staircase::distribute(count, all, [](Gpu& gpu, std::size_t number) {
      gpu.numbers.push_back(number);
      gpu.current = current();
    });
    std::vector<int> dealt(count);
    for (const Gpu& gpu : all) {
      const auto first = static_cast<std::size_t>(gpu.device);
      expect_equal(gpu.numbers.empty(), first >= count);
      if (gpu.numbers.empty()) continue;
      expect_equal(gpu.numbers.front(), first);
      expect_equal(gpu.current, gpu.device);
      for (const std::size_t number : gpu.numbers) ++dealt.at(number);
    }
    expect_equal(dealt, std::vector<int>(count, 1));
  }
}

TEST(a_gpu_that_is_busy_leaves_the_numbers_to_others) {
  auto all = gpus();
  if (all.size() < 2) tap::skip("there is one device");
  std::atomic<std::size_t> done = 0;
  const std::size_t count = 50, steal = count - 1;
  staircase::distribute(count, all, [&](Gpu& gpu, std::size_t) {
    while (gpu.device == 0 && done < steal) std::this_thread::yield();
    if (gpu.device != 0) ++done;
  });
  expect_equal(done.load(), steal);
}

TEST(what_was_launched_is_done) {
  auto all = gpus();
  tap::Device<int> places(8);
  staircase::distribute(1, all, [&](Gpu&, std::size_t) { write<<<1, 1>>>(places.get()); });
  cudaStream_t other = nullptr;
  tap::check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  int value = 0;
  tap::check(cudaMemcpyAsync(&value, places.get(), sizeof(int), cudaMemcpyDeviceToHost, other));
  tap::check(cudaStreamSynchronize(other));
  tap::check(cudaStreamDestroy(other));
  expect_equal(value, 7);
}

TEST(what_one_throws_ends_the_dealing_and_is_thrown) {
  auto all = gpus();
  const std::size_t endless = ~std::size_t{0} / 2;
  std::string sentence;
  try {
    staircase::distribute(endless, all, [&](Gpu& gpu, std::size_t number) {
      gpu.numbers.assign(1, number);
      if (gpu.device + 1 == available()) throw std::runtime_error("a GPU has failed");
    });
  } catch (const std::runtime_error& error) {
    sentence = error.what();
  }
  expect_equal(sentence, "a GPU has failed");
  expect_equal(current(), 0);
}

TEST(each_takes_its_own_numbers_in_their_order) {
  auto all = gpus();
  staircase::WorkQueues queues(all.size());
  for (std::size_t number = 0; number < 100; ++number) queues.push(number % all.size(), number);
  std::vector<std::atomic<int>> taken(100);
  // Each worker waits at the end of its work, so that it processes no items of another device.
  std::atomic<std::size_t> done = 0;
  staircase::distribute(queues, all, [&](Gpu& gpu, std::size_t number) {
    gpu.numbers.push_back(number);
    gpu.current = current();
    ++taken[number];
    if (number + all.size() < 100) return;
    ++done;
    while (done < all.size()) std::this_thread::yield();
  });
  for (const std::atomic<int>& times : taken) expect_equal(times.load(), 1);
  for (const Gpu& gpu : all) {
    expect_equal(gpu.current, gpu.device);
    for (std::size_t n = 0; n < gpu.numbers.size(); ++n)
      expect_equal(gpu.numbers[n], static_cast<std::size_t>(gpu.device) + n * all.size());
  }
}

TEST(who_has_none_left_takes_the_last_of_others) {
  auto all = gpus();
  if (all.size() < 2) tap::skip("there is one device");
  staircase::WorkQueues queues(all.size());
  for (std::size_t number = 0; number < 50; ++number) queues.push(0, number);
  std::atomic<std::size_t> done = 0;
  std::atomic<bool> begun = false;
  staircase::distribute(queues, all, [&](Gpu& gpu, std::size_t number) {
    gpu.numbers.push_back(number);
    if (gpu.device == 0) begun = true;
    while (gpu.device == 0 && done < 49) std::this_thread::yield();
    while (!begun) std::this_thread::yield();
    if (gpu.device != 0) ++done;
  });
  expect_equal(all.front().numbers, std::vector<std::size_t>{0});
  expect_equal(done.load(), std::size_t{49});
}

TEST(what_one_throws_leaves_nothing_to_take) {
  auto all = gpus();
  staircase::WorkQueues queues(all.size());
  for (std::size_t number = 0; number < 1000; ++number) queues.push(number % all.size(), number);
  std::atomic<int> taken = 0;
  std::string sentence;
  try {
    staircase::distribute(queues, all, [&](Gpu&, std::size_t) {
      if (++taken > 3) throw std::runtime_error("a GPU has failed");
    });
  } catch (const std::runtime_error& error) {
    sentence = error.what();
  }
  expect_equal(sentence, "a GPU has failed");
  expect_equal(queues.steal().has_value(), false);
}

TEST(parts_of_device_memory) {
  using staircase::bytes_of_part;
  staircase::DeviceMemory memory(
      staircase::bytes_of_parts({bytes_of_part<int>(3u), bytes_of_part<double>(7u, 11u)}));
  const staircase::DevicePart<int, 1> first(memory, 3u);
  staircase::DevicePart<double, 2> second(memory, 7u, 11u);
  expect_equal(reinterpret_cast<std::uintptr_t>(second.data()) % 256, std::uintptr_t{0});
  std::vector<double> in(77, 1.5), out(77);
  second.copy_from(in.data());
  second.copy_to(out.data());
  expect_equal(out, in);
  // No byte is left, so a part of one byte is refused.
  bool refused = false;
  try {
    memory.take(1);
  } catch (const std::logic_error&) {
    refused = true;
  }
  expect(refused, "a part beyond the end of the allocation is refused");
#ifdef STAIRCASE_CUDA_ON_CPU
  // The analysis reports an access beyond an allocation.
  for (const auto& [part, bytes] : {std::pair<const void*, std::size_t>{first.data(), 12},
                                    std::pair<const void*, std::size_t>{second.data(), 616}}) {
    const auto address = reinterpret_cast<CUdeviceptr>(part);
    CUdeviceptr base = 0;
    std::size_t size = 0;
    expect_equal(cuMemGetAddressRange(&base, &size, address), CUDA_SUCCESS);
    expect_equal(base, address);
    expect_equal(size, bytes);
  }
#endif
}

TEST(parts_that_are_larger_than_any_memory) {
  constexpr auto most = ~std::size_t{0};
  expect_equal(staircase::bytes_of_parts({most, 1}), most);
  expect_equal(staircase::bytes_of_part<double>(most, most), most);
  bool refused = false;
  try {
    staircase::DeviceMemory memory(most);
    memory.take(most / 2 + 1);
  } catch (const staircase::NotEnoughMemory&) {
    refused = true;
  }
  expect(refused, "a part that does not fit into the memory of the device is refused");
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
