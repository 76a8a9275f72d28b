/// \file
/// The headers that most stages include, precompiled for stages on the CPU device. Stages include
/// what they need themselves; for a GPU they are compiled without this header.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <staircase/stage.hpp>
#include <staircase/stream.hpp>
#include <utility>
#include <vector>
