#include "marked.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <staircase/error.hpp>

#include "dependence.hpp"

namespace slicer {
namespace {

std::string trimmed(std::string text) {
  const auto is_space = [](unsigned char c) { return std::isspace(c); };
  text.erase(std::find_if_not(text.rbegin(), text.rend(), is_space).base(), text.end());
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), is_space));
  return text;
}

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// Reads the request of a pragma, and the loops that the pragma refers to.
class Marking {
 public:
  Marking(const Source& source, const std::list<Function>& functions, const Directive& directive)
      : source_(source), functions_(functions) {
    marked_.directive = directive;
  }

  Marked read() {
    read_clauses();
    find_nest();
    for (const std::string& argument : marked_.directive.what.arguments) read_cut(argument);
    for (std::size_t c = 0; c < marked_.digits.size(); ++c)
      if (marked_.cuts[c].slices.empty())
        refuse(fmt::format("leaves out `{}`; the loops to be sliced are the outermost ones of `{}`",
                           marked_.cuts[c].name, fmt::join(names(), ", ")));
    if (marked_.is_on_device) add_grid();
    marked_.cuts.resize(marked_.digits.size());
    for (Cut& cut : marked_.cuts) prove(cut);
    return marked_;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw staircase::BadInput(fmt::format("line {}: the pragma `{}` {}", marked_.directive.line,
                                          marked_.directive.text, why));
  }

  [[noreturn]] void refuse(const Loop& loop, const std::string& why) const {
    throw staircase::BadInput(fmt::format("line {}: the loop `for {}` cannot be sliced: {}",
                                          loop.line, loop.variable ? loop.variable->name : "...",
                                          why));
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Cut& cut : marked_.cuts) names.push_back(cut.name);
    return names;
  }

  std::string text(Range range) const {
    return std::string(source_.text().substr(range.first, range.last - range.first));
  }

  // --- The pragma

  void read_clauses() {
    for (const Clause& clause : marked_.directive.clauses) {
      if (clause.name == "device") {
        if (clause.text != "cuda")
          refuse(fmt::format("asks for `device({})`; only device(cuda) is supported", clause.text));
        marked_.is_on_device = true;
        continue;
      }
      if (clause.name != "buffers" && clause.name != "threads")
        refuse(
            fmt::format("has an unknown clause `{}`; the clauses are buffers(2), threads(2) and "
                        "device(cuda)",
                        clause.name));
      if (clause.text != "1" && clause.text != "2")
        refuse(fmt::format("asks for `{}({})`; it may be 1 or 2", clause.name, clause.text));
      (clause.name == "buffers" ? marked_.buffers : marked_.threads) = clause.text[0] - '0';
    }
    if (marked_.threads > marked_.buffers) refuse("asks for threads(2), which need buffers(2)");
    if (marked_.is_on_device && marked_.threads > 1)
      refuse(
          "asks for threads(2), which device(cuda) does not support, because its streams run by "
          "themselves");
    if (marked_.directive.what.arguments.empty())
      refuse("names no loop; it may be `slice(i: 3, j: 5)`, for instance");
  }

  /// Reads one sliced loop of the request, for example `i: 3`.
  void read_cut(const std::string& argument) {
    const std::size_t colon = argument.find(':');
    const std::string name = trimmed(argument.substr(0, colon));
    const std::string slices = colon == argument.npos ? "" : trimmed(argument.substr(colon + 1));
    if (slices.empty())
      refuse(
          fmt::format("has `{}`, which should be a loop and its slices, as in `i: 3`", argument));
    const auto cut = std::find_if(marked_.cuts.begin(), marked_.cuts.end(),
                                  [&](const Cut& each) { return each.name == name; });
    if (cut == marked_.cuts.end())
      refuse(fmt::format("names `{}`; the loops that can be sliced there are `{}`", name,
                         fmt::join(names(), ", ")));
    if (!cut->slices.empty()) refuse(fmt::format("names `{}` twice", name));
    const bool is_none = slices.starts_with("-") ||
                         (is_number(slices) && slices.find_first_not_of('0') == slices.npos);
    if (is_none) refuse(fmt::format("asks for {} slices; at least one is needed", slices));
    if (is_number(slices) && slices.size() > 9)
      refuse(fmt::format("asks for {} slices; at most 999999999 are possible", slices));
    cut->slices = slices;
    cut->is_count = is_number(slices);
    marked_.digits.push_back(static_cast<std::size_t>(cut - marked_.cuts.begin()));
  }

  // --- The loops

  /// Turns further parallel loops of the nest into dimensions of the grid. Each of these loops gets
  /// a single slice.
  void add_grid() {
    constexpr std::size_t most = 3;
    if (marked_.digits.size() > most) refuse("names more loops than the three that a grid has");
    for (std::size_t c = marked_.digits.size(); c < std::min(most, marked_.cuts.size()); ++c) {
      Cut& cut = marked_.cuts[c];
      const Finding found = examine(*marked_.function, *cut.loop);
      if (found.verdict != Verdict::independent || cut.loop->step != 1) return;
      cut.slices = "1";
      marked_.digits.push_back(c);
    }
  }

  void find_nest() {
    const Loop* found = nullptr;
    for (const Function& function : functions_)
      for (const Loop& loop : function.loops)
        if (!loop.is_inlined && loop.range.first == marked_.directive.statement) {
          found = &loop;
          marked_.function = &function;
        }
    if (!found) refuse("is not in front of a loop `for`");
    if (!found->pragmas.empty())
      refuse(*found, fmt::format("the pragma of line {} already distributes its iterations",
                                 found->pragmas.front()->line));
    if (!is_alone(found->range.first))
      refuse(
          "needs a loop on a line of its own and within braces, because statements are inserted "
          "before the loop");
    marked_.nest = found->range;
    // In libclang, the semicolon after an expression is not part of the statement.
    const auto behind = source_.tokens({found->range.last, found->range.last + 1});
    if (!behind.empty() && behind.front() == ";") marked_.nest.last = behind.front().range.last;
    for (const Loop* loop = found; loop; loop = loop->inside) {
      if (!loop->variable) {
        if (loop == found) refuse(*loop, loop->unknown);
        break;
      }
      marked_.cuts.push_back({});
      marked_.cuts.back().loop = loop;
      marked_.cuts.back().name = loop->variable->name;
    }
  }

  /// Whether a statement is the first on its line and stands directly in a block.
  bool is_alone(unsigned place) const {
    const std::string_view all = source_.text();
    const std::size_t line = all.rfind('\n', place) + 1;
    if (all.find_first_not_of(" \t", line) != place) return false;
    std::string before = "{";
    for (const Token& token : source_.tokens({0, marked_.directive.range.first}))
      before = token.text;
    return before == "{" || before == "}" || before == ";";
  }

  /// Reads the parts of a loop's header from its tokens.
  void read_head(Cut& cut) const {
    const std::vector<Token> tokens = source_.tokens(cut.loop->range);
    std::vector<std::size_t> ends;
    int depth = 0;
    for (std::size_t t = 0; t < tokens.size() && ends.size() < 3; ++t) {
      depth += tokens[t] == "(" || tokens[t] == "{" || tokens[t] == "[";
      depth -= tokens[t] == ")" || tokens[t] == "}" || tokens[t] == "]";
      if ((tokens[t] == ";" && depth == 1) || (tokens[t] == ")" && depth == 0)) ends.push_back(t);
    }
    const auto name = std::find(tokens.begin(), tokens.begin() + ends[0], cut.name);
    const auto at = static_cast<std::size_t>(name - tokens.begin());
    if (at < 3 || at + 2 >= ends[0] || !(tokens[at + 1] == "="))
      refuse(*cut.loop, "it should be written as in `for (std::size_t i = 0; i < n; ++i)`");
    cut.type = text({tokens[2].range.first, tokens[at - 1].range.last});
    if (cut.type.find("auto") != cut.type.npos)
      refuse(*cut.loop, "its type should be written in place of `auto`");
    cut.first = {tokens[at + 2].range.first, tokens[ends[0]].range.first};
    cut.condition = {tokens[ends[0] + 1].range.first, tokens[ends[1]].range.first};
    cut.body = {tokens[ends[2]].range.last, cut.loop->range.last};
    cut.last = end_of({tokens.begin() + ends[0] + 1, tokens.begin() + ends[1]}, cut.name);
    cut.is_fixed = !cut.last.empty();
    for (const Cut& around : marked_.cuts) {
      if (&around == &cut) break;
      for (std::size_t t = at + 2; t < ends[1]; ++t)
        cut.is_fixed = cut.is_fixed && !(tokens[t] == around.name);
    }
    // If the end depends on an outer counter, a slice may begin after the end, and a test with !=
    // would miss the end.
    for (std::size_t t = ends[0]; t < ends[1] && !cut.is_fixed; ++t)
      if (tokens[t] == "!=" || tokens[t] == "not_eq")
        refuse(*cut.loop,
               fmt::format("its end `{}` should be written with <", text(cut.condition)));
  }

  /// The exclusive upper bound in a condition such as `i < n`; empty if the condition has another
  /// form.
  std::string end_of(const std::vector<Token>& condition, const std::string& name) const {
    if (condition.size() < 3 || !(condition[0] == name)) return {};
    if (!(condition[1] == "<") && !(condition[1] == "<=") && !(condition[1] == "!=")) return {};
    for (std::size_t t = 2; t < condition.size(); ++t)
      for (const char* other : {"<", ">", "<=", ">=", "==", "!=", "&&", "||", "?", "and", "or"})
        if (condition[t] == other) return {};
    const std::string last = text({condition[2].range.first, condition.back().range.last});
    if (!(condition[1] == "<=")) return last;
    return (condition.size() > 3 ? "(" + last + ")" : last) + " + 1";
  }

  void prove(Cut& cut) const {
    const Loop& loop = *cut.loop;
    if (!loop.pragmas.empty())
      refuse(loop, fmt::format("the pragma of line {} already distributes its iterations",
                               loop.pragmas.front()->line));
    const Finding found = examine(*marked_.function, loop);
    if (found.verdict == Verdict::reduction && found.pair)
      refuse(loop, fmt::format("{}; {}", sentence_of(*found.pair), found.reason));
    if (found.verdict != Verdict::independent) refuse(loop, found.reason);
    if (loop.step != 1)
      refuse(loop, fmt::format("it counts by {}, but only a loop that counts by 1 can be sliced",
                               loop.step));
    read_head(cut);
  }

  const Source& source_;
  const std::list<Function>& functions_;
  Marked marked_;
};

}  // namespace

std::vector<Marked> marked_nests(const Source& source, const std::list<Function>& functions) {
  std::vector<Marked> nests;
  for (const Directive& directive : read_directives(source)) {
    if (directive.what.name != "slice") continue;
    nests.push_back(Marking(source, functions, directive).read());
    if (nests.size() < 2) continue;
    const Loop& before = nests[nests.size() - 2].outermost();
    if (nests.back().outermost().range.first < before.range.last)
      throw staircase::BadInput(
          fmt::format("line {}: the pragma `{}` is within the nest of line {}, which is sliced "
                      "already",
                      directive.line, directive.text, before.line));
  }
  if (nests.empty())
    throw staircase::BadInput("no loop is marked by `#pragma staircase slice(...)`");
  return nests;
}

}  // namespace slicer
