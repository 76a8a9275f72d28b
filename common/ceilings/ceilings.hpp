/// \file
/// The limits of this machine, measured: what a stage can at best reach.

#pragma once

#include <harness/machine.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "gpu.hpp"
#include "rates.hpp"

namespace staircase {

/// The rates of a GPU.
struct GpuCeilings : Rates {
  std::string name;
  std::string driver;
};

/// The rates of the processor on all cores, and what else bounds programs on this machine.
struct Ceilings : Rates {
  double flops_f64_one;            ///< f64 operations per second on one core
  double flops_f32_one;            ///< the same in f32
  std::optional<GpuCeilings> gpu;  ///< nothing if there is none, or if nobody asked for it
};

/// How much a run does by which the processor is measured. Tests do with less: what they measure
/// beside others is not what the processor can reach.
struct Effort {
  double seconds = 0.03;  ///< of multiply-adds
  double bytes = 0x1p30;  ///< that are copied, too many for the caches
};

/// Measures the processor's ceilings, each as the best of many short runs, in a few seconds.
Ceilings measure_ceilings(const Effort& effort = {});

/// The processor's ceilings from the user's cache; measures and stores them if they are not there.
Ceilings cached_ceilings(bool measure_again = false, const Effort& effort = {});

/// The same for a GPU with its driver.
GpuCeilings cached_ceilings(const Gpu& gpu, bool measure_again = false);

nlohmann::ordered_json to_json(const Ceilings& ceilings);

/// A line for the processor and one for the GPU, if there is one:
/// "AMD EPYC, 2 cores: 246 GFLOP/s in f64, 489 GFLOP/s in f32, copies at 60.1 GB/s".
std::string to_text(const Machine& machine, const Ceilings& ceilings);

}  // namespace staircase
