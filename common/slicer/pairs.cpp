#include "pairs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace slicer {
namespace {

/// The largest possible value of a counter or a size: more elements would not fit into memory. The
/// second constant is the largest usual value.
constexpr long most_counted = 1L << 56, usually_counted = (1L << 31) - 1;

/// Whether `one` reads only the address of the elements, not the element that `other` accesses.
bool is_where_only(const Access& one, const Access& other) {
  const std::size_t steps = one.place.steps.size();
  return one.is_pointer && !one.is_write && other.place.steps.size() > steps &&
         other.place.steps[steps].member.empty();
}

}  // namespace

Pairs::Pairs(const Function& function, const Frame* root, std::vector<const Access*> accesses,
             const std::vector<const Loop*>& loops)
    : accesses_(std::move(accesses)), names_(function, root), space_(names_, accesses_, loops) {
  begin_operations();
  touched_ = Elements(space_).touch(accesses_);
}

std::vector<Conflict> Pairs::conflicts(const Order& order) const {
  std::vector<Conflict> conflicts;
  for (const Touched& source : touched_)
    for (const Touched& sink : touched_) compare(source, sink, order, conflicts);
  return conflicts;
}

void Pairs::compare(const Touched& source, const Touched& sink, const Order& order,
                    std::vector<Conflict>& conflicts) const {
  const Access &one = *source.access, &other = *sink.access;
  if (!one.is_write && !other.is_write) return;
  if (one.place.variable != other.place.variable)
    return compare_names(source, sink, order, conflicts);
  const bool is_loose = one.place.is_loose || other.place.is_loose;
  if (!is_loose && !may_overlap(one.place, other.place)) return;
  std::string unsure = source.unsure.empty() ? sink.unsure : source.unsure;
  if (unsure.empty() && (is_where_only(one, other) || is_where_only(other, one)))
    unsure = fmt::format("`{}` may have another name", one.place.variable->name);
  // The domains may have many parts, so they are intersected last.
  isl::set where = order(source, sink);
  const std::size_t common = std::min(one.place.steps.size(), other.place.steps.size());
  const bool may_be_any =
      is_loose || (Names::is_elsewhere(one) && names_.is_inside(one.place.variable->frame));
  for (std::size_t s = 0; s < common && !may_be_any; ++s) {
    const auto &at = source.at[0][s], &other_at = sink.at[1][s];
    if (at.size() != other_at.size()) {
      if (unsure.empty()) unsure = "subscripts are of different forms";
      continue;
    }
    for (std::size_t p = 0; p < at.size(); ++p) where = where.intersect(at[p].eq_set(other_at[p]));
  }
  if (where.is_empty()) return;
  where = where.intersect(source.domains[0]).intersect(sink.domains[1]);
  if (where.is_empty() || where.intersect(up_to(most_counted)).is_empty()) return;
  if (unsure.empty() && where.intersect(up_to(usually_counted)).is_empty())
    unsure = "only counters or sizes of more than 31 bits lead to a conflict";
  const bool is_update = one.update != Update::none && one.update == other.update &&
                         one.place.steps.size() == other.place.steps.size();
  conflicts.push_back({&source, &sink, unsure.empty(), is_update, where, unsure});
}

/// The points whose coordinates are all between -largest and largest.
isl::set Pairs::up_to(long largest) const {
  isl::set all = space_.universe();
  for (std::size_t d = 0; d < space_.count(); ++d) {
    const isl::pw_aff value = space_.variable_at(d);
    all = all.intersect(value.le_set(space_.number(largest)))
              .intersect(value.ge_set(space_.number(-largest)));
  }
  return all;
}

/// Adds the conflict of two accesses with different names, if one of the names may refer to any
/// memory. All other accesses with different names are assumed to refer to different memory.
void Pairs::compare_names(const Touched& source, const Touched& sink, const Order& order,
                          std::vector<Conflict>& conflicts) const {
  const Access &one = *source.access, &other = *sink.access;
  const auto is_apart = [](const Access& access) {
    return access.place.variable->is_apart && !has_element(access.place);
  };
  if (!(Names::is_elsewhere(one) && !is_apart(other)) &&
      !(Names::is_elsewhere(other) && !is_apart(one)))
    return;
  const isl::set where = order(source, sink);
  if (where.is_empty()) return;
  conflicts.push_back({&source, &sink, false, false, where,
                       fmt::format("`{}` and `{}` may be the same memory", one.place.variable->name,
                                   other.place.variable->name)});
}

// --- The smallest pair

namespace {

/// The order in which kinds of pairs are reported: flow, anti and output.
int rank(const Conflict& conflict) {
  if (!conflict.source->access->is_write) return 1;
  return conflict.sink->access->is_write ? 2 : 0;
}

}  // namespace

Pair Pairs::smallest(const std::vector<const Conflict*>& conflicts) const {
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
  return pair_of(*conflicts.front(),
                 point_of(conflicts.front()->where.intersect(up_to(most_counted))));
}

isl::set Pairs::sizes_up_to(long most) const {
  isl::set small = space_.universe();
  for (const Variable* size : space_.sizes()) {
    const isl::pw_aff value = space_.variable_at(space_.position_of(size));
    small = small.intersect(value.ge_set(space_.number(0)))
                .intersect(value.le_set(space_.number(most)));
  }
  return small;
}

std::vector<long> Pairs::point_of(const isl::set& set) const {
  const isl::point point = isl::manage(isl_set_sample_point(set.copy()));
  std::vector<long> values;
  for (std::size_t d = 0; d < space_.count(); ++d)
    values.push_back(
        isl::manage(isl_point_get_coordinate_val(point.get(), isl_dim_set, static_cast<int>(d)))
            .num_si());
  return values;
}

/// Whether point `one` comes before point `other` in lexicographic order. Only the counters of the
/// outer loops, and those of the outermost loop in both iterations, are compared.
bool Pairs::precedes(const std::vector<long>& one, const std::vector<long>& other) const {
  const auto compared = static_cast<std::ptrdiff_t>(space_.first_ones());
  return std::lexicographical_compare(one.begin(), one.begin() + compared, other.begin(),
                                      other.begin() + compared);
}

Pair Pairs::pair_of(const Conflict& conflict, const std::vector<long>& values) const {
  const Access &source = *conflict.source->access, &sink = *conflict.sink->access;
  Pair pair;
  pair.kind = !source.is_write ? "anti" : sink.is_write ? "output" : "flow";
  pair.source = iteration(source, values, 0);
  pair.sink = iteration(sink, values, 1);
  for (const Variable* size : space_.sizes())
    if (!size->name.empty()) pair.sizes.push_back({size->name, values[space_.position_of(size)]});
  pair.element = element(*conflict.sink, values);
  return pair;
}

Values Pairs::iteration(const Access& access, const std::vector<long>& values, int side) const {
  Values iteration;
  for (const Frame* frame = access.frame; frame; frame = frame->parent)
    if (frame->loop && counts(*frame->loop))
      iteration.insert(iteration.begin(), {frame->loop->variable->name,
                                           values[space_.position_of(*frame->loop, side)]});
  return iteration;
}

std::string Pairs::element(const Touched& touched, const std::vector<long>& values) const {
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

/// The value of a subscript at a point. A subscript that was split is combined again.
long Pairs::index_at(const Touched& touched, std::size_t s, const std::vector<long>& values) const {
  const Term& index = touched.access->place.steps[s].index;
  const Frame* used = touched.access->frame;
  if (const auto sum = names_.polynomial(index, used, names_.root())) {
    long total = 0;
    for (const auto& [product, factor] : *sum) {
      long part = factor;
      for (const Variable* variable : product) {
        const Meaning means = names_.meaning(*variable, used, names_.root());
        part *= values[means.kind == Meaning::counter ? space_.position_of(*means.loop, 1)
                                                      : space_.position_of(variable)];
      }
      total += part;
    }
    return total;
  }
  isl::set point = space_.universe();
  for (std::size_t d = 0; d < space_.count(); ++d)
    point = point.intersect(space_.variable_at(d).eq_set(space_.number(values[d])));
  return touched.at[1][s].front().intersect_domain(point).max_val().num_si();
}

}  // namespace slicer
