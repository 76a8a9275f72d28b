#include "support.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <staircase/error.hpp>

namespace staircase::test {

namespace fs = std::filesystem;

std::vector<std::string> Directory::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory_.path()))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

void expect_refusal(const ProcessResult& result, int status,
                    const std::vector<std::string>& fragments) {
  EXPECT_EQ(result.status, status) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  for (const auto& fragment : fragments)
    EXPECT_NE(result.err.find(fragment), std::string::npos)
        << fragment << " not in: " << result.err;
}

unsigned fresh_seed() {
  const char* seed = std::getenv("STAIRCASE_TEST_SEED");
  return seed != nullptr ? static_cast<unsigned>(std::stoul(seed)) : std::random_device()();
}

void leave_out(const std::string& tests) {
  const std::string filter = GTEST_FLAG_GET(filter);
  GTEST_FLAG_SET(filter, filter + (filter.find('-') == std::string::npos ? "-" : ":") + tests);
}

namespace {

/// The test that is skipped in place of all tests that need a device.
class DeviceTest : public testing::Test {
 public:
  explicit DeviceTest(std::string missing) : missing_(std::move(missing)) {}
  void TestBody() override { GTEST_SKIP() << missing_; }

 private:
  std::string missing_;
};

}  // namespace

ProcessResult try_device(const std::string& program, const std::vector<std::string>& suites) {
  ProcessResult result = run_process({program, "--dataset", "tiny", "--json", "-"});
  if (result.status != static_cast<int>(Exit::not_available)) return result;
  for (const std::string& suite : suites) leave_out(suite + ".*");
  testing::RegisterTest("Device", "IsThere", nullptr, nullptr, __FILE__, __LINE__,
                        [says = result.err]() -> testing::Test* { return new DeviceTest(says); });
  return result;
}

int run_all_tests() {
  const int failed = RUN_ALL_TESTS();
  const auto& results = *testing::UnitTest::GetInstance();
  const bool nothing_ran = results.successful_test_count() + results.failed_test_count() == 0;
  return failed != 0 ? failed : nothing_ran ? 77 : 0;
}

}  // namespace staircase::test
