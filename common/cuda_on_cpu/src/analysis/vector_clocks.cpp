#include "vector_clocks.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "knowledge.hpp"

namespace cuda_on_cpu::analysis {

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

/// Of two clocks of fences, what both say.
static FenceClocks latest(const FenceClocks& now, const FenceClocks& before) {
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
                           const std::uint32_t* gang) {
  release.position = ++releases_;
  if (operations_.empty() || operations_.back().first != operation)
    operations_.emplace_back(operation, release.position);
  if (gang != nullptr) {
    auto& phases = by_gang_[key_of(operation, *gang)];
    if (phases.empty() || phases.back().phase < release.phase)
      phases.push_back({release.position, release.phase});
  }
  OfBlock& of_block = by_block_[key_of(operation, block)];
  if (!of_block.all.empty()) {  // the releases up to a position make known what any of them does
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
    release.warp = std::max(release.warp, before.warp);
    release.itself = std::max(release.itself, before.itself);
  }
  of_block.all.push_back(std::move(release));
  last = static_cast<std::uint32_t>(of_block.all.size());
}

const Release* SyncVariable::OfBlock::last_of(std::uint16_t thread, std::uint32_t releases) const {
  if (thread >= last.size()) return nullptr;
  std::uint32_t index = last[thread];
  while (index != 0 && all[index - 1].position > releases) index = all[index - 1].before;
  return index == 0 ? nullptr : &all[index - 1];
}

bool SyncVariable::OfBlock::make_known(std::uint32_t releases, const Event& then,
                                       std::uint16_t thread, bool is_here) const {
  const auto behind =
      std::upper_bound(all.begin(), all.end(), releases,
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
  const unsigned first = thread / warp_size * warp_size;
  for (unsigned other = first; other < first + warp_size; ++other)
    if (const Release* near = last_of(static_cast<std::uint16_t>(other), releases);
        near != nullptr && near->warp >= then.clock)
      return true;
  return false;
}

bool SyncVariable::makes_known(std::uint32_t releases, const Event& then, std::uint16_t thread,
                               const void* address) const {
  const auto found = by_block_.find(key_of(then.operation, then.block));
  if (found == by_block_.end()) return false;
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(address) - address_;
  return found->second.make_known(releases, then, thread, offset < bytes_);
}

bool SyncVariable::makes_gang_known(std::uint32_t releases, std::uint32_t operation,
                                    std::uint32_t gang, std::uint16_t phase) const {
  if (by_gang_.empty()) return false;
  const auto found = by_gang_.find(key_of(operation, gang));
  if (found == by_gang_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const At& at) {
    return at.position <= releases && at.phase > phase;
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
  OfBlock& mine = by_block_[found->first] = found->second;
  for (Release& release : mine.all) release.position = ++releases_;
  operations_.emplace_back(operation, 1);
}

}  // namespace cuda_on_cpu::analysis
