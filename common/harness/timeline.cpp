#include <algorithm>
#include <staircase/timeline.hpp>

namespace staircase {

double Timeline::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Timeline::begin(std::string_view name) {
  end();
  const double start = now();
  spans_.push_back({name, start, start});
  open_ = true;
}

void Timeline::end() {
  if (open_) spans_.back().end = now();
  open_ = false;
}

std::vector<PhaseTotal> Timeline::totals() const {
  std::vector<PhaseTotal> totals;
  for (const Span& span : spans_) {
    auto total = std::find_if(totals.begin(), totals.end(),
                              [&](const PhaseTotal& t) { return t.name == span.name; });
    if (total == totals.end()) total = totals.insert(totals.end(), {std::string(span.name), 0});
    total->seconds += span.end - span.begin;
  }
  return totals;
}

}  // namespace staircase
