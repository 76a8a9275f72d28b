#include "dependence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <list>
#include <optional>
#include <set>
#include <string_view>

#include "accesses.hpp"
#include "assumptions.hpp"
#include "clauses.hpp"
#include "pairs.hpp"

namespace slicer {
namespace {

std::string listed(const Values& values) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : values) parts.push_back(fmt::format("{} = {}", name, value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Derives the verdict on a loop from its conflicts.
class Judgement {
 public:
  Judgement(const Function& function, const Loop& loop, const Pragma* pragma)
      : function_(function),
        loop_(loop),
        pragma_(pragma),
        accesses_(accesses_of(function, loop)),
        clauses_(loop, pragma) {
    trouble_ =
        loop.unknown.empty() ? trouble_in(function, *loop.frame, accesses_, false) : loop.unknown;
    output_ = trouble_in(function, *loop.frame, accesses_);
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
    // Output is not a data race, but its order depends on the order of the iterations.
    found.reason = trouble_.empty() ? output_ : trouble_;
    if (!found.reason.empty()) return found;
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
    keep_concurrent();
    for (const Conflict* conflict : updates_) {
      const Access& sink = *conflict->sink->access;
      if (clauses_.reduces(*sink.place.variable, sink.update)) continue;
      if (is_guarded(*conflict)) continue;
      if (is_partial(*sink.place.variable)) continue;
      if (clauses_.is_private(*sink.place.variable) ||
          !clauses_.reduction_of(*sink.place.variable).empty()) {
        own.push_back(sink.place.variable->name);
        continue;
      }
      races.push_back(conflict);
      note(missing,
           fmt::format("reduction({} : {})", sign_of(sink.update), sink.place.variable->name));
    }
    const bool is_vector = pragma_->has("simd") && !pragma_->has("for");
    // lost_value() checks variables of which each thread has a separate copy.
    const auto is_own = [&](const Conflict& conflict) {
      const Variable* variable = conflict.sink->access->place.variable;
      return clauses_.is_private(*variable) && is_written_first(accesses_, variable);
    };
    std::vector<const Conflict*> held, order, shared;
    for (const auto* conflicts : {&true_, &shared_})
      for (const Conflict* conflict : *conflicts) {
        const Variable& variable = *conflict->sink->access->place.variable;
        if ((is_vector && conflicts == &true_ && is_forward(*conflict)) || is_own(*conflict))
          continue;
        const bool is_copied =
            (clauses_.is_private(variable) && !has_element(conflict->sink->access->place)) ||
            !clauses_.reduction_of(variable).empty();
        if (is_copied)
          note(own, variable.name);  // copies have no races, but the iterations of a thread share a
                                     // copy
        else if (conflicts == &shared_)
          shared.push_back(conflict);
        else
          (is_guarded(*conflict) ? held : order).push_back(conflict);
      }
    if (!leave_chunks(order, shared)) return decide(found, Claim::unknown, one_chunk);
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
                    fmt::format("threads reach {} in any order",
                                guard_of(*held.front()->sink->access, loop_)));
    if (!unsure_.empty()) return decide(found, Claim::unknown, doubt());
    if (!assumed_.contradiction.empty())
      return decide(found, Claim::unknown, assumed_.contradiction);
    for (const Variable* variable : variables())
      if (variable->is_of_thread && !is_partial(*variable))
        assumed_.list.push_back({loop_.frame, loop_.line,
                                 fmt::format("`{}` is not needed after the loop", variable->name)});
    for (const Trouble& trouble : function_.troubles)
      if (trouble.only_prints && trouble.frame->is_within(loop_.frame))
        assumed_.list.push_back(
            {loop_.frame, trouble.line, "the order of the output is irrelevant"});
    const std::string lost = lost_value();
    found.assumptions = assumed_.list;
    if (!lost.empty()) return decide(found, race_.empty() ? Claim::unknown : Claim::refuted, lost);
    if (races.empty() && own.empty()) return decide(found, Claim::proved, {});
    if (races.empty())
      return decide(found, Claim::unknown,
                    fmt::format("each thread has a `{}` of its own, and the use of these values "
                                "after the loop is not visible",
                                own.front()));
    std::vector<const Conflict*> sure = sure_of(races), none;
    if (sure.empty()) return decide(found, Claim::unknown, races.front()->unsure);
    if (!leave_chunks(sure, none)) return decide(found, Claim::unknown, one_chunk);
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
      // The verdict on a loop respects values that are needed after it; see lost_value() for
      // claims.
      const bool is_own = sharing.is_counter || sharing.is_of_region ||
                          (sharing.leaves_value && always_writes(variable)) ||
                          is_followed(variable);
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

  /// Whether each iteration writes the entire variable.
  bool always_writes(const Variable& variable) const {
    return std::any_of(accesses_.begin(), accesses_.end(), [&](const Access* access) {
      return access->place.variable == &variable && access->is_write &&
             access->place.steps.empty() && together_with(access->frame) == loop_.frame;
    });
  }

  bool is_followed(const Variable& variable) const {
    return need_after(function_, loop_, variable).empty();
  }

  /// Whether each thread has a partial result in a `threadprivate` variable: the loop only updates
  /// the variable, by one operation. The variable keeps a separate value in each thread.
  bool is_partial(const Variable& variable) const {
    if (!variable.is_of_thread) return false;
    std::optional<Update> only;
    for (const Access* access : accesses_) {
      if (access->place.variable != &variable) continue;
      if (access->update == Update::none || only.value_or(access->update) != access->update)
        return false;
      only = access->update;
    }
    return only.has_value();
  }

  bool is_guarded(const Conflict& conflict) const {
    const std::string guard = guard_of(*conflict.source->access, loop_);
    // Critical sections exclude each other only within a team, not across teams.
    if (pragma_->has("distribute") && guard != "atomic") return false;
    return !guard.empty() && guard == guard_of(*conflict.sink->access, loop_);
  }

  /// Removes conflicts that OpenMP keeps in order: conflicts of ordered regions, of variables that
  /// a clause makes linear, and of iterations that are too far apart for one vector. Also removes
  /// conflicts on the counters of inner parallel loops, of which each thread has its own copy.
  void keep_concurrent() {
    const bool is_vector = pragma_->has("simd") && !pragma_->has("for");
    const std::vector<std::string> length = pragma_->clause("safelen");
    const long lanes = is_vector && length.size() == 1 && std::isdigit(length[0][0])
                           ? std::strtol(length[0].c_str(), nullptr, 10)
                           : 0;
    for (auto* conflicts : {&true_, &shared_, &unsure_, &updates_}) {
      std::vector<const Conflict*> kept;
      for (const Conflict* conflict : *conflicts) {
        const Variable* variable = conflict->sink->access->place.variable;
        const bool is_linear =
            std::find(loop_.linear.begin(), loop_.linear.end(), variable) != loop_.linear.end();
        const bool is_ordered = pragma_->has("ordered") && is_guarded(*conflict) &&
                                guard_of(*conflict->sink->access, loop_) == "ordered";
        if (is_linear || is_ordered || is_counter_of_inner(*conflict->source->access) ||
            is_counter_of_inner(*conflict->sink->access))
          continue;
        if (lanes > 0) {
          Conflict near = *conflict;
          near.where = near.where.intersect(closer_than(lanes));
          if (near.where.is_empty()) continue;
          near_.push_back(std::move(near));
          conflict = &near_.back();
        }
        kept.push_back(conflict);
      }
      *conflicts = std::move(kept);
    }
  }

  /// Whether a variable is the counter of an inner loop that a pragma makes parallel as well, so
  /// that each thread has its own counter. After a `simd` loop, the counter has a value, so it is
  /// shared.
  bool is_counter_of_inner(const Access& access) const {
    for (const Loop& inner : function_.loops) {
      const Pragma* pragma = parallel_pragma(inner);
      if (&inner != &loop_ && pragma && inner.variable == access.place.variable && inner.frame &&
          inner.frame->is_within(loop_.frame) && access.frame->is_within(inner.frame->parent) &&
          !pragma->has("simd"))
        return true;
    }
    return false;
  }

  /// Pairs of iterations whose distance is less than `lanes` iterations.
  isl::set closer_than(long lanes) const {
    const Space& space = pairs_->space();
    const isl::pw_aff source = space.variable_at(space.position_of(loop_, 0));
    const isl::pw_aff sink = space.variable_at(space.position_of(loop_, 1));
    const isl::pw_aff apart = loop_.step > 0 ? sink.sub(source) : source.sub(sink);
    return apart.lt_set(space.number(lanes * std::abs(loop_.step)));
  }

  static constexpr const char* one_chunk =
      "the clause `schedule` may give iterations that conflict to the same thread";

  /// Restricts conflicts to pairs of iterations in different chunks of the schedule. Returns false
  /// if this removes all conflicts, or if several loops are collapsed.
  bool leave_chunks(std::vector<const Conflict*>& ones, std::vector<const Conflict*>& others) {
    const std::vector<std::string> schedule = pragma_->clause("schedule");
    const bool has_number =
        schedule.size() > 2 && std::isdigit(static_cast<unsigned char>(schedule.back()[0]));
    const long chunk = has_number ? std::strtol(schedule.back().c_str(), nullptr, 0) : 1;
    if (chunk == 1 || (ones.empty() && others.empty())) return true;
    if (collapsed(*pragma_) != 1) return false;
    for (auto* conflicts : {&ones, &others}) {
      std::vector<const Conflict*> apart;
      for (const Conflict* conflict : *conflicts) {
        Conflict far = *conflict;
        far.where = far.where.subtract(closer_than(chunk));
        if (far.where.is_empty()) continue;
        near_.push_back(std::move(far));
        apart.push_back(&near_.back());
      }
      *conflicts = std::move(apart);
    }
    return !ones.empty() || !others.empty();
  }

  /// Whether lanes that execute each statement simultaneously preserve the order of a pair: the
  /// body has no loops, and the earlier access comes first in the body.
  bool is_forward(const Conflict& conflict) const {
    const Access &source = *conflict.source->access, &sink = *conflict.sink->access;
    const auto has_loop = [&](const Access& access) {
      for (const Frame* frame = access.frame; frame != loop_.frame; frame = frame->parent)
        if (frame->loop || !frame->guard.empty()) return true;
      return false;
    };
    return &source < &sink && !has_loop(source) && !has_loop(sink);
  }

  /// The reason why the tool does not judge the pragma; empty if there is none.
  std::string doubt_of_claim() const {
    if (!loop_.doubt.empty() && pragma_ == parallel_pragma(loop_)) return loop_.doubt;
    if (const std::string why = surroundings_of(loop_, *pragma_); !why.empty()) return why;
    for (const Access* access : accesses_)
      if (guard_of(*access, loop_) == "ordered" && !pragma_->has("ordered"))
        return "the clause `ordered` is missing";
    const std::vector<std::string> linear = pragma_->clause("linear");
    for (const std::string& word : linear)
      if (std::isalpha(word[0]) &&
          std::none_of(loop_.linear.begin(), loop_.linear.end(),
                       [&](const Variable* each) { return each->name == word; }))
        return fmt::format(
            "the clause `linear`: the loop does not end with an update of `{}` that can be "
            "analysed",
            word);
    // The tool replaces a pointer by its array, but a thread's copy of the pointer does not point
    // to this array.
    for (const Variable& variable : function_.variables)
      if (variable.alias && loses_value(variable.name))
        return fmt::format("`{}` has no initial value in a thread", variable.name);
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

  /// Whether a clause of the loop, or of a region around the loop, replaces a variable by copies
  /// that do not have the variable's value.
  bool loses_value(const std::string& name) const {
    const auto is_named = [&](const Pragma& pragma) {
      for (const char* clause : {"private", "lastprivate"}) {
        const std::vector<std::string> words = pragma.clause(clause);
        if (std::find(words.begin(), words.end(), name) != words.end()) return true;
      }
      return false;
    };
    if (is_named(*pragma_)) return true;
    for (const Frame* frame = loop_.frame; frame; frame = frame->parent)
      if (frame->region && is_named(*frame->region)) return true;
    return false;
  }

  /// The variables that the iterations share.
  std::vector<const Variable*> variables() const {
    std::vector<const Variable*> found;
    for (const Access* access : accesses_)
      if (std::find(found.begin(), found.end(), access->place.variable) == found.end())
        found.push_back(access->place.variable);
    return found;
  }

  /// The reason why a value that a variable has before or after the loop may be lost in the
  /// threads' copies; empty if there is none.
  std::string lost_value() {
    for (const Variable* variable : variables()) {
      if (std::find(loop_.linear.begin(), loop_.linear.end(), variable) != loop_.linear.end())
        continue;
      const Sharing sharing = clauses_.sharing(*variable);
      const std::string sign = clauses_.reduction_of(*variable);
      bool writes = false, only_updates = true, reads = false, is_bool = true;
      for (const Access* access : accesses_) {
        if (access->place.variable != variable) continue;
        writes = writes || access->is_write;
        is_bool = is_bool && access->type == CXType_Bool;
        reads = reads || !access->is_write;
        only_updates =
            only_updates && access->update != Update::none && sign_of(access->update) == sign;
      }
      const std::string& name = variable->name;
      if (is_partial(*variable)) {
        assumed_.list.push_back(
            {loop_.frame, loop_.line,
             fmt::format("the program combines the `{}` of all threads after the loop", name)});
        continue;
      }
      if ((sign == "&&" || sign == "||") && !is_bool)
        return fmt::format("`{}` is 0 or 1 after the loop, even if no iteration runs", name);
      if (sharing.leaves_value)
        assumed_.list.push_back(
            {loop_.frame, loop_.line, fmt::format("an iteration runs, so `{}` has a value", name)});
      if (const std::string why = outside_section(*variable); !why.empty()) return why;
      if (!sign.empty() && !only_updates)
        return fmt::format("`{}` is read or written other than by its reduction", name);
      if (!sharing.is_private || sharing.is_counter) continue;
      const bool reads_first = reads && !is_written_first(accesses_, variable);
      if (reads_first && writes && sharing.is_of_region)
        return fmt::format(
            "each thread has a `{}` of its own, and the use of these values after the loop is not "
            "visible",
            name);
      if (reads_first && !sharing.takes_value && !sharing.is_of_region)
        return fmt::format("`{}` has no initial value in a thread, but is read", name);
      if (reads_first && !writes)
        if (const int line = uneven_write(*variable); line != 0)
          return fmt::format(
              "each thread has a `{}` of its own, and line {} writes it in some threads", name,
              line);
      if (reads_first && writes)
        return fmt::format("an iteration reads a value of `{}` from another iteration", name);
      if (sharing.leaves_value && !always_writes(*variable))
        return fmt::format("`{}` has no value unless the last iteration writes it", name);
      if (!writes || sharing.leaves_value || variable->is_of_thread) continue;
      if (const std::string why = need_after(function_, loop_, *variable); !why.empty())
        return fmt::format("each thread has a `{}` of its own, and {}", name, why);
    }
    if (const std::string why = unwritten(); !why.empty()) return why;
    // Each thread has its own counters. The counters of a loop that is only vectorised keep their
    // values.
    const Loop* counted = pragma_->has("for") ? &loop_ : nullptr;
    for (int level = std::max(collapsed(*pragma_), 1); level > 0 && counted;
         --level, counted = counted->inside)
      if (const Variable* counter = counted->variable;
          counter && counter->frame != counted->frame->parent &&  // not declared in the head
          !clauses_.sharing(*counter).leaves_value)
        if (const std::string why = need_after(function_, loop_, *counter); !why.empty())
          return fmt::format("each thread has a `{}` of its own, and {}", counter->name, why);
    if (const std::string before = conflict_before(); !before.empty()) return before;
    return pragma_->has("nowait") ? conflict_behind() : "";
  }

  /// The line of a write to `variable` that only some threads perform on their own copies. The
  /// write is in the parallel region, but outside of the loop: in another worksharing loop, or in a
  /// directive such as `single`. The result is 0 if there is no such write.
  int uneven_write(const Variable& variable) const {
    const Frame* region = loop_.frame;
    while (region && !region->region) region = region->parent;
    if (!region) return 0;
    for (const Access& access : function_.accesses) {
      const bool is_of_copy = variable.owns || !has_element(access.place);
      if (access.place.variable != &variable || !access.is_write || !is_of_copy ||
          access.frame->is_within(loop_.frame) || !access.frame->is_within(region))
        continue;
      for (const Frame* frame = access.frame; frame != region; frame = frame->parent)
        if (!frame->directive.empty() || (frame->loop && parallel_pragma(*frame->loop)))
          return access.line;
    }
    return 0;
  }

  /// The reason why a clause `lastprivate` leaves a variable without a value, namely that no
  /// iteration writes the variable; empty if there is none.
  std::string unwritten() const {
    std::set<std::string> written;
    for (const Access* access : accesses_)
      if (access->is_write) written.insert(access->place.variable->name);
    for (const Variable* variable : loop_.linear) written.insert(variable->name);
    const Loop* counted = &loop_;
    for (int level = std::max(collapsed(*pragma_), 1); level > 0 && counted;
         --level, counted = counted->inside)
      if (counted->variable) written.insert(counted->variable->name);
    for (const std::string& name : pragma_->clause("lastprivate"))
      if (name != "," && !written.contains(name))
        return fmt::format("`{}` has no value unless the last iteration writes it", name);
    return {};
  }

  /// The reason why the loop may update elements outside the array section of a reduction; empty if
  /// there is none. The method then assumes that the section contains all elements that the loop
  /// accesses.
  std::string outside_section(const Variable& variable) {
    const std::vector<std::string> words = clauses_.section_of(variable);
    if (words.empty()) return {};
    bool is_whole = true;
    std::size_t subscript = 0;
    for (std::size_t w = 0; w < words.size(); ++subscript) {
      const auto end = std::find(words.begin() + static_cast<std::ptrdiff_t>(w), words.end(), "]");
      std::vector<std::string> of_one(words.begin() + static_cast<std::ptrdiff_t>(w), end);
      w += of_one.size() + 1;
      const auto colon = std::find(of_one.begin(), of_one.end(), ":");
      const std::vector<std::string> first(of_one.begin() + !of_one.empty(), colon);
      const std::vector<std::string> length(colon == of_one.end() ? colon : colon + 1,
                                            of_one.end());
      const bool from_zero =
          colon != of_one.end() && (first.empty() || first == std::vector<std::string>{"0"});
      const bool is_number = length.size() == 1 && std::isdigit(length[0][0]);
      const long elements = is_number ? std::strtol(length[0].c_str(), nullptr, 0) : 0;
      for (const Access* access : accesses_) {
        if (access->place.variable != &variable || access->place.steps.size() <= subscript)
          continue;
        const long extent = access->place.steps[subscript].extent;
        if (from_zero && extent > 0 && (length.empty() || elements >= extent)) continue;
        if (extent > 0 && (!from_zero || is_number))
          return fmt::format("the clause `reduction` names only a part of `{}`", variable.name);
        is_whole = false;
      }
    }
    if (!is_whole)
      assumed_.list.push_back({loop_.frame, loop_.line,
                               fmt::format("subscripts of `{0}` are within `{0}{1}`", variable.name,
                                           fmt::join(words, ""))});
    return {};
  }

  /// Assumes that two variables refer to different memory. Returns false, without the assumption,
  /// if a call in the file contradicts it.
  bool assume_apart(const Variable& one, const Variable& other) {
    for (const Overlap& overlap : function_.overlaps)
      if ((overlap.one == &one && overlap.other == &other) ||
          (overlap.one == &other && overlap.other == &one))
        return false;
    const auto [first, last] = std::minmax(one.name, other.name);
    const std::string text = fmt::format("`{}` and `{}` do not overlap", first, last);
    for (const Assumption& known : assumed_.list)
      if (known.text == text) return true;
    assumed_.list.push_back({loop_.frame, loop_.line, text});
    return true;
  }

  /// Whether an access of the parallel region may conflict with a concurrent access of the loop.
  /// Assumes that variables with different names refer to different memory.
  bool may_race(const Access& access, const Access& own) {
    if (!own.is_write && !access.is_write) return false;
    if (Names::is_elsewhere(own) || Names::is_elsewhere(access)) return true;
    if (own.place.variable == access.place.variable) return may_overlap(own.place, access.place);
    return need_assumption(own, access) &&
           !assume_apart(*own.place.variable, *access.place.variable);
  }

  /// The result of comparing an access of a parallel region with an access of the loop, if no
  /// barrier separates them.
  struct Race {
    bool is_possible = true;
    std::string sentence;  ///< describes the race if both certainly access the same element for
                           ///< some sizes
  };

  /// Whether a clause of a directive creates copies of a variable for the threads.
  static bool has_copy(const Frame& frame, const std::string& name) {
    if (!frame.pragma) return false;
    for (const char* clause : {"private", "firstprivate", "lastprivate", "reduction"}) {
      const std::vector<std::string> words = frame.pragma->clause(clause);
      if (std::find(words.begin(), words.end(), name) != words.end()) return true;
    }
    return false;
  }

  /// Compares two accesses in the same iteration of all loops that contain both.
  Race race_of(const Access& access, const Access& own, const Frame& region) const {
    if (own.place.variable != access.place.variable || Names::is_elsewhere(own) ||
        Names::is_elsewhere(access))
      return {};
    const Frame* root = access.frame;
    while (!loop_.frame->is_within(root)) root = root->parent;
    if (root->loop) return {};
    bool is_by_any_thread =
        region.region && !region.region->has("if") && !region.region->has("num_threads");
    for (const Frame* frame = access.frame; frame != &region; frame = frame->parent) {
      const std::string& directive = frame->directive;
      // The first thread may also run the first chunk of a static schedule. This thread does not
      // race with itself.
      const bool is_of_first = directive == "master" || directive == "masked";
      const std::vector<std::string> schedule = pragma_->clause("schedule");
      const bool is_known = directive.empty() || directive == "single" ||
                            (is_of_first && (schedule.empty() || schedule[0] == "dynamic"));
      if (!is_known || has_copy(*frame, access.place.variable->name) || !frame->guard.empty() ||
          (frame->loop && parallel_pragma(*frame->loop)))
        is_by_any_thread = false;
    }
    try {
      Pairs pairs(function_, root, {&access, &own});
      auto conflicts =
          pairs.conflicts([&](const Touched&, const Touched&) { return pairs.space().universe(); });
      std::erase_if(conflicts, [&](const Conflict& each) {
        return each.source->access != &access || each.sink->access != &own;
      });
      if (conflicts.empty()) return {false, {}};
      for (const Conflict& conflict : conflicts) {
        if (!is_by_any_thread || !conflict.is_sure) continue;
        const Pair pair = pairs.smallest({&conflict});
        return {true, fmt::format("line {} {} {}, which {} {}, and no barrier is between them",
                                  access.line, access.is_write ? "writes" : "reads", pair.element,
                                  slicer::listed(pair.sink), own.is_write ? "writes" : "reads")};
      }
    } catch (const isl::exception&) {
    }
    return {};
  }

  /// Whether a variable is the counter of this loop, or of a parallel loop around this loop. Each
  /// thread has its own copy of such a counter.
  bool counts_parallel_loop(const Variable& variable) const {
    for (const Frame* frame = loop_.frame; frame; frame = frame->parent)
      if (frame->loop && frame->loop->variable == &variable &&
          (frame->loop == &loop_ || parallel_pragma(*frame->loop)))
        return true;
    return false;
  }

  /// Whether the thread that creates the tasks of a `taskloop` performs an access itself, before it
  /// creates the tasks.
  bool runs_before(const Access& access) const {
    if (!pragma_->has("taskloop")) return false;
    const Frame* alone = loop_.frame;
    while (alone && alone->directive != "single" && alone->directive != "master")
      alone = alone->parent;
    return alone && access.frame->is_within(alone);
  }

  /// Whether a clause of a pragma accesses a shared variable before or after the iterations. The
  /// clause `firstprivate` reads the variable; the other clauses write it.
  static bool shares(const Pragma& pragma, const std::string& name, bool only_writes) {
    for (const char* clause :
         {"lastprivate", "reduction", "linear", "copyprivate", "firstprivate"}) {
      const bool writes = std::string_view(clause) != "firstprivate";
      const std::vector<std::string> words = pragma.clause(clause);
      if ((writes || !only_writes) && std::find(words.begin(), words.end(), name) != words.end())
        return true;
    }
    return false;
  }

  /// The name of a shared variable that both the loop and a clause of another pragma may access, if
  /// one of the two accesses is a write; empty if there is none. Names that hide each other count
  /// as the same variable.
  std::string shared_by_clause(const Pragma& other) const {
    std::set<std::string> names;
    for (const char* clause : {"lastprivate", "reduction", "linear", "copyprivate", "firstprivate"})
      for (const std::string& word : other.clause(clause))
        if (std::isalpha(static_cast<unsigned char>(word[0])) || word[0] == '_') names.insert(word);
    for (const std::string& name : names) {
      const bool writes = shares(other, name, true);
      if (shares(*pragma_, name, !writes)) return name;
      for (const Access* own : accesses_)
        if (own->place.variable->name == name && (writes || own->is_write) &&
            !clauses_.sharing(*own->place.variable).is_private)
          return name;
    }
    return {};
  }

  /// The reason why a clause of another pragma of the region may conflict with the loop; empty if
  /// there is none. The function calls `is_separate` with another loop of the region and the
  /// indices of that loop's first and last access, to find out whether barriers separate the two
  /// loops.
  template <typename IsSeparate>
  std::string conflict_with_clauses(const Frame& region, IsSeparate is_separate) const {
    const auto doubt = [](const Pragma& other, const std::string& name) {
      return fmt::format("a clause in line {} uses `{}`, and a barrier between them is not certain",
                         other.line, name);
    };
    std::set<const Pragma*> of_loops;
    const auto& all = function_.accesses;
    for (const Loop& other : function_.loops) {
      const Pragma* pragma = parallel_pragma(other);
      if (!pragma || !other.frame) continue;
      of_loops.insert(pragma);
      if (&other == &loop_ || !other.frame->is_within(&region) ||
          other.frame->is_within(loop_.frame) || loop_.frame->is_within(other.frame))
        continue;
      const std::string name = shared_by_clause(*pragma);
      if (name.empty()) continue;
      std::size_t first = all.size(), last = 0;
      for (std::size_t a = 0; a < all.size(); ++a) {
        if (!all[a].frame->is_within(other.frame)) continue;
        first = std::min(first, a);
        last = a;
      }
      if (first == all.size() || !is_separate(other, first, last)) return doubt(*pragma, name);
    }
    for (const Pragma* pragma : function_.pragmas) {
      const int first = region.region ? region.region->line : 0;
      const bool is_inside = pragma->line > first && !pragma->has("parallel");
      if (pragma == pragma_ || !is_inside || of_loops.contains(pragma)) continue;
      if (const std::string name = shared_by_clause(*pragma); !name.empty())
        return doubt(*pragma, name);
    }
    return {};
  }

  /// The reason why code before the loop may conflict with the loop. Threads may still run this
  /// code if no barrier of the parallel region separates it from the loop.
  std::string conflict_before() {
    const Frame* region = loop_.frame;
    while (region && !region->region) region = region->parent;
    if (region && region->region == pragma_) return {};
    // If the region is not in the function, all threads of a team may call the function, even
    // repeatedly.
    const bool is_orphan = !region;
    if (is_orphan && (!pragma_->has("for") || pragma_->has("parallel"))) return {};
    if (is_orphan)
      for (region = loop_.frame; region->parent;) region = region->parent;
    const auto& all = function_.accesses;
    const auto first = static_cast<std::size_t>(
        std::find_if(all.begin(), all.end(),
                     [&](const Access& each) { return each.frame->is_within(loop_.frame); }) -
        all.begin());
    /// Whether a barrier separates a point of the program from the loop.
    const auto are_separate = [&](const Frame* frame, std::size_t at) {
      const Frame* again = nullptr;  // the outer loop that contains both the point and the loop
      for (; at >= first && frame && frame != region && !again; frame = frame->parent)
        if (frame->loop && loop_.frame->is_within(frame)) again = frame;
      if (at >= first && !again && is_orphan) again = region;
      if (at >= first && !again) return true;  // the point comes only after the loop
      return std::any_of(
          function_.barriers.begin(), function_.barriers.end(), [&](const Barrier& barrier) {
            const bool is_between =
                again ? (barrier.at > at || barrier.at <= first) && barrier.frame->is_within(again)
                      : barrier.at > at && barrier.at <= first;
            return is_between && barrier.frame->is_within(region) &&
                   (again ? again : loop_.frame)->is_within(together_with(barrier.frame));
          });
    };
    for (const Trouble& trouble : function_.troubles)
      if (trouble.frame->is_within(region) && !trouble.frame->is_within(loop_.frame) &&
          !trouble.only_prints && !trouble.is_directive && !pragma_->has("taskloop") &&
          !are_separate(trouble.frame, trouble.at == 0 ? 0 : trouble.at - 1))
        return fmt::format("the loop does not wait for line {}: {}", trouble.line, trouble.reason);
    for (std::size_t a = 0; a < all.size(); ++a) {
      const Access& access = all[a];
      const Variable& variable = *access.place.variable;
      if (!access.frame->is_within(region) || access.frame->is_within(loop_.frame)) continue;
      const bool is_of_region = variable.frame && !variable.is_named &&
                                variable.frame->is_within(region) &&
                                (variable.owns || !has_element(access.place));
      if (is_of_region || clauses_.is_private(variable) || counts_parallel_loop(variable) ||
          runs_before(access) || are_separate(access.frame, a))
        continue;
      for (const Access* own : accesses_) {
        if (!may_race(access, *own)) continue;
        const bool may_be_separate =
            a > first ||
            std::any_of(function_.barriers.begin(), function_.barriers.end(),
                        [&](const Barrier& each) { return each.at > a && each.at <= first; });
        const Race race = race_of(access, *own, *region);
        if (!race.is_possible) continue;
        if (!may_be_separate) race_ = race.sentence;
        return !race_.empty() ? race_
                              : fmt::format("line {} uses `{}`, and the loop does not wait for it",
                                            access.line, variable.name);
      }
    }
    for (std::size_t a = 0; a < all.size(); ++a) {
      const Access& access = all[a];
      const Variable& variable = *access.place.variable;
      if (access.frame->is_within(region) && !access.frame->is_within(loop_.frame) &&
          shares(*pragma_, variable.name, !access.is_write) && !runs_before(access) &&
          !are_separate(access.frame, a))
        return fmt::format("line {} uses `{}`, and a clause of the loop does not wait for it",
                           access.line, variable.name);
    }
    if (is_orphan)
      assumed_.list.push_back(
          {loop_.frame, loop_.line,
           fmt::format("a barrier is between a call of `{}` and other uses of the loop's data",
                       function_.name)});
    return conflict_with_clauses(*region, [&](const Loop& other, std::size_t, std::size_t last) {
      return are_separate(other.frame->parent, last);
    });
  }

  /// The reason why the code between the loop and the next barrier may conflict with the loop.
  std::string conflict_behind() {
    const char* const doubt = "the code after the loop does not wait for it";
    const Frame* region = loop_.frame->parent;
    for (; region && !region->region; region = region->parent)
      if (region->loop) return doubt;
    if (!region) return doubt;
    bool is_behind = false;
    std::size_t last = 0;
    for (std::size_t a = 0; a < function_.accesses.size(); ++a) {
      const Access& access = function_.accesses[a];
      const bool is_inside = access.frame->is_within(loop_.frame);
      is_behind = is_behind || is_inside;
      if (is_inside) last = a;
      if (is_inside || !is_behind || !access.frame->is_within(region)) continue;
      for (const Frame* frame = access.frame; frame != region; frame = frame->parent)
        if (frame->directive == "barrier") return {};
      const bool may_be_separate =
          std::any_of(function_.barriers.begin(), function_.barriers.end(),
                      [&](const Barrier& each) { return each.at > last && each.at <= a; });
      for (const Access* own : accesses_) {
        // The accesses of one thread to its copy are in order. Clauses for other copies are
        // compared below.
        if (clauses_.is_private(*own->place.variable) || !may_race(access, *own)) continue;
        const Race race = race_of(access, *own, *region);
        if (!race.is_possible) continue;
        if (!may_be_separate) race_ = race.sentence;
        return !race_.empty() ? race_
                              : fmt::format("line {} uses `{}` and does not wait for the loop",
                                            access.line, access.place.variable->name);
      }
      if (shares(*pragma_, access.place.variable->name, !access.is_write))
        return fmt::format("line {} uses `{}` and does not wait for a clause of the loop",
                           access.line, access.place.variable->name);
    }
    const auto is_waiting = [&](const Loop& other, std::size_t first, std::size_t) {
      if (first < last) return true;  // see conflict_before()
      return std::any_of(
          function_.barriers.begin(), function_.barriers.end(), [&](const Barrier& barrier) {
            return barrier.at > last && barrier.at <= first && barrier.frame->is_within(region) &&
                   other.frame->is_within(together_with(barrier.frame));
          });
    };
    if (const std::string why = conflict_with_clauses(*region, is_waiting); !why.empty())
      return why;
    for (const Trouble& trouble : function_.troubles)
      if (trouble.frame->is_within(region) && trouble.line > loop_.line && !trouble.only_prints &&
          trouble.frame->directive.empty())
        return doubt;
    return {};
  }

  /// Pairs for which the source's iteration of a loop runs before the sink's iteration.
  static isl::set later(const Space& space, const Loop& loop) {
    const isl::pw_aff source = space.variable_at(space.position_of(loop, 0));
    const isl::pw_aff sink = space.variable_at(space.position_of(loop, 1));
    return loop.step > 0 ? source.lt_set(sink) : source.gt_set(sink);
  }

  /// The reason why it is not certain that the iterations depend on each other.
  std::string doubt() const {
    const Conflict& conflict = *unsure_.front();
    if (!conflict.is_sure) return conflict.unsure;
    return fmt::format(
        "each thread has a `{}` of its own, and its value before the loop is not visible",
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
  std::string trouble_, output_;
  std::string race_;  ///< a race with code that runs concurrently with the loop; empty if there is
                      ///< none
  Assumed assumed_;
  std::vector<Conflict> conflicts_;
  std::vector<const Conflict*> true_, shared_, unsure_, updates_;
  std::vector<std::string> shared_names_;
  std::list<Conflict> near_;  ///< conflicts restricted to one vector, or to different chunks
};

/// The clause that may separate dependent iterations or keep them in order; empty if there is none.
std::string deciding_clause(const Loop& loop, const Pragma& pragma, Claim claim) {
  // A team of one thread has no races.
  const Pragma* region = &pragma;
  for (const Frame* frame = loop.frame; frame && !region->has("parallel"); frame = frame->parent)
    if (frame->region) region = frame->region;
  if (claim == Claim::refuted && region->clause("num_threads") == std::vector<std::string>{"1"})
    return "num_threads";
  const std::vector<std::string> length = pragma.clause("safelen");
  const bool is_known = length.size() == 1 && std::isdigit(length[0][0]) && collapsed(pragma) == 1;
  if (claim == Claim::refuted && !pragma.clause("ordered").empty()) return "ordered";
  return claim == Claim::refuted && pragma.has("safelen") && !is_known ? "safelen" : "";
}

/// Changes a verdict to `unknown` if it needs an assumption.
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
  // Each of the combined loops has to be independent.
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
  if (const std::string clause = deciding_clause(loop, *pragma, found.claim); !clause.empty()) {
    found.claim = Claim::unknown;
    found.why = fmt::format("the clause `{}`", clause);
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
