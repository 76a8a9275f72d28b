#include "ceilings.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <algorithm>
#include <chrono>
#include <staircase/machine.hpp>

#include "cache.hpp"
#include "kernels.hpp"

namespace staircase {
namespace {

template <typename Run>
double seconds_of(Run run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Operations a second of a kernel of multiply-adds on so many threads: the best of nine runs.
double flop_rate(double (*kernel)(long), int threads) {
  const auto run = [&](long steps) {
    double flops = 0;
    const double seconds = seconds_of([&] {
#pragma omp parallel num_threads(threads) reduction(+ : flops)
      flops += kernel(steps);
    });
    return flops / seconds;
  };
  // Steps for about 30 ms, from a first guess of the rate.
  const long probe = 100'000;
  const double flops_a_step = kernel(1);
  const long steps =
      std::max(probe, static_cast<long>(0.03 * run(probe) / (threads * flops_a_step)));
  double best = 0;
  for (int r = 0; r < 9; ++r) best = std::max(best, run(steps));
  return best;
}

/// Bytes a second of copies that are too large for the caches: the best of twenty runs.
double copy_rate() {
  const double most = available_memory() / 8;
  const auto count = static_cast<std::size_t>(std::min(most, 268'435'456.0) / sizeof(double));
  std::vector<double> from(count, 1.0), to(count, 0.0);
  double best = 0;
  for (int run = 0; run < 20; ++run) {
    const double seconds = seconds_of([&] { copy_in_parallel(from, to); });
    best = std::max(best, 2 * sizeof(double) * static_cast<double>(count) / seconds);
  }
  return best;
}

}  // namespace

double Ceilings::floor(const Work& work, Precision precision) const {
  const double flops = precision == Precision::f64 ? flops_f64 : flops_f32;
  return std::max(work.flops / flops, work.bytes / bandwidth);
}

Ceilings measure_ceilings() {
  const int all = omp_get_num_procs();
  const MultiplyAddKernels kernels = multiply_add_kernels();
  return {flop_rate(kernels.f64, all), flop_rate(kernels.f32, all), flop_rate(kernels.f64, 1),
          flop_rate(kernels.f32, 1), copy_rate()};
}

Ceilings cached_ceilings(bool measure_again) {
  const Machine machine = this_machine();
  if (!measure_again)
    if (const auto cached = read_cache(machine)) return *cached;
  const Ceilings ceilings = measure_ceilings();
  write_cache(machine, ceilings);
  return ceilings;
}

nlohmann::ordered_json to_json(const Ceilings& c) {
  return {{"flops_f64", c.flops_f64},
          {"flops_f32", c.flops_f32},
          {"flops_f64_one_core", c.flops_f64_one},
          {"flops_f32_one_core", c.flops_f32_one},
          {"copy_bytes_per_second", c.bandwidth}};
}

std::string to_text(const Ceilings& c) {
  return fmt::format("{:.3g} GFLOP/s in f64, {:.3g} GFLOP/s in f32, copies at {:.3g} GB/s",
                     c.flops_f64 / 1e9, c.flops_f32 / 1e9, c.bandwidth / 1e9);
}

}  // namespace staircase
