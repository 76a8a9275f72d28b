#include "ladder.hpp"

#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <harness/file.hpp>
#include <harness/machine.hpp>
#include <harness/process.hpp>
#include <staircase/error.hpp>

namespace staircase {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// The settings for the CPU device: a single solve of the reduced data set. If the user selected
/// the CPU device by name, the chosen data set is solved instead.
RunSettings settings_for_cpu_device(RunSettings settings, const Options& options) {
  if (options.device != "cpu-device") {
    settings.dataset = reduced_dataset;
    settings.assignments.clear();
    settings.reference_assignments.clear();
    settings.inputs.clear();
  }
  settings.repeat = 1;
  settings.warmup = 0;
  return settings;
}

/// The names of input files without directories, for example "a.npy and b.npy".
std::string file_names(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const auto& path : paths) names.push_back(fs::path(path).filename());
  return fmt::format("{}", fmt::join(names, " and "));
}

/// The program of the reference stage. If the stage has a program for the GPU and another for the
/// CPU device, `on_cpu_device` selects between them.
Program reference_program(const std::vector<Program>& all, const Options& options,
                          bool on_cpu_device) {
  const auto programs = select_reference(all, options.reference);
  const auto fitting = std::find_if(programs.begin(), programs.end(), [&](const Program& program) {
    return program.on_cpu_device() == on_cpu_device;
  });
  return fitting == programs.end() ? programs.front() : *fitting;
}

}  // namespace

Ladder::Ladder(const std::vector<Program>& all, const Options& options, RunSettings settings,
               const Ceilings& ceilings, const Recordings& recordings)
    : all_(all),
      options_(options),
      settings_(std::move(settings)),
      ceilings_(ceilings),
      recordings_(recordings),
      measurement_(all.front(), reference_program(all, options, false), settings_,
                   [this](const auto& text) { progress_.show(text); }),
      reduced_(all.front(), reference_program(all, options, true),
               settings_for_cpu_device(settings_, options),
               [this](const auto& text) { progress_.show(text); }) {
  chosen_ = chosen_programs(all, options);
  // before() throws if a stage has an invalid line "From:". Checking all stages here ensures that
  // nothing runs in that case.
  for (const Program& program : chosen_) before(program);
}

void Ladder::run(const Print& print) {
  Table table(contents(), columns(), has_colour());
  for (const Program& program : chosen_) {
    add_row(program);
    const bool first = rows_.size() == 1;
    print((first ? heading() + table.head() : "") + table.line(rows_.back()));
  }
  print(broken_for_terminal(table.notes(rows_), 2) + "\n");
}

void Ladder::walk() {
  for (const Program& program : chosen_) {
    write_stdout(introduction(program));
    add_row(program);
    write_stdout(broken_for_terminal(verdict_text(rows_.back()), 9));
    const bool last = program.path == chosen_.back().path;
    if (!last && !wait_for_key("Any key for the next stage, q to stop: ")) return;
  }
}

Json Ladder::json() const {
  Json records = Json::array();
  for (const Row& row : rows_) {
    const Outcome& outcome = row.outcome;
    Json record = outcome.record;
    if (!record.is_object())
      record = {{"workload", outcome.program.workload}, {"stage", outcome.program.stage}};
    record["verdict"] = name_of(outcome.verdict);
    record["error"] = std::isfinite(outcome.error) ? Json(outcome.error) : Json(nullptr);
    if (!outcome.reason.empty()) record["reason"] = outcome.reason;
    if (row.checked()) {
      record.erase("seconds");
      record.erase("repeats");
    }
    if (row.sectors)
      record["global_accesses"] = {{"requests", row.sectors->requests},
                                   {"sectors", row.sectors->moved},
                                   {"ideal_sectors", row.sectors->ideal}};
    if (row.of_peak > 0) record["of_limit"] = row.of_peak;
    if (row.of_copy > 0) record["of_copy"] = row.of_copy;
    if (row.lines) {
      record["lines_added"] = row.lines->added;
      record["lines_removed"] = row.lines->removed;
    }
    records.push_back(record);
  }
  Json run = {{"workload", all_.front().workload},
              {"dataset", dataset()},
              {"precision", settings_.precision},
              {"reference", measurement_.reference().stage}};
  if (!settings_.reference_assignments.empty())
    run["reference_set"] = settings_.reference_assignments;
  run["records"] = records;
  return run;
}

bool Ladder::all_well() const {
  const auto solved = [](const Row& row) { return row.outcome.solved(); };
  const auto fine = [](const Row& row) { return row.outcome.solved() || row.outcome.refused(); };
  return std::any_of(rows_.begin(), rows_.end(), solved) &&
         std::all_of(rows_.begin(), rows_.end(), fine);
}

bool Ladder::is_custom() const {
  return !settings_.assignments.empty() || !settings_.inputs.empty();
}

std::string Ladder::dataset() const { return is_custom() ? "custom" : settings_.dataset; }

/// Returns the program of a stage for a device, or null if there is none.
const Program* Ladder::find(const std::string& stage, const std::string& device) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Program& p) {
    return p.stage == stage && p.device == device;
  });
  return found == all_.end() ? nullptr : &*found;
}

/// Returns a program of the stage that `program` continues; null if there is none. A stage
/// continues the previous stage, unless the header comment of its source names an earlier stage
/// (*From:*).
/// \throws BadInput if the comment does not name an earlier stage
const Program* Ladder::before(const Program& program) const {
  if (program.is_baseline()) return nullptr;
  const auto of_stage = [&](const std::string& stage) {
    return std::find_if(all_.begin(), all_.end(),
                        [&](const Program& p) { return p.stage == stage; });
  };
  const auto here = of_stage(program.stage);
  const fs::path source = source_of(program);
  const auto named = fs::exists(source) ? continued_stage(source) : std::nullopt;
  if (!named) return here == all_.begin() ? nullptr : &*std::prev(here);
  const auto found = of_stage(*named);
  if (found < here) return &*found;
  const auto earlier = stages_of({all_.begin(), here});
  throw BadInput(
      fmt::format("'{}' has the line 'From: {}', which must name an earlier stage of {}: {}",
                  source.string(), *named, program.workload,
                  earlier.empty() ? "none" : fmt::format("{}", fmt::join(earlier, ", "))));
}

fs::path Ladder::source_of(const Program& program) const {
  return fs::path(options_.source) / program.source;
}

/// The columns that are needed in the table of the chosen stages.
TableContents Ladder::contents() const {
  const Program& zero = all_.front();
  const auto among_chosen = [&](const std::string& stage) {
    return std::any_of(chosen_.begin(), chosen_.end(), [&](const Program& program) {
      return program.stage == stage && program.offers(settings_.precision);
    });
  };
  const bool zero_is_timed =
      (measurement_.reference().path == zero.path && zero.offers(settings_.precision)) ||
      among_chosen(zero.stage);
  TableContents contents{.programs = chosen_};
  for (const Program& program : chosen_) {
    const Program* previous = before(program);
    if (!program.on_cpu_device()) {
      contents.times = contents.of_peak = true;
      contents.totals = contents.totals || program.description().at("timed_phase").is_string();
      contents.over_zero = contents.over_zero || zero_is_timed;
      contents.over_previous =
          contents.over_previous || (previous && among_chosen(previous->stage));
      contents.of_copy = contents.of_copy || (ceilings_.gpu && program.device == "gpu");
    }
    if (const auto time = recorded(program)) {
      contents.recorded = true;
      contents.over_zero = contents.over_zero || time->over_zero > 0;
      contents.over_previous = contents.over_previous || time->over_previous > 0;
      contents.of_peak = contents.of_peak || time->of_peak > 0;
    }
    contents.sectors = contents.sectors || (analyses() && Measurement::can_analyse(program));
    contents.lines = contents.lines || (previous && fs::exists(source_of(program)));
  }
  return contents;
}

/// Whether the runner analyses memory accesses. The runner does so only if the user selected the
/// CPU device by name, because the analysis takes longer than all other steps.
bool Ladder::analyses() const { return options_.device == "cpu-device"; }

/// The recorded time of a GPU stage. The result is empty if the user chose a custom problem, or if
/// the problem exceeds the limits of the stage.
std::optional<Recorded> Ladder::recorded(const Program& program) const {
  if (is_custom() || program.device == "cpu" || !takes_problem(program)) return {};
  const Program* previous = before(program);
  return recordings_.find({program.workload, settings_.dataset, settings_.precision}, program.stage,
                          all_.front().stage, previous == nullptr ? "" : previous->stage);
}

/// Whether the parameters of the problem are within the limits of a stage.
bool Ladder::takes_problem(const Program& program) const {
  const Json& about = program.description();
  const Json limits = about.value("limits", Json::object());
  for (const auto& [name, limit] : limits.items()) {
    Json asked = about.at("datasets").at(settings_.dataset).at(name);
    for (const std::string& assignment : settings_.assignments)
      if (assignment.starts_with(name + "="))
        asked = Json::parse(assignment.substr(name.size() + 1), nullptr, false);
    if (asked > limit) return false;
  }
  return true;
}

Row Ladder::outcome_of(const Program& program) {
  if (program.on_cpu_device()) return check(program);
  Row row{.outcome = measurement_.run(program), .recorded = {}, .lines = {}, .sectors = {}};
  if (row.outcome.verdict != Verdict::not_available || options_.device != "all" ||
      !takes_problem(program))
    return row;
  const Program* stand_in = find(program.stage, "cpu-device");
  return stand_in != nullptr && fs::exists(stand_in->path) ? check(*stand_in) : row;
}

/// Runs a program for the CPU device, and analyses its memory accesses if analyses() is true. An
/// error that the analysis reports counts as a failure of the stage.
Row Ladder::check(const Program& program) {
  Row row{.outcome = reduced_.run(program), .recorded = {}, .lines = {}, .sectors = {}};
  if (!row.outcome.solved() || !analyses()) return row;
  const auto analysis = reduced_.analyse(program);
  if (!analysis) return row;
  if (analysis->error.empty()) {
    row.sectors = analysis->sectors;
    return row;
  }
  row.outcome.verdict = Verdict::failed;
  row.outcome.reason = analysis->error;
  row.outcome.record = nullptr;
  return row;
}

void Ladder::add_row(const Program& program) {
  Row row = outcome_of(program);
  const Program* previous = before(program);
  if (previous != nullptr && fs::exists(source_of(program)))
    row.lines = lines_changed(source_of(*previous), source_of(program));
  if (row.timed()) {
    const double median = row.outcome.median();
    compare_with_ceilings(row);
    row.over_zero = measurement_.zero_median() / median;
    if (previous != nullptr && medians_.contains(previous->stage))
      row.over_previous = medians_.at(previous->stage) / median;
    medians_[program.stage] = median;
  } else {
    row.recorded = recorded(program);
  }
  progress_.clear();
  throw_if_interrupted();
  rows_.push_back(std::move(row));
}

/// Sets `of_peak` and `of_copy` of a row from the peak rates and the copy bandwidth of its device.
void Ladder::compare_with_ceilings(Row& row) const {
  const bool on_gpu = row.outcome.program.device == "gpu";
  if (on_gpu && !ceilings_.gpu) return;
  const Rates* rates = &ceilings_;
  if (on_gpu) rates = &*ceilings_.gpu;
  const auto& modelled = row.outcome.record.at("modelled");
  const Work work{modelled.at("flops"), modelled.at("bytes"), modelled.value("matrix", false)};
  const Precision precision = settings_.precision == "f64" ? Precision::f64 : Precision::f32;
  const double median = row.outcome.median();
  row.of_peak = rates->lower_bound(work, precision) / median;
  if (on_gpu) row.of_copy = modelled.value("traffic_bytes", 0.0) / rates->bandwidth / median;
}

/// The parameters of the problem and their values, for example "(n = 2, seed = 1)".
std::string Ladder::problem() const {
  Json parameters = Json::object();
  if (settings_.inputs.empty())
    for (const auto& [key, value] :
         chosen_.front().description().at("datasets").at(settings_.dataset).items())
      parameters[key] = value.dump();
  else
    parameters["input"] = file_names(settings_.inputs);
  for (const std::string& assignment : settings_.assignments) {
    const auto sign = std::min(assignment.find('='), assignment.size() - 1);
    parameters[assignment.substr(0, sign)] = assignment.substr(sign + 1);
  }
  std::vector<std::string> texts;
  for (const auto& [key, value] : parameters.items())
    texts.push_back(fmt::format("{} = {}", key, value.get<std::string>()));
  return fmt::format("({})", fmt::join(texts, ", "));
}

/// The lines above the table: the problem, the number of timed solves, and the machine.
std::string Ladder::heading() const {
  std::string often = analyses() ? "once" : fmt::format("median of {}", settings_.repeat);
  if (const auto& phase = chosen_.front().description().at("timed_phase"); phase.is_string())
    often += ", times of the phase " + phase.get<std::string>();
  if (settings_.awake) often += ", GPU awake";
  if (std::any_of(chosen_.begin(), chosen_.end(), [](const Program& program) {
        return program.description().value("ranks", false);
      }))
    often += fmt::format(", {} rank{}", settings_.ranks, settings_.ranks == 1 ? "" : "s");
  const std::string& reference = measurement_.reference().stage;
  const auto& own = settings_.reference_assignments;
  std::string checked_against;
  if (reference != all_.front().stage || !own.empty())
    checked_against = ", checked against " + reference;
  if (!own.empty()) checked_against += fmt::format(" with {}", fmt::join(own, ", "));
  const std::string text =
      fmt::format("{}, {} {}, {}, {}{}\n{}", all_.front().workload, dataset(), problem(),
                  settings_.precision, often, checked_against, to_text(this_machine(), ceilings_));
  return broken_for_terminal(text, 2) + "\n";
}

std::string Ladder::introduction(const Program& program) const {
  const auto bold = has_colour() ? fmt::emphasis::bold : fmt::text_style();
  const std::string title =
      fmt::format("{} {}: {}\n", program.workload, program.stage, program.text("idea"));
  std::string text = fmt::format(bold, "{}", broken_for_terminal(title, 2));
  text += program.source + "\n\n";
  if (!fs::exists(source_of(program)))
    return text +
           "The source was not found; --source names the directory that contains stages/.\n\n";
  text += broken_for_terminal(header_comment(source_of(program)), 9) + "\n";
  if (const Program* previous = before(program))
    text += unified_diff(source_of(*previous), source_of(program), has_colour()) + "\n";
  return text;
}

/// The speed-ups over stage zero and over the continued stage, in words. The text is empty if both
/// are unknown.
std::string Ladder::compared(const Program& program, double over_zero, double over_previous) const {
  std::string text;
  if (over_zero > 0) text += fmt::format(", {:.2f} times as fast as stage zero", over_zero);
  if (over_previous > 0)
    text += fmt::format(", {:.2f} times as fast as {}", over_previous, before(program)->stage);
  return text;
}

std::string Ladder::verdict_text(const Row& row) const {
  const Outcome& outcome = row.outcome;
  std::string text;
  if (const auto& recorded = row.recorded)
    text = fmt::format("Recorded {} on an {}, {}{}\n", time_text(recorded->median), recorded->gpu,
                       recorded->date,
                       compared(outcome.program, recorded->over_zero, recorded->over_previous));
  if (!outcome.ran())
    return text + fmt::format("Verdict  {}: {}\n\n", name_of(outcome.verdict), outcome.reason);
  if (row.checked()) text += "Checked  on the CPU device, not timed";
  if (row.timed())
    text += fmt::format("Time     {} (spread {:.1f} %)", time_text(outcome.median()),
                        100 * outcome.seconds().spread());
  if (const auto total = row.timed() ? outcome.total_seconds() : std::nullopt)
    text += fmt::format(", total {}", time_text(*total));
  text += compared(outcome.program, row.over_zero, row.over_previous);
  if (row.sectors)
    text += fmt::format("\nSectors  {} per request to global memory: moved / the fewest possible",
                        sectors_text(*row.sectors));
  text += fmt::format("\nVerdict  {}", name_of(outcome.verdict));
  if (outcome.verdict == Verdict::matches)
    text += fmt::format(" {}, error {}", outcome.reference, error_text(outcome));
  if (!outcome.reason.empty()) text += ": " + outcome.reason;
  return text + "\n\n";
}

}  // namespace staircase
