#include "oracle.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <unordered_map>

extern char __data_start, _end;  // NOLINT: the linker defines these symbols

namespace oracle {
namespace {

constexpr long most_iterations = 2000;

using Cell = std::uint64_t;  ///< a byte: the index of its object, and its address

struct Range {
  std::uintptr_t first, last;
  std::uint64_t object;
};

struct Clause {
  char kind;
  std::uintptr_t first, last;
  bool is_seen;
};

/// The iterations that access a byte: none, one or several.
struct Uses {
  long reader = none, writer = none;  ///< the index of an iteration
  static constexpr long none = -2, several = -3;
};

/// The findings on a loop, over all its runs in a trial.
struct Found {
  bool conflicts = false;  ///< dependences on memory that no clause names
  std::string broken;      ///< how a clause changes the results of the function
};

struct Running {
  int loop;
  long iteration = -1;
  std::vector<Clause> clauses;
  std::unordered_map<Cell, Uses> uses;
  std::unordered_map<std::uintptr_t, long> last_write;  ///< the last iteration that writes a byte
                                                        ///< that a clause names
};

struct Pending {
  int loop;
  char kind;
  bool is_seen;
};

std::vector<Range> objects;
std::uint64_t objects_made = 1;
std::vector<Running> running;
std::map<int, Found> found;
std::map<std::uintptr_t, Pending> pending;  ///< bytes whose value is undefined after a loop
std::map<int, std::vector<Clause>> clauses_of_next;
bool is_logging = false;
long iterations = 0;
std::mt19937 shuffling;

std::uint64_t object_at(std::uintptr_t address) {
  for (std::size_t o = objects.size(); o-- > 0;)
    if (address >= objects[o].first && address < objects[o].last) return objects[o].object;
  const bool is_static = address >= reinterpret_cast<std::uintptr_t>(&__data_start) &&
                         address < reinterpret_cast<std::uintptr_t>(&_end);
  return is_static ? 1 : 0;
}

const Clause* clause_at(const Running& run, std::uintptr_t address) {
  for (const Clause& clause : run.clauses)
    if (address >= clause.first && address < clause.last) return &clause;
  return nullptr;
}

void break_clause(int loop, const std::string& how) {
  if (found[loop].broken.empty()) found[loop].broken = how;
}

void use_private(Running& run, const Clause& clause, std::uintptr_t byte, bool is_write) {
  const auto [at, is_new] = run.last_write.try_emplace(byte, Uses::none);
  if (is_write) {
    at->second = run.iteration;
    return;
  }
  if (at->second == run.iteration) return;
  if (clause.kind == 'p' || clause.kind == 'l') break_clause(run.loop, "reads no value");
  const bool takes_value = clause.kind == 'f' || clause.kind == 'b';
  if (takes_value && at->second != Uses::none) break_clause(run.loop, "reads another value");
}

void use(std::uintptr_t byte, bool is_write) {
  const std::uint64_t object = object_at(byte);
  if (object == 0) return;
  const Cell cell = object << 48 ^ byte;
  bool is_private = false;
  for (Running& run : running) {
    if (run.iteration < 0) continue;
    if (const Clause* clause = clause_at(run, byte)) {
      is_private = is_private || clause->kind != 'c';
      if (clause->kind != 'c' && clause->kind != 'r') use_private(run, *clause, byte, is_write);
      continue;
    }
    Uses& uses = run.uses[cell];
    const bool other_wrote = uses.writer != Uses::none && uses.writer != run.iteration;
    const bool other_read = uses.reader != Uses::none && uses.reader != run.iteration;
    if (other_wrote || (is_write && other_read)) found[run.loop].conflicts = true;
    long& mine = is_write ? uses.writer : uses.reader;
    mine = mine == Uses::none || mine == run.iteration ? run.iteration : Uses::several;
  }
  if (is_private || pending.empty()) return;
  const auto lost = pending.find(byte);
  if (lost == pending.end()) return;
  if (!is_write) break_clause(lost->second.loop, "a value is read after the loop");
  pending.erase(lost);
}

void access(const volatile void* address, std::size_t size, bool is_write) {
  if (!is_logging) return;
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  for (std::size_t b = 0; b < size; ++b) use(first + b, is_write);
}

void end_run(Running& run) {
  for (const auto& [byte, last] : run.last_write) {
    const Clause* clause = clause_at(run, byte);
    if (!clause || last == Uses::none) continue;
    const bool leaves_value = clause->kind == 'l' || clause->kind == 'b';
    if (leaves_value && last == run.iteration) continue;
    pending[byte] = {run.loop, clause->kind, clause->is_seen};
  }
  for (const Clause& clause : run.clauses)
    if ((clause.kind == 'l' || clause.kind == 'b') && run.iteration >= 0)
      for (std::uintptr_t byte = clause.first; byte < clause.last; ++byte)
        if (const auto at = run.last_write.find(byte);
            at == run.last_write.end() || at->second != run.iteration)
          pending[byte] = {run.loop, clause.kind, clause.is_seen};
}

}  // namespace

void enter(int loop) {
  if (!is_logging) return;
  running.push_back({loop, -1, clauses_of_next[loop], {}, {}});
  clauses_of_next[loop].clear();
}

void iterate(int loop) {
  if (++iterations > most_iterations) {
    std::printf("endless\n");
    std::fflush(stdout);
    _exit(3);
  }
  for (Running& run : running)
    if (run.loop == loop) ++run.iteration;
}

void leave(int loop) {
  if (!is_logging) return;
  while (!running.empty()) {
    const bool is_it = running.back().loop == loop;
    const bool is_open = std::any_of(running.begin(), running.end(),
                                     [&](const Running& run) { return run.loop == loop; });
    if (!is_open) return;
    end_run(running.back());
    running.pop_back();
    if (is_it) return;
  }
}

void remember(const volatile void* address, std::size_t size) {
  if (!is_logging) return;
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  std::erase_if(objects, [&](const Range& range) {
    return range.first < first + size && range.last > first;
  });
  objects.push_back({first, first + size, ++objects_made});
}

void returned() {
  std::erase_if(pending, [](const auto& each) { return !each.second.is_seen; });
}

void clause(int loop, char kind, const volatile void* address, std::size_t size, bool is_seen) {
  if (!is_logging) return;
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  clauses_of_next[loop].push_back({kind, first, first + size, is_seen});
}

std::vector<std::size_t> order(std::size_t count) {
  std::vector<std::size_t> indices(count);
  for (std::size_t i = 0; i < count; ++i) indices[i] = i;
  std::shuffle(indices.begin(), indices.end(), shuffling);
  return indices;
}

namespace {

bool is_same(const State& one, const State& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
    return a == b || std::fabs(a - b) <= 1e-9 * (std::fabs(a) + 1);
  });
}

/// A digest that does not depend on rounding.
unsigned long digest(const State& state) {
  unsigned long digest = 1469598103934665603UL;
  for (const double value : state) {
    const double rounded = std::isfinite(value) ? std::nearbyint(value * 1024) : 12345;
    unsigned long bits = 0;
    std::memcpy(&bits, &rounded, sizeof bits);
    digest = (digest ^ (rounded == 0 ? 0 : bits)) * 1099511628211UL;
  }
  return digest;
}

void log(const Tested& function, const Trial& trial, State& state) {
  objects.clear();
  running.clear();
  found.clear();
  pending.clear();
  clauses_of_next.clear();
  iterations = 0;
  is_logging = true;
  function.logged(trial, state);
  is_logging = false;
  for (const auto& [byte, lost] : pending)
    if (lost.is_seen) break_clause(lost.loop, "the caller needs a value");
}

void test(const Tested& function, unsigned seed, int trials, bool is_parallel) {
  std::mt19937 random(seed + static_cast<unsigned>(function.number));
  const auto below = [&](std::size_t count) { return random() % count; };
  for (int t = 0; t < trials; ++t) {
    Trial trial{static_cast<unsigned>(random()), "", "", 0};
    if (t > 1 && t % 2 == 0 && function.names.size() > 1) {
      trial.one = function.names[below(function.names.size())];
      trial.other = function.names[below(function.names.size())];
      trial.shift = std::array<long, 5>{0, 0, 1, -1, 2}[below(5)];
      if (trial.one == trial.other) trial.one.clear();
    }
    const bool is_aliased = !trial.one.empty();
    const auto serial = std::make_unique<State>();
    is_parallel ? function.logged(trial, *serial) : log(function, trial, *serial);
    // A function may write to any address on the heap, where stdout has its buffer. The results of
    // a trial therefore stay on the stack until all of its functions have run.
    std::array<char, 1024> line{};
    std::size_t length = 0;
    const auto add = [&](const char* format, auto... values) {
      length += static_cast<std::size_t>(
          std::snprintf(line.data() + length, line.size() - length, format, values...));
    };
    add("%d %d %s %s %lx", function.number, t, is_aliased ? trial.one.c_str() : "-",
        is_aliased ? trial.other.c_str() : "-", digest(*serial));
    const std::map<int, Found> of_loops = found;
    for (std::size_t loop = 0; loop < function.permuted.size() && !is_parallel; ++loop) {
      bool is_free = true;
      for (unsigned again = 0; again < 2 && is_free; ++again) {
        shuffling.seed(trial.seed + again);
        iterations = 0;
        const auto state = std::make_unique<State>();
        function.permuted[loop](trial, *state);
        is_free = is_same(*serial, *state);
      }
      const auto at = of_loops.find(static_cast<int>(loop));
      const Found of_loop = at == of_loops.end() ? Found{} : at->second;
      add(" %s%s%s", of_loop.conflicts ? "c" : "-", is_free ? "-" : "o",
          of_loop.broken.empty()                         ? "-"
          : of_loop.broken == "the caller needs a value" ? "s"
                                                         : "b");
    }
    std::puts(line.data());
    std::fflush(stdout);
  }
}

}  // namespace

int run(const std::vector<Tested>& functions, int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s SEED TRIALS serial|parallel\n", argv[0]);
    return 2;
  }
  const auto seed = static_cast<unsigned>(std::stoul(argv[1]));
  const bool is_parallel = std::string(argv[3]) == "parallel";
  // Each function runs in a separate process, because it may crash or loop forever.
  for (const Tested& function : functions) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      test(function, seed, std::stoi(argv[2]), is_parallel);
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) std::printf("%d crashed %d\n", function.number, status);
  }
  return 0;
}

}  // namespace oracle

// The functions that the compiler calls for each access.
extern "C" {
#define ACCESS(size)                                                                       \
  void __tsan_read##size(void* at) { oracle::access(at, size, false); }                    \
  void __tsan_write##size(void* at) { oracle::access(at, size, true); }                    \
  void __tsan_unaligned_read##size(void* at) { oracle::access(at, size, false); }          \
  void __tsan_unaligned_write##size(void* at) { oracle::access(at, size, true); }          \
  void __tsan_volatile_read##size(void* at) { oracle::access(at, size, false); }           \
  void __tsan_volatile_write##size(void* at) { oracle::access(at, size, true); }           \
  void __tsan_unaligned_volatile_read##size(void* at) { oracle::access(at, size, false); } \
  void __tsan_unaligned_volatile_write##size(void* at) { oracle::access(at, size, true); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
#undef ACCESS
void __tsan_read_range(void* at, unsigned long size) { oracle::access(at, size, false); }
void __tsan_write_range(void* at, unsigned long size) { oracle::access(at, size, true); }
void __tsan_vptr_update(void** at, void*) { oracle::access(at, sizeof *at, true); }
void __tsan_vptr_read(void** at) { oracle::access(at, sizeof *at, false); }
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
void* __tsan_memcpy(void* to, const void* from, unsigned long size) {
  oracle::access(from, size, false);
  oracle::access(to, size, true);
  return std::memcpy(to, from, size);
}
void* __tsan_memmove(void* to, const void* from, unsigned long size) {
  oracle::access(from, size, false);
  oracle::access(to, size, true);
  return std::memmove(to, from, size);
}
void* __tsan_memset(void* to, int value, unsigned long size) {
  oracle::access(to, size, true);
  return std::memset(to, value, size);
}
#define ATOMIC(bits, type)                                                   \
  type __tsan_atomic##bits##_load(const volatile type* at, int) {            \
    oracle::access(at, sizeof(type), false);                                 \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                            \
  }                                                                          \
  void __tsan_atomic##bits##_store(volatile type* at, type value, int) {     \
    oracle::access(at, sizeof(type), true);                                  \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                           \
  }                                                                          \
  type __tsan_atomic##bits##_fetch_add(volatile type* at, type value, int) { \
    oracle::access(at, sizeof(type), true);                                  \
    return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                  \
  }                                                                          \
  type __tsan_atomic##bits##_fetch_sub(volatile type* at, type value, int) { \
    oracle::access(at, sizeof(type), true);                                  \
    return __atomic_fetch_sub(at, value, __ATOMIC_SEQ_CST);                  \
  }                                                                          \
  type __tsan_atomic##bits##_exchange(volatile type* at, type value, int) {  \
    oracle::access(at, sizeof(type), true);                                  \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                 \
  }
ATOMIC(8, unsigned char)
ATOMIC(16, unsigned short)
ATOMIC(32, unsigned int)
ATOMIC(64, unsigned long)
#undef ATOMIC
}
