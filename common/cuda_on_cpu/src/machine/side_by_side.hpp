/// \file
/// Blocks of a launch of which the analysis leaves some out: these run side by side, as long as
/// their order does not matter, and each of the others runs when all before it have ended.

#pragma once

#include <condition_variable>
#include <mutex>
#include <set>

namespace cuda_on_cpu {

/// Blocks are named by when it was their turn to begin.
class SideBySide {
 public:
  /// Waits until a block may begin. Blocks ask in the order of their turns.
  /// \param alone whether no other may run meanwhile
  void begin(unsigned turn, bool alone);

  /// Whether a block that has begun may run beside others.
  bool is_beside(unsigned turn);

  /// A block that runs beside others comes to what has an order among blocks: it waits until all
  /// before it have ended, and none runs beside it. Those that begin later run alone at once.
  void go_on_alone(unsigned turn);

  void end(unsigned turn);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<unsigned> beside_;   ///< that run beside each other
  std::set<unsigned> waiting_;  ///< to go on alone
  bool alone_ = false;          ///< whether one runs that does so alone
  bool in_order_ = false;       ///< whether the order of blocks has mattered
};

}  // namespace cuda_on_cpu
