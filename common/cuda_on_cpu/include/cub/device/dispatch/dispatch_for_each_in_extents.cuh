/// \file
/// Replaces the CUB header of the same name: calls an operation for each multi-dimensional index,
/// with one thread per index.

#pragma once

#include <cuda/std/mdspan>

#include <cuda/std/utility>

#include "cuda_on_cpu/cub.hpp"

CUB_NAMESPACE_BEGIN

namespace detail::for_each_in_extents {

template <typename Extents, typename Operation, typename...>
class dispatch_t {
  using Index = typename Extents::index_type;
  static constexpr std::size_t rank = Extents::rank();

  /// The distance between the linear indices of two neighbours in a dimension. Indices are in
  /// row-major order: the last dimension varies fastest.
  static std::size_t stride(const Extents& extents, std::size_t dimension) {
    std::size_t places = 1;
    for (std::size_t d = dimension + 1; d < rank; ++d)
      places *= static_cast<std::size_t>(extents.extent(d));
    return places;
  }
  static Index coordinate(const Extents& extents, std::size_t i, std::size_t dimension) {
    return static_cast<Index>(i / stride(extents, dimension) %
                              static_cast<std::size_t>(extents.extent(dimension)));
  }
  template <std::size_t... dimensions>
  static void call(const Extents& extents, Operation& operation, std::size_t i,
                   ::cuda::std::index_sequence<dimensions...>) {
    operation(static_cast<Index>(i), coordinate(extents, i, dimensions)...);
  }

 public:
  static cudaError_t dispatch(const Extents& extents, const Operation& operation,
                              cudaStream_t stream) {
    const std::size_t places =
        rank == 0 ? 1 : stride(extents, 0) * static_cast<std::size_t>(extents.extent(0));
    return cuda_on_cpu::in_threads(
        "cub::DeviceFor", stream, places, [extents, operation = operation](std::size_t i) mutable {
          call(extents, operation, i, ::cuda::std::make_index_sequence<rank>{});
        });
  }
};

}  // namespace detail::for_each_in_extents

CUB_NAMESPACE_END
