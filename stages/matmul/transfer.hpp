/// \file
/// Copies of matrices between the memories of the host and the device in a stream.

#pragma once

#include <cstddef>
#include <staircase/stream.hpp>

#include "matmul.hpp"

namespace matmul {

using staircase::View;

// [copy]
/// Copies a matrix between the memories of the host and the device in a stream.
template <typename T>
void copy(View<T, 2> from, View<T, 2> to, cudaMemcpyKind kind, const staircase::Stream& stream) {
  const std::size_t bytes = from.extent(0) * from.extent(1) * sizeof(T);
  staircase::check(cudaMemcpyAsync(to.data(), from.data(), bytes, kind, stream));
}
// [copy]

// [transfer]
/// Copies a part of a host matrix to a contiguous device matrix (`send`), or back (`fetch`).
template <typename T>
void send(const T* host, std::size_t host_cols, View<T, 2> device,
          const staircase::Stream& stream) {
  const std::size_t rows = device.extent(0), bytes = device.extent(1) * sizeof(T);
  staircase::check(cudaMemcpy2DAsync(device.data(), bytes, host, host_cols * sizeof(T), bytes, rows,
                                     cudaMemcpyHostToDevice, stream));
}

template <typename T>
void fetch(View<T, 2> device, T* host, std::size_t host_cols, const staircase::Stream& stream) {
  const std::size_t rows = device.extent(0), bytes = device.extent(1) * sizeof(T);
  staircase::check(cudaMemcpy2DAsync(host, host_cols * sizeof(T), device.data(), bytes, bytes, rows,
                                     cudaMemcpyDeviceToHost, stream));
}
// [transfer]

}  // namespace matmul
