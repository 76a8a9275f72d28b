/// \file
/// A preprocessed CUDA source as tokens, which may be replaced without moving a line.

#pragma once

#include <cstddef>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_on_cpu::rewriter {

/// The rewriter cannot tell what a piece of source means.
struct Unsure : std::runtime_error {
  using runtime_error::runtime_error;
};

/// A marker is a line of the preprocessor's; what is opaque is passed on as it is: a system's
/// header, or what has been rewritten.
enum class Kind { marker, space, string, character, number, name, sign, opaque };

class Source {
 public:
  /// \param reads_systems whether headers of the system are read like others
  /// \throws Unsure where a string in the text has no end
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
  bool opens(std::size_t i) const;   ///< whether it is one of ( [ {
  bool closes(std::size_t i) const;  ///< whether it is one of ) ] }

  /// The first token after i, and the last before it, that is not blank.
  std::size_t next(std::size_t i) const;
  std::size_t previous(std::size_t i) const;
  /// The partner of the bracket that token i opens, or closes.
  std::size_t close_of(std::size_t i) const;
  std::size_t open_of(std::size_t i) const;

  /// The text of tokens first..last-1.
  std::string text(std::size_t first, std::size_t last) const;
  /// Puts a text in the place of tokens first..last-1; the lines behind keep their numbers.
  void replace(std::size_t first, std::size_t last, std::string text);
  /// File and line of a token, by the last line marker.
  std::string place_of(std::size_t i) const;

 private:
  struct Token {
    Kind kind;
    std::string_view text;
  };

  void add(Kind kind, std::string_view text) { tokens_.push_back({kind, text}); }
  void read(std::string_view region);
  bool is_behind_colon(std::size_t i) const;
  bool is_behind_operator() const;  ///< whether the last token is that word

  std::string whole_;
  std::deque<std::string> replacements_;
  std::vector<Token> tokens_;
};

/// A line that says where the next one comes from: `# 12 "file.cu" 1 3`.
struct LineMarker {
  int line;
  std::string_view file;
  bool is_system;
  bool enters;  ///< whether the file begins here
};

/// Whether a line is such a marker; then, what it says.
bool read_marker(std::string_view line, LineMarker& marker);

}  // namespace cuda_on_cpu::rewriter
