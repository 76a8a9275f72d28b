#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <new>
#include <staircase/file.hpp>
#include <staircase/program.hpp>

namespace staircase {

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

int run_guarded(std::string_view name, const std::function<Exit()>& body) {
  guard_standard_streams();
  const auto report = [&](Exit status, std::string_view sentence) {
    fmt::print(stderr, "{}: {}\n", name, sentence);
    return static_cast<int>(status);
  };
  try {
    return static_cast<int>(body());
  } catch (const Failure& failure) {
    return report(failure.status(), failure.what());
  } catch (const std::bad_alloc&) {
    return report(Exit::exhausted, "the machine has not enough memory for this problem");
  } catch (const std::exception& error) {
    return report(Exit::wrong, error.what());
  }
}

}  // namespace staircase
