/// \file
/// What a recorded run says of a loop: the iterations that touch the same number.

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

/// What depends on what in a loop, outer loops held fixed.
struct Depends {
  bool any = false, not_by_updates = false;
  /// Values of the loop's variable in two iterations, the first of which ran first, with a kind.
  std::set<std::tuple<long, long, std::string>> pairs;
};

/// The iteration of a loop that an event belongs to; -1 if none.
inline int iteration_of(const Recording& run, const Event& event, int line) {
  for (int now = event.iteration; now >= 0; now = run.iterations[now].around)
    if (run.iterations[now].line == line) return now;
  return -1;
}

inline Depends depends(const Recording& run, int line) {
  // Events on a number, within one run of the loop.
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
