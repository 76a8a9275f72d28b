/// \file
/// Compares the race detector with an oracle on litmus tests and random programs.
///
/// STAIRCASE_TEST_SEED and STAIRCASE_TEST_KERNELS choose the random programs. Without a seed, each
/// build has its own seed, which the last line of the output names. If the verdicts differ for a
/// program, the test reduces it to a smaller program with different verdicts. With
/// STAIRCASE_TEST_SHARED=1, concurrent kernels may have atomic variables in common.

#include <cuda/atomic>
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../src/analysis.hpp"
#include "race_oracle.hpp"

namespace {

using namespace race_oracle;

__device__ void observe(Seen& seen, unsigned value) {
  if (seen.count == 0 || seen.values[seen.count - 1] != value) seen.values[seen.count++] = value;
}

template <cuda::thread_scope scope>
__device__ unsigned swap(unsigned* word, unsigned value, cuda::memory_order order) {
  if (order != cuda::memory_order_relaxed)
    return cuda::atomic_ref<unsigned, scope>(*word).exchange(value, order);
  return scope == cuda::thread_scope_block    ? atomicExch_block(word, value)
         : scope == cuda::thread_scope_device ? atomicExch(word, value)
                                              : atomicExch_system(word, value);
}

template <cuda::thread_scope scope>
__device__ unsigned plus(unsigned* word, unsigned value, cuda::memory_order order) {
  if (order != cuda::memory_order_relaxed)
    return cuda::atomic_ref<unsigned, scope>(*word).fetch_add(value, order);
  return scope == cuda::thread_scope_block    ? atomicAdd_block(word, value)
         : scope == cuda::thread_scope_device ? atomicAdd(word, value)
                                              : atomicAdd_system(word, value);
}

template <cuda::thread_scope scope>
__device__ unsigned swap_if(unsigned* word, unsigned expected, unsigned value,
                            cuda::memory_order order) {
  if (order != cuda::memory_order_relaxed) {
    cuda::atomic_ref<unsigned, scope>(*word).compare_exchange_strong(expected, value, order);
    return expected;
  }
  return scope == cuda::thread_scope_block    ? atomicCAS_block(word, expected, value)
         : scope == cuda::thread_scope_device ? atomicCAS(word, expected, value)
                                              : atomicCAS_system(word, expected, value);
}

constexpr int most_tries = 100;  // exceeds the number of spins after which other threads run

/// Executes an operation on an atomic variable.
/// \param last the value that the thread has read last from any atomic variable
template <cuda::thread_scope scope>
__device__ void do_atomic(const Op& op, unsigned* word, unsigned last, Seen& seen) {
  const cuda::memory_order order = op.order == relaxed   ? cuda::memory_order_relaxed
                                   : op.order == acquire ? cuda::memory_order_acquire
                                   : op.order == release ? cuda::memory_order_release
                                                         : cuda::memory_order_acq_rel;
  const cuda::memory_order of_load =
      op.order == both ? cuda::memory_order_seq_cst
      : op.order == release ? cuda::memory_order_relaxed : order;
  const cuda::memory_order of_store =
      op.order == both ? cuda::memory_order_seq_cst
      : op.order == acquire ? cuda::memory_order_relaxed : order;
  const cuda::atomic_ref<unsigned, scope> atomic(*word);
  switch (op.kind) {
    case atomic_load:
      return observe(seen, atomic.load(of_load));
    case atomic_store:
    case unlock:
      return atomic.store(op.value, of_store);
    case exchange:
      return observe(seen, swap<scope>(word, op.value, order));
    case race_oracle::add:
      return observe(seen, plus<scope>(word, op.value, order));
    case compare: {
      observe(seen, swap_if<scope>(word, last, op.value, order));
      seen.failed = seen.values[0] != last;
      return;
    }
    case await:
      for (int tries = 0; tries < most_tries && seen.count < 2; ++tries)
        observe(seen, atomic.load(of_load));
      return;
    default:  // lock
      seen.failed = true;
      for (int tries = 0; tries < most_tries && seen.failed && seen.count + 1 < Seen::most; ++tries) {
        const unsigned free = atomic.load(cuda::memory_order_relaxed);
        observe(seen, free);
        if (free % 2 != 0) continue;
        const unsigned old = swap_if<scope>(word, free, op.value, order);
        observe(seen, old);
        seen.failed = old != free;
      }
  }
}

template <typename T>
__device__ unsigned do_plain(const Op& op, unsigned char* bytes) {
  T* const at = reinterpret_cast<T*>(bytes);
  if (op.kind == load) return static_cast<unsigned>(*at);
  const auto value = static_cast<T>(op.value * 0x1'0000'0001ull);  // changes each byte
  if (op.kind == update) *at += value;
  if (op.kind == store) *at = value;
  return 0;
}

/// Executes a non-atomic access.
__device__ unsigned do_access(const Op& op, unsigned char* at, const unsigned char* from) {
  unsigned char local[16];
  switch (op.kind) {
    case copy_from:
      memcpy(local, at, op.bytes);
      return local[0];
    case copy_to:
      for (unsigned i = 0; i < sizeof local; ++i) local[i] = static_cast<unsigned char>(op.value >> i);
      memcpy(at, local, op.bytes);
      return 0;
    case fill:
      memset(at, static_cast<int>(op.value >> 16), op.bytes);
      return 0;
    case move:
      memcpy(at, from, op.bytes);
      return 0;
    default:
      break;
  }
  switch (op.bytes) {
    case 1: return do_plain<unsigned char>(op, at);
    case 2: return do_plain<unsigned short>(op, at);
    case 4: return do_plain<unsigned>(op, at);
    case 8: return do_plain<unsigned long long>(op, at);
    case 12: {
      float3* const three = reinterpret_cast<float3*>(at);
      const float value = __uint_as_float(op.value);
      if (op.kind == store) *three = make_float3(value, value, value);
      const float3 is = op.kind == load ? *three : make_float3(0, 0, 0);
      return __float_as_uint(is.x + is.y + is.z);
    }
    default: {
      uint4* const four = reinterpret_cast<uint4*>(at);
      if (op.kind == store) *four = make_uint4(op.value, op.value, op.value, op.value);
      const uint4 is = op.kind == load ? *four : make_uint4(0, 0, 0, 0);
      return is.x + is.y + is.z + is.w;
    }
  }
}

/// Executes the operations of each thread. Barriers are in this function, so that all threads use
/// the same instruction.
/// \param where receives the address of each block's shared memory
/// \param number index of the kernel; each kernel has its own shared memory
__global__ void execute(const Op* ops, unsigned per_thread, bool cooperative, unsigned number,
                        unsigned char* in_global, unsigned char* in_pinned, Seen* all_seen,
                        unsigned* sums, unsigned long long* where) {
  __shared__ __align__(16) unsigned char of_kernels[most_kernels][memory_bytes];
  unsigned char* const in_shared = of_kernels[number];
  if (threadIdx.x == 0) where[blockIdx.x] = reinterpret_cast<unsigned long long>(in_shared);
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = thread * per_thread;
  unsigned sum = 0, last = 0;
  bool skips = false;
  cooperative_groups::grid_group::arrival_token token{};
  const auto memory = [&](Space space) {
    return space == shared ? in_shared : space == pinned ? in_pinned : in_global;
  };
  for (unsigned i = first; i < first + per_thread; ++i) {
    const Op op = ops[i];
    if (op.kind == nothing) continue;
    if (skips && (op.kind < meet_warp || op.kind > shuffle)) {
      skips = op.kind != unlock;
      continue;
    }
    Seen seen{};
    seen.executed = true;
    if (op.kind == meet_block) {
      __syncthreads();
    } else if (op.kind == meet_gang && cooperative) {
      cooperative_groups::this_grid().sync();
    } else if (op.kind == meet_gang) {
      cooperative_groups::this_cluster().sync();
    } else if (op.kind == arrive_gang && cooperative) {
      token = cooperative_groups::this_grid().barrier_arrive();
    } else if (op.kind == arrive_gang) {
      cooperative_groups::this_cluster().barrier_arrive();
    } else if (op.kind == wait_gang && cooperative) {
      cooperative_groups::this_grid().barrier_wait(std::move(token));
    } else if (op.kind == wait_gang) {
      cooperative_groups::this_cluster().barrier_wait();
    } else if (op.kind == meet_warp) {
      __syncwarp(op.value);
    } else if (op.kind == shuffle) {
      sum += __shfl_sync(op.value, sum, static_cast<int>(__ffs(op.value)) - 1);
    } else if (op.kind == fence) {
      if (op.scope == of_block) __threadfence_block();
      else if (op.scope == of_device) __threadfence();
      else __threadfence_system();
    } else if (op.kind != finish) {
      unsigned char* at = memory(op.space) + op.at;
      if (op.other != 0) {
        const auto cluster = cooperative_groups::this_cluster();
        at = cluster.map_shared_rank(at, (cluster.block_rank() + op.other) % cluster.num_blocks());
      }
      unsigned* const word = reinterpret_cast<unsigned*>(at);
      if (op.kind < volatile_load)
        sum += do_access(op, at, memory(op.from_space) + op.from);
      else if (op.kind == volatile_load)
        observe(seen, *const_cast<volatile unsigned*>(word));
      else if (op.kind == volatile_store)
        *const_cast<volatile unsigned*>(word) = op.value;
      else if (op.scope == of_block)
        do_atomic<cuda::thread_scope_block>(op, word, last, seen);
      else if (op.scope == of_device)
        do_atomic<cuda::thread_scope_device>(op, word, last, seen);
      else
        do_atomic<cuda::thread_scope_system>(op, word, last, seen);
      if (seen.count > 0) last = seen.values[seen.count - 1];
      skips = op.kind == lock && seen.failed;
    }
    all_seen[i] = seen;
    if (op.kind == finish) return;
  }
  sums[thread] = sum;
}

/// The result of executing a program under the detector.
struct Execution {
  std::vector<Op> ops;
  std::vector<Seen> seen;
  std::set<Byte> racy;  ///< bytes on which the detector reports a race
  std::uint64_t findings = 0;
};

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::cout << "Bail out! " << cudaGetErrorString(error) << std::endl;
  std::exit(1);
}

constexpr std::size_t most_ops = 1 << 16, most_blocks = 64;

template <typename T>
T* allocated(std::size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)));
  return memory;
}

unsigned char* allocated_on_host() {
  unsigned char* memory = nullptr;
  check(cudaHostAlloc(&memory, memory_bytes, cudaHostAllocMapped));
  return memory;
}

/// The memory that all programs share.
struct Memory {
  Op* ops = allocated<Op>(most_ops);
  Seen* seen = allocated<Seen>(most_ops);
  unsigned* sums = allocated<unsigned>(most_ops);
  unsigned long long* where = allocated<unsigned long long>(most_blocks);
  unsigned char* global = allocated<unsigned char>(memory_bytes);
  unsigned char* pinned = allocated_on_host();
  cudaStream_t stream[streams] = {};
  cudaEvent_t event[events] = {};

  Memory() {
    for (cudaStream_t& s : stream) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (cudaEvent_t& e : event) check(cudaEventCreate(&e));
  }

  unsigned char* at(Space space, unsigned offset) const {
    return (space == race_oracle::pinned ? pinned : global) + offset;
  }
};

Memory& memory() {
  static Memory memory;
  return memory;
}

/// Executes an access of the host.
void do_on_host(const Step& step, unsigned char* at) {
  static unsigned sum = 0;
  unsigned* const word = reinterpret_cast<unsigned*>(at);
  if (step.act == Act::host_load)
    sum += step.bytes == 4 ? *word : *at;
  else if (step.bytes == 4)
    *word = 0x1234567;
  else
    *at = 17;
}

void do_step(const Step& step, const Program& program) {
  Memory& m = memory();
  cudaStream_t stream = m.stream[step.stream];
  switch (step.act) {
    case Act::launch: {
      const Kernel& k = program.kernels[step.object];
      cudaLaunchAttribute attribute{};
      if (k.cooperative) {
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
      } else {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = k.gang;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
      }
      cudaLaunchConfig_t config{};
      config.gridDim = k.blocks;
      config.blockDim = k.threads;
      config.stream = stream;
      config.attrs = &attribute;
      config.numAttrs = k.gang > 1 ? 1 : 0;
      return check(cudaLaunchKernelEx(
          &config, execute, static_cast<const Op*>(m.ops + k.first), k.per_thread, k.cooperative,
          step.object, m.global, m.pinned, m.seen + k.first, m.sums + k.first,
          m.where + k.first_block));
    }
    case Act::copy:
      return check(cudaMemcpyAsync(m.at(step.space, step.at), m.at(step.from_space, step.from),
                                   step.bytes, cudaMemcpyDefault, stream));
    case Act::fill:
      return check(cudaMemsetAsync(m.at(step.space, step.at), step.at, step.bytes, stream));
    case Act::record:
      return check(cudaEventRecord(m.event[step.object], stream));
    case Act::wait:
      return check(cudaStreamWaitEvent(stream, m.event[step.object], 0));
    case Act::synchronise_stream:
      return check(cudaStreamSynchronize(stream));
    case Act::synchronise_event:
      return check(cudaEventSynchronize(m.event[step.object]));
    case Act::synchronise_device:
      return check(cudaDeviceSynchronize());
    case Act::host_load:
    case Act::host_store:
      return do_on_host(step, m.at(step.space, step.at));
    case Act::none:
      return;
  }
}

/// The bytes for which the detector has reported races.
std::set<Byte> reported_bytes(const Program& program,
                              const std::vector<unsigned long long>& where) {
  const Memory& m = memory();
  std::set<Byte> bytes;
  for (const cuda_on_cpu::analysis::RacyBytes& racy : cuda_on_cpu::analysis::racy_bytes()) {
    const auto* address = static_cast<const unsigned char*>(racy.address);
    for (unsigned i = 0; i < 4; ++i, ++address) {
      if ((racy.mask >> i & 1) == 0) continue;
      const auto offset_in = [&](const unsigned char* begin) {
        return static_cast<std::size_t>(address - begin);
      };
      if (offset_in(m.global) < memory_bytes) {
        bytes.insert(byte_of(global, 0, static_cast<unsigned>(offset_in(m.global))));
      } else if (offset_in(m.pinned) < memory_bytes) {
        bytes.insert(byte_of(pinned, 0, static_cast<unsigned>(offset_in(m.pinned))));
      } else {
        // Blocks that run one after the other have the same shared memory address.
        for (const Kernel& kernel : program.kernels) {
          for (unsigned other = 0; racy.block < kernel.blocks && other < kernel.gang; ++other) {
            const unsigned target = kernel.first_block + kernel.target_of(racy.block, other);
            const auto* begin = reinterpret_cast<const unsigned char*>(where[target]);
            if (kernel.cooperative && other != 0) break;
            if (offset_in(begin) < memory_bytes)
              bytes.insert(byte_of(shared, target, static_cast<unsigned>(offset_in(begin))));
          }
        }
      }
    }
  }
  return bytes;
}

Execution executed(Program& program) {
  Execution e;
  e.ops = laid_out(program);
  e.seen.resize(e.ops.size());
  Memory& m = memory();
  if (e.ops.size() > most_ops) {
    std::cout << "Bail out! The program has more than " << most_ops << " operations." << std::endl;
    std::exit(1);
  }
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(m.ops, e.ops.data(), e.ops.size() * sizeof(Op), cudaMemcpyHostToDevice));
  check(cudaMemset(m.global, 0, memory_bytes));
  check(cudaMemset(m.pinned, 0, memory_bytes));
  check(cudaMemset(m.seen, 0, e.seen.size() * sizeof(Seen)));
  check(cudaDeviceSynchronize());
  cuda_on_cpu::analysis::forget_findings();
  for (const Step& step : program.steps) do_step(step, program);
  check(cudaDeviceSynchronize());
  std::vector<unsigned long long> where(most_blocks);
  check(cudaMemcpy(where.data(), m.where, most_blocks * sizeof where[0], cudaMemcpyDeviceToHost));
  e.racy = reported_bytes(program, where);
  e.findings = cuda_on_cpu::analysis::races_found();
  cuda_on_cpu::analysis::forget_findings();
  check(cudaMemcpy(e.seen.data(), m.seen, e.seen.size() * sizeof(Seen), cudaMemcpyDeviceToHost));
  return e;
}

enum Verdict { equal, missed, invented };

Verdict verdict_of(const Program& program, const Execution& e) {
  const Racy racy = racy_bytes(program, e.ops, e.seen);
  const auto includes = [](const std::set<Byte>& all, const std::set<Byte>& some) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
  };
  return !includes(e.racy, racy.certain)    ? missed
         : !includes(racy.possible, e.racy) ? invented
                                            : equal;
}

Verdict verdict_of(Program& program) { return verdict_of(program, executed(program)); }

/// Removes a part of a program, and can restore it.
class Removal {
 public:
  void remove(const Part& part) {
    for (Op* op : part.ops) {
      removed_.emplace_back(op, *op);
      *op = {};
    }
    if (part.step != nullptr) {
      steps_.emplace_back(part.step, *part.step);
      part.step->act = Act::none;
    }
  }
  void undo() {
    for (const auto& [op, was] : removed_) *op = was;
    for (const auto& [step, was] : steps_) *step = was;
  }

 private:
  std::vector<std::pair<Op*, Op>> removed_;
  std::vector<std::pair<Step*, Step>> steps_;
};

/// Removes parts of a program as long as the detector and the oracle disagree (delta debugging).
void reduce(Program& program, Verdict verdict) {
  for (std::size_t size = parts_of(program).size(); size > 0;) {
    bool has_changed = false;
    const std::vector<Part> parts = parts_of(program);
    for (std::size_t first = 0; first < parts.size(); first += size) {
      Removal removal;
      for (std::size_t i = first; i < std::min(first + size, parts.size()); ++i)
        removal.remove(parts[i]);
      if (verdict_of(program) == verdict)
        has_changed = true;
      else
        removal.undo();
    }
    size = has_changed ? std::min(size, parts_of(program).size()) : size / 2;
  }
}

std::string text_of(const std::set<Byte>& bytes) {
  std::string text;
  for (const Byte byte : bytes)
    text += ' ' + std::to_string(byte / memory_bytes) + ':' + std::to_string(byte % memory_bytes);
  return text.empty() ? " none" : text;
}

std::set<Byte> difference(const std::set<Byte>& all, const std::set<Byte>& some) {
  std::set<Byte> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

/// Returns whether the detector and the oracle agree. Prints both verdicts if they do not.
bool agree(Program& program, const std::string& name, const std::set<Byte>* expected = nullptr) {
  Execution e = executed(program);
  if (expected != nullptr) {
    const Racy racy = racy_bytes(program, e.ops, e.seen);
    if (racy.certain != *expected || racy.possible != *expected) {
      std::cout << "# " << name << ": the oracle says" << text_of(racy.certain) << " to"
                << text_of(racy.possible) << " instead of" << text_of(*expected) << '\n'
                << text_of(program, e.ops, e.seen) << std::flush;
      return false;
    }
  }
  const Verdict verdict = verdict_of(program, e);
  if (verdict == equal) return true;
  reduce(program, verdict);
  e = executed(program);
  const Racy racy = racy_bytes(program, e.ops, e.seen);
  std::cout << "# " << name
            << (verdict == missed ? ": a race was missed\n" : ": a race was reported that is none\n")
            << "# bytes (space:offset) missed:" << text_of(difference(racy.certain, e.racy))
            << "\n# bytes reported wrongly:" << text_of(difference(e.racy, racy.possible)) << '\n'
            << text_of(program, e.ops, e.seen) << std::flush;
  return false;
}

/// A seed that changes with each change of the detector: a hash of this executable.
std::uint64_t seed_of_build() {
  std::ifstream program("/proc/self/exe", std::ios::binary);
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325ull;  // FNV-1a
  for (char byte = 0; program.get(byte);)
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100'0000'01B3ull;
  return hash % 1'000'000;
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

int main() {
  if (!cuda_on_cpu::analysis::enabled) {
    std::cout << "1..0 # SKIP the program is not analysed\n";
    return 0;
  }
  const std::uint64_t seed = number_from("STAIRCASE_TEST_SEED", seed_of_build());
  const std::uint64_t kernels = number_from("STAIRCASE_TEST_KERNELS", 2000);
  const std::uint64_t first = number_from("STAIRCASE_TEST_FIRST", 0);
  const bool shares = number_from("STAIRCASE_TEST_SHARED", 0) != 0;
  const std::uint64_t most_wrong = number_from("STAIRCASE_TEST_MOST", 3);
  cuda_on_cpu::analysis::watch_racy_bytes();
  std::vector<Litmus> litmus = litmus_tests();
  std::cout << "1.." << litmus.size() + 1 << std::endl;
  bool well = true;
  unsigned number = 0;
  for (Litmus& test : litmus) {
    // The expected verdicts require that blocks run in ascending order.
    const char* const schedule = std::getenv("CUDA_ON_CPU_SCHEDULE");
    const bool in_order = schedule == nullptr || std::string(schedule) == "ascending";
    const bool right = agree(test.program, test.name, in_order ? &test.racy : nullptr);
    std::cout << (right ? "ok " : "not ok ") << ++number << " - " << test.name << std::endl;
    well = well && right;
  }
  std::uint64_t wrong = 0;
  for (std::uint64_t n = first; n < first + kernels && wrong < most_wrong; ++n) {
    Program program = random_program(seed * 1'000'003 + n, shares);
    wrong += agree(program, "program " + std::to_string(n) + " of seed " + std::to_string(seed)) ? 0 : 1;
  }
  std::cout << (wrong == 0 ? "ok " : "not ok ") << ++number << " - " << kernels
            << " random programs of seed " << seed << std::endl;
  return well && wrong == 0 ? 0 : 1;
}
