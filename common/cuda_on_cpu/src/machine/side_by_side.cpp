#include "side_by_side.hpp"

#include <algorithm>

namespace cuda_on_cpu {

bool SideBySide::may_begin(unsigned turn, bool left_out) const {
  if (in_order_)
    return !alone_ && beside_.empty() && (waiting_.empty() || *waiting_.begin() > turn);
  return left_out || (!alone_ && (beside_.empty() || *beside_.begin() > turn));
}

unsigned SideBySide::take(unsigned blocks, const std::function<bool(unsigned turn)>& is_left_out) {
  constexpr unsigned farthest = 1024;  // limits the log of writes by blocks that began early
  std::unique_lock lock(mutex_);
  for (;; changed_.wait(lock)) {
    if (failed_ || begun_ >= blocks) return blocks;
    unsigned turn = begun_;
    bool left_out = is_left_out(turn);
    if (!may_begin(turn, left_out)) {
      if (in_order_) continue;
      const unsigned end = std::min(blocks, begun_ + farthest);
      next_ahead_ = std::max(next_ahead_, begun_ + 1);
      while (next_ahead_ < end && !is_left_out(next_ahead_)) ++next_ahead_;
      if (next_ahead_ >= end) continue;
      turn = next_ahead_++;
      left_out = true;
    }
    ahead_.insert(turn);
    while (ahead_.erase(begun_) != 0) ++begun_;
    if (left_out && !in_order_)
      beside_.insert(turn);
    else
      alone_ = true;
    return turn;
  }
}

bool SideBySide::is_beside(unsigned turn) {
  const std::scoped_lock lock(mutex_);
  return beside_.contains(turn);
}

bool SideBySide::go_on_alone(unsigned turn) {
  std::unique_lock lock(mutex_);
  in_order_ = true;
  beside_.erase(turn);
  waiting_.insert(turn);
  changed_.notify_all();
  changed_.wait(lock, [&] {
    return failed_ || (!alone_ && beside_.empty() && *waiting_.begin() == turn && begun_ > turn);
  });
  waiting_.erase(turn);
  alone_ = !failed_;
  return alone_;
}

void SideBySide::end(unsigned turn) {
  const std::scoped_lock lock(mutex_);
  if (beside_.erase(turn) == 0) alone_ = false;
  changed_.notify_all();
}

void SideBySide::fail() {
  const std::scoped_lock lock(mutex_);
  failed_ = true;
  changed_.notify_all();
}

}  // namespace cuda_on_cpu
