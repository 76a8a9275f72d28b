#include "reading.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "types.hpp"

namespace slicer {
namespace {

/// The only element of a list, as in View<T, 1> b(a) within a template; otherwise the expression
/// itself.
CXCursor first_of(CXCursor cursor) {
  const Cursors parts = expressions_of(cursor);
  const bool is_list = clang_getCursorKind(cursor) == CXCursor_UnexposedExpr ||
                       clang_getCursorKind(cursor) == CXCursor_InitListExpr;
  return is_list && parts.size() == 1 ? parts.front() : cursor;
}

/// Whether an expression computes a new value, rather than naming an existing location.
bool is_result(CXCursor cursor) {
  cursor = stripped(cursor);
  switch (clang_getCursorKind(cursor)) {
    case CXCursor_IntegerLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_LambdaExpr:
    case CXCursor_InitListExpr:
      return true;
    case CXCursor_CallExpr: {
      const CXCursor callee = clang_getCursorReferenced(cursor);
      const CXType type = clang_getCursorResultType(callee);
      return clang_getCursorKind(callee) == CXCursor_Constructor ||
             (type.kind != CXType_Invalid && !is_reference(type));
    }
    default:
      return false;
  }
}

/// Whether an expression contains an array or a pointer.
bool leads_to_elements(CXCursor cursor) {
  const Cursors parts = expressions_of(cursor);
  return is_array_type(clang_getCursorType(cursor)) ||
         std::any_of(parts.begin(), parts.end(), leads_to_elements);
}

/// Whether two pointers lead to elements of the same type. In C, a `void*` becomes any pointer.
/// A template parameter stands for a number, and pointers to numbers are not converted in C++.
bool leads_to_same(CXType one, CXType other) {
  const auto element = [](CXType type) {
    type = without_reference(type);
    if (type.kind == CXType_Pointer) return clang_getCanonicalType(clang_getPointeeType(type));
    return clang_getCanonicalType(clang_getArrayElementType(type));
  };
  const auto is_raw = [](CXType type) {
    return without_reference(type).kind == CXType_Pointer || is_c_array_type(type);
  };
  if (!is_raw(one) || !is_raw(other)) return true;
  const auto name = [&](CXType type) {
    std::string text = text_of(clang_getTypeSpelling(element(type)));
    for (const std::string word : {"const ", "volatile ", "restrict "})
      for (std::size_t at; (at = text.find(word)) != text.npos;) text.erase(at, word.size());
    return text;
  };
  const std::string parameter = name(one);
  return parameter == name(other) || parameter.starts_with("type-parameter-");
}

/// Whether a parameter of this type is a copy of its argument.
bool is_copied(CXType type) {
  return !is_reference(type) && !is_view_type(type) && !is_c_array_type(type) &&
         !is_proxy_array_type(type);
}

}  // namespace

Frame* Reader::enter() {
  function_.frames.push_back({});
  function_.frames.back().parent = frame_;
  return frame_ = &function_.frames.back();
}

void Reader::enter_if(Term condition) { enter()->condition = std::move(condition); }

Loop* Reader::loop() const {
  for (const Frame* frame = frame_; frame; frame = frame->parent)
    if (frame->loop) return frame->loop;
  return nullptr;
}

void Reader::trouble(CXCursor cursor, const std::string& reason) {
  function_.troubles.push_back({frame_, line(cursor), reason, cursor, function_.accesses.size()});
}

int Reader::line(CXCursor cursor) const {
  return source_.has(cursor) ? source_.line(cursor) : line_of_call_;
}

void Reader::assume(CXCursor cursor, std::string text) {
  function_.assumptions.push_back({frame_, line(cursor), std::move(text)});
}

bool Reader::keeps(CXCursor cursor, CXType type) {
  const CXType given = clang_getCursorType(stripped(cursor));
  if (!holds(type, given)) return false;
  if (loop() && bits_of(type) < bits_of(given))
    assume(cursor, fmt::format("`{}` fits into the type `{}`", source_.text(cursor),
                               text_of(clang_getTypeSpelling(without_reference(type)))));
  return true;
}

void Reader::assume_number(CXCursor cursor) {
  if (const auto line = facts_.made_for_others(function_.declaration))
    trouble(cursor,
            fmt::format("line {} instantiates a template with types that are not numbers", *line));
  assume(cursor, "template parameters stand for numbers, and not for bool");
}

void Reader::trouble_with(CXCursor cursor, const std::string& what) {
  trouble(cursor, fmt::format("{} `{}`", what, source_.text(cursor)));
}

Variable* Reader::add(std::string name) {
  function_.variables.push_back({});
  function_.variables.back().name = std::move(name);
  return &function_.variables.back();
}

Variable* Reader::declare(CXCursor declaration) {
  const CXType type = clang_getCursorType(declaration);
  Variable* variable = add(text_of(clang_getCursorSpelling(declaration)));
  variable->declaration = clang_getCanonicalCursor(declaration);
  variable->line = source_.has(declaration) ? source_.line(declaration) : 0;
  variable->is_integer = is_integer_type(type);
  variable->is_natural = is_natural_type(type);
  variable->is_array = is_array_type(type);
  variable->is_view = is_view_type(type);
  variable->is_constant = is_constant_type(type) && !is_reference(type);
  variable->is_object = is_copied(type);
  variable->is_fixed = is_constant_type(type) || !changes_.has(declaration);
  variable->is_apart =
      !variable->is_array && !is_reference(type) && !changes_.is_addressed(declaration);
  scopes_.back().push_back({variable->declaration, variable});
  return variable;
}

Variable* Reader::declare_parameter(CXCursor declaration) {
  Variable* variable = declare(declaration);
  const CXType type = clang_getCursorType(declaration);
  // A pointer that is assigned again may lead to the same memory as another pointer. A parameter of
  // the form a[] is such a pointer.
  const bool is_pointer = is_c_array_type(type) && !is_reference(type);
  variable->is_named =
      variable->is_fixed || is_number_type(type) || (is_owner_type(type) && !is_pointer);
  variable->owns = is_copied(type) && is_owner_type(type);
  return variable;
}

Variable* Reader::find(CXCursor declaration) {
  declaration = clang_getCanonicalCursor(declaration);
  for (std::size_t s = scopes_.size(); s-- > 0;) {
    for (const auto& [known, variable] : scopes_[s])
      if (clang_equalCursors(known, declaration)) return variable;
    if (s > 0 && s + 1 == scopes_.size()) s = 1;  // the scopes of the callers are not visible
  }
  scopes_.front().push_back({declaration, nullptr});
  const std::size_t at = scopes_.front().size() - 1;
  const CXCursorKind parent = clang_getCursorKind(clang_getCursorSemanticParent(declaration));
  const CXLinkageKind linkage = clang_getCursorLinkage(declaration);
  const bool is_local = clang_getCursorKind(declaration) == CXCursor_VarDecl &&
                        parent != CXCursor_Namespace && parent != CXCursor_TranslationUnit &&
                        linkage != CXLinkage_External && linkage != CXLinkage_UniqueExternal;
  const CXType type = clang_getCursorType(declaration);
  Variable* variable = add(text_of(clang_getCursorSpelling(declaration)));
  variable->declaration = declaration;
  variable->is_object = is_copied(type) || is_c_array_type(type);
  variable->is_integer = is_integer_type(type);
  variable->is_natural = is_natural_type(type);
  variable->is_array = is_array_type(type);
  variable->is_view = is_view_type(type);
  variable->is_constant = is_constant_type(type) && !is_reference(type);
  variable->is_fixed = is_constant_type(type) ||
                       clang_getCursorKind(declaration) == CXCursor_NonTypeTemplateParameter;
  variable->owns = is_owner_type(type);
  // A reference, and a global pointer that the file assigns again, may lead to any memory.
  const bool is_seated = !is_local && facts_.reseated(declaration).has_value();
  variable->is_named = !is_local && !is_seated;
  variable->is_stray = (is_local || is_seated) && is_reference(type);
  variable->is_of_thread =
      is_of_thread(variable->name) || clang_getCursorTLSKind(declaration) != CXTLS_None;
  scopes_.front()[at].second = variable;
  if (variable->is_integer && is_constant_type(type) && source_.can_see(declaration)) {
    const Cursors made_with = initialiser(source_, declaration);
    const Term term = made_with.size() == 1 ? quietly(made_with.front()) : Term{};
    if (stays(term)) variable->value = term;
  }
  return variable;
}

bool Reader::is_of_thread(const std::string& name) const {
  return std::any_of(source_.pragmas().begin(), source_.pragmas().end(), [&](const Pragma& pragma) {
    const std::vector<std::string> names = pragma.clause("threadprivate");
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

Variable* Reader::this_object() {
  if (!this_) {
    this_ = add("this");
    this_->is_named = true;
    this_->is_fixed = !changes_.has_this();
  }
  return this_;
}

Variable* Reader::quantity(const Place& of, const std::string& name, bool is_natural) {
  for (Variable& variable : function_.variables)
    if (variable.of && variable.name == name && variable.of->variable == of.variable &&
        variable.of->steps.size() == of.steps.size())
      return &variable;
  Variable* variable = add(name);
  variable->is_integer = true;
  variable->is_natural = is_natural;
  variable->is_fixed = of.variable->is_fixed;
  variable->frame = of.variable->frame;
  variable->of = of;
  return variable;
}

Term Reader::frozen(Term term) {
  if (term.operation == Operation::constant || term.operation == Operation::unknown) return term;
  Variable* variable = add(term.text);
  variable->is_integer = variable->is_fixed = true;
  variable->frame = frame_;
  variable->value = std::move(term);
  return symbol(variable);
}

Place Reader::frozen(Place place) {
  for (Step& step : place.steps)
    if (step.member.empty()) step.index = frozen(step.index);
  if (place.offset) place.offset = frozen(*place.offset);
  return place;
}

void Reader::bind(Variable& variable, CXType type, const Cursors& made_with, bool is_parameter) {
  const bool is_pointer = is_view_type(type) || (is_parameter && is_c_array_type(type));
  const bool is_name = is_reference(type) || (is_pointer && variable.is_fixed);
  if (is_name && made_with.size() == 1)
    if (auto of = is_reference(type) ? place(first_of(made_with.front()))
                                     : led_to(first_of(made_with.front()));
        of && (is_reference(type) ||
               (lasts(*of, clang_getCursorType(stripped(made_with[0]))) &&
                leads_to_same(type, clang_getCursorType(stripped(made_with[0])))))) {
      variable.alias = frozen(std::move(*of));
      return;
    }
  variable.owns =
      (is_owner_type(type) && !is_reference(type) && !is_pointer) ||
      (is_pointer && variable.is_fixed && made_with.size() == 1 && makes_memory(made_with.front()));
  variable.is_pointer = is_pointer;
  if (is_proxy_array_type(type)) {
    // A class that is constructed from an array may refer to the elements of this array.
    variable.is_named = std::none_of(made_with.begin(), made_with.end(), leads_to_elements);
    assume(made_with.empty() ? variable.declaration : made_with.front(),
           fmt::format("elements of `{}` are those that its class says", variable.name));
  }
  Term only;
  for (const CXCursor part : made_with) only = value(part);
  variable.is_stray = is_reference(type) && (made_with.size() != 1 || !is_result(made_with[0]));
  if (made_with.size() == 1 && variable.is_integer && variable.is_fixed && is_known(only) &&
      keeps(made_with.front(), type)) {
    variable.value = std::move(only);
    variable.made_at = function_.accesses.size();
  }
}

bool Reader::lasts(const Place& place, CXType type) const {
  const bool leads = is_view_type(type);
  return place.variable->is_fixed || (place.steps.empty() && !leads);
}

}  // namespace slicer
