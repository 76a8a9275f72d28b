/// \file
/// Calls run_stage() on toy stages within this test, in the same way as a stage's `main`.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <harness/npy.hpp>
#include <harness/workload.hpp>
#include <limits>
#include <staircase/error.hpp>
#include <staircase/stage.hpp>
#include <thread>

#include "support.hpp"

namespace staircase::test {
namespace {

using nlohmann::json;

/// A sum over a vector that the user supplies, or that is generated before the solve.
struct Sum {
  std::int64_t n = 4;
  Elements<double> terms = {};
};

/// The functions that the harness called, in order.
std::vector<std::string> calls;

void set_inputs(Sum& sum, std::vector<NpyArray> inputs) {
  calls.push_back("input");
  sum.n = static_cast<std::int64_t>(inputs[0].size());
  sum.terms = std::move(inputs[0]).as_double();
}

void prepare(Sum& sum, Precision precision) {
  calls.push_back(precision == Precision::f64 ? "prepare" : "prepare f32");
  if (sum.terms.empty()) sum.terms.assign(static_cast<std::size_t>(sum.n), 0.5);
}

template <typename Real>
Array<Real, 1> solve(const Sum& sum, Timeline&) {
  calls.push_back("solve");
  Array<Real, 1> result(1);
  result(0) = 0;
  for (const double term : sum.terms) result(0) += static_cast<Real>(term);
  return result;
}

const Workload<Sum, 1> workload{
    .parameters = {{"n", &Sum::n, 1, 1e15, "terms"}},
    .datasets = {{"tiny", {}}},
    .test_cases = {},
    .inputs = {{.rank = 1, .min = -10, .max = 10, .typical = 1, .meaning = "terms"}},
    .set_inputs = set_inputs,
    .check = [](const Sum&, Precision) {},
    .prepare = prepare,
    .work = [](const Sum& sum, Precision precision) -> Work {
      return {static_cast<double>(sum.n), bytes_of(precision) * static_cast<double>(sum.n + 1)};
    },
    .tolerance = [](const Sum&, Precision) { return Tolerance{1e-6}; }};

using SumStage = Stage<Sum, 1>;

SumStage stage() {
  return {.title = "Toy", .idea = "Sum up", .solve_f64 = solve<double>, .solve_f32 = solve<float>};
}

/// Runs a function like the program of a stage, and captures its output.
template <typename Run>
ProcessResult captured(std::vector<std::string> arguments, Run run) {
  arguments.insert(arguments.begin(), "toy");
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  calls.clear();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  ProcessResult result;
  result.status = run(static_cast<int>(argv.size()), argv.data());
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  return result;
}

ProcessResult run(const SumStage& stage, std::vector<std::string> arguments) {
  return captured(std::move(arguments), [&](int argc, char** argv) {
    return run_stage(argc, argv, workload, stage, "stages/toy/00_toy/toy.cpp");
  });
}

using Calls = std::vector<std::string>;

TEST(Precisions, AreThoseForWhichThereIsASolver) {
  SumStage f64 = stage(), f32 = stage();
  f64.solve_f32 = nullptr;
  f32.solve_f64 = nullptr;
  const auto description = [](const SumStage& stage) {
    return json::parse(run(stage, {"--describe"}).out);
  };
  EXPECT_EQ(description(stage()).at("precisions"), (json{"f64", "f32"}));
  EXPECT_EQ(description(f64).at("precisions"), json::array({"f64"}));
  EXPECT_EQ(description(f32).at("precisions"), json::array({"f32"}));
  EXPECT_EQ(description(f64).at("tolerance").size(), 1u);
  EXPECT_TRUE(description(f32).at("tolerance").contains("f32"));

  const auto default_of = [](const SumStage& stage) {
    return json::parse(run(stage, {"--json", "-"}).out).at("precision");
  };
  EXPECT_EQ(default_of(stage()), "f64");
  EXPECT_EQ(default_of(f64), "f64");
  EXPECT_EQ(default_of(f32), "f32");

  expect_refusal(run(f64, {"--precision", "f32"}), 2, {"--precision must be f64, not 'f32'"});
  expect_refusal(run(f32, {"--precision", "f64"}), 2, {"--precision must be f32, not 'f64'"});
  expect_refusal(run(stage(), {"--precision", "f16"}), 2,
                 {"--precision must be f64 or f32, not 'f16'"});
}

TEST(Prepare, MakesTheInputOnceBeforeTheFirstSolve) {
  EXPECT_EQ(run(stage(), {"--warmup", "1", "--repeat", "2"}).status, 0);
  EXPECT_EQ(calls, (Calls{"prepare", "solve", "solve", "solve"}));
  EXPECT_EQ(run(stage(), {"--precision", "f32"}).status, 0);
  EXPECT_EQ(calls, (Calls{"prepare f32", "solve"}));
  const Directory directory;
  write_npy(directory / "in.npy", {{3}, Elements<float>{1, 2, -0.5}});
  EXPECT_EQ(
      run(stage(), {"--input", directory / "in.npy", "--output", directory / "out.npy"}).status, 0);
  EXPECT_EQ(calls, (Calls{"input", "prepare", "solve"}));
  EXPECT_EQ(read_npy(directory / "out.npy").as_double(), Elements<double>{2.5});
}

TEST(CheckSolution, RefusesAnInputBeforeTheHarnessSeesANaN) {
  SumStage poisoned = stage();
  poisoned.solve_f64 = [](const Sum&, Timeline&) { return Array<double, 1>(1); };
  EXPECT_EQ(run(poisoned, {}).status, 1);
  Workload<Sum, 1> checked = workload;
  checked.check_solution = [](const Sum& sum, const NpyArray& solution) {
    if (std::isnan(solution.as_double().front()))
      throw BadInput(fmt::format("there is no sum of {} terms", sum.n));
  };
  const auto run_checked = [&](const SumStage& stage) {
    return captured({}, [&](int argc, char** argv) {
      return run_stage(argc, argv, checked, stage, "stages/toy/00_toy/toy.cpp");
    });
  };
  expect_refusal(run_checked(poisoned), 2, {"there is no sum of 4 terms"});
  EXPECT_EQ(run_checked(stage()).status, 0);
}

TEST(Input, HasAsManyElementsAsItNeeds) {
  Workload<Sum, 1> needs_three = workload;
  needs_three.inputs[0].least_elements = 3;
  const Directory directory;
  const auto solve_for = [&](Elements<double> terms) {
    write_npy(directory / "in.npy", {{terms.size()}, terms});
    return captured({"--input", directory / "in.npy"}, [&](int argc, char** argv) {
      return run_stage(argc, argv, needs_three, stage(), "stages/toy/00_toy/toy.cpp");
    });
  };
  EXPECT_EQ(solve_for({1, 2, 3}).status, 0);
  expect_refusal(solve_for({1, 2}), 2, {"in.npy", "2 elements;", "at least 3"});
  expect_refusal(solve_for({1}), 2, {"in.npy", "1 element;", "at least 3"});
  EXPECT_EQ(solve_for({1, 2, 3, 4, 5}).status, 0);
  needs_three.inputs[0].most_elements = 4;
  EXPECT_EQ(solve_for({1, 2, 3, 4}).status, 0);
  expect_refusal(solve_for({1, 2, 3, 4, 5}), 2, {"in.npy", "5 elements;", "at most 4"});
}

/// The contents of two files are passed on together, in the order of their options.
TEST(Input, MayComeFromSeveralFiles) {
  Workload<Sum, 1> two = workload;
  two.inputs.push_back({.rank = 2, .min = 0, .max = 9, .typical = 1, .meaning = "weights"});
  two.set_inputs = [](Sum& sum, std::vector<NpyArray> inputs) {
    sum.n = static_cast<std::int64_t>(inputs[0].size());
    sum.terms = inputs[0].as_double();
    for (const double weight : inputs[1].as_double()) sum.terms[0] += weight;
  };
  const Directory directory;
  const std::string terms = directory / "terms.npy", weights = directory / "weights.npy";
  write_npy(terms, {{3}, Elements<double>{1, 2, -0.5}});
  write_npy(weights, {{1, 2}, Elements<float>{4, 8}});
  const auto run_two = [&](const std::vector<std::string>& arguments) {
    return captured(arguments, [&](int argc, char** argv) {
      return run_stage(argc, argv, two, stage(), "stages/toy/00_toy/toy.cpp");
    });
  };
  const ProcessResult solved = run_two(
      {"--input", terms, "--input", weights, "--output", directory / "out.npy", "--json", "-"});
  ASSERT_EQ(solved.status, 0) << solved.err;
  EXPECT_EQ(read_npy(directory / "out.npy").as_double(), Elements<double>{14.5});
  EXPECT_EQ(json::parse(solved.out).at("input"), (json{"terms.npy", "weights.npy"}));
  EXPECT_EQ(json::parse(run(stage(), {"--input", terms, "--json", "-"}).out).at("input"),
            "terms.npy");

  expect_refusal(run_two({"--input", terms}), 2,
                 {"--input was given 1 file; it takes 2: terms, then weights"});
  expect_refusal(run_two({"--input", terms, "--input", weights, "--input", terms}), 2,
                 {"--input was given 3 files; it takes 2"});
  expect_refusal(run(stage(), {"--input", terms, "--input", terms}), 2,
                 {"--input was given 2 files; it takes 1: terms"});
  expect_refusal(run_two({"--input", weights, "--input", terms}), 2,
                 {"weights.npy", "2 dimensions; terms must have 1"});
  expect_refusal(run_two({"--input", terms, "--input", terms}), 2,
                 {"terms.npy", "1 dimensions; weights must have 2"});
  expect_refusal(run_two({"--input", terms, "--input", weights, "--set", "n=4"}), 2,
                 {"n = 4 was set", "terms.npy' or '", "weights.npy' has 3"});
  const std::string help = run_two({"--help"}).out;
  EXPECT_NE(help.find("one --input for each"), std::string::npos) << help;
  EXPECT_EQ(json::parse(run_two({"--describe"}).out).at("inputs").size(), 2u);
}

TEST(Prepare, IsNotCalledForWhatIsRefused) {
  for (const Calls& arguments :
       {Calls{"--describe"}, Calls{"--set", "n=0"}, Calls{"--repeat", "0"},
        Calls{"--output", "/no/such/file"}, Calls{"--set", "n=1000000000000000"}}) {
    run(stage(), arguments);
    EXPECT_EQ(calls, Calls()) << arguments.front();
  }
}

TEST(Record, ContainsWhetherTheWorkIsAMatrixProduct) {
  const auto modelled = [](bool matrix) {
    auto other = workload;
    if (matrix) other.work = [](const Sum&, Precision) -> Work { return {1, 1, true}; };
    const ProcessResult result = captured({"--json", "-"}, [&](int argc, char** argv) {
      return run_stage(argc, argv, other, stage(), "stages/toy/00_toy/toy.cpp");
    });
    return json::parse(result.out).at("modelled");
  };
  EXPECT_EQ(modelled(true).at("matrix"), true);
  EXPECT_FALSE(modelled(false).contains("matrix"));
}

TEST(Record, TakesTheTimeOfThePhaseThatIsTimed) {
  const auto record = [](const char* phase) {
    auto other = workload;
    other.timed_phase = phase;
    auto slow = stage();
    slow.solve_f64 = [](const Sum& sum, Timeline& timeline) {
      timeline.begin("slow");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      timeline.begin("quick");
      return solve<double>(sum, timeline);
    };
    return captured({"--json", "-"}, [&](int argc, char** argv) {
      return run_stage(argc, argv, other, slow, "stages/toy/00_toy/toy.cpp");
    });
  };
  const json whole = json::parse(record(nullptr).out), quick = json::parse(record("quick").out);
  EXPECT_TRUE(whole.at("timed_phase").is_null());
  EXPECT_EQ(whole.at("seconds").at("median"), whole.at("repeats")[0].at("seconds"));
  EXPECT_EQ(quick.at("timed_phase"), "quick");
  EXPECT_EQ(quick.at("seconds").at("median"), quick.at("repeats")[0].at("phases").at("quick"));
  EXPECT_LT(quick.at("seconds").at("median"), quick.at("repeats")[0].at("seconds"));
  expect_refusal(record("none"), 1, {"no phase named none"});
}

TEST(Record, ContainsOverlappingIntervals) {
  const auto out_of = [](std::vector<std::string> arguments) {
    auto timed = workload;
    timed.timed_phase = "kernels";
    auto overlapped = stage();
    overlapped.solve_f64 = [](const Sum& sum, Timeline& timeline) {
      timeline.begin("pipeline");
      timeline.add_overlapping("copy in", 0, 0.5);
      timeline.add_overlapping("kernels", 0.25, 0.75);
      timeline.add_overlapping("kernels", 1, 1.5);
      return solve<double>(sum, timeline);
    };
    return captured(std::move(arguments),
                    [&](int argc, char** argv) {
                      return run_stage(argc, argv, timed, overlapped, "stages/toy/00_toy/toy.cpp");
                    })
        .out;
  };
  const json record = json::parse(out_of({"--json", "-", "--repeat", "1"}));
  const json& repeat = record.at("repeats")[0];
  EXPECT_EQ(repeat.at("phases").size(), 1u);
  ASSERT_EQ(repeat.at("beside").size(), 3u);
  EXPECT_EQ(repeat.at("beside")[1], json({{"name", "kernels"}, {"begin", 0.25}, {"end", 0.75}}));
  EXPECT_EQ(record.at("seconds").at("median"), 1) << "the timed phase is beside the others";
  EXPECT_NE(out_of({}).find("kernels (overlapping)    1.000000 s"), std::string::npos);
  EXPECT_FALSE(json::parse(captured({"--json", "-"},
                                    [&](int argc, char** argv) {
                                      return run_stage(argc, argv, workload, stage(),
                                                       "stages/toy/00_toy/toy.cpp");
                                    })
                               .out)
                   .at("repeats")[0]
                   .contains("beside"));
}

TEST(Memory, OfArraysIsRecorded) {
  auto stage_with = stage();
  stage_with.solve_f64 = [](const Sum& sum, Timeline& timeline) {
    { const Array<double, 2> released(1000, 1000); }
    const Array<float, 1> kept(1000);
    return solve<double>(sum, timeline);
  };
  const json record = json::parse(run(stage_with, {"--json", "-"}).out);
  EXPECT_GE(record.at("memory").at("array_bytes"), 8e6);
  EXPECT_LT(record.at("memory").at("array_bytes"), 9e6);
}

TEST(Memory, ThatTheMachineLacksIsRefusedWhenAnArrayIsMade) {
  auto greedy = stage();
  greedy.solve_f64 = [](const Sum&, Timeline&) { return Array<double, 1>(std::size_t{1} << 57); };
  expect_refusal(run(greedy, {}), 3,
                 {"at least 1152921504606846976 bytes of host memory", "are available"});
  greedy.solve_f64 = [](const Sum&, Timeline&) {
    const Array<double, 2> more_than_can_be_counted(std::size_t{1} << 62, 8);
    return Array<double, 1>(1);
  };
  expect_refusal(run(greedy, {}), 3, {"not enough memory"});
}

TEST(MemoryDeathTest, ThatTheMachineLacksIsRefusedInAParallelRegion) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto greedy = stage();
  greedy.solve_f64 = [](const Sum&, Timeline&) {
#pragma omp parallel num_threads(2)
    const Array<double, 1> array(std::size_t{1} << 57);
    return Array<double, 1>(1);
  };
  char name[] = "toy", *argv[] = {name, nullptr};
  EXPECT_EXIT(run_stage(1, argv, workload, greedy, "stages/toy/00_toy/toy.cpp"),
              testing::ExitedWithCode(3), "toy: this problem needs .* bytes of host memory");
}

TEST(Record, ContainsTheTimeOfACopyOnAGpuWithEnoughMemory) {
  const Device gpu{.kind = "gpu",
                   .prepare = [] {},
                   .name = [] { return std::string("toy"); },
                   .free_memory = [] { return 8000.0; },
                   .seconds_to_copy = [](double bytes) { return bytes / 1000; }};
  const auto repeat = [&](double compulsory) {
    StageProgram program{};
    program.source_file = "stages/toy/00_toy/toy.cu";
    program.device = &gpu;
    program.precisions = {Precision::f64};
    program.datasets = {{"tiny", {}}};
    program.inputs = workload.inputs;
    program.set_values = [](const auto&) {};
    program.values = [] { return std::vector<double>(); };
    program.check = [](Precision) {};
    program.work = [=](Precision) { return Work{1, compulsory}; };
    program.tolerance = [](Precision) { return Tolerance{}; };
    program.traffic = [](const std::string&) { return std::optional<double>(); };
    program.solve = [](Precision, Timeline&) { return NpyArray{{1}, Elements<double>{1}}; };
    const ProcessResult result = captured(
        {"--json", "-"}, [&](int argc, char** argv) { return run_program(argc, argv, program); });
    return json::parse(result.out).at("repeats").at(0);
  };
  EXPECT_EQ(repeat(800).at("copy_seconds"), 0.8);
  EXPECT_FALSE(repeat(4008).contains("copy_seconds"));
}

/// Calls write_file() in a child process whose file-size limit is half of the file's size. At the
/// limit, the child sends itself `signal`. Returns the wait status of the child.
int interrupted_by(int signal, const std::filesystem::path& path, bool ignored = false) {
  static int sent;
  sent = signal;
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit half{4096, RLIM_INFINITY}, no_core{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &half);
    ::setrlimit(RLIMIT_CORE, &no_core);
    std::signal(signal, ignored ? SIG_IGN : SIG_DFL);
    std::signal(SIGXFSZ, [](int) { std::raise(sent); });
    try {
      write_file(path, {std::string(8192, 'x')});
    } catch (const BadInput&) {
      ::_exit(2);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(File, IsNotLeftInPartByASignal) {
  const Directory directory;
  write_text(directory / "old", "old");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = interrupted_by(signal, directory / "old");
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_EQ(directory.files(), std::vector<std::string>{"old"}) << "signal " << signal;
  }
  const int refused = interrupted_by(SIGINT, directory / "old", true);
  EXPECT_TRUE(WIFEXITED(refused) && WEXITSTATUS(refused) == 2) << "it was ignored before";
  EXPECT_EQ(directory.files(), std::vector<std::string>{"old"});
  interrupted_by(SIGKILL, directory / "old");
  EXPECT_EQ(directory.files().size(), 2u) << "the signals came while the file was written";
  std::ifstream old(directory / "old");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(old), {}), "old");
}

TEST(File, LeavesSignalsAsTheyWere) {
  const Directory directory;
  const auto handler = +[](int) {};
  const auto before = std::signal(SIGTERM, handler), hangup = std::signal(SIGHUP, SIG_DFL);
  write_file(directory / "new", {"new"});
  EXPECT_EQ(std::signal(SIGTERM, before), handler);
  EXPECT_EQ(std::signal(SIGHUP, hangup), SIG_DFL);
}

TEST(Memory, IsNotTakenByAFileThatDoesNotFit) {
  const Directory directory;
  const auto header = [](std::size_t elements) {
    const std::string text =
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(elements) + ",), }";
    return "\x93NUMPY\x01" + std::string(1, '\0') + static_cast<char>(text.size()) +
           std::string(1, '\0') + text;
  };
  const std::size_t elements = std::size_t{1} << 40;
  write_text(directory / "huge.npy", header(elements));
  const auto size = std::filesystem::file_size(directory / "huge.npy") + 8 * elements;
  std::error_code error;
  std::filesystem::resize_file(directory / "huge.npy", size, error);  // a sparse file
  if (error) GTEST_SKIP() << "the file system does not take such a file: " << error.message();
  expect_refusal(run(stage(), {"--input", directory / "huge.npy"}), 3,
                 {"huge.npy", "takes 8796093022208 bytes", "available"});
  EXPECT_EQ(calls, Calls());
}

}  // namespace
}  // namespace staircase::test
