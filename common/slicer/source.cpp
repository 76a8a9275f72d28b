#include "source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <staircase/error.hpp>

namespace slicer {

std::string text_of(CXString string) {
  const char* characters = clang_getCString(string);
  const std::string text = characters ? characters : "";
  clang_disposeString(string);
  return text;
}

std::vector<CXCursor> children_of(CXCursor cursor) {
  std::vector<CXCursor> children;
  clang_visitChildren(
      cursor,
      [](CXCursor child, CXCursor, CXClientData data) {
        static_cast<std::vector<CXCursor>*>(data)->push_back(child);
        return CXChildVisit_Continue;
      },
      &children);
  return children;
}

bool Pragma::has(std::string_view word) const {
  const std::vector<std::string> all = names();
  return std::find(all.begin(), all.end(), word) != all.end();
}

std::vector<std::string> Pragma::names() const {
  std::vector<std::string> names;
  int depth = 0;
  for (const std::string& word : words) {
    depth -= word == ")";
    if (depth == 0 && word != ")" && word != "(" && word != ",") names.push_back(word);
    depth += word == "(";
  }
  return names;
}

std::vector<std::vector<std::string>> Pragma::clauses(std::string_view name) const {
  std::vector<std::vector<std::string>> found;
  int depth = 0;
  for (std::size_t w = 0; w + 1 < words.size(); ++w) {
    if (depth == 0 && words[w] == name && words[w + 1] == "(") {
      found.emplace_back();
      int inner = 0;
      for (++w; w < words.size(); ++w) {
        inner += (words[w] == "(") - (words[w] == ")");
        if (inner == 0) break;
        if (inner > 1 || words[w] != "(") found.back().push_back(words[w]);
      }
      continue;
    }
    depth += (words[w] == "(") - (words[w] == ")");
  }
  return found;
}

std::vector<std::string> Pragma::clause(std::string_view name) const {
  std::vector<std::string> said;
  for (const std::vector<std::string>& each : clauses(name))
    said.insert(said.end(), each.begin(), each.end());
  return said;
}

namespace {

using Words = std::vector<const char*>;
constexpr unsigned how =
    CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_Incomplete;

/// Parses a file with libclang's indexer, which skips the bodies of functions in system headers and
/// takes half as long as a normal parse. The indexer is used only for files without a precompiled
/// header: since libclang 19, cursors of an index cannot be followed into a precompiled header.
/// Returns libclang's error code.
int index_file(CXIndex index, const std::string& path, const Words& given,
               CXTranslationUnit& unit) {
  const CXIndexAction action = clang_IndexAction_create(index);
  IndexerCallbacks nobody{};
  const int error = clang_indexSourceFile(
      action, nullptr, &nobody, sizeof nobody,
      CXIndexOpt_SkipParsedBodiesInSession | CXIndexOpt_SuppressRedundantRefs, path.c_str(),
      given.data(), static_cast<int>(given.size()), nullptr, 0, &unit, how);
  clang_IndexAction_dispose(action);
  return error;
}

/// Parses a file, or a text in its place if the text is not empty. The function does not use the
/// indexer, because the unit needs the text longer than the indexer keeps it. Returns libclang's
/// error code.
int parse_whole(CXIndex index, const std::string& path, const Words& given, const std::string& text,
                CXTranslationUnit& unit, unsigned options = how) {
  CXUnsavedFile unsaved{path.c_str(), text.c_str(), text.size()};
  return clang_parseTranslationUnit2(index, path.c_str(), given.data(),
                                     static_cast<int>(given.size()), &unsaved, !text.empty(),
                                     options, &unit);
}

/// Whether an error of libclang concerns code that C++20 and CUDA allow, and that libclang reads
/// correctly. Before version 16, libclang does not let a lambda capture a structured binding. The
/// headers declare all functions as host and device functions. libclang rejects this for redeclared
/// kernels and for variadic functions.
bool is_valid_all_the_same(const std::string& said) {
  static constexpr std::array<std::string_view, 5> beginnings{
      "reference to local binding '", "'device' and 'global' attributes are not compatible",
      "'global' and 'device' attributes are not compatible",
      "'global' and 'host' attributes are not compatible",
      "CUDA device code does not support variadic functions"};
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view each) { return said.starts_with(each); });
}

/// One of the launch parameters between <<< and >>>.
struct ToldToLaunch {
  std::size_t position;
  std::vector<Token>::const_iterator first;
};

std::vector<ToldToLaunch> told_to_launches(const std::vector<Token>& tokens) {
  std::vector<ToldToLaunch> told;
  int depth = -1;  // nesting depth of brackets within a launch; -1 outside
  for (auto token = tokens.begin(); token + 1 < tokens.end(); ++token) {
    if (*token == "<<<") {
      depth = 0;
      told.push_back({0, token + 1});
    } else if (depth == 0 && *token == ">>>") {
      depth = -1;
    } else if (depth == 0 && *token == ",") {
      told.push_back({told.back().position + 1, token + 1});
    } else if (depth >= 0) {
      depth += (*token == "(") + (*token == "[") + (*token == "{");
      depth -= (*token == ")") + (*token == "]") + (*token == "}");
    }
  }
  return told;
}

}  // namespace

void check_arguments(const std::string& path, const Arguments& arguments) {
  Words given;
  for (const std::string& word : arguments.words) given.push_back(word.c_str());
  const std::unique_ptr<void, decltype(&clang_disposeIndex)> index(clang_createIndex(1, 0),
                                                                   &clang_disposeIndex);
  CXTranslationUnit made = nullptr;
  parse_whole(index.get(), path, given, "\n", made);
  const std::unique_ptr<CXTranslationUnitImpl, decltype(&clang_disposeTranslationUnit)> unit(
      made, &clang_disposeTranslationUnit);
  const unsigned count = unit ? clang_getNumDiagnostics(unit.get()) : 0;
  for (unsigned d = 0; d < count; ++d) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit.get(), d);
    const bool is_error = clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
    const std::string said = text_of(clang_getDiagnosticSpelling(diagnostic));
    clang_disposeDiagnostic(diagnostic);
    if (is_error)
      throw staircase::BadInput(
          fmt::format("libclang does not accept the compiler's arguments after --: {}", said));
  }
}

/// Whether a macro is defined as its own name, such as `stderr`.
bool Source::stands_for_itself(CXCursor use) const {
  const CXCursor definition = clang_getCursorReferenced(use);
  if (clang_Cursor_isNull(definition) || clang_Cursor_isMacroFunctionLike(definition)) return false;
  const std::vector<Token> words = tokens(range(definition));
  return words.size() == 2 && words[0].text == words[1].text;
}

/// With a precompiled header, the names of all its headers are visible in a file, even if the file
/// does not include these headers. If this causes an error, if the language options differ, or if a
/// header is newer than the precompiled file, the source is parsed again without the precompiled
/// header.
Source::Source(const std::string& path, const Arguments& arguments, const std::string& instead)
    : index_(clang_createIndex(1, 0)) {
  const auto parse_with_lists = [&](const Arguments& with) {
    std::string text = instead;
    parse(path, with, text);
    if (!refusal(path).empty() && name_lists(path, text)) parse(path, with, text);
  };
  Arguments accepted = arguments;
  parse_with_lists(accepted);
  if (!arguments.precompiled.empty() && !refusal(path).empty()) {
    accepted.precompiled.clear();
    parse_with_lists(accepted);
  }
  if (const std::string why = refusal(path); !why.empty()) throw staircase::BadInput(why);
  file_ = clang_getFile(unit_.get(), path.c_str());
  all_ = file_of(file_).text;
  if (arguments.expands) expand_macros(path, accepted);
  for (const CXCursor cursor : children_of(root()))
    if (clang_getCursorKind(cursor) == CXCursor_MacroDefinition && can_see(cursor)) {
      std::vector<std::string>& words = definitions_[text_of(clang_getCursorSpelling(cursor))];
      for (const Token& token : tokens(range(cursor))) words.push_back(token.text);
    } else if (clang_getCursorKind(cursor) == CXCursor_MacroExpansion && can_see(cursor) &&
               !stands_for_itself(cursor)) {
      macros_.push_back(range(cursor));
      if (has(cursor)) note_macro(macros_.back(), clang_getCursorReferenced(cursor));
    }
  read_pragmas();
}

namespace {

/// The arguments of libclang, including the header that comes first.
Words words_of(const Arguments& arguments) {
  Words given;
  for (const std::string& word : arguments.words) given.push_back(word.c_str());
  const bool is_precompiled = !arguments.precompiled.empty();
  const std::string& first = is_precompiled ? arguments.precompiled : arguments.header;
  if (!first.empty())
    given.insert(given.end(), {is_precompiled ? "-include-pch" : "-include", first.c_str()});
  return given;
}

}  // namespace

Source::Unit Source::parse_directives(const std::string& path, const Arguments& arguments,
                                      const std::string& text) const {
  CXTranslationUnit unit = nullptr;
  parse_whole(index_.get(), path, words_of(arguments), text, unit,
              how | CXTranslationUnit_SkipFunctionBodies);
  return Unit(unit);
}

void Source::parse(const std::string& path, const Arguments& arguments,
                   const std::string& instead) {
  const Words given = words_of(arguments);
  CXTranslationUnit unit = nullptr;
  error_ = !arguments.precompiled.empty() || !instead.empty()
               ? parse_whole(index_.get(), path, given, instead, unit)
               : index_file(index_.get(), path, given, unit);
  unit_.reset(unit);
}

bool Source::name_lists(const std::string& path, std::string& text) {
  static constexpr std::array types{"dim3", "dim3", "std::size_t", "cudaStream_t"};
  if (!unit_) return false;
  const std::string_view all = file_of(clang_getFile(unit_.get(), path.c_str())).text;
  std::string named;
  std::size_t done = 0;
  const std::vector<Token> tokens = this->tokens({0, static_cast<unsigned>(all.size())});
  for (const ToldToLaunch& told : told_to_launches(tokens)) {
    if (!(*told.first == "{") || told.position >= types.size()) continue;
    named.append(all.substr(done, told.first->range.first - done)).append(types[told.position]);
    done = told.first->range.first;
  }
  named.append(all.substr(done));
  files_.clear();
  if (done > 0) text = named;
  return done > 0;
}

std::string Source::refusal(const std::string& path) const {
  if (!unit_ && error_ == CXError_Crashed)
    return fmt::format(
        "libclang crashed when it parsed the file '{}'; try another version of libclang", path);
  if (!unit_)
    return fmt::format(
        "libclang does not accept the compiler's arguments for the file '{}'; they "
        "are given after -- or in compile_commands.json",
        path);
  const unsigned count = clang_getNumDiagnostics(unit_.get());
  for (unsigned d = 0; d < count; ++d) {
    CXDiagnostic diagnostic = clang_getDiagnostic(unit_.get(), d);
    const bool is_error = clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
    const std::string said = text_of(clang_getDiagnosticSpelling(diagnostic));
    unsigned line = 0;
    CXFile file = nullptr;
    clang_getExpansionLocation(clang_getDiagnosticLocation(diagnostic), &file, &line, nullptr,
                               nullptr);
    const std::string where = file ? text_of(clang_getFileName(file)) : path;
    clang_disposeDiagnostic(diagnostic);
    if (is_error && !is_valid_all_the_same(said))
      return fmt::format("the file '{}' is not valid {} with these options: line {} of '{}': {}",
                         path, path.ends_with(".c") ? "C" : "C++", line, where, said);
  }
  return {};
}

Source::File& Source::file_of(CXFile file) const {
  for (File& known : files_)
    if (clang_File_isEqual(known.file, file)) return known;
  std::size_t size = 0;
  const char* characters = clang_getFileContents(unit_.get(), file, &size);
  const auto place = files_.empty() ? 0 : files_.back().place + files_.back().text.size() + 1;
  files_.push_back({file, static_cast<unsigned>(place), {characters, size}, {}});
  return files_.back();
}

Source::File& Source::file_at(unsigned place) const {
  auto at = files_.rbegin();
  while (at->place > place) ++at;
  return *at;
}

void Source::read_tokens(File& of) const {
  CXToken* tokens = nullptr;
  unsigned count = 0;
  const CXSourceRange whole =
      clang_getRange(clang_getLocationForOffset(unit_.get(), of.file, 0),
                     clang_getLocationForOffset(unit_.get(), of.file, of.text.size()));
  clang_tokenize(unit_.get(), whole, &tokens, &count);
  for (unsigned t = 0; t < count; ++t) {
    if (clang_getTokenKind(tokens[t]) == CXToken_Comment) continue;
    const CXSourceRange extent = clang_getTokenExtent(unit_.get(), tokens[t]);
    Range range{};
    unsigned line = 0;
    clang_getFileLocation(clang_getRangeStart(extent), nullptr, &line, nullptr, &range.first);
    clang_getFileLocation(clang_getRangeEnd(extent), nullptr, nullptr, nullptr, &range.last);
    of.tokens.push_back({{of.place + range.first, of.place + range.last},
                         text_of(clang_getTokenSpelling(unit_.get(), tokens[t])),
                         static_cast<int>(line)});
  }
  clang_disposeTokens(unit_.get(), tokens, count);
}

bool Source::has(CXCursor cursor) const {
  CXFile file = nullptr;
  clang_getExpansionLocation(clang_getCursorLocation(cursor), &file, nullptr, nullptr, nullptr);
  return file && clang_File_isEqual(file, file_);
}

bool Source::can_see(CXCursor cursor) const {
  const CXSourceLocation location = clang_getCursorLocation(cursor);
  CXFile file = nullptr;
  clang_getExpansionLocation(location, &file, nullptr, nullptr, nullptr);
  if (!file || clang_File_isEqual(file, file_)) return file;
  return !clang_Location_isInSystemHeader(location) &&
         text_of(clang_getFileName(file)).find("cuda_on_cpu/") == std::string::npos;
}

unsigned Source::place(CXSourceLocation location) const {
  CXFile file = nullptr;
  unsigned place = 0;
  clang_getExpansionLocation(location, &file, nullptr, nullptr, &place);
  return file ? file_of(file).place + place : place;
}

Range Source::range(CXCursor cursor) const {
  const CXSourceRange extent = clang_getCursorExtent(cursor);
  return {place(clang_getRangeStart(extent)), place(clang_getRangeEnd(extent))};
}

int Source::line(CXCursor cursor) const {
  unsigned line = 0;
  const CXSourceRange extent = clang_getCursorExtent(cursor);
  clang_getExpansionLocation(clang_getRangeStart(extent), nullptr, &line, nullptr, nullptr);
  return static_cast<int>(line);
}

std::string Source::text(CXCursor cursor) const {
  const Range part = range(cursor);
  const File& file = file_at(part.first);
  std::string text;
  for (const char c : file.text.substr(part.first - file.place, part.last - part.first)) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t';
    if (!is_space)
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

std::vector<Token> Source::tokens(Range part) const {
  File& file = file_at(part.first);
  if (file.tokens.empty()) read_tokens(file);
  const auto before = [](const Token& token, unsigned place) { return token.range.first < place; };
  const auto first = std::lower_bound(file.tokens.begin(), file.tokens.end(), part.first, before);
  const auto last = std::lower_bound(first, file.tokens.end(), part.last, before);
  return {first, last};
}

bool Source::is_macro(CXCursor cursor) const {
  const unsigned place = range(cursor).first;
  return std::any_of(macros_.begin(), macros_.end(), [&](const Range& macro) {
    return macro.first <= place && place < macro.last;
  });
}

bool Source::may_assign(CXCursor cursor) const {
  std::vector<std::string> words;
  const Range part = range(cursor);
  for (const Range& macro : macros_)
    if (macro.first < part.last && part.first < macro.last)
      for (const Token& token : tokens(macro)) words.push_back(token.text);
  if (words.empty()) return true;
  std::set<std::string> seen;
  while (!words.empty()) {
    const std::string word = std::move(words.back());
    words.pop_back();
    const bool compares = word == "==" || word == "<=" || word == ">=" || word == "!=";
    if (word == "++" || word == "--" || word == "##" || (word.ends_with("=") && !compares))
      return true;
    const auto found = definitions_.find(word);
    if (found == definitions_.end() || !seen.insert(word).second) continue;
    words.insert(words.end(), found->second.begin(), found->second.end());
  }
  return false;
}

std::vector<const Pragma*> Source::pragmas(unsigned statement) const {
  std::vector<const Pragma*> found;
  for (const Pragma& pragma : pragmas_)
    if (pragma.statement == statement) found.push_back(&pragma);
  return found;
}

}  // namespace slicer
