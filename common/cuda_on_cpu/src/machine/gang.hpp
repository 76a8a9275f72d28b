/// \file
/// Blocks that can wait for each other: a cluster, or the whole grid of a cooperative launch.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace cuda_on_cpu {

struct BarrierState;

/// Bytes for the shared memory of a block, for which a barrier there waits.
struct Parcel {
  BarrierState* barrier;
  void* to;
  std::vector<std::byte> bytes;
};

/// Blocks of one gang, or of several that run side by side. In a program that is analysed only one
/// of them runs at a time, in turn.
struct Turns {
  explicit Turns(unsigned blocks) : runnable(blocks) {}

  void take(std::unique_lock<std::mutex>& lock, unsigned number);
  void give();

  std::mutex mutex;
  std::condition_variable changed;  ///< also what gangs wait for
  std::vector<bool> runnable;       ///< wants the turn
  unsigned turn = 0;
  bool taken = false;
};

/// Each block of a gang has a thread of the operating system of its own.
class Gang {
 public:
  /// \param exit_arrives whether a block that has ended counts as one that has come, as in a
  /// cluster; in a grid, nobody can wait for it
  /// \param turns that it shares with others
  /// \param first its number among those of its blocks that has rank 0
  Gang(unsigned size, bool exit_arrives, std::shared_ptr<Turns> turns, unsigned first);

  unsigned size() const { return static_cast<unsigned>(thread_areas_.size()); }

  /// Enters as block `rank`: notes where its thread-local variables are, waits for the others.
  /// \returns false if they do not come, because a gang before this one failed
  bool enter(unsigned rank);

  /// Leaves for good: nobody waits for this block any more.
  void leave(unsigned rank);

  /// Says that a block has come to the barrier; returns the phase to wait for.
  std::uint32_t arrive(unsigned rank);

  /// Waits until all blocks have arrived in a phase.
  /// \returns false if they never will, because a block failed
  bool wait(unsigned rank, std::uint32_t phase);

  /// Sends a parcel to a block; takes those that have come for one.
  void send(unsigned rank, Parcel parcel);
  std::vector<Parcel> parcels_for(unsigned rank);

  /// Whether all blocks but one have left.
  bool has_one_left();

  /// Lets another block run, where only one may.
  void take_turns(unsigned rank);

  /// Gives up, and has said why: lets everybody who waits go.
  void fail();
  bool failed() const { return failed_; }

  /// Whether a block failed, which has said why.
  bool is_told() const { return told_; }

  std::uint32_t phase() const { return phase_; }

  /// The thread-local variables of a block, and whether it still runs.
  const char* thread_area(unsigned rank) const { return thread_areas_[rank]; }
  bool inside(unsigned rank) const { return inside_[rank]; }

 private:
  void all_have_arrived();
  void complete();

  const std::shared_ptr<Turns> turns_;
  const unsigned first_;
  std::vector<const char*> thread_areas_;
  std::vector<bool> inside_;
  std::vector<bool> has_arrived_;             // in this phase
  std::vector<std::vector<Parcel>> parcels_;  // by the rank of who gets them
  const bool exit_arrives_;
  unsigned members_;  // that can still come
  unsigned arrived_ = 0;
  unsigned arrived_and_left_ = 0;  // in this phase
  unsigned entered_ = 0;
  std::uint32_t phase_ = 0;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> told_ = false;
};

}  // namespace cuda_on_cpu
