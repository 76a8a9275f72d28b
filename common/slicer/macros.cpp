/// \file
/// Expansion of the macros of a file. libclang records where macros are used, but not the tokens
/// that they stand for. The directives of the file are therefore parsed once more, with a
/// `#pragma message` at the position of each use. The text of this pragma is the expansion as a
/// string. The expanded file is accepted only if its syntax tree is identical to that of the
/// original file, because converting an expansion to a string may join tokens: `-` followed by
/// `-x` becomes `--x`.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "source.hpp"

namespace slicer {
namespace {

constexpr std::string_view mark = "staircase macro ";
constexpr std::string_view definitions =
    "#define STAIRCASE_TEXT_(...) #__VA_ARGS__\n"
    "#define STAIRCASE_TEXT(...) STAIRCASE_TEXT_(__VA_ARGS__)\n";

unsigned start_of_line(std::string_view text, unsigned at) {
  for (;;) {
    const std::size_t end = at == 0 ? text.npos : text.rfind('\n', at - 1);
    if (end == text.npos) return 0;
    const bool goes_on = end > 0 && text[end - 1] == '\\';
    if (!goes_on) return static_cast<unsigned>(end + 1);
    at = static_cast<unsigned>(end);
  }
}

bool is_in_directive(std::string_view text, unsigned at) {
  const std::size_t first = text.find_first_not_of(" \t", start_of_line(text, at));
  return first != text.npos && text[first] == '#';
}

/// A text of the same length with the same lines, in which all characters outside of the given
/// ranges are spaces.
std::string blank_outside(std::string_view text, const std::vector<Range>& kept) {
  std::string all(text);
  std::size_t next = 0;
  for (std::size_t c = 0; c < all.size(); ++c) {
    while (next < kept.size() && kept[next].last <= c) ++next;
    const bool is_kept = next < kept.size() && kept[next].first <= c;
    if (!is_kept && all[c] != '\n') all[c] = ' ';
  }
  return all;
}

/// Whether a syntax tree contains a loop.
bool contains_loop(CXCursor cursor) {
  switch (clang_getCursorKind(cursor)) {
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_CXXForRangeStmt:
      return true;
    default: {
      const std::vector<CXCursor> children = children_of(cursor);
      return std::any_of(children.begin(), children.end(),
                         [&](CXCursor child) { return contains_loop(child); });
    }
  }
}

/// The properties of a syntax tree that do not change under macro expansion.
class Shape {
 public:
  explicit Shape(CXCursor cursor) { note(cursor); }
  std::size_t hash() const { return hash_; }

 private:
  void add(std::size_t value) { hash_ = (hash_ ^ value) * 0x100000001b3u; }

  void note(CXCursor cursor) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    add(static_cast<std::size_t>(kind));
    add(static_cast<std::size_t>(clang_getCursorType(cursor).kind));
    const bool is_named = kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr ||
                          kind == CXCursor_CallExpr || kind == CXCursor_VarDecl ||
                          kind == CXCursor_ParmDecl || kind == CXCursor_FunctionDecl;
    if (is_named) add(std::hash<std::string>()(text_of(clang_getCursorSpelling(cursor))));
    clang_visitChildren(
        cursor,
        [](CXCursor child, CXCursor, CXClientData data) {
          static_cast<Shape*>(data)->note(child);
          return CXChildVisit_Continue;
        },
        this);
    add(0);
  }

  std::size_t hash_ = 0xcbf29ce484222325u;
};

}  // namespace

std::vector<Range> Source::uses_of_macros(std::string_view text) const {
  std::vector<Range> uses;
  for (const CXCursor cursor : children_of(root()))
    if (clang_getCursorKind(cursor) == CXCursor_MacroExpansion && has(cursor)) {
      const Range used = range(cursor);
      const bool is_inside = used.last <= text.size() && used.first < used.last;
      // libclang lists the operator `_Pragma` as the use of a macro.
      if (is_inside && !is_in_directive(text, used.first) &&
          text.substr(used.first, used.last - used.first) != "_Pragma")
        uses.push_back(used);
    }
  std::sort(uses.begin(), uses.end(), [](const Range& one, const Range& other) {
    return one.first != other.first ? one.first < other.first : one.last > other.last;
  });
  std::vector<Range> outermost;
  for (const Range& use : uses)
    if (outermost.empty() || use.first >= outermost.back().last) outermost.push_back(use);
  return outermost;
}

std::optional<std::vector<Range>> Source::directives() const {
  std::vector<Range> found;
  const std::string_view text = all_;
  for (const Token& token : tokens({0, static_cast<unsigned>(text.size())})) {
    const unsigned first = token.range.first;
    const bool is_inside = !found.empty() && first < found.back().last;
    if (!(token == "#") || is_inside || !is_in_directive(text, first)) continue;
    const unsigned start = start_of_line(text, first);
    std::size_t last = text.find('\n', first);
    while (last != text.npos && last > 1 &&
           (text[last - 1] == '\\' || text.substr(last - 2, 2) == "\\\r"))
      last = text.find('\n', last + 1);
    found.push_back({start, static_cast<unsigned>(std::min(last, text.size()))});
    const std::string_view line = text.substr(start, found.back().last - start);
    // A comment or a raw string may continue the directive on the next line.
    if (line.find("/*") != line.npos || line.find("R\"") != line.npos) return {};
  }
  return found;
}

std::vector<std::string> Source::expansions(const std::string& path, const Arguments& arguments,
                                            std::string_view text, const std::vector<Range>& uses) {
  if (const auto kept = directives()) {
    const auto found = expansions(path, arguments, text, blank_outside(text, *kept), uses);
    // A `_Pragma` in the code may redefine macros.
    const bool has_operator =
        text.find("_Pragma") != text.npos ||
        std::any_of(found.begin(), found.end(), [](const std::string& expansion) {
          return expansion.find("_Pragma") != expansion.npos;
        });
    if (!has_operator) return found;
  }
  return expansions(path, arguments, text, text, uses);
}

std::vector<std::string> Source::expansions(const std::string& path, const Arguments& arguments,
                                            std::string_view text, std::string_view around,
                                            const std::vector<Range>& uses) {
  std::string probed(definitions);
  probed += "#line 1\n";
  unsigned done = 0;
  for (std::size_t u = 0; u < uses.size(); ++u) {
    std::string call;
    unsigned end = uses[u].first;
    for (const Token& token : tokens(uses[u])) {
      if (token.range.first > end) call += ' ';
      call += token.text;
      end = token.range.last;
    }
    // A use that begins within the lines of an earlier use is probed before the earlier use.
    const unsigned place = start_of_line(text, uses[u].first);
    const bool is_within = u > 0 && place < uses[u - 1].last && place < done;
    if (!is_within && place > done) {
      probed += around.substr(done, place - done);
      done = place;
    }
    const auto line = std::count(text.begin(), text.begin() + uses[u].first, '\n') + 1;
    // __COUNTER__ yields two different texts. The use then stays unchanged.
    probed += fmt::format(
        "#line {0}\n#pragma message(\"{1}{2}:\" STAIRCASE_TEXT({3}) STAIRCASE_TEXT({3}))\n"
        "#line {4}\n",
        line, mark, u, call, std::count(text.begin(), text.begin() + done, '\n') + 1);
  }
  probed += around.substr(done);
  Arguments with = arguments;
  // The parsed text omits the code, so a header that is included in the code may not be valid.
  with.words.insert(with.words.end(), {"-W#pragma-messages", "-ferror-limit=0"});
  const Unit unit = parse_directives(path, with, probed);
  std::vector<std::string> found(uses.size());
  std::vector<int> seen(uses.size());
  for (unsigned d = 0; unit && d < clang_getNumDiagnostics(unit.get()); ++d) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit.get(), d);
    const std::string said = text_of(clang_getDiagnosticSpelling(diagnostic));
    clang_disposeDiagnostic(diagnostic);
    if (!said.starts_with(mark)) continue;
    const std::size_t u = std::stoul(said.substr(mark.size())), colon = said.find(':');
    const std::string twice = said.substr(colon + 1), once = twice.substr(0, twice.size() / 2);
    const bool is_same = once + once == twice;
    if (u < found.size() && is_same) {
      found[u] = once;
      ++seen[u];
    }
  }
  for (std::size_t u = 0; u < uses.size(); ++u)
    if (seen[u] != 1) found[u] = text.substr(uses[u].first, uses[u].last - uses[u].first);
  return found;
}

std::vector<Source::Declared> Source::declarations() const {
  std::vector<Declared> all;
  for (const CXCursor child : children_of(root()))
    if (!clang_isPreprocessing(clang_getCursorKind(child)) && has(child))
      all.push_back({range(child), Shape(child).hash()});
  return all;
}

bool Source::has_loops() const {
  for (const CXCursor child : children_of(root()))
    if (!clang_isPreprocessing(clang_getCursorKind(child)) && has(child) && contains_loop(child))
      return true;
  return false;
}

void Source::expand_macros(const std::string& path, const Arguments& arguments) {
  const std::string text(all_);
  std::vector<Range> uses = uses_of_macros(text);
  if (uses.empty() || !has_loops()) return;
  std::vector<std::string> meant = expansions(path, arguments, text, uses);
  bool is_changed = false;
  for (std::size_t u = 0; u < uses.size(); ++u) {
    const std::string_view own =
        std::string_view(text).substr(uses[u].first, uses[u].last - uses[u].first);
    is_changed = is_changed || meant[u] != own;
  }
  if (!is_changed) return;
  const std::vector<Declared> before = declarations();
  const auto parse_text = [&](const std::string& of) {
    files_.clear();
    parse(path, arguments, of);
    if (!refusal(path).empty()) return false;
    file_ = clang_getFile(unit_.get(), path.c_str());
    all_ = file_of(file_).text;
    return true;
  };
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::string expanded;
    unsigned done = 0;
    for (std::size_t u = 0; u < uses.size(); ++u) {
      const std::string_view used =
          std::string_view(text).substr(uses[u].first, uses[u].last - uses[u].first);
      expanded += text.substr(done, uses[u].first - done);
      expanded += meant[u] == used ? meant[u] : " " + meant[u] + " ";
      if (meant[u] != used)
        expanded.append(static_cast<std::size_t>(std::count(used.begin(), used.end(), '\n')), '\n');
      done = uses[u].last;
    }
    expanded += text.substr(done);
    if (!parse_text(expanded)) break;
    const std::vector<Declared> after = declarations();
    if (after.size() != before.size()) break;
    bool is_same = true;
    for (std::size_t d = 0; d < before.size(); ++d) {
      if (before[d].shape == after[d].shape) continue;
      is_same = false;
      for (std::size_t u = 0; u < uses.size(); ++u)
        if (uses[u].first < before[d].range.last && before[d].range.first < uses[u].last)
          meant[u] = text.substr(uses[u].first, uses[u].last - uses[u].first);
    }
    if (is_same) return;
  }
  parse_text(text);
}

}  // namespace slicer
