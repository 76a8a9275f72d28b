#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rewrite.hpp"

namespace cuda_on_cpu::rewriter {
namespace {

constexpr const char* space = "::cuda_on_cpu::ptx::";

using Strings = std::vector<std::string>;

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\n"), end = text.find_last_not_of(" \t\n");
  return begin == text.npos ? "" : text.substr(begin, end + 1 - begin);
}

/// Splits a text at separators outside brackets.
Strings split(const std::string& text, char separator) {
  Strings pieces(1);
  int depth = 0;
  for (const char c : text) {
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (c == separator && depth == 0)
      pieces.emplace_back();
    else
      pieces.back() += c;
  }
  return pieces;
}

/// The text of a string literal. The escape sequences \n and \t become blanks.
std::string text_of_literal(std::string_view literal) {
  std::string text;
  for (std::size_t i = 1; i + 1 < literal.size(); ++i) {
    if (literal[i] != '\\') {
      text += literal[i];
      continue;
    }
    ++i;
    text += literal[i] == 'n' || literal[i] == 't' ? ' ' : literal[i];
  }
  return text;
}

/// The contents of an asm statement: the instructions, the operands in order, and the C++ variables
/// for the registers that the instructions declare.
struct Statement {
  std::string instructions;
  Strings operands;
  std::map<std::string, std::string> registers;
};

Statement statement_of(const Source& source, std::size_t opening) {
  Statement statement;
  const std::size_t closing = source.close_of(opening);
  int section = 0;
  std::string constraint;
  for (std::size_t i = source.next(opening); i < closing; i = source.next(i)) {
    if (source.is_sign(i, ":") || source.is_sign(i, "::")) {
      section += source.is(i, "::") ? 2 : 1;
    } else if (source.kind(i) == Kind::string && section == 0) {
      statement.instructions += text_of_literal(source[i]);
    } else if (source.kind(i) == Kind::string) {
      constraint = text_of_literal(source[i]);
    } else if (source.is_sign(i, "(") && section > 0 && section < 3) {
      const std::size_t end = source.close_of(i);
      const std::string operand = source.text(i, end + 1);
      const bool is_output = section == 1;
      statement.operands.push_back(is_output           ? operand
                                   : constraint == "l" ? space + ("wide" + operand)
                                                       : operand);
      i = end;
    } else if (!source.is_sign(i, ",")) {
      throw Unsure("an asm statement has '" + std::string(source[i]) +
                   "' at a position where the CPU device does not support it");
    }
  }
  return statement;
}

/// The C++ expression for a special register of PTX.
std::string special_register(const std::string& name) {
  static const std::map<std::string, std::string> registers = {
      {"tid", "threadIdx"}, {"ntid", "blockDim"}, {"ctaid", "blockIdx"}, {"nctaid", "gridDim"}};
  const auto dot = name.find('.');
  const auto found = registers.find(name.substr(0, dot));
  if (found != registers.end() && dot != name.npos) return found->second + name.substr(dot);
  for (const auto* known : {"laneid", "warpid", "nwarpid", "smid", "nsmid", "clock", "clock_hi",
                            "clock64", "globaltimer", "globaltimer_lo", "lanemask_eq",
                            "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge"})
    if (name == known) return space + name + "()";
  throw Unsure("PTX register %" + name + " is not supported by the CPU device");
}

std::string operand_of(std::string text, const Statement& statement, bool in_shared) {
  text = trimmed(text);
  if (const auto own = statement.registers.find(text); own != statement.registers.end())
    return own->second;
  if (text.starts_with('[')) {
    const std::string inside = trimmed(text.substr(1, text.size() - 2));
    const auto sign = inside.find_first_of("+-");
    const std::string base = operand_of(inside.substr(0, sign), statement, false);
    const std::string offset = sign == inside.npos ? "0" : inside.substr(sign);
    return space + std::string(in_shared ? "in_shared(" : "at(") + base + ", " + offset + ')';
  }
  if (text.starts_with('%')) {
    const std::string name = text.substr(text.starts_with("%%") ? 2 : 1);
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) == 0)
      return special_register(name);
    const auto number = std::strtoul(name.c_str(), nullptr, 10);
    if (number >= statement.operands.size())
      throw Unsure("an asm statement has no operand " + text);
    return statement.operands[number];
  }
  if (text.starts_with("0f") || text.starts_with("0F"))
    return space + ("single(0x" + text.substr(2) + "u)");
  if (!text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == '-'))
    return text;
  throw Unsure("PTX operand '" + text + "' is not supported by the CPU device");
}

/// The C++ type for a PTX type; empty if the name is not a PTX type.
std::string type_of(const std::string& name) {
  static const std::map<std::string, std::string> types = {
      {"u8", "unsigned char"},   {"s8", "signed char"}, {"b8", "unsigned char"},
      {"u16", "unsigned short"}, {"s16", "short"},      {"b16", "unsigned short"},
      {"u32", "unsigned"},       {"s32", "int"},        {"b32", "unsigned"},
      {"u64", "unsigned long"},  {"s64", "long"},       {"b64", "unsigned long"},
      {"f32", "float"},          {"f64", "double"},     {"pred", "bool"}};
  const auto found = types.find(name);
  return found == types.end() ? "" : found->second;
}

/// The shapes of mma.sync that are permitted for one element type of A, and the permitted types of
/// C and D, according to the PTX ISA, section "mma".
struct MatrixShapes {
  std::set<std::string> shapes, sums;
};

const MatrixShapes* shapes_of(const std::string& type) {
  static const MatrixShapes of_8_bit_floats{{"m16n8k16", "m16n8k32"}, {"f16", "f32"}},
      of_8_bits{{"m8n8k16", "m16n8k16", "m16n8k32"}, {"s32"}},
      of_4_bits{{"m8n8k32", "m16n8k32", "m16n8k64"}, {"s32"}};
  static const std::map<std::string, MatrixShapes> shapes = {
      {"f16", {{"m8n8k4", "m16n8k8", "m16n8k16"}, {"f16", "f32"}}},
      {"bf16", {{"m16n8k8", "m16n8k16"}, {"f32"}}},
      {"tf32", {{"m16n8k4", "m16n8k8"}, {"f32"}}},
      {"f64", {{"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"}, {"f64"}}},
      {"e4m3", of_8_bit_floats},
      {"e5m2", of_8_bit_floats},
      {"s8", of_8_bits},
      {"u8", of_8_bits},
      {"s4", of_4_bits},
      {"u4", of_4_bits},
      {"b1", {{"m8n8k128", "m16n8k128", "m16n8k256"}, {"s32"}}}};
  const auto found = shapes.find(type);
  return found == shapes.end() ? nullptr : &found->second;
}

/// The number of bits of a matrix element.
int bits_of(const std::string& type) {
  if (type == "e4m3" || type == "e5m2") return 8;
  return type == "tf32" ? 32 : std::stoi(type.substr(type.find_first_of("0123456789")));
}

/// The first argument of a call of mma(): the description of the product. `counts` receives the
/// numbers of registers of D, A, B and C.
std::string product_of(const std::string& instruction, std::vector<int>& counts) {
  Strings parts = split(instruction, '.');
  bool saturates = false;
  std::string operation = "none";
  std::erase_if(parts, [&](const std::string& part) {
    saturates = saturates || part == "satfinite";
    if (part == "xor" || part == "and") operation = "bit_" + part;
    return part == "satfinite" || part == "xor" || part == "and" || part == "popc" ||
           part == "sync" || part == "aligned";
  });
  const auto refuse = [&] {
    throw Unsure("PTX matrix product " + instruction + " is not supported by the CPU device");
  };
  // The parts are mma, the shape, the layouts of A and B, and the types of D, A, B and C.
  if (parts.size() != 8) refuse();
  const std::string &shape = parts[1], &d = parts[4], &a = parts[5], &b = parts[6], &c = parts[7];
  const MatrixShapes *const of_a = shapes_of(a), *const of_b = shapes_of(b);
  const bool is_four_products = shape == "m8n8k4" && a == "f16";
  const auto is_layout = [&](const std::string& layout, const char* usual) {
    return layout == usual || (is_four_products && (layout == "row" || layout == "col"));
  };
  // The factors may have different types if the types have the same shapes.
  if (of_a == nullptr || of_b == nullptr || of_a->shapes != of_b->shapes ||
      (a != b && bits_of(a) > 8) || !of_a->shapes.contains(shape) || !of_a->sums.contains(d) ||
      !of_a->sums.contains(c) || !is_layout(parts[2], "row") || !is_layout(parts[3], "col") ||
      (operation == "none") != (a != "b1"))
    refuse();
  const int rows = shape.starts_with("m16") ? 16 : 8,
            depth = std::stoi(shape.substr(shape.find('k') + 1));
  const auto count = [&](int elements, const std::string& type) {
    const int in_register = type == "f64" ? 1 : 32 / bits_of(type);
    counts.push_back((is_four_products ? 4 : 1) * elements / 32 / in_register);
  };
  count(8 * rows, d);
  count(rows * depth, a);
  count(8 * depth, b);
  count(8 * rows, c);
  std::string types;
  for (const std::string& type : {d, a, b, c}) types += ", ::cuda_on_cpu::ElementType::" + type;
  const auto truth = [](bool is_so) { return is_so ? ", true" : ", false"; };
  return "::cuda_on_cpu::MatrixProduct{" + std::to_string(rows) + ", " + std::to_string(depth) +
         types + truth(parts[2] == "col") + truth(parts[3] == "row") + truth(saturates) +
         ", ::cuda_on_cpu::BitOperation::" + operation + '}';
}

/// The function of ptx.hpp for an instruction, with its template arguments.
std::string function_of(const std::string& instruction, bool& in_shared) {
  // Modifiers of caching have no effect on the CPU. Modifiers of ordering affect only loads and
  // stores. Rounding to nearest is the CPU's default.
  static const std::set<std::string> without_meaning = {
      "rn",   "approx", "ftz", "full", "volatile", "global", "shared", "const", "local",
      "nc",   "ca",     "cg",  "cs",   "lu",       "cv",     "wb",     "wt",    "relaxed",
      "weak", "gpu",    "sys", "cta",  "aligned",  "L1",     "L2"};
  static const std::set<std::string> functions = {"mov",
                                                  "ld",
                                                  "ld_v2",
                                                  "ld_v4",
                                                  "st",
                                                  "st_v2",
                                                  "st_v4",
                                                  "ld_relaxed",
                                                  "ld_relaxed_v2",
                                                  "ld_relaxed_v4",
                                                  "ld_acquire",
                                                  "ld_acquire_v2",
                                                  "ld_acquire_v4",
                                                  "st_relaxed",
                                                  "st_relaxed_v2",
                                                  "st_relaxed_v4",
                                                  "st_release",
                                                  "st_release_v2",
                                                  "st_release_v4",
                                                  "add",
                                                  "sub",
                                                  "mul",
                                                  "mul_lo",
                                                  "mul_hi",
                                                  "mul_wide",
                                                  "mad_lo",
                                                  "mad_wide",
                                                  "fma",
                                                  "and",
                                                  "or",
                                                  "xor",
                                                  "not",
                                                  "shl",
                                                  "shr",
                                                  "min",
                                                  "max",
                                                  "abs",
                                                  "neg",
                                                  "bfe",
                                                  "bfind",
                                                  "bfind_shiftamt",
                                                  "cvt",
                                                  "cvt_rni",
                                                  "cvt_rzi",
                                                  "cvt_rmi",
                                                  "cvt_rpi",
                                                  "selp",
                                                  "setp_eq",
                                                  "setp_ne",
                                                  "setp_lt",
                                                  "setp_le",
                                                  "setp_gt",
                                                  "setp_ge",
                                                  "setp_lo",
                                                  "setp_ls",
                                                  "setp_hi",
                                                  "setp_hs",
                                                  "shfl_sync_up",
                                                  "shfl_sync_down",
                                                  "shfl_sync_bfly",
                                                  "shfl_sync_idx",
                                                  "vote_sync_all",
                                                  "vote_sync_any",
                                                  "vote_sync_ballot",
                                                  "vote_ballot_sync",
                                                  "activemask",
                                                  "bfi",
                                                  "prmt",
                                                  "lop3",
                                                  "shf_l_wrap",
                                                  "shf_r_wrap",
                                                  "shf_l_clamp",
                                                  "shf_r_clamp",
                                                  "popc",
                                                  "clz",
                                                  "brev",
                                                  "ex2",
                                                  "lg2",
                                                  "rcp",
                                                  "rsqrt",
                                                  "sqrt",
                                                  "sin",
                                                  "cos",
                                                  "tanh",
                                                  "membar_gl",
                                                  "membar",
                                                  "fence_acq_rel",
                                                  "fence_sc",
                                                  "bar_sync",
                                                  "barrier_sync",
                                                  "bar_warp_sync",
                                                  "nanosleep",
                                                  "trap",
                                                  "prefetch",
                                                  "red_add",
                                                  "red_min",
                                                  "red_max",
                                                  "atom_add",
                                                  "atom_min",
                                                  "atom_max",
                                                  "atom_exch",
                                                  "atom_cas",
                                                  "cp_async_commit_group",
                                                  "cp_async_wait_group",
                                                  "cp_async_wait_all",
                                                  "cp_async",
                                                  "cvta_to",
                                                  "createpolicy_fractional"};
  std::string name, type;
  for (const std::string& part : split(instruction, '.')) {
    if (part.starts_with("shared")) in_shared = true;
    if (const std::string named = type_of(part); !named.empty())
      type += type.empty() ? named : name.starts_with("cvt") ? ", " + named : "";
    else if ((name == "ld" || name == "st") &&
             (part == "relaxed" || part == "acquire" || part == "release"))
      name += '_' + part;  // other threads may access the address at the same time
    else if (!without_meaning.contains(part.substr(0, part.find(':'))))
      name += (name.empty() ? "" : "_") + part;
  }
  if (!functions.contains(name))
    throw Unsure(
        "PTX instruction " + instruction +
        " is not supported by the CPU device; give the function that contains it a second body for "
        "STAIRCASE_CUDA_ON_CPU");
  for (const auto* word : {"and", "or", "xor", "not"})  // keywords of C++
    if (name == word) name += "_";
  if (name == "cvta_to" && in_shared) name += "_shared";
  return name + (type.empty() ? "" : '<' + type + '>');
}

/// Adds the registers of a declaration such as `.reg .pred p, q` or `.reg .b32 t<4>` to
/// `statement`. Returns the declarations of the C++ variables for these registers.
std::string declared(const std::string& text, Statement& statement) {
  const auto end = text.find_first_of(" \t", text.find('.', 1));
  const std::string dotted = trimmed(text.substr(0, end));
  const std::string type = type_of(dotted.substr(dotted.rfind('.') + 1));
  if (type.empty() || end == text.npos)
    throw Unsure("PTX declaration '" + text + "' is not supported by the CPU device");
  std::string variables;
  const auto add = [&](const std::string& name) {
    std::string variable = "ptx_" + name;
    std::replace(variable.begin(), variable.end(), '%', '_');
    std::replace(variable.begin(), variable.end(), '$', '_');
    statement.registers[name] = variable;
    variables += (variables.empty() ? "" : " ") + type + ' ' + variable + "{};";
  };
  for (const std::string& piece : split(text.substr(end), ',')) {
    const std::string name = trimmed(piece);
    const auto open = name.find('<');
    if (open == name.npos) add(name);
    for (unsigned long i = 0, count = open == name.npos ? 0 : std::stoul(name.substr(open + 1));
         i < count; ++i)
      add(name.substr(0, open) + std::to_string(i));
  }
  return variables;
}

/// Removes the predicate from the beginning of an instruction. Returns the corresponding C++ text
/// `if (...)`, or an empty text if there is no predicate.
std::string take_predicate(std::string& text, const Statement& statement) {
  if (!text.starts_with('@')) return "";
  const auto end = text.find_first_of(" \t\n");
  const bool is_negated = text.starts_with("@!");
  const std::string name = text.substr(is_negated ? 2 : 1, end - (is_negated ? 2 : 1));
  text = end == text.npos ? "" : trimmed(text.substr(end));
  return std::string("if (") + (is_negated ? "!" : "") + operand_of(name, statement, false) + ") ";
}

/// The components of an operand that is a vector, `{a, b}`, or a register with a predicate, `r|p`.
Strings parts_of(const std::string& piece) {
  if (piece.starts_with('{')) return split(piece.substr(1, piece.size() - 2), ',');
  return split(piece, '|');
}

/// The call for an mma instruction, whose operands are vectors or single registers.
std::string product_call_of(const std::string& instruction, const Strings& pieces,
                            const Statement& statement) {
  std::vector<int> counts;
  std::string arguments = product_of(instruction, counts);
  if (pieces.size() != counts.size())
    throw Unsure("PTX instruction " + instruction + " needs four operands");
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Strings parts = parts_of(trimmed(pieces[i]));
    if (static_cast<int>(parts.size()) != counts[i])
      throw Unsure("the number of registers in operand " + std::to_string(i + 1) +
                   " of PTX instruction " + instruction + " must be " + std::to_string(counts[i]) +
                   ", not " + std::to_string(parts.size()));
    for (const std::string& part : parts) arguments += ", " + operand_of(part, statement, false);
  }
  return space + ("mma(" + arguments) + ");";
}

/// The call for ldmatrix, stmatrix or movmatrix, with the address before the registers.
std::string transfer_call_of(const std::string& instruction, const Strings& pieces,
                             const Statement& statement) {
  const Strings parts = split(instruction, '.');
  const auto has = [&](const char* part) {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  };
  const bool is_move = parts[0] == "movmatrix", is_load = parts[0] == "ldmatrix";
  const std::size_t matrices = has("x4") ? 4 : has("x2") ? 2 : has("x1") ? 1 : 0;
  if (!has("m8n8") || !has("b16") || pieces.size() != 2 || is_move != (matrices == 0))
    throw Unsure("PTX instruction " + instruction +
                 " is not supported by the CPU device: only matrices m8n8 of b16 are");
  Strings registers = parts_of(trimmed(pieces[is_load ? 0 : 1]));
  if (is_move) registers.insert(registers.begin(), trimmed(pieces[0]));
  if (!is_move && registers.size() != matrices)
    throw Unsure("PTX instruction " + instruction + " needs a vector of " +
                 std::to_string(matrices) + " registers, not of " +
                 std::to_string(registers.size()));
  std::string arguments = is_move ? "" : operand_of(pieces[is_load ? 1 : 0], statement, true);
  for (const std::string& name : registers)
    arguments += (arguments.empty() ? "" : ", ") + operand_of(name, statement, false);
  const std::string function = is_move   ? "move_matrix"
                               : is_load ? "load_matrices"
                                         : "store_matrices";
  const std::string how = is_move ? "" : has("trans") ? "<true>" : "<false>";
  return space + function + how + '(' + arguments + ");";
}

/// The call for one instruction.
std::string call_of(std::string text, const Statement& statement) {
  const std::string condition = take_predicate(text, statement);
  if (text.find(':') != text.npos && text.find("::") == text.npos)
    throw Unsure(
        "PTX with labels is not supported by the CPU device; give the function that contains it a "
        "second body for STAIRCASE_CUDA_ON_CPU");
  const auto end = text.find_first_of(" \t\n");
  const std::string instruction = text.substr(0, end);
  Strings pieces = end == text.npos ? Strings{} : split(text.substr(end), ',');
  if (instruction.starts_with("mma.sync"))
    return condition + product_call_of(instruction, pieces, statement);
  if (instruction.find("matrix.sync") != instruction.npos)
    return condition + transfer_call_of(instruction, pieces, statement);
  bool in_shared = false;
  std::string function = function_of(instruction, in_shared);
  std::string arguments;
  // The last operand is an eviction hint, which has no effect here.
  if (instruction.find("L2::cache_hint") != instruction.npos) pieces.pop_back();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string piece = trimmed(pieces[i]);
    if (function.starts_with("mov<") && piece.starts_with('{'))
      function.insert(3, i == 0 ? "_apart" : "_together");
    for (const std::string& part : parts_of(piece))
      arguments += (arguments.empty() ? "" : ", ") + operand_of(part, statement, in_shared);
    if (function.starts_with("cp_async")) in_shared = false;  // the source is in global memory
  }
  return condition + space + function + '(' + arguments + ");";
}

}  // namespace

void rewrite_ptx(Source& source, std::size_t i) {
  std::size_t opening = source.next(i);
  while (source.is(opening, "volatile") || source.is(opening, "__volatile__"))
    opening = source.next(opening);
  if (!source.is_sign(opening, "(")) throw Unsure("asm has no instructions");
  Statement statement = statement_of(source, opening);
  std::string& all = statement.instructions;
  all = trimmed(all);
  if (all.starts_with('{') && all.ends_with('}')) all = all.substr(1, all.size() - 2);
  std::string calls;
  for (const std::string& piece : split(statement.instructions, ';')) {
    const std::string text = trimmed(piece);
    if (text.empty()) continue;
    if (!calls.empty()) calls += ' ';
    calls += text.starts_with(".reg") ? declared(text, statement) : call_of(text, statement);
  }
  // The calls and the next semicolon form one statement, as in `if (a) asm(...); else ...`.
  source.replace(i, source.close_of(opening) + 1, "do { " + calls + " } while (false)");
}

}  // namespace cuda_on_cpu::rewriter
