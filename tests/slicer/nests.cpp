#include "nests.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace slicer::test {

const std::array<std::string, 3> counters{"i", "j", "k"};
const std::array<std::string, 5> arrays{"a", "b", "x", "y", "s"};

namespace {

const std::array<std::string, 2> sizes{"n", "m"};

long number(std::mt19937& random, long least, long most) {
  return std::uniform_int_distribution<long>(least, most)(random);
}

bool one_in(std::mt19937& random, long count) { return number(random, 1, count) == 1; }

// --- Generating nests

Affine subscript(std::mt19937& random, std::size_t depth) {
  Affine affine;
  affine.of_counters.resize(depth);
  affine.of_counters[number(random, 0, static_cast<long>(depth) - 1)] =
      one_in(random, 6) ? number(random, -2, 2) : 1;
  if (one_in(random, 6)) affine.of_counters[number(random, 0, static_cast<long>(depth) - 1)] += 1;
  if (one_in(random, 2)) affine.constant = number(random, -2, 2);
  if (one_in(random, 12)) affine.of_sizes[number(random, 0, 1)] = one_in(random, 2) ? 1 : -1;
  return affine;
}

Element element(std::mt19937& random, std::size_t depth) {
  Element made{static_cast<int>(one_in(random, 8) ? 4 : number(random, 0, 3)), {}};
  for (int s = made.array < 2 ? 2 : made.array < 4 ? 1 : 0; s > 0; --s)
    made.subscripts.push_back(subscript(random, depth));
  return made;
}

Guard guard(std::mt19937& random, std::size_t depth) {
  Guard made{subscript(random, depth), static_cast<int>(number(random, 0, 2))};
  if (one_in(random, 2) && depth > 1) made.number.of_counters[number(random, 0, 1)] -= 1;
  return made;
}

Statement statement(std::mt19937& random, std::size_t depth) {
  Statement made{element(random, depth), {}, 0, {}};
  for (long f = number(random, 1, 2); f > 0; --f) made.from.push_back(element(random, depth));
  if (one_in(random, 3)) made.update = static_cast<int>(number(random, 1, 2));
  if (one_in(random, 5)) made.guards.push_back(guard(random, depth));
  return made;
}

Affine bound(std::mt19937& random, std::size_t depth, bool is_last) {
  Affine made;
  made.of_counters.resize(depth);
  made.constant = number(random, is_last ? -1 : 0, is_last ? 1 : 2);
  const bool follows = depth > 0 && one_in(random, 3);
  if (follows) made.of_counters[number(random, 0, static_cast<long>(depth) - 1)] = 1;
  if (is_last && !(follows && one_in(random, 2))) made.of_sizes[number(random, 0, 1)] = 1;
  if (is_last && follows && made.of_sizes != std::array<long, 2>{})
    for (long& of_counter : made.of_counters) of_counter = -of_counter;
  return made;
}

Loop loop(std::mt19937& random, std::size_t depth) {
  Loop made;
  made.first.push_back(bound(random, depth, false));
  made.last.push_back(bound(random, depth, true));
  if (one_in(random, 8)) made.first.push_back(bound(random, depth, false));
  if (one_in(random, 8)) made.last.push_back(bound(random, depth, true));
  if (one_in(random, 5)) made.step = number(random, 0, 1) ? 2 : -1;
  if (one_in(random, 10) && depth > 0) made.guards.push_back(guard(random, depth));
  return made;
}

// --- Text

std::string text_of(const Affine& affine) {
  std::string text = std::to_string(affine.constant) + "L";
  const auto add = [&](long factor, const std::string& name) {
    if (factor != 0)
      text +=
          fmt::format(" {} {}{}", factor < 0 ? "-" : "+",
                      std::abs(factor) == 1 ? "" : fmt::format("{} * ", std::abs(factor)), name);
  };
  for (std::size_t s = 0; s < sizes.size(); ++s) add(affine.of_sizes[s], sizes[s]);
  for (std::size_t c = 0; c < affine.of_counters.size(); ++c)
    add(affine.of_counters[c], counters[c]);
  return text;
}

}  // namespace

std::string text_of(const Element& element) {
  std::vector<std::string> subscripts;
  for (const Affine& affine : element.subscripts) subscripts.push_back(text_of(affine));
  return element.subscripts.empty()
             ? arrays[element.array]
             : fmt::format("{}({})", arrays[element.array], fmt::join(subscripts, ", "));
}

namespace {

std::string text_of(const std::vector<Guard>& guards) {
  std::string text;
  for (const Guard& guard : guards)
    text +=
        fmt::format("if ({}) ", fmt::format(fmt::runtime(guard.comparison == 0   ? "{} >= 0"
                                                         : guard.comparison == 1 ? "{} == 0"
                                                                                 : "({}) % 2 == 0"),
                                            text_of(guard.number)));
  return text;
}

std::string text_of(const Statement& statement) {
  std::vector<std::string> from;
  for (const Element& element : statement.from) from.push_back(text_of(element));
  return fmt::format("{}{} {}= {};\n", text_of(statement.guards), text_of(statement.to),
                     statement.update == 0   ? ""
                     : statement.update == 1 ? "+"
                                             : "*",
                     fmt::join(from, " + "));
}

/// The text of the largest or the smallest of several bounds.
std::string text_of(const std::vector<Affine>& bounds, const std::string& function) {
  std::string text = text_of(bounds.front());
  for (std::size_t b = 1; b < bounds.size(); ++b)
    text = fmt::format("std::{}({}, {})", function, text, text_of(bounds[b]));
  return text;
}

std::string head_of(const Loop& loop, const std::string& counter) {
  const std::string first = text_of(loop.first, "max"), last = text_of(loop.last, "min");
  const std::string head =
      loop.step > 0
          ? fmt::format("for (long {0} = {1}; {0} < {2}; {0} += {3}) {{\n", counter, first, last,
                        loop.step)
          : fmt::format("for (long {0} = {2} - 1; {0} >= {1}; --{0}) {{\n", counter, first, last);
  return text_of(loop.guards) + head;
}

// --- Runs

class Run {
 public:
  Run(const Nest& nest, long n, long m) : nest_(nest), sizes_{n, m} { loop(0); }

  std::vector<Touch> touches;

 private:
  long value(const Affine& affine) const {
    long sum = affine.constant;
    for (std::size_t s = 0; s < sizes_.size(); ++s) sum += affine.of_sizes[s] * sizes_[s];
    for (std::size_t c = 0; c < affine.of_counters.size(); ++c)
      sum += affine.of_counters[c] * counters_[c];
    return sum;
  }

  bool allow(const std::vector<Guard>& guards) const {
    return std::all_of(guards.begin(), guards.end(), [&](const Guard& guard) {
      const long at = value(guard.number);
      return guard.comparison == 0 ? at >= 0 : guard.comparison == 1 ? at == 0 : at % 2 == 0;
    });
  }

  void touch(const Element& element, bool is_write, int update) {
    std::vector<long> where{element.array};
    for (const Affine& affine : element.subscripts) where.push_back(value(affine));
    touches.push_back({where, is_write, update, counters_, times_, parts_});
  }

  void statement(const Statement& statement) {
    if (!allow(statement.guards)) return;
    // x = x + y is an update, too, if x occurs once on the right.
    const auto is_same = [&](const Element& element) {
      return text_of(element) == text_of(statement.to);
    };
    const bool is_sum = statement.update == 0 && statement.from.size() > 1 &&
                        std::count_if(statement.from.begin(), statement.from.end(), is_same) == 1;
    const int update = is_sum ? 1 : statement.update;
    for (const Element& element : statement.from)
      touch(element, false, is_sum && is_same(element) ? update : 0);
    if (statement.update != 0) touch(statement.to, false, update);
    touch(statement.to, true, update);
  }

  void part(const Statement& each) {
    statement(each);
    ++parts_.back();
  }

  void loop(std::size_t depth) {
    if (depth == nest_.loops.size()) return;
    const Loop& loop_here = nest_.loops[depth];
    if (!allow(loop_here.guards)) return;
    long first = value(loop_here.first.front()), last = value(loop_here.last.front());
    for (const Affine& affine : loop_here.first) first = std::max(first, value(affine));
    for (const Affine& affine : loop_here.last) last = std::min(last, value(affine));
    counters_.push_back(0);
    times_.push_back(0);
    parts_.push_back(0);
    const long step = loop_here.step;
    for (long at = step > 0 ? first : last - 1; step > 0 ? at < last : at >= first; at += step) {
      counters_[depth] = at;
      parts_[depth] = 0;
      for (const Statement& each : nest_.before[depth]) part(each);
      loop(depth + 1);
      ++parts_[depth];
      for (const Statement& each : nest_.behind[depth]) part(each);
      ++times_[depth];
    }
    counters_.pop_back();
    times_.pop_back();
    parts_.pop_back();
  }

  const Nest& nest_;
  std::array<long, 2> sizes_;
  std::vector<long> counters_, times_, parts_;
};

}  // namespace

Nest random_nest(std::mt19937& random) {
  Nest nest;
  const std::size_t depth = static_cast<std::size_t>(number(random, 1, 3));
  for (std::size_t d = 0; d < depth; ++d) {
    nest.loops.push_back(loop(random, d));
    nest.before.emplace_back();
    nest.behind.emplace_back();
    if (d + 1 == depth || one_in(random, 4)) nest.before[d].push_back(statement(random, d + 1));
    if (one_in(random, 4)) nest.behind[d].push_back(statement(random, d + 1));
  }
  return nest;
}

std::string text_of(const std::vector<Nest>& nests, const std::string& name,
                    std::vector<int>& lines, std::size_t loop, const std::string& pragma) {
  std::string text = fmt::format(
      "void {}(long n, long m, View<double, 2> a, View<double, 2> b, View<double, 1> x, "
      "View<double, 1> y) {{\ndouble s = 0;\n",
      name);
  for (const Nest& nest : nests) {
    for (std::size_t d = 0; d < nest.loops.size(); ++d) {
      if (d == loop && &nest == &nests.front()) text += pragma;
      lines.push_back(static_cast<int>(std::count(text.begin(), text.end(), '\n')));
      text += head_of(nest.loops[d], counters[d]);
      for (const Statement& statement : nest.before[d]) text += text_of(statement);
    }
    for (std::size_t d = nest.loops.size(); d-- > 0;) {
      for (const Statement& statement : nest.behind[d]) text += text_of(statement);
      text += "}\n";
    }
  }
  return text + "}\n";
}

std::string text_of(const Nest& nest, const std::string& name, std::vector<int>& lines) {
  return text_of(std::vector<Nest>{nest}, name, lines);
}

std::vector<Touch> run(const Nest& nest, long n, long m) { return Run(nest, n, m).touches; }

}  // namespace slicer::test
