/// \file
/// The GPU whose peak rates are measured.

#pragma once

#include <optional>
#include <string>

#include "rates.hpp"

namespace staircase {

/// A GPU and the function that measures its peak rates.
struct Gpu {
  std::string name;    ///< "NVIDIA H200"
  std::string driver;  ///< "580.159.04"
  Rates (*measure)();  ///< takes less than a second
};

/// The GPU on which CUDA programs run; empty if there is none, or if this was built without CUDA.
std::optional<Gpu> this_gpu();

}  // namespace staircase
