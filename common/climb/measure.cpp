#include "measure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <staircase/error.hpp>
#include <staircase/process.hpp>

namespace staircase {
namespace {

namespace fs = std::filesystem;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// What a program says on standard error, without its name in front.
std::string sentence_of(const std::string& error) {
  const std::string line = first_line(error);
  const auto colon = line.find(": ");
  return colon == std::string::npos ? line : line.substr(colon + 2);
}

/// Why a program did not end well.
std::string failure_of(const ProcessResult& result) {
  const std::string sentence = sentence_of(result.err);
  return sentence.empty() ? fmt::format("ended with status {}", result.status) : sentence;
}

std::vector<std::string> command_of(const fs::path& program, const RunSettings& settings,
                                    const fs::path& solution, const fs::path& record) {
  std::vector<std::string> command{program,
                                   "--precision",
                                   settings.precision,
                                   "--repeat",
                                   std::to_string(settings.repeat),
                                   "--warmup",
                                   std::to_string(settings.warmup),
                                   "--output",
                                   solution,
                                   "--json",
                                   record};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) command.insert(command.end(), {option, value});
  };
  add("--dataset", settings.dataset);
  add("--input", settings.input);
  for (const auto& assignment : settings.assignments) add("--set", assignment);
  return command;
}

}  // namespace

std::string name_of(Verdict verdict) {
  constexpr const char* names[] = {"reference", "matches", "differs", "failed", "not available"};
  return names[static_cast<int>(verdict)];
}

Summary Outcome::seconds() const {
  const auto& seconds = record.at("seconds");
  return {seconds.at("min"), seconds.at("median"), seconds.at("max")};
}

Measurement::Measurement(Program zero, RunSettings settings, Progress progress)
    : zero_(std::move(zero)), settings_(std::move(settings)), progress_(std::move(progress)) {}

Outcome Measurement::execute(const Program& program, const RunSettings& settings) {
  const fs::path solution = directory_.path() / "solution.npy";
  const fs::path record = directory_.path() / "record.json";
  std::error_code ignored;
  fs::remove(solution, ignored);
  fs::remove(record, ignored);

  ProcessOptions options;
  options.tick = [&](double seconds) {
    progress_(fmt::format("{} {}: running for {:.0f} s ({} + {} solves)", program.workload,
                          program.stage, seconds, settings.warmup, settings.repeat));
  };
  const ProcessResult result =
      run_process(command_of(program.path, settings, solution, record), options);
  Outcome outcome{program, Verdict::failed, std::numeric_limits<double>::quiet_NaN(), "", nullptr};
  if (result.status == static_cast<int>(Exit::bad_input)) throw BadInput(first_line(result.err));
  if (result.status == static_cast<int>(Exit::not_available))
    outcome.verdict = Verdict::not_available;
  if (result.status != 0) {
    outcome.reason = failure_of(result);
    return outcome;
  }
  auto json = nlohmann::ordered_json::parse(std::ifstream(record), nullptr, false);
  if (!json.is_object() || !fs::exists(solution)) {
    outcome.reason = "wrote no record or no solution";
    return outcome;
  }
  outcome.record = std::move(json);
  outcome.verdict = Verdict::matches;
  return outcome;
}

/// Runs stage zero where only its solution or a rough time of it is wanted.
Outcome Measurement::run_zero_once(const std::string& precision) {
  RunSettings once = settings_;
  once.precision = precision;
  once.repeat = 1;
  once.warmup = 0;
  Outcome zero = execute(zero_, once);
  if (zero.solved() && precision == settings_.precision) zero_median_ = zero.median();
  return zero;
}

void Measurement::need_reference() {
  if (!reference_.shape.empty()) return;
  const Outcome zero = run_zero_once("f64");
  if (!zero.solved())
    throw Failure(Exit::exhausted,
                  fmt::format("stage zero did not solve the problem: {}", zero.reason));
  reference_ = read_npy(directory_.path() / "solution.npy");
}

double Measurement::zero_median() {
  if (zero_median_ == 0 && zero_.offers(settings_.precision)) run_zero_once(settings_.precision);
  return zero_median_;
}

void Measurement::compare_with_zero(Outcome& outcome, const NpyArray& solution) {
  const Comparison comparison =
      compare(solution, reference_, tolerance_from_json(outcome.record.at("tolerance")));
  outcome.error = comparison.error;
  outcome.reason = comparison.reason;
  if (!comparison.equal) outcome.verdict = Verdict::differs;
}

Outcome Measurement::run(const Program& program) {
  if (!program.offers(settings_.precision))
    return {program, Verdict::not_available, std::numeric_limits<double>::quiet_NaN(),
            fmt::format("it solves in {} only", fmt::join(program.precisions(), " and ")), nullptr};
  const bool is_zero = program.path == zero_.path;
  const bool is_reference = is_zero && settings_.precision == "f64";
  Outcome outcome = execute(program, settings_);
  if (outcome.verdict != Verdict::matches) return outcome;
  NpyArray solution = read_npy(directory_.path() / "solution.npy");
  if (is_zero) zero_median_ = outcome.median();
  if (is_reference) {
    reference_ = std::move(solution);
    outcome.verdict = Verdict::reference;
    outcome.error = 0;
    return outcome;
  }
  need_reference();
  compare_with_zero(outcome, solution);
  return outcome;
}

std::optional<Analysis> Measurement::analyse(const Program& program) {
  const fs::path analyser = program.path.string() + "-analyze";
  if (!fs::exists(analyser)) return {};
  const fs::path report = directory_.path() / "report.json";
  std::error_code ignored;
  fs::remove(report, ignored);

  ProcessOptions options;
  options.environment = {"CUDA_ON_CPU_REPORT=" + report.string()};
  options.tick = [&](double seconds) {
    progress_(fmt::format("{} {}: analysing its accesses for {:.0f} s", program.workload,
                          program.stage, seconds));
  };
  const ProcessResult result =
      run_process(command_of(analyser, settings_, directory_.path() / "solution.npy",
                             directory_.path() / "record.json"),
                  options);
  auto analysis = read_analysis(report);
  if (!analysis) analysis = {{}, "the analysis wrote no report"};
  if (result.status != 0 && analysis->error.empty()) analysis->error = failure_of(result);
  return analysis;
}

}  // namespace staircase
