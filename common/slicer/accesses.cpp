#include "accesses.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace slicer {
namespace {

/// Whether each iteration of a loop has a variable of its own.
bool is_private(const Access& access, const Loop& loop) {
  const Variable& variable = *access.place.variable;
  if (&variable == loop.variable && access.place.steps.empty()) return true;
  if (!variable.frame || variable.is_named || !variable.frame->is_within(loop.frame)) return false;
  // What a name stands for was read when it was made.
  if (variable.is_stray && access.is_write) return false;
  return variable.owns || !has_element(access.place);
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
                       const std::vector<const Access*>& accesses) {
  for (const Trouble& trouble : function.troubles)
    if (trouble.frame->is_within(&frame))
      return fmt::format("{} in line {}", trouble.reason, trouble.line);
  for (const Access* access : accesses)
    if (access->is_write && access->place.steps.empty() && access->place.variable->is_array &&
        !access->place.variable->owns)
      return fmt::format("line {} lets `{}` be other memory", access->line,
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
  const auto comes_again = [&](const Frame* frame) {
    for (; frame; frame = frame->parent)
      if (frame->loop && frame->loop != &loop && loop.frame->is_within(frame) &&
          !(root->frame && root->frame->is_within(frame)))
        return true;
    return false;
  };
  for (const Trouble& trouble : function.troubles)
    if (!trouble.frame->is_within(loop.frame) &&
        (trouble.line >= loop.line || comes_again(trouble.frame)))
      return fmt::format("{} in line {} may need `{}`", trouble.reason, trouble.line,
                         variable.name);
  for (std::size_t a = 0; a < function.accesses.size(); ++a) {
    const Access& access = function.accesses[a];
    if (access.is_write || access.place.variable != root || access.frame->is_within(loop.frame))
      continue;
    const bool is_behind = a > last;
    if (!is_behind && !comes_again(access.frame)) continue;
    const Frame* again = access.frame;
    while (!is_behind && !(again->loop && loop.frame->is_within(again))) again = again->parent;
    // Another value may have been written in between.
    bool is_written = false;
    for (std::size_t w = is_behind ? last + 1 : 0; w < a; ++w) {
      const Access& write = function.accesses[w];
      is_written = is_written ||
                   (write.is_write && write.place.variable == root && write.place.steps.empty() &&
                    (is_behind || write.frame->is_within(again)) &&
                    access.frame->is_within(together_with(write.frame)));
    }
    if (!is_written)
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
