#include "recorded_timeline.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

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
  if (hook_ != nullptr && (phase_.empty() || phase_ == name)) {
    std::exchange(hook_, nullptr)();
    hook_was_called_ = true;
  }
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

void RecordedTimeline::add_overlapping(const char* name, double begin, double end) {
  overlapping_.push_back({name, begin, end});
}

std::string RecordedTimeline::to_text() const {
  nlohmann::json json{{"spans", nlohmann::json::array()}, {"beside", nlohmann::json::array()}};
  for (const auto& [key, spans] : {std::pair("spans", &spans_), {"beside", &overlapping_}})
    for (const auto& [name, begin, end] : *spans) json[key].push_back({name, begin, end});
  return json.dump();
}

RecordedTimeline RecordedTimeline::from_text(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  RecordedTimeline timeline;
  for (const auto& [key, spans] :
       {std::pair("spans", &timeline.spans_), {"beside", &timeline.overlapping_}})
    for (const auto& span : json.at(key)) spans->push_back({span[0], span[1], span[2]});
  return timeline;
}

std::vector<PhaseTotal> RecordedTimeline::totals() const { return totals_of(spans_); }

std::vector<PhaseTotal> RecordedTimeline::overlapping_totals() const {
  return totals_of(overlapping_);
}

}  // namespace staircase
