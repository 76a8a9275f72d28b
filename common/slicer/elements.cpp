#include "elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace slicer {
namespace {

/// Whether a condition depends only on parameters that never change, such as argc.
bool depends_on_parameters(const Term& condition) {
  if (condition.operation == Operation::unknown) return false;
  if (condition.operation == Operation::symbol &&
      !(condition.symbol->parameter >= 0 && condition.symbol->is_fixed))
    return false;
  return std::all_of(condition.operands.begin(), condition.operands.end(), depends_on_parameters);
}

/// Whether the user of the program may choose the value that a local variable has in a frame: the
/// last write takes the value from the command line, under conditions that the user chooses as
/// well.
bool is_input(const Function& function, const Variable& size, const Frame* root) {
  if (!size.is_apart || !size.frame || size.of) return false;
  const Access* last = nullptr;
  for (const Access& access : function.accesses) {
    if (access.frame->is_within(root)) break;
    if (access.is_write && access.place.variable == &size) last = &access;
  }
  if (!last || !last->is_input) return false;
  for (const Access* access = last + 1;
       access != function.accesses.data() + function.accesses.size(); ++access)
    if (access->is_write && access->place.variable == &size) return false;
  for (const Frame* frame = last->frame; !root->is_within(frame); frame = frame->parent)
    if (frame->loop || (frame->condition && !depends_on_parameters(*frame->condition)))
      return false;
  return true;
}

/// Whether the caller or the user may choose a size freely, because the function does not compute
/// it.
bool is_free(const Function& function, const Variable& size, const Frame* root) {
  const Variable& variable = size.of ? *size.of->variable : size;
  return (variable.is_named && variable.is_fixed) || is_input(function, size, root);
}

void doubt(Touched& touched, const Term& index) {
  if (touched.unsure.empty())
    touched.unsure =
        fmt::format("the subscript `{}` of `{}` in line {} is beyond affine", index.text,
                    touched.access->place.variable->name, touched.access->line);
}

std::vector<std::vector<Polynomial>> as_they_are(const std::vector<Polynomial>& sums) {
  std::vector<std::vector<Polynomial>> split;
  for (const Polynomial& sum : sums) split.push_back({sum});
  return split;
}

}  // namespace

std::vector<Touched> Elements::touch(const std::vector<const Access*>& accesses) {
  touched_.clear();
  for (const Access* access : accesses) touched_.push_back(touch(*access));
  find_subscripts();
  return std::move(touched_);
}

Touched Elements::touch(const Access& access) {
  Touched touched{&access, {}, {{}, {}}, access.place.unsure};
  auto& [domains, unsure] = domains_[access.frame];
  if (domains.empty())
    for (const int side : {0, 1}) domains.push_back(space_.domain(*access.frame, side, unsure));
  touched.domains = domains;
  if (touched.unsure.empty()) touched.unsure = unsure;
  for (const int side : {0, 1}) touched.at[side].resize(access.place.steps.size());
  const auto doubt_size = [&](const Variable* size, const Term&) {
    if (size && !is_free(names_.function(), *size, names_.root()) && touched.unsure.empty())
      touched.unsure = size->name.empty()
                           ? std::string("a size depends on a variable that changes")
                           : fmt::format("the possible values of `{}` are not known", size->name);
  };
  for (const Step& step : access.place.steps)
    names_.walk(step.index, access.frame, names_.root(), doubt_size);
  for (const Frame* frame = access.frame; frame; frame = frame->parent) {
    const Frame* stable = names_.stable_for(frame);
    if (frame->condition) names_.walk(*frame->condition, frame, stable, doubt_size);
    if (!frame->loop || !counts(*frame->loop)) continue;
    names_.walk(frame->loop->first, frame, stable, doubt_size);
    names_.walk(frame->loop->condition, frame, stable, doubt_size);
  }
  if (touched.unsure.empty() && Names::is_elsewhere(access) &&
      names_.is_inside(access.place.variable->frame))
    touched.unsure = fmt::format("`{}` may refer to any memory", access.place.variable->name);
  return touched;
}

/// Converts the subscripts of all elements. A subscript that is not affine may combine a row and a
/// column.
void Elements::find_subscripts() {
  std::set<std::pair<const Variable*, std::size_t>> done;
  for (const Touched& touched : touched_)
    for (std::size_t s = 0; s < touched.access->place.steps.size(); ++s)
      if (touched.access->place.steps[s].member.empty() &&
          done.insert({touched.access->place.variable, s}).second)
        find_subscripts(touched.access->place.variable, s);
}

void Elements::find_subscripts(const Variable* variable, std::size_t s) {
  std::vector<Touched*> linear;
  std::vector<Polynomial> sums;
  bool are_affine = true;
  for (Touched& touched : touched_) {
    const Place& place = touched.access->place;
    if (place.variable != variable || place.steps.size() <= s || !place.steps[s].member.empty())
      continue;
    const Term& index = place.steps[s].index;
    const Frame* used = touched.access->frame;
    if (auto sum = names_.polynomial(index, used, names_.root())) {
      are_affine = are_affine && is_affine(*sum);
      linear.push_back(&touched);
      sums.push_back(std::move(*sum));
      continue;
    }
    for (const int side : {0, 1})
      if (const auto at = space_.affine(index, {used, names_.root(), side}))
        touched.at[side][s] = {*at};
    if (touched.at[0][s].empty()) doubt(touched, index);
  }
  const auto split = are_affine ? std::optional(as_they_are(sums)) : split_up(linear, sums);
  for (std::size_t t = 0; t < linear.size(); ++t) {
    const Frame* used = linear[t]->access->frame;
    for (const int side : {0, 1}) {
      const View view{used, names_.root(), side};
      if (split)
        for (const Polynomial& part : (*split)[t])
          linear[t]->at[side][s].push_back(space_.affine(part, view));
      else if (is_affine(sums[t]))
        linear[t]->at[side][s] = {space_.affine(sums[t], view)};
      else
        doubt(*linear[t], linear[t]->access->place.steps[s].index);
    }
  }
}

/// Splits each subscript i * n + j into the row i and the column j, if 0 <= j < n is proved for all
/// subscripts.
std::optional<Elements::Split> Elements::split_up(const std::vector<Touched*>& linear,
                                                  const std::vector<Polynomial>& sums) const {
  if (std::all_of(sums.begin(), sums.end(), is_affine)) return as_they_are(sums);
  // The length of a row is a size or a multiple of it, such as 3 * m in (i * m + j) * 3 + k.
  std::set<std::pair<const Variable*, long>> candidates;
  std::map<const Variable*, long> scales;
  for (const Polynomial& sum : sums)
    for (const auto& [product, factor] : sum)
      if (product.size() > 1)
        for (const Variable* variable : product)
          if (std::find(space_.sizes().begin(), space_.sizes().end(), variable) !=
              space_.sizes().end())
            scales[variable] = std::gcd(scales[variable], factor);
  for (const auto& [variable, scale] : scales)
    candidates.insert({{variable, 1}, {variable, scale}});
  for (const auto& [size, scale] : candidates) {
    std::vector<Polynomial> rows, columns;
    for (std::size_t t = 0; t < sums.size(); ++t) {
      const auto parts = divided(*linear[t], sums[t], size, scale);
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

/// The quotient and the remainder of a subscript divided by a size, if 0 <= remainder < size is
/// proved.
std::optional<std::pair<Polynomial, Polynomial>> Elements::divided(const Touched& touched,
                                                                   const Polynomial& sum,
                                                                   const Variable* size,
                                                                   long scale) const {
  Polynomial quotient, remainder;
  for (const auto& [product, factor] : sum) {
    auto rest = product;
    const auto found = std::find(rest.begin(), rest.end(), size);
    if (found == rest.end()) {
      remainder[product] = factor;
      continue;
    }
    if (factor % scale != 0) return {};
    rest.erase(found);
    quotient[rest] = factor / scale;
  }
  if (!is_affine(remainder)) return {};
  const isl::pw_aff length = space_.variable_at(space_.position_of(size)).mul(space_.number(scale));
  for (const long shift : {0, 1, -1}) {
    const Polynomial one{{{}, 1}}, whole{{{size}, scale}};
    const Polynomial left = sum_of(remainder, whole, shift);
    const isl::pw_aff at = space_.affine(left, {touched.access->frame, names_.root(), 0});
    const isl::set out = at.lt_set(space_.number(0)).unite(at.ge_set(length));
    if (touched.domains[0].intersect(out).is_empty())
      return std::pair(sum_of(quotient, one, -shift), left);
  }
  return {};
}

}  // namespace slicer
