/// \file
/// Where the time of a solve goes: named phases, one after the other, and what a device does beside
/// them.

#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace staircase {

/// One stretch of a solve, in seconds since the timeline was made.
struct Span {
  std::string_view name;
  double begin;
  double end;
};

/// The seconds that all spans of one name took together.
struct PhaseTotal {
  std::string name;
  double seconds;
};

/// Records the phases of one solve.
///
/// A phase lasts until the next one begins; one name may come back any number of times. Only the
/// thread that called solve() may mark phases. Where the CUDA toolkit is found, each phase is an
/// NVTX range, too, under which NVIDIA's profilers show what happens in it.
class Timeline {
 public:
  /// Ends the current phase and begins another; `name` must outlive the timeline (a string literal
  /// does).
  void begin(std::string_view name);

  /// Ends the current phase, if there is one.
  void end();

  /// Adds what a device did beside the phases, and beside other such spans: measured by its events,
  /// in seconds since the timeline was made.
  void add_beside(Span span) { beside_.push_back(span); }
  const std::vector<Span>& beside() const { return beside_; }

  /// Says what a reader of the times should know: that a stage could not do what it is for, say.
  void remark(std::string sentence) { remark_ = std::move(sentence); }
  const std::string& remark() const { return remark_; }

  /// Seconds since the timeline was made.
  double now() const;

  const std::vector<Span>& spans() const { return spans_; }

  /// The time of each phase, in the order in which the phases first began.
  std::vector<PhaseTotal> totals() const;

  /// The same for what was beside them; such times may overlap.
  std::vector<PhaseTotal> totals_beside() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<Span> spans_, beside_;
  std::string remark_;
  bool open_ = false;  // whether the last span is still going on
};

}  // namespace staircase
