#include "dependence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <isl/cpp.h>
#include <isl/options.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace slicer {
namespace {

/// Operations of isl that a loop may take, a second or so.
constexpr unsigned long most_operations = 4'000'000;

isl::ctx shared_context() {
  static const isl::ctx context(isl_ctx_alloc());
  return context;
}

/// A sum of products of variables.
using Polynomial = std::map<std::vector<const Variable*>, long>;

Polynomial sum_of(Polynomial one, const Polynomial& other, long factor) {
  for (const auto& [product, count] : other) one[product] += factor * count;
  std::erase_if(one, [](const auto& part) { return part.second == 0; });
  return one;
}

Polynomial product_of(const Polynomial& one, const Polynomial& other) {
  Polynomial all;
  for (const auto& [product, count] : one)
    for (const auto& [by, times] : other) {
      std::vector<const Variable*> both = product;
      both.insert(both.end(), by.begin(), by.end());
      std::sort(both.begin(), both.end());
      all[both] += count * times;
    }
  std::erase_if(all, [](const auto& part) { return part.second == 0; });
  return all;
}

bool is_affine(const Polynomial& polynomial) {
  return std::all_of(polynomial.begin(), polynomial.end(),
                     [](const auto& part) { return part.first.size() <= 1; });
}

bool is_constant(const Polynomial& polynomial) {
  return polynomial.empty() || (polynomial.size() == 1 && polynomial.begin()->first.empty());
}

/// What a name means at a place within a loop.
struct Meaning {
  enum { counter, size, value, unknown } kind = unknown;
  const Loop* loop = nullptr;
};

/// An element that an access touches, for the two iterations of a pair.
struct Touched {
  const Access* access;
  std::vector<isl::set> domains;                          ///< of source and sink
  std::vector<std::vector<std::vector<isl::pw_aff>>> at;  ///< of each: subscripts of each step
  std::string unsure;                                     ///< why it may not happen, or elsewhere
};

/// Two accesses that touch the same element in different iterations.
struct Conflict {
  const Touched *source, *sink;
  bool is_sure;
  bool is_update;  ///< both only add to it, or the like, so that the order does not matter
  isl::set where;
  std::string unsure;
};

class Examination {
 public:
  Examination(const Function& function, const Loop& loop) : function_(function), loop_(loop) {
    for (const Frame* frame = loop.frame->parent; frame; frame = frame->parent)
      if (frame->loop && counts(*frame->loop)) outer_.insert(outer_.begin(), frame->loop);
    for (const Access& access : function.accesses)
      if (access.frame->is_within(loop.frame) && !is_private(access)) accesses_.push_back(&access);
  }

  /// Why nothing can be said of the loop.
  std::string trouble() const {
    if (!loop_.unknown.empty()) return loop_.unknown;
    for (const Trouble& trouble : function_.troubles)
      if (trouble.frame->is_within(loop_.frame))
        return fmt::format("{} in line {}", trouble.reason, trouble.line);
    for (const Access* access : accesses_)
      if (access->is_write && access->place.steps.empty() && access->place.variable->is_array &&
          !access->place.variable->owns)
        return fmt::format("line {} lets `{}` be other memory", access->line,
                           access->place.variable->name);
    return {};
  }

  const std::vector<Conflict>& conflicts() {
    isl_ctx_reset_operations(shared_context().get());
    name_sizes();
    for (const Access* access : accesses_) touched_.push_back(touch(*access));
    find_subscripts();
    for (const Touched& source : touched_)
      for (const Touched& sink : touched_) compare(source, sink);
    return conflicts_;
  }

  /// The smallest pair of iterations among some conflicts, for the smallest sizes that have one.
  Pair smallest(const std::vector<const Conflict*>& conflicts) const {
    for (const long most : {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, 128, 256, 1024, 65536}) {
      std::vector<long> best;
      const Conflict* chosen = nullptr;
      for (const Conflict* conflict : conflicts) {
        const isl::set small = conflict->where.intersect(sizes_up_to(most));
        if (small.is_empty()) continue;
        std::vector<long> point = point_of(isl::manage(isl_set_lexmin(small.copy())));
        if (chosen && !precedes(point, best) &&
            (precedes(best, point) || rank(*conflict) >= rank(*chosen)))
          continue;
        best = std::move(point);
        chosen = conflict;
      }
      if (chosen) return pair_of(*chosen, best);
    }
    return pair_of(*conflicts.front(), point_of(conflicts.front()->where));
  }

  /// Whether each iteration writes a variable before it reads it, so that each may have its own.
  bool is_written_first(const Variable* variable) const {
    for (std::size_t r = 0; r < accesses_.size(); ++r) {
      const Access& read = *accesses_[r];
      if (read.place.variable != variable) continue;
      if (has_element(read.place)) return false;
      if (read.is_write) continue;
      const bool is_covered =
          std::any_of(accesses_.begin(), accesses_.begin() + r, [&](const Access* write) {
            return write->is_write && write->place.variable == variable &&
                   write->place.steps.size() <= read.place.steps.size() &&
                   may_overlap(write->place, read.place) &&
                   read.frame->is_within(together_with(write->frame));
          });
      if (!is_covered) return false;
    }
    return true;
  }

  /// The largest part that runs whenever a frame does.
  static const Frame* together_with(const Frame* frame) {
    while (!frame->condition && !frame->loop && frame->parent) frame = frame->parent;
    return frame;
  }

  static bool has_element(const Place& place) {
    return std::any_of(place.steps.begin(), place.steps.end(),
                       [](const Step& step) { return step.member.empty(); });
  }

 private:
  // --- Names

  static bool counts(const Loop& loop) { return loop.variable && loop.unknown.empty(); }

  bool is_private(const Access& access) const {
    const Variable& variable = *access.place.variable;
    if (&variable == loop_.variable && access.place.steps.empty()) return true;
    if (!variable.frame || variable.is_named || !variable.frame->is_within(loop_.frame))
      return false;
    return variable.owns || !has_element(access.place);
  }

  /// Whether places may overlap as far as members say.
  static bool may_overlap(const Place& one, const Place& other) {
    const std::size_t common = std::min(one.steps.size(), other.steps.size());
    for (std::size_t s = 0; s < common; ++s)
      if (!one.steps[s].member.empty() && !other.steps[s].member.empty() &&
          one.steps[s].member != other.steps[s].member)
        return false;
    return true;
  }

  /// Whether something within a frame changes a variable.
  bool changes(const Variable& variable, const Frame* frame) const {
    const Place place =
        variable.of ? *variable.of : Place{const_cast<Variable*>(&variable), {}, {}};
    return std::any_of(function_.accesses.begin(), function_.accesses.end(),
                       [&](const Access& access) {
                         return access.is_write && access.place.variable == place.variable &&
                                !has_element(access.place) && may_overlap(access.place, place) &&
                                access.frame->is_within(frame);
                       });
  }

  /// What a variable means where it is used; constraints hold as long as `stable` is not left.
  Meaning meaning(const Variable& variable, const Frame* used, const Frame* stable) const {
    for (const Frame* frame = used; frame; frame = frame->parent)
      if (frame->loop && frame->loop->variable == &variable) {
        if (counts(*frame->loop)) return {Meaning::counter, frame->loop};
        if (frame->is_within(loop_.frame)) return {};
      }
    if (variable.value && variable.is_fixed && is_lasting(*variable.value, variable.frame, stable))
      return {Meaning::value, nullptr};
    if (variable.frame && variable.frame->is_within(loop_.frame)) return {};
    return {changes(variable, stable) ? Meaning::unknown : Meaning::size, nullptr};
  }

  /// Whether a value stays what it was when a variable was made with it.
  bool is_lasting(const Term& term, const Frame* made, const Frame* stable) const {
    if (term.operation == Operation::unknown) return false;
    if (term.operation == Operation::symbol) {
      const Meaning means = meaning(*term.symbol, made, stable);
      if (means.kind == Meaning::unknown) return false;
      if (means.kind == Meaning::size && !term.symbol->is_fixed) return false;
    }
    return std::all_of(term.operands.begin(), term.operands.end(),
                       [&](const Term& operand) { return is_lasting(operand, made, stable); });
  }

  /// Calls a function with each size and each unknown part of a term.
  void walk(const Term& term, const Frame* used, const Frame* stable,
            const std::function<void(const Variable*, const Term&)>& visit) const {
    if (term.operation == Operation::unknown) visit(nullptr, term);
    if (term.operation == Operation::symbol) {
      const Meaning means = meaning(*term.symbol, used, stable);
      if (means.kind == Meaning::size) visit(term.symbol, term);
      if (means.kind == Meaning::unknown) visit(nullptr, term);
      if (means.kind == Meaning::value)
        walk(*term.symbol->value, term.symbol->frame, stable, visit);
    }
    for (const Term& operand : term.operands) walk(operand, used, stable, visit);
  }

  /// What a constraint of a frame must not outlast.
  const Frame* stable_for(const Frame* frame) const {
    return frame->is_within(loop_.frame) ? loop_.frame : frame;
  }

  void name_sizes() {
    const auto note = [&](const Variable* variable, const Term&) {
      if (variable && std::find(sizes_.begin(), sizes_.end(), variable) == sizes_.end())
        sizes_.push_back(variable);
    };
    for (const Access* access : accesses_) {
      std::size_t depth = 0;
      for (const Step& step : access->place.steps)
        walk(step.index, access->frame, loop_.frame, note);
      for (const Frame* frame = access->frame; frame; frame = frame->parent) {
        const Frame* stable = stable_for(frame);
        if (frame->condition) walk(*frame->condition, frame, stable, note);
        if (!frame->loop || !counts(*frame->loop)) continue;
        walk(frame->loop->first, frame, stable, note);
        walk(frame->loop->condition, frame, stable, note);
        depth += frame != loop_.frame && frame->is_within(loop_.frame);
      }
      depth_ = std::max(depth_, depth);
    }
    space_ = isl::manage(
        isl_space_set_alloc(shared_context().get(), 0,
                            static_cast<unsigned>(outer_.size() + 2 + 2 * depth_ + sizes_.size())));
  }

  // --- Sets and numbers of isl: outer loops, this loop twice, inner loops twice, sizes

  std::size_t count() const { return outer_.size() + 2 + 2 * depth_ + sizes_.size(); }

  std::size_t position_of(const Loop& loop, int side) const {
    const auto outer = std::find(outer_.begin(), outer_.end(), &loop);
    if (outer != outer_.end()) return outer - outer_.begin();
    if (&loop == &loop_) return outer_.size() + side;
    return outer_.size() + 2 + side * depth_ + depth_of(loop);
  }

  /// How many loops that count lie between this one and another in it.
  std::size_t depth_of(const Loop& loop) const {
    std::size_t depth = 0;
    for (const Frame* frame = loop.frame->parent; frame != loop_.frame; frame = frame->parent)
      depth += frame->loop && counts(*frame->loop);
    return depth;
  }

  std::size_t position_of(const Variable* size) const {
    const auto found = std::find(sizes_.begin(), sizes_.end(), size);
    return outer_.size() + 2 + 2 * depth_ + (found - sizes_.begin());
  }

  isl::pw_aff number(long value) const {
    const isl::aff zero =
        isl::manage(isl_aff_zero_on_domain(isl_local_space_from_space(space_.copy())));
    return isl::pw_aff(zero.add_constant(value));
  }

  isl::pw_aff variable_at(std::size_t position) const {
    return isl::manage(isl_pw_aff_from_aff(isl_aff_var_on_domain(
        isl_local_space_from_space(space_.copy()), isl_dim_set, static_cast<unsigned>(position))));
  }

  isl::set universe() const { return isl::manage(isl_set_universe(space_.copy())); }
  isl::set nothing() const { return isl::manage(isl_set_empty(space_.copy())); }

  isl::pw_aff times(const isl::pw_aff& affine, long factor) const {
    return affine.mul(number(factor));
  }

  std::optional<Polynomial> polynomial(const Term& term, const Frame* used,
                                       const Frame* stable) const {
    if (term.operation == Operation::constant)
      return term.value == 0 ? Polynomial{} : Polynomial{{{}, term.value}};
    if (term.operation == Operation::symbol) {
      const Meaning means = meaning(*term.symbol, used, stable);
      if (means.kind == Meaning::unknown) return {};
      if (means.kind == Meaning::value)
        return polynomial(*term.symbol->value, term.symbol->frame, stable);
      return Polynomial{{{term.symbol}, 1}};
    }
    if (term.operation != Operation::sum && term.operation != Operation::difference &&
        term.operation != Operation::product)
      return {};
    const auto one = polynomial(term.operands[0], used, stable);
    const auto other = polynomial(term.operands[1], used, stable);
    if (!one || !other) return {};
    if (term.operation == Operation::product) return product_of(*one, *other);
    return sum_of(*one, *other, term.operation == Operation::sum ? 1 : -1);
  }

  /// Where a term stands for a side of the pair.
  struct View {
    const Frame *used, *stable;
    int side;
  };

  isl::pw_aff affine(const Polynomial& polynomial, const View& view) const {
    isl::pw_aff sum = number(0);
    for (const auto& [product, factor] : polynomial) {
      if (product.empty()) {
        sum = sum.add(number(factor));
        continue;
      }
      const Meaning means = meaning(*product.front(), view.used, view.stable);
      const std::size_t position = means.kind == Meaning::counter
                                       ? position_of(*means.loop, view.side)
                                       : position_of(product.front());
      sum = sum.add(times(variable_at(position), factor));
    }
    return sum;
  }

  std::optional<isl::pw_aff> affine(const Term& term, const View& view) const {
    if (const auto as_sum = polynomial(term, view.used, view.stable))
      return is_affine(*as_sum) ? std::optional(affine(*as_sum, view)) : std::nullopt;
    if (term.operation == Operation::symbol) {
      if (meaning(*term.symbol, view.used, view.stable).kind != Meaning::value) return {};
      return affine(*term.symbol->value, {term.symbol->frame, view.stable, view.side});
    }
    if (term.operation == Operation::choice) return chosen(term, view);
    if (term.operands.size() != 2) return {};
    const auto one = affine(term.operands[0], view), other = affine(term.operands[1], view);
    if (!one || !other) return {};
    const auto divisor = polynomial(term.operands[1], view.used, view.stable);
    const auto factor = polynomial(term.operands[0], view.used, view.stable);
    const bool divides = divisor && is_constant(*divisor) && !divisor->empty();
    switch (term.operation) {
      case Operation::sum:
        return one->add(*other);
      case Operation::difference:
        return one->sub(*other);
      case Operation::minimum:
        return one->min(*other);
      case Operation::maximum:
        return one->max(*other);
      case Operation::product:
        if ((divisor && is_constant(*divisor)) || (factor && is_constant(*factor)))
          return one->mul(*other);
        return {};
      case Operation::quotient:
        return divides ? std::optional(one->tdiv_q(*other)) : std::nullopt;
      case Operation::remainder:
        return divides ? std::optional(one->tdiv_r(*other)) : std::nullopt;
      default:
        return {};
    }
  }

  std::optional<isl::pw_aff> chosen(const Term& term, const View& view) const {
    std::string unsure;
    const isl::set where = truth(term.operands[0], view, true, unsure);
    const auto one = affine(term.operands[1], view), other = affine(term.operands[2], view);
    if (!unsure.empty() || !one || !other) return {};
    return one->intersect_domain(where).union_add(other->intersect_domain(where.complement()));
  }

  /// Where a condition is as wanted, or may be so, where `unsure` says why that is not sure.
  isl::set truth(const Term& term, const View& view, bool wanted, std::string& unsure) const {
    const auto& operands = term.operands;
    if (term.operation == Operation::negation) return truth(operands[0], view, !wanted, unsure);
    if (term.operation == Operation::both || term.operation == Operation::either) {
      const isl::set one = truth(operands[0], view, wanted, unsure);
      const isl::set other = truth(operands[1], view, wanted, unsure);
      return (term.operation == Operation::both) == wanted ? one.intersect(other)
                                                           : one.unite(other);
    }
    const bool compares = term.operation == Operation::less ||
                          term.operation == Operation::at_most ||
                          term.operation == Operation::equal;
    std::optional<isl::pw_aff> left, right;
    if (compares) {
      left = affine(operands[0], view);
      right = affine(operands[1], view);
    }
    if (!left || !right) {
      if (unsure.empty()) unsure = term.text.empty() ? "a condition" : "`" + term.text + "`";
      return universe();
    }
    if (term.operation == Operation::equal)
      return wanted ? left->eq_set(*right) : left->ne_set(*right);
    if (term.operation == Operation::less)
      return wanted ? left->lt_set(*right) : left->ge_set(*right);
    return wanted ? left->le_set(*right) : left->gt_set(*right);
  }

  /// The iterations of a loop.
  isl::set range(const Loop& loop, const View& view, std::string& unsure) const {
    const isl::pw_aff counter = variable_at(position_of(loop, view.side));
    isl::set all = truth(loop.condition, view, true, unsure);
    const auto first = affine(loop.first, view);
    if (!first) {
      if (unsure.empty()) unsure = fmt::format("the beginning of `{}`", loop.variable->name);
      return all;
    }
    const isl::pw_aff run = loop.step > 0 ? counter.sub(*first) : first->sub(counter);
    all = all.intersect(run.ge_set(number(0)));
    const long step = std::abs(loop.step);
    return step == 1 ? all : all.intersect(run.mod(step).eq_set(number(0)));
  }

  /// Where a frame runs, or may run.
  isl::set domain(const Frame& innermost, int side, std::string& unsure) const {
    isl::set all = universe();
    std::size_t used = 0;
    for (const Frame* frame = &innermost; frame; frame = frame->parent) {
      const View view{frame, stable_for(frame), side};
      const bool is_inside = frame->is_within(loop_.frame);
      std::string doubt;
      if (frame->condition) {
        all = all.intersect(truth(*frame->condition, view, true, doubt));
        if (!doubt.empty()) doubt = fmt::format("the condition {} is beyond affine", doubt);
      }
      if (frame->loop && counts(*frame->loop)) {
        all = all.intersect(range(*frame->loop, view, doubt));
        if (!doubt.empty() && !doubt.starts_with("the"))
          doubt = fmt::format("the end {} of the loop in line {} is beyond affine", doubt,
                              frame->loop->line);
        used += is_inside && frame != loop_.frame;
      } else if (frame->loop && frame != loop_.frame) {
        doubt = fmt::format("{} (line {})", frame->loop->unknown, frame->loop->line);
      }
      if (frame->is_cut && is_inside) doubt = "`break` or `continue` may leave it out";
      if (is_inside && unsure.empty()) unsure = doubt;
    }
    // Loops that an access is not in take no part.
    for (std::size_t d = used; d < depth_; ++d)
      all = all.intersect(variable_at(outer_.size() + 2 + side * depth_ + d).eq_set(number(0)));
    for (const Variable* size : sizes_)
      if (size->is_natural) all = all.intersect(variable_at(position_of(size)).ge_set(number(0)));
    return all;
  }

  // --- Elements

  Touched touch(const Access& access) {
    Touched touched{&access, {}, {{}, {}}, access.place.unsure};
    auto& [domains, unsure] = domains_[access.frame];
    if (domains.empty())
      for (const int side : {0, 1}) domains.push_back(domain(*access.frame, side, unsure));
    touched.domains = domains;
    if (touched.unsure.empty()) touched.unsure = unsure;
    for (const int side : {0, 1}) touched.at[side].resize(access.place.steps.size());
    const auto doubt_size = [&](const Variable* size, const Term&) {
      if (size && !is_free(*size) && touched.unsure.empty())
        touched.unsure = size->name.empty()
                             ? std::string("a size is made of what changes")
                             : fmt::format("`{}` may be any number or only some", size->name);
    };
    for (const Step& step : access.place.steps)
      walk(step.index, access.frame, loop_.frame, doubt_size);
    for (const Frame* frame = access.frame; frame; frame = frame->parent) {
      if (frame->condition) walk(*frame->condition, frame, stable_for(frame), doubt_size);
      if (!frame->loop || !counts(*frame->loop)) continue;
      walk(frame->loop->first, frame, stable_for(frame), doubt_size);
      walk(frame->loop->condition, frame, stable_for(frame), doubt_size);
    }
    if (touched.unsure.empty() && is_elsewhere(access) &&
        access.place.variable->frame->is_within(loop_.frame))
      touched.unsure = fmt::format("`{}` may be any memory", access.place.variable->name);
    return touched;
  }

  /// Whether whoever calls the function may choose a size: not one that the function computes.
  static bool is_free(const Variable& size) {
    const Variable& root = size.of ? *size.of->variable : size;
    return root.is_named && root.is_fixed;
  }

  /// Elements by a name for memory that is not known.
  bool is_elsewhere(const Access& access) const {
    const Variable& variable = *access.place.variable;
    return !variable.owns && !variable.is_named && has_element(access.place);
  }

  /// Reads the subscripts of all elements; those that are not affine may be rows and columns.
  void find_subscripts() {
    std::set<std::pair<const Variable*, std::size_t>> done;
    for (const Touched& touched : touched_)
      for (std::size_t s = 0; s < touched.access->place.steps.size(); ++s)
        if (touched.access->place.steps[s].member.empty() &&
            done.insert({touched.access->place.variable, s}).second)
          find_subscripts(touched.access->place.variable, s);
  }

  void find_subscripts(const Variable* variable, std::size_t s) {
    std::vector<Touched*> linear;
    std::vector<Polynomial> sums;
    bool are_affine = true;
    for (Touched& touched : touched_) {
      const Place& place = touched.access->place;
      if (place.variable != variable || place.steps.size() <= s || !place.steps[s].member.empty())
        continue;
      const Term& index = place.steps[s].index;
      const Frame* used = touched.access->frame;
      if (auto sum = polynomial(index, used, loop_.frame)) {
        are_affine = are_affine && is_affine(*sum);
        linear.push_back(&touched);
        sums.push_back(std::move(*sum));
        continue;
      }
      for (const int side : {0, 1})
        if (const auto at = affine(index, {used, loop_.frame, side})) touched.at[side][s] = {*at};
      if (touched.at[0][s].empty()) doubt(touched, index);
    }
    const auto split = are_affine ? std::optional(as_they_are(sums)) : split_up(linear, sums);
    for (std::size_t t = 0; t < linear.size(); ++t) {
      const Frame* used = linear[t]->access->frame;
      for (const int side : {0, 1}) {
        const View view{used, loop_.frame, side};
        if (split)
          for (const Polynomial& part : (*split)[t])
            linear[t]->at[side][s].push_back(affine(part, view));
        else if (is_affine(sums[t]))
          linear[t]->at[side][s] = {affine(sums[t], view)};
        else
          doubt(*linear[t], linear[t]->access->place.steps[s].index);
      }
    }
  }

  static void doubt(Touched& touched, const Term& index) {
    if (touched.unsure.empty())
      touched.unsure =
          fmt::format("the subscript `{}` of `{}` in line {} is beyond affine", index.text,
                      touched.access->place.variable->name, touched.access->line);
  }

  using Split = std::vector<std::vector<Polynomial>>;

  static Split as_they_are(const std::vector<Polynomial>& sums) {
    Split split;
    for (const Polynomial& sum : sums) split.push_back({sum});
    return split;
  }

  /// Subscripts as rows and columns, i * n + j as (i, j), where 0 <= j < n is proved for all.
  std::optional<Split> split_up(const std::vector<Touched*>& linear,
                                const std::vector<Polynomial>& sums) const {
    if (std::all_of(sums.begin(), sums.end(), is_affine)) return as_they_are(sums);
    std::set<const Variable*> candidates;
    for (const Polynomial& sum : sums)
      for (const auto& [product, factor] : sum)
        if (product.size() > 1)
          for (const Variable* variable : product)
            if (std::find(sizes_.begin(), sizes_.end(), variable) != sizes_.end())
              candidates.insert(variable);
    for (const Variable* size : candidates) {
      std::vector<Polynomial> rows, columns;
      for (std::size_t t = 0; t < sums.size(); ++t) {
        const auto parts = divided(*linear[t], sums[t], size);
        if (!parts) break;
        rows.push_back(parts->first);
        columns.push_back(parts->second);
      }
      if (rows.size() < sums.size()) continue;
      auto split = split_up(linear, rows);
      if (!split) continue;
      for (std::size_t t = 0; t < sums.size(); ++t) (*split)[t].push_back(columns[t]);
      return split;
    }
    return {};
  }

  /// Quotient and remainder by a size, if the remainder is proved to be one.
  std::optional<std::pair<Polynomial, Polynomial>> divided(const Touched& touched,
                                                           const Polynomial& sum,
                                                           const Variable* size) const {
    Polynomial quotient, remainder;
    for (const auto& [product, factor] : sum) {
      auto rest = product;
      const auto found = std::find(rest.begin(), rest.end(), size);
      if (found == rest.end()) {
        remainder[product] = factor;
        continue;
      }
      rest.erase(found);
      quotient[rest] = factor;
    }
    if (!is_affine(remainder)) return {};
    const isl::pw_aff length = variable_at(position_of(size));
    for (const long shift : {0, 1, -1}) {
      const Polynomial one{{{}, 1}}, whole{{{size}, 1}};
      const Polynomial left = sum_of(remainder, whole, shift);
      const isl::pw_aff at = affine(left, {touched.access->frame, loop_.frame, 0});
      const isl::set out = at.lt_set(number(0)).unite(at.ge_set(length));
      if (touched.domains[0].intersect(out).is_empty())
        return std::pair(sum_of(quotient, one, -shift), left);
    }
    return {};
  }

  // --- Conflicts

  void compare(const Touched& source, const Touched& sink) {
    const Access &one = *source.access, &other = *sink.access;
    if (!one.is_write && !other.is_write) return;
    if (one.place.variable != other.place.variable) return compare_names(source, sink);
    const bool is_loose = one.place.is_loose || other.place.is_loose;
    if (!is_loose && !may_overlap(one.place, other.place)) return;
    std::string unsure = source.unsure.empty() ? sink.unsure : source.unsure;
    isl::set where = source.domains[0].intersect(sink.domains[1]).intersect(before());
    const std::size_t common = std::min(one.place.steps.size(), other.place.steps.size());
    const bool may_be_any = is_loose || (is_elsewhere(one) && one.place.variable->frame &&
                                         one.place.variable->frame->is_within(loop_.frame));
    for (std::size_t s = 0; s < common && !may_be_any; ++s) {
      const auto &at = source.at[0][s], &other_at = sink.at[1][s];
      if (at.size() != other_at.size()) {
        if (unsure.empty()) unsure = "subscripts are of different forms";
        continue;
      }
      for (std::size_t p = 0; p < at.size(); ++p)
        where = where.intersect(at[p].eq_set(other_at[p]));
    }
    if (where.is_empty()) return;
    const bool is_update = one.update != Update::none && one.update == other.update &&
                           one.place.steps.size() == other.place.steps.size();
    conflicts_.push_back({&source, &sink, unsure.empty(), is_update, where, unsure});
  }

  /// Different names are different memory, unless one of them may be anything.
  void compare_names(const Touched& source, const Touched& sink) {
    const Access &one = *source.access, &other = *sink.access;
    const auto is_apart = [](const Access& access) {
      return access.place.variable->is_apart && !has_element(access.place);
    };
    if (!(is_elsewhere(one) && !is_apart(other)) && !(is_elsewhere(other) && !is_apart(one)))
      return;
    conflicts_.push_back({&source, &sink, false, false, universe(),
                          fmt::format("`{}` and `{}` may be the same memory",
                                      one.place.variable->name, other.place.variable->name)});
  }

  /// The source runs before the sink.
  isl::set before() const {
    const isl::pw_aff source = variable_at(position_of(loop_, 0));
    const isl::pw_aff sink = variable_at(position_of(loop_, 1));
    return loop_.step > 0 ? source.lt_set(sink) : source.gt_set(sink);
  }

  // --- Pairs

  isl::set sizes_up_to(long most) const {
    isl::set small = universe();
    for (const Variable* size : sizes_) {
      const isl::pw_aff value = variable_at(position_of(size));
      small = small.intersect(value.ge_set(number(0))).intersect(value.le_set(number(most)));
    }
    return small;
  }

  std::vector<long> point_of(const isl::set& set) const {
    const isl::point point = isl::manage(isl_set_sample_point(set.copy()));
    std::vector<long> values;
    for (std::size_t d = 0; d < count(); ++d)
      values.push_back(
          isl::manage(isl_point_get_coordinate_val(point.get(), isl_dim_set, static_cast<int>(d)))
              .num_si());
    return values;
  }

  /// By outer loops and by the two iterations.
  bool precedes(const std::vector<long>& one, const std::vector<long>& other) const {
    const auto compared = static_cast<std::ptrdiff_t>(outer_.size() + 2);
    return std::lexicographical_compare(one.begin(), one.begin() + compared, other.begin(),
                                        other.begin() + compared);
  }

  static int rank(const Conflict& conflict) {
    if (!conflict.source->access->is_write) return 1;
    return conflict.sink->access->is_write ? 2 : 0;
  }

  Pair pair_of(const Conflict& conflict, const std::vector<long>& values) const {
    const Access &source = *conflict.source->access, &sink = *conflict.sink->access;
    Pair pair;
    pair.kind = !source.is_write ? "anti" : sink.is_write ? "output" : "flow";
    pair.source = iteration(source, values, 0);
    pair.sink = iteration(sink, values, 1);
    for (const Variable* size : sizes_)
      if (!size->name.empty()) pair.sizes.push_back({size->name, values[position_of(size)]});
    pair.element = element(*conflict.sink, values);
    return pair;
  }

  Values iteration(const Access& access, const std::vector<long>& values, int side) const {
    Values iteration;
    for (const Frame* frame = access.frame; frame; frame = frame->parent)
      if (frame->loop && counts(*frame->loop))
        iteration.insert(iteration.begin(),
                         {frame->loop->variable->name, values[position_of(*frame->loop, side)]});
    return iteration;
  }

  std::string element(const Touched& touched, const std::vector<long>& values) const {
    const auto& steps = touched.access->place.steps;
    std::string text = touched.access->place.variable->name;
    if (text == "this") text.clear();
    for (std::size_t s = 0; s < steps.size(); ++s) {
      if (!steps[s].member.empty()) {
        text += (text.empty() ? "" : ".") + steps[s].member;
        continue;
      }
      const long index = index_at(touched, s, values);
      const bool goes_on = s > 0 && steps[s].in_call && steps[s - 1].in_call && text.ends_with(")");
      if (goes_on) text.pop_back();
      text += steps[s].in_call ? fmt::format("{}{})", goes_on ? ", " : "(", index)
                               : fmt::format("[{}]", index);
    }
    return text;
  }

  /// A subscript at a point; one that was taken apart is put together again.
  long index_at(const Touched& touched, std::size_t s, const std::vector<long>& values) const {
    const Term& index = touched.access->place.steps[s].index;
    const Frame* used = touched.access->frame;
    if (const auto sum = polynomial(index, used, loop_.frame)) {
      long total = 0;
      for (const auto& [product, factor] : *sum) {
        long part = factor;
        for (const Variable* variable : product) {
          const Meaning means = meaning(*variable, used, loop_.frame);
          part *= values[means.kind == Meaning::counter ? position_of(*means.loop, 1)
                                                        : position_of(variable)];
        }
        total += part;
      }
      return total;
    }
    isl::set point = universe();
    for (std::size_t d = 0; d < count(); ++d)
      point = point.intersect(variable_at(d).eq_set(number(values[d])));
    return touched.at[1][s].front().intersect_domain(point).max_val().num_si();
  }

  const Function& function_;
  const Loop& loop_;
  std::vector<const Loop*> outer_;
  std::vector<const Access*> accesses_;
  std::vector<const Variable*> sizes_;
  std::size_t depth_ = 0;
  isl::space space_;
  std::map<const Frame*, std::pair<std::vector<isl::set>, std::string>> domains_;
  std::vector<Touched> touched_;
  std::vector<Conflict> conflicts_;
};

/// The operator in a reduction clause.
std::string sign_of(Update update) {
  switch (update) {
    case Update::sum:
      return "+";
    case Update::product:
      return "*";
    case Update::minimum:
      return "min";
    case Update::maximum:
      return "max";
    case Update::conjunction:
      return "&";
    case Update::disjunction:
      return "|";
    case Update::parity:
      return "^";
    default:
      return "";
  }
}

/// What the pragmas of a loop say of a variable.
class Clauses {
 public:
  Clauses(const Loop& loop, const Pragma* pragma) : loop_(loop), pragma_(pragma) {}

  /// Each thread has its own: by a clause, or since the variable is declared in the region.
  bool is_private(const Variable& variable) const {
    if (!pragma_) return false;
    for (const char* clause : {"private", "firstprivate", "lastprivate", "linear"})
      if (names(pragma_->clause(clause), variable.name)) return true;
    bool is_in_region = false;
    for (const Frame* frame = loop_.frame; frame; frame = frame->parent) {
      if (!frame->region) continue;
      for (const char* clause : {"private", "firstprivate"})
        if (frame->region != pragma_ && names(frame->region->clause(clause), variable.name))
          return true;
      is_in_region = variable.frame && !variable.is_named && variable.frame->is_within(frame);
      break;
    }
    return is_in_region;
  }

  bool reduces(const Variable& variable, Update update) const {
    const std::vector<std::string> words =
        pragma_ ? pragma_->clause("reduction") : std::vector<std::string>();
    const std::string sign = sign_of(update);
    bool is_sign = false;
    for (std::size_t w = 0; w < words.size(); ++w) {
      if (w + 1 < words.size() && words[w + 1] == ":")
        is_sign = words[w] == sign || (words[w] == "-" && sign == "+");
      else if (is_sign && words[w] == variable.name)
        return true;
    }
    return false;
  }

 private:
  static bool names(const std::vector<std::string>& words, const std::string& name) {
    return std::find(words.begin(), words.end(), name) != words.end();
  }

  const Loop& loop_;
  const Pragma* pragma_;
};

/// The pragma that makes a loop parallel.
const Pragma* parallel_pragma(const Loop& loop) {
  for (const Pragma* pragma : loop.pragmas)
    if (pragma->has("for") || pragma->has("simd") || pragma->has("taskloop") ||
        pragma->has("loop") || pragma->has("distribute"))
      return pragma;
  return nullptr;
}

/// What follows from the conflicts of a loop.
class Judgement {
 public:
  Judgement(const Function& function, const Loop& loop, const Pragma* pragma)
      : examination_(function, loop), clauses_(loop, pragma) {
    trouble_ = examination_.trouble();
    if (!trouble_.empty()) return;
    try {
      conflicts_ = &examination_.conflicts();
    } catch (const isl::exception&) {
      trouble_ = "the sets of iterations are too complicated";
    }
    if (conflicts_) sort();
  }

  Finding finding() const {
    Finding found;
    found.reason = trouble_;
    if (!trouble_.empty()) return found;
    for (const auto* conflicts : {&true_, &shared_})
      if (!conflicts->empty()) {
        found.verdict = Verdict::dependent;
        found.pair = examination_.smallest(*conflicts);
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
    if (!sure.empty()) found.pair = examination_.smallest(sure);
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
      if (source.is_atomic && sink.is_atomic) continue;
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
        found.against = examination_.smallest(*conflicts);
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
    found.against = examination_.smallest(sure);
    decide(found, Claim::refuted,
           fmt::format("{}; {} is missing", sentence_of(*found.against), fmt::join(missing, ", ")));
  }

 private:
  void sort() {
    for (const Conflict& conflict : *conflicts_) {
      const Variable& variable = *conflict.sink->access->place.variable;
      const bool is_written_first = examination_.is_written_first(&variable);
      const bool is_private = clauses_.is_private(variable);
      if (is_private && is_written_first) continue;
      if (is_private && Examination::has_element(conflict.sink->access->place))
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

  Examination examination_;
  Clauses clauses_;
  std::string trouble_;
  const std::vector<Conflict>* conflicts_ = nullptr;
  std::vector<const Conflict*> true_, shared_, unsure_, updates_;
  std::vector<std::string> shared_names_;
};

std::string listed(const Values& values) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : values) parts.push_back(fmt::format("{} = {}", name, value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// How many loops a pragma takes together.
int collapsed(const Pragma& pragma) {
  const std::vector<std::string> said = pragma.clause("collapse");
  return said.size() == 1 && std::isdigit(said[0][0]) ? std::stoi(said[0]) : said.empty() ? 1 : 0;
}

}  // namespace

Finding examine(const Function& function, const Loop& loop) {
  static const bool is_limited = [] {
    isl_ctx_set_max_operations(shared_context().get(), most_operations);
    return true;
  }();
  static_cast<void>(is_limited);
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
  if (!pragma || found.claim != Claim::proved) return found;
  if (pragma->has("ordered")) {
    found.claim = Claim::unknown;
    found.why = "the clause `ordered`";
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
