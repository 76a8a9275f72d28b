#include "space.hpp"

#include <fmt/format.h>
#include <isl/options.h>

#include <algorithm>

#include "terms.hpp"

namespace slicer {
namespace {

/// The maximum number of isl operations for one loop, which take about a second.
constexpr unsigned long most_operations = 4'000'000;

}  // namespace

isl::ctx shared_context() {
  static const isl::ctx context = [] {
    isl_ctx* made = isl_ctx_alloc();
    isl_ctx_set_max_operations(made, most_operations);
    isl_options_set_on_error(made, ISL_ON_ERROR_CONTINUE);
    return isl::ctx(made);
  }();
  return context;
}

void begin_operations() {
  static unsigned long limit = most_operations;
  isl_ctx* context = shared_context().get();
  if (isl_ctx_last_error(context) == isl_error_quota) limit -= limit / 4;
  isl_ctx_reset_error(context);
  isl_ctx_set_max_operations(context, std::max(limit, most_operations / 1000));
  isl_ctx_reset_operations(context);
}

Space::Space(const Names& names, const std::vector<const Access*>& accesses,
             const std::vector<const Loop*>& loops)
    : names_(names) {
  for (const Frame* frame = names.root()->parent; frame; frame = frame->parent)
    if (frame->loop && counts(*frame->loop)) outer_.insert(outer_.begin(), frame->loop);
  for (const Access* access : accesses) {
    for (const Step& step : access->place.steps)
      name_sizes(step.index, access->frame, names.root());
    name_sizes(*access->frame);
  }
  for (const Loop* loop : loops) name_sizes(*loop->frame);
  space_ =
      isl::manage(isl_space_set_alloc(shared_context().get(), 0, static_cast<unsigned>(count())));
}

void Space::name_sizes(const Frame& innermost) {
  std::size_t levels = 0;
  for (const Frame* frame = &innermost; frame; frame = frame->parent) {
    const Frame* stable = names_.stable_for(frame);
    if (frame->condition) name_sizes(*frame->condition, frame, stable);
    if (!frame->loop || !counts(*frame->loop)) continue;
    name_sizes(frame->loop->first, frame, stable);
    name_sizes(frame->loop->condition, frame, stable);
    levels += names_.is_inside(frame);
  }
  levels_ = std::max(levels_, levels);
}

void Space::name_sizes(const Term& term, const Frame* used, const Frame* stable) {
  names_.walk(term, used, stable, [&](const Variable* variable, const Term&) {
    if (variable && std::find(sizes_.begin(), sizes_.end(), variable) == sizes_.end())
      sizes_.push_back(variable);
  });
}

// --- Positions

std::size_t Space::position_of(const Loop& loop, int side) const {
  const auto outer = std::find(outer_.begin(), outer_.end(), &loop);
  if (outer != outer_.end()) return outer - outer_.begin();
  return position_of(level_of(loop), side);
}

std::size_t Space::position_of(std::size_t level, int side) const {
  if (level == 0) return outer_.size() + side;
  return outer_.size() + 2 + side * (levels_ - 1) + level - 1;
}

/// The number of loops with a counter that contain `loop`, within the root.
std::size_t Space::level_of(const Loop& loop) const {
  std::size_t level = 0;
  for (const Frame* frame = loop.frame; frame != names_.root();) {
    frame = frame->parent;
    level += frame->loop && counts(*frame->loop);
  }
  return level;
}

std::size_t Space::position_of(const Variable* size) const {
  const auto found = std::find(sizes_.begin(), sizes_.end(), size);
  return outer_.size() + 2 * levels_ + (found - sizes_.begin());
}

// --- Numbers

isl::pw_aff Space::number(long value) const {
  const isl::aff zero =
      isl::manage(isl_aff_zero_on_domain(isl_local_space_from_space(space_.copy())));
  return isl::pw_aff(zero.add_constant(value));
}

isl::pw_aff Space::variable_at(std::size_t position) const {
  return isl::manage(isl_pw_aff_from_aff(isl_aff_var_on_domain(
      isl_local_space_from_space(space_.copy()), isl_dim_set, static_cast<unsigned>(position))));
}

isl::pw_aff Space::affine(const Polynomial& polynomial, const View& view) const {
  isl::pw_aff sum = number(0);
  for (const auto& [product, factor] : polynomial) {
    if (product.empty()) {
      sum = sum.add(number(factor));
      continue;
    }
    const Meaning means = names_.meaning(*product.front(), view.used, view.stable);
    const std::size_t position = means.kind == Meaning::counter
                                     ? position_of(*means.loop, view.side)
                                     : position_of(product.front());
    sum = sum.add(variable_at(position).mul(number(factor)));
  }
  return sum;
}

std::optional<isl::pw_aff> Space::affine(const Term& term, const View& view) const {
  if (const auto as_sum = names_.polynomial(term, view.used, view.stable))
    return is_affine(*as_sum) ? std::optional(affine(*as_sum, view)) : std::nullopt;
  if (term.operation == Operation::symbol) {
    if (names_.meaning(*term.symbol, view.used, view.stable).kind != Meaning::value) return {};
    return affine(*term.symbol->value, {term.symbol->frame, view.stable, view.side});
  }
  if (term.operation == Operation::choice) return chosen(term, view);
  if (term.operands.size() != 2) return {};
  const auto one = operand(term, 0, view), other = operand(term, 1, view);
  if (!one || !other) return {};
  const auto divisor = names_.polynomial(term.operands[1], view.used, view.stable);
  const auto factor = names_.polynomial(term.operands[0], view.used, view.stable);
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

std::optional<isl::pw_aff> Space::operand(const Term& term, std::size_t which,
                                          const View& view) const {
  auto value = affine(term.operands[which], view);
  if (!value || term.bits == 0 || view.is_end || !may_be_negative(term.operands[which]))
    return value;
  const isl::set negative = value->lt_set(number(0));
  if (negative.is_empty()) return value;
  isl::val around =
      isl::manage(isl_val_2exp(isl_val_int_from_si(shared_context().get(), term.bits)));
  const isl::pw_aff wrapped =
      value->add(isl::manage(isl_pw_aff_val_on_domain(universe().release(), around.release())));
  return value->intersect_domain(negative.complement())
      .union_add(wrapped.intersect_domain(negative));
}

std::optional<isl::pw_aff> Space::chosen(const Term& term, const View& view) const {
  std::string unsure;
  const isl::set where = truth(term.operands[0], view, true, unsure);
  const auto one = affine(term.operands[1], view), other = affine(term.operands[2], view);
  if (!unsure.empty() || !one || !other) return {};
  return one->intersect_domain(where).union_add(other->intersect_domain(where.complement()));
}

// --- Sets

isl::set Space::truth(const Term& term, const View& view, bool wanted, std::string& unsure) const {
  const auto& operands = term.operands;
  if (term.operation == Operation::negation) return truth(operands[0], view, !wanted, unsure);
  if (term.operation == Operation::both || term.operation == Operation::either) {
    const isl::set one = truth(operands[0], view, wanted, unsure);
    const isl::set other = truth(operands[1], view, wanted, unsure);
    return (term.operation == Operation::both) == wanted ? one.intersect(other) : one.unite(other);
  }
  const bool compares = term.operation == Operation::less || term.operation == Operation::at_most ||
                        term.operation == Operation::equal;
  // x < min(a, b) means x < a and x < b, which needs no case distinction. The other cases are
  // similar.
  if (compares && term.operation != Operation::equal && term.bits == 0)
    for (const std::size_t which : {0, 1}) {
      const Term& extreme = operands[which];
      const bool is_minimum = extreme.operation == Operation::minimum;
      if ((!is_minimum && extreme.operation != Operation::maximum) || extreme.bits != 0) continue;
      std::vector<isl::set> halves;
      for (const Term& half : extreme.operands) {
        Term part = term;
        part.operands[which] = half;
        halves.push_back(truth(part, view, wanted, unsure));
      }
      const bool are_both = (is_minimum == (which == 1)) == wanted;
      return are_both ? halves[0].intersect(halves[1]) : halves[0].unite(halves[1]);
    }
  std::optional<isl::pw_aff> left, right;
  if (compares) {
    left = operand(term, 0, view);
    right = operand(term, 1, view);
  }
  if (!compares) {
    if (const auto value = affine(term, view))
      return wanted ? value->ne_set(number(0)) : value->eq_set(number(0));
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

/// The set in which a counter is at or beyond the first value of its loop. This first value may be
/// the maximum or minimum of several values.
isl::set Space::beyond_start(const Loop& loop, const Term& start, const isl::pw_aff& counter,
                             const View& view, std::string& unsure) const {
  const Operation extreme = loop.step > 0 ? Operation::maximum : Operation::minimum;
  if (start.operation == extreme && start.bits == 0)
    return beyond_start(loop, start.operands[0], counter, view, unsure)
        .intersect(beyond_start(loop, start.operands[1], counter, view, unsure));
  const auto first = affine(start, view);
  if (first) return loop.step > 0 ? counter.ge_set(*first) : counter.le_set(*first);
  if (unsure.empty()) unsure = fmt::format("the beginning of `{}`", loop.variable->name);
  return universe();
}

isl::set Space::range(const Loop& loop, const View& view, std::string& unsure) const {
  const isl::pw_aff counter = variable_at(position_of(loop, view.side));
  const View end{view.used, view.stable, view.side, true};
  isl::set all = truth(loop.condition, end, true, unsure);
  const Operation extreme = loop.step > 0 ? Operation::maximum : Operation::minimum;
  if (const Term* start = &loop.first; std::abs(loop.step) == 1) {
    View at = end;
    while (start->operation == Operation::symbol &&
           names_.meaning(*start->symbol, at.used, at.stable).kind == Meaning::value) {
      at = {start->symbol->frame, at.stable, at.side};
      start = &*start->symbol->value;
    }
    if (start->operation == extreme && start->bits == 0)
      return all.intersect(beyond_start(loop, *start, counter, at, unsure));
  }
  const auto first = affine(loop.first, end);
  if (!first) {
    if (unsure.empty()) unsure = fmt::format("the beginning of `{}`", loop.variable->name);
    return all;
  }
  const isl::pw_aff run = loop.step > 0 ? counter.sub(*first) : first->sub(counter);
  all = all.intersect(run.ge_set(number(0)));
  const long step = std::abs(loop.step);
  return step == 1 ? all : all.intersect(run.mod(step).eq_set(number(0)));
}

isl::set Space::domain(const Frame& innermost, int side, std::string& unsure) const {
  isl::set all = universe();
  std::size_t used = 0;
  for (const Frame* frame = &innermost; frame; frame = frame->parent) {
    const View view{frame, names_.stable_for(frame), side};
    const bool is_inside = names_.is_inside(frame);
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
      used += is_inside;
    } else if (frame->loop) {
      doubt = fmt::format("{} (line {})", frame->loop->unknown, frame->loop->line);
    }
    if (frame->is_cut && is_inside) doubt = "`break` or `continue` may leave it out";
    if (is_inside && unsure.empty()) unsure = doubt;
  }
  // The coordinates of loops that do not contain the access are 0.
  for (std::size_t level = used; level < levels_; ++level)
    all = all.intersect(variable_at(position_of(level, side)).eq_set(number(0)));
  for (const Variable* size : sizes_)
    if (size->is_natural) all = all.intersect(variable_at(position_of(size)).ge_set(number(0)));
  return all;
}

}  // namespace slicer
