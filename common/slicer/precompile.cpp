/// \file Precompiles a header for libclang, so that the slicer need not parse the header for each
/// file. Usage: precompile cxx|cuda HEADER OUT DEPENDENCIES

#include <clang-c/Index.h>
#include <fmt/format.h>

#include <harness/file.hpp>
#include <harness/program.hpp>
#include <memory>
#include <staircase/error.hpp>

#include "options.hpp"

namespace slicer {
namespace {

/// The options for parsing. The bodies of functions are skipped, as in all system headers.
constexpr unsigned how = CXTranslationUnit_DetailedPreprocessingRecord |
                         CXTranslationUnit_Incomplete | CXTranslationUnit_ForSerialization |
                         CXTranslationUnit_SkipFunctionBodies;

/// The files that a unit includes, in the format that ninja reads.
std::string dependencies_of(CXTranslationUnit unit, const std::string& target) {
  std::string text = target + ":";
  clang_getInclusions(
      unit,
      [](CXFile file, CXSourceLocation*, unsigned, CXClientData data) {
        *static_cast<std::string*>(data) += " " + text_of(clang_getFileName(file));
      },
      &text);
  return text + "\n";
}

staircase::Exit run(int argc, char** argv) {
  if (argc != 5) throw staircase::BadInput("usage: precompile cxx|cuda HEADER OUT DEPENDENCIES");
  const std::string header = argv[2], out = argv[3];
  const std::vector<std::string> words = language(std::string(argv[1]) == "cuda");
  std::vector<const char*> given;
  for (const std::string& word : words) given.push_back(word.c_str());
  const std::unique_ptr<void, decltype(&clang_disposeIndex)> index(clang_createIndex(0, 0),
                                                                   clang_disposeIndex);
  const std::unique_ptr<CXTranslationUnitImpl, decltype(&clang_disposeTranslationUnit)> unit(
      clang_parseTranslationUnit(index.get(), header.c_str(), given.data(),
                                 static_cast<int>(given.size()), nullptr, 0, how),
      clang_disposeTranslationUnit);
  if (!unit || clang_saveTranslationUnit(unit.get(), out.c_str(), 0) != CXSaveError_None)
    throw staircase::BadInput(fmt::format("the header '{}' cannot be precompiled", header));
  staircase::write_file(argv[4], {dependencies_of(unit.get(), out)});
  return staircase::Exit::solved;
}

}  // namespace
}  // namespace slicer

int main(int argc, char** argv) {
  return staircase::run_guarded("precompile", [&] { return slicer::run(argc, argv); });
}
