/// \file
/// Counts, in a stage for the processor, memory accesses, misses of a small cache, OpenMP regions,
/// barriers and tasks. This file also detects races between two threads of a team.
///
/// The stage is compiled with -fsanitize=thread, which calls a function before each access. The
/// stage is linked with this file instead of the sanitizer's library. Each process writes its
/// counts to a file in the directory STAIRCASE_ACCESSES.
///
/// Two accesses to the same four bytes race if they belong to different threads and are between the
/// same two barriers of a region. At least one of the accesses must be a write, and neither may be
/// atomic or in a critical section.

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

extern "C" char __executable_start;

namespace {

/// The counters of rare events, which all threads share.
struct Totals {
  std::atomic<long> regions{0}, team_threads{0}, team_barriers{0}, tasks{0};
};
Totals totals;

/// Models a cache of 32 KiB with lines of 64 bytes: 64 sets of 8 ways, with LRU replacement.
class Cache {
 public:
  bool misses(std::uintptr_t line) {
    auto& set = sets_[line % sets_.size()];
    std::size_t way = 0;
    while (way + 1 < set.size() && set[way] != line) ++way;
    const bool missed = set[way] != line;
    for (; way > 0; --way) set[way] = set[way - 1];
    set[0] = line;
    return missed;
  }

 private:
  std::array<std::array<std::uintptr_t, 8>, 64> sets_{};
};

/// The counters of one thread.
struct Counts {
  long reads = 0, writes = 0, vectors = 0, lines = 0;
  int protected_by = 0;  ///< number of critical sections that the thread is in
  long epoch = 0;        ///< number of its team's barriers so far in the region
  int number = 0;        ///< index of the thread in its team
  Cache cache;
  Counts* before = nullptr;  ///< counters of the previously created thread
};
std::atomic<Counts*> last_counts{nullptr};

/// The counters of the calling thread. The counters are never freed, because the threads of the
/// OpenMP runtime do not end.
Counts& my_counts() {
  thread_local Counts* mine = nullptr;
  if (mine == nullptr) {
    mine = new Counts;
    mine->before = last_counts.load();
    while (!last_counts.compare_exchange_weak(mine->before, mine)) {
    }
  }
  return *mine;
}

// --- Races

std::atomic<bool> in_region{false}, has_tasks{false};
std::atomic<long> regions_begun{0};

/// An access of one thread in one epoch.
struct Access {
  int thread;  ///< index in the team + 1; 0 if there is no access
  long epoch;
  void* at;  ///< return address of the callback
};

/// A shadow cell: the last accesses to four bytes. Distant addresses may share a cell; the later
/// access then replaces the earlier ones. The cells are zero-initialised, so that unused cells
/// occupy no memory.
struct Cell {
  std::uintptr_t address;
  long region;
  Access write, read, read_by_another;  ///< the last two are reads by different threads
};
constexpr std::size_t cell_count = std::size_t{1} << 20, lock_count = 256;

std::array<Cell, cell_count> cells;
std::array<std::mutex, lock_count> locks;

std::atomic<void*> race_now{nullptr}, race_before{nullptr};
std::atomic<bool> race_writes{false};

/// Stores a race, unless another race has been stored already.
void record_race(void* now, void* before, bool both_write) {
  void* none = nullptr;
  if (!race_now.compare_exchange_strong(none, now)) return;
  race_before = before;
  race_writes = both_write;
}

/// Checks an access to four bytes against the earlier accesses in its shadow cell, and stores the
/// access in the cell.
void check_access(std::uintptr_t address, bool writes, void* at) {
  const std::size_t index = (address >> 2) % cell_count;
  const std::scoped_lock lock(locks[index % lock_count]);
  Cell& cell = cells[index];
  const long region = regions_begun.load(std::memory_order_relaxed);
  const Access now{my_counts().number + 1, my_counts().epoch, at};
  const auto races = [&now](const Access& before) {
    return before.thread != 0 && before.thread != now.thread && before.epoch == now.epoch;
  };
  if (cell.address != address || cell.region != region) cell = {address, region, {}, {}, {}};
  if (races(cell.write)) record_race(at, cell.write.at, writes);
  if (writes) {
    for (const Access& read : {cell.read, cell.read_by_another})
      if (races(read)) record_race(at, read.at, false);
    cell.write = now;
  } else {
    if (cell.read.thread != now.thread) cell.read_by_another = cell.read;
    cell.read = now;
  }
}

// --- Accesses

/// The place of the first read of an array element that still has its initial value, NaN.
std::atomic<void*> unwritten_read{nullptr};

/// Whether a value is the quiet NaN with which the harness initialises arrays. On x86-64, a
/// computation results in another NaN, whose sign is set.
bool is_initial_value(const void* address, std::size_t bytes) {
  const auto holds = [&](auto nan) { return std::memcmp(address, &nan, sizeof nan) == 0; };
  return (bytes == 8 && holds(std::numeric_limits<double>::quiet_NaN())) ||
         (bytes == 4 && holds(std::numeric_limits<float>::quiet_NaN()));
}

void access(const void* address, std::size_t bytes, bool writes, void* at) {
  Counts& counts = my_counts();
  ++(writes ? counts.writes : counts.reads);
  counts.vectors += bytes > 8 ? 1 : 0;
  if (!writes && is_initial_value(address, bytes)) {
    void* none = nullptr;
    unwritten_read.compare_exchange_strong(none, at);
  }
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  for (std::uintptr_t line = first / 64; line <= (first + bytes - 1) / 64; ++line)
    counts.lines += counts.cache.misses(line) ? 1 : 0;
  if (!in_region || has_tasks || counts.protected_by > 0) return;
  for (std::uintptr_t part = first & ~std::uintptr_t{3}; part < first + bytes; part += 4)
    check_access(part, writes, at);
}

void write_counts() {
  Counts sum;
  long busiest = 0;  // number of accesses of the thread with the most accesses
  for (const Counts* each = last_counts; each != nullptr; each = each->before) {
    sum.reads += each->reads;
    sum.writes += each->writes;
    sum.vectors += each->vectors;
    sum.lines += each->lines;
    busiest = std::max(busiest, each->reads + each->writes);
  }
  const char* directory = std::getenv("STAIRCASE_ACCESSES");
  if (directory == nullptr) return;
  const std::string path = std::string(directory) + "/" + std::to_string(getpid()) + ".accesses";
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return;
  const auto offset = [](void* at) {
    return at == nullptr ? 0L : static_cast<long>(static_cast<char*>(at) - &__executable_start);
  };
  std::fprintf(
      file,
      "{\"reads\": %ld, \"writes\": %ld, \"busiest\": %ld, \"vectors\": %ld, \"lines\": %ld, "
      "\"regions\": %ld, \"team_threads\": %ld, "
      "\"team_barriers\": %ld, \"tasks\": %ld, \"race\": [%ld, %ld], \"both_write\": %s, "
      "\"unwritten_read\": %ld}\n",
      sum.reads, sum.writes, busiest, sum.vectors, sum.lines, totals.regions.load(),
      totals.team_threads.load(), totals.team_barriers.load(), totals.tasks.load(),
      offset(race_now), offset(race_before), race_writes ? "true" : "false",
      offset(unwritten_read));
  std::fclose(file);
}

/// The next function with this name in the order of dynamic linking. The function in this file
/// replaces that function.
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// The body of a parallel region. `numbers` assigns indices to the threads of the team.
struct Body {
  void (*function)(void*);
  void* data;
  std::atomic<int> numbers{0};
};

void run_body(void* argument) {
  auto& body = *static_cast<Body*>(argument);
  my_counts().number = body.numbers++;
  my_counts().epoch = 0;
  body.function(body.data);
}

}  // namespace

extern "C" {

// --- Interceptors of functions of the OpenMP runtime

void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags) {
  static auto* const real = next<void(void (*)(void*), void*, unsigned, unsigned)>("GOMP_parallel");
  ++totals.regions;
  ++regions_begun;
  static auto* const most_threads = next<int()>("omp_get_max_threads");
  totals.team_threads += threads != 0 ? static_cast<long>(threads) : most_threads();
  const bool outermost = !in_region.exchange(true);
  Body body{function, data};
  real(run_body, &body, threads, flags);
  if (outermost) in_region = false;
}

void GOMP_barrier() {
  static auto* const real = next<void()>("GOMP_barrier");
  ++totals.team_barriers;
  real();
  ++my_counts().epoch;
}

void GOMP_loop_end() {
  static auto* const real = next<void()>("GOMP_loop_end");
  ++totals.team_barriers;
  real();
  ++my_counts().epoch;
}

void GOMP_critical_start() {
  static auto* const real = next<void()>("GOMP_critical_start");
  real();
  ++my_counts().protected_by;
}

void GOMP_critical_end() {
  static auto* const real = next<void()>("GOMP_critical_end");
  --my_counts().protected_by;
  real();
}

void GOMP_atomic_start() {
  static auto* const real = next<void()>("GOMP_atomic_start");
  real();
  ++my_counts().protected_by;
}

void GOMP_atomic_end() {
  static auto* const real = next<void()>("GOMP_atomic_end");
  --my_counts().protected_by;
  real();
}

void GOMP_task(void (*function)(void*), void* data, void (*copy)(void*, void*), long size,
               long alignment, bool condition, unsigned flags, void** depends, int priority,
               void* detach) {
  static auto* const real = next<void(void (*)(void*), void*, void (*)(void*, void*), long, long,
                                      bool, unsigned, void**, int, void*)>("GOMP_task");
  ++totals.tasks;
  has_tasks = true;
  real(function, data, copy, size, alignment, condition, flags, depends, priority, detach);
}

// --- Callbacks of -fsanitize=thread

#define CALLBACKS(bytes)                                                                     \
  void __tsan_read##bytes(void* p) { access(p, bytes, false, __builtin_return_address(0)); } \
  void __tsan_write##bytes(void* p) { access(p, bytes, true, __builtin_return_address(0)); } \
  void __tsan_unaligned_read##bytes(void* p) {                                               \
    access(p, bytes, false, __builtin_return_address(0));                                    \
  }                                                                                          \
  void __tsan_unaligned_write##bytes(void* p) {                                              \
    access(p, bytes, true, __builtin_return_address(0));                                     \
  }

#define ATOMICS(bits, T)                                                                         \
  T __tsan_atomic##bits##_load(const T* p, int) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); } \
  void __tsan_atomic##bits##_store(T* p, T v, int) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); } \
  T __tsan_atomic##bits##_exchange(T* p, T v, int) {                                             \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                          \
  }                                                                                              \
  T __tsan_atomic##bits##_fetch_add(T* p, T v, int) {                                            \
    return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                           \
  }                                                                                              \
  T __tsan_atomic##bits##_fetch_sub(T* p, T v, int) {                                            \
    return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST);                                           \
  }                                                                                              \
  T __tsan_atomic##bits##_fetch_or(T* p, T v, int) {                                             \
    return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);                                            \
  }                                                                                              \
  T __tsan_atomic##bits##_fetch_and(T* p, T v, int) {                                            \
    return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);                                           \
  }                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_strong(T* p, T* e, T v, int, int) {                 \
    return __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
  }                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_weak(T* p, T* e, T v, int, int) {                   \
    return __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
  }

CALLBACKS(1)
CALLBACKS(2)
CALLBACKS(4)
CALLBACKS(8)
CALLBACKS(16)
ATOMICS(8, std::uint8_t)
ATOMICS(16, std::uint16_t)
ATOMICS(32, std::uint32_t)
ATOMICS(64, std::uint64_t)

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_read_range(void* p, std::size_t bytes) {
  access(p, bytes, false, __builtin_return_address(0));
}
void __tsan_write_range(void* p, std::size_t bytes) {
  access(p, bytes, true, __builtin_return_address(0));
}
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) access(from, bytes, false, __builtin_return_address(0));
  if (bytes > 0) access(to, bytes, true, __builtin_return_address(0));
  return std::memcpy(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  if (bytes > 0) access(to, bytes, true, __builtin_return_address(0));
  return std::memset(to, value, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) access(from, bytes, false, __builtin_return_address(0));
  if (bytes > 0) access(to, bytes, true, __builtin_return_address(0));
  return std::memmove(to, from, bytes);
}

void __tsan_init() {
  static bool once = false;
  if (!std::exchange(once, true)) std::atexit(write_counts);
}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

}  // extern "C"
