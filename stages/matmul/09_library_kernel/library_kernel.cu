/// \file
/// Changed: cuBLAS computes the slices.
/// Legal:   cuBLAS computes the same sums, with their terms in another order.
/// Expect:  the kernels reach the rate of cuBLAS for a single large product. If slices are large,
///          the kernels hide the transfers over PCIe.
/// Run:     ./climb matmul --stages 08,09
/// Next:    10_split_tf32 computes in f32 with tensor cores.

#include "../transfer.hpp"

#include <algorithm>
#include <deque>
#include <staircase/cublas.hpp>
#include <staircase/stream.hpp>
#include <vector>

namespace matmul {

using staircase::check;
using staircase::CublasHandle;
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
inline void gemm(cublasHandle_t handle, int rows, int cols, int depth, const double* a,
                 const double* b, double* c) {
  const double one = 1, zero = 0;
  check(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, rows, cols, depth, &one, a, rows, b, depth,
                    &zero, c, rows));
}

inline void gemm(cublasHandle_t handle, int rows, int cols, int depth, const float* a,
                 const float* b, float* c) {
  const float one = 1, zero = 0;
  check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, rows, cols, depth, &one, a, rows, b, depth,
                    &zero, c, rows));
}

/// Computes C = A B for a slice. cuBLAS reads matrices by columns, so it computes Cᵀ = Bᵀ Aᵀ.
template <typename T>
void multiply(Parts<T> slice, cublasHandle_t handle) {
  const int rows = slice.c.extent(0), cols = slice.c.extent(1), depth = slice.a.extent(1);
  gemm(handle, cols, rows, depth, slice.b.data(), slice.a.data(), slice.c.data());
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
  const CublasHandle cublas;
  check(cublasSetStream(cublas, kernels));
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
    times.of("kernels", kernels, [&] { multiply(there, cublas); });
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
                               .title = "Library kernel",
                               .idea = "Compute slices with cuBLAS",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
