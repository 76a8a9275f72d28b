/// \file
/// What stages on several GPUs need to call NCCL.

#pragma once

#include <nccl.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "error.hpp"

namespace staircase {

/// Throws if a call of NCCL failed.
/// \throws Failure with the exit status "the device failed"
inline void check(ncclResult_t result) {
  if (result != ncclSuccess)
    throw Failure(Exit::exhausted, std::string("the device failed: ") + ncclGetErrorString(result) +
                                       " (NCCL: " + ncclGetLastError(nullptr) + ")");
}

/// What NCCL calls the numbers of a program.
template <typename T>
constexpr ncclDataType_t nccl_type() {
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, float>);
  return std::is_same_v<T, double> ? ncclDouble : ncclFloat;
}

/// Calls of several ranks, or of one that sends and receives, that start together: what one thread
/// calls for several GPUs belongs into a group.
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

/// A rank for each of several GPUs of this process, in their order.
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
