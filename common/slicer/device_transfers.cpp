#include "transferring.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "device_prelude.hpp"

namespace slicer {

void Transfers::write_on_device(Lines& lines) {
  if (is_template_) refuse(marked_.outermost().line, "device(cuda) does not support --template");
  if (!marked_.function->is_free)
    refuse(marked_.outermost().line,
           "a kernel can be generated only from a nest in a function, not in a method");
  const std::string nest = nest_of_threads();
  for (const std::string& array : sized_) {
    if (with_size(nest, array) == nest) continue;
    refuse(marked_.outermost().line,
           fmt::format("the nest uses a size of `{}`, but a kernel can receive only numbers; store "
                       "this size in a variable before the nest",
                       array));
  }
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

std::string Transfers::device_box(const Footprint& array) const {
  const std::string box = name(array.array->name + "_box");
  return marked_.buffers > 1 ? fmt::format("{}[{} % {}]", box, name("e"), marked_.buffers) : box;
}

std::string Transfers::stream(const std::string& e) const {
  return name("stream") + (marked_.buffers > 1 ? fmt::format("[{} % {}]", e, marked_.buffers) : "");
}

void Transfers::write_device_boxes(Lines& lines) const {
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
  add("sliced::Stream", name("stream"));  // destroyed before the boxes, after waiting for its
                                          // copies
}

void Transfers::write_sending(Lines& lines) const {
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

std::string Transfers::room_element(const Footprint& array, const std::string& room,
                                    const std::vector<std::string>& at) const {
  return array.subscripts == Subscripts::brackets
             ? element_of(array, room, at, false)
             : fmt::format("{}({})", room, fmt::join(at, ", "));
}

void Transfers::write_launch(Lines& lines) const {
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

void Transfers::write_fetching(Lines& lines) const {
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

void Transfers::write_device_loop(Lines& lines) const {
  if (marked_.buffers < 2) return write_loop(lines);
  std::vector<std::string> factors;
  for (const Cut& cut : marked_.cuts) factors.push_back(name(cut.name + "_cut") + ".slices");
  const std::string e = name("e");
  const std::string all = fmt::format("{}", fmt::join(factors, " * "));
  lines.comment("While the GPU computes a slice, the host serialises the next one.");
  lines.loop(fmt::format("long {} = 0", e), fmt::format("{} <= {}", e, all), "++" + e, " {");
  lines.indent();
  lines.add(
      fmt::format("if ({0} < {1}) {2}({0}), {3}({0});", e, all, name("serialise"), name("kernel")));
  lines.add(fmt::format("if ({0} > 0) {1}({0} - 1);", e, name("deserialise")));
  lines.outdent();
  lines.add("}");
}

}  // namespace slicer
