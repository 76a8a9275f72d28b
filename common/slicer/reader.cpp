#include "reader.hpp"

#include "reading.hpp"

namespace slicer {

void Reader::read(CXCursor function, CXCursor body) {
  enter();
  changes_.note(body);
  for (const CXCursor child : children_of(function))
    if (clang_getCursorKind(child) == CXCursor_ParmDecl) declare_parameter(child);
  statement(body);
}

namespace {

/// Finds functions with a body, and lambdas, which are read on their own.
void find_functions(const Source& source, const Callees& callees, CXCursor cursor,
                    std::list<Function>& functions) {
  for (const CXCursor child : children_of(cursor)) {
    if (clang_getCursorKind(cursor) == CXCursor_TranslationUnit &&
        (!source.has(child) || is_instance(child)))
      continue;
    switch (clang_getCursorKind(child)) {
      case CXCursor_FunctionDecl:
      case CXCursor_FunctionTemplate:
      case CXCursor_CXXMethod:
      case CXCursor_Constructor:
      case CXCursor_Destructor:
      case CXCursor_ConversionFunction:
      case CXCursor_LambdaExpr:
        for (const CXCursor part : children_of(child))
          if (clang_getCursorKind(part) == CXCursor_CompoundStmt) {
            functions.emplace_back();
            functions.back().range = source.range(child);
            functions.back().is_free = is_function(child);
            const bool is_lambda = clang_getCursorKind(child) == CXCursor_LambdaExpr;
            functions.back().name =
                is_lambda ? "a lambda" : text_of(clang_getCursorSpelling(child));
            Reader(source, callees, functions.back()).read(child, part);
          }
        break;
      default:
        break;
    }
    find_functions(source, callees, child, functions);
  }
}
}  // namespace

std::list<Function> read_functions(const Source& source) {
  std::list<Function> functions;
  const Callees callees(source);
  find_functions(source, callees, source.root(), functions);
  functions.remove_if([](const Function& function) { return function.loops.empty(); });
  return functions;
}

}  // namespace slicer
