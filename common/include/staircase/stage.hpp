/// \file
/// Turns a stage's `solve` into a program that keeps the contract of every stage.
///
/// Every stage includes it; other headers here are for stages that need what they have.

#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "array.hpp"
#include "machine.hpp"
#include "timeline.hpp"
#include "workload.hpp"
#ifdef __CUDACC__
#include "cuda.hpp"
#endif

namespace staircase {

/// What a stage tells the harness of itself.
template <typename Problem, std::size_t rank>
struct Stage {
  std::string title;
  std::string idea;
  std::vector<std::string> needs = {};  ///< the hardware that it needs beside a GPU
  std::string note = {};                ///< what it does where its idea does not apply
  /// The numbers that solve() keeps in memory at once; the harness refuses what does not fit.
  double (*reals)(const Problem&);
  /// The numbers that the kernels move between device memory and the chip if each reads its input
  /// once and writes its output once; null for a stage without kernels.
  double (*traffic)(const Problem&) = nullptr;
  /// One function a precision; null for a precision that the stage does not offer.
  Array<double, rank> (*solve_f64)(const Problem&, Timeline&) = nullptr;
  Array<float, rank> (*solve_f32)(const Problem&, Timeline&) = nullptr;
};

/// A parameter whose problem's type is erased; integers up to 2^53 are exact.
struct ParameterInfo {
  std::string name;
  bool integer;
  double min;
  double max;
  std::string help;
};

/// The parameters of a named problem, in the order of the workload's parameters.
struct NamedValues {
  std::string name;
  std::vector<double> values;
};

/// A stage whose problem's type is erased, so that the harness is compiled once.
struct StageProgram {
  std::string source_file;
  std::string device;  ///< "cpu", "gpu" or "cpu-device"
  std::string title;
  std::string idea;
  std::vector<std::string> needs;
  std::string note;
  std::vector<Precision> precisions;  ///< that it offers; the first is the default
  std::vector<ParameterInfo> parameters;
  std::vector<NamedValues> datasets;
  std::vector<NamedValues> test_cases;
  InputFormat input;
  std::function<void(const std::vector<double>&)> set_values;
  std::function<std::vector<double>()> values;
  std::function<void(NpyArray)> set_input;
  std::function<void(Precision)> check;
  std::function<void()> prepare;  ///< makes the input; empty if there is nothing to make
  std::function<Work(Precision)> work;
  std::function<Tolerance(Precision)> tolerance;
  std::string timed_phase;  ///< by whose time stages are compared; empty for the whole solve
  std::function<void(const NpyArray&)> check_solution;  ///< empty if every input has a solution
  std::function<double()> reals;
  std::function<double()> traffic;        ///< empty if the stage has no kernels
  std::function<void()> prepare_device;   ///< throws NotAvailable if it is not there
  std::function<double()> device_memory;  ///< bytes free on the device; empty on the processor
  /// Seconds of a copy that reads and writes so many bytes in all; empty where there is no GPU.
  std::function<double(double)> seconds_to_copy;
  std::function<std::string()> device_name;
  std::function<NpyArray(Precision, Timeline&)> solve;
};

/// Runs a stage whose types are erased; returns the exit status.
int run_program(int argc, char** argv, const StageProgram& program);

namespace detail {

/// Fills in what the program runs on; decided by the compiler of the stage's source.
inline void set_device(StageProgram& program) {
#ifdef __CUDACC__
#ifdef STAIRCASE_CUDA_ON_CPU
  program.device = "cpu-device";
#else
  program.device = "gpu";
  program.seconds_to_copy = seconds_to_copy;
#endif
  program.prepare_device = prepare_gpu;
  program.device_memory = available_gpu_memory;
  program.device_name = gpu_name;
#else
  program.device = "cpu";
  program.prepare_device = [] {};
  program.device_name = [] { return this_machine().cpu; };
#endif
}

template <typename Problem>
double get(const Problem& problem, const Parameter<Problem>& parameter) {
  return std::visit([&](auto member) { return static_cast<double>(problem.*member); },
                    parameter.member);
}

template <typename Problem>
void set(Problem& problem, const Parameter<Problem>& parameter, double value) {
  std::visit(
      [&](auto member) {
        problem.*member = static_cast<std::remove_reference_t<decltype(problem.*member)>>(value);
      },
      parameter.member);
}

template <typename Problem>
std::vector<double> values_of(const Problem& problem,
                              const std::vector<Parameter<Problem>>& parameters) {
  std::vector<double> values;
  for (const auto& parameter : parameters) values.push_back(get(problem, parameter));
  return values;
}

template <typename Problem>
std::vector<NamedValues> values_of(const std::vector<NamedProblem<Problem>>& problems,
                                   const std::vector<Parameter<Problem>>& parameters) {
  std::vector<NamedValues> named;
  for (const auto& [name, problem] : problems)
    named.push_back({name, values_of(problem, parameters)});
  return named;
}

template <typename T, std::size_t rank>
NpyArray to_npy(Array<T, rank> array) {
  NpyArray npy;
  for (std::size_t d = 0; d < rank; ++d) npy.shape.push_back(array.extent(d));
  npy.values = std::move(array).release();
  return npy;
}

}  // namespace detail

/// The body of a stage's `main`: reads the command line, solves, checks, times and writes.
///
/// The names of the workload and of the stage are those of the directories that hold `source`.
/// \returns the exit status (see Exit).
template <typename Problem, std::size_t rank>
int run_stage(int argc, char** argv, const Workload<Problem, rank>& workload,
              const std::type_identity_t<Stage<Problem, rank>>& stage,
              const char* source = __builtin_FILE()) {
  Problem problem = workload.datasets.front().problem;
  const auto& parameters = workload.parameters;
  StageProgram program{
      .source_file = source,
      .device = {},
      .title = stage.title,
      .idea = stage.idea,
      .needs = stage.needs,
      .note = stage.note,
      .precisions = {},
      .parameters = {},
      .datasets = detail::values_of(workload.datasets, parameters),
      .test_cases = detail::values_of(workload.test_cases, parameters),
      .input = workload.input,
      .set_values =
          [&](const std::vector<double>& values) {
            for (std::size_t p = 0; p < values.size(); ++p)
              detail::set(problem, parameters[p], values[p]);
          },
      .values = [&] { return detail::values_of(problem, parameters); },
      .set_input = [&](NpyArray input) { workload.set_input(problem, std::move(input)); },
      .check = [&](Precision precision) { workload.check(problem, precision); },
      .prepare = {},
      .work = [&](Precision precision) { return workload.work(problem, precision); },
      .tolerance = [&](Precision precision) { return workload.tolerance(problem, precision); },
      .timed_phase = workload.timed_phase != nullptr ? workload.timed_phase : "",
      .check_solution = {},
      .reals = [&] { return stage.reals(problem); },
      .traffic = {},
      .prepare_device = {},
      .device_memory = {},
      .seconds_to_copy = {},
      .device_name = {},
      .solve =
          [&](Precision precision, Timeline& timeline) {
            return precision == Precision::f64 ? detail::to_npy(stage.solve_f64(problem, timeline))
                                               : detail::to_npy(stage.solve_f32(problem, timeline));
          },
  };
  if (stage.solve_f64 != nullptr) program.precisions.push_back(Precision::f64);
  if (stage.solve_f32 != nullptr) program.precisions.push_back(Precision::f32);
  for (const auto& [name, member, min, max, help] : parameters)
    program.parameters.push_back({name, member.index() == 0, min, max, help});
  if (workload.prepare != nullptr) program.prepare = [&] { workload.prepare(problem); };
  if (workload.check_solution != nullptr)
    program.check_solution = [&](const NpyArray& solution) {
      workload.check_solution(problem, solution);
    };
  if (stage.traffic != nullptr) program.traffic = [&] { return stage.traffic(problem); };
  detail::set_device(program);
  return run_program(argc, argv, program);
}

}  // namespace staircase
