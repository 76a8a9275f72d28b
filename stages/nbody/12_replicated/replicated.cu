/// \file
/// From:    11_full_rounds
/// Changed: each of several GPUs moves its own bodies. It has all of them as they are predicted,
///          and takes those of others from their memory.
/// Legal:   each body is moved by one GPU. An evaluation begins when all have come, and the next
///          prediction when all have been taken.
/// Expect:  the time of 11 divided by the number of GPUs, and a few copies for each step.
/// Run:     ./climb nbody --stages 11,12
/// Next:    the last one.

#include "../nbody.hpp"

#include <algorithm>
#include <staircase/devices.hpp>
#include <staircase/inverse_root.hpp>
#include <staircase/stream.hpp>
#include <utility>

namespace nbody {

using staircase::check;
using staircase::check_launch;
using staircase::column;
using staircase::DeviceArray;
using staircase::Elements;
using staircase::View;

// [sizes]
constexpr unsigned threads = 128;              // of a block
constexpr unsigned held = 4;                   // bodies of a thread
constexpr unsigned of_block = threads * held;  // bodies
constexpr unsigned most_pieces = 32;           // of a sum
// [sizes]

// [inverse root]
/// 1 / √x. The special function unit is off by 2 roundings of f32, which stay; in f64 by as much as
/// 2⁻²⁰, of which a step of third order leaves less than a rounding.
template <typename T>
__device__ T inverse_root(T x) {
  const T y = staircase::rough_inverse_root(x);
  if constexpr (sizeof(T) == sizeof(float)) return y;
  const T e = 1 - x * y * y;
  return y + y * e * (T{0.5} + T{0.375} * e);
}
// [inverse root]

// [pull]
/// What a body feels of another one.
template <typename T>
__device__ Force<T> pull(const Body<T>& body, const Body<T>& other, T softening2) {
  const Vector<T> x = other.x - body.x, v = other.v - body.v;
  const T inverse = inverse_root(dot(x, x, softening2));
  const T inverse2 = inverse * inverse, weight = other.mass * inverse * inverse2;
  const T turn = -3 * dot(x, v) * inverse2;
  return {weight * x, weight * (v + turn * x)};
}
// [pull]

// [load]
/// A body, or behind the last one a body without mass.
template <typename T>
__device__ Body<T> body_or_none(View<const Body<T>, 1> bodies, unsigned i) {
  return i < bodies.extent(0) ? bodies(i) : Body<T>{};
}
// [load]

// [evaluate]
/// The forces on some bodies of all bodies.
template <typename T>
__global__ void __launch_bounds__(threads)
    evaluate(View<const Body<T>, 1> bodies, View<const Body<T>, 1> all, T softening2,
             View<Force<T>, 2> pieces) {
  __shared__ Body<T> tile[threads];
  const unsigned i = blockIdx.x * of_block + threadIdx.x, n = bodies.extent(0);
  Body<T> body[held];
  Force<T> sum[held] = {};
#pragma unroll
  for (unsigned h = 0; h < held; ++h) body[h] = body_or_none(bodies, i + h * threads);
  for (unsigned first = blockIdx.y * threads; first < all.extent(0); first += gridDim.y * threads) {
    tile[threadIdx.x] = body_or_none(all, first + threadIdx.x);
    __syncthreads();
#pragma unroll 4
    for (unsigned j = 0; j < threads; ++j) {
      const Body<T> other = tile[j];
#pragma unroll
      for (unsigned h = 0; h < held; ++h) {
        const auto [a, jerk] = pull(body[h], other, softening2);
        sum[h] = {sum[h].a + a, sum[h].j + jerk};
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned h = 0; h < held; ++h)
    if (i + h * threads < n) pieces(blockIdx.y, i + h * threads) = sum[h];
}
// [evaluate]

// [add up]
/// The force on a body, of which each row has a piece.
template <typename T>
__device__ Force<T> add_up(View<const Force<T>, 2> pieces, unsigned i) {
  Force<T> sum{};
  for (unsigned p = 0; p < pieces.extent(0); ++p)
    sum = {sum.a + pieces(p, i).a, sum.j + pieces(p, i).j};
  return sum;
}
// [add up]

// [predict]
/// Where bodies will be, and how fast, if the jerk stays.
template <typename T>
__global__ void predict(View<const Body<T>, 1> bodies, View<const Force<T>, 2> forces, T dt,
                        View<Body<T>, 1> predicted) {
  const unsigned i = column();
  if (i < bodies.extent(0)) {
    const auto& [x, mass, v, unused] = bodies(i);
    const auto [a, j] = add_up(forces, i);
    predicted(i) = {x + dt * (v + dt / 2 * (a + dt / 3 * j)), mass, v + dt * (a + dt / 2 * j), 0};
  }
}
// [predict]

// [correct]
/// Moves bodies on, by the forces at the beginning and those at the predicted end of the step.
template <typename T>
__global__ void correct(View<const Force<T>, 2> forces, View<const Force<T>, 2> next, T dt,
                        View<Body<T>, 1> bodies) {
  const unsigned i = column();
  if (i < bodies.extent(0)) {
    auto& [x, mass, v, unused] = bodies(i);
    const auto [a, j] = add_up(forces, i);
    const auto [a1, j1] = add_up(next, i);
    x = x + dt * (v + dt / 20 * (T{7} * a + T{3} * a1 + dt / 3 * (T{3} * j - T{2} * j1)));
    v = v + dt / 2 * (a + a1 + dt / 6 * (j - j1));
  }
}
// [correct]

// [grid]
/// Pieces of a sum, if there are tiles for them.
unsigned pieces_of(std::size_t bodies) {
  return std::min(most_pieces, staircase::pieces(bodies, threads));
}
// [grid]

// [GPU]
/// A GPU with the bodies that it moves, all bodies as they are predicted, and forces on its own.
template <typename T>
struct Gpu {
  int device;
  Slices slices;
  unsigned pieces;
  Slice own = slices(device);
  DeviceArray<Body<T>, 1> bodies{own.size}, all{slices.bodies};
  View<Body<T>, 1> predicted = part<Body<T>>(all, own);
  DeviceArray<Force<T>, 2> at_begin{pieces, own.size}, at_end{pieces, own.size};
  View<Force<T>, 2> forces = at_begin, next = at_end;
  staircase::Stream stream;
  staircase::Event moved, taken;
};
// [GPU]

// [gather]
/// Lets each GPU take from all others where their bodies will be, when these have moved there.
void gather(auto& gpus) {
  staircase::in_turn(gpus, [&](auto& gpu) {
    for (const auto& other : gpus) {
      if (&other == &gpu) continue;
      gpu.stream.wait(other.moved);
      check(cudaMemcpyPeerAsync(&gpu.all(other.own.first), gpu.device, other.predicted.data(),
                                other.device, other.own.size * sizeof(gpu.all(0)), gpu.stream));
    }
    gpu.taken.record(gpu.stream);
  });
}
// [gather]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  const std::size_t n = problem.bodies;
  auto devices = staircase::devices(problem.gpus);
  const Slices slices{n, staircase::pieces(n, devices.size())};
  devices.resize(slices.count());  // where there are fewer bodies than GPUs
  staircase::connect(devices);
  const dim3 grid(staircase::pieces(slices.size, of_block), pieces_of(n));
  auto gpus = staircase::each_of<Gpu<T>>(devices, slices, grid.y);
  timeline.begin("copy in");
  Elements<Body<T>> host = bodies_of<T>(problem);
  staircase::in_turn(gpus, [&](Gpu<T>& gpu) {
    gpu.bodies.copy_from(&host[gpu.own.first]);
    gpu.all.copy_from(host.data());
  });
  timeline.begin("kernels");
  const T dt = problem.dt, softening2 = softening_squared<T>(problem);
  const unsigned blocks = staircase::pieces(slices.size, threads);
  for (std::int64_t step = 0; step <= problem.steps; ++step) {
    if (step > 0) gather(gpus);
    staircase::in_turn(gpus, [&](Gpu<T>& gpu) {
      evaluate<T><<<grid, threads, 0, gpu.stream>>>(gpu.predicted, gpu.all, softening2, gpu.next);
      check_launch();
      if (step > 0)
        correct<T><<<blocks, threads, 0, gpu.stream>>>(gpu.forces, gpu.next, dt, gpu.bodies);
      check_launch();
      std::swap(gpu.forces, gpu.next);
      for (const auto& other : gpus) gpu.stream.wait(other.taken);
      if (step < problem.steps)
        predict<T><<<blocks, threads, 0, gpu.stream>>>(gpu.bodies, gpu.forces, dt, gpu.predicted);
      check_launch();
      gpu.moved.record(gpu.stream);
    });
  }
  staircase::synchronise(gpus);
  timeline.begin("copy out");
  staircase::in_turn(gpus, [&](Gpu<T>& gpu) { gpu.bodies.copy_to(&host[gpu.own.first]); });
  return solution_of<T>(host);
}
// [solve]

}  // namespace nbody

int main(int argc, char** argv) {
  return nbody::run_stage(argc, argv,
                          {
                              .title = "Replicated",
                              .idea = "Each GPU has all bodies and moves its own",
                              .solve_f64 = nbody::solve<double>,
                              .solve_f32 = nbody::solve<float>,
                          });
}
