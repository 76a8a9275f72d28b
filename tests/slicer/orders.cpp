#include "orders.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace slicer::test {
namespace {

long number(std::mt19937& random, long least, long most) {
  return std::uniform_int_distribution<long>(least, most)(random);
}

// --- Generating cases

/// Requests a skewing, an interchange and finally tiles of consecutive loops, or some of these.
void reorder(std::mt19937& random, Case& made) {
  const auto depth = static_cast<long>(made.nests[0].loops.size());
  const long outer = number(random, 0, depth - 2), inner = number(random, outer + 1, depth - 1);
  const auto one = static_cast<std::size_t>(outer), other = static_cast<std::size_t>(inner);
  made.loop = static_cast<std::size_t>(number(random, 0, outer));
  // In most cases, there are no statements between the loops.
  for (std::size_t l = one; l < other && number(random, 0, 9) > 0; ++l)
    made.nests[0].before[l] = made.nests[0].behind[l] = {};
  if (number(random, 0, 1)) {
    const long factor = number(random, -1, 2);
    const bool is_outer = number(random, 0, 4) == 0;
    made.asked.push_back(
        {Asked::skew,
         {{is_outer ? one : other, 0}, {is_outer ? other : one, factor == 0 ? 1 : factor}}});
  }
  if (number(random, 0, 2) > 0) made.asked.push_back({Asked::interchange, {{one, 0}, {other, 0}}});
  if (!made.asked.empty() && number(random, 0, 1)) return;
  Asked tiles{Asked::tile, {}};
  for (std::size_t l = one; l <= other; ++l) tiles.loops.push_back({l, number(random, 1, 3)});
  made.asked.push_back(tiles);
}

/// Requests the expansion of the array that the first statement of the innermost loop writes. In
/// most cases, this statement is new, and the next statement reads the element that it writes.
void expand(std::mt19937& random, Case& made) {
  Nest& nest = made.nests[0];
  std::vector<Statement>& last = nest.before.back();
  const Element read = last.front().from.front();
  if (number(random, 0, 2) > 0) last.insert(last.begin(), {read, {last.front().to}, 0, {}});
  made.asked.insert(made.asked.begin(), {Asked::expand, {}, last.front().to.array});
}

}  // namespace

Case random_case(std::mt19937& random) {
  Case made{{random_nest(random)}, 0, {}};
  const std::size_t depth = made.nests[0].loops.size();
  switch (depth > 1 ? number(random, 0, 5) : number(random, 0, 2)) {
    case 0:
      made.nests.push_back(random_nest(random));
      if (number(random, 0, 4) > 0) made.nests[1].loops[0] = made.nests[0].loops[0];
      made.asked.push_back({Asked::fuse, {}});
      break;
    case 1:
      made.loop = static_cast<std::size_t>(number(random, 0, static_cast<long>(depth) - 1));
      made.asked.push_back({Asked::distribute, {}});
      break;
    case 2:
      made.loop = static_cast<std::size_t>(number(random, 0, static_cast<long>(depth) - 1));
      expand(random, made);
      break;
    default:
      reorder(random, made);
  }
  if (made.asked[0].what != Asked::expand && number(random, 0, 3) == 0) expand(random, made);
  for (Nest& nest : made.nests) nest.loops[made.loop].guards.clear();
  return made;
}

std::string text_of(const Asked& asked) {
  const auto& loops = asked.loops;
  switch (asked.what) {
    case Asked::interchange:
      return fmt::format("interchange({}, {})", counters[loops[0].first], counters[loops[1].first]);
    case Asked::skew:
      return fmt::format("skew({}: {} * {})", counters[loops[0].first], loops[1].second,
                         counters[loops[1].first]);
    case Asked::tile: {
      std::vector<std::string> lengths;
      for (const auto& [loop, length] : loops)
        lengths.push_back(fmt::format("{}: {}", counters[loop], length));
      return fmt::format("tile({})", fmt::join(lengths, ", "));
    }
    case Asked::distribute:
      return "distribute";
    case Asked::fuse:
      return "fuse";
    default:
      return fmt::format("expand({})", arrays[asked.array]);
  }
}

// --- Running them

std::vector<Event> run(const Case& of, long n, long m) {
  std::vector<Event> events;
  for (std::size_t nest = 0; nest < of.nests.size(); ++nest)
    for (Touch& touch : run(of.nests[nest], n, m)) events.push_back({nest, std::move(touch)});
  return events;
}

namespace {

/// The order of the loops after interchanges, and the values of their counters after skewings.
struct Counters {
  std::vector<std::size_t> order;
  std::vector<long> values;
};

long floor_of(long value, long length) {
  return (value - (value % length + length) % length) / length;
}

/// The position of an event in the new order: the counters of the tiles (shifted by `begin`) and of
/// the loops, to be compared lexicographically.
std::vector<long> time_of(const Nest& nest, const Counters& at, const Asked* tiles,
                          const std::vector<long>& begin) {
  std::vector<long> time;
  bool are_tiles_counted = tiles == nullptr;
  const auto direction = [&](std::size_t loop) { return nest.loops[loop].step > 0 ? 1 : -1; };
  for (const std::size_t loop : at.order) {
    const auto is_tiled = [&](std::size_t other) {
      return std::find_if(tiles->loops.begin(), tiles->loops.end(),
                          [&](const auto& tile) { return tile.first == other; });
    };
    if (!are_tiles_counted && is_tiled(loop) != tiles->loops.end()) {
      for (const std::size_t tiled : at.order)
        if (const auto tile = is_tiled(tiled); tile != tiles->loops.end())
          time.push_back(
              direction(tiled) *
              floor_of(at.values[tiled] + begin[tile - tiles->loops.begin()], tile->second));
      are_tiles_counted = true;
    }
    time.push_back(direction(loop) * at.values[loop]);
  }
  return time;
}

/// The depth of the innermost loop that a transformation names.
std::size_t depth_of(const Case& of) {
  std::size_t depth = 0;
  for (const Asked& asked : of.asked)
    for (const auto& [loop, number] : asked.loops) depth = std::max(depth, loop + 1);
  return depth;
}

Counters counters_of(const Case& of, std::size_t count, const Touch& touch) {
  Counters at{{}, touch.counters};
  for (std::size_t l = 0; l < depth_of(of); ++l) at.order.push_back(l);
  for (std::size_t a = 0; a < count; ++a) {
    const auto& loops = of.asked[a].loops;
    if (of.asked[a].what == Asked::skew)
      at.values[loops[0].first] += loops[1].second * at.values[loops[1].first];
    if (of.asked[a].what == Asked::interchange)
      std::iter_swap(std::find(at.order.begin(), at.order.end(), loops[0].first),
                     std::find(at.order.begin(), at.order.end(), loops[1].first));
  }
  return at;
}

/// Whether the new order of the loops reverses two events, for some offset of the tiles.
bool is_reordered(const Case& of, std::size_t count, const Touch& first, const Touch& second) {
  if (std::min(first.times.size(), second.times.size()) < depth_of(of)) return false;
  const Counters one = counters_of(of, count, first), other = counters_of(of, count, second);
  const Asked* tiles = of.asked[count - 1].what == Asked::tile ? &of.asked[count - 1] : nullptr;
  std::vector<long> begin(tiles ? tiles->loops.size() : 0);
  for (;;) {
    if (time_of(of.nests[0], one, tiles, begin) > time_of(of.nests[0], other, tiles, begin))
      return true;
    std::size_t next = 0;
    while (next < begin.size() && ++begin[next] == tiles->loops[next].second) begin[next++] = 0;
    if (next == begin.size()) return false;
  }
}

}  // namespace

bool is_reversed(const Case& of, std::size_t count, const Event& first, const Event& second) {
  const Touch &one = first.touch, &other = second.touch;
  switch (of.asked[count - 1].what) {
    case Asked::expand:
      return false;
    case Asked::fuse:
      return first.nest < second.nest && one.times[0] > other.times[0];
    case Asked::distribute:
      return one.times.size() > of.loop && other.times.size() > of.loop &&
             std::equal(one.times.begin(), one.times.begin() + of.loop, other.times.begin()) &&
             one.times[of.loop] < other.times[of.loop] && one.parts[of.loop] > other.parts[of.loop];
    default:
      return is_reordered(of, count, one, other);
  }
}

}  // namespace slicer::test
