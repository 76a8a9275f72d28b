/// \file
/// The Timeline that the harness passes to stages.

#pragma once

#include <chrono>
#include <staircase/timeline.hpp>
#include <string>
#include <utility>
#include <vector>

namespace staircase {

/// A phase or an overlapping interval. Times are in seconds since the creation of the timeline.
struct Span {
  std::string name;
  double begin;
  double end;
};

/// The total time, in seconds, of all phases or intervals with the same name.
struct PhaseTotal {
  std::string name;
  double seconds;
};

/// Stores the phases and intervals that a stage marks, together with their times.
class RecordedTimeline final : public Timeline {
 public:
  RecordedTimeline() = default;

  /// \param phase the name of a phase; empty for the first phase of the solve
  /// \param hook a function that is called once, before this phase begins for the first time; the
  /// duration of the call is not part of any phase
  RecordedTimeline(std::string phase, void (*hook)()) : phase_(std::move(phase)), hook_(hook) {}

  void begin(const char* name) override;
  void end() override;
  void add_overlapping(const char* name, double begin, double end) override;
  double now() const override;

  /// Convert the timeline to a text, for another process, and back.
  std::string to_text() const;
  static RecordedTimeline from_text(const std::string& text);

  /// Whether the hook was called. The hook is not called if the stage has no phase of the given
  /// name.
  bool hook_was_called() const { return hook_was_called_; }

  const std::vector<Span>& spans() const { return spans_; }
  const std::vector<Span>& overlapping() const { return overlapping_; }

  /// The total time of each phase, in the order in which the phases first began.
  std::vector<PhaseTotal> totals() const;

  /// For each name, the total time of the intervals that overlap the phases. These intervals may
  /// also overlap each other.
  std::vector<PhaseTotal> overlapping_totals() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string phase_;
  void (*hook_)() = nullptr;  // null after the call
  bool hook_was_called_ = false;
  std::vector<Span> spans_, overlapping_;
  bool open_ = false;  // whether the last phase is still running
};

}  // namespace staircase
