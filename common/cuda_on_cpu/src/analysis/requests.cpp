/// \file
/// Requests of a warp: which lanes access memory together, and what that costs.

#include <algorithm>
#include <bit>

#include "../launch.hpp"
#include "findings.hpp"

namespace cuda_on_cpu::analysis {
namespace {

constexpr std::uintptr_t sector_bytes = 32;
constexpr unsigned banks = 32;
constexpr unsigned bank_bytes = 4;

using Addresses = const std::uintptr_t (&)[warp_size];

/// Distinct sectors that the lanes touch.
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

/// Sectors of an atomic: one comes again for each lane that wants the same address.
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

/// The most words of one bank that some of the lanes touch. Lanes that load or store the same word
/// share it, lanes that update it do not.
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

/// Whether each lane's neighbour, whose number differs in one bit, wants the same address or none.
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

/// Calls `serve(lanes)` for each group of lanes that shared memory serves at a time. Wide accesses
/// are served in groups of as many lanes as the banks can feed at once; two such groups load
/// together where neighbours agree (found by experiment, see tests/cuda_on_cpu/access_patterns.cu).
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

/// Wavefronts of shared memory; comparing and swapping takes two passes.
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

Place place_of(const PendingAccess& access) { return ~static_cast<Place>(access.order); }

Site& site_of(const PendingAccess& access) {
  const std::uint32_t kernel = block->launch->record;
  const Place place = place_of(access);
  const std::uint64_t key = (static_cast<std::uint64_t>(place) << 24) ^
                            (static_cast<std::uint64_t>(kernel) << 12) ^
                            (std::uint64_t{access.bytes} << 4 | access.kind << 1 | access.space);
  static std::uint64_t last_keys[256];
  static Site* last_sites[256];
  const std::size_t slot = (place ^ place >> 8) & 255;
  if (last_sites[slot] != nullptr && last_keys[slot] == key) return *last_sites[slot];
  Site& site = record()
                   .sites
                   .try_emplace(key, Site{kernel, place, static_cast<Kind>(access.kind),
                                          static_cast<Space>(access.space), access.bytes})
                   .first->second;
  last_keys[slot] = key;
  last_sites[slot] = &site;
  return site;
}

/// The access that goes first of those that the lanes of a warp wait with. As a rule it is the one
/// in the deepest frame at the lowest address: so do branches and loops of a warp run in turn and
/// meet again. While lanes wait in a loop it is the oldest, for it may be the one that they wait
/// for.
const PendingAccess& first_of(const Warp& warp) {
  const bool take_turns = waits_in_loops();
  const PendingAccess* first = &warp.accesses[std::countr_zero(warp.pending)];
  for (unsigned rest = warp.pending & (warp.pending - 1); rest != 0; rest &= rest - 1) {
    const PendingAccess& other = warp.accesses[std::countr_zero(rest)];
    if (take_turns ? other.number < first->number : other.order > first->order) first = &other;
  }
  return *first;
}

}  // namespace

void count_request(Site& site, unsigned mask, const std::uintptr_t (&addresses)[warp_size]) {
  const auto lanes = static_cast<unsigned>(std::popcount(mask));
  ++site.requests;
  site.lanes += lanes;
  if (site.space == Space::shared) {
    site.cost += count_wavefronts(mask, addresses, site.bytes, site.kind);
    site.ideal += ideal_wavefronts(mask, addresses, site.bytes, site.kind);
  } else {
    const bool updates = site.kind == atomic || site.kind == atomic_compare;
    const unsigned sectors = updates ? count_atomic_sectors(mask, addresses)
                                     : count_sectors(mask, addresses, site.bytes);
    const auto least =
        static_cast<unsigned>((lanes * site.bytes + sector_bytes - 1) / sector_bytes);
    site.cost += sectors;
    site.ideal += std::min(sectors, least);
  }
}

void resolve(Warp& warp) {
  const PendingAccess request = first_of(warp);
  std::uintptr_t addresses[warp_size];
  unsigned mask = 0;
  for (unsigned rest = warp.pending; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const PendingAccess& a = warp.accesses[lane];
    if (a.order != request.order || a.space != request.space) continue;
    mask |= 1u << lane;
    addresses[lane] = a.address;
  }
  count_request(site_of(request), mask, addresses);
  warp.pending &= ~mask;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1)
    wake(&warp.threads[std::countr_zero(rest)]);
}

}  // namespace cuda_on_cpu::analysis
