/// \file
/// Marks the time during which one thread computes the results of a collective for all threads.

#pragma once

namespace cuda_on_cpu {

/// Whether the current thread is combining the values of a collective operation. It then accesses
/// records on the stacks of other threads, and the analysis ignores these accesses.
extern __thread bool is_combining;

class Combining {
 public:
  Combining() { is_combining = true; }
  ~Combining() { is_combining = false; }
  Combining(const Combining&) = delete;
  Combining& operator=(const Combining&) = delete;
};

}  // namespace cuda_on_cpu
