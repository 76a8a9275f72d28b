#include "transfers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "prelude.hpp"
#include "transferring.hpp"

namespace slicer {
namespace {

void close(Lines& lines) {
  lines.outdent();
  lines.add("};");
}

}  // namespace

Transfers::Transfers(Rewriting& rewriting, const Marked& marked)
    : rewriting_(rewriting),
      source_(rewriting.source()),
      marked_(marked),
      suffix_(rewriting.suffix(names_to_be())),
      footprints_(marked, suffix_),
      columns_(columns_before(source_, marked.nest.first)),
      arrays_(footprints_.arrays()) {
  for (const Footprint& array : arrays_) check(array);
  check_names();
}

void Transfers::write(bool is_template) {
  Lines parts(columns_);
  is_template_ = is_template;
  if (marked_.is_on_device) return write_on_device(parts);
  if (!is_template) write_boxes(parts);
  if (!is_template && has_room_to_make()) write_make_room(parts);
  write_serialise(parts, is_template);
  write_kernel(parts, is_template);
  write_deserialise(parts, is_template);
  write_loop(parts);
  put(parts);
  rewriting_.need(box_prelude);
  if (is_template) rewriting_.include("tuple");
  if (parts.text().find("sliced::Line") != std::string::npos) rewriting_.need(lines_prelude);
  if (marked_.threads < 2) return;
  for (const char* header : {"functional", "future"}) rewriting_.include(header);
  rewriting_.need(overlap_prelude);
}

void Transfers::put(const Lines& parts) {
  Lines lines(columns_);
  introduce(lines);
  std::string cuts;
  for (const Cut& cut : marked_.cuts)
    cuts += extent_of(cut).first + " " + extent_of(cut).last + " ";
  for (const auto& [number, value] : footprints_.numbers_in(cuts + parts.text()))
    lines.set(unused() + "const long " + number, value);
  for (const Cut& cut : marked_.cuts) {
    const Extent extent = extent_of(cut);
    lines.call(fmt::format("const sliced::Cut {}", name(cut.name + "_cut")),
               {extent.first, extent.last,
                cut.is_count ? cut.slices : fmt::format("std::max<long>(1, {})", cut.slices)});
  }
  const std::string all = lines.text() + parts.text();
  const auto line = static_cast<unsigned>(marked_.nest.first - columns_);
  rewriting_.replace({line, marked_.nest.last}, all.substr(0, all.size() - 1));
  rewriting_.remove_line(marked_.directive.range);
  for (const char* header : {"algorithm", "array", "cstddef", "memory", "type_traits", "utility"})
    rewriting_.include(header);
  rewriting_.need(prelude);
  if (all.find("sliced::quotient") != all.npos) rewriting_.need(quotient_prelude);
}

std::vector<std::string> Transfers::names_to_be() const {
  std::vector<std::string> names{"e",         "serialise", "kernel", "deserialise", "sliced",
                                 "make_room", "x0",        "x1",     "x2"};
  if (marked_.is_on_device)
    for (const char* each : {"stream", "block", "grid"}) names.push_back(each);
  if (marked_.is_on_device) names.push_back("slice_of_" + marked_.function->name);
  for (const Cut& cut : marked_.cuts)
    for (const char* part : {"cut", "begin", "end"}) names.push_back(cut.name + "_" + part);
  std::set<std::string> written;
  for (const Variable& variable : marked_.function->variables) written.insert(variable.name);
  for (const std::string& array : written)
    for (const char* part : {"in", "out", "box", "whole"}) names.push_back(array + "_" + part);
  return names;
}

Extent Transfers::extent_of(const Cut& cut) {
  if (!cut.is_fixed) return footprints_.extent(cut);
  return {std::string(source_.text().substr(cut.first.first, cut.first.last - cut.first.first)),
          cut.last};
}

std::string Transfers::described(const Footprint& array) const {
  std::vector<std::string> sides;
  for (const Extent& side : array.box)
    sides.push_back(fmt::format("[{}, {})", side.first, side.last));
  return fmt::format("{}: {}, {}", array.array->name, fmt::join(sides, " × "),
                     array.is_exact ? "exact" : "the hull of the accessed elements");
}

void Transfers::introduce(Lines& lines) const {
  std::vector<std::string> loops;
  for (const std::size_t digit : marked_.digits) loops.push_back(marked_.cuts[digit].name);
  std::string text = fmt::format("Loop (4): {} of {}, whose iterations are independent.",
                                 loops.size() > 1 ? "e is the index of a slice" : "slices",
                                 fmt::join(loops, " and "));
  if (loops.size() > 1) text += fmt::format(" The slice of {} changes fastest.", loops[0]);
  lines.comment(text + " A slice accesses these elements:");
  for (const Footprint& array : arrays_) {
    const std::string how = !array.is_written ? "sent"
                            : array.is_sent   ? "sent and fetched"
                                              : "fetched";
    lines.comment(fmt::format("- {}; {}", described(array), how));
  }
}

void Transfers::write_boxes(Lines& lines) const {
  for (const Footprint& array : arrays_) {
    const std::string& named = array.array->name;
    const std::vector<std::string> zeros(array.box.size(), "0");
    std::string type = array.subscripts == Subscripts::line
                           ? fmt::format("sliced::Line<decltype({}[0])>", named)
                           : fmt::format("sliced::Box<decltype({}), {}>",
                                         element_of(array, named, zeros, true), zeros.size());
    if (marked_.buffers > 1) type = fmt::format("std::array<{}, {}>", type, marked_.buffers);
    std::vector<std::string> boxes;
    if (array.is_sent) boxes.push_back(name(named + "_in"));
    if (array.is_written) boxes.push_back(name(named + "_out"));
    lines.add(fmt::format("{} {};", type, fmt::join(boxes, ", ")));
  }
  const std::string nest = bounded_nest(source_, marked_, suffix_, columns_ + 2);
  for (const std::string& array : sized_)
    if (with_size(nest, array) != nest)
      lines.add(fmt::format("const auto& {} = {};", name(array + "_whole"), array));
}

void Transfers::open(Lines& lines, const std::string& part, const std::string& body,
                     bool is_kernel) const {
  Lines inside(lines.columns() + 2);
  for (std::size_t d = 0; d < marked_.digits.size(); ++d) {
    const Cut& cut = marked_.cuts[marked_.digits[d]];
    const std::string begin = name(cut.name + "_begin"), end = name(cut.name + "_end");
    if (body.find(begin) == body.npos && body.find(end) == body.npos) continue;
    std::string digit = name("e");
    for (std::size_t before = 0; before < d; ++before)
      digit += " / " + name(marked_.cuts[marked_.digits[before]].name + "_cut") + ".slices";
    if (d + 1 < marked_.digits.size()) digit += " % " + name(cut.name + "_cut") + ".slices";
    inside.set(fmt::format("{}const auto [{}, {}]", unused(), begin, end),
               fmt::format("{}.slice<{}>({})", name(cut.name + "_cut"),
                           is_kernel ? cut.type : "long", digit));
  }
  const std::string all = inside.text() + body;
  const bool uses_number =
      all.find("(" + name("e")) != all.npos || all.find("[" + name("e")) != all.npos;
  lines.add(fmt::format("const auto {} = [&](long{}) {{{}", name(part),
                        uses_number ? " " + name("e") : "", all.empty() ? "};" : ""));
  lines.append(inside.text());
  lines.indent();
}

void Transfers::leave_open(Lines& lines, const char* what, bool of_sent) const {
  for (const Footprint& array : arrays_)
    if (of_sent ? array.is_sent : array.is_written)
      lines.comment(fmt::format("{} {}", what, described(array)));
}

void Transfers::write_serialise(Lines& lines, bool is_template) const {
  Lines body(columns_ + 2);
  if (is_template) leave_open(body, "Copy into a buffer what the slice reads of", true);
  for (const Footprint& array : arrays_) {
    if (!array.is_sent || is_template) continue;
    const std::string box = name(array.array->name + "_box");
    body.add(fmt::format("auto& {} = {};", box, box_of(array, "in")));
    hold(array, box, body);
    slicer::write(
        array.sent,
        [&](const std::vector<std::string>& at) {
          return fmt::format("{} = {};", element_of(array, box, at, false),
                             element_of(array, array.array->name, at, true));
        },
        body);
  }
  finish("serialise", body, lines, false);
}

bool Transfers::has_room_to_make() const {
  return std::any_of(arrays_.begin(), arrays_.end(),
                     [](const Footprint& array) { return array.is_written && !array.is_sent; });
}

void Transfers::write_make_room(Lines& lines) const {
  Lines body(columns_ + 2);
  for (const Footprint& array : arrays_)
    if (array.is_written && !array.is_sent) hold(array, box_of(array, "out"), body);
  finish("make_room", body, lines, false);
}

void Transfers::write_kernel(Lines& lines, bool is_template) const {
  Lines body(columns_ + 2);
  if (is_template) {
    body.comment("Compute the slice in its buffers, with these variables.");
    body.call("std::ignore = std::tie", names_from_outside());
    return finish("kernel", body, lines, true);
  }
  if (has_room_to_make()) body.add(fmt::format("{}({});", name("make_room"), name("e")));
  for (const Footprint& array : arrays_)
    if (array.is_written && array.is_sent)
      body.call("std::swap", {box_of(array, "in"), box_of(array, "out")});
  for (const Footprint& array : arrays_)
    body.add(fmt::format("const auto& {} = {};", array.array->name,
                         box_of(array, array.is_written ? "out" : "in")));
  std::string nest = bounded_nest(source_, marked_, suffix_, columns_ + 2);
  for (const std::string& array : sized_) nest = with_size(nest, array);
  finish("kernel", body, lines, true, nest);
}

std::string Transfers::with_size(std::string nest, const std::string& array) const {
  for (const char* size : {".extent(", ".size("}) {
    const std::string old = array + size, fresh = name(array + "_whole") + size;
    for (std::size_t at = nest.find(old); at != nest.npos; at = nest.find(old, at + fresh.size())) {
      const bool is_name = at == 0 || !(std::isalnum(nest[at - 1]) || nest[at - 1] == '_' ||
                                        nest[at - 1] == '.' || nest[at - 1] == '>');
      if (is_name) nest.replace(at, old.size(), fresh);
    }
  }
  return nest;
}

void Transfers::write_deserialise(Lines& lines, bool is_template) const {
  Lines body(columns_ + 2);
  if (is_template) leave_open(body, "Copy back from a buffer what the slice writes of", false);
  for (const Footprint& array : arrays_) {
    if (!array.is_written || is_template) continue;
    const std::string box = name(array.array->name + "_box");
    body.add(fmt::format("const auto& {} = {};", box, box_of(array, "out")));
    slicer::write(
        array.fetched,
        [&](const std::vector<std::string>& at) {
          return fmt::format("{} = {};", element_of(array, array.array->name, at, true),
                             element_of(array, box, at, false));
        },
        body);
  }
  finish("deserialise", body, lines, false);
}

void Transfers::finish(const std::string& part, const Lines& body, Lines& lines, bool is_kernel,
                       const std::string& nest) const {
  const std::string all = body.text() + nest;
  open(lines, part, all, is_kernel);
  if (all.empty()) return lines.outdent();
  lines.append(all);
  close(lines);
}

void Transfers::write_loop(Lines& lines) const {
  std::vector<std::string> factors;
  for (const Cut& cut : marked_.cuts) factors.push_back(name(cut.name + "_cut") + ".slices");
  const std::string all = fmt::format("{}", fmt::join(factors, " * "));
  if (marked_.threads > 1)
    return lines.call("sliced::overlap",
                      {all, name("serialise"), name("kernel"), name("deserialise")});
  const std::string e = name("e");
  lines.loop(fmt::format("long {} = 0", e), fmt::format("{} < {}", e, all), "++" + e, " {");
  lines.indent();
  for (const char* part : {"serialise", "kernel", "deserialise"})
    lines.add(fmt::format("{}({});", name(part), e));
  lines.outdent();
  lines.add("}");
}

void write_transfers(Rewriting& rewriting, const Marked& marked, bool is_template) {
  Transfers(rewriting, marked).write(is_template);
}

}  // namespace slicer
