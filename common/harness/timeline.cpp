#include <algorithm>
#include <staircase/timeline.hpp>

#ifdef STAIRCASE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace staircase {
namespace {

#ifdef STAIRCASE_NVTX
void push_range(std::string_view name) { nvtxRangePushA(std::string(name).c_str()); }
void pop_range() { nvtxRangePop(); }
#else
void push_range(std::string_view) {}
void pop_range() {}
#endif

std::vector<PhaseTotal> totals_of(const std::vector<Span>& spans) {
  std::vector<PhaseTotal> totals;
  for (const Span& span : spans) {
    auto total = std::find_if(totals.begin(), totals.end(),
                              [&](const PhaseTotal& t) { return t.name == span.name; });
    if (total == totals.end()) total = totals.insert(totals.end(), {std::string(span.name), 0});
    total->seconds += span.end - span.begin;
  }
  return totals;
}

}  // namespace

double Timeline::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Timeline::begin(std::string_view name) {
  end();
  push_range(name);
  const double start = now();
  spans_.push_back({name, start, start});
  open_ = true;
}

void Timeline::end() {
  if (!open_) return;
  spans_.back().end = now();
  open_ = false;
  pop_range();
}

std::vector<PhaseTotal> Timeline::totals() const { return totals_of(spans_); }

std::vector<PhaseTotal> Timeline::totals_beside() const { return totals_of(beside_); }

}  // namespace staircase
