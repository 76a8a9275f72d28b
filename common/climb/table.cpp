#include "table.hpp"

#include <fmt/color.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace staircase {
namespace {

std::string factor_text(double factor) {
  if (factor == 0) return "";
  return fmt::format("{:.{}f}", factor, factor < 99.995 ? 2 : 0);
}

std::string share_text(double share) {
  return share == 0 ? "" : fmt::format("{:.3g} %", 100 * share);
}

std::string lines_text(const std::optional<LinesChanged>& lines) {
  return lines ? fmt::format("+{} -{}", lines->added, lines->removed) : "";
}

/// Shortens a text to a number of ASCII columns.
std::string fit(const std::string& text, int columns) {
  if (std::ssize(text) <= columns) return text;
  return text.substr(0, static_cast<std::size_t>(std::max(columns - 3, 0))) + "...";
}

/// What the table says behind a stage and its idea.
struct Column {
  const char* title;
  int width;
  std::string (*text)(const Row&);
};

constexpr Column all_columns[] = {
    {"time", 9,
     [](const Row& row) { return row.checked() ? "checked" : time_text(row.outcome.median()); }},
    {"spread", 6,
     [](const Row& row) {
       return row.checked() ? "" : fmt::format("{:.1f} %", 100 * row.outcome.seconds().spread());
     }},
    {"in all", 9,
     [](const Row& row) {
       const auto in_all = row.checked() ? std::nullopt : row.outcome.in_all();
       return in_all ? time_text(*in_all) : "";
     }},
    {"x 00", 6, [](const Row& row) { return factor_text(row.over_zero); }},
    {"x step", 6, [](const Row& row) { return factor_text(row.over_step); }},
    {"of limit", 8, [](const Row& row) { return share_text(row.of_limit); }},
    {"of copy", 8, [](const Row& row) { return share_text(row.of_copy); }},
    {"error", 10, [](const Row& row) { return error_text(row.outcome); }},
    {"sectors", 11, [](const Row& row) { return row.sectors ? sectors_text(*row.sectors) : ""; }},
    {"lines", 9, [](const Row& row) { return lines_text(row.lines); }}};

/// The columns that say something of one row at least.
std::vector<Column> columns_of(const std::vector<Row>& rows) {
  std::vector<Column> columns;
  for (const Column& column : all_columns)
    if (std::any_of(rows.begin(), rows.end(),
                    [&](const Row& row) { return row.outcome.ran() && !column.text(row).empty(); }))
      columns.push_back(column);
  return columns;
}

std::string line_of(const Row& row, int stage_width, int idea_width,
                    const std::vector<Column>& columns) {
  const Outcome& outcome = row.outcome;
  std::string line = fmt::format("{:<{}}  {:<{}}", outcome.program.stage, stage_width,
                                 fit(outcome.program.text("idea"), idea_width), idea_width);
  if (!outcome.ran())
    return fmt::format("{}  {}: {}", line, name_of(outcome.verdict), outcome.reason);
  for (const Column& column : columns)
    line += fmt::format("  {:>{}}", column.text(row), column.width);
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

/// What the words mean that only rows of the CPU device have.
std::string notes(const std::vector<Row>& rows) {
  const auto checked = std::find_if(rows.begin(), rows.end(), std::mem_fn(&Row::checked));
  if (checked == rows.end()) return "";
  std::string text = fmt::format(
      "\nchecked: run on the CPU device with the data set {}, held to {}, not timed\n",
      checked->outcome.record.at("dataset").get<std::string>(), checked->outcome.reference);
  if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.sectors.has_value(); }))
    text +=
        "sectors: of 32 bytes, moved by a request to global memory / the fewest that would do\n";
  return text;
}

}  // namespace

std::string time_text(double seconds) {
  const auto [scale, unit] = seconds >= 1      ? std::pair(1.0, "s")
                             : seconds >= 1e-3 ? std::pair(1e3, "ms")
                                               : std::pair(1e6, "us");
  const double value = seconds * scale;
  return fmt::format("{:.{}f} {}", value, value < 10 ? 3 : value < 100 ? 2 : 1, unit);
}

std::string error_text(const Outcome& outcome) {
  if (outcome.verdict == Verdict::reference)
    return outcome.reference == stage_zero ? stage_zero : "reference";
  if (outcome.verdict == Verdict::differs) return "DIFFERS";
  return outcome.error == 0 ? "exact" : fmt::format("{:.1e}", outcome.error);
}

std::string sectors_text(const Sectors& sectors) {
  return fmt::format("{:.1f} / {:.1f}", sectors.moved / sectors.requests,
                     sectors.ideal / sectors.requests);
}

std::string render_table(const std::string& heading, const std::vector<Row>& rows, int width,
                         bool colour) {
  int stage_width = 5, idea_width = 4;
  for (const Row& row : rows) {
    stage_width = std::max(stage_width, static_cast<int>(row.outcome.program.stage.size()));
    idea_width = std::max(idea_width, static_cast<int>(row.outcome.program.text("idea").size()));
  }
  const std::vector<Column> columns = columns_of(rows);
  int fixed_width = stage_width + 2;
  std::string titles;
  for (const Column& column : columns) {
    fixed_width += 2 + column.width;
    titles += fmt::format("  {:>{}}", column.title, column.width);
  }
  idea_width = std::min(idea_width, std::max(width - fixed_width, 10));
  const std::string rule(static_cast<std::size_t>(fixed_width + idea_width), '-');

  std::string text = heading;
  text += fmt::format(colour ? fmt::emphasis::bold : fmt::text_style(), "{:<{}}  {:<{}}{}\n",
                      "stage", stage_width, "idea", idea_width, titles);
  text += rule + "\n";
  bool under_rule = false;
  for (const Row& row : rows) {
    if (row.outcome.program.is_yardstick() && !std::exchange(under_rule, true)) text += rule + "\n";
    const auto style = !colour || row.outcome.solved() ? fmt::text_style()
                       : row.outcome.verdict == Verdict::not_available
                           ? fg(fmt::terminal_color::yellow)
                           : fg(fmt::terminal_color::red);
    text += fmt::format(style, "{}", line_of(row, stage_width, idea_width, columns)) + "\n";
  }
  for (const Row& row : rows)
    if (row.outcome.verdict == Verdict::differs)
      text += fmt::format("{} differs from {}: {}\n", row.outcome.program.stage,
                          row.outcome.reference, row.outcome.reason);
  return text + notes(rows);
}

}  // namespace staircase
