/// \file
/// Changed: bodies and forces are stored in f64; for the pairs, a position is the sum of two f32
///          values, and the f32 sum over a tile is added to a sum in f64.
/// Legal:   the arithmetic is not the same but more accurate: differences of positions lose no
///          digits to the distance from the origin, and no f32 sum has more than 128 terms.
/// Expect:  a pair takes 33 instructions instead of 27. The f32 error of each term remains; the f32
///          errors of positions, of long sums and of many steps disappear.
/// Run:     ./climb nbody --stages 06,07 --precision f32
/// Next:    08_out_of_core streams bodies through a GPU whose memory is too small for them.

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

// [split]
/// A body for the pairs in f32: its position is the sum high + low of two f32 vectors.
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
/// The acceleration and the jerk of `body` that the source body `other` causes.
template <typename T>
__device__ Force<T> pull(const Split& body, const Split& other, T softening2) {
  const Vector<T> x = (other.high - body.high) + (other.low - body.low), v = other.v - body.v;
  const T inverse = inverse_root(dot(x, x, softening2));
  const T inverse2 = inverse * inverse, weight = other.mass * inverse * inverse2;
  const T jerk_factor = -3 * dot(x, v) * inverse2;
  return {weight * x, weight * (v + jerk_factor * x)};
}
// [pull]

// [load]
/// Returns body i, or zero-mass padding if i is beyond the last body.
__device__ Split body_or_none(View<const Split, 1> bodies, unsigned i) {
  return i < bodies.extent(0) ? bodies(i) : Split{};
}
// [load]

// [evaluate]
/// Computes the force on every body as a sum over all source bodies.
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
/// Predicts positions and velocities at the end of a step, as if the jerk were constant.
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
/// Corrects positions and velocities from the forces at both ends of the step.
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
  const unsigned blocks = staircase::ceil_div(problem.bodies, threads);
  const unsigned blocks_of_pairs = staircase::ceil_div(problem.bodies, of_block);
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
                              .title = "Mixed precision",
                              .idea = "Compute pairs in f32, sum up in f64",
                              .solve_f32 = nbody::solve<float>,
                          });
}
