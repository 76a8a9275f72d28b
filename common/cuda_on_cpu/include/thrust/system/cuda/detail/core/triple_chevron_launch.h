/// \file
/// Replaces the Thrust header of the same name, which is not needed: the replacements of CUB's
/// headers launch the kernels.

#pragma once

#include <thrust/system/cuda/config.h>
