/// \file
/// Reports for each loop of a C++ file whether its iterations are independent, and generates sliced
/// programs from marked loops.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <harness/file.hpp>
#include <harness/program.hpp>
#include <staircase/error.hpp>

#include "options.hpp"
#include "picture.hpp"
#include "reader.hpp"
#include "report.hpp"
#include "slicing.hpp"

namespace slicer {
namespace {

using staircase::Exit;

std::optional<Options> read_options(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Reports for each loop of a C++ file whether its iterations are independent, and why not. "
      "Can "
      "also write the file with its marked nests in slices, or data for figures of the nests",
      "slice"};
  app.add_flag("--check", options.check, "Check the loops of FILE and print a report");
  app.add_flag("--reductions", options.reductions,
               "List the updates of reductions, and permit a change of their order");
  app.add_flag("--strict", options.strict,
               "Make no assumption: a verdict that would need one is `unknown`");
  app.add_option("--json", options.json,
                 "Write the results as JSON to a file, or to standard output for -. A file that "
                 "ends in .sarif gets them as SARIF");
  app.add_flag("--report", options.report,
               "Write iterations, dependences and slices of each nest as JSON, for figures");
  app.add_option("--set", options.sizes,
                 "Set a size for --report, such as n=5 (default: 5 for all)")
      ->allow_extra_args(false);
  app.add_option("-o", options.output, "Write FILE with its marked nests in slices to this file");
  app.add_option("--form", options.form, "3: slices in place; 4: slices in buffers (default)");
  app.add_flag("--template", options.is_template, "Leave the three parts of form 4 to the user");
  app.add_option("-p", options.build,
                 "Directory of compile_commands.json (default: searched for above FILE)");
  app.add_option("FILE", options.file, "The source");
  app.add_option("ARGUMENTS", options.arguments,
                 "Options of the compiler after --, such as -I. An unknown option is an error");
  app.footer(
      "`independent`, `reduction`, `legal` and `proved` hold for all inputs under the assumptions "
      "that are printed\nwith their lines. A loop with a construct that is not modelled is "
      "`unknown`.\n\n"
      "With --check, `#pragma staircase` in front of a nest requests a verdict on a "
      "transformation:\n"
      "interchange(i, j), tile(i: 32, j: 32), skew(j: 2 * i), distribute, fuse or expand(x).\n"
      "With -o, `#pragma staircase slice(i: 3, j: 5) [buffers(2)] [threads(2)]` marks a nest.\n"
      "With [device(cuda)], the nest runs on a GPU, and the output is a CUDA source.");
  if (!staircase::parse_command_line(app, argc, argv)) return {};
  return options;
}

void check_output(const Options& options) {
  if (options.form != 3 && options.form != 4)
    throw staircase::BadInput("the form '" + std::to_string(options.form) +
                              "' is unknown; choose 3 or 4");
  if (options.form == 3 && options.is_template)
    throw staircase::BadInput(
        "--template needs --form 4, because form 3 has no parts for the user");
  if (options.reductions || !options.json.empty())
    throw staircase::BadInput("--reductions and --json need --check");
  staircase::check_writable(options.output);
  std::error_code ignored;
  if (std::filesystem::equivalent(options.file, options.output, ignored))
    throw staircase::BadInput("the output '" + options.output + "' is the FILE itself");
}

void check_no_output(const Options& options) {
  if (options.form != 4 || options.is_template)
    throw staircase::BadInput("--form and --template belong to -o OUT");
}

void check_options(const Options& options) {
  const bool writes = !options.output.empty();
  const int asked = options.check + options.report + writes;
  if (asked == 0)
    throw staircase::BadInput("nothing to do; use --check FILE, --report FILE or FILE -o OUT");
  if (asked > 1) throw staircase::BadInput("--check, --report and -o exclude each other");
  if (options.file.empty())
    throw staircase::BadInput(fmt::format("{} needs a FILE", writes           ? "-o"
                                                             : options.report ? "--report"
                                                                              : "--check"));
  if (!options.report && !options.sizes.empty())
    throw staircase::BadInput("--set belongs to --report");
  if (options.report && options.reductions)
    throw staircase::BadInput("--reductions belongs to --check");
  if (options.strict && !options.check) throw staircase::BadInput("--strict belongs to --check");
  if (!std::ifstream(options.file) || std::filesystem::is_directory(options.file))
    throw staircase::BadInput("the file '" + options.file + "' cannot be read");
  if (!options.json.empty() && options.json != "-") staircase::check_writable(options.json);
  writes ? check_output(options) : check_no_output(options);
}

std::string crash_report;

/// Ends the program with a message of one sentence. Both calls are safe in a signal handler.
[[noreturn]] void report_crash(int) {
  [[maybe_unused]] const auto written =
      write(STDERR_FILENO, crash_report.data(), crash_report.size());
  _exit(static_cast<int>(Exit::exhausted));
}

/// Installs a handler that reports crashes. libclang's own handler reports only crashes of the
/// parser, so libclang's handler is switched off. The program's stack may be full, so the handler
/// needs an alternate signal stack. Each thread has its own alternate stack, so libclang has to
/// parse in this thread. If a sanitizer has installed an alternate stack, the handler uses that
/// stack.
void report_crashes(const std::string& file) {
  for (const char* name : {"LIBCLANG_DISABLE_CRASH_RECOVERY", "LIBCLANG_NOTHREADS"})
    setenv(name, "1", 1);
  crash_report = fmt::format(
      "slice: the program or its {} crashed on the file '{}'; nothing is known of its loops\n",
      text_of(clang_getClangVersion()), file);
  stack_t installed{};
  if (sigaltstack(nullptr, &installed) == 0 && (installed.ss_flags & SS_DISABLE) != 0) {
    static std::array<char, 1 << 16> signal_stack;
    const stack_t stack{signal_stack.data(), 0, signal_stack.size()};
    sigaltstack(&stack, nullptr);
  }
  struct sigaction action {};
  action.sa_handler = report_crash;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
    sigaction(signal, &action, nullptr);
}

/// The compiler's arguments for a source that is only read, with its macros expanded.
Arguments expanding(const Options& options) {
  Arguments arguments = compiler_arguments(options);
  if (!options.arguments.empty()) check_arguments(options.file, arguments);
  arguments.expands = true;
  return arguments;
}

/// Writes the file with sliced versions of its marked nests, if libclang accepts the result.
Exit write_slices(const Options& options) {
  const bool is_cuda = slicer::is_cuda(options.output) || slicer::is_cuda(options.file);
  report_crashes(options.file);
  const Source source(options.file, expanding(options));
  for (const auto& [place, requests] : read_requests(read_directives(source)))
    throw staircase::BadInput("line " + std::to_string(requests.front().line) + ": `" +
                              requests.front().text +
                              "` is a request for --check; -o only generates slices");
  const std::string text =
      sliced(source, read_functions(source), {options.form, options.is_template, is_cuda});
  try {
    const Source written(options.file, compiler_arguments(options, is_cuda), text);
  } catch (const staircase::BadInput& failure) {
    throw staircase::BadInput(
        std::string("the generated program would not be valid, so it is not written: ") +
        failure.what());
  }
  staircase::write_file(options.output, {text});
  return Exit::solved;
}

/// Writes the data for figures of the file's nests.
Exit write_pictures(const Options& options) {
  report_crashes(options.file);
  const Source source(options.file, expanding(options));
  const std::string json =
      picture_of(options.file, source, read_functions(source), read_sizes(options.sizes));
  if (options.json.empty() || options.json == "-")
    staircase::write_stdout(json);
  else
    staircase::write_file(options.json, {json});
  return Exit::solved;
}

Exit run(int argc, char** argv) {
  const auto options = read_options(argc, argv);
  if (!options) return Exit::solved;
  check_options(*options);
  if (!options->output.empty()) return write_slices(*options);
  if (options->report) return write_pictures(*options);
  report_crashes(options->file);
  const Source source(options->file, expanding(*options));
  const auto functions = read_functions(source);
  const Requests requests = read_requests(read_directives(source));
  const Checked checked = check(options->file, source, functions, requests, options->strict);
  const bool is_sarif = options->json.ends_with(".sarif");
  const std::string json =
      (is_sarif ? sarif_of(checked, options->reductions) : json_of(checked)).dump(2) + "\n";
  if (options->json.empty())
    staircase::write_stdout(text_of(checked, options->reductions));
  else if (options->json == "-")
    staircase::write_stdout(json);
  else
    staircase::write_file(options->json, {json});
  return checked.is_refuted(options->reductions) ? Exit::wrong : Exit::solved;
}

}  // namespace
}  // namespace slicer

int main(int argc, char** argv) {
  return staircase::run_guarded("slice", [&] { return slicer::run(argc, argv); });
}
