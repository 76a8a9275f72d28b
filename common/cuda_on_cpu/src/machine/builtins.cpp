/// \file
/// Defines `threadIdx` and the other built-in variables as real variables, so that a debugger finds
/// them by name. In programs, these variables are constants.

#include "builtins.hpp"

#include <initializer_list>

__thread cuda_on_cpu::Builtin threadIdx, blockIdx, blockDim, gridDim;

namespace cuda_on_cpu {

void set_thread_index(Builtin index) { threadIdx = index; }

void set_block(Builtin index, Builtin block, Builtin grid) {
  blockIdx = index;
  blockDim = block;
  gridDim = grid;
}

bool is_builtin(const void* address) {
  for (const Builtin* variable : {&threadIdx, &blockIdx, &blockDim, &gridDim})
    if (address >= variable && address < variable + 1) return true;
  return false;
}

}  // namespace cuda_on_cpu
