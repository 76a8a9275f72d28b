/// \file
/// Functions and classes that the test programs share.

#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <harness/file.hpp>
#include <harness/process.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace staircase::test {

/// A temporary directory for one test.
class Directory {
 public:
  std::filesystem::path operator/(const std::string& name) const {
    return directory_.path() / name;
  }
  /// The names of the files in the directory, in alphabetical order.
  std::vector<std::string> files() const;

 private:
  TemporaryDirectory directory_;
};

/// Writes a text file.
void write_text(const std::filesystem::path& path, const std::string& text);

/// Checks that a program refused its input: the exit status, an empty standard output, and one line
/// on standard error that contains every fragment.
void expect_refusal(const ProcessResult& result, int status,
                    const std::vector<std::string>& fragments);

/// A seed for random tests: a new one each time, or STAIRCASE_TEST_SEED from the environment.
unsigned fresh_seed();

/// Leaves out tests that do not apply. The tests are given as a pattern of GoogleTest.
void leave_out(const std::string& tests);

/// Runs a stage program on its smallest problem. If the hardware that it needs is missing, the
/// suites of tests that solve are left out. One test is then skipped in their place, with the
/// program's message.
/// \returns how the program ended, with its record
ProcessResult try_device(const std::string& program, const std::vector<std::string>& suites);

/// Runs all tests; returns 77 if none ran or all were skipped, so that Meson shows a skip.
int run_all_tests();

}  // namespace staircase::test
