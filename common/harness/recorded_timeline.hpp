/// \file
/// The timeline of one solve, as the harness keeps it.

#pragma once

#include <chrono>
#include <staircase/timeline.hpp>
#include <string>
#include <utility>
#include <vector>

namespace staircase {

/// One stretch of a solve, in seconds since the timeline was made.
struct Span {
  std::string name;
  double begin;
  double end;
};

/// The seconds that all spans of one name took together.
struct PhaseTotal {
  std::string name;
  double seconds;
};

/// Keeps what a stage marks, and when.
class RecordedTimeline final : public Timeline {
 public:
  RecordedTimeline() = default;

  /// \param phase the phase before which something is done when it first begins; if it has no name,
  ///              the first of all
  /// \param ahead what is done, outside of all phases
  RecordedTimeline(std::string phase, void (*ahead)()) : phase_(std::move(phase)), ahead_(ahead) {}

  void begin(const char* name) override;
  void end() override;
  void add_beside(const char* name, double begin, double end) override;
  double now() const override;

  /// As text, from which another process can make one that says the same.
  std::string to_text() const;
  static RecordedTimeline from_text(const std::string& text);

  /// Whether that has been done: a stage need not have the phase.
  bool was_ahead() const { return was_ahead_; }

  const std::vector<Span>& spans() const { return spans_; }
  const std::vector<Span>& beside() const { return beside_; }

  /// The time of each phase, in the order in which the phases first began.
  std::vector<PhaseTotal> totals() const;

  /// The same for what was beside them; such times may overlap.
  std::vector<PhaseTotal> totals_beside() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string phase_;
  void (*ahead_)() = nullptr;  // until it has been called
  bool was_ahead_ = false;
  std::vector<Span> spans_, beside_;
  bool open_ = false;  // whether the last span is still going on
};

}  // namespace staircase
