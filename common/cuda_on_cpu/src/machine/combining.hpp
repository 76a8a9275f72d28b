/// \file
/// Marks the time during which one thread computes the results of a collective for all threads.

#pragma once

namespace cuda_on_cpu {

/// Whether the current thread accesses the records that other threads have on their stacks.
extern __thread bool is_combining;

class Combining {
 public:
  Combining() { is_combining = true; }
  ~Combining() { is_combining = false; }
  Combining(const Combining&) = delete;
  Combining& operator=(const Combining&) = delete;
};

}  // namespace cuda_on_cpu
