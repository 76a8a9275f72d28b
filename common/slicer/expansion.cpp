#include "expansion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "accesses.hpp"
#include "pairs.hpp"

namespace slicer {
namespace {

/// The accesses of a loop to a variable.
std::vector<const Access*> accesses_to(const Function& function, const Loop& loop,
                                       const Variable* variable) {
  std::vector<const Access*> accesses;
  for (const Access& access : function.accesses)
    if (access.place.variable == variable && access.frame->is_within(loop.frame))
      accesses.push_back(&access);
  return accesses;
}

/// A sentence about whether the final value of the variable is needed after the loop; empty if the
/// variable is declared within the loop.
std::string last_value(const Function& function, const Loop& loop, const Variable& variable) {
  if (!variable.is_named && variable.frame && variable.frame->is_within(loop.frame)) return {};
  const bool is_followed =
      std::all_of(function.troubles.begin(), function.troubles.end(),
                  [&](const Trouble& trouble) { return trouble.frame->is_within(loop.frame); });
  if (variable.is_named || !variable.frame || !is_followed)
    return fmt::format("it is not known whether `{}` is needed afterwards", variable.name);
  const std::vector<const Access*> within = accesses_to(function, loop, &variable);
  for (const Access& access : function.accesses) {
    if (access.is_write || access.place.variable != &variable) continue;
    if (access.frame->is_within(loop.frame)) continue;
    // If an outer loop contains both the access and `loop`, code before `loop` also runs after it.
    bool comes_again = false;
    for (const Frame* frame = access.frame; frame; frame = frame->parent)
      comes_again = comes_again || (frame->loop && loop.frame->is_within(frame) &&
                                    !variable.frame->is_within(frame));
    if (within.empty() || &access > within.back() || comes_again)
      return fmt::format("line {} may need the last value of `{}`", access.line, variable.name);
  }
  return fmt::format("the last value of `{}` is not needed afterwards", variable.name);
}

/// Finds reads of elements that the same iteration has not written before.
class Cover {
 public:
  Cover(const Function& function, const Loop& loop, const Variable* variable)
      : loop_(loop),
        accesses_(accesses_to(function, loop, variable)),
        pairs_(function, loop.frame, accesses_),
        space_(pairs_.space()) {}

  void judge(Expansion& expansion) {
    std::vector<Conflict> uncovered;
    for (const Touched& read : pairs_.touched()) {
      if (read.access->is_write) continue;
      isl::set rest = read.domains[1];
      for (const Touched& write : pairs_.touched())
        if (write.access->is_write) rest = rest.subtract(covered(write, read));
      if (rest.is_empty()) continue;
      const std::string doubt = doubt_of(read);
      if (!doubt.empty()) {
        expansion.reason = doubt;
        return;
      }
      uncovered.push_back({&read, &read, true, false, rest.intersect(read.domains[0]), {}});
    }
    expansion.is_sure = true;
    expansion.is_legal = uncovered.empty();
    if (!uncovered.empty()) explain(uncovered, expansion);
  }

 private:
  /// The reason why the tool cannot decide whether a read element was written before; empty if
  /// there is none.
  std::string doubt_of(const Touched& read) const {
    if (!read.unsure.empty()) return read.unsure;
    for (const Touched& other : pairs_.touched())
      if (other.access->is_write && !other.unsure.empty()) return other.unsure;
    return {};
  }

  isl::set distance(const Loop& loop, bool is_same) const {
    const isl::pw_aff source = space_.variable_at(space_.position_of(loop, 0));
    const isl::pw_aff sink = space_.variable_at(space_.position_of(loop, 1));
    if (is_same) return source.eq_set(sink);
    return loop.step > 0 ? source.lt_set(sink) : source.gt_set(sink);
  }

  /// Pairs in which the write comes before the read, in the same iteration.
  isl::set before(const Access& write, const Access& read) const {
    isl::set all = space_.nothing(), so_far = distance(loop_, true);
    std::vector<const Loop*> common;
    for (const Frame* frame = read.frame; frame != loop_.frame; frame = frame->parent)
      if (frame->loop && write.frame->is_within(frame)) common.insert(common.begin(), frame->loop);
    for (const Loop* inner : common) {
      if (!counts(*inner)) return all;
      all = all.unite(so_far.intersect(distance(*inner, false)));
      so_far = so_far.intersect(distance(*inner, true));
    }
    return &write < &read ? all.unite(so_far) : all;
  }

  static isl::set same_element(const Touched& write, const Touched& read, const isl::set& where) {
    isl::set same = where;
    for (std::size_t s = 0; s < write.at[0].size(); ++s)
      for (std::size_t p = 0; p < write.at[0][s].size(); ++p)
        same = same.intersect(write.at[0][s][p].eq_set(read.at[1][s][p]));
    return same;
  }

  /// The pairs in which the write has certainly stored the element before the read, in the same
  /// iteration.
  isl::set covered(const Touched& write, const Touched& read) const {
    const auto &steps = write.access->place.steps, &wanted = read.access->place.steps;
    if (!write.unsure.empty() || steps.size() > wanted.size()) return space_.nothing();
    for (std::size_t s = 0; s < steps.size(); ++s)
      if (steps[s].member != wanted[s].member || write.at[0][s].size() != read.at[1][s].size() ||
          (steps[s].member.empty() && write.at[0][s].empty()))
        return space_.nothing();
    isl::set both = write.domains[0].intersect(read.domains[1]);
    both = same_element(write, read, both.intersect(before(*write.access, *read.access)));
    for (const Access* access : accesses_)
      for (const Frame* frame = access->frame; frame->is_within(loop_.frame); frame = frame->parent)
        if (frame->loop && counts(*frame->loop))
          both = isl::manage(
              isl_set_eliminate(both.release(), isl_dim_set,
                                static_cast<unsigned>(space_.position_of(*frame->loop, 0)), 1));
    return both;
  }

  /// Sets `expansion.reason`, and sets `expansion.pair` to an iteration that certainly reads a
  /// value of an earlier iteration, if there is one.
  void explain(const std::vector<Conflict>& uncovered, Expansion& expansion) const {
    const auto order = [&](const Touched& source, const Touched& sink) {
      for (const Conflict& read : uncovered)
        if (read.sink == &sink && source.access->is_write)
          return read.where.intersect(distance(loop_, false));
      return space_.nothing();
    };
    const std::vector<Conflict> flows = pairs_.conflicts(order);
    std::vector<const Conflict*> all;
    for (const Conflict& flow : flows)
      if (flow.is_sure) all.push_back(&flow);
    if (!all.empty()) {
      expansion.pair = pairs_.smallest(all);
      expansion.reason = sentence_of(*expansion.pair);
      return;
    }
    for (const Conflict& read : uncovered) all.push_back(&read);
    const Pair read = pairs_.smallest(all);
    std::vector<std::string> at;
    for (const auto& [name, value] : read.sink) at.push_back(fmt::format("{} = {}", name, value));
    expansion.reason =
        fmt::format("{} reads {} before it writes it", fmt::join(at, ", "), read.element);
  }

  const Loop& loop_;
  std::vector<const Access*> accesses_;
  Pairs pairs_;
  const Space& space_;
};

}  // namespace

const Variable* find_written(const Function& function, const Loop& loop, const std::string& name) {
  for (const Access& access : function.accesses)
    if (access.is_write && access.place.variable->name == name &&
        access.place.variable != loop.variable && access.frame->is_within(loop.frame))
      return access.place.variable;
  return nullptr;
}

Expansion expand(const Function& function, const Loop& loop, const Variable& variable) {
  Expansion expansion;
  Cover(function, loop, &variable).judge(expansion);
  if (expansion.is_legal) expansion.reason = last_value(function, loop, variable);
  return expansion;
}

}  // namespace slicer
