/// \file
/// From:    11_short_last_wave
/// Changed: each GPU owns a part of the bodies and predicts and corrects only these. It has a copy
///          of all predicted bodies; in each step, it copies bodies from the memory of other GPUs.
/// Legal:   only one GPU writes each body. An evaluation begins after all copies have arrived, and
///          the next prediction begins after all other GPUs have copied the bodies.
/// Expect:  the time of stage 11 is divided by the number of GPUs; each step adds a few copies.
/// Run:     ./climb nbody --stages 11,12
/// Next:    none; this is the last stage.

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
constexpr unsigned threads = 128;              // per block
constexpr unsigned held = 4;                   // bodies per thread
constexpr unsigned of_block = threads * held;  // bodies per block
constexpr unsigned most_parts = 32;            // partial sums per body
// [sizes]

// [inverse root]
/// Returns 1 / √x, computed by the special function unit. In f32, the error of about 2 roundings is
/// accepted. In f64, the relative error is up to 2⁻²⁰, and a third-order step reduces it to less
/// than one rounding.
template <typename T>
__device__ T inverse_root(T x) {
  const T y = staircase::rough_inverse_root(x);
  if constexpr (sizeof(T) == sizeof(float)) return y;
  const T e = 1 - x * y * y;
  return y + y * e * (T{0.5} + T{0.375} * e);
}
// [inverse root]

// [pull]
/// The acceleration and the jerk of `body` that the source body `other` causes.
template <typename T>
__device__ Force<T> pull(const Body<T>& body, const Body<T>& other, T softening2) {
  const Vector<T> x = other.x - body.x, v = other.v - body.v;
  const T inverse = inverse_root(dot(x, x, softening2));
  const T inverse2 = inverse * inverse, weight = other.mass * inverse * inverse2;
  const T jerk_factor = -3 * dot(x, v) * inverse2;
  return {weight * x, weight * (v + jerk_factor * x)};
}
// [pull]

// [load]
/// Returns body i, or zero-mass padding if i is beyond the last body.
template <typename T>
__device__ Body<T> body_or_none(View<const Body<T>, 1> bodies, unsigned i) {
  return i < bodies.extent(0) ? bodies(i) : Body<T>{};
}
// [load]

// [evaluate]
/// Computes the forces on `bodies` as sums over the source bodies `all`.
template <typename T>
__global__ void __launch_bounds__(threads)
    evaluate(View<const Body<T>, 1> bodies, View<const Body<T>, 1> all, T softening2,
             View<Force<T>, 2> partials) {
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
    if (i + h * threads < n) partials(blockIdx.y, i + h * threads) = sum[h];
}
// [evaluate]

// [add up]
/// Returns the force on body i, added up from the partial sums in all rows.
template <typename T>
__device__ Force<T> add_up(View<const Force<T>, 2> partials, unsigned i) {
  Force<T> sum{};
  for (unsigned p = 0; p < partials.extent(0); ++p)
    sum = {sum.a + partials(p, i).a, sum.j + partials(p, i).j};
  return sum;
}
// [add up]

// [predict]
/// Predicts positions and velocities at the end of a step, as if the jerk were constant.
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
/// Corrects positions and velocities from the forces at both ends of the step.
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
/// The number of partial sums per body: 32, or one per tile if there are fewer tiles.
unsigned parts_of(std::size_t bodies) {
  return std::min(most_parts, staircase::ceil_div(bodies, threads));
}
// [grid]

// [GPU]
/// A GPU with its own bodies, the predicted bodies of all GPUs, and the forces on its own bodies.
template <typename T>
struct Gpu {
  Gpu(int device, Slices slices, unsigned partials)
      : device(device), slices(slices), partials(partials) {}

  int device;
  Slices slices;
  unsigned partials;
  Slice own = slices(device);
  DeviceArray<Body<T>, 1> bodies{own.size}, all{slices.bodies};
  View<Body<T>, 1> predicted = part<Body<T>>(all, own);
  DeviceArray<Force<T>, 2> at_begin{partials, own.size}, at_end{partials, own.size};
  View<Force<T>, 2> forces = at_begin, next = at_end;
  staircase::Stream stream;
  staircase::Event moved, taken;
};
// [GPU]

// [gather]
/// All-gather: each GPU copies the predicted bodies of every other GPU after their computation.
void gather(auto& gpus) {
  staircase::for_each_gpu(gpus, [&](auto& gpu) {
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
  const Slices slices{n, staircase::ceil_div(n, devices.size())};
  devices.resize(slices.count());  // if there are fewer bodies than GPUs
  staircase::connect(devices);
  const dim3 grid(staircase::ceil_div(slices.size, of_block), parts_of(n));
  auto gpus = staircase::make_gpus<Gpu<T>>(devices, slices, grid.y);
  timeline.begin("copy in");
  Elements<Body<T>> host = bodies_of<T>(problem);
  staircase::for_each_gpu(gpus, [&](Gpu<T>& gpu) {
    gpu.bodies.copy_from(&host[gpu.own.first]);
    gpu.all.copy_from(host.data());
  });
  timeline.begin("kernels");
  const T dt = problem.dt, softening2 = softening_squared<T>(problem);
  const unsigned blocks = staircase::ceil_div(slices.size, threads);
  for (std::int64_t step = 0; step <= problem.steps; ++step) {
    if (step > 0) gather(gpus);
    staircase::for_each_gpu(gpus, [&](Gpu<T>& gpu) {
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
  staircase::for_each_gpu(gpus, [&](Gpu<T>& gpu) { gpu.bodies.copy_to(&host[gpu.own.first]); });
  return solution_of<T>(host);
}
// [solve]

}  // namespace nbody

int main(int argc, char** argv) {
  return nbody::run_stage(argc, argv,
                          {
                              .title = "Replicated",
                              .idea = "Replicate all bodies, update a share per GPU",
                              .solve_f64 = nbody::solve<double>,
                              .solve_f32 = nbody::solve<float>,
                          });
}
