/// \file
/// The headers that most stages include, precompiled for stages on the CPU device. Stages still
/// include all headers that they need, because this file is not used when they are compiled for a
/// GPU.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <staircase/stage.hpp>
#include <staircase/stream.hpp>
#include <utility>
#include <vector>
