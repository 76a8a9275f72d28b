/// \file
/// Tests the phases of a timeline that NVTX reports to a profiler. NVTX_INJECTION64_PATH is the
/// path of the recorder.

#include <gtest/gtest.h>

#include <harness/recorded_timeline.hpp>

#include "nvtx_recorder.hpp"

namespace staircase::test {
namespace {

TEST(Nvtx, ShowsEachPhaseAsARange) {
  nvtx_events().clear();
  RecordedTimeline timeline;
  timeline.begin("copy in");
  timeline.begin("kernels");
  timeline.end();
  timeline.end();
  timeline.begin("copy out");
  timeline.end();
  const std::vector<std::string> expected{"push copy in", "pop",           "push kernels",
                                          "pop",          "push copy out", "pop"};
  EXPECT_EQ(nvtx_events(), expected);
}

}  // namespace
}  // namespace staircase::test
