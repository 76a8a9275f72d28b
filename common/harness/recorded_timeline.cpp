#include "recorded_timeline.hpp"

#include <algorithm>

#ifdef STAIRCASE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace staircase {
namespace {

#ifdef STAIRCASE_NVTX
void push_range(const char* name) { nvtxRangePushA(name); }
void pop_range() { nvtxRangePop(); }
#else
void push_range(const char*) {}
void pop_range() {}
#endif

std::vector<PhaseTotal> totals_of(const std::vector<Span>& spans) {
  std::vector<PhaseTotal> totals;
  for (const Span& span : spans) {
    auto total = std::find_if(totals.begin(), totals.end(),
                              [&](const PhaseTotal& t) { return t.name == span.name; });
    if (total == totals.end()) total = totals.insert(totals.end(), {span.name, 0});
    total->seconds += span.end - span.begin;
  }
  return totals;
}

}  // namespace

double RecordedTimeline::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void RecordedTimeline::begin(const char* name) {
  end();
  push_range(name);
  const double start = now();
  spans_.push_back({name, start, start});
  open_ = true;
}

void RecordedTimeline::end() {
  if (!open_) return;
  spans_.back().end = now();
  open_ = false;
  pop_range();
}

void RecordedTimeline::add_beside(const char* name, double begin, double end) {
  beside_.push_back({name, begin, end});
}

std::vector<PhaseTotal> RecordedTimeline::totals() const { return totals_of(spans_); }

std::vector<PhaseTotal> RecordedTimeline::totals_beside() const { return totals_of(beside_); }

}  // namespace staircase
