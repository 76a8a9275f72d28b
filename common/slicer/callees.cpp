#include "callees.hpp"

#include <algorithm>
#include <set>

namespace slicer {
namespace {

/// Whether `function` is an implicit instance of the template `pattern`, not an explicit
/// specialisation.
bool is_made_of(CXCursor function, CXCursor pattern) {
  const auto is_at = [&](CXCursor other) {
    return clang_equalLocations(clang_getCursorLocation(function), clang_getCursorLocation(other));
  };
  return is_at(pattern) || is_at(clang_getCursorDefinition(pattern));
}

/// Collects the functions of all namespaces by name.
void find_names(const Source& source, CXCursor cursor, Callees::Named& named) {
  for (const CXCursor child : children_of(cursor)) {
    const CXCursorKind kind = clang_getCursorKind(child);
    const bool is_nest = kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec;
    if ((!is_function(child) && !is_nest) || is_instance(child) || !source.can_see(child)) continue;
    if (is_function(child)) named[text_of(clang_getCursorSpelling(child))].push_back(child);
    if (is_nest) find_names(source, child, named);
  }
}

/// Whether a function accepts a given number of arguments.
bool takes(CXCursor function, std::size_t arguments) {
  const CXCursorKind kind = clang_getCursorKind(function);
  if (kind != CXCursor_FunctionDecl && kind != CXCursor_FunctionTemplate) return true;
  std::size_t needed = 0, most = 0;
  for (const CXCursor child : children_of(function)) {
    if (clang_getCursorKind(child) != CXCursor_ParmDecl) continue;
    const bool is_pack =
        text_of(clang_getTypeSpelling(clang_getCursorType(child))).ends_with("...");
    if (is_pack) most = arguments;
    const Cursors parts = expressions_of(child);
    if (!is_pack && parts.empty()) ++needed;
    ++most;
  }
  const bool is_open = clang_isFunctionTypeVariadic(clang_getCursorType(function));
  return needed <= arguments && (arguments <= most || is_open);
}

/// Whether `name` is a mathematical function (most are in <cmath>) that has no effect besides its
/// result. The list omits functions with a second result and lgamma(), which sets a global
/// variable.
bool is_mathematical(const std::string& name) {
  static const std::set<std::string> functions{
      "abs",    "labs",     "llabs",     "fabs",   "sqrt",      "cbrt",      "hypot",      "exp",
      "exp2",   "expm1",    "log",       "log2",   "log10",     "log1p",     "logb",       "ilogb",
      "pow",    "sin",      "cos",       "tan",    "asin",      "acos",      "atan",       "atan2",
      "sinh",   "cosh",     "tanh",      "asinh",  "acosh",     "atanh",     "erf",        "erfc",
      "tgamma", "ceil",     "floor",     "trunc",  "round",     "lround",    "llround",    "rint",
      "lrint",  "llrint",   "nearbyint", "fmod",   "remainder", "fma",       "fmin",       "fmax",
      "fdim",   "copysign", "ldexp",     "scalbn", "scalbln",   "nextafter", "nexttoward", "min",
      "max",    "clamp",    "isnan",     "isinf",  "isfinite",  "isnormal",  "signbit",    "lerp"};
  if (functions.contains(name)) return true;
  const bool has_suffix = name.ends_with("f") || name.ends_with("l");
  return has_suffix && functions.contains(name.substr(0, name.size() - 1)) && name != "minf" &&
         name != "maxf";
}

}  // namespace

bool is_function(CXCursor cursor) {
  const CXCursorKind kind = clang_getCursorKind(cursor);
  const CXCursorKind parent = clang_getCursorKind(clang_getCursorSemanticParent(cursor));
  return (kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate) &&
         parent != CXCursor_StructDecl && parent != CXCursor_ClassDecl &&
         parent != CXCursor_ClassTemplate;
}

bool is_instance(CXCursor function) {
  const CXCursor pattern = clang_getSpecializedCursorTemplate(function);
  return !clang_Cursor_isNull(pattern) && is_made_of(function, pattern);
}

std::string callee_name(CXCursor callee) {
  return text_of(clang_getCursorSpelling(clang_getCursorReferenced(callee)));
}

Callees::Callees(const Source& source) : source_(source) {
  find_names(source, source.root(), named_);
}

CXCursor Callees::declaration_of(CXCursor callee, std::size_t arguments) const {
  const CXCursor referenced = clang_getCursorReferenced(callee);
  if (clang_getCursorKind(referenced) != CXCursor_OverloadedDeclRef) return referenced;
  Cursors candidates;
  for (unsigned d = 0; d < clang_getNumOverloadedDecls(referenced); ++d)
    candidates.push_back(clang_getOverloadedDecl(referenced, d));
  const std::string name = text_of(clang_getCursorSpelling(referenced));
  if (const auto others = named_.find(name); others != named_.end())
    candidates.insert(candidates.end(), others->second.begin(), others->second.end());
  std::optional<CXCursor> only;
  for (CXCursor each : candidates) {
    if (!takes(each, arguments)) continue;
    each = clang_getCanonicalCursor(each);
    if (only && !clang_equalCursors(*only, each)) return referenced;
    only = each;
  }
  return only.value_or(referenced);
}

bool Callees::is_pure(CXCursor callee, const std::string& name) const {
  static const std::set<std::string> threads{"omp_get_thread_num", "omp_get_max_threads",
                                             "omp_get_num_threads"};
  if (name.starts_with("__builtin_") && is_mathematical(name.substr(10))) return true;
  if (!is_mathematical(name) && !threads.contains(name)) return false;
  const CXCursor referenced = clang_getCursorReferenced(callee);
  const unsigned several = clang_getCursorKind(referenced) == CXCursor_OverloadedDeclRef
                               ? clang_getNumOverloadedDecls(referenced)
                               : 0;
  bool is_theirs = several > 0 || !source_.has(referenced);
  for (unsigned d = 0; d < several; ++d)
    is_theirs = is_theirs && clang_Location_isInSystemHeader(
                                 clang_getCursorLocation(clang_getOverloadedDecl(referenced, d)));
  if (several == 0)
    is_theirs = clang_Location_isInSystemHeader(clang_getCursorLocation(referenced));
  return is_theirs;
}

std::optional<CXCursor> Callees::definition_of(CXCursor callee, std::size_t arguments) const {
  CXCursor function = declaration_of(callee, arguments);
  if (const CXCursor pattern = clang_getSpecializedCursorTemplate(function);
      !clang_Cursor_isNull(pattern) && is_made_of(function, pattern))
    function = pattern;
  function = clang_getCursorDefinition(function);
  const CXCursorKind kind = clang_getCursorKind(function);
  if ((kind != CXCursor_FunctionDecl && kind != CXCursor_FunctionTemplate) || !can_follow(function))
    return {};
  return function;
}

bool Callees::can_follow(CXCursor function) const {
  if (!source_.can_see(function)) return false;
  const std::vector<Token> tokens = source_.tokens(source_.range(function));
  const bool has_directives =
      std::any_of(tokens.begin(), tokens.end(), [](const Token& token) { return token == "#"; });
  return source_.has(function) || (!has_directives && !source_.is_macro(function));
}

std::optional<CXCursor> Callees::method_of(CXCursor method) const {
  // A variable that a lambda captures by value may differ from the variable of this name outside of
  // the lambda.
  const bool is_lambda =
      clang_Cursor_isAnonymous(clang_getCursorSemanticParent(method)) ||
      text_of(clang_getCursorSpelling(clang_getCursorSemanticParent(method))).empty();
  if (clang_getCursorKind(method) != CXCursor_CXXMethod || clang_CXXMethod_isVirtual(method) ||
      is_lambda)
    return {};
  const CXCursor pattern = clang_getSpecializedCursorTemplate(method);
  const CXCursor definition =
      clang_getCursorDefinition(clang_Cursor_isNull(pattern) ? method : pattern);
  if (clang_Cursor_isNull(definition) || !can_follow(definition)) return {};
  return definition;
}

Cursors Callees::default_of(CXCursor function, std::size_t parameter) const {
  for (const CXCursor declaration : {function, clang_getCanonicalCursor(function)}) {
    Cursors parameters = children_of(declaration);
    std::erase_if(parameters,
                  [](CXCursor child) { return clang_getCursorKind(child) != CXCursor_ParmDecl; });
    if (parameter >= parameters.size()) continue;
    if (const Cursors made_with = initialiser(source_, parameters[parameter]); !made_with.empty())
      return made_with;
  }
  return {};
}

}  // namespace slicer
