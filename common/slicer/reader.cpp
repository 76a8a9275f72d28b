#include "reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "types.hpp"

namespace slicer {
namespace {

using Cursors = std::vector<CXCursor>;

bool is_expression(CXCursor cursor) {
  const CXCursorKind kind = clang_getCursorKind(cursor);
  return clang_isExpression(kind);
}

bool is_statement(CXCursor cursor) { return clang_isStatement(clang_getCursorKind(cursor)); }

Cursors expressions_of(CXCursor cursor) {
  Cursors children = children_of(cursor);
  std::erase_if(children, [](CXCursor child) {
    return !is_expression(child) || clang_getCursorKind(child) == CXCursor_OverloadedDeclRef;
  });
  return children;
}

/// An expression without parentheses and implicit casts around it.
CXCursor stripped(CXCursor cursor) {
  for (;;) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    if (kind != CXCursor_UnexposedExpr && kind != CXCursor_ParenExpr) return cursor;
    const Cursors children = expressions_of(cursor);
    if (children.size() != 1) return cursor;
    cursor = children.front();
  }
}

Term constant(long value) { return {Operation::constant, value, nullptr, {}, {}}; }
Term symbol(Variable* variable) { return {Operation::symbol, 0, variable, variable->name, {}}; }
Term unknown(std::string text) { return {Operation::unknown, 0, nullptr, std::move(text), {}}; }
Term made(Operation operation, std::vector<Term> operands) {
  return {operation, 0, nullptr, {}, std::move(operands)};
}
Term negated(Term term) { return made(Operation::negation, {std::move(term)}); }

bool mentions(const Term& term, const Variable* variable) {
  return (term.operation == Operation::symbol && term.symbol == variable) ||
         std::any_of(term.operands.begin(), term.operands.end(),
                     [&](const Term& operand) { return mentions(operand, variable); });
}

bool is_known(const Term& term) {
  return term.operation != Operation::unknown &&
         std::all_of(term.operands.begin(), term.operands.end(), is_known);
}

/// Whether a term is known and never changes.
bool stays(const Term& term) {
  return is_known(term) && (!term.symbol || term.symbol->is_fixed) &&
         std::all_of(term.operands.begin(), term.operands.end(), stays);
}

/// How much a term grows with a variable, if it does so evenly.
std::optional<long> slope(const Term& term, const Variable* variable) {
  if (!mentions(term, variable)) return 0;
  if (term.operation == Operation::symbol) return 1;
  std::vector<long> slopes;
  for (const Term& operand : term.operands) {
    const auto of_operand = slope(operand, variable);
    if (!of_operand) return {};
    slopes.push_back(*of_operand);
  }
  if (term.operation == Operation::sum) return slopes[0] + slopes[1];
  if (term.operation == Operation::difference) return slopes[0] - slopes[1];
  if (term.operation == Operation::product) {
    if (term.operands[0].operation == Operation::constant)
      return term.operands[0].value * slopes[1];
    if (term.operands[1].operation == Operation::constant)
      return term.operands[1].value * slopes[0];
  }
  return {};
}

/// Whether a condition once false stays so as a loop counts on.
bool bounds(const Term& condition, const Variable* variable, long step) {
  if (condition.operation == Operation::both)
    return bounds(condition.operands[0], variable, step) &&
           bounds(condition.operands[1], variable, step);
  if (condition.operation == Operation::negation &&
      condition.operands[0].operation == Operation::less)
    return bounds(made(Operation::at_most,
                       {condition.operands[0].operands[1], condition.operands[0].operands[0]}),
                  variable, step);
  if (condition.operation != Operation::less && condition.operation != Operation::at_most)
    return false;
  const auto left = slope(condition.operands[0], variable);
  const auto right = slope(condition.operands[1], variable);
  return left && right && (*right - *left) * step < 0;
}

/// Whether a function is made of a template, and not written as a case of its own.
bool is_made_of(CXCursor function, CXCursor pattern) {
  const auto is_at = [&](CXCursor other) {
    return clang_equalLocations(clang_getCursorLocation(function), clang_getCursorLocation(other));
  };
  return is_at(pattern) || is_at(clang_getCursorDefinition(pattern));
}

/// Reads one function, with what it calls within the same file and the headers of the project.
class Reader {
 public:
  using Named = std::map<std::string, Cursors>;  ///< functions that can be seen

  Reader(const Source& source, const Named& named, Function& function)
      : source_(source), named_(named), function_(function) {}

  void read(CXCursor function, CXCursor body) {
    enter();
    note_changes(body);
    for (const CXCursor child : children_of(function))
      if (clang_getCursorKind(child) == CXCursor_ParmDecl) declare_parameter(child);
    statement(body);
  }

 private:
  // --- Frames and troubles

  Frame* enter() {
    function_.frames.push_back({});
    function_.frames.back().parent = frame_;
    return frame_ = &function_.frames.back();
  }

  void enter_if(Term condition) { enter()->condition = std::move(condition); }

  /// The innermost loop that is read.
  Loop* loop() const {
    for (const Frame* frame = frame_; frame; frame = frame->parent)
      if (frame->loop) return frame->loop;
    return nullptr;
  }

  void trouble(CXCursor cursor, const std::string& reason) {
    function_.troubles.push_back({frame_, line(cursor), reason});
  }

  /// The line of the file itself: what is in a header has that of the call.
  int line(CXCursor cursor) const {
    return source_.has(cursor) ? source_.line(cursor) : line_of_call_;
  }

  void trouble_with(CXCursor cursor, const std::string& what) {
    trouble(cursor, fmt::format("{} `{}`", what, source_.text(cursor)));
  }

  // --- Variables

  Variable* add(std::string name) {
    function_.variables.push_back({});
    function_.variables.back().name = std::move(name);
    return &function_.variables.back();
  }

  /// Notes which variables a function may change behind their declarations.
  void note_changes(CXCursor cursor) {
    for (const CXCursor child : children_of(cursor)) {
      const CXCursorKind kind = clang_getCursorKind(child);
      const std::string name = text_of(clang_getCursorSpelling(child));
      const bool assigns =
          kind == CXCursor_CompoundAssignOperator || kind == CXCursor_UnaryOperator ||
          (kind == CXCursor_BinaryOperator && operator_of(child) == "=") ||
          (kind == CXCursor_CallExpr && name.starts_with("operator") && name.ends_with("="));
      const Cursors operands = expressions_of(child);
      if (assigns && !operands.empty() && !is_plain_unary(child)) note_root(operands.front());
      if (kind == CXCursor_UnaryOperator && operator_of(child) == "&")
        if (const CXCursor of = stripped(operands.front());
            clang_getCursorKind(of) == CXCursor_DeclRefExpr)
          addressed_.push_back(clang_getCursorReferenced(of));
      if (kind == CXCursor_CallExpr && !name.starts_with("operator")) note_arguments(operands);
      if (kind == CXCursor_LambdaExpr) note_all(child);
      if (kind == CXCursor_VarDecl &&
          is_reference(clang_getCursorType(child)))  // may be a second name that changes it
        for (const CXCursor made_with : initialiser(child)) note_root(made_with);
      note_changes(child);
    }
  }

  bool is_plain_unary(CXCursor cursor) const {
    if (clang_getCursorKind(cursor) != CXCursor_UnaryOperator) return false;
    const std::string operation = operator_of(cursor);
    return operation == "-" || operation == "+" || operation == "!" || operation == "~" ||
           operation == "*";
  }

  void note_arguments(const Cursors& operands) {
    if (operands.empty()) return;
    const CXCursor callee = stripped(operands.front());
    if (clang_getCursorKind(callee) == CXCursor_MemberRefExpr) {
      const std::string method = last_word(callee);
      const bool looks = method == "extent" || method == "size" || method == "row";
      if (!looks) note_root(callee);
    } else if (is_array_type(clang_getCursorType(callee))) {
      return;  // an element
    }
    const CXCursor declaration = declaration_of(callee, operands.size() - 1);
    if (is_pure(callee, text_of(clang_getCursorSpelling(declaration)))) return;
    Cursors parameters = children_of(declaration);
    std::erase_if(parameters,
                  [](CXCursor child) { return clang_getCursorKind(child) != CXCursor_ParmDecl; });
    for (std::size_t a = 1; a < operands.size(); ++a) {
      const bool is_declared = parameters.size() + 1 == operands.size();
      if (!is_declared || may_change(clang_getCursorType(parameters[a - 1])))
        note_root(operands[a]);
    }
  }

  /// Whether a function may change what is given for a parameter.
  static bool may_change(CXType parameter) {
    return is_reference(parameter) && !is_constant_type(parameter);
  }

  void note_root(CXCursor cursor) {
    cursor = stripped(cursor);
    const CXCursorKind kind = clang_getCursorKind(cursor);
    if (kind == CXCursor_DeclRefExpr)
      changed_.push_back(clang_getCursorReferenced(cursor));
    else if (kind == CXCursor_MemberRefExpr || kind == CXCursor_UnaryOperator ||
             kind == CXCursor_ConditionalOperator)
      for (const CXCursor child : expressions_of(cursor)) note_root(child);
  }

  void note_all(CXCursor cursor) {
    for (const CXCursor child : children_of(cursor)) {
      note_root(child);
      note_all(child);
    }
  }

  bool is_changed(CXCursor declaration) const {
    return std::any_of(changed_.begin(), changed_.end(),
                       [&](CXCursor changed) { return clang_equalCursors(changed, declaration); });
  }

  /// A variable that a declaration makes, with what its type says.
  Variable* declare(CXCursor declaration) {
    const CXType type = clang_getCursorType(declaration);
    Variable* variable = add(text_of(clang_getCursorSpelling(declaration)));
    variable->is_integer = is_integer_type(type);
    variable->is_natural = is_natural_type(type);
    variable->is_array = is_array_type(type);
    variable->is_fixed = is_constant_type(type) || !is_changed(declaration);
    variable->is_apart = !variable->is_array && !is_reference(type) &&
                         std::none_of(addressed_.begin(), addressed_.end(), [&](CXCursor of) {
                           return clang_equalCursors(of, declaration);
                         });
    scopes_.back().push_back({declaration, variable});
    return variable;
  }

  Variable* declare_parameter(CXCursor declaration) {
    Variable* variable = declare(declaration);
    variable->is_named = true;
    return variable;
  }

  /// The variable that a name refers to. One that is not declared in what was read lies outside.
  Variable* find(CXCursor declaration) {
    for (std::size_t s = scopes_.size(); s-- > 0;) {
      for (const auto& [known, variable] : scopes_[s])
        if (clang_equalCursors(known, declaration)) return variable;
      if (s > 0 && s + 1 == scopes_.size()) s = 1;  // those of callers are not seen
    }
    scopes_.front().push_back({declaration, nullptr});
    const std::size_t at = scopes_.front().size() - 1;
    const CXCursorKind parent = clang_getCursorKind(clang_getCursorSemanticParent(declaration));
    const bool is_local = clang_getCursorKind(declaration) == CXCursor_VarDecl &&
                          parent != CXCursor_Namespace && parent != CXCursor_TranslationUnit;
    const CXType type = clang_getCursorType(declaration);
    Variable* variable = add(text_of(clang_getCursorSpelling(declaration)));
    variable->is_integer = is_integer_type(type);
    variable->is_natural = is_natural_type(type);
    variable->is_array = is_array_type(type);
    variable->is_fixed = is_constant_type(type) ||
                         clang_getCursorKind(declaration) == CXCursor_NonTypeTemplateParameter;
    variable->owns = is_owner_type(type);
    variable->is_named = !is_local;
    scopes_.front()[at].second = variable;
    if (variable->is_integer && is_constant_type(type) && source_.can_see(declaration)) {
      const Cursors made_with = initialiser(declaration);
      const Term term = made_with.size() == 1 ? quietly(made_with.front()) : Term{};
      if (stays(term)) variable->value = term;
    }
    return variable;
  }

  Variable* this_object() {
    if (!this_) {
      this_ = add("this");
      this_->is_named = true;
    }
    return this_;
  }

  /// A quantity that stays as it is with what it belongs to.
  Variable* quantity(const Place& of, const std::string& name, bool is_natural) {
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

  /// A term as it is now, where it stands for itself later.
  Term frozen(Term term) {
    if (term.operation == Operation::constant || term.operation == Operation::unknown) return term;
    Variable* variable = add(term.text);
    variable->is_integer = variable->is_fixed = true;
    variable->frame = frame_;
    variable->value = std::move(term);
    return symbol(variable);
  }

  Place frozen(Place place) {
    for (Step& step : place.steps)
      if (step.member.empty()) step.index = frozen(step.index);
    return place;
  }

  // --- Tokens where the C interface of libclang is blind

  std::string last_word(CXCursor cursor) const {
    const std::string spelling = text_of(clang_getCursorSpelling(cursor));
    if (!spelling.empty()) return spelling;
    int depth = 0;
    std::string word;
    for (const Token& token : source_.tokens(source_.range(cursor))) {
      if (token == "(" || token == "[") ++depth;
      if (token == ")" || token == "]") --depth;
      if (token == "<") break;
      const bool is_name = std::isalpha(token.text.front()) || token.text.front() == '_';
      if (depth == 0 && is_name && !(token == "template")) word = token.text;
    }
    return word;
  }

  /// The operator of an expression with one or two operands.
  std::string operator_of(CXCursor cursor) const {
    const Cursors operands = expressions_of(cursor);
    if (operands.empty() || source_.is_macro(cursor)) return {};
    const Range whole = source_.range(cursor), first = source_.range(operands.front());
    Range between{whole.first, first.first};
    if (operands.size() > 1)
      between = {first.last, source_.range(operands[1]).first};
    else if (first.first == whole.first)
      between = {first.last, whole.last};
    for (const Token& token : source_.tokens(between))
      if (!(token == "(") && !(token == ")")) return token.text;
    return {};
  }

  /// What a variable is made with.
  Cursors initialiser(CXCursor declaration) const {
    const unsigned name = source_.place(clang_getCursorLocation(declaration));
    const Range whole = source_.range(declaration);
    int depth = 0;
    unsigned first = whole.last;
    const std::vector<Token> tokens = source_.tokens({name, whole.last});
    const std::size_t behind = tokens.empty() || !(tokens.front() == "[") ? 1 : 0;
    for (std::size_t t = behind; t < tokens.size() && first == whole.last; ++t) {
      if (depth == 0 && (tokens[t] == "=" || tokens[t] == "(" || tokens[t] == "{"))
        first = tokens[t].range.first;
      depth += (tokens[t] == "[") - (tokens[t] == "]");
    }
    Cursors children = expressions_of(declaration);
    std::erase_if(children, [&](CXCursor child) { return source_.range(child).first < first; });
    return children;
  }

  // --- Places

  /// The place that an expression names, if it is one. What its subscripts read is noted.
  std::optional<Place> place(CXCursor cursor) {
    cursor = stripped(cursor);
    if (source_.is_macro(cursor)) return {};
    switch (clang_getCursorKind(cursor)) {
      case CXCursor_DeclRefExpr:
        return named(cursor);
      case CXCursor_CXXThisExpr:
        return Place{this_object(), {}, {}};
      case CXCursor_MemberRefExpr:
        return member(cursor);
      case CXCursor_ArraySubscriptExpr: {
        const Cursors operands = expressions_of(cursor);
        return element(operands[0], {operands[1]}, false);
      }
      case CXCursor_UnaryOperator: {
        if (operator_of(cursor) != "*") return {};
        auto of = place(expressions_of(cursor).front());
        if (!of) return {};
        of->steps.push_back({{}, constant(0), false});
        return of;
      }
      case CXCursor_CallExpr:
        return called_place(cursor);
      default:
        return {};
    }
  }

  std::optional<Place> named(CXCursor cursor) {
    const CXCursor declaration = clang_getCursorReferenced(cursor);
    switch (clang_getCursorKind(declaration)) {
      case CXCursor_VarDecl:
      case CXCursor_ParmDecl:
      case CXCursor_UnexposedDecl:
      case CXCursor_NonTypeTemplateParameter:
        break;
      default:
        return {};
    }
    Variable* variable = find(declaration);
    return variable->alias ? *variable->alias : Place{variable, {}, {}};
  }

  std::optional<Place> member(CXCursor cursor) {
    const CXCursorKind referenced = clang_getCursorKind(clang_getCursorReferenced(cursor));
    if (referenced == CXCursor_CXXMethod || referenced == CXCursor_FunctionTemplate ||
        referenced == CXCursor_ConversionFunction)
      return {};
    const Cursors base = expressions_of(cursor);
    std::optional<Place> of = Place{this_object(), {}, {}};
    if (!base.empty()) of = place(base.front());
    if (!of) return {};
    if (!base.empty() && clang_getCursorKind(stripped(base.front())) != CXCursor_CXXThisExpr) {
      const Range behind{source_.range(base.front()).last, source_.range(cursor).last};
      const std::vector<Token> tokens = source_.tokens(behind);
      if (!tokens.empty() && tokens.front() == "->") of->steps.push_back({{}, constant(0), false});
    }
    if (clang_getCursorKind(clang_getCursorSemanticParent(clang_getCursorReferenced(cursor))) ==
        CXCursor_UnionDecl) {
      loosen(*of, "members of a union share memory");
      return of;
    }
    of->steps.push_back({last_word(cursor), {}, false});
    return of;
  }

  static void loosen(Place& place, const std::string& why) {
    place.unsure = why;
    place.is_loose = true;
  }

  std::optional<Place> element(CXCursor base, const Cursors& subscripts, bool in_call) {
    auto of = place(base);
    if (!of) return {};
    const bool is_row = std::any_of(of->steps.begin(), of->steps.end(), [](const Step& step) {
      return step.member.empty() && !step.is_row;
    });
    if (is_row && !is_owner_type(clang_getCursorType(stripped(base))))
      loosen(*of, fmt::format("rows of `{}` may be the same memory", of->variable->name));
    for (const CXCursor subscript : subscripts) {
      Term index = value(subscript);
      if (index.text.empty()) index.text = source_.text(subscript);
      of->steps.push_back({{}, std::move(index), in_call});
    }
    return of;
  }

  /// An element by a call, as in a(i, j), a row, or a view made of a whole array.
  std::optional<Place> called_place(CXCursor cursor) {
    const CXCursor called = clang_getCursorReferenced(cursor);
    const std::string name = text_of(clang_getCursorSpelling(called));
    const CXCursorKind kind = clang_getCursorKind(called);
    if (name == "operator[]" || name == "operator()" || name == "operator*") {
      const Cursors arguments = arguments_of(cursor);
      if (arguments.empty() || !is_array_type(clang_getCursorType(stripped(arguments.front()))))
        return {};
      return element(arguments.front(), {arguments.begin() + 1, arguments.end()},
                     name == "operator()");
    }
    if (kind == CXCursor_Constructor || kind == CXCursor_ConversionFunction) {
      const Cursors arguments = kind == CXCursor_Constructor
                                    ? arguments_of(cursor)
                                    : expressions_of(expressions_of(cursor).front());
      if (arguments.size() != 1 || !is_view_type(clang_getCursorType(cursor))) return {};
      return is_array_type(clang_getCursorType(stripped(arguments.front())))
                 ? place(arguments.front())
                 : std::nullopt;
    }
    const Cursors parts = expressions_of(cursor);
    if (parts.empty()) return {};
    const CXCursor callee = stripped(parts.front());
    const Cursors arguments(parts.begin() + 1, parts.end());
    if (clang_getCursorKind(callee) == CXCursor_MemberRefExpr) {
      const Cursors base = expressions_of(callee);
      if (base.size() == 1 && last_word(callee) == "row" &&
          is_matrix_type(clang_getCursorType(stripped(base.front())))) {
        auto row = element(base.front(), arguments, true);
        if (row)
          for (std::size_t a = 1; a <= arguments.size(); ++a)
            row->steps[row->steps.size() - a].is_row = true;
        return row;
      }
      return member_is_array(callee) ? element(callee, arguments, true) : std::nullopt;
    }
    if (clang_getCursorKind(callee) != CXCursor_DeclRefExpr ||
        !is_matrix_type(clang_getCursorType(callee)))
      return {};
    return element(callee, arguments, true);
  }

  /// Whether what is called is a member that is an array, as in s.a(i, j), by the class's
  /// definition.
  bool member_is_array(CXCursor callee) const {
    const Cursors base = expressions_of(callee);
    if (base.size() != 1) return false;
    const CXCursor variable = clang_getCursorReferenced(stripped(base.front()));
    for (const CXCursor part : children_of(variable)) {
      if (clang_getCursorKind(part) != CXCursor_TemplateRef &&
          clang_getCursorKind(part) != CXCursor_TypeRef)
        continue;
      for (const CXCursor field : children_of(clang_getCursorReferenced(part)))
        if (clang_getCursorKind(field) == CXCursor_FieldDecl &&
            text_of(clang_getCursorSpelling(field)) == last_word(callee))
          return is_matrix_type(clang_getCursorType(field));
    }
    return false;
  }

  Cursors arguments_of(CXCursor call) const {
    Cursors arguments;
    const int count = clang_Cursor_getNumArguments(call);
    for (int a = 0; a < count; ++a) arguments.push_back(clang_Cursor_getArgument(call, a));
    return arguments;
  }

  // --- Accesses

  void access(CXCursor cursor, const Place& place, bool is_write, Update update = Update::none) {
    function_.accesses.push_back(
        {place, is_write, frame_, line(cursor), source_.text(cursor), update, is_atomic_});
  }

  /// Reads a place, whose value may be followed if it is an integer.
  Term read(CXCursor cursor, const Place& place) {
    access(cursor, place, false);
    const bool is_integer = is_integer_type(clang_getCursorType(stripped(cursor)));
    const bool is_part = std::any_of(place.steps.begin(), place.steps.end(),
                                     [](const Step& step) { return step.member.empty(); });
    if (place.steps.empty() && place.variable->is_integer) return symbol(place.variable);
    if (!is_integer || is_part || !place.unsure.empty()) return unknown(source_.text(cursor));
    const bool is_natural = is_natural_type(clang_getCursorType(stripped(cursor)));
    return symbol(quantity(place, source_.text(cursor), is_natural));
  }

  // --- Values

  Term value(CXCursor cursor) {
    if (clang_getCursorKind(cursor) == CXCursor_UnexposedExpr && is_pack(cursor))
      trouble_with(cursor, "the expression");
    cursor = stripped(cursor);
    const std::string text = source_.text(cursor);
    if (source_.is_macro(cursor)) {
      if (clang_getCursorKind(cursor) != CXCursor_IntegerLiteral &&
          clang_getCursorKind(cursor) != CXCursor_FloatingLiteral)
        trouble_with(cursor, "the macro");
      return unknown(text);
    }
    if (const auto where = place(cursor)) return read(cursor, *where);
    switch (clang_getCursorKind(cursor)) {
      case CXCursor_IntegerLiteral:
        return literal(cursor);
      case CXCursor_DeclRefExpr:
        return enumerator(cursor);
      case CXCursor_FloatingLiteral:
      case CXCursor_CharacterLiteral:
      case CXCursor_StringLiteral:
      case CXCursor_CXXBoolLiteralExpr:
      case CXCursor_CXXNullPtrLiteralExpr:
      case CXCursor_UnaryExpr:  // sizeof
      case CXCursor_SizeOfPackExpr:
        return unknown(text);
      case CXCursor_BinaryOperator:
        return binary(cursor);
      case CXCursor_UnaryOperator:
        return unary(cursor);
      case CXCursor_CompoundAssignOperator:
        assign(cursor, false);
        return unknown(text);
      case CXCursor_ConditionalOperator:
        return choice(cursor);
      case CXCursor_CXXStaticCastExpr:
      case CXCursor_CXXFunctionalCastExpr:
      case CXCursor_CXXConstCastExpr:
      case CXCursor_CStyleCastExpr:
        return cast(cursor);
      case CXCursor_InitListExpr:
        return all_of(cursor);
      case CXCursor_CallExpr:
        return call(cursor);
      case CXCursor_MemberRefExpr:
        return all_of(cursor);
      case CXCursor_UnexposedExpr:
        return unexposed(cursor);
      default:
        trouble_with(cursor, "the expression");
        return unknown(text);
    }
  }

  /// Whether a kernel is called for many threads.
  bool is_launch(CXCursor cursor) const {
    const std::vector<Token> tokens = source_.tokens(source_.range(cursor));
    return std::find_if(tokens.begin(), tokens.end(),
                        [](const Token& token) { return token == "<<<"; }) != tokens.end();
  }

  bool is_pack(CXCursor cursor) const {
    const std::vector<Token> tokens = source_.tokens(source_.range(cursor));
    return std::find_if(tokens.begin(), tokens.end(),
                        [](const Token& token) { return token == "..."; }) != tokens.end();
  }

  Term all_of(CXCursor cursor) {
    Term only = unknown(source_.text(cursor));
    const Cursors parts = expressions_of(cursor);
    for (const CXCursor part : parts) {
      Term term = value(part);
      if (parts.size() == 1 && clang_getCursorKind(cursor) != CXCursor_MemberRefExpr) only = term;
    }
    return only;
  }

  /// What libclang has no name for: casts, and lists in parentheses.
  Term unexposed(CXCursor cursor) {
    const Cursors parts = expressions_of(cursor);
    const std::vector<Token> tokens = source_.tokens(source_.range(cursor));
    const bool is_list = !tokens.empty() && (tokens.front() == "(" || tokens.front() == "{");
    if (parts.size() > 1 && !is_list) {
      trouble_with(cursor, "the expression");
      return unknown(source_.text(cursor));
    }
    return all_of(cursor);
  }

  Term literal(CXCursor cursor) {
    const std::vector<Token> tokens = source_.tokens(source_.range(cursor));
    std::string digits = tokens.empty() ? "" : tokens.front().text;
    std::erase(digits, '\'');
    const bool is_binary = digits.starts_with("0b") || digits.starts_with("0B");
    try {
      return constant(is_binary ? std::stol(digits.substr(2), nullptr, 2)
                                : std::stol(digits, nullptr, 0));
    } catch (const std::exception&) {
      return unknown(source_.text(cursor));
    }
  }

  Term enumerator(CXCursor cursor) {
    const CXCursor declaration = clang_getCursorReferenced(cursor);
    if (clang_getCursorKind(declaration) == CXCursor_EnumConstantDecl)
      return constant(clang_getEnumConstantDeclValue(declaration));
    return unknown(source_.text(cursor));
  }

  Term cast(CXCursor cursor) {
    const Cursors parts = expressions_of(cursor);
    Term of = unknown(source_.text(cursor));
    for (const CXCursor part : parts) of = value(part);
    if (parts.size() == 1 && is_wide_integer_type(clang_getCursorType(cursor)) &&
        is_integer_type(clang_getCursorType(stripped(parts.front()))))
      return of;
    return unknown(source_.text(cursor));
  }

  Term choice(CXCursor cursor) {
    const Cursors parts = expressions_of(cursor);
    Frame* const outside = frame_;
    Term condition = value(parts[0]);
    enter_if(condition);
    Term one = value(parts[1]);
    frame_ = outside;
    enter_if(negated(condition));
    Term other = value(parts[2]);
    frame_ = outside;
    return made(Operation::choice, {std::move(condition), std::move(one), std::move(other)});
  }

  Term unary(CXCursor cursor) {
    const std::string operation = operator_of(cursor);
    const CXCursor operand = expressions_of(cursor).front();
    if (operation == "++" || operation == "--") return count(cursor, false);
    if (operation == "&") {
      if (!place(operand)) trouble_with(cursor, "the address");
      return unknown(source_.text(cursor));
    }
    Term of = value(operand);
    if (operation == "-") return made(Operation::difference, {constant(0), std::move(of)});
    if (operation == "+") return of;
    if (operation == "!" || operation == "not") return negated(std::move(of));
    if (operation == "*") trouble_with(cursor, "what is at");
    return unknown(source_.text(cursor));
  }

  Term binary(CXCursor cursor) {
    const std::string operation = operator_of(cursor);
    const Cursors operands = expressions_of(cursor);
    if (operation == "=") {
      assign(cursor, false);
      return unknown(source_.text(cursor));
    }
    if (operation == "&&" || operation == "||" || operation == "and" || operation == "or") {
      const bool is_both = operation[0] == '&' || operation == "and";
      Term first = value(operands[0]);
      Frame* const outside = frame_;
      enter_if(is_both ? first : negated(first));
      Term second = value(operands[1]);
      frame_ = outside;
      return made(is_both ? Operation::both : Operation::either,
                  {std::move(first), std::move(second)});
    }
    return combined(cursor, operation, value(operands[0]), value(operands[1]), operands);
  }

  /// Arithmetic on two integers, and comparisons of them.
  Term combined(CXCursor cursor, const std::string& operation, Term first, Term second,
                const Cursors& operands) {
    const auto is_integer = [](CXCursor operand) {
      return is_integer_type(clang_getCursorType(stripped(operand)));
    };
    if (!is_integer(operands[0]) || !is_integer(operands[1])) {
      // Within a template a type may not be known yet; the terms then say what is an integer.
      if (!is_known(first) || !is_known(second)) return unknown(source_.text(cursor));
    }
    static const std::unordered_map<std::string, Operation> known{
        {"+", Operation::sum},      {"-", Operation::difference}, {"*", Operation::product},
        {"/", Operation::quotient}, {"%", Operation::remainder},  {"<", Operation::less},
        {"<=", Operation::at_most}, {"==", Operation::equal}};
    if (const auto found = known.find(operation); found != known.end()) {
      Term both = made(found->second, {std::move(first), std::move(second)});
      both.text = source_.text(cursor);
      return both;
    }
    if (operation == ">") return made(Operation::less, {std::move(second), std::move(first)});
    if (operation == ">=") return made(Operation::at_most, {std::move(second), std::move(first)});
    if (operation == "!=" || operation == "not_eq")
      return negated(made(Operation::equal, {std::move(first), std::move(second)}));
    if (operation.empty()) trouble_with(cursor, "the expression");
    return unknown(source_.text(cursor));
  }

  // --- Calls

  Term call(CXCursor cursor) {
    const CXCursor called = clang_getCursorReferenced(cursor);
    const std::string name = text_of(clang_getCursorSpelling(called));
    if (name.starts_with("operator") && clang_getCursorKind(called) != CXCursor_VarDecl)
      return overloaded(cursor, name.substr(8));
    if (clang_getCursorKind(called) == CXCursor_Constructor) return construct(cursor);
    if (is_launch(cursor)) {
      trouble_with(cursor, "nothing is known of the launch");
      return unknown(source_.text(cursor));
    }
    const Cursors parts = expressions_of(cursor);
    const bool is_type = clang_Cursor_getNumArguments(cursor) < 0;  // T(x), within a template
    if (parts.empty() || is_type) return all_of(cursor);
    const CXCursor callee = stripped(parts.front());
    const Cursors arguments(parts.begin() + 1, parts.end());
    if (const std::string operation = overloaded_name(parts); is_arithmetic(operation)) {
      for (const CXCursor part : parts)
        if (overloaded_name({part}).empty()) value(part);
      return unknown(source_.text(cursor));
    }
    if (clang_getCursorKind(callee) == CXCursor_MemberRefExpr) return method(cursor, callee);
    const std::string function = callee_name(callee);
    if (is_pure(callee, function)) return pure(cursor, function, arguments);
    if (const auto result = inlined(callee, arguments)) return *result;
    trouble_with(cursor, "nothing is known of the call");
    return unknown(source_.text(cursor));
  }

  /// The operator among the parts of a call that is not resolved yet, within a template.
  static std::string overloaded_name(const Cursors& parts) {
    for (const CXCursor part : parts)
      if (const CXCursor named = clang_getCursorReferenced(stripped(part));
          clang_getCursorKind(named) == CXCursor_OverloadedDeclRef)
        if (const std::string name = text_of(clang_getCursorSpelling(named));
            name.starts_with("operator"))
          return name.substr(8);
    return {};
  }

  static bool is_arithmetic(const std::string& operation) {
    return operation == "+" || operation == "-" || operation == "*" || operation == "/" ||
           operation == "<" || operation == ">" || operation == "==";
  }

  /// An operator of a class does as it says.
  Term overloaded(CXCursor cursor, const std::string& operation) {
    const std::string text = source_.text(cursor);
    if (operation == "()" || operation == "[]" || operation == "->" || operation == "*") {
      if (operation != "*" || clang_Cursor_getNumArguments(cursor) != 2) {
        trouble_with(cursor, "nothing is known of the call");
        return unknown(text);
      }
    }
    const bool assigns = operation == "=" || operation == "+=" || operation == "-=" ||
                         operation == "*=" || operation == "/=";
    if (assigns) {
      assign(cursor, false);
      return unknown(text);
    }
    if (clang_Cursor_getNumArguments(cursor) < 1) return all_of(cursor);  // a conversion
    for (const CXCursor argument : arguments_of(cursor)) value(argument);
    return unknown(text);
  }

  /// A constructor makes its object, and reads what it is given.
  Term construct(CXCursor cursor) {
    const bool is_plain = is_array_type(clang_getCursorType(cursor));
    Term only = unknown(source_.text(cursor));
    for (const CXCursor argument : arguments_of(cursor)) {
      const bool is_array = is_array_type(clang_getCursorType(stripped(argument)));
      if (is_array && !is_plain) trouble_with(cursor, "nothing is known of the call");
      value(argument);
    }
    return only;
  }

  /// An array, or a row of one: those of the same array are of the same size.
  static bool is_whole(const Place& place) {
    return !place.is_loose && std::all_of(place.steps.begin(), place.steps.end(),
                                          [](const Step& step) { return step.is_row; });
  }

  Term method(CXCursor cursor, CXCursor callee) {
    const Cursors base = expressions_of(callee), parts = expressions_of(cursor);
    const std::string name = last_word(callee);
    const bool is_quantity = base.size() == 1 &&
                             is_array_type(clang_getCursorType(stripped(base.front()))) &&
                             (name == "extent" || name == "size");
    if (is_quantity)
      if (const auto of = place(base.front()); of && is_whole(*of))
        return symbol(quantity(*of, source_.text(cursor), true));
    trouble_with(cursor, "nothing is known of the call");
    return unknown(source_.text(cursor));
  }

  std::string callee_name(CXCursor callee) const {
    return text_of(clang_getCursorSpelling(clang_getCursorReferenced(callee)));
  }

  /// The one function that a call with so many arguments is of, or what they are called if there
  /// may be several. Within a template, one that is declared elsewhere may be found as well.
  CXCursor declaration_of(CXCursor callee, std::size_t arguments) const {
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

  /// Whether a function may be called with so many arguments.
  static bool takes(CXCursor function, std::size_t arguments) {
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

  /// Whether a function of the standard library only computes.
  bool is_pure(CXCursor callee, const std::string& name) const {
    static const std::set<std::string> names{"abs",
                                             "fabs",
                                             "sqrt",
                                             "exp",
                                             "exp2",
                                             "log",
                                             "pow",
                                             "sin",
                                             "cos",
                                             "tan",
                                             "min",
                                             "max",
                                             "floor",
                                             "ceil",
                                             "round",
                                             "fma",
                                             "hypot",
                                             "fmin",
                                             "fmax",
                                             "tanh",
                                             "move",
                                             "clamp",
                                             "copysign",
                                             "isnan",
                                             "omp_get_thread_num",
                                             "omp_get_max_threads",
                                             "omp_get_num_threads"};
    if (!names.contains(name)) return false;
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

  Term pure(CXCursor cursor, const std::string& name, const Cursors& arguments) {
    std::vector<Term> terms;
    for (const CXCursor argument : arguments) terms.push_back(value(argument));
    const bool is_extreme = (name == "min" || name == "max") && terms.size() == 2;
    if (is_extreme && is_known(terms[0]) && is_known(terms[1]))
      return made(name == "min" ? Operation::minimum : Operation::maximum, std::move(terms));
    return unknown(source_.text(cursor));
  }

  /// The definition of what is called, if it can be followed.
  std::optional<CXCursor> definition_of(CXCursor callee, std::size_t arguments) const {
    CXCursor function = declaration_of(callee, arguments);
    if (const CXCursor pattern = clang_getSpecializedCursorTemplate(function);
        !clang_Cursor_isNull(pattern) && is_made_of(function, pattern))
      function = pattern;
    function = clang_getCursorDefinition(function);
    const CXCursorKind kind = clang_getCursorKind(function);
    if ((kind != CXCursor_FunctionDecl && kind != CXCursor_FunctionTemplate) ||
        !source_.can_see(function))
      return {};
    const std::vector<Token> tokens = source_.tokens(source_.range(function));
    const bool has_directives =
        std::any_of(tokens.begin(), tokens.end(), [](const Token& token) { return token == "#"; });
    if (!source_.has(function) && (has_directives || source_.is_macro(function))) return {};
    return function;
  }

  /// What a function returns whose statements are read as if they stood here: one of the same file,
  /// or of a header, if all of it can be followed.
  std::optional<Term> inlined(CXCursor callee, const Cursors& arguments) {
    const auto found = definition_of(callee, arguments.size());
    if (!found || scopes_.size() > 5) return {};
    const CXCursor function = *found;
    Cursors parameters;
    CXCursor body = clang_getNullCursor();
    for (const CXCursor child : children_of(function)) {
      if (clang_getCursorKind(child) == CXCursor_ParmDecl) parameters.push_back(child);
      if (clang_getCursorKind(child) == CXCursor_CompoundStmt) body = child;
    }
    if (parameters.size() != arguments.size() || clang_Cursor_isNull(body)) return {};
    note_changes(body);
    const std::size_t troubles = function_.troubles.size();
    const int line_of_call = std::exchange(line_of_call_, line(callee));
    Frame* const outside = frame_;
    enter();
    std::vector<std::pair<CXCursor, Variable*>> scope;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      scopes_.push_back({});
      Variable* parameter = declare(parameters[p]);
      scopes_.pop_back();
      parameter->frame = frame_;
      bind(*parameter, clang_getCursorType(parameters[p]), {arguments[p]}, true);
      scope.push_back({parameters[p], parameter});
    }
    scopes_.push_back(std::move(scope));
    const auto returned = std::exchange(returned_, Term{});
    const Frame* const base = std::exchange(base_, frame_);
    statement(body);
    base_ = base;
    Term result = std::exchange(returned_, returned);
    scopes_.pop_back();
    frame_ = outside;
    line_of_call_ = line_of_call;
    if (!source_.has(function) && function_.troubles.size() > troubles) {
      function_.troubles.erase(function_.troubles.begin() + static_cast<std::ptrdiff_t>(troubles),
                               function_.troubles.end());
      return {};
    }
    return result;
  }

  /// Gives a variable what it is made with: another name for a place, or a value.
  void bind(Variable& variable, CXType type, const Cursors& made_with, bool is_parameter = false) {
    const bool is_pointer = is_view_type(type) || (is_parameter && is_c_array_type(type));
    const bool is_name = is_reference(type) || (is_pointer && variable.is_fixed);
    if (is_name && made_with.size() == 1)
      if (auto of = place(first_of(made_with.front()))) {
        variable.alias = frozen(std::move(*of));
        return;
      }
    variable.owns = is_owner_type(type) && !is_reference(type) && !is_pointer;
    Term only;
    for (const CXCursor part : made_with) only = value(part);
    if (made_with.size() == 1 && variable.is_integer && variable.is_fixed && is_known(only))
      variable.value = std::move(only);
  }

  /// What a list of one holds, as in View<T, 1> b(a) within a template.
  CXCursor first_of(CXCursor cursor) const {
    const Cursors parts = expressions_of(cursor);
    const bool is_list = clang_getCursorKind(cursor) == CXCursor_UnexposedExpr ||
                         clang_getCursorKind(cursor) == CXCursor_InitListExpr;
    return is_list && parts.size() == 1 ? parts.front() : cursor;
  }

  // --- Assignments

  static Update update_of(const std::string& operation) {
    if (operation == "+" || operation == "-") return Update::sum;
    if (operation == "*") return Update::product;
    if (operation == "&") return Update::conjunction;
    if (operation == "|") return Update::disjunction;
    if (operation == "^") return Update::parity;
    return Update::none;
  }

  Cursors operands_of(CXCursor cursor) const {
    return clang_getCursorKind(cursor) == CXCursor_CallExpr ? arguments_of(cursor)
                                                            : expressions_of(cursor);
  }

  std::string operation_of(CXCursor cursor) const {
    if (clang_getCursorKind(cursor) != CXCursor_CallExpr) return operator_of(cursor);
    const std::string name = text_of(clang_getCursorSpelling(clang_getCursorReferenced(cursor)));
    return name.starts_with("operator") ? name.substr(8) : "";
  }

  void assign(CXCursor cursor, bool is_statement) {
    std::string operation = operation_of(cursor);
    const Cursors operands = operands_of(cursor);
    if (operands.size() != 2 || !operation.ends_with("=")) {
      trouble_with(cursor, "the assignment");
      return;
    }
    const CXCursor left = stripped(operands[0]);
    operation.pop_back();
    if (operation.empty() && is_statement && update(left, operands[1])) return;
    if (!operation.empty()) value(operands[1]);
    const auto to = place(left);
    if (!to) {
      if (operation.empty()) value(operands[1]);
      trouble_with(left, "nothing is known of the place");
      value(left);
      return;
    }
    if (operation.empty()) {
      value(operands[1]);
    } else {
      access(left, *to, false, is_statement ? update_of(operation) : Update::none);
    }
    access(left, *to, true, is_statement ? update_of(operation) : Update::none);
  }

  /// The terms of a sum or the factors of a product, with what is subtracted told apart.
  void flatten(CXCursor cursor, bool is_sum, bool is_taken, std::vector<CXCursor>& added,
               std::vector<CXCursor>& taken) const {
    cursor = stripped(cursor);
    const CXCursorKind kind = clang_getCursorKind(cursor);
    const bool may_be = kind == CXCursor_BinaryOperator || kind == CXCursor_CallExpr;
    const std::string operation = may_be ? operation_of(cursor) : "";
    const Cursors operands = operands_of(cursor);
    const bool goes_on =
        operands.size() == 2 && (is_sum ? operation == "+" || operation == "-" : operation == "*");
    if (!goes_on) {
      (is_taken ? taken : added).push_back(cursor);
      return;
    }
    flatten(operands[0], is_sum, is_taken, added, taken);
    flatten(operands[1], is_sum, is_taken != (operation == "-"), added, taken);
  }

  /// An update in the form s = s + e or s = max(s, e); returns false if it is none.
  bool update(CXCursor left, CXCursor right) {
    const std::string name = source_.text(left);
    for (const Update kind : {Update::sum, Update::product}) {
      std::vector<CXCursor> added, taken;
      flatten(right, kind == Update::sum, false, added, taken);
      if (added.size() + taken.size() > 1 && updates(left, name, kind, added, taken)) return true;
    }
    const CXCursor called = stripped(right);
    if (clang_getCursorKind(called) != CXCursor_CallExpr) return false;
    const Cursors parts = expressions_of(called);
    if (parts.size() != 3) return false;
    const std::string function = callee_name(stripped(parts[0]));
    if (function != "min" && function != "max") return false;
    if (!is_pure(stripped(parts[0]), function)) return false;
    return updates(left, name, function == "min" ? Update::minimum : Update::maximum,
                   {parts[1], parts[2]}, {});
  }

  bool updates(CXCursor left, const std::string& name, Update kind, std::vector<CXCursor> added,
               const std::vector<CXCursor>& taken) {
    const auto is_left = [&](CXCursor part) { return source_.text(part) == name; };
    if (name.ends_with("...") || std::count_if(added.begin(), added.end(), is_left) != 1 ||
        std::any_of(taken.begin(), taken.end(), is_left))
      return false;
    std::erase_if(added, is_left);
    for (const CXCursor part : added) value(part);
    for (const CXCursor part : taken) value(part);
    const auto to = place(left);
    if (!to) return false;
    access(left, *to, false, kind);
    access(left, *to, true, kind);
    return true;
  }

  Term count(CXCursor cursor, bool is_statement) {
    const CXCursor operand = stripped(expressions_of(cursor).front());
    const auto to = place(operand);
    if (to) {
      access(operand, *to, false, is_statement ? Update::sum : Update::none);
      access(operand, *to, true, is_statement ? Update::sum : Update::none);
    } else {
      trouble_with(cursor, "nothing is known of the place");
    }
    return unknown(source_.text(cursor));
  }

  // --- Statements

  void statement(CXCursor cursor) {
    Frame* const outside = frame_;
    const bool was_atomic = is_atomic_;
    const auto pragmas = source_.pragmas(source_.range(cursor).first);
    for (const Pragma* pragma : pragmas) {
      if (pragma->has("parallel")) enter()->region = pragma;
      if (pragma->has("atomic") || pragma->has("critical")) is_atomic_ = true;
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
      case CXCursor_UnexposedStmt:  // with attributes, or told to be unrolled
        if (children_of(cursor).size() != 1)
          trouble_with(cursor, "the statement");
        else
          statement(children_of(cursor).front());
        break;
      default:
        if (is_expression(cursor))
          effect(cursor);
        else
          trouble_with(cursor, "the statement");
    }
    is_atomic_ = was_atomic;
    frame_ = outside;
  }

  void block(CXCursor cursor) {
    Frame* const outside = frame_;
    enter();
    const Cursors children = children_of(cursor);
    // What follows a condition to stay remains with it as one part.
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

  static bool is_for(CXCursor cursor) { return clang_getCursorKind(cursor) == CXCursor_ForStmt; }

  /// Reads loops that follow each other, in a frame of their own; returns which is the last.
  std::size_t row_of_loops(const Cursors& children, std::size_t first, Loop* whole) {
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

  /// An expression for its effect.
  void effect(CXCursor cursor) {
    cursor = stripped(cursor);
    const CXCursorKind kind = clang_getCursorKind(cursor);
    const bool is_binary = kind == CXCursor_BinaryOperator && !source_.is_macro(cursor);
    const std::string operation =
        is_binary || kind == CXCursor_UnaryOperator ? operator_of(cursor) : "";
    const std::string overload = kind == CXCursor_CallExpr ? operation_of(cursor) : "";
    const bool assigns = overload == "=" || overload == "+=" || overload == "-=" ||
                         overload == "*=" || overload == "/=";
    if (is_binary && operation == ",")
      for (const CXCursor part : expressions_of(cursor)) effect(part);
    else if ((is_binary && operation == "=") || kind == CXCursor_CompoundAssignOperator || assigns)
      assign(cursor, true);
    else if (operation == "++" || operation == "--")
      count(cursor, true);
    else
      value(cursor);
  }

  void declaration(CXCursor cursor) {
    const CXCursorKind kind = clang_getCursorKind(cursor);
    if (kind == CXCursor_UnexposedDecl && !initialiser(cursor).empty()) return bindings(cursor);
    if (kind != CXCursor_VarDecl) {
      const bool is_harmless = kind == CXCursor_UsingDeclaration ||
                               kind == CXCursor_TypeAliasDecl || kind == CXCursor_TypedefDecl ||
                               kind == CXCursor_StructDecl || kind == CXCursor_StaticAssert ||
                               kind == CXCursor_EnumDecl || kind == CXCursor_UsingDirective;
      if (!is_harmless) trouble_with(cursor, "the declaration");
      return;
    }
    const Cursors made_with = initialiser(cursor);
    Variable* variable = declare(cursor);
    if (clang_Cursor_getStorageClass(cursor) == CX_SC_Static) {
      variable->is_named = true;
      if (!is_constant_type(clang_getCursorType(cursor))) trouble_with(cursor, "the static");
      return;
    }
    variable->frame = frame_;
    bind(*variable, clang_getCursorType(cursor), made_with);
    if (!made_with.empty() && !variable->value && !variable->alias)
      access(cursor, {variable, {}, {}}, true);
  }

  /// The names of a structured binding stand for parts of what it is made with, or for copies.
  void bindings(CXCursor cursor) {
    std::optional<Place> of;
    const bool is_name = is_reference(clang_getCursorType(cursor)) ||
                         source_.text(cursor).find('&') < source_.text(cursor).find('[');
    for (const CXCursor part : initialiser(cursor)) {
      if (is_name) of = place(part);
      if (!of) value(part);
    }
    for (const CXCursor child : children_of(cursor)) {
      if (clang_getCursorKind(child) != CXCursor_UnexposedDecl) continue;
      Variable* variable = declare(child);
      variable->frame = frame_;
      if (!of) {
        access(child, {variable, {}, {}}, true);
        continue;
      }
      variable->alias = frozen(*of);
      variable->alias->unsure = fmt::format("`{}` is a part of it", variable->name);
    }
  }

  void branch(CXCursor cursor) {
    Cursors parts = children_of(cursor);
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

  std::optional<Term> condition_of(CXCursor cursor, const Cursors& parts) {
    if (parts.size() < 2 || parts.size() > 3 || !is_expression(parts[0])) {
      trouble_with(cursor, "the branch");
      return {};
    }
    Term condition = value(parts[0]);
    if (condition.text.empty()) condition.text = source_.text(parts[0]);
    return condition;
  }

  /// What must hold for what follows `if (...) continue;` or `if (...) return;`, if it is such.
  std::optional<Term> condition_to_stay(CXCursor cursor) {
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

  /// Whether nothing but conditions to stay lies between here and the loop.
  bool is_directly_in_loop() const {
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

  bool is_outside_loops() const {
    int blocks = 0;
    for (const Frame* frame = frame_; frame && frame != base_; frame = frame->parent) {
      if (frame->loop) return false;
      if (!frame->condition && !frame->region) ++blocks;
    }
    return blocks <= 2;
  }

  void leave(CXCursor cursor, const std::string& reason) {
    Loop* of = loop();
    if (of && of->unknown.empty()) of->unknown = fmt::format("{} in line {}", reason, line(cursor));
  }

  void give_back(CXCursor cursor) {
    Term result = unknown(source_.text(cursor));
    for (const CXCursor part : expressions_of(cursor)) result = value(part);
    const bool early = has_returned_ || !is_outside_loops();
    returned_ = early ? unknown("a value returned early") : frozen(result);
    for (const Frame* frame = frame_; frame && frame != base_; frame = frame->parent)
      if (frame->loop || (base_ && frame->condition)) {
        trouble(cursor, "`return` leaves the loop");
        break;
      }
  }

  // --- Loops

  struct Parts {
    std::optional<CXCursor> first, condition, step, body;
  };

  Parts parts_of(CXCursor cursor) const {
    unsigned ends[3] = {};
    int depth = 0, found = 0;
    for (const Token& token : source_.tokens(source_.range(cursor))) {
      if (token == "(" || token == "{" || token == "[") ++depth;
      if (token == ")" || token == "}" || token == "]") --depth;
      const bool is_end = (token == ";" && depth == 1) || (token == ")" && depth == 0);
      if (is_end && found < 3) ends[found++] = token.range.first;
    }
    Parts parts;
    for (const CXCursor child : children_of(cursor)) {
      const unsigned place = source_.range(child).first;
      if (place < ends[0])
        parts.first = child;
      else if (place < ends[1])
        parts.condition = child;
      else if (place < ends[2])
        parts.step = child;
      else
        parts.body = child;
    }
    return parts;
  }

  Loop& add_loop(CXCursor cursor, const std::vector<const Pragma*>& pragmas) {
    function_.loops.push_back({});
    Loop& added = function_.loops.back();
    added.line = line(cursor);
    added.range = source_.range(cursor);
    added.pragmas = pragmas;
    added.is_inlined = scopes_.size() > 2;
    return added;
  }

  void counted(CXCursor cursor, const std::vector<const Pragma*>& pragmas) {
    const Parts parts = parts_of(cursor);
    Frame* const outside = frame_;
    enter();
    Loop& read = add_loop(cursor, pragmas);
    if (source_.is_macro(cursor)) read.unknown = "a macro makes the loop";
    start(read, parts);
    enter()->loop = &read;
    read.frame = frame_;
    const std::size_t behind = function_.accesses.size();
    if (read.variable) limits(read, parts);
    if (!read.variable) {
      if (read.unknown.empty()) read.unknown = "the loop does not count by one variable";
      if (parts.condition && is_expression(*parts.condition)) value(*parts.condition);
      if (parts.step) effect(*parts.step);
    }
    if (parts.body) statement(*parts.body);
    for (std::size_t a = behind; a < function_.accesses.size(); ++a) {
      const Access& access = function_.accesses[a];
      if (access.is_write && access.place.variable == read.variable && access.place.steps.empty())
        read.unknown = fmt::format("line {} changes `{}`", access.line, read.variable->name);
    }
    if (parts.body) note_inside(read, *parts.body);
    frame_ = outside;
  }

  /// Reads where a loop starts.
  void start(Loop& read, const Parts& parts) {
    if (!parts.first) return;
    const CXCursor first = *parts.first;
    if (clang_getCursorKind(first) == CXCursor_DeclStmt) {
      const Cursors declared = children_of(first);
      for (const CXCursor each : declared) declaration(each);
      if (declared.size() != 1 || clang_getCursorKind(declared.front()) != CXCursor_VarDecl) return;
      Variable* variable = find(declared.front());
      const Cursors made_with = initialiser(declared.front());
      if (!variable->is_integer || variable->alias || made_with.size() != 1) return;
      read.variable = variable;
      read.first = frozen(quietly(made_with.front()));
      return;
    }
    const CXCursor stripped_first = stripped(first);
    effect(first);
    if (clang_getCursorKind(stripped_first) != CXCursor_BinaryOperator ||
        operator_of(stripped_first) != "=")
      return;
    const Cursors operands = expressions_of(stripped_first);
    const auto to = place(operands[0]);
    if (!to || !to->steps.empty() || !to->variable->is_integer) return;
    read.variable = to->variable;
    read.first = frozen(quietly(operands[1]));
  }

  /// The value of what was read already.
  Term quietly(CXCursor cursor) {
    const std::size_t accesses = function_.accesses.size(), troubles = function_.troubles.size();
    Term term = value(cursor);
    function_.accesses.resize(accesses);
    function_.troubles.erase(function_.troubles.begin() + troubles, function_.troubles.end());
    return term;
  }

  /// Reads a loop's step and its end.
  void limits(Loop& read, const Parts& parts) {
    if (!parts.condition || !is_expression(*parts.condition)) {
      read.unknown = "the loop has no end that can be followed";
      return;
    }
    const CXCursor condition = stripped(*parts.condition);
    if (!parts.step && counts_down(read, condition)) return;
    read.step = parts.step ? step_of(stripped(*parts.step), read.variable) : 0;
    read.condition = value(condition);
    // What a loop that is not left by its count does not reach, != does not hold back.
    if (read.condition.operation == Operation::negation &&
        read.condition.operands[0].operation == Operation::equal && std::abs(read.step) == 1) {
      auto sides = read.condition.operands[0].operands;
      if (!mentions(sides[0], read.variable)) std::swap(sides[0], sides[1]);
      if (read.step < 0) std::swap(sides[0], sides[1]);
      read.condition = made(Operation::less, std::move(sides));
    }
    if (read.step == 0)
      read.unknown = fmt::format("`{}` does not count by a constant", read.variable->name);
    else if (!is_known(read.condition) || !bounds(read.condition, read.variable, read.step))
      read.unknown = fmt::format("the end `{}` is beyond affine", source_.text(condition));
    else if (!is_known(read.first))
      read.unknown = fmt::format("the beginning of `{}` is beyond affine", read.variable->name);
  }

  /// for (i = n; i-- > 0;)
  bool counts_down(Loop& read, CXCursor condition) {
    const Cursors operands = expressions_of(condition);
    if (clang_getCursorKind(condition) != CXCursor_BinaryOperator || operands.size() != 2)
      return false;
    const CXCursor left = stripped(operands[0]), right = stripped(operands[1]);
    if (clang_getCursorKind(left) != CXCursor_UnaryOperator || operator_of(left) != "--" ||
        source_.text(left).starts_with("--") || source_.text(right) != "0")
      return false;
    const std::string comparison = operator_of(condition);
    if (comparison != ">" && comparison != "!=") return false;
    const auto counted = place(expressions_of(left).front());
    if (!counted || counted->variable != read.variable) return false;
    read.step = -1;
    read.first = made(Operation::difference, {read.first, constant(1)});
    read.condition = made(Operation::at_most, {constant(0), symbol(read.variable)});
    return true;
  }

  long step_of(CXCursor cursor, const Variable* variable) {
    const Cursors operands = expressions_of(cursor);
    if (operands.empty()) return 0;
    const auto counted = place(operands.front());
    if (!counted || counted->variable != variable || !counted->steps.empty()) return 0;
    const std::string operation = operator_of(cursor);
    if (operation == "++") return 1;
    if (operation == "--") return -1;
    if (operands.size() != 2) return 0;
    Term by = value(operands[1]);
    if (operation == "=" && by.operation == Operation::sum) {
      if (by.operands[1].operation == Operation::symbol) std::swap(by.operands[0], by.operands[1]);
      if (by.operands[0].symbol != variable) return 0;
      by = by.operands[1];
    } else if (operation != "+=" && operation != "-=") {
      return 0;
    }
    while (by.operation == Operation::symbol && by.symbol->value && by.symbol->is_fixed)
      by = Term(*by.symbol->value);
    if (by.operation != Operation::constant) return 0;
    return operation == "-=" ? -by.value : by.value;
  }

  void note_inside(Loop& read, CXCursor body) {
    if (clang_getCursorKind(body) == CXCursor_CompoundStmt) {
      const Cursors children = children_of(body);
      if (children.size() != 1) return;
      body = children.front();
    }
    if (clang_getCursorKind(body) != CXCursor_ForStmt) return;
    const int line = this->line(body);
    for (Loop& loop : function_.loops)
      if (loop.frame && loop.frame != read.frame && loop.frame->is_within(read.frame) &&
          loop.line == line && !read.inside)
        read.inside = &loop;
  }

  void uncounted(CXCursor cursor, const std::vector<const Pragma*>& pragmas) {
    Frame* const outside = frame_;
    Loop& read = add_loop(cursor, pragmas);
    read.unknown = "the loop does not count";
    enter()->loop = &read;
    read.frame = frame_;
    if (clang_getCursorKind(cursor) == CXCursor_CXXForRangeStmt)
      trouble(cursor, "a loop over a range");
    for (const CXCursor child : children_of(cursor)) {
      if (clang_getCursorKind(cursor) == CXCursor_CXXForRangeStmt && !is_statement(child)) continue;
      is_expression(child) ? effect(child) : statement(child);
    }
    frame_ = outside;
  }

  const Source& source_;
  const Named& named_;
  Function& function_;
  Frame* frame_ = nullptr;
  const Frame* base_ = nullptr;
  std::vector<std::vector<std::pair<CXCursor, Variable*>>> scopes_{2};
  std::vector<CXCursor> changed_, addressed_;
  Variable* this_ = nullptr;
  int line_of_call_ = 0;
  Term returned_;
  bool has_returned_ = false, is_atomic_ = false;
};

bool is_function(CXCursor cursor) {
  const CXCursorKind kind = clang_getCursorKind(cursor);
  const CXCursorKind parent = clang_getCursorKind(clang_getCursorSemanticParent(cursor));
  return (kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate) &&
         parent != CXCursor_StructDecl && parent != CXCursor_ClassDecl &&
         parent != CXCursor_ClassTemplate;
}

/// Whether libclang names a function that it has made of a template, besides the template itself.
bool is_instance(CXCursor function) {
  const CXCursor pattern = clang_getSpecializedCursorTemplate(function);
  return !clang_Cursor_isNull(pattern) && is_made_of(function, pattern);
}

/// Finds the functions of namespaces, by their names.
void find_names(const Source& source, CXCursor cursor, Reader::Named& named) {
  for (const CXCursor child : children_of(cursor)) {
    const CXCursorKind kind = clang_getCursorKind(child);
    const bool is_nest = kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec;
    if ((!is_function(child) && !is_nest) || is_instance(child) || !source.can_see(child)) continue;
    if (is_function(child)) named[text_of(clang_getCursorSpelling(child))].push_back(child);
    if (is_nest) find_names(source, child, named);
  }
}

/// Finds functions with a body, and lambdas, which are read on their own.
void find_functions(const Source& source, const Reader::Named& named, CXCursor cursor,
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
            Reader(source, named, functions.back()).read(child, part);
          }
        break;
      default:
        break;
    }
    find_functions(source, named, child, functions);
  }
}

}  // namespace

std::list<Function> read_functions(const Source& source) {
  std::list<Function> functions;
  Reader::Named named;
  find_names(source, source.root(), named);
  find_functions(source, named, source.root(), functions);
  functions.remove_if([](const Function& function) { return function.loops.empty(); });
  return functions;
}

}  // namespace slicer
