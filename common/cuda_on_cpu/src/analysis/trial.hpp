/// \file
/// Trials: blocks of a launch run speculatively in parallel, as long as their order does not
/// matter.
///
/// Each block claims the words of global memory that it is about to access. A trial ends if a block
/// accesses a word that another block has written, or writes a word that another block has
/// accessed. A trial also ends if an error has to be reported, or if the host could see an effect.
/// The old contents of memory are then restored, and the blocks run one after the other. Until
/// then, each block reads the same values as in a sequential run. The accesses of the blocks are
/// logged. After all blocks have ended, the logs are checked in the order of the blocks.

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

/// Lanes of a request to global memory that access consecutive elements, or that all access one
/// address. The row is packed into one word, because lanes that access distant addresses need one
/// row each.
struct NotedRow {
  std::uint64_t offset : 52;  ///< offset of the first lane's access in the shadow
  std::uint64_t first : 5;
  std::uint64_t last : 5;
  std::uint64_t same : 1;  ///< whether all lanes access the same address
};

/// A logged request to one allocation in global memory, which is checked later.
struct NotedRequest {
  Shadow* shadow;
  std::size_t rows_end;  ///< index after the request's last row in `Notes::rows`
  std::uint32_t clock, barrier_clock;
  Place place;
  AccessForm form;
  std::uint32_t changes;  ///< mask of the lanes whose write changed the value
  std::uint16_t warp, warp_epoch;
  Region region;
  bool plain;  ///< whether the fast path may check all lanes of the request together
};

/// A block that has run in a trial.
struct NotedBlock {
  unsigned turn, number;
  std::size_t request, requests_end, row;  ///< indices in `Notes` of the block's first request, the
                                           ///< end of its requests, and its first row
};

/// The contents of a word of global memory before the trial.
struct Saved {
  char* address;
  std::uint8_t bytes;
  char before[4];
};

/// The log of a thread of the operating system for the blocks that the thread runs in a trial.
struct Notes {
  std::uint64_t trial = 0;
  std::vector<NotedBlock> blocks;
  std::vector<NotedRequest> requests;
  std::vector<NotedRow> rows;
  std::vector<Saved> saved;
  Sites sites;
  Joints joints;
  std::uint64_t accesses = 0;

  void clear();
  std::size_t bytes() const;
};

/// The log of the calling thread of the operating system.
Notes& notes();

/// The state of the current trial.
struct Trial {
  std::uint64_t number = 0;
  unsigned first = 0;  ///< position of the trial's first block in the order in which blocks start
  std::atomic<bool> full = false;
  std::atomic<bool> alone = false;  ///< whether the host is known to have no other thread
  std::mutex mutex;
  std::vector<Notes*> all;
  std::vector<std::pair<const NotedBlock*, const Notes*>> in_order;
  std::unordered_set<std::uint32_t> failed;  ///< kernels whose trials have failed, by index in
                                             ///< `Record::kernels`
};

Trial& trial();

/// These functions prepare the claims and the log of a block of a trial, and complete the log after
/// the block has ended.
void begin_on_trial(Block& block);
void end_on_trial(Block& block);

/// Whether the analysis detects that a kernel calls a function that the compiler has not inlined.
extern const bool sees_calls;

/// Ends the trial before an access, unless the current thread is known to be in the kernel itself.
void expect_kernel();

/// Ends the trial before a block writes memory that the host can access as well, if another host
/// thread runs. That thread could otherwise see a value that is restored later.
void shows_to_host();

/// Logs a request of a block that runs in a trial.
void note_request(const Warp& warp, const Request& request);

}  // namespace cuda_on_cpu::analysis
