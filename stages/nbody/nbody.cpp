/// \file
/// The workload nbody: Plummer sphere, data sets, test cases, operation counts and tolerance.

#include "nbody.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <harness/device.hpp>
#include <harness/number.hpp>
#include <harness/random.hpp>
#include <harness/workload.hpp>
#include <numbers>
#include <numeric>
#include <span>
#include <staircase/error.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace nbody {
namespace {

double count(const Problem& problem) { return static_cast<double>(problem.bodies); }

// [plummer]
/// A sequence of random numbers between 0 and 1 for one body.
class Draws {
 public:
  Draws(const Problem& problem, std::size_t body)
      : seed_(static_cast<std::uint64_t>(problem.seed)), next_(std::uint64_t{body} << 10) {}
  double operator()() { return (staircase::random_number(seed_, next_++) + 1) / 2; }

 private:
  std::uint64_t seed_, next_;
};

/// Returns a vector of a given length and a random direction.
Vector<double> any_direction(double length, Draws& draw) {
  const double z = length * (2 * draw() - 1), angle = 2 * std::numbers::pi * draw();
  const double around = std::sqrt(length * length - z * z);
  return {around * std::cos(angle), around * std::sin(angle), z};
}

/// A random body of a Plummer sphere (Aarseth, Hénon and Wielen, "A Comparison of Numerical Methods
/// for the Study of Star Cluster Dynamics", Astron. Astrophys. 37, 1974). The result is in standard
/// N-body units: the total mass and the gravitational constant are 1, and the energy is -1/4. The
/// outermost thousandth of the mass is left out.
Body<double> body_of_sphere(const Problem& problem, std::size_t body) {
  constexpr double scale = 3 * std::numbers::pi / 16;  // unit of length
  Draws draw(problem, body);
  const double within = 0.999 * std::max(draw(), 1e-10);  // fraction of the mass inside r
  const double r = 1 / std::sqrt(std::pow(within, -2.0 / 3) - 1);
  double q = 0, height = 0;  // q: velocity / escape velocity, with density q² (1 - q²)^(7/2)
  do {
    q = draw();
    height = 0.1 * draw();
  } while (height > q * q * std::pow(1 - q * q, 3.5));
  const double escape = std::sqrt(2 / std::sqrt(1 + r * r));
  const Vector<double> x = any_direction(scale * r, draw);
  return {.x = x,
          .mass = 1 / count(problem),
          .v = any_direction(q * escape / std::sqrt(scale), draw),
          .unused = 0};
}

/// Generates the bodies and shifts them so that their centre of mass rests at the origin. Does
/// nothing if the user supplied bodies.
void prepare(Problem& problem, staircase::Precision) {
  if (!problem.initial.empty()) return;
  const auto n = static_cast<std::size_t>(problem.bodies);
  problem.initial.resize(7 * n);
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i) {
    const auto [x, mass, v, unused] = body_of_sphere(problem, i);
    std::ranges::copy(std::array{mass, x.x, x.y, x.z, v.x, v.y, v.z}, &problem.initial[7 * i]);
  }
  for (std::size_t k = 1; k < 7; ++k) {
    double mean = 0;
    for (std::size_t i = 0; i < n; ++i) mean += problem.initial[7 * i + k] / count(problem);
    for (std::size_t i = 0; i < n; ++i) problem.initial[7 * i + k] -= mean;
  }
}
// [plummer]

void set_bodies(Problem& problem, std::vector<staircase::NpyArray> inputs) {
  problem.bodies = static_cast<std::int64_t>(inputs[0].shape[0]);
  problem.initial = std::move(inputs[0]).as_double();
  for (std::size_t i = 0; i < problem.initial.size(); i += 7)
    if (problem.initial[i] < 0)
      throw staircase::BadInput("the mass of body " + std::to_string(i / 7) + " of the input is " +
                                staircase::to_text(problem.initial[i]) +
                                "; a mass must be at least 0");
}

// [closest]
/// A pair of bodies and the square of their distance.
struct Pair {
  std::size_t a = 0, b = 0;
  double distance2 = INFINITY;
};

/// Returns the closest pair of initial bodies. Sorts the bodies along x, and examines only pairs
/// whose distance along x is below the smallest distance found so far.
Pair closest(const Problem& problem) {
  const auto given = problem.bodies_at_first();
  std::vector<std::size_t> order(given.extent(0));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return given(i, 1); });
  Pair best;
  for (std::size_t p = 0; p < order.size(); ++p)
    for (std::size_t q = p + 1; q < order.size(); ++q) {
      const std::size_t a = order[p], b = order[q];
      const double along_x = given(b, 1) - given(a, 1);
      if (along_x * along_x >= best.distance2) break;
      const double distance2 = along_x * along_x + std::pow(given(b, 2) - given(a, 2), 2) +
                               std::pow(given(b, 3) - given(a, 3), 2);
      if (distance2 < best.distance2) best = {std::min(a, b), std::max(a, b), distance2};
    }
  return best;
}
// [closest]

/// Rejects bodies at the same position without softening: their attraction would be infinite.
void check(const Problem& problem, staircase::Precision) {
  if (problem.softening > 0 || problem.initial.empty()) return;
  if (const auto [a, b, distance2] = closest(problem); distance2 == 0)
    throw staircase::BadInput("bodies " + std::to_string(a) + " and " + std::to_string(b) +
                              " of the input have the same position; with softening=0 all "
                              "positions must differ");
}

/// Rejects solutions that contain NaN or infinity: some bodies came too close to each other.
void check_finite(const Problem& problem, const staircase::NpyArray& solution) {
  std::visit(
      [&](const auto& values) {
        const auto bad = std::ranges::find_if(
            values, [](auto value) { return !std::isfinite(static_cast<double>(value)); });
        if (bad != values.end())
          throw staircase::BadInput(
              "body " + std::to_string((bad - values.begin()) / 6) +
              " has no finite position or velocity after the last step, because values "
              "overflowed; with softening=" +
              staircase::to_text(problem.softening) + " and dt=" + staircase::to_text(problem.dt) +
              " bodies came too close; reduce the masses or increase the softening");
      },
      solution.values);
}

/// Counts the operations of a pair, each root and division as one: 20 for the acceleration and 22
/// for the jerk. There is one evaluation at the start and one in each step.
staircase::Work work(const Problem& problem, staircase::Precision precision) {
  const double evaluations = static_cast<double>(problem.steps) + 1;
  return {.flops = 42 * count(problem) * count(problem) * evaluations,
          .bytes = staircase::bytes_of(precision) * (7 + 6) * count(problem)};
}

// [boxes]
/// A group of bodies near each other: their number, total mass and greatest speed, and their
/// bounding box.
struct Box {
  std::size_t bodies;
  double mass, speed;
  std::array<double, 3> low, high;
};

Box box_of(const Problem& problem, std::span<const std::size_t> bodies) {
  Box box{bodies.size(), 0, 0, {}, {}};
  box.low.fill(INFINITY), box.high.fill(-INFINITY);
  for (const std::size_t i : bodies) {
    const auto body = problem.bodies_at_first().row(i);
    box.mass += body(0);
    box.speed = std::max(box.speed, std::hypot(body(4), body(5), body(6)));
    for (std::size_t d = 0; d < 3; ++d) {
      box.low[d] = std::min(box.low[d], body(1 + d));
      box.high[d] = std::max(box.high[d], body(1 + d));
    }
  }
  return box;
}

/// Splits bodies in half along the longest side of their box, recursively until a box has at most a
/// 1024th of all bodies, and appends the boxes.
void add_boxes(const Problem& problem, std::span<std::size_t> bodies, std::vector<Box>& boxes) {
  constexpr std::size_t most = 1024;
  const Box box = box_of(problem, bodies);
  const auto given = problem.bodies_at_first();
  if (bodies.size() == 1 || bodies.size() * most <= given.extent(0)) {
    boxes.push_back(box);
    return;
  }
  std::size_t longest = 0;
  for (std::size_t d = 1; d < 3; ++d)
    if (box.high[d] - box.low[d] > box.high[longest] - box.low[longest]) longest = d;
  const auto half = bodies.size() / 2;
  std::ranges::nth_element(bodies, bodies.begin() + static_cast<std::ptrdiff_t>(half), {},
                           [&](std::size_t i) { return given(i, 1 + longest); });
  add_boxes(problem, bodies.first(half), boxes);
  add_boxes(problem, bodies.subspan(half), boxes);
}

std::vector<Box> boxes_of(const Problem& problem) {
  std::vector<std::size_t> bodies(static_cast<std::size_t>(problem.bodies));
  std::iota(bodies.begin(), bodies.end(), std::size_t{0});
  std::vector<Box> boxes;
  add_boxes(problem, bodies, boxes);
  return boxes;
}

double distance(const Box& a, const Box& b) {
  double sum = 0;
  for (std::size_t d = 0; d < 3; ++d)
    sum += std::pow(std::max({0.0, a.low[d] - b.high[d], b.low[d] - a.high[d]}), 2);
  return std::sqrt(sum);
}
// [boxes]

/// The distances between all pairs of boxes.
std::vector<double> distances_of(const std::vector<Box>& boxes) {
  const std::size_t count = boxes.size();
  std::vector<double> distances(count * count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < i; ++j)
      distances[i * count + j] = distances[j * count + i] = distance(boxes[i], boxes[j]);
  return distances;
}

// [bounds]
/// Upper bounds, valid for every body, of sums over its source bodies. Here, m is a mass, s is the
/// squared distance plus the squared softening, and w is a relative speed.
struct Sums {
  double a = 0;       ///< Σ m / s
  double a_by_x = 0;  ///< Σ m / s^(3/2)
  double j = 0;       ///< Σ m w / s^(3/2)
  double j_by_x = 0;  ///< Σ m w / s²
};

/// Returns bounds of the sums while bodies move for `time`, accelerated by at most `acceleration`.
Sums sums_of(const std::vector<Box>& boxes, const std::vector<double>& distances, double eps2,
             double time, double acceleration) {
  const std::size_t count = boxes.size();
  Sums most;
  for (std::size_t i = 0; i < count; ++i) {
    double a = 0, a_by_x = 0, j = 0, j_by_x = 0;
    for (std::size_t k = 0; k < count; ++k) {
      if (i == k && boxes[i].bodies == 1) continue;
      const double mass = boxes[k].mass;
      const double w = boxes[i].speed + boxes[k].speed + 2 * acceleration * time;
      const double d = std::max(0.0, distances[i * count + k] - w * time);
      const double root = 1 / std::sqrt(d * d + eps2), inverse = root * root;
      a += mass * inverse;
      a_by_x += mass * inverse * root;
      j += mass * inverse * root * w;
      j_by_x += mass * inverse * inverse * w;
    }
    most = {std::max(most.a, a), std::max(most.a_by_x, a_by_x), std::max(most.j, j),
            std::max(most.j_by_x, j_by_x)};
  }
  return most;
}

/// Bounds of the force on a body, and of its change if bodies are displaced. With K(x) = x
/// s^(-3/2), |K| is at most 1 / s, its derivative at most 2 / s^(3/2) and its second derivative at
/// most 6 / s². If all bodies are displaced by at most d, the difference of two positions changes
/// by at most 2 d.
struct Bounds {
  double x, v;    ///< coordinates and velocities
  double a, j;    ///< sums of magnitudes of all terms
  double a_by_x;  ///< change of a per displacement, and of j per change of velocity
  double j_by_x;  ///< change of j per displacement
};

Bounds bounds_of(const Problem& problem) {
  double mass = 0, x = 0, v = 0;
  for (std::size_t i = 0; i < problem.initial.size(); i += 7) {
    mass += problem.initial[i];
    for (std::size_t d = 1; d < 4; ++d) {
      x = std::max(x, std::abs(problem.initial[i + d]));
      v = std::max(v, std::abs(problem.initial[i + 3 + d]));
    }
  }
  const double eps2 = problem.softening > 0 ? problem.softening * problem.softening
                                            : std::max(closest(problem).distance2, 1e-100);
  const double time = problem.dt * static_cast<double>(problem.steps);
  const auto boxes = boxes_of(problem);
  const auto distances = distances_of(boxes);
  // The first bound assumes the whole mass at the worst position; each pass then tightens it.
  Sums sums{.a = mass / eps2};
  for (int pass = 0; pass < 4; ++pass) sums = sums_of(boxes, distances, eps2, time, sums.a);
  const double fastest = v + sums.a * time;
  return {.x = x + fastest * time,
          .v = fastest,
          .a = sums.a,
          .j = 4 * sums.j,
          .a_by_x = 4 * sums.a_by_x,
          .j_by_x = 12 * sums.j_by_x};
}
// [bounds]

// [tolerance]
/// Executes the recursion of a step, with error bounds in place of values and all signs positive.
/// The first errors are rounding errors. A sum of n terms has n roundings. Rounding errors of
/// random sign add up to more than 8 √n roundings in one of 10^13 sums (Higham and Mary, "A New
/// Approach to Probabilistic Rounding Error Analysis", SIAM J. Sci. Comput. 41, 2019, with λ = 8).
/// A term has an error of at most 64 roundings. README.md explains the derivation. The factor 2
/// allows for this error in both solutions that are compared.
staircase::Tolerance tolerance(const Problem& problem, staircase::Precision precision) {
  if (problem.initial.empty()) {
    Problem prepared = problem;
    prepare(prepared, precision);
    return tolerance(prepared, precision);
  }
  const double u = precision == staircase::Precision::f64 ? 0x1p-53 : 0x1p-24;
  const double n = count(problem), dt = problem.dt;
  const double sum = u * (64 + std::min(n, 8 * std::sqrt(n)));
  const Bounds b = bounds_of(problem);
  const auto a_off = [&](double x) { return b.a_by_x * x + sum * b.a; };
  const auto j_off = [&](double x, double v) { return b.a_by_x * v + b.j_by_x * x + sum * b.j; };
  constexpr double hopeless = 1e6;
  double x = u * b.x, v = u * b.v, a = a_off(x), j = j_off(x, v);
  for (std::int64_t step = 0; step < problem.steps && x + v < hopeless; ++step) {
    const double px = x + dt * (v + dt / 2 * (a + dt / 3 * j)) + 4 * u * b.x;
    const double pv = v + dt * (a + dt / 2 * j) + 4 * u * b.v;
    const double na = a_off(px), nj = j_off(px, pv);
    x += dt * v + dt * dt * (7 * a + 3 * na) / 20 + dt * dt * dt * (3 * j + 2 * nj) / 60 +
         8 * u * b.x;
    v += dt * (a + na) / 2 + dt * dt * (j + nj) / 12 + 8 * u * b.v;
    a = na, j = nj;
  }
  return {.relative = 2 * std::min(std::max(x, v), hopeless),
          .floor = 1,
          .scale = staircase::Scale::given};
}
// [tolerance]

// [traffic]
/// The least number of values that must move between memory and chip. An evaluation reads bodies
/// and writes forces. A prediction reads bodies and forces and writes bodies. A correction reads
/// bodies and the forces at both ends of the step, and writes bodies.
double traffic(const Problem& problem) {
  const double evaluation = 8 + 6, prediction = 8 + 6 + 8, correction = 8 + 6 + 6 + 8;
  const auto steps = static_cast<double>(problem.steps);
  return count(problem) * (evaluation + steps * (prediction + evaluation + correction));
}
// [traffic]

constexpr double close = 1.0 / 64, soft = 1.0 / 8;  // dt and softening of small problems

const staircase::Workload<Problem, 2> workload{
    .parameters = {{"bodies", &Problem::bodies, 1, 2147483647, "number of bodies"},
                   {"steps", &Problem::steps, 0, 1e9, "number of time steps"},
                   {"dt", &Problem::dt, 0, 1e3, "length of a time step"},
                   {"softening", &Problem::softening, 0, 1e3,
                    "length whose square is added to each squared distance"},
                   {"seed", &Problem::seed, 0, 16777215, "seed of the random values"},
                   {"budget", &Problem::budget, 0, 1e15,
                    "bytes of device memory for slices; 0: all free memory"},
                   {"gpus", &Problem::gpus, 0, 16, "number of GPUs to use; 0: all"}},
    .datasets = {{"small", {.bodies = 2048, .steps = 8}},
                 {"medium", {.bodies = 65536, .steps = 1}},
                 {"large", {.bodies = 1 << 20, .steps = 1}},
                 {"streamed", {.bodies = 1 << 20, .steps = 1, .budget = 5e7}},
                 {"tiny", {.bodies = 101, .steps = 3, .dt = close, .softening = soft}}},
    .test_cases = {{"smallest", {.bodies = 1, .steps = 3, .dt = close, .softening = soft}},
                   {"two", {.bodies = 2, .steps = 5, .dt = close, .softening = soft}},
                   {"no step", {.bodies = 50, .steps = 0, .dt = close, .softening = soft}},
                   {"three", {.bodies = 3, .steps = 2, .dt = close, .softening = soft}},
                   {"warp-1", {.bodies = 31, .steps = 4, .dt = close, .softening = soft}},
                   {"warp", {.bodies = 32, .steps = 4, .dt = close, .softening = soft}},
                   {"warp+1", {.bodies = 33, .steps = 4, .dt = close, .softening = soft}},
                   {"tile-1", {.bodies = 127, .steps = 2, .dt = close, .softening = soft}},
                   {"tile", {.bodies = 128, .steps = 2, .dt = close, .softening = soft}},
                   {"tile+1", {.bodies = 129, .steps = 2, .dt = close, .softening = soft}},
                   {"large tile-1", {.bodies = 511, .steps = 1, .dt = close, .softening = soft}},
                   {"large tile", {.bodies = 512, .steps = 1, .dt = close, .softening = soft}},
                   {"large tile+1", {.bodies = 513, .steps = 1, .dt = close, .softening = soft}},
                   {"prime", {.bodies = 1031, .steps = 1, .dt = close, .softening = soft}},
                   {"several slices", {.bodies = 2111, .steps = 1, .dt = close, .softening = soft}},
                   {"at rest in time", {.bodies = 20, .steps = 2, .dt = 0, .softening = soft}},
                   {"hard", {.bodies = 17, .steps = 1, .dt = 1e-6, .softening = 0}},
                   {"another seed",
                    {.bodies = 64, .steps = 3, .dt = close, .softening = soft, .seed = 99}},
                   {"a small budget",
                    {.bodies = 700, .steps = 2, .dt = close, .softening = soft, .budget = 60000}},
                   {"a tiny budget",
                    {.bodies = 53, .steps = 2, .dt = close, .softening = soft, .budget = 3000}}},
    .inputs = {{.rank = 2,
                .min = -1e8,
                .max = 1e8,
                .typical = 1,
                .meaning = "mass, position and velocity of each body",
                .least_elements = 7,
                .most_elements = 7,
                .first = 1}},
    .set_inputs = set_bodies,
    .check = check,
    .prepare = prepare,
    .work = work,
    .tolerance = tolerance,
    .timed_phase = "kernels",
    .check_solution = check_finite,
    .traffic = {{"04_naive_cuda", traffic},
                {"05_tiled", traffic},
                {"06_register_tiled", traffic},
                {"07_mixed_precision", traffic},
                {"08_out_of_core", traffic},
                {"09_multi_gpu", traffic},
                {"10_split_reductions", traffic},
                {"11_short_last_wave", traffic},
                {"12_replicated", traffic}}};

// [slices]
/// The number of bytes of device memory that buffers may occupy.
double budget_of(const Problem& problem) {
  if (problem.budget != 0) return problem.budget;
  return 7. / 8 * staircase::this_device().free_memory();  // memory is allocated in pages
}
// [slices]

}  // namespace

Slices slices_of(const Problem& problem, std::size_t bytes_of_body, std::size_t parts) {
  const auto bodies = static_cast<std::size_t>(problem.bodies);
  const double budget = budget_of(problem);
  const double fitting = std::floor(budget / static_cast<double>(bytes_of_body));
  if (fitting < 1)
    throw staircase::NotEnoughMemory(
        fmt::format("{} {:.0f} bytes; a slice of one body takes {} bytes of buffers",
                    problem.budget != 0 ? "the budget is" : "the free device memory is", budget,
                    bytes_of_body));
  const auto needed = static_cast<std::size_t>(std::ceil(count(problem) / fitting));
  const std::size_t slices = (needed + parts - 1) / parts * parts;
  return {bodies, (bodies + slices - 1) / slices};
}

int run_stage(int argc, char** argv, const Stage& stage, const char* source) {
  return staircase::run_stage(argc, argv, workload, stage, source);
}

}  // namespace nbody
