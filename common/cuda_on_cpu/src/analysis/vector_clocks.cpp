#include "vector_clocks.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "../indestructible.hpp"
#include "clock_map.hpp"

namespace cuda_on_cpu::analysis {

namespace {

using VariablesOfBlocks = std::unordered_map<std::uint64_t, std::vector<SyncVariable*>>;

VariablesOfBlocks& variables_of_blocks() {
  static auto& variables = indestructible<VariablesOfBlocks>();
  return variables;
}

}  // namespace

const std::vector<SyncVariable*>* variables_of_block(std::uint64_t key) {
  const auto found = variables_of_blocks().find(key);
  return found == variables_of_blocks().end() ? nullptr : &found->second;
}

std::uint32_t gang_of(const Configuration& c, std::uint32_t block) {
  if (c.cooperative) return 0;
  const unsigned x = block % c.grid.x / c.cluster.x;
  const unsigned y = block / c.grid.x % c.grid.y / c.cluster.y;
  const unsigned z = block / (c.grid.x * c.grid.y) / c.cluster.z;
  return (z * (c.grid.y / c.cluster.y) + y) * (c.grid.x / c.cluster.x) + x;
}

void forget_variables_of_blocks() { variables_of_blocks().clear(); }

std::uint32_t VectorClock::of(SyncVariable* variable) const {
  const auto at = std::lower_bound(all_.begin(), all_.end(), Component{variable, 0});
  return at == all_.end() || at->first != variable ? 0 : at->second;
}

void VectorClock::raise(SyncVariable* variable, std::uint32_t releases) {
  const auto at = std::lower_bound(all_.begin(), all_.end(), Component{variable, 0});
  if (at != all_.end() && at->first == variable)
    at->second = std::max(at->second, releases);
  else
    all_.insert(at, {variable, releases});
}

void VectorClock::join(const VectorClock& other) {
  if (other.all_.empty()) return;
  if (all_.empty()) {
    all_ = other.all_;
    return;
  }
  if (other.all_.size() == 1) return raise(other.all_[0].first, other.all_[0].second);
  std::size_t common = 0;
  for (std::size_t mine = 0, theirs = 0; mine < all_.size() && theirs < other.all_.size();) {
    Component& here = all_[mine];
    const Component& there = other.all_[theirs];
    if (here.first == there.first) {
      here.second = std::max(here.second, there.second);
      ++common;
      ++mine;
      ++theirs;
    } else if (here.first < there.first) {
      ++mine;
    } else {
      ++theirs;
    }
  }
  if (common == other.all_.size()) return;
  std::vector<Component> both;
  both.reserve(all_.size() + other.all_.size() - common);
  std::set_union(all_.begin(), all_.end(), other.all_.begin(), other.all_.end(),
                 std::back_inserter(both),
                 [](const Component& a, const Component& b) { return a.first < b.first; });
  all_ = std::move(both);
}

FenceClocks latest(const FenceClocks& now, const FenceClocks& before) {
  if (now == before || before == nullptr) return now;
  if (now == nullptr) return before;
  const std::size_t threads = std::min(now->size(), before->size());
  if (before->size() <= now->size() &&
      std::equal(before->begin(), before->end(), now->begin(), std::less_equal()))
    return now;
  auto both = std::make_shared<std::vector<std::uint32_t>>(*now);
  both->resize(std::max(now->size(), before->size()));
  for (std::size_t i = 0; i < before->size(); ++i)
    (*both)[i] = std::max((*before)[i], i < threads ? (*now)[i] : 0);
  return both;
}

void SyncVariable::release(std::uint32_t operation, std::uint32_t block, Release release,
                           const VectorClock& known_to_thread, std::uint32_t gang,
                           const Configuration& configuration) {
  known.join(known_to_thread);
  release.position = ++releases_;
  if (operations_.empty() || operations_.back().first != operation)
    operations_.emplace_back(operation, release.position);
  if (release.gang_waits > 0) {
    OfGangs& all = of_gangs_.try_emplace(operation, OfGangs{configuration}).first->second;
    auto& of_gang = all.by_gang[gang];
    if (of_gang.empty() || of_gang.back().gang_waits < release.gang_waits)
      of_gang.push_back({release.position, release.gang_waits});
  }
  const std::uint64_t key = key_of(operation, block);
  const auto [at, is_first] = by_block_.try_emplace(key);
  if (is_first) variables_of_blocks()[key].push_back(this);
  OfBlock& of_block = at->second;
  of_block.known.join(known_to_thread);
  if (!of_block.all.empty()) {  // each release of a block includes the block's earlier releases
    const Release& before = of_block.all.back();
    release.block = std::max(release.block, before.block);
    release.fences = latest(release.fences, before.fences);
  }
  if (of_block.last.size() <= release.thread) of_block.last.resize(release.thread + 1);
  std::uint32_t& last = of_block.last[release.thread];
  release.before = last;
  if (last != 0) {
    const Release& before = of_block.all[last - 1];
    release.own = std::max(release.own, before.own);
    release.itself = std::max(release.itself, before.itself);
  }
  const std::size_t warp = release.thread / warp_size;
  if (of_block.last_of_warp.size() <= warp) of_block.last_of_warp.resize(warp + 1);
  std::uint32_t& last_of_warp = of_block.last_of_warp[warp];
  release.before_of_warp = last_of_warp;
  if (last_of_warp != 0) release.warp = std::max(release.warp, of_block.all[last_of_warp - 1].warp);
  of_block.all.push_back(std::move(release));
  last = last_of_warp = static_cast<std::uint32_t>(of_block.all.size());
}

const Release* SyncVariable::OfBlock::last_of(std::uint16_t thread, std::uint32_t releases) const {
  if (thread >= last.size()) return nullptr;
  std::uint32_t index = last[thread];
  while (index != 0 && all[index - 1].position > releases) index = all[index - 1].before;
  return index == 0 ? nullptr : &all[index - 1];
}

const Release* SyncVariable::OfBlock::last_of_warp_of(std::uint16_t thread,
                                                      std::uint32_t releases) const {
  const std::size_t warp = thread / warp_size;
  if (warp >= last_of_warp.size()) return nullptr;
  std::uint32_t index = last_of_warp[warp];
  while (index != 0 && all[index - 1].position > releases) index = all[index - 1].before_of_warp;
  return index == 0 ? nullptr : &all[index - 1];
}

bool SyncVariable::OfBlock::covers(std::uint32_t releases, const Event& then, std::uint16_t thread,
                                   bool is_here) const {
  const auto behind = std::upper_bound(
      all.begin(), all.end(), releases,
      [](std::uint32_t position, const Release& r) { return position < r.position; });
  if (behind == all.begin()) return false;
  const Release& latest = behind[-1];
  if (latest.block >= then.clock) return true;
  if (latest.fences != nullptr && thread < latest.fences->size() &&
      (*latest.fences)[thread] >= then.clock)
    return true;
  if (const Release* own = last_of(thread, releases); own != nullptr)
    if (own->own >= then.clock ||
        (is_here && then.atomic != Reach::none && own->itself >= then.clock))
      return true;
  const Release* near = last_of_warp_of(thread, releases);
  return near != nullptr && near->warp >= then.clock;
}

bool SyncVariable::covers(std::uint32_t releases, const Event& then, std::uint16_t thread,
                          const void* address) const {
  const auto found = by_block_.find(key_of(then.operation, then.block));
  if (found == by_block_.end()) return false;
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(address) - address_;
  return found->second.covers(releases, then, thread, offset < bytes_);
}

bool SyncVariable::covers_gang(std::uint32_t releases, const Event& then) const {
  if (of_gangs_.empty()) return false;
  const auto launch = of_gangs_.find(then.operation);
  if (launch == of_gangs_.end()) return false;
  const auto found = launch->second.by_gang.find(gang_of(launch->second.configuration, then.block));
  if (found == launch->second.by_gang.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const At& at) {
    return at.position <= releases && is_before_waits(then.phase, at.gang_waits);
  });
}

bool SyncVariable::is_done_before(std::uint32_t operation, std::uint32_t releases) const {
  return std::any_of(operations_.begin(), operations_.end(), [&](const auto& other) {
    return other.second <= releases && other.first != operation &&
           happens_before(operation, other.first);
  });
}

void SyncVariable::copy_releases(const SyncVariable& other, std::uint32_t operation,
                                 std::uint32_t block) {
  const auto found = other.by_block_.find(key_of(operation, block));
  if (found == other.by_block_.end()) return;
  if (!by_block_.contains(found->first)) variables_of_blocks()[found->first].push_back(this);
  OfBlock& mine = by_block_[found->first] = found->second;
  known.join(mine.known);
  for (Release& release : mine.all) release.position = ++releases_;
  operations_.emplace_back(operation, 1);
}

}  // namespace cuda_on_cpu::analysis
