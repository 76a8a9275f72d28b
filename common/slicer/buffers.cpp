#include "transferring.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <staircase/error.hpp>

namespace slicer {

void Transfers::refuse(int line, const std::string& why) const {
  throw staircase::BadInput(fmt::format("line {}: loop (4) cannot be generated: {}", line, why));
}

void Transfers::check(const Footprint& array) {
  const std::vector<Token> all = tokens();
  const std::string& named = array.array->name;
  bool is_named = false;
  for (std::size_t t = 0; t + 1 < all.size(); ++t) {
    if (!(all[t] == named) || is_member(all, t)) continue;
    const bool is_element = all[t + 1] == (array.subscripts == Subscripts::call ? "(" : "[");
    is_named = is_named || is_element;
    if (is_element) continue;
    const bool is_size =
        all[t + 1] == "." && t + 2 < all.size() && (all[t + 2] == "extent" || all[t + 2] == "size");
    if (!is_size) refuse(all[t].line, fmt::format("`{}` is used as a whole", named));
    sized_.insert(named);
  }
  if (!is_named)
    refuse(marked_.outermost().line, fmt::format("`{}` has another name within the nest", named));
  if (array.box.size() > 3)
    refuse(marked_.outermost().line,
           fmt::format("`{}` has {} subscripts, but a buffer can have at most three", named,
                       array.box.size()));
}

void Transfers::check_names() const {
  for (const Variable& variable : marked_.function->variables) {
    const bool is_outside =
        variable.frame == nullptr || !variable.frame->is_within(marked_.outermost().frame);
    if (!variable.alias || !is_outside) continue;
    const std::vector<Token> all = tokens();
    for (std::size_t t = 0; t < all.size(); ++t)
      if (all[t] == variable.name && !is_member(all, t))
        refuse(all[t].line, fmt::format("`{}` is another name for a part of `{}`", variable.name,
                                        variable.alias->variable->name));
  }
}

std::string Transfers::box_of(const Footprint& array, const char* direction) const {
  const std::string box = name(array.array->name + "_" + direction);
  return marked_.buffers > 1 ? fmt::format("{}[{} % {}]", box, name("e"), marked_.buffers) : box;
}

std::string Transfers::element_of(const Footprint& array, const std::string& of,
                                  const std::vector<std::string>& at, bool is_array) const {
  if (array.subscripts == Subscripts::call || (!is_array && array.subscripts == Subscripts::line))
    return fmt::format("{}({})", of, fmt::join(at, ", "));
  if (array.subscripts == Subscripts::brackets)
    return fmt::format("{}[{}]", of, fmt::join(at, "]["));
  const bool is_sum = at[0].find(' ') != at[0].npos;
  return fmt::format("{}[{}{}{} * {} + {}]", of, is_sum ? "(" : "", at[0], is_sum ? ")" : "",
                     array.row, at[1]);
}

void Transfers::hold(const Footprint& array, const std::string& box, Lines& lines) const {
  std::vector<std::string> first, last;
  for (const Extent& side : array.box) {
    first.push_back(side.first);
    last.push_back(side.last);
  }
  std::vector<std::string> arguments{fmt::format("{{{}}}", fmt::join(first, ", ")),
                                     fmt::format("{{{}}}", fmt::join(last, ", "))};
  if (array.subscripts == Subscripts::line) arguments.push_back(array.row);
  lines.call(box + ".hold", arguments);
}

std::vector<std::string> Transfers::names_from_outside() const {
  std::set<std::string> names, own;
  const std::vector<Token> all = tokens();
  const Frame* nest = marked_.outermost().frame->parent;
  for (const Variable& variable : marked_.function->variables) {
    const bool is_inside = variable.frame && variable.frame->is_within(nest);
    const bool is_around = !variable.frame || nest->is_within(variable.frame);
    // The copy that keeps the value of a size or a start of a loop has the name of the variable
    // that it copies.
    const bool is_copy = variable.value && variable.value->operation == Operation::symbol &&
                         variable.value->text == variable.name;
    if (is_inside && !is_copy) own.insert(variable.name);
    for (std::size_t t = 0; t < all.size() && is_around && !is_inside; ++t)
      if (all[t] == variable.name && !is_member(all, t)) names.insert(variable.name);
  }
  std::erase_if(names, [&](const std::string& each) { return own.contains(each); });
  return {names.begin(), names.end()};
}

}  // namespace slicer
