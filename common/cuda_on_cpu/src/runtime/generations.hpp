/// \file
/// The order of what kernels launch, for the analysis.
///
/// A grid that is launched as a tail of another one continues it: that grid, its tails and theirs
/// are a line, each done with all that it launched before the next begins. Whatever else a kernel
/// launches begins a line of its own.

#pragma once

#include <cstdint>
#include <map>
#include <memory>

namespace cuda_on_cpu {

/// How many operations of each stream of a block are done, by the number of the stream.
using StreamClock = std::map<std::uint32_t, std::uint32_t>;

/// How an operation came about that a kernel asked for.
struct Descent {
  std::uint32_t parent;      ///< the operation whose kernel asked
  bool is_tail = false;      ///< whether it comes behind the parent and all else that it asked for
  std::uint32_t stream = 0;  ///< that it is in; 0: it comes behind nothing
  std::uint32_t place = 0;   ///< in the stream, from 1
  std::shared_ptr<const StreamClock> awaited = {};  ///< of other streams, by events; may be null
};

/// Notes an operation; they are noted in the order in which they begin.
void note_descent(std::uint32_t operation, const Descent& descent);

/// Whether a kernel asked for an operation; and the operation of the host that it all began with,
/// which is an operation of the host's itself.
bool has_parent(std::uint32_t operation);
std::uint32_t root_of(std::uint32_t operation);

/// Whether an operation happens before one that begins now, and before all that begin later. Work
/// of another stream may begin later although it was requested before.
bool precedes_later_operations(std::uint32_t first, std::uint32_t now);

/// Whether, of two operations with one root, the first is done before the second begins, with all
/// that it launched.
bool is_done_before_relative(std::uint32_t first, std::uint32_t second);

}  // namespace cuda_on_cpu
