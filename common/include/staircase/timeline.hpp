/// \file
/// Where the time of a solve goes: named phases, one after the other, and what a device does beside
/// them.

#pragma once

namespace staircase {

/// Records the phases of one solve; the harness has the clock (harness/recorded_timeline.hpp).
///
/// A phase lasts until the next one begins; one name may come back any number of times. Only the
/// thread that called solve() may mark phases. Where the CUDA toolkit is found, each phase is an
/// NVTX range, too, under which NVIDIA's profilers show what happens in it.
class Timeline {
 public:
  /// Ends the current phase and begins another; `name` must outlive the timeline (a string literal
  /// does).
  virtual void begin(const char* name) = 0;

  /// Ends the current phase, if there is one.
  virtual void end() = 0;

  /// Adds what a device did beside the phases, and beside other such spans: measured by its events,
  /// in seconds since the timeline was made. The name is copied.
  virtual void add_beside(const char* name, double begin, double end) = 0;

  /// Seconds since the timeline was made.
  virtual double now() const = 0;

 protected:
  ~Timeline() = default;
};

}  // namespace staircase
