/// \file
/// Changed: slices of bodies are dealt to any number of GPUs from one queue; each has buffers,
///          streams and events of its own, and a thread of the host that gives it its work.
/// Legal:   slices write forces of different bodies, and read what none of them writes; all wait
///          for each other behind an evaluation.
/// Expect:  the time of 08 divided by the number of GPUs, and the host's part of a step beside it.
/// Run:     ./climb nbody --stages 08,09
/// Next:    10_split_sums takes 06 up again, for clusters that are too small for one GPU.

#include "../on_host.hpp"

#include <deque>
#include <staircase/deal.hpp>
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
constexpr unsigned threads = 128;              // of a block
constexpr unsigned held = 4;                   // bodies of a thread
constexpr unsigned of_block = threads * held;  // bodies
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
/// Adds what some bodies feel of others to the forces on them.
template <typename T>
__global__ void __launch_bounds__(threads)
    evaluate(View<const Body<T>, 1> bodies, View<const Body<T>, 1> others, T softening2,
             View<Force<T>, 1> forces) {
  __shared__ Body<T> tile[threads];
  const unsigned i = blockIdx.x * of_block + threadIdx.x, n = bodies.extent(0);
  const unsigned m = others.extent(0);
  Body<T> body[held];
  Force<T> sum[held] = {};
#pragma unroll
  for (unsigned h = 0; h < held; ++h)
    if (i + h * threads < n) sum[h] = forces(i + h * threads);
#pragma unroll
  for (unsigned h = 0; h < held; ++h) body[h] = body_or_none(bodies, i + h * threads);
  for (unsigned first = 0; first < m; first += threads) {
    tile[threadIdx.x] = body_or_none(others, first + threadIdx.x);
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
/// A GPU with room for slices, whose buffers' turn it is, and how many slices of others came.
template <typename T>
struct Gpu : Room<T> {
  Gpu(int number, std::size_t size, staircase::Timeline& timeline)
      : Room<T>(size, timeline, ", GPU " + std::to_string(number)), device(number) {}
  int device;
  std::size_t turn = 0, e = 0;
};
// [GPU]

// [flow]
/// The forces on all bodies of all bodies, which lie in the host's memory.
template <typename T>
void evaluate(const Slices& slices, View<Body<T>, 1> host, T softening2, View<Force<T>, 1> forces,
              std::deque<Gpu<T>>& gpus) {
  staircase::deal(slices.count(), gpus, [&](Gpu<T>& gpu, std::size_t t) {
    auto& [buffers, in, kernels, out, sent, used, fetched, times] = static_cast<Room<T>&>(gpu);
    std::size_t &turn = gpu.turn, &e = gpu.e;
    const Slice own = slices(t), here{0, own.size};
    const View<Body<T>, 1> bodies = part(buffers[turn].bodies, here);
    const View<Force<T>, 1> sums = part(buffers[turn].forces, here);
    times.of("copy in", in, [&] { copy(part(host, own), bodies, in); });
    buffers[turn].forces.clear(kernels);
    for (std::size_t s = 0; s < slices.count(); ++s, ++e) {
      const View<Body<T>, 1> others = part(buffers[e % 2].others, {0, slices(s).size});
      in.wait(used[e % 2]);
      times.of("copy in", in, [&] { copy(part(host, slices(s)), others, in); });
      sent[e % 2].record(in);
      kernels.wait(sent[e % 2]);
      times.of("kernels", kernels, [&] {
        evaluate<T><<<staircase::pieces(own.size, of_block), threads, 0, kernels>>>(
            bodies, others, softening2, sums);
        check_launch();
      });
      used[e % 2].record(kernels);
    }
    out.wait(used[(e - 1) % 2]);
    times.of("copy out", out, [&] { copy(sums, part(forces, own), out); });
    fetched[turn].record(out);
    turn = 1 - turn;
    fetched[turn].wait();
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
  const OnDevice fullest(staircase::fullest(devices));  // whose budget is all GPUs'
  const Slices slices = slices_of(problem, Room<T>::bytes_of_body, devices.size());
  std::deque<Gpu<T>> gpus = staircase::each_of<Gpu<T>>(devices, slices.size, timeline);
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
  staircase::hand_over(gpus);
  return solution;
}
// [solve]

}  // namespace nbody

int main(int argc, char** argv) {
  return nbody::run_stage(argc, argv,
                          {
                              .title = "Several GPUs",
                              .idea = "Slices are dealt to GPUs from one queue",
                              .solve_f64 = nbody::solve<double>,
                              .solve_f32 = nbody::solve<float>,
                          });
}
