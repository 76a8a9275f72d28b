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
