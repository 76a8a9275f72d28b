/// \file
/// The limits of this machine, measured: what a stage can at best reach.

#pragma once

#include <nlohmann/json.hpp>
#include <staircase/workload.hpp>

namespace staircase {

/// Rates that this machine reaches on programs that do nothing else.
struct Ceilings {
  double flops_f64;      ///< f64 operations a second, all cores, fused multiply-adds counted as two
  double flops_f32;      ///< the same in f32
  double flops_f64_one;  ///< the same in f64 on one core
  double flops_f32_one;  ///< the same in f32 on one core
  double bandwidth;      ///< bytes a second read plus written by a copy, all cores

  /// The least time that any program needs for this work on all cores, in seconds.
  double floor(const Work& work, Precision precision) const;
};

/// Measures the ceilings, each as the best of many short runs; takes about two seconds.
Ceilings measure_ceilings();

/// The ceilings from the user's cache; measures and stores them if they are not there.
Ceilings cached_ceilings(bool measure_again = false);

nlohmann::ordered_json to_json(const Ceilings& ceilings);

/// Words for people: "246 GFLOP/s in f64, 489 GFLOP/s in f32, copies at 60.1 GB/s".
std::string to_text(const Ceilings& ceilings);

}  // namespace staircase
