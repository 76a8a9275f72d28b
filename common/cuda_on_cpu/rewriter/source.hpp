/// \file
/// A preprocessed CUDA source as a sequence of tokens. Replacing a token does not change the line
/// numbers of other tokens.

#pragma once

#include <cstddef>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_on_cpu::rewriter {

/// Thrown if the rewriter does not understand a part of the source.
struct Unsure : std::runtime_error {
  using runtime_error::runtime_error;
};

/// The kind of a token. A marker is a preprocessor line. An opaque token is passed on unchanged: a
/// system header, or rewritten source.
enum class Kind { marker, space, string, character, number, name, sign, opaque };

class Source {
 public:
  /// \param reads_systems whether system headers are also split into tokens
  explicit Source(std::string text, bool reads_systems = false);
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::size_t size() const { return tokens_.size(); }
  Kind kind(std::size_t i) const { return tokens_[i].kind; }
  std::string_view operator[](std::size_t i) const { return tokens_[i].text; }
  bool is(std::size_t i, std::string_view text) const { return tokens_[i].text == text; }
  bool is_name(std::size_t i) const { return kind(i) == Kind::name; }
  bool is_sign(std::size_t i, std::string_view text) const {
    return kind(i) == Kind::sign && is(i, text);
  }
  bool is_blank(std::size_t i) const;
  bool opens(std::size_t i) const;   ///< whether the token is one of ( [ {
  bool closes(std::size_t i) const;  ///< whether the token is one of ) ] }

  /// The first non-blank token after i, and the last one before i. Both functions throw Unsure if
  /// there is no such token.
  std::size_t next(std::size_t i) const;
  std::size_t previous(std::size_t i) const;
  /// The bracket that closes or opens the pair of the bracket at token i. Both functions throw
  /// Unsure if there is none.
  std::size_t close_of(std::size_t i) const;
  std::size_t open_of(std::size_t i) const;

  /// The text of tokens first to last - 1.
  std::string text(std::size_t first, std::size_t last) const;
  /// Replaces tokens first to last - 1 by a text; the lines after them keep their numbers.
  void replace(std::size_t first, std::size_t last, std::string text);
  /// The file and line of a token, according to the last line marker.
  std::string place_of(std::size_t i) const;

 private:
  struct Token {
    Kind kind;
    std::string_view text;
  };

  void add(Kind kind, std::string_view text) { tokens_.push_back({kind, text}); }
  void read(std::string_view region);
  bool is_behind_colon(std::size_t i) const;
  bool is_behind_operator() const;  ///< whether the last non-blank token is `operator`

  std::string whole_;
  std::deque<std::string> replacements_;
  std::vector<Token> tokens_;
};

/// A preprocessor line that gives the origin of the next line: `# 12 "file.cu" 1 3`.
struct LineMarker {
  int line;
  std::string_view file;
  bool is_system;
  bool enters;  ///< whether the file begins at this marker
};

/// Parses a line marker. Returns whether the line is a marker.
bool read_marker(std::string_view line, LineMarker& marker);

}  // namespace cuda_on_cpu::rewriter
