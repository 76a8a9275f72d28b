#include "side_by_side.hpp"

namespace cuda_on_cpu {

void SideBySide::begin(unsigned turn, bool alone) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return !alone_ && waiting_.empty() && (beside_.empty() || (!alone && !in_order_));
  });
  if (alone || in_order_)
    alone_ = true;
  else
    beside_.insert(turn);
}

bool SideBySide::is_beside(unsigned turn) {
  const std::scoped_lock lock(mutex_);
  return beside_.contains(turn);
}

void SideBySide::go_on_alone(unsigned turn) {
  std::unique_lock lock(mutex_);
  in_order_ = true;
  beside_.erase(turn);
  waiting_.insert(turn);
  changed_.notify_all();
  changed_.wait(lock, [&] { return !alone_ && beside_.empty() && *waiting_.begin() == turn; });
  waiting_.erase(turn);
  alone_ = true;
}

void SideBySide::end(unsigned turn) {
  const std::scoped_lock lock(mutex_);
  if (beside_.erase(turn) == 0) alone_ = false;
  changed_.notify_all();
}

}  // namespace cuda_on_cpu
