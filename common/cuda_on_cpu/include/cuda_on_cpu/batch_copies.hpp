/// \file
/// Several copies in one call.

#pragma once

#include <cstddef>

#include "runtime_hints.hpp"

/// When a copy may read its source. The CPU device reads the source in the order of the stream. If
/// the call itself must read the source, the call waits for the copies.
enum cudaMemcpySrcAccessOrder {
  cudaMemcpySrcAccessOrderInvalid = 0,
  cudaMemcpySrcAccessOrderStream = 1,
  cudaMemcpySrcAccessOrderDuringApiCall = 2,
  cudaMemcpySrcAccessOrderAny = 3
};
enum cudaMemcpyFlags { cudaMemcpyFlagDefault = 0, cudaMemcpyFlagPreferOverlapWithCompute = 1 };
struct cudaMemcpyAttributes {
  cudaMemcpySrcAccessOrder srcAccessOrder;
  cudaMemLocation srcLocHint, dstLocHint;
  unsigned flags;
};

/// \param firsts for each attribute, the index of the first copy to which it applies
cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* bytes,
                                 std::size_t count, cudaMemcpyAttributes* attributes,
                                 std::size_t* firsts, std::size_t attribute_count,
                                 cudaStream_t stream);
template <typename To, typename From>
cudaError_t cudaMemcpyBatchAsync(To* const* to, From* const* from, const std::size_t* bytes,
                                 std::size_t count, cudaMemcpyAttributes* attributes,
                                 std::size_t* firsts, std::size_t attribute_count,
                                 cudaStream_t stream) {
  return cudaMemcpyBatchAsync((void* const*)to, (const void* const*)from, bytes, count, attributes,
                              firsts, attribute_count, stream);
}
template <typename To, typename From>
cudaError_t cudaMemcpyBatchAsync(To* const* to, From* const* from, const std::size_t* bytes,
                                 std::size_t count, cudaMemcpyAttributes attribute,
                                 cudaStream_t stream) {
  std::size_t first = 0;
  return cudaMemcpyBatchAsync((void* const*)to, (const void* const*)from, bytes, count, &attribute,
                              &first, 1, stream);
}
