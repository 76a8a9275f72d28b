#include "race_oracle.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <utility>

namespace race_oracle {
namespace {

/// The value that the n-th operation writes. The lowest bit of the value is set if the operation
/// locks. The other bits are a permutation of the index, so that sums and parts of other values
/// rarely equal a written value.
unsigned value_of(unsigned number, bool locks) {
  constexpr unsigned most = 0x7FFF'FFFFu;
  number = (number ^ number >> 15) * 0x2C1B'3C6Du & most;
  number = (number ^ number >> 12) * 0x297A'2D39u & most;
  number ^= number >> 15;
  return number << 1 | unsigned{locks};
}

bool meets(Kind kind) { return kind >= meet_warp && kind <= shuffle; }
bool is_atomic(Kind kind) { return kind >= volatile_load && kind <= unlock; }
bool is_access(Kind kind) { return kind >= load && kind <= unlock; }
bool is_update(Kind kind) {
  return kind == exchange || kind == add || kind == compare || kind == lock;
}
bool reads_atomic(Kind kind) {
  return is_update(kind) || kind == volatile_load || kind == atomic_load || kind == await;
}
/// Whether an operation repeats its read until it finds an awaited value. Each read can have a
/// different order relative to other operations.
bool reads_repeatedly(Kind kind) { return kind == await || kind == lock; }
bool writes(Kind kind) {
  return kind == store || kind == update || kind == copy_to || kind == fill ||
         kind == volatile_store || kind == atomic_store || kind == unlock || is_update(kind);
}

}  // namespace

std::vector<Op> laid_out(Program& program) {
  static unsigned numbers = 0;  // memory keeps the values that earlier programs have written
  std::vector<Op> all;
  unsigned blocks = 0;
  for (Kernel& kernel : program.kernels) {
    kernel.per_thread = 1;
    for (const auto& ops : kernel.of_thread)
      kernel.per_thread = std::max(kernel.per_thread, static_cast<unsigned>(ops.size()));
    kernel.first = static_cast<unsigned>(all.size());
    kernel.first_block = std::exchange(blocks, blocks + kernel.blocks);
    for (const auto& ops : kernel.of_thread) {
      for (Op op : ops) {
        ++numbers;
        if (!meets(op.kind)) op.value = value_of(numbers, op.kind == lock);
        all.push_back(op);
      }
      all.resize(all.size() + kernel.per_thread - ops.size());
    }
  }
  return all;
}

namespace {

/// The happens-before relation of an execution. The nodes of the graph are operations, host steps
/// and barriers.
class Oracle {
 public:
  /// \param uncertain the atomic variables with races
  /// \param orders_all whether every uncertain order is assumed to hold
  Oracle(const Program& program, const std::vector<Op>& ops, const std::vector<Seen>& seen,
         const std::set<Byte>& uncertain, bool orders_all)
      : p_(program),
        ops_(ops),
        seen_(seen),
        orders_all_(orders_all),
        owner_(ops.size()),
        barriers_(ops.size()),
        gang_waits_(ops.size()),
        next_gang_barrier_(ops.size()),
        warps_(ops.size()) {
    next_.resize(3 * p_.steps.size() + ops_.size());
    add_steps();
    for (const Kernel& kernel : p_.kernels) add_program_order(kernel);
    find_writes();
    for (unsigned i = 0; i < ops_.size(); ++i)
      if (seen_[i].executed && reads_atomic(ops_[i].kind)) {
        if (!uncertain.contains(place_of(i)))
          add_reads_from(i);
        else if (orders_all)
          add_all_reads(i);
      }
    for (unsigned i = 0; i < ops_.size(); ++i)
      if (seen_[i].executed && is_access(ops_[i].kind)) add_accesses(i);
    if (orders_all)
      for (const auto& [write, acquire] : released_)
        next_of_writes_[op_node(write)].push_back(acquire);
    for (const Access& access : accesses_) add_reach(access.node, access.atomic);
  }

  template <typename Report>
  void for_each_race(const Report& report) const {
    for (auto a = accesses_.begin(); a != accesses_.end(); ++a)
      for (auto b = a + 1; b != accesses_.end(); ++b)
        if (conflict(*a, *b) && !is_before(*a, *b) && !is_before(*b, *a))
          report(*a, *b, std::max(a->first, b->first), std::min(a->end, b->end));
  }

  std::string name_of_node(unsigned node) const {
    if (node < op_node(0)) return name_of_step(node / 3);
    if (node < op_node(0) + ops_.size()) return name(node - op_node(0));
    const auto of =
        std::find_if(earlier_reads_.begin(), earlier_reads_.end(), [&](const auto& reads) {
          return std::find(reads.second.begin(), reads.second.end(), node) != reads.second.end();
        });
    return "an earlier read of " + name(of->first);
  }

  std::string name_of_step(unsigned s) const {
    static const char* const names[] = {"launch",
                                        "copy",
                                        "fill",
                                        "record",
                                        "wait",
                                        "synchronise stream",
                                        "synchronise event",
                                        "synchronise device",
                                        "host load",
                                        "host store",
                                        "none"};
    const Step& step = p_.steps[s];
    std::string text = "step " + std::to_string(s) + ": " + names[static_cast<int>(step.act)] +
                       " stream " + std::to_string(step.stream) + " object " +
                       std::to_string(step.object);
    if (step.act == Act::copy || step.act == Act::fill || step.act == Act::host_load ||
        step.act == Act::host_store)
      text += ' ' + place(step.space, step.at) + '+' + std::to_string(step.bytes);
    if (step.act == Act::copy) text += " from " + place(step.from_space, step.from);
    return text;
  }

  std::string name(unsigned i) const {
    static const char* const names[kinds] = {
        "nothing",  "load",      "store",         "update",         "copy from",   "copy to",
        "fill",     "move",      "volatile load", "volatile store", "atomic load", "atomic store",
        "exchange", "add",       "compare",       "await",          "lock",        "unlock",
        "fence",    "meet warp", "meet block",    "meet gang",      "arrive gang", "wait gang",
        "shuffle",  "finish"};
    static const char* const scopes[] = {" of block", " of device", " of system"};
    static const char* const orders[] = {" relaxed", " acquire", " release", " both"};
    const Op& op = ops_[i];
    const Owner& who = owner_[i];
    std::string text =
        "kernel " + std::to_string(who.kernel) + " block " +
        std::to_string(who.block - p_.kernels[who.kernel].first_block) + " thread " +
        std::to_string(who.rank) + " #" +
        std::to_string((i - p_.kernels[who.kernel].first) % p_.kernels[who.kernel].per_thread) +
        ": " + names[op.kind];
    if (is_access(op.kind)) text += ' ' + place(op.space, op.at) + '+' + std::to_string(op.bytes);
    if (op.other != 0) text += " of block +" + std::to_string(op.other);
    if (op.kind == move) text += " from " + place(op.from_space, op.from);
    if (op.kind == fence) text += scopes[op.scope];
    if (is_atomic(op.kind)) text += std::string(scopes[op.scope]) + orders[op.order];
    if (reads_atomic(op.kind))
      for (unsigned n = 0; n < seen_[i].count; ++n)
        if (const unsigned write = write_of(i, seen_[i].values[n]); write != none)
          text += " (reads from thread " + std::to_string(owner_[write].rank) + " of block " +
                  std::to_string(owner_[write].block) + " #" +
                  std::to_string((write - p_.kernels[owner_[write].kernel].first) %
                                 p_.kernels[owner_[write].kernel].per_thread) +
                  ')';
    if (op.kind == meet_warp || op.kind == shuffle) text += " mask " + std::to_string(op.value);
    if (!seen_[i].executed) text += " (skipped)";
    if (seen_[i].failed) text += " (failed)";
    return text;
  }

 private:
  static constexpr unsigned none = ~0u;

  struct Owner {
    unsigned kernel = 0, block = 0, rank = 0, thread = 0;
  };

  struct Access {
    unsigned node, space, first, end;
    bool writes, atomic, wide;
    unsigned block, thread, op;
  };

  static std::string place(Space space, unsigned at) {
    static const char* const names[] = {"global ", "pinned ", "shared "};
    return names[space] + std::to_string(at);
  }

  unsigned op_node(unsigned i) const { return static_cast<unsigned>(3 * p_.steps.size()) + i; }
  void add_edge(unsigned from, unsigned to) { next_[from].push_back(to); }

  /// Adds the nodes and edges of the host and the streams to the graph. Each step has three nodes:
  /// one for its position in the host's program order, one for its beginning and one for its end.
  void add_steps() {
    unsigned last_of[streams], event_of[events];
    std::fill_n(last_of, streams, none);
    std::fill_n(event_of, events, none);
    for (unsigned s = 0; s < p_.steps.size(); ++s) {
      const Step& step = p_.steps[s];
      const unsigned host = 3 * s, begin = host + 1, end = host + 2;
      if (s > 0) add_edge(host - 3, host);
      const auto follow = [&](unsigned node, unsigned by) {
        if (node != none) add_edge(node, by);
      };
      switch (step.act) {
        case Act::synchronise_stream:
          follow(last_of[step.stream], host);
          break;
        case Act::synchronise_event:
          follow(event_of[step.object], host);
          break;
        case Act::synchronise_device:
          for (const unsigned last : last_of) follow(last, host);
          break;
        case Act::host_load:
        case Act::host_store:
          add_access({host, step.space, step.at, step.at + unsigned{step.bytes},
                      step.act == Act::host_store, false, false, none, none, none});
          break;
        case Act::none:
          break;
        default:
          add_edge(host, begin);
          add_edge(begin, end);
          follow(last_of[step.stream], begin);
          if (step.act == Act::wait) follow(event_of[step.object], begin);
          if (step.act == Act::record) event_of[step.object] = end;
          last_of[step.stream] = end;
      }
      if (step.act == Act::copy || step.act == Act::fill)
        add_access({begin, step.space, step.at, step.at + unsigned{step.bytes}, true, false, false,
                    none, none, none});
      if (step.act == Act::copy)
        add_access({begin, step.from_space, step.from, step.from + unsigned{step.bytes}, false,
                    false, false, none, none, none});
      if (step.act == Act::launch) launch_of_[step.object] = begin;
    }
  }

  void add_access(const Access& access) { accesses_.push_back(access); }

  unsigned lanes_of(const Kernel& kernel, unsigned rank) const {
    const unsigned count = kernel.threads - rank / 32 * 32;
    return count >= 32 ? ~0u : (1u << count) - 1;
  }

  /// The node of a barrier, which `key` identifies: the n-th barrier of a block, of a gang (a
  /// cluster or a cooperative grid), or of a mask of a warp.
  unsigned meeting(const std::vector<unsigned>& key) {
    const auto [at, is_new] = meetings_.try_emplace(key, static_cast<unsigned>(next_.size()));
    if (is_new) next_.emplace_back();
    return at->second;
  }

  void add_program_order(const Kernel& kernel) {
    const unsigned number = static_cast<unsigned>(&kernel - p_.kernels.data());
    const auto launch = launch_of_.find(number);
    struct End {
      unsigned node, block, rank, barriers;
      std::map<unsigned, unsigned> masks;
    };
    std::vector<End> ends;
    for (unsigned t = 0; t < kernel.all_threads(); ++t) {
      const unsigned block = kernel.first_block + t / kernel.threads, rank = t % kernel.threads;
      unsigned last = launch == launch_of_.end() ? none : launch->second;
      unsigned barriers = 0, warps = 0, gangs = 0;
      bool has_arrived = false;
      const auto meeting_of_gang = [&] {
        const unsigned first = t / kernel.threads / kernel.gang * kernel.gang;
        return meeting({kernel.first_block + first, none, 1, gangs});
      };
      std::map<unsigned, unsigned> masks;
      bool is_finished = false;
      for (unsigned n = 0; n < kernel.per_thread; ++n) {
        const unsigned i = kernel.first + t * kernel.per_thread + n;
        const Op& op = ops_[i];
        owner_[i] = {number, block, rank, threads_};
        barriers_[i] = barriers;
        gang_waits_[i] = gangs;
        next_gang_barrier_[i] = gangs + has_arrived;
        warps_[i] = warps;
        if (op.kind == nothing || op.kind == shuffle || is_finished || !seen_[i].executed) continue;
        unsigned node = op_node(i);
        if (op.kind == meet_block) {
          node = meeting({block, none, 0, barriers++});
        } else if (op.kind == meet_gang) {
          node = meeting_of_gang();
          ++gangs;
        } else if (op.kind == arrive_gang) {
          add_edge(node, meeting_of_gang());
          has_arrived = true;
        } else if (op.kind == wait_gang) {
          add_edge(meeting_of_gang(), node);
          has_arrived = false;
          ++gangs;
        } else if (reads_repeatedly(op.kind)) {
          for (unsigned n = 1; n < seen_[i].count; ++n) {
            next_.emplace_back();
            const auto read = static_cast<unsigned>(next_.size()) - 1;
            if (last != none) add_edge(last, read);
            earlier_reads_[i].push_back(read);
            last = read;
          }
        } else if (op.kind == meet_warp) {
          node = meeting({block, rank / 32, op.value, masks[op.value]++});
          warps += (op.value & lanes_of(kernel, rank)) == lanes_of(kernel, rank);
        }
        if (last != none) add_edge(last, node);
        last = node;
        if (op.kind == finish) {
          ends.push_back({node, block, rank, barriers, masks});
          is_finished = true;
        }
      }
      if (last != none && launch != launch_of_.end()) add_edge(last, launch->second + 1);
      ++threads_;
    }
    // A thread that has ended counts as arrived at all barriers that include it.
    for (const End& end : ends)
      for (const auto& [key, node] : meetings_) {
        if (key[0] != end.block) continue;
        const bool of_block = key[1] == none;
        if (!of_block && (key[1] != end.rank / 32 || (key[2] >> end.rank % 32 & 1) == 0)) continue;
        const auto mask = end.masks.find(key[2]);
        if (key[3] >= (of_block ? end.barriers : mask == end.masks.end() ? 0 : mask->second))
          add_edge(end.node, node);
      }
  }

  /// Registers each write of an atomic variable under its variable and value.
  void find_writes() {
    for (unsigned i = 0; i < ops_.size(); ++i) {
      const Op& op = ops_[i];
      const Seen& seen = seen_[i];
      if (!seen.executed || seen.failed || !is_atomic(op.kind) || !writes(op.kind)) continue;
      const unsigned value = op.value + (op.kind == add ? seen.values[seen.count - 1] : 0);
      writes_[{place_of(i), value}] = i;
    }
  }

  unsigned write_of(unsigned i, unsigned value) const {
    const auto found = writes_.find({place_of(i), value});
    return found == writes_.end() ? none : found->second;
  }

  bool is_wide(unsigned i) const { return ops_[i].scope != of_block; }
  bool can_sync(unsigned write, unsigned i, bool& is_near) const {
    is_near = owner_[write].block == owner_[i].block;
    return is_near || (is_wide(write) && is_wide(i));
  }

  /// The block whose shared memory an operation accesses.
  unsigned block_of_target(unsigned i) const {
    const Kernel& kernel = p_.kernels[owner_[i].kernel];
    return kernel.first_block +
           kernel.target_of(owner_[i].block - kernel.first_block, ops_[i].other);
  }

  Byte place_of(unsigned i) const { return byte_of(ops_[i].space, block_of_target(i), ops_[i].at); }

  /// The node of the n-th read of an operation.
  unsigned node_of_read(unsigned i, unsigned n) const {
    const auto earlier = earlier_reads_.find(i);
    return earlier == earlier_reads_.end() || n >= earlier->second.size() ? op_node(i)
                                                                          : earlier->second[n];
  }

  /// Orders an operation after every write of its variable, as if it had read from each of
  /// them.
  void add_all_reads(unsigned i) {
    for (const auto& [key, write] : writes_) {
      bool is_near = false;
      if (key.first == place_of(i) && write != i && can_sync(write, i, is_near))
        add_release(write, node_of_read(i, 0), is_near);
    }
  }

  /// Orders an operation after the writes that it synchronises with: the write that it has read
  /// from and, if this write is an update, the write that the update has read from, and so on.
  void add_reads_from(unsigned i) {
    for (unsigned n = 0; n < seen_[i].count; ++n)
      for (unsigned write = write_of(i, seen_[i].values[n]); write != none;) {
        bool is_near = false;
        if (can_sync(write, i, is_near)) add_release(write, node_of_read(i, n), is_near);
        const Seen& seen = seen_[write];
        write = is_update(ops_[write].kind) ? write_of(write, seen.values[seen.count - 1]) : none;
      }
  }

  /// Adds the operations that precede `acquire` because `acquire` has read from `write`. If the
  /// write is a release, these are the write and all earlier accesses of its thread. For any write,
  /// the accesses before the last fence of the writing thread precede `acquire`. So do the accesses
  /// before a fence of another thread if a barrier orders this fence before the write.
  /// \param acquire the node that acquires
  void add_release(unsigned write, unsigned acquire, bool is_near) {
    const Op& op = ops_[write];
    const Owner& who = owner_[write];
    const Kernel& kernel = p_.kernels[who.kernel];
    const auto covers = [&](const Op& other) { return is_near || other.scope != of_block; };
    if ((op.order == release || op.order == both) && covers(op)) {
      add_edge(op_node(write), acquire);
      released_.push_back({write, acquire});
    }
    for (unsigned rank = 0; rank < kernel.threads; ++rank) {
      const unsigned begin =
          kernel.first +
          ((who.block - kernel.first_block) * kernel.threads + rank) * kernel.per_thread;
      for (unsigned i = begin + kernel.per_thread; i-- > begin;) {
        if (!seen_[i].executed || ops_[i].kind != fence || !covers(ops_[i])) continue;
        const bool same_warp = rank / 32 == who.rank / 32;
        const bool is_known = rank == who.rank ? i < write
                                               : barriers_[i] < barriers_[write] ||
                                                     next_gang_barrier_[i] < gang_waits_[write] ||
                                                     (same_warp && warps_[i] < warps_[write]);
        if (!is_known) continue;
        add_edge(op_node(i), acquire);
        released_.push_back({write, acquire});
        break;
      }
    }
  }

  void add_accesses(unsigned i) {
    const Op& op = ops_[i];
    const Owner& who = owner_[i];
    const auto space_of = [&](Space space, unsigned block) {
      return byte_of(space, block, 0) / memory_bytes;
    };
    if (op.kind == move) {
      add_access({op_node(i), space_of(op.from_space, who.block), op.from,
                  op.from + unsigned{op.bytes}, false, false, false, who.block, who.thread, i});
      add_access({op_node(i), space_of(op.space, block_of_target(i)), op.at,
                  op.at + unsigned{op.bytes}, true, false, false, who.block, who.thread, i});
      return;
    }
    for (unsigned n = 0; n + 1 < seen_[i].count; ++n)
      add_access({node_of_read(i, n), space_of(op.space, block_of_target(i)), op.at,
                  op.at + unsigned{op.bytes}, false, true, is_wide(i), who.block, who.thread, i});
    add_access({op_node(i), space_of(op.space, block_of_target(i)), op.at,
                op.at + unsigned{op.bytes}, writes(op.kind) && !seen_[i].failed, is_atomic(op.kind),
                is_wide(i), who.block, who.thread, i});
  }

  void add_reach(unsigned from, bool is_atomic) {
    std::vector<bool>& reach = reach_[from];
    if (!reach.empty()) return;
    reach.resize(next_.size());
    std::vector<unsigned> stack{from};
    while (!stack.empty()) {
      const unsigned node = stack.back();
      stack.pop_back();
      const auto follow = [&](const std::vector<unsigned>& all) {
        for (const unsigned to : all)
          if (!reach[to]) {
            reach[to] = true;
            stack.push_back(to);
          }
      };
      follow(next_[node]);
      if (!is_atomic) continue;
      if (const auto found = next_of_writes_.find(node); found != next_of_writes_.end())
        follow(found->second);
    }
  }

  bool is_before(const Access& a, const Access& b) const {
    if (a.node == b.node || reach_.at(a.node)[b.node]) return true;
    if (!a.atomic || orders_all_) return false;
    // The write and the earlier writes of its thread to the variable happen before the read that
    // acquires it.
    return std::any_of(released_.begin(), released_.end(), [&](const auto& r) {
      const auto& [write, acquire] = r;
      return owner_[write].thread == a.thread && a.op <= write &&
             place_of(a.op) == place_of(write) && (acquire == b.node || reach_.at(acquire)[b.node]);
    });
  }

  static bool conflict(const Access& a, const Access& b) {
    if (a.space != b.space || a.end <= b.first || b.end <= a.first) return false;
    if (!a.writes && !b.writes) return false;
    return !(a.atomic && b.atomic && (a.block == b.block || (a.wide && b.wide)));
  }

  const Program& p_;
  const std::vector<Op>& ops_;
  const std::vector<Seen>& seen_;
  const bool orders_all_;
  std::vector<Owner> owner_;
  std::vector<unsigned> barriers_;  // number of block barriers that the thread has passed
  std::vector<unsigned> gang_waits_,
      next_gang_barrier_;        // gang barriers that the thread has waited for; index of the next
                                 // gang barrier
  std::vector<unsigned> warps_;  // number of operations of the full warp
  unsigned threads_ = 0;
  std::map<unsigned, unsigned> launch_of_;  // node at which a kernel begins, by kernel
  std::vector<std::vector<unsigned>> next_;
  std::map<unsigned, std::vector<unsigned>> next_of_writes_;  // nodes that acquire from a write
  std::map<std::vector<unsigned>, unsigned> meetings_;
  std::map<std::pair<Byte, unsigned>, unsigned> writes_;
  std::map<unsigned, std::vector<unsigned>> earlier_reads_;  // nodes of all reads except the last,
                                                             // by operation
  std::vector<std::pair<unsigned, unsigned>> released_;      // a write, and the node that acquires
                                                             // from it
  std::vector<Access> accesses_;
  std::map<unsigned, std::vector<bool>> reach_;  // nodes that are reachable from each access
};

}  // namespace

namespace {

/// Returns the bytes with races, and adds the atomic variables among these bytes to `variables`.
std::set<Byte> find_races(const Oracle& oracle, std::set<Byte>& variables) {
  std::set<Byte> racy;
  oracle.for_each_race([&](const auto& a, const auto& b, unsigned first, unsigned end) {
    for (unsigned byte = first; byte < end; ++byte) {
      racy.insert(a.space * memory_bytes + byte);
      if (a.atomic != b.atomic && (a.atomic ? b : a).writes)
        variables.insert(a.space * memory_bytes + byte / 4 * 4);
    }
  });
  return racy;
}

}  // namespace

Racy racy_bytes(const Program& program, const std::vector<Op>& ops, const std::vector<Seen>& seen) {
  Racy racy;
  std::set<Byte> uncertain, more;
  do {  // the order through such a variable may affect accesses to another one
    uncertain = more;
    racy.possible = find_races(Oracle(program, ops, seen, uncertain, false), more);
  } while (more.size() > uncertain.size());
  racy.certain = racy.possible.empty()
                     ? racy.possible
                     : find_races(Oracle(program, ops, seen, uncertain, true), more);
  return racy;
}

std::string text_of(const Program& program, const std::vector<Op>& ops,
                    const std::vector<Seen>& seen) {
  const Oracle oracle(program, ops, seen, {}, false);
  std::string text;
  for (const Kernel& kernel : program.kernels)
    text += "# " + std::to_string(kernel.blocks) + " blocks of " + std::to_string(kernel.threads) +
            " threads\n";
  unsigned races = 0;
  oracle.for_each_race([&](const auto& a, const auto& b, unsigned first, unsigned end) {
    if (++races <= 8)
      text += "# race of bytes " + std::to_string(first) + " to " + std::to_string(end - 1) + ": " +
              oracle.name_of_node(a.node) + " and " + oracle.name_of_node(b.node) + '\n';
  });
  for (unsigned s = 0; s < program.steps.size(); ++s)
    if (program.steps.size() > 1 && program.steps[s].act != Act::none)
      text += "#   " + oracle.name_of_step(s) + '\n';
  for (const Kernel& kernel : program.kernels)
    for (unsigned t = 0; t < kernel.all_threads(); ++t) {
      const unsigned first = kernel.first + t * kernel.per_thread, end = first + kernel.per_thread;
      const auto does_more = [](const Op& op) { return op.kind != nothing && !meets(op.kind); };
      if (std::none_of(&ops[first], &ops[first] + kernel.per_thread, does_more)) continue;
      for (unsigned i = first; i < end; ++i)
        if (ops[i].kind != nothing) text += "#   " + oracle.name(i) + '\n';
    }
  return text + "#   The other threads only take part in the barriers.\n";
}

std::vector<Part> parts_of(Program& program) {
  std::vector<Part> parts;
  for (Step& step : program.steps)
    if (step.act != Act::launch && step.act != Act::none) parts.push_back({.step = &step});
  for (Kernel& kernel : program.kernels) {
    std::map<std::vector<unsigned>, std::vector<Op*>> meetings;
    for (unsigned t = 0; t < kernel.all_threads(); ++t) {
      std::map<unsigned, unsigned> count;
      std::vector<Op*> locked;
      for (Op& op : kernel.of_thread[t]) {
        const unsigned block = t / kernel.threads, warp = t % kernel.threads / 32;
        if (op.kind == meet_block) {
          meetings[{block, ~0u, 0, 0, count[0]++}].push_back(&op);
        } else if (op.kind == meet_gang || op.kind == arrive_gang || op.kind == wait_gang) {
          unsigned& number = count[1];
          meetings[{block / kernel.gang, ~0u, 1, 0, number}].push_back(&op);
          number += op.kind != arrive_gang;
        } else if (meets(op.kind)) {
          meetings[{block, warp, op.kind, op.value, count[op.value * 2 + (op.kind == shuffle)]++}]
              .push_back(&op);
        } else if (op.kind == lock || op.kind == unlock) {
          locked.push_back(&op);
          if (op.kind == unlock) parts.push_back({.ops = std::exchange(locked, {})});
        } else if (op.kind != nothing) {
          parts.push_back({.ops = {&op}});
        }
      }
    }
    for (auto& [key, ops] : meetings) {
      // A cluster's first and last barriers keep its shared memory alive and must remain. Barriers
      // with separate arrive and wait operations do not serve this purpose.
      const bool is_of_cluster = key[1] == ~0u && key[2] == 1 && !kernel.cooperative;
      const auto is_split = [](const Op* op) { return op->kind == arrive_gang; };
      if (!is_of_cluster || std::any_of(ops.begin(), ops.end(), is_split))
        parts.push_back({.ops = std::move(ops)});
    }
  }
  return parts;
}

namespace {

/// Generates random programs.
class Generator {
 public:
  Generator(std::uint64_t seed, bool may_share_variables)
      : random_(seed), may_share_variables_(may_share_variables) {}

  Program program() {
    Program p;
    if (chance(65)) {
      p.kernels.push_back(kernel(0, false));
      p.steps.push_back({.act = Act::launch});
      return p;
    }
    has_pinned_ = chance(50);
    const unsigned kernels = 1 + below(most_kernels);
    shares_variables_ = may_share_variables_ && chance(50);
    for (unsigned n = 0; n < kernels; ++n) p.kernels.push_back(kernel(n, kernels > 1));
    for (unsigned n = 0; n < kernels; ++n) {
      for (unsigned more = below(4); more > 0; --more) p.steps.push_back(step());
      p.steps.push_back({.act = Act::launch, .stream = below(streams), .object = n});
    }
    for (unsigned more = below(4); more > 0; --more) p.steps.push_back(step());
    return p;
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  unsigned pick(std::vector<unsigned> values) {
    return values[below(static_cast<unsigned>(values.size()))];
  }

  Step step() {
    Step s{.act = static_cast<Act>(1 + below(static_cast<unsigned>(Act::none) - 1)),
           .stream = below(streams),
           .object = below(events)};
    const bool of_host = s.act == Act::host_load || s.act == Act::host_store;
    s.space = of_host || (has_pinned_ && chance(50)) ? pinned : global;
    s.bytes = static_cast<std::uint8_t>(of_host ? pick({1, 4}) : 1 + below(16));
    s.at = static_cast<std::uint8_t>(4 * below(4) + (of_host && s.bytes == 4 ? 0 : below(4)));
    s.from_space = has_pinned_ && chance(50) ? pinned : global;
    s.from = static_cast<std::uint8_t>(plain_bytes + below(17 - std::min<unsigned>(s.bytes, 16)));
    return s;
  }

  /// \param is_beside whether other kernels may run concurrently. Each concurrent kernel has its
  /// own atomic variables, unless the kernels share variables.
  Kernel kernel(unsigned number, bool is_beside) {
    Kernel k;
    k.blocks = pick({1, 1, 2, 2, 3, 4});
    k.threads = pick({1, 2, 3, 8, 33, 40, 64, 70});
    k.of_thread.resize(k.all_threads());
    words_ = pick({1, 1, 2, 4, 12});
    const unsigned phases = pick({1, 1, 2, 3}), rounds = pick({1, 2, 3, 4, 6});
    active_ = pick({2, 3, 4, 8});
    fences_ = chance(60);
    mixes_ = !is_beside && chance(25);
    if (!mixes_) words_ = std::min(words_, 4u);  // no plain access reaches the atomic variables
    const bool is_apart = is_beside && !shares_variables_;
    variables_ = mixes_ ? words_ : is_apart ? 1 : 2;
    first_variable_ = mixes_ ? 0 : 32 + 4 * (is_apart ? number : below(3));
    narrow_ = chance(30);
    orders_ = chance(40);
    waits_ = chance(30);
    volatile_ = chance(30);
    ends_ = chance(20);
    in_shared_ = pick({0, 30, 30, 60, 100});
    // Only a few threads act. With more threads, accesses would rarely conflict.
    few_.clear();
    for (unsigned n = 0; n < active_; ++n) few_.push_back(below(k.all_threads()));
    gang_ = 1;
    if (k.blocks > 1 && chance(30)) {
      k.cooperative = chance(50);
      k.gang = gang_ = k.cooperative ? k.blocks : k.blocks % 2 == 0 && chance(50) ? 2 : k.blocks;
      clusters_ = !k.cooperative;
      ends_ = false;
    } else {
      clusters_ = false;
    }
    const auto meet_all = [&](Kind kind) {
      for (auto& ops : k.of_thread) add_unless_ended(ops, {.kind = kind});
    };
    // The shared memory of the blocks of a cluster is accessible between two cluster barriers.
    if (clusters_) meet_all(meet_gang);
    for (unsigned phase = 0; phase < phases; ++phase) {
      if (phase > 0 && k.gang > 1 && chance(40))
        split_barrier(k);
      else if (phase > 0)
        meet_all(k.gang > 1 && chance(50) ? meet_gang : meet_block);
      for (unsigned round = 0; round < rounds; ++round) {
        add_few(k);
        if (chance(35)) meet(k);
        if (ends_ && chance(10)) add_unless_ended(k.of_thread[few_[0]], {.kind = finish});
      }
    }
    if (clusters_) meet_all(meet_gang);
    return k;
  }

  void add_few(Kernel& k) {
    for (unsigned n = 0; n < active_; ++n) {
      const unsigned thread = chance(80) ? few_[n] : below(k.all_threads());
      add(k.of_thread[thread]);
    }
  }

  /// Adds a barrier of the gang (a cluster or a cooperative grid) with separate arrive and wait.
  /// Threads may access memory between the two, arrive early or late, or wait as soon as they
  /// arrive.
  void split_barrier(Kernel& k) {
    std::vector<bool> has_arrived(k.of_thread.size());
    const auto arrive = [&](unsigned thread) {
      k.of_thread[thread].push_back({.kind = arrive_gang});
      has_arrived[thread] = true;
    };
    const bool all_early = chance(30), meets_block = chance(20), waits_at_once = chance(30);
    for (unsigned thread = 0; thread < has_arrived.size(); ++thread)
      if (all_early || chance(50)) arrive(thread);
    for (unsigned round = 1 + below(2); round > 0; --round) add_few(k);
    if (chance(35)) meet(k);
    if (meets_block)
      for (auto& ops : k.of_thread) ops.push_back({.kind = meet_block});
    add_few(k);
    for (unsigned thread = 0; thread < has_arrived.size(); ++thread) {
      if (has_arrived[thread]) continue;
      if (!waits_at_once || chance(50))
        arrive(thread);
      else
        k.of_thread[thread].push_back({.kind = meet_gang});
    }
    for (unsigned n = 0; n < active_; ++n)
      if (has_arrived[few_[n]]) add(k.of_thread[few_[n]]);
    for (unsigned thread = 0; thread < has_arrived.size(); ++thread)
      if (has_arrived[thread]) k.of_thread[thread].push_back({.kind = wait_gang});
  }

  static void add_unless_ended(std::vector<Op>& ops, const Op& op) {
    if (ops.empty() || ops.back().kind != finish) ops.push_back(op);
  }

  void meet(Kernel& k) {
    const unsigned thread = few_[below(active_)], block = thread / k.threads;
    const unsigned warp = thread % k.threads / 32;
    const unsigned first = warp * 32, count = std::min(32u, k.threads - first);
    unsigned mask = count == 32 ? ~0u : (1u << count) - 1;
    if (chance(40)) {
      mask &= static_cast<unsigned>(random_()) | 1u;
    } else if (chance(30)) {
      mask = 0;
      for (const unsigned t : few_)
        if (t / 32 == thread / 32 && t / k.threads == block && t % k.threads / 32 == warp)
          mask |= 1u << t % k.threads % 32;
      mask |= 1u << thread % k.threads % 32;
    }
    const Kind kind = chance(80) ? meet_warp : shuffle;
    for (unsigned lane = 0; lane < count; ++lane)
      if ((mask >> lane & 1) != 0)
        add_unless_ended(k.of_thread[block * k.threads + first + lane],
                         {.kind = kind, .value = mask});
  }

  Space a_space() {
    return chance(in_shared_) ? shared : has_pinned_ && chance(40) ? pinned : global;
  }
  void choose_block(Op& op) {
    if (clusters_ && op.space == shared && chance(40))
      op.other = static_cast<std::uint8_t>(below(gang_));
  }

  void choose_place(Op& op, bool is_aligned) {
    const unsigned start = 4 * below(words_) + below(4);
    op.at = static_cast<std::uint8_t>(is_aligned ? start / op.bytes * op.bytes : start);
    if (op.bytes == 12) op.at = static_cast<std::uint8_t>(start / 4 * 4);
    op.space = a_space();
    choose_block(op);
  }

  Scope a_scope() { return narrow_ && chance(40) ? of_block : chance(10) ? of_system : of_device; }

  Op atomic_op(Kind kind) {
    Op op{.kind = kind};
    op.at = static_cast<std::uint8_t>(first_variable_ + 4 * below(variables_));
    op.space = a_space();
    choose_block(op);
    if (kind == volatile_load || kind == volatile_store) return op;
    op.scope = a_scope();
    if (orders_) op.order = static_cast<Order>(below(4));
    if ((kind == atomic_load || kind == await) && op.order == release) op.order = acquire;
    if (kind == atomic_store && op.order == acquire) op.order = release;
    return op;
  }

  void add(std::vector<Op>& ops) {
    if (!ops.empty() && ops.back().kind == finish) return;
    if (fences_ && chance(55)) return add_atomic(ops);
    add_plain(ops);
  }

  void add_plain(std::vector<Op>& ops) {
    Op op{.kind = static_cast<Kind>(
              pick({load, load, load, store, store, update, copy_from, copy_to, fill, move}))};
    switch (op.kind) {
      case load:
      case store:
        op.bytes = static_cast<std::uint8_t>(pick({1, 2, 4, 4, 8, 12, 16}));
        choose_place(op, true);
        break;
      case update:
        op.bytes = static_cast<std::uint8_t>(pick({1, 2, 4, 4, 8}));
        choose_place(op, true);
        break;
      default:
        op.bytes = static_cast<std::uint8_t>(1 + below(15));
        choose_place(op, false);
    }
    if (op.kind == move) {
      op.from = static_cast<std::uint8_t>(plain_bytes + below(17 - op.bytes));
      op.from_space = a_space();
      if (op.from_space == op.space && op.from < op.at + op.bytes) op.kind = fill;
    } else if (chance(10)) {
      op.at = static_cast<std::uint8_t>(
          op.at % (memory_bytes - plain_bytes + 1 - op.bytes) / op.bytes * op.bytes + plain_bytes);
    }
    ops.push_back(op);
  }

  void add_atomic(std::vector<Op>& ops) {
    if (waits_ && chance(20)) {
      Op op = atomic_op(lock);
      op.order = chance(50) ? acquire : relaxed;
      ops.push_back(op);
      for (unsigned n = below(3) + 1; n > 0; --n) add_plain(ops);
      if (chance(50)) ops.push_back({.kind = fence, .scope = a_scope()});
      op.kind = unlock;
      op.order = chance(50) ? release : relaxed;
      ops.push_back(op);
      return;
    }
    std::vector<unsigned> all{exchange,    exchange,    add_,        compare,
                              atomic_load, atomic_load, atomic_store};
    if (waits_) all.push_back(await);
    if (volatile_) all.insert(all.end(), {volatile_load, volatile_store});
    const Op op = atomic_op(static_cast<Kind>(pick(all)));
    // Programs often write a flag after a fence.
    if (writes(op.kind) && chance(60)) ops.push_back({.kind = fence, .scope = a_scope()});
    ops.push_back(op);
    if (chance(10)) ops.push_back({.kind = fence, .scope = a_scope()});
  }

  static constexpr unsigned add_ = race_oracle::add;

  std::mt19937_64 random_;
  const bool may_share_variables_;
  unsigned words_ = 1, in_shared_ = 0, active_ = 2, first_variable_ = 0, variables_ = 1;
  bool mixes_ = false;             // whether the kernel mixes plain and atomic accesses
  bool shares_variables_ = false;  // whether concurrent kernels share variables
  bool has_pinned_ = false, clusters_ = false;
  unsigned gang_ = 1;
  bool fences_ = false, narrow_ = false, orders_ = false, waits_ = false, volatile_ = false,
       ends_ = false;
  std::vector<unsigned> few_;
};

}  // namespace

Program random_program(std::uint64_t seed, bool may_share_variables) {
  return Generator(seed, may_share_variables).program();
}

std::vector<Litmus> litmus_tests() {
  const Op write{.kind = store}, read{.kind = load}, flag{.kind = exchange, .at = 8};
  const Op barrier{.kind = meet_block}, wide{.kind = fence};
  const Op near{.kind = fence, .scope = of_block}, both_lanes{.kind = meet_warp, .value = 3};
  const auto launched = [](Kernel kernel) {
    return Program{.kernels = {std::move(kernel)}, .steps = {{.act = Act::launch}}};
  };
  const auto blocks = [&](std::vector<std::vector<Op>> ops) {
    const auto count = static_cast<unsigned>(ops.size());
    return launched({.blocks = count, .threads = 1, .of_thread = std::move(ops)});
  };
  const auto lanes = [&](std::vector<std::vector<Op>> ops) {
    const auto count = static_cast<unsigned>(ops.size());
    return launched({.blocks = 1, .threads = count, .of_thread = std::move(ops)});
  };
  const Op first{.kind = store, .bytes = 1, .at = 0}, second{.kind = store, .bytes = 1, .at = 1};
  const std::set<Byte> word{0, 1, 2, 3};
  const Op end{.kind = finish}, second_lane{.kind = meet_warp, .value = 2};
  const Op flag_load{.kind = atomic_load, .at = 8}, other_load{.kind = atomic_load, .at = 12};
  const Op released{.kind = atomic_store, .at = 8, .order = release};
  const Op stored{.kind = atomic_store, .at = 12};
  const Op shared_flag{.kind = exchange, .at = 8, .space = shared};
  const Kernel pairs{.blocks = 2,
                     .threads = 2,
                     .of_thread = {{write, barrier, barrier, flag},
                                   {barrier, wide, barrier},
                                   {barrier, barrier, flag, read},
                                   {barrier, barrier}}};
  const Op gang{.kind = meet_gang};
  const auto clusters = [&](std::vector<std::vector<Op>> ops) {
    const auto threads = static_cast<unsigned>(ops.size()) / 4;
    return launched({.blocks = 4, .threads = threads, .gang = 2, .of_thread = std::move(ops)});
  };
  const Op arrive{.kind = arrive_gang}, wait{.kind = wait_gang};
  const auto cluster_pair = [&](std::vector<std::vector<Op>> ops) {
    return launched({.blocks = 2, .threads = 1, .gang = 2, .of_thread = std::move(ops)});
  };
  const Kernel writer{.blocks = 1, .threads = 1, .of_thread = {{write}}};
  const Kernel reader{.blocks = 1, .threads = 1, .of_thread = {{read}}};
  const Step first_launch{.act = Act::launch}, recorded{.act = Act::record};
  const Step awaited{.act = Act::wait, .stream = 1};
  const Step second_launch{.act = Act::launch, .stream = 1, .object = 1};
  return {
      {"two lanes write", lanes({{write}, {write}}), word},
      {"two lanes read", lanes({{read}, {read}}), {}},
      {"a barrier between", lanes({{write, barrier}, {barrier, read}}), {}},
      {"a warp meets between", lanes({{write, both_lanes}, {both_lanes, read}}), {}},
      {"bytes of a word", lanes({{first}, {second}}), {}},
      {"a byte and its word",
       lanes({{first, barrier}, {second, barrier}, {barrier}, {barrier, read}, {read, barrier}}),
       {0, 1}},
      {"a flag with a fence", blocks({{write, wide, flag}, {flag, read}}), {}},
      {"a flag without a fence", blocks({{write, flag}, {flag, read}}), word},
      {"a fence of the block", blocks({{write, near, flag}, {flag, read}}), word},
      {"a write behind the fence", blocks({{wide, write, flag}, {flag, read}}), word},
      {"through a third block",
       blocks({{write, wide, flag}, {flag, wide, flag}, {flag, read}}),
       {}},
      {"a store breaks the sequence",
       blocks({{write, wide, flag}, {{.kind = atomic_store, .at = 8}}, {flag, read}}), word},
      {"an own read hides nothing", blocks({{read}, {read, write}}), word},
      {"an update in place", lanes({{{.kind = update}}, {read}}), word},
      {"atomic and plain", blocks({{{.kind = exchange}}, {read}}), word},
      {"a mask without a lane that has ended", lanes({{write, end}, {second_lane, read}}), word},
      {"a mask with a lane that has ended", lanes({{write, end}, {both_lanes, read}}), {}},
      {"a lane that has ended between two masks",
       lanes({{write, {.kind = meet_warp, .value = 5}},
              {{.kind = meet_warp, .value = 6}, write},
              {end}}),
       word},
      {"a plain write before an exchange",
       blocks({{write, read, {.kind = exchange}}, {{.kind = atomic_load}}}), word},
      {"a fence of another thread", launched(pairs), {}},
      {"a failed comparison",
       blocks({{flag, write, wide, {.kind = compare, .at = 8}}, {flag, read}}), word},
      {"a release", blocks({{write, released}, {flag_load, read}}), {}},
      {"a release of another variable", blocks({{write, released, stored}, {other_load, read}}),
       word},
      {"shared variables of two blocks", blocks({{write, wide, shared_flag}, {shared_flag, read}}),
       word},
      {"a fence after a barrier of the cluster",
       clusters({{gang, wide, gang, gang, flag, gang},
                 {write, gang, gang, gang, gang},
                 {gang, flag, read, gang, gang, gang},
                 {gang, gang, gang, gang}}),
       {}},
      {"a fence before a barrier of the cluster",
       clusters({{gang, wide, gang, gang, flag, gang},
                 {gang, gang, write, gang, gang},
                 {gang, flag, read, gang, gang, gang},
                 {gang, gang, gang, gang}}),
       word},
      {"a fence of another thread before a barrier of the cluster",
       clusters({{gang, gang, gang, flag, gang},
                 {gang, wide, gang, gang, gang},
                 {gang, gang, write, gang, gang},
                 {gang, gang, gang, gang},
                 {gang, flag, read, gang, gang, gang},
                 {gang, gang, gang, gang},
                 {gang, gang, gang, gang},
                 {gang, gang, gang, gang}}),
       word},
      {"writes before both blocks arrive",
       cluster_pair({{gang, write, arrive, wait, gang}, {gang, arrive, wait, read, gang}}),
       {}},
      {"a write after the arrival",
       cluster_pair({{gang, arrive, write, wait, gang}, {gang, arrive, wait, read, gang}}), word},
      {"a read before the wait",
       cluster_pair({{gang, write, arrive, wait, gang}, {gang, arrive, read, wait, gang}}), word},
      {"accesses between the two halves",
       cluster_pair({{gang, arrive, write, wait, gang}, {gang, arrive, read, wait, gang}}), word},
      {"a write after the arrival, and the next barrier",
       cluster_pair({{gang, arrive, write, wait, gang}, {gang, arrive, wait, gang, read}}),
       {}},
      {"a write after the arrival, and a thread of the same block",
       launched({.blocks = 2,
                 .threads = 2,
                 .gang = 2,
                 .of_thread = {{gang, arrive, write, wait, gang},
                               {gang, arrive, wait, read, gang},
                               {gang, gang, gang},
                               {gang, gang, gang}}}),
       word},
      {"a write before the arrival, and a thread of the same block",
       launched({.blocks = 2,
                 .threads = 2,
                 .gang = 2,
                 .of_thread = {{gang, write, arrive, wait, gang},
                               {gang, arrive, wait, read, gang},
                               {gang, gang, gang},
                               {gang, gang, gang}}}),
       {}},
      {"a write after an arrival of the grid",
       launched({.blocks = 2,
                 .threads = 1,
                 .gang = 2,
                 .cooperative = true,
                 .of_thread = {{arrive, write, wait}, {arrive, wait, read}}}),
       word},
      {"a barrier of the grid, and a flag for another stream",
       {.kernels = {{.blocks = 2,
                     .threads = 1,
                     .gang = 2,
                     .cooperative = true,
                     .of_thread = {{gang, wide, flag}, {write, gang}}},
                    {.blocks = 1, .threads = 1, .of_thread = {{flag, read}}}},
        .steps = {{.act = Act::launch, .stream = 1}, {.act = Act::launch, .object = 1}}},
       {}},
      {"a release before another kernel of its stream",
       {.kernels = {{.blocks = 1, .threads = 1, .of_thread = {{flag, read}}},
                    {.blocks = 1, .threads = 1, .of_thread = {{write, wide, flag}}},
                    {.blocks = 1, .threads = 1, .of_thread = {{{.kind = load, .at = 20}}}}},
        .steps = {first_launch,
                  {.act = Act::launch, .stream = 1, .object = 1},
                  {.act = Act::launch, .stream = 1, .object = 2}}},
       {}},
      {"two streams", {.kernels = {writer, reader}, .steps = {first_launch, second_launch}}, word},
      {"an event",
       {.kernels = {writer, reader}, .steps = {first_launch, recorded, awaited, second_launch}},
       {}},
  };
}

}  // namespace race_oracle
