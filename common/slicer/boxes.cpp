#include "boxes.hpp"

#include <fmt/format.h>
#include <isl/ast_build.h>
#include <isl/constraint.h>

#include <memory>

#include "space.hpp"

namespace slicer {

isl::set parameters_of(const isl::set& set) { return isl::manage(isl_set_params(set.copy())); }

namespace {

/// The first and the last index along one dimension, as functions of the parameters and as text.
struct Sides {
  isl::pw_aff first, last;
  Extent text;
};

/// The map `{ [v] -> [x0, x1, ...] : v sign xd }` for dimension d of an array with `rank`
/// dimensions.
isl::map along(std::size_t rank, std::size_t d, const char* sign) {
  std::string all;
  for (std::size_t each = 0; each < rank; ++each)
    all += fmt::format("{}x{}", each ? ", " : "", each);
  return isl::manage(isl_map_read_from_str(
      shared_context().get(), fmt::format("{{ [v] -> [{}] : v {} x{} }}", all, sign, d).c_str()));
}

/// Whether a test succeeds within a small number of isl operations.
template <typename Test>
bool is_soon(const Test& test) {
  isl_ctx* context = shared_context().get();
  const unsigned long most = isl_ctx_get_max_operations(context);
  isl_ctx_reset_operations(context);
  isl_ctx_set_max_operations(context, 200'000);
  bool result = false;
  try {
    result = test();
  } catch (const isl::exception&) {
  }
  isl_ctx_reset_error(context);
  isl_ctx_reset_operations(context);
  isl_ctx_set_max_operations(context, most);
  return result;
}

isl::set united(const std::vector<isl::set>& sets) {
  isl::set all = sets.front();
  for (const isl::set& each : sets) all = all.unite(each);
  return isl::manage(isl_set_coalesce(all.release()));
}

/// Enlarges the range `sides` so that it also contains the range `more`.
void widen(Sides& sides, const Sides& more, const isl::set& context) {
  if (sides.first.is_null()) {
    sides = more;
    return;
  }
  const auto holds = [&](const isl::set& where) {
    return is_soon([&] { return context.is_subset(where); });
  };
  if (holds(more.first.le_set(sides.first))) {
    sides.first = more.first;
    sides.text.first = more.text.first;
  } else if (!holds(sides.first.le_set(more.first))) {
    sides.first = sides.first.min(more.first);
    sides.text.first = fmt::format("std::min<long>({}, {})", sides.text.first, more.text.first);
  }
  if (holds(more.last.ge_set(sides.last))) {
    sides.last = more.last;
    sides.text.last = more.text.last;
  } else if (!holds(sides.last.ge_set(more.last))) {
    sides.last = sides.last.max(more.last);
    sides.text.last = fmt::format("std::max<long>({}, {})", sides.text.last, more.text.last);
  }
}

/// The range of a set's elements along a dimension: from the largest of the lower bounds to the
/// smallest of the upper bounds.
Sides sides_of(const isl::set& elements, std::size_t d, const isl::set& context) {
  isl_set* numbers = isl_set_copy(elements.get());
  const auto rank = static_cast<unsigned>(isl_set_dim(numbers, isl_dim_set));
  const auto at = static_cast<unsigned>(d);
  numbers = isl_set_project_out(numbers, isl_dim_set, at + 1, rank - at - 1);
  numbers = isl_set_remove_divs(isl_set_project_out(numbers, isl_dim_set, 0, at));
  numbers = isl_set_coalesce(isl_set_gist_params(numbers, context.copy()));
  const isl::basic_set hull = isl::manage(isl_set_simple_hull(numbers));
  const isl::ast_build build = isl::ast_build::from_context(context);
  const auto dispose = [](auto* owned) { isl_constraint_list_free(owned); };
  const std::unique_ptr<isl_constraint_list, decltype(dispose)> constraints(
      isl_basic_set_get_constraint_list(hull.get()));
  Sides sides;
  for (int c = 0; c < isl_constraint_list_n_constraint(constraints.get()); ++c) {
    isl_constraint* constraint = isl_constraint_list_get_constraint(constraints.get(), c);
    const bool is_both = isl_constraint_is_equality(constraint) &&
                         isl_constraint_involves_dims(constraint, isl_dim_set, 0, 1);
    const bool is_lower = is_both || isl_constraint_is_lower_bound(constraint, isl_dim_set, 0);
    const bool is_upper = is_both || isl_constraint_is_upper_bound(constraint, isl_dim_set, 0);
    for (const bool lower : {true, false}) {
      if (lower ? !is_lower : !is_upper) continue;
      isl_aff* bound = isl_constraint_get_bound(constraint, isl_dim_set, 0);
      bound = isl_aff_project_domain_on_params(lower ? isl_aff_ceil(bound) : isl_aff_floor(bound));
      const isl::pw_aff end = isl::manage(isl_pw_aff_from_aff(bound));
      std::string text = slicer::text_of(build.expr_from(lower ? end : end.add_constant(1)));
      isl::pw_aff& known = lower ? sides.first : sides.last;
      std::string& known_text = lower ? sides.text.first : sides.text.last;
      const char* extreme = lower ? "std::max" : "std::min";
      if (!known.is_null()) text = fmt::format("{}<long>({}, {})", extreme, known_text, text);
      known = known.is_null() ? end : lower ? known.max(end) : known.min(end);
      known_text = text;
    }
    isl_constraint_free(constraint);
  }
  return sides;
}

/// The convex parts (basic sets) of a set.
std::vector<isl::set> parts_of(const isl::set& set) {
  std::vector<isl::set> parts;
  isl_set_foreach_basic_set(
      set.get(),
      [](isl_basic_set* part, void* all) {
        static_cast<std::vector<isl::set>*>(all)->push_back(
            isl::manage(isl_set_from_basic_set(part)));
        return isl_stat_ok;
      },
      &parts);
  return parts;
}

}  // namespace

/// A box around some elements, from inequalities that hold for all of them. `is_tight` is set if
/// each side of the box contains an element in each slice with accesses.
Box box_around(const std::vector<isl::set>& elements, const isl::set& context) {
  const auto rank = static_cast<std::size_t>(isl_set_dim(elements.front().get(), isl_dim_set));
  Box box;
  const isl::set all = united(elements).intersect_params(context);
  isl::set inside = isl::manage(isl_set_universe(isl_set_get_space(all.get())));
  box.empty = context.subtract(context);
  box.is_tight = true;
  for (std::size_t d = 0; d < rank; ++d) {
    Sides sides;
    for (const isl::set& each : elements) {
      const auto is_bounded = [](const Sides& of) {
        return !of.first.is_null() && !of.last.is_null();
      };
      if (const Sides more = sides_of(each, d, context); is_bounded(more)) {
        widen(sides, more, context);
        continue;
      }
      // A subscript such as i > 0 ? i - 1 : 0 selects from several sets of elements, so no single
      // inequality need hold for all of them.
      for (const isl::set& part : parts_of(each)) {
        const Sides more = sides_of(part, d, context);
        if (!is_bounded(more)) return {};
        widen(sides, more, context);
      }
    }
    if (sides.first.is_null()) return {};
    box.sides.push_back(sides.text);
    box.empty = box.empty.unite(sides.last.lt_set(sides.first));
    const isl::set last = isl::manage(isl_set_from_pw_aff(sides.last.copy()));
    const isl::set first = isl::manage(isl_set_from_pw_aff(sides.first.copy()));
    inside = inside.intersect(first.apply(along(rank, d, "<=")))
                 .intersect(last.apply(along(rank, d, ">=")));
    for (const isl::set& end : {first, last})
      box.is_tight = box.is_tight && is_soon([&] {
                       const isl::set at = all.intersect(end.apply(along(rank, d, "=")));
                       return parameters_of(all).is_subset(parameters_of(at));
                     });
  }
  inside = inside.intersect_params(context);
  box.is_exact = is_soon([&] { return inside.is_subset(all); });
  box.where = parameters_of(all);
  return box;
}

Walk walk_over(const Box& box, const isl::set& context, const std::vector<std::string>& variables) {
  Walk walk;
  walk.kind = Walk::statement;
  walk.subscripts = variables;
  for (std::size_t d = variables.size(); d-- > 0;) {
    const std::string condition = variables[d] + " < " + box.sides[d].last;
    walk = {Walk::loop, variables[d], box.sides[d].first, condition, "1", {}, {walk}};
  }
  const bool is_empty_else =
      is_soon([&] { return context.subtract(box.where).is_subset(box.empty); });
  if (is_empty_else) return walk;
  const isl::ast_build build = isl::ast_build::from_context(context);
  const isl::set condition = isl::manage(isl_set_gist(box.where.copy(), context.copy()));
  return {Walk::branch, {}, {}, slicer::text_of(build.expr_from(condition)), {}, {}, {walk}};
}

}  // namespace slicer
