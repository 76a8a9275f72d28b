/// \file
/// Vector clocks of threads. A clock has a component for each synchronisation variable: the number
/// of its releases that the thread has acquired.
///
/// A grid has more threads than synchronisation variables, and a read of an atomic variable
/// acquires all earlier releases of this variable at once. With one component per variable instead
/// of one per thread, the cost of acquire and release does not depend on the number of threads.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "clock_map.hpp"

namespace cuda_on_cpu::analysis {

class SyncVariable;

/// The index of a block's gang: its cluster, or the whole grid if the launch is cooperative.
std::uint32_t gang_of(const Configuration& configuration, std::uint32_t block);

/// The releases that a thread has acquired, directly or through other threads.
class VectorClock {
 public:
  using Component = std::pair<SyncVariable*, std::uint32_t>;

  bool empty() const { return all_.empty(); }
  void clear() { all_.clear(); }
  void raise(SyncVariable* variable, std::uint32_t releases);
  void join(const VectorClock& other);
  /// The component of a variable; 0 if the clock has none.
  std::uint32_t of(SyncVariable* variable) const;
  std::size_t size() const { return all_.size(); }

  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<Component> all_;  // sorted by the address of the variable
};

/// The clock of each thread's last fence before a barrier, by the rank of the thread in its block.
using FenceClocks = std::shared_ptr<const std::vector<std::uint32_t>>;

/// The maximum, for each thread, of two arrays of fence clocks.
FenceClocks latest(const FenceClocks& now, const FenceClocks& before);

/// A release of a thread. `own`, `warp` and `block` are the clocks of the block up to which the
/// release covers accesses.
struct Release {
  std::uint32_t position = 0;  ///< index among the releases of the variable, from 1
  std::uint32_t own = 0;       ///< clock for accesses of the thread itself
  std::uint32_t warp = 0;      ///< clock for accesses of its warp: the maximum over the warp's
                               ///< releases
  std::uint32_t block = 0;     ///< clock for accesses of all threads of its block
  std::uint32_t itself = 0;    ///< clock of the atomic operation that releases
  std::uint32_t before = 0;    ///< index of the thread's previous release, from 1, or 0
  std::uint32_t before_of_warp = 0;  ///< index of the previous release of the thread's warp, from
                                     ///< 1, or 0
  std::uint32_t gang_waits = 0;      ///< number of barriers that the gang has passed, for accesses
                                     ///< of its blocks
  std::uint16_t thread = 0;
  FenceClocks fences = {};
};

/// An object that threads use to synchronise: an atomic variable, a barrier object, or an operation
/// of some lanes of a warp.
class SyncVariable {
 public:
  explicit SyncVariable(const void* address = nullptr, std::size_t bytes = 0)
      : address_(reinterpret_cast<std::uintptr_t>(address)), bytes_(bytes) {}

  /// Adds a release of a thread.
  /// \param known_to_thread the vector clock of the thread
  /// \param gang index of the thread's gang in a launch of this configuration
  void release(std::uint32_t operation, std::uint32_t block, Release release,
               const VectorClock& known_to_thread, std::uint32_t gang,
               const Configuration& configuration);
  std::uint32_t releases() const { return releases_; }
  std::size_t bytes() const { return bytes_; }

  /// The joined vector clocks of the threads that have made releases at this variable.
  VectorClock known = {};
  ClockMap clocks_of_host = {};

  /// Whether one of the first `releases` releases covers an access of a thread.
  /// \param address address of the access, or null
  bool covers(std::uint32_t releases, const Event& then, std::uint16_t thread,
              const void* address) const;
  bool covers_gang(std::uint32_t releases, const Event& then) const;

  /// Whether `operation` happens before an operation that made one of the first `releases`
  /// releases.
  bool is_done_before(std::uint32_t operation, std::uint32_t releases) const;

  /// Copies the releases of one block from another variable.
  void copy_releases(const SyncVariable& other, std::uint32_t operation, std::uint32_t block);

  /// Calls `add(operation, block, release)` for each of the first `releases` releases.
  template <typename Add>
  void for_each(std::uint32_t releases, const Add& add) const {
    for (const auto& [key, of_block] : by_block_)
      for (const Release& release : of_block.all)
        if (release.position <= releases)
          add(static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key), release);
  }

 private:
  struct OfBlock {
    std::vector<Release> all;
    std::vector<std::uint32_t> last;  ///< index of the last release of each thread, from 1, or 0
    std::vector<std::uint32_t> last_of_warp;  ///< index of the last release of each warp, from 1,
                                              ///< or 0
    VectorClock known;  ///< joined clocks of the block's threads at their releases

    const Release* last_of(std::uint16_t thread, std::uint32_t releases) const;
    const Release* last_of_warp_of(std::uint16_t thread, std::uint32_t releases) const;
    bool covers(std::uint32_t releases, const Event& then, std::uint16_t thread,
                bool is_here) const;
  };
  struct At {
    std::uint32_t position, gang_waits;
  };
  struct OfGangs {  // the gangs of one launch
    Configuration configuration;
    std::unordered_map<std::uint32_t, std::vector<At>> by_gang = {};
  };

  std::uintptr_t address_;
  std::size_t bytes_;
  std::uint32_t releases_ = 0;
  std::unordered_map<std::uint64_t, OfBlock> by_block_ = {};  // keys: operation and block
  std::unordered_map<std::uint32_t, OfGangs> of_gangs_ = {};  // keys: operation
  /// Operations that have made releases, each with the position of its first release.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> operations_ = {};
};

/// The variables at which a block has made releases, or null. No other variable can cover an access
/// of the block.
/// \param key `key_of(operation, block)`
const std::vector<SyncVariable*>* variables_of_block(std::uint64_t key);
/// Clears the lists of variables of all blocks. The caller then frees the variables.
void forget_variables_of_blocks();

}  // namespace cuda_on_cpu::analysis
