/// \file
/// Records the accesses of running functions, by iteration of their loops.
///
/// The functions are compiled with -fsanitize=thread, which calls a function for each access to
/// memory. oracle.cpp defines these functions, and is linked instead of the sanitizer's library.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

/// A function whose accesses are not recorded.
#define OUTSIDE __attribute__((no_sanitize("thread")))

namespace oracle {

/// Mark the start of a loop, the start of an iteration, and the end of a loop.
void enter(int loop);
void iterate(int loop);
void leave(int loop);

/// An object whose destructor marks the end of a loop, however the loop is left.
class Run {
 public:
  explicit Run(int loop) : loop_(loop) { enter(loop); }
  ~Run() { leave(loop_); }
  Run(const Run&) = delete;

 private:
  int loop_;
};

/// Declares an object to which accesses are recorded. Accesses to other memory of the stack and the
/// heap are ignored.
void remember(const volatile void* address, std::size_t size);
template <typename T>
void object(T& declared) {
  remember(&declared, sizeof declared);
}

/// Declares a clause of OpenMP for an object: 'p'rivate, 'f'irstprivate, 'l'astprivate, 'b'oth
/// firstprivate and lastprivate, or 'r'eduction.
/// \param is_seen whether the caller of the function can read the object
void clause(int loop, char kind, const volatile void* address, std::size_t size, bool is_seen);
template <typename T>
void clause_of(int loop, char kind, T& object, bool is_seen) {
  clause(loop, kind, &object, sizeof object, is_seen);
}

/// Records that the function has returned. The function's own objects no longer exist, and other
/// objects may reuse their memory.
void returned();

/// Excludes accesses to a loop's counter from the recorded accesses of the loop.
template <typename T>
void counter_of(int loop, T& counter) {
  clause(loop, 'c', &counter, sizeof counter, false);
}

/// The indices of iterations in a random order.
std::vector<std::size_t> order(std::size_t count);

/// The values that a run computes.
class State {
 public:
  OUTSIDE void add(double value) { values_[count_ < most ? count_++ : 0] = value; }
  template <typename T>
  OUTSIDE void add_all(const T* elements, std::size_t count) {
    for (std::size_t e = 0; e < count; ++e) add(static_cast<double>(elements[e]));
  }
  const double* begin() const { return values_; }
  const double* end() const { return values_ + count_; }

 private:
  static constexpr std::size_t most = 16384;
  double values_[most];
  std::size_t count_ = 0;
};

/// A random number generator that is fast without compiler optimisation.
class Numbers {
 public:
  OUTSIDE explicit Numbers(unsigned seed) : state_(seed * 2862933555777941757UL + 3037000493UL) {}
  OUTSIDE long some(long least, long most) {
    state_ = state_ * 6364136223846793005UL + 1442695040888963407UL;
    return least + static_cast<long>((state_ >> 33) % static_cast<unsigned long>(most - least + 1));
  }

 private:
  unsigned long state_;
};

/// How the names of a function share memory in a trial.
struct Trial {
  unsigned seed = 0;
  std::string one, other;  ///< the two names that share memory, or empty
  long shift = 0;
};

using Call = void (*)(const Trial& trial, State& state);

/// A function, and variants of it that each permute the iterations of one loop.
struct Tested {
  int number;
  std::vector<std::string> names;  ///< names whose memory may overlap
  Call logged;
  std::vector<Call> permuted;
};

/// Runs the trials of all functions, and prints a line for each trial.
int run(const std::vector<Tested>& functions, int argc, char** argv);

}  // namespace oracle
