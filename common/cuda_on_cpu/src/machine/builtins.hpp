/// \file
/// The built-in variables (`threadIdx`, ...) under their real names. The CPU device can write them;
/// in programs, they are constants.

#pragma once

namespace cuda_on_cpu {

struct Builtin {
  unsigned x, y, z;
};

void set_thread_index(Builtin index);
void set_block(Builtin index, Builtin block, Builtin grid);

/// Whether an address belongs to a built-in variable, which is a register on a GPU.
bool is_builtin(const void* address);

}  // namespace cuda_on_cpu
