/// \file
/// Thread blocks that can synchronise with each other: a cluster, or the whole grid of a
/// cooperative launch.

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

/// Bytes sent to the shared memory of another block. A barrier of that block waits for the arrival
/// of the bytes.
struct Parcel {
  BarrierState* barrier;
  void* to;
  std::vector<std::byte> bytes;
};

/// Schedules the blocks of one gang, or of several gangs that run concurrently. Under analysis,
/// only one of these blocks runs at a time.
struct Turns {
  explicit Turns(unsigned blocks) : runnable(blocks) {}

  void take(std::unique_lock<std::mutex>& lock, unsigned number);
  void give();

  std::mutex mutex;
  std::condition_variable changed;  ///< notified when the turn or the state of a gang changes
  std::vector<bool> runnable;       ///< whether a block waits for its turn, by its index
  unsigned turn = 0;
  bool taken = false;
};

/// A gang of blocks, each of which has its own operating-system thread.
class Gang {
 public:
  /// \param exit_arrives whether a block that has ended counts as arrived, as in a cluster. In a
  /// grid, a barrier fails if a block has ended.
  /// \param turns the schedule, which several gangs may share
  /// \param first the index in `turns` of the block with rank 0
  Gang(unsigned size, bool exit_arrives, std::shared_ptr<Turns> turns, unsigned first);

  unsigned size() const { return static_cast<unsigned>(thread_areas_.size()); }

  /// Registers the thread-local variables of the calling operating-system thread, which runs block
  /// `rank`, and waits for the other blocks.
  /// \returns false if the gang was marked as failed, so that some blocks do not enter
  bool enter(unsigned rank);

  /// Removes a block that has ended. Other blocks then no longer wait for it.
  void leave(unsigned rank);

  /// Lets a block arrive at the barrier.
  /// \returns the phase for which the block has to wait
  std::uint32_t arrive(unsigned rank);

  /// Waits until all blocks have arrived at the barrier in the given phase.
  /// \returns false if the barrier cannot complete because a block failed
  bool wait(unsigned rank, std::uint32_t phase);

  /// Sends a parcel to a block. `parcels_for` removes and returns the parcels for a block.
  void send(unsigned rank, Parcel parcel);
  std::vector<Parcel> parcels_for(unsigned rank);

  /// Whether all blocks but one have left.
  bool has_one_left();

  /// Lets other blocks run. Under analysis, the next waiting block runs. Otherwise, the calling
  /// thread sleeps for a short time.
  void take_turns(unsigned rank);

  /// Marks the gang as failed after an error was reported. All waiting blocks continue.
  void fail();
  bool failed() const { return failed_; }

  /// Whether the error of the gang has been reported.
  bool is_told() const { return told_; }

  std::uint32_t phase() const { return phase_; }

  /// `thread_area` returns the end of the thread-local variables of the operating-system thread
  /// that runs a block. `inside` returns whether the block still runs.
  const char* thread_area(unsigned rank) const { return thread_areas_[rank]; }
  bool inside(unsigned rank) const { return inside_[rank]; }

 private:
  void all_have_arrived();
  void complete();

  const std::shared_ptr<Turns> turns_;
  const unsigned first_;
  std::vector<const char*> thread_areas_;
  std::vector<bool> inside_;
  std::vector<bool> has_arrived_;             // whether a block has arrived in this phase, by rank
  std::vector<std::vector<Parcel>> parcels_;  // parcels to deliver, by the rank of the receiver
  const bool exit_arrives_;
  unsigned members_;  // number of blocks that have not left
  unsigned arrived_ = 0;
  unsigned arrived_and_left_ = 0;  // number of blocks that arrived in this phase and have left
  unsigned entered_ = 0;
  std::uint32_t phase_ = 0;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> told_ = false;
};

}  // namespace cuda_on_cpu
