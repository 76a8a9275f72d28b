/// \file
/// The GPU whose limits are measured.

#pragma once

#include <optional>
#include <string>

#include "rates.hpp"

namespace staircase {

/// A GPU, and how its rates are measured.
struct Gpu {
  std::string name;    ///< "NVIDIA H200"
  std::string driver;  ///< "580.159.04"
  Rates (*measure)();  ///< takes less than a second
};

/// The GPU that CUDA programs run on; nothing if there is none, or if this was built without CUDA.
std::optional<Gpu> this_gpu();

}  // namespace staircase
