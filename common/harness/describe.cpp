#include "describe.hpp"

#include <filesystem>

namespace staircase {

StageNames names_of(const StageProgram& program) {
  const std::filesystem::path source =
      std::filesystem::path(program.source_file).lexically_normal();
  const auto directory = source.parent_path();
  const std::string workload = directory.parent_path().filename();
  const bool baseline = directory.filename() == "baselines";
  const std::string stage =
      baseline ? "baseline_" + source.stem().string() : directory.filename().string();
  return {workload, stage,
          std::filesystem::path("stages") / workload / directory.filename() / source.filename(),
          workload + "-" + stage + (program.device->kind == "cpu-device" ? "-cpu" : "")};
}

std::string name_of(Precision precision) { return precision == Precision::f64 ? "f64" : "f32"; }

Json parameters_json(const StageProgram& program, const std::vector<double>& values) {
  Json json = Json::object();
  for (std::size_t p = 0; p < values.size(); ++p) {
    const ParameterInfo& parameter = program.parameters[p];
    if (parameter.integer)
      json[parameter.name] = static_cast<std::int64_t>(values[p]);
    else
      json[parameter.name] = values[p];
  }
  return json;
}

std::map<std::string, double> limits_of(const StageProgram& program) {
  const auto found = program.limits.find(names_of(program).stage);
  return found == program.limits.end() ? std::map<std::string, double>{} : found->second;
}

Json describe(const StageProgram& program) {
  const StageNames names = names_of(program);
  Json datasets = Json::object();
  for (const auto& [name, values] : program.datasets)
    datasets[name] = parameters_json(program, values);
  Json test_cases = Json::object();
  for (const auto& [name, values] : program.test_cases)
    test_cases[name] = parameters_json(program, values);
  Json parameters = Json::array();
  for (std::size_t p = 0; p < program.parameters.size(); ++p) {
    const auto& [name, integer, min, max, help] = program.parameters[p];
    parameters.push_back({{"name", name},
                          {"type", integer ? "integer" : "real"},
                          {"default", parameters_json(program, program.datasets[0].values)[name]},
                          {"min", min},
                          {"max", max},
                          {"help", help}});
  }
  Json precisions = Json::array(), tolerances = Json::object();
  for (const Precision precision : program.precisions) {
    precisions.push_back(name_of(precision));
    tolerances[name_of(precision)] = to_json(program.tolerance(precision));
  }
  Json inputs = Json::array();
  for (const InputFormat& input : program.inputs)
    inputs.push_back({{"rank", input.rank},
                      {"greatest_rank", input.greatest_rank},
                      {"min", input.min},
                      {"max", input.max},
                      {"typical", input.typical},
                      {"meaning", input.meaning},
                      {"least_elements", input.least_elements},
                      {"most_elements", input.most_elements},
                      {"first", input.first ? Json(*input.first) : Json(nullptr)},
                      {"extents", input.extents}});
  Json needs = Json::array();
  if (program.device->kind == "gpu") needs.push_back("a CUDA GPU");
  if (!program.needs.empty()) needs.push_back(program.needs);
  return {{"workload", names.workload},
          {"stage", names.stage},
          {"title", program.title},
          {"idea", program.idea},
          {"source", names.source},
          {"device", program.device->kind},
          {"needs", needs},
          {"note", program.note},
          {"ranks", program.device->ranks != nullptr},
          {"threads", program.threaded.contains(names.stage)},
          {"timed_phase", program.timed_phase.empty() ? Json(nullptr) : Json(program.timed_phase)},
          {"precisions", precisions},
          {"datasets", datasets},
          {"default_dataset", program.datasets[0].name},
          {"parameters", parameters},
          {"limits", Json(limits_of(program))},
          {"inputs", inputs},
          {"tolerance", tolerances},
          {"test_cases", test_cases}};
}

}  // namespace staircase
