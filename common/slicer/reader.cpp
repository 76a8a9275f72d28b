#include "reader.hpp"

#include "reading.hpp"

namespace slicer {

void Reader::read(CXCursor function, CXCursor body) {
  enter();
  function_.declaration = pattern_of(function);
  changes_.note(body);
  int parameters = 0;
  for (const CXCursor child : children_of(function))
    if (clang_getCursorKind(child) == CXCursor_ParmDecl)
      declare_parameter(child)->parameter = parameters++;
  const Range all = source_.range(function);
  for (const Pragma& pragma : source_.pragmas())
    if (pragma.statement >= all.first && pragma.statement <= all.last)
      function_.pragmas.push_back(&pragma);
  statement(body);
  find_overlaps();
}

void Reader::find_overlaps() {
  const auto is_global = [](const Variable& variable) {
    return variable.parameter < 0 && !variable.frame && !clang_Cursor_isNull(variable.declaration);
  };
  for (const Variable& one : function_.variables)
    for (const Variable& other : function_.variables) {
      if (one.parameter < 0 || &one == &other) continue;
      std::optional<int> line;
      const auto parameter = static_cast<std::size_t>(one.parameter);
      if (other.parameter >= 0)
        line = facts_.overlap(function_.declaration, parameter,
                              static_cast<std::size_t>(other.parameter));
      else if (is_global(other))
        line = facts_.overlap(function_.declaration, parameter, other.declaration);
      if (!line) continue;
      function_.overlaps.push_back({&one, &other, *line});
      function_.overlaps.push_back({&other, &one, *line});
    }
}

namespace {

/// Finds functions with a body. Lambdas are read as separate functions.
void find_functions(const Source& source, const Callees& callees, const Facts& facts,
                    CXCursor cursor, std::list<Function>& functions) {
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
            Reader(source, callees, facts, functions.back()).read(child, part);
          }
        break;
      default:
        break;
    }
    find_functions(source, callees, facts, child, functions);
  }
}
}  // namespace

std::list<Function> read_functions(const Source& source) {
  std::list<Function> functions;
  const Callees callees(source);
  const Facts facts(source);
  find_functions(source, callees, facts, source.root(), functions);
  functions.remove_if([](const Function& function) { return function.loops.empty(); });
  return functions;
}

}  // namespace slicer
