/// \file
/// From:    09_look_ahead
/// Changed: the matrix stays in the host's memory and comes in slices of its columns. The products
///          of earlier slices are taken off as these come again, in pieces that take turns in two
///          buffers; then the slice is factorised, and goes out while the next one comes.
/// Legal:   sums are in another order. A slice is complete before it goes out, and has gone out
///          before its pieces come again; events keep a buffer until it has been read.
/// Expect:  the speed of stage 09 for matrices of any size: pieces come faster than their products
///          are taken off, if slices are wide enough.
/// Run:     ./climb cholesky --stages 09,12
/// Next:    13_several_gpus deals panels out to all GPUs.

#include "../panels.hpp"
#include "../products.hpp"
#include "../slices.hpp"

#include <cuda_pipeline.h>

#include <algorithm>
#include <staircase/factor.hpp>
#include <staircase/stream.hpp>

namespace cholesky {

using staircase::check;
using staircase::check_launch;
using staircase::Event;
using staircase::Factor;
using staircase::factor;
using staircase::multiply_add;
using staircase::pieces;
using staircase::Stream;
using staircase::View;

// [tiles]
constexpr unsigned strip = 8;    // columns of tiles that are done row by row
constexpr unsigned buffers = 4;  // for factors in shared memory
constexpr unsigned ahead = buffers - 1;

/// Columns of factors that are there at a time: 128 bytes of a row.
template <typename T>
constexpr unsigned depth = 128 / sizeof(T);

/// Neighbours of a row, which are copied at once.
template <typename T>
constexpr unsigned packed = 16 / sizeof(T);

/// Factors of the rows and of the columns of a tile. Each row is longer by four numbers, so that
/// the rows of which four numbers each are read at a time lie in different banks.
template <typename T>
struct alignas(16) Tiles {
  T i[tile][depth<T> + 4], j[tile][depth<T> + 4];
};

/// Has them copied from column k on, in place of rows behind the last one that one.
template <typename T>
__device__ void copy_tiles(View<const T, 2> l, unsigned i0, unsigned j0, unsigned k,
                           Tiles<T>& tiles) {
  constexpr unsigned packs = depth<T> / packed<T>;
  const unsigned of_k = threadIdx.x % packs * packed<T>, last = l.extent(0) - 1;
#pragma unroll
  for (unsigned m = threadIdx.x / packs; m < tile; m += threads / packs) {
    __pipeline_memcpy_async(&tiles.i[m][of_k], &l(min(i0 + m, last), k + of_k), 16);
    __pipeline_memcpy_async(&tiles.j[m][of_k], &l(min(j0 + m, last), k + of_k), 16);
  }
}
// [tiles]

// [multiply_tiles]
/// What a lane has of eight columns of factors, for the products of its warp.
template <typename T>
struct Factors {
  Factor<T> x[kept_i][4], y[kept_j][2];
};

/// Loads them, from column k of the tiles on.
template <typename T>
__device__ void load_factors(const Tiles<T>& tiles, unsigned k, Factors<T>& factors) {
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) {
    const auto [i, of_k] = staircase::place_in_a(threadIdx.x % 32, r);
#pragma unroll
    for (unsigned m = 0; m < kept_i; ++m)
      factors.x[m][r] = factor(tiles.i[row_of(m) + i][k + of_k]);
  }
#pragma unroll
  for (unsigned r = 0; r < 2; ++r) {
    const auto [of_k, j] = staircase::place_in_b(threadIdx.x % 32, r);
#pragma unroll
    for (unsigned n = 0; n < kept_j; ++n)
      factors.y[n][r] = factor(tiles.j[column_of(n) + j][k + of_k]);
  }
}

/// rest += x y
template <typename T>
__device__ void multiply_factors(const Factors<T>& factors, Rest<T>& rest) {
#pragma unroll
  for (unsigned m = 0; m < kept_i; ++m)
#pragma unroll
    for (unsigned n = 0; n < kept_j; ++n) multiply_add(rest[m][n], factors.x[m], factors.y[n]);
}
// [multiply_tiles]

// [update]
/// Takes the products of columns k of known numbers in the same rows off columns j, from the
/// diagonal down.
template <typename T>
__global__ void __launch_bounds__(threads)
    update(View<const T, 2> known, View<T, 2> l, Range k, Range j) {
  extern __shared__ __align__(16) unsigned char bytes[];
  Tiles<T>* const tiles = reinterpret_cast<Tiles<T>*>(bytes);
  const unsigned i0 = j.first + blockIdx.y * tile;
  const unsigned j0 = j.first + (blockIdx.z * strip + blockIdx.x) * tile;
  if (j0 > i0 || j0 >= j.end) return;
  const unsigned steps = (k.end - k.first) / depth<T>;
  const auto copy_step = [&](unsigned step) {
    if (step < steps)
      copy_tiles<T>(known, i0, j0, k.first + step * depth<T>, tiles[step % buffers]);
    __pipeline_commit();
  };
  for (unsigned step = 0; step < ahead; ++step) copy_step(step);
  Rest<T> rest;
  load<T>(l, i0, j0, j.end, rest);
  Factors<T> even, odd;  // of eight columns and of the next eight
  const auto take_step = [&](unsigned step) {
    __pipeline_wait_prior(ahead - 1);
    __syncthreads();
    copy_step(step + ahead);
    load_factors(tiles[step % buffers], 0, even);
  };
  take_step(0);
  for (unsigned step = 0; step < steps; ++step)
#pragma unroll
    for (unsigned k = 8; k < depth<T>; k += 16) {
      load_factors(tiles[step % buffers], k, odd);
      multiply_factors(even, rest);
      if (k + 8 < depth<T>)
        load_factors(tiles[step % buffers], k + 8, even);
      else if (step + 1 < steps)
        take_step(step + 1);
      multiply_factors(odd, rest);
    }
  store(rest, i0, j0, 0, j.end, l);
}

/// Launches it in a stream, if there are such columns.
template <typename T>
void launch_update(View<const T, 2> known, View<T, 2> l, Range k, Range j, const Stream& stream) {
  if (j.first >= j.end) return;
  const unsigned rows = pieces(l.extent(0) - j.first, tile);
  const unsigned columns = pieces(j.end - j.first, tile);
  const dim3 grid(std::min(columns, strip), rows, pieces(columns, strip));
  update<T><<<grid, threads, sizeof(Tiles<T>[buffers]), stream>>>(known, l, k, j);
  check_launch();
}
// [update]

// [factorise]
/// Factorises the columns of a panel, 64 at a time.
template <typename T>
void factorise_panel(View<T, 2> l, unsigned first, const Stream& stream) {
  const unsigned n = l.extent(0), end = std::min<unsigned>(first + panel, l.extent(1));
  for (unsigned k = first; k < end; k += block) {
    factorise_block<T><<<1, dim3(side, side), 0, stream>>>(l, k);
    check_launch();
    if (k + block == n) return;
    solve_below<T><<<(n - k - block) / rows_at_once, dim3(lanes, rows_at_once), 0, stream>>>(l, k);
    check_launch();
    launch_update<T>(l, l, {k, k + block}, {k + block, end}, stream);
  }
}

/// The streams, and what keeps their order.
struct Flow {
  explicit Flow(staircase::Timeline& timeline) : times(timeline) {}
  const Stream urgent{staircase::Priority::high}, patient{staircase::Priority::low}, in, out;
  Event known, updated, sent, used[2], read, fetched;
  staircase::StreamTimes times;
};

/// A slice, panel by panel: once it is known, its products are taken off the next one's columns,
/// and while that is factorised, off everything to its right.
template <typename T>
void factorise(View<T, 2> l, Flow& flow) {
  auto& [urgent, patient, in, out, known, updated, sent, used, read, fetched, times] = flow;
  const unsigned n = l.extent(1);
  updated.record(patient);
  urgent.wait(updated);
  times.of("panels", urgent, [&] { factorise_panel(l, 0, urgent); });
  for (unsigned first = 0, next = panel; next < n; first = next, next += panel) {
    const unsigned end = std::min(next + panel, n);
    known.record(urgent);
    urgent.wait(updated);
    times.of("panels", urgent, [&] {
      launch_update<T>(l, l, {first, next}, {next, end}, urgent);
      factorise_panel(l, next, urgent);
    });
    patient.wait(known);
    times.of("updates", patient, [&] { launch_update<T>(l, l, {first, next}, {end, n}, patient); });
    updated.record(patient);
  }
  known.record(urgent);
  patient.wait(known);
}
// [factorise]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  staircase::require_capability(9, 0, "FP64 tensor cores for products of 16 × 8 × 8");
  staircase::require_shared_memory(sizeof(Tiles<T>[buffers]));
  const Sizes sizes = sizes_of<T>(problem, block, panel);
  const std::size_t n = problem.n, width = sizes.slice;
  const Room<T> room(sizes);
  Solution<T> l(problem.n, problem.n);
  const staircase::Pinned pinned(l);
  Flow flow(timeline);
  auto& [urgent, patient, in, out, known, updated, sent, used, read, fetched, times] = flow;
  const auto bring = [&](std::size_t top, std::size_t first, View<T, 2> columns) {
    times.of("copy in", in, [&] { send(l, top, first, columns, in); });
    sent.record(in);
    patient.wait(sent);
  };
  const auto take_off = [&](View<const T, 2> of, View<T, 2> slice) {
    times.of("updates", patient, [&] { launch_update(of, slice, all(of), all(slice), patient); });
  };

  timeline.begin("copy in");
  std::copy_n(problem.a<T>().data(), n * n, l.data());

  timeline.begin("kernels");
  staircase::allow_shared_memory(update<T>, sizeof(Tiles<T>[buffers]));
  bring(0, 0, room.slice(0));
  for (std::size_t top = 0, turn = 0; top < n; top += width) {
    const View<T, 2> slice = room.slice(top);
    if (top > 0) {
      take_off({&room.slice(top - width)(width, 0), {slice.extent(0), width}}, slice);
      read.record(patient);
    }
    for (std::size_t k = 0; k + width < top; k += sizes.piece, turn = 1 - turn) {
      const View<T, 2> piece = room.piece(turn, top, std::min(sizes.piece, top - width - k));
      in.wait(used[turn]);
      bring(top, k, piece);
      take_off(piece, slice);
      used[turn].record(patient);
    }
    factorise(slice, flow);
    if (top + width < n) {
      in.wait(read);
      in.wait(fetched);
      bring(top + width, top + width, room.slice(top + width));
    }
    out.wait(known);
    times.of("copy out", out, [&] { fetch(slice, l, top, top, out); });
    fetched.record(out);
  }
  check(cudaDeviceSynchronize());
  timeline.end();
  flow.times.hand_over();
  return l;
}
// [solve]

}  // namespace cholesky

int main(int argc, char** argv) {
  return cholesky::run_stage(argc, argv,
                             {
                                 .title = "Sliced",
                                 .idea = "Slices come, and pieces of earlier ones again",
                                 .needs = "FP64 tensor cores of compute capability 9.0",
                                 .note = "The phase kernels contains the copies of A and L.",
                                 .solve_f64 = cholesky::solve<double>,
                                 .solve_f32 = cholesky::solve<float>,
                             });
}
