/// \file
/// Calls of host libraries as operations of a stream.

#pragma once

#include <cstddef>
#include <initializer_list>

#include "hidden_names.hpp"

#include <functional>

#include "shown_names.hpp"

#include "runtime_api.hpp"

namespace cuda_on_cpu {

/// Memory that a library call reads, writes, or both.
struct Touched {
  const void* first;
  std::size_t bytes;
  bool written;
  bool read = true;
};

/// Appends a library call to a stream. The analysis treats it as an access to all memory in
/// `touched`.
cudaError_t library_call(cudaStream_t stream, std::initializer_list<Touched> touched,
                         std::function<void()> work);

}  // namespace cuda_on_cpu
