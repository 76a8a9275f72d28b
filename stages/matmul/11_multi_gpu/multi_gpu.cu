/// \file
/// From:    09_library_kernel
/// Changed: the slices are distributed to all GPUs. Each GPU has its own panels, its own streams
///          and a thread of the host. This thread takes a slice when the sixth slice before it has
///          been computed.
/// Legal:   slices are independent, so any GPU may compute any slice.
/// Expect:  the speed grows with the number of GPUs, as long as the host's memory is fast enough.
/// Run:     ./climb matmul --stages 09,11
/// Next:    12_transposed continues stage 09, and transposes one operand for cuBLAS.

#include "../order.hpp"
#include "../transfer.hpp"

#include <algorithm>
#include <deque>
#include <staircase/cublas.hpp>
#include <staircase/distribute.hpp>
#include <staircase/stream.hpp>
#include <string>
#include <vector>

namespace matmul {

using staircase::check;
using staircase::CublasHandle;
using staircase::DeviceArray;
using staircase::Event;
using staircase::OnDevice;
using staircase::Pinned;
using staircase::Stream;
using staircase::StreamTimes;
using staircase::View;

constexpr std::size_t ahead = 6;  // slices that are enqueued on a GPU and not yet computed

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

// [GPU]
/// The panels, streams, events and cuBLAS handle of a GPU.
template <typename T>
struct Gpu {
  Gpu(int number, const Panels& panels, std::size_t depth, staircase::Timeline& timeline)
      : device(number),
        of_c(2, panels.slices.rows * panels.slices.cols),
        times(timeline, ", GPU " + std::to_string(number)) {
    for (std::size_t p = 0; p < panels.kept; ++p) of_a.emplace_back(panels.slices.rows * depth);
    for (std::size_t p = 0; p < panels.coming; ++p) of_b.emplace_back(depth * panels.slices.cols);
    check(cublasSetStream(cublas, kernels));
  }
  // cuBLAS frees its memory on the current device of the thread.
  ~Gpu() { cudaSetDevice(device); }
  int device;
  std::deque<Panel<T>> of_a, of_b;
  DeviceArray<T, 2> of_c;
  Stream in, kernels, out;
  CublasHandle cublas;
  Event computed[ahead], fetched[2];
  StreamTimes times;
  std::size_t step = 0;
};
// [GPU]

// [solve]
/// Enqueues a slice on a GPU; returns when fewer than `ahead` enqueued slices are incomplete.
template <typename T>
void compute(Gpu<T>& gpu, std::size_t e, const Panels& panels, View<const T, 2> a,
             View<const T, 2> b, View<T, 2> c) {
  const Slices& slices = panels.slices;
  const std::size_t depth = a.extent(1);
  auto& [device, of_a, of_b, of_c, in, kernels, out, cublas, computed, fetched, times, step] = gpu;
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
  for (Event* done : {&panel_a.used, &panel_b.used, &computed[step % ahead]}) done->record(kernels);
  out.wait(computed[step % ahead]);
  times.of("copy out", out, [&] { fetch(there.c, &c(s.i0, s.j0), c.extent(1), out); });
  fetched[step++ % 2].record(out);
  computed[step % ahead].wait();
}

template <typename T>
Product<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  const std::vector<int> devices = staircase::devices(problem.gpus);
  timeline.begin("allocate");
  Product<T> c(problem.l, problem.n);
  const View<const T, 2> a = problem.a<T>(), b = problem.b<T>();
  const Panels panels = panels_of(problem, sizeof(T));
  const Pinned pinned_a(a), pinned_b(b), pinned_c(c);
  const OnDevice fullest(staircase::fullest(devices));  // its budget applies to all GPUs
  std::deque<Gpu<T>> gpus = staircase::make_gpus<Gpu<T>>(devices, panels, problem.m, timeline);
  timeline.begin("multiply");
  staircase::WorkQueues queues(gpus.size());
  for (const std::size_t e : order_of(panels, 2 * gpus.size()))
    queues.push(e % panels.slices.sl % gpus.size(), e);
  staircase::distribute(queues, gpus,
                        [&](Gpu<T>& gpu, std::size_t e) { compute<T>(gpu, e, panels, a, b, c); });
  timeline.end();
  staircase::add_to_timeline(gpus);
  return c;
}
// [solve]

}  // namespace matmul

int main(int argc, char** argv) {
  return matmul::run_stage(argc, argv,
                           {
                               .title = "Multi-GPU",
                               .idea = "Share slices among GPUs, steal the rest",
                               .solve_f64 = matmul::solve<double>,
                               .solve_f32 = matmul::solve<float>,
                           });
}
