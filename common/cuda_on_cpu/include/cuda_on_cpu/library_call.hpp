/// \file
/// Calls of host libraries as operations in a stream.

#pragma once

#include <initializer_list>

#include "runtime_api.hpp"

namespace cuda_on_cpu {

// Functions of libraries are inlined into the program, so that the analysis reports the line of the
// call and not a line of a header.
#define CUDA_ON_CPU_AT_CALLER [[gnu::always_inline]] inline

/// Memory that a library call reads, writes, or both: one range, or one range for each column of a
/// matrix. The call does not access memory between the ranges.
struct Touched {
  const void* first;
  std::size_t bytes;
  bool written;
  bool read = true;
  std::size_t count = 1;      ///< number of ranges
  std::size_t pitch = 0;      ///< distance between the beginnings of two ranges in bytes
  std::ptrdiff_t growth = 0;  ///< bytes by which each range is longer than the previous range
};

/// A lock for functions of a host library that must not run concurrently.
class LibraryLock {
 public:
  enum What { of_plans, of_planner };
  explicit LibraryLock(What what);
  ~LibraryLock();
  LibraryLock(const LibraryLock&) = delete;
  LibraryLock& operator=(const LibraryLock&) = delete;

 private:
  What what_;
};

/// Appends a call of a host library to a stream. The analysis treats the call as an access to all
/// the memory in `touched`.
/// \param more returns further memory ranges, which are known only when the stream executes the
/// call
cudaError_t enter_library_call(cudaStream_t stream, const List<Touched>& touched, Owned work,
                               void (*call)(void* work),
                               List<Touched> (*more)(void* work) = nullptr);
template <typename Work>
CUDA_ON_CPU_AT_CALLER cudaError_t library_call(cudaStream_t stream, const List<Touched>& touched,
                                               Work work) {
  return enter_library_call(stream, touched, owned_copy(std::move(work)),
                            [](void* given) { (*static_cast<Work*>(given))(); });
}
template <typename More, typename Work>
CUDA_ON_CPU_AT_CALLER cudaError_t library_call(cudaStream_t stream, const List<Touched>& touched,
                                               More more, Work work) {
  struct Both {
    More more;
    Work work;
  };
  return enter_library_call(
      stream, touched, owned_copy(Both{std::move(more), std::move(work)}),
      [](void* given) { static_cast<Both*>(given)->work(); },
      [](void* given) { return static_cast<Both*>(given)->more(); });
}

}  // namespace cuda_on_cpu
