/// \file
/// Checks the logs of a trial as if its blocks had run one after the other.
///
/// Several threads of the operating system check the logs. The memory is divided among these
/// threads in units of 1 KiB. Each thread checks all accesses to its units, in the order of the
/// blocks.

#include <algorithm>
#include <span>

#include "../machine/launch.hpp"
#include "happens_before.hpp"
#include "plain_access.hpp"
#include "trial.hpp"
#include "values.hpp"

namespace cuda_on_cpu::analysis {

__thread const Moment* moment = nullptr;

namespace {

/// Checks the logged accesses of a block to the memory that one thread has to check.
class Check {
 public:
  Check(const NotedBlock& noted, const Notes& notes, unsigned rank, unsigned size)
      : noted_(noted), notes_(notes), rank_(rank), size_(size) {}

  void run() {
    stand_in(noted_.number);
    std::size_t row = noted_.row;
    for (std::size_t i = noted_.request; i < noted_.requests_end; ++i) {
      const NotedRequest& request = notes_.requests[i];
      block->barrier_clock = request.barrier_clock;
      moment_ = {trial().number, noted_.turn, i - noted_.request, 0};
      const std::span rows(&notes_.rows[row], request.rows_end - row);
      if (request.form.kind() == read)
        check<read>(request, rows);
      else
        check<write>(request, rows);
      row = request.rows_end;
    }
  }

 private:
  template <Kind kind>
  void check(const NotedRequest& request, std::span<const NotedRow> rows) {
    PlainAccess<kind, Region::global> access(
        *request.shadow, event_of(request, static_cast<unsigned>(rows.front().first)),
        request.barrier_clock);
    for (const NotedRow row : rows) {
      std::size_t offset = row.offset;
      const auto row_end = static_cast<unsigned>(row.last + 1);
      for (unsigned lane = row.first, end = lane; lane < row_end; lane = end) {
        const std::size_t bytes = request.form.bytes();
        const std::size_t left = Shadow::stretch_bytes - offset % Shadow::stretch_bytes;
        end =
            row.same != 0 ? row_end : std::min(row_end, lane + static_cast<unsigned>(left / bytes));
        if (static_cast<unsigned>(offset / Shadow::stretch_bytes) % size_ == rank_)
          check(access, request, Row{lane, end, row.same != 0}, offset);
        offset += (end - lane) * bytes;
      }
    }
  }

  /// Checks the accesses of consecutive lanes of a row to one stretch (1 KiB) of memory.
  template <Kind kind>
  void check(PlainAccess<kind, Region::global>& access, const NotedRequest& request,
             const Row& lanes, std::size_t offset) {
    const std::size_t bytes = request.form.bytes();
    if (!request.plain) return check_each(request, lanes, offset);
    if (lanes.same) {
      Cell* cells = request.shadow->cells(offset, bytes);
      if (!access.make(cells, bytes / 4, lanes.lanes(), lanes.end - 1))
        check_each(request, lanes, offset);
      return;
    }
    Cell* cells = request.shadow->cells(offset, (lanes.end - lanes.first) * bytes);
    for (unsigned lane = lanes.first; lane < lanes.end; ++lane, cells += bytes / 4, offset += bytes)
      if (!access.make(cells, bytes / 4, 1u << lane, lane))
        check_each(request, {lane, lane + 1, false}, offset);
  }

  void check_each(const NotedRequest& request, const Row& lanes, std::size_t offset) {
    const std::size_t bytes = request.form.bytes();
    for (unsigned lane = lanes.first; lane < lanes.end; ++lane) {
      const Event event = event_of(request, lane);
      const Thread& thread = block->threads[event.thread];
      moment_.lane = lane;
      moment = &moment_;
      const auto kind = static_cast<Kind>(request.form.kind());
      // A trial ends before a thread reads unwritten bytes that the thread might copy.
      if (check_thread(*request.shadow, offset, bytes, kind, event, request.region, thread) ==
          Found::unwritten)
        report_unwritten(event, kind, request.region, &thread);
      if (overwritings != 0) settle(thread, (request.changes >> lane & 1) != 0);
      moment = nullptr;
      if (!lanes.same) offset += bytes;
    }
  }

  Event event_of(const NotedRequest& request, unsigned lane) const {
    return {.operation = block->launch->operation,
            .block = noted_.number,
            .clock = request.clock,
            .place = request.place,
            .thread = static_cast<std::uint16_t>(request.warp * warp_size + lane),
            .warp_epoch = request.warp_epoch,
            .phase = 0,
            .bytes = 0xF,
            .writes = request.form.kind() != read,
            .atomic = Reach::none};
  }

  const NotedBlock& noted_;
  const Notes& notes_;
  const unsigned rank_, size_;
  Moment moment_;
};

}  // namespace

void check_trial(Launch& launch, unsigned rank, unsigned size) {
  stand_in(launch);
  clear_block_clocks(
      false);  // this thread of the operating system may have run another kernel's block before
  for (const auto& [noted, notes] : trial().in_order) Check(*noted, *notes, rank, size).run();
}

}  // namespace cuda_on_cpu::analysis
