#include "trial.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "../indestructible.hpp"
#include "../machine/launch.hpp"
#include "../runtime/stream.hpp"

namespace cuda_on_cpu::analysis {

namespace {

constexpr std::size_t room = std::size_t{4} << 20;  // capacity of a thread's log, in bytes
constexpr std::size_t most_room = 16 * room;        // capacity if the log belongs to a single block
constexpr unsigned most_blocks = 1 << 20;           // maximum number of blocks in a trial

/// Saves the contents of a word before the first write to the word in a trial.
void save(const Target& target, std::size_t word) {
  const std::size_t offset = 4 * word;
  const std::size_t all = target.last + target.form.bytes();
  auto* address = reinterpret_cast<char*>(target.begin + offset);
  Saved saved{.address = address,
              .bytes = static_cast<std::uint8_t>(std::min<std::size_t>(4, all - offset)),
              .before = {}};
  std::memcpy(saved.before, address, saved.bytes);
  notes().saved.push_back(saved);
}

/// Logs the accesses of lanes with the same form, row by row.
class LaneNotes {
 public:
  LaneNotes(const Warp& warp, const Accesses& all, unsigned any, bool alike, unsigned changes)
      : all_(all),
        form_(all.form[any]),
        empty_{.shadow = nullptr,
               .rows_end = 0,
               .clock = block->clock,
               .barrier_clock = block->barrier_clock,
               .place = place_in(all.order[any]),
               .form = form_,
               .changes = changes,
               .warp = static_cast<std::uint16_t>(warp.threads[any].rank / warp_size),
               .warp_epoch = static_cast<std::uint16_t>(warp.epoch),
               .region = Region::global,
               .plain = alike && form_.bytes() % 4 == 0},
        memory_(memory_of(any)) {}
  ~LaneNotes() { note_request(); }
  LaneNotes(const LaneNotes&) = delete;
  LaneNotes& operator=(const LaneNotes&) = delete;

  void add(const Row& row) {
    if (is_there(row.first) && is_there(row.end - 1)) return note(row);
    for (unsigned lane = row.first; lane < row.end; ++lane) {
      if (!is_there(lane)) {  // another allocation requires another request
        note_request();
        memory_ = memory_of(lane);
      }
      note({lane, lane + 1, false});
    }
  }

 private:
  RequestedMemory memory_of(unsigned lane) const {
    return requested_memory(Space::global, reinterpret_cast<const char*>(all_.address[lane]),
                            form_.bytes(), empty_.place);
  }
  bool is_there(unsigned lane) const { return all_.address[lane] - memory_.base <= memory_.last; }

  void note(const Row& row) {
    const std::size_t offset = all_.address[row.first] - memory_.base;
    // One thread checks each stretch of 1 KiB, so no access may extend over two stretches.
    if (memory_.shadow == nullptr || memory_.base % 4 != 0 || offset % form_.bytes() != 0)
      end_trial();
    if (form_.kind() == read && memory_.region == Region::global && reads_unwritten(row, offset))
      end_trial();  // copies can be followed only in the order of the blocks
    notes().rows.push_back({offset, row.first, row.end - 1, row.same});
  }

  /// Whether a lane reads bytes that neither its block nor an operation before the launch has
  /// written.
  bool reads_unwritten(const Row& row, std::size_t offset) const {
    const std::size_t bytes = form_.bytes();
    const unsigned count = row.same ? 1 : row.end - row.first;
    for (unsigned i = 0; i < count; ++i, offset += bytes)
      if (memory_.shadow->is_unwritten(offset, bytes) &&
          !may_write(memory_.shadow->claims()[offset / 4], block->targets->claimant))
        return true;
    return false;
  }

  void note_request() {
    Notes& mine = notes();
    const std::size_t known = mine.requests.size() == mine.blocks.back().request
                                  ? mine.blocks.back().row
                                  : mine.requests.back().rows_end;
    if (mine.rows.size() == known) return;
    NotedRequest& request = mine.requests.emplace_back(empty_);
    request.shadow = memory_.shadow;
    request.region = memory_.region;
    request.rows_end = mine.rows.size();
  }

  const Accesses& all_;
  AccessForm form_;
  NotedRequest empty_;
  RequestedMemory memory_;
};

}  // namespace

void Notes::clear() {
  blocks.clear();
  requests.clear();
  rows.clear();
  saved.clear();
  sites.clear();
  joints.clear();
  accesses = 0;
}

std::size_t Notes::bytes() const {
  return requests.size() * sizeof(NotedRequest) + rows.size() * sizeof(NotedRow) +
         saved.size() * sizeof(Saved);
}

Trial& trial() {
  static auto& trial = indestructible<Trial>();
  return trial;
}

Notes& notes() {
  thread_local auto& notes = indestructible<Notes>();
  return notes;
}

bool may_be_tried(const Launch& launch) {
  return sees_calls && !runs_beside_host() && !leaves_out(launch) &&
         !trial().failed.contains(launch.record);
}

void trial_begins(Launch& launch, unsigned first) {
  Trial& t = trial();
  ++t.number;
  t.first = first;
  t.full = false;
  t.alone = false;
  t.all.clear();
  launch.on_trial = true;
}

bool trial_is_full() { return trial().full; }

void begin_on_trial(Block& block) {
  Targets& targets = *block.targets;
  const bool was_on_trial = targets.claimant != 0;
  targets.claimant = 0;
  if (was_on_trial != block.on_trial) targets.forget();
  if (!block.on_trial) return;
  Trial& t = trial();
  Notes& mine = notes();
  if (mine.trial != t.number) {
    mine.clear();
    mine.trial = t.number;
    const std::scoped_lock lock(t.mutex);
    t.all.push_back(&mine);
  }
  targets.claimant = t.number << trial_shift | std::uint64_t{block.turn - t.first + 1} << 1;
  mine.blocks.push_back({block.turn, block.number, mine.requests.size(), 0, mine.rows.size()});
}

void end_on_trial(Block& block) {
  Notes& mine = notes();
  mine.blocks.back().requests_end = mine.requests.size();
  mine.accesses += accesses;
  if (mine.bytes() > room || block.turn - trial().first > most_blocks) trial().full = true;
}

void claim_word(const Target& target, std::size_t word, Kind kind, std::uint64_t claimant) {
  Claim& claim = target.claims[word];
  const std::uint64_t several = claimant >> trial_shift << trial_shift;
  std::uint64_t known = claim.load();
  for (;;) {
    const bool is_free = known >> trial_shift != claimant >> trial_shift;
    if (kind == read ? may_read(known, claimant) : may_write(known, claimant)) return;
    const bool by_others = !is_free && known != claimant;
    if (by_others && (kind == write || (known & claim_of_writer) != 0)) end_trial();
    const std::uint64_t mine = kind == write ? claimant | claim_of_writer
                               : is_free     ? claimant
                                             : several;
    if (claim.compare_exchange_weak(known, mine)) break;
  }
  if (kind == write) save(target, word);
}

void expect_kernel() {
  if (block->on_trial && cuda_on_cpu_tried == nullptr) end_trial();
}

void shows_to_host() {
  Trial& t = trial();
  if (!block->on_trial || t.alone) return;
  if (!is_alone()) end_trial();
  t.alone = true;
}

/// The mask of the lanes in a request whose write changed the value.
static unsigned changes_of(const Warp& warp, const Request& request) {
  unsigned changes = request.all.changes & request.lanes;
  const bool writes = request.all.form[request.rows[0].first].kind() == write;
  if (!writes || !warp.log->has_kept) return changes;
  for (unsigned rest = changes; rest != 0; rest &= rest - 1)
    if (warp.log->was_stored_again(static_cast<unsigned>(std::countr_zero(rest)), request.lanes))
      changes &= ~(rest & -rest);
  return changes;
}

void note_request(const Warp& warp, const Request& request) {
  if (block->launch->trial_is_over || notes().bytes() > most_room) end_trial();
  const unsigned changes = changes_of(warp, request);
  if (request.alike) {
    LaneNotes notes(warp, request.all, request.rows[0].first, true, changes);
    for (const Row& row : request) notes.add(row);
    return;
  }
  for (unsigned rest = request.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    LaneNotes(warp, request.all, lane, false, changes).add({lane, lane + 1, false});
  }
}

bool trial_ends(Launch& launch) {
  Trial& t = trial();
  launch.on_trial = false;
  if (launch.trial_is_over) {
    for (const Notes* notes : t.all)
      for (const Saved& saved : notes->saved) std::memcpy(saved.address, saved.before, saved.bytes);
    t.failed.insert(launch.record);
    return false;
  }
  t.in_order.clear();
  for (const Notes* notes : t.all) {
    for (const NotedBlock& noted : notes->blocks) t.in_order.emplace_back(&noted, notes);
    record().sites.add(notes->sites);
    for (const auto& [joint, count] : notes->joints) record().joints[joint] += count;
    record().accesses += notes->accesses;
  }
  std::sort(t.in_order.begin(), t.in_order.end(),
            [](const auto& a, const auto& b) { return a.first->turn < b.first->turn; });
  return true;
}

}  // namespace cuda_on_cpu::analysis

void cuda_on_cpu::enters_kernel() {
  cuda_on_cpu_tried = block != nullptr && block->on_trial ? block : nullptr;
}
