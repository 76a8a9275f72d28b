/// \file
/// Changed: bodies and forces are kept in f64; pairs see positions as sums of two numbers of f32,
///          and the sum over a tile, in f32, is added to a sum in f64.
/// Legal:   it is not the same arithmetic, but a more exact one: differences of positions lose no
///          digits to where the origin is, and sums have 128 terms where they had all.
/// Expect:  33 instructions for a pair in place of 27. Of the errors of f32, those of a term
///          remain, but not those of positions, of long sums and of many steps.
/// Run:     ./climb nbody --stages 06,07 --precision f32
/// Next:    08_four_buffers lets bodies flow through a GPU that is too small for them.

#include "../nbody.hpp"

#include <staircase/inverse_root.hpp>
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

// [split]
/// A body as others see it in f32: its position is the sum of two numbers.
struct alignas(16) Split {
  Vector<float> high;
  float mass;
  Vector<float> low;
  float unused;
  Vector<float> v;
  float unused_either;
};

__device__ Split split(const Body<double>& body) {
  const auto high = rounded<float>(body.x);
  const auto low = rounded<float>(body.x - rounded<double>(high));
  return {high, static_cast<float>(body.mass), low, 0, rounded<float>(body.v), 0};
}
// [split]

// [pull]
/// What a body feels of another one.
template <typename T>
__device__ Force<T> pull(const Split& body, const Split& other, T softening2) {
  const Vector<T> x = (other.high - body.high) + (other.low - body.low), v = other.v - body.v;
  const T inverse = inverse_root(dot(x, x, softening2));
  const T inverse2 = inverse * inverse, weight = other.mass * inverse * inverse2;
  const T turn = -3 * dot(x, v) * inverse2;
  return {weight * x, weight * (v + turn * x)};
}
// [pull]

// [load]
/// A body, or behind the last one a body without mass.
__device__ Split body_or_none(View<const Split, 1> bodies, unsigned i) {
  return i < bodies.extent(0) ? bodies(i) : Split{};
}
// [load]

// [evaluate]
/// The forces on all bodies of all bodies.
template <typename T>
__global__ void __launch_bounds__(threads)
    evaluate(View<const Split, 1> bodies, T softening2, View<Force<double>, 1> forces) {
  __shared__ Split tile[threads];
  const unsigned i = blockIdx.x * of_block + threadIdx.x, n = bodies.extent(0);
  Split body[held];
  Force<double> sum[held] = {};
#pragma unroll
  for (unsigned h = 0; h < held; ++h) body[h] = body_or_none(bodies, i + h * threads);
  for (unsigned first = 0; first < n; first += threads) {
    tile[threadIdx.x] = body_or_none(bodies, first + threadIdx.x);
    __syncthreads();
    Force<T> part[held] = {};
#pragma unroll 4
    for (unsigned j = 0; j < threads; ++j) {
      const Split other = tile[j];
#pragma unroll
      for (unsigned h = 0; h < held; ++h) {
        const auto [a, jerk] = pull(body[h], other, softening2);
        part[h] = {part[h].a + a, part[h].j + jerk};
      }
    }
#pragma unroll
    for (unsigned h = 0; h < held; ++h)
      sum[h] = {sum[h].a + rounded<double>(part[h].a), sum[h].j + rounded<double>(part[h].j)};
    __syncthreads();
  }
#pragma unroll
  for (unsigned h = 0; h < held; ++h)
    if (i + h * threads < n) forces(i + h * threads) = sum[h];
}
// [evaluate]

// [predict]
/// Where bodies will be, and how fast, if the jerk stays.
template <typename T>
__global__ void predict(View<const Body<T>, 1> bodies, View<const Force<T>, 1> forces, T dt,
                        View<Split, 1> predicted) {
  const unsigned i = column();
  if (i < bodies.extent(0)) {
    const auto& [x, mass, v, unused] = bodies(i);
    const auto& [a, j] = forces(i);
    predicted(i) =
        split({x + dt * (v + dt / 2 * (a + dt / 3 * j)), mass, v + dt * (a + dt / 2 * j), 0});
  }
}
// [predict]

// [correct]
/// Moves bodies on, by the forces at the beginning and those at the predicted end of the step.
template <typename T>
__global__ void correct(View<const Force<T>, 1> forces, View<const Force<T>, 1> next, T dt,
                        View<Body<T>, 1> bodies) {
  const unsigned i = column();
  if (i < bodies.extent(0)) {
    auto& [x, mass, v, unused] = bodies(i);
    const auto& [a, j] = forces(i);
    const auto& [a1, j1] = next(i);
    x = x + dt * (v + dt / 20 * (T{7} * a + T{3} * a1 + dt / 3 * (T{3} * j - T{2} * j1)));
    v = v + dt / 2 * (a + a1 + dt / 6 * (j - j1));
  }
}
// [correct]

// [solve]
template <typename T>
Solution<T> solve(const Problem& problem, staircase::Timeline& timeline) {
  timeline.begin("allocate");
  DeviceArray<Body<double>, 1> bodies(problem.bodies);
  DeviceArray<Split, 1> predicted(problem.bodies);
  DeviceArray<Force<double>, 1> at_begin(problem.bodies), at_end(problem.bodies);
  timeline.begin("copy in");
  Elements<Body<double>> host = bodies_of<double>(problem);
  bodies.copy_from(host.data());
  timeline.begin("kernels");
  const double dt = problem.dt;
  const T softening2 = softening_squared<T>(problem);
  const unsigned blocks = staircase::pieces(problem.bodies, threads);
  const unsigned blocks_of_pairs = staircase::pieces(problem.bodies, of_block);
  View<Force<double>, 1> forces = at_begin, next = at_end;
  at_begin.clear(nullptr);
  predict<double><<<blocks, threads>>>(bodies, forces, 0, predicted);
  check_launch();
  evaluate<T><<<blocks_of_pairs, threads>>>(predicted, softening2, forces);
  check_launch();
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    predict<double><<<blocks, threads>>>(bodies, forces, dt, predicted);
    check_launch();
    evaluate<T><<<blocks_of_pairs, threads>>>(predicted, softening2, next);
    check_launch();
    correct<double><<<blocks, threads>>>(forces, next, dt, bodies);
    check_launch();
    std::swap(forces, next);
  }
  check(cudaDeviceSynchronize());
  timeline.begin("copy out");
  bodies.copy_to(host.data());
  return solution_of<T>(host);
}
// [solve]

}  // namespace nbody

int main(int argc, char** argv) {
  return nbody::run_stage(argc, argv,
                          {
                              .title = "Mixed",
                              .idea = "f32 pairs; positions and long sums in f64",
                              .solve_f32 = nbody::solve<float>,
                          });
}
