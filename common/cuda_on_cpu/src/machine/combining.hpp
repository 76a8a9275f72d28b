/// \file
/// The time during which one thread computes the results of an operation of several threads.

#pragma once

namespace cuda_on_cpu {

/// Whether the current thread uses the records of other threads, which lie on their stacks.
extern __thread bool is_combining;

class Combining {
 public:
  Combining() { is_combining = true; }
  ~Combining() { is_combining = false; }
  Combining(const Combining&) = delete;
  Combining& operator=(const Combining&) = delete;
};

}  // namespace cuda_on_cpu
