/// \file
/// Collective operations of a warp. Each lane passes a record and waits; the last lane computes the
/// results for all lanes.

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "../analysis.hpp"
#include "../diagnostics.hpp"
#include "block.hpp"
#include "combining.hpp"
#include "cuda_on_cpu/threads.hpp"
#include "launch.hpp"

namespace cuda_on_cpu {

__thread bool is_combining = false;
namespace {

/// Whether all lanes that a lane waits for have arrived at the same operation.
bool is_complete(const Warp& warp, const Thread& thread) {
  const unsigned needed = thread.mask & warp.lanes & ~warp.finished;
  if ((warp.waiting & needed) != needed) return false;
  for (unsigned rest = needed; rest != 0; rest &= rest - 1) {
    const Thread& other = warp.threads[std::countr_zero(rest)];
    if (other.mask != thread.mask || wait_of(other).combine != wait_of(thread).combine)
      return false;
  }
  return true;
}

/// Computes the results of a complete operation.
/// \returns the mask of its lanes
unsigned complete(Warp& warp, const Thread& thread) {
  const unsigned lanes = thread.mask & warp.waiting;
  void* records[warp_size] = {};
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Thread& other = warp.threads[lane];
    records[lane] = wait_of(other).record;
    if (other.place != thread.place && wait_of(thread).combine != nullptr)
      analysis::different_operations(thread, other);
  }
  for (unsigned rest = thread.mask & warp.finished; rest != 0; rest &= rest - 1) {
    const Thread& ended = warp.threads[std::countr_zero(rest)];
    if (ended.place == thread.place && ended.mask != thread.mask)
      analysis::different_masks(thread, ended);
  }
  if (wait_of(thread).combine != nullptr) {
    Block* const tried =
        std::exchange(cuda_on_cpu_tried, nullptr);  // no code of the kernel runs meanwhile
    const Combining combining;
    wait_of(thread).combine(records);
    cuda_on_cpu_tried = tried;
  }
  warp.waiting &= ~lanes;
  if (thread.orders_memory) {
    // A lane that has ended counts as arrived if it is in the mask.
    if (const unsigned named = thread.mask & warp.lanes; named == warp.lanes) {
      ++warp.epoch;
      warp.clock = block->clock++;
    } else {
      analysis::lanes_ordered(warp, named);
    }
  }
  return lanes;
}

void meet(unsigned mask, void* record, Combine combine, bool orders_memory, const void* place) {
  catch_up();
  Thread& thread = *block->current;
  Warp& warp = *thread.warp;
  const unsigned me = 1u << thread.lane;
  thread.place = place;
  if ((mask & me) == 0) {
    const DeviceAtWork at_work;
    report_diagnostic(
        {.kind = "invalid mask",
         .place = place,
         .thread = &thread,
         .sentence = "a lane calls a warp operation with a mask that does not include it"});
    mask |= me;
  }
  thread.mask = mask;
  wait_of(thread).record = record;
  wait_of(thread).combine = combine;
  thread.orders_memory = orders_memory;
  warp.waiting |= me;
  if (!is_complete(warp, thread)) return wait_in(&thread, State::in_warp_collective);
  for (unsigned rest = complete(warp, thread) & ~me; rest != 0; rest &= rest - 1)
    wake(&warp.threads[std::countr_zero(rest)]);
}

void combine_ballot(void* const* records) {
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane)
    if (records[lane] != nullptr && *static_cast<const unsigned*>(records[lane]) != 0)
      lanes |= 1u << lane;
  for (unsigned lane = 0; lane < warp_size; ++lane)
    if (records[lane] != nullptr) *static_cast<unsigned*>(records[lane]) = lanes;
}

struct Match {
  std::uint64_t value;
  unsigned lanes;
};

void combine_match(void* const* records) {
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    auto* mine = static_cast<Match*>(records[lane]);
    if (mine == nullptr) continue;
    mine->lanes = 0;
    for (unsigned other = 0; other < warp_size; ++other) {
      const auto* theirs = static_cast<const Match*>(records[other]);
      if (theirs != nullptr && theirs->value == mine->value) mine->lanes |= 1u << other;
    }
  }
}

unsigned ballot_at(unsigned mask, bool predicate, const void* place) {
  unsigned lanes = predicate;
  meet(mask, &lanes, combine_ballot, false, place);
  return lanes;
}

template <typename T>
T add(T a, T b) {
  return a + b;
}
template <typename T>
T least(T a, T b) {
  return std::min(a, b);
}
template <typename T>
T greatest(T a, T b) {
  return std::max(a, b);
}
unsigned bits_and(unsigned a, unsigned b) { return a & b; }
unsigned bits_or(unsigned a, unsigned b) { return a | b; }
unsigned bits_xor(unsigned a, unsigned b) { return a ^ b; }

template <typename T, T (*operation)(T, T)>
T reduce_at(unsigned mask, T value, const void* place) {
  meet(mask, &value, combine_reduction<T, operation>, false, place);
  return value;
}

}  // namespace

void warp_collective(unsigned mask, void* record, Combine combine, bool orders_memory) {
  meet(mask, record, combine, orders_memory, __builtin_return_address(0));
}

void lanes_changed(Warp* warp) {
  for (unsigned rest = warp->waiting; rest != 0;) {
    Thread& thread = warp->threads[std::countr_zero(rest)];
    if (!is_complete(*warp, thread)) {
      rest &= rest - 1;
      continue;
    }
    for (unsigned lanes = complete(*warp, thread); lanes != 0; lanes &= lanes - 1)
      wake(&warp->threads[std::countr_zero(lanes)]);
    rest = warp->waiting;
  }
}

unsigned gathered_lanes() {
  catch_up();
  Thread& thread = *block->current;
  thread.place = __builtin_return_address(0);
  thread.warp->gathering |= 1u << thread.lane;
  wait_in(&thread, State::in_warp_collective);
  return thread.mask;
}

void release_gathered(Warp& warp) {
  const unsigned lanes = std::exchange(warp.gathering, 0);
  for (unsigned rest = lanes; rest != 0;) {
    const void* const place = warp.threads[std::countr_zero(rest)].place;
    unsigned together = 0;
    for (unsigned others = rest; others != 0; others &= others - 1)
      if (warp.threads[std::countr_zero(others)].place == place) together |= others & -others;
    for (unsigned own = together; own != 0; own &= own - 1)
      warp.threads[std::countr_zero(own)].mask = together;
    rest &= ~together;
  }
  wake(warp, lanes);
}

void note_absent_lane(unsigned asking, unsigned absent, Asks asks) {
  const Thread& thread = block->current->warp->threads[asking];
  const bool assumes = details_of(thread).asked_for_active && thread.mask == 1u << thread.lane;
  const DeviceAtWork at_work;
  if (asks != Asks::by_number && (thread.mask >> absent & 1) == 0 && !assumes)
    return analysis::asks_outside_mask(thread, absent);
  report_diagnostic(
      {.kind = "invalid mask",
       .place = thread.place,
       .thread = &thread,
       .sentence = "a shuffle reads the value of lane " + std::to_string(absent) +
                   ", which does not take part" +
                   (assumes ? ": __activemask guarantees only the calling lane" : "")});
}

void note_shuffle(unsigned lane, const ShuffleForm& form) {
  const Thread& thread = block->current->warp->threads[lane];
  analysis::shuffled(thread, form);
}

unsigned ballot(unsigned mask, bool predicate) {
  return ballot_at(mask, predicate, __builtin_return_address(0));
}

unsigned match(unsigned mask, std::uint64_t value) {
  Match record{value, 0};
  meet(mask, &record, combine_match, false, __builtin_return_address(0));
  return record.lanes;
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

void __syncwarp(unsigned mask) { meet(mask, nullptr, nullptr, true, __builtin_return_address(0)); }

unsigned __ballot_sync(unsigned mask, int predicate) {
  return ballot_at(mask, predicate != 0, __builtin_return_address(0));
}
int __any_sync(unsigned mask, int predicate) {
  return ballot_at(mask, predicate != 0, __builtin_return_address(0)) != 0;
}
int __all_sync(unsigned mask, int predicate) {
  return ballot_at(mask, predicate == 0, __builtin_return_address(0)) == 0;
}
unsigned __activemask() {
  changed_details_of(*block->current).asked_for_active = true;
  return 1u << lane();
}

int __reduce_add_sync(unsigned mask, int value) {
  return reduce_at<int, add<int>>(mask, value, __builtin_return_address(0));
}
int __reduce_min_sync(unsigned mask, int value) {
  return reduce_at<int, least<int>>(mask, value, __builtin_return_address(0));
}
int __reduce_max_sync(unsigned mask, int value) {
  return reduce_at<int, greatest<int>>(mask, value, __builtin_return_address(0));
}
unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  return reduce_at<unsigned, add<unsigned>>(mask, value, __builtin_return_address(0));
}
unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  return reduce_at<unsigned, least<unsigned>>(mask, value, __builtin_return_address(0));
}
unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  return reduce_at<unsigned, greatest<unsigned>>(mask, value, __builtin_return_address(0));
}
unsigned __reduce_and_sync(unsigned mask, unsigned value) {
  return reduce_at<unsigned, bits_and>(mask, value, __builtin_return_address(0));
}
unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  return reduce_at<unsigned, bits_or>(mask, value, __builtin_return_address(0));
}
unsigned __reduce_xor_sync(unsigned mask, unsigned value) {
  return reduce_at<unsigned, bits_xor>(mask, value, __builtin_return_address(0));
}
