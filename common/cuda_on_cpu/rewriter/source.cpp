#include "source.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

namespace cuda_on_cpu::rewriter {
namespace {

constexpr std::string_view openers = "([{", closers = ")]}";

bool is_in(std::string_view set, std::string_view text) {
  return text.size() == 1 && set.find(text[0]) != set.npos;
}
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t end_of_line(std::string_view text, std::size_t i) {
  return std::min(text.find('\n', i), text.size());
}

/// Whether the line that begins at i is a preprocessor line.
bool is_marker(std::string_view text, std::size_t i) {
  i = text.find_first_not_of(" \t", i);
  return i != text.npos && text[i] == '#';
}

/// The end of the white space that begins at i. A preprocessor line also ends white space.
std::size_t end_of_space(std::string_view text, std::size_t i) {
  while (i < text.size() && is_space(text[i])) {
    ++i;
    if (text[i - 1] == '\n' && is_marker(text, i)) break;
  }
  return i;
}

/// The end of a quoted string or character; `begin` if the line does not contain the end.
std::size_t end_of_quoted(std::string_view text, std::size_t begin, std::size_t quote) {
  for (std::size_t i = quote + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == text[quote])
      return i + 1;
  }
  return begin;
}

/// The end of a raw string R"delimiter(...)delimiter"; `begin` if it has no end.
std::size_t end_of_raw(std::string_view text, std::size_t begin, std::size_t quote) {
  const std::size_t open = text.find('(', quote);
  if (open == text.npos) return begin;
  const auto end = ")" + std::string(text.substr(quote + 1, open - quote - 1)) + '"';
  const std::size_t close = text.find(end, open);
  return close == text.npos ? begin : close + end.size();
}

/// The end of a string or character with its prefix; `begin` if there is no such literal.
std::size_t end_of_literal(std::string_view text, std::size_t begin) {
  std::size_t i = begin;
  if (text.substr(i, 2) == "u8")
    i += 2;
  else if (i < text.size() && is_in("uUL", text.substr(i, 1)))
    ++i;
  if (text.substr(i, 2) == "R\"") return end_of_raw(text, begin, i + 1);
  if (i < text.size() && (text[i] == '"' || text[i] == '\'')) return end_of_quoted(text, begin, i);
  return begin;
}

std::size_t end_of_number(std::string_view text, std::size_t i) {
  for (++i; i < text.size(); ++i) {
    const bool is_exponent = is_in("eEpP", text.substr(i, 1));
    if (is_exponent && i + 1 < text.size() && (text[i + 1] == '+' || text[i + 1] == '-'))
      ++i;
    else if (text[i] == '\'' && i + 1 < text.size() && is_of_name(text[i + 1]))
      ++i;
    else if (!is_of_name(text[i]) && text[i] != '.')
      break;
  }
  return i;
}

/// The length of a launch's '<<<' that an editor has formatted as '<< <'; 0 if there is none.
std::size_t length_of_spaced_launch(std::string_view rest) {
  if (!rest.starts_with("<<")) return 0;
  const auto third = rest.find_first_not_of(" \t", 2);
  return third != rest.npos && rest[third] == '<' ? third + 1 : 0;
}

}  // namespace

bool read_marker(std::string_view line, LineMarker& marker) {
  if (!line.starts_with("# ")) return false;
  const auto number = std::from_chars(line.data() + 2, line.data() + line.size(), marker.line);
  if (number.ec != std::errc{}) return false;
  const std::size_t open = line.find('"'), close = line.rfind('"');
  if (open == close) return false;
  marker.file = line.substr(open + 1, close - open - 1);
  marker.is_system = line.substr(close).find(" 3") != line.npos;
  marker.enters = line.substr(close).find(" 1") != line.npos;
  return true;
}

Source::Source(std::string text, bool reads_systems) : whole_(std::move(text)) {
  const std::string_view all = whole_;
  if (reads_systems) {
    read(all);
    return;
  }
  std::size_t begin = 0;
  bool system = false;
  // In system headers, the expansion of a macro defined elsewhere has line markers without flag 3.
  std::set<std::string_view> system_files;
  const auto cut = [&](std::size_t end) {
    if (system)
      add(Kind::opaque, all.substr(begin, end - begin));
    else
      read(all.substr(begin, end - begin));
    begin = end;
  };
  for (std::size_t line = 0; line < all.size(); line = end_of_line(all, line) + 1) {
    LineMarker marker{};
    if (all[line] != '#' || !read_marker(all.substr(line, end_of_line(all, line) - line), marker))
      continue;
    if (marker.enters && marker.is_system) system_files.insert(marker.file);
    const bool is_system = marker.is_system || system_files.contains(marker.file);
    if (is_system == system) continue;
    cut(line);
    system = is_system;
  }
  cut(all.size());
}

bool Source::is_behind_operator() const {
  std::size_t i = size();
  while (i > 0 && is_blank(i - 1)) --i;
  return i > 0 && is(i - 1, "operator");
}

void Source::read(std::string_view region) {
  bool at_line_start = true;
  for (std::size_t i = 0, end = 0; i < region.size(); i = end) {
    Kind kind = Kind::sign;
    if (at_line_start && is_marker(region, i)) {
      kind = Kind::marker;
      end = end_of_line(region, i);
    } else if (is_space(region[i])) {
      kind = Kind::space;
      end = end_of_space(region, i);
    } else if (end = end_of_literal(region, i); end != i) {
      kind = region[end - 1] == '\'' ? Kind::character : Kind::string;
    } else if (is_digit(region[i]) ||
               (region[i] == '.' && i + 1 < region.size() && is_digit(region[i + 1]))) {
      kind = Kind::number;
      end = end_of_number(region, i);
    } else if (is_of_name(region[i])) {
      kind = Kind::name;
      while (end < region.size() && is_of_name(region[end])) ++end;
    } else if (const auto launch = length_of_spaced_launch(region.substr(i));
               launch > 0 && !is_behind_operator()) {
      add(kind, "<<<");
      end = i + launch;
      at_line_start = false;
      continue;
    } else {
      const auto rest = region.substr(i);
      end = i + (rest.starts_with("<<<")                            ? 3
                 : rest.starts_with("::") || rest.starts_with("->") ? 2
                                                                    : 1);
    }
    at_line_start = region[end - 1] == '\n';
    add(kind, region.substr(i, end - i));
  }
}

bool Source::is_blank(std::size_t i) const {
  return kind(i) == Kind::space || kind(i) == Kind::marker || kind(i) == Kind::opaque;
}
bool Source::opens(std::size_t i) const {
  return kind(i) == Kind::sign && is_in(openers, (*this)[i]);
}
bool Source::closes(std::size_t i) const {
  return kind(i) == Kind::sign && is_in(closers, (*this)[i]);
}

std::size_t Source::next(std::size_t i) const {
  do {
    if (++i >= size()) throw Unsure("the file ends in the middle of a statement");
  } while (is_blank(i));
  return i;
}

std::size_t Source::previous(std::size_t i) const {
  do {
    if (i == 0) throw Unsure("the file begins in the middle of a statement");
  } while (is_blank(--i));
  return i;
}

std::size_t Source::close_of(std::size_t i) const {
  int depth = 0;
  for (std::size_t j = i; j < size(); ++j) {
    depth += opens(j) - closes(j);
    if (depth == 0) return j;
  }
  throw Unsure("'" + std::string((*this)[i]) + "' is never closed");
}

std::size_t Source::open_of(std::size_t i) const {
  int depth = 0;
  for (std::size_t j = i + 1; j-- > 0;) {
    depth += closes(j) - opens(j);
    if (depth == 0) return j;
  }
  throw Unsure("'" + std::string((*this)[i]) + "' was never opened");
}

std::string Source::text(std::size_t first, std::size_t last) const {
  std::string joined;
  for (std::size_t i = first; i < last; ++i) joined += (*this)[i];
  return joined;
}

/// Whether "::" at a token would merge with the previous character into another token, as in `case
/// 1:k` and in `<::`.
bool Source::is_behind_colon(std::size_t i) const {
  while (i > 0 && (*this)[i - 1].empty()) --i;
  return i > 0 && ((*this)[i - 1].back() == ':' || (*this)[i - 1].back() == '<');
}

void Source::replace(std::size_t first, std::size_t last, std::string text) {
  std::size_t behind = last;  // the last marker, if there is one
  for (std::size_t i = first; i < last; ++i)
    if (kind(i) == Kind::marker) behind = i;
  const auto newlines = [](std::string_view in) { return std::count(in.begin(), in.end(), '\n'); };
  long lines = 0;
  if (behind < last) {
    text += '\n' + std::string((*this)[behind]);
    lines = newlines(this->text(behind + 1, last));
  } else {
    lines = newlines(this->text(first, last)) - newlines(text);
  }
  text.append(static_cast<std::size_t>(std::max(lines, 0L)), '\n');
  if (text.starts_with("::") && is_behind_colon(first)) text.insert(0, " ");
  replacements_.push_back(std::move(text));
  tokens_[first] = {Kind::opaque, replacements_.back()};
  for (std::size_t i = first + 1; i < last; ++i) tokens_[i] = {Kind::space, ""};
}

std::string Source::place_of(std::size_t i) const {
  long lines = 0;
  for (std::size_t token = i; token-- > 0;) {
    const std::string_view text = (*this)[token];
    const bool may_hold_marker = kind(token) == Kind::marker || kind(token) == Kind::opaque;
    for (std::size_t end = text.size(); end != text.npos;) {
      // Search from the last line of the token up to its first.
      const std::size_t before = end == 0 ? text.npos : text.rfind('\n', end - 1);
      const std::size_t begin = before == text.npos ? 0 : before + 1;
      LineMarker marker{};
      if (may_hold_marker && read_marker(text.substr(begin, end - begin), marker))
        return std::string(marker.file) + ':' + std::to_string(marker.line + lines - 1);
      lines += before != text.npos;
      end = before;
    }
  }
  return "?";
}

}  // namespace cuda_on_cpu::rewriter
