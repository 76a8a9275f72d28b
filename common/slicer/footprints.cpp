#include "footprints.hpp"

#include <fmt/format.h>
#include <isl/ast_build.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <staircase/error.hpp>

namespace slicer {
namespace {

bool is_part_of_word(unsigned char c) { return std::isalnum(c) || c == '_'; }

bool is_name(const std::string& text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), is_part_of_word);
}

isl::set read(const std::string& text) {
  return isl::manage(isl_set_read_from_str(shared_context().get(), text.c_str()));
}

/// The expression for a variable at the position of the nest; empty if no expression is known.
std::string text_for(const Variable& variable) {
  if (!variable.of) return is_name(variable.name) ? variable.name : "";
  return variable.name.starts_with(variable.of->variable->name + ".") ? variable.name : "";
}

/// Adds a set unless `sets` already contains an equal set.
void join(std::vector<isl::set>& sets, const isl::set& more) {
  for (const isl::set& each : sets)
    if (isl_set_plain_is_equal(each.get(), more.get())) return;
  sets.push_back(more);
}

std::vector<const Loop*> loops_of(const Marked& marked) {
  std::vector<const Loop*> loops;
  for (const Cut& cut : marked.cuts) loops.push_back(cut.loop);
  return loops;
}

/// The number of subscripts that precede the first member, for example 2 in a[i][j].x[k].
std::size_t subscripts_of(const Place& place) {
  std::size_t count = 0;
  while (count < place.steps.size() && place.steps[count].member.empty()) ++count;
  return count;
}

}  // namespace

Footprints::Footprints(const Marked& marked, const std::string& suffix)
    : marked_(marked),
      suffix_(suffix),
      accesses_(accesses_of(*marked.function, marked.outermost())),
      names_(*marked.function, marked.outermost().frame),
      space_(names_, accesses_, loops_of(marked)) {
  const bool is_used = std::any_of(accesses_.begin(), accesses_.end(), [&](const Access* access) {
    return access->frame->is_within(marked.cuts.back().loop->frame);
  });
  if (!is_used) refuse("it accesses no array");
  isl_ctx_reset_operations(shared_context().get());
  try {
    name_parameters();
    find_context();
  } catch (const isl::exception&) {
    refuse("the sets of iterations are too complicated");
  }
}

void Footprints::refuse(const std::string& why) const {
  throw staircase::BadInput(
      fmt::format("line {}: the nest cannot run in slices: {}", marked_.outermost().line, why));
}

// --- Parameters

void Footprints::name_parameters() {
  for (const Frame* frame = marked_.outermost().frame->parent; frame; frame = frame->parent)
    if (frame->loop && counts(*frame->loop))
      name_parameter(*frame->loop->variable, space_.position_of(*frame->loop, 0));
  for (const Variable* size : space_.sizes()) name_parameter(*size, space_.position_of(size));
}

void Footprints::name_parameter(const Variable& variable, std::size_t position) {
  const std::string text = text_for(variable);
  std::string name = text;
  if (text.empty()) {
    name = fmt::format("unnamed_{}", position);
  } else if (variable.is_natural || !is_name(text)) {
    name = "signed";
    for (const char c : text)
      if (is_part_of_word(static_cast<unsigned char>(c)))
        name += (name == "signed" ? "_" : "") + std::string(1, c);
      else if (name.back() != '_')
        name += '_';
    if (name.ends_with("_")) name.pop_back();
    name += suffix_;
    numbers_[name] = text;
  }
  parameters_.push_back({position, name});
}

std::map<std::string, std::string> Footprints::numbers_in(const std::string& text) const {
  std::map<std::string, std::string> found;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t last = at;
    while (last < text.size() && is_part_of_word(static_cast<unsigned char>(text[last]))) ++last;
    const std::string word = text.substr(at, last - at);
    if (word.starts_with("unnamed_"))
      refuse("a size has no name that the generated code could use");
    if (const auto number = numbers_.find(word); number != numbers_.end()) found.insert(*number);
    at = std::max(last, at + 1);
  }
  return found;
}

/// Turns the sizes and the counters of the loops around the nest into parameters.
isl::map Footprints::with_parameters(isl::map map) const {
  std::string dimensions;
  for (std::size_t d = 0; d < space_.count(); ++d)
    dimensions += fmt::format("{}x{}", d ? ", " : "", d);
  std::string names, equations = "true";
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    const auto& [position, name] = parameters_[p];
    names += (p ? ", " : "") + name;
    equations += fmt::format(" and x{} = {}", position, name);
  }
  const isl::set same = read(fmt::format("[{}] -> {{ [{}] : {} }}", names, dimensions, equations));
  return map.intersect_domain(same);
}

/// The set of values of a sliced loop's counter.
isl::set Footprints::range_of(const Cut& cut) const {
  std::string unsure;
  const isl::set domain = space_.domain(*cut.loop->frame, 0, unsure);
  const isl::pw_aff counter = space_.variable_at(space_.position_of(*cut.loop, 0));
  const isl::map map =
      isl::manage(isl_map_intersect_domain(isl_map_from_pw_aff(counter.copy()), domain.copy()));
  return isl::manage(isl_set_coalesce(isl_map_range(with_parameters(map).release())));
}

/// Collects constraints that hold for each computed slice: the slice is not empty, and it lies
/// within the loop.
void Footprints::find_context() {
  context_ = read("{ : }");
  for (const auto& [name, text] : numbers_) {
    const auto is_natural = [&text = text](const Variable* size) {
      return size->is_natural && text_for(*size) == text;
    };
    if (std::any_of(space_.sizes().begin(), space_.sizes().end(), is_natural))
      context_ = context_.intersect(read(fmt::format("[{0}] -> {{ : {0} >= 0 }}", name)));
  }
  for (const Cut& cut : marked_.cuts) {
    const std::string begin = cut.name + "_begin" + suffix_, end = cut.name + "_end" + suffix_;
    const isl::set range = range_of(cut);
    const isl::set first = isl::manage(isl_set_lexmin(range.copy()));
    const isl::set last = isl::manage(isl_set_lexmax(range.copy()));
    const isl::set above = read(fmt::format("[{0}] -> {{ [x] : x <= {0} }}", begin));
    const isl::set below = read(fmt::format("[{0}] -> {{ [x] : x >= {0} - 1 }}", end));
    context_ = context_.intersect(parameters_of(first.intersect(above)))
                   .intersect(parameters_of(last.intersect(below)))
                   .intersect(read(fmt::format("[{0}, {1}] -> {{ : {0} < {1} }}", begin, end)));
  }
  context_ = isl::manage(isl_set_coalesce(context_.release()));
}

Extent Footprints::extent(const Cut& cut) {
  try {
    const isl::set range = range_of(cut);
    if (!isl_set_dim_has_any_lower_bound(range.get(), isl_dim_set, 0) ||
        !isl_set_dim_has_any_upper_bound(range.get(), isl_dim_set, 0))
      refuse(fmt::format("`{}` has no bounds that hold for all iterations", cut.name));
    const isl::set where = parameters_of(range);
    const isl::ast_build build = isl::ast_build::from_context(read("{ : }"));
    const auto text = [&](isl_pw_aff* number) {
      number = isl_pw_aff_coalesce(isl_pw_aff_gist_params(number, where.copy()));
      return text_of(build.expr_from(isl::manage(number)));
    };
    const isl::pw_aff last = isl::manage(isl_set_dim_max(range.copy(), 0));
    const isl::pw_aff behind = last.add_constant(1);
    return {text(isl_set_dim_min(range.copy(), 0)), text(behind.copy())};
  } catch (const isl::exception&) {
    refuse("the sets of iterations are too complicated");
  }
}

// --- Elements

/// The elements that an access reads or writes in a slice.
isl::set Footprints::elements_of(const Touched& touched) const {
  const Access& access = *touched.access;
  isl::map map;
  for (std::size_t s = 0; s < subscripts_of(access.place); ++s) {
    if (touched.at[0][s].empty() || access.place.steps[s].is_row)
      refuse(touched.unsure.empty()
                 ? fmt::format("the subscripts of `{1}` in line {0} cannot be analysed",
                               access.line, access.text)
                 : touched.unsure);
    for (const isl::pw_aff& at : touched.at[0][s]) {
      isl::map next = isl::manage(isl_map_from_pw_aff(at.copy()));
      map = map.is_null() ? next
                          : isl::manage(isl_map_flat_range_product(map.release(), next.release()));
    }
  }
  map = with_parameters(map.intersect_domain(touched.domains[0]));
  for (const Cut& cut : marked_.cuts) {
    std::string dimensions;
    const std::size_t position = space_.position_of(*cut.loop, 0);
    for (std::size_t d = 0; d < space_.count(); ++d)
      dimensions += fmt::format("{}x{}", d ? ", " : "", d);
    map = map.intersect_domain(read(
        fmt::format("[{0}_begin{1}, {0}_end{1}] -> {{ [{2}] : {0}_begin{1} <= x{3} < {0}_end{1} }}",
                    cut.name, suffix_, dimensions, position)));
  }
  return isl::manage(isl_set_coalesce(isl_map_range(map.release())));
}

std::vector<Footprint> Footprints::arrays() {
  std::vector<Footprint> footprints;
  try {
    touched_ = Elements(space_).touch(accesses_);
    std::vector<const Variable*> order;
    std::map<const Variable*, std::vector<const Touched*>> by_array;
    for (const Touched& touched : touched_) {
      const Place& place = touched.access->place;
      if (!has_element(place)) continue;
      if (place.is_loose) refuse(place.unsure);
      if (subscripts_of(place) == 0 || !is_name(place.variable->name))
        refuse(fmt::format("line {} has `{}`, an array within an object", touched.access->line,
                           touched.access->text));
      if (by_array[place.variable].empty()) order.push_back(place.variable);
      by_array[place.variable].push_back(&touched);
    }
    for (const Variable* array : order) footprints.push_back(footprint_of(by_array[array]));
  } catch (const isl::exception&) {
    refuse("the sets of elements are too complicated");
  }
  return footprints;
}

Footprint Footprints::footprint_of(const std::vector<const Touched*>& touched) {
  Footprint footprint;
  footprint.array = touched.front()->access->place.variable;
  find_form(footprint, touched);
  const std::size_t rank = footprint.box.size();
  std::vector<isl::set> sent, written, all;
  for (const Touched* each : touched) {
    const isl::set elements = elements_of(*each);
    if (isl_set_dim(elements.get(), isl_dim_set) != static_cast<int>(rank))
      refuse(fmt::format("`{}` has subscripts of different forms", footprint.array->name));
    const Place& place = each->access->place;
    const bool is_part = place.steps.size() > subscripts_of(place);
    join(all, elements);
    if (each->access->is_write) join(written, elements);
    if (!each->access->is_write || is_part || !each->unsure.empty()) join(sent, elements);
  }
  const Box box = box_around(all, context_);
  if (box.sides.empty())
    refuse(fmt::format("the accessed elements of `{}` have no bounds", footprint.array->name));
  footprint.box = box.sides;
  footprint.is_exact = box.is_exact;
  std::vector<std::string> variables;
  for (std::size_t d = 0; d < rank; ++d) variables.push_back(fmt::format("x{}{}", d, suffix_));
  const auto walk = [&](const std::vector<isl::set>& sets) {
    Walk each;
    for (const isl::set& set : sets) each.parts.push_back(walk_over(set, context_, variables));
    return each;
  };
  footprint.is_sent = !sent.empty();
  footprint.is_written = !written.empty();
  // If an array is never written, the slice may read the whole box, provided that all rows have
  // equal length.
  const bool is_even = footprint.subscripts == Subscripts::call || rank == 1;
  footprint.sent = !footprint.is_written && is_even && box.is_tight
                       ? walk_over(box, context_, variables)
                       : walk(sent);
  footprint.fetched = walk(written);
  return footprint;
}

/// Determines the syntax of the elements of an array.
void Footprints::find_form(Footprint& footprint, const std::vector<const Touched*>& touched) {
  const std::string& name = footprint.array->name;
  const Touched& first = *touched.front();
  const std::size_t subscripts = subscripts_of(first.access->place);
  std::size_t rank = 0;
  for (std::size_t s = 0; s < subscripts; ++s) rank += first.at[0][s].size();
  footprint.box.resize(rank);
  footprint.subscripts =
      first.access->place.steps[0].in_call ? Subscripts::call : Subscripts::brackets;
  if (rank <= subscripts) return;
  // Subscripts of the form i * n + j were split. The row length is the size that occurs in all
  // products.
  footprint.subscripts = Subscripts::line;
  std::set<const Variable*> rows;
  for (const Touched* each : touched) {
    const auto sum =
        names_.polynomial(each->access->place.steps[0].index, each->access->frame, names_.root());
    if (sum)
      for (const auto& [product, factor] : *sum)
        for (const Variable* variable : product)
          if (product.size() > 1 && std::find(space_.sizes().begin(), space_.sizes().end(),
                                              variable) != space_.sizes().end())
            rows.insert(variable);
  }
  const std::string row = rows.size() == 1 ? text_for(**rows.begin()) : "";
  if (rank != 2 || subscripts != 1 || row.empty())
    refuse(fmt::format(
        "the subscripts of `{}` do not have the form i * row + j with rows of equal length", name));
  for (const auto& [position, parameter] : parameters_)
    if (position == space_.position_of(*rows.begin())) footprint.row = parameter;
}

}  // namespace slicer
