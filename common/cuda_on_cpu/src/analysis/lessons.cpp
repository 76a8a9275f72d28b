#include "lessons.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace cuda_on_cpu::analysis {
namespace {

/// What the host knows by flags, from an operation on that it does, or asks for.
struct Lesson {
  std::uint32_t number;
  KnowledgeOf all;
};

struct Flags {
  std::unordered_map<const void*, KnowledgeOf> of_kernels, of_host;
  std::map<std::thread::id, const void*> seen;  ///< the flag that a thread has looked at last
  std::vector<Lesson> lessons;                  ///< each holds those before it
  bool is_used = false;                         ///< whether something asked for knows the last one
  std::atomic<bool> any_lessons = false;
};

Flags& flags() {
  static auto& flags = indestructible<Flags>();
  return flags;
}

/// Whether there is anything in one that the other lacks.
bool adds(const KnowledgeOf& more, const KnowledgeOf& known) {
  return std::any_of(more.begin(), more.end(), [&](const auto& each) {
    const auto found = known.find(each.first);
    if (found == known.end() || found->second.all < each.second.all ||
        found->second.phase < each.second.phase)
      return true;
    const auto& own = found->second.own;
    return std::any_of(each.second.own.begin(), each.second.own.end(), [&](const auto& thread) {
      const auto clock = own.find(thread.first);
      return clock == own.end() || clock->second < thread.second;
    });
  });
}

/// Adds to what the host knows.
void teach(const KnowledgeOf& knowledge) {
  auto& lessons = flags().lessons;
  if (!lessons.empty() && !adds(knowledge, lessons.back().all)) return;
  KnowledgeOf all = lessons.empty() ? KnowledgeOf{} : lessons.back().all;
  std::erase_if(all, [&](const auto& known) {  // it will follow from what is known of another one
    return is_done_before_known(operation_in(known.first), knowledge);
  });
  learn(all, knowledge);
  if (lessons.empty() || flags().is_used) lessons.push_back({host_is_taught(), {}});
  lessons.back().all = std::move(all);
  flags().is_used = false;
  flags().any_lessons = true;
}

/// The host learns what was published where its threads have looked. The mutex is held.
void catch_up() {
  Flags& f = flags();
  // What a thread does later comes behind its own look, and perhaps behind those of others.
  for (const auto& [thread, address] : f.seen)
    if (const auto found = f.of_kernels.find(address); found != f.of_kernels.end())
      teach(found->second);
  f.seen.erase(std::this_thread::get_id());
}

}  // namespace

void publish_to_host(const void* address, const KnowledgeOf& knowledge) {
  const std::scoped_lock lock(knowledge_mutex());
  learn(flags().of_kernels[address], knowledge);
}

const KnowledgeOf* published_by_host(const void* address) {
  const auto found = flags().of_host.find(address);
  return found == flags().of_host.end() ? nullptr : &found->second;
}

void host_asks() {
  const std::scoped_lock lock(knowledge_mutex());
  catch_up();
  flags().is_used = true;
}

void host_catches_up() {
  const std::scoped_lock lock(knowledge_mutex());
  catch_up();
}

void host_sees(const void* address) {
  const std::scoped_lock lock(knowledge_mutex());
  flags().seen[std::this_thread::get_id()] = address;
}

void host_tells(const void* address) {
  if (!any_is_pending()) return;  // what is asked for later comes behind it anyway
  Flags& f = flags();
  const std::scoped_lock lock(knowledge_mutex());
  KnowledgeOf& publication = f.of_host[address];
  publication = f.lessons.empty() ? KnowledgeOf{} : f.lessons.back().all;
  publication[key_of(host_publishes(), no_block)].all = ~0u;
}

bool is_taught(const Event& then, std::uint32_t operation) {
  if (!flags().any_lessons) return false;
  const std::uint32_t latest = latest_lesson_of(operation);
  const std::scoped_lock lock(knowledge_mutex());
  const auto& lessons = flags().lessons;
  const auto behind = std::upper_bound(
      lessons.begin(), lessons.end(), latest,
      [](std::uint32_t number, const Lesson& lesson) { return number < lesson.number; });
  if (behind == lessons.begin()) return false;
  const KnowledgeOf& known = std::prev(behind)->all;
  return is_known(known, then) || is_done_before_known(then.operation, known);
}

void forget_old_lessons() {
  const std::scoped_lock lock(knowledge_mutex());
  if (flags().of_kernels.empty()) return;
  const auto is_old = [now = host_operation()](const auto& known) {
    return happens_before(operation_in(known.first), now);
  };
  for (auto& [address, knowledge] : flags().of_kernels) std::erase_if(knowledge, is_old);
  std::erase_if(flags().of_kernels, [](const auto& flag) { return flag.second.empty(); });
}

}  // namespace cuda_on_cpu::analysis
