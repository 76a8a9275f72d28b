/// \file
/// What the test programs share.

#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <harness/file.hpp>
#include <harness/process.hpp>
#include <string>
#include <vector>

namespace staircase::test {

/// A directory of the test's own.
class Directory {
 public:
  std::filesystem::path operator/(const std::string& name) const {
    return directory_.path() / name;
  }
  /// The names of the files in it, in order.
  std::vector<std::string> files() const;

 private:
  TemporaryDirectory directory_;
};

/// Writes a text file.
void write_text(const std::filesystem::path& path, const std::string& text);

/// Checks that a program refused: the exit status, nothing on standard output, and one line on
/// standard error that holds every fragment.
void expect_refusal(const ProcessResult& result, int status,
                    const std::vector<std::string>& fragments);

/// A seed for random tests: new each time, or STAIRCASE_TEST_SEED from the environment.
unsigned fresh_seed();

/// Leaves out tests that do not apply, given as a pattern of GoogleTest's.
void leave_out(const std::string& tests);

/// Runs a stage program on its smallest problem. If the hardware that it needs is not there, the
/// suites of tests that solve are left out, and one test is skipped in their place, with what the
/// program says. \returns how the program ended, with its record
ProcessResult try_device(const std::string& program, const std::vector<std::string>& suites);

/// Runs all tests; returns 77 if none ran or all were skipped, so that Meson shows a skip.
int run_all_tests();

}  // namespace staircase::test
