#include "reversal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "clauses.hpp"

namespace slicer {
namespace {

using Conflicts = std::vector<const Conflict*>;

/// The ruling if the transformation reverses only pairs of updates, such as additions to a sum.
Ruling by_updates(const Request& request, const Pairs& pairs, const Conflicts& updates) {
  Ruling ruling{request, Legality::reduction, {}, {}, {}};
  Conflicts sure;
  std::set<std::string> names;
  for (const Conflict* conflict : updates) {
    const Access& access = *conflict->sink->access;
    names.insert(fmt::format("{} {}", sign_of(access.update), access.text));
    if (conflict->is_sure) sure.push_back(conflict);
  }
  ruling.reductions.assign(names.begin(), names.end());
  ruling.reason = fmt::format("only by {}", fmt::join(names, ", "));
  if (sure.empty()) return ruling;
  ruling.pair = pairs.smallest(sure);
  ruling.reason = fmt::format("{}; {}", sentence_of(*ruling.pair), ruling.reason);
  return ruling;
}

}  // namespace

Ruling unknown(const Request& request, std::string why) {
  return {request, Legality::unknown, {}, std::move(why), {}};
}

Ruling ruling_of(const Request& request, const Pairs& pairs, const std::vector<Conflict>& conflicts,
                 const std::function<bool(const Conflict&)>& expandable) {
  Conflicts true_ones, shared, unsure, updates;
  for (const Conflict& conflict : conflicts) {
    Conflicts& kind = conflict.is_update     ? updates
                      : !conflict.is_sure    ? unsure
                      : expandable(conflict) ? shared
                                             : true_ones;
    kind.push_back(&conflict);
  }
  for (const Conflicts* reversed : {&true_ones, &shared})
    if (!reversed->empty()) {
      const Pair pair = pairs.smallest(*reversed);
      std::string reason = sentence_of(pair);
      if (reversed == &shared)
        reason += fmt::format("; `expand({})` would remove it",
                              pair.element.substr(0, pair.element.find('.')));
      return {request, Legality::illegal, pair, reason, {}};
    }
  if (!unsure.empty()) return unknown(request, unsure.front()->unsure);
  if (updates.empty()) return {request, Legality::legal, {}, {}, {}};
  return by_updates(request, pairs, updates);
}

}  // namespace slicer
