/// \file
/// What most stages for the CPU device begin with, precompiled. It holds for those alone: a stage
/// includes what it needs, and for a GPU it is compiled as it stands.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <staircase/stage.hpp>
#include <staircase/stream.hpp>
#include <utility>
#include <vector>
