/// \file
/// The kernels of the persistent stage of Durbin-Levinson, in shapes that small orders fill: the
/// stage itself takes a cluster of several blocks only for orders that take the CPU device long.

#define main main_of_stage
#include "../../stages/durbin_levinson/08_persistent/persistent.cu"
#undef main

#include <cmath>

#include "device.hpp"

using durbin_levinson::Shape;
using staircase::View;
using tap::Device;
using tap::expect;
using tap::random_value;

namespace {

/// Random autocorrelations r_0 ... r_n of a process with so much white noise that T is well
/// conditioned.
std::vector<double> random_autocorrelations(unsigned n) {
  const double frequency = 0.1 * random_value(1, 30), decay = 0.01 * random_value(1, 20);
  std::vector<double> r{1};
  for (unsigned k = 1; k <= n; ++k)
    r.push_back(0.7 * std::exp(-decay * k) * std::cos(frequency * k));
  return r;
}

/// y and the reflection coefficients by Durbin's recursion.
std::vector<double> solve_on_host(const std::vector<double>& r) {
  const std::size_t n = r.size() - 1;
  std::vector<long double> y, alphas;
  long double alpha = 0, beta = 1;
  for (std::size_t k = 0; k < n; ++k) {
    beta *= 1 - alpha * alpha;
    long double sum = r[k + 1];
    for (std::size_t i = 0; i < k; ++i) sum += r[k - i] * y[i];
    alpha = -sum / beta;
    const std::vector<long double> old = y;
    for (std::size_t i = 0; i < k; ++i) y[i] += alpha * old[k - 1 - i];
    y.push_back(alpha);
    alphas.push_back(alpha);
  }
  std::vector<double> solution(y.begin(), y.end());
  solution.insert(solution.end(), alphas.begin(), alphas.end());
  return solution;
}

void expect_solution(const std::vector<double>& r, const Device<double>& solution) {
  const std::vector<double> expected = solve_on_host(r), actual = solution.to_host();
  for (std::size_t i = 0; i < expected.size(); ++i)
    expect(std::abs(actual[i] - expected[i]) < 1e-13,
           "number " + std::to_string(i) + " of order " + std::to_string(r.size() - 1));
}

template <typename Shape>
void expect_solves_on_chip() {
  constexpr unsigned most = Shape::blocks * Shape::numbers;
  for (const unsigned n : {1u, random_value(2u, most), most}) {
    const std::vector<double> r = random_autocorrelations(n);
    const Device<double> device_r(r), solution(2 * n);
    durbin_levinson::on_chip<double, Shape>()(1, View<const double, 1>(device_r.get() + 1, {n}),
                                              View<double, 2>(solution.get(), {2, n}));
    expect_solution(r, solution);
  }
}

}  // namespace

TEST(one_block_solves_on_chip) {
  expect_solves_on_chip<Shape<1, 32, 2>>();
  expect_solves_on_chip<Shape<1, 64, 4>>();
  expect_solves_on_chip<Shape<1, 128, 2>>();
}

TEST(a_cluster_solves_on_chip) {
  expect_solves_on_chip<Shape<2, 32, 2>>();
  expect_solves_on_chip<Shape<4, 64, 2>>();
  expect_solves_on_chip<Shape<8, 32, 2>>();
  expect_solves_on_chip<Shape<16, 32, 2>>();
}

void expect_solves_in_memory(unsigned blocks, unsigned n) {
  const std::vector<double> r = random_autocorrelations(n);
  const Device<double> device_r(r), device_solution(2 * n), device_parts(2 * blocks);
  View<const double, 1> from(device_r.get(), {n + 1});
  View<double, 2> parts(device_parts.get(), {2, blocks});
  View<double, 2> solution(device_solution.get(), {2, n});
  void* arguments[] = {&from, &parts, &solution};
  tap::check(cudaLaunchCooperativeKernel(durbin_levinson::solve_in_memory<double>, blocks,
                                         durbin_levinson::threads_in_memory, arguments, 0,
                                         nullptr));
  expect_solution(r, device_solution);
}

TEST(a_grid_solves_in_memory) {
  expect_solves_in_memory(1, 1);
  expect_solves_in_memory(1, 2 * durbin_levinson::threads_in_memory + 5);
  expect_solves_in_memory(3, random_value(2u, 200u));
}

int main(int argc, char** argv) { return tap::run_on_device(argc, argv); }
