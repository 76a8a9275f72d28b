/// \file
/// Several GPUs in one program: which of them, which one calls are meant for, and how work is
/// dealt.

#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "cuda.hpp"

namespace staircase {

/// The numbers of the first so many GPUs, or with 0 of all that are there.
/// \throws NotAvailable if there are fewer
std::vector<int> devices(std::int64_t wanted);

/// The one of them that has the least free memory.
int fullest(const std::vector<int>& devices);

/// Lets them copy from each other without a detour through the host's memory, where they can.
void connect(const std::vector<int>& devices);

/// Lets the kernels of each use the memory of its neighbours, where the first follows the last.
/// \throws NotAvailable if one cannot
void connect_ring(const std::vector<int>& devices);

/// Lets the kernels of each use the memory of all others.
/// \throws NotAvailable if one cannot
void connect_all(const std::vector<int>& devices);

/// While it lives, what this thread asks of CUDA is meant for a device: memory, streams, events and
/// launches. A thread begins with device 0.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    check(cudaGetDevice(&before_));
    check(cudaSetDevice(device));
  }
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

/// What each of these devices has, which is told its number and whatever else.
template <typename Gpu, typename... Arguments>
std::deque<Gpu> each_of(const std::vector<int>& devices, Arguments&... arguments) {
  std::deque<Gpu> gpus;
  for (const int device : devices) {
    const OnDevice here(device);
    gpus.emplace_back(device, arguments...);
  }
  return gpus;
}

/// Hands over the `times` of GPUs, each of which has a `device`.
template <typename Gpus>
void hand_over(Gpus& gpus) {
  for (auto& gpu : gpus) {
    const OnDevice here(gpu.device);
    gpu.times.hand_over();
  }
}

/// Waits until no GPU, each of which has a `device`, has anything to do.
template <typename Gpus>
void synchronise(const Gpus& gpus) {
  for (const auto& gpu : gpus) {
    const OnDevice here(gpu.device);
    check(cudaDeviceSynchronize());
  }
}

// [worker]
/// A thread of the host that sleeps until it is given work. Who sleeps gets a core at once; who is
/// started waits behind the threads of OpenMP, which spin for milliseconds after each of their
/// loops.
class Worker {
 public:
  Worker() : thread_([this] { work(); }) {}
  ~Worker() {
    task_ = {};
    told_.release();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Begins some work, when all that it was given before is done.
  template <typename Work>
  std::future<void> begin(Work work) {
    task_ = std::packaged_task<void()>(work);
    std::future<void> done = task_.get_future();
    told_.release();
    return done;
  }

 private:
  void work() {
    for (told_.acquire(); task_.valid(); told_.acquire()) std::exchange(task_, {})();
  }
  std::packaged_task<void()> task_;
  std::binary_semaphore told_{0};
  std::thread thread_;
};

/// The workers of this program, as many as were ever wanted at once. To be asked by one thread.
inline std::deque<Worker>& workers(std::size_t wanted) {
  static std::deque<Worker> all;
  while (all.size() < wanted) all.emplace_back();
  return all;
}
// [worker]

// [deal]
/// Deals the numbers from 0 to `count` - 1 out to GPUs, which have a `device` each. A worker for
/// each GPU begins with a number of its own, takes the next that is left whenever work(gpu, number)
/// has returned, and waits for its device in the end. If anything throws, no more numbers are
/// dealt, and it is thrown here when no GPU has anything to do any more.
template <typename Gpus, typename Work>
void deal(std::size_t count, Gpus& gpus, Work work) {
  std::atomic<std::size_t> next = gpus.size();
  const auto take_part = [&](auto& gpu, std::size_t number) {
    try {
      const OnDevice here(gpu.device);
      for (; number < count; number = next++) work(gpu, number);
      check(cudaDeviceSynchronize());
    } catch (...) {
      next = count;
      if (cudaSetDevice(gpu.device) == cudaSuccess) cudaDeviceSynchronize();
      throw;
    }
  };
  std::vector<std::future<void>> done;
  std::deque<Worker>& threads = workers(gpus.size());
  for (std::size_t g = 0; g < gpus.size(); ++g)
    done.push_back(threads[g].begin([&take_part, &gpu = gpus[g], g] { take_part(gpu, g); }));
  for (auto& one : done) one.wait();
  for (auto& one : done) one.get();
}
// [deal]

}  // namespace staircase
