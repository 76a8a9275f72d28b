/// \file
/// The common first headers of most CUDA tests, precompiled for the CPU device. Each test includes
/// the headers that it needs, so it compiles for a GPU without this file.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "device.hpp"
