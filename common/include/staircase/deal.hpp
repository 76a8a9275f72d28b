/// \file
/// How work is dealt to several GPUs: by a thread of the host for each.

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
/// Lets a worker for each GPU, which has a `device`, do its part(gpu, number of the GPU), and wait
/// for its device in the end. If a part throws, end() is to make the others return, and it is
/// thrown here when no GPU has anything to do any more.
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

/// Deals the numbers from 0 to `count` - 1 out to GPUs. Each begins with a number of its own, and
/// takes the next that is left whenever work(gpu, number) has returned. If anything throws, no more
/// numbers are dealt.
template <typename Gpus, typename Work>
void deal(std::size_t count, Gpus& gpus, Work work) {
  std::atomic<std::size_t> next = gpus.size();
  const auto part = [&](auto& gpu, std::size_t number) {
    for (; number < count; number = next++) work(gpu, number);
  };
  on_each(gpus, part, [&] { next = count; });
}
// [deal]

// [shares]
/// Numbers that are somebody's to take, in the order in which they were given. Any threads may ask.
class Shares {
 public:
  explicit Shares(std::size_t owners) : left_(owners) {}

  /// Gives a number to an owner.
  void give(std::size_t owner, std::size_t number) { left_[owner].push_back(number); }

  /// The next number of an owner, if it has any left.
  std::optional<std::size_t> own(std::size_t owner) {
    const std::lock_guard lock(mutex_);
    if (left_[owner].empty()) return std::nullopt;
    const std::size_t number = left_[owner].front();
    left_[owner].pop_front();
    return number;
  }

  /// The last number of the owner that has most, if any is left.
  std::optional<std::size_t> of_others() {
    const std::lock_guard lock(mutex_);
    const auto fewer = [](const auto& one, const auto& other) { return one.size() < other.size(); };
    std::deque<std::size_t>& most = *std::ranges::max_element(left_, fewer);
    if (most.empty()) return std::nullopt;
    const std::size_t number = most.back();
    most.pop_back();
    return number;
  }

  /// Nothing is left to be taken.
  void clear() {
    const std::lock_guard lock(mutex_);
    for (auto& left : left_) left.clear();
  }

 private:
  std::vector<std::deque<std::size_t>> left_;
  std::mutex mutex_;
};

/// Lets each GPU take its own numbers, of which the first is its own however late its worker comes,
/// and when it has nothing to do any more, one at a time of those that others have not taken yet.
/// If anything throws, no more are taken.
template <typename Gpus, typename Work>
void deal(Shares& shares, Gpus& gpus, Work work) {
  std::vector<std::optional<std::size_t>> first;
  for (std::size_t g = 0; g < gpus.size(); ++g) first.push_back(shares.own(g));
  const auto part = [&](auto& gpu, std::size_t g) {
    for (auto number = first[g]; number; number = shares.own(g)) work(gpu, *number);
    check(cudaDeviceSynchronize());
    while (const auto number = shares.of_others()) {
      work(gpu, *number);
      check(cudaDeviceSynchronize());
    }
  };
  on_each(gpus, part, [&] { shares.clear(); });
}
// [shares]

}  // namespace staircase
