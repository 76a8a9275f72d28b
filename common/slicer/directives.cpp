#include "directives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <staircase/error.hpp>

namespace slicer {
namespace {

/// Reads the words of one pragma after `#pragma staircase`.
class Words {
 public:
  Words(std::vector<Token> tokens, Directive& read) : tokens_(std::move(tokens)), read_(read) {}

  void read() {
    if (tokens_.empty()) refuse("is empty; it may be `slice(i: 3, j: 5)`, for instance");
    read_.what = clause();
    while (at_ < tokens_.size()) {
      Clause next = clause();
      if (read_.clause(next.name)) refuse(fmt::format("has `{}` twice", next.name));
      read_.clauses.push_back(std::move(next));
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw staircase::BadInput(
        fmt::format("line {}: the pragma `{}` {}", read_.line, read_.text, why));
  }

  /// Reads a name, with or without arguments.
  Clause clause() {
    const Token& name = tokens_[at_++];
    const bool is_name = std::isalpha(name.text.front()) || name.text.front() == '_';
    if (!is_name) refuse(fmt::format("has `{}` where a name belongs", name.text));
    Clause clause{name.text, {}, {}};
    if (at_ == tokens_.size() || !(tokens_[at_] == "(")) return clause;
    const std::size_t open = at_++;
    std::size_t first = at_;
    for (std::size_t depth = 1; depth > 0; ++at_) {
      if (at_ == tokens_.size()) refuse(fmt::format("lacks a `)` after `{}`", clause.name));
      const std::string& text = tokens_[at_].text;
      depth += text == "(" || text == "[" || text == "{";
      depth -= text == ")" || text == "]" || text == "}";
      const bool ends = depth == 0;
      if (!ends && (depth > 1 || text != ",")) continue;
      if (at_ == first)
        refuse(fmt::format("has an empty argument in the parentheses of `{}`", clause.name));
      clause.arguments.push_back(between(first, at_));
      first = at_ + 1;
    }
    clause.text = between(open + 1, at_ - 1);
    return clause;
  }

  /// The text of some tokens, with a space between tokens that are separated in the source.
  std::string between(std::size_t first, std::size_t last) const {
    std::string all;
    for (std::size_t t = first; t < last; ++t) {
      const bool is_apart = t > first && tokens_[t - 1].range.last < tokens_[t].range.first;
      all += (is_apart ? " " : "") + tokens_[t].text;
    }
    return all;
  }

  std::vector<Token> tokens_;
  Directive& read_;
  std::size_t at_ = 0;
};

/// The end of the logical line that contains a position. A backslash joins a line to the next line.
unsigned end_of_line(std::string_view text, unsigned place) {
  std::size_t end = place;
  for (;;) {
    end = std::min(text.find('\n', end), text.size());
    std::size_t last = end;
    if (last > 0 && text[last - 1] == '\r') --last;
    if (end == text.size() || text[last - 1] != '\\') return static_cast<unsigned>(last);
    ++end;
  }
}

}  // namespace

const Clause* Directive::clause(std::string_view name) const {
  for (const Clause& clause : clauses)
    if (clause.name == name) return &clause;
  return nullptr;
}

std::vector<Directive> read_directives(const Source& source) {
  const std::string_view text = source.text();
  const auto size = static_cast<unsigned>(text.size());
  const std::vector<Token> tokens = source.tokens({0, size});
  std::vector<Directive> directives;
  std::size_t without_statement = 0;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if (!(tokens[t] == "#")) {
      for (; without_statement < directives.size(); ++without_statement)
        directives[without_statement].statement = tokens[t].range.first;
      continue;
    }
    const unsigned first = tokens[t].range.first, last = end_of_line(text, first);
    std::vector<Token> words;
    while (t + 1 < tokens.size() && tokens[t + 1].range.first < last) words.push_back(tokens[++t]);
    if (words.size() < 2 || !(words[0] == "pragma") || !(words[1] == "staircase")) continue;
    Directive read;
    read.line = tokens[t - words.size()].line;
    read.range = {first, last};
    read.statement = size;
    read.text = "#pragma staircase";
    for (std::size_t w = 2; w < words.size(); ++w) {
      const bool is_apart = words[w - 1].range.last < words[w].range.first;
      read.text += (is_apart ? " " : "") + words[w].text;
    }
    Words({words.begin() + 2, words.end()}, read).read();
    directives.push_back(std::move(read));
  }
  return directives;
}

}  // namespace slicer
