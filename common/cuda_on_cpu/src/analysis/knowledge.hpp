/// \file
/// What is known of accesses beside the order of barriers and streams: by flags.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>

#include "../indestructible.hpp"
#include "../runtime/stream.hpp"
#include "shadow.hpp"

namespace cuda_on_cpu::analysis {

/// What is known beside the cells is looked up by several threads of the operating system where
/// blocks were tried, or where the host goes on beside a kernel.
inline std::mutex& knowledge_mutex() {
  static auto& mutex = indestructible<std::mutex>();
  return mutex;
}

/// What a block published, or what another learned of it: accesses up to a clock are done.
struct Knowledge {
  std::uint32_t all = 0;                            ///< of all threads of the block
  std::map<std::uint16_t, std::uint32_t> own = {};  ///< of single threads
  std::uint16_t phase = 0;                          ///< of its gang: what came before is done
};
using KnowledgeOf = std::unordered_map<std::uint64_t, Knowledge>;  // by operation and block

inline std::uint64_t key_of(std::uint32_t operation, std::uint32_t number) {
  return std::uint64_t{operation} << 32 | number;
}
inline std::uint32_t operation_in(std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> 32);
}

inline void learn(std::uint32_t& mine, std::uint32_t other) { mine = std::max(mine, other); }

inline void learn(Knowledge& mine, const Knowledge& other) {
  learn(mine.all, other.all);
  mine.phase = std::max(mine.phase, other.phase);
  for (const auto& [thread, clock] : other.own) learn(mine.own[thread], clock);
}

inline void learn(KnowledgeOf& mine, const KnowledgeOf& other) {
  for (const auto& [number, knowledge] : other) learn(mine[number], knowledge);
}

inline bool is_known(const KnowledgeOf& knowledge, const Event& then) {
  const auto known = knowledge.find(key_of(then.operation, then.block));
  if (known == knowledge.end()) return false;
  if (known->second.all >= then.clock || known->second.phase > then.phase) return true;
  const auto own = known->second.own.find(then.thread);
  return own != known->second.own.end() && own->second >= then.clock;
}

/// Whether an operation is done before another one of which something is known.
inline bool is_done_before_known(std::uint32_t operation, const KnowledgeOf& knowledge) {
  return std::any_of(knowledge.begin(), knowledge.end(), [&](const auto& known) {
    const std::uint32_t other = operation_in(known.first);
    return other != operation && happens_before(operation, other);
  });
}

}  // namespace cuda_on_cpu::analysis
