/// \file
/// A small framework for tests that print TAP, the Test Anything Protocol.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// Defines a test; its name is a sentence with underscores: `TEST(every_thread_runs) { ... }`.
#define TEST(name)                                                          \
  void test_##name();                                                       \
  [[maybe_unused]] const bool added_##name = tap::add(#name, &test_##name); \
  void test_##name()

namespace tap {

/// A source line, like std::source_location, which some compilers lack.
class Location {
 public:
  static constexpr Location current(const char* file = __builtin_FILE(),
                                    int line = __builtin_LINE()) {
    Location here;
    here.file_ = file;
    here.line_ = line;
    return here;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr int line() const { return line_; }

 private:
  const char* file_ = "";
  int line_ = 0;
};

/// Thrown by a test that cannot continue. The test has already printed the error.
struct Abandoned {};

/// Thrown by a test that this machine cannot run.
struct Skipped {
  std::string reason;
};

struct Test {
  std::string name;
  void (*body)();
};

inline std::vector<Test>& tests() {
  static std::vector<Test> tests;
  return tests;
}

inline bool add(std::string_view name, void (*body)()) {
  std::string sentence(name);
  for (char& c : sentence)
    if (c == '_') c = ' ';
  tests().push_back({sentence, body});
  return true;
}

/// The number of errors of the running test.
inline int& complaints() {
  static int complaints = 0;
  return complaints;
}

/// Prints an error of the running test and marks it as failed. The test continues.
inline void complain(const std::string& what, Location place) {
  ++complaints();
  const std::string_view file = place.file_name();
  std::cout << "# " << file.substr(file.rfind('/') + 1) << ":" << place.line() << ": " << what
            << std::endl;
}

[[noreturn]] inline void skip(const std::string& reason) { throw Skipped{reason}; }

// --- Expectations

template <typename T>
std::string shown(const T& value) {
  std::ostringstream stream;
  if constexpr (std::is_enum_v<T>)
    stream << static_cast<long long>(value);
  else if constexpr (std::is_arithmetic_v<T>)
    stream << std::setprecision(17) << +value;
  else
    stream << value;
  return stream.str();
}

inline void expect(bool condition, const std::string& what, Location place = Location::current()) {
  if (!condition) complain("it is not so that " + what, place);
}

/// Expects that two values are equal. NaN equals no value, not even NaN.
template <typename T, typename U>
void expect_equal(const T& actual, const U& expected, Location place = Location::current()) {
  if (!(actual == static_cast<T>(expected)))
    complain(shown(actual) + " instead of " + shown(expected), place);
}

/// Compares vectors element by element and prints the first difference.
template <typename T>
void expect_equal(const std::vector<T>& actual, const std::vector<T>& expected,
                  Location place = Location::current()) {
  if (actual.size() != expected.size()) {
    complain(shown(actual.size()) + " elements instead of " + shown(expected.size()), place);
    return;
  }
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = actual.size(); i-- > 0;)
    if (!(actual[i] == expected[i])) ++wrong, first = i;
  if (wrong > 0)
    complain(shown(wrong) + " of " + shown(actual.size()) + " elements differ, first [" +
                 shown(first) + "] = " + shown(actual[first]) + " instead of " +
                 shown(expected[first]),
             place);
}

/// Fails if a value is NaN.
template <typename T>
void expect_near(T actual, T expected, T tolerance, Location place = Location::current()) {
  if (!(std::abs(actual - expected) <= tolerance))
    complain(shown(actual) + " instead of " + shown(expected) + " within " + shown(tolerance),
             place);
}

// --- Random input.

/// The seed of this run: new each time, or STAIRCASE_TEST_SEED from the environment.
inline unsigned long seed() {
  static const unsigned long seed = [] {
    const char* given = std::getenv("STAIRCASE_TEST_SEED");
    return given != nullptr ? std::strtoul(given, nullptr, 10) : std::random_device{}();
  }();
  return seed;
}

inline std::mt19937_64& generator() {
  static std::mt19937_64 generator(seed());
  return generator;
}

/// A random value between two bounds, both included.
template <typename T>
T random_value(T low, T high) {
  if constexpr (std::is_floating_point_v<T>)
    return std::uniform_real_distribution<T>(low, high)(generator());
  else if constexpr (sizeof(T) == 1)
    return static_cast<T>(std::uniform_int_distribution<int>(low, high)(generator()));
  else
    return std::uniform_int_distribution<T>(low, high)(generator());
}

template <typename T>
std::vector<T> random_values(std::size_t count, T low, T high) {
  std::vector<T> values(count);
  for (T& value : values) value = random_value(low, high);
  return values;
}

/// The values of a function at 0, 1, ..., count - 1.
template <typename T, typename Function>
std::vector<T> table(std::size_t count, const Function& function) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(function(i));
  return values;
}

// --- The test run.

/// Runs one test and prints its result line.
/// \param after called after the test; it may report errors, too
inline bool run(const Test& test, std::size_t number, void (*after)()) {
  complaints() = 0;
  std::string skipped;
  try {
    test.body();
    after();
  } catch (const Abandoned&) {
  } catch (const Skipped& skip) {
    skipped = " # SKIP " + skip.reason;
  } catch (const std::exception& exception) {
    complain(exception.what(), Location::current());
  }
  const bool passed = complaints() == 0;
  std::cout << (passed ? "ok " : "not ok ") << number << " - " << test.name << skipped << std::endl;
  return passed;
}

/// Runs the tests whose names contain one of the arguments, or all tests. The plan is printed last.
/// \returns the exit status: 0, or 1 if a test failed or none was chosen
inline int run(int argc, char** argv, void (*after)()) {
  std::cout << "# STAIRCASE_TEST_SEED=" << seed() << std::endl;
  const auto is_chosen = [&](const Test& test) {
    for (int i = 1; i < argc; ++i)
      if (test.name.find(argv[i]) != std::string::npos) return true;
    return argc < 2;
  };
  std::size_t count = 0;
  bool passed = true;
  for (const Test& test : tests())
    if (is_chosen(test)) passed = run(test, ++count, after) && passed;
  std::cout << "1.." << count << std::endl;
  return passed && count > 0 ? 0 : 1;
}

}  // namespace tap
