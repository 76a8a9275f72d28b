#include "gang.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "../analysis.hpp"
#include "thread_area.hpp"

namespace cuda_on_cpu {

void Turns::take(std::unique_lock<std::mutex>& lock, unsigned number) {
  if (!analysis::enabled) return;
  runnable[number] = true;
  changed.wait(lock, [&] { return !taken && (turn == number || !runnable[turn]); });
  turn = number;
  taken = true;
  runnable[number] = false;
}

void Turns::give() {
  if (!analysis::enabled) return;
  taken = false;
  for (unsigned next = 1; next <= runnable.size(); ++next)
    if (const unsigned number = (turn + next) % runnable.size(); runnable[number]) {
      turn = number;
      break;
    }
  changed.notify_all();
}

Gang::Gang(unsigned size, bool exit_arrives, std::shared_ptr<Turns> turns, unsigned first)
    : turns_(std::move(turns)),
      first_(first),
      thread_areas_(size),
      inside_(size),
      has_arrived_(size),
      parcels_(size),
      exit_arrives_(exit_arrives),
      members_(size) {}

bool Gang::enter(unsigned rank) {
  std::unique_lock lock(turns_->mutex);
  thread_areas_[rank] = thread_area_end();
  inside_[rank] = true;
  if (++entered_ == size()) turns_->changed.notify_all();
  turns_->changed.wait(lock, [&] { return entered_ == size() || failed_.load(); });
  if (failed_) return false;
  turns_->take(lock, first_ + rank);
  return true;
}

void Gang::leave(unsigned rank) {
  const std::scoped_lock lock(turns_->mutex);
  inside_[rank] = false;
  --members_;
  if (has_arrived_[rank]) {
    --arrived_;
    ++arrived_and_left_;
  }
  if (members_ > 0 && arrived_ == members_) all_have_arrived();
  turns_->give();
}

void Gang::all_have_arrived() {
  if (exit_arrives_ || arrived_ + arrived_and_left_ == size())
    complete();
  else
    failed_ = true;
  turns_->changed.notify_all();
}

void Gang::complete() {
  arrived_ = arrived_and_left_ = 0;
  has_arrived_.assign(size(), false);
  ++phase_;
}

std::uint32_t Gang::arrive(unsigned rank) {
  const std::scoped_lock lock(turns_->mutex);
  const std::uint32_t phase = phase_;
  has_arrived_[rank] = true;
  if (++arrived_ == members_) all_have_arrived();
  return phase;
}

bool Gang::wait(unsigned rank, std::uint32_t phase) {
  std::unique_lock lock(turns_->mutex);
  if (phase_ == phase) {
    turns_->give();
    turns_->changed.wait(lock, [&] { return phase_ != phase || failed_.load(); });
    turns_->take(lock, first_ + rank);
  }
  return !failed_;
}

void Gang::send(unsigned rank, Parcel parcel) {
  const std::scoped_lock lock(turns_->mutex);
  parcels_[rank].push_back(std::move(parcel));
}

std::vector<Parcel> Gang::parcels_for(unsigned rank) {
  const std::scoped_lock lock(turns_->mutex);
  return std::exchange(parcels_[rank], {});
}

bool Gang::has_one_left() {
  const std::scoped_lock lock(turns_->mutex);
  return members_ == 1;
}

void Gang::take_turns(unsigned rank) {
  // Without the analysis, blocks do not take turns. Waiting blocks sleep, so that they do not
  // occupy the cores that other blocks need.
  if (!analysis::enabled) return std::this_thread::sleep_for(std::chrono::microseconds(50));
  std::unique_lock lock(turns_->mutex);
  turns_->give();
  turns_->take(lock, first_ + rank);
}

void Gang::fail() {
  const std::scoped_lock lock(turns_->mutex);
  told_ = failed_ = true;
  turns_->changed.notify_all();
}

}  // namespace cuda_on_cpu
