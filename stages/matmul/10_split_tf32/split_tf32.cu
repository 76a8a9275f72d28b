/// \file
/// Changed: tensor cores compute the slices. A number of f32 becomes two of tf32, once for each
///          panel that was sent, and a product three of them.
/// Legal:   both parts have 23 of 24 bits, and the product that is left out is 2⁻²² of the whole.
///          Tensor cores add up 2048 products at most, and f32 units the sums of them.
/// Expect:  a third of the rate of tf32: more than twice that of f32.
/// Run:     ./climb matmul --stages 09,10 --precision f32
/// Next:    11_several_gpus goes back to stage 09, and deals the slices out.

#include "../matmul.hpp"

#include <algorithm>
#include <deque>
#include <staircase/bulk_copy.hpp>
#include <staircase/factor.hpp>
#include <staircase/stream.hpp>
#include <staircase/wgmma.hpp>
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

// [Panel]
/// Rows of A or columns of B on the device.
template <typename T>
struct Panel {
  explicit Panel(std::size_t size) : room(size) {}
  DeviceArray<T, 1> room;
  std::size_t held = std::size_t(-1);  // which one it is
  Event sent, used;
};

/// Sends a panel, unless it is there, and takes it apart when that which it takes the place of is
/// used no more.
template <typename T, typename Send, typename Split>
void hold(Panel<T>& panel, std::size_t wanted, const Stream& in, StreamTimes& times, Send send,
          Split split) {
  if (panel.held == wanted) return;
  times.of("copy in", in, send);
  in.wait(panel.used);
  times.of("split", in, split);
  panel.sent.record(in);
  panel.held = wanted;
}
// [Panel]

// [order]
/// The slices in an order in which each takes what the ones before it had: to the right along as
/// many rows as panels of A are kept, and back to the left along the next ones.
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

// [transfer]
/// Copies a matrix of the device from or to one of the host whose rows lie further apart.
template <typename T>
void send(const T* host, std::size_t host_cols, View<T, 2> device, const Stream& stream) {
  const std::size_t rows = device.extent(0), bytes = device.extent(1) * sizeof(T);
  check(cudaMemcpy2DAsync(device.data(), bytes, host, host_cols * sizeof(T), bytes, rows,
                          cudaMemcpyHostToDevice, stream));
}

template <typename T>
void fetch(View<T, 2> device, T* host, std::size_t host_cols, const Stream& stream) {
  const std::size_t rows = device.extent(0), bytes = device.extent(1) * sizeof(T);
  check(cudaMemcpy2DAsync(host, host_cols * sizeof(T), device.data(), bytes, bytes, rows,
                          cudaMemcpyDeviceToHost, stream));
}
// [transfer]

// [split]
constexpr unsigned rows_of_tile = 128, cols_of_tile = 256;  // of C, for a block
constexpr unsigned deep = 16;                               // numbers of a line in a tile
constexpr unsigned row_bytes = 2 * deep * sizeof(float);    // of both their parts

/// A panel taken apart, in tiles of so many lines, rows of A or columns of B, by 16 numbers of
/// each. A line of a tile is a row of 128 bytes, first the high parts of its numbers, then the low
/// ones, and lies as wgmma wants it. Tiles along k follow each other.
template <unsigned most_lines>
struct Tiles {
  float* numbers;
  std::size_t lines, depth;  // of the panel

  __host__ __device__ unsigned steps() const { return staircase::pieces(depth, deep); }
  __device__ unsigned lines_of(unsigned tile) const {
    return min(most_lines, unsigned(lines) - tile * most_lines);
  }
  __device__ float* operator()(unsigned tile, unsigned step) const {
    return numbers + (std::size_t(tile) * most_lines * steps() + step * lines_of(tile)) * 2 * deep;
  }
};

/// Takes a panel apart: one block per tile, a thread four numbers of a line at a time. Neighbours
/// have neighbouring numbers of a row, and write whole sectors: of A, four threads per line; of
/// B, two.
template <unsigned most_lines>
__global__ void split(View<const float, 2> panel, Tiles<most_lines> tiles) {
  constexpr bool is_a = most_lines == rows_of_tile;
  const unsigned lines = tiles.lines_of(blockIdx.y), first = blockIdx.y * most_lines;
  float* const tile = tiles(blockIdx.y, blockIdx.x);
  for (unsigned e = threadIdx.x; e < lines * deep / 4; e += blockDim.x) {
    const unsigned line = is_a ? e / 4 : e / 2 % lines;
    const unsigned m = 4 * (is_a ? e % 4 : e % 2 + e / (2 * lines) * 2);
    staircase::Factor<float> x[4];
    for (unsigned d = 0; d < 4; ++d) {
      const unsigned i = first + line, k = blockIdx.x * deep + m + d;
      x[d] = staircase::factor(k >= tiles.depth ? 0 : is_a ? panel(i, k) : panel(k, i));
    }
    const auto place = [&](unsigned number) -> uint4& {
      return reinterpret_cast<uint4&>(tile[staircase::place_in_rows(line, 4 * number) / 4]);
    };
    place(m) = make_uint4(x[0].high, x[1].high, x[2].high, x[3].high);
    place(deep + m) = make_uint4(x[0].low, x[1].low, x[2].low, x[3].low);
  }
}

/// Launches it in a stream.
template <unsigned most_lines>
void split(View<const float, 2> panel, Tiles<most_lines> tiles, const Stream& stream) {
  const dim3 grid(tiles.steps(), staircase::pieces(tiles.lines, most_lines));
  split<<<grid, 256, 0, stream>>>(panel, tiles);
  check_launch();
}

/// What a slice takes on the device: its rows of A, its columns of B, and itself.
struct Parts {
  Tiles<rows_of_tile> a;
  Tiles<cols_of_tile> b;
  View<float, 2> c;
};
// [split]

// [multiply]
constexpr unsigned multipliers = 256;  // threads of two warpgroups; another warp starts the copies
constexpr unsigned buffers = 4;
constexpr unsigned in_a_row = 128;  // steps whose products tensor cores add up: 2048 numbers

struct Operands {
  float a[rows_of_tile * 2 * deep], b[cols_of_tile * 2 * deep];
};
struct Pipeline {
  Operands operands[buffers];
  staircase::TransferBarrier full[buffers], empty[buffers];
};

/// Copies the tiles of a block's rows and columns into the pipeline, one after the other.
__device__ inline void feed(Pipeline& pipeline, const Parts& slice) {
  const unsigned of_a = row_bytes * slice.a.lines_of(blockIdx.y);
  const unsigned of_b = row_bytes * slice.b.lines_of(blockIdx.x);
  for (unsigned k = 0; k < slice.a.steps(); ++k) {
    Operands& to = pipeline.operands[k % buffers];
    auto& full = pipeline.full[k % buffers];
    pipeline.empty[k % buffers].wait((k / buffers + 1) % 2);
    full.arrive_and_expect(of_a + of_b);
    staircase::bulk_copy(to.a, slice.a(blockIdx.y, k), of_a, full);
    staircase::bulk_copy(to.b, slice.b(blockIdx.x, k), of_b, full);
  }
}

/// Adds up the products of 64 rows over some steps, of small numbers first.
__device__ inline void drain(Pipeline& pipeline, unsigned first, unsigned end, float (&sum)[128]) {
  constexpr unsigned low = row_bytes / 2;
  const auto release = [&](unsigned k) {
    if (threadIdx.x % 32 == 0) pipeline.empty[k % buffers].arrive();
  };
  for (unsigned k = first; k < end; ++k) {
    const Operands& from = pipeline.operands[k % buffers];
    const float* const a = from.a + threadIdx.x / 128 * (rows_of_tile / 2 * 2 * deep);
    pipeline.full[k % buffers].wait(k / buffers % 2);
    staircase::wgmma_begin();
#pragma unroll
    for (unsigned k0 = 0; k0 < low; k0 += 32) {
      staircase::wgmma_tf32_m64n256k8(sum, a, low + k0, from.b, k0);
      staircase::wgmma_tf32_m64n256k8(sum, a, k0, from.b, low + k0);
      staircase::wgmma_tf32_m64n256k8(sum, a, k0, from.b, k0);
    }
    staircase::wgmma_commit();
    staircase::wgmma_wait<1>();
    if (k > first) release(k - 1);
  }
  staircase::wgmma_wait<0>();
  release(end - 1);
}

/// Adds the sums of a thread to C, or makes them C; loads some numbers before it stores any.
__device__ inline void add_to(View<float, 2> c, const float (&sum)[128], bool is_first) {
  const auto [row, column] = staircase::place_in_warpgroup(threadIdx.x % 128, 0);
  const unsigned i0 = blockIdx.y * rows_of_tile + threadIdx.x / 128 * 64 + row;
  const unsigned j0 = blockIdx.x * cols_of_tile + column;
  const unsigned left = j0 < c.extent(1) ? c.extent(1) - j0 : 0;
  constexpr unsigned at_once = 16;
#pragma unroll
  for (unsigned h = 0; h < 2; ++h) {
    if (i0 + 8 * h >= c.extent(0)) return;
    float* const to = c.data() + (i0 + 8 * h) * c.extent(1) + j0;
#pragma unroll
    for (unsigned j = 0; j < cols_of_tile; j += at_once * 4) {
      float before[at_once] = {};
#pragma unroll
      for (unsigned n = 0; n < at_once; ++n)
        if (const unsigned at = j + n / 2 * 8 + n % 2; !is_first && at < left) before[n] = to[at];
#pragma unroll
      for (unsigned n = 0; n < at_once; ++n)
        if (const unsigned at = j + n / 2 * 8 + n % 2; at < left)
          to[at] = before[n] + sum[at / 8 * 4 + 2 * h + n % 2];
    }
  }
}

/// C = A B: each block computes a tile of C.
__global__ void __launch_bounds__(multipliers + 32, 1) multiply_tiles(Parts slice) {
  extern __shared__ __align__(1024) unsigned char of_tiles[];
  Pipeline& pipeline = *reinterpret_cast<Pipeline*>(of_tiles);
  // Lines behind the last one stay zero: no copy reaches them.
  for (unsigned e = threadIdx.x; e < buffers * sizeof(Operands) / sizeof(uint4); e += blockDim.x)
    reinterpret_cast<uint4*>(of_tiles)[e] = {};
  staircase::fence_shared_memory();
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < buffers; ++s) {
      pipeline.full[s].init(1);
      pipeline.empty[s].init(multipliers / 32);
    }
    staircase::fence_barriers();
  }
  __syncthreads();
  if (threadIdx.x >= multipliers) {
    if (threadIdx.x == multipliers) feed(pipeline, slice);
    return;
  }
  // One warpgroup begins with half as many steps: each multiplies while the other one adds to C.
  const unsigned steps = slice.a.steps();
  unsigned end = threadIdx.x < multipliers / 2 ? in_a_row : in_a_row / 2;
#pragma unroll 1
  for (unsigned first = 0; first < steps; first = end, end += in_a_row) {
    float sum[128] = {};
    drain(pipeline, first, min(end, steps), sum);
    add_to(slice.c, sum, first == 0);
  }
}

/// Launches it for a slice, in a stream.
inline void multiply(const Parts& slice, const Stream& stream) {
  const dim3 grid(staircase::pieces(slice.c.extent(1), cols_of_tile),
                  staircase::pieces(slice.c.extent(0), rows_of_tile));
  multiply_tiles<<<grid, multipliers + 32, sizeof(Pipeline), stream>>>(slice);
  check_launch();
}
// [multiply]

// [solve]
template <typename T>
Product<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  staircase::require_wgmma();
  timeline.begin("allocate");
  Product<T> c(problem.l, problem.n);
  const View<const T, 2> a = problem.a<T>(), b = problem.b<T>();
  const std::size_t depth = problem.m, line = staircase::pieces(depth, deep) * 2 * deep;
  const Panels panels = panels_of(
      problem, sizeof(T),
      {.bytes = line * sizeof(T), .bytes_on_the_way = depth * sizeof(T), .most_columns = 6144});
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
    hold(
        panel_a, i, in, times, [&] { send(&a(s.i0, 0), a.extent(1), raw_a, in); },
        [&] { split<rows_of_tile>(raw_a, there.a, in); });
    hold(
        panel_b, j, in, times, [&] { send(&b(0, s.j0), b.extent(1), raw_b, in); },
        [&] { split<cols_of_tile>(raw_b, there.b, in); });
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
  times.hand_over();
  return c;
}
// [solve]

}  // namespace matmul

int main(int argc, char** argv) {
  return matmul::run_stage(argc, argv,
                           {
                               .title = "Split TF32",
                               .idea = "f32 as three products on tensor cores",
                               .needs = "tensor cores of compute capability 9.0",
                               .solve_f32 = matmul::solve<float>,
                           });
}
