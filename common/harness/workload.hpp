/// \file
/// The interface between a workload and the harness: parameters, data sets, test cases, work and
/// tolerance. run_stage() combines a workload and a stage into a program.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <staircase/stage.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "stage_program.hpp"

namespace staircase {

/// A parameter of the problem, which users may set.
template <typename Problem>
struct Parameter {
  std::string name;
  std::variant<std::int64_t Problem::*, double Problem::*> member;
  double min;  ///< smallest allowed value
  double max;  ///< largest allowed value
  std::string help;
};

/// A named problem: a data set or a test case.
template <typename Problem>
struct NamedProblem {
  std::string name;
  Problem problem;
};

/// A workload, whose solution is an array of `rank` dimensions.
template <typename Problem, std::size_t rank>
struct Workload {
  std::vector<Parameter<Problem>> parameters;
  std::vector<NamedProblem<Problem>> datasets;    ///< the first is the default
  std::vector<NamedProblem<Problem>> test_cases;  ///< problems with awkward sizes, for tests
  std::vector<InputFormat> inputs;  ///< formats of the input files; users pass all or none
  void (*set_inputs)(Problem&, std::vector<NpyArray>);  ///< receives the checked input arrays
  void (*check)(const Problem&, Precision);  ///< checks conditions between values; throws BadInput
  /// Generates the input from the parameters, in one precision, before the timed solves. Arrays
  /// from set_inputs() are already present. The pointer is null if solve() uses only the
  /// parameters.
  void (*prepare)(Problem&, Precision) = nullptr;
  Work (*work)(const Problem&, Precision);
  /// The largest allowed error of a solution in the given precision. The reference is stage zero in
  /// f64.
  Tolerance (*tolerance)(const Problem&, Precision);
  /// The phase whose time is compared between stages; null if the time of the complete solve is
  /// compared.
  const char* timed_phase = nullptr;
  /// Throws BadInput if the computed solution shows that the problem has no solution. The pointer
  /// is null if every problem has a solution. The harness calls the function before it checks that
  /// all elements are finite.
  void (*check_solution)(const Problem&, const NpyArray&) = nullptr;
  /// Maps the name of a stage to the number of elements that its kernels transfer between device
  /// memory and the chip. The number assumes that each kernel reads its input once and writes its
  /// output once.
  std::map<std::string, double (*)(const Problem&)> traffic = {};
  /// Maps the name of a stage, and then the name of a parameter, to the largest value that the
  /// stage accepts. Contains only limits below the parameter's `max`.
  std::map<std::string, std::map<std::string, double>> limits = {};
  /// The stages whose ranks have several threads each. Such ranks must not be bound to one core.
  std::set<std::string> threaded = {};
  /// Converts a checked solution to the form that users expect. The pointer is null if stages
  /// already return this form.
  void (*finish)(const Problem&, NpyArray&) = nullptr;
  /// For stages on ranks: the part of the input, and of the solution, that belongs to this rank.
  /// The harness then calls set_inputs() twice: first with the shape of the input but without
  /// elements, then with the elements of the part. prepare() generates only the part, and a stage
  /// returns its part of the solution.
  Part (*part)(const Problem&) = nullptr;
};

namespace detail {

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

template <typename Problem>
std::vector<ParameterInfo> infos_of(const std::vector<Parameter<Problem>>& parameters) {
  std::vector<ParameterInfo> infos;
  for (const auto& [name, member, min, max, help] : parameters)
    infos.push_back({name, member.index() == 0, min, max, help});
  return infos;
}

template <typename T, std::size_t rank>
NpyArray to_npy(Array<T, rank> array) {
  NpyArray npy;
  for (std::size_t d = 0; d < rank; ++d) npy.shape.push_back(array.extent(d));
  npy.values = std::move(array).release();
  return npy;
}

}  // namespace detail

/// The body of a stage's `main`. The function reads the command line, solves the problem, checks
/// and times the solves, and writes the results.
///
/// The names of the workload and the stage are the names of the directories that contain `source`.
/// \returns the exit status (see Exit)
template <typename Problem, std::size_t rank>
int run_stage(int argc, char** argv, const Workload<Problem, rank>& workload,
              const Stage<Problem, rank>& stage, const char* source) {
  Problem problem = workload.datasets.front().problem;
  const auto& parameters = workload.parameters;
  StageProgram program{
      .source_file = source,
      .device = &this_device(),
      .title = stage.title,
      .idea = stage.idea,
      .needs = stage.needs,
      .note = stage.note,
      .threaded = workload.threaded,
      .precisions = {},
      .parameters = detail::infos_of(parameters),
      .datasets = detail::values_of(workload.datasets, parameters),
      .test_cases = detail::values_of(workload.test_cases, parameters),
      .inputs = workload.inputs,
      .set_values =
          [&](const std::vector<double>& values) {
            for (std::size_t p = 0; p < values.size(); ++p)
              detail::set(problem, parameters[p], values[p]);
          },
      .values = [&] { return detail::values_of(problem, parameters); },
      .set_inputs =
          [&](std::vector<NpyArray> inputs) { workload.set_inputs(problem, std::move(inputs)); },
      .check = [&](Precision precision) { workload.check(problem, precision); },
      .prepare = {},
      .work = [&](Precision precision) { return workload.work(problem, precision); },
      .tolerance = [&](Precision precision) { return workload.tolerance(problem, precision); },
      .timed_phase = workload.timed_phase != nullptr ? workload.timed_phase : "",
      .check_solution = {},
      .traffic = [&](const std::string& name) -> std::optional<double> {
        const auto found = workload.traffic.find(name);
        if (found == workload.traffic.end()) return {};
        return found->second(problem);
      },
      .limits = workload.limits,
      .finish = {},
      .part = {},
      .solve =
          [&](Precision precision, Timeline& timeline) {
            return precision == Precision::f64 ? detail::to_npy(stage.solve_f64(problem, timeline))
                                               : detail::to_npy(stage.solve_f32(problem, timeline));
          },
  };
  if (stage.solve_f64 != nullptr) program.precisions.push_back(Precision::f64);
  if (stage.solve_f32 != nullptr) program.precisions.push_back(Precision::f32);
  if (workload.prepare != nullptr)
    program.prepare = [&](Precision precision) { workload.prepare(problem, precision); };
  if (workload.check_solution != nullptr)
    program.check_solution = [&](const NpyArray& solution) {
      workload.check_solution(problem, solution);
    };
  if (workload.finish != nullptr)
    program.finish = [&](NpyArray& solution) { workload.finish(problem, solution); };
  if (workload.part != nullptr) program.part = [&] { return workload.part(problem); };
  return run_program(argc, argv, program);
}

}  // namespace staircase
