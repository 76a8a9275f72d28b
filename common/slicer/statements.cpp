#include "reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "clauses.hpp"
#include "types.hpp"

namespace slicer {
namespace {

bool is_for(CXCursor cursor) { return clang_getCursorKind(cursor) == CXCursor_ForStmt; }

/// Whether the attributes after a variable's type leave the meaning of the declaration unchanged.
bool has_known_attributes(const Source& source, CXCursor declaration) {
  static const std::set<std::string> known{"aligned",    "__aligned__", "unused",
                                           "__unused__", "may_alias",   "vector_size"};
  const std::vector<Token> tokens = source.tokens(source.range(declaration));
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if (tokens[t] == "asm" || tokens[t] == "__asm__" || tokens[t] == "volatile") return false;
    if (tokens[t] == "__attribute__")
      if (t + 3 >= tokens.size() || !known.contains(tokens[t + 3].text)) return false;
  }
  return true;
}

/// The mutual exclusion of a statement. Critical sections with different names do not exclude each
/// other.
std::string guard_of(const Pragma& pragma) {
  if (pragma.has("atomic")) return "atomic";
  const bool is_ordered = !pragma.words.empty() && pragma.words.front() == "ordered";
  if (is_ordered && !pragma.has("depend") && !pragma.has("doacross") && !pragma.has("simd"))
    return "ordered";
  if (!pragma.has("critical")) return {};
  const std::vector<std::string> name = pragma.clause("critical");
  return "critical " + (name.empty() ? "" : name.front());
}

/// Whether a statement ends with a barrier for all threads of a region.
bool ends_with_barrier(const Pragma& pragma) {
  const bool is_shared = pragma.has("for") || pragma.has("single") || pragma.has("sections");
  return is_shared && !pragma.has("parallel") && !pragma.has("nowait");
}

}  // namespace

void Reader::statement(CXCursor cursor) {
  Frame* const outside = frame_;
  const auto pragmas = source_.pragmas(source_.range(cursor).first);
  for (const Pragma* pragma : pragmas) {
    if (pragma->has("barrier")) function_.barriers.push_back({outside, function_.accesses.size()});
    if (pragma->has("parallel")) enter()->region = pragma;
    if (const std::string held = guard_of(*pragma); !held.empty()) enter()->guard = held;
    if (const std::string other = uncovered(*pragma, pragmas); !other.empty()) {
      Frame* const frame = enter();
      frame->directive = other;
      frame->pragma = pragma;
      trouble(cursor, fmt::format("the directive `{}`", other));
      function_.troubles.back().is_directive = true;
    }
  }
  switch (clang_getCursorKind(cursor)) {
    case CXCursor_CompoundStmt:
      block(cursor);
      break;
    case CXCursor_DeclStmt:
      for (const CXCursor child : children_of(cursor)) declaration(child);
      break;
    case CXCursor_ForStmt:
      counted(cursor, pragmas);
      break;
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_CXXForRangeStmt:
      uncounted(cursor, pragmas);
      break;
    case CXCursor_IfStmt:
      branch(cursor);
      break;
    case CXCursor_NullStmt:
      break;
    case CXCursor_BreakStmt:
      leave(cursor, "`break` leaves the loop");
      break;
    case CXCursor_ContinueStmt:
      if (Loop* of = loop()) of->frame->is_cut = true;
      break;
    case CXCursor_ReturnStmt:
      give_back(cursor);
      break;
    case CXCursor_UnexposedStmt:  // a statement with attributes or an unroll pragma
      if (children_of(cursor).size() != 1)
        trouble_with(cursor, "the statement");
      else
        statement(children_of(cursor).front());
      break;
    default:
      if (is_expression(cursor) && !source_.is_macro(cursor))
        effect(cursor);
      else if (is_expression(cursor))
        value(cursor);
      else
        trouble_with(cursor, "the statement");
  }
  frame_ = outside;
  if (std::any_of(pragmas.begin(), pragmas.end(),
                  [](const Pragma* each) { return ends_with_barrier(*each); }))
    function_.barriers.push_back({outside, function_.accesses.size()});
}

void Reader::block(CXCursor cursor) {
  Frame* const outside = frame_;
  enter();
  const Cursors children = children_of(cursor);
  // Statements after a condition such as `if (...) continue;` form one part together with the
  // condition.
  Loop* whole = outside ? outside->loop : nullptr;
  if (whole && !whole->parts.empty()) whole = nullptr;
  for (std::size_t c = 0; c < children.size(); ++c) {
    if (whole) whole->parts.push_back(function_.accesses.size());
    if (const auto stays = condition_to_stay(children[c])) {
      enter_if(*stays);
      whole = nullptr;
    } else if (is_for(children[c]) && c + 1 < children.size() && is_for(children[c + 1])) {
      c = row_of_loops(children, c, whole);
    } else {
      statement(children[c]);
    }
  }
  frame_ = outside;
}

std::size_t Reader::row_of_loops(const Cursors& children, std::size_t first, Loop* whole) {
  Frame* const outside = frame_;
  enter();
  Loop* before = nullptr;
  std::size_t c = first;
  for (; c < children.size() && is_for(children[c]); ++c) {
    if (whole && c > first) whole->parts.push_back(function_.accesses.size());
    const std::size_t loops = function_.loops.size();
    statement(children[c]);
    Loop* read = &*std::next(function_.loops.begin(), static_cast<std::ptrdiff_t>(loops));
    if (before) before->next = read;
    before = read;
  }
  frame_ = outside;
  return c - 1;
}

void Reader::effect(CXCursor cursor) {
  cursor = stripped(cursor);
  const CXCursorKind kind = clang_getCursorKind(cursor);
  const bool is_binary = kind == CXCursor_BinaryOperator && !source_.is_macro(cursor);
  const std::string operation =
      is_binary || kind == CXCursor_UnaryOperator ? operator_of(source_, cursor) : "";
  const std::string overload = kind == CXCursor_CallExpr ? operation_of(source_, cursor) : "";
  if (is_binary && operation == ",")
    for (const CXCursor part : expressions_of(cursor)) effect(part);
  else if ((is_binary && operation == "=") || kind == CXCursor_CompoundAssignOperator)
    assign(cursor, true);
  else if (!overload.empty())
    overloaded(cursor, overload, true);
  else if (operation == "++" || operation == "--")
    count(cursor, true);
  else
    value(cursor);
}

void Reader::declaration(CXCursor cursor) {
  const CXCursorKind kind = clang_getCursorKind(cursor);
  if (kind == CXCursor_UnexposedDecl && !initialiser(source_, cursor).empty())
    return bindings(cursor);
  if (kind != CXCursor_VarDecl) {
    const bool is_harmless = kind == CXCursor_UsingDeclaration || kind == CXCursor_TypeAliasDecl ||
                             kind == CXCursor_TypedefDecl || kind == CXCursor_StructDecl ||
                             kind == CXCursor_StaticAssert || kind == CXCursor_EnumDecl ||
                             kind == CXCursor_UsingDirective;
    if (!is_harmless) trouble_with(cursor, "the declaration");
    return;
  }
  if (clang_Cursor_getStorageClass(cursor) == CX_SC_Extern) return;  // Reader::find() adds the
                                                                     // variable when it is used
  const Cursors made_with = initialiser(source_, cursor);
  Variable* variable = declare(cursor);
  const bool is_of_thread = clang_getCursorTLSKind(cursor) != CXTLS_None;
  if (clang_Cursor_getStorageClass(cursor) == CX_SC_Static || is_of_thread) {
    variable->is_named = true;
    if (!is_constant_type(clang_getCursorType(cursor))) trouble_with(cursor, "the static");
    return;
  }
  variable->frame = frame_;
  read_type(cursor, made_with);
  bind(*variable, clang_getCursorType(cursor), made_with);
  if (!made_with.empty() && !variable->value && !variable->alias && !variable->is_stray)
    access(cursor, {variable, {}, {}}, true);
  if (made_with.size() == 1 && variable->is_integer && is_input(made_with.front())) {
    access(cursor, {variable, {}, {}}, true);
    function_.accesses.back().is_input = true;
  }
}

void Reader::read_type(CXCursor declaration, const Cursors& made_with) {
  const CXType type = clang_getCursorType(declaration);
  if (!is_reference(type) && !is_value_type(type) && !is_array_type(type))
    trouble_with(declaration, "nothing is known of the object");
  if (!has_known_attributes(source_, declaration)) trouble_with(declaration, "the attribute of");
  for (const CXCursor part : expressions_of(declaration)) {
    const bool is_read = std::any_of(made_with.begin(), made_with.end(),
                                     [&](CXCursor each) { return clang_equalCursors(each, part); });
    if (!is_read) value(part);  // an array size, or an argument of a constructor
  }
}

void Reader::bindings(CXCursor cursor) {
  std::optional<Place> of;
  const bool is_name = is_reference(clang_getCursorType(cursor)) ||
                       source_.text(cursor).find('&') < source_.text(cursor).find('[');
  for (const CXCursor part : initialiser(source_, cursor)) {
    if (is_name) of = place(part);
    if (!of) value(part);
  }
  for (const CXCursor child : children_of(cursor)) {
    if (clang_getCursorKind(child) != CXCursor_UnexposedDecl) continue;
    Variable* variable = declare(child);
    variable->frame = frame_;
    if (!of) {
      variable->is_stray = is_name;
      if (!is_name) access(child, {variable, {}, {}}, true);
      continue;
    }
    variable->alias = frozen(*of);
    variable->alias->unsure = fmt::format("`{}` names a part of another object", variable->name);
  }
}

void Reader::branch(CXCursor cursor) {
  Cursors parts = children_of(cursor);
  if (parts.size() == 2 && is_expression(parts[0]) && updates_if(parts)) return;
  Frame* const outside = frame_;
  const auto condition = condition_of(cursor, parts);
  if (!condition) return;
  enter_if(*condition);
  statement(parts[1]);
  frame_ = outside;
  if (parts.size() < 3) return;
  enter_if(negated(*condition));
  statement(parts[2]);
  frame_ = outside;
}

std::optional<Term> Reader::condition_of(CXCursor cursor, const Cursors& parts) {
  if (parts.size() < 2 || parts.size() > 3 || !is_expression(parts[0])) {
    trouble_with(cursor, "the branch");
    return {};
  }
  Term condition = value(parts[0]);
  if (condition.text.empty()) condition.text = source_.text(parts[0]);
  return condition;
}

std::optional<Term> Reader::condition_to_stay(CXCursor cursor) {
  const Cursors parts = children_of(cursor);
  if (clang_getCursorKind(cursor) != CXCursor_IfStmt || parts.size() != 2) return {};
  CXCursor last = parts[1];
  Cursors before;
  if (clang_getCursorKind(last) == CXCursor_CompoundStmt) {
    before = children_of(last);
    if (before.empty()) return {};
    last = before.back();
    before.pop_back();
  }
  const CXCursorKind kind = clang_getCursorKind(last);
  const bool leaves_whole =
      kind == CXCursor_ContinueStmt
          ? is_directly_in_loop()
          : (kind == CXCursor_ReturnStmt || kind == CXCursor_CXXThrowExpr) && is_outside_loops();
  if (!leaves_whole) return {};
  const auto condition = condition_of(cursor, parts);
  if (!condition) return {};
  Frame* const outside = frame_;
  enter_if(*condition);
  for (const CXCursor child : before) statement(child);
  if (kind == CXCursor_ReturnStmt) {
    for (const CXCursor part : expressions_of(last)) value(part);
    returned_ = unknown("a value returned early");
    has_returned_ = true;
  }
  frame_ = outside;
  Term stays = negated(*condition);
  stays.text = condition->text;
  return stays;
}

bool Reader::is_directly_in_loop() const {
  int blocks = 0;
  for (const Frame* frame = frame_; frame; frame = frame->parent) {
    if (frame->loop) return blocks <= 1;
    if (!frame->condition)
      ++blocks;
    else if (frame->condition->operation != Operation::negation || blocks > 0)
      return false;
  }
  return false;
}

bool Reader::is_outside_loops() const {
  int blocks = 0;
  for (const Frame* frame = frame_; frame && frame != base_; frame = frame->parent) {
    if (frame->loop) return false;
    if (!frame->condition && !frame->region) ++blocks;
  }
  return blocks <= 2;
}

void Reader::leave(CXCursor cursor, const std::string& reason) {
  Loop* of = loop();
  if (of && of->unknown.empty()) of->unknown = fmt::format("{} in line {}", reason, line(cursor));
}

void Reader::give_back(CXCursor cursor) {
  Term result = unknown(source_.text(cursor));
  for (const CXCursor part : expressions_of(cursor)) {
    if (base_ && is_reference(result_type_)) {
      if (auto of = place(part); of && !has_returned_) returned_place_ = frozen(std::move(*of));
      if (!returned_place_) trouble_with(cursor, "nothing is known of the location");
    } else {
      result = value(part);
    }
  }
  const bool early = has_returned_ || !is_outside_loops();
  const Cursors parts = expressions_of(cursor);
  if (!early && parts.size() == 1 && keeps(parts.front(), result_type_))
    returned_ = frozen(result);
  else
    returned_ = unknown(early ? "a value returned early" : source_.text(cursor));
  for (const Frame* frame = frame_; frame && frame != base_; frame = frame->parent)
    if (frame->loop || (base_ && frame->condition)) {
      trouble(cursor, "`return` leaves the loop");
      break;
    }
}

}  // namespace slicer
