/// \file
/// Compares the verdicts of `slice --check` on random nests with the elements that the nests access
/// when they run.
///
/// Usage: nests_test SLICE INCLUDE [--fuzz COUNT] [GTEST OPTIONS]

#include "nests.hpp"

#include <fmt/core.h>

#include <map>
#include <set>

#include "support.hpp"

namespace slicer::test {
namespace {

using Json = nlohmann::json;
std::string program, include;
long fuzz = 0;

/// The dependences between iterations of a loop.
struct Found {
  bool any = false, not_by_updates = false;
};

/// The iterations of the outer loops, and an element. Two dependent accesses agree in both.
using Key = std::pair<std::vector<long>, std::vector<long>>;

Found dependences(const std::vector<Touch>& touches, std::size_t loop) {
  std::map<Key, std::vector<const Touch*>> together;
  for (const Touch& touch : touches)
    if (touch.times.size() > loop)
      together[{{touch.times.begin(), touch.times.begin() + loop}, touch.element}].push_back(
          &touch);
  Found found;
  for (const auto& [key, all] : together)
    for (const Touch* one : all)
      for (const Touch* other : all) {
        if (one->times[loop] >= other->times[loop] || (!one->is_write && !other->is_write))
          continue;
        found.any = true;
        found.not_by_updates =
            found.not_by_updates || one->update == 0 || one->update != other->update;
      }
  return found;
}

/// Whether the iterations of a reported pair access the same element, as reported.
bool occurs(const Nest& nest, std::size_t loop, const Json& pair) {
  const Json& sizes = pair.at("sizes");
  const std::vector<Touch> touches = run(nest, sizes.value("n", 4L), sizes.value("m", 4L));
  const std::array<std::string, 3> counters{"i", "j", "k"};
  const auto is_at = [&](const Touch& touch, const Json& iteration) {
    if (iteration.size() != touch.counters.size()) return false;
    for (std::size_t c = 0; c < touch.counters.size(); ++c)
      if (iteration.at(counters[c]) != touch.counters[c]) return false;
    return true;
  };
  const std::string kind = pair.at("kind");
  for (const Touch& source : touches) {
    if (!is_at(source, pair.at("source")) || source.is_write == (kind == "anti")) continue;
    for (const Touch& sink : touches)
      if (is_at(sink, pair.at("sink")) && sink.is_write == (kind != "flow") &&
          sink.element == source.element && source.times[loop] < sink.times[loop] &&
          std::equal(source.times.begin(), source.times.begin() + loop, sink.times.begin()))
        return true;
  }
  return false;
}

class Nests : public testing::Test {
 protected:
  /// Generates nests, requests the verdicts on their loops, and compares them with runs.
  void check(std::mt19937& random, int count) {
    std::vector<Nest> nests;
    std::map<int, std::pair<std::size_t, std::size_t>> loops;  // the nest and its loop, by line
    std::string text =
        "#include <algorithm>\n#include <staircase/view.hpp>\nusing staircase::View;\n";
    for (int each = 0; each < count; ++each) {
      nests.push_back(random_nest(random));
      std::vector<int> lines;
      const int behind = 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
      text += text_of(nests.back(), fmt::format("nest_{}", each), lines);
      for (std::size_t d = 0; d < lines.size(); ++d)
        loops[behind + lines[d]] = {nests.size() - 1, d};
    }
    staircase::test::Directory directory;
    staircase::test::write_text(directory / "nests.cpp", text);
    const auto result = staircase::run_process(
        {program, "--check", directory / "nests.cpp", "--json", "-", "--", "-I" + include});
    ASSERT_EQ(result.status, 0) << result.err;
    const Json found = Json::parse(result.out);
    EXPECT_EQ(found.size(), loops.size());
    for (const Json& loop : found) {
      const auto [nest, depth] = loops.at(loop.at("line"));
      std::vector<int> lines;
      SCOPED_TRACE(text_of(nests[nest], "nest", lines) + loop.dump());
      compare(nests[nest], depth, loop);
    }
  }

  void compare(const Nest& nest, std::size_t depth, const Json& loop) {
    const std::string verdict = loop.at("verdict");
    ++verdicts_[verdict];
    EXPECT_NE(verdict, "unknown");
    Found seen;
    for (const long n : {1, 2, 3, 5})
      for (const long m : {1, 3, 4}) {
        const Found here = dependences(run(nest, n, m), depth);
        seen.any = seen.any || here.any;
        seen.not_by_updates = seen.not_by_updates || here.not_by_updates;
      }
    if (verdict == "independent") {
      EXPECT_FALSE(seen.any);
    }
    if (verdict == "reduction") {
      EXPECT_FALSE(seen.not_by_updates);
    }
    if (verdict == "dependent" || verdict == "reduction") {
      EXPECT_TRUE(occurs(nest, depth, loop.at("pair")));
    }
  }

  std::map<std::string, int> verdicts_;
};

TEST_F(Nests, HaveVerdictsAndPairsThatTheirRunsShow) {
  std::mt19937 random(20);
  // A few nests reach every part of the slicer. With sanitizers, a run takes four times as long.
  for (int file = 0; file < (SANITIZED ? 2 : 8); ++file) check(random, 250);
  if (SANITIZED) return;
  for (const char* verdict : {"independent", "dependent", "reduction"})
    EXPECT_GT(verdicts_[verdict], 100) << verdict;
}

TEST_F(Nests, ThatAreFreshHaveThemToo) {
  const unsigned seed = staircase::test::fresh_seed();
  SCOPED_TRACE(fmt::format("STAIRCASE_TEST_SEED={}", seed));
  std::mt19937 random(seed);
  for (long done = 0; done < fuzz; done += 250) check(random, 250);
}

}  // namespace
}  // namespace slicer::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3 && !(argc == 5 && std::string(argv[3]) == "--fuzz")) {
    fmt::print(stderr, "usage: nests_test SLICE INCLUDE [--fuzz COUNT] [GTEST OPTIONS]\n");
    return 2;
  }
  slicer::test::program = argv[1];
  slicer::test::include = argv[2];
  if (argc == 5) slicer::test::fuzz = std::stol(argv[4]);
  if (slicer::test::fuzz == 0) staircase::test::leave_out("*.ThatAreFresh*");
  return staircase::test::run_all_tests();
}
