/// \file
/// Where the time of a solve goes: named phases, one after the other.

#pragma once

#include <chrono>
#include <string>
#include <string_view>
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
/// Phases do not overlap; one name may come back any number of times. Only the thread that called
/// solve() may mark them.
class Timeline {
 public:
  /// Ends its phase when it goes out of scope.
  class [[nodiscard]] Phase {
   public:
    Phase(Timeline& timeline, std::string_view name);
    ~Phase();
    Phase(const Phase&) = delete;
    Phase& operator=(const Phase&) = delete;

   private:
    Timeline& timeline_;
  };

  /// Begins a phase; `name` must outlive the timeline (a string literal does).
  /// \throws std::logic_error if another phase has not ended yet.
  Phase phase(std::string_view name) { return Phase(*this, name); }

  /// Seconds since the timeline was made.
  double now() const;

  const std::vector<Span>& spans() const { return spans_; }

  /// The time of each phase, in the order in which the phases first began.
  std::vector<PhaseTotal> totals() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<Span> spans_;
  bool open_ = false;
};

}  // namespace staircase
