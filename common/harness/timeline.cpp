#include <algorithm>
#include <stdexcept>
#include <staircase/timeline.hpp>

namespace staircase {

double Timeline::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

Timeline::Phase::Phase(Timeline& timeline, std::string_view name) : timeline_(timeline) {
  if (timeline_.open_)
    throw std::logic_error("phase '" + std::string(name) + "' begins before '" +
                           std::string(timeline_.spans_.back().name) + "' has ended");
  timeline_.open_ = true;
  const double now = timeline_.now();
  timeline_.spans_.push_back({name, now, now});
}

Timeline::Phase::~Phase() {
  timeline_.spans_.back().end = timeline_.now();
  timeline_.open_ = false;
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
