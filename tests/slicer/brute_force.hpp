/// \file
/// The dependences of a loop according to a recorded run: iterations that access the same element,
/// at least one of them with a write.

#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "recorded.hpp"

namespace slicer::test {

using Values = std::map<std::string, long>;

/// The dependences of a loop, with the counters of the outer loops fixed.
struct Depends {
  bool any = false, not_by_updates = false;
  /// The counters of two dependent iterations, in execution order, and the kind of dependence.
  std::set<std::tuple<long, long, std::string>> pairs;
};

/// The index of the iteration in which an event occurred, for the loop in line `line`; -1 if the
/// event occurred outside of this loop.
inline int iteration_of(const Recording& run, const Event& event, int line) {
  for (int now = event.iteration; now >= 0; now = run.iterations[now].around)
    if (run.iterations[now].line == line) return now;
  return -1;
}

inline Depends depends(const Recording& run, int line) {
  // Groups the events that access the same element within one run of the loop.
  std::map<std::pair<int, long>, std::vector<std::pair<int, const Event*>>> together;
  for (const Event& event : run.events)
    if (const int at = iteration_of(run, event, line); at >= 0)
      together[{run.iterations[at].around, event.cell}].push_back({at, &event});
  Depends found;
  for (const auto& [where, events] : together)
    for (const auto& [first, one] : events)
      for (const auto& [second, other] : events) {
        if (first >= second || (!one->is_write && !other->is_write)) continue;
        found.any = true;
        found.not_by_updates = found.not_by_updates || !one->is_update || !other->is_update;
        found.pairs.insert({run.iterations[first].value, run.iterations[second].value,
                            !one->is_write    ? "anti"
                            : other->is_write ? "output"
                                              : "flow"});
      }
  return found;
}

inline Values values(const nlohmann::json& object) {
  Values all;
  for (const auto& [name, value] : object.items()) all[name] = value.get<long>();
  return all;
}

}  // namespace slicer::test
