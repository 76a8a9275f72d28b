/// \file
/// The timeline of a solve: consecutive named phases, and intervals of devices or threads that
/// overlap the phases.

#pragma once

namespace staircase {

/// Records the phases of one solve. The harness implements this interface
/// (harness/recorded_timeline.hpp).
///
/// A phase lasts until the next phase begins, and several phases may have the same name. Only the
/// thread that called solve() may mark phases. If the program was built with the CUDA toolkit, each
/// phase is also an NVTX range, which NVIDIA's profilers show.
class Timeline {
 public:
  /// Ends the current phase and begins another phase. `name` must outlive the timeline, as a string
  /// literal does.
  virtual void begin(const char* name) = 0;

  /// Ends the current phase, if any.
  virtual void end() = 0;

  /// Adds an interval of a device or thread, which may overlap phases and other intervals. Both
  /// times are in seconds since the creation of the timeline. The name is copied.
  virtual void add_overlapping(const char* name, double begin, double end) = 0;

  /// Seconds since the creation of the timeline.
  virtual double now() const = 0;

 protected:
  ~Timeline() = default;
};

}  // namespace staircase
