#include "generations.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "../indestructible.hpp"

namespace cuda_on_cpu {
namespace {

/// A copy, a memset, or a grid with all its direct and indirect tail launches.
struct Line {
  std::uint32_t root;  ///< the host operation from which the line descends
  unsigned depth = 0;  ///< number of ancestor lines
  Descent descent = {};
};

struct Generations {
  std::atomic<bool> any = false;
  std::mutex mutex;
  std::vector<Line> lines;
  std::unordered_map<std::uint32_t, std::size_t> line_of;  ///< index of an operation's line in
                                                           ///< `lines`
};

Generations& generations() {
  static auto& generations = indestructible<Generations>();
  return generations;
}

/// The line of an operation that launches other work.
std::size_t line_of_parent(std::uint32_t operation) {
  Generations& g = generations();
  const auto [found, is_new] = g.line_of.try_emplace(operation, g.lines.size());
  if (is_new) g.lines.push_back({.root = operation});
  return found->second;
}

/// Whether the line of `first` is complete when the line of `second` begins. Both lines have the
/// same parent grid.
bool comes_before(const Descent& first, const Descent& second) {
  if (first.stream == 0) return false;
  if (first.stream == second.stream) return first.place < second.place;
  if (second.awaited == nullptr) return false;
  const auto known = second.awaited->find(first.stream);
  return known != second.awaited->end() && known->second >= first.place;
}

}  // namespace

void note_descent(std::uint32_t operation, const Descent& descent) {
  Generations& g = generations();
  const std::scoped_lock lock(g.mutex);
  g.any = true;
  const std::size_t parent = line_of_parent(descent.parent);
  g.line_of[operation] = descent.is_tail ? parent : g.lines.size();
  if (!descent.is_tail)
    g.lines.push_back({g.lines[parent].root, g.lines[parent].depth + 1, descent});
}

bool has_parent(std::uint32_t operation) { return root_of(operation) != operation; }

std::uint32_t root_of(std::uint32_t operation) {
  Generations& g = generations();
  if (!g.any) return operation;
  const std::scoped_lock lock(g.mutex);
  const auto found = g.line_of.find(operation);
  return found == g.line_of.end() ? operation : g.lines[found->second].root;
}

bool is_done_before_relative(std::uint32_t first, std::uint32_t second) {
  Generations& g = generations();
  const std::scoped_lock lock(g.mutex);
  const Line *above_first = nullptr, *above_second = nullptr;
  const auto line_of = [&](std::uint32_t operation) { return &g.lines[g.line_of[operation]]; };
  // Ascend from the lines of the two operations to their ancestors until the lines coincide.
  for (const Line *one = line_of(first), *other = line_of(second); one != other;
       one = line_of(first), other = line_of(second)) {
    const bool lifts_first = one->depth >= other->depth, lifts_second = other->depth >= one->depth;
    if (lifts_first) first = (above_first = one)->descent.parent;
    if (lifts_second) second = (above_second = other)->descent.parent;
  }
  if (first != second) return first < second;
  return above_first != nullptr && above_second != nullptr &&
         comes_before(above_first->descent, above_second->descent);
}

}  // namespace cuda_on_cpu
