/// \file
/// Tests the parts of common/ separately.

#include <algorithm>
#include <ceilings.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <harness/compare.hpp>
#include <harness/file.hpp>
#include <harness/machine.hpp>
#include <harness/npy.hpp>
#include <harness/number.hpp>
#include <harness/process.hpp>
#include <harness/recorded_timeline.hpp>
#include <harness/statistics.hpp>
#include <limits>
#include <staircase/array.hpp>
#include <staircase/error.hpp>
#include <staircase/flush_to_zero.hpp>
#include <thread>

#include "support.hpp"

namespace staircase::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// --- Arrays

TEST(Array, IsRowMajor) {
  Array<double, 3> a(2, 3, 4);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) a(i, j, k) = 100 * i + 10 * j + k;
  EXPECT_EQ(a.values().size(), 24u);
  EXPECT_EQ(a.values()[(1 * 3 + 2) * 4 + 3], 123);
  EXPECT_EQ(a.row(1)(2, 3), 123);
  EXPECT_EQ(a.row(1, 2)(3), 123);
  EXPECT_EQ(a.row(1, 2).extent(0), 4u);
}

TEST(Array, IsBornPoisonedAndMovesWithoutCopying) {
  Array<float, 2> a(5, 7);
  EXPECT_TRUE(
      std::all_of(a.values().begin(), a.values().end(), [](float v) { return std::isnan(v); }));
  const Array<double, 2> large(1000, 500);  // filled with a poison value by several threads
  EXPECT_TRUE(std::all_of(large.values().begin(), large.values().end(),
                          [](double v) { return std::isnan(v); }));
  const float* data = a.data();
  Array<float, 2> b = std::move(a);
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(std::move(b).release().data(), data);
}

// --- The comparator, tested by mutation

class Comparator : public testing::Test {
 protected:
  /// An array of 6 × 5 different elements between 1 and 2.
  static NpyArray reference() {
    Elements<double> values(30);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1 + static_cast<double>(i) / 31;
    return {{6, 5}, values};
  }
  static Elements<double>& values(NpyArray& array) {
    return std::get<Elements<double>>(array.values);
  }
  static Comparison compared(const NpyArray& mutant) {
    return compare(mutant, reference(), {.relative = 1e-12});
  }
};

TEST_F(Comparator, PassesEqualAndNearlyEqualArrays) {
  EXPECT_TRUE(compared(reference()).equal);
  EXPECT_EQ(compared(reference()).error, 0);
  NpyArray near = reference();
  values(near)[7] *= 1 + 5e-13;
  EXPECT_TRUE(compared(near).equal);
  EXPECT_NEAR(compared(near).error, 5e-13, 1e-15);
}

TEST_F(Comparator, CatchesNanAndInfinityOnEitherSide) {
  for (const double bad : {nan, infinity, -infinity}) {
    NpyArray mutant = reference();
    values(mutant).back() = bad;
    EXPECT_FALSE(compared(mutant).equal);
    EXPECT_FALSE(compare(reference(), mutant, {.relative = 1e-12}).equal);
    EXPECT_FALSE(compare(mutant, mutant, {.relative = infinity}).equal);
    EXPECT_NE(compared(mutant).reason.find("(5, 4)"), std::string::npos) << compared(mutant).reason;
  }
}

TEST_F(Comparator, CatchesAStaleValue) {
  NpyArray mutant = reference();
  values(mutant)[12] = values(mutant)[11];
  EXPECT_FALSE(compared(mutant).equal);
  EXPECT_NE(compared(mutant).reason.find("(2, 2)"), std::string::npos) << compared(mutant).reason;
}

TEST_F(Comparator, CatchesAMissingLastRow) {
  NpyArray mutant = reference();
  mutant.shape = {5, 5};
  values(mutant).resize(25);
  EXPECT_FALSE(compared(mutant).equal);
}

TEST_F(Comparator, CatchesATransposedShape) {
  NpyArray mutant = reference();
  mutant.shape = {5, 6};
  EXPECT_FALSE(compared(mutant).equal);
}

TEST_F(Comparator, CatchesSwappedElements) {
  NpyArray mutant = reference();
  std::swap(values(mutant)[3], values(mutant)[4]);
  EXPECT_FALSE(compared(mutant).equal);
}

TEST_F(Comparator, CatchesAnErrorJustAboveTheTolerance) {
  NpyArray mutant = reference();
  values(mutant)[29] *= 1 + 2e-12;
  EXPECT_FALSE(compared(mutant).equal);
}

TEST_F(Comparator, MeasuresTinyElementsAgainstTheFloor) {
  const NpyArray reference{{2}, Elements<double>{1, 0}};
  const NpyArray near{{2}, Elements<double>{1, 1e-16}};
  EXPECT_NEAR(compare(near, reference, {.relative = 1e-12}).error, 1e-13, 1e-20);
  EXPECT_TRUE(compare(near, reference, {.relative = 1e-12}).equal);
  EXPECT_FALSE(compare({{2}, Elements<double>{1, 1e-14}}, reference, {.relative = 1e-12}).equal);
  EXPECT_TRUE(
      compare({{1}, Elements<double>{0}}, {{1}, Elements<double>{0}}, {.relative = 0}).equal);
}

/// C = AᵀA for a matrix whose columns have norms from 1e-120 to 1e120.
class ComparatorByDiagonal : public testing::Test {
 protected:
  static constexpr std::size_t n = 5;
  static constexpr Tolerance tolerance{.relative = 1e-12, .scale = Scale::diagonal};

  static NpyArray reference() {
    constexpr std::size_t rows = 7;
    Elements<double> a(rows * n), c(n * n, 0.0);
    for (std::size_t k = 0; k < rows; ++k)
      for (std::size_t j = 0; j < n; ++j)
        a[k * n + j] = std::sin(static_cast<double>(1 + k * n + j)) *
                       std::pow(10, 60 * static_cast<double>(j) - 120);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < rows; ++k) c[i * n + j] += a[k * n + i] * a[k * n + j];
    return {{n, n}, c};
  }
  static double& element(NpyArray& array, std::size_t i, std::size_t j) {
    return std::get<Elements<double>>(array.values)[i * n + j];
  }
  static Comparison compared(const NpyArray& mutant) {
    return compare(mutant, reference(), tolerance);
  }
};

TEST_F(ComparatorByDiagonal, PassesEqualAndNearlyEqualArrays) {
  EXPECT_TRUE(compared(reference()).equal);
  EXPECT_EQ(compared(reference()).error, 0);
  for (std::size_t i = 0; i < n; ++i) {
    NpyArray near = reference();
    element(near, i, i) *= 1 + 5e-13;
    EXPECT_TRUE(compared(near).equal);
    EXPECT_NEAR(compared(near).error, 5e-13, 1e-15);
  }
}

TEST_F(ComparatorByDiagonal, MeasuresAgainstTheDiagonalOfTheReference) {
  const NpyArray reference{{2, 2}, Elements<double>{4, 0, 0, 9}};
  const NpyArray off{{2, 2}, Elements<double>{4, 0.06, 0, 9}};
  const NpyArray on{{2, 2}, Elements<double>{4, 0, 0, 9.9}};
  EXPECT_NEAR(compare(off, reference, tolerance).error, 0.01, 1e-15);
  EXPECT_NEAR(compare(on, reference, tolerance).error, 0.1, 1e-15);
}

TEST_F(ComparatorByDiagonal, CatchesNanAndInfinityOnEitherSide) {
  for (const double bad : {nan, infinity, -infinity}) {
    NpyArray mutant = reference();
    element(mutant, 4, 4) = bad;
    EXPECT_FALSE(compared(mutant).equal);
    EXPECT_FALSE(compare(reference(), mutant, tolerance).equal);
    EXPECT_FALSE(compare(mutant, mutant, {infinity, 0, Scale::diagonal}).equal);
  }
}

TEST_F(ComparatorByDiagonal, CatchesAWrongElementHoweverSmall) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      NpyArray mutant = reference();
      element(mutant, i, j) *= 1 + 1e-9;
      const Comparison comparison = compared(mutant);
      EXPECT_FALSE(comparison.equal) << i << ", " << j;
      EXPECT_NE(comparison.reason.find("(" + std::to_string(i) + ", " + std::to_string(j) + ")"),
                std::string::npos)
          << comparison.reason;
    }
  NpyArray small = reference();
  element(small, 0, 0) *= 2;
  EXPECT_TRUE(compare(small, reference(), {.relative = 1e-12}).equal) << "of 1e-240 beside 1e240";
}

TEST_F(ComparatorByDiagonal, CatchesAStaleValue) {
  NpyArray mutant = reference();
  element(mutant, 2, 2) = element(mutant, 2, 1);
  EXPECT_FALSE(compared(mutant).equal);
}

TEST_F(ComparatorByDiagonal, CatchesSwappedElements) {
  for (std::size_t j = 1; j < n; ++j) {
    NpyArray mutant = reference();
    std::swap(element(mutant, 1, j), element(mutant, 1, j - 1));
    EXPECT_FALSE(compared(mutant).equal) << j;
  }
}

TEST_F(ComparatorByDiagonal, CatchesAMissingLastRow) {
  NpyArray mutant = reference();
  mutant.shape = {n - 1, n};
  std::get<Elements<double>>(mutant.values).resize((n - 1) * n);
  EXPECT_FALSE(compared(mutant).equal);
  mutant = reference();
  for (std::size_t j = 0; j < n; ++j) element(mutant, n - 1, j) = 0;
  EXPECT_NEAR(compared(mutant).error, 1, 1e-12);
}

TEST_F(ComparatorByDiagonal, NeitherOverflowsNorVanishes) {
  for (const double scale : {1e300, 1e-300, 1e-320}) {
    const NpyArray reference{{2, 2}, Elements<double>{scale, 0, 0, scale}};
    const NpyArray mutant{{2, 2}, Elements<double>{scale, scale / 8, 0, scale}};
    EXPECT_NEAR(compare(mutant, reference, tolerance).error, 0.125, 1e-3) << scale;
  }
}

TEST_F(ComparatorByDiagonal, AllowsNoDifferenceWhereTheScaleIsZero) {
  const NpyArray reference{{2, 2}, Elements<double>{0, 0, 0, 1}};
  EXPECT_EQ(compare(reference, reference, tolerance).error, 0);
  for (const std::size_t at : {0, 1, 2}) {
    NpyArray mutant = reference;
    std::get<Elements<double>>(mutant.values)[at] = 5e-324;
    EXPECT_EQ(compare(mutant, reference, tolerance).error, infinity);
    EXPECT_FALSE(compare(mutant, reference, tolerance).equal);
  }
}

TEST_F(ComparatorByDiagonal, NeedsASquareMatrix) {
  for (const NpyArray& array :
       {NpyArray{{4}, Elements<double>{1, 2, 3, 4}}, NpyArray{{1, 4}, Elements<double>{1, 2, 3, 4}},
        NpyArray{{1, 1, 1}, Elements<double>{1}}}) {
    const Comparison comparison = compare(array, array, tolerance);
    EXPECT_FALSE(comparison.equal);
    EXPECT_NE(comparison.reason.find("square"), std::string::npos) << comparison.reason;
  }
}

TEST(ComparatorByAGivenMagnitude, MeasuresEachErrorAgainstIt) {
  const Tolerance tolerance{.relative = 1e-3, .floor = 2, .scale = Scale::given};
  const NpyArray reference{{1, 3}, Elements<double>{1e-9, 0, -1}};
  NpyArray mutant = reference;
  EXPECT_TRUE(compare(mutant, reference, tolerance).equal);
  for (const std::size_t at : {0, 1, 2}) {
    mutant = reference;
    std::get<Elements<double>>(mutant.values)[at] += 1e-3;
    EXPECT_NEAR(compare(mutant, reference, tolerance).error, 5e-4, 1e-12);
    EXPECT_TRUE(compare(mutant, reference, tolerance).equal);
    std::get<Elements<double>>(mutant.values)[at] += 2e-3;
    EXPECT_FALSE(compare(mutant, reference, tolerance).equal);
    std::get<Elements<double>>(mutant.values)[at] = std::nan("");
    EXPECT_FALSE(compare(mutant, reference, tolerance).equal);
  }
}

TEST(Tolerances, SurviveJson) {
  for (const Scale scale : {Scale::element, Scale::diagonal, Scale::given}) {
    const Tolerance tolerance = tolerance_from_json(to_json(Tolerance{1e-7, 1e-5, scale}));
    EXPECT_EQ(tolerance.relative, 1e-7);
    EXPECT_EQ(tolerance.floor, 1e-5);
    EXPECT_EQ(tolerance.scale, scale);
  }
}

// --- .npy files

template <typename T>
Elements<T> counted(std::size_t n) {
  Elements<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(i) - 2;
  return values;
}

TEST(Npy, ReadsWhatItWrites) {
  const Directory directory;
  const std::vector<NpyArray> arrays{{{}, counted<double>(1)},
                                     {{0}, counted<double>(0)},
                                     {{7}, counted<double>(7)},
                                     {{3, 5}, counted<float>(15)},
                                     {{2, 3, 4}, counted<std::int32_t>(24)},
                                     {{1, 1, 6, 1}, counted<std::int64_t>(6)}};
  for (const NpyArray& array : arrays) {
    write_npy(directory / "a.npy", array);
    const NpyArray read = read_npy(directory / "a.npy");
    EXPECT_EQ(read.shape, array.shape);
    EXPECT_EQ(read.dtype(), array.dtype());
    EXPECT_EQ(read.values, array.values);
    EXPECT_EQ(std::filesystem::file_size(directory / "a.npy") % 64,
              array.size() * (array.dtype().back() == '8' ? 8 : 4) % 64)
        << "the elements begin at a multiple of 64 bytes";
  }
}

TEST(Npy, MovesItsElements) {
  NpyArray f64{{7}, counted<double>(7)};
  const double* data = std::get<Elements<double>>(f64.values).data();
  EXPECT_EQ(std::move(f64).as_double().data(), data);
  NpyArray f32{{7}, counted<float>(7)};
  EXPECT_EQ(f32.as_double(), counted<double>(7));
  EXPECT_EQ(std::move(f32).as_double(), counted<double>(7));
}

std::string npy_bytes(const std::string& header, const std::string& data, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {version, '\0', static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  if (version > 1) bytes += {'\0', '\0'};
  return bytes + header + data;
}

TEST(Npy, ReadsOtherLegalHeaders) {
  const Directory directory;
  const std::string data(24, '\0');
  for (const std::string header : {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n",
                                   "{\"shape\":(3,),\"fortran_order\":False,\"descr\":\"<f8\"}",
                                   "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3)}   \n"})
    for (const char version : {1, 2, 3}) {
      write_text(directory / "a.npy", npy_bytes(header, data, version));
      EXPECT_NO_THROW(read_npy(directory / "a.npy")) << header;
    }
}

TEST(Npy, ConvertsFortranOrder) {
  const Directory directory;
  const Elements<std::int32_t> columns{0, 10, 1, 11, 2, 12};
  write_text(directory / "a.npy",
             npy_bytes("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }\n",
                       {reinterpret_cast<const char*>(columns.data()), 24}));
  EXPECT_EQ(std::get<Elements<std::int32_t>>(read_npy(directory / "a.npy").values),
            (Elements<std::int32_t>{0, 1, 2, 10, 11, 12}));
}

TEST(Npy, RefusesMalformedHeaders) {
  const Directory directory;
  const std::string data(24, '\0');
  for (const std::string header :
       {"",
        "{",
        "}",
        "{}",
        "[]",
        "{'descr': '<f8'}",
        "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3.0,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'more': 1}",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)} surplus",
        "{'descr': '>f8', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 9)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}"}) {
    write_text(directory / "a.npy", npy_bytes(header, data));
    EXPECT_THROW(read_npy(directory / "a.npy"), BadInput) << header;
  }
  write_text(directory / "a.npy",
             npy_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", data, 4));
  EXPECT_THROW(read_npy(directory / "a.npy"), BadInput) << "version 4";
}

TEST(Npy, SurvivesEveryTruncationAndEveryChangedByteOfTheHeader) {
  const Directory directory;
  write_npy(directory / "good.npy", {{4}, counted<double>(4)});
  std::ifstream file(directory / "good.npy", std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t length = 0; length < good.size(); ++length) {
    write_text(directory / "a.npy", good.substr(0, length));
    EXPECT_THROW(read_npy(directory / "a.npy"), BadInput) << length;
  }
  for (std::size_t at = 0; at < 128; ++at)
    for (const char byte : {'\0', '\x7f', '\xff', '(', '9'}) {
      std::string changed = good;
      changed[at] = byte;
      write_text(directory / "a.npy", changed);
      try {
        const NpyArray array = read_npy(directory / "a.npy");
        EXPECT_LE(array.size(), 8u);
      } catch (const BadInput& refusal) {
        EXPECT_NE(std::string(refusal.what()).find("a.npy"), std::string::npos);
      }
    }
}

// --- Files

TEST(File, IsWrittenCompletelyOrNotAtAll) {
  const Directory directory;
  write_file(directory / "a", {"one ", "two"});
  std::string text;
  std::getline(std::ifstream(directory / "a"), text);
  EXPECT_EQ(text, "one two");
  EXPECT_THROW(write_file(directory / "no/a", {"x"}), BadInput);
  EXPECT_THROW(write_file(directory / "", {"x"}), BadInput);
  EXPECT_THROW(write_file("/dev/full", {"x"}), BadInput);
  EXPECT_THROW(check_writable(directory / std::string(300, 'x')), BadInput);
  std::filesystem::create_symlink("itself", directory / "itself");
  EXPECT_THROW(check_writable(directory / "itself"), BadInput);
  std::filesystem::remove(directory / "itself");
  write_file("/dev/null", {"x"});
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(directory.files(), std::vector<std::string>{"a"});
}

// --- Numbers

#ifdef __x86_64__
TEST(FlushToZero, TakesSubnormalNumbersForZeroWhileItLives) {
  const volatile float normal = std::numeric_limits<float>::min();
  const volatile double subnormal = std::numeric_limits<double>::denorm_min();
  {
    const FlushToZero flush_to_zero;
    EXPECT_EQ(normal / 2, 0) << "as a result";
    EXPECT_EQ(subnormal * 0x1p200, 0) << "as an operand";
    EXPECT_EQ(normal * 1, normal);
  }
  EXPECT_GT(normal / 2, 0);
  EXPECT_GT(subnormal * 0x1p200, 0);
}
#endif

TEST(Number, IsReadStrictly) {
  EXPECT_EQ(parse_integer("n", "42", 1, 100), 42);
  EXPECT_EQ(parse_integer("n", "-3", -5, 5), -3);
  EXPECT_EQ(parse_real("x", "2.5e-1", 0, 1), 0.25);
  for (const char* text :
       {"", " 1", "1 ", "+1", "1.0", "1e2", "0x1", "nan", "101", "0", "one", "9223372036854775808"})
    EXPECT_THROW(parse_integer("n", text, 1, 100), BadInput) << text;
  for (const char* text :
       {"", " 1", "1 ", "nan", "-nan", "inf", "1e999", "1.1", "-0.1", "0.5x", "one"})
    EXPECT_THROW(parse_real("x", text, 0, 1), BadInput) << text;
}

TEST(Number, IsNamedWhenItIsRefused) {
  try {
    parse_integer("numX", "two", 3, 9);
    FAIL();
  } catch (const BadInput& refusal) {
    EXPECT_STREQ(refusal.what(), "numX must be a whole number from 3 to 9, not 'two'");
  }
}

// --- Statistics and timeline

TEST(Statistics, MedianAndSpread) {
  EXPECT_EQ(summarise({3}).median, 3);
  EXPECT_EQ(summarise({5, 1, 3}).median, 3);
  EXPECT_EQ(summarise({4, 1, 3, 2}).median, 2.5);
  const Summary summary = summarise({5, 1, 4});
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.max, 5);
  EXPECT_EQ(summary.spread(), 0.5);
  EXPECT_THROW(summarise({}), std::invalid_argument);
}

TEST(Timeline, AddsUpThePhasesOfOneName) {
  RecordedTimeline timeline;
  timeline.end();
  for (int turn = 0; turn < 2; ++turn) {
    timeline.begin("first");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    timeline.begin("second");
  }
  timeline.end();
  ASSERT_EQ(timeline.spans().size(), 4u);
  for (std::size_t s = 1; s < 4; ++s)
    EXPECT_LE(timeline.spans()[s - 1].end, timeline.spans()[s].begin);
  const auto totals = timeline.totals();
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].name, "first");
  EXPECT_GE(totals[0].seconds, 0.004);
  EXPECT_LE(totals[0].seconds + totals[1].seconds, timeline.now());
}

int calls_ahead;

TEST(Timeline, CallsTheHookOnceOutsideOfAllPhases) {
  const auto ahead = [] {
    ++calls_ahead;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  calls_ahead = 0;
  RecordedTimeline timeline("second", ahead), of_any("", ahead), of_none("third", ahead);
  for (RecordedTimeline* each : {&timeline, &of_any, &of_none}) {
    for (const char* name : {"first", "second", "second"}) each->begin(name);
    each->end();
  }
  EXPECT_EQ(calls_ahead, 2);
  EXPECT_TRUE(timeline.hook_was_called());
  EXPECT_TRUE(of_any.hook_was_called());
  EXPECT_FALSE(of_none.hook_was_called());
  EXPECT_GE(timeline.spans()[1].begin - timeline.spans()[0].end, 0.005);
}

TEST(Timeline, SeparatesOverlappingIntervalsFromPhases) {
  RecordedTimeline timeline;
  timeline.begin("phase");
  timeline.add_overlapping("copy in", 0, 2);
  timeline.add_overlapping("kernels", 1, 4);
  timeline.add_overlapping("copy in", 2, 3);
  timeline.end();
  EXPECT_EQ(timeline.totals().size(), 1u);
  EXPECT_EQ(timeline.overlapping().size(), 3u);
  const auto beside = timeline.overlapping_totals();
  ASSERT_EQ(beside.size(), 2u);
  EXPECT_EQ(beside[0].name, "copy in");
  EXPECT_EQ(beside[0].seconds, 3);
  EXPECT_EQ(beside[1].seconds, 3);
}

// --- Processes

TEST(Process, KeepsOutputErrorAndStatus) {
  const ProcessResult result = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(run_process({"sh", "-c", "kill -9 $$"}).status, 137);
  EXPECT_EQ(run_process({"sh", "-c", "head -c 3000000 /dev/zero"}).out.size(), 3000000u);
  EXPECT_EQ(run_process({"cat"}).out, "") << "there is no standard input";
  EXPECT_EQ(run_process({"sh", "-c", "echo $A"}, {.environment = {"A=b"}}).out, "b\n");
  EXPECT_THROW(run_process({"/no/such/program"}), Failure);
}

// --- The machine

TEST(Machine, IsNamedForDirectories) {
  Machine machine = this_machine();
  EXPECT_GE(machine.cores, 1);
  EXPECT_GT(machine.memory, 1e8);
  machine.cpu = "Some(R) CPU  E5-2680 v4 @ 2.40GHz ";
  machine.cores = 28;
  EXPECT_EQ(machine.name(), "some-r-cpu-e5-2680-v4-2-40ghz-28-cores");
  machine.cores = 1;
  EXPECT_TRUE(machine.name().ends_with("-1-core"));
}

TEST(Machine, HasMemoryThatCanBeUsed) {
  EXPECT_GT(available_memory(), 0);
  EXPECT_LE(available_memory(), this_machine().memory);
  const double before = peak_memory();
  const volatile std::size_t numbers = 8'000'000;  // prevents the compiler from removing an unused
                                                   // allocation
  const Array<double, 1> a(numbers);
  EXPECT_TRUE(std::isnan(a(numbers - 1)));
  EXPECT_GE(peak_memory(), std::max(before, 64e6));
}

TEST(Machine, HasTheMemoryThatItsContainerLeaves) {
  const Directory group;
  EXPECT_GT(available_memory(group / ""), 1e6) << "no container";
  write_text(group / "memory.max", "max\n");
  write_text(group / "memory.current", "700000\n");
  EXPECT_GT(available_memory(group / ""), 1e6) << "no limit";
  write_text(group / "memory.max", "1000000\n");
  EXPECT_EQ(available_memory(group / ""), 300000);
  // Cached pages of files are freed if a program needs their memory.
  write_text(group / "memory.stat", "anon 100000\ninactive_file 500000\nactive_file 50000\n");
  EXPECT_EQ(available_memory(group / ""), 850000);
  write_text(group / "memory.current", "2000000\n");
  EXPECT_EQ(available_memory(group / ""), 0);
}

TEST(Machine, KnowsTheTime) {
  EXPECT_EQ(utc_now().size(), std::string("2026-01-01T00:00:00Z").size());
  EXPECT_GE(utc_now(), "2026");
  EXPECT_FALSE(revision().empty());
}

TEST(Ceilings, AreMeasuredOnceAndCached) {
  const Directory directory;
  ASSERT_EQ(::setenv("XDG_CACHE_HOME", (directory / "").c_str(), 1), 0);
  const Effort little{.seconds = 1e-3, .bytes = 1e6};
  const Ceilings measured = cached_ceilings(false, little);
  EXPECT_GT(measured.flops_f64, 1e8);
  EXPECT_GT(measured.flops_f32, 1e8);
  EXPECT_GT(measured.flops_f64_one, 1e8);
  EXPECT_GT(measured.bandwidth, 1e8);
  EXPECT_EQ(directory.files(), std::vector<std::string>{"staircase"});
  EXPECT_EQ(to_json(cached_ceilings(false, little)), to_json(measured));
  EXPECT_NE(to_json(cached_ceilings(true, little)), to_json(measured)) << "asked to measure again";

  const auto file = directory / ("staircase/ceilings-" + this_machine().name() + ".json");
  write_text(file, "{\"flops_f64\": -1}");
  EXPECT_GT(cached_ceilings(false, little).flops_f64, 1e8) << "a spoilt cache is measured again";
}

TEST(Ceilings, OfAGpuAreMeasuredOnceForEachDriver) {
  const Directory directory;
  ASSERT_EQ(::setenv("XDG_CACHE_HOME", (directory / "").c_str(), 1), 0);
  static int measured;
  measured = 0;
  Gpu gpu{"Some GPU (80 GB)", "580.1", [] { return Rates{1e12, 2e12, 3e12 + ++measured, 4e12}; }};
  EXPECT_EQ(cached_ceilings(gpu).bandwidth, 3e12 + 1);
  EXPECT_EQ(cached_ceilings(gpu).bandwidth, 3e12 + 1) << "from the cache";
  EXPECT_EQ(cached_ceilings(gpu, true).bandwidth, 3e12 + 2);
  EXPECT_EQ(cached_ceilings(gpu).bandwidth, 3e12 + 2);
  gpu.driver = "590.2";
  EXPECT_EQ(cached_ceilings(gpu).bandwidth, 3e12 + 3);
  write_text(directory / "staircase/ceilings-some-gpu-80-gb-driver-590-2.json", "[]");
  EXPECT_EQ(cached_ceilings(gpu).bandwidth, 3e12 + 4) << "a spoilt cache is measured again";
  EXPECT_EQ(cached_ceilings(gpu).flops_f64_matrix, 4e12) << "from the cache";
  write_text(directory / "staircase/ceilings-some-gpu-80-gb-driver-590-2.json",
             R"({"flops_f64": 1, "flops_f32": 1, "copy_bytes_per_second": 1})");
  EXPECT_EQ(cached_ceilings(gpu).bandwidth, 3e12 + 5) << "an old one, without tensor cores";
}

TEST(Ceilings, OfThisMachinesGpuArePlausible) {
  const auto gpu = this_gpu();
  if (!gpu) GTEST_SKIP() << "there is no GPU";
  const Rates rates = gpu->measure();
  EXPECT_GT(rates.flops_f64, 1e10);
  EXPECT_GT(rates.flops_f32, 0.9 * rates.flops_f64);
  EXPECT_GT(rates.bandwidth, 1e10);
  EXPECT_GT(rates.flops_f64_matrix, 0.9 * rates.flops_f64);
}

TEST(Ceilings, BoundTheTimeByFlopsOrBytes) {
  const Rates rates{.flops_f64 = 100, .flops_f32 = 200, .bandwidth = 10, .flops_f64_matrix = 400};
  EXPECT_EQ(rates.lower_bound({.flops = 1000, .bytes = 20}, Precision::f64), 10);
  EXPECT_EQ(rates.lower_bound({.flops = 1000, .bytes = 20}, Precision::f32), 5);
  EXPECT_EQ(rates.lower_bound({.flops = 1000, .bytes = 200}, Precision::f64), 20);
  const Work product{.flops = 1000, .bytes = 20, .matrix = true};
  EXPECT_EQ(rates.lower_bound(product, Precision::f64), 2.5);
  EXPECT_EQ(rates.lower_bound(product, Precision::f32), 5);
}

}  // namespace
}  // namespace staircase::test
