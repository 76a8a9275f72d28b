#include "table.hpp"

#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "terminal.hpp"

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

/// Shortens a text to at most `columns` columns. The cut is between two words, unless the first
/// word is too long.
std::string fit(std::string text, int columns) {
  if (width_of(text) <= columns) return text;
  std::size_t end = text.size();
  for (int width = width_of(text); width > columns - 3; --end)
    if ((text[end - 1] & 0xc0) != 0x80) --width;
  if (const std::size_t space = text.rfind(' ', end); space != std::string::npos) end = space;
  text.resize(end);
  return text + "...";
}

/// The entry of a row in the column *time*.
std::string time_entry(const Row& row) {
  if (row.timed()) return time_text(row.outcome.median());
  if (row.checked()) return "checked";
  return row.outcome.verdict == Verdict::failed ? "failed" : "n/a";
}

std::string spread_entry(const Row& row) {
  return row.timed() ? fmt::format("{:.1f} %", 100 * row.outcome.seconds().spread()) : "";
}

std::string total_entry(const Row& row) {
  const auto total = row.timed() ? row.outcome.total_seconds() : std::nullopt;
  return total ? time_text(*total) : "";
}

/// A ratio from this run or, if the row shows a recorded time, the same ratio from the recording.
template <double Row::*here, double Recorded::*recorded>
double figure(const Row& row) {
  return row.recorded ? *row.recorded.*recorded : row.*here;
}

}  // namespace

/// A column of the table, other than the columns for the stage and its idea.
struct Column {
  const char* title;
  int width;
  int importance;                   ///< least important columns are dropped first
  bool TableContents::*shown;       ///< whether any row has an entry; null: always shown
  std::string (*text)(const Row&);  ///< returns the entry of a row
  const char* group = "";           ///< common title above neighbouring columns
};

namespace {

constexpr bool TableContents::*always = nullptr;
constexpr int indispensable = 10;  // importance of columns that are never dropped
constexpr const char* speed_up = "speed-up over";

constexpr Column all_columns[] = {
    {"time", 9, indispensable, always, time_entry},
    {"spread", 6, 2, &TableContents::times, spread_entry},
    {"total", 9, 3, &TableContents::totals, total_entry},
    {"recorded", 8, 9, &TableContents::recorded,
     [](const Row& row) { return row.recorded ? time_text(row.recorded->median) : ""; }},
    {"00", 6, 8, &TableContents::over_zero,
     [](const Row& row) { return factor_text(figure<&Row::over_zero, &Recorded::over_zero>(row)); },
     speed_up},
    {"previous", 8, 7, &TableContents::over_previous,
     [](const Row& row) {
       return factor_text(figure<&Row::over_previous, &Recorded::over_previous>(row));
     },
     speed_up},
    {"% of peak", 9, 6, &TableContents::of_peak,
     [](const Row& row) { return share_text(figure<&Row::of_peak, &Recorded::of_peak>(row)); }},
    {"% of copy", 9, 1, &TableContents::of_copy,
     [](const Row& row) { return share_text(row.of_copy); }},
    {"error", 10, indispensable, always,
     [](const Row& row) { return row.outcome.ran() ? error_text(row.outcome) : ""; }},
    {"sectors", 11, 4, &TableContents::sectors,
     [](const Row& row) { return row.sectors ? sectors_text(*row.sectors) : ""; }},
    {"lines", 9, 5, &TableContents::lines, [](const Row& row) { return lines_text(row.lines); }}};

/// The columns of a table, in order. The least important columns are dropped until the remaining
/// columns fit into `width`.
std::vector<const Column*> columns_within(const TableContents& contents, int width) {
  std::vector<const Column*> columns;
  for (const Column& column : all_columns)
    if (column.shown == always || contents.*column.shown) columns.push_back(&column);
  const auto needed = [&] {
    int sum = 0;
    for (const Column* column : columns) sum += 2 + column->width;
    return sum;
  };
  while (needed() > width) {
    const auto least = std::min_element(
        columns.begin(), columns.end(),
        [](const Column* a, const Column* b) { return a->importance < b->importance; });
    if ((*least)->importance == indispensable) break;
    columns.erase(least);
  }
  return columns;
}

/// A line about stages that did not run, or that failed the check, for the same reason.
std::string reason_text(const Outcome& outcome, const std::vector<std::string>& stages) {
  const std::string names = fmt::format("{}", fmt::join(stages, ", "));
  if (outcome.verdict == Verdict::differs)
    return fmt::format("{} differs from {}: {}\n", names, outcome.reference, outcome.reason);
  if (outcome.verdict == Verdict::failed)
    return fmt::format("{} failed: {}\n", names, outcome.reason);
  return fmt::format("{} {} {}: {}\n", names, stages.size() == 1 ? "is" : "are",
                     name_of(outcome.verdict), outcome.reason);
}

/// One line for each reason why stages did not run or failed the check. Neighbouring stages share a
/// line.
std::string reasons(const std::vector<Row>& rows) {
  std::string text;
  for (auto row = rows.begin(); row != rows.end();) {
    const Outcome& outcome = row->outcome;
    std::vector<std::string> stages;
    for (; row != rows.end() && row->outcome.verdict == outcome.verdict &&
           row->outcome.reason == outcome.reason;
         ++row)
      stages.push_back(row->outcome.program.stage);
    if (!outcome.solved()) text += reason_text(outcome, stages);
  }
  return text;
}

/// The GPU and the dates of the recorded times, for example "an NVIDIA H200, 2026-11-21 to
/// 2026-11-22".
std::string origin(const std::vector<Row>& rows) {
  std::set<std::string> gpus, dates;
  for (const Row& row : rows) {
    if (!row.recorded) continue;
    gpus.insert(row.recorded->gpu);
    dates.insert(row.recorded->date);
  }
  if (dates.empty()) return "";
  std::string text = fmt::format("an {}, {}", fmt::join(gpus, ", an "), *dates.begin());
  if (dates.size() > 1) text += fmt::format(" to {}", *dates.rbegin());
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

Table::Table(const TableContents& contents, int width, bool colour) : colour_(colour) {
  for (const Program& program : contents.programs) {
    stage_width_ = std::max(stage_width_, static_cast<int>(program.stage.size()));
    idea_width_ = std::max(idea_width_, width_of(program.text("idea")));
  }
  columns_ = columns_within(contents, width - stage_width_);
  int room = width - stage_width_ - 2;
  for (const Column* column : columns_) room -= 2 + column->width;
  constexpr int least_idea = 12;
  idea_width_ = room < std::min(idea_width_, least_idea) ? 0 : std::min(idea_width_, room);
}

std::string Table::rule() const {
  int width = stage_width_ + (idea_width_ > 0 ? 2 + idea_width_ : 0);
  for (const Column* column : columns_) width += 2 + column->width;
  return std::string(static_cast<std::size_t>(width), '-') + "\n";
}

std::string Table::head() const {
  const auto style = colour_ ? fmt::emphasis::bold : fmt::text_style();
  std::string groups, titles = fmt::format("{:<{}}", "stage", stage_width_);
  if (idea_width_ > 0) titles += fmt::format("  {:<{}}", "idea", idea_width_);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = *columns_[c];
    titles += fmt::format("  {:>{}}", column.title, column.width);
    const std::string_view group = column.group;
    const bool ends = c + 1 == columns_.size() || columns_[c + 1]->group != group;
    if (ends && !group.empty())
      groups += fmt::format("{:>{}}", group, titles.size() - groups.size());
  }
  return (groups.empty() ? "" : fmt::format(style, "{}", groups) + "\n") +
         fmt::format(style, "{}", titles) + "\n" + rule();
}

std::string Table::entries(const Row& row) const {
  const Program& program = row.outcome.program;
  std::string line = fmt::format("{:<{}}", program.stage, stage_width_);
  if (idea_width_ > 0)
    line += fmt::format("  {:<{}}", fit(program.text("idea"), idea_width_), idea_width_);
  for (const Column* column : columns_)
    line += fmt::format("  {:>{}}", column->text(row), column->width);
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

std::string Table::line(const Row& row) {
  const Outcome& outcome = row.outcome;
  const bool first = outcome.program.is_baseline() && !std::exchange(under_rule_, true);
  const auto style = !colour_ || outcome.solved() ? fmt::text_style()
                     : outcome.refused()          ? fg(fmt::terminal_color::yellow)
                                                  : fg(fmt::terminal_color::red);
  return (first ? rule() : "") + fmt::format(style, "{}", entries(row)) + "\n";
}

std::string Table::notes(const std::vector<Row>& rows) const {
  std::string text = reasons(rows);
  std::string meanings;
  const auto checked = std::find_if(rows.begin(), rows.end(), std::mem_fn(&Row::checked));
  if (checked != rows.end())
    meanings += fmt::format(
        "checked: run on the CPU device with the data set {}, checked against {}, not timed\n",
        checked->outcome.record.at("dataset").get<std::string>(), checked->outcome.reference);
  if (const std::string from = origin(rows); !from.empty())
    meanings += fmt::format(
        "recorded on {}; speed-ups and percentages in such a row are from that recording\n", from);
  if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.sectors.has_value(); }))
    meanings += "sectors: of 32 bytes, moved per request to global memory / the fewest possible\n";
  return text + (meanings.empty() ? "" : "\n" + meanings);
}

}  // namespace staircase
