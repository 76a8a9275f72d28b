/// \file
/// A C++ source as libclang sees it: cursors, tokens and pragmas.

#pragma once

#include <clang-c/Index.h>

#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slicer {

/// The text of libclang's own strings.
std::string text_of(CXString string);

/// What is under a cursor, in the order of the source.
std::vector<CXCursor> children_of(CXCursor cursor);

/// A part of the source, from one byte up to another.
struct Range {
  unsigned first, last;
};

struct Token {
  Range range;
  std::string text;
  int line = 0;
  bool operator==(std::string_view other) const { return text == other; }
};

/// A pragma of OpenMP: its words, and where the statement begins that it is about.
struct Pragma {
  std::string text;
  std::vector<std::string> words;
  int line;
  unsigned statement;

  bool has(std::string_view word) const;
  /// What a clause says in its parentheses, word by word; all of them if there are several.
  std::vector<std::string> clause(std::string_view name) const;
};

/// What libclang is told of a file.
struct Arguments {
  std::vector<std::string> words;
  std::string header;       ///< what is included before the file, if anything
  std::string precompiled;  ///< the same in libclang's own form, or what most files include
};

/// A parsed file.
class Source {
 public:
  /// \param instead what is taken for the file's text, if not empty
  /// \throws BadInput if the file cannot be read or is no valid C++
  Source(const std::string& path, const Arguments& arguments, const std::string& instead = {});

  CXCursor root() const { return clang_getTranslationUnitCursor(unit_.get()); }
  /// Whether something is written in the file itself, not in one that it includes.
  bool has(CXCursor cursor) const;
  /// Whether something is written in the file, or in a header of the project's. Those of the CPU
  /// device are none of them: on a GPU, what they declare is something else.
  bool can_see(CXCursor cursor) const;
  /// Where something is written; what is in a header lies behind the file itself.
  Range range(CXCursor cursor) const;
  unsigned place(CXSourceLocation location) const;
  int line(CXCursor cursor) const;
  /// The whole file.
  std::string_view text() const { return all_; }
  /// The text of an expression, on one line.
  std::string text(CXCursor cursor) const;
  /// The tokens of a part of the source.
  std::vector<Token> tokens(Range range) const;
  /// Whether an expression is made by a macro, so that the file does not show it.
  bool is_macro(CXCursor cursor) const;
  /// The pragmas of OpenMP that are about the statement at a place.
  std::vector<const Pragma*> pragmas(unsigned statement) const;
  const std::vector<Pragma>& pragmas() const { return pragmas_; }

 private:
  /// A file of the translation unit: its first byte is at `place` among those of all.
  struct File {
    CXFile file;
    unsigned place;
    std::string_view text;
    std::vector<Token> tokens;  ///< read when they are asked for
  };

  void parse(const std::string& path, const Arguments& arguments, const std::string& instead);
  /// Lists in braces as what a launch is told, add<<<{2, 1}, 32>>>, are more than libclang's parser
  /// takes: puts the type in front of them, on the same lines. Returns whether there are any.
  bool name_lists(const std::string& path, std::string& text);
  /// Why the file is no valid C++; empty if it is.
  std::string refusal(const std::string& path) const;
  File& file_of(CXFile file) const;
  File& file_at(unsigned place) const;
  void read_tokens(File& of) const;
  void read_pragmas();
  /// Notes what a macro stands for, if that may be a pragma.
  void note_macro(Range used, CXCursor definition);
  /// What `_Pragma` says to OpenMP at a token, if anything, or a macro that stands for one, and
  /// where that ends; 0 if there is none.
  std::pair<std::string, unsigned> pragma_operator(const std::vector<Token>& tokens,
                                                   std::size_t at) const;

  template <auto dispose>
  struct Dispose {
    template <typename T>
    void operator()(T* owned) const {
      dispose(owned);
    }
  };
  std::unique_ptr<void, Dispose<clang_disposeIndex>> index_;
  std::unique_ptr<CXTranslationUnitImpl, Dispose<clang_disposeTranslationUnit>> unit_;
  CXFile file_;
  std::string_view all_;
  mutable std::list<File> files_;  ///< the file itself, and headers that were asked for
  std::vector<Pragma> pragmas_;
  std::vector<Range> macros_;
  struct Meaning {
    Range used;
    std::string text;
  };
  std::vector<Meaning> meanings_;  ///< of macros that may be pragmas, and what they are told
  int error_ = CXError_Success;    ///< libclang's reason if there is no unit
};

}  // namespace slicer
