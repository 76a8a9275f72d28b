#include "command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <staircase/error.hpp>

#include "describe.hpp"
#include "number.hpp"
#include "program.hpp"
#include "ranks.hpp"

namespace staircase {
namespace {

std::string joined(const std::vector<NamedValues>& named) {
  std::vector<std::string> names;
  for (const auto& n : named) names.push_back(n.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Sets a parameter from a text `key=value` and returns the index of the parameter.
/// \throws BadInput if the parameter does not exist or the value is not allowed
std::size_t assign(const StageProgram& program, std::string_view assignment,
                   std::vector<double>& values) {
  const auto equals = assignment.find('=');
  const std::string_view key = assignment.substr(0, equals);
  const auto& parameters = program.parameters;
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const ParameterInfo& p) { return p.name == key; });
  if (equals == std::string_view::npos || found == parameters.end()) {
    std::vector<std::string> names;
    for (const auto& p : parameters) names.push_back(p.name);
    throw BadInput(fmt::format("--set takes KEY=VALUE, not '{}'; the keys are {}", assignment,
                               fmt::join(names, ", ")));
  }
  const auto index = static_cast<std::size_t>(found - parameters.begin());
  const auto parse = found->integer ? parse_integer : parse_real;
  values[index] = parse(found->name, assignment.substr(equals + 1), found->min, found->max);
  return index;
}

/// Checks the rank, element type and size of an input array.
/// \throws BadInput if the rank, the type or the size is not allowed
void check_shape(const InputFormat& format, const NpyArray& input, const std::string& path) {
  if (const std::size_t rank = input.shape.size();
      rank < format.rank || rank > format.greatest_rank)
    throw BadInput(fmt::format(
        "the file '{}' holds an array of {} dimensions; {} must have {}{}", path, rank,
        format.meaning, format.rank,
        format.greatest_rank > format.rank ? fmt::format(" to {}", format.greatest_rank) : ""));
  if (!std::holds_alternative<Elements<double>>(input.values) &&
      !std::holds_alternative<Elements<float>>(input.values))
    throw BadInput(
        fmt::format("the file '{}' holds elements of type '{}'; {} must be '<f4' or '<f8'", path,
                    input.dtype(), format.meaning));
  if (std::find(input.shape.begin(), input.shape.end(), 0u) != input.shape.end())
    throw BadInput(fmt::format("the file '{}' is empty; {} must have at least one element", path,
                               format.meaning));
  if (const std::size_t elements = input.shape.back(); elements < format.least_elements)
    throw BadInput(fmt::format("the file '{}' holds {} element{}{}; {} must have at least {}", path,
                               elements, elements == 1 ? "" : "s",
                               format.rank > 1 ? " per row" : "", format.meaning,
                               format.least_elements));
  else if (elements > format.most_elements)
    throw BadInput(fmt::format("the file '{}' holds {} elements{}; {} must have at most {}", path,
                               elements, format.rank > 1 ? " per row" : "", format.meaning,
                               format.most_elements));
}

/// Checks that all values of an input array, or of a part of it, are in the allowed range.
/// \param number_of converts an index in `input` to the index in the complete array, for the
/// message
/// \throws BadInput if a value is out of range
void check_values(const InputFormat& format, const NpyArray& input, const std::string& path,
                  const std::function<std::size_t(std::size_t)>& number_of) {
  std::visit(
      [&](const auto& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto value = static_cast<double>(values[i]);
          if (!(value >= format.min && value <= format.max))
            throw BadInput(
                fmt::format("element {} of the file '{}' is {}; {} must be from {} to {}",
                            number_of(i), path, value, format.meaning, format.min, format.max));
        }
      },
      input.values);
}

/// The meanings of the files for --input in their order, for example "the matrix A, then the matrix
/// B".
std::string meanings_of(const std::vector<InputFormat>& formats) {
  std::vector<std::string> meanings;
  for (const InputFormat& format : formats) meanings.push_back(format.meaning);
  return fmt::format("{}", fmt::join(meanings, ", then "));
}

/// Checks that the parameters of the problem do not exceed the limits of the stage.
/// \throws NotAvailable if a parameter exceeds its limit
void check_limits(const StageProgram& program) {
  const auto limits = limits_of(program);
  for (std::size_t p = 0; p < program.parameters.size(); ++p)
    if (const auto limit = limits.find(program.parameters[p].name);
        limit != limits.end() && program.values()[p] > limit->second)
      throw NotAvailable(fmt::format("this stage takes {} up to {}, not {}", limit->first,
                                     limit->second, program.values()[p]));
}

std::string input_help(const StageProgram& program) {
  const std::string help = "Read " + meanings_of(program.inputs);
  return program.inputs.size() == 1 ? help : help + "; one --input for each";
}

void check_number_of_files(const std::vector<InputFormat>& formats,
                           const std::vector<std::string>& paths) {
  if (paths.size() != formats.size())
    throw BadInput(fmt::format("--input was given {} file{}; it takes {}: {}", paths.size(),
                               paths.size() == 1 ? "" : "s", formats.size(), meanings_of(formats)));
}

/// Reads and checks the input arrays, one from each file.
std::vector<NpyArray> read_inputs(const std::vector<InputFormat>& formats,
                                  const std::vector<std::string>& paths) {
  std::vector<NpyArray> inputs;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    inputs.push_back(read_npy(paths[i]));
    check_shape(formats[i], inputs.back(), paths[i]);
    check_values(formats[i], inputs.back(), paths[i], [](std::size_t element) { return element; });
  }
  return inputs;
}

/// Converts the index of an element in a part to the index in the complete array. Both indices are
/// in row-major order.
std::size_t number_in_whole(const Part& part, std::size_t element) {
  std::size_t number = 0, stride = 1;
  for (std::size_t d = part.shape.size(); d-- > 0;) {
    number += (part.begin[d] + element % part.extents[d]) * stride;
    element /= part.extents[d];
    stride *= part.shape[d];
  }
  return number;
}

/// Reads the part of the input array that belongs to this rank. The problem determines the part
/// from the shape of the array. set_inputs() is therefore called twice: first without elements,
/// then with the elements of the part.
void read_part(const StageProgram& program, const std::vector<std::string>& paths,
               Precision precision) {
  const Ranks& ranks = *program.device->ranks;
  const InputFormat& format = program.inputs.front();
  const NpyLayout layout = read_npy_layout(paths.front());
  NpyArray array = without_elements(layout);
  check_shape(format, array, paths.front());
  program.set_inputs({array});
  program.check(precision);
  const Part part = program.part();
  array.values = ranks.read(paths.front(), layout, part).values;
  check_values(format, array, paths.front(),
               [&](std::size_t element) { return number_in_whole(part, element); });
  program.set_inputs({std::move(array)});
}

/// The help text of --precision, for example "f64 (default) or f32".
std::string precision_help(const StageProgram& program) {
  std::string help = name_of(program.precisions.front()) + " (default)";
  if (program.precisions.size() > 1) help += " or " + name_of(program.precisions.back());
  return help;
}

}  // namespace

std::optional<StageOptions> read_options(int argc, char** argv, const StageProgram& program) {
  const StageNames names = names_of(program);
  StageOptions options;
  options.precision = name_of(program.precisions.front());
  CLI::App app{fmt::format("{} ({}): {}", names.program, program.title, program.idea),
               names.program};
  app.allow_extras();
  std::string set_help = "Change a parameter:";
  for (const auto& p : program.parameters) set_help += fmt::format(" {} ({});", p.name, p.help);
  set_help.back() = '.';
  app.add_option(
      "--dataset", options.dataset,
      fmt::format("Data set: {} (default {})", joined(program.datasets), program.datasets[0].name));
  app.add_option("--set", options.assignments, set_help)
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--input", options.inputs, input_help(program))
      ->type_name("FILE.npy")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--output", options.output, "Write the solution to a file")->type_name("FILE.npy");
  app.add_option("--precision", options.precision, precision_help(program))->type_name("P");
  app.add_option("--repeat", options.repeat, "Timed solves (default 1)")->type_name("N");
  app.add_option("--warmup", options.warmup, "Untimed solves before the timed ones (default 0)")
      ->type_name("N");
  app.add_flag("--awake", options.awake,
               "Run an empty kernel before the timed phase, so that the GPU is not idle");
  app.add_option("--json", options.json, "Write a record of the run as JSON; - is standard output")
      ->type_name("FILE|-");
  app.add_flag("--analyze", options.analyze,
               "Check and count every memory access of the kernels (CPU device only)");
  app.add_option("--report", options.report, "Write the report of --analyze as JSON")
      ->type_name("FILE");
  app.add_option("--blocks", options.blocks,
                 "Analyse only N thread blocks of each launch; the others run without analysis")
      ->type_name("N");
  app.add_flag("--describe", options.describe, "Print a description of this stage as JSON");
  if (!parse_command_line(app, argc, argv)) return {};
  if (const auto rest = app.remaining(); !rest.empty())
    throw BadInput(fmt::format(
        "unknown argument '{}'; allowed are --dataset, --set, --input, --output, --precision, "
        "--repeat, --warmup, --awake, --json, --analyze, --report, --blocks, --describe and --help",
        rest.front()));
  return options;
}

std::string make_problem(const StageProgram& program, const StageOptions& options,
                         Precision precision) {
  const std::string dataset = options.dataset.empty() ? program.datasets[0].name : options.dataset;
  const auto named = std::find_if(program.datasets.begin(), program.datasets.end(),
                                  [&](const NamedValues& d) { return d.name == dataset; });
  if (named == program.datasets.end())
    throw BadInput(fmt::format("there is no data set '{}'; the data sets are {}", dataset,
                               joined(program.datasets)));
  std::vector<double> values = named->values;
  std::vector<std::size_t> assigned;
  for (const auto& assignment : options.assignments)
    assigned.push_back(assign(program, assignment, values));
  program.set_values(values);
  // The ranks start before files are read, because the part to read depends on the number of ranks.
  if (program.device->ranks != nullptr) program.device->ranks->start();
  if (!options.inputs.empty()) {
    check_number_of_files(program.inputs, options.inputs);
    if (program.device->ranks != nullptr)
      read_part(program, options.inputs, precision);
    else
      program.set_inputs(read_inputs(program.inputs, options.inputs));
    for (const std::size_t p : assigned)
      if (program.values()[p] != values[p])
        throw BadInput(fmt::format("{} = {} was set, but the file '{}' has {}",
                                   program.parameters[p].name, values[p],
                                   fmt::join(options.inputs, "' or '"), program.values()[p]));
  }
  program.check(precision);
  check_limits(program);
  return options.assignments.empty() && options.inputs.empty() ? dataset : "custom";
}

}  // namespace staircase
