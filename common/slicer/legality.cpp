#include "legality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <staircase/error.hpp>

#include "accesses.hpp"
#include "assumptions.hpp"
#include "expansion.hpp"
#include "reversal.hpp"
#include "schedule.hpp"

namespace slicer {
namespace {

Ruling impossible(const Request& request, std::string why) {
  return {request, Legality::impossible, {}, std::move(why), {}};
}

/// The message that a bound of a loop is not affine.
std::string bound_of(const Loop& loop, const std::string& bound) {
  return fmt::format("{}{} of the loop in line {} is beyond affine",
                     bound.starts_with("the") ? "" : "the end ", bound, loop.line);
}

/// The reason why the iterations of a loop cannot be counted; empty if there is none.
std::string doubt_of(const Loop& loop) {
  return counts(loop) ? "" : fmt::format("{} (line {})", loop.unknown, loop.line);
}

/// Judges the requested transformations of one loop.
class Judge {
 public:
  Judge(const Function& function, const Loop& loop, const std::vector<Request>& requests,
        bool is_strict)
      : function_(function), loop_(loop), requests_(requests), is_strict_(is_strict) {}

  std::vector<Ruling> rulings() {
    std::vector<Ruling> all;
    for (const Request& request : requests_) {
      try {
        all.push_back(ruling(request));
      } catch (const isl::exception&) {
        all.push_back(unknown(request, "the sets of iterations are too complicated"));
      }
    }
    return all;
  }

 private:
  Ruling ruling(const Request& request) {
    switch (request.what) {
      case Transformation::distribute:
        return distribution(request);
      case Transformation::fuse:
        return fusion(request);
      case Transformation::expand:
        return expansion(request);
      default:
        return reordering(request);
    }
  }

  // --- Expansion

  Ruling expansion(const Request& request) {
    std::vector<const Loop*> loops{&loop_};
    const bool is_fused = std::any_of(requests_.begin(), requests_.end(), [](const Request& other) {
      return other.what == Transformation::fuse;
    });
    if (is_fused && loop_.next) loops.push_back(loop_.next);
    const Variable* variable = nullptr;
    for (const Loop* loop : loops) {
      const std::string doubt = trouble_of(*loop->frame, {loop}, {});
      if (!doubt.empty()) return unknown(request, doubt);
      if (!variable) variable = find_written(function_, *loop, request.names[0]);
    }
    if (!variable) refuse(request, "names no variable that the loop after it writes");
    Ruling ruling{request, Legality::legal, {}, {}, {}};
    for (const Loop* loop : loops) {
      const Expansion of_loop = expand(function_, *loop, *variable);
      if (!of_loop.is_sure) return unknown(request, of_loop.reason);
      if (!of_loop.is_legal) return {request, Legality::illegal, of_loop.pair, of_loop.reason, {}};
      ruling.reason = of_loop.reason;
    }
    expanded_.insert(variable);
    return ruling;
  }

  /// The order without the pairs that disappear because each iteration has its own copy of an
  /// expanded variable.
  Order apart(const Space& space, const Order& order) const {
    return [this, &space, order](const Touched& source, const Touched& sink) {
      const isl::set all = order(source, sink);
      const Variable* variable = sink.access->place.variable;
      return expanded_.contains(variable) ? all.intersect(same(space, source, sink)) : all;
    };
  }

  isl::set same(const Space& space, const Touched& source, const Touched& sink) const {
    if (!counts(loop_)) return space.universe();
    const auto position = [&](const Touched& touched, int side) {
      const bool is_next = loop_.next && touched.access->frame->is_within(loop_.next->frame);
      return space.variable_at(space.position_of(is_next ? *loop_.next : loop_, side));
    };
    return position(source, 0).eq_set(position(sink, 1));
  }

  Ruling settle(const Request& request, const Pairs& pairs,
                const std::vector<const Access*>& accesses, const Order& order) const {
    const auto expandable = [&](const Conflict& conflict) {
      return is_written_first(accesses, conflict.sink->access->place.variable) &&
             conflict.where.intersect(same(pairs.space(), *conflict.source, *conflict.sink))
                 .is_empty();
    };
    Ruling ruling =
        ruling_of(request, pairs, pairs.conflicts(apart(pairs.space(), order)), expandable);
    if (ruling.legality != Legality::legal && ruling.legality != Legality::reduction) return ruling;
    const Assumed assumed = assumed_by(function_, *pairs.space().names().root(), pairs);
    if (!assumed.contradiction.empty()) return unknown(request, assumed.contradiction);
    if (is_strict_ && !assumed.list.empty()) return unknown(request, unproved(assumed.list));
    ruling.assumptions = assumed.list;
    return ruling;
  }

  /// The reason why a part of the function that contains the given loops cannot be judged; empty if
  /// there is none.
  std::string trouble_of(const Frame& frame, const std::vector<const Loop*>& loops,
                         const std::vector<const Access*>& accesses) const {
    for (const Loop* loop : loops)
      if (!counts(*loop)) return doubt_of(*loop);
    return trouble_in(function_, frame, accesses);
  }

  // --- Interchange, tiles, skewing

  /// The loops from an outer loop down to an inner loop.
  static std::vector<const Loop*> between(const Loop& outer, const Loop& inner) {
    std::vector<const Loop*> band;
    for (const Frame* frame = inner.frame; frame != outer.frame->parent; frame = frame->parent)
      if (frame->loop) band.insert(band.begin(), frame->loop);
    return band;
  }

  const Loop& find(const Request& request, const std::string& name) const {
    for (const Loop& loop : function_.loops)
      if (loop.frame && loop.frame->is_within(loop_.frame) && loop.variable &&
          loop.variable->name == name)
        return loop;
    refuse(request, fmt::format("names `{}`, which is not the counter of a loop after it", name));
  }

  /// The loops whose order is to change, and the loops between them.
  std::vector<const Loop*> band() const {
    const Loop *outer = nullptr, *inner = nullptr;
    for (const Request& request : requests_)
      if (request.reorders())
        for (const std::string& name : request.names) {
          const Loop& named = find(request, name);
          if (!outer || outer->frame->is_within(named.frame)) outer = &named;
          if (!inner || named.frame->is_within(inner->frame)) inner = &named;
          if (!inner->frame->is_within(named.frame) || !named.frame->is_within(outer->frame))
            refuse(request,
                   fmt::format("names `{}`, whose loop is not nested with the other loops", name));
        }
    return between(*outer, *inner);
  }

  Ruling reordering(const Request& request) {
    const std::vector<const Loop*> band = this->band();
    const Loop &outer = *band.front(), &inner = *band.back();
    const std::vector<const Access*> accesses = accesses_of(function_, inner);
    const std::string doubt = trouble_of(*outer.frame, band, accesses);
    if (!doubt.empty()) return unknown(request, doubt);
    for (const Loop* loop : band)
      if (loop->variable->frame != loop->frame->parent)
        return unknown(request,
                       fmt::format("the value of `{}` after its loop in line {} may change",
                                   loop->variable->name, loop->line));
    if (!schedule_) schedule_.emplace(band);
    schedule_->apply(request);
    if (const Access* outside = outside_of(outer, inner))
      return impossible(request,
                        fmt::format("line {} is in the loop of `{}`, but not in that of `{}`",
                                    outside->line, outer.variable->name, inner.variable->name));
    const Pairs pairs(function_, outer.frame, accesses, band);
    for (const Loop* loop : band) {
      std::string bound;
      pairs.space().range(*loop, {loop->frame, outer.frame, 0}, bound);
      if (!bound.empty()) return unknown(request, bound_of(*loop, bound));
    }
    const isl::set reversed = schedule_->reversed(pairs.space());
    return settle(request, pairs, accesses,
                  [&](const Touched&, const Touched&) { return reversed; });
  }

  /// An access that is in the outer loop, but not in the inner one, and that a transformation could
  /// affect.
  const Access* outside_of(const Loop& outer, const Loop& inner) const {
    const auto is_counter = [&](const Access& access) {
      for (const Frame* frame = inner.frame; frame; frame = frame->parent)
        if (frame->loop && frame->loop->variable == access.place.variable)
          return access.place.steps.empty();
      return false;
    };
    const auto writes = [&](const Variable* variable) {
      return std::any_of(function_.accesses.begin(), function_.accesses.end(),
                         [&](const Access& access) {
                           return access.is_write && access.place.variable == variable &&
                                  access.frame->is_within(outer.frame);
                         });
    };
    for (const Access& access : function_.accesses)
      if (access.frame->is_within(outer.frame) && !access.frame->is_within(inner.frame) &&
          !is_counter(access) && !follows_counters(*access.place.variable, *outer.frame) &&
          (access.is_write || Names::is_elsewhere(access) || writes(access.place.variable)))
        return &access;
    return nullptr;
  }

  /// Whether the value of a variable can be recomputed anywhere in a frame.
  bool follows_counters(const Variable& variable, const Frame& root) const {
    return Names(function_, &root).meaning(variable, variable.frame, &root).kind == Meaning::value;
  }

  // --- Distribution

  Ruling distribution(const Request& request) const {
    std::vector<const Access*> accesses;
    for (const Access& access : function_.accesses) {
      const Variable& variable = *access.place.variable;
      if (access.frame->is_within(loop_.frame) && &variable != loop_.variable &&
          !follows_counters(variable, *loop_.frame))
        accesses.push_back(&access);
    }
    const std::string doubt = trouble_of(*loop_.frame, {&loop_}, accesses);
    if (!doubt.empty()) return unknown(request, doubt);
    if (loop_.frame->is_cut)
      return unknown(request, fmt::format("`continue` may leave out a part of the loop in line {}",
                                          loop_.line));
    if (loop_.parts.size() < 2)
      return impossible(
          request,
          fmt::format("the loop in line {} has no two statements that could be in separate loops",
                      loop_.line));
    const auto part_of = [&](const Touched& touched) {
      const auto index = static_cast<std::size_t>(touched.access - function_.accesses.data());
      return std::upper_bound(loop_.parts.begin(), loop_.parts.end(), index) - loop_.parts.begin();
    };
    const Pairs pairs(function_, loop_.frame, accesses, {&loop_});
    const isl::set later = distance(pairs.space(), loop_, loop_);
    return settle(request, pairs, accesses, [&](const Touched& source, const Touched& sink) {
      return part_of(source) > part_of(sink) ? later : pairs.space().nothing();
    });
  }

  /// Pairs in which the iteration of the source loop comes before the iteration of the sink loop.
  static isl::set distance(const Space& space, const Loop& source, const Loop& sink) {
    const isl::pw_aff first = space.variable_at(space.position_of(source, 0));
    const isl::pw_aff last = space.variable_at(space.position_of(sink, 1));
    return source.step > 0 ? first.lt_set(last) : first.gt_set(last);
  }

  // --- Fusion

  Ruling fusion(const Request& request) const {
    if (!loop_.next)
      return impossible(
          request,
          fmt::format("no other loop follows directly after the loop in line {}", loop_.line));
    const Loop& next = *loop_.next;
    const Frame* both = next.frame;
    while (!loop_.frame->is_within(both)) both = both->parent;
    std::vector<const Access*> accesses = accesses_of(function_, loop_);
    const std::vector<const Access*> more = accesses_of(function_, next);
    accesses.insert(accesses.end(), more.begin(), more.end());
    for (const Loop* loop : {&loop_, &next}) {
      const std::string doubt = trouble_of(*loop->frame, {loop}, accesses);
      if (!doubt.empty()) return unknown(request, doubt);
    }
    const Pairs pairs(function_, both, accesses, {&loop_, &next});
    std::string bound, other_bound;
    const isl::set one = iterations(pairs.space(), loop_, bound);
    const isl::set other = iterations(pairs.space(), next, other_bound);
    if (!bound.empty()) return unknown(request, bound_of(loop_, bound));
    if (!other_bound.empty()) return unknown(request, bound_of(next, other_bound));
    if (loop_.step != next.step || !one.is_equal(other))
      return impossible(request, fmt::format("the loops in lines {} and {} have different bounds",
                                             loop_.line, next.line));
    return settle(request, pairs, accesses, [&](const Touched& source, const Touched& sink) {
      const bool is_across =
          source.access->frame->is_within(loop_.frame) && sink.access->frame->is_within(next.frame);
      if (!is_across) return pairs.space().nothing();
      return later_first(pairs.space(), next);
    });
  }

  isl::set later_first(const Space& space, const Loop& next) const {
    const isl::pw_aff first = space.variable_at(space.position_of(loop_, 0));
    const isl::pw_aff second = space.variable_at(space.position_of(next, 1));
    return loop_.step > 0 ? second.lt_set(first) : second.gt_set(first);
  }

  /// The iterations of a loop, for all possible sizes.
  static isl::set iterations(const Space& space, const Loop& loop, std::string& unsure) {
    isl::set all = space.range(loop, {loop.frame, space.names().root(), 0}, unsure);
    for (const Variable* size : space.sizes())
      if (size->is_natural)
        all = all.intersect(space.variable_at(space.position_of(size)).ge_set(space.number(0)));
    return all;
  }

  const Function& function_;
  const Loop& loop_;
  const std::vector<Request>& requests_;
  const bool is_strict_;
  std::set<const Variable*> expanded_;
  std::optional<Schedule> schedule_;
};

}  // namespace

bool Ruling::is_refused(bool with_reductions) const {
  return legality == Legality::illegal || legality == Legality::impossible ||
         (legality == Legality::reduction && !with_reductions);
}

std::vector<Ruling> judge(const Function& function, const Loop& loop,
                          const std::vector<Request>& requests, bool is_strict) {
  return Judge(function, loop, requests, is_strict).rulings();
}

std::string name_of(Legality legality) {
  switch (legality) {
    case Legality::legal:
      return "legal";
    case Legality::reduction:
      return "reduction";
    case Legality::illegal:
      return "illegal";
    case Legality::impossible:
      return "impossible";
    default:
      return "unknown";
  }
}

}  // namespace slicer
