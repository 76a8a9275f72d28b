/// \file
/// Replaces the CUDA header of the same name and includes cuda_runtime.h, which contains its
/// declarations.

#pragma once

#include "cuda_runtime.h"
