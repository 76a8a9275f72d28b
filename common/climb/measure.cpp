#include "measure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <harness/process.hpp>
#include <limits>
#include <staircase/error.hpp>

namespace staircase {
namespace {

namespace fs = std::filesystem;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The first line of a program's error output, without the program's name at its beginning.
std::string sentence_of(const std::string& error) {
  const std::string line = first_line(error);
  const auto colon = line.find(": ");
  return colon == std::string::npos ? line : line.substr(colon + 2);
}

/// The reason why a program failed: its message, or its exit status if it printed no message.
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
  for (const auto& input : settings.inputs) add("--input", input);
  for (const auto& assignment : settings.assignments) add("--set", assignment);
  return command;
}

/// The command that starts a program on MPI ranks, if necessary with more ranks than cores. Ranks
/// with several threads are not bound to cores. By default, Open MPI binds each of one or two ranks
/// to one core, and all threads of a rank would share this core.
std::vector<std::string> on_ranks(int ranks, bool threads,
                                  const std::vector<std::string>& command) {
  std::vector<std::string> launch{"mpiexec", "--oversubscribe"};
  if (threads) launch.insert(launch.end(), {"--bind-to", "none"});
  launch.insert(launch.end(), {"-n", std::to_string(ranks)});
  launch.insert(launch.end(), command.begin(), command.end());
  return launch;
}

/// Environment variables for Open MPI. The first and the second variable allow the user root to
/// start ranks. With the third variable, a waiting rank yields its core, because spinning ranks
/// would delay each other on a busy machine. The fourth variable replaces the option `--quiet`,
/// which Open MPI 4 accepts but Open MPI 5 rejects. The last two variables disable network
/// components, because all ranks run on this machine. With these components, Open MPI 5 would
/// report unusable interfaces, and `ofi` would search for interfaces for 1.5 s.
const std::vector<std::string> environment_of_ranks{
    "OMPI_ALLOW_RUN_AS_ROOT=1",       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
    "OMPI_MCA_mpi_yield_when_idle=1", "OMPI_MCA_orte_execute_quiet=1",
    "OMPI_MCA_btl=^tcp,ofi,openib",   "OMPI_MCA_pml=ob1"};

/// The path of the program that analyses the memory accesses of a stage.
fs::path analyser_of(const Program& program) { return program.path.string() + "-analyze"; }

}  // namespace

std::string name_of(Verdict verdict) {
  constexpr const char* names[] = {"reference", "matches",       "differs",
                                   "failed",    "not available", "not for this size"};
  return names[static_cast<int>(verdict)];
}

Summary Outcome::seconds() const {
  const auto& seconds = record.at("seconds");
  return {seconds.at("min"), seconds.at("median"), seconds.at("max")};
}

std::optional<double> Outcome::total_seconds() const {
  if (!record.at("timed_phase").is_string()) return {};
  std::vector<double> seconds;
  for (const auto& repeat : record.at("repeats")) seconds.push_back(repeat.at("seconds"));
  return summarise(seconds).median;
}

Measurement::Measurement(Program zero, Program reference, RunSettings settings, Progress progress)
    : zero_(std::move(zero)),
      reference_(std::move(reference)),
      settings_(std::move(settings)),
      progress_(std::move(progress)) {}

/// The outcome of a stage that did not compute a solution.
Outcome Measurement::unsolved(const Program& program, Verdict verdict,
                              const std::string& reason) const {
  return {program, reference_.stage == zero_.stage ? stage_zero : reference_.stage,
          verdict, std::numeric_limits<double>::quiet_NaN(),
          reason,  nullptr};
}

/// Runs a program, with mpiexec if the program has ranks. The result is empty if mpiexec is needed
/// but missing.
std::optional<ProcessResult> Measurement::solve(const Program& program, const RunSettings& settings,
                                                const std::vector<std::string>& command) {
  const bool has_ranks = program.description().value("ranks", false);
  if (has_ranks && !is_on_path("mpiexec")) return {};
  ProcessOptions options;
  if (has_ranks) options.environment = environment_of_ranks;
  // Launchers that run concurrently must not use the same temporary directory.
  if (has_ranks)
    for (const char* name : {"OMPI_MCA_orte_tmpdir_base=", "PRTE_MCA_prte_tmpdir_base="})
      options.environment.push_back(name + directory_.path().string());
  options.tick = [&](double seconds) {
    progress_(fmt::format("{} {}: running for {:.0f} s ({} untimed + {} timed solves)",
                          program.workload, program.stage, seconds, settings.warmup,
                          settings.repeat));
  };
  const bool has_threads = program.description().value("threads", false);
  return run_process(has_ranks ? on_ranks(settings.ranks, has_threads, command) : command, options);
}

/// The verdict that the message of a stage program implies: either the problem exceeds the limits
/// of the stage, or the stage is not available on this machine.
static Verdict verdict_of(const std::string& refusal) {
  return refusal.starts_with("this stage takes ") ? Verdict::not_for_this_size
                                                  : Verdict::not_available;
}

Outcome Measurement::execute(const Program& program, const RunSettings& settings) {
  const fs::path solution = directory_.path() / "solution.npy";
  const fs::path record = directory_.path() / "record.json";
  std::error_code ignored;
  fs::remove(solution, ignored);
  fs::remove(record, ignored);

  auto command = command_of(program.path, settings, solution, record);
  if (settings.awake && program.device != "cpu") command.push_back("--awake");
  const auto ended = solve(program, settings, command);
  if (!ended)
    return unsolved(program, Verdict::not_available,
                    "this stage runs on MPI ranks, and mpiexec, which starts them, was not found; "
                    "install Debian's package openmpi-bin");
  const ProcessResult& result = *ended;
  if (result.status == static_cast<int>(Exit::bad_input)) throw BadInput(first_line(result.err));
  if (result.status == static_cast<int>(Exit::not_available))
    return unsolved(program, verdict_of(failure_of(result)), failure_of(result));
  if (result.status != 0) return unsolved(program, Verdict::failed, failure_of(result));
  auto json = nlohmann::ordered_json::parse(std::ifstream(record), nullptr, false);
  if (!json.is_object() || !fs::exists(solution))
    return unsolved(program, Verdict::failed, "the program wrote no record or no solution");
  Outcome outcome = unsolved(program, Verdict::matches, "");
  outcome.record = std::move(json);
  return outcome;
}

/// Runs a stage with a single solve and without a warm-up, so its time is only approximate.
Outcome Measurement::run_once(const Program& program, RunSettings once,
                              const std::string& precision) {
  once.precision = precision;
  once.repeat = 1;
  once.warmup = 0;
  Outcome outcome = execute(program, once);
  const bool same_problem =
      once.assignments == settings_.assignments && precision == settings_.precision;
  if (program.path == zero_.path && outcome.solved() && same_problem)
    zero_median_ = outcome.median();
  return outcome;
}

void Measurement::ensure_reference() {
  if (!expected_.shape.empty()) return;
  RunSettings settings = settings_;
  settings.assignments.insert(settings.assignments.end(), settings_.reference_assignments.begin(),
                              settings_.reference_assignments.end());
  const Outcome outcome = run_once(reference_, settings, "f64");
  if (!outcome.solved())
    throw Failure(Exit::exhausted, fmt::format("{} did not solve the problem: {}",
                                               outcome.reference, outcome.reason));
  expected_ = read_npy(directory_.path() / "solution.npy");
}

double Measurement::zero_median() {
  if (zero_median_ == 0 && reference_.path == zero_.path && zero_.offers(settings_.precision))
    run_once(zero_, settings_, settings_.precision);
  return zero_median_;
}

void Measurement::compare_with_reference(Outcome& outcome, const NpyArray& solution) {
  const Comparison comparison =
      compare(solution, expected_, tolerance_from_json(outcome.record.at("tolerance")));
  outcome.error = comparison.error;
  outcome.reason = comparison.reason;
  if (!comparison.equal) outcome.verdict = Verdict::differs;
}

Outcome Measurement::run(const Program& program) {
  if (!program.offers(settings_.precision))
    return unsolved(program, Verdict::not_available,
                    fmt::format("it solves only in {}", fmt::join(program.precisions(), " and ")));
  const bool is_reference = program.path == reference_.path && settings_.precision == "f64" &&
                            settings_.reference_assignments.empty();
  Outcome outcome = execute(program, settings_);
  if (outcome.verdict != Verdict::matches) return outcome;
  NpyArray solution = read_npy(directory_.path() / "solution.npy");
  if (program.path == zero_.path) zero_median_ = outcome.median();
  if (is_reference) {
    expected_ = std::move(solution);
    outcome.verdict = Verdict::reference;
    outcome.error = 0;
    return outcome;
  }
  ensure_reference();
  compare_with_reference(outcome, solution);
  return outcome;
}

bool Measurement::can_analyse(const Program& program) { return fs::exists(analyser_of(program)); }

std::optional<Analysis> Measurement::analyse(const Program& program) {
  if (!can_analyse(program)) return {};
  const fs::path report = directory_.path() / "report.json";
  std::error_code ignored;
  fs::remove(report, ignored);

  ProcessOptions options;
  options.environment = {"CUDA_ON_CPU_REPORT=" + report.string()};
  options.tick = [&](double seconds) {
    progress_(fmt::format("{} {}: analysing memory accesses for {:.0f} s", program.workload,
                          program.stage, seconds));
  };
  const ProcessResult result =
      run_process(command_of(analyser_of(program), settings_, directory_.path() / "solution.npy",
                             directory_.path() / "record.json"),
                  options);
  auto analysis = read_analysis(report);
  if (!analysis) analysis = {{}, "the analysis wrote no report"};
  if (result.status != 0 && analysis->error.empty()) analysis->error = failure_of(result);
  return analysis;
}

}  // namespace staircase
