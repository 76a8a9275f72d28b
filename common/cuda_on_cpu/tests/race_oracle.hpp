/// \file
/// An oracle for the race detector, and random programs for both.
///
/// A program consists of kernels and of steps of the host: launches, copies, events and accesses of
/// the host. A kernel is data: one list of operations for each thread, which one compiled kernel
/// executes. The oracle builds the complete graph of happens-before of an execution and examines
/// every pair of accesses to every byte.
///
/// Operations that write an atomic variable write values of which no two are equal. The value that
/// an operation has read therefore identifies the operation that wrote it.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace race_oracle {

enum Kind : std::uint8_t {
  nothing,
  load,  ///< of 1, 2, 4, 8, 12 or 16 bytes
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
  await,    ///< loads until the value changes, for a limited number of times
  lock,     ///< tries to acquire a lock; if this fails, the thread skips the locked section
  unlock,
  fence,
  meet_warp,
  meet_block,
  meet_gang,    ///< the blocks of a cluster, or of a cooperative grid
  arrive_gang,  ///< the two halves of the same barrier
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
  std::uint8_t at = 0;  ///< the first byte
  Space space = global;
  std::uint8_t from = 0;  ///< of a move: the first byte that it reads
  Space from_space = global;
  std::uint8_t other = 0;  ///< shared: by how much the rank of the block in its cluster is larger
  Scope scope = of_device;
  Order order = relaxed;
  std::uint32_t value = 0;  ///< that it writes; of operations of a warp: the mask
};

constexpr unsigned memory_bytes = 64;

/// From here on, memory contains no atomic variables. Moves read only here, because a copy of an
/// atomic variable's value would no longer identify the operation that wrote it.
constexpr unsigned plain_bytes = 48;

struct Kernel {
  unsigned blocks = 1, threads = 1;
  unsigned gang = 1;                       ///< blocks of a cluster, or all blocks
  bool cooperative = false;                ///< or clusters
  std::vector<std::vector<Op>> of_thread;  ///< of all blocks
  unsigned per_thread = 0;                 ///< operations, after the layout
  unsigned first = 0;                      ///< index of its first operation in the program
  unsigned first_block = 0;                ///< number of blocks of the kernels before

  unsigned all_threads() const { return blocks * threads; }
  /// The block whose shared memory a block accesses.
  unsigned target_of(unsigned block, unsigned other) const {
    return block / gang * gang + (block % gang + other) % gang;
  }
};

enum class Act : std::uint8_t {
  launch,
  copy,  ///< of bytes from `from` to `at`, in a stream
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
  unsigned object = 0;  ///< the kernel, or the event
  std::uint8_t at = 0, bytes = 4, from = 0;
  Space space = global, from_space = global;
};

constexpr unsigned streams = 3, events = 3, most_kernels = 3;

struct Program {
  std::vector<Kernel> kernels;
  std::vector<Step> steps;
};

/// What an operation has observed.
struct Seen {
  static constexpr unsigned most = 7;
  std::uint32_t values[most];  ///< those read from an atomic variable, one after the other
  std::uint8_t count;
  bool executed;
  bool failed;  ///< whether a comparison failed, so that nothing was written
};

/// Gives each thread of a kernel equally many operations, and each operation its value.
std::vector<Op> laid_out(Program& program);

/// A byte of memory: its offset plus 64 times its space, where the shared memory of each block is a
/// space of its own.
using Byte = std::uint32_t;
inline Byte byte_of(Space space, unsigned block, unsigned offset) {
  return (space == shared ? unsigned{shared} + block : unsigned{space}) * memory_bytes + offset;
}

/// The bytes of which two accesses race. In two cases, the order is not certain:
/// - A plain write to an atomic variable races with its atomic operations. The value that an
///   operation has read is then undefined, and with it the order that it establishes.
/// - An atomic operation happens before the write that an operation has read from, but not before
///   the fence that precedes this write. Programs rely on its order before later accesses to this
///   variable, for example where the last block resets a counter of blocks.
struct Racy {
  std::set<Byte> certain;   ///< with all order that is not certain
  std::set<Byte> possible;  ///< with the order of a write, and of earlier ones of its thread,
                            ///< before the accesses that follow its read
};
Racy racy_bytes(const Program& program, const std::vector<Op>& ops, const std::vector<Seen>& seen);

/// All steps and operations, and the races, as comments of TAP.
std::string text_of(const Program& program, const std::vector<Op>& ops,
                    const std::vector<Seen>& seen);

/// \param may_share_variables whether concurrent kernels may have atomic variables in common
Program random_program(std::uint64_t seed, bool may_share_variables);

/// The sets of operations and steps that a smaller program may lack. Those that must remain
/// together, such as the arrivals at a barrier, form one set.
struct Part {
  std::vector<Op*> ops = {};
  Step* step = nullptr;
};
std::vector<Part> parts_of(Program& program);

/// A program whose racy bytes are known.
struct Litmus {
  const char* name;
  Program program;
  std::set<Byte> racy;
};

std::vector<Litmus> litmus_tests();

}  // namespace race_oracle
