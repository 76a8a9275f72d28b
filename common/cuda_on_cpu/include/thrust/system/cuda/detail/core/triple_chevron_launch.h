/// \file
/// Found in place of Thrust's header: kernels are launched by those that stand in for CUB's.

#pragma once

#include <thrust/system/cuda/config.h>
