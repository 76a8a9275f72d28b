/// \file
/// What most tests of CUDA begin with, precompiled for the CPU device. A test includes what it
/// needs, and for a GPU it is compiled as it stands.

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "device.hpp"
