/// \file
/// The GPU whose peak rates are measured.

#pragma once

#include <optional>
#include <string>

#include "rates.hpp"

namespace staircase {

/// A GPU, and the function that measures the peak rates of this GPU.
struct Gpu {
  std::string name;    ///< for example "NVIDIA H200"
  std::string driver;  ///< version, for example "580.159.04"
  Rates (*measure)();  ///< measures the peak rates in less than a second
};

/// The GPU on which CUDA programs run. The result is empty if there is no GPU, or if the program
/// was built without CUDA.
std::optional<Gpu> this_gpu();

}  // namespace staircase
