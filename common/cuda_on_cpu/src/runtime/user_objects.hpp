/// \file
/// Objects of the program whose lifetime follows the graphs that use them.

#pragma once

#include <map>

#include "cuda_on_cpu/graph_nodes.hpp"

namespace cuda_on_cpu {

/// The references of a graph or of an executable graph to user objects. A copy has references of
/// its own.
class UserObjects {
 public:
  UserObjects() = default;
  UserObjects(const UserObjects& other) { add(other); }
  UserObjects& operator=(const UserObjects& other) = delete;
  ~UserObjects();

  bool empty() const { return counts_.empty(); }
  /// Takes over references of the caller.
  void take(cudaUserObject_t object, unsigned count) { counts_[object] += count; }
  /// Adds one reference to each object of another graph.
  void add(const UserObjects& other);
  /// Releases references. Returns false if there are fewer than `count`.
  bool remove(cudaUserObject_t object, unsigned count);

 private:
  std::map<cudaUserObject_t, unsigned> counts_;
};

}  // namespace cuda_on_cpu
