#include <algorithm>
#include <cctype>

#include "source.hpp"

namespace slicer {
namespace {

/// The end of the logical line that contains a position. A backslash joins a line to the next line.
unsigned end_of_line(std::string_view text, unsigned from) {
  std::size_t end = from;
  do end = std::min(text.find('\n', end + 1), text.size());
  while (end < text.size() && text[end - 1] == '\\');
  return static_cast<unsigned>(end);
}

/// Divides a text into names, numbers, `&&`, `||` and single characters.
std::vector<std::string> words_in(std::string_view text) {
  const auto is_of_name = [](char c) { return std::isalnum(c) || c == '_'; };
  std::vector<std::string> words;
  for (std::size_t c = 0; c < text.size(); ++c) {
    if (std::isspace(text[c])) continue;
    const bool is_twice = c > 0 && text[c] == text[c - 1] && (text[c] == '&' || text[c] == '|');
    if (c > 0 && !words.empty() && ((is_of_name(text[c]) && is_of_name(text[c - 1])) || is_twice))
      words.back() += text[c];
    else
      words.emplace_back(1, text[c]);
  }
  return words;
}

/// The text in the parentheses after a name; empty if there are none.
std::string_view in_parentheses(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == text.npos) return {};
  const std::size_t open = text.find_first_not_of(" \t\n\\", at + name.size());
  if (open == text.npos || text[open] != '(') return {};
  int depth = 0;
  for (std::size_t c = open; c < text.size(); ++c) {
    depth += (text[c] == '(') - (text[c] == ')');
    if (depth == 0) return text.substr(open + 1, c - open - 1);
  }
  return {};
}

/// The text after `omp`, up to the quote or the closing parenthesis that ends it.
std::string said_to_openmp(std::string_view text) {
  for (std::size_t at = text.find("omp "); at != text.npos; at = text.find("omp ", at + 1)) {
    if (at > 0 && (std::isalnum(text[at - 1]) || text[at - 1] == '_')) continue;
    int depth = 0;
    std::size_t end = at + 4;
    for (; end < text.size() && text[end] != '"' && depth >= 0; ++end)
      depth += (text[end] == '(') - (text[end] == ')');
    return std::string(text.substr(at + 4, end - at - 4 - (depth < 0)));
  }
  return {};
}

}  // namespace

void Source::note_macro(Range used, CXCursor definition) {
  if (clang_Cursor_isNull(definition) || !can_see(definition)) return;
  const Range all = range(definition);
  const File& file = file_at(all.first);
  const std::string_view text = file.text.substr(all.first - file.place, all.last - all.first);
  const std::string_view call = all_.substr(used.first, used.last - used.first);
  for (const std::string_view said : {text, call})
    if (said.find("_Pragma") != said.npos || said.find("omp ") != said.npos)
      meanings_.push_back({used, std::string(said)});
}

std::pair<std::string, unsigned> Source::pragma_operator(const std::vector<Token>& tokens,
                                                         std::size_t at) const {
  const unsigned first = tokens[at].range.first;
  if (tokens[at] == "_Pragma") {
    const std::string_view said = in_parentheses(all_.substr(first), "_Pragma");
    const auto end = static_cast<unsigned>(said.data() + said.size() + 1 - all_.data());
    return {said_to_openmp(said), said.empty() ? 0 : end};
  }
  // A macro that passes OpenMP words to another macro produces a pragma from these words.
  unsigned last = 0;
  for (const Meaning& meaning : meanings_) {
    if (meaning.used.first != first) continue;
    if (const std::string said = said_to_openmp(meaning.text); !said.empty())
      return {said, meaning.used.last};
    if (meaning.text.find("_Pragma") != std::string::npos) last = meaning.used.last;
  }
  return {{}, last};
}

void Source::read_pragmas() {
  const std::vector<Token> tokens = this->tokens({0, static_cast<unsigned>(all_.size())});
  std::size_t waiting = 0;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const std::size_t first = t;
    const auto [by_operator, end] = pragma_operator(tokens, t);
    if (end == 0 && !(tokens[t] == "#")) {
      // A pragma refers to the statement that follows it, possibly after other pragmas.
      for (; waiting < pragmas_.size(); ++waiting)
        pragmas_[waiting].statement = tokens[t].range.first;
      continue;
    }
    const unsigned last = end > 0 ? end : end_of_line(all_, tokens[t].range.first);
    while (t + 1 < tokens.size() && tokens[t + 1].range.first < last) ++t;
    Pragma pragma{"#pragma omp", {}, tokens[first].line, 0};
    if (end > 0) {
      if (by_operator.empty()) continue;
      pragma.words = words_in(by_operator);
      pragma.text += " " + by_operator;
    } else {
      if (t < first + 3 || !(tokens[first + 1] == "pragma" && tokens[first + 2] == "omp")) continue;
      for (std::size_t w = first + 3; w <= t; ++w) {
        pragma.text += all_[tokens[w].range.first - 1] == ' ' ? " " : "";
        pragma.text += tokens[w].text;
        pragma.words.push_back(tokens[w].text);
      }
    }
    // A macro that expands to a number is replaced, as in safelen(LANES).
    for (std::string& word : pragma.words)
      if (const auto found = definitions_.find(word);
          found != definitions_.end() && found->second.size() == 2 &&
          std::all_of(found->second[1].begin(), found->second[1].end(),
                      [](unsigned char c) { return std::isdigit(c); }))
        word = found->second[1];
    pragmas_.push_back(pragma);
  }
}

}  // namespace slicer
