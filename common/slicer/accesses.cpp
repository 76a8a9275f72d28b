#include "accesses.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "clauses.hpp"
#include "syntax.hpp"

namespace slicer {
namespace {

/// Whether each iteration of a loop has its own copy of the accessed memory.
bool is_private(const Access& access, const Loop& loop) {
  const Variable& variable = *access.place.variable;
  if (&variable == loop.variable && access.place.steps.empty()) return true;
  if (!variable.frame || variable.is_named || !variable.frame->is_within(loop.frame)) return false;
  // The target of a reference was read when the reference was initialised, so a read through the
  // reference is private.
  if (variable.is_stray && access.is_write) return false;
  return variable.owns || !has_element(access.place);
}

/// Whether an expression or a statement names a variable.
bool names(CXCursor cursor, CXCursor declaration) {
  if (clang_equalCursors(clang_getCanonicalCursor(clang_getCursorReferenced(cursor)), declaration))
    return true;
  const Cursors parts = children_of(cursor);
  return std::any_of(parts.begin(), parts.end(),
                     [&](CXCursor part) { return names(part, declaration); });
}

/// Whether a construct contains a jump, or may contain one.
bool has_jump(CXCursor cursor) {
  switch (clang_getCursorKind(cursor)) {
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
    case CXCursor_LabelStmt:
    case CXCursor_GCCAsmStmt:
    case CXCursor_MSAsmStmt:
      return true;
    default:
      break;
  }
  const Cursors parts = children_of(cursor);
  return std::any_of(parts.begin(), parts.end(), has_jump);
}

/// Whether a construct may change the order in which the code around it runs.
bool leads_elsewhere(const Trouble& trouble) {
  if (!trouble.is_directive) return has_jump(trouble.cursor);
  const std::string& directive = trouble.frame->directive;
  return directive.find("task") != directive.npos || directive.find("section") != directive.npos;
}

}  // namespace

std::vector<const Access*> accesses_of(const Function& function, const Loop& loop) {
  std::vector<const Access*> accesses;
  for (const Access& access : function.accesses)
    if (access.frame->is_within(loop.frame) && !is_private(access, loop))
      accesses.push_back(&access);
  return accesses;
}

std::string trouble_in(const Function& function, const Frame& frame,
                       const std::vector<const Access*>& accesses, bool with_output) {
  for (const Trouble& trouble : function.troubles)
    if (trouble.frame->is_within(&frame) && (with_output || !trouble.only_prints))
      return fmt::format("{} in line {}", trouble.reason, trouble.line);
  for (const Access* access : accesses)
    if (access->is_write && access->place.steps.empty() && access->place.variable->is_array &&
        !access->place.variable->owns)
      return fmt::format("line {} lets `{}` refer to other memory", access->line,
                         access->place.variable->name);
  return {};
}

std::string need_after(const Function& function, const Loop& loop, const Variable& variable) {
  const Variable* root = &variable;
  if (root->frame && root->frame->is_within(loop.frame)) return {};
  const bool is_own = root->is_object && (root->parameter >= 0 || root->frame) && root->is_apart;
  if (!is_own) return fmt::format("`{}` may be needed after the loop", variable.name);
  std::size_t last = 0;
  for (std::size_t a = 0; a < function.accesses.size(); ++a)
    if (function.accesses[a].frame->is_within(loop.frame)) last = a;
  /// The innermost loop, other than `loop`, that contains both `frame` and `loop` and that runs
  /// several iterations within the lifetime of the variable.
  const auto repeats = [&](const Frame* frame) -> const Frame* {
    for (; frame; frame = frame->parent)
      if (frame->loop && frame->loop != &loop && loop.frame->is_within(frame) &&
          !(root->frame && root->frame->is_within(frame)))
        return frame;
    return nullptr;
  };
  /// Whether a read may get the value that the variable has after the loop. The read is in `frame`,
  /// after the first `at` accesses of the function.
  const auto may_get_value = [&](const Frame* frame, std::size_t at) {
    const bool is_behind = at > last;
    const Frame* again = is_behind ? nullptr : repeats(frame);
    if (!is_behind && !again) return false;
    // Another value may have been written in between.
    for (std::size_t w = is_behind ? last + 1 : 0; w < at; ++w) {
      const Access& write = function.accesses[w];
      if (write.is_write && write.place.variable == root && write.place.steps.empty() &&
          (is_behind || write.frame->is_within(again)) &&
          frame->is_within(together_with(write.frame)))
        return false;
    }
    return true;
  };
  for (const Trouble& trouble : function.troubles) {
    if (trouble.only_prints || trouble.frame->is_within(loop.frame)) continue;
    const bool may_run_after = trouble.line >= loop.line || repeats(trouble.frame);
    const bool is_read = !trouble.is_directive && names(trouble.cursor, root->declaration) &&
                         may_get_value(trouble.frame, trouble.at);
    if (may_run_after && (is_read || leads_elsewhere(trouble)))
      return fmt::format("{} in line {} may need `{}`", trouble.reason, trouble.line,
                         variable.name);
  }
  for (const Pragma* pragma : function.pragmas) {
    const bool is_behind = pragma->statement > loop.range.last;
    if (may_read(*pragma, variable.name) && (is_behind || repeats(loop.frame)))
      return fmt::format("the pragma in line {} may need `{}`", pragma->line, variable.name);
  }
  for (std::size_t a = 0; a < function.accesses.size(); ++a) {
    const Access& access = function.accesses[a];
    if (access.is_write || access.place.variable != root || access.frame->is_within(loop.frame))
      continue;
    if (may_get_value(access.frame, a))
      return fmt::format("line {} may need the last value of `{}`", access.line, variable.name);
  }
  return {};
}

bool is_written_first(const std::vector<const Access*>& accesses, const Variable* variable) {
  for (std::size_t r = 0; r < accesses.size(); ++r) {
    const Access& read = *accesses[r];
    if (read.place.variable != variable) continue;
    if (has_element(read.place)) return false;
    if (read.is_write) continue;
    const bool is_covered =
        std::any_of(accesses.begin(), accesses.begin() + r, [&](const Access* write) {
          return write->is_write && write->place.variable == variable &&
                 write->place.steps.size() <= read.place.steps.size() &&
                 may_overlap(write->place, read.place) &&
                 read.frame->is_within(together_with(write->frame));
        });
    if (!is_covered) return false;
  }
  return true;
}

}  // namespace slicer
