/// \file
/// Found in place of CUDA's own header.

#pragma once

#include "cuda_runtime.h"
