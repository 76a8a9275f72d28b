/// \file
/// The race detector against an oracle, on random kernels, and on litmus tests.

#include <cuda/atomic>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "../src/analysis.hpp"
#include "race_oracle.hpp"

namespace {

using namespace race_oracle;

__device__ unsigned do_op(const Op& op, unsigned char* memory) {
  unsigned* const word = reinterpret_cast<unsigned*>(memory + op.at);
  unsigned char bytes[32];
  switch (op.kind) {
    case load:
    case store:
      if (op.bytes == 1) {
        if (op.kind == load) return memory[op.at];
        memory[op.at] = static_cast<unsigned char>(op.value);
      } else if (op.bytes == 2) {
        unsigned short* const half = reinterpret_cast<unsigned short*>(memory + op.at);
        if (op.kind == load) return *half;
        *half = static_cast<unsigned short>(op.value);
      } else if (op.bytes == 4) {
        if (op.kind == load) return *word;
        *word = op.value;
      } else if (op.bytes == 8) {
        unsigned long long* const wide = reinterpret_cast<unsigned long long*>(word);
        if (op.kind == load) return static_cast<unsigned>(*wide);
        *wide = op.value;
      } else {
        uint4* const widest = reinterpret_cast<uint4*>(word);
        if (op.kind == load) return widest->x + widest->y + widest->z + widest->w;
        *widest = make_uint4(op.value, op.value, op.value, op.value);
      }
      return 0;
    case update:
      *word += op.value;
      return 0;
    case copy_from:
      memcpy(bytes, memory + op.at, op.bytes);
      return bytes[0];
    case copy_to:
      memset(bytes, static_cast<int>(op.value), sizeof bytes);
      memcpy(memory + op.at, bytes, op.bytes);
      return 0;
    case exchange:
      return atomicExch(word, op.value);
    case exchange_in_block:
      return atomicExch_block(word, op.value);
    case atomic_load:
      return cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*word).load(
          cuda::memory_order_relaxed);
    case atomic_store:
      cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*word).store(
          op.value, cuda::memory_order_relaxed);
      return 0;
    case volatile_load:
      return *const_cast<volatile unsigned*>(word);
    default:
      return 0;
  }
}

/// Executes the operations of each thread. Barriers stand here, so that all threads come to one
/// place.
__global__ void execute(const Op* ops, unsigned per_thread, unsigned char* global,
                        unsigned* seen) {
  __shared__ __align__(16) unsigned char shared[memory_bytes];
  const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * per_thread;
  for (unsigned i = first; i < first + per_thread; ++i) {
    const Op op = ops[i];
    if (op.kind == meet_block)
      __syncthreads();
    else if (op.kind == meet_warp)
      __syncwarp(op.value);
    else if (op.kind == fence)
      __threadfence();
    else if (op.kind == fence_in_block)
      __threadfence_block();
    else if (op.kind != nothing)
      seen[i] = do_op(op, op.in_shared ? shared : global);
  }
}

/// A kernel executed under the detector.
struct Execution {
  std::vector<Op> ops;
  std::vector<unsigned> seen;
  bool race_found = false;
};

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::cout << "Bail out! " << cudaGetErrorString(error) << std::endl;
  std::exit(1);
}

constexpr std::size_t most_ops = 1 << 16;

template <typename T>
T* allocated(std::size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)));
  return memory;
}

Execution executed(Kernel& kernel) {
  Execution e;
  e.ops = laid_out(kernel);
  e.seen.resize(e.ops.size());
  static Op* const ops = allocated<Op>(most_ops);
  static unsigned char* const memory = allocated<unsigned char>(memory_bytes);
  static unsigned* const seen = allocated<unsigned>(most_ops);
  if (e.ops.size() > most_ops) {
    std::cout << "Bail out! The kernel has more than " << most_ops << " operations." << std::endl;
    std::exit(1);
  }
  const std::size_t bytes = e.ops.size() * sizeof(Op), seen_bytes = e.seen.size() * sizeof(unsigned);
  check(cudaMemcpy(ops, e.ops.data(), bytes, cudaMemcpyHostToDevice));
  check(cudaMemset(memory, 0, memory_bytes));
  check(cudaMemset(seen, 0, seen_bytes));
  cuda_on_cpu::analysis::forget_findings();
  execute<<<kernel.blocks, kernel.threads>>>(ops, kernel.per_thread, memory, seen);
  check(cudaDeviceSynchronize());
  e.race_found = cuda_on_cpu::analysis::races_found() > 0;
  cuda_on_cpu::analysis::forget_findings();
  check(cudaMemcpy(e.seen.data(), seen, seen_bytes, cudaMemcpyDeviceToHost));
  return e;
}

/// Whether the detector and the oracle agree; complains if they do not.
bool agree(Kernel& kernel, const std::string& name, int expected = -1) {
  const Execution e = executed(kernel);
  const bool race = has_race(kernel, e.ops, e.seen);
  if (expected >= 0 && race != (expected != 0)) {
    std::cout << "# " << name << ": the oracle says " << race << std::endl;
    return false;
  }
  if (race == e.race_found) return true;
  std::cout << "# " << name << (race ? ": a race was missed\n" : ": a race was reported that is none\n")
            << "# " << kernel.blocks << " blocks of " << kernel.threads << " threads\n"
            << text_of(kernel, e.ops, e.seen) << std::flush;
  return false;
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
  const std::uint64_t seed = number_from("STAIRCASE_TEST_SEED", 1);
  const std::uint64_t kernels = number_from("STAIRCASE_TEST_KERNELS", 2000);
  std::vector<Litmus> litmus = litmus_tests();
  std::cout << "1.." << litmus.size() + 1 << std::endl;
  bool well = true;
  unsigned number = 0;
  for (Litmus& test : litmus) {
    const bool right = agree(test.kernel, test.name, test.race ? 1 : 0);
    std::cout << (right ? "ok " : "not ok ") << ++number << " - " << test.name << std::endl;
    well = well && right;
  }
  unsigned wrong = 0;
  for (std::uint64_t n = 0; n < kernels && wrong < 3; ++n) {
    Kernel kernel = kernel_of(seed * 1'000'003 + n);
    wrong += agree(kernel, "kernel " + std::to_string(n) + " of seed " + std::to_string(seed)) ? 0 : 1;
  }
  std::cout << (wrong == 0 ? "ok " : "not ok ") << ++number << " - " << kernels
            << " random kernels of seed " << seed << std::endl;
  return well && wrong == 0 ? 0 : 1;
}
