/// \file
/// Requests of a warp: which lanes access memory together, and the cost in sectors or wavefronts.

#include <algorithm>
#include <bit>

#include "../machine/launch.hpp"
#include "ends.hpp"
#include "findings.hpp"
#include "targets.hpp"
#include "trial.hpp"

namespace cuda_on_cpu::analysis {
namespace {

constexpr std::uintptr_t sector_bytes = 32;
constexpr unsigned banks = 32;
constexpr unsigned bank_bytes = 4;

using Addresses = const std::uintptr_t (&)[warp_size];

/// The number of sectors that a request accesses, if the addresses ascend from each `Row` (a run of
/// consecutive lanes) to the next; otherwise 0.
unsigned count_sectors_in_order(const Request& request, Addresses addresses, unsigned bytes) {
  unsigned count = 0;
  std::uintptr_t next = 0;  // the first sector that is not counted yet
  for (const Row& row : request) {
    const std::uintptr_t first = addresses[row.first] / sector_bytes;
    const std::uintptr_t behind = (addresses[row.end - 1] + bytes - 1) / sector_bytes + 1;
    if (first + 1 < next) return 0;
    count += static_cast<unsigned>(behind - std::max(first, std::min(next, behind)));
    next = behind;
  }
  return count;
}

/// The number of distinct 32-byte sectors that the lanes access.
unsigned count_sectors(unsigned mask, Addresses addresses, unsigned bytes) {
  std::uintptr_t sectors[2 * warp_size];
  unsigned count = 0;
  bool sorted = true;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    const std::uintptr_t first = addresses[std::countr_zero(rest)];
    for (auto sector = first / sector_bytes; sector <= (first + bytes - 1) / sector_bytes;
         ++sector) {
      if (count > 0 && sectors[count - 1] == sector) continue;
      sorted = sorted && (count == 0 || sectors[count - 1] < sector);
      sectors[count++] = sector;
    }
  }
  if (sorted) return count;
  std::sort(sectors, sectors + count);
  return static_cast<unsigned>(std::unique(sectors, sectors + count) - sectors);
}

/// The number of sector accesses of an atomic operation. Lanes with the same address are served one
/// after the other, so a sector counts as often as its most frequent address.
unsigned count_atomic_sectors(unsigned mask, Addresses addresses) {
  std::uintptr_t sorted[warp_size];
  unsigned count = 0;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1)
    sorted[count++] = addresses[std::countr_zero(rest)];
  std::sort(sorted, sorted + count);
  unsigned sectors = 0, rounds = 0, same = 0;
  for (unsigned i = 0; i < count; ++i) {
    same = i > 0 && sorted[i] == sorted[i - 1] ? same + 1 : 1;
    if (i > 0 && sorted[i] / sector_bytes != sorted[i - 1] / sector_bytes) {
      sectors += rounds;
      rounds = 0;
    }
    rounds = std::max(rounds, same);
  }
  return sectors + rounds;
}

/// Whether a request of one four-byte word per lane certainly has no bank conflict.
bool have_no_conflict(const Request& request, Addresses addresses) {
  std::uintptr_t before = 0;
  unsigned used = 0, words_before = 0;
  for (const Row& row : request) {
    const std::uintptr_t first = addresses[row.first];
    const unsigned words = row.same ? 1 : row.end - row.first;
    if (first % bank_bytes != 0) return false;
    if (first == before && words == words_before) continue;
    const unsigned mine =
        std::rotl(all_lanes >> (banks - words), static_cast<int>(first / bank_bytes % banks));
    if ((used & mine) != 0) return false;
    used |= mine;
    before = first;
    words_before = words;
  }
  return true;
}

/// The largest number of words that lanes access in one bank. A word that several lanes load or
/// store counts once (`share`). A word that several lanes update by atomic operations counts once
/// per lane.
unsigned count_conflicts(unsigned mask, Addresses addresses, unsigned bytes, bool share) {
  std::uintptr_t words[banks][2 * warp_size];
  unsigned counts[banks] = {};
  unsigned most = 0;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    const std::uintptr_t first = addresses[std::countr_zero(rest)];
    for (auto word = first / bank_bytes; word <= (first + bytes - 1) / bank_bytes; ++word) {
      const auto bank = word % banks;
      auto* end = words[bank] + counts[bank];
      if (share && std::find(words[bank], end, word) != end) continue;
      *end = word;
      most = std::max(most, ++counts[bank]);
    }
  }
  return most;
}

/// Whether the two lanes of each pair of neighbours access the same address, if both take part.
/// \param bit bit in which the indices of two neighbours differ
bool neighbours_agree(unsigned mask, Addresses addresses, unsigned bit) {
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const unsigned neighbour = lane ^ bit;
    if ((mask >> neighbour & 1) != 0 && addresses[neighbour] != addresses[lane]) return false;
  }
  return true;
}

unsigned lanes_from(unsigned first, unsigned count) {
  return count == warp_size ? all_lanes : ((1u << count) - 1) << first;
}

/// Calls `serve(lanes)` for each group of lanes that shared memory serves together. For accesses
/// wider than 4 bytes, a group has as many lanes as the banks can serve at once. Two groups are
/// served together in a load if neighbouring lanes use the same address (measured by
/// tests/access_patterns.cu).
template <typename Serve>
void for_each_group(unsigned mask, Addresses addresses, unsigned bytes, bool loads,
                    const Serve& serve) {
  const unsigned lanes = bytes <= bank_bytes ? warp_size : warp_size * bank_bytes / bytes;
  if (lanes == warp_size) return serve(mask);
  for (unsigned first = 0; first < warp_size; first += 2 * lanes) {
    const unsigned both = mask & lanes_from(first, 2 * lanes);
    if (loads && (neighbours_agree(both, addresses, 1) || neighbours_agree(both, addresses, 2))) {
      serve(both);
    } else {
      serve(both & lanes_from(first, lanes));
      serve(both & lanes_from(first + lanes, lanes));
    }
  }
}

/// The number of shared-memory wavefronts of a request. A compare-and-swap requires twice as many
/// wavefronts as another atomic operation.
unsigned count_wavefronts(unsigned mask, Addresses addresses, unsigned bytes, Kind kind) {
  const bool updates = kind == atomic || kind == atomic_compare;
  unsigned wavefronts = 0;
  for_each_group(mask, addresses, bytes, kind == read, [&](unsigned lanes) {
    wavefronts += count_conflicts(lanes, addresses, bytes, !updates);
  });
  return kind == atomic_compare ? 2 * wavefronts : wavefronts;
}

unsigned ideal_wavefronts(unsigned mask, Addresses addresses, unsigned bytes, Kind kind) {
  unsigned groups = 0;
  for_each_group(mask, addresses, bytes, kind == read,
                 [&](unsigned lanes) { groups += lanes != 0; });
  return kind == atomic_compare ? 2 * groups : groups;
}

Site& site_of(Place place, AccessForm form) {
  Sites& sites = block->on_trial ? notes().sites : record().sites;
  return sites.at({block->launch->record, place, static_cast<Kind>(form.kind()),
                   static_cast<Space>(form.space()), static_cast<std::uint8_t>(form.bytes())});
}

/// The lane whose pending access is checked first. Usually, this lane has the access in the deepest
/// stack frame, at the lowest instruction address. Lanes that diverged in a branch or a loop then
/// reconverge. While lanes spin in a loop, the oldest access is first, because the spinning lanes
/// may wait for it.
unsigned first_of(const Accesses& all, unsigned pending) {
  const bool take_turns = waits_in_loops();
  auto first = static_cast<unsigned>(std::countr_zero(pending));
  for (unsigned rest = pending & (pending - 1); rest != 0; rest &= rest - 1) {
    const auto other = static_cast<unsigned>(std::countr_zero(rest));
    if (take_turns ? all.number[other] < all.number[first] : all.order[other] > all.order[first])
      first = other;
  }
  return first;
}

/// Whether all lanes of a warp wait with accesses of the same form at the same instruction.
bool are_at_one(const Accesses& all) {
  std::uint64_t orders = 0;
  std::uint32_t forms = 0;
  for (unsigned lane = 1; lane < warp_size; ++lane) orders |= all.order[lane] ^ all.order[0];
  for (unsigned lane = 1; lane < warp_size; ++lane)
    forms |= all.form[lane].word() ^ all.form[0].word();
  return orders == 0 && forms == 0;
}

bool are_at_one(const Accesses& all, unsigned lanes) {
  if (lanes == all_lanes) return are_at_one(all);
  const int first = std::countr_zero(lanes);
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1)
    if (const int lane = std::countr_zero(rest);
        all.form[lane] != all.form[first] || all.order[lane] != all.order[first])
      return false;
  return true;
}

/// Whether the accesses of all lanes of a warp form one row.
bool are_a_row(const Accesses& all) {
  const std::uintptr_t step = all.address[1] - all.address[0];
  if (step != 0 && step != all.form[0].bytes()) return false;
  std::uintptr_t different = 0;
  for (unsigned lane = 2; lane < warp_size; ++lane)
    different |= (all.address[lane] - all.address[lane - 1]) ^ step;
  return different == 0;
}

/// The row that begins with the first lane of a mask.
Row row_of(unsigned lanes, const Accesses& all) {
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const unsigned most = first + static_cast<unsigned>(std::countr_one(lanes >> first));
  unsigned end = first + 1;
  if (end == most) return {first, end, false};
  const std::uintptr_t step = all.address[end] - all.address[first];
  if (step != 0 && step != all.form[first].bytes()) return {first, end, false};
  while (end < most && all.address[end] - all.address[end - 1] == step) ++end;
  return {first, end, step == 0};
}

/// The mask of the lanes whose pending accesses form the next request.
unsigned next_request(const Accesses& all, unsigned pending) {
  const unsigned first = first_of(all, pending);
  unsigned lanes = 0;
  for (unsigned rest = pending; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (all.order[lane] == all.order[first] && all.form[lane].space() == all.form[first].space())
      lanes |= 1u << lane;
  }
  return lanes;
}

/// The cost of a request, in wavefronts for shared memory and in sectors for global memory.
unsigned cost_of(const Site& site, const Request& request) {
  Addresses addresses = request.all.address;
  const bool updates = site.kind == atomic || site.kind == atomic_compare;
  if (site.space == Space::shared)
    return request.alike && !updates && site.bytes == bank_bytes &&
                   have_no_conflict(request, addresses)
               ? 1
               : count_wavefronts(request.lanes, addresses, site.bytes, site.kind);
  if (updates) return count_atomic_sectors(request.lanes, addresses);
  const unsigned sectors =
      request.alike ? count_sectors_in_order(request, addresses, site.bytes) : 0;
  return sectors > 0 ? sectors : count_sectors(request.lanes, addresses, site.bytes);
}

/// Adds a request of a warp to the counts of its instruction.
void count_request(const Request& request) {
  const Accesses& all = request.all;
  const unsigned first = request.rows[0].first;
  Site& site = site_of(place_in(all.order[first]), all.form[first]);
  const auto lanes = static_cast<unsigned>(std::popcount(request.lanes));
  const unsigned cost = cost_of(site, request);
  const auto least = static_cast<unsigned>((lanes * site.bytes + sector_bytes - 1) / sector_bytes);
  ++site.requests;
  site.lanes += lanes;
  site.cost += cost;
  site.ideal += site.space == Space::shared
                    ? ideal_wavefronts(request.lanes, all.address, site.bytes, site.kind)
                    : std::min(cost, least);
}

/// Whether the oldest accesses of all lanes are in one row of the log.
bool are_in_one_row(const AccessLog& log) {
  std::uint8_t different = 0;
  for (unsigned lane = 1; lane < warp_size; ++lane)
    different = static_cast<std::uint8_t>(different | (log.begin[lane] ^ log.begin[0]));
  return different == 0;
}

bool are_in_one_row(const AccessLog& log, unsigned lanes) {
  if (lanes == all_lanes) return are_in_one_row(log);
  const std::uint8_t first = log.begin[std::countr_zero(lanes)];
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1)
    if (log.begin[std::countr_zero(rest)] != first) return false;
  return true;
}

/// The oldest accesses of some lanes: a row of the log, or a copy if they are in several rows.
const Accesses& oldest(const AccessLog& log, unsigned lanes, Accesses& copy) {
  if (are_in_one_row(log, lanes)) return log.rows[log.begin[std::countr_zero(lanes)]];
  copy.changes = 0;
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const Accesses& row = log.rows[log.begin[lane]];
    copy.address[lane] = row.address[lane];
    copy.order[lane] = row.order[lane];
    copy.number[lane] = row.number[lane];
    copy.form[lane] = row.form[lane];
    copy.changes |= row.changes & rest & -rest;
  }
  return copy;
}

/// Removes the oldest access of every lane from the log.
/// \returns the number of lanes without further accesses
unsigned count_done(AccessLog& log) {
  std::uint8_t done = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    ++log.begin[lane];
    done = static_cast<std::uint8_t>(done + (log.begin[lane] == log.end[lane]));
  }
  return done;
}

/// Removes the oldest accesses of some lanes from the log.
/// \returns the mask of the lanes without further accesses
unsigned forget_oldest(AccessLog& log, unsigned lanes) {
  if (lanes == all_lanes) {
    const unsigned count = count_done(log);
    if (count == 0) return 0;
    if (count == warp_size) {
      log.rewind();
      return all_lanes;
    }
  }
  unsigned done = 0;
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (lanes != all_lanes) ++log.begin[lane];
    if (log.begin[lane] != log.end[lane]) continue;
    log.begin[lane] = log.end[lane] = 0;
    done |= rest & -rest;
  }
  return done;
}

}  // namespace

bool AccessLog::was_stored_again(unsigned lane, std::uint32_t request) const {
  const Accesses& mine = rows[begin[lane]];
  std::uint64_t next_change = ~std::uint64_t{0}, again = next_change;
  for (unsigned other = 0; other < warp_size; ++other)
    for (unsigned row = 0; row < most; ++row) {  // includes checked accesses
      const Accesses& all = rows[row];
      if (all.address[other] != mine.address[lane] || all.number[other] <= mine.number[lane] ||
          all.form[other].kind() != write)
        continue;
      const bool is_checked = row < begin[other] || row >= end[other] ||
                              (row == begin[other] && other < lane && (request >> other & 1) != 0);
      if ((all.changes >> other & 1) != 0)
        next_change = std::min(next_change, all.number[other]);
      else if (is_checked && all.form[other].bytes() == mine.form[lane].bytes())
        again = std::min(again, all.number[other]);
    }
  return again < next_change;
}

Request::Request(const Accesses& all, unsigned lanes, bool alike)
    : all(all), lanes(lanes), alike(alike) {
  if (alike && lanes == all_lanes && are_a_row(all)) {
    rows[count++] = {0, warp_size, all.address[0] == all.address[1]};
    return;
  }
  for (unsigned rest = lanes; rest != 0;) {
    const Row row = row_of(rest, all);
    rows[count++] = row;
    rest &= ~row.lanes();
  }
}

Site& Sites::at(const Site& empty) {
  const Place place = empty.place;
  const std::uint64_t key =
      (static_cast<std::uint64_t>(place) << 24) ^ (static_cast<std::uint64_t>(empty.kernel) << 12) ^
      (std::uint64_t{empty.bytes} << 4 | static_cast<unsigned>(empty.kind) << 1 |
       static_cast<unsigned>(empty.space));
  const std::size_t slot = (place ^ place >> 8) & 255;
  if (last[slot] != nullptr && last_keys[slot] == key) return *last[slot];
  Site& site = all.try_emplace(key, empty).first->second;
  last_keys[slot] = key;
  last[slot] = &site;
  return site;
}

void Sites::add(const Sites& others) {
  for (const auto& [key, other] : others.all) {
    Site& site = at({other.kernel, other.place, other.kind, other.space, other.bytes});
    site.requests += other.requests;
    site.lanes += other.lanes;
    site.cost += other.cost;
    site.ideal += other.ideal;
  }
}

void resolve(Warp& warp) {
  if (ends_by_signal.load(std::memory_order_relaxed)) wait_for_end();
  Accesses copy;
  while (warp.running == 0 && warp.pending != 0) {
    const Accesses& all = oldest(*warp.log, warp.pending, copy);
    const bool together = are_at_one(all, warp.pending);
    const unsigned lanes = together ? warp.pending : next_request(all, warp.pending);
    const Request request(all, lanes, together || are_at_one(all, lanes));
    check_request(warp, request);
    count_request(request);
    const unsigned done = forget_oldest(*warp.log, lanes);
    warp.pending &= ~done;
    if (done != 0) go_on(warp, done);
  }
}

void check_rest(Warp& warp) {
  Accesses copy;
  while (warp.pending != 0) {
    const Accesses& all = oldest(*warp.log, warp.pending, copy);
    check_request(warp, Request(all, warp.pending, false));
    warp.pending &= ~forget_oldest(*warp.log, warp.pending);
  }
}

}  // namespace cuda_on_cpu::analysis
