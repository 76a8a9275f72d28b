/// \file
/// Changed: tensor cores compute the slices. Each panel that is sent is split once: an f32 element
///          becomes two tf32 elements, and a product becomes three products (error-compensated
///          emulation of f32).
/// Legal:   both parts together have 23 of an element's 24 bits; the omitted product is 2⁻²² of the
///          full one. Tensor cores add up at most 2048 products, and f32 units add up these sums.
/// Expect:  the kernels reach a third of the tf32 rate, which is more than twice the rate of f32.
/// Run:     ./climb matmul --stages 09,10 --precision f32
/// Next:    11_multi_gpu continues stage 09, and distributes the slices to several GPUs.

#include "../split_tiles.hpp"
#include "../transfer.hpp"

#include <algorithm>
#include <deque>
#include <staircase/stream.hpp>
#include <vector>

namespace matmul {

using staircase::check;
using staircase::DeviceArray;
using staircase::Event;
using staircase::Pinned;
using staircase::Stream;
using staircase::StreamTimes;
using staircase::View;

// [Panel]
/// Rows of A or columns of B on the device.
template <typename T>
struct Panel {
  explicit Panel(std::size_t size) : room(size) {}
  DeviceArray<T, 1> room;
  std::size_t held = std::size_t(-1);  // index of the panel in this memory
  Event sent, used;
};

/// Sends a panel that is not on the device, and splits the panel once the replaced panel is no
/// longer used.
template <typename T, typename Send, typename Split>
void ensure_panel(Panel<T>& panel, std::size_t wanted, const Stream& in, StreamTimes& times,
                  Send send, Split split) {
  if (panel.held == wanted) return;
  times.of("copy in", in, send);
  in.wait(panel.used);
  times.of("split", in, split);
  panel.sent.record(in);
  panel.held = wanted;
}
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
constexpr unsigned in_a_row = 128;  // steps between additions to C: 2048 products per sum

/// Adds up the products of 64 rows in steps `first` to `end` - 1, those with low parts first.
__device__ inline void drain(Pipeline& pipeline, unsigned first, unsigned end, float (&sum)[128]) {
  for (unsigned k = first; k < end; ++k) {
    const Operands& from = pipeline.wait(k);
    const float* const a = from.a + threadIdx.x / 128 * (rows_of_tile / 2 * 2 * deep);
    staircase::wgmma_begin();
#pragma unroll
    for (unsigned k0 = 0; k0 < low; k0 += 32) {
      staircase::wgmma_tf32_m64n256k8(sum, a, low + k0, from.b, k0);
      staircase::wgmma_tf32_m64n256k8(sum, a, k0, from.b, low + k0);
      staircase::wgmma_tf32_m64n256k8(sum, a, k0, from.b, k0);
    }
    staircase::wgmma_commit();
    staircase::wgmma_wait<1>();
    if (k > first) pipeline.release(k - 1);
  }
  staircase::wgmma_wait<0>();
  pipeline.release(end - 1);
}

/// Computes C = A B: each thread block computes a tile of C.
__global__ void __launch_bounds__(multipliers + 32, 1) multiply_tiles(Parts slice) {
  extern __shared__ __align__(1024) unsigned char of_tiles[];
  Pipeline& pipeline = start(of_tiles);
  if (threadIdx.x >= multipliers) return feed(pipeline, slice);
  // One warpgroup's first interval is half as long, so one multiplies while the other one adds.
  const unsigned steps = slice.a.steps();
  unsigned end = threadIdx.x < multipliers / 2 ? in_a_row : in_a_row / 2;
#pragma unroll 1
  for (unsigned first = 0; first < steps; first = end, end += in_a_row) {
    float sum[128] = {};
    drain(pipeline, first, min(end, steps), sum);
    add_to(slice.c, sum, first == 0);
  }
}

/// Launches the kernel for a slice in a stream.
inline void multiply(const Parts& slice, const Stream& stream) {
  multiply_tiles<<<grid_of(slice.c), multipliers + 32, sizeof(Pipeline), stream>>>(slice);
  staircase::check_launch();
}
// [multiply]

// [solve]
template <typename T>
Product<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  staircase::require_wgmma();
  timeline.begin("allocate");
  Product<T> c(problem.l, problem.n);
  const View<const T, 2> a = problem.a<T>(), b = problem.b<T>();
  const std::size_t depth = problem.m, line = split_elements(depth);
  const Panels panels = panels_of(problem, sizeof(T), split_line(depth));
  const Slices& slices = panels.slices;
  const Pinned pinned_a(a), pinned_b(b), pinned_c(c);
  std::deque<Panel<T>> of_a, of_b;
  for (std::size_t p = 0; p < panels.kept; ++p) of_a.emplace_back(slices.rows * line);
  for (std::size_t p = 0; p < panels.coming; ++p) of_b.emplace_back(line * slices.cols);
  const DeviceArray<T, 2> of_c(2, slices.rows * slices.cols);
  const DeviceArray<T, 1> raw(depth * std::max(slices.rows, slices.cols));
  const Stream in, kernels, out;
  staircase::allow_shared_memory(multiply_tiles, sizeof(Pipeline));
  Event computed, fetched[2];
  StreamTimes times(timeline);
  timeline.begin("multiply");
  std::size_t step = 0;
  for (const std::size_t e : order_of(panels)) {
    const Slice s = slices(e);
    const std::size_t i = e % slices.sl, j = e / slices.sl;
    Panel<T>&panel_a = of_a[i % panels.kept], &panel_b = of_b[j % panels.coming];
    const View<T, 2> raw_a(raw.data(), {s.rows, depth}), raw_b(raw.data(), {depth, s.cols});
    const Parts there = {{panel_a.room.data(), s.rows, depth},
                         {panel_b.room.data(), s.cols, depth},
                         {of_c.data() + step % 2 * slices.rows * slices.cols, {s.rows, s.cols}}};
    const auto split_a = [&] { split<rows_of_tile>(raw_a, there.a, in); };
    const auto split_b = [&] { split<cols_of_tile>(raw_b, there.b, in); };
    ensure_panel(
        panel_a, i, in, times, [&] { send(&a(s.i0, 0), a.extent(1), raw_a, in); }, split_a);
    ensure_panel(
        panel_b, j, in, times, [&] { send(&b(0, s.j0), b.extent(1), raw_b, in); }, split_b);
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
                               .title = "Split TF32",
                               .idea = "Emulate f32 by three TF32 products",
                               .needs = "tensor cores of compute capability 9.0",
                               .solve_f32 = matmul::solve<float>,
                           });
}
