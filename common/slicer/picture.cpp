#include "picture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <staircase/error.hpp>

#include "footprints.hpp"
#include "marked.hpp"

namespace slicer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t columns = 120;  ///< shorter objects are written on one line
constexpr long most_size = 64;

/// Joins the parts of a list, with several short parts per line.
std::string lines_of(const std::vector<std::string>& parts, const std::string& indent) {
  std::string text;
  std::size_t used = 0;
  for (const std::string& part : parts) {
    const bool is_short = part.size() < 20 && part.find('\n') == part.npos;
    const bool goes_on = is_short && used > 0 && used + part.size() + 2 < columns;
    text += text.empty() ? indent : goes_on ? ", " : ",\n" + indent;
    text += part;
    used = !is_short ? 0 : goes_on ? used + part.size() + 2 : indent.size() + part.size();
  }
  return text;
}

/// JSON text in which each object that is short enough is on one line.
std::string text_of(const Json& json, std::size_t indent = 0) {
  const std::string whole = json.dump();
  if (!json.is_structured() || indent + whole.size() < columns) return whole;
  std::vector<std::string> parts;
  for (const auto& [key, value] : json.items())
    parts.push_back((json.is_object() ? Json(key).dump() + ": " : "") + text_of(value, indent + 2));
  const std::string spaces(indent, ' ');
  return fmt::format("{}\n{}\n{}{}", json.is_object() ? "{" : "[",
                     json.is_object()
                         ? fmt::format("{}  {}", spaces, fmt::join(parts, ",\n  " + spaces))
                         : lines_of(parts, spaces + "  "),
                     spaces, json.is_object() ? "}" : "]");
}

// --- Dependences

/// The last write of a cell, and the reads since then.
struct Last {
  const Event* write = nullptr;
  std::vector<const Event*> reads;
};

Json json_of(const char* kind, const Event& source, const Event& sink) {
  return {{"kind", kind},
          {"array", sink.cell.name},
          {"element", sink.cell.element},
          {"source", {source.statement, source.point}},
          {"sink", {sink.statement, sink.point}}};
}

/// The dependences between points that other dependences do not imply. A read depends on the last
/// write. A write depends on the reads since the last write, or on that write if there are none.
Json arrows_of(const Instance& instance) {
  Json arrows = Json::array();
  std::map<Cell, Last> memory;
  std::set<std::string> known;
  const auto add = [&](const char* kind, const Event& source, const Event& sink) {
    if (source.statement == sink.statement && source.point == sink.point) return;
    Json arrow = json_of(kind, source, sink);
    if (known.insert(arrow.dump()).second) arrows.push_back(std::move(arrow));
  };
  for (const Event& event : instance.events) {
    Last& last = memory[event.cell];
    if (!event.access->is_write) {
      if (last.write) add("flow", *last.write, event);
      last.reads.push_back(&event);
      continue;
    }
    for (const Event* read : last.reads) add("anti", *read, event);
    if (last.write && last.reads.empty()) add("output", *last.write, event);
    last = {&event, {}};
  }
  return arrows;
}

// --- Slices

/// The slices of one loop of the instance: a digit of the slice index e, which is a number in mixed
/// radix.
struct Digit {
  const Cut* cut;
  long count, first, last, length;
};

class Slices {
 public:
  Slices(const Marked& marked, const Instance& instance) : marked_(marked), instance_(instance) {
    for (const std::size_t at : marked.digits) {
      const Cut& cut = marked.cuts[at];
      const auto range = instance.extents.find(cut.loop);
      const auto [first, last] =
          range == instance.extents.end() ? std::pair(0L, 0L) : range->second;
      const long count = number_of(cut);
      digits_.push_back({&cut, count, first, last, (last - first + count - 1) / count});
    }
  }

  /// The index e of the slice that contains a point. The first digit changes fastest.
  long number(const StatementPoints& statement, const Point& point) const {
    long e = 0, factor = 1;
    for (const Digit& digit : digits_) {
      const auto at = std::find(statement.loops.begin(), statement.loops.end(), digit.cut->loop) -
                      statement.loops.begin();
      e += factor * ((point[static_cast<std::size_t>(at)] - digit.first) / digit.length);
      factor *= digit.count;
    }
    return e;
  }

  Json json() const {
    Json loops = Json::array(), arrays = Json::array();
    for (const Digit& digit : digits_)
      loops.push_back({{"variable", digit.cut->name},
                       {"slices", digit.count},
                       {"first", digit.first},
                       {"last", digit.last},
                       {"length", digit.length}});
    for (const Footprint& footprint : Footprints(marked_, "").arrays()) {
      Json box = Json::array();
      for (const Extent& side : footprint.box) box.push_back({side.first, side.last});
      arrays.push_back({{"array", footprint.array->name},
                        {"box", box},
                        {"exact", footprint.is_exact},
                        {"sent", footprint.is_sent},
                        {"fetched", footprint.is_written}});
    }
    return {{"line", marked_.directive.line},
            {"loops", loops},
            {"arrays", arrays},
            {"each", touched()}};
  }

 private:
  long number_of(const Cut& cut) const {
    if (cut.is_count) return std::stol(cut.slices);
    const auto size = instance_.sizes.find(cut.slices);
    if (size != instance_.sizes.end()) return size->second;
    throw staircase::BadInput(fmt::format(
        "line {}: for a figure, the slices of `{}` must be a number or a size of the nest, "
        "not `{}`",
        marked_.directive.line, cut.name, cut.slices));
  }

  /// The elements that each slice reads and writes, for arrays that are declared outside the nest.
  Json touched() const {
    std::map<long, std::map<std::string, std::set<Point>>> reads, writes;
    std::set<long> numbers;
    for (const Event& event : instance_.events) {
      const long e = number(instance_.statements[event.statement], event.point);
      numbers.insert(e);
      if (!has_element(event.access->place) || !event.cell.own.empty()) continue;
      (event.access->is_write ? writes : reads)[e][event.cell.name].insert(event.cell.element);
    }
    Json each = Json::array();
    for (const long e : numbers)
      each.push_back({{"number", e}, {"reads", Json(reads[e])}, {"writes", Json(writes[e])}});
    return each;
  }

  const Marked& marked_;
  const Instance& instance_;
  std::vector<Digit> digits_;  ///< the first digit changes fastest
};

// --- Nests

/// A bound as text, in the syntax of the source.
std::string text_of(const Term& term) {
  return term.operation == Operation::constant ? std::to_string(term.value) : term.text;
}

Json json_of(const Loop& loop, const Instance& instance) {
  Json json{{"variable", loop.variable->name},
            {"line", loop.line},
            {"first", text_of(loop.first)},
            {"condition", text_of(loop.condition)},
            {"step", loop.step}};
  if (const auto range = instance.extents.find(&loop); range != instance.extents.end())
    json["extent"] = {range->second.first, range->second.second};
  return json;
}

Json json_of(const StatementPoints& statement, const std::optional<Slices>& slices) {
  Json loops = Json::array(), numbers = Json::array();
  for (const Loop* loop : statement.loops) loops.push_back(loop->variable->name);
  Json json{{"line", statement.line}, {"loops", loops}, {"points", statement.points}};
  if (slices) {
    for (const Point& point : statement.points) numbers.push_back(slices->number(statement, point));
    json["slices"] = numbers;
  }
  return json;
}

Json json_of(const Function& function, const Loop& nest, const Marked* marked,
             std::map<std::string, Given>& sizes) {
  const Instance instance = instance_of(function, nest, sizes);
  const std::optional<Slices> slices =
      marked ? std::optional(Slices(*marked, instance)) : std::nullopt;
  Json loops = Json::array(), statements = Json::array();
  for (const Loop& loop : function.loops)
    if (loop.frame->is_within(nest.frame)) loops.push_back(json_of(loop, instance));
  for (const StatementPoints& statement : instance.statements)
    statements.push_back(json_of(statement, slices));
  Json json{{"function", function.name}, {"line", nest.line},
            {"sizes", instance.sizes},   {"loops", loops},
            {"statements", statements},  {"arrows", arrows_of(instance)}};
  if (slices) json["slices"] = slices->json();
  return json;
}

bool is_outermost(const Loop& loop) {
  for (const Frame* frame = loop.frame->parent; frame; frame = frame->parent)
    if (frame->loop) return false;
  return !loop.is_inlined;
}

/// The nests that pragmas mark. The key of a nest is its outermost loop.
std::map<const Loop*, Marked> marked_by_loop(const Source& source,
                                             const std::list<Function>& functions) {
  std::map<const Loop*, Marked> nests;
  const std::vector<Directive> directives = read_directives(source);
  const bool is_any = std::any_of(directives.begin(), directives.end(),
                                  [](const Directive& each) { return each.what.name == "slice"; });
  if (!is_any) return nests;
  for (const Marked& marked : marked_nests(source, functions)) {
    if (!is_outermost(marked.outermost()))
      throw staircase::BadInput(
          fmt::format("line {}: the nest cannot be drawn: it lies within another loop",
                      marked.outermost().line));
    nests.insert({&marked.outermost(), marked});
  }
  return nests;
}

}  // namespace

std::map<std::string, Given> read_sizes(const std::vector<std::string>& words) {
  std::map<std::string, Given> sizes;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string text = equals == word.npos ? "" : word.substr(equals + 1);
    long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || equals == 0 ||
        value < 1 || value > most_size)
      throw staircase::BadInput(fmt::format(
          "the size '{}' should be a name and a number from 1 to {}, as in n=5", word, most_size));
    if (!sizes.insert({word.substr(0, equals), {value}}).second)
      throw staircase::BadInput(fmt::format("the size '{}' is set twice", word.substr(0, equals)));
  }
  return sizes;
}

std::string picture_of(const std::string& file, const Source& source,
                       const std::list<Function>& functions, std::map<std::string, Given> sizes) {
  const auto marked = marked_by_loop(source, functions);
  Json nests = Json::array();
  for (const Function& function : functions)
    for (const Loop& loop : function.loops) {
      if (!is_outermost(loop)) continue;
      const auto of_loop = marked.find(&loop);
      nests.push_back(
          json_of(function, loop, of_loop == marked.end() ? nullptr : &of_loop->second, sizes));
    }
  if (nests.empty())
    throw staircase::BadInput(fmt::format("the file '{}' has no loop to be drawn", file));
  for (const auto& [name, size] : sizes)
    if (!size.is_used)
      throw staircase::BadInput(fmt::format("no nest of '{}' has a size '{}'", file, name));
  return text_of(Json{{"file", file}, {"nests", nests}}) + "\n";
}

}  // namespace slicer
