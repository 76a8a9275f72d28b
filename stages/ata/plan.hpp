/// \file
/// Which tiles of C the blocks of tensor cores compute, in which order, and which are cut.

#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "ata.hpp"

namespace ata {

// [tasks]
/// What a block does: a tile of C in row p and column q of tiles, summed over some steps of A.
struct Task {
  unsigned p, q, first, last;
};
// [tasks]

// [plan]
/// Columns of tiles, the last one excluded.
struct Strip {
  unsigned first, last;
};

/// Strips of so many columns of tiles: blocks that run at the same time then share the columns of A
/// that they read.
inline std::vector<Strip> strips_of(unsigned tiles, unsigned width) {
  std::vector<Strip> strips;
  for (unsigned q = 0; q < tiles; q += width) strips.push_back({q, std::min(q + width, tiles)});
  return strips;
}

/// The tiles of strips on and above the diagonal, row by row.
inline std::vector<Task> tiles_of(const std::vector<Strip>& strips, unsigned steps) {
  std::vector<Task> tasks;
  for (const Strip& strip : strips)
    for (unsigned p = 0; p < strip.last; ++p)
      for (unsigned q = std::max(p, strip.first); q < strip.last; ++q)
        tasks.push_back({p, q, 0, steps});
  return tasks;
}

/// Into how many slices to cut the tiles that are left when the others have filled `processors` as
/// often as they can: as many as make the time least, if a slice costs as much as 8 more steps.
inline unsigned slices_of(unsigned left, unsigned steps, unsigned processors) {
  const auto time = [&](unsigned slices) {
    const unsigned rounds = (left * slices + processors - 1) / processors;
    return rounds * ((steps + slices - 1) / slices + 8);
  };
  unsigned best = 1;
  for (unsigned slices = 2; slices <= steps && left * slices <= 3 * processors; ++slices)
    if (time(slices) < time(best)) best = slices;
  return best;
}

/// The tiles that are computed wholly, then the slices of the others.
struct Plan {
  std::vector<Task> tasks;
  unsigned whole, left, slices;

  /// Room for so many sums of slices, for one at least.
  unsigned parts() const { return std::max(1u, left * slices); }
};

/// Where slice s begins.
inline unsigned share(unsigned s, unsigned steps, unsigned slices) {
  return std::size_t{s} * steps / slices;
}

inline Plan make_plan(const std::vector<Strip>& strips, unsigned steps, unsigned processors) {
  std::vector<Task> tasks = tiles_of(strips, steps);
  const unsigned count = tasks.size(), left = count % processors;
  const unsigned slices = slices_of(left, steps, processors);
  if (left == 0 || slices == 1) return {tasks, count, 0, 1};
  const std::vector<Task> cut(tasks.end() - left, tasks.end());
  tasks.resize(count - left);
  for (unsigned s = 0; s < slices; ++s)
    for (const auto& [p, q, first, last] : cut)
      tasks.push_back({p, q, share(s, steps, slices), share(s + 1, steps, slices)});
  return {tasks, count - left, left, slices};
}
// [plan]

// [products]
/// A tile of C: 128 rows from 128 p on, 256 columns from 256 q on.
struct Product256 {
  unsigned p, q;
};

/// The tiles of 128 × 256 that are not wholly below the diagonal, in strips of 6 columns, row by
/// row.
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
