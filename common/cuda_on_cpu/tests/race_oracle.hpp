/// \file
/// An oracle for the race detector, and random programs for both.
///
/// A program consists of kernels and host steps: launches, copies, events and host accesses. A
/// kernel is data, one list of operations per thread, which one compiled kernel interprets. The
/// oracle builds the complete happens-before graph of an execution and examines every pair of
/// accesses to every byte.
///
/// All operations that write an atomic variable write different values. The value that an operation
/// has read therefore identifies the write that it came from.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace race_oracle {

enum Kind : std::uint8_t {
  nothing,
  load,  ///< loads 1, 2, 4, 8, 12 or 16 bytes
  store,
  update,     ///< += of 1, 2, 4 or 8 bytes
  copy_from,  ///< memcpy to a local variable
  copy_to,    ///< memcpy from a local variable
  fill,       ///< memset
  move,       ///< memcpy from `from`
  volatile_load,
  volatile_store,
  atomic_load,
  atomic_store,
  exchange,
  add,
  compare,  ///< atomicCAS with the value that the thread read last from an atomic variable
  await,    ///< loads until the value changes, at most a limited number of times
  lock,     ///< tries to acquire a lock; if this fails, the thread skips the locked section
  unlock,
  fence,
  meet_warp,
  meet_block,
  meet_gang,    ///< barrier of the blocks of a cluster, or of a cooperative grid
  arrive_gang,  ///< the two halves of a split barrier
  wait_gang,
  shuffle,
  finish,  ///< the thread ends
  kinds
};

enum Space : std::uint8_t { global, pinned, shared, spaces };
enum Scope : std::uint8_t { of_block, of_device, of_system };
enum Order : std::uint8_t { relaxed, acquire, release, both };

struct Op {
  Kind kind = nothing;
  std::uint8_t bytes = 4;
  std::uint8_t at = 0;  ///< offset of the first byte
  Space space = global;
  std::uint8_t from = 0;  ///< offset of the first byte that a move reads
  Space from_space = global;
  std::uint8_t other = 0;  ///< shared: rank of the accessed block in its cluster, relative to this
                           ///< block's rank
  Scope scope = of_device;
  Order order = relaxed;
  std::uint32_t value = 0;  ///< value to write; for warp operations, the mask
};

constexpr unsigned memory_bytes = 64;

/// The offset after the last atomic variable. Moves read only at this offset or later, because a
/// copy of an atomic variable's value would no longer identify the write that it came from.
constexpr unsigned plain_bytes = 48;

struct Kernel {
  unsigned blocks = 1, threads = 1;
  unsigned gang = 1;                       ///< number of blocks in a cluster, or in the grid if
                                           ///< cooperative
  bool cooperative = false;                ///< whether the launch is cooperative; otherwise, a gang
                                           ///< is a cluster
  std::vector<std::vector<Op>> of_thread;  ///< operations of each thread of the grid
  unsigned per_thread = 0;                 ///< operations per thread, after laid_out()
  unsigned first = 0;                      ///< index of the kernel's first operation
  unsigned first_block = 0;                ///< total number of blocks of the earlier kernels

  unsigned all_threads() const { return blocks * threads; }
  /// The block of the cluster whose shared memory the given block accesses.
  unsigned target_of(unsigned block, unsigned other) const {
    return block / gang * gang + (block % gang + other) % gang;
  }
};

enum class Act : std::uint8_t {
  launch,
  copy,  ///< copies `bytes` bytes from `from` to `at`, in a stream
  fill,
  record,
  wait,
  synchronise_stream,
  synchronise_event,
  synchronise_device,
  host_load,
  host_store,
  none
};

/// A step of the host.
struct Step {
  Act act = Act::launch;
  unsigned stream = 0;
  unsigned object = 0;  ///< index of the kernel, or of the event
  std::uint8_t at = 0, bytes = 4, from = 0;
  Space space = global, from_space = global;
};

constexpr unsigned streams = 3, events = 3, most_kernels = 3;

struct Program {
  std::vector<Kernel> kernels;
  std::vector<Step> steps;
};

/// The observations of an operation during an execution.
struct Seen {
  static constexpr unsigned most = 7;
  std::uint32_t values[most];  ///< the values read from an atomic variable, in order
  std::uint8_t count;
  bool executed;
  bool failed;  ///< whether a comparison failed, so that nothing was written
};

/// Pads the operations of each kernel to the same number per thread, and assigns each operation its
/// value.
std::vector<Op> laid_out(Program& program);

/// A byte of memory: its offset plus 64 times the index of its space. The shared memory of each
/// block is a separate space.
using Byte = std::uint32_t;
inline Byte byte_of(Space space, unsigned block, unsigned offset) {
  return (space == shared ? unsigned{shared} + block : unsigned{space}) * memory_bytes + offset;
}

/// The bytes with certain races, and the bytes with possible races. In two cases the happens-before
/// order is uncertain:
/// - A plain write to an atomic variable races with its atomic operations. Both the value that an
///   operation reads and the order that the read establishes are then undefined.
/// - An atomic operation happens before the write that a later operation has read from, but not
///   before the fence that precedes this write. Programs nevertheless rely on the order of the
///   atomic operation before later accesses to its variable, for example when the last block resets
///   a counter of blocks.
struct Racy {
  std::set<Byte> certain;   ///< races even under the maximal order, in which every uncertain order
                            ///< holds
  std::set<Byte> possible;  ///< races under the minimal order, in which no uncertain order holds
};
Racy racy_bytes(const Program& program, const std::vector<Op>& ops, const std::vector<Seen>& seen);

/// All steps, operations and races, as TAP comments.
std::string text_of(const Program& program, const std::vector<Op>& ops,
                    const std::vector<Seen>& seen);

/// \param may_share_variables whether concurrent kernels may have atomic variables in common
Program random_program(std::uint64_t seed, bool may_share_variables);

/// Operations, or a host step, that can be removed together to make a program smaller. Operations
/// that depend on each other, such as the arrivals at a barrier, form one part.
struct Part {
  std::vector<Op*> ops = {};
  Step* step = nullptr;
};
std::vector<Part> parts_of(Program& program);

/// A program with known racy bytes.
struct Litmus {
  const char* name;
  Program program;
  std::set<Byte> racy;
};

std::vector<Litmus> litmus_tests();

}  // namespace race_oracle
