/// \file
/// The fast path for the most frequent accesses: lanes of a warp read or write whole cells
/// together, and there is nothing to report. One call has the effect of a call of `check_thread`
/// for each lane.

#pragma once

#include "happens_before.hpp"
#include "shadow.hpp"

namespace cuda_on_cpu::analysis {

template <Kind kind, Region region>
class PlainAccess {
  static constexpr bool is_shared = region == Region::shared;
  static_assert(kind == read || kind == write);

 public:
  /// \param barrier_clock clock of the block at its last barrier before the access
  PlainAccess(Shadow& shadow, const Event& event, std::uint32_t barrier_clock)
      : shadow_(shadow),
        now_(event),
        barrier_clock_(barrier_clock),
        ordered_(event.operation),
        warp_(event.thread / warp_size),
        owner_(is_shared ? current_owner() : 0),
        others_are_over_(others_never_release()) {}

  /// Checks an access of lanes to some cells. If the access is plain, it is stored in the cells.
  /// \param lanes mask of these lanes
  /// \param last the highest one of these lanes
  /// \returns whether the access is plain; if not, no cell has changed
  [[gnu::always_inline]] bool make(Cell* first, std::size_t cells, unsigned lanes, unsigned last) {
    now_.thread = static_cast<std::uint16_t>(warp_ * warp_size + last);
    alone_ = (lanes & (lanes - 1)) == 0;
    if (kind == write && !alone_) return false;  // the lanes overwrite each other's values
    for (const Cell* cell = first; cell < first + cells; ++cell)
      if (kind == read ? !may_read(*cell) : !may_write(*cell)) return false;
    for (Cell* cell = first; cell < first + cells; ++cell)
      kind == read ? note_read(*cell, lanes) : note_write(*cell);
    return true;
  }

 private:
  bool is_done_operation(std::uint32_t operation) {
    if (operation == ordered_) return true;
    if (!happens_before_operation(operation, now_.operation)) return false;
    ordered_ = operation;
    return true;
  }

  bool is_of_block(const Event& then) const {
    return then.operation == now_.operation && then.block == now_.block;
  }

  /// Whether an earlier access happens before this access. Only the most frequent reasons are
  /// checked.
  bool is_ordered(const Event& then) {
    if (then.bytes == 0) return true;
    if (then.operation != now_.operation) return is_done_operation(then.operation);
    return then.block == now_.block &&
           (then.clock <= barrier_clock_ || (alone_ && then.thread == now_.thread) ||
            (then.thread / warp_size == warp_ && then.warp_epoch != now_.warp_epoch));
  }

  /// Whether the accesses of a cell's group happen before this access.
  bool are_done(const Cell& cell) {
    const Event& then = cell.latest;
    if (then.bytes == 0) return true;
    if (then.operation != now_.operation) return is_done_operation(then.operation);
    if (cell.many_blocks || then.block != now_.block) return false;
    if (then.clock <= barrier_clock_) return true;
    if (cell.warps != 1u << warp_) return false;
    return then.warp_epoch != now_.warp_epoch || cell.lanes == 1u << now_.thread % warp_size;
  }

  /// Whether lanes of the warp may join the cell's group of plain reads, or replace this group.
  bool may_join(const Cell& cell) {
    const Event& then = cell.latest;
    if (then.bytes == 0) return true;
    if (then.writes || then.atomic != Reach::none || then.bytes != 0xF) return false;
    if (then.operation != now_.operation) return is_done_operation(then.operation);
    if (then.block != now_.block) return others_are_over_;
    return then.clock <= barrier_clock_ || (then.clock > last_release && then.phase == now_.phase &&
                                            (!keeps_each_warp || cell.warps == 1u << warp_));
  }

  bool may_read(const Cell& cell) {
    return cell.history == 0 && cell.written == 0xF && (!is_shared || cell.owner == owner_) &&
           is_ordered(cell.earlier) && may_join(cell);
  }

  bool may_write(const Cell& cell) {
    if (cell.history != 0) return false;
    if (is_shared && cell.owner != owner_) return true;  // left by an earlier block
    if (cell.earlier.atomic != Reach::none || cell.latest.atomic != Reach::none) return false;
    return is_ordered(cell.earlier) && are_done(cell);
  }

  void note_read(Cell& cell, unsigned lanes) const {
    const Event& then = cell.latest;
    if (!is_of_block(then) || then.clock <= barrier_clock_ || then.bytes == 0) {
      const bool is_first_of_launch = then.bytes == 0 || then.operation != now_.operation;
      if (!is_first_of_launch && !cell.many_blocks && then.block != now_.block)
        shadow_.ended(cell) = ended_access(then);
      cell.many_blocks = !is_first_of_launch && (cell.many_blocks || then.block != now_.block);
      cell.warps = cell.lanes = 0;
    } else if (then.thread / warp_size != warp_ || then.warp_epoch != now_.warp_epoch) {
      cell.lanes = 0;
    }
    cell.warps |= 1u << warp_;
    cell.lanes |= lanes;
    cell.latest = now_;
  }

  void note_write(Cell& cell) const {
    const std::uint32_t owner = is_shared ? owner_ : cell.owner;
    cell = {};
    cell.earlier = now_;
    cell.owner = owner;
    cell.written = 0xF;
  }

  Shadow& shadow_;
  Event now_;
  std::uint32_t barrier_clock_;
  std::uint32_t ordered_;  ///< an operation that is known to happen before this access
  unsigned warp_;
  std::uint32_t owner_;
  bool others_are_over_;  ///< whether no other block that has begun will make a release
  bool alone_ = true;     ///< whether a single lane makes the access
};

}  // namespace cuda_on_cpu::analysis
