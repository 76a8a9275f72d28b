"""Random nests of loops with independent iterations, as C++ functions marked for slicing, and a program that compares
them with the functions that the slicer generates from them."""

import re

SIDE = 48  # the side of the matrices; subscripts stay within it
PARAMETERS = ("View<const double, 2> a, const double (*b)[SIDE], std::span<const double> v, View<double, 2> c, "
              "std::span<double> w, double* f, long n, long m, long si, long sj")
SIZES = ", ".join(f"std::pair{{{n}L, {m}L}}" for n, m in ((0, 3), (1, 1), (2, 5), (5, 2), (6, 7)))


def subscript(random, counters):
    """An affine subscript from 0 to 47, for at most three counters from 0 to 7."""
    factors = [random.choice((-1, 0, 1, 1, 2)) for _ in counters]
    least = 8 * sum(-factor for factor in factors if factor < 0)
    terms = [str(least + random.randrange(3))]
    terms += [f"{'-' if factor < 0 else '+'} {'' if abs(factor) == 1 else f'{abs(factor)} * '}{counter}"
              for factor, counter in zip(factors, counters) if factor]
    return " ".join(terms)


def value(random, counters):
    """An expression of elements of arrays that the nest does not write."""
    at = lambda: subscript(random, counters)
    of_rows = f"b[{at()}][{at()}]" if len(counters) < 3 else "v[k]"
    parts = [random.choice((f"a({at()}, {at()})", of_rows, f"v[{at()}]", "0.5")) for _ in range(random.randint(1, 3))]
    return " - 0.25 * ".join(parts)


def bounds(random, counter, size, outer):
    """The header of a loop whose counter stays between 0 and 7."""
    first = random.choice(("0", "0", "1", *outer))
    last = random.choice((f"{counter} < {size}", f"{counter} < {size}", f"{counter} <= {size}", f"{counter} < std::min(n, m)",
                          f"{counter} != {size}" if first == "0" else f"{counter} < {size}",
                          f"{counter} < {size} && {counter} < 5", *(f"{counter} <= {other}" for other in outer)))
    return f"for (long {counter} = {first}; {last}; ++{counter})"


def target(random, cut, k):
    """An element that no other iteration of the sliced loops writes."""
    if cut == ["i", "j"]:
        return random.choice(("c(i, j)", "c(j + 1, i + 2)", "c(i + j, j)", "c(2 * i + 1, 3 * j)", "c(i, 8 + j - i)"))
    one = cut[0]
    return random.choice((f"w[{one}]", f"w[2 * {one} + 3]", f"c({one}, {k})", f"c({k} + 1, 2 * {one})", f"w[9 - {one}]"))


def nest(random, number):
    """A random function, and the slicing pragma for it."""
    kind = random.choice(("i", "ij", "ij", "ji", "j", "line"))
    clauses = random.choice(("", "", " buffers(2)")) if number % 8 else " buffers(2) threads(2)"
    text = [f"void nest_{number}({PARAMETERS}) {{"]
    if kind == "line":
        text += [f"#pragma staircase slice(i: si, j: sj){clauses}", "  for (long i = 0; i < n; ++i)", "    for (long j = 0; j < m; ++j)",
                 f"      f[i * m + j] = {random.choice(('f[i * m + j]', '1'))} + {value(random, 'ij')};"]
        return "\n".join(text + ["}"]) + "\n"
    cut = {"i": ["i"], "j": ["j"]}.get(kind, ["i", "j"])
    requested = ", ".join(f"{counter}: s{counter}" for counter in (reversed(cut) if kind == "ji" else cut))
    mark = f"#pragma staircase slice({requested}){clauses}"
    outer = bounds(random, "i", "n", ())
    inner = bounds(random, "j", "m", ("i",) if random.random() < 0.5 else ())
    guard = ("", "if (a(i, j) > 0) ", "if (i + 2 * j < n + 3) ", "", "if ((i + j) % 2 == 0) ", "if (v[j] > 0) ")[number % 6]
    to = target(random, cut, {"i": "j", "j": "i"}.get(kind, ""))
    update = random.choice(("=", "=", "+=")) if "ij" in kind or "ji" in kind else "+=" if to.startswith("w") else "="
    inside = []
    if random.random() < 0.3:
        inside = ["      double sum = 0;", f"      for (long k = 0; k < m; ++k) sum += {value(random, 'ijk')};",
                  f"      {guard}{to} {update} sum;"]
    else:
        inside = [f"      {guard}{to} {update} {value(random, 'ij')};"]
    if kind == "j":
        text += [f"  {outer} {{", f"    w[i] = {value(random, 'i')};", mark.replace("w[", "w["), f"    {inner} {{", *inside, "    }", "  }", "}"]
        text = [line.replace(to, to.replace("w[", "f[")) if line in inside else line for line in text]
    else:
        text += [mark, f"  {outer}", f"    {inner} {{", *inside, "    }", "}"]
    return "\n".join(text) + "\n"


def file_of(random, count, is_wanted=lambda text: True):
    nests = []
    while len(nests) < count:
        text = nest(random, len(nests))
        nests += [text] if is_wanted(text) else []
    return ("#include <algorithm>\n#include <span>\n#include <staircase/view.hpp>\n\nusing staircase::View;\nconstexpr long SIDE = "
            f"{SIDE};\n\n" + "\n".join(nests))


HEADERS = "".join(f"#include <{name}>\n" for name in (
    "algorithm", "array", "cmath", "cstddef", "cstdio", "cstring", "functional", "future", "memory", "span", "staircase/view.hpp",
    "type_traits", "utility", "vector"))


def program(text):
    """A program that runs all nests of a file for several sizes. The numbers of slices of the sliced loops range from 1
    to more than the number of iterations. HEADERS must precede the program."""
    requested = re.findall(r"slice\((.*?)\)", text)
    most = [tuple(10 if size in loops else 1 for size in ("si", "sj")) for loops in requested]
    calls = "\n".join(f"  compare({number}, {i}, {j}, original::nest_{number}, form3::nest_{number}, form4::nest_{number});"
                      for number, (i, j) in enumerate(most))
    return f"""namespace original {{
#include "nests.cpp"
}}
namespace form3 {{
#include "form3.cpp"
}}
namespace form4 {{
#include "form4.cpp"
}}

using staircase::View;
using original::SIDE;
using Nest = void ({PARAMETERS.replace(" a,", ",").replace(" (*b)", " (*)").replace(" v,", ",").replace(" c,", ",").replace(" w,", ",").replace("* f,", "*,")});

std::vector<double> numbers(std::size_t count) {{
  std::vector<double> all(count);
  for (std::size_t e = 0; e < all.size(); ++e) all[e] = std::sin(double(e));
  return all;
}}

const std::vector<double> given = numbers(5 * SIDE * SIDE);
std::vector<double> shared = numbers(3 * SIDE * SIDE);  // all runs read them, and none may write them

/// The arrays that a nest may write, after its run.
std::vector<double> run(Nest* nest, long n, long m, long si, long sj) {{
  const std::size_t side = SIDE, part = side * side;
  std::vector<double> written(given.begin() + 3 * part, given.end());
  nest({{shared.data(), {{side, side}}}}, reinterpret_cast<double (*)[SIDE]>(shared.data() + part), {{shared.data() + 2 * part, side}},
       {{written.data(), {{side, side}}}}, {{written.data() + part, side}}, written.data() + part + side, n, m, si, sj);
  return written;
}}

/// Whether two results are equal bit for bit. Without optimisation, this is faster than ==.
bool is_same(const std::vector<double>& one, const std::vector<double>& other) {{
  return std::memcmp(one.data(), other.data(), one.size() * sizeof(double)) == 0;
}}

int wrong = 0;

void compare(int number, long most_i, long most_j, Nest* original, Nest* form3, Nest* form4) {{
  for (const auto& [n, m] : {{{SIZES}}}) {{
    const auto expected = run(original, n, m, 1, 1);
    for (long si = 1; si <= most_i; ++si)
      for (long sj = 1; sj <= most_j; ++sj)
        for (const auto& [form, nest] : {{std::pair(3, form3), std::pair(4, form4)}})
          if (!is_same(run(nest, n, m, si, sj), expected) && wrong++ < 20)
            std::printf("nest %d, form %d, n = %ld, m = %ld, %ld x %ld slices\\n", number, form, n, m, si, sj);
  }}
  if (std::memcmp(shared.data(), given.data(), shared.size() * sizeof(double)) != 0 && wrong++ < 20)
    std::printf("nest %d writes an array that it may only read\\n", number);
}}

int main() {{
{calls}
  return wrong > 0;
}}
"""
