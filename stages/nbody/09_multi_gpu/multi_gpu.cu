/// \file
/// Changed: any number of GPUs claim slices of bodies from one queue; each GPU has its own buffers,
///          streams and events, and a host thread that enqueues its work.
/// Legal:   slices write forces of different bodies, and read nothing that another slice writes;
///          all GPUs synchronise after each evaluation.
/// Expect:  the time of stage 08 is divided by the number of GPUs, except for the work of the host.
/// Run:     ./climb nbody --stages 08,09
/// Next:    10_split_reductions continues stage 06, for clusters too small to occupy one GPU.

#include "../on_host.hpp"

#include <deque>
#include <staircase/distribute.hpp>
#include <staircase/inverse_root.hpp>
#include <string>
#include <utility>
#include <vector>

namespace nbody {

using staircase::check;
using staircase::check_launch;
using staircase::copy;
using staircase::DeviceArray;
using staircase::Elements;
using staircase::OnDevice;
using staircase::Pinned;
using staircase::View;

// [sizes]
constexpr unsigned threads = 128;              // per block
constexpr unsigned held = 4;                   // bodies per thread
constexpr unsigned of_block = threads * held;  // bodies per block
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
/// Adds the terms of the bodies `sources` to the forces on the bodies `bodies`.
template <typename T>
__global__ void __launch_bounds__(threads)
    evaluate(View<const Body<T>, 1> bodies, View<const Body<T>, 1> sources, T softening2,
             View<Force<T>, 1> forces) {
  __shared__ Body<T> tile[threads];
  const unsigned i = blockIdx.x * of_block + threadIdx.x, n = bodies.extent(0);
  const unsigned m = sources.extent(0);
  Body<T> body[held];
  Force<T> sum[held] = {};
#pragma unroll
  for (unsigned h = 0; h < held; ++h)
    if (i + h * threads < n) sum[h] = forces(i + h * threads);
#pragma unroll
  for (unsigned h = 0; h < held; ++h) body[h] = body_or_none(bodies, i + h * threads);
  for (unsigned first = 0; first < m; first += threads) {
    tile[threadIdx.x] = body_or_none(sources, first + threadIdx.x);
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
    if (i + h * threads < n) forces(i + h * threads) = sum[h];
}
// [evaluate]

// [GPU]
/// A GPU with its buffers, the index of the next set of buffers, and the number of its launches.
template <typename T>
struct Gpu : Room<T> {
  Gpu(int number, std::size_t size, staircase::Timeline& timeline)
      : Room<T>(size, timeline, ", GPU " + std::to_string(number)), device(number) {}
  int device;
  std::size_t buffer = 0, e = 0;
};
// [GPU]

// [flow]
/// Computes the force on every body; bodies and forces are in host memory.
template <typename T>
void evaluate(const Slices& slices, View<Body<T>, 1> host, T softening2, View<Force<T>, 1> forces,
              std::deque<Gpu<T>>& gpus) {
  staircase::distribute(slices.count(), gpus, [&](Gpu<T>& gpu, std::size_t t) {
    auto& [buffers, in, kernels, out, sent, used, fetched, times] = static_cast<Room<T>&>(gpu);
    std::size_t &buffer = gpu.buffer, &e = gpu.e;
    const Slice own = slices(t), here{0, own.size};
    const View<Body<T>, 1> bodies = part(buffers[buffer].bodies, here);
    const View<Force<T>, 1> sums = part(buffers[buffer].forces, here);
    times.of("copy in", in, [&] { copy(part(host, own), bodies, in); });
    buffers[buffer].forces.clear(kernels);
    for (std::size_t s = 0; s < slices.count(); ++s, ++e) {
      const View<Body<T>, 1> sources = part(buffers[e % 2].sources, {0, slices(s).size});
      in.wait(used[e % 2]);
      times.of("copy in", in, [&] { copy(part(host, slices(s)), sources, in); });
      sent[e % 2].record(in);
      kernels.wait(sent[e % 2]);
      times.of("kernels", kernels, [&] {
        evaluate<T><<<staircase::ceil_div(own.size, of_block), threads, 0, kernels>>>(
            bodies, sources, softening2, sums);
        check_launch();
      });
      used[e % 2].record(kernels);
    }
    out.wait(used[(e - 1) % 2]);
    times.of("copy out", out, [&] { copy(sums, part(forces, own), out); });
    fetched[buffer].record(out);
    buffer = 1 - buffer;
    fetched[buffer].wait();
  });
}
// [flow]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  Elements<Body<T>> now = bodies_of<T>(problem), ahead(now.size());
  Elements<Force<T>> at_begin(now.size()), at_end(now.size());
  const View<Body<T>, 1> bodies = all(now), predicted = all(ahead);
  View<Force<T>, 1> forces = all(at_begin), next = all(at_end);
  const Pinned pinned[] = {Pinned(bodies), Pinned(predicted), Pinned(forces), Pinned(next)};
  const std::vector<int> devices = staircase::devices(problem.gpus);
  const OnDevice fullest(staircase::fullest(devices));  // its budget applies to all GPUs
  const Slices slices = slices_of(problem, Room<T>::bytes_of_body, devices.size());
  std::deque<Gpu<T>> gpus = staircase::make_gpus<Gpu<T>>(devices, slices.size, timeline);
  timeline.begin("kernels");
  const T dt = problem.dt, softening2 = softening_squared<T>(problem);
  evaluate(slices, bodies, softening2, forces, gpus);
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    predict<T>(bodies, forces, dt, predicted);
    evaluate(slices, predicted, softening2, next, gpus);
    correct<T>(forces, next, dt, bodies);
    std::swap(forces, next);
  }
  timeline.begin("copy out");
  Solution<T> solution = solution_of<T>(now);
  timeline.end();
  staircase::add_to_timeline(gpus);
  return solution;
}
// [solve]

}  // namespace nbody

int main(int argc, char** argv) {
  return nbody::run_stage(argc, argv,
                          {
                              .title = "Multi-GPU",
                              .idea = "Let GPUs claim slices from one queue",
                              .solve_f64 = nbody::solve<double>,
                              .solve_f32 = nbody::solve<float>,
                          });
}
