/// \file
/// The happens-before order of the work that kernels launch, for the analysis.
///
/// A tail launch continues the grid that launched it. A grid and all its direct and indirect tail
/// launches form a line. Each grid of a line is complete, with all the work that it launched,
/// before the next grid begins. All other work that a kernel launches begins a new line.

#pragma once

#include <cstdint>
#include <map>
#include <memory>

namespace cuda_on_cpu {

/// Maps the index of a block's stream to the number of completed operations in the stream.
using StreamClock = std::map<std::uint32_t, std::uint32_t>;

/// The origin of an operation that a kernel launched.
struct Descent {
  std::uint32_t parent;      ///< the operation whose kernel launched this operation
  bool is_tail = false;      ///< whether the operation runs after the parent and all other work of
                             ///< the parent
  std::uint32_t stream = 0;  ///< index of the operation's stream; 0: ordered after no other
                             ///< operation
  std::uint32_t place = 0;   ///< position in the stream, from 1
  std::shared_ptr<const StreamClock> awaited = {};  ///< operations of other streams that precede
                                                    ///< this one through events; may be null
};

/// Logs the origin of an operation. Operations are logged in the order in which they begin.
void note_descent(std::uint32_t operation, const Descent& descent);

/// Whether a kernel launched an operation. `root_of` returns the host operation at the root of its
/// ancestors; a host operation is its own root.
bool has_parent(std::uint32_t operation);
std::uint32_t root_of(std::uint32_t operation);

/// Whether the operation `first` happens before the operation `now` and before all operations that
/// begin later. An operation of another stream may begin later although it was enqueued before
/// `now`.
bool precedes_later_operations(std::uint32_t first, std::uint32_t now);

/// Whether the operation `first`, with all the work that it launched, is complete before the
/// operation `second` begins. Both operations have the same root.
bool is_done_before_relative(std::uint32_t first, std::uint32_t second);

}  // namespace cuda_on_cpu
