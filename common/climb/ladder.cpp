#include "ladder.hpp"

#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <harness/file.hpp>
#include <harness/machine.hpp>
#include <harness/process.hpp>
#include <staircase/error.hpp>

namespace staircase {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// What the CPU device runs: the reduced data set, or what it was asked for by name, once.
RunSettings settings_for_cpu_device(RunSettings settings, const Options& options) {
  if (options.device != "cpu-device") {
    settings.dataset = reduced_dataset;
    settings.assignments.clear();
    settings.input.clear();
  }
  settings.repeat = 1;
  settings.warmup = 0;
  return settings;
}

/// The program of the stage that the others are held to; on the CPU device, the one for that if
/// there are two.
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
               const Ceilings& ceilings)
    : all_(all),
      options_(options),
      settings_(std::move(settings)),
      ceilings_(ceilings),
      measurement_(all.front(), reference_program(all, options, false), settings_,
                   [this](const auto& text) { progress_.show(text); }),
      reduced_(all.front(), reference_program(all, options, true),
               settings_for_cpu_device(settings_, options),
               [this](const auto& text) { progress_.show(text); }) {
  for (const Program& program : select_stages(all, options.stages))
    if (is_chosen(program, all, options)) chosen_.push_back(program);
  if (chosen_.empty())
    throw BadInput(fmt::format("no stage of {} runs on the device '{}'", all.front().workload,
                               options.device));
  // A stage that says wrongly which one it continues is refused before anything runs.
  for (const Program& program : chosen_) before(program);
}

std::string Ladder::table() {
  for (const Program& program : chosen_) add_row(program);
  return render_table(heading(), rows_, columns(), has_colour());
}

void Ladder::walk() {
  for (const Program& program : chosen_) {
    write_stdout(introduction(program));
    add_row(program);
    write_stdout(verdict_text(rows_.back()));
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
    if (row.of_limit > 0) record["of_limit"] = row.of_limit;
    if (row.of_copy > 0) record["of_copy"] = row.of_copy;
    if (row.lines) {
      record["lines_added"] = row.lines->added;
      record["lines_removed"] = row.lines->removed;
    }
    records.push_back(record);
  }
  return {{"workload", all_.front().workload},
          {"dataset", dataset()},
          {"precision", settings_.precision},
          {"reference", measurement_.reference().stage},
          {"records", records}};
}

bool Ladder::all_well() const {
  const auto solved = [](const Row& row) { return row.outcome.solved(); };
  const auto fine = [](const Row& row) {
    return row.outcome.solved() || row.outcome.verdict == Verdict::not_available;
  };
  return std::any_of(rows_.begin(), rows_.end(), solved) &&
         std::all_of(rows_.begin(), rows_.end(), fine);
}

std::string Ladder::dataset() const {
  return settings_.assignments.empty() && settings_.input.empty() ? settings_.dataset : "custom";
}

/// A stage's program for a device, or null.
const Program* Ladder::find(const std::string& stage, const std::string& device) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Program& p) {
    return p.stage == stage && p.device == device;
  });
  return found == all_.end() ? nullptr : &*found;
}

/// A program of the stage that a stage continues, or null: the one before it in reading order,
/// unless its source is here and names an earlier one.
const Program* Ladder::before(const Program& program) const {
  if (program.is_yardstick()) return nullptr;
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
      fmt::format("'{}' says 'From: {}', which must be an earlier stage of {}; there is {}",
                  source.string(), *named, program.workload,
                  earlier.empty() ? "none" : fmt::format("{}", fmt::join(earlier, ", "))));
}

fs::path Ladder::source_of(const Program& program) const {
  return fs::path(options_.source) / program.source;
}

Row Ladder::run(const Program& program) {
  if (program.on_cpu_device()) return check(program);
  Row row{.outcome = measurement_.run(program), .lines = {}, .sectors = {}};
  if (row.outcome.verdict != Verdict::not_available || options_.device != "all") return row;
  const Program* stand_in = find(program.stage, "cpu-device");
  return stand_in != nullptr ? check(*stand_in) : row;
}

/// Runs a program for the CPU device and analyses its accesses; an error found there is a failure.
Row Ladder::check(const Program& program) {
  Row row{.outcome = reduced_.run(program), .lines = {}, .sectors = {}};
  if (!row.outcome.solved()) return row;
  const auto analysis = reduced_.analyse(program);
  if (!analysis) return row;
  row.sectors = analysis->sectors;
  if (analysis->error.empty()) return row;
  row.outcome.verdict = Verdict::failed;
  row.outcome.reason = analysis->error;
  row.outcome.record = nullptr;
  return row;
}

void Ladder::add_row(const Program& program) {
  Row row = run(program);
  const Program* previous = before(program);
  if (previous != nullptr && fs::exists(source_of(program)))
    row.lines = lines_changed(source_of(*previous), source_of(program));
  if (row.timed()) {
    const double median = row.outcome.median();
    compare_with_ceilings(row);
    row.over_zero = measurement_.zero_median() / median;
    if (previous != nullptr && medians_.contains(previous->stage))
      row.over_step = medians_.at(previous->stage) / median;
    medians_[program.stage] = median;
  }
  progress_.clear();
  throw_if_interrupted();
  rows_.push_back(std::move(row));
}

/// Sets the time of a row against the limits of the device that it was measured on.
void Ladder::compare_with_ceilings(Row& row) const {
  const bool on_gpu = row.outcome.program.device == "gpu";
  if (on_gpu && !ceilings_.gpu) return;
  const Rates* rates = &ceilings_;
  if (on_gpu) rates = &*ceilings_.gpu;
  const auto& modelled = row.outcome.record.at("modelled");
  const Work work{modelled.at("flops"), modelled.at("bytes"), modelled.value("matrix", false)};
  const Precision precision = settings_.precision == "f64" ? Precision::f64 : Precision::f32;
  const double median = row.outcome.median();
  row.of_limit = rates->floor(work, precision) / median;
  if (on_gpu) row.of_copy = modelled.value("traffic_bytes", 0.0) / rates->bandwidth / median;
}

/// The problem and the machine; if nothing was timed, the problem that the CPU device checked.
std::string Ladder::heading() const {
  std::string name = dataset(), often = fmt::format("median of {}", settings_.repeat), problem;
  auto shown = std::find_if(rows_.begin(), rows_.end(), std::mem_fn(&Row::timed));
  if (shown == rows_.end()) {
    shown = std::find_if(rows_.begin(), rows_.end(), std::mem_fn(&Row::checked));
    if (shown != rows_.end()) {
      name = shown->outcome.record.at("dataset");
      often = "once";
    }
  }
  if (shown != rows_.end())
    for (const auto& [key, value] : shown->outcome.record.at("parameters").items())
      problem += fmt::format("{}{} = {}", problem.empty() ? " (" : ", ", key, value.dump());
  if (shown != rows_.end())
    if (const auto& phase = shown->outcome.record.at("timed_phase"); phase.is_string())
      often += ", times of the phase " + phase.get<std::string>();
  const std::string& reference = measurement_.reference().stage;
  return fmt::format("{}, {}{}, {}, {}{}\n{}\n", all_.front().workload, name,
                     problem.empty() ? "" : problem + ")", settings_.precision, often,
                     reference == all_.front().stage ? "" : ", held to " + reference,
                     to_text(this_machine(), ceilings_));
}

std::string Ladder::introduction(const Program& program) const {
  const auto bold = has_colour() ? fmt::emphasis::bold : fmt::text_style();
  std::string text =
      fmt::format(bold, "{} {}: {}", program.workload, program.stage, program.text("idea"));
  text += fmt::format("\n{}\n\n", program.source);
  if (!fs::exists(source_of(program))) return text + "The source is not here; see --source.\n\n";
  text += header_comment(source_of(program)) + "\n";
  if (const Program* previous = before(program))
    text += unified_diff(source_of(*previous), source_of(program), has_colour()) + "\n";
  return text;
}

std::string Ladder::verdict_text(const Row& row) const {
  const Outcome& outcome = row.outcome;
  if (!outcome.ran())
    return fmt::format("Verdict  {}: {}\n\n", name_of(outcome.verdict), outcome.reason);
  std::string text = "Checked  on the CPU device, not timed";
  if (row.timed())
    text = fmt::format("Time     {} (spread {:.1f} %)", time_text(outcome.median()),
                       100 * outcome.seconds().spread());
  if (const auto in_all = row.timed() ? outcome.in_all() : std::nullopt)
    text += fmt::format(", in all {}", time_text(*in_all));
  if (row.over_zero > 0)
    text += fmt::format(", {:.2f} times the speed of stage zero", row.over_zero);
  if (row.over_step > 0)
    text += fmt::format(", {:.2f} of {}", row.over_step, before(outcome.program)->stage);
  if (row.sectors)
    text += fmt::format("\nSectors  {} a request to global memory, moved / the fewest possible",
                        sectors_text(*row.sectors));
  text += fmt::format("\nVerdict  {}", name_of(outcome.verdict));
  if (outcome.verdict == Verdict::matches)
    text += fmt::format(" {}, error {}", outcome.reference, error_text(outcome));
  if (!outcome.reason.empty()) text += ": " + outcome.reason;
  return text + "\n\n";
}

}  // namespace staircase
