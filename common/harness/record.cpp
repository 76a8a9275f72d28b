#include "describe.hpp"
#include "device.hpp"
#include "machine.hpp"
#include "run.hpp"

namespace staircase {
namespace {

/// The work of the problem, which is the same for all stages, and the modelled memory traffic of
/// this stage's kernels.
Json modelled(const StageProgram& program, Precision precision) {
  const Work work = program.work(precision);
  Json json{{"flops", work.flops}, {"bytes", work.bytes}};
  if (work.matrix) json["matrix"] = true;
  if (const auto traffic = program.traffic(names_of(program).stage))
    json["traffic_bytes"] = *traffic * bytes_of(precision);
  return json;
}

/// The name of the input file, or a list of names if there are several. The result is null without
/// input files.
Json names_of(const std::vector<std::string>& inputs) {
  if (inputs.empty()) return nullptr;
  return inputs.size() == 1 ? Json(inputs.front()) : Json(inputs);
}

/// Converts a repeat to JSON: its time, its phases and its overlapping intervals.
Json to_json(const Repeat& repeat) {
  Json json{{"seconds", repeat.seconds}, {"phases", Json::object()}};
  for (const auto& [name, seconds] : repeat.timeline.totals()) json["phases"][name] = seconds;
  for (const auto& [name, begin, end] : repeat.timeline.overlapping())
    json["beside"].push_back({{"name", name}, {"begin", begin}, {"end", end}});
  for (const RecordedTimeline& rank : repeat.of_ranks) {
    Json phases = Json::object();
    for (const auto& [name, seconds] : rank.totals()) phases[name] = seconds;
    json["phases_of_ranks"].push_back(phases);
  }
  if (repeat.copy_seconds) json["copy_seconds"] = *repeat.copy_seconds;
  return json;
}

}  // namespace

Json record_of(const StageProgram& program, const Run& run) {
  const StageNames names = names_of(program);
  Json repeats = Json::array();
  for (const auto& repeat : run.repeats) repeats.push_back(to_json(repeat));
  Json record{
      {"workload", names.workload},
      {"stage", names.stage},
      {"title", program.title},
      {"dataset", run.dataset},
      {"parameters", parameters_json(program, program.values())},
      {"input", names_of(run.inputs)},
      {"precision", name_of(run.precision)},
      {"device", program.device->kind},
      {"device_name", program.device->name()},
      {"threads", thread_count()},
      {"machine", to_json(this_machine())},
      {"seconds",
       {{"min", run.seconds.min}, {"median", run.seconds.median}, {"max", run.seconds.max}}},
      {"timed_phase", program.timed_phase.empty() ? Json(nullptr) : Json(program.timed_phase)},
      {"repeats", repeats},
      {"modelled", modelled(program, run.precision)},
      {"tolerance", to_json(program.tolerance(run.precision))},
      {"memory", {{"array_bytes", run.array_bytes}, {"peak_bytes", peak_memory()}}},
      {"revision", revision()},
      {"date", utc_now()}};
  if (run.awake) record["awake"] = true;
  if (program.device->ranks != nullptr) record["ranks"] = program.device->ranks->count();
  return record;
}

}  // namespace staircase
