#include "race_oracle.hpp"

namespace race_oracle {
namespace {

/// The value that the n-th operation writes, and the other way round. What remains of two values
/// where bytes of one are overwritten is hardly ever a third one.
unsigned value_of(unsigned number) { return number * 0x9E37'79B1u; }
unsigned number_of(unsigned value) { return value * 0x0E8B'2F51u; }

}  // namespace

/// Gives each thread as many operations, and each operation its number.
std::vector<Op> laid_out(Kernel& kernel) {
  kernel.per_thread = 1;
  for (const auto& ops : kernel.of_thread)
    kernel.per_thread = std::max(kernel.per_thread, static_cast<unsigned>(ops.size()));
  static unsigned numbers = 0;  // shared memory holds what kernels before this one have left
  kernel.before = numbers;
  std::vector<Op> all;
  for (auto& ops : kernel.of_thread) {
    ops.resize(kernel.per_thread);
    for (Op& op : ops) {
      if (op.kind != meet_warp) op.value = value_of(++numbers);
      else
        ++numbers;
      all.push_back(op);
    }
  }
  return all;
}

namespace {

bool is_atomic(Kind kind) { return kind >= exchange && kind <= volatile_load; }
bool writes(Kind kind) {
  return kind == store || kind == update || kind == copy_to || kind == exchange ||
         kind == exchange_in_block || kind == atomic_store;
}
bool accesses(Kind kind) { return kind >= load && kind <= volatile_load; }

/// Happens-before of an execution, as a graph of all operations, and of the meetings of threads.
class Oracle {
 public:
  Oracle(const Kernel& kernel, const std::vector<Op>& ops, const std::vector<unsigned>& seen)
      : k_(kernel), ops_(ops), seen_(seen), next_(ops.size()) {
    add_program_order();
    for (unsigned i = 0; i < ops_.size(); ++i)
      if (is_atomic(ops_[i].kind) && ops_[i].kind != atomic_store) add_reads_from(i);
    reach_.resize(ops_.size());
    for (unsigned i = 0; i < ops_.size(); ++i)
      if (accesses(ops_[i].kind)) {
        accesses_.push_back(i);
        add_reach(i);
      }
  }

  /// Whether any two accesses conflict, and neither happens before the other.
  bool has_race() const {
    for (auto i = accesses_.begin(); i != accesses_.end(); ++i)
      for (auto j = i + 1; j != accesses_.end(); ++j)
        if (conflict(*i, *j) && !is_before(*i, *j) && !is_before(*j, *i)) {
          first_ = *i;
          second_ = *j;
          return true;
        }
    return false;
  }

  std::string race() const { return name(first_) + " and " + name(second_); }

  std::string name(unsigned i) const {
    static const char* const names[] = {"nothing",       "load",         "store",
                                        "update",        "copy from",    "copy to",
                                        "exchange",      "exchange in block",
                                        "atomic load",   "atomic store", "volatile load",
                                        "fence",         "fence in block", "meet warp",
                                        "meet block"};
    const Op& op = ops_[i];
    std::string text = "thread " + std::to_string(thread(i) % k_.threads) + " of block " +
                       std::to_string(block(i)) + " #" + std::to_string(i % k_.per_thread) + ": " +
                       names[op.kind];
    if (accesses(op.kind))
      text += (op.in_shared ? " shared " : " global ") + std::to_string(op.at) + "+" +
              std::to_string(op.bytes);
    if (is_atomic(op.kind) && op.kind != atomic_store)
      if (const unsigned write = write_read_by(i); write != ~0u)
        text += " reads from thread " + std::to_string(thread(write) % k_.threads) + " of block " +
                std::to_string(block(write));
    if (op.kind == meet_warp) text += " mask " + std::to_string(op.value);
    return text;
  }

 private:
  unsigned thread(unsigned i) const { return i / k_.per_thread; }
  unsigned block(unsigned i) const { return thread(i) / k_.threads; }
  unsigned lanes_of(unsigned thread) const {
    const unsigned in_block = thread % k_.threads, count = k_.threads - in_block / 32 * 32;
    return count >= 32 ? ~0u : (1u << count) - 1;
  }

  void add_edge(unsigned from, unsigned to) { next_[from].push_back(to); }

  /// The node of a meeting: the n-th of the block, or of a mask of a warp.
  unsigned meeting(std::vector<unsigned> key) {
    const auto found = std::find(meetings_.begin(), meetings_.end(), key);
    if (found != meetings_.end())
      return static_cast<unsigned>(ops_.size() + (found - meetings_.begin()));
    meetings_.push_back(std::move(key));
    next_.emplace_back();
    return static_cast<unsigned>(next_.size() - 1);
  }

  void add_program_order() {
    barriers_.resize(ops_.size());
    warps_.resize(ops_.size());
    for (unsigned t = 0; t < k_.all_threads(); ++t) {
      unsigned last = ~0u, barriers = 0, warps = 0;
      std::vector<std::pair<unsigned, unsigned>> masks;
      for (unsigned i = t * k_.per_thread; i < (t + 1) * k_.per_thread; ++i) {
        barriers_[i] = barriers;
        warps_[i] = warps;
        const Op& op = ops_[i];
        unsigned node = i;
        if (op.kind == meet_block) {
          node = meeting({t / k_.threads, ~0u, 0, barriers++});
          ++warps;
        } else if (op.kind == meet_warp) {
          const auto count = static_cast<unsigned>(std::count_if(
              masks.begin(), masks.end(), [&](const auto& m) { return m.first == op.value; }));
          masks.emplace_back(op.value, 0);
          node = meeting({t / k_.threads, t % k_.threads / 32, op.value, count});
          warps += (op.value & lanes_of(t)) == lanes_of(t);
        }
        if (last != ~0u) add_edge(last, node);
        last = node;
      }
    }
  }

  /// The write that an operation has read from, or none.
  unsigned write_read_by(unsigned i) const {
    const unsigned number = number_of(seen_[i]) - k_.before;
    if (number == 0 || number > ops_.size()) return ~0u;
    const Op& write = ops_[number - 1];
    const bool is_there = is_atomic(write.kind) && writes(write.kind) && write.at == ops_[i].at &&
                          write.in_shared == ops_[i].in_shared &&
                          (!write.in_shared || block(number - 1) == block(i));
    return is_there ? number - 1 : ~0u;
  }

  bool is_wide(unsigned i) const { return ops_[i].kind != exchange_in_block; }

  /// An operation acquires what was released by the write that it has read from, and by those that
  /// this one, an exchange, has read from.
  void add_reads_from(unsigned i) {
    for (unsigned write = write_read_by(i); write != ~0u;) {
      const bool is_near = block(write) == block(i);
      if (is_near || (is_wide(write) && is_wide(i))) add_release(write, i, is_near);
      write = ops_[write].kind == atomic_store ? ~0u : write_read_by(write);
    }
  }

  /// A write releases what came before the last fence of its thread; and what came before fences of
  /// others, if its thread has met them since.
  void add_release(unsigned write, unsigned acquire, bool is_near) {
    for (unsigned t = 0; t < k_.all_threads(); ++t) {
      if (t / k_.threads != block(write)) continue;
      for (unsigned i = (t + 1) * k_.per_thread; i-- > t * k_.per_thread;) {
        if (ops_[i].kind != fence && !(is_near && ops_[i].kind == fence_in_block)) continue;
        const bool same_warp = t % k_.threads / 32 == thread(write) % k_.threads / 32;
        const bool is_known = t == thread(write) ? i < write
                                                 : barriers_[i] < barriers_[write] ||
                                                       (same_warp && warps_[i] < warps_[write]);
        if (!is_known) continue;
        add_edge(i, acquire);
        released_.push_back({write, acquire});
        break;
      }
    }
  }

  void add_reach(unsigned from) {
    reach_[from].resize(next_.size());
    std::vector<unsigned> stack{from};
    while (!stack.empty()) {
      const unsigned node = stack.back();
      stack.pop_back();
      for (const unsigned to : next_[node])
        if (!reach_[from][to]) {
          reach_[from][to] = true;
          stack.push_back(to);
        }
    }
  }

  bool is_before(unsigned i, unsigned j) const {
    if (reach_[i][j]) return true;
    // The write itself, and those of its thread before it, come before what acquires it.
    return std::any_of(released_.begin(), released_.end(), [&](const auto& r) {
      const auto& [write, acquire] = r;
      return is_atomic(ops_[i].kind) && thread(i) == thread(write) && i <= write &&
             ops_[i].at == ops_[write].at && (acquire == j || reach_[acquire][j]);
    });
  }

  bool conflict(unsigned i, unsigned j) const {
    const Op &a = ops_[i], &b = ops_[j];
    if (a.in_shared != b.in_shared || (a.in_shared && block(i) != block(j))) return false;
    if (a.at + a.bytes <= b.at || b.at + b.bytes <= a.at) return false;
    if (!writes(a.kind) && !writes(b.kind)) return false;
    const bool both = is_atomic(a.kind) && is_atomic(b.kind);
    return !(both && (block(i) == block(j) || (is_wide(i) && is_wide(j))));
  }

  const Kernel& k_;
  const std::vector<Op>& ops_;
  const std::vector<unsigned>& seen_;
  std::vector<std::vector<unsigned>> next_;
  std::vector<std::vector<unsigned>> meetings_;
  std::vector<unsigned> barriers_, warps_;  // that a thread has behind it
  std::vector<std::pair<unsigned, unsigned>> released_;
  std::vector<unsigned> accesses_;
  std::vector<std::vector<bool>> reach_;  // of accesses
  mutable unsigned first_ = 0, second_ = 0;
};

/// Random kernels.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Kernel kernel() {
    Kernel k;
    k.blocks = pick({1, 1, 2, 2, 3});
    k.threads = pick({1, 2, 3, 8, 33, 40, 64, 70});
    k.of_thread.resize(k.all_threads());
    words_ = pick({1, 2, 4, 12});
    const unsigned phases = pick({1, 1, 2, 3}), rounds = pick({1, 2, 3, 4});
    const unsigned active = pick({2, 3, 4, 8});
    fences_ = chance(60);
    for (unsigned phase = 0; phase < phases; ++phase) {
      if (phase > 0)
        for (auto& ops : k.of_thread) ops.push_back({.kind = meet_block});
      for (unsigned round = 0; round < rounds; ++round) {
        for (unsigned n = 0; n < active; ++n) add(k.of_thread[below(k.all_threads())]);
        if (chance(25)) meet(k);
      }
    }
    return k;
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  unsigned pick(std::vector<unsigned> values) {
    return values[below(static_cast<unsigned>(values.size()))];
  }

  void meet(Kernel& k) {
    const unsigned block = below(k.blocks), warps = (k.threads + 31) / 32, warp = below(warps);
    const unsigned first = warp * 32, count = std::min(32u, k.threads - first);
    unsigned mask = count == 32 ? ~0u : (1u << count) - 1;
    if (chance(40)) mask &= static_cast<unsigned>(random_()) | 1u;
    for (unsigned lane = 0; lane < count; ++lane)
      if ((mask >> lane & 1) != 0)
        k.of_thread[block * k.threads + first + lane].push_back({.kind = meet_warp, .value = mask});
  }

  void add(std::vector<Op>& ops) {
    Op op{.kind = static_cast<Kind>(1 + below(fences_ ? fence_in_block : copy_to)), .at = 0};
    if (fences_ && chance(30)) op.kind = chance(60) ? exchange : fence;
    op.in_shared = chance(30);
    const unsigned word = below(words_);
    op.at = static_cast<std::uint8_t>(4 * word);
    if (op.kind == exchange_in_block) op.in_shared = true;
    if (op.kind == load || op.kind == store) {
      op.bytes = static_cast<std::uint8_t>(pick({1, 2, 4, 4, 8, 16}));
      op.at = static_cast<std::uint8_t>((4 * word + below(4)) / op.bytes * op.bytes);
    } else if (op.kind == copy_from || op.kind == copy_to) {
      op.bytes = static_cast<std::uint8_t>(1 + below(15));
      op.at = static_cast<std::uint8_t>(4 * word + below(4));
    }
    // What is written behind a fence, or read before one, is what programs do.
    if (fences_ && is_atomic(op.kind) && writes(op.kind) && chance(60))
      ops.push_back({.kind = op.in_shared && chance(30) ? fence_in_block : fence});
    ops.push_back(op);
  }

  std::mt19937_64 random_;
  unsigned words_ = 1;
  bool fences_ = false;
};

}  // namespace

bool has_race(const Kernel& kernel, const std::vector<Op>& ops, const std::vector<unsigned>& seen) {
  return Oracle(kernel, ops, seen).has_race();
}

std::string text_of(const Kernel& kernel, const std::vector<Op>& ops,
                    const std::vector<unsigned>& seen) {
  const Oracle oracle(kernel, ops, seen);
  std::string text;
  if (oracle.has_race()) text = "# " + oracle.race() + '\n';
  for (unsigned i = 0; i < ops.size(); ++i)
    if (ops[i].kind != nothing) text += "#   " + oracle.name(i) + '\n';
  return text;
}

Kernel kernel_of(std::uint64_t seed) { return Generator(seed).kernel(); }

std::vector<Litmus> litmus_tests() {
  const Op write{.kind = store}, read{.kind = load}, flag{.kind = exchange, .at = 8};
  const Op barrier{.kind = meet_block}, wide{.kind = fence}, near{.kind = fence_in_block};
  const Op both{.kind = meet_warp, .value = 3};
  const auto blocks = [](std::vector<std::vector<Op>> ops) {
    const auto count = static_cast<unsigned>(ops.size());
    return Kernel{.blocks = count, .threads = 1, .of_thread = std::move(ops)};
  };
  const auto lanes = [](std::vector<std::vector<Op>> ops) {
    const auto count = static_cast<unsigned>(ops.size());
    return Kernel{.blocks = 1, .threads = count, .of_thread = std::move(ops)};
  };
  const Op first{.kind = store, .bytes = 1, .at = 0}, second{.kind = store, .bytes = 1, .at = 1};
  return {
      {"two lanes write", lanes({{write}, {write}}), true},
      {"two lanes read", lanes({{read}, {read}}), false},
      {"a barrier between", lanes({{write, barrier}, {barrier, read}}), false},
      {"a warp meets between", lanes({{write, both}, {both, read}}), false},
      {"bytes of a word", lanes({{first}, {second}}), false},
      {"a byte and its word", lanes({{first, barrier}, {second, barrier}, {barrier}, {barrier, read}, {read, barrier}}), true},
      {"a flag with a fence", blocks({{write, wide, flag}, {flag, read}}), false},
      {"a flag without a fence", blocks({{write, flag}, {flag, read}}), true},
      {"a fence of the block", blocks({{write, near, flag}, {flag, read}}), true},
      {"a write behind the fence", blocks({{wide, write, flag}, {flag, read}}), true},
      {"through a third block", blocks({{write, wide, flag}, {flag, wide, flag}, {flag, read}}), false},
      {"a store breaks the sequence", blocks({{write, wide, flag}, {{.kind = atomic_store, .at = 8}}, {flag, read}}), true},
      {"an own read hides nothing", blocks({{read}, {read, write}}), true},
      {"an update in place", lanes({{{.kind = update}}, {read}}), true},
      {"atomic and plain", blocks({{{.kind = exchange}}, {read}}), true},
  };
}

}  // namespace race_oracle
