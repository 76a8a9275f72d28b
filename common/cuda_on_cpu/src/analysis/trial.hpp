/// \file
/// Blocks of a launch that run side by side, on trial: as long as it does not matter in which order
/// they run.
///
/// Each claims the words of global memory that it is about to touch. Where one wants what another
/// has written, or to write what another has touched, and where anything is to be told, or seen
/// from outside, the trial is over: what the blocks wrote is taken back, and they run one after the
/// other. Until then each block finds in memory what it would find if it ran in turn. What it does
/// there is noted, and checked in the order of the blocks when all have ended.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "findings.hpp"
#include "targets.hpp"

namespace cuda_on_cpu::analysis {

/// Some lanes of a request to global memory that lie one behind the other. In one word: where the
/// lanes of a warp are far apart, each has a row.
struct NotedRow {
  std::uint64_t offset : 52;  ///< in the shadow, of the first lane's
  std::uint64_t first : 5;
  std::uint64_t last : 5;
  std::uint64_t same : 1;  ///< whether all go to one place
};

/// A request to global memory, to one allocation, that is still to be checked.
struct NotedRequest {
  Shadow* shadow;
  std::size_t rows_end;  ///< where its rows end
  std::uint32_t clock, barrier_clock;
  Place place;
  AccessForm form;
  std::uint32_t changes;  ///< lanes that changed what they wrote to, as a mask
  std::uint16_t warp, warp_epoch;
  Region region;
  bool plain;  ///< whether its lanes may be checked together
};

/// A block that ran on trial.
struct NotedBlock {
  unsigned turn, number;
  std::size_t request, requests_end, row;  ///< its first request and row, and where requests end
};

/// What a word of global memory held before the trial.
struct Saved {
  char* address;
  std::uint8_t bytes;
  char before[4];
};

/// What a thread of the operating system keeps of the blocks that it runs on trial.
struct Notes {
  std::uint64_t trial = 0;
  std::vector<NotedBlock> blocks;
  std::vector<NotedRequest> requests;
  std::vector<NotedRow> rows;
  std::vector<Saved> saved;
  Sites sites;
  std::uint64_t accesses = 0;

  void clear();
  std::size_t bytes() const;
};

/// The notes of this thread of the operating system.
Notes& notes();

/// The blocks that run side by side.
struct Trial {
  std::uint64_t number = 0;
  unsigned first = 0;  ///< turn of its first block
  std::atomic<bool> full = false;
  std::atomic<bool> alone = false;  ///< whether it is known that no other thread of the host runs
  std::mutex mutex;
  std::vector<Notes*> all;
  std::vector<std::pair<const NotedBlock*, const Notes*>> in_order;
  std::unordered_set<std::uint32_t> failed;  ///< kernels, by their number in the record
};

Trial& trial();

/// A block begins, and ends, on trial.
void begin_on_trial(Block& block);
void end_on_trial(Block& block);

/// Whether it is seen that a kernel calls what was not taken into it.
extern const bool sees_calls;

/// A thread accesses memory: its trial ends if it is not known to be in the kernel.
void expect_kernel();

/// A block is about to write memory of the host's, too. Where another thread of the host may look
/// at it meanwhile, a trial ends: what is taken back would have been seen.
void shows_to_host();

/// Notes a request of the block that runs on trial.
void note_request(const Warp& warp, const Request& request);

}  // namespace cuda_on_cpu::analysis
