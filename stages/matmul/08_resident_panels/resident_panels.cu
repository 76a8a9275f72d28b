/// \file
/// Changed: rows of A and columns of B stay on the GPU as panels. The order of slices lets each
///          slice use panels that are already on the GPU. It goes from left to right along as many
///          rows of slices as fit, then from right to left along the next rows.
/// Legal:   slices are independent, so any order is legal. A panel is replaced after the last
///          kernel that needs it has read it.
/// Expect:  A crosses PCIe once, and B once for each group of rows, instead of both for every
///          slice.
/// Run:     ./climb matmul --stages 07,08
/// Next:    09_library_kernel computes the slices as fast as the GPU can.

#include "../transfer.hpp"

#include <algorithm>
#include <deque>
#include <staircase/stream.hpp>
#include <vector>

namespace matmul {

using staircase::check;
using staircase::check_launch;
using staircase::DeviceArray;
using staircase::Event;
using staircase::Pinned;
using staircase::Stream;
using staircase::StreamTimes;
using staircase::View;

constexpr unsigned tile = 32;  // rows and columns of C per thread block, and depth of a step

// [Panel]
/// Rows of A or columns of B on the device.
template <typename T>
struct Panel {
  explicit Panel(std::size_t size) : room(size) {}
  DeviceArray<T, 1> room;
  std::size_t held = std::size_t(-1);  // index of the panel in this memory
  Event sent, used;
};

/// Sends a panel that is not on the device, once the replaced panel is no longer used.
template <typename T, typename Send>
void ensure_panel(Panel<T>& panel, std::size_t wanted, const Stream& in, StreamTimes& times,
                  Send send) {
  if (panel.held == wanted) return;
  in.wait(panel.used);
  times.of("copy in", in, send);
  panel.sent.record(in);
  panel.held = wanted;
}

/// The matrices of a slice on the device: its rows of A, columns of B, and part of C.
template <typename T>
struct Parts {
  View<T, 2> a, b, c;
};
// [Panel]

// [order]
/// Returns an order of the slices in which slices reuse the panels of earlier slices. It goes from
/// left to right along a group of rows of slices, whose panels of A stay on the device, then from
/// right to left along the next group.
inline std::vector<std::size_t> order_of(const Panels& panels) {
  const Slices& slices = panels.slices;
  std::vector<std::size_t> order;
  for (std::size_t i0 = 0; i0 < slices.sl; i0 += panels.kept)
    for (std::size_t r = 0; r < slices.sn; ++r) {
      const std::size_t j = i0 / panels.kept % 2 == 0 ? r : slices.sn - 1 - r;
      for (std::size_t i = i0; i < std::min(i0 + panels.kept, slices.sl); ++i)
        order.push_back(i + slices.sl * j);
    }
  return order;
}
// [order]

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
  const Panels panels = panels_of(problem, sizeof(T));
  const Slices& slices = panels.slices;
  const Pinned pinned_a(a), pinned_b(b), pinned_c(c);
  std::deque<Panel<T>> of_a, of_b;
  for (std::size_t p = 0; p < panels.kept; ++p) of_a.emplace_back(slices.rows * depth);
  for (std::size_t p = 0; p < panels.coming; ++p) of_b.emplace_back(depth * slices.cols);
  const DeviceArray<T, 2> of_c(2, slices.rows * slices.cols);
  const Stream in, kernels, out;
  Event computed, fetched[2];
  StreamTimes times(timeline);
  timeline.begin("multiply");
  std::size_t step = 0;
  for (const std::size_t e : order_of(panels)) {
    const Slice s = slices(e);
    const std::size_t i = e % slices.sl, j = e / slices.sl;
    Panel<T>&panel_a = of_a[i % panels.kept], &panel_b = of_b[j % panels.coming];
    const Parts<T> there = {{panel_a.room.data(), {s.rows, depth}},
                            {panel_b.room.data(), {depth, s.cols}},
                            {of_c.data() + step % 2 * slices.rows * slices.cols, {s.rows, s.cols}}};
    ensure_panel(panel_a, i, in, times, [&] { send(&a(s.i0, 0), a.extent(1), there.a, in); });
    ensure_panel(panel_b, j, in, times, [&] { send(&b(0, s.j0), b.extent(1), there.b, in); });
    kernels.wait(panel_a.sent);
    kernels.wait(panel_b.sent);
    kernels.wait(fetched[step % 2]);
    times.of("kernels", kernels, [&] { multiply(there, kernels); });
    for (Event* done : {&panel_a.used, &panel_b.used, &computed}) done->record(kernels);
    out.wait(computed);
    times.of("copy out", out, [&] { fetch(there.c, &c(s.i0, s.j0), c.extent(1), out); });
    fetched[step++ % 2].record(out);
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
                               .title = "Resident panels",
                               .idea = "Order slices to reuse panels on the GPU",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
