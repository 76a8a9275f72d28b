/// \file
/// Changed: streams and events replace the threads of the host. The copy engines read from A and B
///          and write to C directly: these matrices are pinned, and there are no buffers in the
///          host's memory.
/// Legal:   events keep the order of the waits in stage 06. An input copy waits for the last kernel
///          that read its buffers. A kernel waits for its input copy, and for the output copy of
///          the slice that used its buffer before. An output copy waits for its kernel.
/// Expect:  kernels follow each other without gaps if copies take no longer than kernels. The host
///          only enqueues work.
/// Run:     ./climb matmul --stages 06,07
/// Next:    08_resident_panels keeps the operands on the GPU that later slices read again.

#include "../transfer.hpp"

#include <staircase/stream.hpp>

namespace matmul {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::Event;
using staircase::Pinned;
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
  const View<const T, 2> a = problem.a<T>(), b = problem.b<T>();
  const std::size_t depth = problem.m;
  const Slices slices = slices_of(problem, 2, sizeof(T), enough);
  const Pinned pinned_a(a), pinned_b(b), pinned_c(c);
  const Buffers<DeviceArray<T, 1>> device[2] = {{slices, depth}, {slices, depth}};
  const Stream in, kernels, out;
  Event sent[2], computed[2], fetched[2];
  StreamTimes times(timeline);
  timeline.begin("multiply");
  for (std::size_t e = 0; e < slices.count(); ++e) {
    const Slice s = slices(e);
    const Parts<T> there(s, depth, device[e % 2]);
    in.wait(computed[e % 2]);
    times.of("copy in", in, [&] {
      send(&a(s.i0, 0), a.extent(1), there.a, in);
      send(&b(0, s.j0), b.extent(1), there.b, in);
    });
    sent[e % 2].record(in);
    kernels.wait(sent[e % 2]);
    kernels.wait(fetched[e % 2]);
    times.of("kernels", kernels, [&] { multiply(there, kernels); });
    computed[e % 2].record(kernels);
    out.wait(computed[e % 2]);
    times.of("copy out", out, [&] { fetch(there.c, &c(s.i0, s.j0), c.extent(1), out); });
    fetched[e % 2].record(out);
  }
  check(cudaStreamSynchronize(out));
  timeline.end();
  times.add_to_timeline();
  return c;
}
// [solve]

}  // namespace matmul

int main(int argc, char** argv) {
  return matmul::run_stage(argc, argv,
                           {
                               .title = "Streams",
                               .idea = "Pipeline with streams, events and 2D copies",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
