/// \file
/// Distributes work over several GPUs, with one host thread per GPU.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "devices.hpp"

namespace staircase {

// [worker]
/// A host thread that sleeps until it receives work.
///
/// A worker starts its work sooner than a new thread would. OpenMP threads spin for milliseconds
/// after each parallel loop. A new thread has to wait until they release a core, whereas a sleeping
/// thread gets a core as soon as it wakes.
class Worker {
 public:
  Worker() : thread_([this] { work(); }) {}
  ~Worker() {
    task_ = {};
    wake_.release();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Starts `work` on this thread. The previous work must have finished.
  /// \returns a future that becomes ready when `work` returns; if `work` throws, the future
  /// contains the exception
  template <typename Work>
  std::future<void> begin(Work work) {
    task_ = std::packaged_task<void()>(work);
    std::future<void> done = task_.get_future();
    wake_.release();
    return done;
  }

 private:
  void work() {
    for (wake_.acquire(); task_.valid(); wake_.acquire()) std::exchange(task_, {})();
  }
  std::packaged_task<void()> task_;
  std::binary_semaphore wake_{0};
  std::thread thread_;
};

/// The workers of this program. Creates workers until there are at least `wanted` workers. Only one
/// thread may call this function.
inline std::deque<Worker>& workers(std::size_t wanted) {
  static std::deque<Worker> all;
  while (all.size() < wanted) all.emplace_back();
  return all;
}
// [worker]

// [distribute]
/// Calls part(gpu, index) for all GPUs concurrently, each on a worker of its own with `gpu.device`
/// as the current device. The function then waits for all devices.
///
/// If a part throws, on_each() calls end(), which must make the other parts return early. The
/// exception is rethrown after all devices have finished.
template <typename Gpus, typename Part, typename End>
void on_each(Gpus& gpus, Part part, End end) {
  const auto take_part = [&](auto& gpu, std::size_t g) {
    try {
      const OnDevice here(gpu.device);
      part(gpu, g);
      check(cudaDeviceSynchronize());
    } catch (...) {
      end();
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

/// Distributes the indices 0 to `count` - 1 dynamically over GPUs.
///
/// GPU g begins with index g. When work(gpu, index) returns, the GPU claims the next index from an
/// atomic counter. After an exception, no GPU claims another index.
template <typename Gpus, typename Work>
void distribute(std::size_t count, Gpus& gpus, Work work) {
  std::atomic<std::size_t> next = gpus.size();
  const auto part = [&](auto& gpu, std::size_t index) {
    for (; index < count; index = next++) work(gpu, index);
  };
  on_each(gpus, part, [&] { next = count; });
}
// [distribute]

// [queues]
/// One queue of indices per owner, with work stealing. All functions may be called from any thread
/// at any time, except push(), which must be called before the owners start.
class WorkQueues {
 public:
  explicit WorkQueues(std::size_t owners) : queues_(owners) {}

  /// Appends an index to the queue of an owner.
  void push(std::size_t owner, std::size_t index) { queues_[owner].push_back(index); }

  /// Removes and returns the first index in an owner's queue; returns an empty optional if the
  /// queue is empty.
  std::optional<std::size_t> pop(std::size_t owner) {
    const std::lock_guard lock(mutex_);
    if (queues_[owner].empty()) return std::nullopt;
    const std::size_t index = queues_[owner].front();
    queues_[owner].pop_front();
    return index;
  }

  /// Removes and returns the last index of the longest queue; returns an empty optional if all
  /// queues are empty.
  std::optional<std::size_t> steal() {
    const std::lock_guard lock(mutex_);
    const auto shorter = [](const auto& one, const auto& other) {
      return one.size() < other.size();
    };
    std::deque<std::size_t>& longest = *std::ranges::max_element(queues_, shorter);
    if (longest.empty()) return std::nullopt;
    const std::size_t index = longest.back();
    longest.pop_back();
    return index;
  }

  /// Empties all queues.
  void clear() {
    const std::lock_guard lock(mutex_);
    for (auto& queue : queues_) queue.clear();
  }

 private:
  std::vector<std::deque<std::size_t>> queues_;
  std::mutex mutex_;
};

/// Distributes the indices of work queues over GPUs: GPU g owns queue g.
///
/// Each GPU processes the indices of its own queue. When this queue is empty and the GPU is idle,
/// the GPU steals one index at a time from the longest queue. The first index of each queue is
/// reserved for its owner before the workers start, so that no faster GPU can steal it. After an
/// exception, no GPU claims another index.
template <typename Gpus, typename Work>
void distribute(WorkQueues& queues, Gpus& gpus, Work work) {
  std::vector<std::optional<std::size_t>> first;
  for (std::size_t g = 0; g < gpus.size(); ++g) first.push_back(queues.pop(g));
  const auto part = [&](auto& gpu, std::size_t g) {
    for (auto index = first[g]; index; index = queues.pop(g)) work(gpu, *index);
    check(cudaDeviceSynchronize());
    while (const auto index = queues.steal()) {
      work(gpu, *index);
      check(cudaDeviceSynchronize());
    }
  };
  on_each(gpus, part, [&] { queues.clear(); });
}
// [queues]

}  // namespace staircase
