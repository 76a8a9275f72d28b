/// \file
/// A C++ source in the form that libclang provides: cursors, tokens and pragmas.

#pragma once

#include <clang-c/Index.h>

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slicer {

/// The text of a string of libclang, which this function frees.
std::string text_of(CXString string);

/// The children of a cursor, in the order of the source.
std::vector<CXCursor> children_of(CXCursor cursor);

/// A part of the source: the position of its first byte, and its end (exclusive).
struct Range {
  unsigned first, last;
};

struct Token {
  Range range;
  std::string text;
  int line = 0;
  bool operator==(std::string_view other) const { return text == other; }
};

/// A pragma of OpenMP: its words, and the beginning of the statement that it refers to.
struct Pragma {
  std::string text;
  std::vector<std::string> words;
  int line;
  unsigned statement;

  /// Whether a word is part of the directive or is the name of a clause.
  bool has(std::string_view word) const;
  /// The words in the parentheses of all clauses with this name.
  std::vector<std::string> clause(std::string_view name) const;
  /// The words in the parentheses of each clause with this name.
  std::vector<std::vector<std::string>> clauses(std::string_view name) const;
  /// The words of the directive, and the names of all clauses.
  std::vector<std::string> names() const;
};

/// The arguments of libclang for a file.
struct Arguments {
  std::vector<std::string> words;
  std::string header;       ///< a header to include before the file, or empty
  std::string precompiled;  ///< a precompiled header to use instead, or empty
  bool expands = false;     ///< whether the uses of macros are replaced by their expansions
};

/// Checks the options that a user has given for the compiler.
/// \throws BadInput if libclang does not accept an option
void check_arguments(const std::string& path, const Arguments& arguments);

/// A parsed file.
class Source {
 public:
  /// \param instead a text that replaces the file's contents, or empty
  /// \throws BadInput if the file cannot be read or is no valid C++
  Source(const std::string& path, const Arguments& arguments, const std::string& instead = {});

  CXCursor root() const { return clang_getTranslationUnitCursor(unit_.get()); }
  /// Whether a cursor is in the file itself, and not in a header.
  bool has(CXCursor cursor) const;
  /// Whether a cursor is in the file or in a header of the project. The headers of the CPU device
  /// do not count, because CUDA's own headers replace them on a GPU.
  bool can_see(CXCursor cursor) const;
  /// The range of a cursor. Positions in headers are larger than all positions in the file itself.
  Range range(CXCursor cursor) const;
  unsigned place(CXSourceLocation location) const;
  int line(CXCursor cursor) const;
  /// The text of the whole file.
  std::string_view text() const { return all_; }
  /// The text of an expression, on one line.
  std::string text(CXCursor cursor) const;
  /// The tokens of a part of the source.
  std::vector<Token> tokens(Range range) const;
  /// Whether a macro produces an expression, so that the file does not contain it.
  bool is_macro(CXCursor cursor) const;
  /// Whether the file or a header of the project defines a macro of this name.
  bool is_macro_name(const std::string& word) const { return definitions_.contains(word); }
  /// Whether an expression from a macro may contain an assignment, judged by the words of the
  /// macro.
  bool may_assign(CXCursor cursor) const;
  /// The pragmas of OpenMP that refer to the statement at a position.
  std::vector<const Pragma*> pragmas(unsigned statement) const;
  const std::vector<Pragma>& pragmas() const { return pragmas_; }

 private:
  /// A file of the translation unit. Positions count the bytes of all files in `files_`. The first
  /// byte of this file has the position `place`.
  struct File {
    CXFile file;
    unsigned place;
    std::string_view text;
    std::vector<Token> tokens;  ///< read when they are needed
  };

  template <auto dispose>
  struct Dispose {
    template <typename T>
    void operator()(T* owned) const {
      dispose(owned);
    }
  };
  using Unit = std::unique_ptr<CXTranslationUnitImpl, Dispose<clang_disposeTranslationUnit>>;

  void parse(const std::string& path, const Arguments& arguments, const std::string& instead);
  /// Parses a text, but skips the bodies of functions. The unit may contain errors.
  Unit parse_directives(const std::string& path, const Arguments& arguments,
                        const std::string& text) const;
  /// Inserts the type before each list in braces in a launch such as add<<<{2, 1}, 32>>>, because
  /// libclang's parser does not accept such lists. Line numbers stay the same. Returns whether
  /// there are any lists.
  bool name_lists(const std::string& path, std::string& text);
  /// Replaces the uses of macros by their expansions. Line numbers stay the same.
  void expand_macros(const std::string& path, const Arguments& arguments);
  /// The outermost uses of macros in the file, except in directives of the preprocessor.
  std::vector<Range> uses_of_macros(std::string_view text) const;
  /// The ranges of the preprocessor directives; nothing if their ends are not clear.
  std::optional<std::vector<Range>> directives() const;
  /// The expansion of each use of a macro, or the text of the use if the expansion is not known.
  std::vector<std::string> expansions(const std::string& path, const Arguments& arguments,
                                      std::string_view text, const std::vector<Range>& uses);
  /// \param around the text of the file with at least its directives
  std::vector<std::string> expansions(const std::string& path, const Arguments& arguments,
                                      std::string_view text, std::string_view around,
                                      const std::vector<Range>& uses);
  /// Whether the file itself contains a loop.
  bool has_loops() const;
  struct Declared {
    Range range;
    std::size_t shape;  ///< a hash of the syntax tree
  };
  /// The declarations of the file, with hashes of their syntax trees.
  std::vector<Declared> declarations() const;
  /// The reason why the file is not valid C++; empty if it is valid.
  std::string refusal(const std::string& path) const;
  File& file_of(CXFile file) const;
  File& file_at(unsigned place) const;
  void read_tokens(File& of) const;
  void read_pragmas();
  bool stands_for_itself(CXCursor use) const;
  /// Records the replacement text of a macro that may be a pragma.
  void note_macro(Range used, CXCursor definition);
  /// The text of the OpenMP pragma in a `_Pragma` at a token, or in a macro that contains a
  /// `_Pragma`. The second value is the end of the `_Pragma` or the macro; 0 if there is none.
  std::pair<std::string, unsigned> pragma_operator(const std::vector<Token>& tokens,
                                                   std::size_t at) const;

  std::unique_ptr<void, Dispose<clang_disposeIndex>> index_;
  Unit unit_;
  CXFile file_;
  std::string_view all_;
  mutable std::list<File> files_;  ///< the file itself, and headers that were needed
  std::vector<Pragma> pragmas_;
  std::vector<Range> macros_;
  /// The words of each macro that the file or a header of the project defines.
  std::map<std::string, std::vector<std::string>> definitions_;
  struct Meaning {
    Range used;
    std::string text;
  };
  std::vector<Meaning> meanings_;  ///< uses of macros that may be pragmas, with their arguments
  int error_ = CXError_Success;    ///< libclang's error if the file could not be parsed
};

}  // namespace slicer
