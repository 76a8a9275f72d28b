#include "code.hpp"

#include <fmt/format.h>
#include <isl/ast_build.h>

namespace slicer {
namespace {

/// The precedence of an expression's outermost operator, from the lowest to the highest.
enum Strength { loose, either, both, comparison, sum, product, unary };

struct Piece {
  std::string text;
  Strength strength;
};

std::string at_least(const Piece& piece, Strength strength) {
  return piece.strength < strength ? "(" + piece.text + ")" : piece.text;
}

Piece piece_of(const isl::ast_expr& expression);

/// The sign and the precedence of a binary operator. The sign is empty for other operators.
std::pair<std::string, Strength> sign_of(isl_ast_expr_op_type type) {
  switch (type) {
    case isl_ast_expr_op_and:
    case isl_ast_expr_op_and_then:
      return {"&&", both};
    case isl_ast_expr_op_or:
    case isl_ast_expr_op_or_else:
      return {"||", either};
    case isl_ast_expr_op_add:
      return {"+", sum};
    case isl_ast_expr_op_sub:
      return {"-", sum};
    case isl_ast_expr_op_mul:
      return {"*", product};
    case isl_ast_expr_op_div:
    case isl_ast_expr_op_pdiv_q:
      return {"/", product};
    case isl_ast_expr_op_pdiv_r:
    case isl_ast_expr_op_zdiv_r:
      return {"%", product};
    case isl_ast_expr_op_eq:
      return {"==", comparison};
    case isl_ast_expr_op_le:
      return {"<=", comparison};
    case isl_ast_expr_op_lt:
      return {"<", comparison};
    case isl_ast_expr_op_ge:
      return {">=", comparison};
    case isl_ast_expr_op_gt:
      return {">", comparison};
    default:
      return {"", loose};
  }
}

Piece operation(const isl::ast_expr& expression) {
  const isl_ast_expr_op_type type = isl_ast_expr_op_get_type(expression.get());
  std::vector<Piece> parts;
  for (int a = 0; a < isl_ast_expr_op_get_n_arg(expression.get()); ++a)
    parts.push_back(piece_of(isl::manage(isl_ast_expr_op_get_arg(expression.get(), a))));
  if (type == isl_ast_expr_op_minus) return {"-" + at_least(parts[0], unary), sum};
  if (type == isl_ast_expr_op_min || type == isl_ast_expr_op_max) {
    const char* name = type == isl_ast_expr_op_min ? "std::min" : "std::max";
    std::string all = parts[0].text;
    for (std::size_t p = 1; p < parts.size(); ++p)
      all = fmt::format("{}<long>({}, {})", name, all, parts[p].text);
    return {all, unary};
  }
  if (type == isl_ast_expr_op_fdiv_q)
    return {fmt::format("sliced::quotient({}, {})", parts[0].text, parts[1].text), unary};
  if (type == isl_ast_expr_op_cond || type == isl_ast_expr_op_select)
    return {fmt::format("{} ? {} : {}", at_least(parts[0], either), at_least(parts[1], either),
                        parts[2].text),
            loose};
  const auto [sign, strength] = sign_of(type);
  // The right operand of a minus, a division or a comparison needs a higher precedence.
  const auto right = static_cast<Strength>(strength + 1);
  // An `&&` within `||` gets parentheses, because compilers warn without them.
  const Strength left = strength == either ? comparison : strength;
  return {fmt::format("{} {} {}", at_least(parts[0], left), sign,
                      at_least(parts[1], strength == either ? comparison : right)),
          strength};
}

Piece piece_of(const isl::ast_expr& expression) {
  switch (isl_ast_expr_get_type(expression.get())) {
    case isl_ast_expr_id: {
      isl_id* id = isl_ast_expr_id_get_id(expression.get());
      const std::string name = isl_id_get_name(id);
      isl_id_free(id);
      return {name, unary};
    }
    case isl_ast_expr_int: {
      const long value = isl::manage(isl_ast_expr_int_get_val(expression.get())).num_si();
      return {std::to_string(value), value < 0 ? sum : unary};
    }
    default:
      return operation(expression);
  }
}

Walk walk_of(const isl::ast_node& node) {
  Walk walk;
  switch (isl_ast_node_get_type(node.get())) {
    case isl_ast_node_for: {
      const auto text = [](isl_ast_expr* of) { return text_of(isl::manage(of)); };
      walk.kind = Walk::loop;
      walk.variable = text(isl_ast_node_for_get_iterator(node.get()));
      walk.first = text(isl_ast_node_for_get_init(node.get()));
      walk.parts = {walk_of(isl::manage(isl_ast_node_for_get_body(node.get())))};
      if (isl_ast_node_for_is_degenerate(node.get())) {
        const Piece first = piece_of(isl::manage(isl_ast_node_for_get_init(node.get())));
        walk.condition = fmt::format("{} <= {}", walk.variable, at_least(first, sum));
        walk.step = "1";
        return walk;
      }
      walk.condition = text(isl_ast_node_for_get_cond(node.get()));
      walk.step = text(isl_ast_node_for_get_inc(node.get()));
      return walk;
    }
    case isl_ast_node_if:
      walk.kind = Walk::branch;
      walk.condition = text_of(isl::manage(isl_ast_node_if_get_cond(node.get())));
      walk.parts = {walk_of(isl::manage(isl_ast_node_if_get_then(node.get())))};
      if (isl_ast_node_if_has_else(node.get()))
        walk.parts.push_back(walk_of(isl::manage(isl_ast_node_if_get_else(node.get()))));
      return walk;
    case isl_ast_node_block: {
      const isl::ast_node_list list = isl::manage(isl_ast_node_block_get_children(node.get()));
      for (int n = 0; n < isl_ast_node_list_n_ast_node(list.get()); ++n)
        walk.parts.push_back(walk_of(isl::manage(isl_ast_node_list_get_ast_node(list.get(), n))));
      return walk;
    }
    default: {
      const isl::ast_expr called = isl::manage(isl_ast_node_user_get_expr(node.get()));
      walk.kind = Walk::statement;
      for (int a = 1; a < isl_ast_expr_op_get_n_arg(called.get()); ++a)
        walk.subscripts.push_back(text_of(isl::manage(isl_ast_expr_op_get_arg(called.get(), a))));
      return walk;
    }
  }
}

/// Whether the code of a walk needs no braces: it is a statement, or nested loops around one
/// statement.
bool is_plain(const Walk& walk) {
  return walk.kind == Walk::statement || (walk.kind == Walk::loop && is_plain(walk.parts[0]));
}

void write_parts(const Walk& walk, const Statement& statement, Lines& lines) {
  lines.indent();
  write(walk, statement, lines);
  lines.outdent();
}

void write_loop(const Walk& walk, const Statement& statement, Lines& lines) {
  const std::string first = fmt::format("long {} = {}", walk.variable, walk.first);
  const std::string step =
      walk.step == "1" ? "++" + walk.variable : fmt::format("{} += {}", walk.variable, walk.step);
  const Walk& body = walk.parts[0];
  if (body.kind == Walk::statement) {
    const std::string line =
        fmt::format("for ({}; {}; {}) {}", first, walk.condition, step, statement(body.subscripts));
    if (lines.fits(line)) return lines.add(line);
  }
  lines.loop(first, walk.condition, step, is_plain(body) ? "" : " {");
  write_parts(body, statement, lines);
  if (!is_plain(body)) lines.add("}");
}

}  // namespace

std::string text_of(const isl::ast_expr& expression) { return piece_of(expression).text; }

Walk walk_over(const isl::set& set, const isl::set& context,
               const std::vector<std::string>& variables) {
  isl_ctx* ctx = isl_set_get_ctx(set.get());
  isl_id_list* names = isl_id_list_alloc(ctx, static_cast<int>(variables.size()));
  for (const std::string& variable : variables)
    names = isl_id_list_add(names, isl_id_alloc(ctx, variable.c_str(), nullptr));
  const isl::ast_build build =
      isl::manage(isl_ast_build_set_iterators(isl_ast_build_from_context(context.copy()), names));
  isl_map* order = isl_set_identity(isl_set_set_tuple_name(set.copy(), "at"));
  order = isl_map_reset_tuple_id(order, isl_dim_out);
  return walk_of(build.node_from_schedule_map(isl::manage(isl_union_map_from_map(order))));
}

void write(const Walk& walk, const Statement& statement, Lines& lines) {
  switch (walk.kind) {
    case Walk::statement:
      return lines.add(statement(walk.subscripts));
    case Walk::loop:
      return write_loop(walk, statement, lines);
    case Walk::branch:
      lines.add(fmt::format("if ({}) {{", walk.condition));
      write_parts(walk.parts[0], statement, lines);
      if (walk.parts.size() > 1) {
        lines.add("} else {");
        write_parts(walk.parts[1], statement, lines);
      }
      return lines.add("}");
    default:
      for (const Walk& part : walk.parts) write(part, statement, lines);
  }
}

}  // namespace slicer
