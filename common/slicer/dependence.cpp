#include "dependence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "accesses.hpp"
#include "assumptions.hpp"
#include "clauses.hpp"
#include "pairs.hpp"

namespace slicer {
namespace {

/// What follows from the conflicts of a loop.
class Judgement {
 public:
  Judgement(const Function& function, const Loop& loop, const Pragma* pragma)
      : function_(function),
        loop_(loop),
        pragma_(pragma),
        accesses_(accesses_of(function, loop)),
        clauses_(loop, pragma) {
    trouble_ = loop.unknown.empty() ? trouble_in(function, *loop.frame, accesses_) : loop.unknown;
    if (!trouble_.empty()) return;
    try {
      pairs_.emplace(function, loop.frame, accesses_);
      conflicts_ = pairs_->conflicts(
          [&](const Touched&, const Touched&) { return later(pairs_->space(), loop); });
      assumed_ = assumed_by(function, *loop.frame, *pairs_);
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
        if (conflicts == &shared_ && true_.empty() && unsure_.empty())
          found.reason +=
              fmt::format("; {} if {} private", updates_.empty() ? "independent" : "a reduction",
                          listed(shared_names_));
        return found;
      }
    if (!unsure_.empty() || !assumed_.contradiction.empty()) {
      found.reason = unsure_.empty() ? assumed_.contradiction : doubt();
      return found;
    }
    found.assumptions = assumed_.list;
    found.verdict = updates_.empty() ? Verdict::independent : Verdict::reduction;
    if (updates_.empty()) return found;
    for (const Conflict* conflict : updates_) note(found.reductions, update_of(*conflict));
    const std::vector<const Conflict*> sure = sure_of(updates_);
    if (!sure.empty()) found.pair = pairs_->smallest(sure);
    found.reason = fmt::format("only by {}", fmt::join(found.reductions, ", "));
    return found;
  }

  void claim(Finding& found) {
    if (!trouble_.empty()) return decide(found, Claim::unknown, trouble_);
    if (const std::string why = doubt_of_claim(); !why.empty())
      return decide(found, Claim::unknown, why);
    std::vector<const Conflict*> races;
    std::vector<std::string> missing, own;
    for (const Conflict* conflict : updates_) {
      const Access &source = *conflict->source->access, &sink = *conflict->sink->access;
      if (clauses_.reduces(*sink.place.variable, sink.update)) continue;
      if (is_guarded(*conflict)) continue;
      if (clauses_.is_private(*sink.place.variable)) {
        own.push_back(sink.place.variable->name);
        continue;
      }
      races.push_back(conflict);
      note(missing,
           fmt::format("reduction({} : {})", sign_of(sink.update), sink.place.variable->name));
    }
    const bool is_vector = pragma_->has("simd") && !pragma_->has("for");
    // What each thread has of its own is judged by what goes into it and out of it.
    const auto is_own = [&](const Conflict& conflict) {
      const Variable* variable = conflict.sink->access->place.variable;
      return clauses_.is_private(*variable) && is_written_first(accesses_, variable);
    };
    std::vector<const Conflict*> held, order, shared;
    for (const Conflict* conflict : true_)
      if (!(is_vector && is_forward(*conflict)) && !is_own(*conflict))
        (is_guarded(*conflict) ? held : order).push_back(conflict);
    for (const Conflict* conflict : shared_)
      if (!is_own(*conflict)) shared.push_back(conflict);
    for (const auto* conflicts : {&order, &shared})
      if (!conflicts->empty()) {
        found.against = pairs_->smallest(*conflicts);
        std::string why = sentence_of(*found.against);
        if (conflicts == &shared)
          why += fmt::format("; private({}) is missing", fmt::join(shared_names_, ", "));
        return decide(found, Claim::refuted, why);
      }
    if (!held.empty())
      return decide(found, Claim::unknown,
                    fmt::format("threads come to {} in any order",
                                guard_of(*held.front()->sink->access, loop_)));
    if (!unsure_.empty()) return decide(found, Claim::unknown, doubt());
    if (!assumed_.contradiction.empty())
      return decide(found, Claim::unknown, assumed_.contradiction);
    for (const Variable* variable : variables())
      if (variable->is_of_thread)
        assumed_.list.push_back({loop_.frame, loop_.line,
                                 fmt::format("`{}` is not needed after the loop", variable->name)});
    found.assumptions = assumed_.list;
    if (const std::string why = lost_value(); !why.empty())
      return decide(found, Claim::unknown, why);
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
      const Sharing sharing = clauses_.sharing(variable);
      const bool is_private = sharing.is_private;
      // The verdict on a loop minds values that are needed after it; see lost_value() for claims.
      const bool is_own = variable.is_of_thread || sharing.is_counter || sharing.is_of_region ||
                          sharing.leaves_value || is_followed(variable);
      if (is_private && is_written_first && is_own) continue;
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

  bool is_followed(const Variable& variable) const {
    return need_after(function_, loop_, variable).empty();
  }

  bool is_guarded(const Conflict& conflict) const {
    const std::string guard = guard_of(*conflict.source->access, loop_);
    return !guard.empty() && guard == guard_of(*conflict.sink->access, loop_);
  }

  /// Whether lanes that run each statement together keep the order of a pair: the earlier access
  /// comes first in the body, which has no loops.
  bool is_forward(const Conflict& conflict) const {
    const Access &source = *conflict.source->access, &sink = *conflict.sink->access;
    const auto has_loop = [&](const Access& access) {
      for (const Frame* frame = access.frame; frame != loop_.frame; frame = frame->parent)
        if (frame->loop || !frame->guard.empty()) return true;
      return false;
    };
    return &source < &sink && !has_loop(source) && !has_loop(sink);
  }

  /// The reason why the tool does not judge the pragma, or nothing.
  std::string doubt_of_claim() const {
    if (!loop_.doubt.empty() && pragma_ == parallel_pragma(loop_)) return loop_.doubt;
    if (const std::string why = surroundings_of(loop_, *pragma_); !why.empty()) return why;
    for (const Variable* variable : variables()) {
      const bool is_named =
          clauses_.is_private(*variable) || !clauses_.reduction_of(*variable).empty();
      const auto same = [&](const Variable* other) {
        return other != variable && other->name == variable->name;
      };
      const std::vector<const Variable*> all = variables();
      if (is_named && std::any_of(all.begin(), all.end(), same))
        return fmt::format("several variables are called `{}`", variable->name);
    }
    return {};
  }

  /// The variables that the iterations share.
  std::vector<const Variable*> variables() const {
    std::vector<const Variable*> found;
    for (const Access* access : accesses_)
      if (std::find(found.begin(), found.end(), access->place.variable) == found.end())
        found.push_back(access->place.variable);
    return found;
  }

  /// The reason why a value before or after the loop may be lost, because each thread has a copy.
  std::string lost_value() const {
    for (const Variable* variable : variables()) {
      const Sharing sharing = clauses_.sharing(*variable);
      const std::string sign = clauses_.reduction_of(*variable);
      bool writes = false, always_writes = false, only_updates = true, reads = false;
      for (const Access* access : accesses_) {
        if (access->place.variable != variable) continue;
        writes = writes || access->is_write;
        reads = reads || !access->is_write;
        always_writes = always_writes || (access->is_write && access->place.steps.empty() &&
                                          together_with(access->frame) == loop_.frame);
        only_updates =
            only_updates && access->update != Update::none && sign_of(access->update) == sign;
      }
      const std::string& name = variable->name;
      if (!sign.empty() && !only_updates)
        return fmt::format("`{}` is read or written other than by its reduction", name);
      if (!sharing.is_private || sharing.is_counter) continue;
      const bool reads_first = reads && !is_written_first(accesses_, variable);
      if (reads_first && writes && sharing.is_of_region)
        return fmt::format(
            "each thread has a `{}` of its own, and what becomes of them is not seen", name);
      if (reads_first && !sharing.takes_value && !sharing.is_of_region)
        return fmt::format("`{}` has no value in a thread at first, and is read", name);
      if (reads_first && writes)
        return fmt::format("an iteration reads what another one leaves in `{}`", name);
      if (sharing.leaves_value && !always_writes)
        return fmt::format("`{}` has no value unless the last iteration writes it", name);
      if (!writes || sharing.leaves_value || variable->is_of_thread) continue;
      if (const std::string why = need_after(function_, loop_, *variable); !why.empty())
        return fmt::format("each thread has a `{}` of its own, and {}", name, why);
    }
    if (pragma_->has("nowait")) return "what follows does not wait for the loop";
    return {};
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

  const Function& function_;
  const Loop& loop_;
  const Pragma* pragma_;
  std::vector<const Access*> accesses_;
  std::optional<Pairs> pairs_;
  Clauses clauses_;
  std::string trouble_;
  Assumed assumed_;
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

/// Replaces a verdict that needs an assumption by `unknown`.
void hold_to_proof(Finding& found) {
  if (found.assumptions.empty()) return;
  if (found.verdict == Verdict::independent || found.verdict == Verdict::reduction) {
    found.verdict = Verdict::unknown;
    found.reason = unproved(found.assumptions);
  }
  if (found.claim == Claim::proved) {
    found.claim = Claim::unknown;
    found.why = unproved(found.assumptions);
  }
  found.assumptions.clear();
}

}  // namespace

std::string unproved(const std::vector<Assumption>& assumptions) {
  return fmt::format("nothing proves that {} (line {})", assumptions.front().text,
                     assumptions.front().line);
}

Finding examine(const Function& function, const Loop& loop, bool is_strict) {
  const Pragma* pragma = parallel_pragma(loop);
  Finding found;
  try {
    Judgement judgement(function, loop, pragma);
    found = judgement.finding();
    if (pragma) judgement.claim(found);
  } catch (const isl::exception&) {
    found = {};
    found.reason = found.why = "the sets of iterations are too complicated";
    found.claim = pragma ? Claim::unknown : Claim::none;
  }
  found.loop = &loop;
  found.pragma = pragma;
  if (is_strict) hold_to_proof(found);
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
    if (is_strict) hold_to_proof(of_inner);
    found.assumptions.insert(found.assumptions.end(), of_inner.assumptions.begin(),
                             of_inner.assumptions.end());
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

std::string name_of(Claim claim) {
  switch (claim) {
    case Claim::proved:
      return "proved";
    case Claim::refuted:
      return "refuted";
    default:
      return "beyond affine";
  }
}

std::string sentence_of(const Pair& pair) {
  const bool sink_writes = pair.kind != "flow", source_writes = pair.kind != "anti";
  return fmt::format("{} {} {}, which {} {} ({})", listed(pair.sink),
                     sink_writes ? "writes" : "reads", pair.element, listed(pair.source),
                     source_writes ? "writes" : "reads", pair.kind);
}

}  // namespace slicer
