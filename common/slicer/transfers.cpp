#include "transfers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <staircase/error.hpp>

#include "device_prelude.hpp"
#include "footprints.hpp"
#include "lines.hpp"
#include "prelude.hpp"

namespace slicer {
namespace {

/// Writes loop (4) in place of a nest.
class Transfers {
 public:
  Transfers(Rewriting& rewriting, const Marked& marked)
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

  void write(bool is_template) {
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
    rewriting_.include("future");
    rewriting_.need(overlap_prelude);
  }

 private:
  /// Puts what was written in place of the nest, behind what it needs.
  void put(const Lines& parts) {
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

  [[noreturn]] void refuse(int line, const std::string& why) const {
    throw staircase::BadInput(fmt::format("line {}: loop (4) cannot be made: {}", line, why));
  }

  std::vector<std::string> names_to_be() const {
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

  std::string name(const std::string& of) const { return of + suffix_; }

  // --- What a buffer does not allow

  std::vector<Token> tokens() const { return source_.tokens(marked_.nest); }

  static bool is_member(const std::vector<Token>& tokens, std::size_t t) {
    return t > 0 && (tokens[t - 1] == "." || tokens[t - 1] == "->" || tokens[t - 1] == "::");
  }

  /// Elements of an array, and sizes of it, are all that the nest may use.
  void check(const Footprint& array) {
    const std::vector<Token> all = tokens();
    const std::string& named = array.array->name;
    bool is_named = false;
    for (std::size_t t = 0; t + 1 < all.size(); ++t) {
      if (!(all[t] == named) || is_member(all, t)) continue;
      const bool is_element = all[t + 1] == (array.subscripts == Subscripts::call ? "(" : "[");
      is_named = is_named || is_element;
      if (is_element) continue;
      const bool is_size = all[t + 1] == "." && t + 2 < all.size() &&
                           (all[t + 2] == "extent" || all[t + 2] == "size");
      if (!is_size) refuse(all[t].line, fmt::format("`{}` is used as a whole", named));
      sized_.insert(named);
    }
    if (!is_named)
      refuse(marked_.outermost().line, fmt::format("`{}` has another name within the nest", named));
    if (array.box.size() > 3)
      refuse(marked_.outermost().line,
             fmt::format("`{}` has {} subscripts, and a box has at most three", named,
                         array.box.size()));
  }

  /// Other names of arrays, from outside of the nest, would go around the buffers.
  void check_names() const {
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

  // --- Parts of the text

  std::string box_of(const Footprint& array, const char* direction) const {
    const std::string box = name(array.array->name + "_" + direction);
    return marked_.buffers > 1 ? fmt::format("{}[{} % {}]", box, name("e"), marked_.buffers) : box;
  }

  std::string element_of(const Footprint& array, const std::string& of,
                         const std::vector<std::string>& at, bool is_array) const {
    if (array.subscripts == Subscripts::call || (!is_array && array.subscripts == Subscripts::line))
      return fmt::format("{}({})", of, fmt::join(at, ", "));
    if (array.subscripts == Subscripts::brackets)
      return fmt::format("{}[{}]", of, fmt::join(at, "]["));
    const bool is_sum = at[0].find(' ') != at[0].npos;
    return fmt::format("{}[{}{}{} * {} + {}]", of, is_sum ? "(" : "", at[0], is_sum ? ")" : "",
                       array.row, at[1]);
  }

  Extent extent_of(const Cut& cut) {
    if (!cut.is_fixed) return footprints_.extent(cut);
    return {std::string(source_.text().substr(cut.first.first, cut.first.last - cut.first.first)),
            cut.last};
  }

  /// "a, [i_begin, i_end) x [0, n): a box, exact"
  std::string described(const Footprint& array) const {
    std::vector<std::string> sides;
    for (const Extent& side : array.box)
      sides.push_back(fmt::format("[{}, {})", side.first, side.last));
    return fmt::format("{}: {}, {}", array.array->name, fmt::join(sides, " × "),
                       array.is_exact ? "exact" : "the hull of what it touches");
  }

  void introduce(Lines& lines) const {
    std::vector<std::string> loops;
    for (const std::size_t digit : marked_.digits) loops.push_back(marked_.cuts[digit].name);
    std::string text =
        fmt::format("Loop (4): {}slices of {}, whose iterations are independent",
                    loops.size() > 1 ? "e numbers the " : "", fmt::join(loops, " and "));
    if (loops.size() > 1) text += fmt::format("; that of {} counts fastest", loops[0]);
    lines.comment(text + ". What one of them takes of each array:");
    for (const Footprint& array : arrays_) {
      const std::string how = !array.is_written ? "sent"
                              : array.is_sent   ? "sent and fetched"
                                                : "fetched";
      lines.comment(fmt::format("- {}; {}", described(array), how));
    }
  }

  void write_boxes(Lines& lines) const {
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
    for (const std::string& array : sized_)
      lines.add(fmt::format("const auto& {} = {};", name(array + "_whole"), array));
  }

  /// The beginning of a part: where its slice lies, as far as it is used.
  void open(Lines& lines, const std::string& part, const std::string& body, bool is_kernel) const {
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
    lines.add(fmt::format("const auto {} = [&](long{}) {{", name(part),
                          uses_number ? " " + name("e") : ""));
    lines.append(inside.text());
    lines.indent();
  }

  /// What is left to the user may stay unused.
  std::string unused() const { return is_template_ ? "[[maybe_unused]] " : ""; }

  static void close(Lines& lines) {
    lines.outdent();
    lines.add("};");
  }

  void hold(const Footprint& array, const std::string& box, Lines& lines) const {
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

  /// What a user is to write, in words.
  void leave_open(Lines& lines, const char* what, bool of_sent) const {
    for (const Footprint& array : arrays_)
      if (of_sent ? array.is_sent : array.is_written)
        lines.comment(fmt::format("{} {}", what, described(array)));
  }

  void write_serialise(Lines& lines, bool is_template) const {
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

  bool has_room_to_make() const {
    return std::any_of(arrays_.begin(), arrays_.end(),
                       [](const Footprint& array) { return array.is_written && !array.is_sent; });
  }

  /// Room for what is written only; all else lies where it was sent to.
  void write_make_room(Lines& lines) const {
    Lines body(columns_ + 2);
    for (const Footprint& array : arrays_)
      if (array.is_written && !array.is_sent) hold(array, box_of(array, "out"), body);
    finish("make_room", body, lines, false);
  }

  /// What is declared outside of the nest and named in it.
  std::vector<std::string> names_from_outside() const {
    std::set<std::string> names;
    const std::vector<Token> all = tokens();
    for (const Variable& variable : marked_.function->variables) {
      const bool is_inside =
          variable.frame && variable.frame->is_within(marked_.outermost().frame->parent);
      for (std::size_t t = 0; t < all.size() && !is_inside; ++t)
        if (all[t] == variable.name && !is_member(all, t)) names.insert(variable.name);
    }
    return {names.begin(), names.end()};
  }

  void write_kernel(Lines& lines, bool is_template) const {
    Lines body(columns_ + 2);
    if (is_template) {
      body.comment("Compute the slice in its buffers, of what is named here.");
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
    finish("kernel", body, lines, true,
           with_sizes(bounded_nest(source_, marked_, suffix_, columns_ + 2)));
  }

  /// A size is one of the whole array, not of a buffer.
  std::string with_sizes(std::string nest) const {
    for (const std::string& array : sized_)
      for (const char* size : {".extent(", ".size("}) {
        const std::string old = array + size, fresh = name(array + "_whole") + size;
        for (std::size_t at = nest.find(old); at != nest.npos;
             at = nest.find(old, at + fresh.size())) {
          const bool is_name = at == 0 || !(std::isalnum(nest[at - 1]) || nest[at - 1] == '_' ||
                                            nest[at - 1] == '.' || nest[at - 1] == '>');
          if (is_name) nest.replace(at, old.size(), fresh);
        }
      }
    return nest;
  }

  void write_deserialise(Lines& lines, bool is_template) const {
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

  void finish(const std::string& part, const Lines& body, Lines& lines, bool is_kernel,
              const std::string& nest = {}) const {
    open(lines, part, body.text() + nest, is_kernel);
    lines.append(body.text() + nest);
    close(lines);
  }

  void write_loop(Lines& lines) const {
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

  // --- On a GPU

  void write_on_device(Lines& lines) {
    if (is_template_) refuse(marked_.outermost().line, "device(cuda) has no --template");
    if (!marked_.function->is_free)
      refuse(marked_.outermost().line, "a kernel is made of a nest in a function, not in a method");
    for (const std::string& array : sized_)
      refuse(marked_.outermost().line,
             fmt::format("a size of `{}` is used within the nest, and a kernel has numbers only; "
                         "name it in front of the nest",
                         array));
    check_for_device();
    write_device_boxes(lines);
    write_sending(lines);
    write_launch(lines);
    write_fetching(lines);
    write_device_loop(lines);
    put(lines);
    rewriting_.insert(rewriting_.place_above(marked_.function->range.first), kernel_function());
    for (const char* header : {"cuda_runtime.h", "stdexcept"}) rewriting_.include(header);
    rewriting_.need(device_prelude);
  }

  /// Functions of the host cannot be called from a kernel, but for those of CUDA's own.
  void check_for_device() const {
    static const std::set<std::string> known{
        "for",  "if",   "while", "sizeof", "static_cast", "sqrt",  "exp",     "log",
        "sin",  "cos",  "tan",   "fabs",   "pow",         "fma",   "hypot",   "tanh",
        "fmin", "fmax", "floor", "ceil",   "exp2",        "round", "copysign"};
    static const std::set<std::string> types{"size_t",  "ptrdiff_t", "int32_t",
                                             "int64_t", "uint32_t",  "uint64_t"};
    const std::vector<std::string> outside = names_from_outside();
    const std::vector<Token> all = tokens();
    for (std::size_t t = 0; t + 1 < all.size(); ++t) {
      const std::string& word = all[t].text;
      const bool is_array = std::any_of(arrays_.begin(), arrays_.end(), [&](const Footprint& each) {
        return word == each.array->name;
      });
      const bool is_name = std::isalpha(static_cast<unsigned char>(word[0])) || word[0] == '_';
      if (is_name && all[t + 1] == "(" && !is_array && !known.contains(word))
        refuse(all[t].line, fmt::format("a kernel cannot call `{}`, a function of the host", word));
      const std::string& behind = all[t + 1].text;
      const bool is_object = (behind == "." || behind == "->") && !is_member(all, t);
      if (is_object && std::any_of(outside.begin(), outside.end(),
                                   [&](const std::string& each) { return each == word; }))
        refuse(all[t].line, fmt::format("`{}` is an object, and a kernel is given numbers", word));
      if (t > 0 && all[t] == "::" && !known.contains(behind) && !types.contains(behind))
        refuse(all[t].line, fmt::format("a kernel cannot use `{}::{}`", all[t - 1].text, behind));
    }
  }

  std::string written(Range range) const {
    return std::string(source_.text().substr(range.first, range.last - range.first));
  }
  std::string condition_of(const Cut& cut) const { return written(cut.condition); }

  std::string device_box(const Footprint& array) const {
    const std::string box = name(array.array->name + "_box");
    return marked_.buffers > 1 ? fmt::format("{}[{} % {}]", box, name("e"), marked_.buffers) : box;
  }
  std::string stream(const std::string& e) const {
    return name("stream") +
           (marked_.buffers > 1 ? fmt::format("[{} % {}]", e, marked_.buffers) : "");
  }

  void write_device_boxes(Lines& lines) const {
    const auto add = [&](const std::string& type, const std::string& named) {
      lines.add(marked_.buffers > 1
                    ? fmt::format("std::array<{}, {}> {};", type, marked_.buffers, named)
                    : fmt::format("{} {};", type, named));
    };
    for (const Footprint& array : arrays_) {
      const std::string& named = array.array->name;
      const std::vector<std::string> zeros(array.box.size(), "0");
      const bool is_line = array.subscripts == Subscripts::line;
      add(fmt::format("sliced::Box<decltype({}), {}{}>",
                      is_line ? named + "[0]" : element_of(array, named, zeros, true), zeros.size(),
                      is_line ? ", true" : ""),
          name(named + "_box"));
    }
    add("sliced::Stream", name("stream"));  // ends before the boxes do
  }

  void write_sending(Lines& lines) const {
    Lines body(columns_ + 2);
    for (const Footprint& array : arrays_) {
      const std::string box = device_box(array);
      hold(array, box, body);
      if (!array.is_sent) continue;
      const std::string room = name(array.array->name + "_in");
      body.add(fmt::format("const auto {} = {}.on_host();", room, box));
      slicer::write(
          array.sent,
          [&](const std::vector<std::string>& at) {
            return fmt::format("{} = {};", room_element(array, room, at),
                               element_of(array, array.array->name, at, true));
          },
          body);
      body.add(fmt::format("{}.send({});", box, stream(name("e"))));
    }
    finish("serialise", body, lines, false);
  }

  std::string room_element(const Footprint& array, const std::string& room,
                           const std::vector<std::string>& at) const {
    return array.subscripts == Subscripts::brackets
               ? element_of(array, room, at, false)
               : fmt::format("{}({})", room, fmt::join(at, ", "));
  }

  static std::string axis(std::size_t cut, std::size_t cuts) {
    return std::string(1, "xyz"[cuts - 1 - cut]);
  }

  void write_launch(Lines& lines) const {
    static const std::vector<std::vector<int>> shapes{{256}, {32, 8}, {32, 4, 2}};
    const std::vector<int>& shape = shapes[marked_.cuts.size() - 1];
    std::vector<std::string> blocks, arguments;
    for (std::size_t x = 0; x < shape.size(); ++x) {
      const std::string& of = marked_.cuts[shape.size() - 1 - x].name;
      blocks.push_back(fmt::format("sliced::blocks_for({} - {}, {})", name(of + "_end"),
                                   name(of + "_begin"), shape[x]));
    }
    for (const Footprint& array : arrays_) arguments.push_back(device_box(array) + ".on_device()");
    for (const std::string& number : numbers_of_kernel()) arguments.push_back(number);
    for (const Cut& cut : marked_.cuts) {
      arguments.push_back(name(cut.name + "_begin"));
      arguments.push_back(name(cut.name + "_end"));
    }
    Lines body(columns_ + 2);
    body.add(fmt::format("const dim3 {}({});", name("block"), fmt::join(shape, ", ")));
    body.call("const dim3 " + name("grid"), blocks);
    body.call(fmt::format("{}{}<<<{}, {}, 0, {}>>>", name("slice_of_" + marked_.function->name),
                          template_arguments(), name("grid"), name("block"), stream(name("e"))),
              arguments);
    body.add("sliced::check(cudaGetLastError());");
    for (const Footprint& array : arrays_)
      if (array.is_written)
        body.add(fmt::format("{}.fetch({});", device_box(array), stream(name("e"))));
    body.add(stream(name("e")) + ".end_slice();");
    finish("kernel", body, lines, true);
  }

  void write_fetching(Lines& lines) const {
    Lines body(columns_ + 2);
    body.add(stream(name("e")) + ".wait();");
    for (const Footprint& array : arrays_) {
      if (!array.is_written) continue;
      const std::string room = name(array.array->name + "_out");
      body.add(fmt::format("const auto {} = {}.on_host();", room, device_box(array)));
      slicer::write(
          array.fetched,
          [&](const std::vector<std::string>& at) {
            return fmt::format("{} = {};", element_of(array, array.array->name, at, true),
                               room_element(array, room, at));
          },
          body);
    }
    finish("deserialise", body, lines, false);
  }

  void write_device_loop(Lines& lines) const {
    if (marked_.buffers < 2) return write_loop(lines);
    std::vector<std::string> factors;
    for (const Cut& cut : marked_.cuts) factors.push_back(name(cut.name + "_cut") + ".slices");
    const std::string e = name("e");
    const std::string all = fmt::format("{}", fmt::join(factors, " * "));
    lines.comment("While the GPU has a slice, the host serialises the next one.");
    lines.loop(fmt::format("long {} = 0", e), fmt::format("{} <= {}", e, all), "++" + e, " {");
    lines.indent();
    lines.add(fmt::format("if ({0} < {1}) {2}({0}), {3}({0});", e, all, name("serialise"),
                          name("kernel")));
    lines.add(fmt::format("if ({0} > 0) {1}({0} - 1);", e, name("deserialise")));
    lines.outdent();
    lines.add("}");
  }

  /// What a kernel is given besides rooms of elements: numbers that it names.
  std::vector<std::string> numbers_of_kernel() const {
    std::set<std::string> words;
    std::string word;
    for (const char c : nest_of_threads()) {
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
        word += c;
      } else {
        words.insert(word);
        word.clear();
      }
    }
    std::vector<std::string> numbers = names_from_outside();
    std::erase_if(numbers, [&](const std::string& each) {
      return !words.contains(each) ||
             std::any_of(arrays_.begin(), arrays_.end(),
                         [&](const Footprint& array) { return array.array->name == each; });
    });
    return numbers;
  }

  /// The parameters of the function's template, as they are written, and their names.
  std::pair<std::string, std::vector<std::string>> template_parameters() const {
    const std::vector<Token> all = source_.tokens(marked_.function->range);
    std::vector<std::string> names;
    if (all.size() < 2 || !(all[0] == "template")) return {"", names};
    std::size_t t = 2;
    for (int depth = 1; t < all.size(); ++t) {
      depth += (all[t] == "<") - (all[t] == ">");
      if (depth == 0 || (depth == 1 && all[t] == ",")) names.push_back(all[t - 1].text);
      if (all[t] == "..." || all[t] == "=")
        refuse(all[t].line, "a kernel is made of a template with plain parameters only");
      if (depth == 0) break;
    }
    return {written({all[1].range.last, all[t].range.first}), names};
  }

  std::string template_arguments() const {
    const auto names = template_parameters().second;
    return names.empty() ? "" : fmt::format("<{}>", fmt::join(names, ", "));
  }

  /// The nest as a kernel: each thread has the iterations from its own on, a grid apart.
  std::string kernel_function() const {
    std::vector<std::string> types, parameters;
    if (const std::string own = template_parameters().first; !own.empty()) types.push_back(own);
    const auto add = [&](const std::string& variable) {
      types.push_back("typename Of_" + variable);
      parameters.push_back(fmt::format("Of_{0} {0}", variable));
    };
    for (const Footprint& array : arrays_) add(array.array->name);
    for (const std::string& number : numbers_of_kernel()) add(number);
    for (const Cut& cut : marked_.cuts)
      for (const char* part : {"_begin", "_end"})
        parameters.push_back(fmt::format("{} {}", cut.type, name(cut.name + part)));
    Lines lines;
    lines.comment(
        fmt::format("The nest of `{}`: a thread has each iteration that lies a multiple of "
                    "the grid behind its own.",
                    marked_.function->name),
        "///");
    const std::string head =
        fmt::format("template <{}>\n__global__ void {}({}) {{", fmt::join(types, ", "),
                    name("slice_of_" + marked_.function->name), fmt::join(parameters, ", "));
    return lines.text() + moved(head, 0) + nest_of_threads() + "}\n\n";
  }

  /// The nest with loops that go a grid further each time.
  std::string nest_of_threads() const {
    const Range nest = marked_.nest;
    std::string text;
    unsigned at = nest.first;
    for (std::size_t c = 0; c < marked_.cuts.size(); ++c) {
      const Cut& cut = marked_.cuts[c];
      text += written({at, cut.loop->range.first});
      const std::string x = axis(c, marked_.cuts.size());
      const std::string begin = name(cut.name + "_begin"), end = name(cut.name + "_end");
      const std::string first = cut.is_fixed ? begin
                                             : fmt::format("sliced::larger<{}>({}, {})", cut.type,
                                                           written(cut.first), begin);
      const std::string condition = cut.is_fixed ? "" : fmt::format("({}) && ", condition_of(cut));
      text += fmt::format(
          "for ({0} {1} = {2} + static_cast<{0}>(blockIdx.{5} * blockDim.{5} + threadIdx.{5}); "
          "{3}{1} < {4}; {1} += static_cast<{0}>(gridDim.{5} * blockDim.{5}))",
          cut.type, cut.name, first, condition, end, x);
      at = cut.body.first;
    }
    text += written({at, nest.last});
    return moved(std::string(columns_, ' ') + text, 0);
  }

  Rewriting& rewriting_;
  const Source& source_;
  const Marked& marked_;
  std::string suffix_;
  Footprints footprints_;
  std::size_t columns_;
  std::vector<Footprint> arrays_;
  bool is_template_ = false;
  std::set<std::string> sized_;  ///< arrays of which the nest uses a size
};

}  // namespace

void write_transfers(Rewriting& rewriting, const Marked& marked, bool is_template) {
  Transfers(rewriting, marked).write(is_template);
}

}  // namespace slicer
