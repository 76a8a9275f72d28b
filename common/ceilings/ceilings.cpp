#include "ceilings.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <algorithm>
#include <chrono>
#include <harness/machine.hpp>
#include <staircase/array.hpp>

#include "cache.hpp"
#include "kernels.hpp"

namespace staircase {
namespace {

using Json = nlohmann::ordered_json;

template <typename Run>
double seconds_of(Run run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The number of operations per second of a multiply-add kernel on `threads` threads: the best of
/// nine runs of about `run_seconds` seconds each.
double flop_rate(double (*kernel)(long), int threads, double run_seconds) {
  const auto run = [&](long steps) {
    double flops = 0;
    const double seconds = seconds_of([&] {
#pragma omp parallel num_threads(threads) reduction(+ : flops)
      flops += kernel(steps);
    });
    return flops / seconds;
  };
  // The first run starts the threads. The second run measures an approximate rate, from which the
  // number of steps is computed.
  const long probe = 100'000;
  run(probe);
  const double flops_a_step = kernel(1);
  const long steps =
      std::max(probe, static_cast<long>(run_seconds * run(probe) / (threads * flops_a_step)));
  double best = 0;
  for (int r = 0; r < 9; ++r) best = std::max(best, run(steps));
  return best;
}

/// The bandwidth of a copy, in bytes read plus written per second: the best of twenty runs. The
/// copied array has `bytes` bytes, but at most an eighth of the available memory.
double copy_rate(double bytes) {
  const double most = available_memory() / 8;
  const auto count = static_cast<std::size_t>(std::min(most, bytes) / sizeof(double));
  Elements<double> from(count), to(count);
#pragma omp parallel for num_threads(omp_get_num_procs())
  for (std::size_t i = 0; i < count; ++i)
    from[i] = to[i] = 1;  // first touch: each page is placed in the memory of the core that copies
                          // it
  double best = 0;
  for (int run = 0; run < 20; ++run) {
    const double seconds = seconds_of([&] { copy_in_parallel(from, to); });
    best = std::max(best, 2 * sizeof(double) * static_cast<double>(count) / seconds);
  }
  return best;
}

/// The rate that `cached` contains under a key; 0 if the key is missing.
double stored(const Json& cached, const char* key) {
  return cached.is_object() && cached.contains(key) && cached[key].is_number()
             ? cached[key].get<double>()
             : 0;
}

Rates stored_rates(const Json& cached) {
  return {stored(cached, "flops_f64"), stored(cached, "flops_f32"),
          stored(cached, "copy_bytes_per_second"), stored(cached, "flops_f64_matrix")};
}

/// Whether all rates are present. A missing rate is zero.
bool is_complete(const Rates& rates) {
  return rates.flops_f64 > 0 && rates.flops_f32 > 0 && rates.bandwidth > 0 &&
         rates.flops_f64_matrix > 0;
}

Json to_json(const GpuCeilings& c) {
  return {{"name", c.name},
          {"driver", c.driver},
          {"flops_f64", c.flops_f64},
          {"flops_f32", c.flops_f32},
          {"flops_f64_matrix", c.flops_f64_matrix},
          {"copy_bytes_per_second", c.bandwidth}};
}

/// Formats a rate with three significant digits, for example "30.7 TFLOP/s".
std::string rate_text(double rate, const char* unit) {
  const bool tera = rate >= 0.9995e12;
  return fmt::format("{:.3g} {}{}", rate / (tera ? 1e12 : 1e9), tera ? 'T' : 'G', unit);
}

std::string rates_text(const Rates& rates) {
  std::string text = rate_text(rates.flops_f64, "FLOP/s") + " in f64, ";
  if (rates.flops_f64_matrix != rates.flops_f64)
    text += rate_text(rates.flops_f64_matrix, "FLOP/s") + " on tensor cores, ";
  return text + fmt::format("{} in f32, copies at {}", rate_text(rates.flops_f32, "FLOP/s"),
                            rate_text(rates.bandwidth, "B/s"));
}

}  // namespace

Ceilings measure_ceilings(const Effort& effort) {
  const int all = omp_get_num_procs();
  const MultiplyAddKernels kernels = multiply_add_kernels();
  const auto rate = [&](double (*kernel)(long), int threads) {
    return flop_rate(kernel, threads, effort.seconds);
  };
  const double flops_f64 = rate(kernels.f64, all);
  return {{flops_f64, rate(kernels.f32, all), copy_rate(effort.bytes), flops_f64},
          rate(kernels.f64, 1),
          rate(kernels.f32, 1),
          {}};
}

Ceilings cached_ceilings(bool measure_again, const Effort& effort) {
  const std::string device = this_machine().name();
  const Json cached = measure_again ? Json() : read_cache(device);
  Ceilings ceilings{stored_rates(cached),
                    stored(cached, "flops_f64_one_core"),
                    stored(cached, "flops_f32_one_core"),
                    {}};
  ceilings.flops_f64_matrix = ceilings.flops_f64;  // processors have no tensor cores
  if (is_complete(ceilings) && ceilings.flops_f64_one > 0 && ceilings.flops_f32_one > 0)
    return ceilings;
  const Ceilings measured = measure_ceilings(effort);
  write_cache(device, to_json(measured));
  return measured;
}

GpuCeilings cached_ceilings(const Gpu& gpu, bool measure_again) {
  const std::string device = slug(gpu.name + " driver " + gpu.driver);
  const GpuCeilings cached{stored_rates(measure_again ? Json() : read_cache(device)), gpu.name,
                           gpu.driver};
  if (is_complete(cached)) return cached;
  const GpuCeilings measured{gpu.measure(), gpu.name, gpu.driver};
  write_cache(device, to_json(measured));
  return measured;
}

Json to_json(const Ceilings& c) {
  Json json{{"flops_f64", c.flops_f64},
            {"flops_f32", c.flops_f32},
            {"flops_f64_matrix", c.flops_f64_matrix},
            {"flops_f64_one_core", c.flops_f64_one},
            {"flops_f32_one_core", c.flops_f32_one},
            {"copy_bytes_per_second", c.bandwidth}};
  if (c.gpu) json["gpu"] = to_json(*c.gpu);
  return json;
}

std::string to_text(const Machine& machine, const Ceilings& ceilings) {
  std::string text =
      fmt::format("{}, {} cores: {}\n", machine.cpu, machine.cores, rates_text(ceilings));
  if (const auto& gpu = ceilings.gpu)
    text += fmt::format("{}, driver {}: {}\n", gpu->name, gpu->driver, rates_text(*gpu));
  return text;
}

}  // namespace staircase
