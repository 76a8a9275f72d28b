#include "dependence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "accesses.hpp"
#include "clauses.hpp"
#include "pairs.hpp"

namespace slicer {
namespace {

/// What follows from the conflicts of a loop.
class Judgement {
 public:
  Judgement(const Function& function, const Loop& loop, const Pragma* pragma)
      : accesses_(accesses_of(function, loop)), clauses_(loop, pragma) {
    trouble_ = loop.unknown.empty() ? trouble_in(function, *loop.frame, accesses_) : loop.unknown;
    if (!trouble_.empty()) return;
    try {
      pairs_.emplace(function, loop.frame, accesses_);
      conflicts_ = pairs_->conflicts(
          [&](const Touched&, const Touched&) { return later(pairs_->space(), loop); });
    } catch (const isl::exception&) {
      trouble_ = "the sets of iterations are too complicated";
    }
    sort();
  }

  Finding finding() const {
    Finding found;
    found.reason = trouble_;
    if (!trouble_.empty()) return found;
    for (const auto* conflicts : {&true_, &shared_})
      if (!conflicts->empty()) {
        found.verdict = Verdict::dependent;
        found.pair = pairs_->smallest(*conflicts);
        found.reason = sentence_of(*found.pair);
        if (conflicts == &shared_)
          found.reason += fmt::format("; independent if {} private", listed(shared_names_));
        return found;
      }
    if (!unsure_.empty()) {
      found.reason = doubt();
      return found;
    }
    found.verdict = updates_.empty() ? Verdict::independent : Verdict::reduction;
    if (updates_.empty()) return found;
    for (const Conflict* conflict : updates_) note(found.reductions, update_of(*conflict));
    const std::vector<const Conflict*> sure = sure_of(updates_);
    if (!sure.empty()) found.pair = pairs_->smallest(sure);
    found.reason = fmt::format("only by {}", fmt::join(found.reductions, ", "));
    return found;
  }

  void claim(Finding& found) const {
    if (!trouble_.empty()) return decide(found, Claim::unknown, trouble_);
    std::vector<const Conflict*> races;
    std::vector<std::string> missing, own;
    for (const Conflict* conflict : updates_) {
      const Access &source = *conflict->source->access, &sink = *conflict->sink->access;
      if (clauses_.reduces(*sink.place.variable, sink.update)) continue;
      if (!source.guard.empty() && source.guard == sink.guard) continue;
      if (clauses_.is_private(*sink.place.variable)) {
        own.push_back(sink.place.variable->name);
        continue;
      }
      races.push_back(conflict);
      note(missing,
           fmt::format("reduction({} : {})", sign_of(sink.update), sink.place.variable->name));
    }
    for (const auto* conflicts : {&true_, &shared_})
      if (!conflicts->empty()) {
        found.against = pairs_->smallest(*conflicts);
        std::string why = sentence_of(*found.against);
        if (conflicts == &shared_)
          why += fmt::format("; private({}) is missing", fmt::join(shared_names_, ", "));
        return decide(found, Claim::refuted, why);
      }
    if (!unsure_.empty()) return decide(found, Claim::unknown, doubt());
    if (races.empty() && own.empty()) return decide(found, Claim::proved, {});
    if (races.empty())
      return decide(
          found, Claim::unknown,
          fmt::format("each thread has a `{}` of its own, and what becomes of them is not "
                      "seen",
                      own.front()));
    const std::vector<const Conflict*> sure = sure_of(races);
    if (sure.empty()) return decide(found, Claim::unknown, races.front()->unsure);
    found.against = pairs_->smallest(sure);
    decide(found, Claim::refuted,
           fmt::format("{}; {} is missing", sentence_of(*found.against), fmt::join(missing, ", ")));
  }

 private:
  void sort() {
    for (const Conflict& conflict : conflicts_) {
      const Variable& variable = *conflict.sink->access->place.variable;
      const bool is_written_first = slicer::is_written_first(accesses_, &variable);
      const bool is_private = clauses_.is_private(variable);
      if (is_private && is_written_first) continue;
      if (is_private && has_element(conflict.sink->access->place))
        unsure_.push_back(&conflict);
      else if (conflict.is_update)
        updates_.push_back(&conflict);
      else if (!conflict.is_sure)
        unsure_.push_back(&conflict);
      else if (is_written_first) {
        shared_.push_back(&conflict);
        note(shared_names_, variable.name);
      } else
        true_.push_back(&conflict);
    }
  }

  /// The source's iteration of a loop runs before the sink's.
  static isl::set later(const Space& space, const Loop& loop) {
    const isl::pw_aff source = space.variable_at(space.position_of(loop, 0));
    const isl::pw_aff sink = space.variable_at(space.position_of(loop, 1));
    return loop.step > 0 ? source.lt_set(sink) : source.gt_set(sink);
  }

  /// Why it is not sure that iterations depend on each other.
  std::string doubt() const {
    const Conflict& conflict = *unsure_.front();
    if (!conflict.is_sure) return conflict.unsure;
    return fmt::format("each thread has a `{}` of its own, and what is in it before is not seen",
                       conflict.sink->access->place.variable->name);
  }

  static void decide(Finding& found, Claim claim, const std::string& why) {
    found.claim = claim;
    found.why = why;
  }

  static void note(std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }

  static std::vector<const Conflict*> sure_of(const std::vector<const Conflict*>& conflicts) {
    std::vector<const Conflict*> sure;
    for (const Conflict* conflict : conflicts)
      if (conflict->is_sure) sure.push_back(conflict);
    return sure;
  }

  static std::string listed(const std::vector<std::string>& names) {
    return fmt::format("{} {}", fmt::join(names, ", "), names.size() == 1 ? "is" : "are");
  }

  static std::string update_of(const Conflict& conflict) {
    const Access& access = *conflict.sink->access;
    return fmt::format("{} {}", sign_of(access.update), access.text);
  }

  std::vector<const Access*> accesses_;
  std::optional<Pairs> pairs_;
  Clauses clauses_;
  std::string trouble_;
  std::vector<Conflict> conflicts_;
  std::vector<const Conflict*> true_, shared_, unsure_, updates_;
  std::vector<std::string> shared_names_;
};

std::string listed(const Values& values) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : values) parts.push_back(fmt::format("{} = {}", name, value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// The clause that lets iterations depend on each other, where they are kept in order or apart.
std::string deciding_clause(const Pragma& pragma, Claim claim) {
  const bool is_of_threads =
      pragma.has("for") || pragma.has("distribute") || pragma.has("taskloop") || pragma.has("loop");
  if (claim == Claim::unknown) return {};
  if (pragma.has("ordered")) return "ordered";
  return claim == Claim::refuted && pragma.has("safelen") && !is_of_threads ? "safelen" : "";
}

}  // namespace

Finding examine(const Function& function, const Loop& loop) {
  const Pragma* pragma = parallel_pragma(loop);
  Finding found;
  try {
    const Judgement judgement(function, loop, pragma);
    found = judgement.finding();
    if (pragma) judgement.claim(found);
  } catch (const isl::exception&) {
    found = {};
    found.reason = found.why = "the sets of iterations are too complicated";
    found.claim = pragma ? Claim::unknown : Claim::none;
  }
  found.loop = &loop;
  found.pragma = pragma;
  if (!pragma) return found;
  if (const std::string clause = deciding_clause(*pragma, found.claim); !clause.empty()) {
    found.claim = Claim::unknown;
    found.why = fmt::format("the clause `{}`", clause);
  }
  // Loops that are taken together have to be independent each.
  const Loop* inner = &loop;
  for (int level = collapsed(*pragma); level != 1 && found.claim == Claim::proved; --level) {
    inner = level > 0 ? inner->inside : nullptr;
    if (!inner) {
      found.claim = Claim::unknown;
      found.why = "the loops to collapse were not found";
      break;
    }
    Finding of_inner;
    Judgement(function, *inner, pragma).claim(of_inner);
    found.claim = of_inner.claim;
    found.against = of_inner.against;
    found.why = of_inner.why;
  }
  return found;
}

std::string name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::independent:
      return "independent";
    case Verdict::reduction:
      return "reduction";
    case Verdict::dependent:
      return "dependent";
    default:
      return "unknown";
  }
}

std::string sentence_of(const Pair& pair) {
  const bool sink_writes = pair.kind != "flow", source_writes = pair.kind != "anti";
  return fmt::format("{} {} {}, which {} {} ({})", listed(pair.sink),
                     sink_writes ? "writes" : "reads", pair.element, listed(pair.source),
                     source_writes ? "writes" : "reads", pair.kind);
}

}  // namespace slicer
