/// \file
/// Helpers for NCCL calls in stages for several GPUs: checks of the status, groups of calls, and
/// communicators.

#pragma once

#include <nccl.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "error.hpp"

namespace staircase {

/// Throws if an NCCL call failed.
/// \throws Failure with Exit::exhausted ("the device failed")
inline void check(ncclResult_t result) {
  if (result != ncclSuccess)
    throw Failure(Exit::exhausted, std::string("the device failed: ") + ncclGetErrorString(result) +
                                       " (NCCL: " + ncclGetLastError(nullptr) + ")");
}

/// The NCCL datatype of an element: double or float.
template <typename T>
constexpr ncclDataType_t nccl_type() {
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, float>);
  return std::is_same_v<T, double> ? ncclDouble : ncclFloat;
}

/// Executes NCCL calls as one group, whose operations start together. If one thread makes calls for
/// several GPUs, or both a send and a receive of one rank, these calls must be in one group.
template <typename Calls>
void group(Calls calls) {
  check(ncclGroupStart());
  try {
    calls();
  } catch (...) {
    ncclGroupEnd();
    throw;
  }
  check(ncclGroupEnd());
}

/// The communicators of several GPUs of this process. The rank of a GPU is its index in `devices`.
class Communicators {
 public:
  explicit Communicators(const std::vector<int>& devices) : ranks_(devices.size()) {
    check(ncclCommInitAll(ranks_.data(), static_cast<int>(devices.size()), devices.data()));
  }
  ~Communicators() {
    for (const ncclComm_t rank : ranks_) ncclCommDestroy(rank);
  }
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  ncclComm_t operator[](std::size_t rank) const { return ranks_[rank]; }

 private:
  std::vector<ncclComm_t> ranks_;
};

}  // namespace staircase
