/// \file
/// The timeline of one solve, as the harness keeps it.

#pragma once

#include <chrono>
#include <functional>
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

  /// \param ahead called with the name of each phase before it begins
  explicit RecordedTimeline(std::function<void(const std::string&)> ahead)
      : ahead_(std::move(ahead)) {}

  void begin(const char* name) override;
  void end() override;
  void add_beside(const char* name, double begin, double end) override;
  double now() const override;

  /// As text, from which another process can make one that says the same.
  std::string to_text() const;
  static RecordedTimeline from_text(const std::string& text);

  const std::vector<Span>& spans() const { return spans_; }
  const std::vector<Span>& beside() const { return beside_; }

  /// The time of each phase, in the order in which the phases first began.
  std::vector<PhaseTotal> totals() const;

  /// The same for what was beside them; such times may overlap.
  std::vector<PhaseTotal> totals_beside() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::function<void(const std::string&)> ahead_;
  std::vector<Span> spans_, beside_;
  bool open_ = false;  // whether the last span is still going on
};

}  // namespace staircase
