#include "gang.hpp"

#include "analysis.hpp"

namespace cuda_on_cpu {

Gang::Gang(unsigned size, bool exit_arrives)
    : thread_areas_(size),
      inside_(size),
      runnable_(size),
      exit_arrives_(exit_arrives),
      members_(size) {}

bool Gang::enter(unsigned rank) {
  std::unique_lock lock(mutex_);
  thread_areas_[rank] = static_cast<const char*>(__builtin_thread_pointer());
  inside_[rank] = true;
  if (++entered_ == size()) changed_.notify_all();
  changed_.wait(lock, [&] { return entered_ == size() || failed_; });
  if (failed_) return false;
  take_turn(lock, rank);
  return true;
}

void Gang::leave(unsigned rank) {
  const std::scoped_lock lock(mutex_);
  inside_[rank] = false;
  --members_;
  if (members_ > 0 && arrived_ == members_) {
    if (exit_arrives_)
      complete();
    else
      failed_ = true;
    changed_.notify_all();
  }
  give_turn();
}

void Gang::complete() {
  arrived_ = 0;
  ++phase_;
  changed_.notify_all();
}

std::uint32_t Gang::arrive() {
  const std::scoped_lock lock(mutex_);
  const std::uint32_t phase = phase_;
  if (++arrived_ == members_) {
    if (exit_arrives_ || members_ == size())
      complete();
    else
      failed_ = true;
  }
  return phase;
}

bool Gang::wait(unsigned rank, std::uint32_t phase) {
  std::unique_lock lock(mutex_);
  if (phase_ == phase) {
    give_turn();
    changed_.wait(lock, [&] { return phase_ != phase || failed_; });
    take_turn(lock, rank);
  }
  return !failed_;
}

void Gang::take_turns(unsigned rank) {
  std::unique_lock lock(mutex_);
  give_turn();
  take_turn(lock, rank);
}

void Gang::fail() {
  const std::scoped_lock lock(mutex_);
  failed_ = true;
  changed_.notify_all();
}

void Gang::take_turn(std::unique_lock<std::mutex>& lock, unsigned rank) {
  if (!analysis::enabled) return;
  runnable_[rank] = true;
  changed_.wait(lock, [&] { return !turn_taken_ && (turn_ == rank || !runnable_[turn_]); });
  turn_ = rank;
  turn_taken_ = true;
  runnable_[rank] = false;
}

void Gang::give_turn() {
  if (!analysis::enabled) return;
  turn_taken_ = false;
  for (unsigned next = 1; next <= size(); ++next)
    if (runnable_[(turn_ + next) % size()]) {
      turn_ = (turn_ + next) % size();
      break;
    }
  changed_.notify_all();
}

}  // namespace cuda_on_cpu
