/// \file
/// Blocks of a launch of which the analysis leaves some out: these run side by side, as long as
/// their order does not matter, and the others one after the other.

#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>

namespace cuda_on_cpu {

/// Blocks are named by when it is their turn to begin. One that is analysed runs when all before it
/// have ended, beside some of those behind it.
class SideBySide {
 public:
  /// Waits until a block may begin.
  /// \param is_left_out says it of the block whose turn it is
  /// \returns whose turn it is: that of the first that has not begun or, while this one has to
  /// wait, of one behind it that is left out; `blocks` if there is none
  unsigned take(unsigned blocks, const std::function<bool(unsigned turn)>& is_left_out);

  /// Whether a block that has begun may run beside others.
  bool is_beside(unsigned turn);

  /// A block that runs beside others comes to what has an order among blocks: it waits until all
  /// before it have ended, and none runs beside it. From then on, blocks begin one by one.
  /// \returns false if the launch has failed
  bool go_on_alone(unsigned turn);

  void end(unsigned turn);

  /// The launch has failed: no other block begins.
  void fail();

 private:
  bool may_begin(unsigned turn, bool left_out) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned begun_ = 0;          ///< that many have begun, from the first on
  std::set<unsigned> ahead_;    ///< that have begun behind one that has not
  unsigned next_ahead_ = 0;     ///< behind the last of them
  std::set<unsigned> beside_;   ///< that run beside each other
  std::set<unsigned> waiting_;  ///< to go on alone
  bool alone_ = false;          ///< whether one runs that is not left out, or does so alone
  bool in_order_ = false;       ///< whether the order of blocks has mattered
  bool failed_ = false;
};

}  // namespace cuda_on_cpu
