/// \file
/// Prints the tables of the chapter \ref slicing_a_loop, which are stored next to this file as
/// NAME.txt.
///
/// Usage: slicing [NAME]
///
/// Without a name, the program prints all tables. A test compares the output with the stored
/// tables.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <utility>

#include "nests.hpp"

namespace slicing {

/// A range as text: its first and its last iteration.
std::string text(const Range& range) {
  return range.first < range.last ? fmt::format("{} to {}", range.first, range.last - 1) : "none";
}

/// Divides ten iterations into three slices, with the correct and with the printed bound, and
/// prints the slices.
void print_bounds() {
  const Index n = 10, slices = 3;
  Index right = 0, printed = 0;
  fmt::print("N = {}, S = {}, L = {}\n\n{:<12}{:<12}{}\n", n, slices, divide_up(n, slices), "slice",
             "bound N", "bound S");
  for (Index s = 0; s < slices; ++s) {
    const Range here = slice(n, slices, s), wrong = slice_as_printed(n, slices, s);
    right += std::max<Index>(here.last - here.first, 0);
    printed += std::max<Index>(wrong.last - wrong.first, 0);
    fmt::print("{:<12}{:<12}{}\n", s, text(here), text(wrong));
  }
  fmt::print("{:<12}{:<12}{}\n", "iterations", right, printed);
}

/// Divides ten iterations into 1, 2, ..., 10 slices, and prints how many of the slices are empty.
void print_empty() {
  const Index n = 10;
  fmt::print("N = {}\n\n S   L   needed   empty   bounds of the last\n", n);
  for (Index slices = 1; slices <= n; ++slices) {
    const Range last = slice(n, slices, slices - 1);
    const Index needed = slices_needed(n, slices);
    fmt::print("{:>2}{:>4}{:>9}{:>8}   {:>2} <= i < {}\n", slices, divide_up(n, slices), needed,
               slices - needed, last.first, last.last);
  }
}

/// Divides ten iterations into six slices, once with length 2 and once evenly, and prints both.
void print_even() {
  const Index n = 10, slices = 6;
  fmt::print("N = {}, S = {}\n\nslice   length {}   evenly\n", n, slices, divide_up(n, slices));
  for (Index s = 0; s < slices; ++s)
    fmt::print("{:<8}{:<11}{}\n", s, text(slice(n, slices, s)), text(even_slice(n, slices, s)));
}

/// Prints the slices of a nest in the order of loop (3).
void print_numbers() {
  const std::vector<Index> extents{10, 7}, slices{3, 2};
  fmt::print("N = ({}), S = ({})\n\n e   s0  s1   i        j\n", fmt::join(extents, ", "),
             fmt::join(slices, ", "));
  for_each_slice(extents, slices, [&](Index e, const std::vector<Range>& ranges) {
    const std::vector<Index> s = g(e, slices);
    fmt::print("{:>2}{:>5}{:>4}   {:<9}{}\n", e, s[0], s[1], text(ranges[0]), text(ranges[1]));
  });
}

/// The kinds of cells of each array, over all iterations.
std::string kinds_text(const std::vector<Kinds>& iterations) {
  std::map<std::string, std::set<char>> found;
  for (const Kinds& kinds : iterations)
    for (const auto& [cell, kind] : kinds) found[cell.array].insert(kind);
  std::vector<std::string> words;
  for (const auto& [array, kinds] : found)
    words.push_back(fmt::format("{}:{}", array, fmt::join(kinds, "")));
  return fmt::format("{}", fmt::join(words, " "));
}

/// The names of the arrays that violate a condition; `holds` if there are none.
std::string verdict(const Cells& against) {
  if (against.empty()) return "holds";
  std::set<std::string> arrays;
  for (const Cell& cell : against) arrays.insert(cell.array);
  return fmt::format("not: {}", fmt::join(arrays, ", "));
}

/// Prints the verdicts of both conditions on a nest, and whether all orders give the same result.
void print_verdict(const Nest& nest) {
  const std::vector<Kinds> kinds = traced(nest);
  Cells later;
  for (const auto& [cell, number] : result(nest, nest.iterations)) later.insert(cell);
  Cells against, against_bernsteins;
  for (std::size_t one = 0; one < kinds.size(); ++one)
    for (std::size_t two = one + 1; two < kinds.size(); ++two) {
      against.merge(against_2(kinds[one], kinds[two]));
      against_bernsteins.merge(against_bernstein(kinds[one], kinds[two], later));
    }
  fmt::print("{:<28}{:<18}{:<12}{:<12}{}\n", nest.name, kinds_text(kinds), verdict(against),
             verdict(against_bernsteins), same_in_any_order(nest) ? "the same" : "differs");
}

/// Prints the verdicts on each nest, over all pairs of its iterations, and over all orders.
void print_verdicts() {
  fmt::print("{:<28}{:<18}{:<12}{:<12}{}\n", "loop", "kinds of cells", "(2)", "Bernstein",
             "any order");
  for (const Nest& nest : {product(2, 3, 2), product_of_terms(2, 2, 2), bodies(5),
                           pairs_of_bodies(3), pairs_once(4), solve_rows(5), solve_rows_inner(6),
                           solve_columns(5), solve_columns_inner(6), noted(5), shared_place(5)})
    print_verdict(nest);
}

/// Prints the number of elements that the slices of a nest send and fetch, in total and at most for
/// a single slice.
void print_traffic(const Nest& nest, const std::vector<Index>& extents,
                   const std::vector<Index>& slices) {
  Memory host(nest.numbers);
  std::size_t in = 0, out = 0, most = 0;
  for_each_slice(extents, slices, [&](Index, const std::vector<Range>& ranges) {
    const Footprint cells = footprint(nest, box(ranges), host);
    in += cells.in.size();
    out += cells.out.size();
    most = std::max(most, cells.in.size() + cells.out.size());
    run_slice(nest, box(ranges), host);
  });
  fmt::print("{:<28}{:<14}{:>6}{:>6}{:>18}\n", nest.name,
             fmt::format("{}", fmt::join(slices, " x ")), in, out, most);
}

/// Prints the number of elements that slices of a product and of a sum over bodies transfer.
void print_footprints() {
  fmt::print("A: 12 x 10, B: 10 x 8; 12 bodies\n\n{:<28}{:<14}{:>6}{:>6}{:>18}\n", "loop", "slices",
             "in", "out", "most in a slice");
  for (const std::vector<Index>& slices :
       {std::vector<Index>{1, 1}, {3, 1}, {1, 2}, {3, 2}, {6, 4}})
    print_traffic(product(12, 8, 10), {12, 8}, slices);
  for (const std::vector<Index>& slices : {std::vector<Index>{1, 1, 5}, {3, 2, 5}})
    print_traffic(product_of_terms(12, 8, 10), {12, 8, 10}, slices);
  for (const Index slices : {1, 3}) print_traffic(bodies(12), {12}, {slices});
}

constexpr std::pair<std::string_view, void (*)()> tables[] = {
    {"bounds", print_bounds},   {"empty", print_empty},       {"even", print_even},
    {"numbers", print_numbers}, {"verdicts", print_verdicts}, {"footprints", print_footprints}};

}  // namespace slicing

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  bool is_known = false;
  for (const auto& [name, print] : slicing::tables)
    if (wanted.empty() || wanted == name) {
      if (wanted.empty()) fmt::print("{}--- {}\n", is_known ? "\n" : "", name);
      print();
      is_known = true;
    }
  if (is_known) return 0;
  fmt::print(stderr, "there is no table '{}'; there is", wanted);
  for (const auto& [name, print] : slicing::tables) fmt::print(stderr, " {}", name);
  fmt::print(stderr, "\n");
  return 2;
}
