/// \file
/// Tests, on random loops, the statements of the chapter on slicing. Compares the chapter's tables
/// with a program's output.
///
/// Usage: slicing_test PROGRAM TABLES [GTEST OPTIONS]

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <harness/process.hpp>
#include <numeric>
#include <random>
#include <slicing/nests.hpp>
#include <slicing/slices.hpp>
#include <slicing/traced.hpp>
#include <sstream>

#include "support.hpp"

namespace slicing {
namespace {

std::string program, tables;

/// A test with random numbers, which prints its seed if it fails.
class Fresh : public testing::Test {
 protected:
  Index number(Index least, Index most) {
    return std::uniform_int_distribution<Index>(least, most)(random_);
  }

  template <class Values>
  Values shuffled(Values values) {
    std::ranges::shuffle(values, random_);
    return values;
  }

 private:
  const unsigned seed_ = staircase::test::fresh_seed();
  const testing::ScopedTrace trace_{__FILE__, __LINE__,
                                    fmt::format("STAIRCASE_TEST_SEED={}", seed_)};
  std::mt19937 random_{seed_};
};

// --- Slices

using Cut = Range (*)(Index, Index, Index);

/// Whether slices contain each iteration exactly once, and nothing else.
bool is_whole(Cut cut, Index n, Index slices) {
  std::vector<int> seen(n);
  for (Index s = 0; s < slices; ++s) {
    const Range range = cut(n, slices, s);
    if (range.first < range.last && range.last > n) return false;
    for (Index i = range.first; i < range.last; ++i) ++seen[i];
  }
  return std::ranges::count(seen, 1) == n;
}

TEST(Slices, ContainEachIterationOnce) {
  for (Index n = 0; n <= 70; ++n)
    for (Index slices = 1; slices <= 75; ++slices) {
      EXPECT_TRUE(is_whole(slice, n, slices)) << n << " / " << slices;
      EXPECT_TRUE(is_whole(even_slice, n, slices)) << n << " / " << slices;
      EXPECT_EQ(is_whole(slice_as_printed, n, slices), n == slices || n == 0)
          << n << " / " << slices;
    }
}

TEST(Slices, AreNeededIfTheyContainSomething) {
  for (Index n = 1; n <= 70; ++n)
    for (Index slices = 1; slices <= 75; ++slices)
      for (Index s = 0; s < slices; ++s) {
        const Range range = slice(n, slices, s);
        EXPECT_EQ(range.first < range.last, s < slices_needed(n, slices)) << n << " / " << slices;
      }
}

TEST(Slices, AreEvenToAnIteration) {
  for (Index n = 0; n <= 70; ++n)
    for (Index slices = 1; slices <= 75; ++slices)
      for (Index s = 0; s < slices; ++s) {
        const Range range = even_slice(n, slices, s);
        EXPECT_GE(range.last - range.first, n / slices) << n << " / " << slices;
        EXPECT_LE(range.last - range.first, divide_up(n, slices)) << n << " / " << slices;
      }
}

class NumbersOfSlices : public Fresh {};

TEST_F(NumbersOfSlices, CountDigitZeroFirst) {
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Index> slices(number(1, 4));
    for (Index& radix : slices) radix = number(1, 6);
    Index count = 1;
    for (const Index radix : slices) count *= radix;
    std::vector<Index> expected(slices.size());
    for (Index e = 0; e < count; ++e) {
      EXPECT_EQ(g(e, slices), expected);
      EXPECT_EQ(number_of(g(e, slices), slices), e);
      for (std::size_t n = 0; n < slices.size() && ++expected[n] == slices[n]; ++n) expected[n] = 0;
    }
  }
}

// --- Kinds of cells

/// An access by a piece of a program. The values that the piece has read determine the values that
/// it writes.
struct Access {
  bool is_write;
  Index cell;
};
using Piece = std::vector<Access>;

/// Performs one access by a piece. `state` is a digest of the values that the piece has read.
void step(Memory& memory, const Access& access, Index& state) {
  const Variable cell(memory, {"c", access.cell});
  if (access.is_write)
    cell = ++state;
  else
    state = (31 * state + cell) % 1000003;
}

class Pieces : public Fresh {
 protected:
  Pieces() { fill(numbers_, "c", cells_); }

  Piece piece() {
    Piece accesses(number(1, 3));
    for (Access& access : accesses) access = {number(0, 1) == 1, number(0, cells_ - 1)};
    return accesses;
  }

  Kinds kinds(const Piece& piece) {
    Memory memory(numbers_);
    Index state = 1;
    for (const Access& access : piece) step(memory, access, state);
    return memory.look();
  }

  /// The values of the cells after all accesses. `order` contains the index of the piece of each
  /// access.
  Numbers run(const std::vector<Piece>& pieces, const std::vector<std::size_t>& order) const {
    Memory memory(numbers_);
    std::vector<std::size_t> done(pieces.size());
    std::vector<Index> states(pieces.size());
    std::iota(states.begin(), states.end(), 100);
    for (const std::size_t n : order) step(memory, pieces[n][done[n]++], states[n]);
    return memory.numbers();
  }

  /// The cells whose values differ if the pieces run in another order, or concurrently.
  Cells differing(const std::vector<Piece>& pieces) const {
    std::vector<std::size_t> order;
    for (std::size_t n = 0; n < pieces.size(); ++n) order.insert(order.end(), pieces[n].size(), n);
    const Numbers expected = run(pieces, order);
    Cells cells;
    do {
      for (const auto& [cell, number] : run(pieces, order))
        if (number != expected.at(cell)) cells.insert(cell);
    } while (std::ranges::next_permutation(order).found);
    return cells;
  }

  const Index cells_ = 5;
  Numbers numbers_;
};

TEST_F(Pieces, HaveCellsOfFourKinds) {
  for (int trial = 0; trial < 300; ++trial) {
    const Piece accesses = piece();
    for (const auto& [cell, kind] : kinds(accesses)) {
      Piece here = accesses;
      std::erase_if(here, [&](const Access& access) { return access.cell != cell.row; });
      const auto is_write = [](const Access& access) { return access.is_write; };
      const bool reads = !std::ranges::all_of(here, is_write);
      const bool writes = std::ranges::any_of(here, is_write);
      EXPECT_EQ(kind, !writes ? 'W' : !reads ? 'X' : here.front().is_write ? 'Z' : 'Y');
    }
  }
}

TEST_F(Pieces, GiveTheSameInAnyOrderAndConcurrentlyIfTheConditionsHold) {
  int good = 0, good_but_for_2 = 0, bad = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const std::vector<Piece> pieces{piece(), piece(), piece()};
    Cells later, by_2, by_bernstein;
    for (const auto& [cell, value] : numbers_)
      if (number(0, 1)) later.insert(cell);
    for (std::size_t one = 0; one < 3; ++one)
      for (std::size_t two = one + 1; two < 3; ++two) {
        by_2.merge(against_2(kinds(pieces[one]), kinds(pieces[two])));
        by_bernstein.merge(against_bernstein(kinds(pieces[one]), kinds(pieces[two]), later));
      }
    EXPECT_TRUE(std::ranges::includes(by_2, by_bernstein));
    const Cells cells = differing(pieces);
    if (by_2.empty()) {
      EXPECT_TRUE(cells.empty());
    }
    if (by_bernstein.empty()) {
      EXPECT_TRUE(both(cells, later).empty());
    }
    good += by_2.empty();
    good_but_for_2 += by_bernstein.empty() && !by_2.empty();
    bad += !cells.empty();
  }
  // There must be enough cases of each kind for the test to be meaningful.
  EXPECT_GT(good, 30);
  EXPECT_GT(good_but_for_2, 10);
  EXPECT_GT(bad, 300);
}

// --- The nests of the chapter

class Nests : public Fresh {
 protected:
  /// The arrays whose accesses violate condition (2) of the chapter: the order of the iterations
  /// that access them must not change.
  static std::set<std::string> against(const Nest& nest) {
    const std::vector<Kinds> kinds = traced(nest);
    std::set<std::string> arrays;
    for (std::size_t one = 0; one < kinds.size(); ++one)
      for (std::size_t two = one + 1; two < kinds.size(); ++two)
        for (const Cell& cell : against_2(kinds[one], kinds[two])) arrays.insert(cell.array);
    return arrays;
  }

  const Index l_ = number(2, 6), m_ = number(2, 6), n_ = number(2, 6);
  using Arrays = std::set<std::string>;
};

TEST_F(Nests, TouchTheCellsThatTheChapterDerives) {
  const Nest elements = product(l_, n_, m_), terms = product_of_terms(l_, n_, m_);
  for (std::size_t at = 0; at < elements.iterations.size(); ++at) {
    const Index i = elements.iterations[at][0], j = elements.iterations[at][1];
    Kinds expected{{{"c", i, j}, 'X'}};
    for (Index k = 0; k < m_; ++k) expected[{"a", i, k}] = expected[{"b", k, j}] = 'W';
    EXPECT_EQ(traced(elements)[at], expected);
  }
  for (std::size_t at = 0; at < terms.iterations.size(); ++at) {
    const Index i = terms.iterations[at][0], j = terms.iterations[at][1];
    const Index k = terms.iterations[at][2];
    EXPECT_EQ(traced(terms)[at],
              (Kinds{{{"a", i, k}, 'W'}, {{"b", k, j}, 'W'}, {{"c", i, j}, 'Y'}}));
  }
  const Nest of_one = bodies(n_);
  for (Index i = 0; i < n_; ++i) {
    Kinds expected{{{"f", i}, 'X'}};
    for (Index j = 0; j < n_; ++j) {
      expected[{"x", j}] = 'W';
      if (j != i) expected[{"m", j}] = 'W';
    }
    EXPECT_EQ(traced(of_one)[i], expected);
  }
  const Nest of_two = pairs_of_bodies(n_);
  for (std::size_t at = 0; at < of_two.iterations.size(); ++at) {
    const Index i = of_two.iterations[at][0], j = of_two.iterations[at][1];
    EXPECT_EQ(traced(of_two)[at],
              (Kinds{{{"f", i}, 'Y'}, {{"m", j}, 'W'}, {{"x", i}, 'W'}, {{"x", j}, 'W'}}));
  }
  const std::vector<Kinds> rows = traced(solve_rows(n_)), columns = traced(solve_columns(n_));
  for (Index i = 0; i < n_; ++i) {
    Kinds of_row{{{"s"}, 'Z'}, {{"x", i}, 'X'}, {{"b", i}, 'W'}, {{"a", i, i}, 'W'}};
    for (Index j = 0; j < i; ++j) of_row[{"a", i, j}] = of_row[{"x", j}] = 'W';
    EXPECT_EQ(rows[i], of_row);
    const bool is_last = i + 1 == n_;
    Kinds of_column{{{"x", i}, is_last ? 'X' : 'Z'}, {{"b", i}, 'W'}, {{"a", i, i}, 'W'}};
    for (Index j = i + 1; j < n_; ++j) {
      of_column[{"a", j, i}] = 'W';
      of_column[{"b", j}] = 'Y';
    }
    EXPECT_EQ(columns[i], of_column);
  }
}

TEST_F(Nests, AreParallelOrNotAsInTheChapter) {
  EXPECT_EQ(against(product(l_, n_, m_)), Arrays());
  EXPECT_EQ(against(product_of_terms(l_, n_, m_)), Arrays{"c"});
  EXPECT_EQ(against(bodies(n_)), Arrays());
  EXPECT_EQ(against(pairs_of_bodies(n_ + 1)), Arrays{"f"});
  EXPECT_EQ(against(pairs_once(n_ + 1)), Arrays{"f"});
  EXPECT_EQ(against(solve_rows(n_)), (Arrays{"s", "x"}));
  EXPECT_EQ(against(solve_rows_inner(n_ + 1)), Arrays{"s"});
  EXPECT_EQ(against(solve_columns(n_)), Arrays{"b"});
  EXPECT_EQ(against(solve_columns_inner(n_)), Arrays());
}

TEST_F(Nests, ThatAreParallelOrSumsGiveTheSameInAnyOrder) {
  for (const Nest& nest :
       {product(l_, n_, m_), product_of_terms(l_, n_, m_), bodies(n_), pairs_of_bodies(n_),
        pairs_once(n_), solve_rows_inner(n_), solve_columns_inner(n_), noted(n_), shared_place(n_)})
    for (int trial = 0; trial < 20; ++trial)
      EXPECT_EQ(result(nest, shuffled(nest.iterations)), result(nest, nest.iterations))
          << nest.name;
  for (const Nest& nest : {solve_rows(n_), solve_columns(n_)})
    EXPECT_FALSE(same_in_any_order(nest)) << nest.name;
}

TEST_F(Nests, ComputeTheDocumentedResult) {
  const Nest columns = solve_columns(n_);
  const Numbers x = result(columns, columns.iterations);
  EXPECT_EQ(x, result(solve_rows(n_), columns.iterations));
  for (Index i = 0; i < n_; ++i) {
    Index sum = 0;
    for (Index j = 0; j <= i; ++j) sum += columns.numbers.at({"a", i, j}) * x.at({"x", j});
    EXPECT_EQ(sum, columns.numbers.at({"b", i}));
  }
  Index force = 0;  // the two forces of each pair cancel
  Nest once = pairs_once(n_);
  for (auto& [cell, number] : once.numbers)
    if (cell.array == "m") number = 1;
  for (const auto& [cell, number] : once.numbers)
    if (cell.array == "f") force -= number;
  for (const auto& [cell, number] : result(once, once.iterations)) force += number;
  EXPECT_EQ(force, 0);
}

// --- Loops (3) and (4)

TEST_F(Nests, AreTheSameSliceBySlice) {
  const auto check = [&](const Nest& nest, const std::vector<Index>& extents) {
    std::vector<Index> slices;
    for (const Index extent : extents) slices.push_back(number(1, extent + 2));
    std::vector<std::vector<Iteration>> of_slices;
    for_each_slice(extents, slices, [&](Index, const std::vector<Range>& ranges) {
      of_slices.push_back(box(ranges));
    });
    Memory host(nest.numbers);
    for (const std::vector<Iteration>& of_slice : shuffled(of_slices))
      run_slice(nest, of_slice, host);
    const Numbers expected = result(nest, nest.iterations);
    for (const auto& [cell, value] : expected) EXPECT_EQ(host.numbers().at(cell), value);
  };
  for (int trial = 0; trial < 10; ++trial) {
    check(product(l_, n_, m_), {l_, n_});
    check(product_of_terms(l_, n_, m_), {l_, n_, m_});
    check(bodies(n_), {n_});
    check(noted(n_), {n_});
  }
}

TEST_F(Nests, LackCellsWhoseOldValuesAreNotSent) {
  const Nest nest = product_of_terms(l_, n_, m_);
  Memory host(nest.numbers);
  Numbers sent;
  for (const Cell& cell : footprint(nest, nest.iterations, host).in)
    if (cell.array != "c") sent[cell] = host.read(cell);
  Memory device(sent);
  EXPECT_THROW(nest.body(device, nest.iterations[0]), std::out_of_range);
}

TEST_F(Nests, SendTheCellsThatTheChapterCounts) {
  const Index rows = number(4, 9), cols = number(4, 9), terms = number(2, 7);
  const Nest nest = product(rows, cols, terms);
  const Memory host(nest.numbers);
  for_each_slice({rows, cols}, {2, 3}, [&](Index, const std::vector<Range>& ranges) {
    const Index high = std::max<Index>(ranges[0].last - ranges[0].first, 0);
    const Index wide = std::max<Index>(ranges[1].last - ranges[1].first, 0);
    const Footprint cells = footprint(nest, box(ranges), host);
    EXPECT_EQ(cells.in.size(), high * wide == 0 ? 0u : std::size_t(terms * (high + wide)));
    EXPECT_EQ(cells.out.size(), std::size_t(high * wide));
  });
}

// --- The tables

using Words = std::vector<std::string>;

TEST(Tables, AreWhatTheProgramPrints) {
  Words names;
  for (const auto& entry : std::filesystem::directory_iterator(tables))
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem());
  EXPECT_EQ(names.size(), 6u);
  for (const std::string& name : names) {
    const staircase::ProcessResult result = staircase::run_process({program, name});
    EXPECT_EQ(result.status, 0);
    std::stringstream kept;
    kept << std::ifstream(tables + "/" + name + ".txt").rdbuf();
    EXPECT_EQ(result.out, kept.str()) << name;
  }
}

TEST(Tables, AreAllPrintedUnlessOneIsNamed) {
  const std::string out = staircase::run_process({program}).out;
  for (const std::string name : {"bounds", "empty", "even", "numbers", "verdicts", "footprints"})
    EXPECT_NE(out.find(staircase::run_process({program, name}).out), out.npos) << name;
}

TEST(Tables, ThatAreUnknownAreRefused) {
  staircase::test::expect_refusal(staircase::run_process({program, "table"}), 2,
                                  {"'table'", "bounds"});
}

}  // namespace
}  // namespace slicing

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: slicing_test PROGRAM TABLES [GTEST OPTIONS]\n");
    return 2;
  }
  slicing::program = argv[1];
  slicing::tables = argv[2];
  testing::InitGoogleTest(&argc, argv);
  return staircase::test::run_all_tests();
}
