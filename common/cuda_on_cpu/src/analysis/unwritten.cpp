#include "unwritten.hpp"

#include <cstring>
#include <vector>

#include "../indestructible.hpp"
#include "../machine/launch.hpp"
#include "findings.hpp"

namespace cuda_on_cpu::analysis {

__thread unsigned unwritten_reads = 0;

namespace {

constexpr std::size_t most_reads = 16;  // maximum number of pending reads of a thread

/// A read of bytes that nothing has written.
struct UnwrittenRead {
  Shadow* shadow;
  std::size_t offset, bytes;
  Event event;
  Region region;
  bool matters;
  bool is_copied = false;
  std::uint64_t order = 0;  ///< position in the order in which findings arise
};

/// The pending reads, by the rank of the thread in its block.
struct Reads {
  std::vector<UnwrittenRead> by_rank[most_threads];
};

Reads& reads() {
  thread_local auto& reads = indestructible<Reads>();
  return reads;
}

/// Declares that the next finding concerns a read of unwritten bytes.
void note_read(const UnwrittenRead& read) {
  note_accessed(read.shadow->address_of(read.offset), read.bytes);
  note_order(read.order);
}

void report_use(const UnwrittenRead& read, const Thread& thread) {
  if (!read.matters || read.is_copied) return;
  note_read(read);
  report_unwritten(read.event, analysis::read, read.region, &thread);
}

/// Marks written bytes as a copy of unwritten bytes if they equal the bytes of `read`.
/// \returns whether they are equal
bool copy(UnwrittenRead& read, Shadow& to, std::size_t offset, std::size_t bytes, Place place,
          const Thread& thread) {
  if (read.bytes != bytes ||
      std::memcmp(read.shadow->address_of(read.offset), to.address_of(offset), bytes) != 0)
    return false;
  to.carry_unwritten(offset, *read.shadow, read.offset, bytes);
  if (read.matters) {
    note_read(read);
    report_copy_of_unwritten(read.event, place, read.region, thread);
  }
  read.is_copied = true;
  return true;
}

}  // namespace

void expect_copy(Shadow& shadow, std::size_t offset, std::size_t bytes, const Event& now,
                 Region region, const Thread& thread, bool matters) {
  auto& mine = reads().by_rank[thread.rank];
  if (mine.size() == most_reads) {
    report_use(mine.front(), thread);
    mine.erase(mine.begin());
    --unwritten_reads;
  }
  mine.push_back({.shadow = &shadow,
                  .offset = offset,
                  .bytes = bytes,
                  .event = now,
                  .region = region,
                  .matters = matters,
                  .order = next_order()});
  ++unwritten_reads;
}

void find_source(Shadow& shadow, std::size_t offset, std::size_t bytes, const Event& now,
                 const Thread& thread) {
  auto& mine = reads().by_rank[thread.rank];
  for (auto read = mine.rbegin(); read != mine.rend(); ++read)
    if (copy(*read, shadow, offset, bytes, now.place, thread)) return;
}

bool was_stored(Shadow& to, std::size_t offset, std::size_t bytes, Place place,
                const Thread& thread) {
  auto& mine = reads().by_rank[thread.rank];
  return !mine.empty() && copy(mine.back(), to, offset, bytes, place, thread);
}

void report_uses() {
  if (unwritten_reads == 0) return;
  for (unsigned rank = 0; rank < block->launch->threads; ++rank)
    for (const UnwrittenRead& read : reads().by_rank[rank]) report_use(read, block->threads[rank]);
  forget_unwritten_reads();
}

void forget_unwritten_reads() {
  if (unwritten_reads == 0) return;
  for (auto& mine : reads().by_rank) mine.clear();
  unwritten_reads = 0;
}

}  // namespace cuda_on_cpu::analysis
