/// \file
/// Compares the verdicts of `slice --check` on transformations of random nests with the order in
/// which the transformed statements run.
///
/// Usage: orders_test SLICE INCLUDE [--fuzz COUNT] [GTEST OPTIONS]

#include "orders.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "support.hpp"

namespace slicer::test {
namespace {

using Json = nlohmann::json;
std::string program, include;
long fuzz = 0;

using Events = std::vector<Event>;

bool is_inside(const Case& of, const Event& event) { return event.touch.times.size() > of.loop; }

/// The iteration in which an event occurs: the indices for the loop after the pragmas and for the
/// loops around it.
std::vector<long> iteration_of(const Case& of, const Event& event) {
  const auto first = event.touch.times.begin();
  return {first, first + static_cast<std::ptrdiff_t>(of.loop) + 1};
}

/// The reads of elements of `array` that occur in the loop after the pragmas, and that the same
/// iteration has not written before.
std::vector<const Event*> reads_first(const Case& of, const Events& events, int array) {
  std::set<std::tuple<std::size_t, std::vector<long>, std::vector<long>>> written;
  std::vector<const Event*> reads;
  for (const Event& event : events) {
    if (!is_inside(of, event) || event.touch.element[0] != array) continue;
    const std::tuple key{event.nest, iteration_of(of, event), event.touch.element};
    if (event.touch.is_write)
      written.insert(key);
    else if (!written.contains(key))
      reads.push_back(&event);
  }
  return reads;
}

/// A function that is called with two events on the same element whose order the transformations
/// reverse. At least one event is a write. For an expanded variable, both events are in the same
/// iteration.
using Visit = std::function<void(const Event&, const Event&)>;

void visit_reversed(const Case& of, std::size_t count, int expanded, const Events& events,
                    const Visit& visit) {
  std::map<std::vector<long>, std::vector<const Event*>> together;
  for (const Event& event : events) together[event.touch.element].push_back(&event);
  for (const auto& [element, all] : together)
    for (std::size_t one = 0; one < all.size(); ++one)
      for (std::size_t other = one + 1; other < all.size(); ++other) {
        const Event &first = *all[one], &second = *all[other];
        if (!first.touch.is_write && !second.touch.is_write) continue;
        if (!is_inside(of, first) || !is_inside(of, second)) continue;
        const bool is_apart =
            element[0] == expanded && iteration_of(of, first) != iteration_of(of, second);
        if (!is_apart && is_reversed(of, count, first, second)) visit(first, second);
      }
}

bool are_updates(const Event& one, const Event& other) {
  return one.touch.update != 0 && one.touch.update == other.touch.update;
}

bool is_at(const Touch& touch, const Json& iteration) {
  if (iteration.size() != touch.counters.size()) return false;
  for (std::size_t c = 0; c < touch.counters.size(); ++c)
    if (iteration.at(counters[c]) != touch.counters[c]) return false;
  return true;
}

/// Whether two events are the source and the sink of a reported pair.
bool are_pair(const Json& pair, const Event& source, const Event& sink) {
  const std::string kind = pair.at("kind");
  return is_at(source.touch, pair.at("source")) && is_at(sink.touch, pair.at("sink")) &&
         source.touch.is_write == (kind != "anti") && sink.touch.is_write == (kind != "flow") &&
         source.touch.element == sink.touch.element;
}

class Orders : public testing::Test {
 protected:
  /// Generates cases, requests the verdicts, and compares them with runs.
  void check(std::mt19937& random, int count) {
    std::vector<Case> cases;
    std::map<int, std::size_t> at;  // the case, by the line of its loop
    std::string text =
        "#include <algorithm>\n#include <staircase/view.hpp>\nusing staircase::View;\n";
    for (int each = 0; each < count; ++each) {
      cases.push_back(random_case(random));
      const Case& made = cases.back();
      std::vector<int> lines;
      const int behind = 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
      text += text_of(made.nests, fmt::format("nest_{}", each), lines, made.loop, pragmas(made));
      at[behind + lines[made.loop]] = cases.size() - 1;
    }
    staircase::test::Directory directory;
    staircase::test::write_text(directory / "nests.cpp", text);
    const auto result = staircase::run_process(
        {program, "--check", directory / "nests.cpp", "--json", "-", "--", "-I" + include});
    ASSERT_EQ(result.status, 1) << result.err;
    std::size_t judged = 0;
    for (const Json& loop : Json::parse(result.out)) {
      if (!loop.contains("transformations")) continue;
      ++judged;
      const Case& made = cases[at.at(loop.at("line"))];
      std::vector<int> lines;
      SCOPED_TRACE(text_of(made.nests, "nest", lines, made.loop, pragmas(made)));
      compare(made, loop.at("transformations"));
    }
    EXPECT_EQ(judged, cases.size());
  }

  static std::string pragmas(const Case& made) {
    std::string text;
    for (const Asked& asked : made.asked) text += "#pragma staircase " + text_of(asked) + "\n";
    return text;
  }

  void compare(const Case& of, const Json& rulings) {
    int expanded = -1;
    ASSERT_EQ(rulings.size(), of.asked.size());
    std::vector<Events> runs;
    for (const auto& [n, m] : {std::pair{1, 1}, {2, 3}, {3, 2}, {4, 4}, {5, 3}})
      runs.push_back(run(of, n, m));
    for (std::size_t a = 0; a < of.asked.size(); ++a) {
      const Json& ruling = rulings[a];
      SCOPED_TRACE(ruling.dump());
      const std::string verdict = ruling.at("verdict");
      const std::string request = ruling.at("request");
      ++verdicts_[request.substr(0, request.find('(')) + " " + verdict];
      EXPECT_NE(verdict, "unknown");
      if (verdict == "impossible")
        EXPECT_TRUE(is_impossible(of, of.asked[a]));
      else if (of.asked[a].what == Asked::expand)
        compare_expansion(of, of.asked[a].array, ruling);
      else
        compare_order(of, a + 1, expanded, ruling, runs);
      if (of.asked[a].what == Asked::expand && verdict == "legal") expanded = of.asked[a].array;
    }
  }

  /// Whether the loops lack the form that a transformation needs.
  static bool is_impossible(const Case& of, const Asked& asked) {
    const Nest& nest = of.nests[0];
    const std::size_t at = of.loop;
    if (asked.what == Asked::distribute)
      return nest.before[at].size() + nest.behind[at].size() + (at + 1 < nest.loops.size()) < 2;
    if (asked.what == Asked::fuse) {
      std::vector<std::set<long>> values;
      for (const Nest& each : of.nests) {
        // Only the bounds of the loop matter.
        Nest bare{{each.loops[0]}, {{{{4, {}}, {}, 0, {}}}}, {{}}};
        values.emplace_back();
        for (long n = -2; n < 6; ++n)
          for (long m = -2; m < 6; ++m)
            for (const Touch& touch : run(bare, n, m))
              values.back().insert((n * 100 + m) * 1000 + touch.counters[0]);
      }
      return values[0] != values[1] || nest.loops[0].step != of.nests[1].loops[0].step;
    }
    std::size_t outer = nest.loops.size(), inner = 0;
    for (const Asked& each : of.asked)
      for (const auto& [loop, number] : each.loops) {
        outer = std::min(outer, loop);
        inner = std::max(inner, loop);
      }
    for (std::size_t d = outer; d < inner; ++d)
      if (!nest.before[d].empty() || !nest.behind[d].empty()) return true;
    return false;
  }

  static void compare_expansion(const Case& of, int array, const Json& ruling) {
    const bool is_illegal = ruling.at("verdict") == "illegal";
    bool is_read_first = false;
    const auto try_sizes = [&](long n, long m) {
      is_read_first = is_read_first || !reads_first(of, run(of, n, m), array).empty();
    };
    for (long size = 2; size <= (is_illegal ? 18 : 6) && !is_read_first; ++size)
      for (const auto& [n, m] : {std::pair{size, size}, {size / 2, size}, {size, size / 2}})
        try_sizes(n, m);
    // Some elements are read first if an earlier loop that writes them is empty.
    for (long n = -16; n <= 16 && is_illegal && !is_read_first; ++n)
      for (long m = -16; m <= 16; ++m) try_sizes(n, m);
    const Json& pair = ruling.at("pair");
    if (pair.is_null()) {
      EXPECT_EQ(is_read_first, is_illegal);
      return;
    }
    // The pair may occur for negative sizes outside of the range tested above.
    const Json& sizes = pair.at("sizes");
    const Events events = run(of, sizes.value("n", 4L), sizes.value("m", 4L));
    EXPECT_EQ(is_read_first || !reads_first(of, events, array).empty(), is_illegal);
    bool occurs = false;
    for (const Event* sink : reads_first(of, events, array))
      for (const Event& source : events)
        occurs = occurs || (are_pair(pair, source, *sink) &&
                            iteration_of(of, source) < iteration_of(of, *sink));
    EXPECT_TRUE(occurs);
  }

  static void compare_order(const Case& of, std::size_t count, int expanded, const Json& ruling,
                            const std::vector<Events>& runs) {
    const std::string verdict = ruling.at("verdict");
    bool any = false, not_by_updates = false, occurs = false;
    for (const Events& events : runs)
      visit_reversed(of, count, expanded, events, [&](const Event& first, const Event& second) {
        any = true;
        not_by_updates = not_by_updates || !are_updates(first, second);
      });
    if (verdict == "legal") {
      EXPECT_FALSE(any);
    }
    if (verdict != "illegal") {
      EXPECT_FALSE(not_by_updates);
    }
    if (verdict == "legal") return;
    const Json &pair = ruling.at("pair"), &sizes = pair.at("sizes");
    visit_reversed(of, count, expanded, run(of, sizes.value("n", 4L), sizes.value("m", 4L)),
                   [&](const Event& first, const Event& second) {
                     occurs = occurs || (are_pair(pair, first, second) &&
                                         (verdict == "reduction" || !are_updates(first, second)));
                   });
    EXPECT_TRUE(occurs);
  }

  std::map<std::string, int> verdicts_;
};

TEST_F(Orders, AreJudgedAsTheyRun) {
  std::mt19937 random(64);
  // A few nests reach every part of the slicer. With sanitizers, a run takes four times as long.
  for (int file = 0; file < (SANITIZED ? 1 : 4); ++file) check(random, 200);
  if (SANITIZED) return;
  for (const char* what : {"interchange", "tile", "distribute", "fuse", "expand"})
    for (const char* verdict : {"legal", "illegal"})
      EXPECT_GT(verdicts_[fmt::format("{} {}", what, verdict)], 9) << what << " " << verdict;
  EXPECT_GT(verdicts_["skew illegal"], 0);
  EXPECT_GT(verdicts_["tile reduction"], 0);
}

TEST_F(Orders, ThatAreFreshAreJudgedToo) {
  const unsigned seed = staircase::test::fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937 random(seed);
  for (long done = 0; done < fuzz; done += 200) check(random, 200);
}

}  // namespace
}  // namespace slicer::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3 && !(argc == 5 && std::string(argv[3]) == "--fuzz")) {
    fmt::print(stderr, "usage: orders_test SLICE INCLUDE [--fuzz COUNT] [GTEST OPTIONS]\n");
    return 2;
  }
  slicer::test::program = argv[1];
  slicer::test::include = argv[2];
  if (argc == 5) slicer::test::fuzz = std::stol(argv[4]);
  if (slicer::test::fuzz == 0) staircase::test::leave_out("*.ThatAreFresh*");
  return staircase::test::run_all_tests();
}
