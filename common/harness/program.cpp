#include "program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>

#include "file.hpp"

namespace staircase {
namespace {

std::string program_name;
void (*failure_reporter)(int status, const std::string& line) = nullptr;

/// Reports the current exception, and returns the corresponding exit status.
int report_failure() {
  const auto report = [](Exit status, std::string_view sentence) {
    const std::string line = fmt::format("{}: {}\n", program_name, sentence);
    if (failure_reporter != nullptr)
      failure_reporter(static_cast<int>(status), line);
    else
      fmt::print(stderr, "{}", line);
    return static_cast<int>(status);
  };
  constexpr std::string_view no_memory =
      "there is not enough memory for this problem; choose a smaller one";
  try {
    throw;
  } catch (const Failure& failure) {
    return report(failure.status(), failure.what());
  } catch (const std::bad_alloc&) {
    return report(Exit::exhausted, no_memory);
  } catch (const std::length_error&) {
    return report(Exit::exhausted, no_memory);
  } catch (const std::exception& error) {
    return report(Exit::wrong, error.what());
  }
}

/// The terminate handler. An exception cannot propagate out of a parallel region, so it ends the
/// program here.
[[noreturn]] void end_by_failure() {
  if (std::current_exception() == nullptr) std::abort();
  const int status = report_failure();
  std::fflush(nullptr);
  std::_Exit(status);
}

}  // namespace

bool parse_command_line(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::CallForHelp&) {
    write_stdout(app.help());
    return false;
  } catch (const CLI::ParseError& error) {
    throw BadInput(fmt::format("{}; see --help", error.what()));
  }
}

void set_failure_reporter(void (*reporter)(int status, const std::string& line)) {
  failure_reporter = reporter;
}

int run_guarded(std::string_view name, const std::function<Exit()>& body) {
  guard_standard_streams();
  program_name = name;
  std::set_terminate(end_by_failure);
  try {
    return static_cast<int>(body());
  } catch (...) {
    return report_failure();
  }
}

}  // namespace staircase
