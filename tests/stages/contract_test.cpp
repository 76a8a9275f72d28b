/// \file
/// The contract of every stage program, checked on one program: contract_test PROGRAM STAGE_ZERO.
///
/// Properties of the workload (parameters, test cases, tolerance) come from `--describe`.

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <harness/compare.hpp>
#include <harness/machine.hpp>
#include <harness/npy.hpp>
#include <map>
#include <random>
#include <staircase/error.hpp>

#include "support.hpp"

namespace staircase::test {
namespace {

using nlohmann::json;
using Arguments = std::vector<std::string>;

std::string program;
std::string stage_zero;

ProcessResult run(Arguments arguments, const ProcessOptions& options = {}) {
  arguments.insert(arguments.begin(), program);
  return run_process(arguments, options);
}

const json& description() {
  static const json description = json::parse(run_process({program, "--describe"}).out);
  return description;
}

/// The precisions that the program offers; the first is its default.
Arguments precisions() { return description().at("precisions"); }

/// The `--set` options for the parameters of a problem.
Arguments settings_of(const json& parameters) {
  Arguments arguments;
  for (const auto& [key, value] : parameters.items())
    arguments.insert(arguments.end(), {"--set", fmt::format("{}={}", key, value.dump())});
  return arguments;
}

/// The solution and the record of a solve.
struct Solved {
  NpyArray solution;
  json record;
};

/// Solves with a program; the test fails if the program fails.
Solved solve(const std::string& by, Arguments arguments, const ProcessOptions& options = {}) {
  const Directory directory;
  arguments.insert(arguments.begin(), by);
  arguments.insert(arguments.end(), {"--output", directory / "solution.npy", "--json", "-"});
  const ProcessResult result = run_process(arguments, options);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(directory.files(), Arguments{"solution.npy"});
  if (result.status != 0) return {};
  return {read_npy(directory / "solution.npy"), json::parse(result.out)};
}

/// Solves with a program, or returns the result of an earlier solve with the same arguments.
const Solved& solved(const std::string& by, const Arguments& arguments) {
  static std::map<std::pair<std::string, Arguments>, Solved> known;
  const auto [place, is_new] = known.try_emplace({by, arguments});
  if (is_new) place->second = solve(by, arguments);
  return place->second;
}

/// Solves in a precision and compares the solution with stage zero's solution in f64.
void expect_match(Arguments arguments, const std::string& precision,
                  const ProcessOptions& options = {}) {
  const NpyArray& expected = solved(stage_zero, arguments).solution;
  arguments.insert(arguments.end(), {"--precision", precision});
  const auto [solution, record] =
      options.environment.empty() ? solved(program, arguments) : solve(program, arguments, options);
  ASSERT_TRUE(record.is_object());
  EXPECT_EQ(solution.dtype(), precision == "f64" ? "<f8" : "<f4");
  const Comparison comparison =
      compare(solution, expected, tolerance_from_json(record.at("tolerance")));
  EXPECT_TRUE(comparison.equal) << comparison.reason;
}

// --- The solution

struct Case {
  std::string name;
  json parameters;
};

void PrintTo(const Case& test_case, std::ostream* stream) {
  *stream << test_case.name << " " << test_case.parameters;
}

std::vector<Case> test_cases() {
  std::vector<Case> cases;
  for (const auto& [name, parameters] : description().at("test_cases").items())
    cases.push_back({name, parameters});
  return cases;
}

std::string test_name(std::string text) {
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return text;
}

using CaseInPrecision = std::tuple<Case, std::string>;

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  return test_name(fmt::format("{}_{}", info.index, info.param.name));
}

std::string name_of_case_in_precision(const testing::TestParamInfo<CaseInPrecision>& info) {
  const auto& [test_case, precision] = info.param;
  return test_name(fmt::format("{}_{}_{}", info.index, test_case.name, precision));
}

/// The largest value of a parameter that the program accepts.
double most_of(const json& parameter) {
  const double max = parameter.at("max");
  return description().at("limits").value(parameter.at("name").get<std::string>(), max);
}

/// Whether a problem is within the limits that the program declares in `--describe`.
bool is_within_limits(const json& parameters) {
  for (const auto& [name, limit] : description().at("limits").items())
    if (parameters.at(name) > limit) return false;
  return true;
}

class Solution : public testing::TestWithParam<CaseInPrecision> {};

TEST_P(Solution, MatchesStageZero) {
  const auto& [test_case, precision] = GetParam();
  if (!is_within_limits(test_case.parameters)) {
    expect_refusal(run(settings_of(test_case.parameters)), 77, {"this stage takes", "up to"});
    return;
  }
  expect_match(settings_of(test_case.parameters), precision);
}

/// Each case in each precision; with sanitizers, which do not check values, each case in one
/// precision.
std::vector<CaseInPrecision> cases_in_precisions() {
  std::vector<CaseInPrecision> chosen;
  const auto cases = test_cases();
  const Arguments all = precisions();
  for (std::size_t c = 0; c < cases.size(); ++c)
    for (std::size_t p = 0; p < all.size(); ++p)
      if (!SANITIZED || p == c % all.size()) chosen.emplace_back(cases[c], all[p]);
  return chosen;
}

INSTANTIATE_TEST_SUITE_P(TestCases, Solution, testing::ValuesIn(cases_in_precisions()),
                         name_of_case_in_precision);

class Threads : public testing::TestWithParam<Case> {};

TEST_P(Threads, InAnyNumberSolve) {
  expect_match(settings_of(GetParam().parameters), precisions().front(),
               {.environment = {"OMP_NUM_THREADS=3"}});
}

/// Stages with kernels have few loops on the host, so one test case in six is enough for them. One
/// in six is also enough with sanitizers, because earlier tests have run each case with threads on
/// all cores.
std::vector<Case> cases_for_threads() {
  std::vector<Case> cases;
  const auto all = test_cases();
  const std::size_t step = description().at("device") == "cpu" && !SANITIZED ? 1 : 6;
  for (std::size_t c = 0; c < all.size(); c += step)
    if (is_within_limits(all[c].parameters)) cases.push_back(all[c]);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(TestCases, Threads, testing::ValuesIn(cases_for_threads()), name_of_case);

/// An array that the program reads as its input, from `--describe`.
struct Input {
  explicit Input(const json& json)
      : rank(json.at("rank")),
        greatest_rank(json.at("greatest_rank")),
        min(json.at("min")),
        max(json.at("max")),
        typical(json.at("typical")),
        least_elements(json.at("least_elements")),
        most_elements(json.at("most_elements")),
        first(json.at("first")),
        extents(json.at("extents")) {}

  /// The smallest value that tests generate; the largest is `typical`.
  double least() const { return std::max(min, -typical); }
  /// The shape of a single row with the given number of elements.
  std::vector<std::size_t> row(std::size_t elements) const {
    std::vector<std::size_t> shape(rank, 1);
    shape.back() = elements;
    return shape;
  }

  /// The given number of elements, clamped to the allowed range.
  std::size_t allowed(std::size_t elements) const {
    return std::clamp(elements, least_elements, most_elements);
  }

  std::size_t rank, greatest_rank;
  double min, max, typical;
  std::size_t least_elements, most_elements;
  nlohmann::json first;  ///< the first element of each row, or null
  Arguments extents;     ///< the names of its extents; may be empty
};

/// All inputs of the program, in the order of their options.
const std::vector<Input>& inputs() {
  static const std::vector<Input> inputs(description().at("inputs").begin(),
                                         description().at("inputs").end());
  return inputs;
}

/// An array of random values that the program reads as its input.
NpyArray random_array(const Input& input, const std::vector<std::size_t>& shape,
                      std::mt19937_64& random) {
  std::size_t size = 1;
  for (const std::size_t extent : shape) size *= extent;
  std::uniform_real_distribution<double> value(input.least(), input.typical);
  Elements<double> values(size);
  for (double& v : values) v = value(random);
  if (input.first.is_number())
    for (std::size_t row = 0; row < size; row += shape.back()) values[row] = input.first;
  return {shape, values};
}

/// Arrays that the program reads as its inputs, with extents of about 40 at most. Extents with the
/// same name are equal. If an array has several dimensions, the first extent is 1 in draw 1, and
/// the last extent is minimal in draw 3.
std::vector<NpyArray> random_inputs(std::mt19937_64& random, int draw) {
  std::map<std::string, std::size_t> known;
  std::vector<NpyArray> arrays;
  for (const Input& input : inputs()) {
    // A limit of the program may exclude inputs with more dimensions than the minimum.
    const bool any_rank = description().at("limits").empty() && draw % 2 == 1;
    std::vector<std::size_t> shape(any_rank ? input.greatest_rank : input.rank);
    for (std::size_t& extent : shape) extent = 1 + random() % 40;
    shape.back() = input.allowed(shape.back() + input.least_elements - 1);
    if (input.rank > 1 && draw == 1) shape.front() = 1;
    if (input.rank > 1 && draw == 3) shape.back() = input.least_elements;
    for (std::size_t d = 0; d < std::min(shape.size(), input.extents.size()); ++d)
      shape[d] = known.try_emplace(input.extents[d], shape[d]).first->second;
    arrays.push_back(random_array(input, shape, random));
  }
  return arrays;
}

/// Writes the arrays to files; returns the options that name the files.
Arguments options_for(const std::vector<NpyArray>& arrays, const Directory& directory) {
  Arguments options;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::string path = directory / fmt::format("input_{}.npy", i);
    write_npy(path, arrays[i]);
    options.insert(options.end(), {"--input", path});
  }
  return options;
}

std::string shapes_of(const std::vector<NpyArray>& arrays) {
  std::string text;
  for (const NpyArray& array : arrays) text += fmt::format(" ({})", fmt::join(array.shape, ", "));
  return text;
}

/// A random number among the `range` smallest allowed values.
long random_number(const json& parameter, unsigned range, std::mt19937_64& random) {
  const long min = parameter.at("min").get<long>(), max = std::lround(most_of(parameter));
  return std::min(max, min + static_cast<long>(random() % range));
}

/// Small random values for the integer parameters that must be positive. These parameters determine
/// the size of the problem.
json small_sizes(std::mt19937_64& random) {
  json sizes = json::object();
  for (const auto& parameter : description().at("parameters"))
    if (parameter.at("type") == "integer" && parameter.at("min") > 0)
      sizes[parameter.at("name")] = random_number(parameter, 12, random);
  return sizes;
}

/// Random sizes whose product is limited, so that the problem is small. Up to two of the sizes may
/// exceed the warp size.
json random_sizes(std::mt19937_64& random) {
  constexpr double most = 20'000;
  std::vector<json> needed;
  for (const auto& parameter : description().at("parameters"))
    if (parameter.at("type") == "integer" && parameter.at("min") > 0) needed.push_back(parameter);
  std::shuffle(needed.begin(), needed.end(), random);
  needed.resize(std::min<std::size_t>(needed.size(), 2));
  for (int tries = 0; tries < 100; ++tries) {
    json sizes = small_sizes(random);
    for (const auto& parameter : needed)
      sizes[parameter.at("name")] = random_number(parameter, 60, random);
    double product = 1;
    for (const auto& size : sizes) product *= size.get<double>();
    if (product <= most) return sizes;
  }
  return small_sizes(random);  // the smallest allowed values already make a large problem
}

/// Random values of the integer parameters whose minimum is not positive. The number of GPUs and
/// the width of halos are excluded, because the machine may have too few GPUs, and the problem may
/// be too small for a wide halo.
json random_choices(std::mt19937_64& random) {
  json choices = json::object();
  for (const auto& parameter : description().at("parameters"))
    if (const std::string name = parameter.at("name"); parameter.at("type") == "integer" &&
                                                       parameter.at("min") <= 0 && name != "gpus" &&
                                                       name != "width")
      choices[name] = random_number(parameter, 12, random);
  return choices;
}

/// Compares the solution with stage zero's solution. If stage zero finds no solution, checks that
/// the program refuses the problem, too.
void expect_match_or_refusal(Arguments arguments, const std::string& precision) {
  Arguments asked{stage_zero};
  asked.insert(asked.end(), arguments.begin(), arguments.end());
  if (run_process(asked).status != 2) return expect_match(arguments, precision);
  arguments.insert(arguments.end(), {"--precision", precision});
  expect_refusal(run(arguments), 2, {});
}

TEST(RandomProblem, MatchesStageZeroOnRandomSizesAndInputs) {
  const unsigned seed = fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937_64 random(seed);
  // With sanitizers, only draws 1 and 3, which have minimal extents, are tested.
  for (int draw = SANITIZED ? 1 : 0; draw < 4; draw += SANITIZED ? 2 : 1) {
    const Directory directory;
    const std::vector<NpyArray> arrays = random_inputs(random, draw);
    json sizes = random_sizes(random);
    sizes.update(random_choices(random));
    // Sizes that the arrays do not determine are small.
    Arguments given = options_for(arrays, directory), small = settings_of(small_sizes(random));
    given.insert(given.end(), {"--dataset", "tiny"});
    given.insert(given.end(), small.begin(), small.end());
    for (const Arguments& arguments : {settings_of(sizes), given}) {
      SCOPED_TRACE(fmt::format("{}, input{}", fmt::join(arguments, " "), shapes_of(arrays)));
      for (const auto& precision : precisions()) expect_match_or_refusal(arguments, precision);
    }
  }
}

// --- The output of the program

TEST(Describe, NamesTheProgramAndItsIdea) {
  const json& d = description();
  const bool on_cpu_device = d.at("device") == "cpu-device";
  EXPECT_EQ(std::filesystem::path(program).filename(),
            fmt::format("{}-{}{}", d.at("workload").get<std::string>(),
                        d.at("stage").get<std::string>(), on_cpu_device ? "-cpu" : ""));
  EXPECT_FALSE(d.at("title").get<std::string>().empty());
  EXPECT_LE(d.at("idea").get<std::string>().size(), 46u) << "must fit into the runner's table";
  ASSERT_FALSE(precisions().empty());
  EXPECT_EQ(d.at("tolerance").size(), precisions().size());
  EXPECT_TRUE(d.at("datasets").contains("tiny"));
  EXPECT_TRUE(d.at("datasets").contains(d.at("default_dataset").get<std::string>()));
}

TEST(Record, ContainsEveryRepeatAndItsPhases) {
  Arguments arguments{"--dataset", "tiny", "--repeat", "3", "--warmup", "1", "--json", "-"};
  const bool wakes = description().at("device") != "cpu";
  if (wakes) arguments.push_back("--awake");
  const ProcessResult result = run(arguments);
  ASSERT_EQ(result.status, 0) << result.err;
  const json record = json::parse(result.out);
  const json& phase = record.at("timed_phase");  // some stages report this phase only as an
                                                 // interval that overlaps their phases
  EXPECT_EQ(record.value("awake", false),
            wakes && (phase.is_null() || record.at("repeats")[0].at("phases").contains(phase)));
  EXPECT_EQ(record.at("workload"), description().at("workload"));
  EXPECT_EQ(record.at("stage"), description().at("stage"));
  EXPECT_EQ(record.at("dataset"), "tiny");
  EXPECT_EQ(record.at("parameters"), description().at("datasets").at("tiny"));
  EXPECT_EQ(record.at("precision"), precisions().front());
  const json& modelled = record.at("modelled");
  EXPECT_GT(modelled.at("flops"), 0);
  EXPECT_GE(modelled.value("traffic_bytes", 1e300), modelled.at("bytes"));
  EXPECT_GE(record.at("machine").at("cores"), 1);
  ASSERT_EQ(record.at("repeats").size(), 3u);
  double most = 0;
  for (const auto& repeat : record.at("repeats")) {
    double phases = 0;
    for (const auto& [name, seconds] : repeat.at("phases").items()) {
      EXPECT_GE(seconds, 0) << name;
      phases += seconds.get<double>();
    }
    const double total = repeat.at("seconds");
    EXPECT_GT(total, 0);
    EXPECT_LE(phases, total);
    most = std::max(most, phases / total);
  }
  EXPECT_GE(most, 0.5) << "most of the time belongs to a phase, unless something else had the core";
  const json& seconds = record.at("seconds");
  EXPECT_LE(seconds.at("min"), seconds.at("median"));
  EXPECT_LE(seconds.at("median"), seconds.at("max"));
}

TEST(Record, CallsAChangedDataSetCustom) {
  const ProcessResult result =
      run({"--set",
           fmt::format("{}=3", description().at("parameters")[0].at("name").get<std::string>()),
           "--dataset", "tiny", "--json", "-"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(json::parse(result.out).at("dataset"), "custom");
}

TEST(Record, ContainsTheMemoryOfArrays) {
  const auto memory = [](const json& parameters) {
    Arguments arguments = settings_of(parameters);
    arguments.insert(arguments.end(), {"--precision", precisions().front()});
    return solved(program, arguments).record.at("memory");
  };
  const auto cases = test_cases();
  const double base = memory(description().at("test_cases").at("smallest")).at("peak_bytes");
  for (const auto& [name, parameters] : cases) {
    if (!is_within_limits(parameters)) continue;
    const json used = memory(parameters);
    const double peak = used.at("peak_bytes").get<double>() - base;
    const double arrays = used.at("array_bytes");
    EXPECT_LE(peak, 1.1 * arrays + 16e6) << name;
    EXPECT_LE(arrays, 1.1 * peak + 16e6) << name;
  }
}

TEST(Record, OrASummaryIsPrintedByDefault) {
  const ProcessResult result = run({"--dataset", "tiny"});
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.out.find("time "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("solution "), std::string::npos) << result.out;
}

TEST(Help, NamesEveryOption) {
  const ProcessResult result = run({"--help"});
  EXPECT_EQ(result.status, 0);
  for (const char* option :
       {"--dataset", "--set", "--input", "--output", "--precision", "--repeat", "--warmup",
        "--awake", "--json", "--analyze", "--report", "--blocks", "--describe", "--help"})
    EXPECT_NE(result.out.find(option), std::string::npos) << option;
}

// --- Bad input

/// The number of cases of bad input that are tested: all for stage zero, and one for the other
/// programs of the workload, which share the code that refuses bad input.
std::size_t tried(std::size_t count) {
  return program == stage_zero ? count : std::min<std::size_t>(count, 1);
}

TEST(BadInput, OnTheCommandLineIsRefused) {
  expect_refusal(run({"--frobnicate"}), 2, {"'--frobnicate'", "--dataset"});
  expect_refusal(run({"surplus"}), 2, {"'surplus'", "--dataset"});
  expect_refusal(run({"--dataset"}), 2, {"--dataset"});
  expect_refusal(run({"--dataset", "enormous"}), 2, {"'enormous'", "tiny"});
  for (const char* value : {"0", "-1", "1.5", "many", "", "99999999999"})
    expect_refusal(run({fmt::format("--repeat={}", value)}), 2, {"--repeat"});
  expect_refusal(run({"--warmup", "-1"}), 2, {"--warmup", "-1"});
  if (description().at("device") == "cpu")
    expect_refusal(run({"--awake"}), 2, {"--awake", "runs on the processor"});
  expect_refusal(run({"--report", "report.json"}), 2, {"--report", "--analyze"});
  expect_refusal(run({"--blocks", "4"}), 2, {"--blocks", "--analyze"});
  expect_refusal(run({"--set", "nonsense"}), 2, {"'nonsense'", "KEY=VALUE"});
  expect_refusal(run({"--set", "size_of_moon=3"}), 2, {"'size_of_moon=3'", "keys"});
  expect_refusal(run({"--set", "=3"}), 2, {"'=3'", "keys"});
}

TEST(BadInput, InThePrecisionIsRefused) {
  const std::string allowed = fmt::format("must be {}", fmt::join(precisions(), " or "));
  for (const std::string precision : {"f16", "f32", "f64"})
    if (!description().at("tolerance").contains(precision))
      expect_refusal(run({"--precision", precision}), 2, {allowed, "'" + precision + "'"});
}

TEST(BadInput, InEveryParameterIsRefused) {
  const json& parameters = description().at("parameters");
  for (std::size_t p = 0; p < tried(parameters.size()); ++p) {
    const json& parameter = parameters[p];
    const std::string name = parameter.at("name");
    Arguments values{"", "many", "nan", "inf", "-inf", "1e400", "0x10", "1 ", "1;2"};
    if (parameter.at("type") == "integer")
      values.insert(values.end(), {"1.5", "1e3", "99999999999999999999"});
    for (const auto& [text, value] : {std::pair("-1", -1.0), {"-0.5", -0.5}, {"0", 0.0}})
      if (parameter.at("min") > value) values.push_back(text);
    values.push_back(fmt::format("{}", parameter.at("max").get<double>() * 2 + 1));
    for (const auto& value : values)
      expect_refusal(run({"--set", name + "=" + value}), 2, {name, "'" + value + "'", "from"});
  }
}

/// The sizes of a problem: the integer parameters that are positive in the smallest data set.
std::vector<std::pair<std::string, json>> sizes() {
  std::vector<std::pair<std::string, json>> sizes;
  const json& tiny = description().at("datasets").at("tiny");
  for (const auto& parameter : description().at("parameters"))
    if (const std::string name = parameter.at("name");
        parameter.at("type") == "integer" && tiny.at(name) > 0)
      sizes.emplace_back(name, parameter);
  return sizes;
}

/// A lower bound for the memory, in bytes, of the largest problem; `tiny` is the record of the
/// smallest problem.
double largest_memory(const json& tiny) {
  double bytes = tiny.at("memory").at("array_bytes");  // grows at least in proportion to each size
  for (const auto& [name, parameter] : sizes())
    bytes *= most_of(parameter) / tiny.at("parameters").at(name).get<double>();
  return bytes;
}

TEST(Memory, ThatIsNotThereIsRefused) {
  Arguments arguments;
  for (const auto& [name, parameter] : sizes())
    arguments.insert(arguments.end(),
                     {"--set", fmt::format("{}={}", name, std::lround(most_of(parameter)))});
  // A stage may have its own limit, which it then names in the refusal.
  const ProcessResult result = run(arguments);
  if (result.status == 2)
    expect_refusal(result, 2, {"at most"});
  else
    expect_refusal(result, 3, {"bytes"});
}

/// A stage names the compute capability that it needs, and refuses a GPU with the next lower
/// capability. A stage without such a requirement runs on the lowest capability of all.
TEST(Needs, ThatAreNotThereAreNotAvailable) {
  if (description().at("device") == "gpu") GTEST_SKIP() << "a GPU has no other capability";
  const json needs = description().at("needs");
  const std::string named = needs.empty() ? "" : needs.back().get<std::string>();
  const bool is_9 = named.find("compute capability 9.0") != std::string::npos;
  const bool is_8 = named.find("compute capability 8.0") != std::string::npos;
  const ProcessResult result =
      run({"--dataset", "tiny"},
          {.environment = {is_9 ? "CUDA_ON_CPU_CAPABILITY=89" : "CUDA_ON_CPU_CAPABILITY=75"}});
  if (named.empty())
    EXPECT_EQ(result.status, 0) << result.err;
  else if (is_9)
    expect_refusal(result, 77, {"this stage needs", "9.0", "8.9"});
  else if (is_8)
    expect_refusal(result, 77, {"this stage needs", "8.0", "7.5"});
  else
    FAIL() << "no compute capability is named in '" << named << "'";
}

TEST(Limits, AreNamedWhereAProblemIsBeyondThem) {
  for (const auto& [name, limit] : description().at("limits").items())
    expect_refusal(run({"--dataset", "tiny", "--set",
                        fmt::format("{}={}", name, std::lround(limit.get<double>()) + 1)}),
                   77, {fmt::format("this stage takes {} up to {}", name, limit.get<double>())});
}

/// The solution is not compared, because stage zero may lack the memory for such a problem. The CPU
/// device solves only small problems, because a large one would take minutes.
TEST(LastWithinLimits, IsTaken) {
  const bool on_cpu_device = description().at("device") == "cpu-device";
  std::string left_out;
  for (const auto& [name, limit] : description().at("limits").items()) {
    const std::string setting = fmt::format("{}={}", name, std::lround(limit.get<double>()));
    if (on_cpu_device && limit > 1000) {
      left_out += " " + setting;
      continue;
    }
    for (const auto& precision : precisions()) {
      const ProcessResult result =
          run({"--dataset", "tiny", "--set", setting, "--precision", precision});
      EXPECT_EQ(result.status, 0) << setting << ", " << precision << ": " << result.err;
    }
  }
  if (!left_out.empty()) GTEST_SKIP() << "too large for the CPU device:" << left_out;
}

/// Several input files of the program, one of which is bad.
class BadFile {
 public:
  explicit BadFile(std::size_t place) : place_(place) {
    for (std::size_t i = 0; i < inputs().size(); ++i)
      write_npy(good(i), array(i, inputs()[i].least_elements));
  }

  const Input& input() const { return inputs()[place_]; }
  double good_value() const { return value_for(place_); }
  std::filesystem::path path(const std::string& name) const { return directory_ / name; }

  void refuses(const std::string& name, std::vector<std::string> fragments) const {
    fragments.push_back(name);
    expect_refusal(run_with(path(name)), 2, fragments);
  }

  /// Runs the program with a file as one input, and with good files as the other inputs.
  ProcessResult run_with(const std::string& file) const {
    Arguments arguments;
    for (std::size_t i = 0; i < inputs().size(); ++i)
      arguments.insert(arguments.end(), {"--input", i == place_ ? file : good(i)});
    return run(arguments);
  }

  /// The contents of a valid input file.
  std::string bytes_of_good_file() const {
    write_npy(path("good.npy"), array(place_, 3));
    std::ifstream good(path("good.npy"), std::ios::binary);
    return {std::istreambuf_iterator<char>(good), {}};
  }

 private:
  static double value_for(std::size_t i) { return (inputs()[i].least() + inputs()[i].typical) / 2; }
  static NpyArray array(std::size_t i, std::size_t elements) {
    return {inputs()[i].row(elements), Elements<double>(elements, value_for(i))};
  }
  std::string good(std::size_t i) const { return directory_ / fmt::format("good_{}.npy", i); }

  std::size_t place_;
  Directory directory_;
};

TEST(BadInput, InAnyInputFileIsRefused) {
  for (std::size_t place = 0; place < tried(inputs().size()); ++place) {
    SCOPED_TRACE(fmt::format("--input number {}", place));
    const BadFile file(place);
    file.refuses("missing.npy", {"does not exist"});
    expect_refusal(file.run_with("/"), 2, {"'/'", "not a regular file"});

    write_text(file.path("text.npy"), "these are no numbers");
    file.refuses("text.npy", {"not a .npy file"});

    const std::string bytes = file.bytes_of_good_file();
    for (const std::size_t length : {0ul, 5ul, 9ul, 60ul, 128ul, bytes.size() - 1}) {
      write_text(file.path("short.npy"), bytes.substr(0, length));
      file.refuses("short.npy", {});
    }
    write_text(file.path("long.npy"), bytes + "x");
    file.refuses("long.npy", {"more than its shape says"});

    const Input& input = file.input();
    write_npy(file.path("whole.npy"), {input.row(2), Elements<std::int32_t>{1, 2}});
    file.refuses("whole.npy", {"'<i4'", "<f8"});
    for (const std::size_t rank : {input.rank - 1, input.greatest_rank + 1}) {
      write_npy(file.path("rank.npy"),
                {std::vector<std::size_t>(rank, 1), Elements<double>{file.good_value()}});
      file.refuses("rank.npy", {fmt::format("{} dimensions", rank)});
    }
    write_npy(file.path("empty.npy"), {input.row(0), Elements<double>{}});
    file.refuses("empty.npy", {"empty"});
    for (const double value : {std::nan(""), double{INFINITY}, input.min - std::abs(input.min) - 1,
                               input.max + std::abs(input.max) + 1}) {
      Elements<double> values(input.allowed(2), file.good_value());
      values[1] = value;
      write_npy(file.path("bad.npy"), {input.row(values.size()), values});
      file.refuses("bad.npy", {"element 1", "from"});
    }
  }
}

TEST(BadInput, OfTooManyOrTooFewFilesIsRefused) {
  std::mt19937_64 random(1);
  const Directory directory;
  Arguments options = options_for(random_inputs(random, 0), directory);
  const auto refuses = [](const Arguments& given) {
    expect_refusal(run(given), 2,
                   {fmt::format("--input was given {} file", given.size() / 2),
                    fmt::format("it takes {}", inputs().size())});
  };
  const Arguments one_file(options.begin(), options.begin() + 2);
  options.insert(options.end(), one_file.begin(), one_file.end());
  refuses(options);
  if (inputs().size() > 1) refuses(one_file);
}

/// Extents with the same name must be equal in all files.
TEST(BadInput, OfShapesThatDoNotFitIsRefused) {
  std::mt19937_64 random(1);
  std::map<std::string, std::size_t> known;
  std::vector<NpyArray> arrays;
  bool differ = false;
  for (const Input& input : inputs()) {
    std::vector<std::size_t> shape(input.rank, 3);
    for (std::size_t d = 0; d < std::min(input.rank, input.extents.size()); ++d)
      if (!known.try_emplace(input.extents[d], 3).second) {
        shape[d] = 5;
        differ = true;
      }
    arrays.push_back(random_array(input, shape, random));
  }
  const Directory directory;
  if (differ) expect_refusal(run(options_for(arrays, directory)), 2, {"3", "5"});
}

// --- Output that cannot be written

/// Arguments for the smallest test case, followed by `more`.
Arguments smallest_and(const Arguments& more) {
  Arguments arguments = settings_of(description().at("test_cases").at("smallest"));
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Output, ThatCannotBeWrittenIsRefusedAndLeavesNothing) {
  const Directory directory;
  write_text(directory / "file", "");
  for (const char* option : {"--output", "--json"}) {
    const auto to = [&](const std::string& path) { return run(smallest_and({option, path})); };
    expect_refusal(to(directory / "no/such/out"), 2, {"no/such/out", "no directory"});
    expect_refusal(to(directory / "file/out"), 2, {"file/out", "no directory"});
    expect_refusal(to(directory / ""), 2, {"directory"});
    expect_refusal(to("/dev/full"), 2, {"/dev/full", "No space left"});
  }
  EXPECT_EQ(directory.files(), Arguments{"file"});
}

TEST(Output, ToAFullOrClosedStandardOutputFails) {
  for (const Arguments& arguments : {smallest_and({}), smallest_and({"--json", "-"}),
                                     Arguments{"--describe"}, Arguments{"--help"}}) {
    expect_refusal(run(arguments, {.out_path = "/dev/full"}), 2, {"standard output"});
    expect_refusal(run(arguments, {.closed = {1}}), 2, {"standard output"});
  }
}

TEST(Output, IsNotMixedWithAClosedStandardOutput) {
  const Directory directory;
  const ProcessResult result =
      run(smallest_and({"--output", directory / "solution.npy"}), {.closed = {0, 1}});
  expect_refusal(result, 2, {"standard output"});
  EXPECT_NO_THROW(read_npy(directory / "solution.npy"));
}

TEST(Output, ReplacesAFileAndKeepsASymbolicLink) {
  const Directory directory;
  write_text(directory / "old.npy", "old");
  std::filesystem::create_symlink("old.npy", directory / "link.npy");
  EXPECT_EQ(run(smallest_and({"--output", directory / "link.npy"})).status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link.npy"));
  EXPECT_NO_THROW(read_npy(directory / "old.npy"));
  EXPECT_EQ(directory.files(), (Arguments{"link.npy", "old.npy"}));
}

/// Leaves out the tests that do not apply to the program, or that need missing hardware.
void choose_tests() {
  const std::string device = description().at("device");
  // Other devices have their own memory for arrays, and sanitizers use additional memory.
  if (SANITIZED || device != "cpu") leave_out("Record.ContainsTheMemoryOfArrays");
  // All programs share the code that refuses bad input, so one program is enough for sanitizers.
  if (SANITIZED && program != stage_zero) leave_out("BadInput.*");
  // On the processor, systems that exceed the shared memory of a GPU are not a special case, and
  // their arrays are large.
  if (device == "cpu")
    leave_out(SANITIZED ? "*beyond_shared_memory*"
                        : "*beyond_shared_memory_f32:*Threads*beyond_shared_memory");
  // Only the CPU device can simulate other compute capabilities.
  if (device != "cpu-device") leave_out("Needs.ThatAreNotThereAreNotAvailable");
  const ProcessResult tiny = try_device(
      program,
      {"*Solution", "*Threads", "RandomProblem", "Record", "Memory", "LastWithinLimits", "Output"});
  // A program that cannot run here loads its libraries for each refusal. Its counterpart for the
  // CPU device checks the rest.
  if (tiny.status == static_cast<int>(Exit::not_available))
    leave_out("BadInput.InEveryParameterIsRefused:BadInput.InAnyInputFileIsRefused");
  // A machine with enough memory would solve for years.
  if (tiny.status == 0 && largest_memory(json::parse(tiny.out)) < 2 * this_machine().memory)
    leave_out("Memory.ThatIsNotThereIsRefused");
}

}  // namespace
}  // namespace staircase::test

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: contract_test PROGRAM STAGE_ZERO [GTEST OPTIONS]\n");
    return 2;
  }
  staircase::test::program = std::filesystem::absolute(argv[1]);
  staircase::test::stage_zero = std::filesystem::absolute(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  staircase::test::choose_tests();
  return staircase::test::run_all_tests();
}
