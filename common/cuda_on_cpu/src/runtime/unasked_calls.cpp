#include "unasked_calls.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "../indestructible.hpp"

namespace cuda_on_cpu {
namespace {

using Lock = std::unique_lock<RuntimeMutex>;

struct Unasked {
  std::vector<OperationPointer> calls;
  bool watched = false;
};

Unasked& unasked() {
  static auto& unasked = indestructible<Unasked>();
  return unasked;
}

void pause(Lock& lock, std::chrono::milliseconds duration) {
  lock.unlock();
  std::this_thread::sleep_for(duration);
  lock.lock();
}

bool any_is_left() {
  std::erase_if(unasked().calls, [](const auto& call) { return call->done; });
  return !unasked().calls.empty();
}

/// Whether all other threads of the process sleep. A thread that waits for a processor does not
/// count as asleep.
bool others_sleep() {
  const std::string me = std::to_string(gettid());
  std::error_code has_ended;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", has_ended)) {
    if (task.path().filename() == me) continue;
    std::ifstream file(task.path() / "stat");
    std::string words;
    std::getline(file, words);
    const auto state = words.rfind(") ");
    if (state != std::string::npos && words[state + 2] != 'S') return false;
  }
  return true;
}

/// Returns when the program probably waits: it makes no calls of the runtime, and its threads
/// sleep. Threads that compute for a quarter of a second without a call also count as waiting,
/// because they may be polling.
void wait_until_it_waits(Lock& lock) {
  constexpr unsigned looks = 3;
  constexpr std::clock_t long_work = CLOCKS_PER_SEC / 4;
  std::uint64_t calls = calls_of_runtime();
  std::clock_t since = std::clock();
  for (unsigned asleep = 0; asleep < looks && std::clock() - since < long_work && any_is_left();) {
    pause(lock, std::chrono::milliseconds(10));
    const bool is_calling = calls_of_runtime() != calls;
    asleep = !is_calling && others_sleep() ? asleep + 1 : 0;
    if (!is_calling) continue;
    calls = calls_of_runtime();
    since = std::clock();
  }
}

void watch() {
  Lock lock(runtime_mutex());
  while (any_is_left()) {
    wait_until_it_waits(lock);
    for (const auto calls = unasked().calls;
         std::any_of(calls.begin(), calls.end(), [](const auto& call) { return !call->done; });
         pause(lock, std::chrono::milliseconds(1)))
      for (const OperationPointer& call : calls)
        while (!call->done && advance(call)) {
        }
  }
  unasked().watched = false;
}

}  // namespace

void call_unasked(const OperationPointer& operation) {
  unasked().calls.push_back(operation);
  if (!unasked().watched) std::thread(watch).detach();
  unasked().watched = true;
}

unsigned threads_for_unasked_calls() { return unasked().watched ? 1 : 0; }

}  // namespace cuda_on_cpu
