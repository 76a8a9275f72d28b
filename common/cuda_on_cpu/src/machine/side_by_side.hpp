/// \file
/// Runs the blocks of a launch from which the analysis leaves some blocks out. Blocks that are left
/// out run concurrently as long as their order does not matter. The analysed blocks run one after
/// the other.

#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>

namespace cuda_on_cpu {

/// Schedules the blocks of a launch. A block is identified by its position in the order in which
/// blocks begin (`turn`). An analysed block begins when all earlier blocks have ended. Later blocks
/// that the analysis leaves out may run concurrently.
class SideBySide {
 public:
  /// Waits until a block may begin.
  /// \param is_left_out whether the analysis leaves out the block with this position
  /// \returns the position of a block that may begin: the first one that has not begun or, while
  /// that block has to wait, a later one that is left out. If all blocks have begun, or if the
  /// launch has failed, the result is `blocks`.
  unsigned take(unsigned blocks, const std::function<bool(unsigned turn)>& is_left_out);

  /// Whether a block that has begun may run concurrently with others.
  bool is_beside(unsigned turn);

  /// A concurrent block calls this function before an operation whose order among blocks matters.
  /// Waits until all earlier blocks have ended and no block runs concurrently. Afterwards, blocks
  /// begin one by one.
  /// \returns false if the launch has failed
  bool go_on_alone(unsigned turn);

  void end(unsigned turn);

  /// Marks the launch as failed: no other block begins.
  void fail();

 private:
  bool may_begin(unsigned turn, bool left_out) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned begun_ = 0;          ///< position of the first block that has not begun
  std::set<unsigned> ahead_;    ///< positions of blocks that have begun out of order
  unsigned next_ahead_ = 0;     ///< the next position to examine for a block that may begin early
  std::set<unsigned> beside_;   ///< blocks that run concurrently
  std::set<unsigned> waiting_;  ///< blocks that wait to continue alone
  bool alone_ = false;          ///< whether an analysed block or a block that continues alone runs
  bool in_order_ = false;       ///< whether the order of blocks has mattered
  bool failed_ = false;
};

}  // namespace cuda_on_cpu
