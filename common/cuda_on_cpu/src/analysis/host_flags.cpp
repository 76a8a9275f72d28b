#include "host_flags.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace cuda_on_cpu::analysis {
namespace {

/// The clocks that the host has acquired from flags, and the number of the first operation to which
/// they apply.
struct HostClock {
  std::uint32_t number;
  ClockMap all;
};

struct Flags {
  std::unordered_map<const void*, ClockMap> of_kernels, of_host;
  std::map<std::thread::id, const void*> seen;  ///< the last flag that each thread has read
  std::vector<HostClock> host_clocks;           ///< each clock includes the earlier clocks
  bool is_used = false;                         ///< whether an operation inherited the last clock
  std::atomic<bool> any_host_clocks = false;
};

Flags& flags() {
  static auto& flags = indestructible<Flags>();
  return flags;
}

/// Whether `more` contains an entry that `known` does not cover.
bool adds(const ClockMap& more, const ClockMap& known) {
  return std::any_of(more.begin(), more.end(), [&](const auto& each) {
    const auto found = known.find(each.first);
    if (found == known.end() || found->second.all < each.second.all ||
        found->second.gang_waits < each.second.gang_waits)
      return true;
    const auto& own = found->second.own;
    return std::any_of(each.second.own.begin(), each.second.own.end(), [&](const auto& thread) {
      const auto clock = own.find(thread.first);
      return clock == own.end() || clock->second < thread.second;
    });
  });
}

/// Joins clocks with the clock of the host.
void join_host_clock(const ClockMap& clocks) {
  auto& host_clocks = flags().host_clocks;
  if (!host_clocks.empty() && !adds(clocks, host_clocks.back().all)) return;
  ClockMap all = host_clocks.empty() ? ClockMap{} : host_clocks.back().all;
  std::erase_if(all, [&](const auto& known) {  // entries that the new clocks imply
    return precedes_covered(operation_in(known.first), clocks);
  });
  join(all, clocks);
  if (host_clocks.empty() || flags().is_used) host_clocks.push_back({number_of_host_clock(), {}});
  host_clocks.back().all = std::move(all);
  flags().is_used = false;
  flags().any_host_clocks = true;
}

/// Acquires, for the host, the clocks at the flags that the host's threads have read. The caller
/// holds the mutex.
void catch_up() {
  Flags& f = flags();
  // The later accesses of a thread follow its own read, and may follow the reads of other threads.
  for (const auto& [thread, address] : f.seen)
    if (const auto found = f.of_kernels.find(address); found != f.of_kernels.end())
      join_host_clock(found->second);
  f.seen.erase(std::this_thread::get_id());
}

}  // namespace

void publish_to_host(const void* address, const ClockMap& clocks) {
  const std::scoped_lock lock(clock_mutex());
  join(flags().of_kernels[address], clocks);
}

const ClockMap* published_by_host(const void* address) {
  const auto found = flags().of_host.find(address);
  return found == flags().of_host.end() ? nullptr : &found->second;
}

void host_asks() {
  const std::scoped_lock lock(clock_mutex());
  catch_up();
  flags().is_used = true;
}

void host_catches_up() {
  const std::scoped_lock lock(clock_mutex());
  catch_up();
}

void host_sees(const void* address) {
  const std::scoped_lock lock(clock_mutex());
  flags().seen[std::this_thread::get_id()] = address;
}

void host_releases(const void* address) {
  if (!any_is_pending()) return;  // all later operations happen after these accesses anyway
  Flags& f = flags();
  const std::scoped_lock lock(clock_mutex());
  ClockMap& publication = f.of_host[address];
  publication = f.host_clocks.empty() ? ClockMap{} : f.host_clocks.back().all;
  publication[key_of(host_publishes(), no_block)].all = ~0u;
}

bool is_acquired_from_host(const Event& then, std::uint32_t operation) {
  if (!flags().any_host_clocks) return false;
  const std::uint32_t latest = latest_host_clock_of(operation);
  const std::scoped_lock lock(clock_mutex());
  const auto& host_clocks = flags().host_clocks;
  const auto behind = std::upper_bound(
      host_clocks.begin(), host_clocks.end(), latest,
      [](std::uint32_t number, const HostClock& clock) { return number < clock.number; });
  if (behind == host_clocks.begin()) return false;
  const ClockMap& known = std::prev(behind)->all;
  return covers(known, then) || precedes_covered(then.operation, known);
}

void drop_old_host_clocks() {
  const std::scoped_lock lock(clock_mutex());
  if (flags().of_kernels.empty()) return;
  const auto is_old = [now = host_operation()](const auto& known) {
    return happens_before(operation_in(known.first), now);
  };
  for (auto& [address, clocks] : flags().of_kernels) std::erase_if(clocks, is_old);
  std::erase_if(flags().of_kernels, [](const auto& flag) { return flag.second.empty(); });
}

}  // namespace cuda_on_cpu::analysis
