/// \file
/// The tiles of C that blocks compute on tensor cores: their order, and which of them are split.

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "ata.hpp"

namespace ata {

// [tasks]
/// The task of a block: the sums over steps `first` to `last` - 1 (rows of A) for tile (p, q) of C.
struct Task {
  unsigned p, q, first, last;
};
// [tasks]

// [plan]
/// A range of columns of tiles, `last` excluded.
struct Strip {
  unsigned first, last;
};

/// Splits the columns of tiles into strips of at most `width`. Blocks that run at the same time
/// then share columns of A.
inline std::vector<Strip> strips_of(unsigned tiles, unsigned width) {
  std::vector<Strip> strips;
  for (unsigned q = 0; q < tiles; q += width) strips.push_back({q, std::min(q + width, tiles)});
  return strips;
}

/// The tiles on and above the diagonal, strip by strip, and row by row within a strip.
inline std::vector<Task> tiles_of(const std::vector<Strip>& strips, unsigned steps) {
  std::vector<Task> tasks;
  for (const Strip& strip : strips)
    for (unsigned p = 0; p < strip.last; ++p)
      for (unsigned q = std::max(p, strip.first); q < strip.last; ++q)
        tasks.push_back({p, q, 0, steps});
  return tasks;
}

/// The number of partial sums into which each tile of the last, incomplete wave is split (split-K).
/// It minimises the time, provided that each partial sum costs as much as 8 additional steps.
inline unsigned splits_of(unsigned remaining, unsigned steps, unsigned processors) {
  const auto time = [&](unsigned splits) {
    const unsigned waves = (remaining * splits + processors - 1) / processors;
    return waves * ((steps + splits - 1) / splits + 8);
  };
  unsigned best = 1;
  for (unsigned splits = 2; splits <= steps && remaining * splits <= 3 * processors; ++splits)
    if (time(splits) < time(best)) best = splits;
  return best;
}

/// All tasks: first the tiles that one block computes, then the partial sums of the other tiles.
struct Plan {
  std::vector<Task> tasks;
  unsigned complete, remaining, splits;

  /// The number of partial sums to allocate, at least one.
  unsigned parts() const { return std::max(1u, remaining * splits); }
};

/// The first step of partial sum s.
inline unsigned first_step(unsigned s, unsigned steps, unsigned splits) {
  return std::size_t{s} * steps / splits;
}

inline Plan make_plan(const std::vector<Strip>& strips, unsigned steps, unsigned processors) {
  std::vector<Task> tasks = tiles_of(strips, steps);
  const unsigned count = tasks.size(), remaining = count % processors;
  const unsigned splits = splits_of(remaining, steps, processors);
  if (remaining == 0 || splits == 1) return {tasks, count, 0, 1};
  const std::vector<Task> cut(tasks.end() - remaining, tasks.end());
  tasks.resize(count - remaining);
  for (unsigned s = 0; s < splits; ++s)
    for (const auto& [p, q, first, last] : cut)
      tasks.push_back({p, q, first_step(s, steps, splits), first_step(s + 1, steps, splits)});
  return {tasks, count - remaining, remaining, splits};
}
// [plan]

// [products]
/// A tile of C: 128 rows beginning at row 128 p, and 256 columns beginning at column 256 q.
struct Product256 {
  unsigned p, q;
};

/// The tiles of 128 × 256 that are not completely below the diagonal, in strips of 6 columns of
/// tiles, and row by row within a strip.
inline std::vector<Product256> products_of(unsigned cols) {
  const unsigned p_tiles = (cols + 127) / 128, q_tiles = (cols + 255) / 256, width = 6;
  std::vector<Product256> products;
  for (unsigned q0 = 0; q0 < q_tiles; q0 += width)
    for (unsigned p = 0; p < std::min(2 * (q0 + width), p_tiles); ++p)
      for (unsigned q = std::max(p / 2, q0); q < std::min(q0 + width, q_tiles); ++q)
        products.push_back({p, q});
  return products;
}
// [products]

}  // namespace ata
