/// \file
/// Systems and solutions for the tests of the Durbin-Levinson kernels.

#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "device.hpp"

namespace tap {

/// Random autocorrelations r_0 ... r_n of a process. The process contains enough white noise to
/// make the Toeplitz matrix T well conditioned.
inline std::vector<double> random_autocorrelations(unsigned n) {
  const double frequency = 0.1 * random_value(1, 30), decay = 0.01 * random_value(1, 20);
  std::vector<double> r{1};
  for (unsigned k = 1; k <= n; ++k)
    r.push_back(0.7 * std::exp(-decay * k) * std::cos(frequency * k));
  return r;
}

/// The solution y, followed by the reflection coefficients, from Durbin's recursion.
inline std::vector<double> solve_on_host(const std::vector<double>& r) {
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

inline void expect_solution(const std::vector<double>& r, const Device<double>& solution) {
  const std::vector<double> expected = solve_on_host(r), actual = solution.to_host();
  for (std::size_t i = 0; i < expected.size(); ++i)
    expect(std::abs(actual[i] - expected[i]) < 1e-13,
           "number " + std::to_string(i) + " of order " + std::to_string(r.size() - 1));
}

/// Solves random systems of three orders: 1, the largest order that a shape supports, and one in
/// between.
/// \param solve solves on the device: takes the autocorrelations and the order, and writes to its
/// last argument
template <typename Shape, typename Solve>
void expect_shape_solves(Solve solve) {
  constexpr unsigned most = Shape::blocks * Shape::numbers;
  for (const unsigned n : {1u, random_value(2u, most), most}) {
    const std::vector<double> r = random_autocorrelations(n);
    const Device<double> device_r(r), solution(2 * n);
    solve(device_r.get(), n, solution.get());
    expect_solution(r, solution);
  }
}

}  // namespace tap
