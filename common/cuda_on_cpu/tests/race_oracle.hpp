/// \file
/// An oracle for the race detector: the graph of happens-before of an execution, in which it looks at
/// every pair of accesses to every byte; and random kernels to ask it about.
///
/// A kernel is data: one list of operations for each thread, which one compiled kernel executes.
/// Operations that write an atomic variable store values of which no two are equal, so that what an
/// operation has read says which one it has read from.

#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace race_oracle {

enum Kind : std::uint8_t {
  nothing,
  load,
  store,
  update,
  copy_from,
  copy_to,
  exchange,
  exchange_in_block,
  atomic_load,
  atomic_store,
  volatile_load,
  fence,
  fence_in_block,
  meet_warp,
  meet_block
};

struct Op {
  Kind kind = nothing;
  std::uint8_t bytes = 4;
  std::uint8_t at = 0;      ///< the first byte
  bool in_shared = false;   ///< of the block's memory, not of the grid's
  std::uint32_t value = 0;  ///< that it writes, which no other writes; of lanes: their mask
};

constexpr unsigned memory_bytes = 64;

struct Kernel {
  unsigned blocks = 1, threads = 1, per_thread = 0;
  unsigned before = 0;                     ///< operations of kernels before this one
  std::vector<std::vector<Op>> of_thread;  ///< of all blocks

  unsigned all_threads() const { return blocks * threads; }
};

/// Gives each thread as many operations, and each operation its number.
std::vector<Op> laid_out(Kernel& kernel);

/// Whether two accesses of an execution race.
/// \param ops of all threads, one thread after the other
/// \param seen what operations on atomic variables have read
bool has_race(const Kernel& kernel, const std::vector<Op>& ops, const std::vector<unsigned>& seen);

/// The two accesses, if there are any, and all operations, as comments of TAP.
std::string text_of(const Kernel& kernel, const std::vector<Op>& ops,
                    const std::vector<unsigned>& seen);

/// A random kernel.
Kernel kernel_of(std::uint64_t seed);

/// A kernel of which the answer is known.
struct Litmus {
  const char* name;
  Kernel kernel;
  bool race;
};

std::vector<Litmus> litmus_tests();

}  // namespace race_oracle
