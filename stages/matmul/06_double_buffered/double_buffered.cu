/// \file
/// Changed: there are two buffers in each direction (double buffering). While the GPU computes a
///          slice, one thread of the host serialises and sends the next slice, and another thread
///          fetches and deserialises the previous one. Even and odd slices use different buffers.
/// Legal:   in a step, the GPU and both threads work on three different slices. The next and the
///          previous slice use the same buffers, but different parts: one uses the inputs, the
///          other the output. All three units wait for each other between steps.
/// Expect:  a step takes as long as the slowest of the three units, not the sum of all three
///          times.
/// Run:     ./climb matmul --stages 05,06
/// Next:    07_streams orders the operations by events and lets the copy engines collect the
///          slices.

#include "../transfer.hpp"

#include <algorithm>
#include <future>
#include <staircase/stream.hpp>

namespace matmul {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::PinnedArray;
using staircase::Stream;
using staircase::StreamTimes;
using staircase::View;

constexpr unsigned tile = 32;       // rows and columns of C per thread block, and depth of a step
constexpr std::size_t enough = 16;  // minimum number of slices; keeps the first and last copy short

// [Buffers]
/// Memory for the matrices of one slice.
template <typename Memory>
struct Buffers {
  Buffers(const Slices& slices, std::size_t depth)
      : a(slices.rows * depth), b(depth * slices.cols), c(slices.rows * slices.cols) {}
  Memory a, b, c;
};

/// The matrices of a slice in its buffers: its rows of A, columns of B, and part of C.
template <typename T>
struct Parts {
  template <typename Memory>
  Parts(Slice s, std::size_t depth, const Buffers<Memory>& room)
      : a(room.a.data(), {s.rows, depth}),
        b(room.b.data(), {depth, s.cols}),
        c(room.c.data(), {s.rows, s.cols}) {}
  View<T, 2> a, b, c;
};
// [Buffers]

// [serialise]
/// Fills the buffers of a slice with the elements of A and B that the slice reads.
template <typename T>
void serialise(Slice s, View<const T, 2> a, View<const T, 2> b, Parts<T> to) {
  const std::size_t depth = a.extent(1);
  for (std::size_t i = 0; i < s.rows; ++i) std::copy_n(&a(s.i0 + i, 0), depth, &to.a(i, 0));
  for (std::size_t k = 0; k < depth; ++k) std::copy_n(&b(k, s.j0), s.cols, &to.b(k, 0));
}

/// Copies a slice to its position in C.
template <typename T>
void deserialise(Slice s, Parts<T> from, View<T, 2> c) {
  for (std::size_t i = 0; i < s.rows; ++i) std::copy_n(&from.c(i, 0), s.cols, &c(s.i0 + i, s.j0));
}
// [serialise]

// [transfer]
template <typename T>
void send(Parts<T> host, Parts<T> device, const Stream& stream) {
  copy(host.a, device.a, cudaMemcpyHostToDevice, stream);
  copy(host.b, device.b, cudaMemcpyHostToDevice, stream);
}

template <typename T>
void fetch(Parts<T> device, Parts<T> host, const Stream& stream) {
  copy(device.c, host.c, cudaMemcpyDeviceToHost, stream);
}
// [transfer]

// [multiply]
/// Computes C = A B, one tile per thread block. A thread computes two elements, 16 columns apart.
template <typename T>
__global__ void multiply(View<const T, 2> a, View<const T, 2> b, View<T, 2> c) {
  __shared__ T a_tile[tile][tile], b_tile[tile][tile];
  const unsigned rows = c.extent(0), cols = c.extent(1), depth = a.extent(1);
  const unsigned y = threadIdx.y, i = blockIdx.y * tile + y, j0 = blockIdx.x * tile;
  T sum[2] = {0, 0};
  for (unsigned k0 = 0; k0 < depth; k0 += tile) {
    for (unsigned x = threadIdx.x; x < tile; x += tile / 2) {
      a_tile[y][x] = i < rows && k0 + x < depth ? a(i, k0 + x) : T(0);
      b_tile[y][x] = k0 + y < depth && j0 + x < cols ? b(k0 + y, j0 + x) : T(0);
    }
    __syncthreads();
    for (unsigned k = 0; k < tile; ++k) {
      sum[0] += a_tile[y][k] * b_tile[k][threadIdx.x];
      sum[1] += a_tile[y][k] * b_tile[k][threadIdx.x + tile / 2];
    }
    __syncthreads();
  }
  for (unsigned h = 0; h < 2; ++h)
    if (const unsigned j = j0 + threadIdx.x + h * tile / 2; i < rows && j < cols) c(i, j) = sum[h];
}

/// Launches the kernel for a slice in a stream.
template <typename T>
void multiply(Parts<T> slice, const Stream& stream) {
  const dim3 grid(staircase::ceil_div(slice.c.extent(1), tile),
                  staircase::ceil_div(slice.c.extent(0), tile));
  multiply<T><<<grid, dim3(tile / 2, tile), 0, stream>>>(slice.a, slice.b, slice.c);
  check_launch();
}
// [multiply]

// [solve]
template <typename T>
Product<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Product<T> c(problem.l, problem.n);
  const std::size_t depth = problem.m;
  const Slices slices = slices_of(problem, 2, sizeof(T), enough);
  const Buffers<PinnedArray<T, 1>> host[2] = {{slices, depth}, {slices, depth}};
  const Buffers<DeviceArray<T, 1>> device[2] = {{slices, depth}, {slices, depth}};
  const Stream in, kernels, out;
  StreamTimes times(timeline), times_in(timeline);
  const auto bring = [&](std::size_t e) {
    const Slice s = slices(e);
    const Parts<T> here(s, depth, host[e % 2]), there(s, depth, device[e % 2]);
    times_in.of("serialise", [&] { serialise<T>(s, problem.a<T>(), problem.b<T>(), here); });
    times_in.of("copy in", in, [&] { send(here, there, in); });
    check(cudaStreamSynchronize(in));
  };
  const auto take = [&](std::size_t e) {
    const Slice s = slices(e);
    const Parts<T> here(s, depth, host[e % 2]), there(s, depth, device[e % 2]);
    times.of("copy out", out, [&] { fetch(there, here, out); });
    check(cudaStreamSynchronize(out));
    times.of("deserialise", [&] { deserialise<T>(s, here, c); });
  };
  timeline.begin("multiply");
  bring(0);
  for (std::size_t e = 0; e < slices.count(); ++e) {
    const Parts<T> there(slices(e), depth, device[e % 2]);
    times.of("kernels", kernels, [&] { multiply(there, kernels); });
    auto next = std::async(std::launch::async, [&] {
      if (e + 1 < slices.count()) bring(e + 1);
    });
    if (e > 0) take(e - 1);
    next.get();
    check(cudaStreamSynchronize(kernels));
  }
  take(slices.count() - 1);
  timeline.end();
  times.add_to_timeline();
  times_in.add_to_timeline();
  return c;
}
// [solve]

}  // namespace matmul

int main(int argc, char** argv) {
  return matmul::run_stage(argc, argv,
                           {
                               .title = "Double-buffered",
                               .idea = "Double-buffer: two threads copy meanwhile",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
