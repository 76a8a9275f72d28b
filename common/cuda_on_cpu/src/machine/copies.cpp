#include "cuda_on_cpu/copies.hpp"

#include <cstring>

#include "../analysis.hpp"
#include "block.hpp"

namespace cuda_on_cpu {

void start_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros) {
  const void* place = __builtin_return_address(0);
  Details& details = changed_details_of(*block->current);
  analysis::copy_starts(to, bytes + zeros, place);
  details.copies.push_back({to, from, bytes, zeros, details.batches + 1, place});
}

std::size_t commit_copies() { return ++changed_details_of(*block->current).batches; }

void wait_for_batch(std::size_t number) {
  auto& copies = changed_details_of(*block->current).copies;
  const void* frame = __builtin_frame_address(0);
  std::size_t done = 0;
  for (; done < copies.size() && copies[done].batch <= number; ++done) {
    const PendingCopy& copy = copies[done];
    analysis::access(copy.from, copy.bytes, analysis::read, copy.place, frame);
    analysis::access(copy.to, copy.bytes + copy.zeros, analysis::write, copy.place, frame);
    if (copy.bytes > 0) std::memcpy(copy.to, copy.from, copy.bytes);
    if (copy.zeros > 0) std::memset(static_cast<char*>(copy.to) + copy.bytes, 0, copy.zeros);
  }
  copies.erase(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(done));
}

void wait_for_copies(std::size_t pending) {
  const std::size_t batches = details_of(*block->current).batches;
  if (batches > pending) wait_for_batch(batches - pending);
}

}  // namespace cuda_on_cpu
