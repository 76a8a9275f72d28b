/// \file
/// Tests the runner on toy stages that misbehave and on real stages: climb_test CLIMB STAGES
/// SOURCE.

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ceilings.hpp>
#include <csignal>
#include <fstream>
#include <harness/machine.hpp>
#include <harness/npy.hpp>
#include <ladder.hpp>
#include <recording.hpp>

#include "support.hpp"

namespace staircase::test {
namespace {

using nlohmann::json;
using Strings = std::vector<std::string>;

std::string climb;
std::string stages;
std::string source;

/// A workload of toy stages: shell scripts that copy prepared solutions and records.
class Toys {
 public:
  // Properties of the stages that are added next.
  std::string workload = "toy";
  json precisions = {"f64", "f32"};
  json timed_phase = nullptr;
  json limits = json::object();
  bool ranks = false, threads = false;
  std::string header;  // the header comment of their sources

  /// \param seconds the time that the stage reports, for its timed phase if there is one; the
  /// complete solves take 1 to 10 s longer, 2 s in the median
  void add(const std::string& stage, Elements<double> solution, double seconds = 1,
           const std::string& device = "cpu",
           const json& modelled = {{"flops", 1.0}, {"bytes", 1.0}}) {
    const std::string prepared = directory_ / (stage + "-" + device);
    write_npy(prepared + ".npy", {{solution.size()}, solution});
    json repeats;
    for (double copies : {1, 10, 2}) repeats.push_back({{"seconds", seconds + copies}});
    const json record{{"workload", workload},
                      {"stage", stage},
                      {"dataset", "tiny"},
                      {"device", device},
                      {"parameters", {{"n", 2}}},
                      {"seconds", {{"min", seconds}, {"median", seconds}, {"max", seconds}}},
                      {"timed_phase", timed_phase},
                      {"repeats", repeats},
                      {"tolerance", to_json(Tolerance{1e-6})},
                      {"modelled", modelled}};
    write_text(prepared + ".json", record.dump());
    add_script(stage, fmt::format("cp '{0}.npy' \"$output\"; cp '{0}.json' \"$json\"", prepared),
               device);
  }

  /// Adds a stage that runs on a GPU and models its kernels' traffic.
  void add_gpu(const std::string& stage, double seconds, double flops, double traffic_bytes) {
    add(stage, {1, 2}, seconds, "gpu",
        {{"flops", flops}, {"bytes", 1.0}, {"traffic_bytes", traffic_bytes}});
  }

  /// Adds a stage that runs a shell command instead of solving; the command finds the arguments in
  /// $all.
  void add_script(const std::string& stage, const std::string& command,
                  const std::string& device = "cpu") {
    const std::string source = stage + ".cu";
    write_text(directory_ / source, header + "common\n" + stage + "\n");
    const json description{{"workload", workload},
                           {"stage", stage},
                           {"title", "T"},
                           {"idea", "idea of " + stage},
                           {"source", source},
                           {"device", device},
                           {"precisions", precisions},
                           {"timed_phase", timed_phase},
                           {"limits", limits},
                           {"ranks", ranks},
                           {"threads", threads},
                           {"datasets", {{"big", {{"n", 1000}}}, {"tiny", {{"n", 2}}}}},
                           {"default_dataset", "tiny"}};
    write_script(program(stage, device),
                 fmt::format("if [ \"$1\" = --describe ]; then echo '{}'; exit; fi\n"
                             "all=$*\n"
                             "while [ $# -gt 0 ]; do case $1 in\n"
                             "--output) output=$2;; --json) json=$2;; esac; shift; done\n{}",
                             description.dump(), command));
  }

  /// Adds a program that analyses a stage's accesses: it writes a prepared report, then runs a
  /// command.
  void add_analysis(const std::string& stage, const json& report, const std::string& command = "") {
    const std::string prepared = directory_ / (stage + "-report.json");
    write_text(prepared, report.dump());
    write_script(program(stage, "cpu-device") + "-analyze",
                 fmt::format("cp '{}' \"$CUDA_ON_CPU_REPORT\"\n{}", prepared, command));
  }

  ProcessResult run(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {climb, "--programs", directory_ / ""});
    return run_process(arguments);
  }

  std::filesystem::path programs() const { return directory_ / ""; }

 private:
  std::string program(const std::string& stage, const std::string& device) const {
    return directory_ / (workload + "-" + stage + (device == "cpu-device" ? "-cpu" : ""));
  }

  void write_script(const std::string& path, const std::string& commands) const {
    write_text(path, "#!/bin/sh\n" + commands + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  Directory directory_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The line of the table that begins with a stage's name.
std::string line_of(const std::string& table, const std::string& stage) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(stage)) return line;
  return "";
}

TEST(Table, SetsSpeedUpsAndErrorsSideBySide) {
  Toys toys;
  toys.add("00_zero", {1, 2}, 8);
  toys.add("01_half", {1, 2}, 4);
  toys.add("02_tenth", {1, 2.000001}, 0.8);
  toys.add("baseline_lib", {1, 2}, 0.5);
  const ProcessResult result = toys.run();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(line_of(result.out, "00_zero"), "8.000 s")) << result.out;
  EXPECT_TRUE(contains(line_of(result.out, "00_zero"), "stage zero"));
  EXPECT_TRUE(contains(line_of(result.out, "01_half"), "2.00      2.00"));
  EXPECT_TRUE(contains(line_of(result.out, "01_half"), "exact"));
  EXPECT_TRUE(contains(line_of(result.out, "02_tenth"), "800.0 ms"));
  EXPECT_TRUE(contains(line_of(result.out, "02_tenth"), "10.00      5.00"));
  EXPECT_TRUE(contains(line_of(result.out, "02_tenth"), "5.0e-07"));
  EXPECT_LT(result.out.rfind("-----"), result.out.find("baseline_lib")) << "under the line";
}

TEST(Table, SetsStagesAgainstTheLimitsOfTheirDevice) {
  Toys toys;
  toys.add("00_zero", {1, 2}, 8, "cpu", {{"flops", 8e10}, {"bytes", 1.0}});
  toys.add_gpu("01_gpu", 0.5, 1e12, 6e11);
  Ceilings ceilings{
      {1e11, 2e11, 1e10, 1e11}, 5e10, 1e11, GpuCeilings{{1e13, 2e13, 4e12, 1e13}, "GPU", "1"}};
  const Options options;
  const auto table_of = [&](const std::string& precision) {
    RunSettings settings;
    settings.dataset = "tiny";
    settings.precision = precision;
    std::string table;
    Ladder(find_programs(toys.programs()), options, settings, ceilings, {})
        .run([&](const std::string& text) { table += text; });
    return table;
  };
  std::string table = table_of("f64");
  EXPECT_TRUE(
      contains(table, "GPU, driver 1: 10 TFLOP/s in f64, 20 TFLOP/s in f32, copies at 4 TB/s\n"))
      << table;
  EXPECT_TRUE(contains(line_of(table, "00_zero"), "10 %             stage zero")) << table;
  EXPECT_TRUE(contains(line_of(table, "01_gpu"), "20 %       30 %")) << table;
  EXPECT_TRUE(contains(line_of(table_of("f32"), "01_gpu"), "10 %       30 %"));

  ceilings.gpu->flops_f64_matrix = 1.6e13;
  EXPECT_TRUE(contains(table_of("f64"), "10 TFLOP/s in f64, 16 TFLOP/s on tensor cores, 20 TF"));
  EXPECT_TRUE(contains(line_of(table_of("f64"), "01_gpu"), "20 %       30 %"));
  toys.add("01_gpu", {1, 2}, 0.5, "gpu",
           {{"flops", 1e12}, {"bytes", 1.0}, {"traffic_bytes", 6e11}, {"matrix", true}});
  EXPECT_TRUE(contains(line_of(table_of("f64"), "01_gpu"), "12.5 %       30 %")) << table_of("f64");

  ceilings.gpu.reset();
  table = table_of("f64");
  EXPECT_FALSE(contains(table, "% of copy")) << "a column without entries\n" << table;
  EXPECT_EQ(std::count(table.begin(), table.end(), '%'), 4) << "one is in a title\n" << table;
}

/// Four stages; the last one continues the second one.
class From : public testing::Test {
 protected:
  From() {
    toys.add("00_zero", {1, 2}, 8);
    toys.add("01_half", {1, 2}, 4);
    write_text(toys.programs() / "01_half.cu", "common\n01_half\nmore\nstill more\n");
    toys.add("02_aside", {1, 2}, 0.1);
    continues("01_half");
  }

  void continues(const std::string& stage) {
    toys.header =
        "/// \\file\n/// Stage 03.\n///\n/// From:    " + stage + "\n/// Changed: three.\n";
    toys.add("03_back", {1, 2}, 1);
  }

  ProcessResult run(Strings arguments = {}) const {
    arguments.insert(arguments.end(), {"--source", toys.programs()});
    return toys.run(arguments);
  }

  Toys toys;
};

TEST_F(From, IsTheStageThatAStepIsComparedWith) {
  const std::string table = run().out;
  EXPECT_TRUE(contains(line_of(table, "02_aside"), "80.00     40.00")) << table;
  EXPECT_TRUE(contains(line_of(table, "03_back"), "8.00      4.00")) << table;
  EXPECT_TRUE(contains(line_of(table, "03_back"), "+1 -3")) << table;
  const std::string without = run({"--stages", "00,02-03"}).out;
  EXPECT_TRUE(contains(line_of(without, "03_back"), " 8.00  ")) << without;
  EXPECT_FALSE(contains(line_of(without, "03_back"), "0.10")) << "not of 02_aside\n" << without;
}

TEST_F(From, IsTheStageThatADiffIsAgainst) {
  const std::string walk = run({"--step"}).out;
  EXPECT_TRUE(contains(walk, "--- 01_half.cu\n+++ 02_aside.cu")) << walk;
  EXPECT_TRUE(
      contains(walk, "--- 01_half.cu\n+++ 03_back.cu\n@@ -1,4 +6,2 @@\n common\n-01_half\n"))
      << "lines are numbered as in the files, whose header comments are left out\n"
      << walk;
  EXPECT_TRUE(contains(walk, "8.00 times as fast as stage zero, 4.00 times as fast as 01_half"))
      << walk;
}

TEST_F(From, ThatIsNoEarlierStageIsRefused) {
  for (const char* wrong : {"04_later", "03_back", "half", "01_half, mostly", ""}) {
    continues(wrong);
    expect_refusal(run(), 2,
                   {"03_back.cu", fmt::format("'From: {}'", wrong), "00_zero, 01_half, 02_aside"});
  }
  EXPECT_EQ(run({"--stages", "00-02"}).status, 0) << "the others can run";
}

TEST(Verdict, AWrongStageFailsTheRun) {
  Toys toys;
  toys.add("00_zero", {1, 2});
  toys.add("01_wrong", {1, 2.1});
  toys.add("02_nan", {1, std::nan("")});
  toys.add("03_short", {1});
  const ProcessResult result = toys.run();
  EXPECT_EQ(result.status, 1);
  for (const char* stage : {"01_wrong", "02_nan", "03_short"})
    EXPECT_TRUE(contains(line_of(result.out, stage), "DIFFERS")) << result.out;
  EXPECT_TRUE(contains(result.out, "01_wrong differs from stage zero: element (1) is 2.1"))
      << result.out;
}

TEST(Verdict, AStageThatBreaksFailsTheRunButNotTheOthers) {
  Toys toys;
  toys.add("00_zero", {1, 2});
  toys.add_script("01_broken", "echo 'toy: the device failed' >&2; exit 3");
  toys.add_script("02_killed", "kill -9 $$");
  toys.add_script("03_silent", "exit 0");
  toys.add("04_good", {1, 2});
  const ProcessResult result = toys.run();
  EXPECT_EQ(result.status, 1);
  for (const char* stage : {"01_broken", "02_killed", "03_silent"})
    EXPECT_TRUE(line_of(result.out, stage).ends_with(" failed")) << result.out;
  for (const char* sentence :
       {"\n01_broken failed: the device failed\n", "\n02_killed failed: ended with status 137\n",
        "\n03_silent failed: the program wrote no record or no solution\n"})
    EXPECT_TRUE(contains(result.out, sentence)) << sentence << "\n" << result.out;
  EXPECT_TRUE(contains(line_of(result.out, "04_good"), "exact"));
}

TEST(Verdict, MissingHardwareIsShownAndDoesNotFailTheRun) {
  Toys toys;
  toys.add("00_zero", {1, 2});
  toys.add_script("01_gpu", "echo 'toy: there is no GPU' >&2; exit 77");
  const ProcessResult result = toys.run();
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(line_of(result.out, "01_gpu").ends_with(" n/a")) << result.out;
  EXPECT_TRUE(contains(result.out, "\n01_gpu is not available: there is no GPU\n")) << result.out;
  EXPECT_EQ(toys.run({"--stages", "01"}).status, 1) << "a run in which nothing ran is not well";
}

TEST(Verdict, WithoutStageZeroThereIsNone) {
  Toys toys;
  toys.add_script("00_zero", "echo 'toy: no memory' >&2; exit 3");
  toys.add("01_good", {1, 2});
  const ProcessResult result = toys.run();
  EXPECT_EQ(result.status, 3);
  EXPECT_TRUE(line_of(result.out, "00_zero").ends_with(" failed")) << result.out;
  EXPECT_EQ(result.err, "climb: stage zero did not solve the problem: no memory\n");
}

TEST(Input, OfSeveralFilesIsHandedOnInItsOrder) {
  Toys toys;
  toys.add_script("00_zero", "echo \"$all\" >&2; exit 2");
  const ProcessResult result = toys.run({"--input", "dir/b.npy", "--input", "a.npy"});
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(contains(result.err, "--input dir/b.npy --input a.npy")) << result.err;
}

TEST(Verdict, OfSeveralStagesIsExplainedOnce) {
  Toys toys;
  toys.add("00_zero", {1, 2});
  for (const char* stage : {"01_gpu", "02_gpu"})
    toys.add_script(stage, "echo 'toy: there is no GPU' >&2; exit 77");
  const std::string table = toys.run().out;
  EXPECT_TRUE(contains(table, "\n01_gpu, 02_gpu are not available: there is no GPU\n")) << table;
}

// --- The CPU device

/// The report of an analysis: two kernels with 20 requests and 82 sectors, of which 70 are
/// necessary.
json report(const json& errors = json::array()) {
  const auto accesses = [](int requests, int sectors, int ideal) {
    return json{{"requests", requests}, {"sectors", sectors}, {"ideal_sectors", ideal}};
  };
  return {{"kernels",
           {{{"kernel", "a"},
             {"global_loads", accesses(4, 16, 16)},
             {"global_stores", accesses(4, 20, 16)},
             {"global_atomics", accesses(2, 2, 2)}},
            {{"kernel", "b"},
             {"global_loads", accesses(10, 44, 36)},
             {"global_stores", accesses(0, 0, 0)},
             {"global_atomics", accesses(0, 0, 0)}}}},
          {"errors", errors}};
}

/// Stage zero, a CUDA stage (one program for the GPU and one for the CPU device), and another CPU
/// stage.
class CpuDevice : public testing::Test {
 protected:
  CpuDevice() {
    toys.add("00_zero", {1, 2}, 8);
    toys.add_script("01_cuda", "echo 'toy: there is no GPU' >&2; exit 77", "gpu");
    toys.add("01_cuda", {1, 2}, 4, "cpu-device");
    toys.add_analysis("01_cuda", report());
    toys.add("02_next", {1, 2}, 2);
  }

  Toys toys;
};

TEST_F(CpuDevice, StandsInWhereThereIsNoGpu) {
  const ProcessResult result = toys.run({"--source", toys.programs(), "--dataset", "big"});
  EXPECT_EQ(result.status, 0) << result.err;
  const std::string line = line_of(result.out, "01_cuda");
  for (const char* entry : {"checked", "exact", "+1 -1"})
    EXPECT_TRUE(contains(line, entry)) << entry << "\n" << result.out;
  EXPECT_FALSE(contains(line, "%") || contains(line, "4.000 s")) << "it is not timed";
  EXPECT_FALSE(contains(result.out, "sectors")) << "nobody asked for an analysis\n" << result.out;
  EXPECT_EQ(result.out.find("\n01_cuda"), result.out.rfind("\n01_cuda")) << result.out;
  EXPECT_TRUE(contains(result.out, "toy, big")) << result.out;
  EXPECT_TRUE(contains(result.out, "checked: run on the CPU device with the data set tiny"))
      << result.out;
  EXPECT_FALSE(contains(result.out, "recorded")) << "nothing is";
  EXPECT_TRUE(contains(line_of(result.out, "02_next"), " 4.00     "))
      << "and no time of the step before";
  EXPECT_TRUE(contains(line_of(result.out, "02_next"), "+1 -1"));
}

TEST_F(CpuDevice, CountsSectorsIfRequested) {
  const std::string table = toys.run({"--device", "cpu-device"}).out;
  EXPECT_TRUE(contains(line_of(table, "01_cuda"), "4.1 / 3.5")) << table;
  EXPECT_TRUE(contains(table, "sectors: of 32 bytes")) << table;
}

TEST_F(CpuDevice, RunsTheReducedDataSetOnce) {
  toys.add_script("01_cuda", "echo \"toy: $all\" >&2; exit 3", "cpu-device");
  const ProcessResult result = toys.run({"--dataset", "big", "--set", "n=7", "--precision", "f32"});
  const std::string line = line_of(result.out, "01_cuda failed:");
  for (const char* option : {"--dataset tiny", "--repeat 1", "--warmup 0", "--precision f32"})
    EXPECT_TRUE(contains(line, option)) << line;
  EXPECT_FALSE(contains(line, "n=7")) << line;
}

TEST_F(CpuDevice, IsNotShownWhereTheGpuRan) {
  toys.add_gpu("01_cuda", 0.5, 1, 1);
  const ProcessResult result = toys.run();
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(line_of(result.out, "01_cuda"), "500.0 ms")) << result.out;
  EXPECT_FALSE(contains(result.out, "checked"));
  EXPECT_FALSE(contains(result.out, "sectors"));
}

TEST_F(CpuDevice, IsForcedOrForbiddenByName) {
  const ProcessResult forced = toys.run({"--device", "cpu-device"});
  EXPECT_EQ(forced.status, 0);
  EXPECT_TRUE(contains(forced.out, "toy, tiny (n = 2), f64, once")) << forced.out;
  EXPECT_TRUE(contains(line_of(forced.out, "01_cuda"), "checked"));
  EXPECT_EQ(line_of(forced.out, "00_zero"), "");
  const ProcessResult gpu = toys.run({"--device", "gpu"});
  EXPECT_EQ(gpu.status, 1) << "nothing ran";
  EXPECT_TRUE(contains(gpu.out, "01_cuda is not available: there is no GPU")) << gpu.out;
}

TEST_F(CpuDevice, TakesTheDataSetThatItIsForcedTo) {
  toys.add_script("01_cuda", "echo \"toy: $all\" >&2; exit 3", "cpu-device");
  const auto line = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--device", "cpu-device"});
    return line_of(toys.run(arguments).out, "01_cuda failed:");
  };
  EXPECT_TRUE(contains(line({}), "--dataset tiny")) << line({});
  EXPECT_TRUE(contains(line({"--dataset", "big", "--set", "n=7"}), "--dataset big --set n=7"));
}

TEST_F(CpuDevice, DoesWithoutAnAnalysis) {
  std::filesystem::remove(toys.programs() / "toy-01_cuda-cpu-analyze");
  const ProcessResult result = toys.run({"--device", "cpu-device"});
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(line_of(result.out, "01_cuda"), "checked")) << result.out;
  EXPECT_FALSE(contains(result.out, "sectors"));
}

TEST_F(CpuDevice, FailsAStageInWhichTheAnalysisFindsAnError) {
  const auto sentence = [&] {
    const ProcessResult result = toys.run({"--device", "cpu-device"});
    EXPECT_EQ(result.status, 1);
    EXPECT_TRUE(line_of(result.out, "01_cuda ").ends_with(" failed")) << result.out;
    return line_of(result.out, "01_cuda failed");
  };
  toys.add_analysis("01_cuda", report({{{"sentence", "two threads write u"}}}), "exit 1");
  EXPECT_EQ(sentence(), "01_cuda failed: two threads write u");
  EXPECT_EQ(toys.run().status, 0) << "it is not analysed";
  toys.add_analysis("01_cuda", report(), "kill -9 $$");
  EXPECT_EQ(sentence(), "01_cuda failed: ended with status 137");
  toys.add_analysis("01_cuda", report(), "rm \"$CUDA_ON_CPU_REPORT\"");
  EXPECT_EQ(sentence(), "01_cuda failed: the analysis wrote no report");
}

TEST_F(CpuDevice, FailsAStageThatDiffers) {
  toys.add("01_cuda", {1, 2.1}, 4, "cpu-device");
  const ProcessResult result = toys.run();
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(line_of(result.out, "01_cuda"), "DIFFERS")) << result.out;
}

TEST_F(CpuDevice, IsRecordedWithoutTimes) {
  const json all = json::parse(toys.run({"--json", "-"}).out);
  const json& records = all.at("runs")[0].at("records");
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1].at("device"), "cpu-device");
  EXPECT_EQ(records[1].at("verdict"), "matches");
  EXPECT_FALSE(records[1].contains("seconds") || records[1].contains("repeats"));
  EXPECT_FALSE(records[1].contains("global_accesses")) << "it was not analysed";
  EXPECT_TRUE(records[2].contains("seconds"));
  const json forced = json::parse(toys.run({"--device", "cpu-device", "--json", "-"}).out);
  EXPECT_EQ(forced.at("runs")[0].at("records")[0].at("global_accesses"),
            (json{{"requests", 20}, {"sectors", 82}, {"ideal_sectors", 70}}));
}

TEST_F(CpuDevice, IsListedAndWalkedWithItsStage) {
  const Directory sources;
  for (const char* stage : {"00_zero", "01_cuda", "02_next"})
    write_text(sources / fmt::format("{}.cu", stage), ".title = \"T\"\n.idea = \"I\"\n");
  const ProcessResult list = toys.run({"--list", "--source", sources / ""});
  EXPECT_TRUE(contains(list.out, "01_cuda  gpu, cpu-device")) << list.out << list.err;
  EXPECT_EQ(list.out.find("01_cuda "), list.out.rfind("01_cuda "));
  const ProcessResult walk = toys.run({"--step", "--source", toys.programs()});
  EXPECT_EQ(walk.status, 0);
  EXPECT_TRUE(contains(walk.out, "-00_zero\n+01_cuda")) << walk.out;
  EXPECT_TRUE(contains(walk.out, "Checked  on the CPU device, not timed\nVerdict")) << walk.out;
  EXPECT_TRUE(contains(walk.out, "-01_cuda\n+02_next"));
  const ProcessResult forced = toys.run({"--step", "--device", "cpu-device"});
  EXPECT_TRUE(contains(forced.out,
                       "Checked  on the CPU device, not timed\n"
                       "Sectors  4.1 / 3.5 per request"))
      << forced.out;
  expect_refusal(toys.run({"--stages", "09"}), 2, {"00_zero, 01_cuda, 02_next"});
}

TEST_F(CpuDevice, IsEnoughWhereNoGpuProgramWasBuilt) {
  std::filesystem::remove(toys.programs() / "toy-01_cuda");
  const ProcessResult result = toys.run({"--stages", "01", "--source", toys.programs()});
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(contains(line_of(result.out, "01_cuda"), "checked")) << result.out;
  EXPECT_TRUE(contains(line_of(result.out, "01_cuda"), "+1 -1")) << result.out;
}

// --- Recorded results

/// A record of a stage for a GPU, or of stage zero.
json record_of(const std::string& stage, double seconds) {
  return {{"stage", stage},
          {"device", stage == "00_zero" ? "cpu" : "gpu"},
          {"seconds", {{"min", seconds}, {"median", seconds}, {"max", seconds}}},
          {"repeats", json::array({1, 1, 1})},
          {"of_limit", 0.25}};
}

/// Stage zero and a CUDA stage on the CPU device, with recordings of the reference GPU.
class Reused : public testing::Test {
 protected:
  Reused() {
    toys.add("00_zero", {1, 2}, 8);
    for (const char* stage : {"01_cuda", "02_cuda"}) {
      toys.add_script(stage, "echo 'toy: there is no GPU' >&2; exit 77", "gpu");
      toys.add(stage, {1, 2}, 4, "cpu-device");
    }
    std::filesystem::create_directories(results());
    records = {record_of("00_zero", 3), record_of("01_cuda", 0.5), record_of("02_cuda", 0.125)};
    write("a");
  }

  std::filesystem::path results() const { return toys.programs() / "docs/results/h200"; }

  void write(const std::string& name, const json& more = json::object()) const {
    json file{
        {"ceilings", {{"gpu", {{"name", "NVIDIA Toy"}}}}},
        {"revision", "1"},
        {"date", "2026-11-22T03:24:21Z"},
        {"runs",
         {{{"workload", "toy"}, {"dataset", "tiny"}, {"precision", "f64"}, {"records", records}}}}};
    file.update(more);
    write_text(results() / (name + ".json"), file.dump());
  }

  std::string table(Strings arguments = {}) const {
    arguments.insert(arguments.end(), {"--source", toys.programs()});
    const ProcessResult result = toys.run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }

  Toys toys;
  json records;
};

TEST_F(Reused, AreShownForStagesThatAreOnlyChecked) {
  const std::string text = table();
  EXPECT_TRUE(contains(line_of(text, "02_cuda"),
                       "checked          125.0 ms   24.00      4.00       25 %       exact"))
      << text;
  EXPECT_TRUE(contains(line_of(text, "01_cuda"), "500.0 ms    6.00      6.00")) << text;
  EXPECT_FALSE(contains(line_of(text, "00_zero"), "3.000 s")) << "it is timed here\n" << text;
  EXPECT_TRUE(contains(text, "\nrecorded on an NVIDIA Toy, 2026-11-22; ")) << text;
}

TEST_F(Reused, AreShownInAWalk) {
  const std::string walk = table({"--step"});
  EXPECT_TRUE(contains(
      walk,
      "\nRecorded 125.0 ms on an NVIDIA Toy, 2026-11-22, 24.00 times as fast as "
      "stage zero, 4.00 times as fast as 01_cuda\nChecked  on the CPU device, not timed\n"))
      << walk;
}

TEST_F(Reused, TimesAreOfTheSameProblem) {
  EXPECT_TRUE(contains(table(), "recorded"));
  for (const Strings& other :
       {Strings{"--dataset", "big"}, {"--precision", "f32"}, {"--set", "n=2"}, {"--stages", "00"}})
    EXPECT_FALSE(contains(table(other), "recorded")) << other[1];
  EXPECT_FALSE(contains(table({"--device", "cpu-device"}), "recorded"));
}

TEST_F(Reused, TimesAreNotOfAStageThatTakesTheProblemNoMore) {
  toys.limits = {{"n", 1}};
  toys.add_script("02_cuda", "echo 'toy: this stage takes n up to 1, not 2' >&2; exit 77", "gpu");
  const std::string text = table();
  EXPECT_TRUE(contains(line_of(text, "01_cuda"), "500.0 ms")) << text;
  EXPECT_FALSE(contains(line_of(text, "02_cuda"), "125.0 ms")) << text;
  EXPECT_TRUE(contains(text, "02_cuda is not for this size: this stage takes n up to 1, not 2"))
      << text;
}

TEST_F(Reused, TimesAreNotRecordedAgain) {
  const json all = json::parse(table({"--json", "-"}));
  for (const json& record : all.at("runs")[0].at("records"))
    EXPECT_EQ(record.contains("seconds"), record.at("stage") == "00_zero") << record;
}

TEST_F(Reused, TimesCompareWithinARecording) {
  records = {record_of("02_cuda", 0.1)};
  write("b", {{"revision", "2"}, {"date", "2026-11-23T00:00:00Z"}});
  const std::string text = table();
  EXPECT_TRUE(contains(line_of(text, "02_cuda"), "100.0 ms                         25 %")) << text;
  EXPECT_TRUE(contains(line_of(text, "01_cuda"), "500.0 ms    6.00      6.00")) << text;
  EXPECT_TRUE(contains(text, "recorded on an NVIDIA Toy, 2026-11-22 to 2026-11-23; ")) << text;
}

TEST_F(Reused, TimesAreThoseOfMostRepeats) {
  records[1] = record_of("01_cuda", 0.25);
  records[1].at("repeats").push_back(1);
  write("b", {{"date", "2026-11-21T00:00:00Z"}});
  EXPECT_TRUE(contains(line_of(table(), "01_cuda"), "250.0 ms"));
  records[1] = record_of("01_cuda", 0.75);
  write("c", {{"date", "2026-11-23T00:00:00Z"}, {"revision", "2"}});
  EXPECT_TRUE(contains(line_of(table(), "01_cuda"), "750.0 ms")) << "a newer revision goes first";
}

TEST_F(Reused, RecordsMayRepeatTheKeysOfTheirRun) {
  for (json& record : records) record.update({{"workload", "toy"}, {"date", "later"}});
  write("a");
  EXPECT_TRUE(contains(table(), "recorded on an NVIDIA Toy, 2026-11-22; "));
}

TEST_F(Reused, FilesThatAreNoRecordingsAreLeftOut) {
  write("sweep", {{"sweep", "n"}, {"revision", "2"}, {"date", "2027"}});
  write_text(results() / "broken.json", "{\"runs\": [");
  write_text(results() / "counters.json", "{\"kernels\": []}");
  write_text(results() / "list.json", "[1]");
  write_text(results() / "odd.json", "{\"runs\": [{\"records\": 3}]}");
  EXPECT_TRUE(contains(line_of(table(), "01_cuda"), "500.0 ms"));
  std::filesystem::remove_all(results());
  EXPECT_FALSE(contains(table(), "recorded"));
}

// --- The choice of stages and targets

TEST(Selection, TakesNumbersRangesAndNames) {
  Toys toys;
  for (const char* stage : {"00_zero", "01_one", "02_two", "03_three", "baseline_lib"})
    toys.add(stage, {1, 2});
  const auto selected = [&](const std::string& list) {
    const ProcessResult result = toys.run({"--stages", list});
    EXPECT_EQ(result.status, 0) << result.err;
    std::string digits;
    for (const char* stage : {"00_zero", "01_one", "02_two", "03_three", "baseline_lib"})
      if (!line_of(result.out, stage).empty()) digits += stage[1];
    return digits;
  };
  EXPECT_EQ(selected("00"), "0");
  EXPECT_EQ(selected("2"), "2");
  EXPECT_EQ(selected("01-03"), "123");
  EXPECT_EQ(selected("three,0"), "03");
  EXPECT_EQ(selected("01_one,baseline_lib"), "1a");
  expect_refusal(toys.run({"--stages", "07"}), 2, {"'07'", "03_three"});
  expect_refusal(toys.run({"--stages", "seven"}), 2, {"'seven'"});
}

/// The targets are listed without starting a program, because nothing is built yet.
TEST(Targets, AreKnownBeforeAnythingIsBuilt) {
  const Directory empty;
  write_text(empty / "programs.txt",
             "hill-00_zero cpu zero.cpp\n"
             "hill-01_one cpu one.cpp\n"
             "hill-02_two gpu two.cu\n"
             "hill-02_two-cpu cpu-device two.cu\n"
             "hill-02_two-cpu-analyze analysis two.cu\n"
             "rock-00_zero cpu zero.cpp\n"
             "rock-01_cuda-cpu cpu-device cuda.cu\n");
  const auto targets = [&](Strings arguments) {
    arguments.insert(arguments.begin(), {climb, "--programs", empty / "", "--targets"});
    const ProcessResult result = run_process(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  const std::string zero = "stages/hill-00_zero\n", two = "stages/hill-02_two\n";
  const std::string on_cpu = "stages/hill-02_two-cpu\n", twin = "stages/hill-02_two-cpu-analyze\n";
  const std::string one = "stages/hill-01_one\n";
  EXPECT_EQ(targets({}), zero + one + two + "\nshared_by_analyses\n");
  EXPECT_EQ(targets({"--device", "cpu"}), zero + one);
  EXPECT_EQ(targets({"--device", "gpu"}), zero + two);
  // The page of a stage shows commands that start these programs after the command that builds the
  // stage.
  EXPECT_EQ(targets({"--stages", "2"}), zero + two + on_cpu + "\n" + twin);
  EXPECT_EQ(targets({"--stages", "2", "--reference", "1"}),
            zero + one + two + on_cpu + "\n" + twin);
  // The table of the CPU device shows the findings of the analysis.
  EXPECT_EQ(targets({"--device", "cpu-device"}), zero + on_cpu + twin);
  EXPECT_EQ(targets({"rock"}), "stages/rock-00_zero\nstages/rock-01_cuda-cpu\n");
  EXPECT_EQ(targets({"rock", "--stages", "1"}), targets({"rock"}));
  EXPECT_EQ(targets({"--list"}), zero + "stages/rock-00_zero\n");
  expect_refusal(run_process({climb, "--programs", empty / ""}), 2, {"'hill-00_zero'", "./climb"});
}

TEST(Selection, WithoutStageZeroRunsItOncePerPrecision) {
  Toys toys;
  toys.add("00_zero", {1, 2}, 8);
  toys.add("01_half", {1, 2}, 4);
  const std::filesystem::path log = toys.programs() / "log";
  toys.add_script("00_zero",
                  fmt::format("cd '{}'; echo \"$all\" >>log\n"
                              "cp 00_zero-cpu.npy \"$output\"; cp 00_zero-cpu.json \"$json\"",
                              toys.programs().string()));
  const auto runs_of_zero = [&](const std::vector<std::string>& arguments) {
    std::filesystem::remove(log);
    const ProcessResult result = toys.run(arguments);
    EXPECT_TRUE(contains(line_of(result.out, "01_half"), "2.00")) << result.out << result.err;
    std::ifstream lines(log);
    std::vector<std::string> runs;
    for (std::string line; std::getline(lines, line);)
      runs.push_back(line.substr(0, line.find(" --output")));
    return runs;
  };
  using Runs = std::vector<std::string>;
  const std::string once = " --repeat 1 --warmup 0", asked = " --repeat 5 --warmup 1";
  EXPECT_EQ(runs_of_zero({"--stages", "01"}), Runs{"--precision f64" + once});
  EXPECT_EQ(runs_of_zero({"--stages", "01", "--precision", "f32"}),
            (Runs{"--precision f64" + once, "--precision f32" + once}));
  EXPECT_EQ(runs_of_zero({}), Runs{"--precision f64" + asked});
  EXPECT_EQ(runs_of_zero({"--precision", "f32"}),
            (Runs{"--precision f32" + asked, "--precision f64" + once}));
}

/// A stage zero that must not run, a correct stage, a wrong stage, and a baseline that serves as
/// the reference.
class Reference : public testing::Test {
 protected:
  Reference() {
    toys.add_script("00_zero", "echo 'toy: hours went by' >&2; exit 3");
    toys.add("01_good", {1, 2.000001}, 4);
    toys.add("02_wrong", {1, 3}, 2);
    toys.add("baseline_lib", {1, 2}, 1);
  }

  Toys toys;
};

TEST(TimedPhase, IsNamedInTheHeading) {
  Toys toys;
  toys.add("00_zero", {1, 2});
  EXPECT_FALSE(contains(toys.run({}).out, "times of the phase"));
  toys.timed_phase = "kernels";
  toys.add("00_zero", {1, 2});
  const ProcessResult result = toys.run({});
  EXPECT_TRUE(contains(result.out, "median of 5, times of the phase kernels\n")) << result.out;
}

TEST(Awake, IsRequestedFromProgramsForAGpu) {
  Toys toys;
  const std::string refuse =
      "case $all in *--awake*) echo 'x: awake' >&2;; *) echo 'x: asleep' >&2;; esac; exit 3";
  toys.add("00_zero", {1, 2});
  toys.add_script("01_cpu", refuse);
  toys.add_script("02_gpu", refuse, "gpu");
  const ProcessResult asleep = toys.run({}), awake = toys.run({"--awake"});
  EXPECT_FALSE(contains(asleep.out, "awake")) << asleep.out;
  EXPECT_TRUE(contains(awake.out, "median of 5, GPU awake\n")) << awake.out;
  for (const char* line : {"01_cpu failed: asleep", "02_gpu failed: awake"})
    EXPECT_TRUE(contains(awake.out + awake.err, line)) << line << awake.out << awake.err;
}

TEST(TimedPhase, IsShownWithTheTotal) {
  Toys toys;
  toys.add("00_zero", {1, 2}, 4);
  EXPECT_FALSE(contains(toys.run({}).out, "total"));
  EXPECT_FALSE(contains(toys.run({"--step"}).out, "total"));
  toys.timed_phase = "kernels";
  toys.add("00_zero", {1, 2}, 4);
  toys.add_script("01_gpu", "echo 'toy: there is no GPU' >&2; exit 77", "gpu");
  toys.add("01_gpu", {1, 2}, 0.5, "cpu-device");
  const std::string table = toys.run({}).out;
  EXPECT_TRUE(contains(table, "spread      total      00")) << table;
  EXPECT_TRUE(contains(line_of(table, "00_zero"), "4.000 s   0.0 %    6.000 s    1.00")) << table;
  EXPECT_FALSE(contains(line_of(table, "01_gpu"), "2.500 s")) << "it is not timed\n" << table;
  const std::string walk = toys.run({"--step"}).out;
  EXPECT_TRUE(contains(walk, "4.000 s (spread 0.0 %), total 6.000 s, 1.00 times")) << walk;
}

TEST_F(Reference, TakesThePlaceOfStageZero) {
  const ProcessResult result = toys.run({"--stages", "01-02", "--reference", "baseline_lib"});
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_EQ(result.err, "") << "stage zero has not run";
  EXPECT_TRUE(contains(result.out, "median of 5, checked against baseline_lib\n")) << result.out;
  EXPECT_TRUE(contains(line_of(result.out, "01_good"), "5.0e-07")) << result.out;
  EXPECT_TRUE(contains(line_of(result.out, "02_wrong"), "DIFFERS"));
  EXPECT_TRUE(contains(result.out, "02_wrong differs from baseline_lib: element (1) is 3"));
  EXPECT_FALSE(contains(result.out, "  00  ")) << "stage zero has no time";
  EXPECT_TRUE(contains(line_of(result.out, "02_wrong"), "2.00")) << "the step before has one";
  EXPECT_FALSE(contains(result.out, "stage zero"));
}

TEST_F(Reference, MayBeOneOfTheStagesThatRun) {
  const Strings arguments{"--stages", "01,baseline_lib", "--reference", "1"};
  const ProcessResult result = toys.run(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(line_of(result.out, "01_good"), "reference")) << result.out;
  EXPECT_TRUE(contains(line_of(result.out, "baseline_lib"), "5.0e-07")) << result.out;
}

TEST_F(Reference, LeavesStageZeroItsColumnIfThatRuns) {
  toys.add("00_zero", {1, 2}, 8);
  const ProcessResult result = toys.run({"--stages", "00-01", "--reference", "baseline_lib"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(line_of(result.out, "00_zero"), "1.00"));
  EXPECT_TRUE(contains(line_of(result.out, "00_zero"), "exact"));
  EXPECT_TRUE(contains(line_of(result.out, "01_good"), "2.00      2.00")) << result.out;
}

TEST_F(Reference, IsRecorded) {
  const auto reference = [&](Strings arguments) {
    arguments.insert(arguments.end(), {"--stages", "baseline_lib", "--json", "-"});
    return json::parse(toys.run(arguments).out).at("runs")[0].at("reference");
  };
  EXPECT_EQ(reference({"--reference", "good"}), "01_good");
  toys.add("00_zero", {1, 2}, 8);
  EXPECT_EQ(reference({}), "00_zero");
}

TEST_F(Reference, MayHaveParametersOfItsOwn) {
  const auto held = [&](const std::string& stages, Strings arguments) {
    toys.add("04_many", {1, 2});
    toys.add_script("04_many", fmt::format("case $all in *--set?k=4*) ;; *) exit 3;; esac\n"
                                           "cp '{0}.npy' \"$output\"; cp '{0}.json' \"$json\"",
                                           (toys.programs() / "04_many-cpu").string()));
    arguments.insert(arguments.end(), {"--stages", stages, "--reference", "04", "--set", "k=1"});
    return toys.run(arguments);
  };
  const ProcessResult result = held("01", {"--reference-set", "k=4"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "k = 1), f64, median of 5, checked against 04_many with k=4\n"))
      << result.out;
  EXPECT_TRUE(contains(line_of(result.out, "01_good"), "5.0e-07")) << result.out;
  expect_refusal(held("01", {}), 3, {"04_many did not solve the problem"});
  EXPECT_TRUE(contains(held("04", {"--reference-set", "k=4"}).out, "04_many failed"))
      << "where it is one of the stages it has the parameters of the others";
  const ProcessResult recorded = held("01", {"--reference-set", "k=4", "--json", "-"});
  EXPECT_EQ(json::parse(recorded.out).at("runs")[0].at("reference_set"), json::array({"k=4"}));
}

TEST_F(Reference, ThatDoesNotSolveIsAFailure) {
  toys.add_script("baseline_lib", "echo 'toy: there is no GPU' >&2; exit 77");
  expect_refusal(toys.run({"--stages", "01", "--reference", "baseline_lib"}), 3,
                 {"baseline_lib did not solve the problem", "there is no GPU"});
}

TEST_F(Reference, ThatIsNoneIsRefused) {
  expect_refusal(toys.run({"--reference", "seven"}), 2,
                 {"--reference", "'seven'", "none", "01_good"});
  expect_refusal(toys.run({"--reference", "01-02"}), 2, {"'01-02'", "01_good and 02_wrong"});
  toys.precisions = json::array({"f32"});
  toys.add("03_single", {1, 2});
  expect_refusal(toys.run({"--reference", "03"}), 2, {"f64", "03_single"});
}

TEST_F(Reference, OfACudaStageIsItsProgramForTheDevice) {
  toys.add_script("03_cuda", "echo 'toy: there is no GPU' >&2; exit 77", "gpu");
  toys.add("03_cuda", {1, 2}, 4, "cpu-device");
  toys.add_script("04_cuda", "echo 'toy: there is no GPU' >&2; exit 77", "gpu");
  toys.add("04_cuda", {1, 2}, 4, "cpu-device");
  const ProcessResult result = toys.run({"--stages", "03-04", "--reference", "03"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(line_of(result.out, "03_cuda"), "reference")) << result.out;
  EXPECT_TRUE(contains(line_of(result.out, "04_cuda"), "exact")) << result.out;
  EXPECT_TRUE(contains(result.out, "checked against 03_cuda, not timed")) << result.out;
}

/// The CPU device replaces a missing GPU, but does not solve problems beyond a stage's limits.
TEST(Limits, OfAStageAreNotStoodInFor) {
  Toys toys;
  toys.add("00_zero", {1, 2}, 8);
  toys.limits = {{"n", 5}};
  toys.add_script("01_cuda",
                  "case $all in *n=[15]*) echo 'toy: there is no GPU';; *) echo 'toy: this stage "
                  "takes n up to 5';; esac >&2; exit 77",
                  "gpu");
  toys.add("01_cuda", {1, 2}, 4, "cpu-device");
  for (const auto& [arguments, is_checked] :
       {std::pair{Strings{"--set", "n=5"}, true},
        {Strings{"--set", "n=6"}, false},
        {Strings{"--dataset", "big"}, false},
        {Strings{"--dataset", "big", "--set", "n=1"}, true}}) {
    const ProcessResult result = toys.run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(contains(line_of(result.out, "01_cuda"), "checked"), is_checked) << result.out;
    EXPECT_EQ(contains(result.out, "01_cuda is not for this size: this stage takes n up to 5"),
              !is_checked);
  }
}

/// Two workloads; one of them has a stage in f32.
class Precisions : public testing::Test {
 protected:
  Precisions() {
    toys.precisions = json::array({"f64"});
    toys.add("00_zero", {1, 2}, 8);
    toys.add("01_half", {1, 2}, 4);
    toys.workload = "other";
    toys.add("00_other", {1, 2}, 8);
    toys.precisions = {"f64", "f32"};
    toys.add("01_single", {1, 2}, 4);
  }

  Toys toys;
};

TEST_F(Precisions, ThatAWorkloadLacksAreLeftOut) {
  for (const std::string asked : {"f32", "f64,f32"}) {
    const ProcessResult result = toys.run({"all", "--precision", asked, "--json", "-"});
    EXPECT_EQ(result.status, 0) << result.err;
    const json recording = json::parse(result.out);
    Strings runs;
    for (const json& run : recording.at("runs"))
      runs.push_back(run.at("workload").get<std::string>() + " " +
                     run.at("precision").get<std::string>());
    EXPECT_EQ(runs, asked == "f32" ? Strings{"other f32"}
                                   : (Strings{"other f64", "other f32", "toy f64"}));
  }
}

TEST_F(Precisions, ThatAStageLacksAreNotAvailable) {
  const ProcessResult result = toys.run({"other", "--precision", "f32"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "00_other is not available: it solves only in f64"))
      << result.out;
  EXPECT_TRUE(contains(line_of(result.out, "01_single"), "exact")) << result.out;
  EXPECT_FALSE(contains(result.out, "  00  ")) << "stage zero has no time in f32";
}

TEST_F(Precisions, InWhichNothingRunsAreRefused) {
  expect_refusal(toys.run({"toy", "--precision", "f32"}), 2,
                 {"--precision must be f64 for these stages, not 'f32'"});
  expect_refusal(toys.run({"other", "--stages", "00", "--precision", "f32"}), 2, {"f64", "'f32'"});
}

TEST(BadInput, IsRefusedInOneSentence) {
  Toys toys;
  toys.add("00_zero", {1, 2});
  expect_refusal(toys.run({"nonsuch"}), 2, {"'nonsuch'", "toy"});
  expect_refusal(toys.run({"--frobnicate"}), 2, {"--frobnicate"});
  expect_refusal(toys.run({"--dataset", "huge"}), 2, {"'huge'", "tiny"});
  expect_refusal(toys.run({"--precision", "f16"}), 2, {"'f16'", "f64"});
  expect_refusal(toys.run({"--precision", ""}), 2, {"precision", "f64"});
  expect_refusal(toys.run({"--device", "tpu"}), 2, {"'tpu'", "gpu"});
  expect_refusal(toys.run({"--device", "gpu"}), 2, {"'gpu'", "toy"});
  expect_refusal(toys.run({"--repeat", "0"}), 2, {"--repeat", "'0'"});
  expect_refusal(toys.run({"--warmup", "x"}), 2, {"--warmup", "'x'"});
  for (const char* ranks : {"0", "-1", "two", "1.5", "65537"})
    expect_refusal(toys.run({"--ranks", ranks}), 2, {"--ranks", "from 1 to 65536"});
  expect_refusal(toys.run({"--json", "/no/such/file"}), 2, {"/no/such/file"});
  expect_refusal(toys.run({"--step", "--json", "-"}), 2, {"--step", "--json"});
  expect_refusal(run_process({climb, "--programs", "/no/such"}), 2, {"'/no/such'"});
  const Directory empty;
  expect_refusal(run_process({climb, "--programs", empty / ""}), 2, {"no stage programs"});
  expect_refusal(run_process({"/usr/bin/env", "TMPDIR=/no/such", climb, "--programs", stages, "ata",
                              "--stages", "00"}),
                 2, {"'/no/such'"});
}

/// Toys with a stage that runs on ranks. A script replaces MPI's launcher: it logs its arguments
/// and starts the program once.
class OnRanks : public testing::Test {
 protected:
  OnRanks() {
    toys.add("00_zero", {1, 2});
    toys.ranks = true;
    toys.add("01_rows", {1, 2});
    const std::filesystem::path launcher = tools / "mpiexec";
    write_text(launcher, fmt::format("#!/bin/sh\necho $* $OMPI_MCA_mpi_yield_when_idle >'{}'\n"
                                     "while [ $1 != -n ]; do shift; done\nshift 2\nexec \"$@\"\n",
                                     (tools / "started").string()));
    std::filesystem::permissions(launcher, std::filesystem::perms::owner_all);
    std::filesystem::create_symlink("/bin/cp", tools / "cp");
  }

  ProcessResult run(const Strings& arguments) const {
    Strings command{climb, "--programs", toys.programs(), "--repeat", "1"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_process(command, {.environment = {"PATH=" + (tools / "").string()}});
  }

  std::string started() const {
    std::ifstream file(tools / "started");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Toys toys;
  Directory tools;
};

TEST_F(OnRanks, AStageIsStartedByMpisLauncher) {
  const ProcessResult result = run({"--ranks", "3"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "3 ranks")) << result.out;
  EXPECT_TRUE(contains(line_of(result.out, "01_rows"), "exact")) << result.out;
  EXPECT_TRUE(contains(started(), "-n 3 ")) << started();
  EXPECT_TRUE(contains(started(), "01_rows")) << started();
  EXPECT_FALSE(contains(started(), "--bind-to")) << started();
  EXPECT_FALSE(contains(started(), "00_zero")) << "it has no ranks";
}

TEST_F(OnRanks, ThoseWithThreadsAreNotBoundToACore) {
  toys.threads = true;
  toys.add("02_hybrid", {1, 2});
  const ProcessResult result = run({"--ranks", "2", "--stages", "02"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(started(), "--bind-to none -n 2 ")) << started();
}

TEST_F(OnRanks, ThereAreAsManyAsCoresAndFourAtMost) {
  run({});
  EXPECT_TRUE(contains(started(), fmt::format("-n {} ", std::min(this_machine().cores, 4))))
      << started();
}

TEST_F(OnRanks, AreNotShownIfNoStageHasThem) {
  const ProcessResult result = run({"--stages", "00"});
  EXPECT_FALSE(contains(result.out, "rank")) << result.out;
  EXPECT_EQ(started(), "");
}

TEST_F(OnRanks, AStageIsNotAvailableWithoutALauncher) {
  std::filesystem::remove(tools / "mpiexec");
  const ProcessResult result = run({});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(line_of(result.out, "01_rows"), "n/a")) << result.out;
  EXPECT_TRUE(contains(result.out, "openmpi-bin")) << result.out;
}

TEST_F(Precisions, OfAStageThatAWorkloadLacksAreNotRun) {
  expect_refusal(toys.run({"all", "--stages", "single"}), 2, {"'single'", "01_half"});
}

TEST(Source, IsTheLastThatWasNamed) {
  const ProcessResult result = run_process(
      {climb, "--programs", stages, "--source", "/no/such", "--source", source, "--list"});
  EXPECT_EQ(result.status, 0) << result.err;
}

TEST(BadInput, OfAStageStopsTheRun) {
  const ProcessResult result =
      run_process({climb, "--programs", stages, "local_volatility", "--set", "numX=2"});
  expect_refusal(result, 2, {"numX", "'2'", "from 3"});
}

TEST(Json, ContainsTheMachineAndEveryRun) {
  const ProcessResult result =
      run_process({climb, "--programs", stages, "--source", source, "local_volatility", "--dataset",
                   "tiny", "--precision", "f64,f32", "--repeat", "2", "--json", "-"});
  ASSERT_EQ(result.status, 0) << result.err;
  const json all = json::parse(result.out);
  EXPECT_EQ(all.at("ceilings").at("flops_f64"), cached_ceilings().flops_f64);
  EXPECT_EQ(all.at("runs").size(), 2u);
  for (const json& run : all.at("runs")) {
    EXPECT_EQ(run.at("dataset"), "tiny");
    ASSERT_GE(run.at("records").size(), 5u);
    for (const json& record : run.at("records")) {
      if (record.at("verdict") == "not available") {
        EXPECT_NE(record.at("reason").get<std::string>().find("GPU"), std::string::npos) << record;
        continue;
      }
      EXPECT_TRUE(record.at("verdict") == "matches" || record.at("verdict") == "reference")
          << record;
      EXPECT_LE(record.at("error"), record.at("tolerance").at("relative"));
      if (record.at("device") == "cpu-device")
        EXPECT_FALSE(record.contains("seconds"));
      else
        EXPECT_GT(record.at("of_limit"), 0);
    }
    EXPECT_EQ(run.at("records")[1].at("stage"), "01_openmp");
    EXPECT_GT(run.at("records")[1].at("lines_added"), 0);
    EXPECT_LE(run.at("records")[1].at("lines_added"), 10);
  }
}

TEST(Recording, HasALineForEachRecordWithoutWhatItShares) {
  const auto recording = nlohmann::ordered_json::parse(R"({
    "machine": {"cores": 2}, "revision": "abc", "date": "today", "runs": [
      {"workload": "w", "dataset": "d", "precision": "f64", "reference": "00_a", "records": [
        {"workload": "w", "stage": "00_a", "dataset": "tiny", "parameters": {"n": 1}, "input": null,
         "precision": "f64", "machine": {"cores": 2}, "revision": "abc", "date": "today", "error": 0.0},
        {"workload": "w", "stage": "01_b", "dataset": "d", "parameters": {"n": 8}, "input": null,
         "precision": "f64", "machine": {"cores": 4}, "revision": "def", "date": "before"},
        {"workload": "w", "stage": "02_c", "verdict": "failed"}]},
      {"workload": "v", "dataset": "d", "precision": "f32", "records": [
        {"workload": "v", "stage": "00_a", "reason": "none"}]}]})");
  EXPECT_EQ(recording_text(recording), R"({
"machine":{"cores":2},
"revision":"abc",
"date":"today",
"runs":[
{"workload":"w","dataset":"d","precision":"f64","reference":"00_a","parameters":{"n":8},"input":null,"records":[
{"stage":"00_a","dataset":"tiny","parameters":{"n":1},"error":0.0},
{"stage":"01_b","machine":{"cores":4},"revision":"def","date":"before"},
{"stage":"02_c","verdict":"failed"}
]},
{"workload":"v","dataset":"d","precision":"f32","records":[
{"stage":"00_a","reason":"none"}
]}
]
}
)");
}

TEST(List, NamesEveryStage) {
  const ProcessResult result =
      run_process({climb, "--programs", stages, "--source", source, "--list"});
  EXPECT_EQ(result.status, 0);
  for (const char* text :
       {"local_volatility", "small, medium, large, tiny", "00_original", "OpenMP"})
    EXPECT_TRUE(contains(result.out, text)) << text << "\n" << result.out;
}

TEST(Step, ShowsIdeaDiffAndVerdictOfEachStage) {
  const ProcessResult result = run_process({climb, "--programs", stages, "--source", source,
                                            "local_volatility", "--dataset", "tiny", "--step"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "+#pragma omp parallel for"));
  EXPECT_TRUE(contains(result.out, "Verdict  matches stage zero"));
  EXPECT_TRUE(contains(result.out, "Legal:"));
}

constexpr char ctrl_c = 3;

/// Runs the runner on a pseudo-terminal and answers each prompt with `key`.
std::string on_terminal(const std::vector<std::string>& command, char key,
                        const std::string& prompt = "q to stop: ", int expected_status = 0,
                        unsigned short columns = 132) {
  int terminal = -1;
  const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    std::vector<char*> arguments;
    for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  std::string output;
  std::size_t answered = 0;
  std::array<char, 4096> buffer;
  for (ssize_t count; (count = ::read(terminal, buffer.data(), buffer.size())) > 0;) {
    output.append(buffer.data(), static_cast<std::size_t>(count));
    const auto found = output.find(prompt, answered);
    if (found == std::string::npos) continue;
    answered = key == ctrl_c ? std::string::npos : found + 1;  // the key is pressed only once
    EXPECT_EQ(::write(terminal, &key, 1), 1);
  }
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), expected_status);
  return output;
}

TEST_F(From, IsWalkedByKeysOnATerminal) {
  const Strings command{climb,           "--programs", toys.programs(), "--source",
                        toys.programs(), "--step",     "--stages",      "00-02"};
  const std::string all = on_terminal(command, ' ');
  EXPECT_TRUE(contains(all, "toy 01_half") && contains(all, "toy 02_aside")) << all;
  EXPECT_TRUE(contains(all, "\x1b[32m+01_half")) << "additions are green\n" << all;
  for (const char key : {'q', ctrl_c}) {
    const std::string stopped = on_terminal(command, key);
    EXPECT_TRUE(contains(stopped, "toy 00_zero")) << stopped;
    EXPECT_FALSE(contains(stopped, "toy 01_half")) << stopped;
  }
}

// --- The terminal

/// The number of columns of the widest line; lines of a terminal end with "\r\n".
std::size_t width_of(const std::string& text) {
  std::istringstream lines(text);
  std::size_t width = 0;
  for (std::string line; std::getline(lines, line);)
    width = std::max(width, line.size() - static_cast<std::size_t>(line.ends_with('\r')));
  return width;
}

/// The output of the runner that stays visible on a terminal after progress lines have been erased.
std::string shown_in(unsigned short columns, const std::string& term, const Strings& arguments) {
  Strings command{"env", "TERM=" + term, "NO_COLOR=1", climb};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const std::string output = on_terminal(command, ' ', "q to stop: ", 0, columns);
  const std::string erase = "\r\x1b[K";
  std::string text;
  for (std::size_t from = 0, to; from < output.size(); from = to + erase.size()) {
    to = std::min(output.find(erase, from), output.size());
    text += output.substr(from, to - from);
    if (to < output.size()) text.resize(text.rfind('\n') + 1);
  }
  return text;
}

TEST_F(Reused, TableFitsATerminal) {
  toys.add_script("baseline_of_a_long_name",
                  "echo 'toy: there is no GPU, nor is there '$(seq 50) >&2; exit 77");
  const Strings arguments{"--programs", toys.programs(), "--source", toys.programs()};
  for (const unsigned short columns : {200, 132, 100, 80, 60, 50}) {
    const std::string text = shown_in(columns, "xterm", arguments);
    EXPECT_LE(width_of(text), columns) << text;
    EXPECT_FALSE(contains(text, "\x1b")) << text;
    for (const char* always : {"checked", "exact"})
      EXPECT_TRUE(contains(line_of(text, "02_cuda"), always)) << text;
    EXPECT_EQ(contains(text, "idea of 02"), columns > 100) << text;
    EXPECT_EQ(contains(text, "previous"), columns > 60) << text;
    const std::string long_idea = line_of(text, "baseline_of_a_long_name");
    EXPECT_EQ(contains(long_idea, "..."), contains(long_idea, "idea of...")) << text;
    EXPECT_TRUE(contains(text, "\r\n  ")) << "long sentences are broken and indented\n" << text;
  }
}

TEST_F(Reused, TableInAFileHasNoEscapesAndNoBrokenSentences) {
  toys.add_script("03_cuda", "echo 'toy: there is no GPU, nor is there '$(seq 90) >&2; exit 77");
  const std::string text = table();
  EXPECT_FALSE(contains(text, "\x1b") || contains(text, "\r")) << text;
  EXPECT_TRUE(contains(text, " 88 89 90\n")) << text;
}

TEST(Terminal, BreaksLongLinesBetweenWords) {
  EXPECT_EQ(broken("aa bb cc\n", 8, 2), "aa bb cc\n");
  EXPECT_EQ(broken("aa bb cc\n", 7, 2), "aa bb\n  cc\n");
  EXPECT_EQ(broken("aa bb cc dd ee\nff\n\n", 5, 2), "aa bb\n  cc\n  dd\n  ee\nff\n\n");
  EXPECT_EQ(broken("a\n  b\n", 3, 2), "a\n  b\n") << "what fits stays as it is";
  EXPECT_EQ(broken("aa bb cc\n   dd ee\nf\n", 7, 1), "aa bb\n cc dd\n ee\nf\n");
  EXPECT_EQ(broken("A:   bb cc dd\n", 10, 5), "A:   bb cc\n     dd\n") << "a label stays";
  EXPECT_EQ(broken("longest word\n", 5, 2), "longest\n  word\n");
  EXPECT_EQ(broken("Aᵀ A × B\n", 8, 2), "Aᵀ A × B\n") << "columns are no bytes";
}

TEST(Terminal, WithoutColoursShowsNone) {
  Toys toys;
  toys.add("00_zero", {1, 2});
  const auto table = [&](const Strings& environment) {
    Strings command{"env", "-u", "NO_COLOR", "TERM=xterm"};
    command.insert(command.end(), environment.begin(), environment.end());
    command.insert(command.end(), {climb, "--programs", toys.programs()});
    return on_terminal(command, ' ');
  };
  EXPECT_TRUE(contains(table({}), "\x1b[1m")) << "titles are bold";
  EXPECT_FALSE(contains(table({"NO_COLOR=1"}), "\x1b[1m"));
  EXPECT_FALSE(contains(table({"TERM=dumb"}), "\x1b")) << "nor does it show what runs";
}

TEST_F(From, IsWalkedOnATerminalThatKnowsLinesOnly) {
  const std::string walk =
      shown_in(80, "dumb", {"--programs", toys.programs(), "--source", toys.programs(), "--step"});
  EXPECT_FALSE(contains(walk, "\x1b")) << walk;
  EXPECT_TRUE(contains(walk, "q to stop: \r\ntoy 01_half")) << walk;
}

TEST(Rows, AreShownOnceTheirStageHasRun) {
  Toys toys;
  toys.add("00_zero", {1, 2});
  toys.add_script("01_fails", "exit 3");
  // The last stage copies the output that the runner has printed so far.
  const Directory directory;
  toys.add_script("02_looks", fmt::format("cp '{}' '{}'; exit 3", (directory / "out").string(),
                                          (directory / "seen").string()));
  write_text(directory / "out", "");
  run_process({climb, "--programs", toys.programs()}, {.out_path = directory / "out"});
  std::ifstream seen(directory / "seen");
  const std::string text{std::istreambuf_iterator<char>(seen), {}};
  EXPECT_TRUE(contains(line_of(text, "00_zero"), "stage zero")) << text;
  EXPECT_TRUE(contains(line_of(text, "01_fails"), "failed")) << text;
  EXPECT_EQ(line_of(text, "02_looks"), "");
}

TEST(Interrupt, LeavesNoTemporaryFiles) {
  Toys toys;
  toys.add("00_zero", {1, 2});
  toys.add_script("00_zero", "echo unfinished >\"$output\"; exec sleep 60");
  const Directory temporary;
  const std::string output = on_terminal(
      {"env", "TMPDIR=" + (temporary / "").string(), climb, "--programs", toys.programs()}, ctrl_c,
      "running for", 130);
  EXPECT_TRUE(contains(output, "climb: interrupted")) << output;
  EXPECT_EQ(temporary.files(), Strings{});
}

TEST(Interrupt, IsHeededBetweenPrograms) {
  Toys toys;
  toys.add("00_zero", {1, 2});
  toys.add_script("01_survives", "trap '' INT; kill -INT $PPID; exit 3");
  toys.add("02_good", {1, 2});
  const Directory temporary;
  const ProcessResult result =
      run_process({climb, "--programs", toys.programs()},
                  {.environment = {"TMPDIR=" + (temporary / "").string()}});
  EXPECT_EQ(result.status, 130) << result.out << result.err;
  EXPECT_EQ(result.err, "climb: interrupted\n");
  EXPECT_EQ(temporary.files(), Strings{});
}

TEST(Progress, IsShownOnATerminalOnly) {
  Toys toys;
  toys.add("00_zero", {1, 2});
  toys.add("01_half", {1, 2});
  const ProcessResult piped = toys.run();
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_FALSE(contains(piped.out + piped.err, "running")) << piped.out << piped.err;
  const std::string terminal = on_terminal({climb, "--programs", toys.programs()}, 'q');
  EXPECT_TRUE(contains(terminal, "01_half: running for")) << terminal;
}

}  // namespace
}  // namespace staircase::test

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: climb_test CLIMB STAGES SOURCE [GTEST OPTIONS]\n");
    return 2;
  }
  staircase::test::climb = std::filesystem::absolute(argv[1]);
  staircase::test::stages = std::filesystem::absolute(argv[2]);
  staircase::test::source = std::filesystem::absolute(argv[3]);
  // SIGINT is ignored if the tests run in the background of a script.
  std::signal(SIGINT, SIG_DFL);
  // The runner finds cached ceilings, so it does not spend seconds on measuring them.
  const staircase::test::Directory cache;
  ::setenv("XDG_CACHE_HOME", (cache / "").c_str(), 1);
  staircase::cached_ceilings(false, {.seconds = 1e-3, .bytes = 1e6});
  testing::InitGoogleTest(&argc, argv);
  return staircase::test::run_all_tests();
}
