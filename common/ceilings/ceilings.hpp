/// \file
/// Measured ceilings: the peak rates of arithmetic and of copies on this machine.

#pragma once

#include <harness/machine.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "gpu.hpp"
#include "rates.hpp"

namespace staircase {

/// The peak rates of a GPU, with its name and its driver.
struct GpuCeilings : Rates {
  std::string name;
  std::string driver;
};

/// The peak rates of the processor on all cores and on one core, and the peak rates of the GPU.
struct Ceilings : Rates {
  double flops_f64_one;            ///< f64 operations per second on one core
  double flops_f32_one;            ///< f32 operations per second on one core
  std::optional<GpuCeilings> gpu;  ///< empty if there is no GPU, or if the GPU was not measured
};

/// The duration and the size of a measurement. Tests use smaller values, because other tests that
/// run concurrently make the rates inaccurate anyway.
struct Effort {
  double seconds = 0.03;  ///< duration of one multiply-add run
  double bytes = 0x1p30;  ///< size of a copy in bytes; much larger than the caches
};

/// Measures the ceilings of the processor in a few seconds. Each rate is the best of many short
/// runs.
Ceilings measure_ceilings(const Effort& effort = {});

/// The ceilings of the processor from the user's cache. If the cache does not contain the ceilings,
/// or if `measure_again` is true, the function measures and stores them.
Ceilings cached_ceilings(bool measure_again = false, const Effort& effort = {});

/// The ceilings of a GPU with its current driver. The function reads the ceilings from the cache,
/// or measures and stores them.
GpuCeilings cached_ceilings(const Gpu& gpu, bool measure_again = false);

nlohmann::ordered_json to_json(const Ceilings& ceilings);

/// One line for the processor, and a second line if there is a GPU. An example of a line is "AMD
/// EPYC, 2 cores: 246 GFLOP/s in f64, 489 GFLOP/s in f32, copies at 60.1 GB/s".
std::string to_text(const Machine& machine, const Ceilings& ceilings);

}  // namespace staircase
